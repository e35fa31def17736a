//! Entity tag and checksum of an object that was put in parts: they follow from those of its parts, and no byte is read again.

use md5::{Digest as _, Md5};

use crate::body::checksum::{Algorithm, Checksum, ChecksumType, Hasher};
use crate::body::crc::CombinedCrc;

/// The digests of parts that are put together, in their order.
#[derive(Debug)]
pub struct PartDigests {
    md5: Md5,
    algorithm: Algorithm,
    checksum: Whole,
    parts: u32,
    size: u64,
}

/// The checksum of the whole, on its way.
#[derive(Debug)]
enum Whole {
    Composite(Hasher),
    Combined(CombinedCrc),
}

/// The digests of the whole.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WholeDigests {
    /// Bytes of all parts.
    pub size: u64,
    /// The number of parts.
    pub parts: u32,
    /// The entity tag: the MD5 of those of the parts, and their number.
    pub etag: String,
    /// The checksum.
    pub checksum: Checksum,
    /// The bytes that the checksum is of.
    pub checksum_type: ChecksumType,
}

impl PartDigests {
    /// Those of no part yet. An algorithm whose values do not combine is composite whatever `checksum_type` says.
    #[must_use]
    pub fn new(algorithm: Algorithm, checksum_type: ChecksumType) -> Self {
        let combined = CombinedCrc::new(algorithm).filter(|_| checksum_type.is_full_object());
        let checksum = match combined {
            Some(combined) => Whole::Combined(combined),
            None => Whole::Composite(Hasher::new(algorithm)),
        };
        Self { md5: Md5::new(), algorithm, checksum, parts: 0, size: 0 }
    }

    /// Appends a part of `bytes` bytes with this entity tag and checksum.
    pub fn append(&mut self, tag: &[u8; 16], checksum: &[u8], bytes: u64) {
        self.md5.update(tag);
        match &mut self.checksum {
            Whole::Composite(hasher) => hasher.feed(checksum),
            Whole::Combined(combined) => combined.append(checksum, bytes),
        }
        self.parts += 1;
        self.size = self.size.saturating_add(bytes);
    }

    /// The digests of all parts that were appended.
    #[must_use]
    pub fn finish(self) -> WholeDigests {
        let (checksum, checksum_type) = match self.checksum {
            Whole::Composite(hasher) => (hasher.finish(), ChecksumType::Composite),
            Whole::Combined(combined) => {
                let value = combined.finish();
                (Checksum { algorithm: self.algorithm, value }, ChecksumType::FullObject)
            }
        };
        let md5: [u8; 16] = self.md5.finalize().into();
        WholeDigests {
            size: self.size,
            parts: self.parts,
            etag: format!("{}-{}", hex::encode(md5), self.parts),
            checksum,
            checksum_type,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digests(algorithm: Algorithm, checksum_type: ChecksumType, parts: &[&[u8]]) -> WholeDigests {
        let mut digests = PartDigests::new(algorithm, checksum_type);
        for part in parts {
            let mut hasher = Hasher::new(algorithm);
            hasher.feed(part);
            let md5: [u8; 16] = Md5::digest(part).into();
            digests.append(&md5, &hasher.finish().value, part.len() as u64);
        }
        digests.finish()
    }

    #[test]
    fn a_composite_checksum_is_that_of_the_checksums() {
        let whole = digests(Algorithm::Sha1, ChecksumType::Composite, &[b"a", b"b"]);
        let mut hasher = Hasher::new(Algorithm::Sha1);
        for part in [b"a", b"b"] {
            let mut own = Hasher::new(Algorithm::Sha1);
            own.feed(part);
            hasher.feed(&own.finish().value);
        }
        assert_eq!(whole.checksum, hasher.finish());
        assert_eq!((whole.size, whole.checksum_type), (2, ChecksumType::Composite));
    }

    #[test]
    fn the_entity_tag_is_the_md5_of_the_md5s_and_their_number() {
        let whole = digests(Algorithm::Crc64nvme, ChecksumType::FullObject, &[b"ab", b"c"]);
        let of_parts = [Md5::digest(b"ab"), Md5::digest(b"c")].concat();
        assert_eq!(whole.etag, format!("{}-2", hex::encode(Md5::digest(of_parts))));
        let mut hasher = Hasher::new(Algorithm::Crc64nvme);
        hasher.feed(b"abc");
        assert_eq!(whole.checksum, hasher.finish());
    }
}
