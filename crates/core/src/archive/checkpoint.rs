//! The place that an import came to, and the way back to it.

use std::collections::BTreeSet;

use bytes::Bytes;
use serde::{Deserialize, Serialize};

use super::line::{from_text, to_text};
use super::{ArchiveError, Codec};
use crate::blobs::{BlobId, Blobs};
use crate::id::Ids;
use crate::kv::{BATCH_BYTES_MAX, Batch, KEY_BYTES_MAX, KeyValue, Span, rows_of_service};

/// Rows that one step reads or deletes: as many keys as any batch holds.
const STEP: usize = BATCH_BYTES_MAX / KEY_BYTES_MAX;
/// Bodies that are looked for together; each such group costs a pass over the rows.
const BODIES_TOGETHER: usize = 200_000;

/// A place in an archive up to which every row and every body is on disk.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Checkpoint {
    /// The digest in the last line of the archive, where the file told it beforehand.
    pub archive: Option<String>,
    /// Bytes that were read.
    pub bytes: u64,
    /// Lines that were read.
    pub lines: u64,
    /// Rows that were read.
    pub rows: u64,
    /// Bodies that were read.
    pub bodies: u64,
    /// The SHA-256 of the bytes that were read, in hexadecimal digits.
    pub sha256: String,
    /// The key of the last row, base64.
    last: String,
    /// Set once the archive was read to its end and is what was written.
    pub is_whole: bool,
}

impl Checkpoint {
    /// The checkpoint of an import that has read nothing yet.
    pub(super) fn at_start() -> Self {
        Self {
            archive: None,
            bytes: 0,
            lines: 0,
            rows: 0,
            bodies: 0,
            sha256: String::new(),
            last: String::new(),
            is_whole: false,
        }
    }

    /// The key of the last row; empty where there was none.
    pub(super) fn last(&self) -> Bytes {
        from_text(&self.last).unwrap_or_default()
    }

    pub(super) fn set_last(&mut self, key: &[u8]) {
        self.last = to_text(key);
    }

    /// Takes away what came after this place: rows, and bodies that no row names.
    pub(super) fn roll_back(
        &self,
        codec: &dyn Codec,
        store: &dyn KeyValue,
        blobs: &dyn Blobs,
        ids: &mut dyn Ids,
    ) -> Result<(), ArchiveError> {
        delete_rows(store, &self.last(), ids)?;
        let mut after = None;
        loop {
            let bodies: Vec<_> =
                blobs.list(after, BODIES_TOGETHER)?.iter().map(|stat| stat.id).collect();
            after = bodies.last().copied();
            if after.is_none() {
                return Ok(());
            }
            for orphan in unnamed(codec, store, bodies)? {
                blobs.delete(orphan).wait()?;
            }
        }
    }
}

/// Takes away what an import has put into a store that was empty before it.
///
/// # Errors
/// `Store`, `Blob`.
pub fn give_up(
    codec: &dyn Codec,
    store: &dyn KeyValue,
    blobs: &dyn Blobs,
    ids: &mut dyn Ids,
) -> Result<(), ArchiveError> {
    Checkpoint::at_start().roll_back(codec, store, blobs, ids)
}

fn delete_rows(store: &dyn KeyValue, after: &[u8], ids: &mut dyn Ids) -> Result<(), ArchiveError> {
    let span = rows_of_service(Span { from: Some(after.to_vec()), ..Span::default() });
    loop {
        let page = store.scan(&span, STEP)?;
        if page.rows.is_empty() {
            return Ok(());
        }
        let writes = page.rows.into_iter().map(|(key, _)| (key, None)).collect();
        let mut batch = Batch { writes, ..Batch::default() };
        ids.fill(&mut batch.id);
        store.commit(batch).wait()?;
    }
}

/// Those of some bodies that no row names.
fn unnamed(
    codec: &dyn Codec,
    store: &dyn KeyValue,
    bodies: Vec<BlobId>,
) -> Result<BTreeSet<BlobId>, ArchiveError> {
    let mut left: BTreeSet<_> = bodies.into_iter().collect();
    let mut span = rows_of_service(Span::default());
    while !left.is_empty() {
        let page = store.scan(&span, STEP)?;
        for (key, value) in &page.rows {
            for body in codec.bodies(key, value)? {
                left.remove(&body.id);
            }
        }
        match page.rows.into_iter().next_back() {
            Some((key, _)) if page.more => span.from = Some(key.to_vec()),
            _ => break,
        }
    }
    Ok(left)
}
