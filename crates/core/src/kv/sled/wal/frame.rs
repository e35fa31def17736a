//! The bytes of a log file: its header, and frames of rows.

use std::io;

use bytes::{Buf as _, Bytes};

use super::WalError;
use crate::kv::Version;
use crate::kv::sled::rows::Rows;

/// The magic of a file by its format, today's first.
const MAGICS: [(Format, [u8; 8]); 5] = [
    (Format::Trailed, *b"kvjrnl05"),
    (Format::Ended, *b"kvjrnl04"),
    (Format::Timed, *b"kvjrnl03"),
    (Format::Synced, *b"kvjrnl02"),
    (Format::Plain, *b"kvjrnl01"),
];
/// The header of a file: the magic, the salt of its checksums, their checksum.
pub(super) const FILE_HEADER_BYTES: usize = 20;
/// The header of a frame: the version before it, its own last one, the last one that was on disk before it was written, its time, the
/// length and the checksum of its rows, the checksum of these six.
pub(super) const FRAME_HEADER_BYTES: usize = 44;
/// Bytes of it that name the version that was synced, and of those that name its time.
const FIELD_BYTES: usize = 8;
/// The header of a row: its version, the lengths of key and value, which come behind it.
const ROW_HEADER_BYTES: usize = 14;
/// The length of a value that is deleted.
const DELETED: u32 = u32::MAX;
/// The trailer of a frame: the salt of its file, which nothing held that stood there before. Were the last bytes of a frame a user's, or zeros, a sector that
/// never came to the disk could hold them already.
const TRAILER_BYTES: usize = 8;
/// The mark of an end: the last version before it, its kind, and the checksum of both.
pub(super) const END_BYTES: usize = 16;
/// Bytes that a disk writes all or not.
const SECTOR_BYTES: u64 = 512;
/// Bytes that a file has behind its last frame at the least: a header that was to follow, and an end.
pub(super) const ROOM_BYTES: usize = FRAME_HEADER_BYTES + END_BYTES;

/// A format of frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Format {
    /// Each frame names the version that was synced before it, and its time, and ends with a trailer; behind the last one stands an end.
    Trailed,
    /// The same without trailers.
    Ended,
    /// Each frame names the version that was synced before it, and its time.
    Timed,
    /// Each names the version that was synced before it.
    Synced,
    /// As releases wrote them that took any frame behind a break for damage.
    Plain,
}

impl Format {
    /// The length of a frame's header.
    pub(super) const fn header_bytes(self) -> usize {
        match self {
            Self::Trailed | Self::Ended | Self::Timed => FRAME_HEADER_BYTES,
            Self::Synced => FRAME_HEADER_BYTES - FIELD_BYTES,
            Self::Plain => FRAME_HEADER_BYTES - 2 * FIELD_BYTES,
        }
    }

    /// Bytes of a frame behind its rows.
    const fn trailer_bytes(self) -> usize {
        match self {
            Self::Trailed => TRAILER_BYTES,
            Self::Ended | Self::Timed | Self::Synced | Self::Plain => 0,
        }
    }

    /// Set if an end stands behind the last frame.
    pub(super) const fn is_ended(self) -> bool {
        matches!(self, Self::Trailed | Self::Ended)
    }
}

/// The beginning of a file: its format, and the salt of its checksums.
#[derive(Debug, Clone, Copy)]
pub(super) struct FileHeader {
    pub(super) format: Format,
    pub(super) salt: [u8; 8],
}

/// The header of a file of today's format.
pub(super) fn file_header(salt: [u8; 8]) -> [u8; FILE_HEADER_BYTES] {
    let [(_, magic), ..] = MAGICS;
    file_header_of(magic, salt)
}

fn file_header_of(magic: [u8; 8], salt: [u8; 8]) -> [u8; FILE_HEADER_BYTES] {
    let mut header = [0; FILE_HEADER_BYTES];
    let (said, sum) = header.split_at_mut(16);
    said.copy_from_slice([magic, salt].as_flattened());
    sum.copy_from_slice(&crc32c::crc32c(said).to_be_bytes());
    header
}

/// The end of a log, which stands behind its last frame, and which the next frame is written over: without it, what is left of a file that was cut off
/// would look like all of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LogEndMark {
    /// It was written together with the frame before it, in the same sector as the end of that.
    Written,
    /// It was written once all before it was on disk.
    Synced,
}

impl LogEndMark {
    const ALL: [Self; 2] = [Self::Written, Self::Synced];

    const fn kind(self) -> [u8; 4] {
        match self {
            Self::Written => *b"kvew",
            Self::Synced => *b"kves",
        }
    }

