//! Scans of which many rows count as one: those that have a text of their keys up to a delimiter in common.

use super::{Order, Page, Span, StoreError};

/// Rows that are read at first, where a delimiter may make most of them one.
const FIRST_ROWS: usize = 16;
/// The most rows that are read at once.
const ROWS_MAX: usize = 1_001;
/// Greater than any byte that follows a delimiter in a key.
const BEYOND: u8 = 0xFF;

/// The rule by which rows roll up: of those that have the bytes of their keys up to a delimiter in common, the first stands for all.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RollUp<'r> {
    /// The bytes that are looked for behind the prefix of the span; not empty, and no byte FF follows them in a key.
    pub delimiter: &'r [u8],
    /// The bytes behind which nothing is looked for.
    pub end: &'r [u8],
}

impl RollUp<'_> {
    /// A bound behind all rows that the row with this key stands for, where it stands for others; the first `prefix` bytes are no part of that.
    #[must_use]
    pub fn beyond(&self, prefix: usize, key: &[u8]) -> Option<Vec<u8>> {
        let rest = key.get(prefix..)?;
        let place = |bytes: &[u8]| rest.windows(bytes.len().max(1)).position(|part| part == bytes);
        let at = place(self.delimiter)?;
        if place(self.end).is_some_and(|end| end < at) {
            return None;
        }
        let mut bound = key.get(..prefix + at + self.delimiter.len())?.to_vec();
        bound.push(BEYOND);
        Some(bound)
    }
}

/// The page that [`KeyValue::scan_rolled_up`](super::KeyValue::scan_rolled_up) gives, by scans. Rows that are left out are passed over by a scan
/// that begins behind them. An engine for which each scan is a round trip reads more at once with each, so that small groups cost few.
///
/// # Errors
/// Those of `scan`.
pub(super) fn page(
    span: &Span,
    rule: &RollUp<'_>,
    limit: usize,
    is_local: bool,
    mut scan: impl FnMut(&Span, usize) -> Result<Page, StoreError>,
) -> Result<Page, StoreError> {
    let mut page = Page::default();
    let mut span = Span { order: Order::Ascending, ..span.clone() };
    let mut rows = FIRST_ROWS;
    loop {
        let found = scan(&span, rows)?;
        page.seen = page.seen.max(found.seen);
        let mut beyond = None::<Vec<u8>>;
        for (key, value) in found.rows {
            if beyond.as_ref().is_some_and(|beyond| key < *beyond) {
                continue;
            }
            if page.rows.len() == limit {
                page.more = true;
                return Ok(page);
            }
            beyond = rule.beyond(span.prefix.len(), &key);
            span.from = Some(key.to_vec());
            page.rows.push((key, value));
        }
        if !found.more {
            return Ok(page);
        }
        rows = match &beyond {
            Some(_) if is_local => FIRST_ROWS,
            _ => (rows * 2).min(ROWS_MAX),
        };
        span.from = beyond.or(span.from);
    }
}
