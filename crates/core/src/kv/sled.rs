//! The default engine: sled 0.34, made durable.
//!
//! sled's own `flush` does not reach the disk on Linux, and each of its batches costs 100 µs. So a commit
//! only checks its expectations and joins a group in memory, which every read looks at first. One thread
//! takes the oldest group, applies it as one batch, flushes, calls `fdatasync` on sled's file itself, and
//! only then acknowledges. See docs/decisions/2026-11-21-sled-as-measured.md.
//! What is too long for a record lies in packs beside the tree, since sled must fit its cache: docs/decisions/2026-11-21-long-values.md.

mod open;
mod scan;
mod values;

use std::collections::{BTreeMap, VecDeque};
use std::fs::File;
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant};

use bytes::Bytes;

pub use self::open::{OpenError, SledConfig};
use self::scan::{Bounds, merge};
use self::values::{LastVersion, Row, Values};
use super::{
    Batch, Durability, Found, KeyValue, Order, Page, Span, StoreError, Version, check_key,
};
use crate::blobs::BlobId;
use crate::pending::{Pending, Resolver};

/// A group is closed once it holds this much, so that one sync never carries more.
const GROUP_BYTES_MAX: usize = 4 * 1024 * 1024;
/// How long what was acknowledged as `Process` may wait for the disk.
const PROCESS_SYNC_MAX: Duration = Duration::from_millis(400);
/// How long a group may wait for the writers of the one before it.
const GATHER_MAX: Duration = Duration::from_micros(100);
/// How often a value is read that is replaced between the reading of its row and its own.
const READS_MAX: usize = 100;
/// Where the last version is kept. No user's key is empty.
const VERSION_KEY: &[u8] = b"";

/// What crossbeam's collector keeps together.
const BAG: usize = 64;
/// Rows that are written before what they replaced is freed: often enough for a few MiB of garbage, seldom enough to cost nobody time.
const COLLECTED_TOGETHER: usize = 1_024;

/// Frees what a batch of so many rows replaced. sled leaves that to crossbeam's collector, which looks at a few bags of 64 now and then, when
/// somebody pins: one batch pins once, so that without this the garbage of a long load grows without bound (5 GiB for a million rows).
fn collect(rows: usize) {
    for _ in 0..rows / BAG + 4 {
        crossbeam_epoch::pin().flush();
    }
}

/// An ordered map on disk. Dropping it syncs what waits and closes the files.
#[derive(Debug)]
pub struct Sled {
    shared: Arc<Shared>,
    thread: Option<JoinHandle<()>>,
}

struct Shared {
    tree: sled::Tree,
    file: File,
    /// Long values; none where all stand in their rows.
    values: Option<Values>,
    state: RwLock<State>,
    /// Held for reading by a scan, for writing while a group is applied: a scan sees one moment.
    applying: RwLock<()>,
    /// Leaves out the sync, to show that the power-cut test can fail.
    #[cfg(feature = "testing")]
    sync_is_left_out: bool,
}

#[derive(Default)]
struct State {
    last: Version,
    /// Everything up to here is as durable as it promised.
    settled: Version,
    /// Oldest first; the front one may be with the sync thread.
    groups: VecDeque<Group>,
    failed: Option<String>,
    failure: Vec<Resolver<String>>,
    closed: bool,
    syncs: u64,
    last_sync: Duration,
}

type Rows = BTreeMap<Bytes, (Option<Bytes>, Version)>;

/// Batches that go to the disk together.
#[derive(Default)]
struct Group {
    rows: Arc<Rows>,
    bytes: usize,
    last: Version,
    needs_disk: bool,
    taken: bool,
    waiting: Vec<Waiter>,
}

enum Waiter {
    Commit(Version, Durability, Resolver<Result<Version, StoreError>>),
    Settled(Resolver<Result<(), StoreError>>),
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
        let (syncs, last_sync) = (state.syncs, state.last_sync);
        drop(state);
        SledStats {
            syncs,
            last_sync,
            disk_bytes: self.shared.file.metadata().map_or(0, |meta| meta.len())
                + self.shared.values.as_ref().map_or(0, Values::disk_bytes),
        }
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

