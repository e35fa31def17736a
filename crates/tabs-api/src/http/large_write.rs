//! Writes of rows, of which a start finds all or none, also where no batch holds them.
//!
//! What is too much for a batch is set down aside first, batch by batch, and marked once it is whole; then it goes to its places. A start that finds
//! the mark brings it there again, and forgets what was set down without one. Commits of a store of ours reach the disk in the order in which they
//! were begun; on one that others share, each is begun once the one before it is answered. So nothing that came later is written over.

use bytes::Bytes;
use triptych_core::id::{Ids, SystemIds};
use triptych_core::kv::{
    BATCH_BYTES_MAX, BATCH_OPERATIONS_MAX, Batch, Durability, KEY_BYTES_MAX, KeyValue, Span,
    StoreError, Version,
};
use triptych_core::pending::Pending;

use crate::store::{ASIDE, WHOLE};

/// The number of rows that a scan of the store takes.
const PAGE: usize = 1_000;
/// Rows of a batch, and their bytes: one more is the claim that its writer has on the profile.
const ROWS_MAX: usize = BATCH_OPERATIONS_MAX - 1;
const BYTES_MAX: usize = BATCH_BYTES_MAX - KEY_BYTES_MAX;
/// The bytes of the id of a write.
const ID_BYTES: usize = 16;
/// The signs behind the id: a row to write, and one to forget.
const PUT: u8 = b'+';
const FORGET: u8 = b'-';

/// A kept row: its key without the prefix, and its value.
pub(super) type StoredRow = (Vec<u8>, Vec<u8>);
/// A row to write, or to forget.
pub(super) type Write = (Bytes, Option<Bytes>);
/// A write that was begun.
pub(super) type Commit = Pending<Result<Version, StoreError>>;

/// Every row under a prefix, without it.
///
/// # Errors
/// As [`KeyValue::scan`].
pub(super) fn rows_under(
    store: &dyn KeyValue,
    prefix: &[u8],
) -> Result<Vec<StoredRow>, StoreError> {
    let mut span = Span::of(prefix);
    let mut rows = Vec::new();
    loop {
        let page = store.scan(&span, PAGE)?;
        span.from = page.rows.last().map(|(key, _)| key.to_vec());
        let cut = |key: &Bytes| key.get(prefix.len()..).unwrap_or_default().to_vec();
        rows.extend(page.rows.iter().map(|(key, value)| (cut(key), value.to_vec())));
        if !page.more {
            return Ok(rows);
        }
    }
}

/// Writes rows, all of them once it returns.
///
/// # Errors
/// [`StoreError`].
pub(super) async fn commit(store: &dyn KeyValue, writes: Vec<Write>) -> Result<(), StoreError> {
    if !store.is_local() {
        return commit_in_turn(store, steps(writes)).await;
    }
    for commit in begin(store, writes) {
        commit.await?;
    }
    Ok(())
}

/// Commits batches one after the other.
///
/// # Errors
/// [`StoreError`] of the first that failed; none after it is tried.
pub(super) async fn commit_in_turn(
    store: &dyn KeyValue,
    batches: Vec<Vec<Write>>,
) -> Result<(), StoreError> {
    for batch in batches {
        commit_batch(store, batch).await?;
    }
    Ok(())
}

/// Begins to write rows to a store of ours, of which a start finds all or none: those of a later call come after those of an earlier one.
pub(super) fn begin(store: &dyn KeyValue, writes: Vec<Write>) -> Vec<Commit> {
    steps(writes).into_iter().map(|batch| commit_batch(store, batch)).collect()
}

/// The batches of a write, in their order.
fn steps(writes: Vec<Write>) -> Vec<Vec<Write>> {
    let in_place: Vec<_> = batches(writes).collect();
    if in_place.len() < 2 {
        return in_place;
    }
    let mut id = [0; ID_BYTES];
    SystemIds.fill(&mut id);
    let mark = Bytes::from([WHOLE, &id].concat());
    let set_down: Vec<Write> = in_place.iter().flatten().map(|row| aside(&id, row)).collect();
    let taken_up = set_down.iter().map(|(key, _)| (key.clone(), None)).collect();
    let mut steps: Vec<_> = batches(set_down).collect();
    steps.push(vec![(mark.clone(), Some(Bytes::new()))]);
    steps.extend(in_place);
    steps.push(vec![(mark, None)]);
    steps.extend(batches(taken_up));
    steps
}

/// Goes on with the writes that an end of the process or of the machine left half, on a store of ours: to be called at a start, before anything
/// is read.
///
/// # Errors
/// As [`KeyValue::scan`].
pub(super) fn finish(store: &dyn KeyValue) -> Result<(), StoreError> {
    // Whoever waits for a later commit waits for these.
    unfinished(store, |_| true)?.into_iter().for_each(|batch| drop(commit_batch(store, batch)));
    Ok(())
}

