//! The checkpoint thread: brings memtables into the tree and its file on disk, one after the other, so that the write-ahead log can begin anew.

use std::panic::AssertUnwindSafe;

use bytes::Bytes;

use super::kept_values::{KeptValues, ReplacedValue};
use super::memtable::CheckpointStep;
use super::rows::{LastVersion, Row, Rows, VERSION_KEY};
use super::value_log::ValueLog;
use super::{Engine, Version};
use crate::blobs::BlobId;
use crate::schedule::{self, now, park, park_timeout};

impl Engine {
    /// Checkpoints memtables in order, until the log's thread has ended or the disk fails.
    pub(super) fn run_checkpoints(&self) {
        let mut replaced = Vec::new();
        loop {
            let step = self.queue.write().next_checkpoint(now());
            let memtable = match step {
                CheckpointStep::Write(memtable) => memtable,
                CheckpointStep::Wait(None) => {
                    park();
                    continue;
                }
                CheckpointStep::Wait(Some(time)) => {
                    park_timeout(time);
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
            let mut queue = self.queue.write();
            queue.checkpoint_done();
            let is_base_due = queue.base_due().is_some();
            drop(queue);
            // Here its thousands of rows are freed, which no reader is to wait for.
            drop(memtable);
            self.wake_wal();
            if is_base_due {
                self.wake_bases();
            }
        }
    }

    /// Brings rows into the tree and its file on disk, their long values before them and their last version after them. What they replace
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
            // Until the rows are there: a base that is begun meanwhile would name what they replace.
            let mut kept = None;
            if let Some(value_log) = &self.value_log {
                names = value_log.append(rows).map_err(|error| error.to_string())?;
                let kept = kept.insert(schedule::lock(&self.kept_values));
                self.find_replaced(rows, last, replaced, kept)?;
            }
            let inserting = schedule::write(&self.inserting);
            self.insert(rows, names, replaced)?;
            let sealed = self.tree.seal(LastVersion::write(last, replaced).into());
            sealed.map_err(|error| error.to_string())?;
            self.row_cache.invalidate(rows);
            drop(inserting);
            if let Some(kept) = &mut kept {
                kept.note(&*self.disk);
            }
            Ok(())
        };
        std::panic::catch_unwind(AssertUnwindSafe(write))
            .unwrap_or_else(|_| Err("the engine panicked".into()))
    }

    /// Adds the long values that rows of the tree point to and these rows replace, whose last version is `last`; to `kept` those that a base may name.
    pub(super) fn find_replaced(
        &self,
        rows: &Rows,
        last: Version,
        replaced: &mut Vec<BlobId>,
        kept: &mut KeptValues,
    ) -> Result<(), String> {
        for key in rows.keys() {
            let old = self.tree.get(key).map_err(|error| error.to_string())?;
            let old = old.map(Row::read).transpose();
            if let Some(Row::Pointer(_, name)) = old.map_err(|error| error.to_string())? {
                if kept.may_be_based(name) {
                    kept.keep(ReplacedValue { name, by: last });
                } else {
                    replaced.push(name);
                }
            }
        }
        Ok(())
    }

    /// Hands rows to the tree.
    pub(super) fn insert(
        &self,
        rows: &Rows,
        names: Vec<BlobId>,
        replaced: &[BlobId],
    ) -> Result<(), String> {
        let mut names = names.into_iter();
        let mut writes = Vec::with_capacity(rows.len());
        if !replaced.is_empty() {
            // A row that is there no longer tells what it replaced.
            let before = LastVersion::write(self.queue.read().checkpointed, replaced);
            let before = (Bytes::from_static(VERSION_KEY), Some(before.into()));
            self.tree.write(&[before]).map_err(|error| error.to_string())?;
        }
        for (key, (value, version)) in rows {
            let stored = value.as_ref().map(|value| {
                let name = if self.is_long(value) { names.next() } else { None };
                Row::write(*version, value, name).into()
            });
            writes.push((key.clone(), stored));
        }
        self.tree.write(&writes).map_err(|error| error.to_string())
    }

    /// Returns whether a value stands in the value log.
    pub(super) fn is_long(&self, value: &Bytes) -> bool {
        self.value_log.as_ref().is_some_and(|value_log| value_log.is_long(value))
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
