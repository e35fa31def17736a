//! Sections of a seed file: videos, ratings and plays.

use serde::Deserialize;
use serde_json::{Map, Value};
use triptych_core::id::Ids;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use super::patch::VideoPatch;
use super::play::{self, Plays};
use super::rating::{self, RATINGS};
use super::record::{Broadcast, Regions, VIDEO_COUNTS, VIDEOS, VideoForm};
use super::store;
use crate::account::ACCOUNTS;
use crate::api::error::Error;
use crate::media::MediaInfo;
use crate::record::id;
use crate::record::json_fields::Body;
use crate::record::stored::Stored;
use crate::resource::channels::record as channels;
use crate::seed::error::SeedError;
use crate::seed::section::{self, SectionReader, SeedSection, channel_of, moment};

/// The sections.
pub(super) static SECTIONS: &[SeedSection] = &[
    SeedSection { name: "videos", order: 50, fills_only: true, read: read_videos },
    SeedSection { name: "ratings", order: 70, fills_only: true, read: read_ratings },
    SeedSection { name: "plays", order: 80, fills_only: true, read: read_plays },
];

fn read_videos(reader: &mut SectionReader<'_>) -> Result<(), SeedError> {
    for (place, seed) in reader.things::<SeedVideo>()? {
        if let Some(id) = &seed.id {
            reader.names.take("video", id, &place, ".id")?;
        }
        reader.step(place, move |tx, now, ids| video(tx, &seed, now, ids));
    }
    Ok(())
}

fn read_ratings(reader: &mut SectionReader<'_>) -> Result<(), SeedError> {
    for (place, seed) in reader.things::<SeedRating>()? {
        reader.step(place, move |tx, now, _| rating(tx, &seed, now));
    }
    Ok(())
}

fn read_plays(reader: &mut SectionReader<'_>) -> Result<(), SeedError> {
    for (place, seed) in reader.things::<SeedPlay>()? {
        reader.step(place, move |tx, now, ids| play(tx, &seed, now, ids));
    }
    Ok(())
}

/// A video: the resource, its owner (an account or a channel), and how long it is.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedVideo {
    id: Option<String>,
    owner: String,
    published_at: Option<String>,
    duration_ms: Option<u64>,
    view_count: Option<u64>,
    snippet: Option<Value>,
    status: Option<Value>,
    localizations: Option<Value>,
    recording_details: Option<Value>,
    content_details: Option<SeedDetails>,
    topic_details: Option<SeedTopics>,
    live_streaming_details: Option<Map<String, Value>>,
    video_type: Option<VideoForm>,
}

/// `topicDetails`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedTopics {
    #[serde(default)]
    topic_ids: Vec<String>,
    #[serde(default)]
    relevant_topic_ids: Vec<String>,
    #[serde(default)]
    topic_categories: Vec<String>,
}

impl SeedTopics {
    /// The part as it is shown; a list without anything is not there.
    fn part(&self) -> Map<String, Value> {
        let lists = [
            ("topicIds", &self.topic_ids),
            ("relevantTopicIds", &self.relevant_topic_ids),
            ("topicCategories", &self.topic_categories),
        ];
        let lists = lists.into_iter().filter(|(_, list)| !list.is_empty());
        lists.map(|(name, list)| (name.to_owned(), list.clone().into())).collect()
    }
}

/// `contentDetails.dimension`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
enum SeedDimension {
    #[serde(rename = "2d")]
    Flat,
    #[serde(rename = "3d")]
    Stereoscopic,
}

/// The members of `liveStreamingDetails` that are moments, by which the state of a broadcast is known.
const BROADCAST_MOMENTS: &[&str] =
    &["actualStartTime", "actualEndTime", "scheduledStartTime", "scheduledEndTime"];
/// Its other members.
const BROADCAST_TEXTS: &[&str] = &["concurrentViewers", "activeLiveChatId"];

/// The state of a broadcast: what `snippet.liveBroadcastContent` says, and `completed` where it is none and there are details.
fn broadcast(seed: &SeedVideo) -> Result<Option<Broadcast>, Error> {
    for (name, value) in seed.live_streaming_details.iter().flatten() {
        let text = value.as_str();
        let is_known = if BROADCAST_MOMENTS.contains(&name.as_str()) {
            text.is_some_and(|text| Timestamp::from_rfc3339(text).is_some())
        } else {
            BROADCAST_TEXTS.contains(&name.as_str()) && text.is_some()
        };
        if !is_known {
            let path = format!("liveStreamingDetails.{name}");
            return Err(Error::InvalidField { path, expected: "a moment or text of a broadcast" });
        }
    }
    let content = seed.snippet.as_ref().and_then(|snippet| snippet.get("liveBroadcastContent"));
    Ok(match content.and_then(Value::as_str) {
        Some("live") => Some(Broadcast::Live),
        Some("upcoming") => Some(Broadcast::Upcoming),
        None | Some("none") => seed.live_streaming_details.as_ref().map(|_| Broadcast::Completed),
        Some(_) => {
            let path = "snippet.liveBroadcastContent".into();
            return Err(Error::InvalidField { path, expected: "none, live or upcoming" });
        }
    })
}

