//! The default engine: a write-ahead log, a memtable, a checkpoint and a value log around a tree, which is sled 0.34 unless redb is asked for.
//!
//! The log has every commit, and the base what the log was before it (`wal/`, `base.rs`, `base_thread.rs`). The tree (`tree/`) is an
//! index of that, filled anew from it whenever there is a reason not to believe its files (`index_state.rs`, `trusted_tree.rs`, `rebuild.rs`):
//! docs/decisions/2026-11-22-12-log-is-the-truth.md.
//!
//! A commit checks its expectations and is queued in a group in memory, which every read looks at first. One thread appends the
//! oldest group to the log, syncs that, acknowledges, and adds the group to a memtable (`wal_thread.rs`). Another checkpoints the
//! memtables: it brings many groups at a time into the tree, since each batch of sled costs 100 µs, and has it sealed on disk
//! (`checkpoint_thread.rs`). See
//! docs/decisions/2026-11-21-04-sled-as-measured.md, 2026-11-21-08-journal.md and 2026-11-22-02-log-around-sled.md.
//! Values too long for a record lie in a value log beside the tree, since sled must fit its cache:
//! docs/decisions/2026-11-21-07-long-values.md.

mod base;
mod base_thread;
mod checkpoint_thread;
mod config;
mod fill;
mod index_state;
mod kept_values;
mod log_files;
mod mark;
mod memtable;
mod merge;
mod open;
mod open_error;
mod opening;
mod point_in_time;
mod preflight;
mod rebuild;
mod rebuild_report;
mod row_cache;
mod rows;
mod scan;
mod take_over;
mod tree;
mod trusted_tree;
mod value_log;
mod verify;
mod wal;
mod wal_thread;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use bytes::Bytes;
use parking_lot::{Mutex, MutexGuard, RwLock};

use self::base::Base;
pub use self::config::{LOG_SEGMENT_BYTES, SledConfig};
pub use self::fill::SortedRows;
use self::index_state::IndexState;
#[cfg(any(test, feature = "testing"))]
pub use self::index_state::{believe_copied_tree, end_copied_run};
use self::kept_values::KeptValues;
use self::memtable::{CommitQueue, Waiter};
pub use self::open_error::OpenError;
pub use self::point_in_time::cut_log;
#[cfg(feature = "host")]
pub(crate) use self::point_in_time::end_copied_log;
pub use self::rebuild_report::{RebuildProgress, RebuildReason};
use self::row_cache::RowCache;
use self::rows::Row;
pub use self::tree::TreeKind;
#[cfg(feature = "host")]
pub(crate) use self::tree::is_of_tree;
use self::tree::{Tree, TreeError};
use self::value_log::ValueLog;
pub use self::verify::VerifiedRows;
pub use self::wal::LostFrames;
use self::wal::{Spares, Wal};
use super::{
    Batch, ClosingFault, DecodedCache, Found, KeyValue, Page, Span, StoreError, Version,
    WriteVersions, check_key,
};
use crate::disk::{Disk, DiskLock};
use crate::ending_thread::{END_MAX, EndingThread};
use crate::pending::Pending;
use crate::schedule::{self, Parker, now};

/// Times that a value is read that is replaced between the reading of its row and its own.
const READS_MAX: usize = 100;

/// An ordered map on disk. Dropping it brings what waits to the disk and closes the files.
#[derive(Debug)]
pub struct Sled {
    engine: Arc<Engine>,
    wal_thread: Option<EndingThread>,
    checkpoint_thread: Option<EndingThread>,
    base_thread: Option<EndingThread>,
}

