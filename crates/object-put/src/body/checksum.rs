//! The five checksum algorithms, and the digests that are computed while a body streams by.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use sha1::Sha1;
use sha2::{Digest, Sha256};
use triptych_crypto::md5_lanes::Md5Sum;

/// A checksum algorithm (spec §4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
#[expect(missing_docs, reason = "the names are the spec's and say all")]
pub enum Algorithm {
    Crc32,
    Crc32c,
    /// The default: it is computed for whatever brings no checksum.
    #[default]
    Crc64nvme,
    Sha1,
    Sha256,
}

/// One row of the table of algorithms.
#[derive(Debug)]
pub struct AlgorithmRow {
    /// The algorithm.
    pub algorithm: Algorithm,
    /// Its name, in capitals.
    pub name: &'static str,
    /// The header, or trailer, that carries its value.
    pub header: &'static str,
    /// Bytes of a value.
    pub bytes: usize,
}

/// All algorithms, in the spec's order.
pub static ALGORITHMS: [AlgorithmRow; 5] = [
    AlgorithmRow {
        algorithm: Algorithm::Crc32,
        name: "CRC32",
        header: "x-store-checksum-crc32",
        bytes: 4,
    },
    AlgorithmRow {
        algorithm: Algorithm::Crc32c,
        name: "CRC32C",
        header: "x-store-checksum-crc32c",
        bytes: 4,
    },
    AlgorithmRow {
        algorithm: Algorithm::Crc64nvme,
        name: "CRC64NVME",
        header: "x-store-checksum-crc64nvme",
        bytes: 8,
    },
    AlgorithmRow {
        algorithm: Algorithm::Sha1,
        name: "SHA1",
        header: "x-store-checksum-sha1",
        bytes: 20,
    },
    AlgorithmRow {
        algorithm: Algorithm::Sha256,
        name: "SHA256",
        header: "x-store-checksum-sha256",
        bytes: 32,
    },
];

impl Algorithm {
    /// Its row.
    #[must_use]
    pub fn row(self) -> &'static AlgorithmRow {
        let [first, ..] = &ALGORITHMS;
        ALGORITHMS.iter().find(|row| row.algorithm == self).unwrap_or(first)
    }

    /// The algorithm with this name, in any case.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let mut rows = ALGORITHMS.iter();
        rows.find(|row| row.name.eq_ignore_ascii_case(name)).map(|row| row.algorithm)
    }

    /// The checksum with this base64 value; `None` if it is no base64 or not as long as a value is.
    #[must_use]
    pub fn read(self, base64: &str) -> Option<Checksum> {
        let value = STANDARD.decode(base64).ok()?;
        (value.len() == self.row().bytes).then_some(Checksum { algorithm: self, value })
    }
}

/// The bytes that the checksum of an object is of (spec §4).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "SCREAMING_SNAKE_CASE")]
pub enum ChecksumType {
    /// All bytes of the body.
    #[default]
    FullObject,
    /// The checksums of its parts, one after the other.
    Composite,
    /// None: the body grew, and values of its algorithm cannot be put together.
    Unknown,
}

impl ChecksumType {
    /// The type with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::FullObject, Self::Composite].into_iter().find(|own| own.name() == name)
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FullObject => "FULL_OBJECT",
            Self::Composite => "COMPOSITE",
            Self::Unknown => "",
        }
    }

    /// Tells whether it is that of all bytes.
    #[must_use]
    pub const fn is_full_object(&self) -> bool {
        matches!(self, Self::FullObject)
    }
}

/// The checksum of a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checksum {
    /// Its algorithm.
    pub algorithm: Algorithm,
    /// Its bytes.
    #[serde(with = "crate::body::base64_array")]
    pub value: Vec<u8>,
}

impl Checksum {
    /// Its value as headers carry it.
    #[must_use]
    pub fn base64(&self) -> String {
        STANDARD.encode(&self.value)
    }
}

/// A checksum that is being computed.
#[derive(Clone)]
pub enum Hasher {
    /// CRC-32 as in zip.
    Crc32(crc32fast::Hasher),
    /// CRC-32C (Castagnoli).
    Crc32c(u32),
    /// CRC-64/NVME.
    Crc64nvme(Box<crc64fast_nvme::Digest>),
    /// SHA-1.
    Sha1(Sha1),
    /// SHA-256.
    Sha256(Sha256),
}

impl Hasher {
    /// One that has seen nothing.
    #[must_use]
    pub fn new(algorithm: Algorithm) -> Self {
        match algorithm {
            Algorithm::Crc32 => Self::Crc32(crc32fast::Hasher::new()),
            Algorithm::Crc32c => Self::Crc32c(0),
            Algorithm::Crc64nvme => Self::Crc64nvme(Box::new(crc64fast_nvme::Digest::new())),
            Algorithm::Sha1 => Self::Sha1(Sha1::new()),
            Algorithm::Sha256 => Self::Sha256(Sha256::new()),
        }
    }