/// The members that no operation writes of `contentDetails`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedDetails {
    region_restriction: Option<Regions>,
    dimension: Option<SeedDimension>,
    #[serde(default)]
    content_rating: Map<String, Value>,
}

/// The rating of a video by an account.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedRating {
    account: String,
    video: String,
    rating: Liking,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Liking {
    Like,
    Dislike,
}

/// Somebody watched a video.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedPlay {
    video: String,
    account: Option<String>,
    #[serde(default)]
    seconds: u64,
    at: Option<String>,
}

impl SeedPlay {
    fn plays(&self) -> Plays {
        Plays {
            video: self.video.clone(),
            account: self.account.clone(),
            count: 1,
            seconds: self.seconds,
        }
    }
}

fn video(
    tx: &mut Tx<'_>,
    seed: &SeedVideo,
    now: Timestamp,
    ids: &mut dyn Ids,
) -> Result<bool, Error> {
    let id = seed.id.clone().unwrap_or_else(|| id::video(ids));
    if !id::is_video(&id) {
        return Err(Error::InvalidField {
            path: "id".into(),
            expected: "letters, digits, -, _ and ., and not none",
        });
    }
    if VIDEOS.get(tx, &id)?.is_some() {
        return Ok(false);
    }
    let owner = channel_of(tx, &seed.owner, "owner")?;
    let title = channels::title(tx, &owner)?;
    let published = section::published(seed.published_at.as_deref(), seed.snippet.as_ref(), now)?;
    let mut made = Stored::uploaded(&id, &owner, &title, published);
    made.head.picture_key = Some(id::picture_key(ids));
    if let Some(duration_ms) = seed.duration_ms {
        made.head.facts = Some(MediaInfo {
            container: "mp4".into(),
            duration_ms,
            video: Vec::new(),
            audio: Vec::new(),
            created: None,
        });
    }
    if let Some(details) = &seed.content_details {
        made.head.regions = details.region_restriction.clone();
        made.head.rating = details.content_rating.clone();
        made.head.three_d = details.dimension == Some(SeedDimension::Stereoscopic);
    }
    made.head.form = seed.video_type;
    made.head.broadcast = broadcast(seed)?;
    if let Some(details) = &seed.live_streaming_details {
        made.set("liveStreamingDetails", details);
    }
    if let Some(topics) = &seed.topic_details {
        made.head.topics = [&*topics.topic_ids, &*topics.relevant_topic_ids].concat();
        made.set("topicDetails", &topics.part());
    }
    let given = [
        ("snippet", seed.snippet.as_ref()),
        ("status", seed.status.as_ref()),
        ("localizations", seed.localizations.as_ref()),
        ("recordingDetails", seed.recording_details.as_ref()),
    ];
    let (body, parts) = section::body("Video", &given)?;
    VideoPatch { body: Body::of(&body), parts: &parts, now, is_new: true }
        .apply(&id, &title, &mut made)?;
    // The service says it of a video, whoever declared it: no operation writes that.
    let status = Body::of(&body).object("status", "status")?;
    let told = status.map(|status| status.flag("madeForKids")).transpose()?.flatten();
    made.head.made_for_kids = made.head.made_for_kids.or(told);
    store::insert(tx, &id, &made)?;
    if let Some(views) = seed.view_count {
        store::add_views(tx, &id, &made.head, views)?;
    }
    debug_assert!(VIDEO_COUNTS.get(tx, &id)?.is_some(), "a video has counts");
    Ok(true)
}

/// Checks that a video is there that a thing of the file names.
fn check_video(tx: &mut Tx<'_>, id: &String) -> Result<(), Error> {
    match VIDEOS.peek(tx, id)? {
        Some(_) => Ok(()),
        None => Err(Error::InvalidField { path: "video".into(), expected: "the id of a video" }),
    }
}

fn rating(tx: &mut Tx<'_>, seed: &SeedRating, now: Timestamp) -> Result<bool, Error> {
    let channel = channel_of(tx, &seed.account, "account")?;
    check_video(tx, &seed.video)?;
    let likes = seed.rating == Liking::Like;
    if RATINGS.get(tx, &(channel.clone(), seed.video.clone()))?.is_some() {
        let expected = "a video that this account does not rate twice";
        return Err(Error::InvalidField { path: "video".into(), expected });
    }
    rating::set(tx, &channel, &seed.video, Some(likes), now)?;
    Ok(true)
}

fn play(
    tx: &mut Tx<'_>,
    seed: &SeedPlay,
    now: Timestamp,
    ids: &mut dyn Ids,
) -> Result<bool, Error> {
    let at = moment("at", seed.at.as_deref(), now)?;
    check_video(tx, &seed.video)?;
    if let Some(id) = &seed.account
        && ACCOUNTS.peek(tx, id)?.is_none_or(|account| account.channel.is_none())
    {
        let expected = "an account with a channel";
        return Err(Error::InvalidField { path: "account".into(), expected });
    }
    play::record(tx, ids, &seed.plays(), at)?;
    Ok(true)
}