/// Everything that the threads of a store and its callers share.
struct Engine {
    disk: Arc<dyn Disk>,
    directory: PathBuf,
    tree: Box<dyn Tree>,
    lost_frames: Option<LostFrames>,
    rebuilt: Option<RebuildReason>,
    log_was_broken: bool,
    /// Held as long as the store is open, so that no other process opens it.
    _lock: DiskLock,
    /// None only while the store is being opened.
    base: Mutex<Option<Base>>,
    /// Held while one is made.
    making_base: Mutex<()>,
    /// Held while the state of the tree's files is noted.
    noting_state: Mutex<()>,
    spares: Arc<Spares>,
    /// Long values; none where all stand in their rows.
    value_log: Option<ValueLog>,
    /// Held while what a row replaces is looked for and replaced.
    kept_values: Mutex<KeptValues>,
    row_cache: RowCache,
    write_versions: WriteVersions,
    decoded_cache: DecodedCache,
    queue: RwLock<CommitQueue>,
    /// Held for writing while a memtable goes into the tree, for reading by a scan that found no moment between two checkpoints.
    inserting: RwLock<()>,
    /// The words of the tree when it could not read its files; the thread of the log stops the store for it.
    tree_fault: OnceLock<String>,
    /// The reason for which a part of the store could not be closed.
    closing_fault: ClosingFault,
    wal_parker: OnceLock<Parker>,
    checkpoint_parker: OnceLock<Parker>,
    base_parker: OnceLock<Parker>,
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
        let (syncs, last_sync) = (queue.syncs, queue.last_sync);
        let log = queue.wal_bytes + queue.base_and_sealed_bytes();
        drop(queue);
        let tree = self.engine.tree.disk_bytes();
        let values = self.engine.value_log.as_ref().map_or(0, ValueLog::disk_bytes);
        SledStats { syncs, last_sync, disk_bytes: tree + values + log }
    }

    /// Time for which what was committed waits for the disk to answer, nothing where nothing waits.
    #[must_use]
    pub fn waits(&self) -> Duration {
        let since = self.engine.queue.read().writing_since;
        since.map_or(Duration::ZERO, |since| now().duration_since(since))
    }

    /// Writes of the process level that a power cut took, as the log told when it was opened.
    #[must_use]
    pub fn lost_frames(&self) -> Option<LostFrames> {
        self.engine.lost_frames
    }

    /// Returns whether files of the log were lost or damaged when the store was opened, so that a base was made of the tree, which had all rows.
    #[must_use]
    pub fn log_was_broken(&self) -> bool {
        self.engine.log_was_broken
    }

    /// The reason for which the tree was filled anew when the store was opened, if it was.
    #[must_use]
    pub fn rebuilt(&self) -> Option<&RebuildReason> {
        self.engine.rebuilt.as_ref()
    }

    /// The last version that is as durable as it promised.
    #[cfg(feature = "host")]
    pub(crate) fn durable_version(&self) -> Version {
        self.engine.queue.read().durable
    }

    /// Has no base made, and none let go, for as long as the answer is held. It waits for one that is being made.
    pub(crate) fn hold_bases(&self) -> MutexGuard<'_, ()> {
        schedule::lock(&self.engine.making_base)
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

    /// Says, once the store was dropped, whether it could not close its files.
    #[must_use]
    pub fn closing_fault(&self) -> ClosingFault {
        self.engine.closing_fault.clone()
    }

    /// Starts the threads, on a segment that is empty.
    fn start(engine: Engine, wal: Wal) -> std::io::Result<Self> {
        let engine = Arc::new(engine);
        let mut store =
            Self { engine, wal_thread: None, checkpoint_thread: None, base_thread: None };
        let bases = start_thread("kv-base", &store.engine, Engine::run_bases)?;
        let _ = store.engine.base_parker.set(bases.parker());
        store.base_thread = Some(bases);
        let checkpoints = start_thread("kv-checkpoint", &store.engine, Engine::run_checkpoints)?;
        let _ = store.engine.checkpoint_parker.set(checkpoints.parker());
        store.checkpoint_thread = Some(checkpoints);
        let log = start_thread("kv-wal", &store.engine, move |engine| engine.run_wal(wal))?;
        let _ = store.engine.wal_parker.set(log.parker());
        store.wal_thread = Some(log);
        Ok(store)
    }
}

/// Starts a thread of an engine, whose panic stops the store.
fn start_thread(
    name: &'static str,
    engine: &Arc<Engine>,
    run: impl FnOnce(&Engine) + Send + 'static,
) -> std::io::Result<EndingThread> {
    let engine = Arc::clone(engine);
    EndingThread::start(name, move || {
        if catch_unwind(AssertUnwindSafe(|| run(&engine))).is_err() {
            engine.fail(&format!("the thread {name} panicked"));
        }
    })
}

