//! Typed rows: keys that keep their order as bytes, records that encode themselves behind a format byte.

use std::marker::PhantomData;
use std::sync::Arc;

use bytes::Bytes;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Order, Page, Plan, Span, StoreError, Tx};

/// A part of a key whose bytes sort as its values do, so that a scan reads them in order.
pub trait Key: Sized {
    /// Appends the bytes.
    fn write(&self, out: &mut Vec<u8>);

    /// Takes one value off the front of `bytes`; `None` if they are not one.
    fn read(bytes: &mut &[u8]) -> Option<Self>;
}

/// A value that encodes itself. Old formats stay readable: `decode` is told which one it reads.
pub trait Record: Sized {
    /// The format that `encode` writes.
    const FORMAT: u8;
    /// Bytes that a decoded record comes to take beside its value, where it is kept and that is much more than the value has.
    const KEPT_BYTES: usize = 0;

    /// Appends the bytes, without the format byte.
    fn encode(&self, out: &mut Vec<u8>);

    /// Reads what `encode` of that format wrote; `None` if it is not that.
    fn decode(format: u8, bytes: Bytes) -> Option<Self>;
}

/// A record that is stored as JSON: readable with any tool, and new fields with a serde default need no migration.
pub trait JsonRecord: Serialize + DeserializeOwned {}

impl<T: JsonRecord> Record for T {
    const FORMAT: u8 = 1;

    fn encode(&self, out: &mut Vec<u8>) {
        // Writing to memory fails for no record with text keys, and every record's test encodes one.
        let written = serde_json::to_writer(&mut *out, self);
        debug_assert!(written.is_ok(), "a record encodes itself");
    }

    fn decode(format: u8, bytes: Bytes) -> Option<Self> {
        (format == Self::FORMAT).then(|| serde_json::from_slice(&bytes).ok()).flatten()
    }
}

/// The bit of a row's first byte that says that a checksum follows it: of the key, the format, and the bytes of the record.
const CHECKED: u8 = 0x80;
/// Bytes of that checksum.
const CHECKSUM_BYTES: usize = 4;

/// The checksum of a row: it is of its key too, so a row in another's place is none.
fn checksum(key: &[u8], format: u8, record: &[u8]) -> [u8; CHECKSUM_BYTES] {
    let start = crc32c::crc32c_append(crc32c::crc32c(key), &[format]);
    crc32c::crc32c_append(start, record).to_be_bytes()
}

/// A row that says by itself whether it is whole: `value` behind a checksum of it and of its key.
#[must_use]
pub fn with_checksum(key: &[u8], value: &[u8]) -> Bytes {
    let Some((format, record)) = value.split_first() else {
        return Bytes::new();
    };
    [&[format | CHECKED], &checksum(key, *format, record)[..], record].concat().into()
}

/// A row without its checksum, if it has one, which must be right; else `None`.
#[must_use]
pub fn without_checksum(key: &[u8], value: &Bytes) -> Option<Bytes> {
    let (format, record) = record_of(key, value)?;
    Some(match value.first() == Some(&format) {
        true => value.clone(),
        false => [&[format], &*record].concat().into(),
    })
}

/// The format of a row and its record; `None` if its checksum is not right.
fn record_of(key: &[u8], value: &Bytes) -> Option<(u8, Bytes)> {
    let (format, rest) = value.split_first()?;
    if format & CHECKED == 0 {
        return Some((*format, value.slice(1..)));
    }
    let format = format & !CHECKED;
    let (sum, record) = rest.split_first_chunk::<CHECKSUM_BYTES>()?;
    (checksum(key, format, record) == *sum).then(|| (format, value.slice(1 + CHECKSUM_BYTES..)))
}

/// Capacity that is enough for most keys, so that writing one allocates once.
const KEY_BYTES: usize = 64;

