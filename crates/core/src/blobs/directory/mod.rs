//! Blobs in a directory: small ones share append-only packs and one sync for a whole group of writers,
//! large ones have a file each. Names are random, never a user's key, and say where a small blob lies, so
//! that reading one is a single `pread` and no index is kept.

mod aligned_buffer;
mod compaction;
mod known_packs;
mod large_file;
mod large_writer;
mod pack;
mod pack_set;
mod pack_writer;
mod tombstones;

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::{Bytes, BytesMut};
#[cfg(feature = "host")]
use parking_lot::RwLockWriteGuard;
use parking_lot::{Mutex, RwLock};

use self::compaction::Compactor;
use self::large_file::{LargeFiles, UnfinishedFile};
use self::pack::{Place, read_exactly};
use self::pack_set::PackSet;
use self::pack_writer::{PackAppender, PackWriter, closed};
use super::{BlobError, BlobId, BlobReader, BlobStat, BlobWriter, Blobs};
use crate::disk::{Disk, DiskFile};
use crate::id::{Ids, SeededIds};
use crate::pending::Pending;
use crate::schedule;
use crate::time::Timestamp;
use crate::worker_pool::WorkerPool;

#[cfg(feature = "host")]
pub(crate) use self::known_packs::FILE as KNOWN_PACKS;
#[cfg(feature = "sled")]
pub(crate) use self::known_packs::missing as missing_pack;

