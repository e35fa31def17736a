//! The thread that appends to packs and to the log of graves: everything that waits is one group, one write and one sync.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use bytes::Bytes;

use super::compaction::Due;
use super::failed;
use super::pack::{HEAD_BYTES, Kind, Place, write_head};
use super::pack_set::{Growing, Shelf};
use crate::blobs::{BlobError, BlobId, BlobStat};
use crate::pending::{Pending, Resolver};
use crate::time::Timestamp;

/// What one group carries at most.
const GROUP_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Bodies up to this size are gathered into one write.
const GATHERED_BYTES_MAX: usize = 32 * 1024;
/// The room that a pack is given ahead of its records: a sync that does not change the length of a file takes a third of the time.
const ROOM_BYTES: u64 = 1024 * 1024;
/// Where the records of a group are longer than this on average, writing the zeros would cost more than they save.
const ROOMY_RECORD_BYTES_MAX: u64 = 16 * 1024;

pub(super) struct Packer {
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
}

#[derive(Default)]
struct Queue {
    waiting: Mutex<Waiting>,
    arrived: Condvar,
}

#[derive(Default)]
struct Waiting {
    orders: Vec<Order>,
    closed: bool,
}

enum Order {
    Put(Put),
    Bury(BlobId, Resolver<Result<(), BlobError>>),
}

struct Put {
    now: Timestamp,
    salt: [u8; 12],
    body: Bytes,
    resolver: Resolver<Result<BlobStat, BlobError>>,
}

impl Put {
    /// An order, and its answer.
    fn new(
        now: Timestamp,
        salt: [u8; 12],
        body: Bytes,
    ) -> (Self, Pending<Result<BlobStat, BlobError>>) {
        let (resolver, pending) = Pending::new(Err(closed()));
        let put = Self { now, salt, body, resolver };
        (put, pending)
    }
}

impl Packer {
    pub(super) fn start(mut pen: Pen) -> Result<Self, BlobError> {
        let queue = Arc::new(Queue::default());
        let taken = Arc::clone(&queue);
        let thread = std::thread::Builder::new()
            .name("blob-pack".into())
            .spawn(move || {
                while let Some(group) = taken.take() {
                    pen.write(group);
                }
                // The next start would cut it off as well.
                let _ = pen.cut_room();
            })
            .map_err(failed)?;
        Ok(Self { queue, thread: Some(thread) })
    }

    pub(super) fn put(
        &self,
        now: Timestamp,
        salt: [u8; 12],
        body: Bytes,
    ) -> Pending<Result<BlobStat, BlobError>> {
        let (put, pending) = Put::new(now, salt, body);
        self.queue.push([Order::Put(put)]);
        pending
    }

    /// Bodies that go together, as far as a group takes them.
    pub(super) fn put_all(
        &self,
        now: Timestamp,
        bodies: impl Iterator<Item = ([u8; 12], Bytes)>,
    ) -> Vec<Pending<Result<BlobStat, BlobError>>> {
        let puts = bodies.map(|(salt, body)| Put::new(now, salt, body));
        let (orders, answers): (Vec<_>, Vec<_>) =
            puts.map(|(put, answer)| (Order::Put(put), answer)).unzip();
        self.queue.push(orders);
        answers
    }

    pub(super) fn bury(&self, id: BlobId) -> Pending<Result<(), BlobError>> {
        let (resolver, pending) = Pending::new(Err(closed()));
        self.queue.push([Order::Bury(id, resolver)]);
        pending
    }
}

pub(super) fn closed() -> BlobError {
    BlobError::Unavailable("the blob store was closed".into())
}

