//! The thread of the write-ahead log: takes what was committed, group by group, puts it on disk and answers.

use std::time::{Duration, Instant};

use super::memtable::{FrozenGroup, Waiter};
use super::wal::{SealedSegment, Wal};
use super::{Engine, Version};
use crate::schedule::{now, park, park_timeout, wall_clock_millis, yield_now};

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
            let (group, is_closed, checkpointed) = self.freeze_group();
            let Some(group) = group else {
                let due = unsynced
                    .map(|since| PROCESS_SYNC_MAX.saturating_sub(now().duration_since(since)));
                if is_closed || due == Some(Duration::ZERO) {
                    if unsynced.take().is_some() {
                        self.unless_failed(self.sync(wal))?;
                    }
                    if is_closed {
                        return Some(());
                    }
                    continue;
                }
                due.map_or_else(park, park_timeout);
                continue;
            };
            if !wal.has_space(checkpointed) {
                self.wait_for_space(wal, &mut unsynced)?;
            }
            let begun = now();
            if let Some(sealed) = self.unless_failed(wal.roll())? {
                unsynced = None;
                self.segment_sealed(sealed, wal);
            }
            let appended = wal.append(&group.rows, group.last, wall_clock_millis());
            let bytes = self.unless_failed(appended)?;
            if group.has_process_waiters {
                self.acknowledge_process_waiters();
            }
            let is_due =
                unsynced.is_some_and(|since| now().duration_since(since) >= PROCESS_SYNC_MAX);
            let is_synced = group.needs_disk || is_due;
            if is_synced {
                self.unless_failed(self.sync_file(wal))?;
                unsynced = None;
            } else {
                unsynced.get_or_insert(begun);
            }
            drop(group);
            let answered = self.group_synced(begun, bytes, wal, is_synced);
            self.gather(answered);
        }
    }

    /// Freezes the oldest group; tells whether no more come after what is queued, and what the tree has. Each group takes the lock that all
    /// writers want here and once more when it is on disk, and not in between.
    fn freeze_group(&self) -> (Option<FrozenGroup>, bool, Version) {
        let mut queue = self.queue.write();
        let is_closed = queue.is_closed || queue.failed.is_some();
        (queue.freeze_group(now()), is_closed, queue.checkpointed)
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
            park_timeout(FAULT_SEEN_MAX);
            // An error in one of sled's own threads may leave the checkpoint waiting forever.
            self.unless_failed(self.tree.fault())?;
        }
    }

    /// Puts on disk what was appended, and lets the tree have it.
    fn sync(&self, wal: &mut Wal) -> std::io::Result<()> {
        self.sync_file(wal)?;
        if self.queue.write().log_is_synced(wal.last()) {
            self.wake_checkpoint();
        }
        Ok(())
    }

    /// Puts on disk what was appended.
    fn sync_file(&self, wal: &mut Wal) -> std::io::Result<()> {
        #[cfg(feature = "testing")]
        if self.sync_is_left_out {
            return Ok(());
        }
        wal.sync()
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

    /// Answers everybody in the front group, which is a frame of so many bytes and as durable now as it promised; gives their number.
    fn group_synced(&self, begun: Instant, bytes: usize, wal: &Wal, is_synced: bool) -> usize {
        let now = now();
        let mut queue = self.queue.write();
        let was_waited_for = is_synced && queue.log_is_synced(wal.last());
        let (waiters, is_due) = queue.group_synced(bytes, now);
        queue.syncs += 1;
        queue.last_sync = now.duration_since(begun);
        queue.wal_bytes = wal.bytes();
        drop(queue);
        let answered = waiters.len();
        waiters.into_iter().for_each(Waiter::succeed);
        if is_due || was_waited_for {
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
        while answered > 1 && now().duration_since(begun) < GATHER_MAX && is_short() {
            yield_now();
        }
    }
}