/// The batches that finish the writes that an end of the process or of the machine left half, of rows that are `own`, in their order: before any
/// of these rows is read, by the one that writes them.
///
/// # Errors
/// As [`KeyValue::scan`].
pub(super) fn unfinished(
    store: &dyn KeyValue,
    own: impl Fn(&[u8]) -> bool,
) -> Result<Vec<Vec<Write>>, StoreError> {
    let mut steps = Vec::new();
    for (id, _) in rows_under(store, WHOLE)? {
        let rows = rows_under(store, &[ASIDE, &id].concat())?;
        // All rows of a write are of one profile.
        if rows.first().is_some_and(|(key, _)| !own(key.get(1..).unwrap_or_default())) {
            continue;
        }
        let writes = rows.into_iter().filter_map(|(key, value)| match key.split_first()? {
            (&PUT, key) => Some((key.to_vec().into(), Some(value.into()))),
            (&FORGET, key) => Some((key.to_vec().into(), None)),
            _ => None,
        });
        steps.extend(batches(writes.collect()));
        steps.push(vec![([WHOLE, &id].concat().into(), None)]);
    }
    let is_own = |key: &[u8]| own(key.get(ID_BYTES + 1..).unwrap_or_default());
    let left = rows_under(store, ASIDE)?.into_iter().filter(|(key, _)| is_own(key));
    steps.extend(batches(left.map(|(key, _)| ([ASIDE, &key].concat().into(), None)).collect()));
    Ok(steps)
}

/// The row that stands for another one until its write is whole.
fn aside(id: &[u8], (key, value): &Write) -> Write {
    let sign = if value.is_some() { PUT } else { FORGET };
    let key = [ASIDE, id, &[sign], key].concat().into();
    (key, Some(value.clone().unwrap_or_default()))
}

fn commit_batch(store: &dyn KeyValue, writes: Vec<Write>) -> Commit {
    let mut id = [0; 16];
    SystemIds.fill(&mut id);
    let durability = Durability::Process;
    store.commit(Batch { id, expectations: Vec::new(), writes, durability })
}

/// Cuts writes into batches that every engine takes.
fn batches(writes: Vec<Write>) -> impl Iterator<Item = Vec<Write>> {
    let mut writes = writes.into_iter().peekable();
    std::iter::from_fn(move || {
        let mut batch = Vec::new();
        let mut bytes = 0;
        while let Some((key, value)) = writes.peek() {
            let size = key.len() + value.as_ref().map_or(0, Bytes::len);
            if batch.len() == ROWS_MAX || bytes + size > BYTES_MAX {
                break;
            }
            bytes += size;
            batch.extend(writes.next());
        }
        (!batch.is_empty()).then_some(batch)
    })
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use triptych_core::kv::{Found, Memory, Page};

    use super::*;

    #[test]
    fn batches_stay_within_what_every_engine_takes() {
        let row = |size| (Bytes::from_static(b"k"), Some(Bytes::from(vec![0; size])));
        assert_eq!(batches((0..2_500).map(|_| row(1)).collect()).count(), 3);
        assert_eq!(batches((0..40).map(|_| row(60_000)).collect()).count(), 3);
        assert_eq!(batches(Vec::new()).count(), 0);
    }

    /// A store that takes no more than some commits: a machine that ends there, or one that is away.
    #[derive(Default)]
    pub(in crate::http) struct Ending {
        pub(in crate::http) rows: Memory,
        pub(in crate::http) commits_left: AtomicUsize,
    }

    impl KeyValue for Ending {
        fn get(&self, key: &[u8]) -> Result<Found, StoreError> {
            self.rows.get(key)
        }

        fn scan(&self, span: &Span, limit: usize) -> Result<Page, StoreError> {
            self.rows.scan(span, limit)
        }

        fn commit(&self, batch: Batch) -> Commit {
            let take = |left: usize| left.checked_sub(1);
            match self.commits_left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, take) {
                Ok(_) => self.rows.commit(batch),
                Err(_) => Pending::ready(Err(StoreError::Unavailable("it has ended".into()))),
            }
        }

        fn durable(&self, seen: Version) -> Option<Pending<Result<(), StoreError>>> {
            self.rows.durable(seen)
        }
    }

    #[test]
    fn a_start_finds_all_of_a_large_write_or_nothing_wherever_it_ended() {
        let key = |number: usize| Bytes::from(format!("p/{number:05}"));
        let row = |number: usize| (key(number), Some(Bytes::from_static(b"old")));
        let (mut found_old, mut found_new) = (0, 0);
        for commits in 0.. {
            let rows = Memory::new();
            begin(&rows, (0..900).map(row).collect());
            let store = Ending { rows, commits_left: AtomicUsize::new(commits) };
            // Two thirds of the old rows go, and there are new ones.
            let gone = (0..600).map(|number| (key(number), None));
            let new = (2_000..4_000).map(|number| (key(number), Some(Bytes::from_static(b"new"))));
            let begun = begin(&store, gone.chain(new).collect());
            let (rows, is_whole) = (store.rows, commits >= begun.len());
            finish(&rows).unwrap();
            match rows_under(&rows, b"").unwrap().len() {
                900 => found_old += 1,
                2_300 => found_new += 1,
                other => panic!("{other} rows after {commits} commits"),
            }
            assert!(!is_whole || found_new > 0, "what was acknowledged is there");
            if is_whole {
                break;
            }
        }
        assert!(found_old > 1 && found_new > 1, "{found_old} {found_new}");
    }
}
