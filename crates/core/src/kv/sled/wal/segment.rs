//! The files of the log: their names, in the order in which they follow each other, and their frames.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use super::WalError;
use super::frame::{
    FILE_HEADER_BYTES, FRAME_HEADER_BYTES, FileHeader, Frame, FrameVersions, LogEndMark,
    ROOM_BYTES, version_at,
};
use super::tail::LogTail;
use crate::disk::{Disk, DiskFile};
use crate::kv::Version;

/// The names of the two files that took turns, as older releases wrote them.
pub(in crate::kv::sled) const TURNS: [&str; 2] = ["journal-0", "journal-1"];
/// The start of the names of segments; behind it stand the ten digits of the number.
const PREFIX: &str = "journal-";
/// Digits of a segment's number in its name.
const DIGITS: usize = 10;
/// The end of the names of files that will be segments. What they hold says nothing.
const SPARE: &str = "spare";

/// The file that names the newest segment: nothing else would tell that it is gone.
pub(in crate::kv::sled) const NEWEST: &str = "newest-segment";
/// Longer than any such file.
const NEWEST_BYTES_MAX: usize = 128;

/// The name of a segment.
pub(in crate::kv::sled) fn name(number: u64) -> String {
    format!("{PREFIX}{number:0width$}", width = DIGITS)
}

/// The path of what was a segment, or will be, while it is none.
pub(in crate::kv::sled) fn spare_of(segment: &Path) -> PathBuf {
    segment.with_extension(SPARE)
}

pub(in crate::kv::sled) fn is_spare(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == SPARE)
}

/// Notes that a segment is the newest, once its name is on disk. The note may come there later, or not: an older one asks for less.
///
/// # Errors
/// As the disk.
pub(super) fn note_newest(disk: &dyn Disk, directory: &Path, number: u64) -> io::Result<()> {
    let path = directory.join(NEWEST);
    let new = path.with_extension("new");
    let file = disk.replace(&new)?;
    // Twice: where one line is changed by a bit, the other still tells.
    file.write_all_at(newest_line(number).repeat(2).as_bytes(), 0)?;
    file.sync()?;
    disk.rename(&new, &path)
}

/// The number of the newest segment that was noted: 0 where none was, nothing where the note is damaged.
///
/// # Errors
/// As the disk.
pub(in crate::kv::sled) fn newest(disk: &dyn Disk, directory: &Path) -> io::Result<Option<u64>> {
    let bytes = match disk.read(&directory.join(NEWEST), NEWEST_BYTES_MAX) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Some(0)),
        read => read?,
    };
    let (first, second) = bytes.split_at(bytes.len() / 2);
    // The note of an older release is the number alone.
    let older = || str::from_utf8(&bytes).ok()?.strip_suffix('\n')?.parse().ok();
    Ok(number_in(first).or_else(|| number_in(second)).or_else(older))
}

/// The number in a line that is whole.
fn number_in(line: &[u8]) -> Option<u64> {
    let text = str::from_utf8(line).ok()?;
    let (number, _) = text.split_once(' ')?;
    let number = number.parse().ok()?;
    (text == newest_line(number)).then_some(number)
}

/// The line that names the newest segment: its number, and the sum of that.
fn newest_line(number: u64) -> String {
    format!("{number} {:08x}\n", crc32c::crc32c(&number.to_be_bytes()))
}

/// The number of the segment of this name.
fn number_of(path: &Path) -> Option<u64> {
    let digits = path.file_name()?.to_str()?.strip_prefix(PREFIX)?;
    (digits.len() == DIGITS).then(|| digits.parse().ok())?
}

/// A file of the log, open to read, and what its header and its first frame say.
pub(in crate::kv::sled) struct Segment {
    /// Its number; 0 in a log of files that took turns.
    pub(in crate::kv::sled) number: u64,
    pub(in crate::kv::sled) path: PathBuf,
    file: Arc<dyn DiskFile>,
    header: FileHeader,
    /// The version before its first frame; none if it has no frame.
    pub(in crate::kv::sled) previous: Option<Version>,
    /// The version behind which it was begun, where that can be told: of one without frames by the end that it began with.
    pub(super) begins: Option<Version>,
}