/// Rows of one kind in a store: all of a service's tables share one key space, told apart by their first byte.
pub struct Table<K, V> {
    id: u8,
    is_checked: bool,
    kind: PhantomData<fn(K) -> V>,
}

/// Rows of a span, and whether there are more.
pub type Scanned<K, V> = (Vec<(K, V)>, bool);

impl<K: Key, V: Record> Table<K, V> {
    /// The table whose keys start with `id`. A service names each id once, in its `tables.rs`.
    #[must_use]
    pub const fn new(id: u8) -> Self {
        Self { id, is_checked: false, kind: PhantomData }
    }

    /// The same table, whose rows are written with a checksum of their key and their record. One whose checksum is not right is `Corrupt`; one
    /// that was written without is read as it is.
    #[must_use]
    pub const fn checked(self) -> Self {
        Self { is_checked: true, ..self }
    }

    /// The key in the store of the row at `key`.
    pub fn key(&self, key: &K) -> Bytes {
        self.place(key).into()
    }

    fn place(&self, key: &K) -> Vec<u8> {
        let mut out = Vec::with_capacity(KEY_BYTES);
        out.push(self.id);
        key.write(&mut out);
        out
    }

    /// The row at `key`; the commit depends on it ([`Tx::get`]).
    ///
    /// # Errors
    /// As [`Tx::get`]; `Corrupt` if the bytes are no such record.
    pub fn get(&self, tx: &mut Tx<'_>, key: &K) -> Result<Option<V>, StoreError> {
        let place = self.place(key);
        tx.get(&place)?.map(|bytes| self.decode(&place, &bytes)).transpose()
    }

    /// The row at `key`; the commit does not depend on it ([`Tx::peek`]).
    ///
    /// # Errors
    /// As [`Tx::peek`]; `Corrupt` if the bytes are no such record.
    pub fn peek(&self, tx: &mut Tx<'_>, key: &K) -> Result<Option<V>, StoreError> {
        let place = self.place(key);
        tx.peek(&place)?.map(|bytes| self.decode(&place, &bytes)).transpose()
    }

