//! Leftovers of comments when a thread, a video or a channel is gone, removed in steps.

use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::api::error::Error;
use crate::record::cascade::{self, Cascade};
use crate::resource::activities::record as activities;
use crate::resource::comments::record::{COMMENTS, LIKES, REPLIES, REPLY_COUNTS, THREADS};
use crate::resource::comments::store;
use crate::resource::comments::words::{self, ThreadTime};

/// Rows of words that a step removes about: a text has up to twice as many.
const WORDS_STEP: usize = 200;

/// Removes a step of the replies and likes of a comment that is gone and was written at `published`; says whether there is more to do.
///
/// # Errors
/// As the store.
pub fn of_comment(
    tx: &mut Tx<'_>,
    id: &str,
    published: Timestamp,
    most: usize,
) -> Result<bool, Error> {
    let key = id.to_owned();
    let (likes, more) = LIKES.scan(tx, &LIKES.span(&key), most)?;
    likes.iter().for_each(|(row, ())| LIKES.delete(tx, row));
    if more {
        return Ok(true);
    }
    let (replies, more) = REPLIES.scan(tx, &REPLIES.span(&key), most)?;
    let mut left = WORDS_STEP;
    for (row, ()) in &replies {
        if left == 0 {
            return Ok(true);
        }
        // A reply has a row for all states and one for its own.
        if let Some(reply) = COMMENTS.get(tx, &row.3)? {
            if reply.likes > 0 {
                cascade::begin(tx, Cascade::Comment, &row.3);
            }
            activities::forget(tx, &reply.author, &reply.event(&row.3))?;
            left = left.saturating_sub(words::rows(&reply.text));
            words::replace(
                tx,
                ThreadTime { thread: id, published },
                &reply,
                Some(&reply.text),
                None,
            )?;
            COMMENTS.delete(tx, &row.3);
        }
        REPLIES.delete(tx, row);
    }
    if !more {
        REPLY_COUNTS.delete(tx, &key);
    }
    Ok(more)
}

/// Removes a step of the threads of a list whose tally is gone; says whether there is more to do.
///
/// # Errors
/// As the store.
pub fn of_list(tx: &mut Tx<'_>, list: &str, most: usize) -> Result<bool, Error> {
    let (rows, more) = THREADS.scan(tx, &THREADS.span(&list.to_owned()), most)?;
    let mut left = WORDS_STEP;
    for (row, ()) in &rows {
        if left == 0 {
            return Ok(true);
        }
        // A thread stands under several states.
        match COMMENTS.get(tx, &row.3)? {
            Some(comment) => {
                left = left.saturating_sub(words::rows(&comment.text));
                store::remove_uncounted(tx, &row.3, &comment)?;
            }
            None => THREADS.delete(tx, row),
        }
    }
    Ok(more)
}
