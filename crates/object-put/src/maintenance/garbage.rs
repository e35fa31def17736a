//! Space that is free again: bodies that were replaced or deleted, and bodies that never came to a record.
//!
//! A row that replaces a body writes a `GARBAGE` row in the same batch. A pass deletes the bodies of
//! those rows and then the rows, so that a stop at any point leaves nothing but work for the next pass.

use std::collections::HashSet;
use std::time::Duration;

use triptych_core::blobs::{BlobError, BlobId, Blobs, Swept, sweep};
use triptych_core::id::Ids;
use triptych_core::kv::{KeyValue, Span, StoreError, Tx, run_blocking, settle};
use triptych_core::pending::Pending;
use triptych_core::time::Timestamp;

use crate::store::part_list::{BodyName, Part, Parts};
use crate::store::tables::{CURRENT, DISCARDED_LISTS, GARBAGE, NONCURRENT, PARTS, UPLOAD_PARTS};
use crate::store::version::ObjectVersion;

/// Time that a body stays after it was replaced, for those who are still reading it.
pub const GRACE: Duration = Duration::from_secs(60);
/// The same where other instances read: whoever frees it does not know of them.
pub const GRACE_OF_INSTANCES: Duration = Duration::from_secs(60 * 60);
/// Age at which a body without a record counts as left over.
const ORPHAN_AFTER: Duration = Duration::from_secs(24 * 60 * 60);
/// Bodies without a record that a sweep takes whatever their share is.
const ORPHANS_MAX: u64 = 16;
/// Of so many bodies one may be without a record, where they are more.
const ORPHANS_SHARE: u64 = 20;
/// Rows of one step.
const STEP: usize = 200;

/// The reason why a pass ended early. What it freed stays free.
#[derive(Debug, thiserror::Error)]
pub enum GarbageError {
    /// Records cannot be read or written.
    #[error("records cannot be read")]
    Store(#[from] StoreError),
    /// Bodies cannot be listed or deleted.
    #[error("bodies cannot be deleted")]
    Blobs(#[from] BlobError),
}

/// A pass over what is to be freed.
pub struct Pass<'a> {
    /// The records.
    pub store: &'a dyn KeyValue,
    /// The bodies.
    pub blobs: &'a dyn Blobs,
    /// The time of the pass.
    pub now: Timestamp,
    /// The time that a body stays after it was replaced.
    pub grace: Duration,
    /// Tells whether it goes on, after each step.
    pub goes_on: &'a dyn Fn() -> bool,
    /// Tells whether somebody reads a body: it stays for a later pass.
    pub is_open: &'a dyn Fn(BodyName) -> bool,
}

impl std::fmt::Debug for Pass<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pass").field("now", &self.now).finish_non_exhaustive()
    }
}

/// Frees the bodies that were replaced or deleted before the pass and its grace, as long as it goes on; how many. It blocks.
///
/// # Errors
/// [`GarbageError`] of the first step that failed.
pub fn collect(pass: &Pass<'_>, ids: &mut dyn Ids) -> Result<u64, GarbageError> {
    let until = u64::try_from(pass.now.minus(pass.grace).millis()).unwrap_or_default();
    let lists = collect_lists(pass, ids, until)?;
    let mut span =
        Span { to: Some(GARBAGE.key(&(until, [0; BlobId::BYTES])).to_vec()), ..GARBAGE.span(&()) };
    let mut freed = 0;
    loop {
        let mut read = Tx::new(pass.store);
        let (mut rows, more) = GARBAGE.scan(&mut read, &span, STEP)?;
        span.from = rows.last().map(|(key, ())| GARBAGE.key(key).to_vec());
        rows.retain(|((_, name), ())| !(pass.is_open)(BodyName::Blob(BlobId(*name))));
        settle(pass.store, &read)?;
        delete_all(pass.blobs, rows.iter().map(|((_, name), ())| BlobId(*name)))?;
        run_blocking(pass.store, ids, 100, |tx, _| {
            rows.iter().for_each(|(key, ())| GARBAGE.delete(tx, key));
            Ok::<_, StoreError>(())
        })?;
        freed += rows.len() as u64;
        if !more || !(pass.goes_on)() {
            return Ok(freed + lists);
        }
    }
}

