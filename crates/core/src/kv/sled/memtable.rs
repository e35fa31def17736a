//! What is not in sled's file on disk yet: groups that wait for the journal, then layers that wait for the tree.
//! Every read looks here first, the newest first.

use std::cmp::Ordering;
use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;

use super::scan::Bounds;
use super::{StoreError, Version};
use crate::kv::{Durability, Order};
use crate::pending::Resolver;

/// A group is closed once it holds this much, so that one sync never carries more.
const GROUP_BYTES_MAX: usize = 4 * 1024 * 1024;
/// A layer of this much is closed; so no batch of the tree carries much more.
const LAYER_BYTES_MAX: usize = 4 * 1024 * 1024;
/// A layer of this much goes to the tree at once.
const LAYER_BYTES_DUE: usize = 1024 * 1024;
/// How long a smaller one waits for more: what is written again meanwhile costs the tree nothing.
const LAYER_WAITS: Duration = Duration::from_millis(25);

/// New values by key, `None` where deleted, with the versions they came with.
pub(super) type Rows = BTreeMap<Bytes, (Option<Bytes>, Version)>;

#[derive(Default)]
pub(super) struct State {
    pub(super) last: Version,
    /// Everything up to here is as durable as it promised.
    pub(super) settled: Version,
    /// Everything up to here is in the tree, on disk.
    pub(super) applied: Version,
    /// Oldest first; the front one may be with the journal's thread.
    groups: VecDeque<Group>,
    /// Oldest first, and older than every group; the front one may be with the tree's thread.
    layers: VecDeque<Layer>,
    /// How many layers the tree's thread has taken.
    pub(super) layers_taken: u64,
    /// The journal cannot go on before a layer is in the tree.
    pub(super) wants_room: bool,
    pub(super) failed: Option<String>,
    pub(super) failure: Vec<Resolver<String>>,
    /// No group comes any more.
    pub(super) is_closed: bool,
    /// No layer comes any more.
    pub(super) is_journal_closed: bool,
    pub(super) syncs: u64,
    pub(super) last_sync: Duration,
    pub(super) journal_bytes: u64,
}

/// Batches that go to the journal together.
#[derive(Default)]
pub(super) struct Group {
    rows: Arc<Rows>,
    bytes: usize,
    pub(super) last: Version,
    needs_disk: bool,
    taken: bool,
    waiting: Vec<Waiter>,
}

/// Rows of the journal that go to the tree together.
struct Layer {
    rows: Arc<Rows>,
    bytes: usize,
    last: Version,
    since: Instant,
    taken: bool,
}

/// What a thread takes to write.
pub(super) struct Taken {
    pub(super) rows: Arc<Rows>,
    pub(super) last: Version,
}

/// What the tree's thread does next.
pub(super) enum Next {
    Apply(Taken),
    /// For a while, or until it is woken.
    Wait(Option<Duration>),
    End,
}

pub(super) enum Waiter {
    Commit(Version, Durability, Resolver<Result<Version, StoreError>>),
    Settled(Resolver<Result<(), StoreError>>),
}

impl State {
    /// A store that holds everything up to `last` on disk.
    pub(super) fn new(last: Version) -> Self {
        Self { last, settled: last, applied: last, ..Self::default() }
    }

    pub(super) fn check(&self) -> Result<(), StoreError> {
        self.failed.as_ref().map_or(Ok(()), |reason| Err(StoreError::Unavailable(reason.clone())))
    }

    /// All rows, the newest first.
    fn rows(&self) -> impl Iterator<Item = &Rows> {
        let groups = self.groups.iter().rev().map(|group| &*group.rows);
        groups.chain(self.layers.iter().rev().map(|layer| &*layer.rows))
    }

    /// The newest row of `key` that waits.
    pub(super) fn waiting(&self, key: &[u8]) -> Option<&(Option<Bytes>, Version)> {
        self.rows().find_map(|rows| rows.get(key))
    }

    /// The newest row of each key within `bounds`: in `order` and up to `limit` that are not deletes.
    pub(super) fn waiting_within(&self, bounds: &Bounds, order: Order, limit: usize) -> Vec<Row> {
        let ranges = self.rows().map(|rows| bounds.range(rows));
        match order {
            Order::Ascending => newest(ranges, Ord::cmp, limit),
            Order::Descending => newest(ranges.map(Iterator::rev), |a, b| b.cmp(a), limit),
        }
    }

    /// The version of the next batch.
    pub(super) const fn next(&self) -> Version {
        Version(self.last.0 + 1)
    }

