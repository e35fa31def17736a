//! Ids and numbers that were given, none of them twice.

/// Ids begin here, so that they are never taken for an index or a count.
const FIRST_ID: i64 = 1_000_001;

/// The last id and the last number that were given.
#[derive(Debug)]
pub(crate) struct Counters {
    id: i64,
    number: u64,
}

impl Counters {
    pub(super) const fn new() -> Self {
        Self { id: FIRST_ID, number: 1 }
    }

    /// Counters that go on after these values, which an earlier run came to.
    pub(crate) fn resume(id: i64, number: u64) -> Self {
        let new = Self::new();
        Self { id: new.id.max(id), number: new.number.max(number) }
    }

    /// The id and the number that were given last.
    pub(crate) const fn values(&self) -> (i64, u64) {
        (self.id, self.number)
    }

    pub(super) const fn next_id(&mut self) -> i64 {
        self.id += 1;
        self.id
    }

    pub(super) const fn next_number(&mut self) -> u64 {
        self.number += 1;
        self.number
    }
}
