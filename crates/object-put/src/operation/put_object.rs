//! PutObject without its transport: the look before the body, and the check of the body as it streams by.

use bytes::Bytes;
use sha2::{Digest, Sha256};
use triptych_core::id::Ids;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::auth::acl::Acl;
use crate::auth::chunk_signature::ChunkSigner;
use crate::auth::object_owner;
use crate::auth::payload::{Payload, hex};
use crate::auth::sigv4::Verified;
use crate::body::checksum::{Algorithm, Checksum, Digested, Digests};
use crate::body::encryption::{DataKey, Keyring, SERVICE_MANAGED, WrappedKey};
use crate::body::md5_lanes::Md5Sum;
use crate::error::Error;
use crate::operation::put_headers::{BodyHeaders, ChecksumPlan, PutHeaders};
use crate::operation::{Call, Reply};
use crate::request::dialect::Dialect;
use crate::request::etag::quoted;
use crate::store::bucket::{Bucket, BucketKind, RequestPayment};
use crate::store::key::Key;
use crate::store::lifecycle::{self, Lifecycle};
use crate::store::precondition::Snapshot;
use crate::store::tables::{CURRENT, DELETE_GUARDS, bucket_slot, object_key};
use crate::store::version::{ObjectData, ObjectVersion, Parts, VersionId, encryption_context};

/// A PUT that may go on: its body is asked for now.
#[derive(Debug, Clone)]
pub struct Admission {
    /// The bucket as the start saw it.
    pub bucket: Bucket,
    /// The key.
    pub key: Key,
    /// The account that will own the object.
    pub owner: String,
    /// Its ACL.
    pub acl: Acl,
    /// True if the sender pays for the request.
    pub charged: bool,
    /// The time at which the request came.
    pub now: Timestamp,
    /// The headers.
    pub head: PutHeaders,
    /// The bucket's lifecycle rules, if it has any.
    pub lifecycle: Option<Lifecycle>,
    /// The key as the start saw it.
    pub snapshot: Snapshot,
    /// The version's random bytes: the body is encrypted for them.
    pub random: [u8; 12],
}

impl Admission {
    /// Looks at the request, the bucket and the key, and refuses what can be refused before the body.
    ///
    /// # Errors
    /// Those of [`PutHeaders::read`]; then those of [`crate::store::precondition::Precondition::check_at_start`].
    pub fn decide(
        call: &Call<'_>,
        payload: Payload,
        tx: &mut Tx<'_>,
        ids: &mut dyn Ids,
    ) -> Result<Self, Error> {
        let (bucket, key) = (call.bucket()?, call.key()?);
        let (owner, acl) = match bucket.kind {
            BucketKind::GeneralPurpose => {
                object_owner::of_put(call.fields, bucket, call.caller, tx)?
            }
            // The header table refuses every header of an ACL there.
            BucketKind::Directory => (bucket.owner.clone(), Acl::default()),
        };
        let head = PutHeaders::read(call.fields, bucket, payload, call.now)?;
        let current = CURRENT.get(tx, &object_key(bucket.id, key))?;
        head.condition.check_at_start(call.dialect(), key, current.as_ref())?;
        let (slot, _) = bucket_slot(bucket.id, key);
        let deletes = DELETE_GUARDS.get(tx, &slot)?.map_or(0, |deletes| deletes.count);
        Ok(Self {
            bucket: bucket.clone(),
            key: key.clone(),
            owner,
            acl,
            charged: is_charged(call, bucket),
            now: call.now,
            head,
            lifecycle: lifecycle::of_bucket(tx, bucket.id)?,
            snapshot: Snapshot {
                current: current.map(|current| current.version),
                delete_count: deletes,
            },
            random: VersionId::random_bytes(ids),
        })
    }

    /// The record of a body that was checked and lies in `parts`.
    #[must_use]
    pub fn object_data(&self, digested: &Digested, parts: Parts) -> ObjectData {
        ObjectData {
            size: digested.size,
            etag: hex(&digested.md5),
            checksum: digested.checksum.clone(),
            parts,
            content: self.head.content.clone(),
            metadata: self.head.metadata.clone(),
            class: self.head.class,
            redirect: self.head.redirect.clone(),
            tags: self.head.tags.clone(),
            acl: self.acl.clone(),
            lock: self.head.lock,
        }
    }

    /// The answer to a PUT that was committed as `object`.
    #[must_use]
    pub fn reply(&self, object: &ObjectVersion) -> Reply {
        let Some(data) = object.data.as_deref() else {
            return Reply::empty(200);
        };
        let version = (!object.version.null).then(|| object.version.to_string());
        let rules = self.lifecycle.as_ref();
        let expiration = rules.and_then(|rules| rules.header(&self.key, object, data));
        Reply::empty(200)
            .with("etag", quoted(&data.etag))
            .with(data.checksum.algorithm.row().header, data.checksum.base64())
            .with("x-store-checksum-type", "FULL_OBJECT")
            .with("x-store-server-side-encryption", SERVICE_MANAGED)
            .with_some("x-store-version-id", version)
            .with_some("x-store-expiration", expiration)
            .with_some("x-store-request-charged", self.charged.then_some("requester"))
    }

    /// A new data key for the body.
    pub fn new_data_key(&self, keyring: &Keyring, ids: &mut dyn Ids) -> (DataKey, WrappedKey) {
        keyring.new_data_key(&encryption_context(self.bucket.id, &self.key, self.random), ids)
    }
}

/// Tells whether the sender of a request pays for it: the bucket says so, and the sender is not its owner.
fn is_charged(call: &Call<'_>, bucket: &Bucket) -> bool {
    bucket.request_payment == RequestPayment::Requester
        && call.caller.account().is_some_and(|account| account.id != bucket.owner)
}

