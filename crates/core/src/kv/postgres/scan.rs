//! Scans, as statements take them.

use std::ops::Bound;

use crate::kv::{KEY_BYTES_MAX, Order, Span};

/// The end of all keys: longer than any, and greater.
const PAST_ALL: [u8; KEY_BYTES_MAX + 1] = [u8::MAX; KEY_BYTES_MAX + 1];

/// A scan as its statement takes it: at most so many rows from a key on and before another, in an order.
pub(super) struct Scan {
    pub(super) from: Vec<u8>,
    pub(super) before: Vec<u8>,
    pub(super) order: Order,
    pub(super) limit: i64,
}

impl Scan {
    /// The scan of a span for one row more than a limit, which tells whether there are more.
    pub(super) fn of(span: &Span, limit: usize) -> Self {
        let bounds = span.bounds();
        let from = match bounds.lower() {
            Bound::Included(low) => low.to_vec(),
            // The next key after another has a zero more.
            Bound::Excluded(low) => [low, &[0]].concat(),
            Bound::Unbounded => Vec::new(),
        };
        let before = match bounds.upper() {
            Bound::Excluded(high) => high.to_vec(),
            Bound::Included(high) => [high, &[0]].concat(),
            Bound::Unbounded => PAST_ALL.to_vec(),
        };
        let limit = i64::try_from(limit.saturating_add(1)).unwrap_or(i64::MAX);
        Self { from, before, order: span.order, limit }
    }
}
