//! Versions of the last writes, in a table of fixed size: what was made of rows is known to be current without reading them again.

use std::hash::BuildHasher as _;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use foldhash::fast::FixedState;

use crate::kv::{KeyValue, Version};

/// Slots of the table. Keys share them, so a row can look written that was not; never the other way round.
const SLOTS: usize = 1 << 16;

/// Versions of the last writes to rows, noted by the engine through which all writes of its rows pass.
#[derive(Debug)]
pub struct WriteVersions {
    /// The version of the last write to any key of the slot.
    slots: Box<[AtomicU64]>,
    last: AtomicU64,
}

impl WriteVersions {
    /// A table in which nothing was written since `last`.
    #[must_use]
    pub fn new(last: Version) -> Self {
        Self {
            slots: std::iter::repeat_with(AtomicU64::default).take(SLOTS).collect(),
            last: AtomicU64::new(last.0),
        }
    }

    /// Notes a batch that writes `keys`. An engine calls it for one batch after the other, while no read can begin that would
    /// not show the batch, and before it is acknowledged.
    pub fn note<'k>(&self, keys: impl IntoIterator<Item = &'k Bytes>, version: Version) {
        for key in keys {
            if let Some(slot) = self.slots.get(usize::from(slot_of(key))) {
                slot.store(version.0, Ordering::Release);
            }
        }
        self.last.store(version.0, Ordering::Release);
    }

    /// An empty set for what is read from now on.
    pub(in crate::kv) fn read_set(&self) -> ReadSet {
        ReadSet { begun: Version(self.last.load(Ordering::Acquire)), slots: Vec::new() }
    }
}

fn slot_of(key: &[u8]) -> u16 {
    #[expect(clippy::cast_possible_truncation, reason = "any bits of a hash are as good as others")]
    let slot = FixedState::default().hash_one(key) as u16;
    slot
}

/// The rows that something was made of, and the version at which reading them began.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadSet {
    begun: Version,
    slots: Vec<u16>,
}

impl ReadSet {
    pub(in crate::kv) fn add(&mut self, key: &[u8]) {
        self.slots.push(slot_of(key));
    }

    /// Returns whether none of the rows was written since in `store`, where they were read. It costs no look at a row.
    pub fn is_current(&self, store: &dyn KeyValue) -> bool {
        let Some(writes) = store.write_versions() else {
            return false;
        };
        let is_same = |slot: &u16| {
            let last = writes.slots.get(usize::from(*slot));
            last.is_some_and(|last| last.load(Ordering::Acquire) <= self.begun.0)
        };
        self.slots.iter().all(is_same)
    }

    /// Bytes that it takes, about.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        size_of::<Self>() + self.slots.len() * size_of::<u16>()
    }
}
