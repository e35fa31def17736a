//! Memoised values: made of rows, and given again as long as none of these rows was written since.

mod decoded;
mod write_versions;

use std::hash::Hash;
use std::ops::Deref;
use std::sync::Arc;

pub use self::decoded::DecodedCache;
pub use self::write_versions::{ReadSet, WriteVersions};
use super::KeyValue;
use crate::cache::ShardedCache;

/// Bytes of an entry beside its key, its value and its read set.
const ENTRY_BYTES: usize = 256;

/// Memoised values, by all that they follow from beside the store.
#[derive(Debug)]
pub struct MemoCache<K, V>(ShardedCache<K, Option<Arc<Memo<V>>>>);

/// A value, and the rows that it was made of.
#[derive(Debug)]
pub struct Memo<V> {
    value: V,
    reads: ReadSet,
}

impl<V> Deref for Memo<V> {
    type Target = V;

    fn deref(&self) -> &V {
        &self.value
    }
}

impl<K: AsRef<[u8]> + Hash + Eq, V> MemoCache<K, V> {
    /// An empty cache, for at most about `bytes_max` bytes.
    #[must_use]
    pub fn new(bytes_max: usize) -> Self {
        Self(ShardedCache::new(bytes_max))
    }

    /// The value of `key`, if `store` still has the rows that it was made of.
    pub fn get(&self, key: &K, store: &dyn KeyValue) -> Option<Arc<Memo<V>>> {
        let memo = self.0.get(key).flatten()?;
        memo.reads.is_current(store).then_some(memo)
    }

    /// Keeps a value of `bytes` bytes from the second time on: most are asked for once, and would only push out the others.
    pub fn insert(&self, key: K, reads: ReadSet, bytes: usize, value: impl FnOnce() -> V) {
        let own = key.as_ref().len() + ENTRY_BYTES;
        if self.0.get(&key).is_none() {
            self.0.insert(key, None, own);
            return;
        }
        let cost = own + bytes + reads.bytes();
        let value = value();
        self.0.insert(key, Some(Arc::new(Memo { value, reads })), cost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kv::{Memory, Tx};

    #[test]
    fn a_value_is_kept_once_it_is_asked_for_again_and_until_its_rows_change() {
        let (store, memos) = (Memory::new(), MemoCache::new(1 << 20));
        let insert = |key: [u8; 1]| {
            let mut tx = Tx::tracking_reads(&store);
            tx.get(b"row").unwrap();
            memos.insert(key, tx.read_set().unwrap(), 10, || 7);
        };
        insert([1]);
        let get = |key| memos.get(&[key], &store).map(|memo| **memo);
        assert_eq!(get(1), None, "it was asked for once");
        insert([1]);
        assert_eq!((get(1), get(2)), (Some(7), None));
        let mut tx = Tx::new(&store);
        tx.put("row", "new");
        store.commit(tx.into_batch([0; 16])).wait().unwrap();
        assert_eq!(get(1), None);
        insert([1]);
        assert_eq!(get(1), Some(7));
    }
}
