//! The rows of a moment, made of a base and the log behind it, in the order of their keys.
//!
//! Of the log, the keys alone are in memory, with the places of their values: so what a merge takes is bounded by the count of rows since
//! the base, and bases are made often enough for that.

use std::collections::BTreeMap;
use std::collections::btree_map;
use std::iter::Peekable;

use bytes::Bytes;

use super::base::{Base, BaseError, BaseRows};
use super::kept_values::ReplacedValue;
use super::rows::Row;
use super::wal::{LogEnd, Segment, WalError, replay};
use crate::kv::Version;

/// Reasons for which the rows of a moment cannot be read.
#[derive(Debug, thiserror::Error)]
pub(super) enum MergeError {
    #[error(transparent)]
    Base(#[from] BaseError),
    #[error(transparent)]
    Wal(#[from] WalError),
    #[error("{0}")]
    Stopped(String),
    #[error("{0}")]
    Values(String),
}

/// The place of the newest row of a key.
#[derive(Debug, Clone, Copy)]
struct LogPlace {
    version: Version,
    segment: u32,
    offset: u64,
    /// None where the key is deleted.
    bytes: Option<u32>,
}

/// The newest row of each key of a log.
pub(super) struct LogIndex {
    segments: Vec<Segment>,
    places: BTreeMap<Bytes, LogPlace>,
    pub(super) end: LogEnd,
    /// The moment of the last frame, in milliseconds since 1970; 0 without any.
    pub(super) time: u64,
}

/// A row of a merge.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum MergedRow {
    /// As the base has it.
    Based(Bytes),
    /// A value of the log.
    Logged(Version, Bytes),
}

impl LogIndex {
    /// Reads the log beyond `from`, as far as `upto`, and as far as frames are not younger than `until`.
    ///
    /// # Errors
    /// As a replay.
    pub(super) fn read(
        segments: Vec<Segment>,
        from: Version,
        upto: Version,
        until: u64,
    ) -> Result<Self, WalError> {
        let mut places = BTreeMap::new();
        let mut time = 0;
        let end = replay(&segments, from, &mut |frame| {
            if frame.last() > upto || frame.time() > until {
                return Ok(false);
            }
            time = frame.time();
            let at = segments.iter().position(|segment| std::ptr::eq(segment, frame.segment));
            let segment = u32::try_from(at.unwrap_or_default()).unwrap_or(u32::MAX);
            for row in frame.rows() {
                let row = row?;
                let bytes = row.value.map(|value| u32::try_from(value.len()).unwrap_or(u32::MAX));
                let offset = frame.offset + row.offset as u64;
                let place = LogPlace { version: row.version, segment, offset, bytes };
                // A key of its own, so that the segment does not stay in memory for it.
                places.insert(Bytes::copy_from_slice(&row.key), place);
            }
            Ok(true)
        })?;
        Ok(Self { segments, places, end, time })
    }

    /// Keys that the log has.
    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The rows of `base` and those of the log, which replace them.
    pub(super) fn merge(self, base: Option<&Base>) -> Merge {
        Merge {
            base: base.map(|base| base.rows().peekable()),
            places: self.places.into_iter().peekable(),
            segments: self.segments,
            replaced: Vec::new(),
        }
    }
}

/// Rows in the order of their keys.
pub(super) struct Merge {
    base: Option<Peekable<BaseRows>>,
    places: Peekable<btree_map::IntoIter<Bytes, LogPlace>>,
    segments: Vec<Segment>,
    /// The long values of rows of the base that rows of the log replaced so far.
    pub(super) replaced: Vec<ReplacedValue>,
}

impl Merge {
    fn value(&self, place: LogPlace, bytes: u32) -> Result<Bytes, WalError> {
        let segment = self.segments.get(place.segment as usize);
        let segment = segment.ok_or(WalError::Damaged("has lost a file"))?;
        let read = segment.read_exactly(place.offset, bytes as usize);
        read.map_err(|error| WalError::Unreadable(segment.path.clone(), error))
    }

    /// Passes the row of the base that the next one of the log replaces.
    fn pass_replaced(&mut self) {
        let replaced = self.base.as_mut().and_then(Iterator::next);
        if let (Some(Ok((_, stored))), Some((_, place))) = (replaced, self.places.peek())
            && let Ok(Row::Pointer(_, name)) = Row::read(stored)
        {
            self.replaced.push(ReplacedValue { name, by: place.version });
        }
    }

    fn next_row(&mut self) -> Result<Option<(Bytes, MergedRow)>, MergeError> {
        loop {
            let based = self.base.as_mut().and_then(Peekable::peek);
            let is_logged = match (based, self.places.peek()) {
                (None, None) => return Ok(None),
                (_, None) | (Some(Err(_)), _) => false,
                (None, Some(_)) => true,
                (Some(Ok((key, _))), Some((logged, _))) => {
                    if key == logged {
                        self.pass_replaced();
                        true
                    } else {
                        logged < key
                    }
                }
            };
            if !is_logged {
                let row = self.base.as_mut().and_then(Iterator::next).transpose()?;
                return Ok(row.map(|(key, stored)| (key, MergedRow::Based(stored))));
            }
            let Some((key, place)) = self.places.next() else { return Ok(None) };
            if let Some(bytes) = place.bytes {
                let value = self.value(place, bytes)?;
                return Ok(Some((key, MergedRow::Logged(place.version, value))));
            }
        }
    }
}

impl Iterator for Merge {
    type Item = Result<(Bytes, MergedRow), MergeError>;

    fn next(&mut self) -> Option<Self::Item> {
        self.next_row().transpose()
    }
}
