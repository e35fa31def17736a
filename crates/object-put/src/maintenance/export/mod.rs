//! A whole store as lines of text, and such lines as a store again: bodies, versions, locks, accounts and keys with it.
//!
//! A line is a row, and the bodies that the row names follow it in slices. Bodies stand there as they are stored, encrypted: whoever
//! imports an export needs the root keys of the store that it is from.

mod read;
mod write;

pub use read::import;
pub use write::export;

use std::borrow::Cow;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD_NO_PAD;
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use triptych_core::blobs::{BlobError, BlobId};
use triptych_core::kv::StoreError;

use crate::store::part_list::Parts;
use crate::store::tables::{CURRENT, GARBAGE, NONCURRENT, PARTS, UPLOAD_PARTS};
use crate::store::version::ObjectVersion;

/// The name of the format in the first line.
const FORMAT: &str = "object-put-export";
/// The version of the form of the lines.
const VERSION: u32 = 1;
/// A body stands in slices of so many bytes, a line each.
const SLICE_BYTES: usize = 48 * 1024;
/// No line is longer: the longest value in base64, with its key and the names of 500 bodies.
const LINE_BYTES_MAX: u64 = 256 * 1024;

/// Reasons for which a store could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The file cannot be read or written.
    #[error("the file cannot be used")]
    Text(#[from] std::io::Error),
    /// The file is no export, or not a whole one.
    #[error("line {line}: {reason}")]
    Refused {
        /// The line, counted from 1.
        line: u64,
        /// The fault.
        reason: String,
    },
    /// The records cannot be read or written.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The bodies cannot be read or written.
    #[error(transparent)]
    Blob(#[from] BlobError),
}

/// The first line.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    format: String,
    version: u32,
}

/// A row.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    /// Its key, base64.
    #[serde(borrow)]
    key: Cow<'a, str>,
    /// The format of its value.
    format: u8,
    /// A value that is JSON, as it is stored.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    json: Option<&'a RawValue>,
    /// Any other value, base64.
    #[serde(borrow, default, skip_serializing_if = "Option::is_none")]
    bytes: Option<Cow<'a, str>>,
    /// The bodies whose slices follow, in order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    bodies: Vec<Body>,
}

/// A body that a row names.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Body {
    /// The name by which the value has it.
    #[serde(with = "crate::store::part_list::blob_id")]
    blob: BlobId,
    /// Its length, encrypted.
    bytes: u64,
}

/// A slice of a body.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Slice<'a> {
    /// Its bytes, base64.
    #[serde(borrow)]
    slice: Cow<'a, str>,
}

/// The last line: without it the file was cut off.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct End {
    rows: u64,
    bodies: u64,
    /// The SHA-256 of all lines before this one, in hexadecimal digits.
    sha256: String,
}

/// The start of the keys of a table.
fn is_of(key: &[u8], span: &triptych_core::kv::Span) -> bool {
    key.starts_with(&span.prefix)
}

/// Tells whether a row names bodies that nothing else names any more: it is not exported.
fn is_garbage(key: &[u8]) -> bool {
    is_of(key, &GARBAGE.span(&()))
}

/// The bodies that a row names. Every table whose records name bodies has its arm here, as in
/// [`referenced_blobs`](crate::maintenance::garbage::referenced_blobs).
fn blobs_of_row(key: &[u8], value: &Bytes) -> Result<Vec<BlobId>, StoreError> {
    let of_version = |version: &ObjectVersion| match version.data.as_deref().map(|data| &data.parts)
    {
        Some(Parts::One(part)) => vec![part.blob],
        Some(Parts::Chunks { .. }) | None => Vec::new(),
    };
    if is_of(key, &CURRENT.span(&())) {
        return CURRENT.decode(key, value).map(|version| of_version(&version));
    }
    if is_of(key, &NONCURRENT.span(&())) {
        return NONCURRENT.decode(key, value).map(|version| of_version(&version));
    }
    if is_of(key, &PARTS.span(&())) {
        return PARTS
            .decode(key, value)
            .map(|chunk| chunk.0.iter().map(|listed| listed.part.blob).collect());
    }
    if is_of(key, &UPLOAD_PARTS.span(&())) {
        return UPLOAD_PARTS.decode(key, value).map(|part| vec![part.listed.part.blob]);
    }
    Ok(Vec::new())
}

/// Tells whether a row is written with a checksum, which an export leaves out: the names of bodies in it change.
fn is_checked(key: &[u8]) -> bool {
    [CURRENT.span(&()), NONCURRENT.span(&()), PARTS.span(&())].iter().any(|span| is_of(key, span))
}

/// A value in which each body has its new name: as bytes, or as the text that records have for them. The names are random, so nothing
/// else reads the same.
fn renamed(value: &[u8], names: &[(BlobId, BlobId)]) -> Bytes {
    let mut value = value.to_vec();
    for (old, new) in names {
        replace(&mut value, &old.0, &new.0);
        let text = |id: &BlobId| STANDARD_NO_PAD.encode(id.0).into_bytes();
        replace(&mut value, &text(old), &text(new));
    }
    value.into()
}

/// Replaces `from` by `to`, which is as long, wherever it stands.
fn replace(value: &mut [u8], from: &[u8], to: &[u8]) {
    for place in places_of(value, from) {
        if let Some(found) = value.get_mut(place..place + from.len()) {
            found.copy_from_slice(to);
        }
    }
}

fn places_of(value: &[u8], wanted: &[u8]) -> Vec<usize> {
    let windows = value.windows(wanted.len()).enumerate();
    windows.filter(|(_, window)| *window == wanted).map(|(place, _)| place).collect()
}
