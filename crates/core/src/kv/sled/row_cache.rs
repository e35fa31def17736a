//! Rows that were read lately, in memory.

use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::memtable;
use crate::cache::Recent;
use crate::kv::Found;

/// What an entry costs beside its bytes.
pub(super) const ENTRY_BYTES: usize = 160;
/// Rows lie in so many parts, so that readers seldom wait for each other.
const PARTS: usize = 16;

/// Rows of the tree, and keys that have none there. It is asked after the rows that wait, and holds nothing that the tree has not.
pub(super) struct RowCache {
    parts: Vec<Mutex<Part>>,
}

struct Part {
    rows: Recent<Bytes, Found>,
    /// Grows with each layer that changes a row of this part.
    layer: u64,
}

/// That a key was not there, and when.
pub(super) struct Missed {
    layer: u64,
}

impl RowCache {
    /// An empty one, for rows of so many bytes together.
    pub(super) fn new(bytes_max: usize) -> Self {
        let part = || Mutex::new(Part { rows: Recent::new(bytes_max / PARTS), layer: 0 });
        Self { parts: std::iter::repeat_with(part).take(PARTS).collect() }
    }

    fn part(&self, key: &[u8]) -> Option<MutexGuard<'_, Part>> {
        let part = self.parts.get(crc32c::crc32c(key) as usize % PARTS)?;
        Some(part.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// What the tree has at `key`, or what to show to [`RowCache::put`] once the tree was asked.
    pub(super) fn get(&self, key: &[u8]) -> Result<Found, Missed> {
        let Some(mut part) = self.part(key) else {
            return Err(Missed { layer: 0 });
        };
        let layer = part.layer;
        part.rows.get(key).ok_or(Missed { layer })
    }

    /// Keeps what the tree had, unless a layer came since `missed`: that could be what it changed.
    pub(super) fn put(&self, key: &[u8], found: &Found, missed: &Missed) {
        if let Some(mut part) = self.part(key)
            && part.layer == missed.layer
        {
            let value = found.value.as_ref().map_or(0, Bytes::len);
            let bytes = key.len() + value + ENTRY_BYTES;
            part.rows.put(Bytes::copy_from_slice(key), found.clone(), bytes);
        }
    }

    /// Forgets the rows of a layer that is in the tree and still waits beside it.
    pub(super) fn forget(&self, rows: &memtable::Rows) {
        for key in rows.keys() {
            if let Some(mut part) = self.part(key) {
                part.layer += 1;
                part.rows.forget(key.as_ref());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kv::Version;

    fn found(number: u8) -> Found {
        Found { value: Some(vec![number; 10].into()), version: Version(u64::from(number)) }
    }

    fn layer(key: &'static str) -> memtable::Rows {
        [(Bytes::from(key), (None, Version(9)))].into_iter().collect()
    }

    #[test]
    fn a_row_is_found_until_a_layer_changes_it() {
        let cache = RowCache::new(1 << 20);
        let missed = cache.get(b"a").err().unwrap();
        cache.put(b"a", &found(1), &missed);
        assert_eq!(cache.get(b"a").ok(), Some(found(1)));
        cache.forget(&layer("a"));
        assert!(cache.get(b"a").is_err());
    }

    #[test]
    fn what_was_read_before_a_layer_is_not_kept_after_it() {
        let cache = RowCache::new(1 << 20);
        let missed = cache.get(b"a").err().unwrap();
        cache.forget(&layer("a"));
        cache.put(b"a", &found(1), &missed);
        assert!(cache.get(b"a").is_err());
    }
}
