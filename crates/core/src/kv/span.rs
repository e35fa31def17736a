//! Spans: the keys that a scan reads.

use std::borrow::Cow;
use std::ops::Bound;

/// The end from which a scan reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Least key first.
    #[default]
    Ascending,
    /// Greatest key first.
    Descending,
}

/// The rows that a scan reads: those whose key starts with `prefix` and lies strictly between `from` and `to`.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Span {
    /// The start of every key.
    pub prefix: Vec<u8>,
    /// Keys greater than this one; the bound itself is left out.
    pub from: Option<Vec<u8>>,
    /// Keys less than this one; the bound itself is left out.
    pub to: Option<Vec<u8>>,
    /// The end that comes first.
    pub order: Order,
}

impl Span {
    /// All keys that start with `prefix`, least first.
    #[must_use]
    pub fn of(prefix: impl Into<Vec<u8>>) -> Self {
        Self { prefix: prefix.into(), ..Self::default() }
    }

    /// Returns whether a row with this key belongs to the span.
    #[must_use]
    pub fn holds(&self, key: &[u8]) -> bool {
        key.starts_with(&self.prefix)
            && self.from.as_deref().is_none_or(|from| key > from)
            && self.to.as_deref().is_none_or(|to| key < to)
    }

    /// The bounds between which its keys lie, and no others.
    #[must_use]
    pub fn bounds(&self) -> Bounds<'_> {
        let lower = match self.from.as_deref() {
            Some(from) if from >= self.prefix.as_slice() => Bound::Excluded(from),
            // No key is empty; an engine may have a row of its own there.
            _ if self.prefix.is_empty() => Bound::Excluded(&[][..]),
            _ => Bound::Included(self.prefix.as_slice()),
        };
        let upper = match (self.to.as_deref(), past_prefix(&self.prefix)) {
            (Some(to), Some(past)) if past.as_slice() < to => Bound::Excluded(past.into()),
            (Some(to), _) => Bound::Excluded(to.into()),
            (None, Some(past)) => Bound::Excluded(past.into()),
            (None, None) => Bound::Unbounded,
        };
        Bounds { lower, upper }
    }
}

/// The bounds of a span, as ordered maps take them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bounds<'s> {
    lower: Bound<&'s [u8]>,
    upper: Bound<Cow<'s, [u8]>>,
}

impl Bounds<'_> {
    /// The lower bound.
    #[must_use]
    pub const fn lower(&self) -> Bound<&[u8]> {
        self.lower
    }

    /// The upper bound.
    #[must_use]
    pub fn upper(&self) -> Bound<&[u8]> {
        self.upper.as_ref().map(AsRef::as_ref)
    }

    /// Returns whether nothing can lie between the two; a `BTreeMap` panics where the lower bound is past the upper one.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        match (self.lower(), self.upper()) {
            (Bound::Included(low) | Bound::Excluded(low), Bound::Excluded(high)) => low >= high,
            _ => false,
        }
    }
}

/// The least key greater than every key that starts with `prefix`; `None` if there is none.
fn past_prefix(prefix: &[u8]) -> Option<Vec<u8>> {
    let mut past = prefix.to_vec();
    while let Some(last) = past.pop() {
        if last < u8::MAX {
            past.push(last + 1);
            return Some(past);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Keys of few letters, so that prefixes and bounds meet.
    fn key() -> impl Strategy<Value = Vec<u8>> {
        proptest::collection::vec(prop::sample::select(vec![0, 1, 254, 255]), 0..4)
    }

    proptest! {
        #[test]
        fn the_bounds_hold_the_keys_of_the_span_and_no_others(
            prefix in key(),
            from in proptest::option::of(key()),
            to in proptest::option::of(key()),
            probe in key().prop_filter("no key is empty", |key| !key.is_empty()),
        ) {
            let span = Span { prefix, from, to, ..Span::default() };
            let bounds = span.bounds();
            let is_above = match bounds.lower() {
                Bound::Included(low) => probe.as_slice() >= low,
                Bound::Excluded(low) => probe.as_slice() > low,
                Bound::Unbounded => true,
            };
            let is_below = match bounds.upper() {
                Bound::Excluded(high) => probe.as_slice() < high,
                _ => true,
            };
            prop_assert_eq!(is_above && is_below, span.holds(&probe));
            prop_assert!(!(bounds.is_empty() && span.holds(&probe)));
        }
    }
}
