//! The header `x-store-content-sha256`.

use std::borrow::Cow;

use hex::FromHex as _;

use crate::error::Error;
use crate::request::fields::Fields;

/// The header that tells how the body is signed.
pub(super) const CONTENT_SHA256: &str = "x-store-content-sha256";
/// Its value where the signature does not cover the body.
pub(super) const UNSIGNED: &str = "UNSIGNED-PAYLOAD";

/// The value of `x-store-content-sha256`: the framing of the body, and what its signature covers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Payload {
    /// The body has this SHA-256.
    Hash([u8; 32]),
    /// The body has a SHA-256 that no body has, for it is none.
    NoHash,
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
            UNSIGNED => Some(Self::Unsigned),
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
            Some(Self::Unsigned) => {
                check_not_framed(fields)?;
                Ok(Some((Self::Unsigned, text)))
            }
            Some(payload) => Ok(Some((payload, text))),
            None => Err(Error::InvalidContentSha256 { value: text.into_owned() }),
        }
    }

    /// The payload that the header of a presigned URL names, with its value; `None` without the header. A URL says nothing of framings there:
    /// whatever is no word for an unsigned body is compared with its hash, as in the real service.
    pub(super) fn of_url<'r>(fields: &Fields<'r>) -> Result<Option<(Self, Cow<'r, str>)>, Error> {
        let read = |text: &str| match text {
            UNSIGNED => Self::Unsigned,
            _ => <[u8; 32]>::from_hex(text).map_or(Self::NoHash, Self::Hash),
        };
        Ok(fields.get(CONTENT_SHA256)?.map(|text| (read(&text), text)))
    }

    /// The text of a hash as it was sent, where the hash alone does not tell it.
    pub(super) fn sent_hash(self, text: &str) -> Option<Box<str>> {
        let is_told = match self {
            Self::Hash(_) => !text.bytes().any(|byte| byte.is_ascii_uppercase()),
            Self::NoHash => false,
            _ => true,
        };
        (!is_told).then(|| text.into())
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

/// Tells whether `encoding`, one of a `Content-Encoding`, is the framing of a body rather than the object's own.
#[must_use]
pub fn is_framing(encoding: &str) -> bool {
    encoding.trim().eq_ignore_ascii_case("aws-chunked")
}

/// Refuses an unsigned body that says it is framed: nothing would take its frames off, and they would be stored as its bytes.
fn check_not_framed(fields: &Fields<'_>) -> Result<(), Error> {
    let encoding = fields.get("content-encoding")?.filter(|all| all.split(',').any(is_framing));
    let Some(encoding) = encoding else {
        return Ok(());
    };
    let reason = "aws-chunked encoding is not supported when x-store-content-sha256 UNSIGNED-PAYLOAD is supplied.";
    Err(Error::argument("Content-Encoding", Some(&encoding), reason))
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

    #[test]
    fn a_header_of_a_url_is_a_hash_whatever_it_says() {
        let of = |value: &str| {
            let fields = Fields::of(vec![("x-amz-content-sha256", value.as_bytes())]);
            let fields = fields.in_dialect(crate::request::dialect::Dialect::Amz);
            let (payload, text) = Payload::of_url(&fields).unwrap().unwrap();
            (payload, payload.sent_hash(&text).map(String::from))
        };
        let (lower, upper) = (hex::encode([0xAB; 32]), hex::encode_upper([0xAB; 32]));
        assert_eq!(of("UNSIGNED-PAYLOAD"), (Payload::Unsigned, None));
        assert_eq!(of(&lower), (Payload::Hash([0xAB; 32]), None));
        assert_eq!(of(&upper), (Payload::Hash([0xAB; 32]), Some(upper.clone())));
        for value in ["", "unsigned-payload", "STREAMING-UNSIGNED-PAYLOAD-TRAILER", "ab"] {
            assert_eq!(of(value), (Payload::NoHash, Some(value.to_owned())), "{value}");
        }
    }
}
