//! The lines that every archive has.

use std::borrow::Cow;

use base64::Engine as _;
use base64::alphabet::STANDARD as ALPHABET;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::SLICE_BYTES;

/// Base64 that ends in padding.
const PADDED: GeneralPurpose = GeneralPurpose::new(&ALPHABET, GeneralPurposeConfig::new());
/// Base64 without padding; it reads both.
const UNPADDED: GeneralPurpose = GeneralPurpose::new(
    &ALPHABET,
    GeneralPurposeConfig::new()
        .with_encode_padding(false)
        .with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Head {
    pub(super) format: String,
    pub(super) version: u32,
}

/// A slice of a body.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Slice<'a> {
    /// Its bytes, base64.
    #[serde(borrow)]
    slice: Cow<'a, str>,
}

impl Slice<'_> {
    pub(super) fn of(bytes: &[u8], is_padded: bool) -> Self {
        let engine = if is_padded { &PADDED } else { &UNPADDED };
        Self { slice: engine.encode(bytes).into() }
    }

    /// The bytes in a line that is a slice; `None` if it is none.
    pub(super) fn read(line: &[u8]) -> Option<Bytes> {
        let slice = serde_json::from_slice::<Slice<'_>>(line).ok()?;
        let bytes = UNPADDED.decode(slice.slice.as_bytes()).ok()?;
        (1..=SLICE_BYTES).contains(&bytes.len()).then(|| bytes.into())
    }
}

/// The last line: without it the file was cut off.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct End {
    /// Number of rows.
    pub rows: u64,
    /// Number of bodies, in formats that say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bodies: Option<u64>,
    /// The SHA-256 of all lines before this one, in hexadecimal digits.
    pub sha256: String,
}

impl End {
    /// Bytes at the end of a file that hold its last line.
    pub const BYTES_MAX: u64 = 512;

    /// The last line of a file, found in its last bytes; `None` if it has none.
    #[must_use]
    pub fn find(tail: &[u8]) -> Option<Self> {
        let lines = tail.strip_suffix(b"\n")?;
        let last = lines.rsplit(|byte| *byte == b'\n').next()?;
        serde_json::from_slice(last).ok()
    }

    /// Tells whether a line is the last one.
    pub(super) fn is_at(line: &[u8]) -> bool {
        line.starts_with(b"{\"rows\":")
    }
}

/// Bytes as text in the small files of an import.
pub(super) fn to_text(bytes: &[u8]) -> String {
    UNPADDED.encode(bytes)
}

/// The bytes of such a text.
pub(super) fn from_text(text: &str) -> Option<Bytes> {
    UNPADDED.decode(text).ok().map(Bytes::from)
}
