//! Scans: the rows of the disk and those that wait for it, as one page.

use std::collections::btree_map::Range;
use std::ops::Bound;

use bytes::Bytes;

use super::values::Row;
use super::waiting::Rows;
use super::{Shared, VERSION_KEY, unavailable};
use crate::kv::memory::past_prefix;
use crate::kv::{Page, Span, StoreError, Version};

/// The keys between which a span lies.
pub(super) struct Bounds {
    lower: Bound<Vec<u8>>,
    upper: Bound<Vec<u8>>,
}

impl Bounds {
    pub(super) fn of(span: &Span) -> Self {
        let lower = match &span.from {
            Some(from) if *from >= span.prefix => Bound::Excluded(from.clone()),
            // The empty key is the engine's own.
            _ if span.prefix.is_empty() => Bound::Excluded(VERSION_KEY.to_vec()),
            _ => Bound::Included(span.prefix.clone()),
        };
        let upper = match (span.to.clone(), past_prefix(&span.prefix)) {
            (Some(to), Some(past)) => Bound::Excluded(to.min(past)),
            (Some(bound), None) | (None, Some(bound)) => Bound::Excluded(bound),
            (None, None) => Bound::Unbounded,
        };
        Self { lower, upper }
    }

    pub(super) fn lower(&self) -> Bound<&[u8]> {
        self.lower.as_ref().map(Vec::as_slice)
    }

    pub(super) fn upper(&self) -> Bound<&[u8]> {
        self.upper.as_ref().map(Vec::as_slice)
    }

    /// The rows that lie between them.
    pub(super) fn range<'r>(&self, rows: &'r Rows) -> Range<'r, Bytes, (Option<Bytes>, Version)> {
        rows.range::<[u8], _>((self.lower(), self.upper()))
    }

    pub(super) fn is_empty(&self) -> bool {
        match (&self.lower, &self.upper) {
            (Bound::Included(low) | Bound::Excluded(low), Bound::Excluded(high)) => low >= high,
            _ => false,
        }
    }
}

/// Rows of the disk and rows that wait for it as one page; a waiting row hides the stored one of its key.
pub(super) fn merge(
    shared: &Shared,
    stored: impl Iterator<Item = sled::Result<(sled::IVec, sled::IVec)>>,
    waiting: impl Iterator<Item = (Bytes, (Option<Bytes>, Version))>,
    before: impl Fn(&[u8], &[u8]) -> bool,
    limit: usize,
) -> Result<Page, StoreError> {
    let mut page = Page::default();
    let (mut stored, mut waiting) = (stored.peekable(), waiting.peekable());
    loop {
        let takes_waiting = match (stored.peek(), waiting.peek()) {
            (None, None) => return Ok(page),
            (None, Some(_)) => true,
            (Some(_), None) => false,
            (Some(Err(_)), Some(_)) => false,
            (Some(Ok((on_disk, _))), Some((key, _))) => {
                if key.as_ref() == on_disk.as_ref() {
                    stored.next();
                    true
                } else {
                    before(key, on_disk)
                }
            }
        };
        let row = if takes_waiting {
            let Some((key, (value, version))) = waiting.next() else {
                continue;
            };
            page.seen = page.seen.max(version);
            value.map(|value| (key, value))
        } else {
            let Some(row) = stored.next() else { continue };
            let (key, value) = row.map_err(unavailable)?;
            let row = Row::read(&value)?;
            page.seen = page.seen.max(row.version());
            if page.rows.len() == limit {
                page.more = true;
                return Ok(page);
            }
            // Nothing that a scan sees is buried before the scan ends: the next layer waits for it.
            let value = shared.value(row)?.ok_or_else(|| {
                StoreError::Corrupt("a row names a value that is not there".into())
            })?;
            Some((Bytes::copy_from_slice(&key), value))
        };
        if let Some(row) = row {
            if page.rows.len() == limit {
                page.more = true;
                return Ok(page);
            }
            page.rows.push(row);
        }
    }
}
