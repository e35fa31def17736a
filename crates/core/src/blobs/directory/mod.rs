//! Blobs in a directory: small ones share append-only packs and one sync for a whole group of writers,
//! large ones have a file each. Names are random, never a user's key, and say where a small blob lies, so
//! that reading one is a single `pread` and no index is kept.

mod aligned_buffer;
mod compaction;
mod large_file;
mod large_writer;
mod pack;
mod pack_set;
mod pack_writer;
mod tombstones;

use std::collections::BTreeMap;
use std::io;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::{Bytes, BytesMut};

use self::compaction::Compactor;
use self::large_file::{Large, LargeFile};
use self::pack::Place;
use self::pack_set::Shelf;
use self::pack_writer::{Packer, Pen, closed};
use super::{BlobError, BlobId, BlobReader, BlobStat, BlobWriter, Blobs};
use crate::disk::{Disk, DiskFile};
use crate::id::{Ids, SeededIds};
use crate::pending::Pending;
use crate::time::Timestamp;
use crate::worker_pool::Workers;

/// Bodies up to this many bytes share a pack; what grows beyond it moves to a file.
const SMALL_BYTES_MAX: usize = 256 * 1024;
/// A pack that has grown to this is closed and another begun.
const PACK_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// Threads that write and read large bodies.
const DISK_THREADS: usize = 4;
/// The longest piece that a reader gives.
const PIECE_BYTES_MAX: u64 = 1024 * 1024;

/// Blobs under one directory.
#[derive(Clone)]
pub struct Directory(Arc<Inner>);

struct Inner {
    large: Large,
    shelf: Arc<Shelf>,
    packer: Packer,
    _compactor: Compactor,
    workers: Workers,
    ids: Mutex<SeededIds>,
    orphans: AtomicU64,
    orphan_bytes: AtomicU64,
}

impl Directory {
    /// Opens `path`, or makes it. Files that an earlier process left unfinished are removed.
    ///
    /// # Errors
    /// [`BlobError::Unavailable`] if the directory cannot be used.
    pub fn open(
        path: impl Into<PathBuf>,
        disk: Arc<dyn Disk>,
        ids: SeededIds,
    ) -> Result<Self, BlobError> {
        Self::open_with_packs_of(path, disk, ids, PACK_BYTES_MAX)
    }

    /// [`Directory::open`] with packs that are closed at another size than 64 MiB.
    ///
    /// # Errors
    /// As [`Directory::open`].
    pub fn open_with_packs_of(
        path: impl Into<PathBuf>,
        disk: Arc<dyn Disk>,
        ids: SeededIds,
        pack_bytes_max: u64,
    ) -> Result<Self, BlobError> {
        let path = path.into();
        let large = Large::open(path.join("large"), Arc::clone(&disk))?;
        let shelf = Arc::new(Shelf::open(path.join("packs"), disk)?);
        // First: a pack that is to grow on is never compacted, or what is appended would go into the old file.
        let next = shelf.current();
        let growing = shelf.resume()?;
        let compactor = Compactor::start(Arc::clone(&shelf))?;
        let pen = Pen::new(Arc::clone(&shelf), compactor.due(), next, growing, pack_bytes_max);
        let packer = Packer::start(pen)?;
        let workers = Workers::start("disk", DISK_THREADS).map_err(failed)?;
        Ok(Self(Arc::new(Inner {
            large,
            shelf,
            packer,
            _compactor: compactor,
            workers,
            ids: Mutex::new(ids),
            orphans: AtomicU64::new(0),
            orphan_bytes: AtomicU64::new(0),
        })))
    }

    /// Gives back the space of deleted small blobs where that is half of a pack or more; the bytes that are free
    /// now. It happens by itself in the background too. It blocks.
    ///
    /// # Errors
    /// `Full`, `Unavailable`: the pack that was being compacted is as it was.
    pub fn compact(&self) -> Result<u64, BlobError> {
        let packs = self.0.shelf.graves.packs();
        packs.into_iter().map(|pack| self.0.shelf.compact(pack)).sum()
    }

