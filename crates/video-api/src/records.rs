//! Records that were read lately: what many requests ask for is decoded once, and made into text once.
//!
//! The store is asked each time, and says which bytes hold now; here stands what they mean. So nothing here can be out of date, and a
//! transaction depends on what it reads as if this were not there.

use std::any::Any;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use triptych_core::kv::{Key, Record, StoreError, Table, Tx};

/// Bytes of the values whose records are kept. A record takes about three times as much as its value, once it was served.
const BYTES_MAX: usize = 32 * 1024 * 1024;
/// What a record costs beside that, counted as bytes of its value.
const RECORD_BYTES: usize = 256;
/// Parts that are locked apart from each other.
const PARTS: usize = 16;

/// Records by their keys.
pub struct Records {
    parts: [Mutex<Part>; PARTS],
}

/// Two generations: once the young one is half of what may be kept it becomes the old one, and what nobody asked for since the last time
/// goes.
#[derive(Default)]
struct Part {
    young: HashMap<Bytes, Decoded>,
    old: HashMap<Bytes, Decoded>,
    young_bytes: usize,
}

/// A value and what it means.
struct Decoded {
    value: Bytes,
    record: Arc<dyn Any + Send + Sync>,
}

impl Decoded {
    fn means(&mut self, value: &Bytes) -> Option<Arc<dyn Any + Send + Sync>> {
        // A store that keeps what was read gives the same bytes in memory, which need not be compared.
        if !std::ptr::eq(self.value.as_ref(), value.as_ref()) {
            if self.value != value {
                return None;
            }
            self.value = value.clone();
        }
        Some(Arc::clone(&self.record))
    }
}

impl Part {
    /// The record of a key, if this is its value.
    fn find(&mut self, key: &[u8], value: &Bytes) -> Option<Arc<dyn Any + Send + Sync>> {
        if let Some(decoded) = self.young.get_mut(key) {
            return decoded.means(value);
        }
        let (key, mut decoded) = self.old.remove_entry(key)?;
        let record = decoded.means(value);
        self.put(key, decoded);
        record
    }

    fn put(&mut self, key: Bytes, decoded: Decoded) {
        let cost = |decoded: &Decoded| decoded.value.len() + RECORD_BYTES;
        let bytes = cost(&decoded);
        if self.young_bytes + bytes > BYTES_MAX / PARTS / 2 {
            self.old = std::mem::take(&mut self.young);
            self.young_bytes = 0;
        }
        self.young_bytes += bytes;
        if let Some(before) = self.young.insert(key, decoded) {
            self.young_bytes -= cost(&before);
        }
    }
}

impl Records {
    /// No records yet.
    #[must_use]
    pub fn new() -> Self {
        Self {
            parts: std::array::from_fn(|_| Mutex::default()),
        }
    }

    /// The row at `key` as [`Table::peek`] gives it.
    ///
    /// # Errors
    /// As [`Table::peek`].
    pub fn peek<K: Key, V: Record + Send + Sync + 'static>(
        &self,
        tx: &mut Tx<'_>,
        table: &Table<K, V>,
        key: &K,
    ) -> Result<Option<Arc<V>>, StoreError> {
        let key = table.key(key);
        let Some(value) = tx.peek(&key)? else {
            return Ok(None);
        };
        let known = self.part(&key).and_then(|mut part| part.find(&key, &value));
        // No two tables have a key in common, so what is known is of this type.
        if let Some(record) = known.and_then(|record| record.downcast().ok()) {
            return Ok(Some(record));
        }
        let record = Arc::new(table.decode(value.clone())?);
        if let Some(mut part) = self.part(&key) {
            let record = Arc::<V>::clone(&record);
            part.put(key, Decoded { value, record });
        }
        Ok(Some(record))
    }

    fn part(&self, key: &[u8]) -> Option<MutexGuard<'_, Part>> {
        let sum: usize = key.iter().copied().map(usize::from).sum();
        let part = self.parts.get(sum % PARTS)?;
        Some(part.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Default for Records {
    fn default() -> Self {
        Self::new()
    }
}

impl std::fmt::Debug for Records {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Records").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use triptych_core::id::SeededIds;
    use triptych_core::kv::{KeyValue, Memory, Version, run_blocking};

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
        let (store, records) = (Memory::new(), Records::new());
        let read = |tx: &mut Tx<'_>| records.peek(tx, &TEXTS, &7).unwrap();
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
    fn what_is_kept_is_bounded() {
        let mut part = Part::default();
        for number in 0..50_000_u32 {
            let value = Bytes::from(vec![0; 1_000]);
            let record: Arc<dyn Any + Send + Sync> = Arc::new(number);
            let key = Bytes::copy_from_slice(&number.to_be_bytes());
            part.put(key, Decoded { value, record });
        }
        let kept = part.young.len() + part.old.len();
        assert!(kept * 1_000 <= BYTES_MAX / PARTS, "{kept}");
        let value = Bytes::from(vec![0; 1_000]);
        let last = part.find(&49_999_u32.to_be_bytes(), &value).unwrap();
        assert_eq!(last.downcast_ref(), Some(&49_999_u32));
    }
}
