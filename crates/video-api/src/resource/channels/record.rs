//! Channels: what is stored of one, what is counted, and its branding.

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use triptych_core::kv::{JsonRecord, Tx};
use triptych_core::time::Timestamp;

use crate::account::Caller;
use crate::api::error::Error;
use crate::api::language;
use crate::api::response::Item;
use crate::index::{self, Kind};
use crate::record::id::Special;
use crate::record::json_fields::{Body, is_description, localizations};
use crate::record::stored::Stored;
use crate::record::tables::{
    BANNERS, CATEGORY_CHANNELS, CHANNEL_COUNTS, CHANNELS, HANDLES, USERNAMES,
};
use crate::record::thumbnail;
use crate::resource::channels::promotion;
use crate::resource::channels::rules;
use crate::resource::guide_categories;
use crate::resource::search_document as findable;

/// A localized title has at most this many characters.
const TITLE_CHARS_MAX: usize = 100;
/// A channel's description has at most this many characters (facts: brandingSettings).
const DESCRIPTION_CHARS_MAX: usize = 1_000;
/// Keywords have at most this many characters.
const KEYWORDS_CHARS_MAX: usize = 500;
/// At most so many hints.
const HINTS_MAX: usize = 20;
/// At most so many featured channels.
const FEATURED_MAX: usize = 100;

/// What rules need of a channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    /// The account that owns it.
    pub account: String,
    /// Its title; the interface cannot change it.
    pub title: String,
    /// Its handle, with @.
    pub handle: Option<String>,
    /// When it was made.
    pub published: Timestamp,
    /// The language of title and description.
    pub language: Option<String>,
    /// Whether the number of subscribers is hidden.
    pub hides_subscribers: bool,
    /// Whether its sections are visible: they are in browse view alone (Spec §3).
    pub browse_view: bool,
}

/// What is counted of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct ChannelCounts {
    /// How often its videos were watched.
    pub views: u64,
    /// How many channels subscribe to it.
    pub subscribers: u64,
    /// How many of its videos everyone sees listed.
    pub videos: u64,
    /// How many videos it has.
    pub uploads: u64,
}

impl JsonRecord for ChannelCounts {}

/// Changes what is counted of a channel.
///
/// # Errors
/// As the store.
pub fn count(
    tx: &mut Tx<'_>,
    channel: &str,
    change: impl FnOnce(&mut ChannelCounts),
) -> Result<(), Error> {
    let key = channel.to_owned();
    let mut counts = CHANNEL_COUNTS.get(tx, &key)?.unwrap_or_default();
    change(&mut counts);
    CHANNEL_COUNTS.put(tx, &key, &counts);
    index::touch(tx, Kind::Channel, channel, |facets| {
        (facets.views, facets.videos) = (counts.views, counts.videos);
    })?;
    Ok(())
}

/// The form under which a handle is looked up.
#[must_use]
pub fn handle_key(handle: &str) -> String {
    handle.trim_start_matches('@').to_lowercase()
}

/// Stores a new channel with its indexes.
///
/// # Errors
/// As the store.
pub fn insert(
    tx: &mut Tx<'_>,
    id: &str,
    username: Option<&str>,
    channel: &mut Stored<Channel>,
) -> Result<(), Error> {
    refresh(id, channel);
    CHANNELS.put(tx, &id.to_owned(), channel);
    CHANNEL_COUNTS.put(tx, &id.to_owned(), &ChannelCounts::default());
    if let Some(handle) = &channel.head.handle {
        HANDLES.put(tx, &handle_key(handle), &Id(id.to_owned()));
    }
    if let Some(username) = username {
        USERNAMES.put(tx, &username.to_lowercase(), &Id(id.to_owned()));
    }
    CATEGORY_CHANNELS.put(tx, &(guide_categories::of_channel(id).to_owned(), id.to_owned()), &());
    findable::channel(tx, id, channel)
}

/// The id of a channel, as an index names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Id(pub String);

impl JsonRecord for Id {}

/// The title of a channel.
///
/// # Errors
/// [`Error::NoChannel`] if there is none; else as the store.
pub fn title(tx: &mut Tx<'_>, id: &str) -> Result<String, Error> {
    let channel = CHANNELS.peek(tx, &id.to_owned())?.ok_or(Error::NoChannel)?;
    Ok(channel.head.title.clone())
}

