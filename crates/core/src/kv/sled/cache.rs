//! What was read lately, in memory: rows by key, long values by name.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::waiting;
use crate::kv::Found;

/// What an entry costs beside its bytes.
const ENTRY_BYTES: usize = 160;
/// Rows lie in so many parts, so that readers seldom wait for each other.
const PARTS: usize = 16;

/// A map that forgets. There are two generations: once the young one is half of what may be kept, it becomes the old one, and what nobody
/// asked for since the last time goes.
pub(super) struct Generations<K, V> {
    young: HashMap<K, (V, usize)>,
    old: HashMap<K, (V, usize)>,
    young_bytes: usize,
    bytes_max: usize,
}

impl<K: Hash + Eq, V: Clone> Generations<K, V> {
    /// An empty one, for entries of so many bytes together.
    pub(super) fn new(bytes_max: usize) -> Self {
        Self {
            young: HashMap::new(),
            old: HashMap::new(),
            young_bytes: 0,
            bytes_max,
        }
    }

    pub(super) fn get<Q: Hash + Eq + ?Sized>(&mut self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
    {
        if let Some((value, _)) = self.young.get(key) {
            return Some(value.clone());
        }
        let (key, (value, bytes)) = self.old.remove_entry(key)?;
        self.insert(key, value.clone(), bytes);
        Some(value)
    }

    /// Keeps a value whose key and content have so many bytes.
    pub(super) fn put(&mut self, key: K, value: V, bytes: usize) {
        self.insert(key, value, bytes + ENTRY_BYTES);
    }

    fn insert(&mut self, key: K, value: V, bytes: usize) {
        if self.young_bytes + bytes > self.bytes_max / 2 {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young_bytes += bytes;
        if let Some((_, before)) = self.young.insert(key, (value, bytes)) {
            self.young_bytes -= before;
        }
    }

    pub(super) fn forget<Q: Hash + Eq + ?Sized>(&mut self, key: &Q)
    where
        K: Borrow<Q>,
    {
        if let Some((_, bytes)) = self.young.remove(key) {
            self.young_bytes -= bytes;
        }
        self.old.remove(key);
    }
}

/// Rows of the tree, and keys that have none there. It is asked after the rows that wait, and holds nothing that the tree has not.
pub(super) struct RowCache {
    parts: Vec<Mutex<Part>>,
}

struct Part {
    rows: Generations<Bytes, Found>,
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
        let part = || {
            Mutex::new(Part {
                rows: Generations::new(bytes_max / PARTS),
                layer: 0,
            })
        };
        Self {
            parts: std::iter::repeat_with(part).take(PARTS).collect(),
        }
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
            let bytes = key.len() + found.value.as_ref().map_or(0, Bytes::len);
            part.rows
                .put(Bytes::copy_from_slice(key), found.clone(), bytes);
        }
    }

    /// Forgets the rows of a layer that is in the tree and still waits beside it.
    pub(super) fn forget(&self, rows: &waiting::Rows) {
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
        Found {
            value: Some(vec![number; 10].into()),
            version: Version(u64::from(number)),
        }
    }

    fn layer(key: &'static str) -> waiting::Rows {
        [(Bytes::from(key), (None, Version(9)))]
            .into_iter()
            .collect()
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

    #[test]
    fn it_stays_within_its_bounds_and_keeps_what_is_asked_for() {
        let mut map = Generations::new(10 * (ENTRY_BYTES + 10));
        for number in 0..200_u32 {
            map.put(number, number, 10);
            assert_eq!(map.get(&0), Some(0), "after {number}");
        }
        assert!(map.young.len() + map.old.len() <= 10);
        assert!(map.get(&100).is_none());
        map.forget(&0);
        assert!(map.get(&0).is_none());
    }
}
