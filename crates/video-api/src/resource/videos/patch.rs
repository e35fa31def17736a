//! Writing a video: the parts that clients set, each overwritten as a whole, and the texts that follow from them.

use serde_json::{Map, Value, json};
use triptych_core::time::Timestamp;

use crate::api::error::Error;
use crate::record::json_fields::{
    Body, LocalizedTitle, check_languages, is_description, is_name, is_title, localizations,
    text_of,
};
use crate::record::privacy::Privacy;
use crate::record::stored::Stored;
use crate::record::{search_result, thumbnail};
use crate::resource::video_categories;
use crate::resource::videos::record::{Broadcast, Video};
use crate::resource::videos::rules;

/// A title has at most this many characters.
const TITLE_CHARS_MAX: usize = 100;
/// The title of a video whose upload brought none, and no name of a file that could be one.
const UNNAMED: &str = "unknown";
/// Tags have at most this many characters together; one with a blank counts its quotes, and commas stand between them.
const TAGS_CHARS_MAX: usize = 500;
/// The category of a video whose upload names none.
const CATEGORY_DEFAULT: &str = "22";

/// A video that is being written.
#[derive(Debug)]
pub struct VideoPatch<'b> {
    /// The resource as sent.
    pub body: Body<'b>,
    /// The parts to write.
    pub parts: &'b [&'static str],
    /// The time.
    pub now: Timestamp,
    /// True if it is new: what an update must name has defaults then.
    pub is_new: bool,
}

