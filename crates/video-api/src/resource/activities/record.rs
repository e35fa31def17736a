//! Activities: what is kept of what a channel did. Uploads and likes are not among it: they follow from the uploads and the ratings.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use triptych_core::kv::{JsonRecord, Plan, Table, Tx};
use triptych_core::time::Timestamp;

use crate::api::error::Error;
use crate::record::counter::{self, Count};
use crate::record::key_order::latest_first;

/// Activities by channel and id.
pub const ACTIVITIES: Table<(String, String), Activity> = Table::new(0x4A);

/// Activities of a channel by audience (0 everyone, 1 the owner) and time, latest first.
pub const ACTIVITY_TIMES: Table<(String, u8, u64, String), ()> = Table::new(0x4B);

/// Number of activities of a channel, by audience.
pub const ACTIVITY_COUNTS: Table<(String, u8), Count> = Table::new(0x4C);

/// Something that a channel did, or that was done for it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Event {
    /// It published this video.
    Upload(String),
    /// It likes this video.
    Like(String),
    /// It put this video among its favourites.
    Favorite(String),
    /// It wrote this comment, about a video or a channel.
    Comment {
        /// The comment.
        comment: String,
        /// The thing that it is about.
        about: Thing,
    },
    /// It subscribed to this channel.
    Subscription(String),
    /// It added a video to a playlist.
    PlaylistItem {
        /// The playlist.
        playlist: String,
        /// The item's number in its playlist.
        number: u64,
        /// The video.
        video: String,
    },
    /// Something was added to the channel.
    ChannelItem(Thing),
    /// Something that no operation makes: its type, its number, and its details.
    Other {
        /// `social`, `recommendation`, `bulletin` or `promotedItem`.
        kind: String,
        /// The number that tells it from others of its type.
        number: u64,
        /// The member of `contentDetails`.
        details: Map<String, Value>,
    },
}

/// A resource that an activity is about.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Thing {
    /// A video.
    Video(String),
    /// A channel.
    Channel(String),
    /// A playlist.
    Playlist(String),
}

/// An activity that is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Activity {
    /// The time.
    pub at: Timestamp,
    /// The thing.
    pub event: Event,
    /// True if others than the owner may see it.
    pub public: bool,
}

impl JsonRecord for Activity {}

impl Thing {
    /// The member of a resource id that names it, and the name.
    #[must_use]
    pub fn named(&self) -> (&'static str, &str) {
        match self {
            Self::Video(id) => ("videoId", id),
            Self::Channel(id) => ("channelId", id),
            Self::Playlist(id) => ("playlistId", id),
        }
    }

    /// The kind of a resource id that names it.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Video(_) => "youtube#video",
            Self::Channel(_) => "youtube#channel",
            Self::Playlist(_) => "youtube#playlist",
        }
    }

    /// The resource that a resource id of an activity's details names.
    #[must_use]
    pub fn of_resource_id(resource: &Value) -> Option<Self> {
        let id = |name| resource.get(name).and_then(Value::as_str).map(str::to_owned);
        id("videoId")
            .map(Self::Video)
            .or_else(|| id("channelId").map(Self::Channel))
            .or_else(|| id("playlistId").map(Self::Playlist))
    }
}

impl Event {
    /// `snippet.type`.
    #[must_use]
    pub fn kind(&self) -> &str {
        match self {
            Self::Upload(_) => "upload",
            Self::Like(_) => "like",
            Self::Favorite(_) => "favorite",
            Self::Comment { .. } => "comment",
            Self::Subscription(_) => "subscription",
            Self::PlaylistItem { .. } => "playlistItem",
            Self::ChannelItem(_) => "channelItem",
            Self::Other { kind, .. } => kind,
        }
    }

    /// The resource that it is about.
    #[must_use]
    pub fn thing(&self) -> Option<Thing> {
        match self {
            Self::Upload(video)
            | Self::Like(video)
            | Self::Favorite(video)
            | Self::PlaylistItem { video, .. } => Some(Thing::Video(video.clone())),
            Self::Comment { about, .. } => Some(about.clone()),
            Self::Subscription(channel) => Some(Thing::Channel(channel.clone())),
            Self::ChannelItem(thing) => Some(thing.clone()),
            Self::Other { details, .. } => {
                let promoted = details.get("videoId").and_then(Value::as_str);
                promoted
                    .map(|video| Thing::Video(video.to_owned()))
                    .or_else(|| Thing::of_resource_id(details.get("resourceId")?))
            }
        }
    }

