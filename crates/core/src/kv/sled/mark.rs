//! The mark of a directory: the file that says that it holds a store, and in which format.

use std::io;
use std::path::Path;

use super::base::{self, Base};
use super::index_state::replace_whole;
use super::open_error::OpenError;
use super::opening::Opening;
use super::wal::{Segment, WalError};
use crate::disk::Disk;
use crate::kv::Version;

/// The file.
const MARK: &str = "format";
/// Its content: 1 was a tree alone, 2 had a write-ahead log before it, 3 has a base and a log from which the tree can be filled, 4 may have rows
/// that say by themselves whether they are whole, 5 has a log that says where it ends, 6 one
/// whose frames have trailers. Releases of the formats before cannot read them.
const FORMAT: &str = "6\n";
/// Marks of the same files, whose log does not say where it ends yet, or has no trailers.
const BEFORE: [&str; 3] = ["5", "4", "3"];
/// Marks of older releases, whose truth is a tree. An empty one is one that a stop of them cut short.
const OLDER: [&str; 3] = ["2", "1", ""];
/// Its content while a first start is under way: what lies beside it was begun by that start, and never held anything.
const BEGUN: &str = "0\n";
/// Longer than any mark.
const MARK_BYTES_MAX: usize = 512;
/// The most characters of a mark that is not known which are shown.
const FORMAT_SHOWN_MAX: usize = 32;

/// Says on disk that there is a store of today's format, once its files are there.
pub(super) fn set(disk: &dyn Disk, directory: &Path) -> io::Result<()> {
    disk.sync_directory(directory)?;
    replace_whole(disk, directory, MARK, FORMAT.as_bytes())
}

/// Says on disk that a first start is under way, before its tree is there: a cut that leaves half of that is not to be taken for a store of an
/// older release, whose tree is all that it has.
pub(super) fn begin(disk: &dyn Disk, directory: &Path) -> io::Result<()> {
    replace_whole(disk, directory, MARK, BEGUN.as_bytes())
}

impl Opening<'_> {
    /// Returns whether the truth of the directory is a base and a log. No frame is written before its mark, so that a frame says so whatever has become
    /// of the mark: that may be gone, empty, or changed by a bit into one of what a first start had begun, which the next start takes away.
    pub(super) fn has_log(&self) -> io::Result<bool> {
        let (disk, directory) = (&**self.disk, &self.config.directory);
        let mark = self.mark()?;
        let mark = mark.as_deref().map(str::trim);
        if mark.is_some_and(|mark| mark == FORMAT.trim() || BEFORE.contains(&mark)) {
            return Ok(true);
        }
        let (has_frames, newest) = match Segment::all(disk, directory) {
            Ok(segments) => (
                segments.iter().any(|segment| segment.previous.is_some()),
                segments.last().map_or(0, |segment| segment.number),
            ),
            Err(WalError::Damaged(_)) => (true, 0),
            Err(WalError::Disk(error) | WalError::Unreadable(_, error)) => return Err(error),
        };
        // A base of more than nothing is also what a first start on an older release's files leaves before its mark, with the first segment.
        if has_frames || (mark.is_some_and(|mark| OLDER.contains(&mark)) && newest <= 1) {
            return Ok(has_frames);
        }
        let (bases, _) = base::paths(disk, directory)?;
        let opened = bases.iter().map(|path| Base::open(disk, path));
        let mut whole = opened.filter_map(Result::ok);
        Ok(whole.any(|base| base.summary.version > Version::ABSENT))
    }

    /// Says on disk that the log is of today's format, before the first such file of it is begun.
    pub(super) fn raise_mark(&self) -> io::Result<()> {
        match self.mark()?.as_deref() {
            Some(FORMAT) => Ok(()),
            _ => set(&**self.disk, &self.config.directory),
        }
    }

    /// Returns whether an earlier first start did not come to its end.
    pub(super) fn is_begun(&self) -> io::Result<bool> {
        Ok(self.mark()?.is_some_and(|mark| mark.trim() == BEGUN.trim()))
    }

    /// The format that the mark says; none without one.
    pub(super) fn mark(&self) -> io::Result<Option<String>> {
        match self.disk.read(&self.config.directory.join(MARK), MARK_BYTES_MAX) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => Ok(Some(String::from_utf8_lossy(&read?).into_owned())),
        }
    }

    /// Refuses a store of a later version.
    pub(super) fn check_mark(&self) -> Result<(), OpenError> {
        let Some(format) = self.mark().map_err(|error| self.unusable(&error))? else {
            return Ok(());
        };
        let known = [BEGUN.trim(), FORMAT.trim()].into_iter().chain(BEFORE).chain(OLDER);
        if known.into_iter().any(|known| known == format.trim()) {
            return Ok(());
        }
        let format = format.trim().chars().take(FORMAT_SHOWN_MAX).collect();
        Err(OpenError::Later { path: self.path.clone(), format })
    }
}
