//! The check of a body as it streams by: its length, its digests, the signatures of its chunks and of its trailer.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use sha2::{Digest, Sha256};
use triptych_crypto::md5_lanes::Md5Sum;

use crate::auth::chunk_signature::ChunkSigner;
use crate::auth::payload::Payload;
use crate::auth::signature::Verified;
use crate::body::body_headers::{BodyHeaders, ChecksumPlan};
use crate::body::checksum::{Algorithm, Checksum, Digested, Digests};
use crate::error::Error;
use crate::request::dialect::Dialect;

/// Checks a body as it streams by: length, digests, and the signatures of chunks and trailer.
#[derive(Debug)]
pub struct Verifier {
    dialect: Dialect,
    length: Option<u64>,
    payload: Payload,
    md5: Option<[u8; 16]>,
    expected: Option<Checksum>,
    trailer: Option<Algorithm>,
    digests: Digests,
    size: u64,
    /// The hash of the chunk that is being read, where chunks are signed.
    chunk: Option<Sha256>,
    signer: Option<ChunkSigner>,
    /// The SHA-256 as it was sent, where it was not in the usual digits.
    sent_hash: Option<Box<str>>,
    is_document: bool,
}

impl Verifier {
    /// A verifier of the body that `headers` describe and `verified` vouches for.
    #[must_use]
    pub fn new(dialect: Dialect, headers: &BodyHeaders, verified: &Verified) -> Self {
        let signed = headers.payload.has_signed_chunks();
        let (expected, trailer) = match &headers.checksum {
            ChecksumPlan::Default | ChecksumPlan::Computed(_) => (None, None),
            ChecksumPlan::Header(checksum) => (Some(checksum.clone()), None),
            ChecksumPlan::Trailer(algorithm) => (None, Some(*algorithm)),
        };
        let hashed = matches!(headers.payload, Payload::Hash(_) | Payload::NoHash);
        let algorithm = headers.checksum.algorithm();
        Self {
            dialect,
            length: headers.length,
            payload: headers.payload,
            md5: headers.md5,
            expected,
            trailer,
            digests: Digests::new(algorithm, hashed && algorithm != Algorithm::Sha256),
            size: 0,
            chunk: signed.then(Sha256::new),
            signer: verified.chunks.clone().filter(|_| signed),
            sent_hash: verified.sent_hash.clone(),
            is_document: false,
        }
    }

    /// The same for a body that is a document.
    #[must_use]
    pub fn of_document(mut self) -> Self {
        self.is_document = true;
        self
    }

    /// The same with another way to the MD5 of the body; nothing was taken yet.
    #[must_use]
    pub fn with_md5(mut self, md5: Box<dyn Md5Sum>) -> Self {
        self.digests = self.digests.with_md5(md5);
        self
    }

    /// The same with a checksum of another algorithm beside the one that is checked; nothing was taken yet.
    #[must_use]
    pub fn with_second(mut self, algorithm: Algorithm) -> Self {
        self.digests = self.digests.with_second(algorithm);
        self
    }

    /// Tells whether its chunks take long to verify, and so have a thread of their own.
    #[must_use]
    pub fn is_slow(&self) -> bool {
        self.signer.as_ref().is_some_and(ChunkSigner::is_slow)
    }

    /// Takes the next bytes of the body.
    ///
    /// # Errors
    /// [`Error::IncompleteBody`] as soon as there are more bytes than were announced.
    pub fn data(&mut self, bytes: &Bytes) -> Result<(), Error> {
        self.size += bytes.len() as u64;
        if let Some(expected) = self.length.filter(|length| self.size > *length) {
            return Err(Error::IncompleteBody { expected, provided: self.size });
        }
        self.digests.feed(bytes);
        if let Some(chunk) = &mut self.chunk {
            chunk.update(bytes);
        }
        Ok(())
    }

    /// Takes the end of a chunk.
    ///
    /// # Errors
    /// [`Error::SignatureDoesNotMatch`].
    pub fn chunk_end(&mut self, signature: Option<&str>) -> Result<(), Error> {
        match (&mut self.signer, &mut self.chunk) {
            (Some(signer), Some(chunk)) => {
                signer.chunk(std::mem::take(chunk), signature.unwrap_or_default())
            }
            _ => Ok(()),
        }
    }

    /// Takes the trailer of a chunked body.
    ///
    /// # Errors
    /// `MalformedTrailer`; `InvalidRequest`; `BodyTerminated` where its signature is missing; `SignatureDoesNotMatch`.
    pub fn trailer(&mut self, fields: &[(String, String)]) -> Result<(), Error> {
        let mut lines = String::new();
        let mut signature = None;
        let mut checksum = None;
        for (name, value) in fields {
            if self.dialect.is_header(name, "x-store-trailer-signature") {
                if signature.replace(value).is_some() {
                    return Err(Error::MalformedTrailer);
                }
                continue;
            }
            lines.push_str(&format!("{name}:{value}\n"));
            let row = self.trailer.map(Algorithm::row);
            let Some(row) = row.filter(|row| self.dialect.is_header(name, row.header)) else {
                return Err(Error::MalformedTrailer);
            };
            // Of a field that stands twice the last one counts, as in the real service.
            checksum = Some((row, value));
        }
        if self.trailer.is_some() && checksum.is_none() {
            return Err(Error::MalformedTrailer);
        }
        if let (Payload::SignedTrailer, Some(signer)) = (self.payload, &mut self.signer) {
            let signature = signature.filter(|_| self.trailer.is_some());
            let reason = "The trailer, or its signature, is missing";
            let signature = signature.ok_or(Error::BodyTerminated { reason })?;
            signer.trailer(&lines, signature)?;
        }
        if let Some((row, value)) = checksum {
            let invalid = || format!("Value for {} trailing header is invalid.", row.header);
            let read = row.algorithm.read(value).ok_or_else(|| Error::request(invalid()))?;
            self.expected = Some(read);
        }
        Ok(())
    }

    /// The digests of the whole body, if it is what was announced.
    ///
    /// # Errors
    /// `IncompleteBody`, `ContentSha256Mismatch`, `Md5Mismatch`, `ChecksumMismatch`.
    pub fn finish(self) -> Result<Digested, Error> {
        if let Some(expected) = self.length.filter(|length| *length != self.size) {
            return Err(Error::IncompleteBody { expected, provided: self.size });
        }
        let digested = self.digests.finish();
        let expected = match self.payload {
            Payload::Hash(expected) => Some(Some(expected)),
            Payload::NoHash => Some(None),
            _ => None,
        };
        if let Some(expected) = expected {
            let own = digested.sha256.map_or_else(|| digested.checksum.value.clone(), Vec::from);
            if expected.is_none_or(|expected| own != expected) {
                let client = expected.map(hex::encode).unwrap_or_default();
                return Err(Error::ContentSha256Mismatch {
                    client: self.sent_hash.map_or(client, String::from),
                    server: hex::encode(own),
                });
            }
        }
        if let Some(expected) = self.md5.filter(|expected| *expected != digested.md5) {
            return Err(Error::Md5Mismatch {
                expected: match self.is_document {
                    true => STANDARD.encode(expected),
                    false => hex::encode(expected),
                },
                calculated: STANDARD.encode(digested.md5),
            });
        }
        if self.expected.is_some_and(|expected| expected != digested.checksum) {
            return Err(Error::ChecksumMismatch {
                algorithm: digested.checksum.algorithm.row().name,
            });
        }
        Ok(digested)
    }
}
