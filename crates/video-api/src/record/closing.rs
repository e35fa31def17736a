//! Channels whose account was closed while something of theirs is still in the store: nobody finds any of it from the moment of the closing on.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use serde::{Deserialize, Serialize};
use triptych_core::kv::{JsonRecord, StoreError, Table, Tx};

use crate::record::counter::Count;

/// The one row of channels that are closing.
pub const CLOSING: Table<(), ClosingChannels> = Table::new(0x4E);

/// Number of steps in which something of closing channels was removed, and of the ends of their closings. It stays when none is closing: a
/// request that found none before and after would else not know of one that began and ended between.
pub const STEPS: Table<(), Count> = Table::new(0x4F);

/// Ids of channels that are closing.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClosingChannels(BTreeSet<String>);

impl JsonRecord for ClosingChannels {}

impl ClosingChannels {
    /// Returns whether a channel is among them.
    #[must_use]
    pub fn holds(&self, channel: &str) -> bool {
        self.0.contains(channel)
    }

    /// Returns whether there are none, as nearly always.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(String::as_str)
    }
}

/// The channels that are closing now.
///
/// # Errors
/// As the store.
pub fn peek(tx: &mut Tx<'_>) -> Result<Arc<ClosingChannels>, StoreError> {
    Ok(CLOSING.peek_shared(tx, &())?.unwrap_or_default())
}

/// The rows that a [`Moment`] is made of.
#[must_use]
pub fn watched() -> Vec<Bytes> {
    vec![CLOSING.key(&()), STEPS.key(&())]
}

/// The state of what is being removed: rows that are read while it stays the same are rows of one moment.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// The channels that are closing.
    pub channels: Arc<ClosingChannels>,
    steps: Count,
}

/// The moment that is now. An answer rests on the channels, and so `tx` reads them; the steps are read `aside`, since an answer that rested
/// on them would wait until each is on disk, and would be made anew after the next.
///
/// # Errors
/// As the store.
pub fn moment(tx: &mut Tx<'_>, aside: &mut Tx<'_>) -> Result<Moment, StoreError> {
    let channels = peek(tx)?;
    let steps = STEPS.peek(aside, &())?.unwrap_or_default();
    Ok(Moment { channels, steps })
}

/// Ends a moment: this transaction removes something that may be a closing channel's.
///
/// # Errors
/// As the store.
pub fn step(tx: &mut Tx<'_>) -> Result<(), StoreError> {
    if !get(tx)?.is_empty() {
        count(tx)?;
    }
    Ok(())
}

fn count(tx: &mut Tx<'_>) -> Result<(), StoreError> {
    let Count(steps) = STEPS.get(tx, &())?.unwrap_or_default();
    STEPS.put(tx, &(), &Count(steps.wrapping_add(1)));
    Ok(())
}

/// The channels that are closing now, of which the commit depends.
///
/// # Errors
/// As the store.
pub fn get(tx: &mut Tx<'_>) -> Result<Arc<ClosingChannels>, StoreError> {
    Ok(CLOSING.get_shared(tx, &())?.unwrap_or_default())
}

/// Adds a channel whose account is closed in this transaction.
///
/// # Errors
/// As the store.
pub fn begin(tx: &mut Tx<'_>, channel: &str) -> Result<(), StoreError> {
    let mut closing = CLOSING.get(tx, &())?.unwrap_or_default();
    closing.0.insert(channel.to_owned());
    CLOSING.put(tx, &(), &closing);
    Ok(())
}

/// Takes out a channel of which nothing is left.
///
/// # Errors
/// As the store.
pub fn end(tx: &mut Tx<'_>, channel: &str) -> Result<(), StoreError> {
    let mut closing = CLOSING.get(tx, &())?.unwrap_or_default();
    closing.0.remove(channel);
    if closing.is_empty() {
        CLOSING.delete(tx, &());
    } else {
        CLOSING.put(tx, &(), &closing);
    }
    count(tx)
}

#[cfg(test)]
mod tests {
    use super::*;
    use triptych_core::kv::{KeyValue as _, Memory, Span};

    #[test]
    fn a_moment_ends_with_each_step_while_a_channel_is_closing() {
        let store = Memory::new();
        let after = |change: &dyn Fn(&mut Tx<'_>)| {
            let mut tx = Tx::new(&store);
            change(&mut tx);
            store.commit(tx.into_batch([0; 16])).wait().unwrap();
            moment(&mut Tx::new(&store), &mut Tx::new(&store)).unwrap()
        };
        let quiet = after(&|_| ());
        assert_eq!(after(&|tx| step(tx).unwrap()), quiet);
        let mut moments = vec![quiet, after(&|tx| begin(tx, "UCx").unwrap())];
        moments.extend((0..3).map(|_| after(&|tx| step(tx).unwrap())));
        moments.push(after(&|tx| end(tx, "UCx").unwrap()));
        for (at, one) in moments.iter().enumerate() {
            assert!(!moments.iter().skip(at + 1).any(|other| other == one), "moment {at}");
        }
    }

    #[test]
    fn what_is_read_in_a_moment_does_not_rest_on_the_steps_before_it() {
        let store = Memory::new();
        let commit = |change: &dyn Fn(&mut Tx<'_>)| {
            let mut tx = Tx::new(&store);
            change(&mut tx);
            store.commit(tx.into_batch([0; 16])).wait().unwrap();
        };
        commit(&|tx| begin(tx, "UCx").unwrap());
        let seen = || {
            let mut tx = Tx::new(&store);
            moment(&mut tx, &mut Tx::new(&store)).unwrap();
            tx.seen()
        };
        let before = seen();
        commit(&|tx| step(tx).unwrap());
        assert_eq!(seen(), before);
    }

    #[test]
    fn a_channel_is_closing_until_it_ended_and_only_the_count_is_left_then() {
        let store = Memory::new();
        let mut tx = Tx::new(&store);
        begin(&mut tx, "UCx").unwrap();
        begin(&mut tx, "UCy").unwrap();
        assert!(get(&mut tx).unwrap().holds("UCx"));
        end(&mut tx, "UCx").unwrap();
        let left = peek(&mut tx).unwrap();
        assert_eq!(left.iter().collect::<Vec<_>>(), ["UCy"]);
        step(&mut tx).unwrap();
        end(&mut tx, "UCy").unwrap();
        step(&mut tx).unwrap();
        store.commit(tx.into_batch([0; 16])).wait().unwrap();
        let left: Vec<_> = store.scan(&Span::default(), 9).unwrap().rows;
        assert_eq!(left.into_iter().map(|(key, _)| key).collect::<Vec<_>>(), [STEPS.key(&())]);
    }
}
