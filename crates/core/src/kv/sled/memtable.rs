//! Commits that are not in sled's file on disk yet: groups that wait for the write-ahead log, then memtables that wait for a checkpoint.
//! Every read looks here first, the newest first.

use std::cmp::Ordering;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::base::BaseSummary;
use super::rows::Rows;
use super::wal::SealedSegment;
use super::{StoreError, Version};
use crate::kv::{Bounds, Durability, Order};
use crate::pending::Resolver;

/// A group is closed once it holds this much, so that one sync never carries more.
const GROUP_BYTES_MAX: usize = 4 * 1024 * 1024;
/// A memtable of this much is frozen; so no batch of the tree carries much more.
const MEMTABLE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// A memtable of this much is checkpointed at once.
const MEMTABLE_BYTES_DUE: usize = 1024 * 1024;
/// Time for which a smaller one waits for more: what is written again meanwhile costs the tree nothing.
const MEMTABLE_WAITS: Duration = Duration::from_millis(25);

/// A base is made for so many rows of the log, however small: making it keeps their keys in memory.
const BASE_ROWS_MAX: u64 = 2_000_000;
/// The least that a segment counts: each start begins one.
const SEGMENT_BYTES_COUNTED: u64 = 64 * 1024;

/// Commits on their way to disk.
#[derive(Default)]
pub(super) struct CommitQueue {
    pub(super) last: Version,
    /// Everything up to here is as durable as it promised.
    pub(super) durable: Version,
    /// Everything up to here is in the tree, on disk.
    pub(super) checkpointed: Version,
    /// Everything up to here is in the log, on disk. The tree never has more: what a power cut takes from the log is nowhere else.
    pub(super) log_synced: Version,
    /// Segments that take no more frames, since the base.
    sealed: Vec<SealedSegment>,
    base: BaseSummary,
    /// A base is not made for less than this of the log.
    pub(super) base_bytes_min: u64,
    /// Oldest first; the front one may be with the log's thread.
    groups: VecDeque<CommitGroup>,
    /// Oldest first, and older than every group; the front one may be with the checkpoint thread.
    memtables: VecDeque<Memtable>,
    /// Memtables that the checkpoint thread has taken.
    pub(super) checkpoints_begun: u64,
    /// The log cannot go on before a memtable is in the tree.
    pub(super) wal_is_full: bool,
    pub(super) failed: Option<String>,
    pub(super) failure: Vec<Resolver<String>>,
    /// No group comes any more.
    pub(super) is_closed: bool,
    /// No memtable comes any more.
    pub(super) is_wal_closed: bool,
    /// The moment since which the log's thread is at the front group.
    pub(super) writing_since: Option<Instant>,
    pub(super) syncs: u64,
    pub(super) last_sync: Duration,
    pub(super) wal_bytes: u64,
}

/// Batches that go to the log together.
#[derive(Default)]
pub(super) struct CommitGroup {
    rows: Arc<Rows>,
    bytes: usize,
    pub(super) last: Version,
    needs_disk: bool,
    has_process_waiters: bool,
    is_frozen: bool,
    waiters: Vec<Waiter>,
}

/// Rows of the log that go to the tree together.
struct Memtable {
    rows: Arc<Rows>,
    bytes: usize,
    last: Version,
    since: Instant,
    is_frozen: bool,
}

/// A group that the thread of the log writes, and that takes no more rows.
pub(super) struct FrozenGroup {
    pub(super) rows: Arc<Rows>,
    pub(super) last: Version,
    /// True where somebody waits for it to be on disk.
    pub(super) needs_disk: bool,
    /// True where somebody waits for no more than the process.
    pub(super) has_process_waiters: bool,
}

/// A memtable that the checkpoint thread writes, and that takes no more rows.
pub(super) struct Frozen {
    pub(super) rows: Arc<Rows>,
    pub(super) last: Version,
}

/// The next step of the checkpoint thread.
pub(super) enum CheckpointStep {
    Write(Frozen),
    /// For a while, or until it is woken.
    Wait(Option<Duration>),
    End,
}

/// Somebody who waits for a group to be on disk.
pub(super) enum Waiter {
    Commit(Version, Durability, Resolver<Result<Version, StoreError>>),
    Durable(Resolver<Result<(), StoreError>>),
}

impl CommitQueue {
    /// The queue of a store that has everything up to `last` on disk.
    pub(super) fn new(last: Version, base: BaseSummary, sealed: Vec<SealedSegment>) -> Self {
        let (durable, checkpointed, log_synced) = (last, last, last);
        Self { last, durable, checkpointed, log_synced, base, sealed, ..Self::default() }
    }

    pub(super) fn check(&self) -> Result<(), StoreError> {
        self.failed.as_ref().map_or(Ok(()), |reason| Err(StoreError::Unavailable(reason.clone())))
    }

    /// All rows, the newest first.
    fn rows(&self) -> impl Iterator<Item = &Rows> {
        let groups = self.groups.iter().rev().map(|group| &*group.rows);
        groups.chain(self.memtables.iter().rev().map(|memtable| &*memtable.rows))
    }