    /// Takes the next bytes.
    pub fn feed(&mut self, bytes: &[u8]) {
        match self {
            Self::Crc32(hasher) => hasher.update(bytes),
            Self::Crc32c(sum) => *sum = crc32c::crc32c_append(*sum, bytes),
            Self::Crc64nvme(digest) => digest.write(bytes),
            Self::Sha1(hash) => hash.update(bytes),
            Self::Sha256(hash) => hash.update(bytes),
        }
    }

    /// The checksum of all bytes taken.
    #[must_use]
    pub fn finish(self) -> Checksum {
        let (algorithm, value) = match self {
            Self::Crc32(hasher) => (Algorithm::Crc32, hasher.finalize().to_be_bytes().to_vec()),
            Self::Crc32c(sum) => (Algorithm::Crc32c, sum.to_be_bytes().to_vec()),
            Self::Crc64nvme(digest) => {
                (Algorithm::Crc64nvme, digest.sum64().to_be_bytes().to_vec())
            }
            Self::Sha1(hash) => (Algorithm::Sha1, hash.finalize().to_vec()),
            Self::Sha256(hash) => (Algorithm::Sha256, hash.finalize().to_vec()),
        };
        Checksum { algorithm, value }
    }
}

impl std::fmt::Debug for Hasher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hasher").finish_non_exhaustive()
    }
}

/// Digests of a body, computed in one pass: its length, MD5, its checksum, and SHA-256 where the signature covers it.
#[derive(Debug)]
pub struct Digests {
    size: u64,
    md5: Box<dyn Md5Sum>,
    checksum: Hasher,
    second: Option<Hasher>,
    sha256: Option<Sha256>,
}

/// The results of [`Digests`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Digested {
    /// Bytes of the body.
    pub size: u64,
    /// Its MD5.
    pub md5: [u8; 16],
    /// Its checksum.
    pub checksum: Checksum,
    /// A checksum of another algorithm, if asked for.
    pub second: Option<Checksum>,
    /// Its SHA-256, if asked for.
    pub sha256: Option<[u8; 32]>,
}

impl Digests {
    /// Digests of nothing yet. `sha256` asks for SHA-256 beside the checksum.
    #[must_use]
    pub fn new(algorithm: Algorithm, sha256: bool) -> Self {
        Self {
            size: 0,
            md5: Box::new(md5::Md5::new()),
            checksum: Hasher::new(algorithm),
            second: None,
            sha256: sha256.then(Sha256::new),
        }
    }

    /// The same with another way to its MD5; nothing was taken yet.
    #[must_use]
    pub fn with_md5(mut self, md5: Box<dyn Md5Sum>) -> Self {
        self.md5 = md5;
        self
    }

    /// The same with a checksum of another algorithm beside the first; nothing was taken yet.
    #[must_use]
    pub fn with_second(mut self, algorithm: Algorithm) -> Self {
        self.second = Some(Hasher::new(algorithm));
        self
    }

    /// Takes the next bytes of the body.
    pub fn feed(&mut self, bytes: &Bytes) {
        self.size += bytes.len() as u64;
        self.md5.feed(bytes);
        self.checksum.feed(bytes);
        if let Some(second) = &mut self.second {
            second.feed(bytes);
        }
        if let Some(sha256) = &mut self.sha256 {
            sha256.update(bytes);
        }
    }

    /// The results for all bytes taken.
    #[must_use]
    pub fn finish(self) -> Digested {
        Digested {
            size: self.size,
            md5: self.md5.finish(),
            checksum: self.checksum.finish(),
            second: self.second.map(Hasher::finish),
            sha256: self.sha256.map(|sha256| sha256.finalize().into()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_algorithm_gives_its_published_check_value() {
        for (algorithm, hex) in [
            (Algorithm::Crc32, "cbf43926"),
            (Algorithm::Crc32c, "e3069283"),
            (Algorithm::Crc64nvme, "ae8b14860a799888"),
            (Algorithm::Sha1, "f7c3bc1d808e04732adf679965ccc34ca7ae3441"),
            (Algorithm::Sha256, "15e2b0d3c33891ebb0f1ef609ec419420c20e320ce94c65fbc8c3312448eb225"),
        ] {
            for split in 0..=9 {
                let mut hasher = Hasher::new(algorithm);
                hasher.feed(&b"123456789"[..split]);
                hasher.feed(&b"123456789"[split..]);
                let value = hasher.finish().value;
                let text: String = value.iter().map(|byte| format!("{byte:02x}")).collect();
                assert_eq!(text, hex, "{algorithm:?}");
                assert_eq!(value.len(), algorithm.row().bytes);
            }
        }
    }

    #[test]
    fn a_value_of_another_length_is_no_checksum() {
        assert_eq!(Algorithm::Crc32.read("rwg7LQ==").unwrap().base64(), "rwg7LQ==");
        for text in ["", "rwg7LQ", "rwg7LQ==x", "AAAAAAAAAAA=", "!!!!!!=="] {
            assert_eq!(Algorithm::Crc32.read(text), None, "{text}");
        }
    }
}