/// Checks a body as it streams by: length, digests, and the signatures of chunks and trailer.
#[derive(Debug)]
pub struct Verifier {
    dialect: Dialect,
    length: Option<u64>,
    payload: Payload,
    md5: Option<[u8; 16]>,
    expected: Option<Checksum>,
    trailer: Option<Algorithm>,
    digests: Digests,
    size: u64,
    /// The hash of the chunk that is being read, where chunks are signed.
    chunk: Option<Sha256>,
    signer: Option<ChunkSigner>,
}

impl Verifier {
    /// A verifier of the body that `head` describes and `verified` vouches for.
    #[must_use]
    pub fn new(dialect: Dialect, head: &BodyHeaders, verified: &Verified) -> Self {
        let signed = matches!(head.payload, Payload::Signed | Payload::SignedTrailer);
        let (expected, trailer) = match &head.checksum {
            ChecksumPlan::Default => (None, None),
            ChecksumPlan::Header(checksum) => (Some(checksum.clone()), None),
            ChecksumPlan::Trailer(algorithm) => (None, Some(*algorithm)),
        };
        let hashed = matches!(head.payload, Payload::Hash(_));
        let algorithm = head.checksum.algorithm();
        Self {
            dialect,
            length: head.length.map(|length| length.body),
            payload: head.payload,
            md5: head.md5,
            expected,
            trailer,
            digests: Digests::new(algorithm, hashed && algorithm != Algorithm::Sha256),
            size: 0,
            chunk: signed.then(Sha256::new),
            signer: verified.chunks.clone().filter(|_| signed),
        }
    }

    /// The same with another way to the MD5 of the body; nothing was taken yet.
    #[must_use]
    pub fn with_md5(mut self, md5: Box<dyn Md5Sum>) -> Self {
        self.digests = self.digests.with_md5(md5);
        self
    }

    /// Takes the next bytes of the body.
    ///
    /// # Errors
    /// [`Error::IncompleteBody`] as soon as there are more bytes than were announced.
    pub fn data(&mut self, bytes: &Bytes) -> Result<(), Error> {
        self.size += bytes.len() as u64;
        if self.length.is_some_and(|length| self.size > length) {
            return Err(Error::IncompleteBody);
        }
        self.digests.feed(bytes);
        if let Some(chunk) = &mut self.chunk {
            chunk.update(bytes);
        }
        Ok(())
    }

    /// Takes the end of a chunk.
    ///
    /// # Errors
    /// [`Error::SignatureDoesNotMatch`].
    pub fn chunk_end(&mut self, signature: Option<&str>) -> Result<(), Error> {
        match (&mut self.signer, &mut self.chunk) {
            (Some(signer), Some(chunk)) => {
                signer.chunk(std::mem::take(chunk), signature.unwrap_or_default())
            }
            _ => Ok(()),
        }
    }

    /// Takes the trailer of a chunked body.
    ///
    /// # Errors
    /// `MalformedTrailer`, `InvalidRequest`, `SignatureDoesNotMatch`.
    pub fn trailer(&mut self, fields: &[(String, String)]) -> Result<(), Error> {
        let mut lines = String::new();
        let mut signature = None;
        let mut checksum = None;
        for (name, value) in fields {
            if self.dialect.is_header(name, "x-store-trailer-signature") {
                signature = Some(value);
                continue;
            }
            lines.push_str(&format!("{name}:{value}\n"));
            let row = self.trailer.map(Algorithm::row);
            let Some(row) = row.filter(|row| self.dialect.is_header(name, row.header)) else {
                return Err(Error::MalformedTrailer);
            };
            let read = row.algorithm.read(value).ok_or_else(|| {
                Error::request(format!("Value for {} header is invalid.", row.header))
            })?;
            if checksum.replace(read).is_some() {
                return Err(Error::MalformedTrailer);
            }
        }
        if self.trailer.is_some() != checksum.is_some() {
            return Err(Error::MalformedTrailer);
        }
        if let (Payload::SignedTrailer, Some(signer)) = (self.payload, &mut self.signer) {
            signer.trailer(&lines, signature.ok_or(Error::MalformedTrailer)?)?;
        }
        if checksum.is_some() {
            self.expected = checksum;
        }
        Ok(())
    }

    /// The digests of the whole body, if it is what was announced.
    ///
    /// # Errors
    /// `IncompleteBody`, `ContentSha256Mismatch`, `Md5Mismatch`, `ChecksumMismatch`.
    pub fn finish(self) -> Result<Digested, Error> {
        if self.length.is_some_and(|length| length != self.size) {
            return Err(Error::IncompleteBody);
        }
        let digested = self.digests.finish();
        if let Payload::Hash(expected) = self.payload {
            let own = digested.sha256.map_or_else(|| digested.checksum.value.clone(), Vec::from);
            if own != expected {
                return Err(Error::ContentSha256Mismatch {
                    client: hex(&expected),
                    server: hex(&own),
                });
            }
        }
        if let Some(expected) = self.md5.filter(|expected| *expected != digested.md5) {
            return Err(Error::Md5Mismatch {
                expected: hex(&expected),
                calculated: base64_of(&digested.md5),
            });
        }
        if self.expected.is_some_and(|expected| expected != digested.checksum) {
            return Err(Error::ChecksumMismatch {
                algorithm: digested.checksum.algorithm.row().name,
            });
        }
        Ok(digested)
    }
}

fn base64_of(bytes: &[u8]) -> String {
    use base64::Engine as _;
    base64::engine::general_purpose::STANDARD.encode(bytes)
}