    /// The newest row of `key` that is queued.
    pub(super) fn get(&self, key: &[u8]) -> Option<&(Option<Bytes>, Version)> {
        self.rows().find_map(|rows| rows.get(key))
    }

    /// The newest row of each key within `bounds`: in `order` and up to `limit` that are not deletes.
    pub(super) fn range(&self, bounds: &Bounds<'_>, order: Order, limit: usize) -> Vec<QueuedRow> {
        let range = (bounds.lower(), bounds.upper());
        let ranges = self.rows().map(|rows| rows.range::<[u8], _>(range));
        match order {
            Order::Ascending => newest(ranges, Ord::cmp, limit),
            Order::Descending => newest(ranges.map(Iterator::rev), |a, b| b.cmp(a), limit),
        }
    }

    /// The version of the next batch.
    pub(super) const fn next_version(&self) -> Version {
        Version(self.last.0 + 1)
    }

    /// Numbers a batch and puts it into the group that is open.
    pub(super) fn enqueue(
        &mut self,
        writes: Vec<(Bytes, Option<Bytes>)>,
        durability: Durability,
        resolver: Resolver<Result<Version, StoreError>>,
    ) {
        let version = self.next_version();
        self.last = version;
        let is_full = |group: &CommitGroup| group.is_frozen || group.bytes >= GROUP_BYTES_MAX;
        if self.groups.back().is_none_or(is_full) {
            self.groups.push_back(CommitGroup::default());
        }
        let Some(group) = self.groups.back_mut() else {
            return;
        };
        let rows = Arc::make_mut(&mut group.rows);
        for (key, value) in writes {
            group.bytes += key.len() + value.as_ref().map_or(0, Bytes::len);
            rows.insert(key, (value, version));
        }
        group.last = version;
        group.needs_disk |= durability == Durability::Disk;
        group.has_process_waiters |= durability == Durability::Process;
        let waiter = Waiter::Commit(version, durability, resolver);
        group.waiters.push(waiter);
    }

    /// The group that holds `seen`, if it is still queued.
    pub(super) fn group_of(&mut self, seen: Version) -> Option<&mut CommitGroup> {
        self.groups.iter_mut().find(|group| group.last >= seen)
    }

    /// Count of those who wait for the next group.
    pub(super) fn next_waiters(&self) -> usize {
        self.groups.front().map_or(0, |group| group.waiters.len())
    }

    /// Freezes the oldest group, and gives it.
    pub(super) fn freeze_group(&mut self, now: Instant) -> Option<FrozenGroup> {
        let group = self.groups.front_mut()?;
        self.writing_since = Some(now);
        group.is_frozen = true;
        Some(FrozenGroup {
            rows: Arc::clone(&group.rows),
            last: group.last,
            needs_disk: group.needs_disk,
            has_process_waiters: group.has_process_waiters,
        })
    }

    /// Takes from the front group those that wait for no more than the process.
    pub(super) fn take_process_waiters(&mut self) -> Vec<Waiter> {
        let Some(group) = self.groups.front_mut() else {
            return Vec::new();
        };
        let (ready, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut group.waiters)
            .into_iter()
            .partition(|waiter| matches!(waiter, Waiter::Commit(_, Durability::Process, _)));
        group.waiters = rest;
        ready
    }

    /// Moves the front group, which is a frame of so many bytes in the log now and as durable as it promised, into a memtable; gives
    /// those who wait for it, and whether the checkpoint thread is to look.
    pub(super) fn group_synced(&mut self, frame_bytes: usize, now: Instant) -> (Vec<Waiter>, bool) {
        let Some(group) = self.groups.pop_front() else {
            return (Vec::new(), false);
        };
        self.writing_since = None;
        self.durable = group.last;
        let is_closed =
            |memtable: &Memtable| memtable.is_frozen || memtable.bytes >= MEMTABLE_BYTES_MAX;
        if self.memtables.back().is_none_or(is_closed) {
            self.memtables.push_back(Memtable {
                rows: group.rows,
                bytes: frame_bytes,
                last: group.last,
                since: now,
                is_frozen: false,
            });
            return (group.waiters, true);
        }
        let Some(memtable) = self.memtables.back_mut() else {
            return (group.waiters, false);
        };
        let rows = Arc::unwrap_or_clone(group.rows);
        Arc::make_mut(&mut memtable.rows).extend(rows);
        memtable.bytes += frame_bytes;
        memtable.last = group.last;
        (group.waiters, memtable.bytes >= MEMTABLE_BYTES_DUE)
    }