    fn start(
        tree: sled::Tree,
        file: File,
        values: Option<Values>,
        last: Version,
        sync_is_left_out: bool,
    ) -> std::io::Result<Self> {
        #[cfg(not(feature = "testing"))]
        let _ = sync_is_left_out;
        let shared = Arc::new(Shared {
            tree,
            file,
            values,
            state: RwLock::new(State {
                last,
                settled: last,
                ..State::default()
            }),
            applying: RwLock::new(()),
            #[cfg(feature = "testing")]
            sync_is_left_out,
        });
        let syncing = Arc::clone(&shared);
        let thread = std::thread::Builder::new()
            .name("kv-sync".into())
            .spawn(move || syncing.run())?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    fn wake(&self) {
        if let Some(thread) = self.thread.as_ref().map(JoinHandle::thread) {
            Thread::unpark(thread);
        }
    }
}

impl Drop for Sled {
    fn drop(&mut self) {
        self.shared.write().closed = true;
        self.wake();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl State {
    /// The newest row of `key` that is not on disk yet.
    fn waiting(&self, key: &[u8]) -> Option<&(Option<Bytes>, Version)> {
        self.groups
            .iter()
            .rev()
            .find_map(|group| group.rows.get(key))
    }

    fn check(&self) -> Result<(), StoreError> {
        self.failed.as_ref().map_or(Ok(()), |reason| {
            Err(StoreError::Unavailable(reason.clone()))
        })
    }

    /// The group that a new batch joins.
    fn open_group(&mut self) -> &mut Group {
        let full = self
            .groups
            .back()
            .is_none_or(|group| group.taken || group.bytes >= GROUP_BYTES_MAX);
        if full {
            self.groups.push_back(Group::default());
        }
        let last = self.groups.len() - 1;
        #[expect(
            clippy::indexing_slicing,
            reason = "a back element was added where there was none"
        )]
        &mut self.groups[last]
    }
}

impl Shared {
    fn read(&self) -> RwLockReadGuard<'_, State> {
        self.state.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, State> {
        self.state.write().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the tree holds at `key`. A value that was replaced since its row was read is looked for again.
    fn stored(&self, key: &[u8]) -> Result<Found, StoreError> {
        for _ in 0..READS_MAX {
            let Some(stored) = self.tree.get(key).map_err(unavailable)? else {
                return Ok(Found::default());
            };
            let row = Row::read(&stored)?;
            let version = row.version();
            if let Some(value) = self.value(row)? {
                return Ok(Found {
                    value: Some(value),
                    version,
                });
            }
        }
        Err(StoreError::Corrupt(
            "a row names a value that is not there".into(),
        ))
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
        let stored = self.tree.get(key).map_err(unavailable)?;
        stored.map_or(Ok(Version::ABSENT), |stored| {
            Ok(Row::read(&stored)?.version())
        })
    }

    /// Checks and numbers a batch and puts it into a group; the answer is still to come.
    fn accept(&self, batch: Batch) -> Result<Pending<Result<Version, StoreError>>, StoreError> {
        batch.check()?;
        let mut state = self.write();
        state.check()?;
        for (key, expected) in &batch.expectations {
            if self.version(&state, key)? != *expected {
                return Err(StoreError::Conflict);
            }
        }
        let version = Version(state.last.0 + 1);
        state.last = version;
        let group = state.open_group();
        let rows = Arc::make_mut(&mut group.rows);
        for (key, value) in batch.writes {
            group.bytes += key.len() + value.as_ref().map_or(0, Bytes::len);
            rows.insert(key, (value, version));
        }
        group.last = version;
        group.needs_disk |= batch.durability == Durability::Disk;
        let (resolver, pending) = Pending::new(Err(StoreError::OutcomeUnknown));
        group
            .waiting
            .push(Waiter::Commit(version, batch.durability, resolver));
        Ok(pending)
    }

    /// The sync thread: groups in order, until the store is closed or the disk fails.
    fn run(&self) {
        let mut unsynced: Option<Instant> = None;
        let mut replaced: Vec<BlobId> = Vec::new();
        let mut uncollected = 0;
        loop {
            let (group, closed) = self.take();
            let Some((rows, last, needs_disk)) = group else {
                let due = unsynced.map(|since| PROCESS_SYNC_MAX.saturating_sub(since.elapsed()));
                if closed || due == Some(Duration::ZERO) {
                    if unsynced.take().is_some()
                        && let Err(reason) = self.sync()
                    {
                        return self.fail(&reason);
                    }
                    if closed {
                        return;
                    }
                    continue;
                }
                due.map_or_else(std::thread::park, std::thread::park_timeout);
                continue;
            };
            let begun = now();
            if let Err(reason) = self.apply(&rows, last, &mut replaced) {
                return self.fail(&reason);
            }
            self.acknowledge(Durability::Process);
            if needs_disk || unsynced.is_some_and(|since| since.elapsed() >= PROCESS_SYNC_MAX) {
                if let Err(reason) = self.sync().and_then(|()| self.bury(&mut replaced)) {
                    return self.fail(&reason);
                }
                unsynced = None;
            } else {
                unsynced.get_or_insert(begun);
            }
            let answered = self.finish(begun);
            uncollected += rows.len();
            // The writers have their answers, so that none waits for this.
            if uncollected >= COLLECTED_TOGETHER {
                collect(std::mem::take(&mut uncollected));
            }
            self.gather(answered);
        }
    }

    /// Lets writers that were just answered hand in their next batches, so that they go together again: else every
    /// second group is the one batch that came first.
    fn gather(&self, answered: usize) {
        let begun = now();
        let is_short = || {
            let state = self.read();
            let waiting = state.groups.front().map_or(0, |group| group.waiting.len());
            waiting < answered && !state.closed
        };
        while answered > 1 && begun.elapsed() < GATHER_MAX && is_short() {
            std::thread::yield_now();
        }
    }

    /// The oldest group, which from now on takes no more batches; and whether the store is closed.
    fn take(&self) -> (Option<(Arc<Rows>, Version, bool)>, bool) {
        let mut state = self.write();
        let closed = state.closed;
        let group = state.groups.front_mut().map(|group| {
            group.taken = true;
            (Arc::clone(&group.rows), group.last, group.needs_disk)
        });
        (group, closed)
    }

    /// Hands a group to sled and the operating system, its long values to the disk before it. What it replaces joins `replaced`.
    fn apply(&self, rows: &Rows, last: Version, replaced: &mut Vec<BlobId>) -> Result<(), String> {
        let mut names = Vec::new();
        if let Some(values) = &self.values {
            names = values.put(rows, last).map_err(|error| error.to_string())?;
            for key in rows.keys() {
                let old = self.tree.get(key).map_err(|error| error.to_string())?;
                let old = old.as_deref().map(Row::read).transpose();
                if let Some(Row::Elsewhere(_, name)) = old.map_err(|error| error.to_string())? {
                    replaced.push(name);
                }
            }
        }
        let mut names = names.into_iter();
        let mut batch = sled::Batch::default();
        for (key, (value, version)) in rows {
            match value {
                Some(value) => {
                    let is_long = self
                        .values
                        .as_ref()
                        .is_some_and(|values| values.is_long(value));
                    let name = if is_long { names.next() } else { None };
                    batch.insert(key.as_ref(), Row::write(*version, value, name));
                }
                None => batch.remove(key.as_ref()),
            }
        }
        batch.insert(VERSION_KEY, LastVersion::write(last, replaced));
        let applied = std::panic::catch_unwind(AssertUnwindSafe(|| {
            let applying = self
                .applying
                .write()
                .unwrap_or_else(PoisonError::into_inner);
            self.tree.apply_batch(batch)?;
            drop(applying);
            self.tree.flush()
        }));
        match applied {
            Ok(Ok(_)) => Ok(()),
            Ok(Err(error)) => Err(error.to_string()),
            Err(_) => Err("the engine panicked".into()),
        }
    }

    /// Gives back the space of replaced values, once what replaced them is on disk and they are many.
    fn bury(&self, replaced: &mut Vec<BlobId>) -> Result<(), String> {
        if let Some(values) = &self.values
            && Values::is_burial_due(replaced)
        {
            values.bury(replaced).map_err(|error| error.to_string())?;
            replaced.clear();
        }
        Ok(())
    }

    fn sync(&self) -> Result<(), String> {
        #[cfg(feature = "testing")]
        if self.sync_is_left_out {
            return Ok(());
        }
        self.file.sync_data().map_err(|error| error.to_string())
    }

    /// Answers those of the front group that wait for no more than `reached`.
    fn acknowledge(&self, reached: Durability) {
        let mut state = self.write();
        let Some(group) = state.groups.front_mut() else {
            return;
        };
        let (ready, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut group.waiting)
            .into_iter()
            .partition(|waiter| match waiter {
                Waiter::Commit(_, durability, _) => *durability <= reached,
                Waiter::Settled(_) => false,
            });
        group.waiting = rest;
        drop(state);
        ready.into_iter().for_each(Waiter::succeed);
    }

    /// Drops the front group, which is now as durable as it promised, and answers everybody in it; how many these are.
    fn finish(&self, begun: Instant) -> usize {
        let mut state = self.write();
        let Some(group) = state.groups.pop_front() else {
            return 0;
        };
        state.settled = group.last;
        state.syncs += 1;
        state.last_sync = begun.elapsed();
        drop(state);
        let answered = group.waiting.len();
        group.waiting.into_iter().for_each(Waiter::succeed);
        answered
    }

    /// Stops the store for good. What was under way may or may not be on disk.
    fn fail(&self, reason: &str) {
        let mut state = self.write();
        let reason = format!("the disk failed: {reason}. Free or mend it, then start again");
        state.failed = Some(reason.clone());
        let groups = std::mem::take(&mut state.groups);
        let told = std::mem::take(&mut state.failure);
        drop(state);
        for waiter in groups.into_iter().flat_map(|group| group.waiting) {
            waiter.fail();
        }
        for resolver in told {
            resolver.resolve(reason.clone());
        }
    }
}

impl Waiter {
    fn succeed(self) {
        match self {
            Self::Commit(version, _, resolver) => resolver.resolve(Ok(version)),
            Self::Settled(resolver) => resolver.resolve(Ok(())),
        }
    }

