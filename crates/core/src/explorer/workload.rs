//! The writes of a run, and every state that the store may be found in after them.

use std::collections::BTreeMap;

use bytes::Bytes;

use super::life::{Mark, Moment};
use super::stores::{State, Stores};
use crate::blobs::{BlobId, Blobs as _};
use crate::disk::simulated::SimulatedDisk;
use crate::id::{Ids as _, SeededIds};
use crate::kv::{Batch, Durability, KeyValue, Span, Tx, settle};
use crate::time::Timestamp;

/// Batches of a life.
const BATCHES: u64 = 60;
/// Rows of bodies, by the number of the slot.
const BODY: u8 = b'b';
/// Rows of bodies that are to be freed.
const GARBAGE: u8 = b'g';

/// Writes of a kind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Workload {
    /// Records, short and long, of both levels of durability.
    Records,
    /// Bodies that records name, replace and free, beside records.
    Bodies,
}

impl Workload {
    /// The workloads, by their names.
    pub const ALL: [(&'static str, Self); 2] =
        [("records", Self::Records), ("bodies", Self::Bodies)];
}

/// A life of a store: what it is to do, and the states in which it may be found before it does anything. It begins in the last of these, and has
/// that on disk once it is open.
#[derive(Debug)]
pub struct StoreLife {
    seed: u64,
    workload: Workload,
    run_of_machine: u64,
    states: Vec<State>,
}

/// A life of a store that was lived: those states, and that after each batch that was begun.
#[derive(Debug)]
pub struct StoreLived {
    pub(super) states: Vec<State>,
    pub(super) workload: Workload,
    pub(super) run_of_machine: u64,
    pub(super) seed: u64,
}

/// The body of a number: some share packs, some have files.
pub(super) fn body(number: u64) -> Bytes {
    let mut ids = SeededIds::from_number(number);
    let bytes = match ids.next() % 12 {
        0 => 270_000 + ids.next() % 9_000,
        1 => 0,
        _ => ids.next() % 3_000,
    };
    let mut body = vec![0; bytes as usize];
    ids.fill(&mut body);
    body.into()
}

/// The name and the number in a row of a body.
pub(super) fn named(value: &[u8]) -> Option<(BlobId, u64)> {
    let (id, number) = value.split_first_chunk()?;
    Some((BlobId(*id), u64::from_be_bytes(number.try_into().ok()?)))
}

impl StoreLife {
    /// The first life, on an empty disk.
    #[must_use]
    pub fn first(seed: u64, workload: Workload) -> Self {
        Self { seed, workload, run_of_machine: 1, states: vec![State::new()] }
    }

    /// The life after one that ended, in the last of these states.
    pub(super) fn after(lived: &StoreLived, states: Vec<State>, is_cut: bool) -> Self {
        Self {
            seed: lived.seed ^ 0xA11CE,
            workload: lived.workload,
            run_of_machine: lived.run_of_machine + u64::from(is_cut),
            states,
        }
    }

    /// Lives it, as [`Life::live`](super::Life::live).
    pub(super) fn lived(self, disk: &SimulatedDisk, mark: &Mark) -> Result<StoreLived, String> {
        let begun = self.states.len() - 1;
        mark.set(Moment { on_disk: 0, acknowledged: begun, begun });
        let stores = Stores::open(disk, self.run_of_machine)?;
        let now = Moment { on_disk: begun, acknowledged: begun, begun };
        mark.set(now);
        let mut writer = Writer {
            chance: SeededIds::from_number(self.seed),
            stores: &stores,
            states: self.states,
            mark,
            now,
        };
        for number in 0..BATCHES {
            let written = match self.workload {
                Workload::Bodies if !writer.chance.next().is_multiple_of(3) => {
                    writer.put_body(number)
                }
                Workload::Bodies if writer.chance.next().is_multiple_of(3) => writer.free(),
                _ => writer.put_records(number),
            };
            if written.is_none() {
                break;
            }
        }
        let states = writer.states;
        drop(stores);
        let (workload, run_of_machine, seed) = (self.workload, self.run_of_machine, self.seed);
        Ok(StoreLived { states, workload, run_of_machine, seed })
    }
}

/// Rows to write; none deletes.
type Rows = Vec<(Vec<u8>, Option<Vec<u8>>)>;

/// The writer of a life. Its steps give nothing once a write was refused.
struct Writer<'w> {
    chance: SeededIds,
    stores: &'w Stores,
    states: Vec<State>,
    mark: &'w Mark,
    now: Moment,
}

impl Writer<'_> {
    fn commit(&mut self, rows: Rows, durability: Durability) -> Option<()> {
        let mut state = self.states.last().cloned().unwrap_or_default();
        for (key, value) in &rows {
            match value {
                Some(value) => state.insert(key.clone(), value.clone()),
                None => state.remove(key),
            };
        }
        self.states.push(state);
        self.now.begun += 1;
        self.mark.set(self.now);
        let writes = rows.into_iter().map(|(key, value)| (key.into(), value.map(Bytes::from)));
        let batch = Batch { writes: writes.collect(), durability, ..Batch::default() };
        self.stores.kv.commit(batch).wait().ok()?;
        self.now.acknowledged = self.now.begun;
        if durability == Durability::Disk {
            self.now.on_disk = self.now.begun;
        }
        self.mark.set(self.now);
        Some(())
    }

