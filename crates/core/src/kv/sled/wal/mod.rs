//! The write-ahead log: commits that are not yet in sled's file, in two files that take turns.
//!
//! A group of batches is one frame, appended with one write and one sync; an acknowledgement waits for nothing else. A file that
//! is full is written anew from its start once all that it holds is in sled's file on disk, so that most syncs change no length.
//! A frame names the version before it: frames that follow each other make a chain, and what an earlier turn left does not join it. It
//! names the last version that was synced before it, too: what is missing up to that one is damage, what is missing beyond it a power cut took.
//! See docs/decisions/2026-11-21-08-journal.md.

mod frame;

use std::hash::{BuildHasher, RandomState};
use std::io;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use self::frame::{
    FILE_HEADER_BYTES, FileHeader, Frame, FrameVersions, add_rows, encode, file_header, too_long,
};
use super::Version;
use super::rows::Rows;
use crate::disk::{Disk, DiskFile};

/// The names of both files.
pub(super) const NAMES: [&str; 2] = ["journal-0", "journal-1"];
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
    /// Frames that were left out, and the last version of them: a power cut came before their sync, and one before them did not reach the disk.
    pub(super) lost: Option<LostFrames>,
}

/// Frames of a log that nobody was promised to find on disk, and that a power cut left without those before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LostFrames {
    /// The last version that is kept.
    pub kept: Version,
    /// The last version that is lost.
    pub last: Version,
}

/// Both files, open to append.
pub(super) struct Wal {
    files: [WalFile; 2],
    /// The one that takes the next frame.
    current: usize,
    /// Keeps a value that a user chose from being taken for a frame.
    salt: [u8; 8],
    last: Version,
    /// The last version that is on disk.
    synced: Version,
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
    /// `Disk`; `Damaged` if frames are missing or broken that a later one names as synced: a crash can only tear what comes after.
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
        Ok(Self { files, current: 0, salt, last, synced: last, frame: Vec::new() })
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
        let versions = FrameVersions { previous: self.last, last, synced: self.synced };
        encode(&mut frame, self.salt, versions, rows)?;
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
        self.file().file.sync()?;
        self.synced = self.last;
        Ok(())
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

/// The frames from the start of a file that follow each other, with their rows, and the offset of their end.
fn chain(bytes: &Bytes, header: FileHeader) -> (Vec<(FrameVersions, Bytes)>, usize) {
    let (mut frames, mut at) = (Vec::<(FrameVersions, Bytes)>::new(), FILE_HEADER_BYTES);
    while let Some(frame) = Frame::read(bytes.get(at..).unwrap_or_default(), header) {
        let before = frames.last().map(|(before, _)| before.last);
        if before.is_some_and(|before| before != frame.versions.previous) {
            break;
        }
        let rows = at + frame.header;
        at = rows + frame.length;
        frames.push((frame.versions, bytes.slice(rows..at)));
    }
    (frames, at)
}

/// The rows that the files hold beyond `checkpointed`.
fn replay(files: &[Bytes], checkpointed: Version) -> Result<Recovered, WalError> {
    let mut chains = Vec::new();
    let mut rests = Vec::new();
    for bytes in files {
        let Some(header) = FileHeader::read(bytes) else {
            // A start was cut off before it had written a header; nothing was appended yet.
            if bytes.len() <= FILE_HEADER_BYTES {
                continue;
            }
            return Err(WalError::Damaged("has a file that does not begin as one"));
        };
        let (frames, end) = chain(bytes, header);
        chains.push(frames);
        rests.push((bytes.slice(end..), header));
    }
    chains.sort_by_key(|frames| frames.first().map(|(frame, _)| frame.previous));
    let mut recovered = Recovered { last: checkpointed, ..Recovered::default() };
    for (frame, rows) in chains.into_iter().flatten() {
        if frame.last <= recovered.last {
            continue;
        }
        if frame.previous != recovered.last {
            if frame.synced <= recovered.last {
                recovered.lose(frame);
                continue;
            }
            return Err(WalError::Damaged("has lost frames before others"));
        }
        add_rows(rows, &mut recovered.rows)?;
        recovered.last = frame.last;
    }
    let kept = recovered.last;
    for (rest, header) in &rests {
        let starts = (0..rest.len()).filter_map(|at| rest.get(at..));
        let later = starts.filter_map(|bytes| Frame::read(bytes, *header));
        for Frame { versions, .. } in later.filter(|frame| frame.versions.last > kept) {
            // What was synced cannot be torn by a crash. The frames after it can, in any order, and nobody was promised them.
            if versions.synced > kept {
                return Err(WalError::Damaged("is broken before frames that are whole"));
            }
            recovered.lose(versions);
        }
    }
    Ok(recovered)
}

impl Recovered {
    fn lose(&mut self, frame: FrameVersions) {
        let before = self.lost.map_or(frame.last, |lost| lost.last);
        self.lost = Some(LostFrames { kept: self.last, last: frame.last.max(before) });
    }
}

#[cfg(test)]
mod tests;
