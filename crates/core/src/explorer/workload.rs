//! The writes of a run, and every state that the store may be found in after them.

use std::collections::BTreeMap;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;

use super::life::{Mark, Moment};
use super::stores::{State, Stores};
use crate::blobs::{BlobId, Blobs as _};
use crate::disk::simulated::SimulatedDisk;
use crate::id::{Ids as _, SeededIds};
use crate::kv::{Batch, Durability, KeyValue, Span, Tx, settle};
use crate::schedule::{self, StartedThread};
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
    /// All of this by several clients at once, who also sweep bodies that nothing names, and read.
    Together,
}

impl Workload {
    /// The workloads, by their names.
    pub const ALL: [(&'static str, Self); 3] =
        [("records", Self::Records), ("bodies", Self::Bodies), ("together", Self::Together)];

    const fn clients(self) -> u64 {
        match self {
            Self::Records | Self::Bodies => 1,
            Self::Together => 3,
        }
    }
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
    /// The thing that a client was shown and that it never may be.
    pub(super) shown: Option<String>,
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
        let history = History { states: self.states, now, begun_bodies: Vec::new() };
        let shared = Arc::new((stores, Mutex::new(history), mark.clone()));
        let (workload, seed) = (self.workload, self.seed);
        let steps = BATCHES / workload.clients();
        let mut others = Vec::new();
        for client in 1..workload.clients() {
            let shared = Arc::clone(&shared);
            let run = move || steps_of(&shared, workload, seed ^ client << 32, steps);
            let name = format!("client-{client}");
            others.push(Running::start(name, run).map_err(|error| error.to_string())?);
        }
        let mut shown = vec![steps_of(&shared, workload, seed, steps)];
        shown.extend(others.into_iter().map(Running::end));
        let (stores, history, _) = Arc::into_inner(shared).ok_or("a client has not ended")?;
        drop(stores);
        let (states, run_of_machine) = (history.into_inner().states, self.run_of_machine);
        let shown = shown.into_iter().flatten().next();
        Ok(StoreLived { states, shown, workload, run_of_machine, seed })
    }
}

/// The stores of a life, its history, and the mark of pictures.
type Shared = (Stores, Mutex<History>, Mark);

/// Takes so many steps of a client, or those until it is refused; gives what it was shown and never may be.
fn steps_of(
    (stores, history, mark): &Shared,
    workload: Workload,
    seed: u64,
    steps: u64,
) -> Option<String> {
    let mut client = Client { chance: SeededIds::from_number(seed), stores, history, mark };
    match (0..steps).try_for_each(|number| client.step(workload, number)) {
        Err(End::Shown(shown)) => Some(shown),
        Ok(()) | Err(End::Refused) => None,
    }
}

/// A client in a thread of its own.
struct Running {
    thread: StartedThread,
    shown: Arc<Mutex<Option<String>>>,
}

impl Running {
    fn start(
        name: String,
        run: impl FnOnce() -> Option<String> + Send + 'static,
    ) -> std::io::Result<Self> {
        let shown: Arc<Mutex<_>> = Arc::default();
        let told = Arc::clone(&shown);
        let thread = StartedThread::start(name, move || *told.lock() = run())?;
        Ok(Self { thread, shown })
    }

    fn end(self) -> Option<String> {
        self.thread.give_turns();
        self.thread.join();
        self.shown.lock().take()
    }
}

/// Rows to write; none deletes.
type Rows = Vec<(Vec<u8>, Option<Vec<u8>>)>;

/// The reasons for which a client goes no further.
enum End {
    /// A call was refused, which a fault may want.
    Refused,
    /// It was shown what never may be shown.
    Shown(String),
}

/// A call that is refused ends a client.
fn refused<E>(_: E) -> End {
    End::Refused
}

/// The history that the clients of a life share: the batches in the order in which the store took them.
struct History {
    states: Vec<State>,
    now: Moment,
    /// For each body that is on its way, the states that there were when it was begun.
    begun_bodies: Vec<usize>,
}

/// A client of a life.
struct Client<'c> {
    chance: SeededIds,
    stores: &'c Stores,
    history: &'c Mutex<History>,
    mark: &'c Mark,
}