/// Deletes bodies together, since those of a pack then share a sync.
pub(super) fn delete_all(
    blobs: &dyn Blobs,
    names: impl Iterator<Item = BlobId>,
) -> Result<(), BlobError> {
    let deletions: Vec<_> = names.map(|name| blobs.delete(name)).collect();
    deletions.into_iter().try_for_each(Pending::wait)
}

/// Frees the bodies of the part lists that were discarded before `until`, a chunk a step: first its bodies, then its row,
/// and the row of the list last.
fn collect_lists(pass: &Pass<'_>, ids: &mut dyn Ids, until: u64) -> Result<u64, GarbageError> {
    let mut span =
        Span { to: Some(DISCARDED_LISTS.key(&(until, 0)).to_vec()), ..DISCARDED_LISTS.span(&()) };
    let mut freed = 0;
    loop {
        let mut read = Tx::new(pass.store);
        let (lists, _) = DISCARDED_LISTS.scan(&mut read, &span, 1)?;
        let Some((discarded, ())) = lists.first().filter(|_| (pass.goes_on)()) else {
            return Ok(freed);
        };
        if (pass.is_open)(BodyName::List(discarded.1)) {
            span.from = Some(DISCARDED_LISTS.key(discarded).to_vec());
            continue;
        }
        let (chunks, _) = PARTS.scan(&mut read, &PARTS.span(&discarded.1), 1)?;
        settle(pass.store, &read)?;
        let names: Vec<_> =
            chunks.iter().flat_map(|(_, chunk)| &chunk.0).map(|listed| listed.part.blob).collect();
        // A body that grew may still be read under the name that it had while it was one part.
        if names.iter().any(|name| (pass.is_open)(BodyName::Blob(*name))) {
            span.from = Some(DISCARDED_LISTS.key(discarded).to_vec());
            continue;
        }
        freed += names.len() as u64;
        delete_all(pass.blobs, names.into_iter())?;
        run_blocking(pass.store, ids, 100, |tx, _| {
            match chunks.first() {
                Some((chunk, _)) => PARTS.delete(tx, chunk),
                None => DISCARDED_LISTS.delete(tx, discarded),
            }
            Ok::<_, StoreError>(())
        })?;
    }
}

/// The outcome of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SweepOutcome {
    /// It went through.
    Done(Swept),
    /// It would take more than a small share of the bodies, so it took none: that is how lost records look.
    Waits {
        /// Bodies that no record names.
        orphans: u64,
        /// Bodies of that age.
        bodies: u64,
    },
}

/// Deletes bodies that are a day old at `start` and that no record names: what uploads left that were cut off.
///
/// Where they are more than a small share of all bodies of that age, it takes none unless `takes_all`. It ends after a step where `goes_on` says no.
///
/// Called with the moment at which the process began, it never meets an upload that is under way. It blocks.
///
/// # Errors
/// [`GarbageError`] of the first step that failed.
pub fn sweep_orphans(
    store: &dyn KeyValue,
    blobs: &dyn Blobs,
    start: Timestamp,
    takes_all: bool,
    goes_on: &dyn Fn() -> bool,
) -> Result<SweepOutcome, GarbageError> {
    let before = start.minus(ORPHAN_AFTER);
    // Most starts find nothing that old, and then no record is read.
    if blobs.list(None, 1)?.first().is_none_or(|oldest| oldest.id.created() >= before) {
        return Ok(SweepOutcome::Done(Swept::default()));
    }
    let referenced_blobs = referenced_blobs(store)?;
    if !takes_all {
        let (orphans, bodies) = count_orphans(blobs, before, &referenced_blobs)?;
        if orphans > ORPHANS_MAX.max(bodies / ORPHANS_SHARE) {
            return Ok(SweepOutcome::Waits { orphans, bodies });
        }
    }
    Ok(SweepOutcome::Done(sweep(blobs, before, |id| referenced_blobs.contains(id), goes_on)?))
}

