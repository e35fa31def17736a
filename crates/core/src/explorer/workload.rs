//! The writes of a run, and every state that the store may be found in after them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

use crate::blobs::{BlobId, Blobs as _, Directory};
use crate::disk::simulated::SimulatedDisk;
use crate::id::{Ids as _, SeededIds};
use crate::kv::{Batch, Durability, KeyValue, Sled, SledConfig, Span, TreeKind, Tx, settle};
use crate::time::Timestamp;

/// Batches of a life.
const BATCHES: u64 = 60;
/// Rows of bodies, by the number of the slot.
const BODY: u8 = b'b';
/// Rows of bodies that are to be freed.
const GARBAGE: u8 = b'g';
/// Packs of a few bodies each.
const PACK_BYTES_MAX: u64 = 16 * 1024;

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

/// All rows of a store.
pub(super) type State = BTreeMap<Vec<u8>, Vec<u8>>;

/// A moment of a run: the batches that were acknowledged as on disk, those that were acknowledged at all, and those that were begun.
#[derive(Debug, Clone, Copy)]
pub(super) struct Moment {
    pub(super) on_disk: usize,
    pub(super) acknowledged: usize,
    pub(super) begun: usize,
}

const BITS: u32 = 20;

impl Moment {
    pub(super) fn of(mark: u64) -> Self {
        let part = |number: u32| (mark >> (number * BITS) & ((1 << BITS) - 1)) as usize;
        Self { on_disk: part(0), acknowledged: part(1), begun: part(2) }
    }

    const fn mark(self) -> u64 {
        self.on_disk as u64 | (self.acknowledged as u64) << BITS | (self.begun as u64) << (2 * BITS)
    }
}

/// A life of a store: what it is to do, and the states in which it may be found before it does anything. It begins in the last of these, and has
/// that on disk once it is open.
pub(super) struct Life {
    seed: u64,
    workload: Workload,
    run_of_machine: u64,
    states: Vec<State>,
}

/// A life that was lived: those states, and that after each batch that was begun.
pub(super) struct Lived {
    pub(super) states: Vec<State>,
    pub(super) workload: Workload,
    pub(super) run_of_machine: u64,
    pub(super) seed: u64,
}

/// Both stores of a data directory.
pub(super) struct Stores {
    pub(super) kv: Sled,
    pub(super) blobs: Directory,
}

impl Stores {
    /// Opens them, with segments, bases and packs so small that a run has several.
    pub(super) fn open(disk: &SimulatedDisk, run_of_machine: u64) -> Result<Self, String> {
        let config = SledConfig {
            tree: TreeKind::Redb,
            cache_bytes: 4 * 1024 * 1024,
            record_bytes_max: 64,
            segment_bytes: 8 * 1024,
            base_bytes_min: 24 * 1024,
            boot_id: Some(run_of_machine.to_string()),
            ..SledConfig::new("/data/kv")
        };
        let disk = Arc::new(disk.clone());
        let kv =
            Sled::open_on(Arc::clone(&disk) as _, &config).map_err(|error| error.to_string())?;
        let names = SeededIds::from_number(run_of_machine);
        let path = PathBuf::from("/data/blobs");
        let blobs = Directory::open_with_packs_of(path, disk, names, PACK_BYTES_MAX);
        Ok(Self { kv, blobs: blobs.map_err(|error| format!("the bodies: {error}"))? })
    }

    /// All rows.
    pub(super) fn state(&self) -> Result<State, String> {
        let page = self.kv.scan(&Span::default(), 100_000).map_err(|error| error.to_string())?;
        Ok(page.rows.into_iter().map(|(key, value)| (key.to_vec(), value.to_vec())).collect())
    }
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

impl Life {
    pub(super) fn first(seed: u64, workload: Workload) -> Self {
        Self { seed, workload, run_of_machine: 1, states: vec![State::new()] }
    }

    /// The life after one that ended, in the last of these states.
    pub(super) fn after(lived: &Lived, states: Vec<State>, is_cut: bool) -> Self {
        Self {
            seed: lived.seed ^ 0xA11CE,
            workload: lived.workload,
            run_of_machine: lived.run_of_machine + u64::from(is_cut),
            states,
        }
    }

    /// Lives it, and keeps `moment` up to date. A write that is refused ends it, which a fault may want.
    ///
    /// # Errors
    /// The store does not open.
    pub(super) fn live(self, disk: &SimulatedDisk, moment: &AtomicU64) -> Result<Lived, String> {
        let begun = self.states.len() - 1;
        let mut now = Moment { on_disk: 0, acknowledged: begun, begun };
        moment.store(now.mark(), Ordering::SeqCst);
        let stores = Stores::open(disk, self.run_of_machine)?;
        now.on_disk = begun;
        moment.store(now.mark(), Ordering::SeqCst);
        let mut writer = Writer {
            chance: SeededIds::from_number(self.seed),
            stores: &stores,
            states: self.states,
            moment,
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
        Ok(Lived { states, workload, run_of_machine, seed })
    }
}

/// Rows to write; none deletes.
type Rows = Vec<(Vec<u8>, Option<Vec<u8>>)>;

/// The writer of a life. Its steps give nothing once a write was refused.
struct Writer<'w> {
    chance: SeededIds,
    stores: &'w Stores,
    states: Vec<State>,
    moment: &'w AtomicU64,
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
        self.moment.store(self.now.mark(), Ordering::SeqCst);
        let writes = rows.into_iter().map(|(key, value)| (key.into(), value.map(Bytes::from)));
        let batch = Batch { writes: writes.collect(), durability, ..Batch::default() };
        self.stores.kv.commit(batch).wait().ok()?;
        self.now.acknowledged = self.now.begun;
        if durability == Durability::Disk {
            self.now.on_disk = self.now.begun;
        }
        self.moment.store(self.now.mark(), Ordering::SeqCst);
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

/// The data directory.
pub(super) fn data() -> &'static Path {
    Path::new("/data")
}
