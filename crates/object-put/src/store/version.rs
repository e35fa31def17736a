//! The record of an object's version, and the names of versions.

use std::fmt;

use base64::Engine as _;
use base64::alphabet::Alphabet;
use base64::engine::general_purpose::{GeneralPurpose, NO_PAD};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use triptych_core::id::Ids;
use triptych_core::kv::{JsonRecord, Record};
use triptych_core::time::Timestamp;

use crate::auth::acl::Acl;
use crate::body::checksum::{AlgorithmRow, Checksum, ChecksumType};
use crate::store::key::Key;
use crate::store::lock::ObjectLock;
use crate::store::object_encryption::ObjectEncryption;
use crate::store::part_list::Parts;
use crate::store::tagging::Tags;

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
    /// Content-Encoding, without the framing in which the body came.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// Content-Language.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub language: Option<String>,
    /// Expires, as it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub expires: Option<String>,
    /// X-Robots-Tag, which the real service keeps too, though it documents it nowhere.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub robots: Option<String>,
}

/// An object beside its bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ObjectData {
    /// Bytes of the body.
    pub size: u64,
    /// The entity tag, without quotes.
    pub etag: String,
    /// Its checksum.
    pub checksum: Checksum,
    /// The bytes that the checksum is of.
    #[serde(default, skip_serializing_if = "ChecksumType::is_full_object")]
    pub checksum_type: ChecksumType,
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
    /// The moment at which a restoration of an archived object is done: it can be read from then on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restored_from: Option<Timestamp>,
    /// The moment until which an archived object can be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub restored_until: Option<Timestamp>,
}

impl ObjectData {
    /// Its checksum as answers show it: the row of its algorithm, and the value, which ends with the number of parts where it is one of
    /// their checksums. `None` where it is not known.
    #[must_use]
    pub fn shown_checksum(&self) -> Option<(&'static AlgorithmRow, String)> {
        let value = match self.checksum_type {
            ChecksumType::FullObject => self.checksum.base64(),
            ChecksumType::Composite => format!("{}-{}", self.checksum.base64(), self.parts.count()),
            ChecksumType::Unknown => return None,
        };
        Some((self.checksum.algorithm.row(), value))
    }
}

impl ObjectData {
    /// Tells whether it can be read at the time `now`: an archived object only while it is restored.
    #[must_use]
    pub fn is_readable(&self, now: Timestamp) -> bool {
        let is_restored = self.restored_until.is_some_and(|until| until > now);
        !self.class.is_archived() || (is_restored && !self.is_being_restored(now))
    }

    /// Tells whether a restoration of it is not done at the time `now`.
    #[must_use]
    pub fn is_being_restored(&self, now: Timestamp) -> bool {
        self.restored_from.is_some_and(|from| from > now)
    }

    /// The value of the header that shows a restoration, while there is one.
    #[must_use]
    pub fn restoration(&self, now: Timestamp) -> Option<String> {
        let until = self.restored_until.filter(|until| *until > now)?;
        if self.is_being_restored(now) {
            return Some("ongoing-request=\"true\"".to_owned());
        }
        Some(format!("ongoing-request=\"false\", expiry-date=\"{}\"", until.http_date()))
    }
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

/// As JSON. One whose size is not that of its parts is no record: nothing is shown of it.
impl Record for ObjectVersion {
    const FORMAT: u8 = 1;

    fn encode(&self, out: &mut Vec<u8>) {
        // Writing to memory fails for no record with text keys.
        let written = serde_json::to_writer(&mut *out, self);
        debug_assert!(written.is_ok(), "a record encodes itself");
    }

    fn decode(format: u8, bytes: Bytes) -> Option<Self> {
        (format == Self::FORMAT).then_some(())?;
        let version: Self = serde_json::from_slice(&bytes).ok()?;
        let is_whole = |data: &ObjectData| data.parts.can_hold(data.size);
        version.data.as_deref().is_none_or(is_whole).then_some(version)
    }
}

impl ObjectVersion {
    /// The time at which it was written, as XML bodies show it: in whole seconds, so that it is the moment that headers show.
    #[must_use]
    pub fn written(&self) -> String {
        Timestamp::from_seconds(self.modified.seconds()).rfc3339_millis()
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

    /// Tells whether its objects are archived: they are read once they were restored.
    #[must_use]
    pub const fn is_archived(self) -> bool {
        matches!(self, Self::Glacier | Self::DeepArchive)
    }

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
    fn storage_classes_have_the_names_of_the_spec() {
        for (class, name) in StorageClass::ALL {
            assert_eq!(StorageClass::parse(name), Some(class));
            assert_eq!(serde_json::to_value(class).unwrap(), name);
        }
    }
}
