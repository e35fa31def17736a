//! The value log: long values in packs beside the tree. A row whose value is too long to stand in it has a pointer in its place.
//!
//! The checkpoint thread alone writes here, and in one order: a value is on disk before the row that points to it, and what that
//! row replaced is deleted only once the row is on disk. What a crash leaves between two of these steps is deleted when the store
//! is opened: values that no row came to point to are younger than the last version, and the names of what was replaced stand in
//! the row of the last version until they are deleted.

use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use super::rows::{LastVersion, Rows};
use super::{StoreError, Version};
use crate::blobs::{BlobError, BlobId, Blobs, Directory};
use crate::disk::Disk;
use crate::id::SeededIds;
use crate::pending::Pending;
use crate::schedule::unforeseen;
use crate::time::Timestamp;

/// Replaced values are deleted together, since a deletion costs a sync of its own.
const DELETED_TOGETHER: usize = 64;
/// Packs in which values can lie that a crash left without a row: one group goes into one pack, and a fault begins the next.
const LAST_PACKS: usize = 2;

/// The packs of long values.
pub(super) struct ValueLog {
    packs: Directory,
    /// Values up to this many bytes stand in their rows.
    record_bytes_max: usize,
}

impl ValueLog {
    /// Opens the packs in `path`, each of which is full at `pack_bytes_max`, and deletes what `last` does not know.
    pub(super) fn open(
        disk: Arc<dyn Disk>,
        path: &Path,
        record_bytes_max: usize,
        pack_bytes_max: u64,
        last: &LastVersion,
    ) -> Result<Self, BlobError> {
        // Names are told apart by their places; chance only keeps them from being foreseen.
        let chance = SeededIds::from_number(unforeseen(last.version.0));
        let packs = Directory::open_with_packs_of(path, disk, chance, pack_bytes_max)?;
        let unknown = packs.latest(LAST_PACKS)?.into_iter();
        let unknown = unknown.filter(|name| name.created() > time_of(last.version));
        let value_log = Self { packs, record_bytes_max };
        let lost: Vec<_> = unknown.chain(last.replaced.iter().copied()).collect();
        value_log.delete(&lost)?;
        Ok(value_log)
    }

    /// Puts the long values of a memtable on disk, and gives their names, in the order of the rows.
    ///
    /// Each is named by the version of its own row: a log may be cut off between that and the last one of its memtable, and what is left still
    /// leads to it.
    pub(super) fn append(&self, rows: &Rows) -> Result<Vec<BlobId>, BlobError> {
        let values = rows.values().filter_map(|(value, version)| Some((value.clone()?, *version)));
        let long = values.filter(|(value, _)| self.is_long(value));
        let long = long.map(|(value, version)| (time_of(version), value)).collect();
        let answers = self.packs.put_all(long);
        answers.into_iter().map(|answer| answer.wait().map(|stat| stat.id)).collect()
    }

    pub(super) fn is_long(&self, value: &Bytes) -> bool {
        value.len() > self.record_bytes_max
    }

    /// The value of a name, from disk (the row cache keeps what was read lately), or nothing if it was replaced and deleted meanwhile.
    pub(super) fn get(&self, name: BlobId) -> Result<Option<Bytes>, StoreError> {
        match self.packs.read_named(name) {
            Ok(value) => Ok(Some(value)),
            Err(BlobError::Absent) => Ok(None),
            Err(error @ BlobError::Corrupt(_)) => Err(StoreError::Corrupt(error.to_string())),
            Err(error) => Err(StoreError::Unavailable(error.to_string())),
        }
    }

    /// Returns whether so much was replaced that deleting it is worth a sync.
    pub(super) const fn is_delete_due(replaced: &[BlobId]) -> bool {
        replaced.len() >= DELETED_TOGETHER
    }

    /// Gives back the space of values that no row on disk points to any more.
    pub(super) fn delete(&self, replaced: &[BlobId]) -> Result<(), BlobError> {
        let deletions: Vec<_> = replaced.iter().map(|name| self.packs.delete(*name)).collect();
        deletions.into_iter().try_for_each(Pending::wait)
    }

    /// The names of all values that it keeps.
    pub(super) fn names(&self) -> Result<Vec<BlobId>, BlobError> {
        self.packs.latest(usize::MAX)
    }

    /// Bytes of the packs on disk.
    pub(super) fn disk_bytes(&self) -> u64 {
        self.packs.stats().map_or(0, |stats| stats.pack_bytes)
    }
}

/// Blobs sort by time; those of a store sort by the version that they came with, as which it counts.
fn time_of(version: Version) -> Timestamp {
    Timestamp::from_millis(i64::try_from(version.0).unwrap_or(i64::MAX))
}