impl VideoPatch<'_> {
    /// Overwrites the named parts of `video`. What a named part leaves out is deleted or goes back to its default.
    ///
    /// # Errors
    /// The rule that a value breaks, in the order snippet, status, localizations, recordingDetails.
    pub fn apply(
        &self,
        id: &str,
        channel_title: &str,
        video: &mut Stored<Video>,
    ) -> Result<(), Error> {
        for part in self.parts {
            match *part {
                "snippet" => self.snippet(id, channel_title, video)?,
                "status" => self.status(&mut video.head)?,
                "recordingDetails" => self.recording(video)?,
                "paidProductPlacementDetails" => self.placement(video)?,
                _ => {}
            }
        }
        // Localizations rest on the snippet's language, whichever part was named first.
        if self.parts.contains(&"localizations") {
            self.localizations(video)?;
        }
        if video.head.language.is_none() && video.part("localizations").is_some() {
            return Err(Error::Rule(&rules::DEFAULT_LANGUAGE_NOT_SET));
        }
        refresh(id, video);
        Ok(())
    }

    fn snippet(
        &self,
        id: &str,
        channel_title: &str,
        video: &mut Stored<Video>,
    ) -> Result<(), Error> {
        let Some(given) = self.body.object("snippet", "snippet")? else {
            return Err(Error::Rule(&rules::METADATA_INVALID));
        };
        let title = given.text("title")?.ok_or(&rules::METADATA_INVALID)?;
        let category = match given.text("categoryId")? {
            Some(category) => category,
            None if self.is_new => CATEGORY_DEFAULT.into(),
            None => return Err(Error::Rule(&rules::METADATA_INVALID)),
        };
        if !is_title(&title, TITLE_CHARS_MAX) {
            return Err(Error::Rule(&rules::TITLE_INVALID));
        }
        let description = given.text("description")?.unwrap_or_default();
        if !is_description(&description) {
            return Err(Error::Rule(&rules::DESCRIPTION_INVALID));
        }
        let tags = given.texts("tags")?.unwrap_or_default();
        if !are_tags(&tags) {
            return Err(Error::Rule(&rules::TAGS_INVALID));
        }
        if video_categories::assignable(&category).is_none() {
            return Err(Error::Rule(&rules::CATEGORY_INVALID));
        }
        let default_language = given.language("defaultLanguage")?;
        let audio_language = given.language("defaultAudioLanguage")?;
        let mut snippet = Map::new();
        snippet.insert("channelId".into(), video.head.channel.clone().into());
        snippet.insert("channelTitle".into(), channel_title.into());
        snippet.insert("title".into(), title.into());
        snippet.insert("description".into(), description.into());
        if !tags.is_empty() {
            snippet.insert("tags".into(), tags.into());
        }
        snippet.insert("categoryId".into(), category.clone().into());
        snippet.insert("liveBroadcastContent".into(), broadcast_content(&video.head).into());
        if let Some(tag) = &default_language {
            snippet.insert("defaultLanguage".into(), tag.clone().into());
        }
        if let Some(tag) = audio_language {
            snippet.insert("defaultAudioLanguage".into(), tag.into());
        }
        snippet.insert("thumbnails".into(), thumbnail::of_video(id, video.head.picture_source()));
        video.head.category = category;
        video.head.language = default_language;
        video.set("snippet", &snippet);
        Ok(())
    }

    fn status(&self, head: &mut Video) -> Result<(), Error> {
        let empty = Map::new();
        let given = self.body.object("status", "status")?.unwrap_or(Body::of(&empty));
        let privacy = match given.text("privacyStatus")? {
            None => Privacy::Public,
            Some(name) => Privacy::named(&name).ok_or(&rules::PRIVACY_FORBIDDEN)?,
        };
        let license = given.text("license")?.unwrap_or_else(|| "youtube".into());
        if !["youtube", "creativeCommon"].contains(&license.as_str()) {
            return Err(Error::Rule(&rules::LICENSE_FORBIDDEN));
        }
        let publish_at = match given.text("publishAt")? {
            None => None,
            Some(text) => Some(Timestamp::from_rfc3339(&text).ok_or(&rules::PUBLISH_AT_INVALID)?),
        };
        if publish_at.is_some() && privacy != Privacy::Private {
            return Err(Error::Rule(&rules::PUBLISH_AT_INVALID));
        }
        // A moment that is over publishes right away (facts: videos, status.publishAt).
        let (privacy, publish_at) = match publish_at {
            Some(at) if at <= self.now => (Privacy::Public, None),
            later => (privacy, later),
        };
        if privacy == Privacy::Public && head.privacy != Privacy::Public && !self.is_new {
            head.published = self.now;
        }
        head.privacy = privacy;
        head.license = license;
        head.publish_at = publish_at;
        head.embeddable = given.flag("embeddable")?.unwrap_or(true);
        head.public_stats = given.flag("publicStatsViewable")?.unwrap_or(true);
        head.made_for_kids = given.flag("selfDeclaredMadeForKids")?;
        head.synthetic = given.flag("containsSyntheticMedia")?;
        Ok(())
    }

    fn recording(&self, video: &mut Stored<Video>) -> Result<(), Error> {
        let mut details = Map::new();
        if let Some(given) = self.body.object("recordingDetails", "recordingDetails")? {
            if let Some(text) = given.text("recordingDate")? {
                let date =
                    Timestamp::from_rfc3339(&text).ok_or(&rules::RECORDING_DETAILS_INVALID)?;
                details.insert("recordingDate".into(), date.rfc3339().into());
            }
            if let Some(text) = given.text("locationDescription")? {
                if !is_description(&text) {
                    return Err(Error::Rule(&rules::RECORDING_DETAILS_INVALID));
                }
                details.insert("locationDescription".into(), text.into());
            }
            if let Some(place) = given.get("location") {
                details.insert(
                    "location".into(),
                    location(place).ok_or(&rules::RECORDING_DETAILS_INVALID)?,
                );
            }
        }
        video.set("recordingDetails", &details);
        Ok(())
    }

    fn placement(&self, video: &mut Stored<Video>) -> Result<(), Error> {
        let given =
            self.body.object("paidProductPlacementDetails", "paidProductPlacementDetails")?;
        let has = given
            .map(|given| given.flag("hasPaidProductPlacement"))
            .transpose()?
            .flatten()
            .unwrap_or_default();
        // What is not kept is shown as false, so that who writes back what was read changes nothing.
        let details = has.then(|| ("hasPaidProductPlacement".to_owned(), has.into()));
        video.set("paidProductPlacementDetails", &details.into_iter().collect());
        Ok(())
    }

    fn localizations(&self, video: &mut Stored<Video>) -> Result<(), Error> {
        let empty = Map::new();
        let given = self.body.get("localizations").map_or(Some(&empty), Value::as_object);
        let given = given.ok_or(&rules::LOCALIZATIONS_INVALID)?;
        if !given.is_empty() && video.head.language.is_none() {
            return Err(Error::Rule(&rules::DEFAULT_LANGUAGE_NOT_SET));
        }
        check_languages(given)?;
        let own = video.head.language.as_deref();
        let kept = localizations(given, own, LocalizedTitle::Required, TITLE_CHARS_MAX)
            .ok_or(&rules::LOCALIZATIONS_INVALID)?;
        video.set("localizations", &kept);
        Ok(())
    }
}

