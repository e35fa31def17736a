//! The header `x-store-content-sha256`.

use std::borrow::Cow;

use hex::FromHex as _;

use crate::error::Error;
use crate::request::fields::Fields;

/// The header that tells how the body is signed.
pub(super) const CONTENT_SHA256: &str = "x-store-content-sha256";

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
    /// The file of a form: the form tells where it ends.
    File,
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
                None => <[u8; 32]>::from_hex(value).ok().map(Self::Hash),
            },
        }
    }

    /// The payload that the header of a request names, with its value; `None` without the header. `streaming_signed` as for [`Payload::read`].
    pub(super) fn of_fields<'r>(
        fields: &Fields<'r>,
        streaming_signed: &str,
    ) -> Result<Option<(Self, Cow<'r, str>)>, Error> {
        let Some(text) = fields.get(CONTENT_SHA256)? else {
            return Ok(None);
        };
        match Self::read(&text, streaming_signed) {
            Some(payload) => Ok(Some((payload, text))),
            None => Err(Error::InvalidContentSha256 { value: text.into_owned() }),
        }
    }

    /// Tells whether each chunk of the body is signed.
    #[must_use]
    pub const fn has_signed_chunks(self) -> bool {
        matches!(self, Self::Signed | Self::SignedTrailer)
    }

    /// Tells whether the body is framed as aws-chunked.
    #[must_use]
    pub const fn is_chunked(self) -> bool {
        matches!(self, Self::UnsignedTrailer | Self::Signed | Self::SignedTrailer)
    }
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
        let hash = hex::encode([0xAB; 32]);
        assert_eq!(read(&hash), Some(Payload::Hash([0xAB; 32])));
        for value in ["", "abc", "STREAMING", &"g".repeat(64), &"a".repeat(63), &"é".repeat(64)] {
            assert_eq!(read(value), None, "{value}");
        }
    }
}
