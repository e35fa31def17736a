//! The files of the log and its bases in a directory that is being opened: what is needed stays, the rest goes or is used anew.

use std::io;

use super::base::{self, Base};
use super::open_error::OpenError;
use super::opening::Opening;
use super::preflight;
use super::wal::{
    self, LogEnd, SealedSegment, Segment, Spares, WalError, is_spare, replay, spare_of,
};
use crate::kv::Version;

/// The file by which an operator says that a log which has lost its end is all that there is.
const ACCEPTED: &str = "accept-end";
/// The longest log that every start reads. A start is to be quick, so of a longer one it looks at where the segments begin.
const LOG_BYTES_READ_MAX: u64 = 64 * 1024 * 1024;

impl Opening<'_> {
    /// The newest base that is whole at its ends. Others go once the segments say that they are not needed.
    pub(super) fn newest_base(&self) -> Result<Base, OpenError> {
        let (disk, directory) = (&**self.disk, &self.config.directory);
        let unusable = |error: io::Error| self.unusable(&error);
        let (bases, unfinished) = base::paths(disk, directory).map_err(unusable)?;
        for path in unfinished {
            disk.remove(&path).map_err(unusable)?;
        }
        let mut broken = None;
        for path in &bases {
            match Base::open(disk, path) {
                Ok(base) => {
                    // Only those before it, which it holds: one that cannot be read stays for who looks into it.
                    for older in bases.iter().skip_while(|other| *other != path).skip(1) {
                        disk.remove(older).map_err(unusable)?;
                    }
                    return Ok(base);
                }
                Err(error) => broken = broken.or(Some(error)),
            }
        }
        Err(match broken {
            Some(error) => self.base(error),
            None => self.corrupt("its base is gone"),
        })
    }

    /// Lets go of segments that the base holds, and gives the files that can be segments again.
    pub(super) fn spares(&self, segments: &[Segment], base: &Base) -> io::Result<Spares> {
        let (disk, directory) = (&**self.disk, &self.config.directory);
        let spares = Spares::default();
        let oldest = segments.first().map(|segment| spare_of(&segment.path));
        for path in disk.list(directory)?.into_iter().filter(|path| is_spare(path)) {
            // A segment of this name is there or will be, and takes it once it is let go: the file that has it by then may be one that is written.
            if oldest.as_ref().is_some_and(|oldest| path < *oldest) {
                spares.adopt(disk, path)?;
            } else {
                disk.remove(&path)?;
            }
        }
        for segment in held(segments, base.summary.version) {
            spares.add(disk, &segment.path)?;
        }
        Ok(spares)
    }

    /// Has the system forget what it remembers of the log and the base and did not write: after a fault it takes for written what is not. Frames that only it
    /// has are written once more before that.
    pub(super) fn forget_cached_log(&self) -> Result<(), OpenError> {
        let (disk, directory) = (&**self.disk, &self.config.directory);
        let unusable = |error: io::Error| self.unusable(&error);
        let (bases, _) = base::paths(disk, directory).map_err(unusable)?;
        let segments = Segment::paths(disk, directory).map_err(unusable)?;
        if let Some(newest) = segments.last() {
            // A sync that failed may have been to put frames on disk that were acknowledged before it. All before this file is on disk.
            let written = preflight::write_again(disk, newest);
            written.map_err(|error| self.unreadable(newest, &error))?;
        }
        for path in bases.iter().chain(&segments) {
            preflight::forget_cached(disk, path).map_err(|error| self.unreadable(path, &error))?;
        }
        Ok(())
    }

    /// Returns whether base and log lead to `last` without the tree, which has all rows even where files of the log are lost.
    pub(super) fn log_leads_to(
        &self,
        last: Version,
        segments: &[Segment],
        base: Version,
    ) -> Result<bool, OpenError> {
        let needed = segments.get(held(segments, base).count()..).unwrap_or_default();
        if needed.iter().map(Segment::length).sum::<u64>() > LOG_BYTES_READ_MAX {
            let begin = needed.iter().find_map(|segment| segment.previous);
            let numbers = needed.iter().map(|segment| segment.number);
            let follow = numbers.clone().zip(numbers.skip(1)).all(|(one, next)| next == one + 1);
            return Ok(follow && begin.is_none_or(|begin| begin <= base));
        }
        match replay(needed, base, &mut |_| Ok(true)) {
            Ok(end) => Ok(end.last == last && !end.is_at_odds),
            Err(WalError::Damaged(_)) => Ok(false),
            Err(error) => Err(self.wal(error)),
        }
    }

    /// Refuses a log of which the newest segment is gone, or may be.
    pub(super) fn check_end(&self, segments: &[Segment]) -> Result<(), OpenError> {
        let newest = wal::newest(&**self.disk, &self.config.directory);
        match newest.map_err(|error| self.unusable(&error))? {
            Some(newest) if segments.last().is_some_and(|last| last.number < newest) => {
                Err(self.corrupt("the journal has lost its end"))
            }
            Some(_) => Ok(()),
            None => Err(self.corrupt(
                "the note of the newest file of the journal, newest-segment, cannot be read; if no file of the journal was lost, remove it and start again",
            )),
        }
    }

    /// Takes what is left of a log for all of it, where an operator said so by a file: the newest segment ends at its last whole frame from now on.
    pub(super) fn end_log_where_asked(&self) -> Result<(), OpenError> {
        let (disk, directory) = (&**self.disk, &self.config.directory);
        let unusable = |error: io::Error| self.unusable(&error);
        let asked = directory.join(ACCEPTED);
        if disk.file_id(&asked).is_err() {
            return Ok(());
        }
        let segments = Segment::paths(disk, directory).map_err(unusable)?;
        if let Some(newest) = segments.last() {
            Segment::end_copy(disk, newest).map_err(|error| self.wal(error))?;
        }
        disk.remove(&asked).map_err(unusable)
    }

    /// Cuts off what is no frame behind the last one, so that the next segment follows on it.
    pub(super) fn cut_tail(&self, end: &LogEnd) -> io::Result<()> {
        end.tail.as_ref().map_or(Ok(()), |tail| tail.cut(&**self.disk))
    }
}

/// The segments that are held by a base of this version: those whose successor begins there or before.
fn held(segments: &[Segment], base: Version) -> impl Iterator<Item = &Segment> {
    let next = |at: usize| segments.iter().skip(at + 1).find_map(|segment| segment.previous);
    segments
        .iter()
        .enumerate()
        .filter(move |(at, segment)| {
            // Where files were put under each other's names, none is let go for what its name says.
            let is_in_order = |next| segment.previous.is_none_or(|previous| previous <= next);
            next(*at).is_some_and(|next| next <= base && is_in_order(next))
        })
        .map(|(_, segment)| segment)
}

/// The segments behind a base, all of which take no more frames once the next one is begun.
pub(super) fn sealed(segments: &[Segment], base: Version, end: &LogEnd) -> Vec<SealedSegment> {
    let mut sealed = Vec::new();
    for (at, segment) in segments.iter().enumerate() {
        let next = segments.iter().skip(at + 1).find_map(|segment| segment.previous);
        if next.is_some_and(|next| next <= base) {
            continue;
        }
        let (path, last) = (segment.path.clone(), next.unwrap_or(end.last));
        sealed.push(SealedSegment { path, last, bytes: segment.length(), rows: 0 });
    }
    sealed
}
