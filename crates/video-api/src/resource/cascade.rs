//! Removing what hangs on things that are gone, step by step: a recorded job, which a restart goes on with.
//!
//! Each step is a transaction of its own and small enough to stand between requests. Nobody finds any of what is left meanwhile: a reply is
//! found through its thread, a thread through its video or channel.

use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::api::error::Error;
use crate::record::cascade::{self, CASCADES, Cascade};
use crate::record::closing as closing_channels;
use crate::resource::captions;
use crate::resource::channel_sections::contents;
use crate::resource::channels::{closing, detach};
use crate::resource::comments::leftover;
use crate::resource::comments::record::list_of_video;
use crate::resource::playlist_items::garbage;
use crate::resource::videos::{rating, report};

/// Rows of one kind that a step removes.
const STEP: usize = 50;
/// Comments that a step removes, each with a dozen rows beside those of its words.
const COMMENTS_STEP: usize = 30;

/// Number of the jobs that remove something and are not done, the first ones of many.
///
/// # Errors
/// As the store.
pub fn removals(tx: &mut Tx<'_>) -> Result<usize, Error> {
    let mut jobs = garbage::pending(tx)?;
    for kind in Cascade::ALL.into_iter().filter(|kind| *kind != Cascade::Visibility) {
        jobs += cascade::pending(tx, kind)?.len();
    }
    Ok(jobs)
}

/// Carries out at most one step of a job; says whether there is more to do.
///
/// # Errors
/// As the store.
pub fn sweep(tx: &mut Tx<'_>) -> Result<bool, Error> {
    closing_channels::step(tx)?;
    Ok(garbage::sweep(tx)? || sweep_jobs(tx)?)
}

fn sweep_jobs(tx: &mut Tx<'_>) -> Result<bool, Error> {
    let (jobs, _) = CASCADES.scan(tx, &CASCADES.span(&()), 1)?;
    let Some(((number, id), known)) = jobs.into_iter().next() else {
        return Ok(false);
    };
    // Another step may have ended the job meanwhile.
    if CASCADES.get(tx, &(number, id.clone()))?.is_none() {
        return Ok(true);
    }
    let kind = Cascade::ALL.into_iter().find(|kind| *kind as u8 == number);
    let more = match kind {
        Some(Cascade::Comment) => {
            let published = known.0.parse().map_or(Timestamp::EPOCH, Timestamp::from_micros);
            leftover::of_comment(tx, &id, published, COMMENTS_STEP)?
        }
        Some(Cascade::Video) => {
            captions::store::remove_of_video(tx, &id, STEP)?
                || leftover::of_list(tx, &list_of_video(&id), COMMENTS_STEP)?
                || rating::remove_of_video(tx, &id, STEP)?
                || report::remove_of_video(tx, &id, STEP)?
        }
        Some(Cascade::Visibility) => match rating::mark(tx, &id, &known.0, STEP)? {
            Some(marked) => {
                cascade::begin_knowing(tx, Cascade::Visibility, &id, &marked);
                true
            }
            None => false,
        },
        Some(Cascade::Promotion) => match detach::channel(tx, &id, &known.0, STEP)? {
            Some(last) => {
                cascade::begin_knowing(tx, Cascade::Promotion, &id, &last);
                true
            }
            None => false,
        },
        Some(Cascade::Channel) => closing::step(tx, &id, &known.0)?,
        Some(Cascade::Playlist) => contents::remove(tx, &id)?,
        None => false,
    };
    if !more {
        CASCADES.delete(tx, &(number, id));
    }
    Ok(true)
}
