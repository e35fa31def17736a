//! Videos: what is stored of one, who may see it, and the indexes that follow from it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use triptych_core::id::Ids;
use triptych_core::kv::{JsonRecord, Tx};
use triptych_core::time::Timestamp;

use crate::account::Caller;
use crate::api::error::Error;
use crate::api::language;
use crate::api::paginate::{latest_first, moment_of};
use crate::index::{self, Kind};
use crate::media::{Facts, Reason};
use crate::picture;
use crate::record::counter;
use crate::record::stored::Stored;
use crate::record::tables::{
    CHART, RATED, RATED_COUNT, RATINGS, SCHEDULE, UPLOADS, VIDEO_COUNTS, VIDEOS,
};
use crate::resource::channels::record as channel;
use crate::resource::search_document as findable;
use crate::resource::videos::patch;
use crate::upload::media::{self, MediaId};

/// Who may see a video or a playlist.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Privacy {
    /// Everyone, and it is found.
    #[default]
    Public,
    /// Whoever has the id.
    Unlisted,
    /// The owner.
    Private,
}

impl Privacy {
    /// As it stands in resources.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Unlisted => "unlisted",
            Self::Private => "private",
        }
    }

    /// The privacy with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        [Self::Public, Self::Unlisted, Self::Private]
            .into_iter()
            .find(|privacy| privacy.name() == name)
    }
}

/// What rules and orders need of a video.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Video {
    /// The channel that owns it.
    pub channel: String,
    /// When its bytes were there.
    pub uploaded: Timestamp,
    /// When it was published, or uploaded while it is not public.
    pub published: Timestamp,
    /// Who may see it.
    pub privacy: Privacy,
    /// When it becomes public.
    pub publish_at: Option<Timestamp>,
    /// The video category.
    pub category: String,
    /// The language of its title and description.
    pub language: Option<String>,
    /// `youtube` or `creativeCommon`.
    pub license: String,
    /// Whether other sites may embed it.
    pub embeddable: bool,
    /// Whether everyone sees its statistics.
    pub public_stats: bool,
    /// Whether the owner says that it is made for children.
    pub made_for_kids: Option<bool>,
    /// Whether the owner says that it holds altered or synthetic media.
    pub synthetic: Option<bool>,
    /// How many bytes its file has.
    pub bytes: u64,
    /// What its file says of itself.
    pub facts: Option<Facts>,
    /// Why its file is no video.
    pub failure: Option<Reason>,
    /// The name of its file.
    pub file_name: Option<String>,
    /// The rows of its bytes.
    pub media: Option<MediaId>,
    /// Whether it has a picture of its own.
    pub has_thumbnail: bool,
    /// Where it can be viewed; nothing means everywhere. The seed file says it, as no operation does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub regions: Option<Regions>,
    /// `contentDetails.contentRating`. The seed file says it, as no operation does.
    #[serde(default, skip_serializing_if = "Map::is_empty")]
    pub rating: Map<String, Value>,
}

/// `contentDetails.regionRestriction`: the only regions where a video can be viewed, or those where it cannot.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Regions {
    /// These alone.
    Allowed(Vec<String>),
    /// All but these.
    Blocked(Vec<String>),
}

impl Regions {
    /// Whether it cannot be viewed in a region.
    #[must_use]
    pub fn close(&self, region: &str) -> bool {
        let names = |regions: &[String]| regions.iter().any(|named| named == region);
        match self {
            Self::Allowed(allowed) => !names(allowed),
            Self::Blocked(blocked) => names(blocked),
        }
    }

    /// The regions where it cannot be viewed.
    #[must_use]
    pub fn closed(&self) -> Vec<String> {
        let regions = language::REGIONS.iter().map(|(region, _)| *region);
        let closed = regions.filter(|region| self.close(region));
        closed.map(str::to_owned).collect()
    }
}

/// Processing takes this long on the service's clock.
pub const PROCESSING_MILLIS: i64 = 2_000;

impl Video {
    /// Whether the caller may see it by its id.
    #[must_use]
    pub fn is_visible(&self, caller: &Caller) -> bool {
        self.privacy != Privacy::Private || caller.owns(&self.channel)
    }

    /// Whether it is for adults alone.
    #[must_use]
    pub fn is_restricted(&self) -> bool {
        self.rating.get("ytRating").and_then(Value::as_str) == Some("ytAgeRestricted")
    }

    /// Whether it counts for everyone: in charts, in uploads and in search.
    #[must_use]
    pub const fn is_listed(&self) -> bool {
        matches!(self.privacy, Privacy::Public)
    }

    /// Whether processing is over.
    #[must_use]
    pub const fn is_processed(&self, now: Timestamp) -> bool {
        now.micros().saturating_sub(self.uploaded.micros()) >= PROCESSING_MILLIS * 1_000
    }

    /// `status.uploadStatus`.
    #[must_use]
    pub fn upload_status(&self, now: Timestamp) -> &'static str {
        match (self.is_processed(now), self.failure) {
            (false, _) => "uploaded",
            (true, Some(_)) => "failed",
            (true, None) => "processed",
        }
    }
}

