//! The default engine: a journal in front of sled 0.34.
//!
//! A commit checks its expectations and joins a group in memory, which every read looks at first. One thread appends the
//! oldest group to the journal, syncs that, and acknowledges (`wal_thread.rs`). Another brings what the journal holds into sled, many
//! groups at a time, since each batch of sled costs 100 µs, and syncs sled's file itself, since sled's own `flush` does not reach
//! the disk on Linux (`checkpoint_thread.rs`). See docs/decisions/2026-11-21-sled-as-measured.md and 2026-11-21-journal.md.
//! What is too long for a record lies in packs beside the tree, since sled must fit its cache: docs/decisions/2026-11-21-long-values.md.

mod checkpoint_thread;
mod memtable;
mod open;
mod row_cache;
mod scan;
mod value_log;
mod wal;
mod wal_thread;

use std::fs::File;
use std::sync::{Arc, OnceLock, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant};

use bytes::Bytes;

use self::memtable::{State, Waiter};
pub use self::open::{OpenError, SledConfig};
use self::row_cache::RowCache;
use self::scan::Bounds;
use self::value_log::{Row, Values};
use self::wal::Journal;
use super::{
    Batch, DecodedCache, Found, KeyValue, Page, Span, StoreError, Version, WriteVersions, check_key,
};
use crate::pending::Pending;

/// How often a value is read that is replaced between the reading of its row and its own.
const READS_MAX: usize = 100;
/// Where the last version is kept. No user's key is empty.
const VERSION_KEY: &[u8] = b"";

/// An ordered map on disk. Dropping it brings what waits to the disk and closes the files.
#[derive(Debug)]
pub struct Sled {
    shared: Arc<Shared>,
    keeping: Option<JoinHandle<Option<Journal>>>,
    applying: Option<JoinHandle<()>>,
}

struct Shared {
    tree: sled::Tree,
    file: File,
    /// Long values; none where all stand in their rows.
    values: Option<Values>,
    row_cache: RowCache,
    write_versions: WriteVersions,
    decoded_cache: DecodedCache,
    state: RwLock<State>,
    /// Held for writing while a layer is applied, for reading by a scan that found no moment between two layers.
    applying: RwLock<()>,
    journal_thread: OnceLock<Thread>,
    tree_thread: OnceLock<Thread>,
    /// Leaves out the syncs, to show that the power-cut test can fail.
    #[cfg(feature = "testing")]
    sync_is_left_out: bool,
}

/// What an engine tells its operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SledStats {
    /// Groups that reached the disk.
    pub syncs: u64,
    /// How long the last one took.
    pub last_sync: Duration,
    /// Bytes on disk.
    pub disk_bytes: u64,
}

impl Sled {
    /// Counters for metrics.
    #[must_use]
    pub fn stats(&self) -> SledStats {
        let state = self.shared.read();
        let (syncs, last_sync, journal) = (state.syncs, state.last_sync, state.journal_bytes);
        drop(state);
        let tree = self.shared.file.metadata().map_or(0, |meta| meta.len());
        let values = self.shared.values.as_ref().map_or(0, Values::disk_bytes);
        SledStats { syncs, last_sync, disk_bytes: tree + values + journal }
    }

    /// Answers, with the reason, once the disk has failed. From then on every call is `Unavailable`: what the
    /// kernel dropped cannot be written again, so the service stops and the store is opened anew.
    pub fn failure(&self) -> Pending<String> {
        let (resolver, pending) = Pending::new("the store was closed".to_owned());
        let mut state = self.shared.write();
        match &state.failed {
            Some(reason) => resolver.resolve(reason.clone()),
            None => state.failure.push(resolver),
        }
        pending
    }

    /// Starts both threads on a journal that is empty.
    fn start(shared: Shared, journal: Journal) -> std::io::Result<Self> {
        let shared = Arc::new(shared);
        let applier = Arc::clone(&shared);
        let applying = std::thread::Builder::new()
            .name("kv-tree".into())
            .spawn(move || applier.apply_layers())?;
        let mut store = Self { shared, keeping: None, applying: Some(applying) };
        let keeper = Arc::clone(&store.shared);
        let keeping = std::thread::Builder::new()
            .name("kv-journal".into())
            .spawn(move || keeper.keep(journal))?;
        let _ = store.shared.journal_thread.set(keeping.thread().clone());
        store.keeping = Some(keeping);
        if let Some(applying) = &store.applying {
            let _ = store.shared.tree_thread.set(applying.thread().clone());
        }
        Ok(store)
    }
}

impl Drop for Sled {
    fn drop(&mut self) {
        self.shared.write().is_closed = true;
        self.shared.wake_journal();
        let journal = self.keeping.take().and_then(|thread| thread.join().ok());
        self.shared.write().is_journal_closed = true;
        self.shared.wake_tree();
        if let Some(thread) = self.applying.take() {
            let _ = thread.join();
        }
        if let Some(journal) = journal.flatten()
            && self.shared.read().failed.is_none()
        {
            // If it is not emptied now, the next start does it.
            let _ = journal.clear();
        }
    }
}

impl Shared {
    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the tree holds at `key`.
    fn stored(&self, key: &[u8]) -> Result<Found, StoreError> {
        let miss = match self.row_cache.get(key) {
            Ok(found) => return Ok(found),
            Err(miss) => miss,
        };
        let found = self.read_tree(key)?;
        self.row_cache.fill(key, &found, miss);
        Ok(found)
    }

