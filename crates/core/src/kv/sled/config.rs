//! The settings of a store.

use std::path::PathBuf;
use std::sync::Arc;

use super::index_state::boot_id;
use super::rebuild_report::{RebuildProgress, RebuildReason};
use super::tree::{Tree, TreeError, TreeKind, TreePlace};
use crate::disk::Disk;
use crate::kv::VALUE_BYTES_MAX;

/// A segment of the log, unless it is asked for otherwise.
pub const LOG_SEGMENT_BYTES: u64 = 8 * 1024 * 1024;
/// A base is not made for less of the log than so many segments, unless it is asked for otherwise.
const SEGMENTS_OF_A_BASE: u64 = 4;
/// Share of the cache that is kept for rows that were read lately; the tree has the rest for its pages.
const ROWS_SHARE: u64 = 16;

/// Settings with which a store is opened.
#[derive(Debug, Clone)]
pub struct SledConfig {
    /// The directory of its files; made if it is not there.
    pub directory: PathBuf,
    /// The tree that the rows are read from.
    pub tree: TreeKind,
    /// Memory for the cache. With sled the records must fit it: it slows down tenfold when they do not.
    pub cache_bytes: u64,
    /// Values longer than this many bytes lie in packs beside the records, which keeps the records within the cache. At 64 KiB there are none.
    pub record_bytes_max: usize,
    /// A segment of the log is full at so many bytes. What the tree does not have yet stands in two of them at the most.
    pub segment_bytes: u64,
    /// A base is not made for less than so many bytes of the log.
    pub base_bytes_min: u64,
    /// The run of the machine since it was started: what a store left open in another one is not believed. None if the machine does not tell.
    pub boot_id: Option<String>,
    /// Fill the index anew from the log, whatever is known of it.
    pub rebuilds: bool,
    /// Told of the progress where the index is filled anew, with the reason.
    pub on_rebuild: Option<fn(&RebuildReason, RebuildProgress)>,
    /// Acknowledge without any sync: only there to show that the power-cut test can fail.
    #[cfg(feature = "testing")]
    pub sync_is_left_out: bool,
}

impl SledConfig {
    /// The store in `directory`, with a cache of 1 GiB and all values in their records.
    #[must_use]
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            tree: TreeKind::default(),
            cache_bytes: 1024 * 1024 * 1024,
            record_bytes_max: VALUE_BYTES_MAX,
            segment_bytes: LOG_SEGMENT_BYTES,
            base_bytes_min: LOG_SEGMENT_BYTES * SEGMENTS_OF_A_BASE,
            boot_id: boot_id(),
            rebuilds: false,
            on_rebuild: None,
            #[cfg(feature = "testing")]
            sync_is_left_out: false,
        }
    }

    /// The same with segments of so many bytes, and bases that are made for as many of them as before.
    #[must_use]
    pub fn with_segments_of(self, bytes: u64) -> Self {
        let base_bytes_min = bytes.saturating_mul(SEGMENTS_OF_A_BASE);
        Self { segment_bytes: bytes, base_bytes_min, ..self }
    }

    /// Bytes of the cache for rows that were read lately.
    pub(super) fn row_cache_bytes(&self) -> usize {
        usize::try_from(self.cache_bytes / ROWS_SHARE).unwrap_or(usize::MAX)
    }

    /// Opens the tree of this kind, or makes an empty one.
    pub(super) fn open_tree(
        &self,
        kind: &TreeKind,
        disk: &Arc<dyn Disk>,
    ) -> Result<Box<dyn Tree>, TreeError> {
        #[cfg(feature = "testing")]
        let sync_is_left_out = self.sync_is_left_out;
        #[cfg(not(feature = "testing"))]
        let sync_is_left_out = false;
        kind.open(&TreePlace {
            disk,
            directory: &self.directory,
            cache_bytes: self.cache_bytes - self.cache_bytes / ROWS_SHARE,
            sync_is_left_out,
        })
    }

    /// The file of the tree.
    pub(super) fn tree_path(&self) -> PathBuf {
        self.tree.path(&self.directory)
    }
}