    /// [`Table::get`] of a row that many requests read: where the engine has a [`DecodedCache`](super::DecodedCache), it is decoded once for all.
    ///
    /// # Errors
    /// As [`Table::get`].
    pub fn get_shared(&self, tx: &mut Tx<'_>, key: &K) -> Result<Option<Arc<V>>, StoreError>
    where
        V: Send + Sync + 'static,
    {
        let key = self.place(key);
        let value = tx.get(&key)?;
        value.map(|value| self.share(tx, &key, value)).transpose()
    }

    /// [`Table::peek`] of a row that many requests read, as [`Table::get_shared`].
    ///
    /// # Errors
    /// As [`Table::peek`].
    pub fn peek_shared(&self, tx: &mut Tx<'_>, key: &K) -> Result<Option<Arc<V>>, StoreError>
    where
        V: Send + Sync + 'static,
    {
        let key = self.place(key);
        let value = tx.peek(&key)?;
        value.map(|value| self.share(tx, &key, value)).transpose()
    }

    fn share(&self, tx: &Tx<'_>, key: &[u8], value: Bytes) -> Result<Arc<V>, StoreError>
    where
        V: Send + Sync + 'static,
    {
        match tx.decoded_cache() {
            Some(cache) => {
                let decode = |key: &[u8], value: &Bytes| self.decode(key, value);
                cache.get_or_decode(key, value, V::KEPT_BYTES, decode)
            }
            None => self.decode(key, &value).map(Arc::new),
        }
    }

    /// Records a new row at `key`.
    pub fn put(&self, tx: &mut Tx<'_>, key: &K, row: &V) {
        let key = self.key(key);
        let mut out = vec![V::FORMAT];
        if self.is_checked {
            out.extend([0; CHECKSUM_BYTES]);
        }
        row.encode(&mut out);
        if self.is_checked
            && let Some((format, rest)) = out.split_first_mut()
            && let Some((sum, record)) = rest.split_first_chunk_mut()
        {
            *sum = checksum(&key, *format, record);
            *format |= CHECKED;
        }
        tx.put(key, out);
    }

    /// Records that there is to be no row at `key`.
    pub fn delete(&self, tx: &mut Tx<'_>, key: &K) {
        tx.delete(self.key(key));
    }

    /// The span of all rows whose key starts with `start`: the first parts of a composite key, or `&()` for the whole table.
    pub fn span(&self, start: &impl Key) -> Span {
        let mut prefix = vec![self.id];
        start.write(&mut prefix);
        Span::of(prefix)
    }

    /// At most `limit` rows of `span` (see [`Table::span`]), and whether there are more. The commit does not depend on them.
    ///
    /// # Errors
    /// As [`Tx::scan`]; `Corrupt` if a key or its bytes are not of this table.
    pub fn scan(
        &self,
        tx: &mut Tx<'_>,
        span: &Span,
        limit: usize,
    ) -> Result<Scanned<K, V>, StoreError> {
        let page = tx.scan(span, limit)?;
        Ok((self.read_rows(&page)?, page.more))
    }

    /// The rows that [`Table::scan`] gives for each of `spans`, in their order, read together ([`Tx::scan_many`]).
    ///
    /// # Errors
    /// As [`Table::scan`].
    pub fn scan_many(
        &self,
        tx: &mut Tx<'_>,
        spans: &[Span],
        limit: usize,
    ) -> Result<Vec<Scanned<K, V>>, StoreError> {
        let scans: Vec<_> = spans.iter().map(|span| (span, limit)).collect();
        let pages = tx.scan_many(&scans)?;
        pages.iter().map(|page| Ok((self.read_rows(page)?, page.more))).collect()
    }

    fn read_rows(&self, page: &Page) -> Result<Vec<(K, V)>, StoreError> {
        let rows = page.rows.iter();
        rows.map(|(key, value)| Ok((self.read_key(key)?, self.decode(key, value)?))).collect()
    }

    /// All rows whose key starts with `start`, for sets that a rule keeps small.
    ///
    /// # Errors
    /// As [`Table::scan`]; `LimitExceeded` if there are more than `most`.
    pub fn all(
        &self,
        tx: &mut Tx<'_>,
        start: &impl Key,
        most: usize,
    ) -> Result<Vec<(K, V)>, StoreError> {
        let (rows, more) =
            self.scan(tx, &Span { order: Order::Ascending, ..self.span(start) }, most)?;
        if more {
            return Err(StoreError::limit("rows of a small set", most + 1, most));
        }
        Ok(rows)
    }

    /// The key of a stored row, without the table's own byte.
    ///
    /// # Errors
    /// `Corrupt` if it is none of this table.
    pub fn read_key(&self, key: &[u8]) -> Result<K, StoreError> {
        let mut rest = key.get(1..).unwrap_or_default();
        match K::read(&mut rest) {
            Some(read) if rest.is_empty() && key.first() == Some(&self.id) => Ok(read),
            _ => Err(StoreError::Corrupt(format!("a key of table {} cannot be read", self.id))),
        }
    }

    /// A value that is stored at `key` as the record that it is.
    ///
    /// # Errors
    /// `Corrupt` if it is none, or if its checksum is not right.
    pub fn decode(&self, key: &[u8], value: &Bytes) -> Result<V, StoreError> {
        let read = record_of(key, value).and_then(|(format, record)| V::decode(format, record));
        read.ok_or_else(|| {
            StoreError::Corrupt(format!("a row of table {} cannot be read", self.id))
        })
    }
}

impl<K, V> std::fmt::Debug for Table<K, V> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Table").field(&self.id).finish()
    }
}

impl Plan<'_> {
    /// Adds the row of `table` at `key`; gives it once it was fetched. One that is absent, or that cannot be read, leads to no other.
    pub fn row<K: Key, V: Record>(&mut self, table: &Table<K, V>, key: &K) -> Option<V> {
        let key = table.key(key);
        let found = self.name(&key)?;
        found.value.and_then(|value| table.decode(&key, &value).ok())
    }
}