impl Drop for Packer {
    fn drop(&mut self) {
        self.queue.lock().closed = true;
        self.queue.arrived.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Queue {
    fn lock(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn push(&self, orders: impl IntoIterator<Item = Order>) {
        self.lock().orders.extend(orders);
        self.arrived.notify_one();
    }

    /// The next group, or `None` once the store is closed and nothing waits.
    fn take(&self) -> Option<Vec<Order>> {
        let mut waiting = self.lock();
        while waiting.orders.is_empty() {
            if waiting.closed {
                return None;
            }
            waiting = self.arrived.wait(waiting).unwrap_or_else(PoisonError::into_inner);
        }
        let mut bytes = 0;
        let mut count = 0;
        for order in &waiting.orders {
            bytes += order.body().len() + HEAD_BYTES;
            if count > 0 && bytes > GROUP_BYTES_MAX {
                break;
            }
            count += 1;
        }
        Some(waiting.orders.drain(..count).collect())
    }
}

impl Order {
    fn body(&self) -> &[u8] {
        match self {
            Self::Put(put) => &put.body,
            Self::Bury(..) => &[],
        }
    }
}

/// Where the next record goes.
pub(super) struct Pen {
    shelf: Arc<Shelf>,
    due: Arc<Due>,
    next: u32,
    pack_bytes_max: u64,
    pack: Option<Growing>,
}

impl Pen {
    /// A pen that goes on in `pack`, or begins the pack of number `next`.
    pub(super) const fn new(
        shelf: Arc<Shelf>,
        due: Arc<Due>,
        next: u32,
        pack: Option<Growing>,
        pack_bytes_max: u64,
    ) -> Self {
        Self { shelf, due, next, pack_bytes_max, pack }
    }

    fn write(&mut self, group: Vec<Order>) {
        let (mut puts, mut burials) = (Vec::new(), Vec::new());
        for order in group {
            match order {
                Order::Put(put) => puts.push(put),
                Order::Bury(id, resolver) => burials.push((id, resolver)),
            }
        }
        if !puts.is_empty() {
            self.put(puts);
        }
        if !burials.is_empty() {
            self.bury(burials);
        }
    }

    fn put(&mut self, puts: Vec<Put>) {
        let written = self.current().and_then(|growing| {
            let names = self.append(&puts, &growing);
            if names.is_err() {
                // Whether these records are on disk is unknown: they are cut off as well as can be, and
                // nothing more goes into this pack.
                let _ = growing.file.truncate(growing.end);
                self.shelf.set_room(0);
                self.pack = None;
            }
            names
        });
        match written {
            Ok(names) => {
                for (put, id) in puts.into_iter().zip(names) {
                    let bytes = put.body.len() as u64;
                    put.resolver.resolve(Ok(BlobStat { id, bytes }));
                }
            }
            Err(error) => {
                for put in puts {
                    put.resolver.resolve(Err(error.clone()));
                }
            }
        }
    }

    /// Buries what is there; what is absent needs no grave.
    fn bury(&self, burials: Vec<(BlobId, Resolver<Result<(), BlobError>>)>) {
        let there: Result<Vec<BlobId>, BlobError> = burials
            .iter()
            .map(|(id, _)| Ok((*id, self.shelf.holds(*id)?)))
            .filter_map(|there| match there {
                Ok((id, true)) => Some(Ok(id)),
                Ok((_, false)) => None,
                Err(error) => Some(Err(error)),
            })
            .collect();
        let outcome = there.and_then(|mut there| {
            there.sort_unstable();
            there.dedup();
            self.shelf.graves.bury(&there)
        });
        let packs: BTreeSet<u32> = burials
            .iter()
            .filter_map(|(id, _)| match Place::of(*id) {
                Place::Pack { pack, .. } => Some(pack),
                Place::File => None,
            })
            .collect();
        for (_, resolver) in burials {
            resolver.resolve(outcome.clone());
        }
        for pack in packs {
            if self.shelf.deserves_compaction(pack) {
                self.due.add(pack);
            }
        }
    }

    /// Appends a group and syncs it; the names of its records, in order.
    fn append(&mut self, group: &[Put], growing: &Growing) -> Result<Vec<BlobId>, BlobError> {
        let Growing { pack, file, end } = growing;
        let (mut at, mut gathered, mut gathered_at) = (*end, Vec::new(), *end);
        let mut names = Vec::with_capacity(group.len());
        for put in group {
            let body = &put.body;
            let bytes = u32::try_from(body.len()).map_err(|_| BlobError::OutOfRange)?;
            let place = Place::Pack { pack: *pack, offset: at, bytes };
            let id = place.name(put.now, put.salt);
            write_head(Kind::Body, id, body, &mut gathered);
            names.push(id);
            at += (HEAD_BYTES + body.len()) as u64;
            if body.len() <= GATHERED_BYTES_MAX {
                gathered.extend_from_slice(body);
            } else {
                file.write_all_at(&gathered, gathered_at).map_err(failed)?;
                file.write_all_at(body, at - body.len() as u64).map_err(failed)?;
                gathered.clear();
                gathered_at = at;
            }
        }
        if !gathered.is_empty() {
            file.write_all_at(&gathered, gathered_at).map_err(failed)?;
        }
        let room = self.make_room(growing, group.len(), at)?;
        file.sync().map_err(failed)?;
        self.shelf.set_room(room);
        self.pack = Some(Growing { end: at, ..growing.clone() });
        Ok(names)
    }

    /// Writes zeros behind a group of `records` that ends at `end`, where its pack has no more room; how much there is then.
    fn make_room(&self, growing: &Growing, records: usize, end: u64) -> Result<u64, BlobError> {
        let length = growing.end + self.shelf.room();
        if end <= length {
            return Ok(length - end);
        }
        let room = self.pack_bytes_max.saturating_sub(end).min(ROOM_BYTES);
        if end - growing.end > records as u64 * ROOMY_RECORD_BYTES_MAX || room == 0 {
            return Ok(0);
        }
        let zeros = vec![0; usize::try_from(room).unwrap_or(0)];
        growing.file.write_all_at(&zeros, end).map_err(failed)?;
        Ok(room)
    }

    /// Cuts off the room that the open pack has left: a pack that never grows again is records to its end.
    fn cut_room(&self) -> Result<(), BlobError> {
        if let Some(growing) = self.pack.as_ref().filter(|_| self.shelf.room() > 0) {
            growing.file.truncate(growing.end).map_err(failed)?;
            growing.file.sync().map_err(failed)?;
            self.shelf.set_room(0);
        }
        Ok(())
    }

    /// The pack that is open, or a new one: after a fault, or when the last one is full.
    fn current(&mut self) -> Result<Growing, BlobError> {
        if let Some(growing) =
            self.pack.as_ref().filter(|growing| growing.end < self.pack_bytes_max)
        {
            return Ok(growing.clone());
        }
        // First: once there is another pack, what is no record in this one is damage.
        self.cut_room()?;
        let full = self.pack.take();
        let pack = self.next;
        self.next += 1;
        self.shelf.set_current(pack);
        if let Some(full) = full {
            self.due.add(full.pack);
        }
        let file = self.shelf.create(pack)?;
        Ok(Growing { pack, file, end: 0 })
    }
}
