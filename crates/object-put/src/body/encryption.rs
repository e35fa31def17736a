//! Encryption at rest: bodies as AES-256-GCM records of 64 KiB, data keys wrapped by a keyring.
//!
//! Each record is bound to its place, to whether it is the last, and to the key and version it was written for: any
//! flipped bit, any record moved, cut off or put under another key is found. Ranges are read record by record.
//!
//! A body may have two layers: each has a key, nonces and tags of its own, and either finds a flipped bit by itself.

use std::cmp::Ordering;
use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;

use bytes::{Bytes, BytesMut};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use triptych_core::id::Ids;
use triptych_crypto::aes_256_gcm::{Aes256Gcm, CipherError, NONCE_BYTES};
use zeroize::Zeroizing;

/// Bytes that encryption adds to a record in each layer, and those of a key of any kind.
pub use triptych_crypto::aes_256_gcm::{KEY_BYTES, TAG_BYTES};

/// The mode that every body has unless it asks for another: keys that the service manages.
pub const SERVICE_MANAGED: &str = "AES256";
/// The header that names the mode.
pub const MODE_HEADER: &str = "x-store-server-side-encryption";
/// The header that names a key of a key service.
pub const KEY_HEADER: &str = "x-store-server-side-encryption-kms-key-id";
/// Bytes of a record before it is encrypted; the last of a body may have fewer.
pub const RECORD_BYTES: usize = 64 * 1024;
/// Sealed records leave in pieces of about this many bytes.
const PIECE_BYTES: usize = 4 * (RECORD_BYTES + TAG_BYTES);

/// A stored body or data key that is not what was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a sealed body does not open: it is damaged, or its root key is missing")]
pub struct DecryptError;

impl From<CipherError> for DecryptError {
    fn from(_: CipherError) -> Self {
        Self
    }
}

/// The data key of a body as it is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct WrappedKey {
    /// The id of the root key that wraps it; empty where it is derived from the object's own key.
    #[serde(rename = "root")]
    pub root_id: String,
    /// Nonce, wrapped key and tag; the salt, where it is derived.
    #[serde(rename = "key", with = "crate::body::base64_array")]
    pub wrapped: Vec<u8>,
}

/// The root keys: one wraps new data keys, the others open old ones.
#[derive(Clone)]
pub struct Keyring {
    current: String,
    roots: BTreeMap<String, Aes256Gcm>,
}

impl std::fmt::Debug for Keyring {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Keyring").field("roots", &self.roots.keys()).finish_non_exhaustive()
    }
}

impl Keyring {
    /// A keyring that wraps with `root`.
    #[must_use]
    pub fn new(root: &[u8; KEY_BYTES]) -> Self {
        let mut ring = Self { current: String::new(), roots: BTreeMap::new() };
        ring.current = ring.insert(root);
        ring
    }

    /// Adds a root key that only opens what it wrapped earlier; gives its id.
    pub fn insert(&mut self, root: &[u8; KEY_BYTES]) -> String {
        let digest = Sha256::new().chain_update(b"root key id").chain_update(root).finalize();
        let id = hex::encode(digest.get(..4).unwrap_or_default());
        self.roots.insert(id.clone(), Aes256Gcm::new(root));
        id
    }

    /// The id of the key that wraps new data keys.
    #[must_use]
    pub fn current_id(&self) -> &str {
        &self.current
    }

    /// Tells whether the key with this id is in it.
    #[must_use]
    pub fn has(&self, id: &str) -> bool {
        self.roots.contains_key(id)
    }

    /// A new data key for a body that is bound to `context`, and how it is kept.
    pub fn new_data_key(&self, context: &[u8], ids: &mut dyn Ids) -> (DataKey, WrappedKey) {
        let mut key = Zeroizing::new([0; KEY_BYTES]);
        ids.fill(&mut *key);
        let wrapped = self.wrap(&key, context, ids);
        (DataKey::new(&key, None, context), wrapped)
    }