/// The number of bodies made before `before` that no record names, and of all.
fn count_orphans(
    blobs: &dyn Blobs,
    before: Timestamp,
    referenced_blobs: &ReferencedBlobs,
) -> Result<(u64, u64), BlobError> {
    let (mut orphans, mut bodies) = (0, 0);
    let mut after = None;
    loop {
        let page = blobs.list(after, 1_000)?;
        let Some(last) = page.last() else {
            return Ok((orphans, bodies));
        };
        after = Some(last.id);
        for stat in &page {
            // Names sort by age.
            if stat.id.created() >= before {
                return Ok((orphans, bodies));
            }
            bodies += 1;
            orphans += u64::from(!referenced_blobs.contains(stat.id));
        }
    }
}

/// Names of bodies by eight of their random bytes, so that a million of them take 16 MiB. Two names that are alike in those
/// would keep a body that could go, and never lose one.
#[derive(Debug, Default)]
pub struct ReferencedBlobs(HashSet<u64>);

impl ReferencedBlobs {
    fn mark(id: BlobId) -> u64 {
        let last = id.0.last_chunk().copied().unwrap_or_default();
        u64::from_be_bytes(last)
    }

    fn insert(&mut self, id: BlobId) {
        self.0.insert(Self::mark(id));
    }

    /// Tells whether a record names this body, as far as can be told.
    #[must_use]
    pub fn contains(&self, id: BlobId) -> bool {
        self.0.contains(&Self::mark(id))
    }
}

/// Every body that a record names, garbage that waits for its turn included.
///
/// # Errors
/// As reads of the store.
pub fn referenced_blobs(store: &dyn KeyValue) -> Result<ReferencedBlobs, StoreError> {
    let mut referenced_blobs = ReferencedBlobs::default();
    let mut note = |part: &Part| {
        referenced_blobs.insert(part.blob);
    };
    let of_version = |version: &ObjectVersion, note: &mut dyn FnMut(&Part)| {
        if let Some(Parts::One(part)) = version.data.as_deref().map(|data| &data.parts) {
            note(part);
        }
    };
    let noncurrent = |note: &mut dyn FnMut(&Part)| {
        for_each_row(store, NONCURRENT.span(&()), |key, value| {
            of_version(&NONCURRENT.decode(key, &value)?, note);
            Ok(())
        })
    };
    // Read on both sides of the current ones: a version that changes sides meanwhile is met on one of them.
    noncurrent(&mut note)?;
    for_each_row(store, CURRENT.span(&()), |key, value| {
        CURRENT.read_key(key)?;
        of_version(&CURRENT.decode(key, &value)?, &mut note);
        Ok(())
    })?;
    noncurrent(&mut note)?;
    // A part that a completion takes over changes from the first of these tables to the second.
    for_each_row(store, UPLOAD_PARTS.span(&()), |key, value| {
        note(&UPLOAD_PARTS.decode(key, &value)?.listed.part);
        Ok(())
    })?;
    for_each_row(store, PARTS.span(&()), |key, value| {
        PARTS.decode(key, &value)?.0.iter().for_each(|listed| note(&listed.part));
        Ok(())
    })?;
    for_each_row(store, GARBAGE.span(&()), |key, _| {
        referenced_blobs.insert(BlobId(GARBAGE.read_key(key)?.1));
        Ok(())
    })?;
    Ok(referenced_blobs)
}

