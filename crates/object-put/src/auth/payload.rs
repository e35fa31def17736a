//! Signatures: who sent a request, and that nobody changed it.
//!
//! [`Credentials::read`] takes what a request says about its sender; [`Credentials::verify`] proves it with the key's secret.
//! Between the two the shell looks the key up.

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Digest, Sha256};

/// Milliseconds that the clocks of client and server may be apart.
pub const SKEW_MILLIS_MAX: i64 = 15 * 60 * 1000;
/// The longest that a presigned URL may be valid.
pub const PRESIGNED_SECONDS_MAX: u64 = 604_800;

/// The value of `x-store-content-sha256`: the framing of the body, and what its signature covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload {
    /// The body has this SHA-256.
    Hash([u8; 32]),
    /// The signature does not cover the body.
    Unsigned,
    /// aws-chunked, without signatures, perhaps with a trailer.
    UnsignedTrailer,
    /// aws-chunked, each chunk signed.
    Signed,
    /// aws-chunked, each chunk and the trailer signed.
    SignedTrailer,
}

impl Payload {
    /// Reads the header's value; `streaming_signed` is the dialect's start of the signed modes.
    #[must_use]
    pub fn read(value: &str, streaming_signed: &str) -> Option<Self> {
        match value {
            "UNSIGNED-PAYLOAD" => Some(Self::Unsigned),
            "STREAMING-UNSIGNED-PAYLOAD-TRAILER" => Some(Self::UnsignedTrailer),
            _ => match value.strip_prefix(streaming_signed) {
                Some("") => Some(Self::Signed),
                Some("-TRAILER") => Some(Self::SignedTrailer),
                Some(_) => None,
                None => unhex(value).map(Self::Hash),
            },
        }
    }

    /// Tells whether the body is framed as aws-chunked.
    #[must_use]
    pub const fn is_chunked(self) -> bool {
        matches!(self, Self::UnsignedTrailer | Self::Signed | Self::SignedTrailer)
    }
}

/// Lower-case hexadecimal digits of `bytes`.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    let digit = |nibble: u8| DIGITS.get(usize::from(nibble)).copied().unwrap_or_default();
    let mut text = Vec::with_capacity(2 * bytes.len());
    text.extend(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]));
    String::from_utf8(text).unwrap_or_default()
}

/// The 32 bytes that 64 hexadecimal digits stand for.
#[must_use]
pub fn unhex(text: &str) -> Option<[u8; 32]> {
    let digit = |byte: u8| char::from(byte).to_digit(16);
    let (pairs, rest) = text.as_bytes().as_chunks::<2>();
    if pairs.len() != 32 || !rest.is_empty() {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, [high, low]) in bytes.iter_mut().zip(pairs) {
        *byte = u8::try_from((digit(*high)? << 4) | digit(*low)?).ok()?;
    }
    Some(bytes)
}

/// The access key id that goes with a secret that was made here: it depends on the secret and tells nothing about it.
#[must_use]
pub fn key_id(secret: &str) -> String {
    let digest = hmac_sha256(secret.as_bytes(), [&b"access key id"[..]]);
    let digits: String = hex(&digest).chars().take(16).collect();
    format!("OPUT{}", digits.to_ascii_uppercase())
}

pub(crate) fn sha256(bytes: &[u8]) -> [u8; 32] {
    Sha256::digest(bytes).into()
}

pub(crate) fn hmac_sha256<'p>(key: &[u8], parts: impl IntoIterator<Item = &'p [u8]>) -> [u8; 32] {
    let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) else {
        return [0; 32]; // HMAC takes keys of any length.
    };
    parts.into_iter().for_each(|part| mac.update(part));
    mac.finalize().into_bytes().into()
}

pub(crate) fn hmac_sha1(key: &[u8], text: &[u8]) -> [u8; 20] {
    let Ok(mut mac) = Hmac::<Sha1>::new_from_slice(key) else {
        return [0; 20]; // HMAC takes keys of any length.
    };
    mac.update(text);
    mac.finalize().into_bytes().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn payload_modes_are_read_in_their_dialect() {
        let amz = "STREAMING-AWS4-HMAC-SHA256-PAYLOAD";
        let read = |value| Payload::read(value, amz);
        assert_eq!(read("UNSIGNED-PAYLOAD"), Some(Payload::Unsigned));
        assert_eq!(read("STREAMING-AWS4-HMAC-SHA256-PAYLOAD"), Some(Payload::Signed));
        assert_eq!(
            read("STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER"),
            Some(Payload::SignedTrailer)
        );
        assert_eq!(read("STREAMING-UNSIGNED-PAYLOAD-TRAILER"), Some(Payload::UnsignedTrailer));
        assert_eq!(read("STREAMING-STORE4-HMAC-SHA256-PAYLOAD"), None);
        let hash = hex(&[0xAB; 32]);
        assert_eq!(read(&hash), Some(Payload::Hash([0xAB; 32])));
        for value in ["", "abc", "STREAMING", &"g".repeat(64), &"a".repeat(63), &"é".repeat(64)] {
            assert_eq!(read(value), None, "{value}");
        }
    }
}
