//! Signatures of chunks and trailers: each is made from the one before it, the first from the request's own.

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use crate::auth::digest::hmac_sha256;
use crate::error::{Error, SignatureMismatch};
use crate::request::dialect::Dialect;

/// SHA-256 of nothing.
const EMPTY_HASH: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// Verifies the signatures of a body's chunks, in their order.
#[derive(Clone, PartialEq, Eq)]
pub struct ChunkSigner {
    dialect: Dialect,
    key: [u8; 32],
    /// Time and scope, on a line each.
    scope: String,
    previous: String,
}

impl std::fmt::Debug for ChunkSigner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChunkSigner").finish_non_exhaustive()
    }
}

impl Drop for ChunkSigner {
    fn drop(&mut self) {
        zeroize::Zeroize::zeroize(&mut self.key);
    }
}

impl ChunkSigner {
    pub(super) const fn new(dialect: Dialect, key: [u8; 32], scope: String, seed: String) -> Self {
        Self { dialect, key, scope, previous: seed }
    }

    /// Checks the signature of the next chunk, whose data has the hash `hash`.
    ///
    /// # Errors
    /// [`Error::SignatureDoesNotMatch`].
    pub fn chunk(&mut self, hash: Sha256, signature: &str) -> Result<(), Error> {
        let hash = hex::encode(hash.finalize());
        let algorithm = self.dialect.names().chunk_algorithm;
        let text = format!("{algorithm}\n{}\n{}\n{EMPTY_HASH}\n{hash}", self.scope, self.previous);
        self.check(text, signature)
    }

    /// Checks the signature of the trailer, whose fields are `lines`: `name:value` and a line feed each.
    ///
    /// # Errors
    /// [`Error::SignatureDoesNotMatch`].
    pub fn trailer(&mut self, lines: &str, signature: &str) -> Result<(), Error> {
        let hash = hex::encode(Sha256::digest(lines.as_bytes()));
        let algorithm = self.dialect.names().trailer_algorithm;
        let text = format!("{algorithm}\n{}\n{}\n{hash}", self.scope, self.previous);
        self.check(text, signature)
    }

    fn check(&mut self, text: String, signature: &str) -> Result<(), Error> {
        let own = hex::encode(hmac_sha256(&self.key, [text.as_bytes()]));
        if !bool::from(own.as_bytes().ct_eq(signature.as_bytes())) {
            return Err(Error::SignatureDoesNotMatch(Box::new(SignatureMismatch {
                provided: signature.to_owned(),
                string_to_sign: text,
                ..SignatureMismatch::default()
            })));
        }
        self.previous = own;
        Ok(())
    }
}
