//! Keeps a profile's rows in the store, and says up to where what happened is kept.
//!
//! Every change of the browser is a revision. Revisions are committed in their order, and nobody hears of
//! a revision before it is kept.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use tokio::sync::{mpsc, watch};
use triptych_core::kv::{KeyValue, StoreError};

use super::large_write::{Commit, Write, begin, commit, rows_under};
use crate::store::Row;

/// The writer of a profile's rows.
pub(super) struct ProfileWriter {
    store: Arc<dyn KeyValue>,
    prefix: Vec<u8>,
    queue: mpsc::UnboundedSender<(u64, Work)>,
    progress: Arc<watch::Sender<Progress>>,
}

/// The work of keeping a revision.
enum Work {
    /// Begun, on a store of ours.
    Begun(Vec<Commit>),
    /// Rows to write once those before them are written, on a store that others share; and whether every other row goes.
    InTurn(Vec<Write>, bool),
}

/// The revision up to which everything is durable.
#[derive(Debug, Clone, Default)]
struct Progress {
    revision: u64,
    failed: Option<StoreError>,
}

impl Work {
    /// Returns once it is done.
    ///
    /// # Errors
    /// The error of writing it.
    async fn done(self, store: &dyn KeyValue, prefix: &[u8]) -> Result<(), StoreError> {
        match self {
            Self::Begun(commits) => {
                for commit in commits {
                    commit.await?;
                }
                Ok(())
            }
            Self::InTurn(mut writes, wipes) => {
                if wipes {
                    add_wiped(store, prefix, &mut writes)?;
                }
                commit(store, writes).await
            }
        }
    }
}

/// Adds the end of every row below the prefix that is not written.
///
/// # Errors
/// As [`KeyValue::scan`].
fn add_wiped(
    store: &dyn KeyValue,
    prefix: &[u8],
    writes: &mut Vec<Write>,
) -> Result<(), StoreError> {
    let written: BTreeSet<Bytes> = writes.iter().map(|(key, _)| key.clone()).collect();
    let old = rows_under(store, prefix)?.into_iter();
    let all = old.map(|(key, _)| Bytes::from([prefix, &key].concat()));
    writes.extend(all.filter(|key| !written.contains(key)).map(|key| (key, None)));
    Ok(())
}

impl ProfileWriter {
    /// Keeps rows under `prefix`; `on_progress` is called whenever more is kept. Needs a tokio runtime.
    pub(super) fn start(
        store: Arc<dyn KeyValue>,
        prefix: &[u8],
        on_progress: impl Fn() + Send + 'static,
    ) -> Self {
        let (queue, mut waiting) = mpsc::unbounded_channel::<(u64, Work)>();
        let progress = Arc::new(watch::Sender::new(Progress::default()));
        let report = Arc::clone(&progress);
        let (kept, of) = (Arc::clone(&store), prefix.to_vec());
        tokio::spawn(async move {
            while let Some((revision, work)) = waiting.recv().await {
                if let Err(error) = work.done(&*kept, &of).await {
                    tracing::error!(%error, "the browser's state could not be kept");
                    report.send_modify(|progress| progress.failed = Some(error));
                    return on_progress();
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

    /// Returns whether something could not be kept: nothing is, from then on.
    pub(super) fn has_failed(&self) -> bool {
        self.progress.borrow().failed.is_some()
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
        writes
            .extend(rows.into_iter().map(|(key, value)| (self.key(&key), value.map(Bytes::from))));
        let work = if self.store.is_local() {
            if wipes {
                add_wiped(&*self.store, &self.prefix, &mut writes)?;
            }
            Work::Begun(begin(&*self.store, writes))
        } else {
            Work::InTurn(writes, wipes)
        };
        // The task is gone only after a failure, which is told already.
        let _ = self.queue.send((revision, work));
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
