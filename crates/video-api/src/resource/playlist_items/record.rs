//! Playlist items: what is stored of one.

use serde::{Deserialize, Serialize};
use triptych_core::kv::{JsonRecord, Table};
use triptych_core::time::Timestamp;

/// Items by playlist and number.
pub const ITEMS: Table<(String, u64), PlaylistItem> = Table::new(0x35);

/// Items of a playlist by their video.
pub const ITEMS_OF_VIDEO: Table<(String, String, u64), ()> = Table::new(0x36);

/// A playlist has at most this many items.
pub const ITEMS_MAX: u32 = 5_000;

/// One item.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PlaylistItem {
    /// The video.
    pub video: String,
    /// The time when it was added.
    pub added: Timestamp,
    /// The chunk that names it.
    pub chunk: u32,
    /// The owner's note.
    pub note: Option<String>,
    /// The time when playing begins, as the owner wrote it.
    pub start_at: Option<String>,
    /// The time when playing ends, as the owner wrote it.
    pub end_at: Option<String>,
}

impl JsonRecord for PlaylistItem {}
