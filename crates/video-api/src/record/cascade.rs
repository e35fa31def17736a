//! Jobs that remove what hangs on a thing that is gone, recorded in the transaction in which it goes. Who does them is `resource::cascade`.

use triptych_core::kv::{Table, Tx};

/// Jobs that are not done: their kind, and what is gone.
pub const CASCADES: Table<(u8, String), ()> = Table::new(0x49);

/// The kinds of what is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cascade {
    /// A comment: its replies and likes.
    Comment = 0,
    /// A video: its captions, its comments, and what was said of it.
    Video = 1,
    /// A channel: everything on it, and what it said of others.
    Channel = 2,
}

impl Cascade {
    /// Every kind.
    pub const ALL: [Self; 3] = [Self::Comment, Self::Video, Self::Channel];
}

/// Records that what hangs on a thing that is gone is to go as well.
pub fn begin(tx: &mut Tx<'_>, kind: Cascade, id: &str) {
    CASCADES.put(tx, &(kind as u8, id.to_owned()), &());
}
