//! The record of an object's version, and the names of versions.

use std::fmt;
use std::ops::Range;

use base64::Engine as _;
use base64::alphabet::Alphabet;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use triptych_core::blobs::BlobId;
use triptych_core::id::Ids;
use triptych_core::kv::{JsonRecord, Record};
use triptych_core::time::Timestamp;

use crate::auth::acl::Acl;
use crate::body::checksum::Checksum;
use crate::body::encryption::WrappedKey;
use crate::store::key::Key;
use crate::store::lock::ObjectLock;
use crate::store::object_encryption::{KeyOpening, ObjectEncryption};
use crate::store::tagging::Tags;

/// The most parts that an object has (spec §8).
pub const PARTS_MAX: u32 = 10_000;
/// Parts that one immutable chunk of a part list names.
pub const PARTS_PER_CHUNK: usize = 500;

/// The characters of version ids: letters, digits, `.` and `_`, so that no tool takes one for an option.
const ALPHABET: GeneralPurpose = GeneralPurpose::new(&CHARACTERS, NO_PAD);
const CHARACTERS: Alphabet =
    match Alphabet::new("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._") {
        Ok(alphabet) => alphabet,
        Err(_) => base64::alphabet::URL_SAFE,
    };

/// The name of a version of a key. Its sequence grows for its key; its random bytes make it unguessable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct VersionId {
    /// Grows with every write of the key.
    pub sequence: u64,
    /// Drawn before the body is written: the body is encrypted for them.
    #[serde(with = "crate::body::base64_array")]
    pub random: [u8; 12],
    /// True if it was written while the bucket kept no versions: it is shown as `null`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub null: bool,
}

impl VersionId {
    /// Reads what [`fmt::Display`] shows of a version that is not null; `None` for what is no version id.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        // Earlier releases wrote a hyphen for the dot.
        let text = text.replace('-', ".");
        let bytes: [u8; 24] = ALPHABET.decode(text).ok()?.try_into().ok()?;
        let (body, check) = bytes.split_at(20);
        if crc32c::crc32c(body).to_be_bytes() != check {
            return None;
        }
        let (sequence, random) = body.split_at(8);
        Some(Self {
            sequence: u64::from_be_bytes(sequence.try_into().ok()?),
            random: random.try_into().ok()?,
            null: false,
        })
    }

    /// Random bytes for a new version.
    pub fn random_bytes(ids: &mut dyn Ids) -> [u8; 12] {
        let mut random = [0; 12];
        ids.fill(&mut random);
        random
    }
}

impl fmt::Display for VersionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.null {
            return f.write_str("null");
        }
        let mut bytes = Vec::with_capacity(24);
        bytes.extend_from_slice(&self.sequence.to_be_bytes());
        bytes.extend_from_slice(&self.random);
        bytes.extend_from_slice(&crc32c::crc32c(&bytes).to_be_bytes());
        f.write_str(&ALPHABET.encode(bytes))
    }
}

impl JsonRecord for VersionId {}

/// The media type of a body without Content-Type.
pub const DEFAULT_MEDIA_TYPE: &str = "binary/octet-stream";

/// The HTTP headers that are kept with an object and sent back with it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct ContentHeaders {
    /// Content-Type; `binary/octet-stream` when none was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub media_type: Option<String>,
    /// Cache-Control.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cache_control: Option<String>,
    /// Content-Disposition.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub disposition: Option<String>,
    /// Content-Encoding, without `aws-chunked`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// Content-Language.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Expires, as it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
}

/// A piece of a body: one blob, encrypted by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// The name of the encrypted bytes.
    #[serde(with = "crate::store::version::blob_id")]
    pub blob: BlobId,
    /// Bytes before sealing.
    pub bytes: u64,
    /// Its data key, wrapped.
    #[serde(rename = "sealed")]
    pub wrapped_key: WrappedKey,
    /// Its number in its upload, which it is bound to; 0 for a body that was put whole.
    #[serde(default, skip_serializing_if = "is_whole")]
    pub number: u16,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde calls it with a reference")]
fn is_whole(number: &u16) -> bool {
    *number == 0
}

/// The place of a body: a part that stands in the record, or chunks of a part list that the record names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Parts {
    /// The whole body is one part.
    One(Part),
    /// Rows of `PARTS` with this number: each but the last names [`PARTS_PER_CHUNK`] parts. They never change.
    Chunks {
        /// The number of the list.
        list: u64,
        /// The number of parts, at most [`PARTS_MAX`].
        count: u32,
    },
}