fn are_tags(tags: &[String]) -> bool {
    let length: usize =
        tags.iter().map(|tag| tag.chars().count() + if tag.contains(' ') { 2 } else { 0 }).sum();
    let commas = tags.len().saturating_sub(1);
    length + commas <= TAGS_CHARS_MAX
        && tags.iter().all(|tag| !tag.trim().is_empty() && is_name(tag))
}

fn location(value: &Value) -> Option<Value> {
    let value = value.as_object()?;
    let number = |name: &str, most: f64| {
        let number = match value.get(name) {
            None | Some(Value::Null) => Some(0.0),
            Some(Value::String(text)) => text.parse().ok(),
            Some(value) => value.as_f64(),
        };
        number.filter(|number| number.abs() <= most)
    };
    let (latitude, longitude) = (number("latitude", 90.0)?, number("longitude", 180.0)?);
    let altitude = number("altitude", 1e6)?;
    Some(json!({"latitude": latitude, "longitude": longitude, "altitude": altitude}))
}

/// A video's snippet when its upload brought none: the title is the file's name.
pub(crate) fn default_snippet(id: &str, channel_title: &str, video: &mut Stored<Video>) {
    let name = video.head.file_name.as_deref().unwrap_or(UNNAMED);
    let title: String = name
        .chars()
        .filter(|letter| !"<>".contains(*letter) && !letter.is_control())
        .take(TITLE_CHARS_MAX)
        .collect();
    let title = if title.trim().is_empty() { UNNAMED.to_owned() } else { title };
    let snippet = json!({
        "channelId": video.head.channel, "channelTitle": channel_title, "title": title, "description": "",
        "categoryId": video.head.category, "liveBroadcastContent": broadcast_content(&video.head),
        "thumbnails": thumbnail::of_video(id, video.head.picture_source()),
    });
    video.set("snippet", snippet.as_object().unwrap_or(&Map::new()));
}

impl Stored<Video> {
    /// A video without any metadata yet: everything that a client may set has its default.
    #[must_use]
    pub fn uploaded(id: &str, channel: &str, channel_title: &str, now: Timestamp) -> Self {
        let mut video = Self::new(Video {
            channel: channel.to_owned(),
            uploaded: now,
            published: now,
            privacy: Privacy::Public,
            publish_at: None,
            category: CATEGORY_DEFAULT.into(),
            language: None,
            license: "youtube".into(),
            embeddable: true,
            public_stats: true,
            made_for_kids: None,
            synthetic: None,
            bytes: 0,
            facts: None,
            failure: None,
            file_name: None,
            media: None,
            has_thumbnail: false,
            has_captions: false,
            thumbnail_size: None,
            picture_key: None,
            is_off_uploads: false,
            three_d: false,
            form: None,
            topics: Vec::new(),
            broadcast: None,
            regions: None,
            rating: Map::new(),
        });
        default_snippet(id, channel_title, &mut video);
        video
    }
}

/// `snippet.liveBroadcastContent`.
fn broadcast_content(head: &Video) -> &'static str {
    head.broadcast.map_or("none", Broadcast::content)
}

/// Brings the texts in line with the head: published moment, thumbnails, localized title, and how lists show the video.
pub(crate) fn refresh(id: &str, video: &mut Stored<Video>) {
    let mut snippet = video.value("snippet");
    snippet.insert("publishedAt".into(), video.head.published.rfc3339().into());
    snippet.insert("thumbnails".into(), thumbnail::of_video(id, video.head.picture_source()));
    let (title, description) = (text_of(&snippet, "title"), text_of(&snippet, "description"));
    snippet.insert("localized".into(), json!({"title": title, "description": description}));
    let pick = |names: &[(&str, &str)]| {
        let pairs = names
            .iter()
            .filter_map(|(from, to)| Some(((*to).to_owned(), snippet.get(*from)?.clone())));
        pairs.collect::<Map<_, _>>()
    };
    let item = pick(&[
        ("title", "title"),
        ("description", "description"),
        ("thumbnails", "thumbnails"),
        ("channelId", "videoOwnerChannelId"),
        ("channelTitle", "videoOwnerChannelTitle"),
    ]);
    let thumbnails = snippet.get("thumbnails").cloned().unwrap_or_default();
    let result = search_result::snippet(
        &snippet,
        &video.head.channel,
        &text_of(&snippet, "channelTitle"),
        thumbnails,
    );
    video.set("snippet", &snippet);
    video.set("~item", &item);
    video.set("~result", &result);
}
