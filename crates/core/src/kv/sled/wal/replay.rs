//! The replay of a log: its frames in order, one segment at a time, and every way in which they can be wrong.

use std::io;
use std::path::PathBuf;

use bytes::Bytes;

use super::frame::{FrameRows, FrameVersions, add_rows};
use super::segment::Segment;
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
    /// The segment that holds the last frame, and the offset of its end.
    pub(in crate::kv::sled) tail: Option<(PathBuf, u64)>,
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

    /// The offset of its end in the segment.
    pub(in crate::kv::sled) const fn end(&self) -> u64 {
        self.offset + self.rows.len() as u64
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
/// `Disk`; `Damaged` if frames are missing or broken that a later one names as synced: a crash can only tear what comes after.
pub(in crate::kv::sled) fn replay(
    segments: &[Segment],
    from: Version,
    each: &mut dyn FnMut(&ReplayedFrame<'_>) -> Result<bool, WalError>,
) -> Result<LogEnd, WalError> {
    let (lost, tail) = (None, None);
    let mut end = LogEnd { last: from, lost, tail, knows_begin: false, is_at_odds: false };
    for (at, segment) in segments.iter().enumerate() {
        let next = segments.iter().skip(at + 1).find_map(|segment| segment.previous);
        // All of it stands before the beginning.
        if next.is_some_and(|next| next <= from) {
            end.knows_begin |= next == Some(from);
            continue;
        }
        let chain = segment.chain().map_err(in_file(segment))?;
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
                    end.lose(*versions);
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
        end.tail = Some((segment.path.clone(), chain.end as u64));
        if next == Some(end.last) {
            continue;
        }
        let kept = end.last;
        for versions in chain.later().filter(|versions| versions.last > kept) {
            // What was synced cannot be torn by a crash. The frames after it can, in any order, and nobody was promised them.
            if versions.synced > kept {
                return Err(WalError::Damaged("is broken before frames that are whole"));
            }
            end.lose(versions);
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
    fn lose(&mut self, frame: FrameVersions) {
        let before = self.lost.map_or(frame.last, |lost| lost.last);
        self.lost = Some(LostFrames { kept: self.last, last: frame.last.max(before) });
    }
}
