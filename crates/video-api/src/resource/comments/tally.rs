//! Counters of a list of threads that many write at once: a few rows together, of which a transaction changes one.
//!
//! A list begins with one row. Once it has counted a little, writers spread over all of them, so that those of one video seldom meet;
//! a reader sums what there is.

use serde::{Deserialize, Serialize};
use triptych_core::id::Ids;
use triptych_core::kv::{JsonRecord, Plan, Table, Tx};

use crate::api::error::Error;

/// Rows of the tallies of lists.
pub const TALLIES: Table<(String, u8), Tally> = Table::new(0x47);

/// Rows that a list has at most.
const SHARDS: u8 = 16;
/// The count that the first row reaches before others come beside it.
const ALONE_MAX: i64 = 8;

/// The counts of a list, or of one row's share of it. A share may be less than nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tally {
    /// Number of comments that everybody sees, replies included.
    #[serde(rename = "c", default)]
    pub comments: i64,
    /// Number of threads by slot.
    #[serde(rename = "t", default)]
    pub threads: [i64; 4],
    /// True once there are other rows beside the first.
    #[serde(rename = "w", default, skip_serializing_if = "std::ops::Not::not")]
    wide: bool,
}

impl JsonRecord for Tally {}

impl Tally {
    /// A change of what is counted.
    #[must_use]
    pub const fn of(comments: i64, threads: [i64; 4]) -> Self {
        Self { comments, threads, wide: false }
    }

    /// Number of comments that everybody sees.
    #[must_use]
    pub fn comments(&self) -> u64 {
        u64::try_from(self.comments).unwrap_or_default()
    }

    /// Number of threads in a slot, counted from 1.
    #[must_use]
    pub fn threads(&self, slot: u8) -> u64 {
        let count = self.threads.get(usize::from(slot).saturating_sub(1));
        count.and_then(|count| u64::try_from(*count).ok()).unwrap_or_default()
    }

    /// Returns whether it counts anything.
    #[must_use]
    pub fn counts(&self) -> bool {
        self.comments != 0 || self.threads != [0; 4]
    }

    /// The opposite change.
    #[must_use]
    pub fn negated(self) -> Self {
        Self { comments: -self.comments, threads: self.threads.map(|count| -count), wide: false }
    }

    fn plus(self, other: Self) -> Self {
        let mut threads = self.threads;
        threads.iter_mut().zip(other.threads).for_each(|(count, more)| *count += more);
        Self { comments: self.comments + other.comments, threads, wide: self.wide }
    }

    fn is_much(&self) -> bool {
        let rest = self.threads.iter().map(|count| count.abs()).sum::<i64>();
        self.comments.abs() + rest >= ALONE_MAX
    }
}

/// The row that a transaction changes: the same one for all that it changes, and for each attempt at it.
#[must_use]
pub fn shard(ids: &mut dyn Ids) -> u8 {
    u8::try_from(ids.next() % u64::from(SHARDS)).unwrap_or_default()
}

/// Adds a change, also one of nothing: whoever lists the threads is to see that something of them changed.
///
/// # Errors
/// As the store.
pub fn add(tx: &mut Tx<'_>, shard: u8, list: &str, change: Tally) -> Result<(), Error> {
    let first = TALLIES.peek(tx, &(list.to_owned(), 0))?.unwrap_or_default();
    let key = (list.to_owned(), if first.wide { shard } else { 0 });
    let old = TALLIES.get(tx, &key)?.unwrap_or_default();
    let mut new = old.plus(change);
    new.wide |= key.1 == 0 && new.is_much();
    TALLIES.put(tx, &key, &new);
    Ok(())
}

/// Plans what [`add`] reads of a list.
pub fn plan_add(plan: &mut Plan<'_>, shard: u8, list: &str) {
    for shard in [0, shard] {
        plan.row(&TALLIES, &(list.to_owned(), shard));
    }
}

