//! When rows were last written, in a table of fixed size: what was made of rows is known to hold without reading them again.

use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher};
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

use crate::kv::{KeyValue, Version};

/// Places of the table. Keys share them, so a row can look written that was not; never the other way round.
const PLACES: usize = 1 << 16;

/// When rows were last written, as the engine notes through which all writes of its rows pass.
#[derive(Debug)]
pub struct Changes {
    /// The version of the last write to any key of the place.
    places: Box<[AtomicU64]>,
    last: AtomicU64,
}

impl Changes {
    /// Nothing was written since `last`.
    #[must_use]
    pub fn new(last: Version) -> Self {
        Self {
            places: std::iter::repeat_with(AtomicU64::default).take(PLACES).collect(),
            last: AtomicU64::new(last.0),
        }
    }

    /// Notes a batch that writes `keys`. An engine calls it for one batch after the other, while no read can begin that would
    /// not show the batch, and before it is acknowledged.
    pub fn note<'k>(&self, keys: impl IntoIterator<Item = &'k Bytes>, version: Version) {
        for key in keys {
            if let Some(place) = self.places.get(usize::from(place_of(key))) {
                place.store(version.0, Ordering::Release);
            }
        }
        self.last.store(version.0, Ordering::Release);
    }

    /// The beginning of what is read from now on.
    pub(in crate::kv) fn basis(&self) -> Basis {
        Basis { at: Version(self.last.load(Ordering::Acquire)), places: Vec::new() }
    }
}

fn place_of(key: &[u8]) -> u16 {
    #[expect(clippy::cast_possible_truncation, reason = "any bits of a hash are as good as others")]
    let place = BuildHasherDefault::<DefaultHasher>::new().hash_one(key) as u16;
    place
}

/// Which rows something was made of, and when.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Basis {
    at: Version,
    places: Vec<u16>,
}

impl Basis {
    pub(in crate::kv) fn read(&mut self, key: &[u8]) {
        self.places.push(place_of(key));
    }

    /// Whether none of the rows was written since in `store`, where they were read. It costs no look at a row.
    pub fn holds(&self, store: &dyn KeyValue) -> bool {
        let Some(changes) = store.changes() else {
            return false;
        };
        let is_same = |place: &u16| {
            let last = changes.places.get(usize::from(*place));
            last.is_some_and(|last| last.load(Ordering::Acquire) <= self.at.0)
        };
        self.places.iter().all(is_same)
    }

    /// About how many bytes it takes.
    #[must_use]
    pub const fn bytes(&self) -> usize {
        size_of::<Self>() + self.places.len() * size_of::<u16>()
    }
}
