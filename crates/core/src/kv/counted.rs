//! A store that counts what it is asked for, and passes for one on another machine.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use super::{
    Batch, Found, KeyValue, Page, RollUp, RoundTrips, SCANS_MAX, Span, StoreError, Version,
};
use crate::pending::Pending;

/// A store whose requests are counted as the round trips that they are where a network is between.
pub struct Counted {
    store: Arc<dyn KeyValue>,
    reads: AtomicU32,
    commits: AtomicU32,
}

impl Counted {
    /// The same store, with nothing counted yet.
    #[must_use]
    pub fn new(store: Arc<dyn KeyValue>) -> Self {
        Self { store, reads: AtomicU32::new(0), commits: AtomicU32::new(0) }
    }

    /// The round trips since this was asked last.
    pub fn take(&self) -> RoundTrips {
        let take = |count: &AtomicU32| count.swap(0, Ordering::AcqRel);
        RoundTrips::of(take(&self.reads), take(&self.commits))
    }

    fn count_read(&self) {
        self.reads.fetch_add(1, Ordering::AcqRel);
    }
}

impl KeyValue for Counted {
    fn get(&self, key: &[u8]) -> Result<Found, StoreError> {
        self.count_read();
        self.store.get(key)
    }

    fn get_many(&self, keys: &[&[u8]]) -> Result<Vec<Found>, StoreError> {
        self.count_read();
        self.store.get_many(keys)
    }

    fn scan(&self, span: &Span, limit: usize) -> Result<Page, StoreError> {
        self.count_read();
        self.store.scan(span, limit)
    }

    fn scan_many(&self, scans: &[(&Span, usize)]) -> Result<Vec<Page>, StoreError> {
        let trips = u32::try_from(scans.len().div_ceil(SCANS_MAX)).unwrap_or(u32::MAX);
        self.reads.fetch_add(trips, Ordering::AcqRel);
        self.store.scan_many(scans)
    }

    /// One, as of an engine that passes over rows by itself.
    fn scan_rolled_up(
        &self,
        span: &Span,
        rule: &RollUp<'_>,
        limit: usize,
    ) -> Result<Page, StoreError> {
        self.count_read();
        self.store.scan_rolled_up(span, rule, limit)
    }

    fn commit(&self, batch: Batch) -> Pending<Result<Version, StoreError>> {
        self.commits.fetch_add(1, Ordering::AcqRel);
        self.store.commit(batch)
    }

    fn durable(&self, seen: Version) -> Option<Pending<Result<(), StoreError>>> {
        self.store.durable(seen)
    }

    fn is_local(&self) -> bool {
        false
    }
}

impl std::fmt::Debug for Counted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Counted")
            .field("reads", &self.reads)
            .field("commits", &self.commits)
            .finish_non_exhaustive()
    }
}
