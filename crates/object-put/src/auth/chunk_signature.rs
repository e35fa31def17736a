//! Signatures of chunks and trailers: each is made from the one before it, the first from the request's own.

use std::borrow::Cow;

use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::auth::digest::hmac_sha256;
use crate::auth::key_pair::{KeyPair, without_padding};
use crate::error::{Error, SignatureMismatch};
use crate::request::dialect::Dialect;

/// SHA-256 of nothing.
const EMPTY_HASH: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

/// Verifies the signatures of a body's chunks, in their order.
#[derive(Clone, PartialEq, Eq)]
pub struct ChunkSigner {
    dialect: Dialect,
    key: ChunkKey,
    /// Time and scope, on a line each.
    scope: String,
    previous: String,
    /// The access key, and the request that was signed: who is refused is shown both.
    access_key: String,
    request: String,
}

/// The key that the chunks of a body are signed with.
#[derive(Clone, PartialEq, Eq)]
enum ChunkKey {
    Shared(Zeroizing<[u8; 32]>),
    Pair(KeyPair),
}

impl std::fmt::Debug for ChunkSigner {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("ChunkSigner").finish_non_exhaustive()
    }
}

impl ChunkSigner {
    pub(super) fn new(dialect: Dialect, key: [u8; 32], scope: String, seed: String) -> Self {
        Self::of(dialect, ChunkKey::Shared(Zeroizing::new(key)), scope, seed)
    }

    pub(super) fn with_key_pair(
        dialect: Dialect,
        key: KeyPair,
        scope: String,
        seed: String,
    ) -> Self {
        Self::of(dialect, ChunkKey::Pair(key), scope, seed)
    }

    const fn of(dialect: Dialect, key: ChunkKey, scope: String, previous: String) -> Self {
        Self { dialect, key, scope, previous, access_key: String::new(), request: String::new() }
    }

    /// The same, whose refusals name the access key and show the canonical request.
    pub(super) fn refusing_with(mut self, access_key: &str, request: &str) -> Self {
        access_key.clone_into(&mut self.access_key);
        request.clone_into(&mut self.request);
        self
    }

    /// Tells whether its signatures are those of a key pair: to verify one takes a while.
    #[must_use]
    pub const fn is_slow(&self) -> bool {
        matches!(self.key, ChunkKey::Pair(_))
    }

    /// Checks the signature of the next chunk, whose data has the hash `hash`.
    ///
    /// # Errors
    /// [`Error::SignatureDoesNotMatch`].
    pub fn chunk(&mut self, hash: Sha256, signature: &str) -> Result<(), Error> {
        let hash = hex::encode(hash.finalize());
        let algorithm = match self.key {
            ChunkKey::Shared(_) => Cow::Borrowed(self.dialect.names().chunk_algorithm),
            ChunkKey::Pair(_) => {
                format!("{}-PAYLOAD", self.dialect.names().asymmetric_algorithm).into()
            }
        };
        self.check(&algorithm, &format!("{EMPTY_HASH}\n{hash}"), signature)
    }

    /// Checks the signature of the trailer, whose fields are `lines`: `name:value` and a line feed each.
    ///
    /// # Errors
    /// [`Error::SignatureDoesNotMatch`].
    pub fn trailer(&mut self, lines: &str, signature: &str) -> Result<(), Error> {
        let hash = hex::encode(Sha256::digest(lines.as_bytes()));
        let algorithm = match self.key {
            ChunkKey::Shared(_) => Cow::Borrowed(self.dialect.names().trailer_algorithm),
            ChunkKey::Pair(_) => {
                format!("{}-TRAILER", self.dialect.names().asymmetric_algorithm).into()
            }
        };
        self.check(&algorithm, &hash, signature)
    }

    fn check(&mut self, algorithm: &str, hashes: &str, signature: &str) -> Result<(), Error> {
        let text = |previous: &str| format!("{algorithm}\n{}\n{previous}\n{hashes}", self.scope);
        let whole = text(&self.previous);
        let is_signed = match &self.key {
            ChunkKey::Shared(key) => {
                let own = hex::encode(hmac_sha256(&**key, [whole.as_bytes()]));
                own.as_bytes().ct_eq(signature.as_bytes()).into()
            }
            ChunkKey::Pair(key) => {
                // Clients differ in whether what pads a signature is signed with the next.
                let signature = without_padding(signature);
                let bare = without_padding(&self.previous);
                key.verifies(text(bare).as_bytes(), signature)
                    || (bare != self.previous && key.verifies(whole.as_bytes(), signature))
            }
        };
        if !is_signed {
            return Err(Error::SignatureDoesNotMatch(Box::new(SignatureMismatch {
                provided: signature.to_owned(),
                string_to_sign: whole,
                access_key: self.access_key.clone(),
                canonical_request: self.request.clone(),
            })));
        }
        signature.clone_into(&mut self.previous);
        Ok(())
    }
}