    /// Its bytes behind a version.
    pub(super) fn bytes(self, salt: [u8; 8], last: Version) -> [u8; END_BYTES] {
        let mut end = [0; END_BYTES];
        let (said, sum) = end.split_at_mut(END_BYTES - 4);
        let (version, kind) = said.split_at_mut(8);
        version.copy_from_slice(&last.0.to_be_bytes());
        kind.copy_from_slice(&self.kind());
        sum.copy_from_slice(&checksum(salt, said).to_be_bytes());
        end
    }

    /// The end at the start of `bytes`, and the version before it, if there is a whole one.
    pub(super) fn read(bytes: &[u8], file: FileHeader) -> Option<(Self, Version)> {
        let kind = bytes.get(8..12)?;
        let found = Self::ALL.into_iter().find(|end| end.kind() == kind)?;
        let last = version_at(bytes)?;
        bytes.starts_with(&found.bytes(file.salt, last)).then_some((found, last))
    }
}

/// The version that these bytes begin with, as both headers of frames and ends do.
pub(super) fn version_at(bytes: &[u8]) -> Option<Version> {
    bytes.first_chunk().map(|version| Version(u64::from_be_bytes(*version)))
}

/// Bytes for which a frame whose rows end here is longer, so that its trailer, the end behind it and the header that is written over that lie in one sector:
/// whoever finds the frame whole finds one of the two.
fn padding(rows_end: u64) -> usize {
    let left = (SECTOR_BYTES - rows_end % SECTOR_BYTES) % SECTOR_BYTES;
    if left < (TRAILER_BYTES + FRAME_HEADER_BYTES) as u64 { left as usize } else { 0 }
}

impl FileHeader {
    /// The header of a file, or nothing if it is not whole.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let salt = bytes.get(8..16)?.try_into().ok()?;
        let is_of = |magic: &[u8; 8]| bytes.starts_with(&file_header_of(*magic, salt));
        let found = MAGICS.iter().find(|(_, magic)| is_of(magic));
        found.map(|(format, _)| Self { format: *format, salt })
    }
}

/// The versions that the header of a frame names, and its time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct FrameVersions {
    /// The one before it.
    pub(super) previous: Version,
    /// Its own last one.
    pub(super) last: Version,
    /// The last one that was on disk before it was written.
    pub(super) synced: Version,
    /// The moment at which it was written, in milliseconds since 1970; 0 where it is not told.
    pub(super) time: u64,
}

/// Writes a frame that is to stand at `at`.
pub(super) fn encode(
    frame: &mut Vec<u8>,
    salt: [u8; 8],
    at: u64,
    versions: FrameVersions,
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
    frame.resize(frame.len() + padding(at + frame.len() as u64), 0);
    if let Some((head, rows)) = frame.split_first_chunk_mut::<FRAME_HEADER_BYTES>() {
        let length = u32::try_from(rows.len()).map_err(too_long)?;
        *head = frame_header(salt, versions, length, crc32c::crc32c(rows));
    }
    frame.extend_from_slice(&salt);
    Ok(())
}

pub(super) fn frame_header(
    salt: [u8; 8],
    versions: FrameVersions,
    length: u32,
    sum: u32,
) -> [u8; FRAME_HEADER_BYTES] {
    let FrameVersions { previous, last, synced, time } = versions;
    let mut head = [0; FRAME_HEADER_BYTES];
    let (said, own) = head.split_at_mut(FRAME_HEADER_BYTES - 4);
    let (first, second) = said.split_at_mut(32);
    first
        .copy_from_slice([previous.0, last.0, synced.0, time].map(u64::to_be_bytes).as_flattened());
    second.copy_from_slice([length.to_be_bytes(), sum.to_be_bytes()].as_flattened());
    own.copy_from_slice(&checksum(salt, said).to_be_bytes());
    head
}

/// The checksum of what a frame's header says.
fn checksum(salt: [u8; 8], said: &[u8]) -> u32 {
    crc32c::crc32c_append(crc32c::crc32c(&salt), said)
}