impl Segment {
    /// The segments in a directory, in order.
    ///
    /// # Errors
    /// `Disk`; `Damaged` for one that does not begin as a segment: it has its name only once it does.
    pub(in crate::kv::sled) fn all(
        disk: &dyn Disk,
        directory: &Path,
    ) -> Result<Vec<Self>, WalError> {
        let open = |path: PathBuf| {
            let file = disk.open(&path)?;
            Self::read(number_of(&path).unwrap_or_default(), path, file)?.ok_or(NO_HEADER)
        };
        Self::paths(disk, directory)?.into_iter().map(open).collect()
    }

    /// Their paths, in order.
    ///
    /// # Errors
    /// As the disk.
    pub(in crate::kv::sled) fn paths(
        disk: &dyn Disk,
        directory: &Path,
    ) -> io::Result<Vec<PathBuf>> {
        let mut paths = disk.list(directory)?;
        paths.retain(|path| number_of(path).is_some());
        // All digits are written, so that names sort by number.
        paths.sort_unstable();
        Ok(paths)
    }

    /// The files that took turns, in the order of what they hold.
    ///
    /// # Errors
    /// As [`Segment::all`].
    pub(in crate::kv::sled) fn turns(
        disk: &dyn Disk,
        directory: &Path,
    ) -> Result<Vec<Self>, WalError> {
        let mut segments = Vec::new();
        for name in TURNS {
            let path = directory.join(name);
            match disk.open(&path) {
                Ok(file) => segments.extend(Self::read(0, path, file)?),
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error.into()),
            }
        }
        segments.sort_by_key(|segment| segment.previous);
        Ok(segments)
    }

    /// Nothing, if the file ends before a header: a start of an older release was cut off before it had written one.
    fn read(number: u64, path: PathBuf, file: Arc<dyn DiskFile>) -> Result<Option<Self>, WalError> {
        let mut bytes = [0; FILE_HEADER_BYTES + FRAME_HEADER_BYTES];
        let length = file.read_at(&mut bytes, 0)?;
        let bytes = bytes.get(..length).unwrap_or_default();
        let Some(header) = FileHeader::read(bytes) else {
            let is_empty = number == 0 && length <= FILE_HEADER_BYTES;
            return if is_empty { Ok(None) } else { Err(NO_HEADER) };
        };
        let first = bytes.get(FILE_HEADER_BYTES..).unwrap_or_default();
        // A frame of an older format is shorter, so its header is there as well.
        let previous = Frame::peek(first, header).map(|frame| frame.versions.previous);
        let begins = previous.or_else(|| Some(LogEndMark::read(first, header)?.1));
        Ok(Some(Self { number, path, file, header, previous, begins }))
    }

    /// Its length; 0 if that cannot be told now.
    pub(in crate::kv::sled) fn length(&self) -> u64 {
        self.file.length().unwrap_or_default()
    }

    /// Puts on disk what the system has of it.
    ///
    /// # Errors
    /// As the disk.
    pub(in crate::kv::sled) fn sync(&self) -> io::Result<()> {
        self.file.sync()
    }

    /// The frames from its start that follow each other.
    ///
    /// # Errors
    /// As the disk.
    pub(in crate::kv::sled) fn chain(&self) -> io::Result<Chain> {
        let length = usize::try_from(self.file.length()?).map_err(super::frame::too_long)?;
        let mut bytes = vec![0; length];
        let read = self.file.read_at(&mut bytes, 0)?;
        bytes.truncate(read);
        Ok(Chain::of(bytes.into(), self.header))
    }

    /// The place behind a version, at an offset at which a frame ends or begins.
    pub(super) fn tail(&self, end: u64, last: Version) -> LogTail {
        let mark =
            self.header.format.is_ended().then(|| LogEndMark::Synced.bytes(self.header.salt, last));
        LogTail { path: self.path.clone(), end, mark }
    }

    /// The length of the header of a frame.
    pub(super) const fn frame_header_bytes(&self) -> u64 {
        self.header.format.header_bytes() as u64
    }

    /// Ends a copy that was made while it was written at its last whole frame, and gives the version of that.
    ///
    /// # Errors
    /// As [`Segment::all`].
    pub(in crate::kv::sled) fn end_copy(disk: &dyn Disk, path: &Path) -> Result<Version, WalError> {
        let number = number_of(path).unwrap_or_default();
        let segment = Self::read(number, path.to_owned(), disk.open(path)?)?.ok_or(NO_HEADER)?;
        let chain = segment.chain()?;
        let last = chain.frames.last().map(|(versions, ..)| versions.last).or(segment.begins);
        let last = last.ok_or(WalError::Damaged("has lost its end"))?;
        segment.tail(chain.end as u64, last).cut(disk)?;
        Ok(last)
    }

    /// Bytes at an offset, as many as were asked for.
    ///
    /// # Errors
    /// As the disk; `UnexpectedEof` if it ends before.
    pub(in crate::kv::sled) fn read_exactly(&self, at: u64, bytes: usize) -> io::Result<Bytes> {
        let mut into = vec![0; bytes];
        if self.file.read_at(&mut into, at)? < bytes {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        Ok(into.into())
    }
}