impl Key for () {
    fn write(&self, _out: &mut Vec<u8>) {}

    fn read(_bytes: &mut &[u8]) -> Option<Self> {
        Some(())
    }
}

impl Record for () {
    const FORMAT: u8 = 0;

    fn encode(&self, _out: &mut Vec<u8>) {}

    fn decode(format: u8, bytes: Bytes) -> Option<Self> {
        (format == 0 && bytes.is_empty()).then_some(())
    }
}

/// Bytes kept as they are.
impl Record for Bytes {
    const FORMAT: u8 = 0;

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }

    fn decode(format: u8, bytes: Bytes) -> Option<Self> {
        (format == 0).then_some(bytes)
    }
}

macro_rules! number_key {
    ($($number:ty),*) => {$(
        impl Key for $number {
            fn write(&self, out: &mut Vec<u8>) {
                out.extend_from_slice(&self.to_be_bytes());
            }

            fn read(bytes: &mut &[u8]) -> Option<Self> {
                let (front, rest) = bytes.split_first_chunk()?;
                *bytes = rest;
                Some(Self::from_be_bytes(*front))
            }
        }
    )*};
}
number_key!(u8, u16, u32, u64);

impl<const N: usize> Key for [u8; N] {
    fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(self);
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        let (front, rest) = bytes.split_first_chunk()?;
        *bytes = rest;
        Some(*front)
    }
}

/// Bytes of any length: a zero byte is written as `00 FF`, the end as `00 01`, so that a shorter one sorts first.
impl Key for Vec<u8> {
    fn write(&self, out: &mut Vec<u8>) {
        escape(self, out);
        out.extend_from_slice(&TEXT_END);
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        let mut value = Self::new();
        loop {
            let zero = bytes.iter().position(|byte| *byte == 0)?;
            let (plain, rest) = bytes.split_at_checked(zero)?;
            value.extend_from_slice(plain);
            let (&[_, mark], rest) = rest.split_first_chunk()?;
            *bytes = rest;
            match mark {
                0xFF => value.push(0),
                1 => return Some(value),
                _ => return None,
            }
        }
    }
}

impl Key for String {
    fn write(&self, out: &mut Vec<u8>) {
        escape(self.as_bytes(), out);
        out.extend_from_slice(&TEXT_END);
    }

    fn read(bytes: &mut &[u8]) -> Option<Self> {
        Self::from_utf8(Vec::read(bytes)?).ok()
    }
}

/// The end of a text or bytes key, which stands nowhere in it.
pub const TEXT_END: [u8; 2] = [0, 1];

fn escape(bytes: &[u8], out: &mut Vec<u8>) {
    // Nearly all have none, and are copied at once.
    if !bytes.contains(&0) {
        return out.extend_from_slice(bytes);
    }
    for byte in bytes {
        out.push(*byte);
        if *byte == 0 {
            out.push(0xFF);
        }
    }
}

/// Appends the start of every text or bytes key that starts with `start`: a text key without its end.
pub fn text_prefix(start: &[u8], out: &mut Vec<u8>) {
    escape(start, out);
}