/// Brings the snippet in line with head and branding.
pub fn refresh(id: &str, channel: &mut Stored<Channel>) {
    let branding = channel.value("brandingSettings");
    let settings = branding.get("channel").and_then(Value::as_object);
    let given = |name: &str| settings.and_then(|settings| settings.get(name)).cloned();
    let description = given("description").unwrap_or_else(|| "".into());
    let head = &channel.head;
    let mut snippet = Map::new();
    snippet.insert("title".into(), head.title.clone().into());
    snippet.insert("description".into(), description.clone());
    if let Some(handle) = &head.handle {
        snippet.insert("customUrl".into(), handle.to_lowercase().into());
    }
    snippet.insert("publishedAt".into(), head.published.rfc3339().into());
    snippet.insert("thumbnails".into(), thumbnail::of_channel(id));
    snippet.insert("localized".into(), json!({"title": head.title, "description": description}));
    for name in ["country", "defaultLanguage"] {
        if let Some(value) = given(name) {
            snippet.insert(name.into(), value);
        }
    }
    channel.head.language =
        given("defaultLanguage").and_then(|tag| tag.as_str().map(str::to_owned));
    channel.head.browse_view =
        given("showBrowseView").and_then(|flag| flag.as_bool()).unwrap_or_default();
    channel.set("snippet", &snippet);
}

