//! The default engine: a write-ahead log, a memtable, a checkpoint and a value log around sled 0.34.
//!
//! A commit checks its expectations and is queued in a group in memory, which every read looks at first. One thread appends the
//! oldest group to the log, syncs that, acknowledges, and adds the group to a memtable (`wal_thread.rs`). Another checkpoints the
//! memtables: it brings many groups at a time into sled, since each batch of sled costs 100 µs, and syncs sled's file itself, since
//! sled's own `flush` does not reach the disk on Linux (`checkpoint_thread.rs`). See
//! docs/decisions/2026-11-21-04-sled-as-measured.md, 2026-11-21-08-journal.md and 2026-11-22-02-log-around-sled.md.
//! Values too long for a record lie in a value log beside the tree, since sled must fit its cache:
//! docs/decisions/2026-11-21-07-long-values.md.

mod checkpoint_thread;
mod memtable;
mod open;
mod open_error;
mod preflight;
mod row_cache;
mod rows;
mod scan;
mod tree;
mod value_log;
mod wal;
mod wal_thread;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{self, Receiver, RecvTimeoutError};
use std::sync::{Arc, OnceLock};
use std::thread::{JoinHandle, Thread};
use std::time::{Duration, Instant};

use bytes::Bytes;
use parking_lot::{Mutex, RwLock};

use self::memtable::{CommitQueue, Waiter};
pub use self::open::SledConfig;
pub use self::open_error::OpenError;
use self::row_cache::RowCache;
use self::rows::Row;
use self::tree::Tree;
use self::value_log::ValueLog;
pub use self::wal::LostFrames;
use self::wal::Wal;
use super::{
    Batch, DecodedCache, Found, KeyValue, Page, Span, StoreError, Version, WriteVersions, check_key,
};
use crate::disk::{Disk, DiskFile};
use crate::pending::Pending;

/// Times that a value is read that is replaced between the reading of its row and its own.
const READS_MAX: usize = 100;
/// Time that each thread has to end once the store is closed.
const END_MAX: Duration = Duration::from_secs(10);

/// An ordered map on disk. Dropping it brings what waits to the disk and closes the files.
#[derive(Debug)]
pub struct Sled {
    engine: Arc<Engine>,
    wal_thread: Option<EngineThread<Wal>>,
    checkpoint_thread: Option<EngineThread<()>>,
}

/// A thread of the engine, and what it gives once it has ended well.
struct EngineThread<T> {
    thread: JoinHandle<()>,
    ended: Mutex<Receiver<Option<T>>>,
}

/// Everything that the threads of a store and its callers share.
struct Engine {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    tree: Tree,
    /// sled's file, to sync it.
    file: Arc<dyn DiskFile>,
    lost_frames: Option<LostFrames>,
    /// Long values; none where all stand in their rows.
    value_log: Option<ValueLog>,
    row_cache: RowCache,
    write_versions: WriteVersions,
    decoded_cache: DecodedCache,
    queue: RwLock<CommitQueue>,
    /// Held for writing while a memtable goes into the tree, for reading by a scan that found no moment between two checkpoints.
    inserting: RwLock<()>,
    wal_waker: OnceLock<Thread>,
    checkpoint_waker: OnceLock<Thread>,
    /// Leaves out the syncs, to show that the power-cut test can fail.
    #[cfg(feature = "testing")]
    sync_is_left_out: bool,
}

/// Figures of an engine for its operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SledStats {
    /// Groups that reached the disk.
    pub syncs: u64,
    /// Time that the last one took.
    pub last_sync: Duration,
    /// Bytes on disk.
    pub disk_bytes: u64,
}

impl Sled {
    /// Counters for metrics.
    #[must_use]
    pub fn stats(&self) -> SledStats {
        let queue = self.engine.queue.read();
        let (syncs, last_sync, wal) = (queue.syncs, queue.last_sync, queue.wal_bytes);
        drop(queue);
        let tree = self.engine.file.length().unwrap_or(0);
        let values = self.engine.value_log.as_ref().map_or(0, ValueLog::disk_bytes);
        SledStats { syncs, last_sync, disk_bytes: tree + values + wal }
    }

