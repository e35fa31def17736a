//! The thread that appends to packs and to the log of tombstones: everything that waits is one group, one write and one sync.

use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

use bytes::Bytes;

use super::pack::{HEAD_BYTES, Kind, Place, write_head};
use super::pack_set::{ActivePack, PackSet};
use crate::blobs::{BlobError, BlobId, BlobStat};
use crate::ending_thread::{END_MAX, EndingThread};
use crate::pending::{Pending, Resolver};
use crate::queue::Queue;
use crate::time::Timestamp;

/// Bytes that one group carries at most.
const GROUP_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Bodies up to this size are gathered into one write.
const GATHERED_BYTES_MAX: usize = 32 * 1024;
/// Bytes that a pack is given ahead of its records: a sync that does not change the length of a file takes a third of the time.
const PREALLOCATED_BYTES: u64 = 1024 * 1024;
/// Average length of a group's records from where on writing the zeros would cost more than they save.
const PREALLOCATING_RECORD_BYTES_MAX: u64 = 16 * 1024;

/// The way to the thread of the packs.
pub(super) struct PackWriter {
    queue: Arc<Queue<PackWrite>>,
    thread: Option<EndingThread>,
}

enum PackWrite {
    Put(Put),
    Delete(BlobId, Resolver<Result<(), BlobError>>),
}

struct Put {
    now: Timestamp,
    salt: [u8; 12],
    body: Bytes,
    resolver: Resolver<Result<BlobStat, BlobError>>,
}

impl Put {
    /// A body to put, and its answer.
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

impl PackWriter {
    pub(super) fn start(mut appender: PackAppender) -> Result<Self, BlobError> {
        let queue = Arc::new(Queue::new());
        let taken = Arc::clone(&queue);
        let thread = EndingThread::start("blob-pack", move || {
            while let Some(group) = taken.pop_group(group_length) {
                appender.write(group);
            }
            // The next start would cut it off as well.
            let _ = appender.truncate_preallocated();
        })?;
        Ok(Self { queue, thread: Some(thread) })
    }

    pub(super) fn put(
        &self,
        now: Timestamp,
        salt: [u8; 12],
        body: Bytes,
    ) -> Pending<Result<BlobStat, BlobError>> {
        let (put, pending) = Put::new(now, salt, body);
        self.queue.push(PackWrite::Put(put));
        pending
    }

    /// Bodies that go together, as far as a group takes them.
    pub(super) fn put_all(
        &self,
        bodies: impl Iterator<Item = (Timestamp, [u8; 12], Bytes)>,
    ) -> Vec<Pending<Result<BlobStat, BlobError>>> {
        let puts = bodies.map(|(now, salt, body)| Put::new(now, salt, body));
        let (writes, answers): (Vec<_>, Vec<_>) =
            puts.map(|(put, answer)| (PackWrite::Put(put), answer)).unzip();
        self.queue.extend(writes);
        answers
    }

    pub(super) fn delete(&self, id: BlobId) -> Pending<Result<(), BlobError>> {
        let (resolver, pending) = Pending::new(Err(closed()));
        self.queue.push(PackWrite::Delete(id, resolver));
        pending
    }
}

pub(super) fn closed() -> BlobError {
    BlobError::Unavailable("the blob store was closed".into())
}

impl Drop for PackWriter {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(thread) = self.thread.take() {
            thread.end(END_MAX);
        }
    }
}

/// The length of the next group: as many writes as do not pass its bytes together.
fn group_length(waiting: &VecDeque<PackWrite>) -> usize {
    let mut bytes = 0;
    let fits = |write: &&PackWrite| {
        bytes += write.body().len() + HEAD_BYTES;
        bytes <= GROUP_BYTES_MAX
    };
    waiting.iter().take_while(fits).count()
}

impl PackWrite {
    fn body(&self) -> &[u8] {
        match self {
            Self::Put(put) => &put.body,
            Self::Delete(..) => &[],
        }
    }
}

/// The place where the next record goes.
pub(super) struct PackAppender {
    packs: Arc<PackSet>,
    compactions: Arc<Queue<u32>>,
    next: u32,
    pack_bytes_max: u64,
    active: Option<ActivePack>,
}

impl PackAppender {
    /// An appender that goes on in `active`, or begins the pack of number `next`.
    pub(super) const fn new(
        packs: Arc<PackSet>,
        compactions: Arc<Queue<u32>>,
        next: u32,
        active: Option<ActivePack>,
        pack_bytes_max: u64,
    ) -> Self {
        Self { packs, compactions, next, pack_bytes_max, active }
    }

