//! The write-ahead log: commits that are not yet in sled's file, in two files that take turns.
//!
//! A group of batches is one frame, appended with one write and one sync; an acknowledgement waits for nothing else. A file that
//! is full is written anew from its start once all that it holds is in sled's file on disk, so that most syncs change no length.
//! A frame names the version before it: frames that follow each other make a chain, and what an earlier turn left does not join it.
//! See docs/decisions/2026-11-21-journal.md.

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::Path;
use std::sync::Arc;

use bytes::{Buf, Bytes};

use super::Version;
use super::rows::Rows;
use crate::disk::{Disk, DiskFile};

const NAMES: [&str; 2] = ["journal-0", "journal-1"];
const MAGIC: [u8; 8] = *b"kvjrnl01";
/// The header of a file: the magic, the salt of its checksums, their checksum.
const FILE_HEADER_BYTES: usize = 20;
/// The header of a frame: the version before it, its own last one, the length and the checksum of its rows, the checksum of these four.
const FRAME_HEADER_BYTES: usize = 28;
/// The header of a row: its version, the lengths of key and value, which come behind it.
const ROW_HEADER_BYTES: usize = 14;
/// The length of a value that is deleted.
const DELETED: u32 = u32::MAX;
/// Bytes at which a file is full.
const FILE_BYTES: u64 = 8 * 1024 * 1024;
/// Bytes by which a file grows beyond what it needs: a sync that changes no length is cheaper.
const PREALLOCATED_BYTES: usize = 512 * 1024;

/// Reasons for which a log cannot be opened.
#[derive(Debug, thiserror::Error)]
pub(super) enum WalError {
    #[error(transparent)]
    Disk(#[from] io::Error),
    #[error("the journal {0}")]
    Damaged(&'static str),
}

/// Rows of a log beyond what the tree has on disk.
#[derive(Debug, Default)]
pub(super) struct Recovered {
    pub(super) rows: Rows,
    pub(super) last: Version,
}

/// Both files, open to append.
pub(super) struct Wal {
    files: [WalFile; 2],
    /// The one that takes the next frame.
    current: usize,
    /// Keeps a value that a user chose from being taken for a frame.
    salt: [u8; 8],
    last: Version,
    frame: Vec<u8>,
}

struct WalFile {
    file: Arc<dyn DiskFile>,
    /// The offset of the next frame.
    end: u64,
    /// The length of the file.
    length: u64,
    /// The last version in it.
    last: Version,
}

impl Wal {
    /// Reads what the files in `directory` hold beyond the version up to which the tree is `checkpointed`.
    ///
    /// # Errors
    /// `Disk`; `Damaged` if frames are missing or broken before others that are whole: only the last one can be torn by a crash.
    pub(super) fn recover(
        disk: &dyn Disk,
        directory: &Path,
        checkpointed: Version,
    ) -> Result<Recovered, WalError> {
        let mut files = Vec::new();
        for name in NAMES {
            match disk.open(&directory.join(name)) {
                Ok(file) => files.push(read(&*file)?),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error.into()),
            }
        }
        replay(&files, checkpointed)
    }

    /// Returns whether a file is not there, which `start` makes.
    pub(super) fn is_missing(directory: &Path) -> bool {
        NAMES.iter().any(|name| !directory.join(name).exists())
    }

    /// Starts an empty log whose first frame follows `last`. What the files held is gone, so it must be in the tree, on disk.
    ///
    /// # Errors
    /// As the disk.
    pub(super) fn start(disk: &dyn Disk, directory: &Path, last: Version) -> io::Result<Self> {
        let salt = RandomState::new().hash_one(last.0).to_be_bytes();
        let start = |name: &str| {
            let path = directory.join(name);
            let file = match disk.open_to_write(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => disk.create(&path)?,
                opened => opened?,
            };
            file.truncate(0)?;
            file.write_all_at(&file_header(salt), 0)?;
            file.sync()?;
            Ok::<_, io::Error>(WalFile {
                file,
                end: FILE_HEADER_BYTES as u64,
                length: FILE_HEADER_BYTES as u64,
                last: Version::ABSENT,
            })
        };
        let files = [start(NAMES[0])?, start(NAMES[1])?];
        disk.sync_directory(directory)?;
        Ok(Self { files, current: 0, salt, last, frame: Vec::new() })
    }

    fn file(&mut self) -> &mut WalFile {
        let [first, second] = &mut self.files;
        if self.current == 0 { first } else { second }
    }

    /// Returns whether a frame finds space once the tree is `checkpointed` up to a version.
    pub(super) fn has_space(&self, checkpointed: Version) -> bool {
        let [first, second] = &self.files;
        let (current, other) = match self.current {
            0 => (first, second),
            _ => (second, first),
        };
        current.end < FILE_BYTES || other.last <= checkpointed
    }

    /// Writes a frame, and gives its length. There must be space.
    ///
    /// # Errors
    /// As the disk.
    pub(super) fn append(&mut self, rows: &Rows, last: Version) -> io::Result<usize> {
        if self.file().end >= FILE_BYTES {
            // Nothing in the next file counts while this one has a hole.
            self.sync()?;
            self.current = 1 - self.current;
            self.file().end = FILE_HEADER_BYTES as u64;
        }
        let mut frame = std::mem::take(&mut self.frame);
        encode(&mut frame, self.salt, self.last, last, rows)?;
        let bytes = frame.len();
        let file = self.file();
        let end = file.end + bytes as u64;
        if end > file.length {
            frame.resize(bytes + PREALLOCATED_BYTES, 0);
            file.length = file.end + frame.len() as u64;
        }
        file.file.write_all_at(&frame, file.end)?;
        file.end = end;
        file.last = last;
        self.last = last;
        // The longest group is not kept for the life of the store.
        frame.truncate(0);
        frame.shrink_to(PREALLOCATED_BYTES);
        self.frame = frame;
        Ok(bytes)
    }

    /// Puts on disk what was appended.
    ///
    /// # Errors
    /// As the disk.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        self.file().file.sync()
    }

