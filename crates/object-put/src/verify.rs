//! `object-put verify`: records against bodies, and with `--deep` every byte of them.

use std::collections::HashMap;

use triptych_core::blobs::{BlobError, BlobId, Blobs};
use triptych_core::kv::{KeyValue, StoreError, Tx};

use crate::checksum::Digests;
use crate::commit::parts;
use crate::encryption::{Keyring, Opener, SealedRange, sealed_bytes};
use crate::key::Key;
use crate::object::{ObjectVersion, Part, Stored, sealing_context};
use crate::reclaim::each;
use crate::signature::hex;
use crate::tables::{CURRENT, NONCURRENT};

/// How many bodies one step lists.
const STEP: usize = 1_000;

/// What a check found.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Findings {
    /// Versions that were checked, delete markers among them.
    pub versions: u64,
    /// Bytes of their bodies.
    pub bytes: u64,
    /// What is wrong, a sentence each.
    pub faults: Vec<String>,
}

/// Why a check could not be made.
#[derive(Debug, thiserror::Error)]
pub enum VerifyError {
    /// Records cannot be read.
    #[error("records cannot be read: {0}")]
    Store(#[from] StoreError),
    /// Bodies cannot be listed.
    #[error("bodies cannot be listed: {0}")]
    Blobs(#[from] BlobError),
}

/// Checks that every version's body is there and as long as its record says; if `deep`, that it opens, and has the
/// entity tag and the checksum of the record. It blocks, and changes nothing.
///
/// # Errors
/// [`VerifyError`]; a fault of the data is a finding, not an error.
pub fn verify(
    store: &dyn KeyValue,
    blobs: &dyn Blobs,
    keyring: &Keyring,
    deep: bool,
) -> Result<Findings, VerifyError> {
    let check = Check {
        store,
        blobs,
        keyring,
        deep,
        lengths: lengths(blobs)?,
    };
    let mut findings = Findings::default();
    each(store, CURRENT.span(&()), |key, value| {
        let (bucket, key) = CURRENT.read_key(key)?;
        check.version(bucket, key, &CURRENT.decode(value)?, &mut findings);
        Ok(())
    })?;
    each(store, NONCURRENT.span(&()), |key, value| {
        let (bucket, key, _) = NONCURRENT.read_key(key)?;
        check.version(bucket, key, &NONCURRENT.decode(value)?, &mut findings);
        Ok(())
    })?;
    Ok(findings)
}

/// The length of every body.
fn lengths(blobs: &dyn Blobs) -> Result<HashMap<BlobId, u64>, BlobError> {
    let mut lengths = HashMap::new();
    let mut after = None;
    loop {
        let page = blobs.list(after, STEP)?;
        let Some(last) = page.last() else {
            return Ok(lengths);
        };
        after = Some(last.id);
        lengths.extend(page.iter().map(|stat| (stat.id, stat.bytes)));
    }
}

struct Check<'a> {
    store: &'a dyn KeyValue,
    blobs: &'a dyn Blobs,
    keyring: &'a Keyring,
    deep: bool,
    lengths: HashMap<BlobId, u64>,
}

impl Check<'_> {
    fn version(&self, bucket: u64, key: Vec<u8>, version: &ObjectVersion, findings: &mut Findings) {
        findings.versions += 1;
        let Some(stored) = version.stored.as_deref() else {
            return;
        };
        findings.bytes += stored.size;
        let shown = String::from_utf8_lossy(&key).into_owned();
        if let Err(fault) = self.stored(bucket, &shown, version, stored) {
            let id = version.version;
            findings.faults.push(format!(
                "bucket {bucket}, key {shown:?}, version {id}: {fault}"
            ));
        }
    }

    fn stored(
        &self,
        bucket: u64,
        key: &str,
        version: &ObjectVersion,
        stored: &Stored,
    ) -> Result<(), String> {
        let parts = parts(&mut Tx::new(self.store), &stored.parts)
            .map_err(|_| "its list of parts is incomplete".to_owned())?;
        if parts.iter().map(|part| part.bytes).sum::<u64>() != stored.size {
            return Err("its parts are not as long as it is".to_owned());
        }
        for part in &parts {
            match self.lengths.get(&part.blob) {
                None => return Err("its body is missing".to_owned()),
                Some(bytes) if *bytes != sealed_bytes(part.bytes) => {
                    return Err("its body has another length".to_owned());
                }
                Some(_) => {}
            }
        }
        if !self.deep {
            return Ok(());
        }
        let key = Key::new(key.to_owned()).map_err(|_| "its key is none".to_owned())?;
        let context = sealing_context(bucket, &key, version.version.random);
        let mut digests = Digests::new(stored.checksum.algorithm, false);
        for part in &parts {
            self.read(part, &context, &mut digests)?;
        }
        let digested = digests.finish();
        // The entity tag of several parts is no digest of the whole.
        if parts.len() == 1 && hex(&digested.md5) != stored.etag {
            return Err("its bytes do not have its entity tag".to_owned());
        }
        if digested.checksum != stored.checksum {
            return Err("its bytes do not have its checksum".to_owned());
        }
        Ok(())
    }

    fn read(&self, part: &Part, context: &[u8], digests: &mut Digests) -> Result<(), String> {
        let key = self
            .keyring
            .open(&part.sealed, context)
            .map_err(|error| error.to_string())?;
        let range = SealedRange::of(&(0..part.bytes), part.bytes);
        let unread = |error: BlobError| format!("its body cannot be read: {error}");
        let mut reader = self
            .blobs
            .open(part.blob, range.bytes.clone())
            .map_err(unread)?;
        let mut opener = Opener::new(key, &range);
        while let Some(sealed) = reader.next().wait().map_err(unread)? {
            opener.feed(sealed);
            while let Some(bytes) = opener.open_next().map_err(|error| error.to_string())? {
                digests.feed(&bytes);
            }
        }
        if opener.is_done() {
            Ok(())
        } else {
            Err("its body ends early".to_owned())
        }
    }
}
