//! Parts that signatures of both versions have: the request line that they cover, tokens, and the outcome of their verification.

use crate::auth::account::AccessKey;
use crate::auth::chunk_signature::ChunkSigner;
use crate::auth::digest::same_secret;
use crate::auth::key_pair::Claim;
use crate::auth::payload::Payload;
use crate::error::Error;

/// The request line, raw: signatures cover it as it was sent.
#[derive(Debug, Clone, Copy)]
pub struct RequestLine<'r> {
    /// The method.
    pub method: &'r str,
    /// The path, percent-encoded.
    pub path: &'r str,
    /// The query, percent-encoded; empty for none.
    pub query: &'r str,
    /// The bucket that a virtual host names, which the older scheme signs as a part of the path.
    pub host_bucket: Option<&'r str>,
    /// Tells whether a parameter names a part of a bucket or an object: the older scheme covers those of all parameters.
    pub is_subresource: fn(&str) -> bool,
}

/// Credentials that were verified, but for the claim that may be left.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    /// The part of the body that the signature covers.
    pub payload: Payload,
    /// The signer of chunks, where the payload has chunk signatures.
    pub chunks: Option<ChunkSigner>,
    /// The signature with a key pair, which is still to be verified.
    pub claim: Option<Box<Claim>>,
    /// The SHA-256 of the body as the request says it, where the payload does not tell how.
    pub sent_hash: Option<Box<str>>,
}

impl Verified {
    /// A body whose chunks nobody signed.
    #[must_use]
    pub const fn unsigned(payload: Payload) -> Self {
        Self { payload, chunks: None, claim: None, sent_hash: None }
    }
}

/// A temporary key comes with its token, and no other key with any.
pub(crate) fn check_token(key: &AccessKey, sent: Option<&str>) -> Result<(), Error> {
    let holds = match (&key.token, sent) {
        (None, None) => true,
        (Some(token), Some(sent)) => same_secret(token.reveal(), sent),
        _ => false,
    };
    if holds { Ok(()) } else { Err(Error::InvalidToken) }
}