    fn fail(self) {
        match self {
            Self::Commit(_, _, resolver) => resolver.resolve(Err(StoreError::OutcomeUnknown)),
            Self::Settled(resolver) => resolver.resolve(Err(StoreError::OutcomeUnknown)),
        }
    }
}

impl KeyValue for Sled {
    fn get(&self, key: &[u8]) -> Result<Found, StoreError> {
        check_key(key)?;
        let state = self.shared.read();
        state.check()?;
        if let Some((value, version)) = state.waiting(key) {
            return Ok(Found {
                value: value.clone(),
                version: *version,
            });
        }
        drop(state);
        self.shared.stored(key)
    }

    fn scan(&self, span: &Span, limit: usize) -> Result<Page, StoreError> {
        let _moment = self
            .shared
            .applying
            .read()
            .unwrap_or_else(PoisonError::into_inner);
        let bounds = Bounds::of(span);
        if bounds.is_empty() {
            return Ok(Page::default());
        }
        let waiting = {
            let state = self.shared.read();
            state.check()?;
            let mut rows = Rows::new();
            for group in &state.groups {
                let range = group
                    .rows
                    .range::<[u8], _>((bounds.lower(), bounds.upper()));
                rows.extend(range.map(|(key, row)| (key.clone(), row.clone())));
            }
            rows
        };
        let stored = self
            .shared
            .tree
            .range::<&[u8], _>((bounds.lower(), bounds.upper()));
        match span.order {
            Order::Ascending => merge(
                &self.shared,
                stored,
                waiting.into_iter(),
                |a, b| a < b,
                limit,
            ),
            Order::Descending => {
                let waiting = waiting.into_iter().rev();
                merge(&self.shared, stored.rev(), waiting, |a, b| a > b, limit)
            }
        }
    }

    fn commit(&self, batch: Batch) -> Pending<Result<Version, StoreError>> {
        match self.shared.accept(batch) {
            Ok(pending) => {
                self.wake();
                pending
            }
            Err(error) => Pending::ready(Err(error)),
        }
    }

    fn settled(&self, seen: Version) -> Option<Pending<Result<(), StoreError>>> {
        if seen <= self.shared.read().settled {
            return None;
        }
        let mut state = self.shared.write();
        if let Err(error) = state.check() {
            return Some(Pending::ready(Err(error)));
        }
        let group = state.groups.iter_mut().find(|group| group.last >= seen)?;
        let (resolver, pending) = Pending::new(Err(StoreError::OutcomeUnknown));
        group.waiting.push(Waiter::Settled(resolver));
        Some(pending)
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
