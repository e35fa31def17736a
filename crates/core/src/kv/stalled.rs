//! A store whose disk has stopped: for tests that nothing is given up for a row that a power cut can still take back.

use super::{Batch, Found, KeyValue, Memory, Page, Span, StoreError, Version};
use crate::pending::Pending;

/// A store that takes commits and brings none of them to the disk: whoever waits for it is told that nobody knows.
#[derive(Debug, Default)]
pub struct Stalled(
    /// Its rows.
    pub Memory,
);

impl KeyValue for Stalled {
    fn get(&self, key: &[u8]) -> Result<Found, StoreError> {
        self.0.get(key)
    }

    fn scan(&self, span: &Span, limit: usize) -> Result<Page, StoreError> {
        self.0.scan(span, limit)
    }

    fn commit(&self, batch: Batch) -> Pending<Result<Version, StoreError>> {
        self.0.commit(batch)
    }

    fn durable(&self, _seen: Version) -> Option<Pending<Result<(), StoreError>>> {
        Some(Pending::ready(Err(StoreError::OutcomeUnknown)))
    }
}