    /// What the packs take on disk and what sweeps took away, for metrics.
    ///
    /// # Errors
    /// `Unavailable`.
    pub fn stats(&self) -> Result<DirectoryStats, BlobError> {
        let mut stats = DirectoryStats {
            orphans: self.0.orphans.load(Ordering::Relaxed),
            orphan_bytes: self.0.orphan_bytes.load(Ordering::Relaxed),
            ..DirectoryStats::default()
        };
        for pack in self.0.shelf.packs()? {
            match self.0.shelf.volume(pack).and_then(|volume| volume.length()) {
                Ok(bytes) => stats.pack_bytes += bytes,
                Err(BlobError::Absent) => continue,
                Err(error) => return Err(error),
            }
            stats.packs += 1;
            stats.dead_bytes += self.0.shelf.graves.dead_bytes(pack);
        }
        stats.pack_bytes = stats.pack_bytes.saturating_sub(self.0.shelf.room());
        Ok(stats)
    }

    /// [`Blobs::put_small`] of bodies that each fit a pack: they go together, with one sync for all.
    pub(crate) fn put_all(
        &self,
        now: Timestamp,
        bodies: Vec<Bytes>,
    ) -> Vec<Pending<Result<BlobStat, BlobError>>> {
        let bodies = bodies.into_iter().map(|body| (self.salt(), body));
        self.0.packer.put_all(now, bodies)
    }

    /// The body of a packed blob, whose length its name says.
    pub(crate) fn read_named(&self, id: BlobId) -> Result<Bytes, BlobError> {
        self.0.shelf.read(id)
    }

    /// The names of the blobs in the last few packs.
    pub(crate) fn latest(&self, packs: usize) -> Result<Vec<BlobId>, BlobError> {
        self.0.shelf.latest(packs)
    }

    fn ids(&self) -> MutexGuard<'_, SeededIds> {
        self.0.ids.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn salt(&self) -> [u8; 12] {
        let mut salt = [0; 12];
        self.ids().fill(&mut salt);
        salt
    }
}

impl Blobs for Directory {
    fn create(&self, now: Timestamp, size_hint: Option<u64>) -> Box<dyn BlobWriter> {
        let hinted = size_hint.map_or(0, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        let room = if hinted <= SMALL_BYTES_MAX { hinted } else { 0 };
        Box::new(Writer {
            store: self.clone(),
            now,
            small: BytesMut::with_capacity(room),
            first: None,
            large: None,
            goes_large: hinted > SMALL_BYTES_MAX,
        })
    }

    fn open(&self, id: BlobId, range: Range<u64>) -> Result<Box<dyn BlobReader>, BlobError> {
        if range.start > range.end {
            return Err(BlobError::OutOfRange);
        }
        match Place::of(id) {
            Place::Pack { bytes, .. } => {
                if range.end > u64::from(bytes) {
                    return Err(BlobError::OutOfRange);
                }
                let whole = self.0.shelf.read(id)?;
                let (start, end) = (usize::try_from(range.start), usize::try_from(range.end));
                let slice = start.ok().zip(end.ok()).map(|(start, end)| whole.slice(start..end));
                Ok(Box::new(SmallReader(slice.ok_or(BlobError::OutOfRange)?)))
            }
            Place::File => {
                let (file, bytes) = self.0.large.find(id)?;
                if range.end > bytes {
                    return Err(BlobError::OutOfRange);
                }
                Ok(Box::new(LargeReader {
                    store: self.clone(),
                    file,
                    at: range.start,
                    end: range.end,
                }))
            }
        }
    }

    fn delete(&self, id: BlobId) -> Pending<Result<(), BlobError>> {
        match Place::of(id) {
            Place::Pack { .. } => self.0.packer.bury(id),
            Place::File => {
                let store = self.clone();
                self.0.workers.run(Err(closed()), move || store.0.large.remove(id))
            }
        }
    }

    fn orphan_swept(&self, orphan: BlobStat) {
        self.0.orphans.fetch_add(1, Ordering::Relaxed);
        self.0.orphan_bytes.fetch_add(orphan.bytes, Ordering::Relaxed);
    }

    fn read_small(&self, id: BlobId, bytes: u64) -> Result<Bytes, BlobError> {
        match Place::of(id) {
            Place::Pack { bytes: length, .. } if u64::from(length) == bytes => {
                self.0.shelf.read(id)
            }
            Place::Pack { .. } => Err(BlobError::OutOfRange),
            Place::File => {
                let (file, length) = self.0.large.find(id)?;
                if length != bytes {
                    return Err(BlobError::OutOfRange);
                }
                read_exactly(&*file, 0, usize::try_from(bytes).map_err(|_| BlobError::OutOfRange)?)
            }
        }
    }

    fn put_small(&self, now: Timestamp, bytes: Bytes) -> Pending<Result<BlobStat, BlobError>> {
        if bytes.len() <= SMALL_BYTES_MAX {
            return self.0.packer.put(now, self.salt(), bytes);
        }
        let store = self.clone();
        let salt = self.salt();
        self.0.workers.run(Err(closed()), move || {
            let mut file = store.0.large.create(now, salt)?;
            file.content.write(&bytes)?;
            file.finish()
        })
    }

    fn stat(&self, id: BlobId) -> Result<BlobStat, BlobError> {
        let bytes = match Place::of(id) {
            Place::Pack { .. } => self.0.shelf.length(id)?,
            Place::File => self.0.large.find(id)?.1,
        };
        Ok(BlobStat { id, bytes })
    }

    fn list(&self, after: Option<BlobId>, limit: usize) -> Result<Vec<BlobStat>, BlobError> {
        let mut page = Page { after, limit, rows: BTreeMap::new() };
        self.0.large.list(&mut page)?;
        self.0.shelf.list(&mut page)?;
        let rows = page.rows.into_iter();
        Ok(rows.map(|(id, bytes)| BlobStat { id, bytes }).collect())
    }
}

/// What the packs of a [`Directory`] take.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DirectoryStats {
    /// Packs.
    pub packs: u64,
    /// The bytes of their records, dead ones too.
    pub pack_bytes: u64,
    /// Those of them that belong to deleted blobs, and come back when their pack is compacted.
    pub dead_bytes: u64,
    /// Blobs that a sweep found without a record and deleted, large ones too, since the directory was opened.
    pub orphans: u64,
    /// Their bytes.
    pub orphan_bytes: u64,
}