    /// The id of the activity: a channel does each thing once, until it undoes it.
    #[must_use]
    pub fn id(&self, channel: &str) -> String {
        let subject = match self {
            Self::Comment { comment, .. } => comment.clone(),
            Self::PlaylistItem { playlist, number, .. } => format!("{playlist} {number}"),
            Self::Other { number, .. } => number.to_string(),
            _ => self.thing().map(|thing| thing.named().1.to_owned()).unwrap_or_default(),
        };
        short_digest::<21>(&[channel, self.kind(), &subject])
    }

    /// The id that joins all that one channel did with one resource.
    #[must_use]
    pub fn group(&self, channel: &str) -> Option<String> {
        let thing = self.thing()?;
        let (member, id) = thing.named();
        Some(short_digest::<18>(&[channel, member, id]))
    }
}

fn short_digest<const N: usize>(names: &[&str]) -> String {
    let mut digest = Sha256::new();
    for name in names {
        digest.update(name.as_bytes());
        digest.update([0]);
    }
    URL_SAFE_NO_PAD.encode(digest.finalize().get(..N).unwrap_or_default())
}

/// Records that a channel did something, in the transaction in which it did; `public` says that others may see it.
///
/// # Errors
/// As the store.
pub fn note(
    tx: &mut Tx<'_>,
    channel: &str,
    at: Timestamp,
    event: Event,
    public: bool,
) -> Result<(), Error> {
    forget(tx, channel, &event)?;
    let id = event.id(channel);
    let activity = Activity { at, event, public };
    index_rows(tx, channel, &id, &activity, true)?;
    ACTIVITIES.put(tx, &(channel.to_owned(), id), &activity);
    Ok(())
}

/// Takes back that a channel did something, if it did.
///
/// # Errors
/// As the store.
pub fn forget(tx: &mut Tx<'_>, channel: &str, event: &Event) -> Result<(), Error> {
    let id = event.id(channel);
    let key = (channel.to_owned(), id);
    if let Some(activity) = ACTIVITIES.get(tx, &key)? {
        index_rows(tx, channel, &key.1, &activity, false)?;
        ACTIVITIES.delete(tx, &key);
    }
    Ok(())
}

/// Plans what [`note`] and [`forget`] read.
pub fn plan(plan: &mut Plan<'_>, channel: &str, event: &Event) {
    plan.row(&ACTIVITIES, &(channel.to_owned(), event.id(channel)));
    for audience in 0..=1 {
        plan.row(&ACTIVITY_COUNTS, &(channel.to_owned(), audience));
    }
}

fn index_rows(
    tx: &mut Tx<'_>,
    channel: &str,
    id: &str,
    activity: &Activity,
    is_there: bool,
) -> Result<(), Error> {
    let time = latest_first(activity.at.micros());
    for audience in if activity.public { 0..=1 } else { 1..=1 } {
        let row = (channel.to_owned(), audience, time, id.to_owned());
        if is_there {
            ACTIVITY_TIMES.put(tx, &row, &());
        } else {
            ACTIVITY_TIMES.delete(tx, &row);
        }
        counter::change(tx, &ACTIVITY_COUNTS, &(channel.to_owned(), audience), is_there)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use triptych_core::kv::Memory;

    #[test]
    fn what_is_done_twice_stands_once_and_what_is_undone_not_at_all() {
        let store = Memory::new();
        let mut tx = Tx::new(&store);
        let event = Event::Favorite("v".into());
        for second in [5, 7] {
            note(&mut tx, "UCx", Timestamp::from_seconds(second), event.clone(), true).unwrap();
        }
        let span = ACTIVITY_TIMES.span(&("UCx".to_owned(), 0_u8));
        let (rows, _) = ACTIVITY_TIMES.scan(&mut tx, &span, 9).unwrap();
        assert_eq!(rows.len(), 1);
        assert_eq!(rows[0].0.2, latest_first(7_000_000));
        let count =
            |tx: &mut Tx<'_>| counter::of(tx, &ACTIVITY_COUNTS, &("UCx".into(), 1)).unwrap();
        assert_eq!(count(&mut tx), 1);
        forget(&mut tx, "UCx", &event).unwrap();
        forget(&mut tx, "UCx", &event).unwrap();
        assert_eq!(count(&mut tx), 0);
    }

    #[test]
    fn what_one_channel_does_with_one_thing_is_one_group() {
        let (like, upload) = (Event::Like("v".into()), Event::Upload("v".into()));
        assert_eq!(like.group("UCx"), upload.group("UCx"));
        assert_ne!(like.group("UCx"), like.group("UCy"));
        assert_ne!(like.id("UCx"), upload.id("UCx"));
        assert_eq!(like.id("UCx").len(), 28);
    }
}
