//! Many rows into an engine at once: whole batches without expectations, a few of them on their way to the disk.

use std::collections::VecDeque;

use crate::id::{Ids, SeededIds};
use crate::kv::{BATCH_BYTES_MAX, BATCH_OPERATIONS_MAX, Batch, KeyValue, StoreError, Version};
use crate::pending::Pending;
use bytes::Bytes;

/// Batches that wait for the disk at once; more would only fill the memory.
const FLYING_MAX: usize = 16;

/// Takes rows, best in the order of their keys: an engine that is a tree then touches each leaf once.
pub struct Loader<'s> {
    store: &'s dyn KeyValue,
    ids: SeededIds,
    writes: Vec<(Bytes, Option<Bytes>)>,
    bytes: usize,
    flying: VecDeque<Pending<Result<Version, StoreError>>>,
    rows: u64,
}

impl<'s> Loader<'s> {
    /// A loader of `store`; `ids` names its batches.
    #[must_use]
    pub fn new(store: &'s dyn KeyValue, ids: &mut dyn Ids) -> Self {
        Self {
            store,
            ids: ids.fork(),
            writes: Vec::new(),
            bytes: 0,
            flying: VecDeque::new(),
            rows: 0,
        }
    }

    /// Number of rows that it took.
    #[must_use]
    pub const fn rows(&self) -> u64 {
        self.rows
    }

    /// Takes a row. No key may come twice.
    ///
    /// # Errors
    /// As [`KeyValue::commit`], of this row or an earlier one.
    pub fn put(&mut self, key: Bytes, value: Bytes) -> Result<(), StoreError> {
        let bytes = key.len() + value.len();
        if self.writes.len() == BATCH_OPERATIONS_MAX || self.bytes + bytes > BATCH_BYTES_MAX {
            self.send()?;
        }
        self.bytes += bytes;
        self.rows += 1;
        self.writes.push((key, Some(value)));
        Ok(())
    }

    /// Waits until every row is on disk.
    ///
    /// # Errors
    /// As [`KeyValue::commit`].
    pub fn finish(mut self) -> Result<u64, StoreError> {
        self.settle()?;
        Ok(self.rows)
    }

    /// Waits until every row that it took so far is on disk.
    ///
    /// # Errors
    /// As [`KeyValue::commit`].
    pub fn settle(&mut self) -> Result<(), StoreError> {
        self.send()?;
        while let Some(commit) = self.flying.pop_front() {
            commit.wait()?;
        }
        Ok(())
    }

    fn send(&mut self) -> Result<(), StoreError> {
        if self.writes.is_empty() {
            return Ok(());
        }
        let mut batch = Batch { writes: std::mem::take(&mut self.writes), ..Batch::default() };
        self.bytes = 0;
        self.ids.fill(&mut batch.id);
        self.flying.push_back(self.store.commit(batch));
        if self.flying.len() > FLYING_MAX
            && let Some(commit) = self.flying.pop_front()
        {
            commit.wait()?;
        }
        Ok(())
    }
}

impl std::fmt::Debug for Loader<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Loader").field("rows", &self.rows).finish_non_exhaustive()
    }
}