    /// A key as it is kept, bound to `context`.
    pub fn wrap(&self, key: &[u8; KEY_BYTES], context: &[u8], ids: &mut dyn Ids) -> WrappedKey {
        let mut nonce = [0; NONCE_BYTES];
        ids.fill(&mut nonce);
        let mut wrapped = nonce.to_vec();
        wrapped.extend_from_slice(key);
        if let Some(root) = self.roots.get(&self.current)
            && let Some(body) = wrapped.get_mut(NONCE_BYTES..)
            && let Ok(tag) = root.encrypt(nonce, context, body)
        {
            wrapped.extend_from_slice(&tag);
        }
        WrappedKey { root_id: self.current.clone(), wrapped }
    }

    /// The data key that `wrapped_key` holds, for a body that is bound to `context`.
    ///
    /// # Errors
    /// [`DecryptError`] if the root key is not there, or the key was wrapped for another context.
    pub fn unwrap_data_key(
        &self,
        wrapped_key: &WrappedKey,
        context: &[u8],
    ) -> Result<DataKey, DecryptError> {
        Ok(DataKey::new(&*self.unwrap(wrapped_key, context)?, None, context))
    }

    /// The key that `wrapped_key` holds, bound to `context`.
    ///
    /// # Errors
    /// As [`Keyring::unwrap_data_key`].
    pub fn unwrap(
        &self,
        wrapped_key: &WrappedKey,
        context: &[u8],
    ) -> Result<Zeroizing<[u8; KEY_BYTES]>, DecryptError> {
        let root = self.roots.get(&wrapped_key.root_id).ok_or(DecryptError)?;
        let (nonce, rest) =
            wrapped_key.wrapped.split_first_chunk::<NONCE_BYTES>().ok_or(DecryptError)?;
        let (key, tag) = rest.split_first_chunk::<KEY_BYTES>().ok_or(DecryptError)?;
        let tag = <[u8; TAG_BYTES]>::try_from(tag).map_err(|_| DecryptError)?;
        let mut key = Zeroizing::new(*key);
        root.decrypt(*nonce, context, &mut key[..], tag)?;
        Ok(key)
    }
}

/// The data key of one body, ready to encrypt or decrypt its records: a cipher, and that of a second layer around it.
#[derive(Clone)]
pub struct DataKey {
    cipher: Aes256Gcm,
    outer: Option<Aes256Gcm>,
    context: [u8; 32],
}

impl std::fmt::Debug for DataKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DataKey").field("layers", &self.layers()).finish_non_exhaustive()
    }
}

impl DataKey {
    /// The data key of a body that is bound to `context`; `outer` is the key of its second layer.
    #[must_use]
    pub fn new(key: &[u8; KEY_BYTES], outer: Option<&[u8; KEY_BYTES]>, context: &[u8]) -> Self {
        Self {
            cipher: Aes256Gcm::new(key),
            outer: outer.map(Aes256Gcm::new),
            context: Sha256::digest(context).into(),
        }
    }

    /// Bytes of a whole record as it is stored.
    #[must_use]
    pub fn record_bytes(&self) -> usize {
        RECORD_BYTES + tag_bytes(self.layers())
    }

    /// The number of its layers.
    #[must_use]
    pub fn layers(&self) -> usize {
        1 + usize::from(self.outer.is_some())
    }

    /// The nonce and the bound data of record `index` in a layer. A data key encrypts one body, so the place is nonce enough.
    fn binding(&self, layer: u8, index: u64, last: bool) -> ([u8; NONCE_BYTES], [u8; 41]) {
        let mut nonce = [0; NONCE_BYTES];
        let mut bound = [u8::from(last); 41];
        let (start, number) = nonce.split_at_mut(4);
        start.fill(layer);
        number.copy_from_slice(&index.to_be_bytes());
        let (context, rest) = bound.split_at_mut(32);
        context.copy_from_slice(&self.context);
        let (place, _) = rest.split_at_mut(8);
        place.copy_from_slice(&index.to_be_bytes());
        (nonce, bound)
    }

    /// Encrypts the record at the end of `out`, from `start` on, and appends the tag of each layer.
    fn encrypt(&self, index: u64, last: bool, out: &mut BytesMut, start: usize) {
        for (layer, cipher) in (0..).zip([Some(&self.cipher), self.outer.as_ref()]) {
            let Some((cipher, record)) = cipher.zip(out.get_mut(start..)) else {
                continue;
            };
            let (nonce, bound) = self.binding(layer, index, last);
            // Only a record beyond 64 GiB can fail, and none is longer than RECORD_BYTES and a tag.
            let tag = cipher.encrypt(nonce, &bound, record).unwrap_or([0; TAG_BYTES]);
            out.extend_from_slice(&tag);
        }
    }