/// The folder of the packs.
pub(crate) const PACKS: &str = "packs";
/// The folder of the files of large bodies.
pub(crate) const LARGE: &str = "large";
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
    large: LargeFiles,
    packs: Arc<PackSet>,
    pack_writer: PackWriter,
    _compactor: Compactor,
    workers: WorkerPool,
    ids: Mutex<SeededIds>,
    /// Held for reading by what deletes.
    deleting: Arc<RwLock<()>>,
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
        let large = LargeFiles::open(path.join(LARGE), Arc::clone(&disk))?;
        let packs = Arc::new(PackSet::open(path.join(PACKS), disk)?);
        // First: a pack that is to grow on is never compacted, or what is appended would go into the old file.
        let next = packs.active();
        let active = packs.resume()?;
        let compactor = Compactor::start(Arc::clone(&packs))?;
        let deleting = Arc::clone(&packs.deleting);
        let appender =
            PackAppender::new(Arc::clone(&packs), compactor.queue(), next, active, pack_bytes_max);
        let pack_writer = PackWriter::start(appender)?;
        let workers = WorkerPool::start("disk", DISK_THREADS)?;
        Ok(Self(Arc::new(Inner {
            large,
            packs,
            pack_writer,
            _compactor: compactor,
            workers,
            ids: Mutex::new(ids),
            deleting,
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
        let packs = self.0.packs.tombstones.packs();
        packs.into_iter().map(|pack| self.0.packs.compact(pack)).sum()
    }

    /// Has no blob deleted for as long as the answer is held: deletions wait.
    #[cfg(feature = "host")]
    pub(crate) fn hold_deletions(&self) -> RwLockWriteGuard<'_, ()> {
        self.0.deleting.write()
    }

    /// Figures of the packs on disk and of what sweeps took away, for metrics.
    ///
    /// # Errors
    /// `Unavailable`.
    pub fn stats(&self) -> Result<DirectoryStats, BlobError> {
        let mut stats = DirectoryStats {
            orphans: self.0.orphans.load(Ordering::Relaxed),
            orphan_bytes: self.0.orphan_bytes.load(Ordering::Relaxed),
            ..DirectoryStats::default()
        };
        for pack in self.0.packs.numbers()? {
            match self.0.packs.file(pack).and_then(|file| file.length()) {
                Ok(bytes) => stats.pack_bytes += bytes,
                Err(BlobError::Absent) => continue,
                Err(error) => return Err(error),
            }
            stats.packs += 1;
            stats.dead_bytes += self.0.packs.tombstones.dead_bytes(pack);
        }
        stats.pack_bytes = stats.pack_bytes.saturating_sub(self.0.packs.preallocated());
        Ok(stats)
    }

    /// [`Blobs::put_small`] of bodies that each fit a pack, with the moment of each: they go together, with one sync for all.
    pub(crate) fn put_all(
        &self,
        bodies: Vec<(Timestamp, Bytes)>,
    ) -> Vec<Pending<Result<BlobStat, BlobError>>> {
        let bodies = bodies.into_iter().map(|(now, body)| (now, self.salt(), body));
        self.0.pack_writer.put_all(bodies)
    }

    /// The body of a packed blob, whose length its name says.
    pub(crate) fn read_named(&self, id: BlobId) -> Result<Bytes, BlobError> {
        self.0.packs.read(id)
    }

    /// The names of the blobs in the last few packs.
    pub(crate) fn latest(&self, packs: usize) -> Result<Vec<BlobId>, BlobError> {
        self.0.packs.latest(packs)
    }

    fn salt(&self) -> [u8; 12] {
        let mut salt = [0; 12];
        self.0.ids.lock().fill(&mut salt);
        salt
    }
}

impl Blobs for Directory {
    fn create(&self, now: Timestamp, size_hint: Option<u64>) -> Box<dyn BlobWriter> {
        let hinted = size_hint.map_or(0, |bytes| usize::try_from(bytes).unwrap_or(usize::MAX));
        let capacity = if hinted <= SMALL_BYTES_MAX { hinted } else { 0 };
        Box::new(DirectoryWriter {
            store: self.clone(),
            now,
            small: BytesMut::with_capacity(capacity),
            first: None,
            large: None,
            is_large: hinted > SMALL_BYTES_MAX,
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
                let whole = self.0.packs.read(id)?;
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
            Place::Pack { .. } => self.0.pack_writer.delete(id),
            Place::File => {
                let store = self.clone();
                self.0.workers.run(Err(closed()), move || {
                    let _deleting = store.0.deleting.read();
                    store.0.large.remove(id)
                })
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
                self.0.packs.read(id)
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
            return self.0.pack_writer.put(now, self.salt(), bytes);
        }
        let store = self.clone();
        let salt = self.salt();
        self.0.workers.run(Err(closed()), move || {
            let mut file = store.0.large.create(now, salt)?;
            file.writer.write(&bytes)?;
            file.finish()
        })
    }

    fn stat(&self, id: BlobId) -> Result<BlobStat, BlobError> {
        let bytes = match Place::of(id) {
            Place::Pack { .. } => self.0.packs.length(id)?,
            Place::File => self.0.large.find(id)?.1,
        };
        Ok(BlobStat { id, bytes })
    }

    fn list(&self, after: Option<BlobId>, limit: usize) -> Result<Vec<BlobStat>, BlobError> {
        let mut listing = Listing { after, limit, rows: BTreeMap::new() };
        self.0.large.list(&mut listing)?;
        self.0.packs.list(&mut listing)?;
        let rows = listing.rows.into_iter();
        Ok(rows.map(|(id, bytes)| BlobStat { id, bytes }).collect())
    }
}

/// Figures of a [`Directory`].
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
struct Listing {
    after: Option<BlobId>,
    limit: usize,
    rows: BTreeMap<BlobId, u64>,
}

impl Listing {
    /// Returns whether a blob of this name belongs here as far as is known yet.
    fn takes(&self, id: BlobId) -> bool {
        self.may_take(id, id)
    }

    /// Returns whether any name between two, both included, may belong here.
    fn may_take(&self, least: BlobId, greatest: BlobId) -> bool {
        let has_space = self.rows.len() < self.limit
            || self.rows.last_key_value().is_some_and(|(last, _)| least < *last);
        has_space && self.after.is_none_or(|after| greatest > after)
    }

    fn add(&mut self, stat: BlobStat) {
        self.rows.insert(stat.id, stat.bytes);
        if self.rows.len() > self.limit {
            self.rows.pop_last();
        }
    }
}

/// The file of a large body, or the reason for which there is none, once it was to be made.
type SharedFile = Arc<Mutex<Option<Result<UnfinishedFile, BlobError>>>>;

/// A blob that is small until it is not.
struct DirectoryWriter {
    store: Directory,
    now: Timestamp,
    small: BytesMut,
    /// The first piece, kept as it came: a body in one piece is never copied.
    first: Option<Bytes>,
    large: Option<SharedFile>,
    is_large: bool,
}

impl DirectoryWriter {
    /// Takes what was kept in memory so far, as the pieces that it came in or was gathered to.
    fn take_small(&mut self) -> Vec<Bytes> {
        let first = self.first.take();
        let rest = std::mem::take(&mut self.small).freeze();
        first.into_iter().chain((!rest.is_empty()).then_some(rest)).collect()
    }

    fn held(&self) -> usize {
        self.small.len() + self.first.as_ref().map_or(0, Bytes::len)
    }

    /// Keeps small bytes in memory; of a large body, gives what there is to write.
    fn take(&mut self, bytes: Bytes) -> Option<LargePieces> {
        if self.large.is_none() && !self.is_large && self.held() + bytes.len() <= SMALL_BYTES_MAX {
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
        Some(LargePieces {
            store: self.store.clone(),
            now: self.now,
            file: Arc::clone(self.large.get_or_insert_default()),
            pieces,
        })
    }
}

/// Bytes of a large body on their way to its file, which is made for the first ones.
struct LargePieces {
    store: Directory,
    now: Timestamp,
    file: SharedFile,
    pieces: Vec<Bytes>,
}

impl LargePieces {
    fn write(self) -> Result<(), BlobError> {
        let mut slot = schedule::lock(&self.file);
        let create = || self.store.0.large.create(self.now, self.store.salt());
        let file = slot.get_or_insert_with(create).as_mut();
        let file = file.map_err(|fault| fault.clone())?;
        let mut pieces = self.pieces.iter();
        pieces.try_for_each(|piece| file.writer.write(piece))
    }
}

impl BlobWriter for DirectoryWriter {
    fn write(&mut self, bytes: Bytes) -> Pending<Result<(), BlobError>> {
        match self.take(bytes) {
            Some(pieces) => self.store.0.workers.run(Err(closed()), move || pieces.write()),
            None => Pending::ready(Ok(())),
        }
    }

    fn write_blocking(&mut self, bytes: Bytes) -> Result<(), BlobError> {
        self.take(bytes).map_or(Ok(()), LargePieces::write)
    }

    fn sync_blocking(&mut self) -> Result<(), BlobError> {
        let Some(slot) = &self.large else {
            return Ok(());
        };
        let mut slot = schedule::lock(slot);
        match slot.as_mut() {
            Some(Ok(file)) => file.writer.sync(),
            Some(Err(fault)) => Err(fault.clone()),
            None => Ok(()),
        }
    }

    fn finish(mut self: Box<Self>) -> Pending<Result<BlobStat, BlobError>> {
        if let Some(slot) = self.large.take() {
            return self.store.0.workers.run(Err(closed()), move || {
                let file = schedule::lock(&slot).take();
                file.ok_or_else(|| BlobError::Unavailable("nothing was written".into()))??.finish()
            });
        }
        let mut pieces = self.take_small();
        let whole = if pieces.len() == 1 { pieces.remove(0) } else { Bytes::from(pieces.concat()) };
        self.store.0.pack_writer.put(self.now, self.store.salt(), whole)
    }
}

struct SmallReader(Bytes);

impl BlobReader for SmallReader {
    fn next(&mut self) -> Pending<Result<Option<Bytes>, BlobError>> {
        let piece = std::mem::take(&mut self.0);
        Pending::ready(Ok((!piece.is_empty()).then_some(piece)))
    }

    fn next_pieces(&mut self, each: usize, count: usize) -> Pending<Result<Vec<Bytes>, BlobError>> {
        // What is in memory already is not copied apart.
        let piece = self.0.split_to(self.0.len().min(each.saturating_mul(count)));
        Pending::ready(Ok((!piece.is_empty()).then_some(piece).into_iter().collect()))
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

    fn next_pieces(&mut self, each: usize, count: usize) -> Pending<Result<Vec<Bytes>, BlobError>> {
        let most = each.saturating_mul(count) as u64;
        let (start, end) = (self.at, self.end.min(self.at.saturating_add(most)));
        if start == end {
            return Pending::ready(Ok(Vec::new()));
        }
        self.at = end;
        let file = Arc::clone(&self.file);
        self.store.0.workers.run(Err(closed()), move || {
            let places = (start..end).step_by(each.max(1));
            let piece = |at| {
                let bytes = usize::try_from(end - at).map_or(each, |left| left.min(each));
                read_exactly(&*file, at, bytes)
            };
            places.map(piece).collect()
        })
    }
}

impl std::fmt::Debug for Directory {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Directory").finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests;