const NO_HEADER: WalError = WalError::Damaged("has a file that does not begin as one");

/// The frames from the start of a segment that follow each other, and what comes behind them.
pub(in crate::kv::sled) struct Chain {
    /// Their versions, the offset of their rows, and the rows.
    pub(super) frames: Vec<(FrameVersions, usize, Bytes)>,
    /// The offset of the end of the last one.
    pub(super) end: usize,
    rest: Bytes,
    header: FileHeader,
}

impl Chain {
    fn of(bytes: Bytes, header: FileHeader) -> Self {
        let (mut frames, mut at) = (Vec::<(FrameVersions, usize, Bytes)>::new(), FILE_HEADER_BYTES);
        while let Some(frame) = Frame::read(bytes.get(at..).unwrap_or_default(), header) {
            let before = frames.last().map(|(before, ..)| before.last);
            if before.is_some_and(|before| before != frame.versions.previous) {
                break;
            }
            let rows = at + frame.header;
            frames.push((frame.versions, rows, bytes.slice(rows..rows + frame.length)));
            at += frame.bytes();
        }
        Self { frames, end: at, rest: bytes.slice(at.min(bytes.len())..), header }
    }

    /// Returns whether there is behind the last frame what stands there whenever a crash comes: an end, or the beginning of the frame that was to be written
    /// over it. `before` is the version before this file.
    pub(super) fn is_ended(&self, before: Version) -> bool {
        if !self.header.format.is_ended() {
            return true;
        }
        let rest = &self.rest;
        let found = version_at(rest);
        let last = self.frames.last().map(|(versions, ..)| versions.last);
        if let Some(last) = last
            && found != Some(last)
        {
            return false;
        }
        if LogEndMark::read(rest, self.header).is_some() {
            return true;
        }
        if let Some(next) = Frame::peek(rest, self.header) {
            return next.bytes() + ROOM_BYTES <= rest.len();
        }
        // A write that came short may have left a part of a header. A file without any version before it was never written before, and begins with a frame
        // and all its room.
        let last = last.unwrap_or(before);
        found == Some(last) && last != Version::ABSENT && rest.len() >= ROOM_BYTES
    }

    /// Ends behind the last frame, at any place, with the versions before them.
    pub(super) fn later_ends(&self) -> impl Iterator<Item = (LogEndMark, Version)> + '_ {
        let starts = (0..self.rest.len()).filter_map(|at| self.rest.get(at..));
        starts.filter_map(|bytes| LogEndMark::read(bytes, self.header))
    }

    /// Whole frames behind the end of the chain, at any place.
    pub(super) fn later(&self) -> impl Iterator<Item = FrameVersions> + '_ {
        let starts = (0..self.rest.len()).filter_map(|at| self.rest.get(at..));
        starts.filter_map(|bytes| Frame::read(bytes, self.header)).map(|frame| frame.versions)
    }
}
