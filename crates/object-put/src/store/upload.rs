//! Uploads in parts: the record of one that is not finished, those of its parts, and what is left of one that ended.

use std::fmt;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use triptych_core::kv::{JsonRecord, Record};
use triptych_core::time::Timestamp;

use crate::auth::acl::Acl;
use crate::body::checksum::{Algorithm, Checksum, ChecksumType};
use crate::store::key::Key;
use crate::store::lock::ObjectLock;
use crate::store::object_encryption::ObjectEncryption;
use crate::store::part_list::{ListedPart, PARTS_MAX};
use crate::store::precondition::Snapshot;
use crate::store::tagging::Tags;
use crate::store::version::{ContentHeaders, StorageClass, VersionId};

/// The place of an upload: the bucket's number, the bytes of its key, and its sequence, so that those of a key stand in the order in which
/// they began.
pub type UploadKey = (u64, Vec<u8>, u64);

/// The name of an upload.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct UploadId {
    /// The time at which it began in microseconds, or one more where that is taken.
    pub sequence: u64,
    /// Makes it unguessable. The object has them too: its parts are encrypted for them.
    #[serde(with = "crate::body::base64_array")]
    pub random: [u8; 12],
}

/// Bytes of the name of an upload: its sequence, those that make it unguessable, and the check.
const ID_BYTES: usize = 8 + 12 + 4;

impl UploadId {
    /// Characters of a name as requests carry it.
    pub const CHARS: usize = 2 * ID_BYTES;

    /// The upload of this key that a request names; `None` for what is no id, and for that of another key.
    #[must_use]
    pub fn parse(text: &str, bucket: u64, key: &Key) -> Option<Self> {
        let bytes: [u8; ID_BYTES] = hex::decode(text).ok()?.try_into().ok()?;
        let (sequence, rest) = bytes.split_first_chunk()?;
        let (random, _) = rest.split_first_chunk()?;
        let id = Self { sequence: u64::from_be_bytes(*sequence), random: *random };
        // The check is case-sensitive: an id has one form.
        (id.text(bucket, key) == text).then_some(id)
    }

    /// Its name as requests carry it: with a check that binds it to bucket and key.
    #[must_use]
    pub fn text(&self, bucket: u64, key: &Key) -> String {
        let mut bytes = self.sequence.to_be_bytes().to_vec();
        bytes.extend_from_slice(&self.random);
        let check = crc32c::crc32c_append(crc32c::crc32c(&bytes), &bucket.to_be_bytes());
        let check = crc32c::crc32c_append(check, key.as_bytes());
        bytes.extend_from_slice(&check.to_be_bytes());
        hex::encode(bytes)
    }
}

/// The checksum that an upload was begun with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct UploadChecksum {
    /// The algorithm of each part and of the whole.
    pub algorithm: Algorithm,
    /// The bytes that the checksum of the whole is of.
    #[serde(rename = "type")]
    pub checksum_type: ChecksumType,
}

/// An upload that is not finished.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Upload {
    /// Starts the rows of its parts.
    pub number: u64,
    /// Its name.
    pub id: UploadId,
    /// The time at which it began.
    pub initiated: Timestamp,
    /// The account that began it; `None` for an anonymous one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub initiator: Option<String>,
    /// The account that will own the object.
    pub owner: String,
    /// The checksum that it was begun with, if any.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub checksum: Option<UploadChecksum>,
    /// The encryption of its parts.
    #[serde(default, skip_serializing_if = "ObjectEncryption::is_service_managed")]
    pub encryption: ObjectEncryption,
    /// The HTTP headers of the object.
    #[serde(default)]
    pub content: ContentHeaders,
    /// Its user metadata.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub metadata: Vec<(String, String)>,
    /// Its storage class.
    pub class: StorageClass,
    /// Its website redirect.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub redirect: Option<String>,
    /// Its tags.
    #[serde(default)]
    pub tags: Tags,
    /// Its ACL.
    #[serde(default)]
    pub acl: Acl,
    /// The lock that its headers named; the bucket's default comes with the completion.
    #[serde(default)]
    pub lock: ObjectLock,
    /// The key as the start saw it.
    #[serde(default)]
    pub snapshot: Snapshot,
    /// Parts that were uploaded again: a completion that saw fewer looks again.
    #[serde(default)]
    pub replaced: u64,
}

impl JsonRecord for Upload {}

impl Upload {
    /// Its place.
    #[must_use]
    pub fn place(&self, bucket: u64, key: &Key) -> UploadKey {
        (bucket, key.as_bytes().to_vec(), self.id.sequence)
    }

    /// The checksum of its object: the one that it was begun with, else the default of all objects.
    #[must_use]
    pub fn checksum_of_object(&self) -> UploadChecksum {
        self.checksum.unwrap_or(UploadChecksum {
            algorithm: Algorithm::default(),
            checksum_type: ChecksumType::FullObject,
        })
    }
}

/// A part of an upload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UploadPart {
    /// The part and its digests.
    pub listed: ListedPart,
    /// The time at which it was uploaded.
    pub modified: Timestamp,
}

