//! Scans: the rows of the disk and those that wait for it, as one page.

use std::collections::btree_map::Range;
use std::ops::Bound;
use std::sync::PoisonError;

use bytes::Bytes;

use super::memtable::Rows;
use super::value_log::Row;
use super::{Shared, VERSION_KEY, unavailable};
use crate::kv::memory::past_prefix;
use crate::kv::{KEY_BYTES_MAX, Order, Page, Span, StoreError, Version};

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

    /// The same bounds, as the least and the greatest key that may lie between them, and a key before the least that may lie there too.
    ///
    /// sled 0.34 steps down from a leaf by guessing a key before its first one. Where the guess misses the leaf before (that begins with
    /// four bytes of 255 more), it searches forever, and panics. So it is told bounds at which it need not guess: below the greatest key it
    /// begins in the leaf that holds it, and the first key of a leaf that begins with a list is less than all of the list but that one key.
    fn descending(&self) -> (Vec<u8>, Bound<Vec<u8>>, Option<&[u8]>) {
        let (from, alone) = match &self.lower {
            Bound::Included(key) => (key.as_slice(), Some(key.as_slice())),
            Bound::Excluded(key) => (key.as_slice(), None),
            Bound::Unbounded => (&[][..], None),
        };
        let least = [from, &[0]].concat();
        let greatest = match &self.upper {
            Bound::Excluded(past) => match past.split_last() {
                None => Bound::Unbounded,
                Some((0, before)) => Bound::Included(before.to_vec()),
                Some((last, before)) => {
                    let mut greatest = [before, &[last - 1]].concat();
                    greatest.resize(KEY_BYTES_MAX.max(greatest.len()), u8::MAX);
                    Bound::Included(greatest)
                }
            },
            other => other.clone(),
        };
        (least, greatest, alone)
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

/// How often a scan is done anew because a layer came in between, before it holds the next one off.
const SCANS_MAX: usize = 3;

impl Shared {
    /// At most `limit` rows within `bounds`, all of one moment.
    pub(super) fn scan(
        &self,
        bounds: &Bounds,
        order: Order,
        limit: usize,
    ) -> Result<Page, StoreError> {
        for _ in 0..SCANS_MAX {
            let (page, layers) = self.page(bounds, order, limit)?;
            // What is being applied since before hides what it changes; what came after does not.
            if self.read().layers_taken == layers {
                return page;
            }
        }
        let _held_off = self.applying.read().unwrap_or_else(PoisonError::into_inner);
        self.page(bounds, order, limit)?.0
    }

    /// A page, and how many layers the tree's thread had taken when it was begun.
    fn page(
        &self,
        bounds: &Bounds,
        order: Order,
        limit: usize,
    ) -> Result<(Result<Page, StoreError>, u64), StoreError> {
        let state = self.read();
        state.check()?;
        let layers = state.layers_taken;
        // One more than fits tells whether there is more.
        let waiting = state.waiting_within(bounds, order, limit.saturating_add(1));
        drop(state);
        let waiting = waiting.into_iter();
        let page = match order {
            Order::Ascending => {
                let range = (bounds.lower(), bounds.upper());
                let stored = self.tree.range::<&[u8], _>(range);
                merge(self, stored, waiting, |a, b| a < b, limit)
            }
            Order::Descending => {
                let (least, greatest, alone) = bounds.descending();
                let upper = greatest.as_ref().map(Vec::as_slice);
                let range = (Bound::Included(least.as_slice()), upper);
                let stored = self.tree.range::<&[u8], _>(range).rev();
                let first = alone.into_iter().filter_map(|key| {
                    let value = self.tree.get(key).transpose()?;
                    Some(value.map(|value| (sled::IVec::from(key), value)))
                });
                merge(self, stored.chain(first), waiting, |a, b| a > b, limit)
            }
        };
        Ok((page, layers))
    }
}

/// Rows of the disk and rows that wait for it as one page; a waiting row hides the stored one of its key.
fn merge(
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
            // Only a layer that came in between buries what a scan sees, and then it is done anew.
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