/// Plans what [`take`] reads of a list.
pub fn plan_take(plan: &mut Plan<'_>, list: &str) {
    for shard in 0..SHARDS {
        plan.row(&TALLIES, &(list.to_owned(), shard));
    }
}

/// Plans what [`of`] reads of a list.
pub fn plan(plan: &mut Plan<'_>, list: &str) {
    let first = plan.row(&TALLIES, &(list.to_owned(), 0));
    if first.is_some_and(|first| first.wide) {
        for shard in 1..SHARDS {
            plan.row(&TALLIES, &(list.to_owned(), shard));
        }
    }
}

/// Reads what is counted of a list, for showing.
///
/// # Errors
/// As the store.
pub fn of(tx: &mut Tx<'_>, list: String) -> Result<Tally, Error> {
    let mut key = (list, 0);
    let Some(first) = TALLIES.peek_shared(tx, &key)? else {
        return Ok(Tally::default());
    };
    let mut sum = *first;
    while sum.wide && key.1 < SHARDS - 1 {
        key.1 += 1;
        if let Some(share) = TALLIES.peek_shared(tx, &key)? {
            sum = sum.plus(*share);
        }
    }
    Ok(sum)
}

/// Reads what is counted of a list, of which the commit depends.
///
/// # Errors
/// As the store.
pub fn sum(tx: &mut Tx<'_>, list: &str) -> Result<Tally, Error> {
    let mut sum = TALLIES.get(tx, &(list.to_owned(), 0))?.unwrap_or_default();
    if sum.wide {
        for shard in 1..SHARDS {
            let share = TALLIES.get(tx, &(list.to_owned(), shard))?;
            sum = sum.plus(share.unwrap_or_default());
        }
    }
    Ok(Tally { wide: false, ..sum })
}

/// Removes the tally of a list that goes, and gives what it counted.
///
/// # Errors
/// As the store.
pub fn take(tx: &mut Tx<'_>, list: &str) -> Result<Tally, Error> {
    let mut sum = Tally::default();
    for shard in 0..SHARDS {
        let key = (list.to_owned(), shard);
        if let Some(share) = TALLIES.get(tx, &key)? {
            sum = sum.plus(share);
            TALLIES.delete(tx, &key);
        }
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use triptych_core::kv::Memory;

    proptest! {
        #[test]
        fn a_sum_is_what_was_added_whichever_rows_took_it(
            changes in proptest::collection::vec((0..SHARDS, -3_i64..4, 0..4_usize), 0..60),
        ) {
            let store = Memory::new();
            let mut tx = Tx::new(&store);
            let mut expected = Tally::default();
            for (shard, count, slot) in changes {
                let mut threads = [0; 4];
                threads[slot] = -count;
                let change = Tally::of(count, threads);
                expected = expected.plus(change);
                add(&mut tx, shard, "Vv", change).unwrap();
                add(&mut tx, shard, "Vw", change.negated()).unwrap();
                let sum = of(&mut tx, "Vv".into()).unwrap();
                prop_assert_eq!((sum.comments, sum.threads), (expected.comments, expected.threads));
                let depended = super::sum(&mut tx, "Vv").unwrap();
                prop_assert_eq!(depended, Tally::of(sum.comments, sum.threads));
            }
            let taken = take(&mut tx, "Vv").unwrap();
            prop_assert_eq!((taken.comments, taken.threads), (expected.comments, expected.threads));
            prop_assert_eq!(of(&mut tx, "Vv".into()).unwrap(), Tally::default());
        }
    }

    #[test]
    fn writers_of_a_list_that_counts_much_do_not_meet() {
        let store = Memory::new();
        let mut tx = Tx::new(&store);
        for _ in 0..20 {
            add(&mut tx, 3, "Vv", Tally::of(1, [1, 0, 0, 0])).unwrap();
        }
        let rows = TALLIES.all(&mut tx, &"Vv".to_owned(), 99).unwrap();
        assert_eq!(rows.iter().map(|((_, shard), _)| *shard).collect::<Vec<_>>(), [0, 3]);
    }
}