    /// The row at `key`. A value that was replaced since its row was read is looked for again.
    fn read_tree(&self, key: &[u8]) -> Result<Found, StoreError> {
        for _ in 0..READS_MAX {
            let Some(stored) = self.tree.get(key).map_err(unavailable)? else {
                return Ok(Found::default());
            };
            let row = Row::read(&stored)?;
            let version = row.version();
            if let Some(value) = self.value(row)? {
                return Ok(Found { value: Some(value), version });
            }
        }
        Err(StoreError::Corrupt("a row names a value that is not there".into()))
    }

    /// The value of a row, or nothing if it was replaced meanwhile.
    fn value(&self, row: Row<'_>) -> Result<Option<Bytes>, StoreError> {
        match (row, &self.values) {
            (Row::Here(_, value), _) => Ok(Some(Bytes::copy_from_slice(value))),
            (Row::Elsewhere(_, name), Some(values)) => values.get(name),
            (Row::Elsewhere(..), None) => Ok(None),
        }
    }

    fn version(&self, state: &State, key: &[u8]) -> Result<Version, StoreError> {
        if let Some((_, version)) = state.waiting(key) {
            return Ok(*version);
        }
        if let Ok(found) = self.row_cache.get(key) {
            return Ok(found.version);
        }
        let stored = self.tree.get(key).map_err(unavailable)?;
        stored.map_or(Ok(Version::ABSENT), |stored| Ok(Row::read(&stored)?.version()))
    }

    /// Checks a batch and lets it join a group; the answer is still to come.
    fn accept(&self, batch: Batch) -> Result<Pending<Result<Version, StoreError>>, StoreError> {
        batch.check()?;
        let mut state = self.write();
        state.check()?;
        for (key, expected) in &batch.expectations {
            if self.version(&state, key)? != *expected {
                return Err(StoreError::Conflict);
            }
        }
        let (resolver, pending) = Pending::new(Err(StoreError::OutcomeUnknown));
        let keys = batch.writes.iter().map(|(key, _)| key);
        self.write_versions.note(keys, state.next());
        state.join(batch.writes, batch.durability, resolver);
        Ok(pending)
    }

    fn wake_journal(&self) {
        if let Some(thread) = self.journal_thread.get() {
            thread.unpark();
        }
    }

    fn wake_tree(&self) {
        if let Some(thread) = self.tree_thread.get() {
            thread.unpark();
        }
    }

    /// What was done, or nothing once the store has stopped because it failed.
    fn unless_failed<T, E: std::fmt::Display>(&self, done: Result<T, E>) -> Option<T> {
        done.map_err(|error| self.fail(&error.to_string())).ok()
    }

    /// Stops the store for good. What was under way may or may not be on disk.
    fn fail(&self, reason: &str) {
        let mut state = self.write();
        let reason = format!("the disk failed: {reason}. Free or mend it, then start again");
        state.failed = Some(reason.clone());
        let waiting = state.take_all_waiting();
        let told = std::mem::take(&mut state.failure);
        drop(state);
        waiting.into_iter().for_each(Waiter::fail);
        for resolver in told {
            resolver.resolve(reason.clone());
        }
        self.wake_journal();
        self.wake_tree();
    }
}

impl KeyValue for Sled {
    fn get(&self, key: &[u8]) -> Result<Found, StoreError> {
        check_key(key)?;
        let state = self.shared.read();
        state.check()?;
        if let Some((value, version)) = state.waiting(key) {
            return Ok(Found { value: value.clone(), version: *version });
        }
        drop(state);
        self.shared.stored(key)
    }

    fn scan(&self, span: &Span, limit: usize) -> Result<Page, StoreError> {
        let bounds = Bounds::of(span);
        if bounds.is_empty() {
            return Ok(Page::default());
        }
        self.shared.scan(&bounds, span.order, limit)
    }

    fn commit(&self, batch: Batch) -> Pending<Result<Version, StoreError>> {
        match self.shared.accept(batch) {
            Ok(pending) => {
                self.shared.wake_journal();
                pending
            }
            Err(error) => Pending::ready(Err(error)),
        }
    }

    fn durable(&self, seen: Version) -> Option<Pending<Result<(), StoreError>>> {
        if seen <= self.shared.read().settled {
            return None;
        }
        let mut state = self.shared.write();
        if let Err(error) = state.check() {
            return Some(Pending::ready(Err(error)));
        }
        let group = state.group_of(seen)?;
        let (resolver, pending) = Pending::new(Err(StoreError::OutcomeUnknown));
        group.wait(resolver);
        Some(pending)
    }

    fn write_versions(&self) -> Option<&WriteVersions> {
        Some(&self.shared.write_versions)
    }

    fn decoded_cache(&self) -> Option<&DecodedCache> {
        Some(&self.shared.decoded_cache)
    }
}

fn unavailable(error: sled::Error) -> StoreError {
    match error {
        sled::Error::Corruption { .. } => StoreError::Corrupt(error.to_string()),
        other => StoreError::Unavailable(other.to_string()),
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "how long a sync took is measured, and decides nothing but when to sync"
)]
fn now() -> Instant {
    Instant::now()
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Shared")
    }
}

#[cfg(test)]
mod tests;
