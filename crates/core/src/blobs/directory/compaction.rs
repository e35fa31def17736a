//! Giving back the space of deleted blobs, beside traffic: a pack that is half dead is replaced by one of the same
//! number that holds what lives, and begins with a table of where each record went. So every name stays valid, a
//! reader of the old file goes on reading it, and a kill at any step leaves the old pack or the new one.

use std::sync::Arc;

use super::pack::{HEAD_BYTES, Kind, Place, TABLE_ROW_BYTES, read_exactly, write_head};
use super::pack_set::PackSet;
use crate::blobs::{BlobError, BlobId};
use crate::ending_thread::{END_MAX, EndingThread};
use crate::queue::Queue;
use crate::schedule;

impl PackSet {
    /// Returns whether compacting a pack gives back half of it or more. The active pack never deserves it.
    pub(super) fn deserves_compaction(&self, pack: u32) -> bool {
        let length = self.file(pack).and_then(|packed| packed.length()).unwrap_or(u64::MAX);
        pack < self.active() && self.tombstones.dead_bytes(pack).saturating_mul(2) >= length
    }

    /// Compacts one pack, if it deserves it, and gives the bytes that are free now.
    pub(super) fn compact(&self, pack: u32) -> Result<u64, BlobError> {
        let _alone = schedule::lock(&self.compacting);
        if !self.deserves_compaction(pack) {
            return Ok(0);
        }
        let dead = self.tombstones.of_pack(pack);
        let before = self.file(pack)?.length()?;
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
        let is_last = self.numbers()?.last() == Some(&pack);
        let after = if live.is_empty() && !is_last {
            self.forget_pack(pack)?;
            self.disk.remove(&self.path(pack))?;
            0
        } else {
            self.replace(pack, &live)?
        };
        self.disk.sync_directory(&self.directory)?;
        self.close(pack);
        self.tombstones.forget(pack, &dead)?;
        Ok(before.saturating_sub(after))
    }

    /// Puts a pack of the `live` records in the place of the old one, and gives its length.
    fn replace(&self, pack: u32, live: &[(BlobId, u64, usize)]) -> Result<u64, BlobError> {
        let old = self.file(pack)?;
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
        let file = self.disk.replace(&beside)?;
        file.write_all_at(&head, 0)?;
        file.write_all_at(&table, HEAD_BYTES as u64)?;
        let mut at = (HEAD_BYTES + table.len()) as u64;
        for (_, from, bytes) in live {
            let record = read_exactly(&*old.file, *from, *bytes)?;
            file.write_all_at(&record, at)?;
            at += *bytes as u64;
        }
        file.sync()?;
        self.disk.rename(&beside, &self.path(pack))?;
        Ok(at)
    }
}

/// The thread that compacts what was named to it.
pub(super) struct Compactor {
    queue: Arc<Queue<u32>>,
    thread: Option<EndingThread>,
}

impl Compactor {
    pub(super) fn start(packs: Arc<PackSet>) -> Result<Self, BlobError> {
        let queue = Arc::new(Queue::new());
        queue.extend(packs.tombstones.packs());
        let taken = Arc::clone(&queue);
        let thread = EndingThread::start("blob-compact", move || {
            while let Some(pack) = taken.pop() {
                // A fault leaves the old pack in place; it is looked at again at its next deletion.
                let _ = packs.compact(pack);
            }
        })?;
        Ok(Self { queue, thread: Some(thread) })
    }

    /// The queue of packs that may deserve it.
    pub(super) fn queue(&self) -> Arc<Queue<u32>> {
        Arc::clone(&self.queue)
    }
}

impl Drop for Compactor {
    fn drop(&mut self) {
        self.queue.abandon();
        if let Some(thread) = self.thread.take() {
            thread.end(END_MAX);
        }
    }
}