    /// Bytes of both files on disk.
    pub(super) fn bytes(&self) -> u64 {
        self.files.iter().map(|file| file.length).sum()
    }

    /// Empties both files, once the tree has everything on disk, so that the next start has nothing to read.
    ///
    /// # Errors
    /// As the disk; the next start does it then.
    pub(super) fn clear(self) -> io::Result<()> {
        self.files.iter().try_for_each(|file| file.file.truncate(FILE_HEADER_BYTES as u64))
    }
}

fn read(file: &dyn DiskFile) -> io::Result<Bytes> {
    let length = usize::try_from(file.length()?).map_err(too_long)?;
    let mut bytes = vec![0; length];
    let read = file.read_at(&mut bytes, 0)?;
    bytes.truncate(read);
    Ok(bytes.into())
}

fn file_header(salt: [u8; 8]) -> [u8; FILE_HEADER_BYTES] {
    let mut header = [0; FILE_HEADER_BYTES];
    let (said, sum) = header.split_at_mut(16);
    said.copy_from_slice([MAGIC, salt].as_flattened());
    sum.copy_from_slice(&crc32c::crc32c(said).to_be_bytes());
    header
}

/// The salt of a file, or nothing if its header is not whole.
fn salt_of(bytes: &[u8]) -> Option<[u8; 8]> {
    let salt = bytes.get(8..16)?.try_into().ok()?;
    bytes.starts_with(&file_header(salt)).then_some(salt)
}

fn encode(
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

fn frame_header(
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

fn too_long(error: std::num::TryFromIntError) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, error)
}

/// The header of a whole frame.
struct Frame {
    previous: Version,
    last: Version,
    /// The length of its rows.
    length: usize,
}

impl Frame {
    /// The frame at the start of `bytes`, if there is a whole one.
    fn read(bytes: &[u8], salt: [u8; 8]) -> Option<Self> {
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
fn add_rows(mut frame: Bytes, rows: &mut Rows) -> Result<(), WalError> {
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

/// The frames from the start of a file that follow each other, with their rows, and the offset of their end.
fn chain(bytes: &Bytes, salt: [u8; 8]) -> (Vec<(Frame, Bytes)>, usize) {
    let (mut frames, mut at) = (Vec::<(Frame, Bytes)>::new(), FILE_HEADER_BYTES);
    while let Some(frame) = Frame::read(bytes.get(at..).unwrap_or_default(), salt) {
        let before = frames.last().map(|(before, _)| before.last);
        if before.is_some_and(|before| before != frame.previous) {
            break;
        }
        let rows = at + FRAME_HEADER_BYTES;
        at = rows + frame.length;
        frames.push((frame, bytes.slice(rows..at)));
    }
    (frames, at)
}

/// The rows that the files hold beyond `checkpointed`.
fn replay(files: &[Bytes], checkpointed: Version) -> Result<Recovered, WalError> {
    let mut chains = Vec::new();
    let mut rests = Vec::new();
    for bytes in files {
        let Some(salt) = salt_of(bytes) else {
            // A start was cut off before it had written a header; nothing was appended yet.
            if bytes.len() <= FILE_HEADER_BYTES {
                continue;
            }
            return Err(WalError::Damaged("has a file that does not begin as one"));
        };
        let (frames, end) = chain(bytes, salt);
        chains.push(frames);
        rests.push((bytes.slice(end..), salt));
    }
    chains.sort_by_key(|frames| frames.first().map(|(frame, _)| frame.previous));
    let mut recovered = Recovered { last: checkpointed, ..Recovered::default() };
    for (frame, rows) in chains.into_iter().flatten() {
        if frame.last <= recovered.last {
            continue;
        }
        if frame.previous != recovered.last {
            return Err(WalError::Damaged("has lost frames before others"));
        }
        add_rows(rows, &mut recovered.rows)?;
        recovered.last = frame.last;
    }
    let is_later = |(rest, salt): &(Bytes, [u8; 8])| {
        let starts = (0..rest.len()).filter_map(|at| rest.get(at..));
        let mut frames = starts.filter_map(|bytes| Frame::read(bytes, *salt));
        frames.any(|frame| frame.last > recovered.last)
    };
    // A torn frame was never acknowledged, and nothing was written after it.
    if rests.iter().any(is_later) {
        return Err(WalError::Damaged("is broken before frames that are whole"));
    }
    Ok(recovered)
}

#[cfg(test)]
mod tests;
