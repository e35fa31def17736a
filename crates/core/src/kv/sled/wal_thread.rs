//! The thread of the journal: takes what was committed, group by group, puts it on disk and answers.

use std::time::{Duration, Instant};

use super::memtable::{Taken, Waiter};
use super::wal::Journal;
use super::{Shared, now};

/// How long what was acknowledged as `Process` may wait for the disk.
const PROCESS_SYNC_MAX: Duration = Duration::from_millis(400);
/// How long a group may wait for the writers of the one before it.
const GATHER_MAX: Duration = Duration::from_micros(100);

impl Shared {
    /// Groups in order, until the store is closed or the disk fails; the journal, if it is whole.
    pub(super) fn keep(&self, mut journal: Journal) -> Option<Journal> {
        let mut unsynced: Option<Instant> = None;
        loop {
            let (group, is_closed) = self.take_group();
            let Some((group, needs_disk)) = group else {
                let due = unsynced.map(|since| PROCESS_SYNC_MAX.saturating_sub(since.elapsed()));
                if is_closed || due == Some(Duration::ZERO) {
                    if unsynced.take().is_some() {
                        self.unless_failed(self.sync(&mut journal))?;
                    }
                    if is_closed {
                        return Some(journal);
                    }
                    continue;
                }
                due.map_or_else(std::thread::park, std::thread::park_timeout);
                continue;
            };
            self.wait_for_room(&journal)?;
            let begun = now();
            let bytes = self.unless_failed(journal.append(&group.rows, group.last))?;
            self.acknowledge_undemanding();
            let is_due = unsynced.is_some_and(|since| since.elapsed() >= PROCESS_SYNC_MAX);
            if needs_disk || is_due {
                self.unless_failed(self.sync(&mut journal))?;
                unsynced = None;
            } else {
                unsynced.get_or_insert(begun);
            }
            drop(group);
            let answered = self.settle(begun, bytes, journal.bytes());
            self.gather(answered);
        }
    }

    /// The oldest group, and whether no more come after what waits.
    fn take_group(&self) -> (Option<(Taken, bool)>, bool) {
        let mut state = self.write();
        let is_closed = state.is_closed || state.failed.is_some();
        (state.take_group(), is_closed)
    }

    /// Waits until the tree has on disk what the journal is to write over; nothing if that failed.
    fn wait_for_room(&self, journal: &Journal) -> Option<()> {
        loop {
            let mut state = self.write();
            if state.failed.is_some() {
                return None;
            }
            if journal.has_room(state.applied) {
                return Some(());
            }
            state.wants_room = true;
            drop(state);
            self.wake_tree();
            std::thread::park();
        }
    }

    fn sync(&self, journal: &mut Journal) -> std::io::Result<()> {
        #[cfg(feature = "testing")]
        if self.sync_is_left_out {
            return Ok(());
        }
        journal.sync()
    }

    /// Answers those of the front group that do not wait for the disk.
    fn acknowledge_undemanding(&self) {
        let ready = self.write().take_undemanding();
        ready.into_iter().for_each(Waiter::succeed);
    }

    /// Answers everybody in the front group, which is now as durable as it promised; how many these are.
    fn settle(&self, begun: Instant, bytes: usize, journal_bytes: u64) -> usize {
        let now = now();
        let mut state = self.write();
        let (waiting, is_due) = state.settle(bytes, now);
        state.syncs += 1;
        state.last_sync = now.duration_since(begun);
        state.journal_bytes = journal_bytes;
        drop(state);
        let answered = waiting.len();
        waiting.into_iter().for_each(Waiter::succeed);
        if is_due {
            self.wake_tree();
        }
        answered
    }

    /// Lets writers that were just answered hand in their next batches, so that they go together again: else every
    /// second group is the one batch that came first.
    fn gather(&self, answered: usize) {
        let begun = now();
        let is_short = || {
            let state = self.read();
            state.next_waiting() < answered && !state.is_closed
        };
        while answered > 1 && begun.elapsed() < GATHER_MAX && is_short() {
            std::thread::yield_now();
        }
    }
}