impl Drop for Sled {
    fn drop(&mut self) {
        self.engine.queue.write().is_closed = true;
        self.engine.wake_bases();
        self.engine.wake_wal();
        if let Some(thread) = self.wal_thread.take() {
            thread.end(END_MAX);
        }
        self.engine.queue.write().is_wal_closed = true;
        self.engine.wake_checkpoint();
        for thread in [self.checkpoint_thread.take(), self.base_thread.take()].into_iter().flatten()
        {
            thread.end(END_MAX);
        }
        // A thread that was left behind still has it, and then nothing is known of the tree's files.
        let closed = Arc::get_mut(&mut self.engine).map_or_else(
            || Err("a thread of the store did not end in time".to_owned()),
            |engine| engine.close_tree().map_err(|error| error.to_string()),
        );
        // The next start finds that nobody closed it, and goes on from the log.
        let failed = self.engine.queue.read().failed.clone();
        if let Some(reason) = failed.or(closed.err()) {
            self.engine.closing_fault.note(reason);
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
            let Some(stored) = self.tree.get(key).map_err(|error| self.tree_failed(error))? else {
                return Ok(Found::default());
            };
            let row = Row::read(stored)?;
            let version = row.version();
            if let Some(value) = self.value(row)? {
                return Ok(Found { value: Some(value), seen: version });
            }
        }
        Err(StoreError::Corrupt("a row names a value that is not there".into()))
    }

    /// The value of a row as it is stored, or nothing if it was replaced meanwhile.
    fn value(&self, row: Row) -> Result<Option<Bytes>, StoreError> {
        match (row, &self.value_log) {
            (Row::Inline(_, value), _) => Ok(Some(value)),
            (Row::Pointer(_, name), Some(value_log)) => value_log.get(name),
            (Row::Pointer(..), None) => Ok(None),
        }
    }

    fn version(&self, queue: &CommitQueue, key: &[u8]) -> Result<Version, StoreError> {
        if let Some((value, version)) = queue.get(key) {
            return Ok(if value.is_some() { *version } else { Version::ABSENT });
        }
        if let Ok(found) = self.row_cache.get(key) {
            return Ok(found.version());
        }
        let stored = self.tree.get(key).map_err(|error| self.tree_failed(error))?;
        stored.map_or(Ok(Version::ABSENT), |stored| Ok(Row::read(stored)?.version()))
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
        if let Some(thread) = self.wal_parker.get() {
            thread.unpark();
        }
    }

    fn wake_checkpoint(&self) {
        if let Some(thread) = self.checkpoint_parker.get() {
            thread.unpark();
        }
    }

    fn wake_bases(&self) {
        if let Some(thread) = self.base_parker.get() {
            thread.unpark();
        }
    }

    /// Closes the tree, and says on disk that its files are closed, if they have everything.
    fn close_tree(&mut self) -> std::io::Result<()> {
        let queue = self.queue.read();
        let last = queue.is_checkpointed().then_some(queue.last);
        drop(queue);
        if !self.tree.close() {
            return Err(std::io::Error::other("the index of the records cannot be written"));
        }
        let Some(last) = last else {
            return Ok(());
        };
        #[cfg(feature = "testing")]
        if self.sync_is_left_out {
            return Ok(());
        }
        self.disk.sync_directory(&self.directory)?;
        IndexState::Closed(last).write(&*self.disk, &self.directory)
    }

    /// Notes that the tree cannot read its files, which stops the store: the next start fills the tree anew. It takes no lock.
    fn tree_failed(&self, error: TreeError) -> StoreError {
        let _ = self.tree_fault.set(error.to_string());
        self.wake_wal();
        match error {
            TreeError::Damaged(reason) => StoreError::Corrupt(reason),
            TreeError::Locked(reason) | TreeError::Failed(reason) => {
                StoreError::Unavailable(reason)
            }
        }
    }

    /// The outcome of what was done, or nothing once the store has stopped because that failed.
    fn unless_failed<T, E: std::fmt::Display>(&self, done: Result<T, E>) -> Option<T> {
        done.map_err(|error| self.fail(&error.to_string())).ok()
    }

    /// Stops the store for good. What was under way may or may not be on disk.
    fn fail(&self, reason: &str) {
        // The system takes what it could not write for written, and would give it to the next start: which fills the tree anew.
        let noting = schedule::lock(&self.noting_state);
        let _ = IndexState::forget(&*self.disk, &self.directory);
        drop(noting);
        self.stop(&format!("the disk failed: {reason}. Free or mend it, then start again"));
    }

    /// Stops the store for good, since its base or log is damaged. The tree has all that they had: the next start makes a base of it.
    fn stop_for_damage(&self, reason: &str) {
        let noting = schedule::lock(&self.noting_state);
        let _ = IndexState::note_ahead(&*self.disk, &self.directory);
        drop(noting);
        self.stop(&format!(
            "{reason}. The index of the records still has everything: start again while the machine runs on, and a new base is made of it"
        ));
    }

    fn stop(&self, reason: &str) {
        let mut queue = self.queue.write();
        let reason = reason.to_owned();
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
            return Ok(Found { value: value.clone(), seen: *version });
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

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Engine")
    }
}

#[cfg(test)]
mod tests;