/// An object beside its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectData {
    /// Bytes of the body.
    pub size: u64,
    /// The entity tag, without quotes.
    pub etag: String,
    /// The checksum of the whole body.
    pub checksum: Checksum,
    /// The place of the body.
    pub parts: Parts,
    /// Its encryption.
    #[serde(default, skip_serializing_if = "ObjectEncryption::is_service_managed")]
    pub encryption: ObjectEncryption,
    /// The HTTP headers that it came with.
    #[serde(default)]
    pub content: ContentHeaders,
    /// User metadata: lower-case names without prefix, and values.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metadata: Vec<(String, String)>,
    /// Storage class.
    pub class: StorageClass,
    /// Website redirect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect: Option<String>,
    /// Tags.
    #[serde(default, skip_serializing_if = "no_tags")]
    pub tags: Tags,
    /// ACL; empty for the default.
    #[serde(default, skip_serializing_if = "Acl::is_default")]
    pub acl: Acl,
    /// Retention and legal hold.
    #[serde(default, skip_serializing_if = "ObjectLock::is_none")]
    pub lock: ObjectLock,
}

fn no_tags(tags: &Tags) -> bool {
    tags.0.is_empty()
}

/// A version of a key: an object, or the marker of a delete.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectVersion {
    /// Its name.
    pub version: VersionId,
    /// The time at which it was written; shown in whole seconds.
    pub modified: Timestamp,
    /// The account that owns it.
    pub owner: String,
    /// The object; `None` for a delete marker.
    #[serde(default, rename = "stored", skip_serializing_if = "Option::is_none")]
    pub data: Option<Box<ObjectData>>,
}

impl JsonRecord for ObjectVersion {}

impl ObjectVersion {
    /// The time at which it was written, as XML bodies show it: in whole seconds, so that it is the moment that headers show.
    #[must_use]
    pub fn written(&self) -> String {
        Timestamp::from_seconds(self.modified.seconds()).rfc3339_millis()
    }
}

/// A chunk of a part list. It is kept as plain bytes: 500 parts as JSON are longer than a value may be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PartListChunk(pub Vec<Part>);

impl Record for PartListChunk {
    const FORMAT: u8 = 1;

    fn encode(&self, out: &mut Vec<u8>) {
        for part in &self.0 {
            out.extend_from_slice(&part.blob.0);
            out.extend_from_slice(&part.bytes.to_be_bytes());
            out.extend_from_slice(&part.number.to_be_bytes());
            for field in [part.wrapped_key.root_id.as_bytes(), &part.wrapped_key.wrapped] {
                // Both are short by how they are made: the name of a root key, and one wrapped key.
                out.push(u8::try_from(field.len()).unwrap_or(u8::MAX));
                out.extend_from_slice(field);
            }
        }
    }

    fn decode(format: u8, bytes: Bytes) -> Option<Self> {
        fn part(rest: &mut &[u8]) -> Option<Part> {
            let (blob, after) = rest.split_first_chunk()?;
            let (bytes, after) = after.split_first_chunk()?;
            let (number, mut after) = after.split_first_chunk()?;
            let mut field = || {
                let (length, fields) = after.split_first()?;
                let (field, behind) = fields.split_at_checked(usize::from(*length))?;
                after = behind;
                Some(field.to_vec())
            };
            let (root_id, wrapped) = (String::from_utf8(field()?).ok()?, field()?);
            *rest = after;
            Some(Part {
                blob: BlobId(*blob),
                bytes: u64::from_be_bytes(*bytes),
                wrapped_key: WrappedKey { root_id, wrapped },
                number: u16::from_be_bytes(*number),
            })
        }
        (format == Self::FORMAT).then_some(())?;
        let mut rest = &*bytes;
        let mut parts = Vec::new();
        while !rest.is_empty() {
            parts.push(part(&mut rest)?);
        }
        Some(Self(parts))
    }
}

/// Storage classes (spec §4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
#[expect(missing_docs, reason = "the names are the spec's and say all")]
pub enum StorageClass {
    #[default]
    Standard,
    ReducedRedundancy,
    StandardIa,
    OnezoneIa,
    IntelligentTiering,
    Glacier,
    DeepArchive,
    Outposts,
    GlacierIr,
    Snow,
    ExpressOnezone,
}

