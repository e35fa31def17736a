//! The bodies that rows name, held against those that are there.

use crate::blobs::{BlobError, BlobId, BlobStat, Blobs};
use crate::kv::{KeyValue, Span, rows_of_service};

use super::{ArchiveError, Codec};

/// Rows that one scan reads.
const STEP: usize = 500;

/// A body as a row names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedBody {
    /// Its name.
    pub id: BlobId,
    /// The bytes that it has as it is stored: one of the two, where the row alone does not tell which.
    pub lengths: [u64; 2],
}

impl NamedBody {
    /// A body that has so many bytes.
    #[must_use]
    pub const fn of(id: BlobId, bytes: u64) -> Self {
        Self { id, lengths: [bytes, bytes] }
    }

    /// The body, if it is there and as long as its row says.
    ///
    /// # Errors
    /// [`BodyFault`].
    pub(super) fn stat(&self, blobs: &dyn Blobs) -> Result<BlobStat, BodyFault> {
        let stat = blobs.stat(self.id)?;
        match self.lengths.contains(&stat.bytes) {
            true => Ok(stat),
            false => Err(BodyFault::Length { bytes: stat.bytes, named: self.lengths[0] }),
        }
    }
}

/// Faults of a body that a row names.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BodyFault {
    /// There is none of that name.
    #[error("it is gone")]
    Gone,
    /// It is not as long as its row says.
    #[error("it has {bytes} bytes, and its row says {named}")]
    Length {
        /// Its length.
        bytes: u64,
        /// That of its row.
        named: u64,
    },
    /// It ended while it was read.
    #[error("it ends after {0} bytes")]
    EndsEarly(u64),
    /// It cannot be read, or is not what was written.
    #[error("it cannot be read: {0}")]
    Unreadable(BlobError),
}

impl From<BlobError> for BodyFault {
    fn from(error: BlobError) -> Self {
        match error {
            BlobError::Absent => Self::Gone,
            other => Self::Unreadable(other),
        }
    }
}

/// The name of a body in a sentence: that of its file, and the row that names it.
pub(super) fn described(id: BlobId, key: &[u8]) -> String {
    format!("the body {} of the row {}", hex::encode(id.0), key.escape_ascii())
}

/// Holds every row against the bodies that it names: each is there, and as long as the row says. Each fault is told as it is found. It
/// blocks, and changes nothing; memory does not grow with the store.
///
/// # Errors
/// `Store` if rows cannot be read.
pub fn check_bodies(
    codec: &dyn Codec,
    store: &dyn KeyValue,
    blobs: &dyn Blobs,
    told: &mut dyn FnMut(String),
) -> Result<(), ArchiveError> {
    let mut span = rows_of_service(Span::default());
    loop {
        let page = store.scan(&span, STEP)?;
        for (key, value) in &page.rows {
            match codec.bodies(key, value) {
                Err(error) => told(format!("the row {}: {error}", key.escape_ascii())),
                Ok(named) => named.iter().for_each(|body| {
                    if let Err(fault) = body.stat(blobs) {
                        told(format!("{}: {fault}", described(body.id, key)));
                    }
                }),
            }
        }
        match page.rows.into_iter().next_back() {
            Some((key, _)) if page.more => span.from = Some(key.to_vec()),
            _ => return Ok(()),
        }
    }
}
