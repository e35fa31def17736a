//! Which blobs are deleted while their bytes still lie in a pack: a set in memory, and the log that it is read from.
//! A name says how long its blob is, so the log is all that the accounts of free space need.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use super::failed;
use super::pack::{HEAD_BYTES, Head, Kind, Place, write_head};
use crate::blobs::{BlobError, BlobId};
use crate::disk::{Disk, DiskFile};

/// A log that has this many entries for each one that still counts is written anew.
const LOG_SLACK: u64 = 4;
/// A log shorter than this is never written anew for its length.
const LOG_BYTES_MIN: u64 = 64 * 1024;

pub(super) struct Graves {
    directory: PathBuf,
    disk: Arc<dyn Disk>,
    dead: RwLock<Dead>,
    log: Mutex<Option<Log>>,
}

/// The deleted blobs of each pack.
#[derive(Default)]
struct Dead {
    packs: HashMap<u32, Buried>,
    count: u64,
}

#[derive(Default)]
struct Buried {
    ids: HashSet<BlobId>,
    /// What they take of their pack.
    bytes: u64,
}

struct Log {
    file: Arc<dyn DiskFile>,
    end: u64,
}

impl Graves {
    /// Reads the log. Entries for which `lies` says that the blob is no longer in its pack are dropped.
    pub(super) fn open(
        directory: PathBuf,
        disk: Arc<dyn Disk>,
        mut lies: impl FnMut(BlobId) -> Result<bool, BlobError>,
    ) -> Result<Self, BlobError> {
        let graves = Self { directory, disk, dead: RwLock::default(), log: Mutex::default() };
        let path = graves.path();
        let names = graves.disk.list(&graves.directory).map_err(failed)?;
        if !names.contains(&path) {
            return Ok(graves);
        }
        let file = graves.disk.open_to_write(&path).map_err(failed)?;
        let length = file.length().map_err(failed)?;
        let bytes = super::read_exactly(&*file, 0, usize::try_from(length).unwrap_or(0))?;
        let mut is_exact = length.is_multiple_of(HEAD_BYTES as u64);
        for head in bytes.chunks_exact(HEAD_BYTES).map(Head::read) {
            match head {
                Some(head) if head.kind == Kind::Grave && lies(head.id)? => {
                    is_exact &= graves.write().insert(head.id);
                }
                _ => is_exact = false,
            }
        }
        // A log that is torn or says more than counts is written anew at the next burial.
        *graves.log() = is_exact.then_some(Log { file, end: length });
        Ok(graves)
    }

    fn path(&self) -> PathBuf {
        self.directory.join("graves")
    }

    fn read(&self) -> RwLockReadGuard<'_, Dead> {
        self.dead.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn write(&self) -> RwLockWriteGuard<'_, Dead> {
        self.dead.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn log(&self) -> std::sync::MutexGuard<'_, Option<Log>> {
        self.log.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn contains(&self, id: BlobId) -> bool {
        self.read().contains(id)
    }

    /// The deleted blobs of one pack.
    pub(super) fn of_pack(&self, pack: u32) -> HashSet<BlobId> {
        let dead = self.read();
        dead.packs.get(&pack).map(|buried| buried.ids.clone()).unwrap_or_default()
    }

    /// The packs that hold deleted blobs.
    pub(super) fn packs(&self) -> Vec<u32> {
        self.read().packs.keys().copied().collect()
    }

    /// Bytes that compacting a pack would free.
    pub(super) fn dead_bytes(&self, pack: u32) -> u64 {
        let dead = self.read();
        dead.packs.get(&pack).map_or(0, |buried| buried.bytes)
    }

    /// Puts burials on disk, one sync for all of them.
    pub(super) fn bury(&self, ids: &[BlobId]) -> Result<(), BlobError> {
        let new: Vec<BlobId> = {
            let dead = self.read();
            ids.iter().copied().filter(|id| !dead.contains(*id)).collect()
        };
        if new.is_empty() {
            return Ok(());
        }
        let mut log = self.log();
        match log.take() {
            Some(open) => {
                let bytes = entries(new.iter().copied());
                let written = open.file.write_all_at(&bytes, open.end);
                // Whether a log is whole after a fault is unknown: it stays taken, and the next burial writes it anew.
                written.and_then(|()| open.file.sync()).map_err(failed)?;
                *log = Some(Log { end: open.end + bytes.len() as u64, ..open });
            }
            None => {
                let all: Vec<BlobId> = self.read().all().chain(new.iter().copied()).collect();
                *log = Some(self.rewrite(&all)?);
            }
        }
        let mut dead = self.write();
        for id in new {
            dead.insert(id);
        }
        Ok(())
    }

    /// Forgets blobs whose bytes are gone from their pack for good.
    pub(super) fn forget(&self, pack: u32, ids: &HashSet<BlobId>) -> Result<(), BlobError> {
        let mut log = self.log();
        let count = {
            let mut dead = self.write();
            dead.remove(pack, ids);
            dead.count
        };
        let end = log.as_ref().map_or(0, |log| log.end);
        if end > LOG_BYTES_MIN.max(LOG_SLACK * count * HEAD_BYTES as u64) {
            let all: Vec<BlobId> = self.read().all().collect();
            *log = None;
            *log = Some(self.rewrite(&all)?);
        }
        Ok(())
    }

    /// Replaces the log, whole or not at all.
    fn rewrite(&self, all: &[BlobId]) -> Result<Log, BlobError> {
        let beside = self.path().with_extension("new");
        let bytes = entries(all.iter().copied());
        let file = self.disk.replace(&beside).map_err(failed)?;
        file.write_all_at(&bytes, 0)
            .and_then(|()| file.sync())
            .and_then(|()| self.disk.rename(&beside, &self.path()))
            .and_then(|()| self.disk.sync_directory(&self.directory))
            .map_err(failed)?;
        Ok(Log { file, end: bytes.len() as u64 })
    }
}

impl Dead {
    fn contains(&self, id: BlobId) -> bool {
        pack_of(id)
            .and_then(|pack| self.packs.get(&pack))
            .is_some_and(|buried| buried.ids.contains(&id))
    }

    fn insert(&mut self, id: BlobId) -> bool {
        let Some(pack) = pack_of(id) else {
            return false;
        };
        let buried = self.packs.entry(pack).or_default();
        let is_new = buried.ids.insert(id);
        if is_new {
            buried.bytes += record_bytes(id);
            self.count += 1;
        }
        is_new
    }

    fn remove(&mut self, pack: u32, gone: &HashSet<BlobId>) {
        let Some(buried) = self.packs.get_mut(&pack) else {
            return;
        };
        for id in gone {
            if buried.ids.remove(id) {
                buried.bytes -= record_bytes(*id);
                self.count -= 1;
            }
        }
        if buried.ids.is_empty() {
            self.packs.remove(&pack);
        }
    }

    fn all(&self) -> impl Iterator<Item = BlobId> {
        self.packs.values().flat_map(|buried| &buried.ids).copied()
    }
}

fn pack_of(id: BlobId) -> Option<u32> {
    match Place::of(id) {
        Place::Pack { pack, .. } => Some(pack),
        Place::File => None,
    }
}

/// What a packed blob takes of its pack.
fn record_bytes(id: BlobId) -> u64 {
    match Place::of(id) {
        Place::Pack { bytes, .. } => HEAD_BYTES as u64 + u64::from(bytes),
        Place::File => 0,
    }
}

fn entries(ids: impl Iterator<Item = BlobId>) -> Vec<u8> {
    let mut bytes = Vec::new();
    ids.for_each(|id| write_head(Kind::Grave, id, &[], &mut bytes));
    bytes
}
