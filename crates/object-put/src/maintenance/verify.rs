//! `object-put verify`: records against bodies, and with `--deep` every byte of them.

use std::collections::BTreeMap;

use triptych_core::blobs::{BlobError, Blobs};
use triptych_core::kv::{KeyValue, Span, StoreError, Tx, without_checksum};

use crate::body::checksum::{ChecksumType, Digested, Digests};
use crate::body::encryption::{Decryptor, EncryptedRange, Keyring, encrypted_size};
use crate::body::object_key::{BodyKey, ObjectKey};
use crate::body::part_digests::PartDigests;
use crate::kms::key_store::KeyStore;
use crate::maintenance::garbage::for_each_row;
use crate::store::bucket::is_directory_name;
use crate::store::key::Key;
use crate::store::object_encryption::{KmsSeal, ObjectEncryption};
use crate::store::part_cursor::PartCursor;
use crate::store::part_list::{Part, Parts};
use crate::store::tables::{BUCKETS, CURRENT, KMS_KEYS, NONCURRENT, PARTS, UPLOAD_PARTS, UPLOADS};
use crate::store::upload::{Upload, UploadPart};
use crate::store::version::{ObjectData, ObjectVersion, encryption_context};

/// Versions that are checked between two reports of progress.
const NOTED_EVERY: u64 = 1_000;

/// The findings of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VerifyReport {
    /// Versions that were checked, delete markers among them.
    pub versions: u64,
    /// Bytes of their bodies.
    pub bytes: u64,
    /// The number of those that are not as they should be.
    pub faults: u64,
    /// The number of those whose bytes only their customer's key opens: they are there, and as long as they should be.
    pub customer_keys: u64,
    /// The same for keys of a key service on the network.
    pub foreign_keys: u64,
}

/// An event of a check that goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum VerifyEvent {
    /// So much is checked; after every thousand versions.
    Progress(VerifyReport),
    /// A fault of a version, as a sentence that names it.
    Fault(String),
}

/// The reason why a check could not be made.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// Records cannot be read.
    #[error("records cannot be read: {0}")]
    Store(#[from] StoreError),
}

/// Checks that the body of every version, and of every part of an unfinished upload, is there and as long as its record says; with the keyring of `deep`, that it opens,
/// and has the entity tag and the checksum of the record. Each fault goes to `note` as it is found: nothing is kept, so
/// memory does not grow with the store. It blocks, and changes nothing.
///
/// # Errors
/// [`VerifyError`]; a fault of the data is a finding, not an error.
pub fn verify(
    store: &dyn KeyValue,
    blobs: &dyn Blobs,
    deep: Option<&Keyring>,
    note: &mut dyn FnMut(VerifyEvent),
) -> Result<VerifyReport, VerifyError> {
    let mut buckets = BTreeMap::new();
    for_each_row(store, BUCKETS.span(&()), |key, value| {
        if let Ok(bucket) = BUCKETS.decode(key, &value) {
            buckets.insert(bucket.id, bucket.name);
        }
        Ok(())
    })?;
    let findings = VerifyReport::default();
    let mut check = Check { store, blobs, buckets, deep, note, findings };
    check.other_rows()?;
    for_each_row(store, CURRENT.span(&()), |place, value| {
        let (bucket, key) = CURRENT.read_key(place)?;
        check.row(bucket, &key, CURRENT.decode(place, &value));
        Ok(())
    })?;
    for_each_row(store, NONCURRENT.span(&()), |place, value| {
        let (bucket, key, _) = NONCURRENT.read_key(place)?;
        check.row(bucket, &key, NONCURRENT.decode(place, &value));
        Ok(())
    })?;
    for_each_row(store, UPLOADS.span(&()), |place, value| {
        let (bucket, key, _) = UPLOADS.read_key(place)?;
        // One that cannot be read was named before.
        UPLOADS.decode(place, &value).map_or(Ok(()), |upload| check.upload(bucket, &key, &upload))
    })?;
    Ok(check.findings)
}

struct Check<'a> {
    store: &'a dyn KeyValue,
    blobs: &'a dyn Blobs,
    /// Names of buckets by their numbers.
    buckets: BTreeMap<u64, String>,
    deep: Option<&'a Keyring>,
    note: &'a mut dyn FnMut(VerifyEvent),
    findings: VerifyReport,
}

/// All that opens the bodies of one object.
struct Opener {
    keyring: Keyring,
    key: BodyKey,
}