macro_rules! tuple_key {
    ($($part:ident $at:tt),*) => {
        impl<$($part: Key),*> Key for ($($part,)*) {
            fn write(&self, out: &mut Vec<u8>) {
                $(self.$at.write(out);)*
            }

            fn read(bytes: &mut &[u8]) -> Option<Self> {
                Some(($($part::read(bytes)?,)*))
            }
        }
    };
}
tuple_key!(A 0, B 1);
tuple_key!(A 0, B 1, C 2);
tuple_key!(A 0, B 1, C 2, D 3);

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kv::Memory;
    use proptest::prelude::*;

    fn bytes_of(key: &impl Key) -> Vec<u8> {
        let mut out = Vec::new();
        key.write(&mut out);
        out
    }

    proptest! {
        #[test]
        fn keys_sort_as_their_values_and_read_back(
            a in any::<(Vec<u8>, u64, String)>(),
            b in any::<(Vec<u8>, u64, String)>(),
        ) {
            let (left, right) = (bytes_of(&a), bytes_of(&b));
            prop_assert_eq!(a.cmp(&b), left.cmp(&right));
            let mut rest = left.as_slice();
            prop_assert_eq!(Key::read(&mut rest), Some(a));
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn reading_any_bytes_as_a_key_never_panics(bytes in any::<Vec<u8>>()) {
            let mut rest = bytes.as_slice();
            let _ = <(String, Vec<u8>, u64)>::read(&mut rest);
        }
    }

    #[test]
    fn rows_are_put_found_scanned_and_deleted() {
        const NAMES: Table<(u64, String), Bytes> = Table::new(9);
        let store = Memory::new();
        let mut tx = Tx::new(&store);
        for (number, text) in [(1, "b"), (1, "a"), (2, "c")] {
            NAMES.put(&mut tx, &(number, text.to_owned()), &Bytes::from(text.to_owned()));
        }
        NAMES.delete(&mut tx, &(2, "c".to_owned()));
        assert_eq!(NAMES.get(&mut tx, &(1, "a".to_owned())).unwrap(), Some(Bytes::from("a")));
        let keys: Vec<_> =
            NAMES.all(&mut tx, &1_u64, 10).unwrap().into_iter().map(|(key, _)| key.1).collect();
        assert_eq!(keys, ["a", "b"]);
        assert_eq!(NAMES.all(&mut tx, &2_u64, 10).unwrap(), []);
        assert!(NAMES.all(&mut tx, &(), 1).is_err());
    }

    #[test]
    fn bytes_that_are_no_record_are_corrupt() {
        const NAMES: Table<u64, ()> = Table::new(9);
        for odd in [&[][..], &[7, 7], &[CHECKED], &[CHECKED, 1, 2, 3]] {
            let read = NAMES.decode(b"k", &Bytes::from_static(odd));
            assert!(matches!(read, Err(StoreError::Corrupt(_))), "{odd:?}");
        }
        assert!(matches!(NAMES.read_key(&[9, 1]), Err(StoreError::Corrupt(_))));
    }

    #[test]
    fn a_checked_row_is_read_only_as_it_was_written_and_in_its_place() {
        const NAMES: Table<u64, Bytes> = Table::new(9).checked();
        let store = Memory::new();
        let mut tx = Tx::new(&store);
        NAMES.put(&mut tx, &1, &Bytes::from("record"));
        let (key, value) = (NAMES.key(&1), tx.peek(&NAMES.key(&1)).unwrap().unwrap());
        assert_eq!(NAMES.decode(&key, &value).unwrap(), "record");
        assert_eq!(value, with_checksum(&key, b"\0record"));
        assert_eq!(without_checksum(&key, &value).unwrap(), &b"\0record"[..]);
        assert!(NAMES.decode(&NAMES.key(&2), &value).is_err());
        for bit in 0..value.len() * 8 {
            let mut turned = value.to_vec();
            turned[bit / 8] ^= 1 << (bit % 8);
            // A row without the mark of a checksum is another record, which a record of JSON or of parts never is.
            if bit != 7 {
                assert!(NAMES.decode(&key, &turned.into()).is_err(), "bit {bit}");
            }
        }
        for cut in 0..value.len() {
            assert!(NAMES.decode(&key, &value.slice(..cut)).is_err(), "{cut} bytes");
        }
        // Releases before this one wrote none.
        assert_eq!(NAMES.decode(&key, &Bytes::from_static(b"\0old")).unwrap(), "old");
    }
}