    /// The next step of the checkpoint thread; a memtable that it is to write is frozen.
    pub(super) fn next_checkpoint(&mut self, now: Instant) -> CheckpointStep {
        if self.failed.is_some() {
            return CheckpointStep::End;
        }
        let log_synced = self.log_synced;
        let is_urgent = self.is_wal_closed || self.wal_is_full;
        let Some(memtable) = self.memtables.front_mut() else {
            return match self.is_wal_closed {
                true => CheckpointStep::End,
                false => CheckpointStep::Wait(None),
            };
        };
        let waits = MEMTABLE_WAITS.saturating_sub(now.duration_since(memtable.since));
        if memtable.last > log_synced {
            // The thread of the log says so once it has synced.
            return CheckpointStep::Wait(None);
        }
        if !is_urgent && memtable.bytes < MEMTABLE_BYTES_DUE && !waits.is_zero() {
            return CheckpointStep::Wait(Some(waits));
        }
        memtable.is_frozen = true;
        self.checkpoints_begun += 1;
        CheckpointStep::Write(Frozen { rows: Arc::clone(&memtable.rows), last: memtable.last })
    }

    /// Drops the front memtable, which is in the tree, on disk.
    pub(super) fn checkpoint_done(&mut self) {
        if let Some(memtable) = self.memtables.pop_front() {
            self.checkpointed = memtable.last;
            self.wal_is_full = false;
        }
    }

    /// Notes what the log has on disk, and tells whether a memtable waited for it. Such a one takes no more rows, which would have it wait
    /// again.
    pub(super) fn log_is_synced(&mut self, upto: Version) -> bool {
        let before = std::mem::replace(&mut self.log_synced, upto);
        match self.memtables.back_mut() {
            Some(memtable) if memtable.last > before => {
                memtable.is_frozen = true;
                true
            }
            _ => false,
        }
    }

    /// Adds a segment that is full.
    pub(super) fn segment_sealed(&mut self, segment: SealedSegment) {
        self.sealed.push(segment);
    }

    /// The segments of the next base, if it is due: the tree has all of them, so that it never misses what only they held, and they are more
    /// than the base before them.
    pub(super) fn base_due(&self) -> Option<Vec<SealedSegment>> {
        let ready = self.sealed.iter().take_while(|segment| segment.last <= self.checkpointed);
        let ready: Vec<_> = ready.cloned().collect();
        let bytes: u64 = ready.iter().map(|segment| segment.bytes.max(SEGMENT_BYTES_COUNTED)).sum();
        let rows: u64 = ready.iter().map(|segment| segment.rows).sum();
        (bytes >= self.base_bytes_min.max(self.base.bytes) || rows >= BASE_ROWS_MAX)
            .then_some(ready)
    }

    /// Forgets the segments that a base holds.
    pub(super) fn base_made(&mut self, base: BaseSummary) {
        self.sealed.retain(|segment| segment.last > base.version);
        self.base = base;
    }

    /// Bytes of the base, and of the segments that are sealed.
    pub(super) fn base_and_sealed_bytes(&self) -> u64 {
        self.base.bytes + self.sealed.iter().map(|segment| segment.bytes).sum::<u64>()
    }

    /// Returns whether everything is in the tree, on disk: that alone lets the log go.
    pub(super) fn is_checkpointed(&self) -> bool {
        self.failed.is_none() && self.checkpointed == self.last
    }

    /// Takes those whose batches may or may not come to the disk.
    pub(super) fn take_waiters(&mut self) -> Vec<Waiter> {
        let groups = std::mem::take(&mut self.groups).into_iter();
        groups.flat_map(|group| group.waiters).collect()
    }
}

impl CommitGroup {
    /// Has `resolver` told once the group is on disk.
    pub(super) fn wait(&mut self, resolver: Resolver<Result<(), StoreError>>) {
        self.waiters.push(Waiter::Durable(resolver));
    }
}

impl Waiter {
    pub(super) fn succeed(self) {
        match self {
            Self::Commit(version, _, resolver) => resolver.resolve(Ok(version)),
            Self::Durable(resolver) => resolver.resolve(Ok(())),
        }
    }

    pub(super) fn fail(self) {
        match self {
            Self::Commit(_, _, resolver) => resolver.resolve(Err(StoreError::OutcomeUnknown)),
            Self::Durable(resolver) => resolver.resolve(Err(StoreError::OutcomeUnknown)),
        }
    }
}

/// A key, its value or `None` where it is deleted, and the version.
pub(super) type QueuedRow = (Bytes, (Option<Bytes>, Version));

/// Merges ranges, of which the first has the newest rows, until `limit` rows that are not deletes are there.
fn newest<'r>(
    ranges: impl Iterator<Item = impl Iterator<Item = (&'r Bytes, &'r (Option<Bytes>, Version))>>,
    compare: impl Fn(&Bytes, &Bytes) -> Ordering,
    limit: usize,
) -> Vec<QueuedRow> {
    let mut ranges: Vec<_> = ranges.map(Iterator::peekable).collect();
    let (mut rows, mut live) = (Vec::new(), 0);
    while live < limit {
        let heads = ranges.iter_mut().filter_map(|range| range.peek().copied());
        // The first of equals is the newest.
        let Some((key, row)) = heads.min_by(|(a, _), (b, _)| compare(a, b)) else {
            break;
        };
        live += usize::from(row.0.is_some());
        rows.push((key.clone(), row.clone()));
        for range in &mut ranges {
            range.next_if(|(other, _)| *other == key);
        }
    }
    rows
}