/// Gives every row of a span, a page at a time.
pub(crate) fn for_each_row(
    store: &dyn KeyValue,
    mut span: Span,
    mut row: impl FnMut(&[u8], bytes::Bytes) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    loop {
        let page = store.scan(&span, STEP)?;
        span.from = page.rows.last().map(|(key, _)| key.to_vec());
        for (key, value) in page.rows {
            row(&key, value)?;
        }
        if !page.more {
            return Ok(());
        }
    }
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;
    use triptych_core::blobs::MemoryBlobs;
    use triptych_core::id::SeededIds;
    use triptych_core::kv::{Memory, Stalled};

    use super::*;
    use crate::body::checksum::{Algorithm, Hasher};
    use crate::store::part_list::{ListedPart, PARTS_MAX, PARTS_PER_CHUNK, PartListChunk};

    const START: Timestamp = Timestamp::from_seconds(1_790_000_000);

    /// A pass at `now` while nobody reads.
    fn freed_at(
        store: &dyn KeyValue,
        blobs: &dyn Blobs,
        now: Timestamp,
        goes_on: bool,
    ) -> Result<u64, GarbageError> {
        let (goes_on, is_open) = (|| goes_on, |_| false);
        let pass = Pass { store, blobs, now, grace: GRACE, goes_on: &goes_on, is_open: &is_open };
        collect(&pass, &mut SeededIds::from_number(7))
    }

    fn garbage(store: &Memory, since: Timestamp, blob: BlobId) {
        let since = u64::try_from(since.millis()).unwrap();
        run_blocking(store, &mut SeededIds::from_number(1), 1, |tx, _| {
            GARBAGE.put(tx, &(since, blob.0), &());
            Ok::<_, StoreError>(())
        })
        .unwrap();
    }

    #[test]
    fn replaced_bodies_go_after_their_grace_and_their_rows_with_them() {
        let (store, blobs) = (Memory::new(), MemoryBlobs::new(SeededIds::from_number(2)));
        for number in 0..u32::try_from(STEP).unwrap() + 7 {
            let blob =
                blobs.put_small(START, Bytes::from(number.to_be_bytes().to_vec())).wait().unwrap();
            garbage(&store, START, blob.id);
        }
        assert_eq!(
            freed_at(&store, &blobs, START.plus(GRACE), true).unwrap(),
            0,
            "readers have a minute"
        );
        let later = START.plus(GRACE).plus(Duration::from_secs(1));
        assert_eq!(freed_at(&store, &blobs, later, true).unwrap(), STEP as u64 + 7);
        assert_eq!(blobs.list(None, 9).unwrap(), []);
        assert_eq!(GARBAGE.all(&mut Tx::new(&store), &(), 9).unwrap(), []);
        assert_eq!(freed_at(&store, &blobs, later, true).unwrap(), 0);
    }

    #[test]
    fn no_body_goes_for_a_row_that_is_not_on_disk() {
        let (store, blobs) = (Memory::new(), MemoryBlobs::new(SeededIds::from_number(2)));
        let replaced = blobs.put_small(START, Bytes::from_static(b"body")).wait().unwrap();
        garbage(&store, START, replaced.id);
        let later = START.plus(GRACE).plus(Duration::from_secs(1));
        let stalled = Stalled(store);
        let refused = freed_at(&stalled, &blobs, later, true);
        assert!(matches!(refused, Err(GarbageError::Store(StoreError::OutcomeUnknown))));
        assert_eq!(blobs.list(None, 9).unwrap(), [replaced]);
        assert_eq!(freed_at(&stalled.0, &blobs, later, true).unwrap(), 1);
        assert_eq!(blobs.list(None, 9).unwrap(), []);
    }

    #[test]
    fn a_pass_ends_with_the_step_in_which_it_is_to_stop() {
        let (store, blobs) = (Memory::new(), MemoryBlobs::new(SeededIds::from_number(2)));
        for _ in 0..2 * STEP {
            let body = blobs.put_small(START, Bytes::from_static(b"body")).wait().unwrap();
            garbage(&store, START, body.id);
        }
        let later = START.plus(GRACE).plus(Duration::from_secs(1));
        assert_eq!(freed_at(&store, &blobs, later, false).unwrap(), STEP as u64);
        assert_eq!(freed_at(&store, &blobs, later, true).unwrap(), STEP as u64);
    }

    #[test]
    fn an_object_of_ten_thousand_parts_is_discarded_by_one_row_and_freed_chunk_by_chunk() {
        let (store, blobs) = (Memory::new(), MemoryBlobs::new(SeededIds::from_number(2)));
        let mut ids = SeededIds::from_number(3);
        let body = blobs.put_small(START, Bytes::from_static(b"part")).wait().unwrap();
        let part = Part {
            blob: body.id,
            bytes: 4,
            wrapped_key: crate::body::encryption::Keyring::new(&[9; 32])
                .new_data_key(b"", &mut ids)
                .1,
            number: 1,
        };
        let checksum = Hasher::new(Algorithm::Crc32).finish();
        let part = ListedPart { part, tag: [0; 16], checksum };
        let count = PARTS_MAX;
        let chunks = count / u32::try_from(PARTS_PER_CHUNK).unwrap();
        for chunk in 0..chunks {
            run_blocking(&store, &mut ids, 1, |tx, _| {
                PARTS.put(tx, &(7, chunk), &PartListChunk(vec![part.clone(); PARTS_PER_CHUNK]));
                Ok::<_, StoreError>(())
            })
            .unwrap();
        }
        run_blocking(&store, &mut ids, 1, |tx, _| {
            let since = u64::try_from(START.millis()).unwrap();
            DISCARDED_LISTS.put(tx, &(since, 7), &());
            Ok::<_, StoreError>(())
        })
        .unwrap();
        assert_eq!(freed_at(&store, &blobs, START, true).unwrap(), 0);
        let later = START.plus(GRACE).plus(Duration::from_secs(1));
        assert_eq!(freed_at(&store, &blobs, later, true).unwrap(), u64::from(count));
        assert_eq!(blobs.list(None, 9).unwrap(), []);
        assert_eq!(store.scan(&Span::default(), 9).unwrap().rows, []);
    }

    #[test]
    fn old_bodies_without_a_record_are_swept_and_named_or_young_ones_stay() {
        let (store, blobs) = (Memory::new(), MemoryBlobs::new(SeededIds::from_number(2)));
        let old = START.minus(ORPHAN_AFTER).minus(Duration::from_secs(1));
        let put = |when| blobs.put_small(when, Bytes::from_static(b"body")).wait().unwrap();
        let (orphan, waiting, young) = (put(old), put(old), put(START));
        garbage(&store, START, waiting.id);
        let swept = sweep_orphans(&store, &blobs, START, false, &|| true).unwrap();
        let SweepOutcome::Done(swept) = swept else { panic!("{swept:?}") };
        assert_eq!((swept.orphans, swept.bytes), (1, orphan.bytes));
        let left: Vec<_> = blobs.list(None, 9).unwrap().iter().map(|stat| stat.id).collect();
        assert_eq!(left, [waiting.id, young.id]);
    }

    #[test]
    fn a_sweep_ends_with_the_step_in_which_it_is_to_stop() {
        let (store, blobs) = (Memory::new(), MemoryBlobs::new(SeededIds::from_number(2)));
        let old = START.minus(ORPHAN_AFTER).minus(Duration::from_secs(1));
        for _ in 0..1_200 {
            blobs.put_small(old, Bytes::from_static(b"body")).wait().unwrap();
        }
        let swept = |goes_on| {
            let goes_on = move || goes_on;
            match sweep_orphans(&store, &blobs, START, true, &goes_on).unwrap() {
                SweepOutcome::Done(swept) => swept.orphans,
                waits => panic!("{waits:?}"),
            }
        };
        let first = swept(false);
        assert!((1..1_200).contains(&first), "{first}");
        assert_eq!(swept(true), 1_200 - first);
    }

    #[test]
    fn a_sweep_that_would_take_most_bodies_takes_none_until_it_is_told_to() {
        let (store, blobs) = (Memory::new(), MemoryBlobs::new(SeededIds::from_number(2)));
        let old = START.minus(ORPHAN_AFTER).minus(Duration::from_secs(1));
        let put = || blobs.put_small(old, Bytes::from_static(b"body")).wait().unwrap();
        garbage(&store, START, put().id);
        for _ in 0..40 {
            put();
        }
        let waits = SweepOutcome::Waits { orphans: 40, bodies: 41 };
        assert_eq!(sweep_orphans(&store, &blobs, START, false, &|| true).unwrap(), waits);
        assert_eq!(blobs.list(None, 99).unwrap().len(), 41);
        let swept = sweep_orphans(&store, &blobs, START, true, &|| true).unwrap();
        assert!(matches!(swept, SweepOutcome::Done(Swept { orphans: 40, .. })), "{swept:?}");
        assert_eq!(blobs.list(None, 99).unwrap().len(), 1);
    }
}
