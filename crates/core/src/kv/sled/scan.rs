//! Scans: the rows of the tree and those of the memtables, as one page.

use bytes::Bytes;

use super::Engine;
use super::rows::Row;
use super::tree::TreeRows;
use crate::kv::{Bounds, Order, Page, StoreError, Version};
use crate::schedule;

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
        let _held_off = schedule::read(&self.inserting);
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
        let range = (bounds.lower(), bounds.upper());
        let stored = self.tree.range(range, order).map_err(|error| self.tree_failed(error))?;
        let page = match order {
            Order::Ascending => merge(self, stored, queued, |a, b| a < b, limit),
            Order::Descending => merge(self, stored, queued, |a, b| a > b, limit),
        };
        Ok((page, checkpoints))
    }
}

/// Stored rows and queued rows as one page; a queued row hides the stored one of its key.
fn merge(
    engine: &Engine,
    stored: TreeRows<'_>,
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
            let (key, stored) = row.map_err(|error| engine.tree_failed(error))?;
            let row = Row::read(stored)?;
            page.seen = page.seen.max(row.version());
            if page.rows.len() == limit {
                page.more = true;
                return Ok(page);
            }
            // Only a checkpoint that came in between deletes what a scan sees, and then it is done anew.
            let value = engine.value(row)?.ok_or_else(|| {
                StoreError::Corrupt("a row names a value that is not there".into())
            })?;
            Some((key, value))
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
