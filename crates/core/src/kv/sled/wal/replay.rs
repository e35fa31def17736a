//! The replay of a log: its frames in order, one segment at a time, and every way in which they can be wrong.

use std::io;

use bytes::Bytes;

use super::frame::{FrameRows, FrameVersions, LogEndMark, add_rows};
use super::segment::Segment;
use super::tail::LogTail;
use super::{LostFrames, WalError};
use crate::kv::Version;
use crate::kv::sled::rows::Rows;

/// The end of a log, as a replay found it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::kv::sled) struct LogEnd {
    /// The last version that is kept.
    pub(in crate::kv::sled) last: Version,
    /// Frames that were left out: a power cut came before their sync, and one before them did not reach the disk.
    pub(in crate::kv::sled) lost: Option<LostFrames>,
    /// The place behind the last frame.
    pub(in crate::kv::sled) tail: Option<LogTail>,
    /// The last version that an end beyond the last frame says was written. A power cut may take such a frame, and no kill does.
    pub(in crate::kv::sled) written: Version,
    /// Set if the log names the version from which it began, as the end of a frame or as what comes before one.
    pub(in crate::kv::sled) knows_begin: bool,
    /// Set if that version lies within a frame.
    pub(in crate::kv::sled) is_at_odds: bool,
}

/// One frame that a replay gives.
pub(in crate::kv::sled) struct ReplayedFrame<'s> {
    pub(in crate::kv::sled) segment: &'s Segment,
    versions: FrameVersions,
    /// The offset of its rows in the segment.
    pub(in crate::kv::sled) offset: u64,
    rows: Bytes,
}

impl ReplayedFrame<'_> {
    /// The last version in it.
    pub(in crate::kv::sled) const fn last(&self) -> Version {
        self.versions.last
    }

    /// The moment at which it was written, in milliseconds since 1970; 0 where it is not told.
    pub(in crate::kv::sled) const fn time(&self) -> u64 {
        self.versions.time
    }

    /// The place before it.
    pub(in crate::kv::sled) fn tail_before(&self) -> LogTail {
        let begin = self.offset.saturating_sub(self.segment.frame_header_bytes());
        self.segment.tail(begin, self.versions.previous)
    }

    pub(in crate::kv::sled) fn rows(&self) -> FrameRows {
        FrameRows::new(self.rows.clone())
    }

    /// Adds its rows to those of the frames before it.
    pub(in crate::kv::sled) fn add_to(&self, rows: &mut Rows) -> Result<(), WalError> {
        add_rows(self.rows.clone(), rows)
    }
}

/// Gives every frame beyond `from` to `each`, in order, until that says that it has enough.
///
/// # Errors
/// `Disk`; `Damaged` if frames are missing or broken that a later one, or an end, names as synced, since a crash can only tear what comes after; or if there is
/// no end where each crash leaves one.
pub(in crate::kv::sled) fn replay(
    segments: &[Segment],
    from: Version,
    each: &mut dyn FnMut(&ReplayedFrame<'_>) -> Result<bool, WalError>,
) -> Result<LogEnd, WalError> {
    let mut end = LogEnd::at(from);
    for (at, segment) in segments.iter().enumerate() {
        let next = segments.iter().skip(at + 1).find_map(|segment| segment.begins);
        // All of it stands before the beginning.
        // Unless it is the file of a later one, under this name.
        let is_in_order = |next: Version| segment.begins.is_none_or(|begins| begins <= next);
        if next.is_some_and(|next| next <= from && is_in_order(next)) {
            end.knows_begin |= next == Some(from);
            continue;
        }
        end.knows_begin |= segment.begins == Some(from);
        let chain = segment.chain().map_err(in_file(segment))?;
        if chain.frames.is_empty() && segment.begins.is_some_and(|begins| begins > end.last) {
            return Err(WalError::Damaged("has lost frames before others"));
        }
        let before = end.last;
        for (versions, offset, rows) in &chain.frames {
            end.knows_begin |= versions.previous == from || versions.last == from;
            if versions.last <= end.last {
                continue;
            }
            if versions.previous < end.last && !end.knows_begin {
                end.is_at_odds = true;
                return Ok(end);
            }
            if versions.previous != end.last {
                if versions.synced <= end.last {
                    end.lose(versions.last);
                    continue;
                }
                return Err(WalError::Damaged("has lost frames before others"));
            }
            let (versions, offset, rows) = (*versions, *offset as u64, rows.clone());
            let frame = ReplayedFrame { segment, versions, offset, rows };
            if !each(&frame)? {
                return Ok(end);
            }
            end.last = versions.last;
        }
        let last = chain.frames.last().map(|(versions, ..)| versions.last).or(segment.begins);
        end.tail = Some(segment.tail(chain.end as u64, last.unwrap_or(before)));
        if next == Some(end.last) {
            continue;
        }
        let kept = end.last;
        for versions in chain.later().filter(|versions| versions.last > kept) {
            // What was synced cannot be torn by a crash. The frames after it can, in any order, and nobody was promised them.
            if versions.synced > kept {
                return Err(WalError::Damaged("is broken before frames that are whole"));
            }
            end.lose(versions.last);
        }
        for (mark, last) in chain.later_ends().filter(|(_, last)| *last > kept) {
            if mark == LogEndMark::Synced {
                return Err(WalError::Damaged("is broken before its end"));
            }
            end.written = end.written.max(last);
            end.lose(last);
        }
        if next.is_none() && !chain.is_ended(before) {
            return Err(WalError::Damaged("has lost its end"));
        }
    }
    Ok(end)
}

/// Names the file of an error.
fn in_file(segment: &Segment) -> impl FnOnce(io::Error) -> WalError {
    let file = segment.path.clone();
    move |error| WalError::Unreadable(file, error)
}

impl LogEnd {
    /// The end of a log that has nothing beyond a version.
    pub(in crate::kv::sled) const fn at(last: Version) -> Self {
        let written = Version::ABSENT;
        Self { last, lost: None, tail: None, written, knows_begin: false, is_at_odds: false }
    }

    fn lose(&mut self, last: Version) {
        let before = self.lost.map_or(last, |lost| lost.last);
        self.lost = Some(LostFrames { kept: self.last, last: last.max(before) });
    }
}