    fn decrypt(&self, index: u64, last: bool, record: &mut BytesMut) -> Result<(), DecryptError> {
        for (layer, cipher) in [(1, self.outer.as_ref()), (0, Some(&self.cipher))] {
            let Some(cipher) = cipher else {
                continue;
            };
            let (_, tag) = record.split_last_chunk::<TAG_BYTES>().ok_or(DecryptError)?;
            let tag = *tag;
            record.truncate(record.len() - TAG_BYTES);
            let (nonce, bound) = self.binding(layer, index, last);
            cipher.decrypt(nonce, &bound, record, tag)?;
        }
        Ok(())
    }
}

/// Bytes of an encrypted body of `size` bytes in `layers` layers. An empty one has a record too, so that its absence shows.
#[must_use]
pub const fn encrypted_size(size: u64, layers: usize) -> u64 {
    size + records(size) * tag_bytes(layers) as u64
}

const fn tag_bytes(layers: usize) -> usize {
    layers * TAG_BYTES
}

const fn records(size: u64) -> u64 {
    let records = size.div_ceil(RECORD_BYTES as u64);
    if records == 0 { 1 } else { records }
}

/// Encrypts a body that comes in pieces.
#[derive(Debug)]
pub struct Encryptor {
    key: DataKey,
    index: u64,
    /// The start in `out` of the record that is being filled.
    start: usize,
    /// Sealed records, then the record that is being filled.
    out: BytesMut,
    capacity: usize,
}

impl Encryptor {
    /// A sealer with `key` for a body of about `size_hint` bytes.
    #[must_use]
    pub fn new(key: DataKey, size_hint: Option<u64>) -> Self {
        let layers = key.layers();
        let expected = size_hint.map_or(PIECE_BYTES as u64, |size| encrypted_size(size, layers));
        let capacity = usize::try_from(expected).unwrap_or(PIECE_BYTES).min(PIECE_BYTES);
        Self { key, index: 0, start: 0, out: BytesMut::with_capacity(capacity), capacity }
    }

    /// Takes the next bytes of the body; gives encrypted ones to `write` when a piece is full.
    ///
    /// # Errors
    /// The first that `write` gives.
    pub fn feed<E>(
        &mut self,
        mut bytes: &[u8],
        mut write: impl FnMut(Bytes) -> Result<(), E>,
    ) -> Result<(), E> {
        while !bytes.is_empty() {
            let filled = self.out.len() - self.start;
            if filled == RECORD_BYTES {
                // Only now is it known not to be the last.
                self.encrypt_record(false);
                if self.out.len() >= PIECE_BYTES {
                    let piece =
                        std::mem::replace(&mut self.out, BytesMut::with_capacity(self.capacity));
                    self.start = 0;
                    write(piece.freeze())?;
                }
                continue;
            }
            let (now, later) = bytes.split_at(bytes.len().min(RECORD_BYTES - filled));
            self.out.extend_from_slice(now);
            bytes = later;
        }
        Ok(())
    }

    /// Encrypts what is left as the last record, and gives the last encrypted bytes.
    #[must_use]
    pub fn finish(mut self) -> Bytes {
        self.encrypt_record(true);
        self.out.freeze()
    }

    fn encrypt_record(&mut self, last: bool) {
        self.key.encrypt(self.index, last, &mut self.out, self.start);
        self.index += 1;
        self.start = self.out.len();
    }
}

/// The encrypted bytes that hold a range of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EncryptedRange {
    /// The encrypted bytes to read.
    pub bytes: Range<u64>,
    first: u64,
    skip: u64,
    take: u64,
    size: u64,
}

impl EncryptedRange {
    /// The encrypted bytes that hold `range` of a body of `size` bytes in `layers` layers; the range lies within the body.
    #[must_use]
    pub fn of(range: &Range<u64>, size: u64, layers: usize) -> Self {
        let record = RECORD_BYTES as u64;
        let encrypted = record + tag_bytes(layers) as u64;
        let first = range.start / record;
        let end = if range.end == 0 { 1 } else { range.end.div_ceil(record) };
        let whole = encrypted_size(size, layers);
        let bytes = (first * encrypted).min(whole)..(end * encrypted).min(whole);
        Self {
            bytes,
            first,
            skip: range.start - first * record,
            take: range.end.saturating_sub(range.start),
            size,
        }
    }
}

