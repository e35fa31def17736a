//! Giving back the space of deleted blobs, beside traffic: a pack that is half dead is replaced by one of the same
//! number that holds what lives, and begins with a table of where each record went. So every name stays valid, a
//! reader of the old file goes on reading it, and a kill at any step leaves the old pack or the new one.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use super::pack::{HEAD_BYTES, Kind, Place, TABLE_ROW_BYTES, write_head};
use super::pack_set::Shelf;
use super::{failed, read_exactly};
use crate::blobs::{BlobError, BlobId};

impl Shelf {
    /// Whether compacting a pack gives back half of it or more. The pack that is written to never deserves it.
    pub(super) fn deserves_compaction(&self, pack: u32) -> bool {
        let length = self.volume(pack).and_then(|volume| volume.length()).unwrap_or(u64::MAX);
        pack < self.current() && self.graves.dead_bytes(pack).saturating_mul(2) >= length
    }

    /// Compacts one pack, if it deserves it; the bytes that are free now.
    pub(super) fn compact(&self, pack: u32) -> Result<u64, BlobError> {
        let _alone = self.compacting.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.deserves_compaction(pack) {
            return Ok(0);
        }
        let dead = self.graves.of_pack(pack);
        let before = self.volume(pack)?.length()?;
        let mut live = Vec::new();
        let is_whole = self.walk(pack, &mut |head, at| {
            if head.kind == Kind::Body && !dead.contains(&head.id) {
                live.push((head.id, at, HEAD_BYTES + head.bytes as usize));
            }
        })?;
        if !is_whole {
            // What cannot be read may be a record: a damaged pack stays as it is, so that reads go on to say so.
            return Ok(0);
        }
        // The last pack keeps its number taken, so that no name ever points into another pack.
        let is_last = self.packs()?.last() == Some(&pack);
        let after = if live.is_empty() && !is_last {
            self.disk.remove(&self.path(pack)).map_err(failed)?;
            0
        } else {
            self.replace(pack, &live)?
        };
        self.disk.sync_directory(&self.directory).map_err(failed)?;
        self.close(pack);
        self.graves.forget(pack, &dead)?;
        Ok(before.saturating_sub(after))
    }

    /// Puts a pack of the `live` records in the place of the old one; its length.
    fn replace(&self, pack: u32, live: &[(BlobId, u64, usize)]) -> Result<u64, BlobError> {
        let volume = self.volume(pack)?;
        let mut at = (HEAD_BYTES + live.len() * TABLE_ROW_BYTES) as u64;
        let mut table = Vec::with_capacity(live.len() * TABLE_ROW_BYTES);
        for (id, _, bytes) in live {
            if let Place::Pack { offset, .. } = Place::of(*id) {
                table.extend_from_slice(&offset.to_be_bytes());
                table.extend_from_slice(&at.to_be_bytes());
            }
            at += *bytes as u64;
        }
        let mut head = Vec::with_capacity(HEAD_BYTES);
        write_head(Kind::Table, BlobId([0; BlobId::BYTES]), &table, &mut head);
        let beside = self.path(pack).with_extension("new");
        let file = self.disk.replace(&beside).map_err(failed)?;
        file.write_all_at(&head, 0).map_err(failed)?;
        file.write_all_at(&table, HEAD_BYTES as u64).map_err(failed)?;
        let mut at = (HEAD_BYTES + table.len()) as u64;
        for (_, from, bytes) in live {
            let record = read_exactly(&*volume.file, *from, *bytes)?;
            file.write_all_at(&record, at).map_err(failed)?;
            at += *bytes as u64;
        }
        file.sync().map_err(failed)?;
        self.disk.rename(&beside, &self.path(pack)).map_err(failed)?;
        Ok(at)
    }
}

/// The thread that compacts what was named to it.
pub(super) struct Compactor {
    due: Arc<Due>,
    thread: Option<JoinHandle<()>>,
}

/// Packs that may deserve it.
#[derive(Default)]
pub(super) struct Due {
    packs: Mutex<(BTreeSet<u32>, bool)>,
    arrived: Condvar,
}

impl Due {
    fn lock(&self) -> MutexGuard<'_, (BTreeSet<u32>, bool)> {
        self.packs.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Has a pack looked at.
    pub(super) fn add(&self, pack: u32) {
        self.lock().0.insert(pack);
        self.arrived.notify_one();
    }

    fn take(&self) -> Option<u32> {
        let mut packs = self.lock();
        loop {
            if packs.1 {
                return None;
            }
            if let Some(pack) = packs.0.pop_first() {
                return Some(pack);
            }
            packs = self.arrived.wait(packs).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl Compactor {
    pub(super) fn start(shelf: Arc<Shelf>) -> Result<Self, BlobError> {
        let due = Arc::new(Due::default());
        shelf.graves.packs().into_iter().for_each(|pack| due.add(pack));
        let taken = Arc::clone(&due);
        let thread = std::thread::Builder::new()
            .name("blob-compact".into())
            .spawn(move || {
                while let Some(pack) = taken.take() {
                    // A fault leaves the old pack in place; it is looked at again at its next burial.
                    let _ = shelf.compact(pack);
                }
            })
            .map_err(failed)?;
        Ok(Self { due, thread: Some(thread) })
    }

    pub(super) fn due(&self) -> Arc<Due> {
        Arc::clone(&self.due)
    }
}

impl Drop for Compactor {
    fn drop(&mut self) {
        self.due.lock().1 = true;
        self.due.arrived.notify_all();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
