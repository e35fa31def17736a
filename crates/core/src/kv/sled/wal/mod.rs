//! The write-ahead log, which is the truth of the store: every commit since the last base, in segments that follow each other.
//!
//! A group of batches is one frame, appended with one write and one sync; an acknowledgement waits for nothing else. A segment that is
//! full is sealed and the next one begun; those that a base holds are let go, and the largest of them is written anew as the next segment, so
//! that most syncs change no length. A frame names the version before it: frames that follow each other make a chain, and what a file held
//! before does not join it. It names the last version that was synced before it, too: what is missing up to that one is damage, what is missing
//! beyond it a power cut took. Behind the last frame stands an end, so that a file which somebody cut off is not taken for a whole one:
//! docs/decisions/2026-11-26-30-ends-of-the-log.md. See docs/decisions/2026-11-21-08-journal.md and 2026-11-22-12-log-is-the-truth.md.

mod frame;
mod replay;
mod segment;
mod tail;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

use self::frame::{FILE_HEADER_BYTES, FrameVersions, LogEndMark, ROOM_BYTES, encode, file_header};
pub(super) use self::replay::{LogEnd, replay};
pub(super) use self::segment::{NEWEST, Segment, TURNS, is_spare, name, newest, spare_of};
use super::Version;
use super::rows::Rows;
use crate::disk::{Disk, DiskFile};
use crate::schedule::unforeseen;

/// Bytes by which a file grows beyond what it needs: a sync that changes no length is cheaper.
const PREALLOCATED_BYTES: usize = 512 * 1024;

/// Files that are kept to be segments again.
const SPARES_MAX: usize = 8;

/// Reasons for which a log cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum WalError {
    #[error(transparent)]
    Disk(#[from] io::Error),
    #[error("{} cannot be read: {_1}", _0.display())]
    Unreadable(PathBuf, #[source] io::Error),
    #[error("the journal {0}")]
    Damaged(&'static str),
}

/// Frames of a log that nobody was promised to find on disk, and that a power cut left without those before them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LostFrames {
    /// The last version that is kept.
    pub kept: Version,
    /// The last version that is lost.
    pub last: Version,
}

/// A segment that takes no more frames, all of it on disk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SealedSegment {
    pub(super) path: PathBuf,
    /// The last version in it.
    pub(super) last: Version,
    pub(super) bytes: u64,
    /// Its rows; 0 where they were not counted.
    pub(super) rows: u64,
}

/// Files that will be segments: those whose frames a base holds. What they hold says nothing.
#[derive(Debug, Default)]
pub(super) struct Spares(Mutex<Vec<PathBuf>>);

impl Spares {
    /// Lets the file of a segment go: it becomes a spare, or is removed where there are enough.
    ///
    /// # Errors
    /// As the disk.
    pub(super) fn add(&self, disk: &dyn Disk, segment: &Path) -> io::Result<()> {
        if self.0.lock().len() >= SPARES_MAX {
            return disk.remove(segment);
        }
        let spare = spare_of(segment);
        disk.rename(segment, &spare)?;
        self.0.lock().push(spare);
        Ok(())
    }

    /// Takes what an earlier run left.
    ///
    /// # Errors
    /// As the disk.
    pub(super) fn adopt(&self, disk: &dyn Disk, spare: PathBuf) -> io::Result<()> {
        if self.0.lock().len() >= SPARES_MAX {
            return disk.remove(&spare);
        }
        self.0.lock().push(spare);
        Ok(())
    }

    fn take(&self) -> Option<PathBuf> {
        self.0.lock().pop()
    }
}

/// The segment that is written, open to append.
pub(super) struct Wal {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    spares: Arc<Spares>,
    /// Bytes at which a segment is full.
    segment_bytes: u64,
    number: u64,
    file: Arc<dyn DiskFile>,
    /// Keeps a value that a user chose from being taken for a frame.
    salt: [u8; 8],
    /// The offset of the next frame.
    end: u64,
    /// The length of the file.
    length: u64,
    rows: u64,
    last: Version,
    /// The last version that is on disk.
    synced: Version,
    /// The last version in the segments before this one.
    sealed: Version,
    frame: Vec<u8>,
}

impl Wal {
    /// Begins the segment of a number, whose first frame follows `last`. Each is full at `segment_bytes`.
    ///
    /// # Errors
    /// As the disk.
    pub(super) fn start(
        disk: Arc<dyn Disk>,
        directory: &Path,
        spares: Arc<Spares>,
        segment_bytes: u64,
        number: u64,
        last: Version,
    ) -> io::Result<Self> {
        let begun = begin_segment(&*disk, directory, &spares, number, last)?;
        Ok(Self {
            disk,
            directory: directory.to_owned(),
            spares,
            segment_bytes,
            number,
            file: begun.file,
            salt: begun.salt,
            end: FILE_HEADER_BYTES as u64,
            length: begun.length,
            rows: 0,
            last,
            synced: last,
            sealed: last,
            frame: Vec::new(),
        })
    }

