//! Jobs that remove what hangs on a thing that is gone, recorded in the transaction in which it goes. Who does them is `resource::cascade`.

use serde::{Deserialize, Serialize};
use triptych_core::kv::{JsonRecord, StoreError, Table, Tx};

/// Jobs that are not done: their kind, and what is gone, with what is still to be known of it.
pub const CASCADES: Table<(u8, String), Known> = Table::new(0x49);

/// The most jobs of a kind that a reader looks at.
const PENDING_MAX: usize = 1_000;

/// The fact that a job still has to know of a thing that is gone: the title of a channel, the time of a comment, the last rating that was marked, the last channel that was looked at.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Known(pub String);

impl JsonRecord for Known {}

/// The kinds of what is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cascade {
    /// A comment: its replies and likes.
    Comment = 0,
    /// A video: its captions, its comments, and what was said of it.
    Video = 1,
    /// A channel: everything on it, and what it said of others.
    Channel = 2,
    /// A playlist: its place in sections.
    Playlist = 3,
    /// A video that others than its owner see, or do not any more: the marks of its ratings.
    Visibility = 4,
    /// A channel: its place in the promotions and watermarks of others.
    Promotion = 5,
}

impl Cascade {
    /// Every kind.
    pub const ALL: [Self; 6] = [
        Self::Comment,
        Self::Video,
        Self::Channel,
        Self::Playlist,
        Self::Visibility,
        Self::Promotion,
    ];
}

/// Records that what hangs on a thing that is gone is to go as well.
pub fn begin(tx: &mut Tx<'_>, kind: Cascade, id: &str) {
    begin_knowing(tx, kind, id, "");
}

/// The same, with what is still to be known of it.
pub fn begin_knowing(tx: &mut Tx<'_>, kind: Cascade, id: &str, known: &str) {
    CASCADES.put(tx, &(kind as u8, id.to_owned()), &Known(known.to_owned()));
}

/// The subjects of the jobs of a kind that are not done, the first ones of many.
///
/// # Errors
/// As the store.
pub fn pending(tx: &mut Tx<'_>, kind: Cascade) -> Result<Vec<String>, StoreError> {
    let (jobs, _) = CASCADES.scan(tx, &CASCADES.span(&(kind as u8)), PENDING_MAX)?;
    Ok(jobs.into_iter().map(|((_, id), _)| id).collect())
}
