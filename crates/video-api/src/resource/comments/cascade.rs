//! What hangs on comments, threads and videos that are gone, removed step by step: a recorded job, which a restart goes on with.
//!
//! Nobody finds any of it meanwhile: a reply is found through its thread, a thread through its video or channel.

use triptych_core::kv::{Table, Tx};

use crate::api::error::Error;
use crate::resource::comments::record::{COMMENTS, LIKES, REPLIES, REPLY_COUNTS};

/// Jobs that are not done: their kind, and what is gone.
pub const CASCADES: Table<(u8, String), ()> = Table::new(0x49);

/// The kinds of what is gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cascade {
    /// A comment: its replies and likes.
    Comment = 0,
}

/// Rows that one step removes.
const STEP: usize = 100;

/// Records that what hangs on a thing that is gone is to go as well.
pub fn begin(tx: &mut Tx<'_>, kind: Cascade, id: &str) {
    CASCADES.put(tx, &(kind as u8, id.to_owned()), &());
}

/// Removes at most one step of rows; says whether there is more to do.
///
/// # Errors
/// As the store.
pub fn sweep(tx: &mut Tx<'_>) -> Result<bool, Error> {
    let (jobs, _) = CASCADES.scan(tx, &CASCADES.span(&()), 1)?;
    let Some(((kind, id), ())) = jobs.into_iter().next() else {
        return Ok(false);
    };
    let more = comment(tx, &id)?;
    if !more {
        CASCADES.delete(tx, &(kind, id));
    }
    Ok(true)
}

/// Removes a step of the replies and likes of a comment that is gone.
fn comment(tx: &mut Tx<'_>, id: &str) -> Result<bool, Error> {
    let key = id.to_owned();
    let (likes, more) = LIKES.scan(tx, &LIKES.span(&key), STEP)?;
    likes.iter().for_each(|(row, ())| LIKES.delete(tx, row));
    if more {
        return Ok(true);
    }
    let (replies, more) = REPLIES.scan(tx, &REPLIES.span(&key), STEP)?;
    for (row, ()) in &replies {
        let reply = COMMENTS.get(tx, &row.3)?;
        if reply.is_some_and(|reply| reply.likes > 0) {
            begin(tx, Cascade::Comment, &row.3);
        }
        COMMENTS.delete(tx, &row.3);
        REPLIES.delete(tx, row);
    }
    if !more {
        REPLY_COUNTS.delete(tx, &key);
    }
    Ok(more)
}
