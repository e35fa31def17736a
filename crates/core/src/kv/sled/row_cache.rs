//! Rows that were read lately, in memory.

use bytes::Bytes;

use super::rows::Rows;
use crate::cache::{Miss, ShardedCache};
use crate::kv::Found;

/// Cost of an entry beside its bytes.
const ENTRY_BYTES: usize = 160;

/// Rows of the tree, and keys that have none there. It is asked after the memtable, and holds nothing that the tree has not.
pub(super) struct RowCache(ShardedCache<Bytes, Found>);

impl RowCache {
    /// An empty one, for rows of so many bytes together.
    pub(super) fn new(bytes_max: usize) -> Self {
        Self(ShardedCache::new(bytes_max))
    }

    /// The tree's row at `key`, or what to show to [`RowCache::fill`] once the tree was asked.
    pub(super) fn get(&self, key: &[u8]) -> Result<Found, Miss> {
        self.0.lookup(key)
    }

    /// Keeps what the tree had, unless a checkpoint came since `miss`: that could be what it changed.
    pub(super) fn fill(&self, key: &[u8], found: &Found, miss: Miss) {
        let value = found.value.as_ref().map_or(0, Bytes::len);
        let bytes = key.len() + value + ENTRY_BYTES;
        self.0.fill(Bytes::copy_from_slice(key), found.clone(), bytes, miss);
    }

    /// Forgets rows that a checkpoint brought into the tree and that the memtable still has.
    pub(super) fn invalidate(&self, rows: &Rows) {
        for key in rows.keys() {
            self.0.invalidate(key.as_ref());
        }
    }
}