/// The least names after one, as they are found in any order.
struct Page {
    after: Option<BlobId>,
    limit: usize,
    rows: BTreeMap<BlobId, u64>,
}

impl Page {
    /// Whether a blob of this name belongs here as far as is known yet.
    fn takes(&self, id: BlobId) -> bool {
        self.may_take(id, id)
    }

    /// Whether any name between two, both included, may belong here.
    fn may_take(&self, least: BlobId, greatest: BlobId) -> bool {
        let has_room = self.rows.len() < self.limit
            || self.rows.last_key_value().is_some_and(|(last, _)| least < *last);
        has_room && self.after.is_none_or(|after| greatest > after)
    }

    fn add(&mut self, stat: BlobStat) {
        self.rows.insert(stat.id, stat.bytes);
        if self.rows.len() > self.limit {
            self.rows.pop_last();
        }
    }
}

/// The file of a large body, or why there is none, once it was to be made.
type Slot = Arc<Mutex<Option<Result<LargeFile, BlobError>>>>;

/// A blob that is small until it is not.
struct Writer {
    store: Directory,
    now: Timestamp,
    small: BytesMut,
    /// The first piece, kept as it came: a body in one piece is never copied.
    first: Option<Bytes>,
    large: Option<Slot>,
    goes_large: bool,
}

impl Writer {
    /// What was kept in memory so far, as the pieces that it came in or was gathered to.
    fn take_small(&mut self) -> Vec<Bytes> {
        let first = self.first.take();
        let rest = std::mem::take(&mut self.small).freeze();
        first.into_iter().chain((!rest.is_empty()).then_some(rest)).collect()
    }

    fn held(&self) -> usize {
        self.small.len() + self.first.as_ref().map_or(0, Bytes::len)
    }

