//! The thread that appends to packs: everything that waits is one group, one write and one sync.

use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use bytes::Bytes;

use super::disk::{DiskFile, failed};
use super::pack::{HEAD_BYTES, Kind, Place, Shelf, write_head};
use crate::blobs::{BlobError, BlobId, BlobStat};
use crate::pending::{Pending, Resolver};
use crate::time::Timestamp;

/// What one group carries at most.
const GROUP_BYTES_MAX: usize = 8 * 1024 * 1024;
/// Bodies up to this size are gathered into one write.
const GATHERED_BYTES_MAX: usize = 32 * 1024;

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
    Put {
        now: Timestamp,
        salt: [u8; 12],
        body: Bytes,
        resolver: Resolver<Result<BlobStat, BlobError>>,
    },
    Bury {
        id: BlobId,
        resolver: Resolver<Result<(), BlobError>>,
    },
}

impl Packer {
    pub(super) fn start(shelf: Arc<Shelf>, pack_bytes_max: u64) -> Result<Self, BlobError> {
        let next = shelf.packs()?.last().map_or(1, |last| last + 1);
        let queue = Arc::new(Queue::default());
        let taken = Arc::clone(&queue);
        let thread = std::thread::Builder::new()
            .name("blob-pack".into())
            .spawn(move || {
                let mut pen = Pen {
                    shelf,
                    next,
                    pack_bytes_max,
                    pack: None,
                };
                while let Some(group) = taken.take() {
                    pen.write(group);
                }
            })
            .map_err(failed)?;
        Ok(Self {
            queue,
            thread: Some(thread),
        })
    }

    pub(super) fn put(
        &self,
        now: Timestamp,
        salt: [u8; 12],
        body: Bytes,
    ) -> Pending<Result<BlobStat, BlobError>> {
        let (resolver, pending) = Pending::new(Err(closed()));
        self.queue.push(Order::Put {
            now,
            salt,
            body,
            resolver,
        });
        pending
    }

    pub(super) fn bury(&self, id: BlobId) -> Pending<Result<(), BlobError>> {
        let (resolver, pending) = Pending::new(Err(closed()));
        self.queue.push(Order::Bury { id, resolver });
        pending
    }
}

fn closed() -> BlobError {
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

    fn push(&self, order: Order) {
        self.lock().orders.push(order);
        self.arrived.notify_one();
    }

    /// The next group, or `None` once the store is closed and nothing waits.
    fn take(&self) -> Option<Vec<Order>> {
        let mut waiting = self.lock();
        while waiting.orders.is_empty() {
            if waiting.closed {
                return None;
            }
            waiting = self
                .arrived
                .wait(waiting)
                .unwrap_or_else(PoisonError::into_inner);
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
            Self::Put { body, .. } => body,
            Self::Bury { .. } => &[],
        }
    }
}

/// Where the next record goes.
struct Pen {
    shelf: Arc<Shelf>,
    next: u32,
    pack_bytes_max: u64,
    pack: Option<(u32, Arc<dyn DiskFile>, u64)>,
}

impl Pen {
    fn write(&mut self, group: Vec<Order>) {
        let written = self.current().and_then(|(pack, file, start)| {
            let names = self.append(&group, pack, &file, start);
            if names.is_err() {
                // Whether these records are on disk is unknown: they are cut off as well as can be, and
                // nothing more goes into this pack.
                let _ = file.truncate(start);
                self.pack = None;
            }
            names
        });
        let mut names = written
            .as_ref()
            .ok()
            .cloned()
            .unwrap_or_default()
            .into_iter();
        for order in group {
            let outcome = match &written {
                Ok(_) => names.next().ok_or_else(closed),
                Err(error) => Err(error.clone()),
            };
            match order {
                Order::Put { body, resolver, .. } => resolver.resolve(outcome.map(|id| BlobStat {
                    id,
                    bytes: body.len() as u64,
                })),
                Order::Bury { id, resolver } => {
                    if outcome.is_ok() {
                        self.shelf.graves().insert(id);
                    }
                    resolver.resolve(outcome.map(|_| ()));
                }
            }
        }
    }

    /// Appends a group and syncs it; the names of its records, in order.
    fn append(
        &mut self,
        group: &[Order],
        pack: u32,
        file: &Arc<dyn DiskFile>,
        start: u64,
    ) -> Result<Vec<BlobId>, BlobError> {
        let (mut at, mut gathered, mut gathered_at) = (start, Vec::new(), start);
        let mut names = Vec::with_capacity(group.len());
        for order in group {
            let body = order.body();
            let (kind, id) = match order {
                Order::Put { now, salt, .. } => {
                    let bytes = u32::try_from(body.len()).map_err(|_| BlobError::OutOfRange)?;
                    (
                        Kind::Body,
                        Place::Pack {
                            pack,
                            offset: at,
                            bytes,
                        }
                        .name(*now, *salt),
                    )
                }
                Order::Bury { id, .. } => (Kind::Grave, *id),
            };
            write_head(kind, id, body, &mut gathered);
            names.push(id);
            at += (HEAD_BYTES + body.len()) as u64;
            if body.len() <= GATHERED_BYTES_MAX {
                gathered.extend_from_slice(body);
            } else {
                file.write_all_at(&gathered, gathered_at).map_err(failed)?;
                file.write_all_at(body, at - body.len() as u64)
                    .map_err(failed)?;
                gathered.clear();
                gathered_at = at;
            }
        }
        if !gathered.is_empty() {
            file.write_all_at(&gathered, gathered_at).map_err(failed)?;
        }
        file.sync().map_err(failed)?;
        self.pack = Some((pack, Arc::clone(file), at));
        Ok(names)
    }

    /// The pack that is open, or a new one: after a start, after a fault, or when the last one is full.
    fn current(&mut self) -> Result<(u32, Arc<dyn DiskFile>, u64), BlobError> {
        if let Some((pack, file, at)) = &self.pack
            && *at < self.pack_bytes_max
        {
            return Ok((*pack, Arc::clone(file), *at));
        }
        let pack = self.next;
        self.next += 1;
        Ok((pack, self.shelf.create(pack)?, 0))
    }
}