/// What is counted of a video.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct VideoCounts {
    /// How often it was watched.
    pub views: u64,
    /// How many accounts like it.
    pub likes: u64,
    /// How many accounts dislike it.
    pub dislikes: u64,
    /// How many comments are published.
    pub comments: u64,
    /// For how many seconds it was watched, all plays together.
    #[serde(skip_serializing_if = "is_zero")]
    pub seconds: u64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde gives what it asks about by reference"
)]
const fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl JsonRecord for VideoCounts {}

/// What an account thinks of a video, and since when.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Rating {
    /// Whether it likes it; else it dislikes it.
    pub likes: bool,
    /// Since when.
    pub since: Timestamp,
}

impl JsonRecord for Rating {}

/// The video, if the caller may see it.
///
/// # Errors
/// As the store.
pub fn visible(tx: &mut Tx<'_>, id: &str, caller: &Caller) -> Result<Option<Stored<Video>>, Error> {
    let video = VIDEOS.peek(tx, &id.to_owned())?;
    Ok(video.filter(|video| video.head.is_visible(caller)))
}

/// Stores a new video and its indexes.
///
/// # Errors
/// As the store.
pub fn insert(tx: &mut Tx<'_>, id: &str, video: &Stored<Video>) -> Result<(), Error> {
    VIDEOS.put(tx, &id.to_owned(), video);
    VIDEO_COUNTS.put(tx, &id.to_owned(), &VideoCounts::default());
    put_indexes(tx, id, video)?;
    findable::video(tx, id, video)
}

/// A new id that no video has.
///
/// # Errors
/// As the store.
pub fn new_id(tx: &mut Tx<'_>, ids: &mut dyn Ids) -> Result<String, Error> {
    loop {
        let id = crate::record::id::video(ids);
        if VIDEOS.get(tx, &id)?.is_none() {
            return Ok(id);
        }
    }
}

/// Replaces a video: indexes of the old one go, those of the new one come.
///
/// # Errors
/// As the store.
pub fn replace(
    tx: &mut Tx<'_>,
    id: &str,
    old: &Stored<Video>,
    new: &Stored<Video>,
) -> Result<(), Error> {
    if old != new {
        remove_indexes(tx, id, old)?;
        VIDEOS.put(tx, &id.to_owned(), new);
        put_indexes(tx, id, new)?;
        findable::video(tx, id, new)?;
    }
    Ok(())
}

/// Removes a video. Playlist items that name it stay, as the real service keeps them; ratings of it are not shown any more.
///
/// # Errors
/// As the store.
pub fn remove(tx: &mut Tx<'_>, id: &str, video: &Stored<Video>) -> Result<(), Error> {
    remove_indexes(tx, id, video)?;
    let key = id.to_owned();
    let counts = VIDEO_COUNTS.get(tx, &key)?.unwrap_or_default();
    channel::count(tx, &video.head.channel, |channel| {
        channel.views = channel.views.saturating_sub(counts.views)
    })?;
    VIDEOS.delete(tx, &key);
    VIDEO_COUNTS.delete(tx, &key);
    if let Some(media) = video.head.media {
        media::discard(tx, media);
    }
    picture::unset(tx, &format!("vi/{id}"))?;
    index::remove(tx, Kind::Video, id)?;
    Ok(())
}

fn put_indexes(tx: &mut Tx<'_>, id: &str, video: &Stored<Video>) -> Result<(), Error> {
    let head = &video.head;
    let time = latest_first(head.published.micros());
    UPLOADS.put(tx, &(head.channel.clone(), 1, time, id.to_owned()), &());
    if head.is_listed() {
        UPLOADS.put(tx, &(head.channel.clone(), 0, time, id.to_owned()), &());
        let views = VIDEO_COUNTS.get(tx, &id.to_owned())?.unwrap_or_default().views;
        put_chart(tx, id, head, views);
    }
    if let Some(at) = head.publish_at {
        SCHEDULE.put(tx, &(!latest_first(at.micros()), id.to_owned()), &());
    }
    channel::count(tx, &head.channel, |counts| {
        counts.uploads += 1;
        counts.videos += u64::from(head.is_listed());
    })
}

fn remove_indexes(tx: &mut Tx<'_>, id: &str, video: &Stored<Video>) -> Result<(), Error> {
    let head = &video.head;
    let time = latest_first(head.published.micros());
    UPLOADS.delete(tx, &(head.channel.clone(), 1, time, id.to_owned()));
    if head.is_listed() {
        UPLOADS.delete(tx, &(head.channel.clone(), 0, time, id.to_owned()));
        let views = VIDEO_COUNTS.get(tx, &id.to_owned())?.unwrap_or_default().views;
        remove_chart(tx, id, head, views);
    }
    if let Some(at) = head.publish_at {
        SCHEDULE.delete(tx, &(!latest_first(at.micros()), id.to_owned()));
    }
    channel::count(tx, &head.channel, |counts| {
        counts.uploads = counts.uploads.saturating_sub(1);
        counts.videos = counts.videos.saturating_sub(u64::from(head.is_listed()));
    })
}

