//! Tombstones: blobs that are deleted while their bytes still lie in a pack. A set in memory, and the log that it is read from.
//! A name says how long its blob is, so the log is all that the accounts of free space need.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::Arc;

use parking_lot::{Mutex, RwLock};

use super::pack::{HEAD_BYTES, Head, Kind, Place, read_exactly, write_head};
use crate::blobs::{BlobError, BlobId};
use crate::disk::{Disk, DiskFile};
use crate::schedule;

/// A log that has this many entries for each one that still counts is written anew.
const LOG_SLACK: u64 = 4;
/// A log shorter than this is never written anew for its length.
const LOG_BYTES_MIN: u64 = 64 * 1024;

/// The tombstones of a set of packs.
pub(super) struct Tombstones {
    directory: PathBuf,
    disk: Arc<dyn Disk>,
    deleted: RwLock<Deleted>,
    log: Mutex<Option<Log>>,
}

/// The deleted blobs of each pack.
#[derive(Default)]
struct Deleted {
    packs: HashMap<u32, DeletedOfPack>,
    count: u64,
}

#[derive(Default)]
struct DeletedOfPack {
    ids: HashSet<BlobId>,
    /// Bytes that they take of their pack.
    bytes: u64,
}

struct Log {
    file: Arc<dyn DiskFile>,
    end: u64,
}

impl Tombstones {
    /// Reads the log. Entries of blobs that are no longer stored in their packs are dropped.
    pub(super) fn open(
        directory: PathBuf,
        disk: Arc<dyn Disk>,
        mut is_stored: impl FnMut(BlobId) -> Result<bool, BlobError>,
    ) -> Result<Self, BlobError> {
        let tombstones =
            Self { directory, disk, deleted: RwLock::default(), log: Mutex::default() };
        let path = tombstones.path();
        let names = tombstones.disk.list(&tombstones.directory)?;
        if !names.contains(&path) {
            return Ok(tombstones);
        }
        let file = tombstones.disk.open_to_write(&path)?;
        let length = file.length()?;
        let bytes = read_exactly(&*file, 0, usize::try_from(length).unwrap_or(0))?;
        let mut is_exact = length.is_multiple_of(HEAD_BYTES as u64);
        for head in bytes.chunks_exact(HEAD_BYTES).map(Head::read) {
            match head {
                Some(head) if head.kind == Kind::Tombstone && is_stored(head.id)? => {
                    is_exact &= tombstones.deleted.write().insert(head.id);
                }
                _ => is_exact = false,
            }
        }
        // A log that is torn or says more than counts is written anew at the next deletion.
        *tombstones.log.lock() = is_exact.then_some(Log { file, end: length });
        Ok(tombstones)
    }

    fn path(&self) -> PathBuf {
        self.directory.join("graves")
    }

    pub(super) fn contains(&self, id: BlobId) -> bool {
        self.deleted.read().contains(id)
    }

    /// The deleted blobs of one pack.
    pub(super) fn of_pack(&self, pack: u32) -> HashSet<BlobId> {
        let deleted = self.deleted.read();
        deleted.packs.get(&pack).map(|of_pack| of_pack.ids.clone()).unwrap_or_default()
    }

    /// The packs that hold deleted blobs.
    pub(super) fn packs(&self) -> Vec<u32> {
        let mut packs: Vec<_> = self.deleted.read().packs.keys().copied().collect();
        packs.sort_unstable();
        packs
    }

    /// Bytes that compacting a pack would free.
    pub(super) fn dead_bytes(&self, pack: u32) -> u64 {
        let deleted = self.deleted.read();
        deleted.packs.get(&pack).map_or(0, |of_pack| of_pack.bytes)
    }

