//! Scans, as engines on other machines are asked for them: ranges of keys, several in one round trip.

use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;

use crate::kv::{Order, Page, SCANS_MAX, Span, StoreError, Version};

/// A scan as an engine is asked for it: the rows from a key on and before another, where there is one, in an order.
pub(in crate::kv) struct Scan {
    pub(in crate::kv) from: Vec<u8>,
    pub(in crate::kv) before: Option<Vec<u8>>,
    pub(in crate::kv) order: Order,
    limit: usize,
}

impl Scan {
    /// The scan of a span; `None` where it can hold nothing.
    pub(in crate::kv) fn of(span: &Span, limit: usize) -> Option<Self> {
        let bounds = span.bounds();
        if bounds.is_empty() {
            return None;
        }
        // The next key after another has a zero more.
        let from = match bounds.lower() {
            Bound::Included(low) => low.to_vec(),
            Bound::Excluded(low) => [low, &[0]].concat(),
            Bound::Unbounded => Vec::new(),
        };
        let before = match bounds.upper() {
            Bound::Excluded(high) => Some(high.to_vec()),
            Bound::Included(high) => Some([high, &[0]].concat()),
            Bound::Unbounded => None,
        };
        Some(Self { from, before, order: span.order, limit })
    }

    /// The number of rows to ask for: one more than the limit, which tells whether there are more.
    pub(in crate::kv) fn rows(&self) -> i64 {
        i64::try_from(self.limit.saturating_add(1)).unwrap_or(i64::MAX)
    }

    /// The page of the rows that were found.
    pub(in crate::kv) fn page(&self, mut rows: Vec<StoredRow>) -> Page {
        let more = rows.len() > self.limit;
        rows.truncate(self.limit);
        let seen = rows.iter().map(|row| row.version).max().unwrap_or_default();
        let rows = rows.into_iter().map(|row| (row.key, row.value)).collect();
        Page { rows, more, seen }
    }
}

/// A row as an engine has it.
pub(in crate::kv) struct StoredRow {
    pub(in crate::kv) key: Bytes,
    pub(in crate::kv) value: Bytes,
    pub(in crate::kv) version: Version,
}

/// The pages of several spans, each with its limit, in their order. `ask` reads up to [`SCANS_MAX`] scans in one round trip; nothing is asked
/// for a span that can hold nothing.
///
/// # Errors
/// Those of `ask`.
pub(in crate::kv) fn read_together(
    scans: &[(&Span, usize)],
    ask: impl Fn(Arc<[Scan]>) -> Result<Vec<Vec<StoredRow>>, StoreError>,
) -> Result<Vec<Page>, StoreError> {
    let mut pages = Vec::new();
    pages.resize_with(scans.len(), Page::default);
    let mut wanted = pages
        .iter_mut()
        .zip(scans)
        .filter_map(|(page, (span, limit))| Some((page, Scan::of(span, *limit)?)));
    loop {
        let (places, some): (Vec<_>, Vec<_>) = wanted.by_ref().take(SCANS_MAX).unzip();
        if some.is_empty() {
            break;
        }
        let some: Arc<[Scan]> = some.into();
        let found = ask(Arc::clone(&some))?;
        for ((place, scan), rows) in places.into_iter().zip(some.iter()).zip(found) {
            *place = scan.page(rows);
        }
    }
    Ok(pages)
}
