//! Scans of the stored orders: pages of everything that is public, and the documents of a time.

use std::cmp::Ordering;

use triptych_core::kv::{Order as Direction, StoreError, Tx};

use super::{Cursor, Query, ResultPage, hit};
use crate::index::Kind;
use crate::index::entry::{NumberRow, TOTALS};
use crate::index::order::{BY_DATE, ORDERED, OrderKey, ascending, order_key, rank_and_id};
use crate::index::postings::List;
use crate::index::tokenizer::Counts;

/// Rows that one scan reads.
const SCAN_ROWS: usize = 1000;

/// A page of everything that is public, off the stored order.
pub(super) fn ordered_scan(
    tx: &mut Tx<'_>,
    query: &Query,
    order: u8,
    cursor: Option<&Cursor>,
    backwards: bool,
    limit: usize,
) -> Result<ResultPage, StoreError> {
    let totals = TOTALS.peek(tx, &())?.unwrap_or_default();
    let kinds: Vec<Kind> = Kind::ALL
        .into_iter()
        .filter(|kind| query.kinds.is_empty() || query.kinds.contains(kind))
        .collect();
    let total = kinds.iter().filter_map(|kind| totals.public.get(*kind as usize)).sum();
    let span = |kind: &Kind| {
        let kind = *kind;
        let mut span = ORDERED.span(&(order, kind as u8));
        if let Some(cursor) = cursor {
            // Among equals the order is by kind, then by id.
            let bound = match kind.cmp(&cursor.kind) {
                Ordering::Equal => order_key(order, kind, &cursor.key, &cursor.id),
                Ordering::Less => past(order, kind, &cursor.key),
                Ordering::Greater => order_key(order, kind, &cursor.key, ""),
            };
            let bound = ORDERED.key(&bound).to_vec();
            if backwards {
                span.to = Some(bound);
            } else {
                span.from = Some(bound);
            }
        }
        if backwards {
            span.order = Direction::Descending;
        }
        span
    };
    let spans: Vec<_> = kinds.iter().map(span).collect();
    let found = ORDERED.scan_many(tx, &spans, limit + 1)?;
    let found = kinds.into_iter().zip(found).flat_map(|(kind, (rows, _))| {
        rows.into_iter().map(move |(key, _)| {
            let (rank, id) = rank_and_id(key);
            (rank, kind, id)
        })
    });
    let mut rows: Vec<(Vec<u8>, Kind, String)> = found.collect();
    rows.sort_unstable();
    let over = rows.len() > limit;
    if backwards && over {
        rows.drain(..rows.len() - limit);
    }
    rows.truncate(limit);
    // The stored order is as good for a result that is gone.
    let hits = rows.into_iter().map(|row| hit(row, 0)).collect();
    let (more, earlier) = if backwards { (true, over) } else { (over, cursor.is_some()) };
    Ok(ResultPage { hits, total, more, earlier })
}

/// The key behind everything of this rank: no id is greater than the last character.
fn past(order: u8, kind: Kind, rank: &[u8]) -> OrderKey {
    order_key(order, kind, rank, "\u{10FFFF}")
}

/// More documents of a time than this are not gathered: looking at every document costs less.
const PUBLISHED_MAX: usize = 20_000;

/// The public documents of the kinds and the time that are asked for; `None` if they are many.
pub(super) fn published_between(
    tx: &mut Tx<'_>,
    query: &Query,
) -> Result<Option<List>, StoreError> {
    let is_narrow = query.published_after.is_some()
        || query.published_before.is_some()
        || !(query.kinds.is_empty() || query.kinds.contains(&Kind::Video));
    if !is_narrow {
        return Ok(None);
    }
    let span = |kind| {
        let mut span = ORDERED.span(&(BY_DATE, kind as u8));
        // The latest stand first. A key without an id comes before all of its moment.
        let bound = |moment: i64| {
            let rank = (!ascending(moment)).to_be_bytes();
            ORDERED.key(&order_key(BY_DATE, kind, &rank, "")).to_vec()
        };
        let before = query.published_before;
        span.from = before.map(|before| bound(before.saturating_sub(1)));
        let after = query.published_after;
        span.to = after.map(|after| bound(after.saturating_sub(1)));
        span
    };
    let kinds = Kind::ALL.into_iter();
    let kinds = kinds.filter(|kind| query.kinds.is_empty() || query.kinds.contains(kind));
    let mut spans: Vec<_> = kinds.map(span).collect();
    let mut found = List::new();
    while !spans.is_empty() {
        let pages = ORDERED.scan_many(tx, &spans, SCAN_ROWS)?;
        let mut rests = Vec::new();
        for (mut span, (rows, more)) in spans.into_iter().zip(pages) {
            let numbers = rows.iter().map(|(_, NumberRow(number))| *number);
            found.extend(numbers.map(|number| (number, Counts::default())));
            if let Some((key, _)) = rows.last().filter(|_| more) {
                span.from = Some(ORDERED.key(key).to_vec());
                rests.push(span);
            }
        }
        if found.len() > PUBLISHED_MAX {
            return Ok(None);
        }
        spans = rests;
    }
    found.sort_unstable_by_key(|(number, _)| *number);
    Ok(Some(found))
}
