//! Figures of an engine on another machine.

use std::sync::atomic::{AtomicU64, Ordering};

/// Figures of the engine since it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SharedStats {
    /// Statements that were sent, each a round trip.
    pub round_trips: u64,
    /// Attempts that the server undid because they met another transaction.
    pub retries: u64,
    /// Batches that were refused because an expectation did not hold, or because they met others each time.
    pub conflicts: u64,
    /// Connections that were lost.
    pub lost_connections: u64,
    /// Batches whose answer was lost, and whose outcome was asked for.
    pub outcomes_asked: u64,
    /// Those of them for which nobody answered in time.
    pub outcomes_unknown: u64,
}

#[derive(Debug, Default)]
pub(in crate::kv) struct Counters {
    pub(in crate::kv) round_trips: AtomicU64,
    pub(in crate::kv) retries: AtomicU64,
    pub(in crate::kv) conflicts: AtomicU64,
    pub(in crate::kv) lost_connections: AtomicU64,
    pub(in crate::kv) outcomes_asked: AtomicU64,
    pub(in crate::kv) outcomes_unknown: AtomicU64,
}

impl Counters {
    /// The figures now.
    pub(in crate::kv) fn read(&self) -> SharedStats {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        SharedStats {
            round_trips: read(&self.round_trips),
            retries: read(&self.retries),
            conflicts: read(&self.conflicts),
            lost_connections: read(&self.lost_connections),
            outcomes_asked: read(&self.outcomes_asked),
            outcomes_unknown: read(&self.outcomes_unknown),
        }
    }
}