    /// Numbers a batch and puts it into the group that is open.
    pub(super) fn join(
        &mut self,
        writes: Vec<(Bytes, Option<Bytes>)>,
        durability: Durability,
        resolver: Resolver<Result<Version, StoreError>>,
    ) {
        let version = self.next();
        self.last = version;
        let is_full = |group: &Group| group.taken || group.bytes >= GROUP_BYTES_MAX;
        if self.groups.back().is_none_or(is_full) {
            self.groups.push_back(Group::default());
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
        let waiter = Waiter::Commit(version, durability, resolver);
        group.waiting.push(waiter);
    }

    /// The group that holds `seen`, if it still waits.
    pub(super) fn group_of(&mut self, seen: Version) -> Option<&mut Group> {
        self.groups.iter_mut().find(|group| group.last >= seen)
    }

    /// How many wait for the next group.
    pub(super) fn next_waiting(&self) -> usize {
        self.groups.front().map_or(0, |group| group.waiting.len())
    }

    /// The oldest group, which from now on takes no more batches, and whether somebody waits for it to be on disk.
    pub(super) fn take_group(&mut self) -> Option<(Taken, bool)> {
        let group = self.groups.front_mut()?;
        group.taken = true;
        let taken = Taken { rows: Arc::clone(&group.rows), last: group.last };
        Some((taken, group.needs_disk))
    }

    /// Takes from the front group those that wait for no more than the process.
    pub(super) fn take_undemanding(&mut self) -> Vec<Waiter> {
        let Some(group) = self.groups.front_mut() else {
            return Vec::new();
        };
        let (ready, rest): (Vec<_>, Vec<_>) = std::mem::take(&mut group.waiting)
            .into_iter()
            .partition(|waiter| matches!(waiter, Waiter::Commit(_, Durability::Process, _)));
        group.waiting = rest;
        ready
    }

    /// The front group is a frame of so many bytes now, as durable as it promised, and waits for the tree: those who wait for it,
    /// and whether the tree's thread is to look.
    pub(super) fn settle(&mut self, frame_bytes: usize, now: Instant) -> (Vec<Waiter>, bool) {
        let Some(group) = self.groups.pop_front() else {
            return (Vec::new(), false);
        };
        self.settled = group.last;
        let is_closed = |layer: &Layer| layer.taken || layer.bytes >= LAYER_BYTES_MAX;
        if self.layers.back().is_none_or(is_closed) {
            self.layers.push_back(Layer {
                rows: group.rows,
                bytes: frame_bytes,
                last: group.last,
                since: now,
                taken: false,
            });
            return (group.waiting, true);
        }
        let Some(layer) = self.layers.back_mut() else {
            return (group.waiting, false);
        };
        let rows = Arc::unwrap_or_clone(group.rows);
        Arc::make_mut(&mut layer.rows).extend(rows);
        layer.bytes += frame_bytes;
        layer.last = group.last;
        (group.waiting, layer.bytes >= LAYER_BYTES_DUE)
    }

    /// What the tree's thread does next.
    pub(super) fn next_layer(&mut self, now: Instant) -> Next {
        if self.failed.is_some() {
            return Next::End;
        }
        let is_urgent = self.is_journal_closed || self.wants_room;
        let Some(layer) = self.layers.front_mut() else {
            return match self.is_journal_closed {
                true => Next::End,
                false => Next::Wait(None),
            };
        };
        let waits = LAYER_WAITS.saturating_sub(now.duration_since(layer.since));
        if !is_urgent && layer.bytes < LAYER_BYTES_DUE && !waits.is_zero() {
            return Next::Wait(Some(waits));
        }
        layer.taken = true;
        self.layers_taken += 1;
        Next::Apply(Taken { rows: Arc::clone(&layer.rows), last: layer.last })
    }

    /// The front layer is in the tree, on disk.
    pub(super) fn drop_layer(&mut self) {
        if let Some(layer) = self.layers.pop_front() {
            self.applied = layer.last;
            self.wants_room = false;
        }
    }

    /// Whether everything is in the tree.
    #[cfg(test)]
    pub(super) fn is_applied(&self) -> bool {
        self.groups.is_empty() && self.layers.is_empty()
    }

    /// Those whose batches may or may not come to the disk.
    pub(super) fn take_all_waiting(&mut self) -> Vec<Waiter> {
        let groups = std::mem::take(&mut self.groups).into_iter();
        groups.flat_map(|group| group.waiting).collect()
    }
}

impl Group {
    pub(super) fn wait(&mut self, resolver: Resolver<Result<(), StoreError>>) {
        self.waiting.push(Waiter::Settled(resolver));
    }
}

impl Waiter {
    pub(super) fn succeed(self) {
        match self {
            Self::Commit(version, _, resolver) => resolver.resolve(Ok(version)),
            Self::Settled(resolver) => resolver.resolve(Ok(())),
        }
    }

    pub(super) fn fail(self) {
        match self {
            Self::Commit(_, _, resolver) => resolver.resolve(Err(StoreError::OutcomeUnknown)),
            Self::Settled(resolver) => resolver.resolve(Err(StoreError::OutcomeUnknown)),
        }
    }
}

/// A key, its value or `None` where it is deleted, and the version.
pub(super) type Row = (Bytes, (Option<Bytes>, Version));

/// Merges ranges, of which the first has the newest rows, until `limit` rows that are not deletes are there.
fn newest<'r>(
    ranges: impl Iterator<Item = impl Iterator<Item = (&'r Bytes, &'r (Option<Bytes>, Version))>>,
    compare: impl Fn(&Bytes, &Bytes) -> Ordering,
    limit: usize,
) -> Vec<Row> {
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