    fn put_records(&mut self, number: u64) -> Option<()> {
        let mut rows = BTreeMap::new();
        for _ in 0..=self.chance.next() % 6 {
            let key = vec![b'r', (self.chance.next() % 20) as u8];
            let bytes = match self.chance.next() % 8 {
                0 => None,
                1 | 2 => Some(65 + self.chance.next() % 1_500),
                _ => Some(self.chance.next() % 64),
            };
            rows.insert(key, bytes.map(|bytes| vec![number as u8; bytes as usize]));
        }
        let is_process = self.chance.next().is_multiple_of(3);
        let durability = if is_process { Durability::Process } else { Durability::Disk };
        self.commit(rows.into_iter().collect(), durability)
    }

    /// Puts a body and the row that names it, last; the body that it replaces becomes garbage.
    fn put_body(&mut self, number: u64) -> Option<()> {
        let number = self.chance.next() << 8 | number;
        let now = Timestamp::from_millis(1_790_000_000_000 + self.states.len() as i64);
        let body = body(number);
        let mut writer = self.stores.blobs.create(now, None);
        for piece in body.chunks(100_000) {
            writer.write(Bytes::copy_from_slice(piece)).wait().ok()?;
        }
        let id = writer.finish().wait().ok()?.id;
        let key = vec![BODY, (self.chance.next() % 12) as u8];
        let mut rows = vec![(key.clone(), Some([&id.0[..], &number.to_be_bytes()].concat()))];
        let replaced = self.states.last().and_then(|state| state.get(&key)).cloned();
        if let Some((old, _)) = replaced.as_deref().and_then(named) {
            rows.push(([&[GARBAGE], &old.0[..]].concat(), Some(Vec::new())));
        }
        self.commit(rows, Durability::Disk)
    }

    /// Frees the bodies that were replaced, as services do: what is read is on disk first, then bodies go, then rows.
    fn free(&mut self) -> Option<()> {
        let kv: &dyn KeyValue = &self.stores.kv;
        let mut read = Tx::new(kv);
        let rows = read.scan(&Span::of([GARBAGE]), 50).ok()?.rows;
        settle(kv, &read).ok()?;
        let ids = rows.iter().filter_map(|(key, _)| Some(BlobId(key.get(1..)?.try_into().ok()?)));
        let deletions: Vec<_> = ids.map(|id| self.stores.blobs.delete(id)).collect();
        for deletion in deletions {
            deletion.wait().ok()?;
        }
        if rows.is_empty() {
            return Some(());
        }
        let rows = rows.into_iter().map(|(key, _)| (key.to_vec(), None)).collect();
        self.commit(rows, Durability::Disk)
    }
}

/// Returns whether a row names a body.
pub(super) fn is_body(key: &[u8]) -> bool {
    key.first() == Some(&BODY)
}