/// A channel that is being written: its `brandingSettings`, `invideoPromotion` and `localizations`, each overwritten as a whole.
///
/// # Errors
/// The rule that a value breaks, in that order.
pub fn write(
    tx: &mut Tx<'_>,
    id: &str,
    channel: &mut Stored<Channel>,
    body: Body<'_>,
    parts: &[&'static str],
) -> Result<(), Error> {
    if parts.contains(&"brandingSettings") {
        let branding = branding(tx, id, channel, body)?;
        channel.set("brandingSettings", &branding);
        refresh(id, channel);
    }
    if parts.contains(&"invideoPromotion") {
        let promotion = promotion::read(tx, id, body)?;
        channel.set("invideoPromotion", &promotion);
    }
    if parts.contains(&"localizations") {
        let empty = Map::new();
        let given = body
            .get("localizations")
            .map_or(Some(&empty), Value::as_object)
            .ok_or(&rules::LOCALIZATIONS_INVALID)?;
        if !given.is_empty() && channel.head.language.is_none() {
            return Err(Error::Rule(&rules::DEFAULT_LANGUAGE_NOT_SET));
        }
        let kept = localizations(given, TITLE_CHARS_MAX).ok_or(&rules::LOCALIZATIONS_INVALID)?;
        channel.set("localizations", &kept);
    }
    Ok(())
}

fn branding(
    tx: &mut Tx<'_>,
    id: &str,
    channel: &Stored<Channel>,
    body: Body<'_>,
) -> Result<Map<String, Value>, Error> {
    let given =
        body.object("brandingSettings", "brandingSettings")?.ok_or(&rules::BRANDING_INVALID)?;
    let mut out = Map::new();
    let empty = Map::new();
    let settings = given.object("channel", "brandingSettings.channel")?.unwrap_or(Body::of(&empty));
    out.insert("channel".into(), Value::Object(channel_settings(channel, settings)?));
    let old = channel.value("brandingSettings");
    match given.object("image", "brandingSettings.image")? {
        None => {
            if let Some(image) = old.get("image") {
                out.insert("image".into(), image.clone());
            }
        }
        Some(image) => {
            if let Some(url) = image.text("bannerExternalUrl")?.filter(|url| !url.is_empty()) {
                // The third step of a banner: the address that channelBanners.insert gave.
                let banner = url
                    .rsplit_once("/banner/")
                    .map(|(_, id)| id.to_owned())
                    .ok_or(&rules::BRANDING_INVALID)?;
                BANNERS
                    .get(tx, &banner)?
                    .filter(|owner| owner.0 == id)
                    .ok_or(&rules::BRANDING_INVALID)?;
                out.insert(
                    "image".into(),
                    json!({"bannerExternalUrl": format!("\u{1}/banner/{banner}")}),
                );
            }
        }
    }
    if let Some(watch) = given.object("watch", "brandingSettings.watch")? {
        let mut kept = Map::new();
        for name in ["textColor", "backgroundColor", "featuredPlaylistId"] {
            if let Some(text) = watch.text(name)? {
                kept.insert(name.into(), text.into());
            }
        }
        out.insert("watch".into(), Value::Object(kept));
    }
    if let Some(hints) = given.get("hints") {
        out.insert("hints".into(), self::hints(hints).ok_or(&rules::BRANDING_INVALID)?);
    }
    Ok(out)
}

/// Pairs of property and value, which the service keeps and does not read.
fn hints(given: &Value) -> Option<Value> {
    let list = given.as_array().filter(|list| list.len() <= HINTS_MAX)?;
    let hints = list.iter().map(|hint| {
        let property = hint.get("property")?.as_str()?;
        let value = hint.get("value").map_or(Some(""), Value::as_str)?;
        let short = property.len() + value.len() <= KEYWORDS_CHARS_MAX;
        short.then(|| json!({"property": property, "value": value}))
    });
    hints.collect::<Option<Vec<_>>>().map(Value::Array)
}

fn channel_settings(
    channel: &Stored<Channel>,
    given: Body<'_>,
) -> Result<Map<String, Value>, Error> {
    if given.text("title")?.is_some_and(|title| title != channel.head.title) {
        return Err(Error::Rule(&rules::TITLE_UPDATE_FORBIDDEN));
    }
    let mut out = Map::new();
    out.insert("title".into(), channel.head.title.clone().into());
    for name in [
        "description",
        "keywords",
        "country",
        "defaultLanguage",
        "defaultTab",
        "featuredChannelsTitle",
        "profileColor",
        "trackingAnalyticsAccountId",
        "unsubscribedTrailer",
    ] {
        let Some(text) = given.text(name)? else {
            continue;
        };
        let valid = match name {
            "description" => is_description(&text) && text.chars().count() <= DESCRIPTION_CHARS_MAX,
            "keywords" => text.chars().count() <= KEYWORDS_CHARS_MAX,
            "country" => text.is_empty() || language::region(&text).is_some(),
            "defaultLanguage" => text.is_empty() || language::is_tag(&text),
            "profileColor" => text.is_empty() || (text.starts_with('#') && text.len() == 7),
            _ => text.chars().count() <= KEYWORDS_CHARS_MAX,
        };
        if !valid {
            return Err(Error::Rule(&rules::BRANDING_INVALID));
        }
        if !text.is_empty() {
            out.insert(name.into(), text.into());
        }
    }
    for name in ["showBrowseView", "showRelatedChannels", "moderateComments"] {
        if let Some(flag) = given.flag(name)? {
            out.insert(name.into(), flag.into());
        }
    }
    if let Some(featured) = given.texts("featuredChannelsUrls")? {
        if featured.len() > FEATURED_MAX {
            return Err(Error::Rule(&rules::BRANDING_INVALID));
        }
        out.insert("featuredChannelsUrls".into(), featured.into());
    }
    Ok(out)
}

/// The resource.
#[must_use]
pub fn render(
    id: &str,
    channel: &Stored<Channel>,
    counts: ChannelCounts,
    parts: &[&'static str],
    language: Option<&str>,
    caller: &Caller,
) -> Item {
    let mut item = Item::begin("channel", &channel.etag(), Some(id));
    let owner = caller.owns(id);
    for part in parts {
        let text = match *part {
            "id" => continue,
            "snippet" => localized(channel, language),
            "statistics" => statistics(&channel.head, counts),
            "contentDetails" => json!({"relatedPlaylists": related(id, owner)}).to_string().into(),
            "status" => json!({"privacyStatus": "public", "isLinked": true, "longUploadsStatus": if owner { "allowed" } else { "longUploadsUnspecified" }, "madeForKids": false}).to_string().into(),
            "auditDetails" => json!({"communityGuidelinesGoodStanding": true, "copyrightStrikesGoodStanding": true, "contentIdClaimsGoodStanding": true}).to_string().into(),
            "contentOwnerDetails" | "topicDetails" | "conversionPings" => Bytes::from_static(b"{}"),
            "brandingSettings" => match channel.part("brandingSettings") {
                Some(text) => text.clone(),
                None => json!({"channel": {"title": channel.head.title}}).to_string().into(),
            },
            other => match channel.part(other) {
                Some(text) => text.clone(),
                None => continue,
            },
        };
        item.part(part, &text);
    }
    item.end()
}

fn localized(channel: &Stored<Channel>, language: Option<&str>) -> Bytes {
    let text = channel.part("snippet").cloned().unwrap_or_default();
    let Some(language) = language else {
        return text;
    };
    let localizations = channel.value("localizations");
    let Some(localized) = crate::record::localized(&localizations, language) else {
        return text;
    };
    let mut snippet = channel.value("snippet");
    snippet.insert("localized".into(), localized.clone());
    crate::record::print(&snippet)
}

fn statistics(head: &Channel, counts: ChannelCounts) -> Bytes {
    let ChannelCounts { views, subscribers, videos, .. } = counts;
    let subscribers = if head.hides_subscribers { 0 } else { subscribers };
    let hidden = head.hides_subscribers;
    format!("{{\"viewCount\":\"{views}\",\"subscriberCount\":\"{subscribers}\",\"hiddenSubscriberCount\":{hidden},\"videoCount\":\"{videos}\"}}").into()
}

/// Ids of the special playlists (Spec §2, fact 6); what was watched and what is to be watched is the owner's alone.
fn related(id: &str, owner: bool) -> Value {
    let mut related = json!({"uploads": Special::Uploads.of(id), "likes": Special::Likes.of(id)});
    if let (true, Some(map)) = (owner, related.as_object_mut()) {
        map.insert("watchHistory".into(), Special::History.of(id).into());
        map.insert("watchLater".into(), Special::Later.of(id).into());
    }
    related
}