    fn path(&self) -> PathBuf {
        self.directory.join(name(self.number))
    }

    /// Returns whether a frame finds space once the tree is `checkpointed` up to a version: what the tree has not stands in two segments at
    /// the most.
    pub(super) fn has_space(&self, checkpointed: Version) -> bool {
        self.end < self.segment_bytes || self.sealed <= checkpointed
    }

    /// Seals the segment if it is full, and begins the next.
    ///
    /// # Errors
    /// As the disk.
    pub(super) fn roll(&mut self) -> io::Result<Option<SealedSegment>> {
        if self.end < self.segment_bytes {
            return Ok(None);
        }
        // Nothing in the next segment counts while this one has a hole.
        self.sync()?;
        let (last, bytes) = (self.last, self.length);
        let sealed =
            SealedSegment { path: self.path(), last, bytes, rows: std::mem::take(&mut self.rows) };
        self.sealed = self.last;
        self.number += 1;
        let begun = begin_segment(&*self.disk, &self.directory, &self.spares, self.number, last)?;
        self.file = begun.file;
        self.salt = begun.salt;
        self.end = FILE_HEADER_BYTES as u64;
        self.length = begun.length;
        Ok(Some(sealed))
    }

    /// Writes a frame, and gives its length. `time` is the moment, in milliseconds since 1970.
    ///
    /// # Errors
    /// As the disk.
    pub(super) fn append(&mut self, rows: &Rows, last: Version, time: u64) -> io::Result<usize> {
        let mut frame = std::mem::take(&mut self.frame);
        let versions = FrameVersions { previous: self.last, last, synced: self.synced, time };
        encode(&mut frame, self.salt, self.end, versions, rows)?;
        let bytes = frame.len();
        let end = self.end + bytes as u64;
        frame.extend_from_slice(&LogEndMark::Written.bytes(self.salt, last));
        if end + ROOM_BYTES as u64 > self.length {
            // No more than a segment, where those are short.
            let room = usize::try_from(self.segment_bytes).unwrap_or(usize::MAX);
            frame.resize(frame.len() + PREALLOCATED_BYTES.min(room).max(ROOM_BYTES), 0);
            self.length = self.end + frame.len() as u64;
            // On disk before the frame is: so no crash leaves a file that ends within one.
            self.file.truncate(self.length)?;
            self.file.sync()?;
        }
        self.file.write_all_at(&frame, self.end)?;
        self.end = end;
        self.last = last;
        self.rows += rows.len() as u64;
        // The longest group is not kept for the life of the store.
        frame.truncate(0);
        frame.shrink_to(PREALLOCATED_BYTES);
        self.frame = frame;
        Ok(bytes)
    }

    /// Puts on disk what was appended, and says so behind it. That may come to the disk later, or not: the frame behind it would say the same.
    ///
    /// # Errors
    /// As the disk.
    pub(super) fn sync(&mut self) -> io::Result<()> {
        self.file.sync_named()?;
        self.synced = self.last;
        self.file.write_all_at(&LogEndMark::Synced.bytes(self.salt, self.last), self.end)
    }

    /// The last version that was appended.
    pub(super) const fn last(&self) -> Version {
        self.last
    }

    /// Bytes of the segment on disk.
    pub(super) const fn bytes(&self) -> u64 {
        self.length
    }
}

/// A segment without frames.
struct BegunSegment {
    file: Arc<dyn DiskFile>,
    salt: [u8; 8],
    length: u64,
}

/// Gives a spare file, or a new one, a header with an end behind it, and then the name of the segment: what has that name begins as a segment. All up to `last`
/// is on disk.
fn begin_segment(
    disk: &dyn Disk,
    directory: &Path,
    spares: &Spares,
    number: u64,
    last: Version,
) -> io::Result<BegunSegment> {
    let path = directory.join(name(number));
    let (spare, file) = match spares.take() {
        Some(spare) => {
            // Before it is written over: a cut must not give it the name back of the segment that it was.
            disk.sync_directory(directory)?;
            let file = disk.open_to_write(&spare)?;
            (spare, file)
        }
        None => {
            let spare = spare_of(&path);
            let file = disk.replace(&spare)?;
            (spare, file)
        }
    };
    let salt = unforeseen(number).to_be_bytes();
    let end = LogEndMark::Synced.bytes(salt, last);
    file.write_all_at(&[&file_header(salt)[..], &end].concat(), 0)?;
    file.sync()?;
    disk.rename(&spare, &path)?;
    disk.sync_directory(directory)?;
    segment::note_newest(disk, directory, number)?;
    let length = file.length()?;
    Ok(BegunSegment { file, salt, length })
}

#[cfg(test)]
mod tests;
