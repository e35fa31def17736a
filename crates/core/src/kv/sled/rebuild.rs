//! The tree filled anew, from the base and the log: whenever there is a reason not to believe its files.

use std::time::{Duration, Instant};

use bytes::Bytes;

use super::checkpoint_thread::{BYTES_TOGETHER, ROWS_TOGETHER, collect};
use super::merge::{MergeError, MergedRow};
use super::rows::{LastVersion, Row, Rows, VERSION_KEY};
use super::{Engine, now};
use crate::blobs::BlobId;
use crate::kv::Version;

/// Reasons for which the tree is filled anew from the log.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RebuildReason {
    /// It was asked for.
    #[error("it was asked for")]
    Asked,
    /// The machine was started again, or the directory copied, and nobody had closed the store.
    #[error("it was not closed before the machine stopped, or this is a copy of a store that ran")]
    Restarted,
    /// An earlier run met a fault, or was filling the index itself, or there is no index.
    #[error("it was not whole, or the disk had failed")]
    Unknown,
    /// Its files cannot be read, or make no sense to sled.
    #[error("it cannot be read: {0}")]
    Unreadable(String),
    /// It names a version that the log does not.
    #[error("it is not at a version that the log knows")]
    Version,
}

/// The progress of a rebuild.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct RebuildProgress {
    /// Rows that are there.
    pub rows: u64,
    /// The most that there will be.
    pub rows_most: u64,
    /// Seconds until they are there, if the rest takes as long as these.
    pub seconds_left: u64,
}

/// Time between two reports.
const REPORTED_EVERY: Duration = Duration::from_secs(1);

/// Tells of a rebuild now and then.
pub(super) struct Report<'r> {
    reason: &'r RebuildReason,
    tell: Option<fn(&RebuildReason, RebuildProgress)>,
    rows_most: u64,
    begun: Instant,
    told: Instant,
}

impl<'r> Report<'r> {
    /// Begins one, and tells of it.
    pub(super) fn begin(
        reason: &'r RebuildReason,
        tell: Option<fn(&RebuildReason, RebuildProgress)>,
        rows_most: u64,
    ) -> Self {
        let report = Self { reason, tell, rows_most, begun: now(), told: now() };
        report.tell(0);
        report
    }

    fn tell(&self, rows: u64) {
        if let Some(tell) = self.tell {
            let left = self.rows_most.saturating_sub(rows);
            let seconds_left = self.begun.elapsed().as_secs().saturating_mul(left) / rows.max(1);
            tell(self.reason, RebuildProgress { rows, rows_most: self.rows_most, seconds_left });
        }
    }

    fn rows(&mut self, rows: u64) {
        if self.told.elapsed() >= REPORTED_EVERY {
            self.told = now();
            self.tell(rows);
        }
    }
}

/// Reasons for which a rebuild ends before it has all rows.
#[derive(Debug, thiserror::Error)]
pub(super) enum RebuildError {
    #[error(transparent)]
    Merge(#[from] MergeError),
    #[error("{0}")]
    Tree(String),
    #[error("a row names a value that is not there")]
    ValueIsGone,
}

/// Rows on their way into the tree.
#[derive(Default)]
struct Chunk {
    rows: Vec<(Bytes, MergedRow)>,
    bytes: usize,
}

impl Engine {
    /// Fills the tree, which is empty, with the rows of a merge, and gives it their last version once all are on disk. What the value log
    /// holds beside them is deleted.
    pub(super) fn fill_tree(
        &self,
        rows: impl Iterator<Item = Result<(Bytes, MergedRow), MergeError>>,
        last: Version,
        mut report: Report<'_>,
    ) -> Result<(), RebuildError> {
        let mut named = Vec::new();
        let mut chunk = Chunk::default();
        let mut count = 0;
        for row in rows {
            let (key, row) = row?;
            chunk.bytes += key.len() + row.len();
            chunk.rows.push((key, row));
            count += 1;
            if chunk.rows.len() == ROWS_TOGETHER || chunk.bytes >= BYTES_TOGETHER {
                self.fill(std::mem::take(&mut chunk), last, &mut named)?;
                report.rows(count);
            }
        }
        self.fill(chunk, last, &mut named)?;
        self.check_values(named)?;
        // The version after the rows, as a checkpoint does it: until it is there the next start begins anew.
        self.sync_tree().map_err(RebuildError::Tree)?;
        let version = LastVersion::write(last, &[]);
        let inserted = self.tree.insert(VERSION_KEY, version);
        inserted.map_err(|error| RebuildError::Tree(error.to_string()))?;
        self.sync_tree().map_err(RebuildError::Tree)?;
        report.tell(count);
        Ok(())
    }

    /// Brings a chunk into the tree, its long values before it, and adds the names of values to `named`.
    fn fill(
        &self,
        chunk: Chunk,
        last: Version,
        named: &mut Vec<BlobId>,
    ) -> Result<(), RebuildError> {
        let long: Rows = (chunk.rows.iter())
            .filter_map(|(key, row)| match row {
                MergedRow::Logged(version, value) if self.is_long(value) => {
                    Some((key.clone(), (Some(value.clone()), *version)))
                }
                _ => None,
            })
            .collect();
        let names = match &self.value_log {
            Some(value_log) if !long.is_empty() => value_log
                .append(&long, last)
                .map_err(|error| RebuildError::Tree(error.to_string()))?,
            _ => Vec::new(),
        };
        let mut names = names.into_iter();
        let mut batch = sled::Batch::default();
        for (key, row) in chunk.rows {
            match row {
                MergedRow::Based(stored) => {
                    if let Ok(Row::Pointer(_, name)) = Row::read(&stored) {
                        named.push(name);
                    }
                    batch.insert(key.as_ref(), stored.as_ref());
                }
                MergedRow::Logged(version, value) => {
                    let name = if self.is_long(&value) { names.next() } else { None };
                    named.extend(name);
                    batch.insert(key.as_ref(), Row::write(version, &value, name));
                }
            }
        }
        self.tree.apply_batch(batch).map_err(|error| RebuildError::Tree(error.to_string()))?;
        collect();
        Ok(())
    }

    fn is_long(&self, value: &Bytes) -> bool {
        self.value_log.as_ref().is_some_and(|value_log| value_log.is_long(value))
    }

    /// Checks that every value is there that rows name, and deletes those that none does.
    fn check_values(&self, mut named: Vec<BlobId>) -> Result<(), RebuildError> {
        let Some(value_log) = &self.value_log else {
            return if named.is_empty() { Ok(()) } else { Err(RebuildError::ValueIsGone) };
        };
        let failed = |error: crate::blobs::BlobError| RebuildError::Tree(error.to_string());
        named.sort_unstable();
        let mut kept = value_log.names().map_err(failed)?;
        kept.sort_unstable();
        if named.iter().any(|name| kept.binary_search(name).is_err()) {
            return Err(RebuildError::ValueIsGone);
        }
        kept.retain(|name| named.binary_search(name).is_err());
        value_log.delete(&kept).map_err(failed)
    }
}

impl MergedRow {
    /// Bytes of what it stores.
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Based(stored) => stored.len(),
            Self::Logged(_, value) => value.len(),
        }
    }
}