    /// Keeps small bytes in memory; of a large body, gives what there is to write.
    fn take(&mut self, bytes: Bytes) -> Option<Pieces> {
        if self.large.is_none() && !self.goes_large && self.held() + bytes.len() <= SMALL_BYTES_MAX
        {
            if self.held() == 0 {
                self.first = Some(bytes);
            } else {
                if let Some(first) = self.first.take() {
                    self.small.extend_from_slice(&first);
                }
                self.small.extend_from_slice(&bytes);
            }
            return None;
        }
        let mut pieces = self.take_small();
        pieces.push(bytes);
        Some(Pieces {
            store: self.store.clone(),
            now: self.now,
            file: Arc::clone(self.large.get_or_insert_default()),
            pieces,
        })
    }
}

/// Bytes of a large body on their way to its file, which is made for the first ones.
struct Pieces {
    store: Directory,
    now: Timestamp,
    file: Slot,
    pieces: Vec<Bytes>,
}

impl Pieces {
    fn write(self) -> Result<(), BlobError> {
        let mut slot = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        let create = || self.store.0.large.create(self.now, self.store.salt());
        let file = slot.get_or_insert_with(create).as_mut();
        let file = file.map_err(|fault| fault.clone())?;
        let mut pieces = self.pieces.iter();
        pieces.try_for_each(|piece| file.content.write(piece))
    }
}

impl BlobWriter for Writer {
    fn write(&mut self, bytes: Bytes) -> Pending<Result<(), BlobError>> {
        match self.take(bytes) {
            Some(pieces) => self.store.0.workers.run(Err(closed()), move || pieces.write()),
            None => Pending::ready(Ok(())),
        }
    }

    fn write_blocking(&mut self, bytes: Bytes) -> Result<(), BlobError> {
        self.take(bytes).map_or(Ok(()), Pieces::write)
    }

    fn sync_blocking(&mut self) -> Result<(), BlobError> {
        let Some(slot) = &self.large else {
            return Ok(());
        };
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        match slot.as_mut() {
            Some(Ok(file)) => file.content.settle(),
            Some(Err(fault)) => Err(fault.clone()),
            None => Ok(()),
        }
    }

    fn finish(mut self: Box<Self>) -> Pending<Result<BlobStat, BlobError>> {
        if let Some(slot) = self.large.take() {
            return self.store.0.workers.run(Err(closed()), move || {
                let file = slot.lock().unwrap_or_else(PoisonError::into_inner).take();
                file.ok_or_else(|| BlobError::Unavailable("nothing was written".into()))??.finish()
            });
        }
        let mut pieces = self.take_small();
        let whole = if pieces.len() == 1 { pieces.remove(0) } else { Bytes::from(pieces.concat()) };
        self.store.0.packer.put(self.now, self.store.salt(), whole)
    }
}

struct SmallReader(Bytes);

impl BlobReader for SmallReader {
    fn next(&mut self) -> Pending<Result<Option<Bytes>, BlobError>> {
        let piece = std::mem::take(&mut self.0);
        Pending::ready(Ok((!piece.is_empty()).then_some(piece)))
    }
}

struct LargeReader {
    store: Directory,
    file: Arc<dyn DiskFile>,
    at: u64,
    end: u64,
}

impl BlobReader for LargeReader {
    fn next(&mut self) -> Pending<Result<Option<Bytes>, BlobError>> {
        let bytes = (self.end - self.at).min(PIECE_BYTES_MAX);
        if bytes == 0 {
            return Pending::ready(Ok(None));
        }
        let (file, at) = (Arc::clone(&self.file), self.at);
        self.at += bytes;
        self.store.0.workers.run(Err(closed()), move || {
            read_exactly(&*file, at, usize::try_from(bytes).unwrap_or(0)).map(Some)
        })
    }
}

/// Exactly `bytes` bytes at `at`.
fn read_exactly(file: &dyn DiskFile, at: u64, bytes: usize) -> Result<Bytes, BlobError> {
    let mut into = BytesMut::zeroed(bytes);
    let read = file.read_at(&mut into, at).map_err(failed)?;
    if read < bytes {
        return Err(BlobError::Corrupt("a file is shorter than its blob".into()));
    }
    Ok(into.freeze())
}

/// What a disk error means to the writer of a blob.
fn failed(error: io::Error) -> BlobError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => BlobError::Full,
        io::ErrorKind::NotFound => BlobError::Absent,
        _ => BlobError::Unavailable(error.to_string()),
    }
}

impl std::fmt::Debug for Directory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Directory").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
