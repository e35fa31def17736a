//! The loop that runs transactions and commits them.

use super::{KeyValue, Prefetch, ReadSet, Span, StoreError, Tx, Version};
use crate::id::{Ids, SeededIds};
use crate::pending::{Pending, block_on};

/// The event before which the answer of an attempt may not be shown.
enum Wait {
    Nothing,
    /// A change of what was read, while it was read: there may have been no moment at which the answer was true.
    Again,
    Durable(Pending<Result<(), StoreError>>),
    Commit(Pending<Result<Version, StoreError>>),
}

/// The ids of a transaction: the same for every attempt at it. Nothing is drawn for one that draws nothing, as most that read do.
struct TxIds<'i> {
    ids: &'i mut dyn Ids,
    fork: Option<SeededIds>,
}

impl<'i> TxIds<'i> {
    const fn of(ids: &'i mut dyn Ids) -> Self {
        Self { ids, fork: None }
    }

    const fn attempt(&mut self) -> AttemptIds<'_, 'i> {
        AttemptIds { ids: self, own: None }
    }
}

/// The ids of one attempt.
struct AttemptIds<'d, 'i> {
    ids: &'d mut TxIds<'i>,
    own: Option<SeededIds>,
}

impl Ids for AttemptIds<'_, '_> {
    fn fill(&mut self, bytes: &mut [u8]) {
        let TxIds { ids, fork } = self.ids;
        let own = self.own.get_or_insert_with(|| fork.get_or_insert_with(|| ids.fork()).clone());
        own.fill(bytes);
    }
}