    /// Puts tombstones on disk, one sync for all of them.
    pub(super) fn delete(&self, ids: &[BlobId]) -> Result<(), BlobError> {
        let new: Vec<BlobId> = {
            let deleted = self.deleted.read();
            ids.iter().copied().filter(|id| !deleted.contains(*id)).collect()
        };
        if new.is_empty() {
            return Ok(());
        }
        let mut log = schedule::lock(&self.log);
        match log.take() {
            Some(open) => {
                let bytes = entries(new.iter().copied());
                let written = open.file.write_all_at(&bytes, open.end);
                // Whether a log is whole after a fault is unknown: it stays taken, and the next deletion writes it anew.
                written.and_then(|()| open.file.sync())?;
                *log = Some(Log { end: open.end + bytes.len() as u64, ..open });
            }
            None => {
                let mut all = self.all();
                all.extend(&new);
                *log = Some(self.rewrite(&all)?);
            }
        }
        let mut deleted = self.deleted.write();
        for id in new {
            deleted.insert(id);
        }
        Ok(())
    }

    /// Forgets blobs whose bytes are gone from their pack for good.
    pub(super) fn forget(&self, pack: u32, ids: &HashSet<BlobId>) -> Result<(), BlobError> {
        let mut log = schedule::lock(&self.log);
        let count = {
            let mut deleted = self.deleted.write();
            deleted.remove(pack, ids);
            deleted.count
        };
        let end = log.as_ref().map_or(0, |log| log.end);
        if end > LOG_BYTES_MIN.max(LOG_SLACK * count * HEAD_BYTES as u64) {
            *log = None;
            *log = Some(self.rewrite(&self.all())?);
        }
        Ok(())
    }

    /// All of them, in the order of their names.
    fn all(&self) -> Vec<BlobId> {
        let mut all: Vec<_> = self.deleted.read().all().collect();
        all.sort_unstable();
        all
    }

    /// Replaces the log, whole or not at all.
    fn rewrite(&self, all: &[BlobId]) -> Result<Log, BlobError> {
        let beside = self.path().with_extension("new");
        let bytes = entries(all.iter().copied());
        let file = self.disk.replace(&beside)?;
        file.write_all_at(&bytes, 0)
            .and_then(|()| file.sync())
            .and_then(|()| self.disk.rename(&beside, &self.path()))
            .and_then(|()| self.disk.sync_directory(&self.directory))?;
        Ok(Log { file, end: bytes.len() as u64 })
    }
}

impl Deleted {
    fn contains(&self, id: BlobId) -> bool {
        pack_of(id)
            .and_then(|pack| self.packs.get(&pack))
            .is_some_and(|of_pack| of_pack.ids.contains(&id))
    }

    fn insert(&mut self, id: BlobId) -> bool {
        let Some(pack) = pack_of(id) else {
            return false;
        };
        let of_pack = self.packs.entry(pack).or_default();
        let is_new = of_pack.ids.insert(id);
        if is_new {
            of_pack.bytes += record_bytes(id);
            self.count += 1;
        }
        is_new
    }

    fn remove(&mut self, pack: u32, gone: &HashSet<BlobId>) {
        let Some(of_pack) = self.packs.get_mut(&pack) else {
            return;
        };
        for id in gone {
            if of_pack.ids.remove(id) {
                of_pack.bytes -= record_bytes(*id);
                self.count -= 1;
            }
        }
        if of_pack.ids.is_empty() {
            self.packs.remove(&pack);
        }
    }

    fn all(&self) -> impl Iterator<Item = BlobId> {
        self.packs.values().flat_map(|of_pack| &of_pack.ids).copied()
    }
}

fn pack_of(id: BlobId) -> Option<u32> {
    match Place::of(id) {
        Place::Pack { pack, .. } => Some(pack),
        Place::File => None,
    }
}

/// Bytes that a packed blob takes of its pack.
fn record_bytes(id: BlobId) -> u64 {
    match Place::of(id) {
        Place::Pack { bytes, .. } => HEAD_BYTES as u64 + u64::from(bytes),
        Place::File => 0,
    }
}

fn entries(ids: impl Iterator<Item = BlobId>) -> Vec<u8> {
    let mut bytes = Vec::new();
    ids.for_each(|id| write_head(Kind::Tombstone, id, &[], &mut bytes));
    bytes
}