impl Check<'_> {
    /// Checks every row that no version names by itself: buckets, uploads and their parts, accounts, keys.
    fn other_rows(&mut self) -> Result<(), StoreError> {
        let of_versions = [CURRENT.span(&()), NONCURRENT.span(&()), PARTS.span(&())];
        for table in 0..=u8::MAX {
            let span = Span::of([table]);
            if of_versions.contains(&span) {
                continue;
            }
            for_each_row(self.store, span, |place, value| {
                if without_checksum(place, &value).is_none() {
                    self.findings.faults += 1;
                    let place = hex::encode(place);
                    let fault = format!("table {table}, row {place}: it is not what was written");
                    (self.note)(VerifyEvent::Fault(fault));
                }
                Ok(())
            })?;
        }
        Ok(())
    }

    /// Checks a version as it was read.
    fn row(&mut self, bucket: u64, key: &[u8], version: Result<ObjectVersion, StoreError>) {
        match version {
            Ok(version) => self.version(bucket, key, &version),
            Err(error) => {
                let shown = String::from_utf8_lossy(key);
                self.findings.faults += 1;
                self.findings.versions += 1;
                let fault = format!("bucket {bucket}, key {shown:?}: its record is none: {error}");
                (self.note)(VerifyEvent::Fault(fault));
            }
        }
    }

    fn version(&mut self, bucket: u64, key: &[u8], version: &ObjectVersion) {
        if let Some(data) = version.data.as_deref() {
            self.findings.bytes += data.size;
            let shown = String::from_utf8_lossy(key);
            if let Err(fault) = self.check_data(bucket, &shown, version, data) {
                self.findings.faults += 1;
                let id = version.version;
                (self.note)(VerifyEvent::Fault(format!(
                    "bucket {bucket}, key {shown:?}, version {id}: {fault}"
                )));
            }
        }
        self.findings.versions += 1;
        if self.findings.versions.is_multiple_of(NOTED_EVERY) {
            (self.note)(VerifyEvent::Progress(self.findings));
        }
    }

    fn check_data(
        &mut self,
        bucket: u64,
        key: &str,
        version: &ObjectVersion,
        data: &ObjectData,
    ) -> Result<(), String> {
        let opener = self.opener(&data.encryption, bucket, key)?;
        let key = Key::new(key.to_owned()).map_err(|_| "its key is none".to_owned())?;
        let context = encryption_context(bucket, &key, version.version.random);
        let mut cursor = PartCursor::new(data.parts.clone(), data.size, 0);
        let mut size = 0;
        let mut whole = PartDigests::new(data.checksum.algorithm, data.checksum_type);
        let mut one = None;
        loop {
            let next = cursor.next(&mut Tx::new(self.store));
            let next = next.map_err(|_| "its list of parts is incomplete".to_owned())?;
            let Some(part) = next.map(|placed| placed.part) else {
                break;
            };
            self.check_length(&part, &data.encryption)?;
            size += part.bytes;
            if let Some(opener) = &opener {
                let digests = Digests::new(data.checksum.algorithm, false);
                let digested = self.read(&part, opener, &context, digests)?;
                let tag = opener.key.entity_tag(&part.context(&context), digested.md5);
                whole.append(&tag, &digested.checksum.value, part.bytes);
                one = Some((tag, digested));
            }
        }
        if size != data.size {
            return Err("its parts are not as long as it is".to_owned());
        }
        let Some((tag, one)) = one else {
            return Ok(());
        };
        let (etag, checksum) = match data.parts {
            Parts::One(_) => (hex::encode(tag), one.checksum),
            Parts::Chunks { .. } => {
                let whole = whole.finish();
                (whole.etag, whole.checksum)
            }
        };
        // In a directory bucket the tag is random.
        let is_random = self.buckets.get(&bucket).is_some_and(|name| is_directory_name(name));
        if etag != data.etag && !is_random {
            return Err("its bytes do not have its entity tag".to_owned());
        }
        if checksum != data.checksum && data.checksum_type != ChecksumType::Unknown {
            return Err("its bytes do not have its checksum".to_owned());
        }
        Ok(())
    }

    /// The key of an object that a key-management key sealed; `None` where that key is not of the embedded key service. Its state says
    /// who may use it now, which nobody does here.
    fn object_key(
        &self,
        seal: &KmsSeal,
        roots: &Keyring,
        bucket: u64,
        key: &str,
    ) -> Result<Option<ObjectKey>, String> {
        let mut tx = Tx::new(self.store);
        let own = KMS_KEYS.peek(&mut tx, &seal.key.id).map_err(|error| error.to_string())?;
        let Some(own) = own.filter(|own| own.arn == seal.key) else {
            return Ok(None);
        };
        let bucket = self.buckets.get(&bucket).ok_or("its bucket is missing")?;
        let context = seal.whole_context(bucket, key);
        let opened = KeyStore::opener(roots).decrypt(&own, &seal.sealed, &context);
        let first = opened.map_err(|_| "its sealed key does not open".to_owned())?;
        let second = seal.outer_key(roots, &context);
        let second = second.map_err(|_| "the key of its second layer does not open".to_owned())?;
        Ok(Some(ObjectKey::new(first, second)))
    }

    /// Checks the parts of an upload that is not finished.
    fn upload(&mut self, bucket: u64, key: &[u8], upload: &Upload) -> Result<(), StoreError> {
        let shown = String::from_utf8_lossy(key).into_owned();
        let opener = self.opener(&upload.encryption, bucket, &shown);
        for_each_row(self.store, UPLOAD_PARTS.span(&upload.number), |place, value| {
            let Ok(UploadPart { listed, .. }) = UPLOAD_PARTS.decode(place, &value) else {
                return Ok(());
            };
            self.findings.bytes += listed.part.bytes;
            let checked = self.check_length(&listed.part, &upload.encryption).and_then(|()| {
                let opener = opener.as_ref().map_err(String::clone)?;
                let (Some(opener), Ok(key)) = (opener, Key::new(shown.clone())) else {
                    return Ok(());
                };
                let context = encryption_context(bucket, &key, upload.id.random);
                let digests = Digests::new(listed.checksum.algorithm, false);
                let digested = self.read(&listed.part, opener, &context, digests)?;
                let tag = opener.key.entity_tag(&listed.part.context(&context), digested.md5);
                let is_random =
                    self.buckets.get(&bucket).is_some_and(|name| is_directory_name(name));
                match (is_random || tag == listed.tag) && digested.checksum == listed.checksum {
                    true => Ok(()),
                    false => Err("its bytes do not have its digests".to_owned()),
                }
            });
            if let Err(fault) = checked {
                self.findings.faults += 1;
                let number = listed.part.number;
                (self.note)(VerifyEvent::Fault(format!(
                    "bucket {bucket}, key {shown:?}, part {number} of an unfinished upload: {fault}"
                )));
            }
            Ok(())
        })
    }

    /// All that opens bodies with this encryption; `None` where they are not to be opened, or cannot be here.
    fn opener(
        &mut self,
        encryption: &ObjectEncryption,
        bucket: u64,
        key: &str,
    ) -> Result<Option<Opener>, String> {
        let Some(keyring) = self.deep else {
            return Ok(None);
        };
        let key = match encryption {
            ObjectEncryption::ServiceManaged => BodyKey::Service,
            ObjectEncryption::KeyManagement(seal) => {
                match self.object_key(seal, keyring, bucket, key)? {
                    Some(key) => BodyKey::Object(key),
                    None => {
                        self.findings.foreign_keys += 1;
                        return Ok(None);
                    }
                }
            }
            ObjectEncryption::Customer(_) => {
                self.findings.customer_keys += 1;
                return Ok(None);
            }
        };
        Ok(Some(Opener { keyring: keyring.clone(), key }))
    }

    fn check_length(&self, part: &Part, encryption: &ObjectEncryption) -> Result<(), String> {
        let expected = encrypted_size(part.bytes, encryption.layers());
        match self.blobs.stat(part.blob) {
            Err(BlobError::Absent) => Err("its body is missing".to_owned()),
            Err(error) => Err(format!("its body cannot be read: {error}")),
            Ok(stat) if stat.bytes != expected => Err("its body has another length".to_owned()),
            Ok(_) => Ok(()),
        }
    }

    fn read(
        &self,
        part: &Part,
        opener: &Opener,
        context: &[u8],
        mut digests: Digests,
    ) -> Result<Digested, String> {
        let bound = part.context(context);
        let key = opener.key.data_key(&opener.keyring, &part.wrapped_key, &bound);
        let key = key.map_err(|error| error.to_string())?;
        let range = EncryptedRange::of(&(0..part.bytes), part.bytes, key.layers());
        let unread = |error: BlobError| format!("its body cannot be read: {error}");
        let mut reader = self.blobs.open(part.blob, range.bytes.clone()).map_err(unread)?;
        let mut decryptor = Decryptor::new(key, &range);
        while let Some(sealed) = reader.next().wait().map_err(unread)? {
            decryptor.feed(sealed);
            while let Some(bytes) = decryptor.decrypt_next().map_err(|error| error.to_string())? {
                digests.feed(&bytes);
            }
        }
        match decryptor.is_done() {
            true => Ok(digests.finish()),
            false => Err("its body ends early".to_owned()),
        }
    }
}
