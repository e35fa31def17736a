//! Long values, in packs beside the tree: a row whose value is too long to stand in it names a blob in its place.
//!
//! The thread of the tree alone writes here, and in one order: the bytes are on disk before the row that names them, and what that
//! row replaced is buried only once the row is on disk. What a crash leaves between two of these steps is buried when the store
//! is opened: bytes that no row came to name are younger than the last version, and the names of what was replaced stand in
//! the row of the last version until they are buried.

use std::hash::{BuildHasher, RandomState};
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::memtable::Rows;
use super::row_cache::ENTRY_BYTES;
use super::{StoreError, Version};
use crate::blobs::{BlobError, BlobId, Blobs, Directory};
use crate::cache::Cache;
use crate::disk::SystemDisk;
use crate::id::SeededIds;
use crate::time::Timestamp;

/// Set in the version of a row that names a blob.
const ELSEWHERE: u64 = 1 << 63;
/// Replaced values are buried together, since a burial costs a sync of its own.
const BURIED_TOGETHER: usize = 64;
/// What is kept of values that were read.
const CACHE_BYTES: usize = 32 * 1024 * 1024;
/// The packs in which bytes can lie that a crash left without a row: one group goes into one pack, and a fault begins the next.
const LAST_PACKS: usize = 2;

/// A stored row.
pub(super) enum Row<'r> {
    /// Its value stands in it.
    Here(Version, &'r [u8]),
    /// Its value is a blob.
    Elsewhere(Version, BlobId),
}

impl<'r> Row<'r> {
    pub(super) fn read(stored: &'r [u8]) -> Result<Self, StoreError> {
        let cut = || StoreError::Corrupt("a stored row is cut short".into());
        let (version, value) = stored.split_first_chunk().ok_or_else(cut)?;
        let version = u64::from_be_bytes(*version);
        if version & ELSEWHERE == 0 {
            return Ok(Self::Here(Version(version), value));
        }
        let name = value.try_into().map_err(|_| cut())?;
        Ok(Self::Elsewhere(Version(version & !ELSEWHERE), BlobId(name)))
    }

    pub(super) const fn version(&self) -> Version {
        match self {
            Self::Here(version, _) | Self::Elsewhere(version, _) => *version,
        }
    }

    /// The bytes of a row.
    pub(super) fn write(version: Version, value: &[u8], name: Option<BlobId>) -> Vec<u8> {
        let (mark, value) = match &name {
            Some(name) => (ELSEWHERE, name.0.as_slice()),
            None => (0, value),
        };
        let mut stored = Vec::with_capacity(8 + value.len());
        stored.extend_from_slice(&(version.0 | mark).to_be_bytes());
        stored.extend_from_slice(value);
        stored
    }
}

/// The row of the last version: the number, and the names of values that were replaced and are not buried yet.
pub(super) struct LastVersion {
    pub(super) version: Version,
    pub(super) replaced: Vec<BlobId>,
}

impl LastVersion {
    pub(super) fn read(stored: &[u8]) -> Option<Self> {
        let (version, names) = stored.split_first_chunk()?;
        let (names, rest) = names.as_chunks::<{ BlobId::BYTES }>();
        rest.is_empty().then(|| Self {
            version: Version(u64::from_be_bytes(*version)),
            replaced: names.iter().copied().map(BlobId).collect(),
        })
    }

    pub(super) fn write(version: Version, replaced: &[BlobId]) -> Vec<u8> {
        let names = replaced.iter().flat_map(|name| name.0);
        version.0.to_be_bytes().into_iter().chain(names).collect()
    }
}

/// The packs.
pub(super) struct Values {
    packs: Directory,
    /// Values up to this many bytes stand in their rows.
    record_bytes_max: usize,
    /// A name never comes to mean another value, so nothing here grows stale.
    cache: Mutex<Cache<BlobId, Bytes>>,
}

impl Values {
    /// Opens the packs in `path`, and buries what `last` does not know.
    pub(super) fn open(
        path: &Path,
        record_bytes_max: usize,
        last: &LastVersion,
    ) -> Result<Self, BlobError> {
        // Names are told apart by their places; chance only keeps them from being foreseen.
        let chance = SeededIds::from_number(RandomState::new().hash_one(last.version));
        let packs = Directory::open(path, Arc::new(SystemDisk), chance)?;
        let unknown = packs.latest(LAST_PACKS)?.into_iter();
        let unknown = unknown.filter(|name| name.created() > time_of(last.version));
        let values = Self { packs, record_bytes_max, cache: Mutex::new(Cache::new(CACHE_BYTES)) };
        let lost: Vec<_> = unknown.chain(last.replaced.iter().copied()).collect();
        values.bury(&lost)?;
        Ok(values)
    }

    /// Puts the long values of a group on disk; their names, in the order of the rows.
    pub(super) fn put(&self, rows: &Rows, last: Version) -> Result<Vec<BlobId>, BlobError> {
        let long = rows.values().filter_map(|(value, _)| value.clone());
        let long: Vec<_> = long.filter(|value| self.is_long(value)).collect();
        let answers = self.packs.put_all(time_of(last), long);
        answers.into_iter().map(|answer| answer.wait().map(|stat| stat.id)).collect()
    }

    pub(super) fn is_long(&self, value: &Bytes) -> bool {
        value.len() > self.record_bytes_max
    }

    /// A value, or nothing if it was replaced and buried meanwhile.
    pub(super) fn get(&self, name: BlobId) -> Result<Option<Bytes>, StoreError> {
        if let Some(value) = self.cache().get(&name) {
            return Ok(Some(value));
        }
        match self.packs.read_named(name) {
            Ok(value) => {
                self.cache().insert(name, value.clone(), value.len() + ENTRY_BYTES);
                Ok(Some(value))
            }
            Err(BlobError::Absent) => Ok(None),
            Err(error @ BlobError::Corrupt(_)) => Err(StoreError::Corrupt(error.to_string())),
            Err(error) => Err(StoreError::Unavailable(error.to_string())),
        }
    }

    fn cache(&self) -> MutexGuard<'_, Cache<BlobId, Bytes>> {
        self.cache.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether so much was replaced that it is worth a burial.
    pub(super) const fn is_burial_due(replaced: &[BlobId]) -> bool {
        replaced.len() >= BURIED_TOGETHER
    }

    /// Gives back the space of values that no row on disk names any more.
    pub(super) fn bury(&self, replaced: &[BlobId]) -> Result<(), BlobError> {
        for name in replaced {
            self.cache().remove(name);
        }
        let burials: Vec<_> = replaced.iter().map(|name| self.packs.delete(*name)).collect();
        burials.into_iter().try_for_each(crate::pending::Pending::wait)
    }

    #[cfg(test)]
    pub(super) fn names(&self) -> Vec<BlobId> {
        self.packs.latest(usize::MAX).unwrap()
    }

    /// What the packs take on disk.
    pub(super) fn disk_bytes(&self) -> u64 {
        self.packs.stats().map_or(0, |stats| stats.pack_bytes)
    }
}

/// Blobs sort by time; those of a store sort by the version that they came with, as which it counts.
fn time_of(version: Version) -> Timestamp {
    Timestamp::from_millis(i64::try_from(version.0).unwrap_or(i64::MAX))
}
