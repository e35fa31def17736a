//! Remains of uploads in parts: rows and bodies of parts that no object has, lists that no object came to name, answers that were kept
//! for those who ask again. Whoever ends an upload writes one row; passes free the rest in steps.

use std::time::Duration;

use triptych_core::blobs::Blobs;
use triptych_core::id::Ids;
use triptych_core::kv::{KeyValue, Span, StoreError, Tx, run_blocking, settle};
use triptych_core::time::Timestamp;

use crate::error::Error;
use crate::maintenance::garbage::{GarbageError, delete_all};
use crate::store::key::Key;
use crate::store::open_upload;
use crate::store::tables::{
    COMPLETED_UPLOADS, DRAFT_LISTS, PARTS, UPLOAD_ENDS, UPLOAD_PARTS, UPLOADS,
};
use crate::store::upload::{DraftList, PartNumbers, UploadEnd, due};

/// Rows of one step.
const STEP: usize = 200;
/// Chunks of one step.
const CHUNKS_PER_STEP: usize = 20;
/// Attempts of a transaction while others win.
const ATTEMPTS_MAX: u32 = 100;
/// Age at which a list without an object counts as left over.
const DRAFT_AFTER: Duration = Duration::from_secs(60 * 60);

/// Frees what ended uploads have left by `now`, as long as it `goes_on`. It blocks.
///
/// # Errors
/// [`GarbageError`] of the first step that failed; what was freed stays free.
pub fn collect(
    store: &dyn KeyValue,
    blobs: &dyn Blobs,
    ids: &mut dyn Ids,
    now: Timestamp,
    goes_on: &dyn Fn() -> bool,
) -> Result<(), GarbageError> {
    let until = due(now).saturating_add(1);
    let span = Span { to: Some(UPLOAD_ENDS.key(&(until, 0)).to_vec()), ..UPLOAD_ENDS.span(&()) };
    while goes_on() {
        let mut read = Tx::new(store);
        let (jobs, _) = UPLOAD_ENDS.scan(&mut read, &span, 1)?;
        let Some((job, end)) = jobs.into_iter().next() else {
            break;
        };
        settle(store, &read)?;
        let step = EndStep { store, blobs, job, now };
        match end {
            UploadEnd::Parts { kept } => step.parts(ids, &kept)?,
            UploadEnd::Bucket => step.bucket(ids)?,
            UploadEnd::Answer(place) => run_blocking(store, ids, ATTEMPTS_MAX, |tx, _| {
                COMPLETED_UPLOADS.delete(tx, &place);
                UPLOAD_ENDS.delete(tx, &job);
                Ok::<_, StoreError>(())
            })?,
        }
    }
    collect_drafts(store, ids, now)
}

/// A step of a job.
struct EndStep<'a> {
    store: &'a dyn KeyValue,
    blobs: &'a dyn Blobs,
    job: (u64, u64),
    now: Timestamp,
}

impl EndStep<'_> {
    /// Frees some parts of the upload: first their bodies, then their rows, and the row of the job last.
    fn parts(&self, ids: &mut dyn Ids, kept: &PartNumbers) -> Result<(), GarbageError> {
        let mut read = Tx::new(self.store);
        let span = UPLOAD_PARTS.span(&self.job.1);
        let (rows, more) = UPLOAD_PARTS.scan(&mut read, &span, STEP)?;
        settle(self.store, &read)?;
        let left = rows.iter().filter(|((_, number), _)| !kept.has(*number));
        delete_all(self.blobs, left.map(|(_, part)| part.listed.part.blob))?;
        run_blocking(self.store, ids, ATTEMPTS_MAX, |tx, _| {
            rows.iter().for_each(|(key, _)| UPLOAD_PARTS.delete(tx, key));
            if !more {
                UPLOAD_ENDS.delete(tx, &self.job);
            }
            Ok::<_, StoreError>(())
        })?;
        Ok(())
    }

    /// Ends some uploads of a bucket that was deleted.
    fn bucket(&self, ids: &mut dyn Ids) -> Result<(), GarbageError> {
        let bucket = self.job.1;
        let ended = run_blocking(self.store, ids, ATTEMPTS_MAX, |tx, _| {
            let (rows, more) = UPLOADS.scan(tx, &UPLOADS.span(&bucket), STEP)?;
            for ((_, key, _), upload) in &rows {
                let key = String::from_utf8(key.clone()).map_err(|_| Error::Damaged)?;
                let kept = PartNumbers::default();
                open_upload::end(tx, bucket, &Key::new(key)?, upload, kept, self.now)?;
            }
            if !more {
                UPLOAD_ENDS.delete(tx, &self.job);
            }
            Ok::<_, Error>(())
        });
        ended.map_err(|error| match error {
            Error::Store(error) => error.into(),
            other => StoreError::Corrupt(other.to_string()).into(),
        })
    }
}

/// Deletes the chunks of lists that no object came to name: first it is said that none will.
fn collect_drafts(
    store: &dyn KeyValue,
    ids: &mut dyn Ids,
    now: Timestamp,
) -> Result<(), GarbageError> {
    let (drafts, _) = DRAFT_LISTS.scan(&mut Tx::new(store), &DRAFT_LISTS.span(&()), STEP)?;
    let before = now.minus(DRAFT_AFTER);
    for (list, draft) in drafts.into_iter().filter(|(_, draft)| draft.dead || draft.since < before)
    {
        let is_dead = run_blocking(store, ids, ATTEMPTS_MAX, |tx, _| {
            let is_there = DRAFT_LISTS.get(tx, &list)?.is_some();
            if is_there {
                DRAFT_LISTS.put(tx, &list, &DraftList { dead: true, ..draft });
            }
            Ok::<_, StoreError>(is_there)
        })?;
        let mut more = is_dead;
        while more {
            more = run_blocking(store, ids, ATTEMPTS_MAX, |tx, _| {
                let (chunks, more) = PARTS.scan(tx, &PARTS.span(&list), CHUNKS_PER_STEP)?;
                chunks.iter().for_each(|(key, _)| PARTS.delete(tx, key));
                if !more {
                    DRAFT_LISTS.delete(tx, &list);
                }
                Ok::<_, StoreError>(more)
            })?;
        }
    }
    Ok(())
}