impl Record for UploadPart {
    const FORMAT: u8 = 1;

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.modified.micros().to_be_bytes());
        self.listed.write(out);
    }

    fn decode(format: u8, bytes: Bytes) -> Option<Self> {
        (format == Self::FORMAT).then_some(())?;
        let (modified, mut rest) = bytes.split_first_chunk()?;
        let listed = ListedPart::read(&mut rest)?;
        let modified = Timestamp::from_micros(i64::from_be_bytes(*modified));
        rest.is_empty().then_some(Self { listed, modified })
    }
}

/// An upload that was completed, so that who completes it again with the same list gets the same answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CompletedUpload {
    /// Its name.
    pub id: UploadId,
    /// The digest of the list of parts.
    #[serde(with = "crate::body::base64_array")]
    pub list: [u8; 32],
    /// The version that it became.
    pub version: VersionId,
    /// Its entity tag.
    pub etag: String,
    /// Its checksum.
    pub checksum: Checksum,
    /// The value of the checksum, as it was shown.
    pub checksum_text: String,
    /// The bytes that the checksum is of.
    pub checksum_type: ChecksumType,
    /// The encryption of its object.
    #[serde(default, skip_serializing_if = "ObjectEncryption::is_service_managed")]
    pub encryption: ObjectEncryption,
    /// The `x-store-expiration` header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expiration: Option<String>,
}

impl JsonRecord for CompletedUpload {}

/// A key with unfinished uploads: one may last for days, in which no guard of a slot remembers each delete.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct UploadedKey {
    /// The number of them.
    pub uploads: u64,
    /// Deletes of the key since the first of them began.
    pub deletes: u64,
}

impl JsonRecord for UploadedKey {}

/// Numbers of parts, a bit each.
#[derive(Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct PartNumbers(#[serde(with = "crate::body::base64_array")] Vec<u8>);

impl PartNumbers {
    /// Tells whether this number is among them.
    #[must_use]
    pub fn has(&self, number: u32) -> bool {
        let byte = usize::try_from(number / 8).ok().and_then(|place| self.0.get(place));
        byte.is_some_and(|byte| byte & (1 << (number % 8)) != 0)
    }
}

impl FromIterator<u32> for PartNumbers {
    fn from_iter<I: IntoIterator<Item = u32>>(numbers: I) -> Self {
        let mut bytes = Vec::new();
        for number in numbers.into_iter().filter(|number| *number <= PARTS_MAX) {
            let place = usize::try_from(number / 8).unwrap_or_default();
            if bytes.len() <= place {
                bytes.resize(place + 1, 0_u8);
            }
            if let Some(byte) = bytes.get_mut(place) {
                *byte |= 1 << (number % 8);
            }
        }
        Self(bytes)
    }
}

impl fmt::Debug for PartNumbers {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let numbers = (0..=PARTS_MAX).filter(|number| self.has(*number));
        f.debug_list().entries(numbers).finish()
    }
}

/// The rest of uploads that ended: a job that frees it in steps.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum UploadEnd {
    /// Rows of the parts of the upload with the job's number, and the bodies of all but those that an object `kept`.
    Parts {
        /// The numbers of the parts that an object has now.
        kept: PartNumbers,
    },
    /// The answer to a completion, which is remembered no longer.
    Answer(UploadKey),
    /// All uploads of the bucket with the job's number, which was deleted.
    Bucket,
}

impl JsonRecord for UploadEnd {}

/// A part list that no object names yet. Its chunks are written before the commit that names them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct DraftList {
    /// The time at which it was begun.
    pub since: Timestamp,
    /// True once its chunks may be deleted: no commit names it any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub dead: bool,
}

impl JsonRecord for DraftList {}

/// The moment from which a job is due, as its row has it.
#[must_use]
pub fn due(moment: Timestamp) -> u64 {
    u64::try_from(moment.millis()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upload_is_named_for_its_key_alone() {
        let id = UploadId { sequence: 7, random: [9; 12] };
        let key = |text: &str| Key::new(text.to_owned()).unwrap();
        let text = id.text(1, &key("k"));
        assert_eq!(UploadId::parse(&text, 1, &key("k")), Some(id));
        assert_eq!(UploadId::parse(&text, 2, &key("k")), None);
        assert_eq!(UploadId::parse(&text, 1, &key("j")), None);
        for text in ["", "null", &text.to_uppercase(), &format!("{text}00")] {
            assert_eq!(UploadId::parse(text, 1, &key("k")), None, "{text}");
        }
    }

    #[test]
    fn numbers_of_parts_are_kept_as_bits() {
        let numbers: PartNumbers = [1, 8, 10_000].into_iter().collect();
        for number in [0, 1, 7, 8, 9, 9_999, 10_000, 10_001] {
            assert_eq!(numbers.has(number), [1, 8, 10_000].contains(&number), "{number}");
        }
        let text = serde_json::to_string(&UploadEnd::Parts { kept: numbers }).unwrap();
        assert!(text.len() < 2_000);
        let read: UploadEnd = serde_json::from_str(&text).unwrap();
        assert!(matches!(read, UploadEnd::Parts { kept } if kept.has(10_000) && !kept.has(2)));
    }
}
