//! Playlists: what is stored of one, and who may see it.

use serde::{Deserialize, Serialize};
use triptych_core::kv::Table;
use triptych_core::time::Timestamp;

use crate::account::Caller;
use crate::record::counter::Count;
use crate::record::privacy::Privacy;
use crate::record::stored::Stored;
use crate::resource::channels::record::Id;

/// Playlists by their id.
pub const PLAYLISTS: Table<String, Stored<Playlist>> = Table::new(0x30);

/// Playlists by channel, audience (0 everyone, 1 the owner) and time, latest first.
pub const CHANNEL_PLAYLISTS: Table<(String, u8, u64, String), ()> = Table::new(0x31);

/// Number of playlists that a channel has, by audience.
pub const PLAYLIST_COUNT: Table<(String, u8), Count> = Table::new(0x32);

/// Playlists that are gone and whose rows are yet to be removed, with their channels.
pub const PLAYLIST_GARBAGE: Table<String, Id> = Table::new(0x37);

/// The head of a playlist: all that rules need.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Playlist {
    /// The channel that owns it.
    pub channel: String,
    /// The time when it was made.
    pub published: Timestamp,
    /// The privacy.
    pub privacy: Privacy,
    /// The language of title and description.
    pub language: Option<String>,
    /// `enabled` or `disabled`, where it was set.
    pub podcast: Option<String>,
}

impl Playlist {
    /// Returns whether everybody finds it.
    #[must_use]
    pub const fn is_public(&self) -> bool {
        matches!(self.privacy, Privacy::Public)
    }

    /// Returns whether the caller may see it by its id.
    #[must_use]
    pub fn is_visible(&self, caller: &Caller) -> bool {
        (self.privacy != Privacy::Private || caller.owns(&self.channel))
            && !caller.closing.holds(&self.channel)
    }
}

impl Stored<Playlist> {
    /// A playlist without a title yet; public by default (Spec §2, fact 7).
    #[must_use]
    pub fn made(channel: String, now: Timestamp) -> Self {
        Self::new(Playlist {
            channel,
            published: now,
            privacy: Privacy::Public,
            language: None,
            podcast: None,
        })
    }
}
