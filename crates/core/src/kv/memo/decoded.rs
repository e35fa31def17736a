//! Decoded records: what many requests ask for is decoded once, and made into text once.
//!
//! The engine is asked each time, and says which bytes hold now; here stands what they mean. So nothing here can be out of date, and a
//! transaction depends on what it reads as if this were not there.

use std::any::Any;
use std::sync::Arc;

use bytes::Bytes;

use crate::cache::ShardedCache;
use crate::kv::StoreError;

/// Bytes of the values whose records are kept. A record takes about three times as much as its value, once it was served.
const BYTES_MAX: usize = 32 * 1024 * 1024;
/// Cost of a record beside that, counted as bytes of its value.
const RECORD_BYTES: usize = 256;

/// Decoded records by their keys. An engine has one of its own, for [`Table::get_shared`](crate::kv::Table::get_shared).
pub struct DecodedCache(ShardedCache<Bytes, Decoded>);

/// A value and its record.
#[derive(Clone)]
struct Decoded {
    value: Bytes,
    record: Arc<dyn Any + Send + Sync>,
}

impl Decoded {
    /// The record, if it is of this value. An engine with a row cache gives the same bytes, which need not be compared.
    fn of(self, value: &Bytes) -> Option<Arc<dyn Any + Send + Sync>> {
        let is_same = std::ptr::eq(self.value.as_ref(), value.as_ref()) || self.value == value;
        is_same.then_some(self.record)
    }
}

impl DecodedCache {
    /// An empty cache.
    #[must_use]
    pub fn new() -> Self {
        Self(ShardedCache::new(BYTES_MAX))
    }

    /// The record of `value`, the row at `key` now: as it was decoded before, or as `decode` makes it. It comes to take `kept` bytes more
    /// than others do.
    pub(in crate::kv) fn get_or_decode<V: Send + Sync + 'static>(
        &self,
        key: &[u8],
        value: Bytes,
        kept: usize,
        decode: impl FnOnce(&[u8], &Bytes) -> Result<V, StoreError>,
    ) -> Result<Arc<V>, StoreError> {
        let known = self.0.get(key).and_then(|known| known.of(&value));
        // No two tables have a key in common, so what is known is of this type.
        if let Some(record) = known.and_then(|record| record.downcast().ok()) {
            return Ok(record);
        }
        let record = Arc::new(decode(key, &value)?);
        let cost = value.len() + RECORD_BYTES + kept;
        let decoded = Decoded { value, record: Arc::<V>::clone(&record) };
        self.0.insert(Bytes::copy_from_slice(key), decoded, cost);
        Ok(record)
    }
}

impl Default for DecodedCache {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for DecodedCache {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DecodedCache").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::id::SeededIds;
    use crate::kv::{KeyValue, Memory, Table, Tx, Version, run_blocking};

    const TEXTS: Table<u8, Bytes> = Table::new(1);

    fn put(store: &dyn KeyValue, value: &'static [u8]) {
        let put = run_blocking(store, &mut SeededIds::from_number(1), 1, |tx, _| {
            TEXTS.put(tx, &7, &Bytes::from_static(value));
            Ok::<_, StoreError>(())
        });
        put.unwrap();
    }

    #[test]
    fn a_record_is_decoded_once_and_follows_every_write() {
        let store = Memory::new();
        let read = |tx: &mut Tx<'_>| TEXTS.peek_shared(tx, &7).unwrap();
        assert_eq!(read(&mut Tx::new(&store)), None);
        put(&store, b"old");
        let one = read(&mut Tx::new(&store)).unwrap();
        assert!(Arc::ptr_eq(&one, &read(&mut Tx::new(&store)).unwrap()));
        let mut own = Tx::new(&store);
        TEXTS.put(&mut own, &7, &Bytes::from_static(b"own"));
        assert_eq!(read(&mut own).unwrap().as_ref(), b"own".as_slice());
        put(&store, b"new");
        let mut tx = Tx::new(&store);
        assert_eq!(read(&mut tx).unwrap().as_ref(), b"new".as_slice());
        assert!(tx.seen() > Version::ABSENT, "its answer waits for the disk");
        let mut gone = Tx::new(&store);
        TEXTS.delete(&mut gone, &7);
        assert_eq!(read(&mut gone), None);
    }

    #[test]
    fn a_commit_depends_on_a_shared_record_that_was_got_and_not_on_one_that_was_peeked() {
        let store = Memory::new();
        put(&store, b"old");
        let (mut got, mut peeked) = (Tx::new(&store), Tx::new(&store));
        TEXTS.get_shared(&mut got, &7).unwrap();
        TEXTS.peek_shared(&mut peeked, &7).unwrap();
        assert_eq!(got.into_batch([0; 16]).expectations.len(), 1);
        assert_eq!(peeked.into_batch([0; 16]).expectations.len(), 0);
    }
}
