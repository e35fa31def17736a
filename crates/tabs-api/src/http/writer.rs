//! Keeps a profile's rows in the store, and says up to where what happened is kept.
//!
//! Every change of the browser is a revision. Revisions are committed in their order, and nobody hears of
//! a revision before it is kept.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{mpsc, watch};
use triptych_core::id::{Ids, SystemIds};
use triptych_core::kv::{
    BATCH_BYTES_MAX, BATCH_OPERATIONS_MAX, Batch, Durability, KeyValue, Span, StoreError,
    VALUE_BYTES_MAX, Version,
};
use triptych_core::pending::Pending;

use crate::store::Row;

/// The number of rows that a scan of the store takes.
const PAGE: usize = 1_000;

/// A kept row: its key without the prefix, and its value.
type StoredRow = (Vec<u8>, Vec<u8>);
/// A row to write, or to forget.
type Write = (Bytes, Option<Bytes>);
/// A write that was begun.
pub(super) type Commit = Pending<Result<Version, StoreError>>;

/// The writer of a profile's rows.
pub(super) struct ProfileWriter {
    store: Arc<dyn KeyValue>,
    prefix: Vec<u8>,
    queue: mpsc::UnboundedSender<(u64, Vec<Commit>)>,
    progress: Arc<watch::Sender<Progress>>,
}

/// The revision up to which everything is durable.
#[derive(Debug, Clone, Default)]
struct Progress {
    revision: u64,
    failed: Option<StoreError>,
}

impl ProfileWriter {
    /// Keeps rows under `prefix`; `on_progress` is called whenever more is kept. Needs a tokio runtime.
    pub(super) fn start(
        store: Arc<dyn KeyValue>,
        prefix: &[u8],
        on_progress: impl Fn() + Send + 'static,
    ) -> Self {
        let (queue, mut waiting) = mpsc::unbounded_channel::<(u64, Vec<Commit>)>();
        let progress = Arc::new(watch::Sender::new(Progress::default()));
        let report = Arc::clone(&progress);
        tokio::spawn(async move {
            while let Some((revision, commits)) = waiting.recv().await {
                for commit in commits {
                    if let Err(error) = commit.await {
                        tracing::error!(%error, "the browser's state could not be kept");
                        report.send_modify(|progress| progress.failed = Some(error));
                        return on_progress();
                    }
                }
                report.send_modify(|progress| progress.revision = revision);
                on_progress();
            }
        });
        Self { store, prefix: prefix.to_vec(), queue, progress }
    }

    /// True if a revision that changed nothing is kept at once, which it is if all before it are.
    fn advances_at_once(&self, revision: u64) -> bool {
        self.progress.send_if_modified(|progress| {
            let advances = progress.revision + 1 == revision && progress.failed.is_none();
            progress.revision += u64::from(advances);
            advances
        })
    }

    /// The last revision that is kept.
    pub(super) fn durable_revision(&self) -> u64 {
        self.progress.borrow().revision
    }

    /// Begins to keep the rows of a revision. `wipes` forgets every other row.
    ///
    /// # Errors
    /// [`StoreError`] of reading what there is to forget.
    pub(super) fn write(
        &self,
        revision: u64,
        rows: Vec<Row>,
        wipes: bool,
    ) -> Result<(), StoreError> {
        if rows.is_empty() && !wipes && self.advances_at_once(revision) {
            return Ok(());
        }
        let mut writes: Vec<(Bytes, Option<Bytes>)> = Vec::new();
        if wipes {
            let old = rows_under(&*self.store, &self.prefix)?;
            let is_gone = |key: &Vec<u8>| !rows.iter().any(|(new, _)| new == key);
            let gone = old.into_iter().map(|(key, _)| key).filter(is_gone);
            writes.extend(gone.map(|key| (self.key(&key), None)));
        }
        for (key, value) in rows {
            let size = value.as_ref().map_or(0, Vec::len);
            if size > VALUE_BYTES_MAX {
                // Only a page of monstrous addresses comes to this; the rest of the browser is kept.
                tracing::warn!(size, "a tab is too large to be kept");
                continue;
            }
            writes.push((self.key(&key), value.map(Bytes::from)));
        }
        let commits = begin(&*self.store, writes);
        // The task is gone only after a failure, which is told already.
        let _ = self.queue.send((revision, commits));
        Ok(())
    }

    /// Returns once a revision is kept.
    ///
    /// # Errors
    /// The error of writing it.
    pub(super) async fn until_durable(&self, revision: u64) -> Result<(), StoreError> {
        let mut progress = self.progress.subscribe();
        let is_removed =
            |progress: &Progress| progress.revision >= revision || progress.failed.is_some();
        let outcome = match progress.wait_for(is_removed).await {
            Ok(progress) if progress.revision >= revision => Ok(()),
            Ok(progress) => Err(progress.failed.clone()),
            Err(_) => Err(None),
        };
        outcome.map_err(|error| {
            error.unwrap_or_else(|| StoreError::Unavailable("the service stops".into()))
        })
    }

    fn key(&self, key: &[u8]) -> Bytes {
        [&self.prefix, key].concat().into()
    }
}

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
    for commit in begin(store, writes) {
        commit.await?;
    }
    Ok(())
}

/// Begins to write rows: those of a later call come after those of an earlier one.
pub(super) fn begin(store: &dyn KeyValue, writes: Vec<Write>) -> Vec<Commit> {
    let commits = batches(writes).map(|writes| {
        let mut id = [0; 16];
        SystemIds.fill(&mut id);
        store.commit(Batch {
            id,
            expectations: Vec::new(),
            writes,
            durability: Durability::Process,
        })
    });
    commits.collect()
}

/// Cuts writes into batches that every engine takes.
fn batches(
    writes: Vec<(Bytes, Option<Bytes>)>,
) -> impl Iterator<Item = Vec<(Bytes, Option<Bytes>)>> {
    let mut writes = writes.into_iter().peekable();
    std::iter::from_fn(move || {
        let mut batch = Vec::new();
        let mut bytes = 0;
        while let Some((key, value)) = writes.peek() {
            let size = key.len() + value.as_ref().map_or(0, Bytes::len);
            if batch.len() == BATCH_OPERATIONS_MAX || bytes + size > BATCH_BYTES_MAX {
                break;
            }
            bytes += size;
            batch.extend(writes.next());
        }
        (!batch.is_empty()).then_some(batch)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn batches_stay_within_what_every_engine_takes() {
        let row = |size| (Bytes::from_static(b"k"), Some(Bytes::from(vec![0; size])));
        assert_eq!(batches((0..2_500).map(|_| row(1)).collect()).count(), 3);
        assert_eq!(batches((0..40).map(|_| row(60_000)).collect()).count(), 3);
        assert_eq!(batches(Vec::new()).count(), 0);
    }
}
