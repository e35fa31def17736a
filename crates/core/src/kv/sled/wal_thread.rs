//! The thread of the write-ahead log: takes what was committed, group by group, puts it on disk and answers.

use std::time::{Duration, Instant};

use super::memtable::{Frozen, Waiter};
use super::wal::{SealedSegment, Wal};
use super::{Engine, Version, now, wall_clock_millis};

/// Time for which what was acknowledged as `Process` may wait for the disk.
const PROCESS_SYNC_MAX: Duration = Duration::from_millis(400);
/// Time after which a writer that waits for the tree looks whether sled has failed.
const FAULT_SEEN_MAX: Duration = Duration::from_secs(1);
/// Time for which a group may wait for the writers of the one before it.
const GATHER_MAX: Duration = Duration::from_micros(100);

impl Engine {
    /// Writes groups in order, until the store is closed or the disk fails.
    pub(super) fn run_wal(&self, mut wal: Wal) {
        let _ended = self.write_groups(&mut wal);
    }

    /// [`Engine::run_wal`]; nothing if the disk failed.
    fn write_groups(&self, wal: &mut Wal) -> Option<()> {
        let mut unsynced: Option<Instant> = None;
        loop {
            if let Some(reason) = self.tree_fault.get() {
                self.fail(reason);
                return None;
            }
            let (group, is_closed) = self.freeze_group();
            let Some((group, needs_disk)) = group else {
                let due = unsynced.map(|since| PROCESS_SYNC_MAX.saturating_sub(since.elapsed()));
                if is_closed || due == Some(Duration::ZERO) {
                    if unsynced.take().is_some() {
                        self.unless_failed(self.sync(wal))?;
                    }
                    if is_closed {
                        return Some(());
                    }
                    continue;
                }
                due.map_or_else(std::thread::park, std::thread::park_timeout);
                continue;
            };
            self.wait_for_space(wal, &mut unsynced)?;
            let begun = now();
            if let Some(sealed) = self.unless_failed(wal.roll())? {
                unsynced = None;
                self.segment_sealed(sealed, wal);
            }
            let appended = wal.append(&group.rows, group.last, wall_clock_millis());
            let bytes = self.unless_failed(appended)?;
            self.acknowledge_process_waiters();
            let is_due = unsynced.is_some_and(|since| since.elapsed() >= PROCESS_SYNC_MAX);
            if needs_disk || is_due {
                self.unless_failed(self.sync(wal))?;
                unsynced = None;
            } else {
                unsynced.get_or_insert(begun);
            }
            drop(group);
            let answered = self.group_synced(begun, bytes, wal.bytes());
            self.gather(answered);
        }
    }

    /// Freezes the oldest group, and tells whether no more come after what is queued.
    fn freeze_group(&self) -> (Option<(Frozen, bool)>, bool) {
        let mut queue = self.queue.write();
        let is_closed = queue.is_closed || queue.failed.is_some();
        (queue.freeze_group(), is_closed)
    }

    /// Waits until the tree has on disk what the log is to write over; nothing if that failed.
    fn wait_for_space(&self, wal: &mut Wal, unsynced: &mut Option<Instant>) -> Option<()> {
        loop {
            if !wal.has_space(self.queue.read().checkpointed) && unsynced.take().is_some() {
                // The tree takes nothing that is not on disk here.
                self.unless_failed(self.sync(wal))?;
            }
            let mut queue = self.queue.write();
            if queue.failed.is_some() {
                return None;
            }
            if wal.has_space(queue.checkpointed) {
                return Some(());
            }
            queue.wal_is_full = true;
            drop(queue);
            self.wake_checkpoint();
            std::thread::park_timeout(FAULT_SEEN_MAX);
            // An error in one of sled's own threads may leave the checkpoint waiting forever.
            self.unless_failed(self.tree.fault())?;
        }
    }

    /// Puts on disk what was appended, and lets the tree have it.
    fn sync(&self, wal: &mut Wal) -> std::io::Result<()> {
        #[cfg(feature = "testing")]
        if self.sync_is_left_out {
            self.log_is_synced(wal.last());
            return Ok(());
        }
        wal.sync()?;
        self.log_is_synced(wal.last());
        Ok(())
    }

    fn log_is_synced(&self, upto: Version) {
        if self.queue.write().log_is_synced(upto) {
            self.wake_checkpoint();
        }
    }

    /// Notes that a segment is full, which is synced.
    fn segment_sealed(&self, sealed: SealedSegment, wal: &Wal) {
        let mut queue = self.queue.write();
        queue.segment_sealed(sealed);
        queue.log_is_synced(wal.last());
        drop(queue);
        self.wake_checkpoint();
        self.wake_bases();
    }

    /// Answers those of the front group that do not wait for the disk.
    fn acknowledge_process_waiters(&self) {
        let ready = self.queue.write().take_process_waiters();
        ready.into_iter().for_each(Waiter::succeed);
    }

    /// Answers everybody in the front group, which is now as durable as it promised; gives their number.
    fn group_synced(&self, begun: Instant, bytes: usize, wal_bytes: u64) -> usize {
        let now = now();
        let mut queue = self.queue.write();
        let (waiters, is_due) = queue.group_synced(bytes, now);
        queue.syncs += 1;
        queue.last_sync = now.duration_since(begun);
        queue.wal_bytes = wal_bytes;
        drop(queue);
        let answered = waiters.len();
        waiters.into_iter().for_each(Waiter::succeed);
        if is_due {
            self.wake_checkpoint();
        }
        answered
    }

    /// Lets writers that were just answered hand in their next batches, so that they go together again: else every
    /// second group is the one batch that came first.
    fn gather(&self, answered: usize) {
        let begun = now();
        let is_short = || {
            let queue = self.queue.read();
            queue.next_waiters() < answered && !queue.is_closed
        };
        while answered > 1 && begun.elapsed() < GATHER_MAX && is_short() {
            std::thread::yield_now();
        }
    }
}
