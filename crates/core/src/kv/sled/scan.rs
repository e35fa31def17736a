//! Scans: the rows of the tree and those of the memtables, as one page.

use std::ops::Bound;
use std::panic::{AssertUnwindSafe, catch_unwind};

use bytes::Bytes;

use super::Engine;
use super::rows::Row;
use super::tree::panicked;
use crate::kv::{Bounds, KEY_BYTES_MAX, Order, Page, StoreError, Version};

/// Bounds as the least and the greatest key that may lie between them, and a key before the least that may lie there too.
///
/// sled 0.34 steps down from a leaf by guessing a key before its first one. Where the guess misses the leaf before (that begins with
/// four bytes of 255 more), it searches forever, and panics. So it is told bounds at which it need not guess: below the greatest key it
/// begins in the leaf that holds it, and the first key of a leaf that begins with a list is less than all of the list but that one key.
fn descending<'b>(bounds: &'b Bounds<'_>) -> (Vec<u8>, Bound<Vec<u8>>, Option<&'b [u8]>) {
    let (from, alone) = match bounds.lower() {
        Bound::Included(key) => (key, Some(key)),
        Bound::Excluded(key) => (key, None),
        Bound::Unbounded => (&[][..], None),
    };
    let least = [from, &[0]].concat();
    let greatest = match bounds.upper() {
        Bound::Excluded(past) => match past.split_last() {
            None => Bound::Unbounded,
            Some((0, before)) => Bound::Included(before.to_vec()),
            Some((last, before)) => {
                let mut greatest = [before, &[last - 1]].concat();
                greatest.resize(KEY_BYTES_MAX.max(greatest.len()), u8::MAX);
                Bound::Included(greatest)
            }
        },
        other => other.map(<[u8]>::to_vec),
    };
    (least, greatest, alone)
}

/// Times that a scan is done anew because a checkpoint came in between, before it holds the next one off.
const SCANS_MAX: usize = 3;

impl Engine {
    /// At most `limit` rows within `bounds`, all of one moment.
    pub(super) fn scan(
        &self,
        bounds: &Bounds<'_>,
        order: Order,
        limit: usize,
    ) -> Result<Page, StoreError> {
        for _ in 0..SCANS_MAX {
            let (page, checkpoints) = self.page(bounds, order, limit)?;
            // A checkpoint that is under way since before hides what it changes; what came after does not.
            if self.queue.read().checkpoints_begun == checkpoints {
                return page;
            }
        }
        let _held_off = self.inserting.read();
        self.page(bounds, order, limit)?.0
    }

    /// A page, and the count of checkpoints that were begun before it.
    fn page(
        &self,
        bounds: &Bounds<'_>,
        order: Order,
        limit: usize,
    ) -> Result<(Result<Page, StoreError>, u64), StoreError> {
        let queue = self.queue.read();
        queue.check()?;
        let checkpoints = queue.checkpoints_begun;
        // One more than fits tells whether there is more.
        let queued = queue.range(bounds, order, limit.saturating_add(1));
        drop(queue);
        let queued = queued.into_iter();
        let read = || match order {
            Order::Ascending => {
                let range = (bounds.lower(), bounds.upper());
                let stored = self.tree.range(range).map_err(|error| self.tree_failed(error))?;
                merge(self, stored, queued, |a, b| a < b, limit)
            }
            Order::Descending => {
                let (least, greatest, alone) = descending(bounds);
                let upper = greatest.as_ref().map(Vec::as_slice);
                let range = (Bound::Included(least.as_slice()), upper);
                let stored = self.tree.range(range).map_err(|error| self.tree_failed(error))?.rev();
                let first = alone.into_iter().filter_map(|key| {
                    let value = self.tree.get(key).transpose()?;
                    Some(value.map(|value| (sled::IVec::from(key), value)))
                });
                merge(self, stored.chain(first), queued, |a, b| a > b, limit)
            }
        };
        let page = catch_unwind(AssertUnwindSafe(read));
        let panicked = || Err(self.tree_failed(panicked()));
        Ok((page.unwrap_or_else(|_| panicked()), checkpoints))
    }
}

/// Stored rows and queued rows as one page; a queued row hides the stored one of its key.
fn merge(
    engine: &Engine,
    stored: impl Iterator<Item = sled::Result<(sled::IVec, sled::IVec)>>,
    queued: impl Iterator<Item = (Bytes, (Option<Bytes>, Version))>,
    before: impl Fn(&[u8], &[u8]) -> bool,
    limit: usize,
) -> Result<Page, StoreError> {
    let mut page = Page::default();
    let (mut stored, mut queued) = (stored.peekable(), queued.peekable());
    loop {
        let takes_queued = match (stored.peek(), queued.peek()) {
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
        let row = if takes_queued {
            let Some((key, (value, version))) = queued.next() else {
                continue;
            };
            page.seen = page.seen.max(version);
            value.map(|value| (key, value))
        } else {
            let Some(row) = stored.next() else { continue };
            let (key, value) = row.map_err(|error| engine.tree_failed(error))?;
            let row = Row::read(&value)?;
            page.seen = page.seen.max(row.version());
            if page.rows.len() == limit {
                page.more = true;
                return Ok(page);
            }
            // Only a checkpoint that came in between deletes what a scan sees, and then it is done anew.
            let value = engine.value(row)?.ok_or_else(|| {
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
