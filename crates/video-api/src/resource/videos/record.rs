//! Videos: what is stored of one, and who may see it.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use triptych_core::kv::{JsonRecord, Table, Tx};
use triptych_core::time::Timestamp;

use crate::account::Caller;
use crate::api::error::Error;
use crate::api::language;
use crate::media::{MediaInfo, ProbeFailure};
use crate::record::privacy::Privacy;
use crate::record::stored::Stored;
use crate::record::thumbnail;
use crate::upload::media::MediaId;

/// Videos by their id.
pub const VIDEOS: Table<String, Stored<Video>> = Table::new(0x20);

/// Counters of a video.
pub const VIDEO_COUNTS: Table<String, VideoCounts> = Table::new(0x21);

/// Videos by channel, audience (0 everyone, 1 the owner, 2 nobody: it was taken from the uploads) and time, latest first.
pub const UPLOADS: Table<(String, u8, u64, String), ()> = Table::new(0x22);

/// Private videos that become public, by when.
pub const SCHEDULE: Table<(u64, String), ()> = Table::new(0x24);

/// The head of a video: all that rules and orders need.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Video {
    /// The channel that owns it.
    pub channel: String,
    /// The time when its bytes were there.
    pub uploaded: Timestamp,
    /// The time when it was published, or uploaded while it is not public.
    pub published: Timestamp,
    /// The privacy.
    pub privacy: Privacy,
    /// The time when it becomes public.
    pub publish_at: Option<Timestamp>,
    /// The video category.
    pub category: String,
    /// The language of its title and description.
    pub language: Option<String>,
    /// `youtube` or `creativeCommon`.
    pub license: String,
    /// True if other sites may embed it.
    pub embeddable: bool,
    /// True if everyone sees its statistics.
    pub public_stats: bool,
    /// True if the owner says that it is made for children.
    pub made_for_kids: Option<bool>,
    /// True if the owner says that it holds altered or synthetic media.
    pub synthetic: Option<bool>,
    /// Number of bytes that its file has.
    pub bytes: u64,
    /// Metadata of its file.
    pub facts: Option<MediaInfo>,
    /// The reason why its file is no video.
    pub failure: Option<ProbeFailure>,
    /// The name of its file.
    pub file_name: Option<String>,
    /// The rows of its bytes.
    pub media: Option<MediaId>,
    /// True if it has a picture of its own.
    pub has_thumbnail: bool,
    /// True if it has captions that everyone is shown.
    #[serde(default, skip_serializing_if = "is_false")]
    pub has_captions: bool,
    /// Width and height of that picture, as it was sent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub thumbnail_size: Option<(u32, u32)>,
    /// The key in the addresses of its picture while it is its owner's alone; videos of earlier builds have none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub picture_key: Option<String>,
    /// True if its owner took it from the list of uploads.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_off_uploads: bool,
    /// True if it is in 3D, as its file or the seed file says.
    #[serde(default, skip_serializing_if = "is_false")]
    pub three_d: bool,
    /// Film or episode. The seed file says it, as no operation does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub form: Option<VideoForm>,
    /// Ids of its topics. The seed file says them, as no operation does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub topics: Vec<String>,
    /// The state of its broadcast. The seed file says it, as no operation does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub broadcast: Option<Broadcast>,
    /// The regions where it can be viewed; nothing means everywhere. The seed file says it, as no operation does.
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
    /// Returns whether it cannot be viewed in a region.
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

/// The form of a video that was made for cinema or television.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum VideoForm {
    /// A film.
    Movie,
    /// An episode of a show.
    Episode,
}

impl VideoForm {
    /// Its name, as `videoType` says it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Movie => "movie",
            Self::Episode => "episode",
        }
    }
}

/// The state of a broadcast.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Broadcast {
    /// It goes on.
    Live,
    /// It will come.
    Upcoming,
    /// It is over.
    Completed,
}

impl Broadcast {
    /// Its name, as `eventType` says it.
    #[must_use]
    pub const fn event_type(self) -> &'static str {
        match self {
            Self::Live => "live",
            Self::Upcoming => "upcoming",
            Self::Completed => "completed",
        }
    }

    /// `snippet.liveBroadcastContent`: what is over is a video like any other.
    #[must_use]
    pub const fn content(self) -> &'static str {
        match self {
            Self::Completed => "none",
            other => other.event_type(),
        }
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde gives what it asks about by reference"
)]
const fn is_false(flag: &bool) -> bool {
    !*flag
}

/// Processing takes this long on the service's clock.
pub const PROCESSING_MILLIS: i64 = 2_000;

impl Video {
    /// Returns whether the caller may see it by its id. A file that is no video is its owner's alone, from the upload on.
    #[must_use]
    pub fn is_visible(&self, caller: &Caller) -> bool {
        (self.is_shared() || caller.owns(&self.channel)) && !caller.closing.holds(&self.channel)
    }

    /// Returns whether others than its owner may see it by its id.
    #[must_use]
    pub const fn is_shared(&self) -> bool {
        !matches!(self.privacy, Privacy::Private) && self.failure.is_none()
    }

    /// Returns whether nobody can comment on it: a video made for children has no comments.
    #[must_use]
    pub fn comments_disabled(&self) -> bool {
        self.made_for_kids == Some(true)
    }

    /// Returns whether its comments stand among all of its channel: as the owner, and as everyone sees them. An unlisted video is for who has
    /// its id, which a list of them would give to everybody.
    #[must_use]
    pub fn lists_comments(&self) -> [bool; 2] {
        let is_open = !self.comments_disabled();
        [is_open, is_open && self.is_listed()]
    }

    /// Returns whether the list of its channel's uploads holds it, as the owner sees that.
    #[must_use]
    pub const fn is_in_uploads(&self) -> bool {
        !self.is_off_uploads
    }

    /// The facts that decide about the sizes of its picture, and its key while not everybody may see it.
    #[must_use]
    pub fn picture_source(&self) -> thumbnail::Source<'_> {
        let high_definition = self.facts.as_ref().is_some_and(|facts| facts.definition() == "hd");
        let key = self.picture_key.as_deref().filter(|_| !self.is_shared());
        thumbnail::Source { high_definition, own: self.thumbnail_size, key }
    }

    /// Returns whether it is for adults alone.
    #[must_use]
    pub fn is_restricted(&self) -> bool {
        self.rating.get("ytRating").and_then(Value::as_str) == Some("ytAgeRestricted")
    }

    /// Returns whether it counts for everyone: in charts, in uploads and in search.
    #[must_use]
    pub const fn is_listed(&self) -> bool {
        matches!(self.privacy, Privacy::Public) && self.failure.is_none()
    }

    /// Returns whether processing is over.
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

/// Counters of a video.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct VideoCounts {
    /// Number of times that it was watched.
    pub views: u64,
    /// Number of accounts that like it.
    pub likes: u64,
    /// Number of accounts that dislike it.
    pub dislikes: u64,
    /// Number of accounts that have it among their favourites.
    #[serde(skip_serializing_if = "is_zero")]
    pub favorites: u64,
    /// Number of comments that everybody sees. It is counted in rows of its own (`comments::tally`), and put here to be shown.
    #[serde(skip)]
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

/// The video, if the caller may see it.
///
/// # Errors
/// As the store.
pub fn visible(tx: &mut Tx<'_>, id: &str, caller: &Caller) -> Result<Option<Stored<Video>>, Error> {
    let video = VIDEOS.peek(tx, &id.to_owned())?;
    Ok(video.filter(|video| video.head.is_visible(caller)))
}
