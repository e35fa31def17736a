//! The bytes of a log file: its header, and frames of rows.

use std::io;

use bytes::{Buf as _, Bytes};

use super::WalError;
use crate::kv::Version;
use crate::kv::sled::rows::Rows;

const MAGIC: [u8; 8] = *b"kvjrnl01";
/// The header of a file: the magic, the salt of its checksums, their checksum.
pub(super) const FILE_HEADER_BYTES: usize = 20;
/// The header of a frame: the version before it, its own last one, the length and the checksum of its rows, the checksum of these four.
pub(super) const FRAME_HEADER_BYTES: usize = 28;
/// The header of a row: its version, the lengths of key and value, which come behind it.
const ROW_HEADER_BYTES: usize = 14;
/// The length of a value that is deleted.
const DELETED: u32 = u32::MAX;

pub(super) fn file_header(salt: [u8; 8]) -> [u8; FILE_HEADER_BYTES] {
    let mut header = [0; FILE_HEADER_BYTES];
    let (said, sum) = header.split_at_mut(16);
    said.copy_from_slice([MAGIC, salt].as_flattened());
    sum.copy_from_slice(&crc32c::crc32c(said).to_be_bytes());
    header
}

/// The salt of a file, or nothing if its header is not whole.
pub(super) fn salt_of(bytes: &[u8]) -> Option<[u8; 8]> {
    let salt = bytes.get(8..16)?.try_into().ok()?;
    bytes.starts_with(&file_header(salt)).then_some(salt)
}

pub(super) fn encode(
    frame: &mut Vec<u8>,
    salt: [u8; 8],
    previous: Version,
    last: Version,
    rows: &Rows,
) -> io::Result<()> {
    frame.clear();
    frame.resize(FRAME_HEADER_BYTES, 0);
    for (key, (value, version)) in rows {
        let key_bytes = u16::try_from(key.len()).map_err(too_long)?;
        let value_bytes = match value {
            Some(value) => u32::try_from(value.len()).map_err(too_long)?,
            None => DELETED,
        };
        frame.extend_from_slice(&version.0.to_be_bytes());
        frame.extend_from_slice(&key_bytes.to_be_bytes());
        frame.extend_from_slice(&value_bytes.to_be_bytes());
        frame.extend_from_slice(key);
        frame.extend_from_slice(value.as_deref().unwrap_or_default());
    }
    if let Some((head, rows)) = frame.split_first_chunk_mut::<FRAME_HEADER_BYTES>() {
        let length = u32::try_from(rows.len()).map_err(too_long)?;
        *head = frame_header(salt, previous, last, length, crc32c::crc32c(rows));
    }
    Ok(())
}

pub(super) fn frame_header(
    salt: [u8; 8],
    previous: Version,
    last: Version,
    length: u32,
    sum: u32,
) -> [u8; FRAME_HEADER_BYTES] {
    let mut head = [0; FRAME_HEADER_BYTES];
    let (said, own) = head.split_at_mut(FRAME_HEADER_BYTES - 4);
    let versions = [previous.0.to_be_bytes(), last.0.to_be_bytes()];
    let lengths = [length.to_be_bytes(), sum.to_be_bytes()];
    let (first, second) = said.split_at_mut(16);
    first.copy_from_slice(versions.as_flattened());
    second.copy_from_slice(lengths.as_flattened());
    let sum = crc32c::crc32c_append(crc32c::crc32c(&salt), said);
    own.copy_from_slice(&sum.to_be_bytes());
    head
}

pub(super) fn too_long(error: std::num::TryFromIntError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// The header of a whole frame.
pub(super) struct Frame {
    pub(super) previous: Version,
    pub(super) last: Version,
    /// The length of its rows.
    pub(super) length: usize,
}

impl Frame {
    /// The frame at the start of `bytes`, if there is a whole one.
    pub(super) fn read(bytes: &[u8], salt: [u8; 8]) -> Option<Self> {
        let (head, rest) = bytes.split_first_chunk::<FRAME_HEADER_BYTES>()?;
        let mut fields = head.as_slice();
        let (previous, last) = (Version(fields.get_u64()), Version(fields.get_u64()));
        let (length, sum) = (fields.get_u32(), fields.get_u32());
        // Before any sum is taken: nearly all that a search meets ends here.
        let rows = rest.get(..length as usize).filter(|_| previous < last)?;
        let is_whole =
            *head == frame_header(salt, previous, last, length, sum) && crc32c::crc32c(rows) == sum;
        is_whole.then_some(Self { previous, last, length: length as usize })
    }
}

/// Adds the rows of a frame to those of the frames before it.
pub(super) fn add_rows(mut frame: Bytes, rows: &mut Rows) -> Result<(), WalError> {
    while !frame.is_empty() {
        let cut = WalError::Damaged("has a row that is cut short");
        if frame.len() < ROW_HEADER_BYTES {
            return Err(cut);
        }
        let version = Version(frame.get_u64());
        let (key_bytes, value_bytes) = (usize::from(frame.get_u16()), frame.get_u32());
        let has_value = value_bytes != DELETED;
        let value_bytes = if has_value { value_bytes as usize } else { 0 };
        if frame.len() < key_bytes + value_bytes {
            return Err(cut);
        }
        let key = frame.split_to(key_bytes);
        let value = frame.split_to(value_bytes);
        rows.insert(key, (has_value.then_some(value), version));
    }
    Ok(())
}
