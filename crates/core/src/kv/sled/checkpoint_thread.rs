//! The checkpoint thread: brings memtables into sled and its file on disk, one after the other, so that the write-ahead log can begin anew.

use std::panic::AssertUnwindSafe;

use bytes::Bytes;

use super::memtable::CheckpointStep;
use super::rows::{LastVersion, Row, Rows, VERSION_KEY};
use super::value_log::ValueLog;
use super::{Engine, Version, now};
use crate::blobs::BlobId;

/// Rows of a batch of the tree. Each row that sled takes replaces a page, and nothing of that is freed before its batch has ended: with
/// batches of up to 4 MiB a load of 200,000 videos took 1.2 GiB, with these 0.7.
pub(super) const ROWS_TOGETHER: usize = 256;
/// Bytes of the rows of such a batch.
pub(super) const BYTES_TOGETHER: usize = 256 * 1024;
/// Rounds of crossbeam's collector that free what such a batch replaced: it looks at a few bags of 64 in each.
const ROUNDS: usize = 16;

/// Frees what a batch replaced. sled leaves that to the collector, which works when somebody pins: one batch pins once, so that without this
/// the garbage of a long load grows without bound (5 GiB for a million rows).
pub(super) fn collect() {
    for _ in 0..ROUNDS {
        crossbeam_epoch::pin().flush();
    }
}

impl Engine {
    /// Checkpoints memtables in order, until the log's thread has ended or the disk fails.
    pub(super) fn run_checkpoints(&self) {
        let mut replaced = Vec::new();
        loop {
            let step = self.queue.write().next_checkpoint(now());
            let memtable = match step {
                CheckpointStep::Write(memtable) => memtable,
                CheckpointStep::Wait(None) => {
                    std::thread::park();
                    continue;
                }
                CheckpointStep::Wait(Some(time)) => {
                    std::thread::park_timeout(time);
                    continue;
                }
                CheckpointStep::End => return,
            };
            let written = self
                .checkpoint(&memtable.rows, memtable.last, &mut replaced)
                .and_then(|()| self.delete_replaced(&mut replaced));
            if self.unless_failed(written).is_none() {
                return;
            }
            drop(memtable);
            let mut queue = self.queue.write();
            queue.checkpoint_done();
            let is_base_due = queue.base_due().is_some();
            drop(queue);
            self.wake_wal();
            if is_base_due {
                self.wake_bases();
            }
            collect();
        }
    }

    /// Brings rows into sled and its file on disk, their long values before them and their last version after them. What they replace
    /// joins `replaced`.
    ///
    /// Nothing depends on these rows coming together: until the version says that all are there the log has them, and readers see them
    /// in the memtable.
    pub(super) fn checkpoint(
        &self,
        rows: &Rows,
        last: Version,
        replaced: &mut Vec<BlobId>,
    ) -> Result<(), String> {
        let write = || -> Result<(), String> {
            let mut names = Vec::new();
            if let Some(value_log) = &self.value_log {
                names = value_log.append(rows, last).map_err(|error| error.to_string())?;
                self.find_replaced(rows, replaced)?;
            }
            let inserting = self.inserting.write();
            self.insert(rows, names, replaced)?;
            self.row_cache.invalidate(rows);
            drop(inserting);
            // sled gives up in the middle of a batch when a read fails, and keeps that half: so the version has no part in one, and
            // says nothing of rows that are not on disk.
            self.sync_tree()?;
            let version = LastVersion::write(last, replaced);
            self.tree.insert(VERSION_KEY, version).map_err(|error| error.to_string())?;
            self.sync_tree()
        };
        std::panic::catch_unwind(AssertUnwindSafe(write))
            .unwrap_or_else(|_| Err("the engine panicked".into()))
    }

    /// Adds the long values that rows of the tree point to and these rows replace.
    pub(super) fn find_replaced(
        &self,
        rows: &Rows,
        replaced: &mut Vec<BlobId>,
    ) -> Result<(), String> {
        for key in rows.keys() {
            let old = self.tree.get(key).map_err(|error| error.to_string())?;
            let old = old.as_deref().map(Row::read).transpose();
            if let Some(Row::Pointer(_, name)) = old.map_err(|error| error.to_string())? {
                replaced.push(name);
            }
        }
        Ok(())
    }

    /// Hands rows to sled, some at a time.
    pub(super) fn insert(
        &self,
        rows: &Rows,
        names: Vec<BlobId>,
        replaced: &[BlobId],
    ) -> Result<(), String> {
        let apply = |batch| self.tree.apply_batch(batch).map_err(|error| error.to_string());
        let mut names = names.into_iter();
        let mut batch = sled::Batch::default();
        if !replaced.is_empty() {
            // A row that is there no longer tells what it replaced.
            let before = self.queue.read().checkpointed;
            batch.insert(VERSION_KEY, LastVersion::write(before, replaced));
            apply(std::mem::take(&mut batch))?;
        }
        let (mut count, mut bytes) = (0, 0);
        for (key, (value, version)) in rows {
            count += 1;
            bytes += key.len() + value.as_ref().map_or(0, Bytes::len);
            match value {
                Some(value) => {
                    let value_log = self.value_log.as_ref();
                    let is_long = value_log.is_some_and(|value_log| value_log.is_long(value));
                    let name = if is_long { names.next() } else { None };
                    batch.insert(key.as_ref(), Row::write(*version, value, name));
                }
                None => batch.remove(key.as_ref()),
            }
            if count == ROWS_TOGETHER || bytes >= BYTES_TOGETHER {
                apply(std::mem::take(&mut batch))?;
                collect();
                (count, bytes) = (0, 0);
            }
        }
        apply(batch)
    }

    /// Puts sled's file on disk.
    pub(super) fn sync_tree(&self) -> Result<(), String> {
        self.tree.flush().map_err(|error| error.to_string())?;
        #[cfg(feature = "testing")]
        if self.sync_is_left_out {
            return Ok(());
        }
        self.file.sync().map_err(|error| error.to_string())
    }

    /// Gives back the space of replaced values, once what replaced them is on disk and they are many.
    fn delete_replaced(&self, replaced: &mut Vec<BlobId>) -> Result<(), String> {
        if let Some(value_log) = &self.value_log
            && ValueLog::is_delete_due(replaced)
        {
            value_log.delete(replaced).map_err(|error| error.to_string())?;
            replaced.clear();
        }
        Ok(())
    }
}
