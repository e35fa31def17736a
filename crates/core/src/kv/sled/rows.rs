//! Rows as they wait in memory, and as sled stores them.

use std::collections::BTreeMap;

use bytes::{Buf as _, Bytes};

use super::{StoreError, Version};
use crate::blobs::BlobId;

/// New values by key, `None` where deleted, with the versions they came with.
pub(super) type Rows = BTreeMap<Bytes, (Option<Bytes>, Version)>;

/// Key of the row of the last version. No user's key is empty.
pub(super) const VERSION_KEY: &[u8] = b"";

/// Set in the version of a row that points into the value log.
const POINTER: u64 = 1 << 63;

/// A stored row.
pub(super) enum Row {
    /// Its value stands in it.
    Inline(Version, Bytes),
    /// Its value is in the value log.
    Pointer(Version, BlobId),
}

impl Row {
    /// Reads a row as it is stored. Its value is what is left of those bytes: there is no copy, and no second owner to count.
    pub(super) fn read(mut stored: Bytes) -> Result<Self, StoreError> {
        let cut = || StoreError::Corrupt("a stored row is cut short".into());
        let version = stored.try_get_u64().map_err(|_| cut())?;
        if version & POINTER == 0 {
            return Ok(Self::Inline(Version(version), stored));
        }
        let name = stored.as_ref().try_into().map_err(|_| cut())?;
        Ok(Self::Pointer(Version(version & !POINTER), BlobId(name)))
    }

    pub(super) const fn version(&self) -> Version {
        match self {
            Self::Inline(version, _) | Self::Pointer(version, _) => *version,
        }
    }

    /// The bytes of a row.
    pub(super) fn write(version: Version, value: &[u8], pointer: Option<BlobId>) -> Vec<u8> {
        let (mark, value) = match &pointer {
            Some(name) => (POINTER, name.0.as_slice()),
            None => (0, value),
        };
        let mut stored = Vec::with_capacity(8 + value.len());
        stored.extend_from_slice(&(version.0 | mark).to_be_bytes());
        stored.extend_from_slice(value);
        stored
    }
}

/// The row of the last version: the number, and the names of values that were replaced and are not deleted yet.
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