impl Client<'_> {
    /// One step of this workload.
    fn step(&mut self, workload: Workload, number: u64) -> Result<(), End> {
        match workload {
            Workload::Records => self.put_records(number),
            Workload::Bodies if !self.chance.next().is_multiple_of(3) => self.put_body(number),
            Workload::Bodies if self.chance.next().is_multiple_of(3) => self.free(),
            Workload::Bodies => self.put_records(number),
            Workload::Together => match self.chance.next() % 16 {
                0..6 => self.put_body(number),
                6 | 7 => self.free(),
                8 => self.sweep(),
                9 => self.read(),
                _ => self.put_records(number),
            },
        }
    }

    /// Commits rows that are made of the state before them, and waits until they are acknowledged.
    fn commit(&self, durability: Durability, rows: impl FnOnce(&State) -> Rows) -> Result<(), End> {
        let mut history = schedule::lock(self.history);
        let mut state = history.states.last().cloned().unwrap_or_default();
        let rows = rows(&state);
        for (key, value) in &rows {
            match value {
                Some(value) => state.insert(key.clone(), value.clone()),
                None => state.remove(key),
            };
        }
        history.states.push(state);
        history.now.begun += 1;
        let begun = history.now.begun;
        self.mark.set(history.now);
        let writes = rows.into_iter().map(|(key, value)| (key.into(), value.map(Bytes::from)));
        let batch = Batch { writes: writes.collect(), durability, ..Batch::default() };
        let pending = self.stores.kv.commit(batch);
        drop(history);
        pending.wait().map_err(refused)?;
        // What was taken before it is in the log before it.
        let now = &mut schedule::lock(self.history).now;
        now.acknowledged = now.acknowledged.max(begun);
        if durability == Durability::Disk {
            now.on_disk = now.on_disk.max(begun);
        }
        self.mark.set(*now);
        Ok(())
    }

    fn put_records(&mut self, number: u64) -> Result<(), End> {
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
        self.commit(durability, |_| rows.into_iter().collect())
    }

    /// Puts a body and the row that names it, last; the body that it replaces becomes garbage.
    fn put_body(&mut self, number: u64) -> Result<(), End> {
        let number = self.chance.next() << 8 | number;
        let slot = (self.chance.next() % 12) as u8;
        let mut history = schedule::lock(self.history);
        let begun = history.states.len();
        history.begun_bodies.push(begun);
        drop(history);
        let put = self.put_named(number, slot, time_of(begun));
        let begun_bodies = &mut schedule::lock(self.history).begun_bodies;
        if let Some(place) = begun_bodies.iter().position(|other| *other == begun) {
            begun_bodies.swap_remove(place);
        }
        put
    }

    fn put_named(&self, number: u64, slot: u8, now: Timestamp) -> Result<(), End> {
        let body = body(number);
        let mut writer = self.stores.blobs.create(now, None);
        for piece in body.chunks(100_000) {
            writer.write(Bytes::copy_from_slice(piece)).wait().map_err(refused)?;
        }
        let id = writer.finish().wait().map_err(refused)?.id;
        let key = vec![BODY, slot];
        self.commit(Durability::Disk, |state| {
            let mut rows = vec![(key.clone(), Some([&id.0[..], &number.to_be_bytes()].concat()))];
            if let Some((old, _)) = state.get(&key).map(Vec::as_slice).and_then(named) {
                rows.push(([&[GARBAGE], &old.0[..]].concat(), Some(Vec::new())));
            }
            rows
        })
    }

    /// Frees the bodies that were replaced, as services do: what is read is on disk first, then bodies go, then rows.
    fn free(&mut self) -> Result<(), End> {
        let kv: &dyn KeyValue = &self.stores.kv;
        let mut read = Tx::new(kv);
        let rows = read.scan(&Span::of([GARBAGE]), 50).map_err(refused)?.rows;
        settle(kv, &read).map_err(refused)?;
        let ids = rows.iter().filter_map(|(key, _)| Some(BlobId(key.get(1..)?.try_into().ok()?)));
        self.delete(ids)?;
        if rows.is_empty() {
            return Ok(());
        }
        let rows = rows.into_iter().map(|(key, _)| (key.to_vec(), None)).collect();
        self.commit(Durability::Disk, |_| rows)
    }

    fn delete(&self, bodies: impl Iterator<Item = BlobId>) -> Result<(), End> {
        let deletions: Vec<_> = bodies.map(|id| self.stores.blobs.delete(id)).collect();
        deletions.into_iter().try_for_each(|deletion| deletion.wait().map_err(refused))
    }

    /// Deletes bodies that no row names and that are not on their way, which a process that was killed has left.
    fn sweep(&mut self) -> Result<(), End> {
        let history = schedule::lock(self.history);
        let oldest = history.begun_bodies.iter().min().copied().unwrap_or(history.states.len());
        drop(history);
        let found = self.stores.blobs.list(None, 1_000).map_err(refused)?;
        let old = found.into_iter().map(|stat| stat.id).filter(|id| id.created() < time_of(oldest));
        let kv: &dyn KeyValue = &self.stores.kv;
        let mut read = Tx::new(kv);
        let rows = read.scan(&Span::of([BODY]), 50).map_err(refused)?.rows;
        settle(kv, &read).map_err(refused)?;
        let named: Vec<_> = rows.iter().filter_map(|(_, value)| Some(named(value)?.0)).collect();
        self.delete(old.filter(|id| !named.contains(id)))
    }

    /// Reads a row, and all of them, while the others write.
    fn read(&mut self) -> Result<(), End> {
        let key = vec![b'r', (self.chance.next() % 20) as u8];
        let history = schedule::lock(self.history);
        let expected = history.states.last().cloned().unwrap_or_default();
        let found = self.stores.kv.get(&key).map_err(refused)?.value;
        if found.as_deref() != expected.get(&key).map(Vec::as_slice) {
            return Err(End::Shown(format!("{key:?} is read as it was before, or never")));
        }
        let state = self.stores.state().map_err(refused)?;
        drop(history);
        if state == expected { Ok(()) } else { Err(End::Shown("a scan shows other rows".into())) }
    }
}

/// The time at which a body of a history of so many states is put.
fn time_of(states: usize) -> Timestamp {
    Timestamp::from_millis(1_790_000_000_000 + states as i64)
}

/// Returns whether a row names a body.
pub(super) fn is_body(key: &[u8]) -> bool {
    key.first() == Some(&BODY)
}