impl StorageClass {
    /// All classes with their names.
    pub const ALL: [(Self, &'static str); 11] = [
        (Self::Standard, "STANDARD"),
        (Self::ReducedRedundancy, "REDUCED_REDUNDANCY"),
        (Self::StandardIa, "STANDARD_IA"),
        (Self::OnezoneIa, "ONEZONE_IA"),
        (Self::IntelligentTiering, "INTELLIGENT_TIERING"),
        (Self::Glacier, "GLACIER"),
        (Self::DeepArchive, "DEEP_ARCHIVE"),
        (Self::Outposts, "OUTPOSTS"),
        (Self::GlacierIr, "GLACIER_IR"),
        (Self::Snow, "SNOW"),
        (Self::ExpressOnezone, "EXPRESS_ONEZONE"),
    ];

    /// The class with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, own)| *own == name).map(|(class, _)| *class)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(class, _)| *class == self).map_or("", |(_, name)| name)
    }
}

/// The context that binds a body to its key and version: it cannot be read as any other.
#[must_use]
pub fn encryption_context(bucket: u64, key: &Key, random: [u8; 12]) -> Vec<u8> {
    let mut context = Vec::with_capacity(20 + key.as_bytes().len());
    context.extend_from_slice(&bucket.to_be_bytes());
    context.extend_from_slice(&random);
    context.extend_from_slice(key.as_bytes());
    context
}

/// The context that binds one part of an upload to its number, within that of its object: parts cannot change places.
#[must_use]
pub fn part_context(context: &[u8], number: u16) -> Vec<u8> {
    let mut bound = context.to_vec();
    // An object that was put whole has no numbers. No key has this byte, so no other context ends so.
    if number > 0 {
        bound.push(0xFF);
        bound.extend_from_slice(&number.to_be_bytes());
    }
    bound
}

/// Bytes of an object: which, of which parts, their encryption context, and the key that opens them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectRange {
    /// The [`encryption_context`] of the parts.
    pub context: Vec<u8>,
    /// The way to the key that opens them.
    pub key: KeyOpening,
    /// The parts of the whole body, in order.
    pub parts: Vec<Part>,
    /// The bytes of the body that are wanted.
    pub bytes: Range<u64>,
}

/// Names of blobs as base64 text in records.
pub(crate) mod blob_id {
    use serde::{Deserializer, Serializer};
    use triptych_core::blobs::BlobId;

    pub(crate) fn serialize<S: Serializer>(id: &BlobId, to: S) -> Result<S::Ok, S::Error> {
        crate::body::base64_array::serialize(&id.0, to)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<BlobId, D::Error> {
        crate::body::base64_array::deserialize(from).map(BlobId)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_ids_read_back_and_anything_else_is_none() {
        let id = VersionId { sequence: 7, random: [9; 12], null: false };
        assert_eq!(id.to_string().len(), 32);
        assert_eq!(VersionId::parse(&id.to_string()), Some(id));
        for random in 0..=255 {
            let id = VersionId { sequence: 1, random: [random; 12], null: false };
            let text = id.to_string();
            let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_');
            assert!(text.chars().all(fits), "{text}");
            assert_eq!(VersionId::parse(&text.replace('.', "-")), Some(id), "as it was shown once");
        }
        for text in ["", "null", "HPniJFCxqTsMuIH9KX8K8wEjNUgmABCD", "a b"] {
            assert_eq!(VersionId::parse(text), None);
        }
    }

    #[test]
    fn a_full_chunk_of_parts_fits_a_value_and_reads_back() {
        let mut ids = triptych_core::id::SeededIds::from_number(1);
        let ring = crate::body::encryption::Keyring::new(&[9; 32]);
        let part = |number: u64| Part {
            blob: BlobId([7; BlobId::BYTES]),
            bytes: number,
            wrapped_key: ring.new_data_key(b"context", &mut ids).1,
            number: 7,
        };
        let chunk = PartListChunk((0..PARTS_PER_CHUNK as u64).map(part).collect());
        let mut bytes = Vec::new();
        chunk.encode(&mut bytes);
        assert!(bytes.len() < 64 * 1024, "{} bytes", bytes.len());
        assert_eq!(PartListChunk::decode(1, bytes.clone().into()), Some(chunk));
        bytes.pop();
        assert_eq!(PartListChunk::decode(1, bytes.into()), None);
    }

    #[test]
    fn storage_classes_have_the_names_of_the_spec() {
        for (class, name) in StorageClass::ALL {
            assert_eq!(StorageClass::parse(name), Some(class));
            assert_eq!(serde_json::to_value(class).unwrap(), name);
        }
    }
}
