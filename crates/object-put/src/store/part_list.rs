//! The parts of a body, and the list that names them where there are several.

use std::ops::Range;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use triptych_core::blobs::BlobId;
use triptych_core::kv::Record;

use crate::body::checksum::{ALGORITHMS, Checksum};
use crate::body::encryption::WrappedKey;
use crate::store::object_encryption::KeyOpening;

/// The most parts that an object has (spec §8).
pub const PARTS_MAX: u32 = 10_000;
/// Parts that one chunk of a part list names.
pub const PARTS_PER_CHUNK: usize = 250;

/// Appended parts that one row of a chunk's tail names.
pub const PARTS_PER_TAIL: usize = 16;
/// Rows of the tail that one chunk has room for.
const TAILS_PER_CHUNK: u32 = 16;
/// The number of the first row of a tail: those of chunks are smaller.
const TAILS: u32 = 1 << 16;

/// The row of `PARTS` that holds the parts of a chunk from `tail` times [`PARTS_PER_TAIL`] on, counted behind those of the chunk's own row:
/// parts that are appended stand there, so that an append writes a short row.
#[must_use]
pub const fn tail_row(chunk: u32, tail: u32) -> u32 {
    TAILS + chunk * TAILS_PER_CHUNK + tail
}

/// A piece of a body: one blob, encrypted by itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its number among the parts of the body, which its encryption is bound to; 0 for a body that was put whole.
    #[serde(default, skip_serializing_if = "is_whole")]
    pub number: u32,
    /// The name of the encrypted bytes.
    #[serde(with = "blob_id")]
    pub blob: BlobId,
    /// Bytes before sealing.
    pub bytes: u64,
    /// Its data key, wrapped.
    #[serde(rename = "sealed")]
    pub wrapped_key: WrappedKey,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks with a reference")]
const fn is_whole(number: &u32) -> bool {
    *number == 0
}

impl Part {
    /// Its number as requests and answers have it: a body that was put whole is part 1 of one that grew.
    #[must_use]
    pub fn shown_number(&self) -> u32 {
        self.number.max(1)
    }

    /// The context that it is encrypted for, where `body` is that of its object: a part cannot be read as another of the same body.
    #[must_use]
    pub fn context(&self, body: &[u8]) -> Vec<u8> {
        part_context(body, self.number)
    }
}

/// The encryption context of the part with this number of the body whose context is `body`.
#[must_use]
pub fn part_context(body: &[u8], number: u32) -> Vec<u8> {
    let mut context = body.to_vec();
    if number > 0 {
        // No key has this byte, so no context is that of another key.
        context.push(0xFF);
        context.extend_from_slice(&number.to_be_bytes());
    }
    context
}

/// The place of a body: a part that stands in the record, or chunks of a part list that the record names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Parts {
    /// The whole body is one part.
    One(Part),
    /// Rows of `PARTS` with this number: each chunk but the last names [`PARTS_PER_CHUNK`] parts, in a row of its own and in those of its
    /// tail. What they name for a `count` never changes; one more part is one more entry of the tail, or a chunk more.
    Chunks {
        /// The number of the list.
        list: u64,
        /// The number of parts, at most [`PARTS_MAX`].
        count: u32,
        /// The place in the body at which each chunk starts.
        #[serde(default)]
        starts: Vec<u64>,
        /// The bytes of all parts; unknown in records of earlier releases.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        bytes: Option<u64>,
    },
}

/// The name of a body as long as it is there: its one blob, or the list of its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum BodyName {
    /// A body that is one part.
    Blob(BlobId),
    /// A body with a list of this number.
    List(u64),
}

impl Parts {
    /// The name of the body.
    #[must_use]
    pub const fn name(&self) -> BodyName {
        match self {
            Self::One(part) => BodyName::Blob(part.blob),
            Self::Chunks { list, .. } => BodyName::List(*list),
        }
    }

    /// The number of parts.
    #[must_use]
    pub const fn count(&self) -> u32 {
        match self {
            Self::One(_) => 1,
            Self::Chunks { count, .. } => *count,
        }
    }

    /// The number of parts that a chunk of the list has.
    #[must_use]
    pub fn parts_in(&self, chunk: u32) -> usize {
        let before = usize::try_from(chunk).unwrap_or(usize::MAX).saturating_mul(PARTS_PER_CHUNK);
        let count = usize::try_from(self.count()).unwrap_or(usize::MAX);
        count.saturating_sub(before).min(PARTS_PER_CHUNK)
    }

    /// Tells whether a body of `size` bytes can be at this place.
    #[must_use]
    pub fn can_hold(&self, size: u64) -> bool {
        match self {
            Self::One(part) => part.bytes == size,
            Self::Chunks { count, starts, bytes, .. } => {
                (1..=PARTS_MAX).contains(count)
                    && usize::try_from(self.chunks()).is_ok_and(|chunks| chunks == starts.len())
                    && starts.first() == Some(&0)
                    && starts.is_sorted()
                    && starts.last().is_some_and(|last| *last <= size)
                    && bytes.is_none_or(|bytes| bytes == size)
            }
        }
    }

    /// The chunks of the list; none where the part stands in the record.
    #[must_use]
    pub fn chunks(&self) -> u32 {
        match self {
            Self::One(_) => 0,
            Self::Chunks { count, .. } => {
                count.div_ceil(u32::try_from(PARTS_PER_CHUNK).unwrap_or(1))
            }
        }
    }
}

