//! A store at which somebody else comes between two calls: for tests that go through every such place.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::{Batch, Found, KeyValue, Page, Span, StoreError, Version};
use crate::pending::Pending;

/// Work that somebody else does.
type Rival = Box<dyn FnOnce() + Send>;

/// A store that lets a rival act before one of its calls.
pub struct Raced {
    store: Arc<dyn KeyValue>,
    is_local: bool,
    calls: AtomicUsize,
    rival: Mutex<Option<(usize, Rival)>>,
}

impl Raced {
    /// The same store, which passes for one on another machine, and at which nobody comes between.
    #[must_use]
    pub fn new(store: Arc<dyn KeyValue>) -> Self {
        Self { store, is_local: false, calls: AtomicUsize::new(0), rival: Mutex::default() }
    }

    /// The same store as it is, at which nobody comes between.
    #[must_use]
    pub fn local(store: Arc<dyn KeyValue>) -> Self {
        Self { is_local: true, ..Self::new(store) }
    }

    /// Lets `rival` act before the call of this number, counted from now on.
    pub fn before(&self, call: usize, rival: impl FnOnce() + Send + 'static) {
        *self.rival.lock() = Some((call, Box::new(rival)));
        self.take_calls();
    }

    /// Number of calls since this was asked last.
    pub fn take_calls(&self) -> usize {
        self.calls.swap(0, Ordering::AcqRel)
    }

    fn step(&self) {
        let call = self.calls.fetch_add(1, Ordering::AcqRel);
        // Not held while it acts: it may come here, too.
        let rival = self.rival.lock().take_if(|(at, _)| *at == call);
        if let Some((_, act)) = rival {
            act();
        }
    }
}

impl KeyValue for Raced {
    fn get(&self, key: &[u8]) -> Result<Found, StoreError> {
        self.step();
        self.store.get(key)
    }

    fn get_many(&self, keys: &[&[u8]]) -> Result<Vec<Found>, StoreError> {
        self.step();
        self.store.get_many(keys)
    }

    fn scan(&self, span: &Span, limit: usize) -> Result<Page, StoreError> {
        self.step();
        self.store.scan(span, limit)
    }

    fn commit(&self, batch: Batch) -> Pending<Result<Version, StoreError>> {
        self.step();
        self.store.commit(batch)
    }

    fn durable(&self, seen: Version) -> Option<Pending<Result<(), StoreError>>> {
        self.store.durable(seen)
    }

    fn is_local(&self) -> bool {
        self.is_local
    }
}

impl std::fmt::Debug for Raced {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Raced").field("calls", &self.calls).finish_non_exhaustive()
    }
}