pub(super) fn too_long(error: std::num::TryFromIntError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// The header of a whole frame.
pub(super) struct Frame {
    pub(super) versions: FrameVersions,
    /// The length of the header.
    pub(super) header: usize,
    /// The length of its rows.
    pub(super) length: usize,
    /// The length of what stands behind them.
    pub(super) trailer: usize,
}

impl Frame {
    /// Its length.
    pub(super) const fn bytes(&self) -> usize {
        self.header + self.length + self.trailer
    }

    /// The frame at the start of `bytes`, if there is a whole one.
    pub(super) fn read(bytes: &[u8], file: FileHeader) -> Option<Self> {
        let (frame, sum, rest) = Self::read_header(bytes, file, |length, rest| length <= rest)?;
        let (rows, behind) = rest.split_at_checked(frame.length)?;
        let is_there = behind.starts_with(file.salt.get(..frame.trailer)?);
        (is_there && crc32c::crc32c(rows) == sum).then_some(frame)
    }

    /// The frame whose header stands at the start of `bytes`, if that is whole; its rows are not looked at.
    pub(super) fn peek(bytes: &[u8], file: FileHeader) -> Option<Self> {
        Self::read_header(bytes, file, |_, _| true).map(|(frame, _, _)| frame)
    }

    /// A header, the checksum of its rows, and what comes behind it. `fits` is asked about the length of the rows and of what comes behind
    /// before any sum is taken: nearly all that a search meets ends there.
    fn read_header(
        bytes: &[u8],
        file: FileHeader,
        fits: impl Fn(usize, usize) -> bool,
    ) -> Option<(Self, u32, &[u8])> {
        let header = file.format.header_bytes();
        let (head, rest) = bytes.split_at_checked(header)?;
        let (said, own) = head.split_last_chunk::<4>()?;
        let mut fields = said;
        let (previous, last) = (Version(fields.get_u64()), Version(fields.get_u64()));
        let synced = match file.format {
            Format::Trailed | Format::Ended | Format::Timed | Format::Synced => {
                Version(fields.get_u64())
            }
            // So that every frame behind a break is damage, as it was to who wrote it.
            Format::Plain => last,
        };
        let is_timed = matches!(file.format, Format::Trailed | Format::Ended | Format::Timed);
        let time = if is_timed { fields.get_u64() } else { 0 };
        let (length, sum) = (fields.get_u32() as usize, fields.get_u32());
        if previous >= last || !fits(length, rest.len()) {
            return None;
        }
        let versions = FrameVersions { previous, last, synced, time };
        let is_whole = u32::from_be_bytes(*own) == checksum(file.salt, said);
        let trailer = file.format.trailer_bytes();
        is_whole.then_some((Self { versions, header, length, trailer }, sum, rest))
    }
}

/// The rows of a frame, from its bytes.
pub(in crate::kv::sled) struct FrameRows {
    bytes: Bytes,
    length: usize,
}

/// A row of a frame: its key, its version, its value or `None` where it is deleted, and the offset of the value in the frame's rows.
pub(in crate::kv::sled) struct FrameRow {
    pub(in crate::kv::sled) key: Bytes,
    pub(in crate::kv::sled) version: Version,
    pub(in crate::kv::sled) value: Option<Bytes>,
    pub(in crate::kv::sled) offset: usize,
}

impl FrameRows {
    pub(in crate::kv::sled) const fn new(bytes: Bytes) -> Self {
        let length = bytes.len();
        Self { bytes, length }
    }
}

impl Iterator for FrameRows {
    type Item = Result<FrameRow, WalError>;

    fn next(&mut self) -> Option<Self::Item> {
        let frame = &mut self.bytes;
        let cut = WalError::Damaged("has a row that is cut short");
        let is_zero = |bytes: &[u8]| bytes.iter().all(|byte| *byte == 0);
        // No row has the version of none: these are the bytes for which the frame is longer.
        if is_zero(frame.get(..8).unwrap_or(frame)) {
            return if is_zero(frame) { None } else { Some(Err(cut)) };
        }
        if frame.len() < ROW_HEADER_BYTES {
            return Some(Err(cut));
        }
        let version = Version(frame.get_u64());
        let (key_bytes, value_bytes) = (usize::from(frame.get_u16()), frame.get_u32());
        let has_value = value_bytes != DELETED;
        let value_bytes = if has_value { value_bytes as usize } else { 0 };
        if frame.len() < key_bytes + value_bytes {
            return Some(Err(cut));
        }
        let key = frame.split_to(key_bytes);
        let offset = self.length - frame.len();
        let value = frame.split_to(value_bytes);
        Some(Ok(FrameRow { key, version, value: has_value.then_some(value), offset }))
    }
}

/// Adds the rows of a frame to those of the frames before it.
pub(in crate::kv::sled) fn add_rows(frame: Bytes, rows: &mut Rows) -> Result<(), WalError> {
    for row in FrameRows::new(frame) {
        let FrameRow { key, version, value, .. } = row?;
        rows.insert(key, (value, version));
    }
    Ok(())
}