fn put_chart(tx: &mut Tx<'_>, id: &str, head: &Video, views: u64) {
    for category in ["0", &head.category] {
        CHART.put(tx, &(category.to_owned(), !views, id.to_owned()), &());
    }
}

fn remove_chart(tx: &mut Tx<'_>, id: &str, head: &Video, views: u64) {
    for category in ["0", &head.category] {
        CHART.delete(tx, &(category.to_owned(), !views, id.to_owned()));
    }
}

/// Counts `more` views of a video, for it, its channel and the chart.
///
/// # Errors
/// As the store.
pub fn add_views(tx: &mut Tx<'_>, id: &str, video: &Video, more: u64) -> Result<(), Error> {
    let mut counts = VIDEO_COUNTS.get(tx, &id.to_owned())?.unwrap_or_default();
    if video.is_listed() {
        remove_chart(tx, id, video, counts.views);
    }
    counts.views = counts.views.saturating_add(more);
    if video.is_listed() {
        put_chart(tx, id, video, counts.views);
    }
    VIDEO_COUNTS.put(tx, &id.to_owned(), &counts);
    index::touch(tx, Kind::Video, id, |facets| facets.views = counts.views)?;
    channel::count(tx, &video.channel, |channel| channel.views = channel.views.saturating_add(more))
}

/// Adds to the time for which a video was watched, and gives what is counted of it then. No resource shows the time.
///
/// # Errors
/// As the store.
pub fn add_seconds(tx: &mut Tx<'_>, id: &str, more: u64) -> Result<VideoCounts, Error> {
    let mut counts = VIDEO_COUNTS.get(tx, &id.to_owned())?.unwrap_or_default();
    counts.seconds = counts.seconds.saturating_add(more);
    VIDEO_COUNTS.put(tx, &id.to_owned(), &counts);
    Ok(counts)
}

/// Sets what the account of `channel` thinks of a video: `None` removes its rating. Likes are the playlist of likes.
///
/// # Errors
/// As the store.
pub fn rate(
    tx: &mut Tx<'_>,
    channel: &str,
    id: &str,
    likes: Option<bool>,
    now: Timestamp,
) -> Result<(), Error> {
    let key = (channel.to_owned(), id.to_owned());
    let old = RATINGS.get(tx, &key)?;
    if old.map(|rating| rating.likes) == likes {
        return Ok(());
    }
    let mut counts = VIDEO_COUNTS.get(tx, &id.to_owned())?;
    let mut list = |tx: &mut Tx<'_>, rating: Rating, more: bool| -> Result<(), Error> {
        let kind = if rating.likes { 1 } else { 2 };
        let row = (channel.to_owned(), kind, latest_first(rating.since.micros()), id.to_owned());
        let total = (channel.to_owned(), kind);
        if more {
            RATED.put(tx, &row, &());
        } else {
            RATED.delete(tx, &row);
        }
        let change = |count: u64| {
            if more { count.saturating_add(1) } else { count.saturating_sub(1) }
        };
        counter::change(tx, &RATED_COUNT, &total, more)?;
        if let Some(counts) = &mut counts {
            let count = if rating.likes { &mut counts.likes } else { &mut counts.dislikes };
            *count = change(*count);
        }
        Ok(())
    };
    if let Some(old) = old {
        list(tx, old, false)?;
    }
    match likes {
        None => RATINGS.delete(tx, &key),
        Some(likes) => {
            let rating = Rating { likes, since: now };
            list(tx, rating, true)?;
            RATINGS.put(tx, &key, &rating);
        }
    }
    if let Some(counts) = counts {
        VIDEO_COUNTS.put(tx, &id.to_owned(), &counts);
        index::touch(tx, Kind::Video, id, |facets| {
            (facets.likes, facets.dislikes) = (counts.likes, counts.dislikes);
        })?;
    }
    Ok(())
}

/// When the next scheduled video becomes public.
///
/// # Errors
/// As the store.
pub fn next_due(tx: &mut Tx<'_>) -> Result<Option<Timestamp>, Error> {
    let (rows, _) = SCHEDULE.scan(tx, &SCHEDULE.span(&()), 1)?;
    let next = rows.first();
    Ok(next.map(|((at, _), ())| Timestamp::from_micros(moment_of(!*at))))
}

/// Publishes videos whose time has come, at most 50 of them.
///
/// # Errors
/// As the store.
pub fn publish_due(tx: &mut Tx<'_>, now: Timestamp) -> Result<(), Error> {
    let (rows, _) = SCHEDULE.scan(tx, &SCHEDULE.span(&()), 50)?;
    for ((at, id), ()) in rows {
        if at > !latest_first(now.micros()) {
            break;
        }
        let Some(old) = VIDEOS.get(tx, &id)? else {
            SCHEDULE.delete(tx, &(at, id));
            continue;
        };
        let mut new = old.clone();
        new.head.published = new.head.publish_at.take().unwrap_or(now);
        new.head.privacy = Privacy::Public;
        patch::refresh(&id, &mut new);
        replace(tx, &id, &old, &new)?;
    }
    Ok(())
}
