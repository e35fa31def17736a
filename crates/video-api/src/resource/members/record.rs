//! Members: what is stored of a membership, and for how long it has lasted.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use triptych_core::kv::{JsonRecord, Table};
use triptych_core::time::Timestamp;

use crate::record::counter::Count;
use crate::resource::channels::record::Id;

/// Memberships by the creator's channel and the member's. What is over stays, because its time counts when it is taken up again.
pub const MEMBERS: Table<(String, String), Membership> = Table::new(0xA4);

/// Members by creator, level (none stands for all of them) and since when, latest first.
pub const MEMBERS_BY_LEVEL: Table<(String, String, u64, String), ()> = Table::new(0xA5);

/// Number of rows of a creator and a level in [`MEMBERS_BY_LEVEL`].
pub const MEMBER_COUNT: Table<(String, String), Count> = Table::new(0xA6);

/// Members of a creator by when they last joined or upgraded, in the order in which it happened: the member's channel.
pub const MEMBER_UPDATES: Table<(String, u64), Id> = Table::new(0xA7);

/// Number of updates that a creator has ever had: the last one's place.
pub const UPDATE_COUNT: Table<String, Count> = Table::new(0xA8);

/// The level in [`MEMBERS_BY_LEVEL`] that stands for all.
pub const ANY_LEVEL: &str = "";

/// A month of durations: the twelfth part of a year.
const MONTH: Duration = Duration::from_secs(2_629_746);

/// A membership.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Membership {
    /// The level; nothing while it is over.
    pub level: Option<String>,
    /// The time as a member.
    pub time: Span,
    /// The time with access to each level, the cheapest first.
    pub levels: Vec<(String, Span)>,
    /// The place of the last update.
    pub update: Option<u64>,
}

impl JsonRecord for Membership {}

/// A time that may have been interrupted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Span {
    /// Since when it goes on.
    pub since: Option<Timestamp>,
    /// Microseconds that were over before.
    pub earlier_micros: u64,
}

impl Span {
    /// Begins or ends it at `now`; nothing happens where it is so already.
    pub fn set(&mut self, goes_on: bool, now: Timestamp) {
        match (self.since, goes_on) {
            (None, true) => self.since = Some(now),
            (Some(since), false) => {
                let more = u64::try_from(now.since(since).as_micros()).unwrap_or(u64::MAX);
                self.earlier_micros = self.earlier_micros.saturating_add(more);
                self.since = None;
            }
            _ => {}
        }
    }

    /// Whole months of it, up to `now`.
    #[must_use]
    pub fn months(&self, now: Timestamp) -> u64 {
        let current = self.since.map_or(Duration::ZERO, |since| now.since(since));
        let all = Duration::from_micros(self.earlier_micros).saturating_add(current);
        all.as_secs() / MONTH.as_secs()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn months_are_whole_and_add_up_over_interruptions() {
        let at = |months: f64| Timestamp::EPOCH.plus(MONTH.mul_f64(months));
        let mut span = Span::default();
        assert_eq!(span.months(at(9.0)), 0);
        span.set(true, at(1.0));
        span.set(true, at(2.0));
        assert_eq!((span.months(at(1.9)), span.months(at(2.5))), (0, 1));
        span.set(false, at(2.6));
        assert_eq!(span.months(at(50.0)), 1);
        span.set(true, at(50.0));
        assert_eq!((span.months(at(50.3)), span.months(at(50.5))), (1, 2));
        assert_eq!(span.since, Some(at(50.0)));
        // A clock that was put back takes nothing away.
        assert_eq!(span.months(at(10.0)), 1);
    }
}