    /// Writes of the process level that a power cut took, as the log told when it was opened.
    #[must_use]
    pub fn lost_frames(&self) -> Option<LostFrames> {
        self.engine.lost_frames
    }

    /// Answers, with the reason, once the disk has failed. From then on every call is `Unavailable`: what the
    /// kernel dropped cannot be written again, so the service stops and the store is opened anew.
    pub fn failure(&self) -> Pending<String> {
        let (resolver, pending) = Pending::new("the store was closed".to_owned());
        let mut queue = self.engine.queue.write();
        match &queue.failed {
            Some(reason) => resolver.resolve(reason.clone()),
            None => queue.failure.push(resolver),
        }
        pending
    }

    /// Starts both threads on a log that is empty.
    fn start(engine: Engine, wal: Wal) -> std::io::Result<Self> {
        let engine = Arc::new(engine);
        let checkpoint_thread = EngineThread::start("kv-checkpoint", &engine, |engine| {
            engine.run_checkpoints();
            Some(())
        })?;
        let _ = engine.checkpoint_waker.set(checkpoint_thread.thread.thread().clone());
        let mut store =
            Self { engine, wal_thread: None, checkpoint_thread: Some(checkpoint_thread) };
        let wal_thread =
            EngineThread::start("kv-wal", &store.engine, move |engine| engine.run_wal(wal))?;
        let _ = store.engine.wal_waker.set(wal_thread.thread.thread().clone());
        store.wal_thread = Some(wal_thread);
        Ok(store)
    }
}

impl<T: Send + 'static> EngineThread<T> {
    fn start(
        name: &'static str,
        engine: &Arc<Engine>,
        run: impl FnOnce(&Engine) -> Option<T> + Send + 'static,
    ) -> std::io::Result<Self> {
        let engine = Arc::clone(engine);
        let (end, ended) = mpsc::channel();
        let thread = std::thread::Builder::new().name(name.into()).spawn(move || {
            let given = catch_unwind(AssertUnwindSafe(|| run(&engine))).unwrap_or_else(|_| {
                engine.fail(&format!("the thread {name} panicked"));
                None
            });
            let _ = end.send(given);
        })?;
        Ok(Self { thread, ended: Mutex::new(ended) })
    }

    /// Waits for its end, but not for a disk that does not answer: such a thread is left behind.
    fn end(self) -> Option<T> {
        let given = self.ended.into_inner().recv_timeout(END_MAX);
        if !matches!(given, Err(RecvTimeoutError::Timeout)) {
            let _ = self.thread.join();
        }
        given.ok().flatten()
    }
}

impl Drop for Sled {
    fn drop(&mut self) {
        self.engine.queue.write().is_closed = true;
        self.engine.wake_wal();
        let wal = self.wal_thread.take().and_then(EngineThread::end);
        self.engine.queue.write().is_wal_closed = true;
        self.engine.wake_checkpoint();
        if let Some(thread) = self.checkpoint_thread.take() {
            thread.end();
        }
        if let Some(wal) = wal
            && self.engine.queue.read().is_checkpointed()
        {
            // If it is not emptied now, the next start does it.
            let _ = wal.clear();
        }
    }
}

