//! Sections of a seed file: videos, ratings and plays.

use serde::Deserialize;
use serde_json::{Map, Value};
use triptych_core::id::Ids;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use super::patch::VideoPatch;
use super::play::{self, Plays};
use super::rating::{self, RATINGS};
use super::record::{Regions, VIDEO_COUNTS, VIDEOS};
use super::{rules, store};
use crate::api::error::Error;
use crate::media::MediaInfo;
use crate::record::id;
use crate::record::json_fields::Body;
use crate::record::stored::Stored;
use crate::resource::channels::record as channels;
use crate::seed::error::SeedError;
use crate::seed::section::{SectionReader, SeedSection, channel_of, moment};

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
}

/// The members that no operation writes of `contentDetails`.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SeedDetails {
    region_restriction: Option<Regions>,
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
    if !id::is_plain(&id) {
        return Err(Error::InvalidField {
            path: "id".into(),
            expected: "letters, digits, - and _",
        });
    }
    if VIDEOS.get(tx, &id)?.is_some() {
        return Ok(false);
    }
    let owner = channel_of(tx, &seed.owner, "owner")?;
    let title = channels::title(tx, &owner)?;
    let published = moment(seed.published_at.as_deref(), now)?;
    let mut made = Stored::uploaded(&id, &owner, &title, published);
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
    }
    let given = [
        ("snippet", &seed.snippet),
        ("status", &seed.status),
        ("localizations", &seed.localizations),
        ("recordingDetails", &seed.recording_details),
    ];
    let body: Map<_, _> = given
        .iter()
        .filter_map(|(name, part)| Some(((*name).to_owned(), (*part).clone()?)))
        .collect();
    let parts: Vec<_> =
        given.iter().filter(|(_, part)| part.is_some()).map(|(name, _)| *name).collect();
    VideoPatch { body: Body::of(&body), parts: &parts, now, is_new: true }
        .apply(&id, &title, &mut made)?;
    store::insert(tx, &id, &made)?;
    if let Some(views) = seed.view_count {
        store::add_views(tx, &id, &made.head, views)?;
    }
    debug_assert!(VIDEO_COUNTS.get(tx, &id)?.is_some(), "a video has counts");
    Ok(true)
}

fn rating(tx: &mut Tx<'_>, seed: &SeedRating, now: Timestamp) -> Result<bool, Error> {
    let channel = channel_of(tx, &seed.account, "account")?;
    VIDEOS.peek(tx, &seed.video)?.ok_or(&rules::NOT_FOUND)?;
    let likes = seed.rating == Liking::Like;
    let old = RATINGS.get(tx, &(channel.clone(), seed.video.clone()))?;
    if old.is_some_and(|rating| rating.likes == likes) {
        return Ok(false);
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
    let at = moment(seed.at.as_deref(), now)?;
    play::record(tx, ids, &seed.plays(), at)?;
    Ok(true)
}
