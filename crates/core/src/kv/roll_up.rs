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

#[cfg(test)]
mod tests {
    use bytes::Bytes;

    use super::*;
    use crate::kv::{Batch, KeyValue as _, Memory, Tx};

    /// Folders of so many rows each.
    fn store(folders: usize, rows: usize) -> Memory {
        let store = Memory::new();
        let keys = (0..folders * rows).map(|row| format!("{:04}/{}", row / rows, row % rows));
        for some in keys.collect::<Vec<_>>().chunks(900) {
            let writes = some.iter().map(|key| (Bytes::from(key.clone()), Some(Bytes::new())));
            store.commit(Batch { writes: writes.collect(), ..Batch::default() }).wait().unwrap();
        }
        store
    }

    /// The rows that a page of all folders reads, and its scans.
    fn cost(store: &Memory, folders: usize, is_local: bool) -> (usize, usize) {
        let rule = RollUp { delimiter: b"/", end: b"|" };
        let (mut read, mut scans) = (0, 0);
        let page = page(&Span::default(), &rule, folders, is_local, |span, rows| {
            let found = store.scan(span, rows)?;
            (read, scans) = (read + found.rows.len(), scans + 1);
            Ok(found)
        });
        assert_eq!(page.unwrap().rows.len(), folders);
        (read, scans)
    }

    #[test]
    fn a_local_engine_reads_little_for_each_group_however_large_that_is() {
        let (read, _) = cost(&store(40, 900), 40, true);
        assert!(read <= 41 * FIRST_ROWS, "{read}");
    }

    #[test]
    fn small_groups_of_an_engine_on_another_machine_share_their_round_trips() {
        let (_, scans) = cost(&store(1_000, 17), 1_000, false);
        assert!(scans <= 6 + 17_000_usize.div_ceil(ROWS_MAX - 17), "{scans}");
    }

    #[test]
    fn a_transaction_shows_its_own_rows_among_those_that_roll_up() {
        let store = store(3, 20);
        let mut tx = Tx::new(&store);
        tx.put("0000a", "own");
        tx.put("0001/", "own");
        tx.delete("0002/0");
        let rule = RollUp { delimiter: b"/", end: b"|" };
        let page = tx.scan_rolled_up(&Span::default(), &rule, 9).unwrap();
        let keys: Vec<_> = page.rows.iter().map(|(key, _)| key.as_ref()).collect();
        assert_eq!(keys, [&b"0000/0"[..], b"0000a", b"0001/", b"0002/1"]);
        assert!(!page.more);
    }
}