/// Bytes of an object: which, of which parts, their encryption context, and the key that opens them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ObjectRange {
    /// The encryption context of the whole body.
    pub context: Vec<u8>,
    /// The way to the key that opens its parts.
    pub key: KeyOpening,
    /// The place of the whole body.
    pub parts: Parts,
    /// Bytes of the whole body.
    pub size: u64,
    /// The bytes of the body that are wanted.
    pub bytes: Range<u64>,
}

/// A part with its digests, as a list names it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ListedPart {
    /// The part.
    pub part: Part,
    /// Its entity tag: the MD5 of its bytes, where they are not encrypted with a key of their own.
    pub tag: [u8; 16],
    /// Its checksum.
    pub checksum: Checksum,
}

impl ListedPart {
    /// Its entity tag, without quotes.
    #[must_use]
    pub fn etag(&self) -> String {
        hex::encode(self.tag)
    }

    /// Appends its bytes.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.part.number.to_be_bytes());
        out.extend_from_slice(&self.part.blob.0);
        out.extend_from_slice(&self.part.bytes.to_be_bytes());
        out.extend_from_slice(&self.tag);
        let row = ALGORITHMS.iter().position(|row| row.algorithm == self.checksum.algorithm);
        out.push(row.and_then(|row| u8::try_from(row).ok()).unwrap_or(u8::MAX));
        let key = &self.part.wrapped_key;
        for field in [&self.checksum.value, key.root_id.as_bytes(), &key.wrapped] {
            // All are short by how they are made: a checksum, the name of a root key, and one wrapped key.
            out.extend_from_slice(&u16::try_from(field.len()).unwrap_or(u16::MAX).to_be_bytes());
            out.extend_from_slice(field);
        }
    }

    /// Takes one off the front of `bytes`; `None` if they are not one.
    pub(crate) fn read(bytes: &mut &[u8]) -> Option<Self> {
        let (number, rest) = bytes.split_first_chunk()?;
        let (blob, rest) = rest.split_first_chunk()?;
        let (size, rest) = rest.split_first_chunk()?;
        let (tag, rest) = rest.split_first_chunk()?;
        let (algorithm, mut rest) = rest.split_first()?;
        let row = ALGORITHMS.get(usize::from(*algorithm))?;
        let mut field = || {
            let (length, fields) = rest.split_first_chunk()?;
            let (field, behind) = fields.split_at_checked(u16::from_be_bytes(*length).into())?;
            rest = behind;
            Some(field.to_vec())
        };
        let (value, root_id, wrapped) = (field()?, field()?, field()?);
        *bytes = rest;
        Some(Self {
            part: Part {
                number: u32::from_be_bytes(*number),
                blob: BlobId(*blob),
                bytes: u64::from_be_bytes(*size),
                wrapped_key: WrappedKey { root_id: String::from_utf8(root_id).ok()?, wrapped },
            },
            tag: *tag,
            checksum: Checksum { algorithm: row.algorithm, value },
        })
    }
}

/// A chunk of a part list. It is kept as plain bytes: so many parts as JSON are longer than a value may be.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PartListChunk(pub Vec<ListedPart>);

impl Record for PartListChunk {
    const FORMAT: u8 = 2;

    fn encode(&self, out: &mut Vec<u8>) {
        self.0.iter().for_each(|part| part.write(out));
    }

    fn decode(format: u8, bytes: Bytes) -> Option<Self> {
        (format == Self::FORMAT).then_some(())?;
        let mut rest = &*bytes;
        let mut parts = Vec::with_capacity(PARTS_PER_CHUNK);
        while !rest.is_empty() {
            parts.push(ListedPart::read(&mut rest)?);
        }
        Some(Self(parts))
    }
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
    use crate::body::checksum::{Algorithm, Hasher};

    #[test]
    fn a_full_chunk_of_parts_fits_a_value_and_reads_back() {
        let mut ids = triptych_core::id::SeededIds::from_number(1);
        let ring = crate::body::encryption::Keyring::new(&[9; 32]);
        let part = |number: u64| ListedPart {
            part: Part {
                number: u32::try_from(number).unwrap(),
                blob: BlobId([7; BlobId::BYTES]),
                bytes: number,
                wrapped_key: ring.new_data_key(b"context", &mut ids).1,
            },
            tag: [3; 16],
            checksum: Hasher::new(Algorithm::Sha256).finish(),
        };
        let chunk = PartListChunk((0..PARTS_PER_CHUNK as u64).map(part).collect());
        let mut bytes = Vec::new();
        chunk.encode(&mut bytes);
        // With room for longer wrapped keys.
        assert!(bytes.len() < 48 * 1024, "{} bytes", bytes.len());
        assert_eq!(PartListChunk::decode(2, bytes.clone().into()), Some(chunk));
        bytes.pop();
        assert_eq!(PartListChunk::decode(2, bytes.into()), None);
    }

    #[test]
    fn a_part_has_a_context_of_its_own() {
        let contexts = [0, 1, 2, 256].map(|number| part_context(b"body", number));
        for (place, context) in contexts.iter().enumerate() {
            assert!(!contexts.iter().take(place).any(|other| other == context));
        }
    }
}
