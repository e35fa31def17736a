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
/// that say by themselves whether they are whole, which releases of the formats before cannot read.
const FORMAT: &str = "4\n";
/// A mark of the same files, in which no row has to have been checked.
const UNCHECKED: &str = "3\n";
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
    /// Returns whether the truth of the directory is a base and a log. Its mark may be gone, or empty, which is the last thing that a first start
    /// makes: no frame is written before it.
    pub(super) fn has_log(&self) -> io::Result<bool> {
        let (disk, directory) = (&**self.disk, &self.config.directory);
        let mark = self.mark()?;
        match mark.as_deref() {
            Some(FORMAT | UNCHECKED) => return Ok(true),
            Some(mark) if !mark.trim().is_empty() => return Ok(false),
            _ => {}
        }
        let has_frames = match Segment::all(disk, directory) {
            Ok(segments) => segments.iter().any(|segment| segment.previous.is_some()),
            Err(WalError::Damaged(_)) => true,
            Err(WalError::Disk(error) | WalError::Unreadable(_, error)) => return Err(error),
        };
        if has_frames || mark.is_some() {
            return Ok(has_frames);
        }
        let (bases, _) = base::paths(disk, directory)?;
        let opened = bases.iter().map(|path| Base::open(disk, path));
        let mut whole = opened.filter_map(Result::ok);
        Ok(whole.any(|base| base.summary.version > Version::ABSENT))
    }

    /// Says on disk that rows may be checked, before the first such row can be written.
    pub(super) fn raise_mark(&self) -> io::Result<()> {
        match self.mark()?.as_deref() {
            Some(FORMAT) => Ok(()),
            _ => set(&**self.disk, &self.config.directory),
        }
    }

    /// Returns whether an earlier first start did not come to its end.
    pub(super) fn is_begun(&self) -> io::Result<bool> {
        Ok(self.mark()?.as_deref() == Some(BEGUN))
    }

    /// The format that the mark says; none without one.
    pub(super) fn mark(&self) -> io::Result<Option<String>> {
        match self.disk.read(&self.config.directory.join(MARK), MARK_BYTES_MAX) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => Ok(Some(String::from_utf8_lossy(&read?).into_owned())),
        }
    }

    /// Refuses a store of a later version. An empty mark is one that a stop of an older release cut short.
    pub(super) fn check_mark(&self) -> Result<(), OpenError> {
        let Some(format) = self.mark().map_err(|error| self.unusable(&error))? else {
            return Ok(());
        };
        if matches!(format.trim(), "" | "1" | "2") || [BEGUN, UNCHECKED, FORMAT].contains(&&*format)
        {
            return Ok(());
        }
        let format = format.trim().chars().take(FORMAT_SHOWN_MAX).collect();
        Err(OpenError::Later { path: self.path.clone(), format })
    }
}
