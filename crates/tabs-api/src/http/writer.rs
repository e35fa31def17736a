//! Keeps a profile's rows in the store, and says up to where what happened is kept.
//!
//! Every change of the browser is a revision. Revisions are committed in their order, and nobody hears of
//! a revision before it is kept.

use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{mpsc, watch};
use triptych_core::kv::{KeyValue, StoreError};

use super::large_write::{Commit, begin, rows_under};
use crate::store::Row;

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
        let mut writes = Vec::new();
        if wipes {
            let old = rows_under(&*self.store, &self.prefix)?;
            let is_gone = |key: &Vec<u8>| !rows.iter().any(|(new, _)| new == key);
            let gone = old.into_iter().map(|(key, _)| key).filter(is_gone);
            writes.extend(gone.map(|key| (self.key(&key), None)));
        }
        writes
            .extend(rows.into_iter().map(|(key, value)| (self.key(&key), value.map(Bytes::from))));
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