impl Engine {
    /// The tree's row at `key`.
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
        match (row, &self.value_log) {
            (Row::Inline(_, value), _) => Ok(Some(Bytes::copy_from_slice(value))),
            (Row::Pointer(_, name), Some(value_log)) => value_log.get(name),
            (Row::Pointer(..), None) => Ok(None),
        }
    }

    fn version(&self, queue: &CommitQueue, key: &[u8]) -> Result<Version, StoreError> {
        if let Some((_, version)) = queue.get(key) {
            return Ok(*version);
        }
        if let Ok(found) = self.row_cache.get(key) {
            return Ok(found.version);
        }
        let stored = self.tree.get(key).map_err(unavailable)?;
        stored.map_or(Ok(Version::ABSENT), |stored| Ok(Row::read(&stored)?.version()))
    }

    /// Checks a batch and puts it into the queue; the answer is still to come.
    fn enqueue(&self, batch: Batch) -> Result<Pending<Result<Version, StoreError>>, StoreError> {
        batch.check()?;
        let mut queue = self.queue.write();
        queue.check()?;
        for (key, expected) in &batch.expectations {
            if self.version(&queue, key)? != *expected {
                return Err(StoreError::Conflict);
            }
        }
        let (resolver, pending) = Pending::new(Err(StoreError::OutcomeUnknown));
        let keys = batch.writes.iter().map(|(key, _)| key);
        self.write_versions.note(keys, queue.next_version());
        queue.enqueue(batch.writes, batch.durability, resolver);
        Ok(pending)
    }

    fn wake_wal(&self) {
        if let Some(thread) = self.wal_waker.get() {
            thread.unpark();
        }
    }

    fn wake_checkpoint(&self) {
        if let Some(thread) = self.checkpoint_waker.get() {
            thread.unpark();
        }
    }

    /// The outcome of what was done, or nothing once the store has stopped because that failed.
    fn unless_failed<T, E: std::fmt::Display>(&self, done: Result<T, E>) -> Option<T> {
        done.map_err(|error| self.fail(&error.to_string())).ok()
    }

    /// Stops the store for good. What was under way may or may not be on disk.
    fn fail(&self, reason: &str) {
        preflight::note_failure(&*self.disk, &self.directory);
        let mut queue = self.queue.write();
        let reason = format!("the disk failed: {reason}. Free or mend it, then start again");
        queue.failed = Some(reason.clone());
        let waiters = queue.take_waiters();
        let observers = std::mem::take(&mut queue.failure);
        drop(queue);
        waiters.into_iter().for_each(Waiter::fail);
        for resolver in observers {
            resolver.resolve(reason.clone());
        }
        self.wake_wal();
        self.wake_checkpoint();
    }
}

impl KeyValue for Sled {
    fn get(&self, key: &[u8]) -> Result<Found, StoreError> {
        check_key(key)?;
        let queue = self.engine.queue.read();
        queue.check()?;
        if let Some((value, version)) = queue.get(key) {
            return Ok(Found { value: value.clone(), version: *version });
        }
        drop(queue);
        self.engine.stored(key)
    }

    fn scan(&self, span: &Span, limit: usize) -> Result<Page, StoreError> {
        let bounds = span.bounds();
        if bounds.is_empty() {
            return Ok(Page::default());
        }
        self.engine.scan(&bounds, span.order, limit)
    }

    fn commit(&self, batch: Batch) -> Pending<Result<Version, StoreError>> {
        match self.engine.enqueue(batch) {
            Ok(pending) => {
                self.engine.wake_wal();
                pending
            }
            Err(error) => Pending::ready(Err(error)),
        }
    }

    fn durable(&self, seen: Version) -> Option<Pending<Result<(), StoreError>>> {
        if seen <= self.engine.queue.read().durable {
            return None;
        }
        let mut queue = self.engine.queue.write();
        if let Err(error) = queue.check() {
            return Some(Pending::ready(Err(error)));
        }
        let group = queue.group_of(seen)?;
        let (resolver, pending) = Pending::new(Err(StoreError::OutcomeUnknown));
        group.wait(resolver);
        Some(pending)
    }

    fn write_versions(&self) -> Option<&WriteVersions> {
        Some(&self.engine.write_versions)
    }

    fn decoded_cache(&self) -> Option<&DecodedCache> {
        Some(&self.engine.decoded_cache)
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

impl<T> std::fmt::Debug for EngineThread<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("EngineThread").field(&self.thread).finish()
    }
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Engine")
    }
}

#[cfg(test)]
mod tests;
