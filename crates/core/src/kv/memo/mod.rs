//! What was made of rows and is asked for again: kept as long as none of the rows was written since.

mod decoded;
mod write_versions;

use std::hash::Hash;
use std::ops::Deref;
use std::sync::Arc;

pub use self::decoded::Records;
pub use self::write_versions::{Basis, Changes};
use super::KeyValue;
use crate::cache::Shared;

/// What an entry takes beside its key, its value and its basis.
const ENTRY_BYTES: usize = 256;

/// Values by what they follow from beside the store.
#[derive(Debug)]
pub struct Kept<K, V>(Shared<K, Option<Arc<Held<V>>>>);

/// A value, and the rows that it was made of.
#[derive(Debug)]
pub struct Held<V> {
    value: V,
    basis: Basis,
}

impl<V> Deref for Held<V> {
    type Target = V;

    fn deref(&self) -> &V {
        &self.value
    }
}

impl<K: AsRef<[u8]> + Hash + Eq, V> Kept<K, V> {
    /// None yet; they will have at most about `bytes_max` bytes together.
    #[must_use]
    pub fn new(bytes_max: usize) -> Self {
        Self(Shared::new(bytes_max))
    }

    /// What was kept for `key`, if `store` holds the rows that it was made of.
    pub fn find(&self, key: &K, store: &dyn KeyValue) -> Option<Arc<Held<V>>> {
        let held = self.0.get(key).flatten()?;
        held.basis.holds(store).then_some(held)
    }

    /// Keeps a value of `bytes` bytes from the second time on: most are asked for once, and would only push out the others.
    pub fn keep(&self, key: K, basis: Basis, bytes: usize, value: impl FnOnce() -> V) {
        let own = key.as_ref().len() + ENTRY_BYTES;
        if self.0.get(&key).is_none() {
            self.0.put(key, None, own);
            return;
        }
        let cost = own + bytes + basis.bytes();
        let value = value();
        self.0.put(key, Some(Arc::new(Held { value, basis })), cost);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kv::{Memory, Tx};

    #[test]
    fn a_value_is_kept_once_it_is_asked_for_again_and_until_its_rows_change() {
        let (store, kept) = (Memory::new(), Kept::new(1 << 20));
        let keep = |key: [u8; 1]| {
            let mut tx = Tx::noting(&store);
            tx.get(b"row").unwrap();
            kept.keep(key, tx.basis().unwrap(), 10, || 7);
        };
        keep([1]);
        let find = |key| kept.find(&[key], &store).map(|held| **held);
        assert_eq!(find(1), None, "it was asked for once");
        keep([1]);
        assert_eq!((find(1), find(2)), (Some(7), None));
        let mut tx = Tx::new(&store);
        tx.put("row", "new");
        store.commit(tx.into_batch([0; 16])).wait().unwrap();
        assert_eq!(find(1), None);
        keep([1]);
        assert_eq!(find(1), Some(7));
    }
}