/// Decrypts a range of an encrypted body that comes in pieces.
#[derive(Debug)]
pub struct Decryptor {
    key: DataKey,
    index: u64,
    last: u64,
    skip: u64,
    take: u64,
    /// Encrypted bytes as they came.
    pieces: VecDeque<BytesMut>,
    size: u64,
}

impl Decryptor {
    /// A decryptor with `key` of the bytes that `range` names.
    #[must_use]
    pub fn new(key: DataKey, range: &EncryptedRange) -> Self {
        Self {
            key,
            index: range.first,
            last: records(range.size) - 1,
            skip: range.skip,
            take: range.take,
            pieces: VecDeque::new(),
            size: range.size,
        }
    }

    /// Takes the next encrypted bytes.
    pub fn feed(&mut self, encrypted: Bytes) {
        if !encrypted.is_empty() {
            self.pieces.push_back(encrypted.into());
        }
    }

    /// The bytes that are still to be decrypted, of those that it was given.
    #[must_use]
    pub fn held(&self) -> usize {
        self.pieces.iter().map(BytesMut::len).sum()
    }

    /// The next `bytes` encrypted bytes; `None` when there are fewer.
    fn take_record(&mut self, bytes: usize) -> Option<BytesMut> {
        let front = self.pieces.front_mut()?;
        match front.len().cmp(&bytes) {
            // The whole of a piece needs no second owner.
            Ordering::Equal => return self.pieces.pop_front(),
            Ordering::Greater => return Some(front.split_to(bytes)),
            Ordering::Less => {}
        }
        if self.held() < bytes {
            return None;
        }
        // One that lies in two pieces is copied, and neither is held for its sake.
        let mut record = BytesMut::with_capacity(bytes);
        while record.len() < bytes {
            let mut piece = self.pieces.pop_front()?;
            let part = piece.split_to(piece.len().min(bytes - record.len()));
            record.extend_from_slice(&part);
            if !piece.is_empty() {
                self.pieces.push_front(piece);
            }
        }
        Some(record)
    }

    /// The next decrypted bytes, one record's at the most; `None` when more encrypted bytes are needed, or all are decrypted.
    ///
    /// # Errors
    /// [`DecryptError`].
    pub fn decrypt_next(&mut self) -> Result<Option<Bytes>, DecryptError> {
        let last = self.index == self.last;
        let bytes =
            if last { self.size - self.last * RECORD_BYTES as u64 } else { RECORD_BYTES as u64 };
        let tags = tag_bytes(self.key.layers());
        let encrypted = usize::try_from(bytes).map_err(|_| DecryptError)? + tags;
        if self.index > self.last {
            return Ok(None);
        }
        let Some(mut record) = self.take_record(encrypted) else {
            return Ok(None);
        };
        self.key.decrypt(self.index, last, &mut record)?;
        self.index += 1;
        let mut record = record.freeze();
        let skip = usize::try_from(self.skip).map_err(|_| DecryptError)?.min(record.len());
        bytes::Buf::advance(&mut record, skip);
        self.skip -= skip as u64;
        record.truncate(usize::try_from(self.take).unwrap_or(usize::MAX));
        self.take -= record.len() as u64;
        Ok(Some(record))
    }

