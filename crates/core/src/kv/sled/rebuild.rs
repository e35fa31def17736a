//! The tree filled anew, from the base and the log: whenever there is a reason not to believe its files.

use std::io;
use std::sync::Arc;

use bytes::Bytes;

use super::Engine;
use super::base::Base;
use super::index_state::IndexState;
use super::kept_values::ReplacedValue;
use super::merge::{LogIndex, Merge, MergeError, MergedRow};
use super::open_error::OpenError;
use super::opening::Opening;
use super::rebuild_report::{RebuildReason, Report};
use super::rows::{LastVersion, Row, Rows};
use super::tree::{self, TreeWrite};
use super::wal::{LogEnd, Segment, Spares};
use crate::blobs::BlobId;
use crate::disk::DiskLock;
use crate::kv::Version;

/// Bytes of rows that come into the tree at once.
const CHUNK_BYTES: usize = 256 * 1024;

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
        mut rows: Merge,
        last: Version,
        mut report: Report<'_>,
    ) -> Result<(), RebuildError> {
        let mut named = Vec::new();
        let mut chunk = Chunk::default();
        let mut count = 0;
        for row in &mut rows {
            let (key, row) = row?;
            chunk.bytes += key.len() + row.len();
            chunk.rows.push((key, row));
            count += 1;
            if chunk.bytes >= CHUNK_BYTES {
                self.fill(std::mem::take(&mut chunk), &mut named)?;
                report.rows(count);
            }
        }
        self.fill(chunk, &mut named)?;
        self.check_values(named, &rows.replaced)?;
        self.kept_values.lock().replace(rows.replaced);
        // Until the version is there the next start begins anew.
        let sealed = self.tree.seal(LastVersion::write(last, &[]).into());
        sealed.map_err(|error| RebuildError::Tree(error.to_string()))?;
        report.tell(count);
        Ok(())
    }

    /// Brings a chunk into the tree, its long values before it, and adds the names of values to `named`.
    fn fill(&self, chunk: Chunk, named: &mut Vec<BlobId>) -> Result<(), RebuildError> {
        let long: Rows = (chunk.rows.iter())
            .filter_map(|(key, row)| match row {
                MergedRow::Logged(version, value) if self.is_long(value) => {
                    Some((key.clone(), (Some(value.clone()), *version)))
                }
                _ => None,
            })
            .collect();
        let names = match &self.value_log {
            Some(value_log) if !long.is_empty() => {
                value_log.append(&long).map_err(|error| RebuildError::Tree(error.to_string()))?
            }
            _ => Vec::new(),
        };
        let mut names = names.into_iter();
        let rows: Vec<TreeWrite> = (chunk.rows.into_iter())
            .map(|(key, row)| {
                let stored = match row {
                    MergedRow::Based(stored) => {
                        if let Ok(Row::Pointer(_, name)) = Row::read(stored.clone()) {
                            named.push(name);
                        }
                        stored
                    }
                    MergedRow::Logged(version, value) => {
                        let name = if self.is_long(&value) { names.next() } else { None };
                        named.extend(name);
                        Row::write(version, &value, name).into()
                    }
                };
                (key, Some(stored))
            })
            .collect();
        self.tree.write(&rows).map_err(|error| RebuildError::Tree(error.to_string()))
    }

    /// Checks that every value is there that rows name, and deletes those that neither they nor the base do.
    fn check_values(
        &self,
        mut named: Vec<BlobId>,
        replaced: &[ReplacedValue],
    ) -> Result<(), RebuildError> {
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
        named.extend(replaced.iter().map(|value| value.name));
        named.sort_unstable();
        kept.retain(|name| named.binary_search(name).is_err());
        value_log.delete(&kept).map_err(failed)
    }
}

impl Opening<'_> {
    /// Fills a new tree from the base and the log. Until it is whole, and known to be, every start does it anew.
    pub(super) fn rebuild(
        &self,
        base: &Base,
        lock: DiskLock,
        spares: Arc<Spares>,
        reason: &RebuildReason,
    ) -> Result<(Engine, LogEnd), OpenError> {
        let (disk, directory) = (self.disk, &self.config.directory);
        let unusable = |error: io::Error| self.unusable(&error);
        let segments = Segment::all(&**disk, directory).map_err(|error| self.wal(error))?;
        let everything = Version(u64::MAX);
        // Before anything changes: a broken log leaves the store as it is.
        let index = LogIndex::read(segments, base.summary.version, everything, u64::MAX);
        let index = index.map_err(|error| self.wal(error))?;
        if index.end.is_at_odds {
            return Err(self.corrupt("its journal and its base are at odds"));
        }
        base.verify().map_err(|error| self.base(error))?;
        IndexState::forget(&**disk, directory).map_err(unusable)?;
        tree::remove(&**disk, directory).map_err(unusable)?;
        let tree = self.config.open_tree(&self.config.tree, disk);
        let tree = tree.map_err(|error| self.refused(error))?;
        let end = index.end.clone();
        let last = LastVersion { version: end.last, replaced: Vec::new() };
        let engine = self.engine(tree, &last, lock, spares)?;
        let rows_most = base.summary.rows + index.len() as u64;
        let report = Report::begin(reason, self.config.on_rebuild, rows_most);
        let filled = engine.fill_tree(index.merge(Some(base)), end.last, report);
        filled.map_err(|error| match error {
            RebuildError::Merge(MergeError::Base(error)) => self.base(error),
            RebuildError::Merge(MergeError::Wal(error)) => self.wal(error),
            RebuildError::ValueIsGone => self.corrupt(error.to_string()),
            error => self.unusable(&io::Error::other(error.to_string())),
        })?;
        disk.sync_directory(directory).map_err(unusable)?;
        Ok((engine, end))
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