/// Runs `body` once, and hands what it wrote to the store.
fn attempt<T, E>(
    store: &dyn KeyValue,
    ids: &mut dyn Ids,
    body: &mut impl FnMut(&mut Tx<'_>, &mut dyn Ids) -> Result<T, E>,
) -> (Result<T, E>, Wait) {
    let mut tx = Tx::new(store);
    let outcome = body(&mut tx, ids);
    if outcome.is_err() || tx.is_read_only() {
        // Nothing is committed here that would prove the reads to be of one moment. Where the second look fails, the store's own fault is
        // what the next call is told; this one's answer was made without it.
        let wait = match tx.reads_hold() {
            Ok(false) => Wait::Again,
            _ => store.durable(tx.seen()).map_or(Wait::Nothing, Wait::Durable),
        };
        return (outcome, wait);
    }
    let mut id = [0; 16];
    ids.fill(&mut id);
    (outcome, Wait::Commit(store.commit(tx.into_batch(id))))
}

/// Waits until what was read is on disk: what is given up for it, as a body is, a power cut could else find named again. It blocks.
///
/// # Errors
/// `OutcomeUnknown`, `Unavailable`.
pub fn settle(store: &dyn KeyValue, read: &Tx<'_>) -> Result<(), StoreError> {
    store.durable(read.seen()).map_or(Ok(()), Pending::wait)
}

/// Runs `body` in a transaction and commits it, again with the same ids on a conflict, `attempts_max` times at the most.
///
/// A refusal, or a body that wrote nothing, commits nothing and is shown once what it read by its key was of one moment and is durable:
/// nobody is refused for what was never so, or shown what a power cut could take back. `body` runs in place; only the disk is awaited.
///
/// # Errors
/// The refusal of `body`; else the [`StoreError`] of the commit, [`StoreError::Conflict`] after the last attempt.
pub async fn run<T, E: From<StoreError>>(
    store: &dyn KeyValue,
    ids: &mut dyn Ids,
    attempts_max: u32,
    mut body: impl FnMut(&mut Tx<'_>, &mut dyn Ids) -> Result<T, E>,
) -> Result<T, E> {
    let mut ids = TxIds::of(ids);
    for _ in 0..attempts_max {
        let (outcome, wait) = attempt(store, &mut ids.attempt(), &mut body);
        match wait {
            Wait::Nothing => return outcome,
            Wait::Again => {}
            Wait::Durable(durable) => return durable.await.map_err(E::from).and(outcome),
            Wait::Commit(commit) => match commit.await {
                // What was only looked at is older than what the next attempt reads, and may not stand beside it.
                Err(StoreError::Conflict) => {
                    store.prefetch().into_iter().for_each(Prefetch::forget)
                }
                Err(error) => return Err(error.into()),
                Ok(_) => return outcome,
            },
        }
    }
    Err(StoreError::Conflict.into())
}

/// Runs `body`, which only reads, and shows what it found as [`run`] does, with what that rests on.
///
/// # Errors
/// The refusal of `body`; else the [`StoreError`] of the wait.
pub async fn read<T, E: From<StoreError>>(
    store: &dyn KeyValue,
    body: impl FnOnce(&mut Tx<'_>) -> Result<T, E>,
) -> Result<(T, Option<ReadSet>), E> {
    let (outcome, read_set, durable) = {
        let mut tx = Tx::tracking_reads(store);
        let outcome = body(&mut tx);
        debug_assert!(tx.is_read_only(), "what is written here is lost");
        (outcome, tx.read_set(), store.durable(tx.seen()))
    };
    if let Some(durable) = durable {
        durable.await?;
    }
    Ok((outcome?, read_set))
}

/// Rows that a step of [`clear`] deletes.
const CLEAR_STEP: usize = 500;

/// Deletes every row, in steps of a transaction each: a reader meanwhile sees the store as it was, or a part of it.
///
/// # Errors
/// Those of [`run`]; what was deleted before stays deleted.
pub async fn clear(
    store: &dyn KeyValue,
    ids: &mut dyn Ids,
    attempts_max: u32,
) -> Result<(), StoreError> {
    let mut step = |tx: &mut Tx<'_>, _: &mut dyn Ids| {
        let page = tx.scan(&Span::default(), CLEAR_STEP)?;
        let any = !page.rows.is_empty();
        page.rows.into_iter().for_each(|(key, _)| tx.delete(key));
        Ok::<_, StoreError>(any)
    };
    while run(store, ids, attempts_max, &mut step).await? {}
    Ok(())
}

/// [`run`] for a thread that may block: seeding, sub-commands, remote engines.
///
/// # Errors
/// As [`run`].
pub fn run_blocking<T, E: From<StoreError>>(
    store: &dyn KeyValue,
    ids: &mut dyn Ids,
    attempts_max: u32,
    body: impl FnMut(&mut Tx<'_>, &mut dyn Ids) -> Result<T, E>,
) -> Result<T, E> {
    block_on(run(store, ids, attempts_max, body))
}

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::kv::{Batch, Found, Memory};

    fn put(store: &Memory, key: &'static str, value: &'static str) {
        let writes = vec![(Bytes::from(key), Some(Bytes::from(value)))];
        store.commit(Batch { writes, ..Batch::default() }).wait().unwrap();
    }

    #[test]
    fn a_cleared_store_has_no_row_however_many_steps_it_takes() {
        let store = Memory::new();
        for step in 0..3 {
            let key = |row: usize| Bytes::from(format!("{step}-{row}"));
            let writes = (0..CLEAR_STEP).map(|row| (key(row), Some(Bytes::from_static(b"v"))));
            let batch = Batch { writes: writes.collect(), ..Batch::default() };
            store.commit(batch).wait().unwrap();
        }
        block_on(clear(&store, &mut SeededIds::from_number(1), 2)).unwrap();
        assert!(store.scan(&Span::default(), 1).unwrap().rows.is_empty());
    }

    #[test]
    fn a_conflict_runs_the_body_again_with_the_same_ids() {
        let store = Memory::new();
        let mut drawn = Vec::new();
        let answer: Result<u32, StoreError> =
            run_blocking(&store, &mut SeededIds::from_number(1), 5, |tx, ids| {
                drawn.push(ids.next());
                tx.get(b"counter")?;
                if drawn.len() == 1 {
                    put(&store, "counter", "raced");
                }
                tx.put("counter", "mine");
                Ok(7)
            });
        assert_eq!(answer, Ok(7));
        assert_eq!(drawn.len(), 2);
        assert_eq!(drawn[0], drawn[1]);
    }

    #[test]
    fn a_refusal_rests_on_rows_of_one_moment() {
        let store = Memory::new();
        put(&store, "upload", "there");
        let mut attempts = 0;
        let answer: Result<(), StoreError> =
            run_blocking(&store, &mut SeededIds::from_number(1), 5, |tx, _| {
                attempts += 1;
                let upload = tx.get(b"upload")?;
                if attempts == 1 {
                    // The upload ends before the object comes: never were both there.
                    put(&store, "upload", "gone");
                    put(&store, "object", "there");
                }
                let object = tx.get(b"object")?;
                match (upload.as_deref(), object) {
                    (Some(b"there"), Some(_)) => Err(StoreError::OutcomeUnknown),
                    _ => Ok(()),
                }
            });
        assert_eq!((answer, attempts), (Ok(()), 2));
    }

    #[test]
    fn rows_that_nobody_changed_are_read_for_one_refusal_once() {
        let store = Memory::new();
        put(&store, "a", "1");
        let mut attempts = 0;
        let answer: Result<(), StoreError> =
            run_blocking(&store, &mut SeededIds::from_number(1), 5, |tx, _| {
                attempts += 1;
                tx.get(b"a")?;
                tx.get(b"none")?;
                put(&store, "other", "1");
                Err(StoreError::OutcomeUnknown)
            });
        assert_eq!((answer, attempts), (Err(StoreError::OutcomeUnknown), 1));
    }

    #[test]
    fn a_refusal_writes_nothing() {
        let store = Memory::new();
        let answer: Result<(), StoreError> =
            run_blocking(&store, &mut SeededIds::from_number(1), 5, |tx, _| {
                tx.put("a", "1");
                Err(StoreError::OutcomeUnknown)
            });
        assert_eq!(answer, Err(StoreError::OutcomeUnknown));
        assert_eq!(store.get(b"a").unwrap(), Found::default());
    }
}