    fn write(&mut self, group: Vec<PackWrite>) {
        let (mut puts, mut deletes) = (Vec::new(), Vec::new());
        for write in group {
            match write {
                PackWrite::Put(put) => puts.push(put),
                PackWrite::Delete(id, resolver) => deletes.push((id, resolver)),
            }
        }
        if !puts.is_empty() {
            self.put(puts);
        }
        if !deletes.is_empty() {
            self.delete(deletes);
        }
    }

    fn put(&mut self, puts: Vec<Put>) {
        let written = self.active_pack().and_then(|active| {
            let names = self.append(&puts, &active);
            if names.is_err() {
                // Whether these records are on disk is unknown: they are cut off as well as can be, and
                // nothing more goes into this pack.
                let _ = active.file.truncate(active.end);
                self.packs.set_preallocated(0);
                self.active = None;
                if active.end == 0 && self.packs.remove_empty(active.pack) {
                    // Else a disk that stays full would be left a pack for each body that it refuses.
                    self.next = active.pack;
                }
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

    /// Deletes what is there; what is absent needs no tombstone.
    fn delete(&self, deletes: Vec<(BlobId, Resolver<Result<(), BlobError>>)>) {
        let there: Result<Vec<BlobId>, BlobError> = deletes
            .iter()
            .map(|(id, _)| Ok((*id, self.packs.holds(*id)?)))
            .filter_map(|there| match there {
                Ok((id, true)) => Some(Ok(id)),
                Ok((_, false)) => None,
                Err(error) => Some(Err(error)),
            })
            .collect();
        let outcome = there.and_then(|mut there| {
            there.sort_unstable();
            there.dedup();
            let _deleting = self.packs.deleting.read();
            self.packs.tombstones.delete(&there)
        });
        let packs: BTreeSet<u32> = deletes
            .iter()
            .filter_map(|(id, _)| match Place::of(*id) {
                Place::Pack { pack, .. } => Some(pack),
                Place::File => None,
            })
            .collect();
        for (_, resolver) in deletes {
            resolver.resolve(outcome.clone());
        }
        for pack in packs {
            if self.packs.deserves_compaction(pack) {
                self.compactions.push(pack);
            }
        }
    }

    /// Appends a group and syncs it, and gives the names of its records, in order.
    fn append(&mut self, group: &[Put], active: &ActivePack) -> Result<Vec<BlobId>, BlobError> {
        let ActivePack { pack, file, end } = active;
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
                file.write_all_at(&gathered, gathered_at)?;
                file.write_all_at(body, at - body.len() as u64)?;
                gathered.clear();
                gathered_at = at;
            }
        }
        if !gathered.is_empty() {
            file.write_all_at(&gathered, gathered_at)?;
        }
        let preallocated = self.preallocate(active, group.len(), at)?;
        file.sync_named()?;
        self.packs.note_pack(*pack)?;
        self.packs.set_preallocated(preallocated);
        self.active = Some(ActivePack { end: at, ..active.clone() });
        Ok(names)
    }

    /// Writes zeros behind a group of `records` that ends at `end`, where its pack has none left, and gives how many there are then.
    fn preallocate(&self, active: &ActivePack, records: usize, end: u64) -> Result<u64, BlobError> {
        let length = active.end + self.packs.preallocated();
        if end <= length {
            return Ok(length - end);
        }
        let bytes = self.pack_bytes_max.saturating_sub(end).min(PREALLOCATED_BYTES);
        if end - active.end > records as u64 * PREALLOCATING_RECORD_BYTES_MAX || bytes == 0 {
            return Ok(0);
        }
        let zeros = vec![0; usize::try_from(bytes).unwrap_or(0)];
        active.file.write_all_at(&zeros, end)?;
        Ok(bytes)
    }

    /// Cuts off the preallocated bytes of the active pack: a pack that never grows again is records to its end.
    fn truncate_preallocated(&self) -> Result<(), BlobError> {
        if let Some(active) = self.active.as_ref().filter(|_| self.packs.preallocated() > 0) {
            active.file.truncate(active.end)?;
            active.file.sync()?;
            self.packs.set_preallocated(0);
        }
        Ok(())
    }

    /// The active pack, or a new one: after a fault, or when the last one is full.
    fn active_pack(&mut self) -> Result<ActivePack, BlobError> {
        if let Some(active) = self.active.as_ref().filter(|pack| pack.end < self.pack_bytes_max) {
            return Ok(active.clone());
        }
        // First: once there is another pack, what is no record in this one is damage.
        self.truncate_preallocated()?;
        let full = self.active.take();
        let pack = self.next;
        self.next += 1;
        self.packs.set_active(pack);
        if let Some(full) = full {
            self.compactions.push(full.pack);
        }
        let file = self.packs.create(pack)?;
        Ok(ActivePack { pack, file, end: 0 })
    }
}