    /// Tells whether every byte of the range was decrypted.
    #[must_use]
    pub fn is_done(&self) -> bool {
        self.take == 0 && (self.index > 0 || self.size > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use triptych_core::id::SeededIds;

    fn ring() -> Keyring {
        Keyring::new(&[7; 32])
    }

    fn encrypt(body: &[u8], step: usize) -> (WrappedKey, Vec<u8>) {
        let (key, encrypted) = ring().new_data_key(b"here", &mut SeededIds::from_number(1));
        let mut encryptor = Encryptor::new(key, Some(body.len() as u64));
        let mut out = Vec::new();
        for piece in body.chunks(step.max(1)) {
            encryptor
                .feed(piece, |bytes| {
                    out.extend_from_slice(&bytes);
                    Ok::<_, ()>(())
                })
                .unwrap();
        }
        out.extend_from_slice(&encryptor.finish());
        (encrypted, out)
    }

    fn open(
        encrypted: &WrappedKey,
        bytes: &[u8],
        size: usize,
        range: Range<usize>,
    ) -> Result<Vec<u8>, DecryptError> {
        let range = EncryptedRange::of(&(range.start as u64..range.end as u64), size as u64, 1);
        let key = ring().unwrap_data_key(encrypted, b"here")?;
        let mut decryptor = Decryptor::new(key, &range);
        let (start, end) = (range.bytes.start as usize, range.bytes.end as usize);
        let mut out = Vec::new();
        for piece in bytes.get(start..end).ok_or(DecryptError)?.chunks(100_000) {
            decryptor.feed(Bytes::copy_from_slice(piece));
            while let Some(opened) = decryptor.decrypt_next()? {
                out.extend_from_slice(&opened);
            }
        }
        if decryptor.is_done() { Ok(out) } else { Err(DecryptError) }
    }

    fn body(size: usize) -> Vec<u8> {
        (0..size).map(|place| (place * 7 % 251) as u8).collect()
    }

    #[test]
    fn bodies_of_every_size_around_a_record_read_back() {
        for size in [0, 1, 65_535, 65_536, 65_537, 131_072, 300_000, 700_001] {
            let body = body(size);
            let (encrypted, bytes) = encrypt(&body, 10_000);
            assert_eq!(bytes.len() as u64, encrypted_size(size as u64, 1));
            assert_eq!(open(&encrypted, &bytes, size, 0..size).unwrap(), body, "{size}");
            if size > 16 {
                assert!(!bytes.windows(16).any(|window| window == &body[..16]), "in clear");
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(24))]
        #[test]
        fn any_range_opens_to_the_bytes_that_were_written(
            size in 1_usize..300_000, a in any::<prop::sample::Index>(), b in any::<prop::sample::Index>(),
        ) {
            let body = body(size);
            let (start, end) = (a.index(size + 1), b.index(size + 1));
            let range = start.min(end)..start.max(end);
            let (encrypted, bytes) = encrypt(&body, 33_333);
            prop_assert_eq!(open(&encrypted, &bytes, size, range.clone()).unwrap(), &body[range]);
        }

        #[test]
        fn any_flipped_bit_is_found(size in 0_usize..140_000, at in any::<prop::sample::Index>(), bit in 0..8_u8) {
            let (encrypted, mut bytes) = encrypt(&body(size), 50_000);
            let place = at.index(bytes.len());
            bytes[place] ^= 1_u8 << bit;
            prop_assert_eq!(open(&encrypted, &bytes, size, 0..size), Err(DecryptError));
        }
    }

    #[test]
    fn records_that_are_moved_or_cut_off_are_found() {
        let size = 3 * RECORD_BYTES;
        let (encrypted, bytes) = encrypt(&body(size), size);
        let one = RECORD_BYTES + TAG_BYTES;
        let swapped = [&bytes[one..2 * one], &bytes[..one], &bytes[2 * one..]].concat();
        assert_eq!(open(&encrypted, &swapped, size, 0..size), Err(DecryptError));
        // A record fewer, and a size that says so: the one that is now last was not encrypted as the last.
        let shorter = 2 * RECORD_BYTES;
        assert_eq!(open(&encrypted, &bytes[..2 * one], shorter, 0..shorter), Err(DecryptError));
    }

    #[test]
    fn a_body_does_not_open_for_another_key_or_root() {
        let (_, encrypted) = ring().new_data_key(b"here", &mut SeededIds::from_number(1));
        assert!(ring().unwrap_data_key(&encrypted, b"here").is_ok());
        assert_eq!(ring().unwrap_data_key(&encrypted, b"there").err(), Some(DecryptError));
        assert_eq!(
            Keyring::new(&[8; 32]).unwrap_data_key(&encrypted, b"here").err(),
            Some(DecryptError)
        );
        let mut rotated = Keyring::new(&[8; 32]);
        rotated.insert(&[7; 32]);
        assert!(rotated.unwrap_data_key(&encrypted, b"here").is_ok());
    }
}
