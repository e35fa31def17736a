//! A whole store as lines of text, and such lines as a store again, bodies with it.
//!
//! The first line is the head, the last the end with the SHA-256 of all lines before it. Each line between is a row, in the order of the
//! keys, and the bodies that a row names follow it in slices. What a row says is the service's own: it gives a [`Codec`].
//!
//! An import says now and then how far it came ([`Checkpoint`]). One that was interrupted goes on from there: whatever came after it is
//! taken away first, so that it ends in the store that an uninterrupted one ends in.

mod checkpoint;
mod export;
mod import;
mod line;
mod lines;
mod named_body;
#[cfg(test)]
pub(crate) mod tests;

pub use checkpoint::{Checkpoint, give_up};
pub use export::export;
pub use import::{Import, Watch};
pub use line::End;
pub use named_body::{BodyFault, NamedBody, check_bodies};

use bytes::Bytes;

use crate::blobs::{BlobError, BlobStat, Blobs};
use crate::id::Ids;
use crate::kv::{KeyValue, StoreError};

/// A body stands in slices of so many bytes, a line each.
const SLICE_BYTES: usize = 48 * 1024;

/// The form of an archive: it stays as it is as long as its version does.
#[derive(Debug)]
pub struct Format {
    /// The name in the first line.
    pub name: &'static str,
    /// The service that writes it.
    pub service: &'static str,
    /// The version of the form of the lines.
    pub version: u32,
    /// No line is longer.
    pub line_bytes_max: u64,
    /// Set if the last line says how many bodies there are.
    pub counts_bodies: bool,
    /// Set if the base64 of slices is padded.
    pub pads_slices: bool,
}

/// A row that was read from its line.
#[derive(Debug)]
pub struct Row {
    /// Its key in the store.
    pub key: Bytes,
    /// Its value, in which bodies do not have their new names yet.
    pub value: Bytes,
    /// The lengths of the bodies whose slices follow.
    pub bodies: Vec<u64>,
}

/// The rows of a service as lines.
pub trait Codec: Sync {
    /// The form of the archive.
    fn format(&self) -> &'static Format;

    /// Does what comes before an export, such as a sweep of what was deleted.
    ///
    /// # Errors
    /// `Store`, `Blob`.
    fn prepare(
        &self,
        _store: &dyn KeyValue,
        _blobs: &dyn Blobs,
        _ids: &mut dyn Ids,
    ) -> Result<(), ArchiveError> {
        Ok(())
    }

    /// The bodies that a stored row names, in their order.
    ///
    /// # Errors
    /// `Corrupt` for a row that is not what its table holds.
    fn bodies(&self, key: &[u8], value: &Bytes) -> Result<Vec<NamedBody>, StoreError>;

    /// A stored row as a line without its end; `None` for one that is left out, whose bodies are left out with it.
    ///
    /// # Errors
    /// `Corrupt` for a row that is not what its table holds.
    fn line(
        &self,
        key: &[u8],
        value: &Bytes,
        bodies: &[BlobStat],
    ) -> Result<Option<String>, StoreError>;

    /// The row in a line.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    fn row(&self, line: &[u8]) -> Result<Row, String>;

    /// The value that is stored for a row whose bodies were kept under new names.
    fn stored(&self, row: &Row, bodies: &[BlobStat]) -> Bytes;
}

/// Reasons for which an archive could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum ArchiveError {
    /// The file cannot be read or written.
    #[error("the file cannot be used")]
    Text(#[from] std::io::Error),
    /// The file is no archive, or not what was written.
    #[error("line {line}: {reason}")]
    Refused {
        /// The line, counted from 1.
        line: u64,
        /// The fault.
        reason: String,
    },
    /// The file ends before its last line: what was read of it may be right.
    #[error("line {line}: the file ends before its end: it was cut off")]
    CutOff {
        /// The line that is missing or not whole, counted from 1.
        line: u64,
    },
    /// The file is not the one that the interrupted import read.
    #[error("it is not the file that this import began with, or it was changed")]
    OtherArchive,
    /// The records cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The bodies cannot be read or written.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// A body is not what its row names.
    #[error("{body}: {fault}")]
    Body {
        /// The body, and its row.
        body: String,
        /// The fault.
        fault: BodyFault,
    },
}
