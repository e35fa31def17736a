//! All packs of a directory, and which of their blobs are deleted.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;

use super::Page;
use super::pack::{HEAD_BYTES, Head, Kind, Place, Volume};
use super::tombstones::Graves;
use super::{failed, read_exactly};
use crate::blobs::{BlobError, BlobId, BlobStat};
use crate::disk::{Disk, DiskFile};

/// Open packs that are kept for reading.
const OPEN_MAX: usize = 256;

/// All packs of a directory.
pub(super) struct Shelf {
    pub(super) directory: PathBuf,
    pub(super) disk: Arc<dyn Disk>,
    pub(super) graves: Graves,
    open: Open,
    /// The pack that is written to; those before it never grow again.
    current: AtomicU32,
    /// Bytes behind its records that are room for more.
    room: AtomicU64,
    /// The least and the greatest name in a pack that never grows again.
    bounds: Mutex<HashMap<u32, (BlobId, BlobId)>>,
    pub(super) compacting: Mutex<()>,
}

/// The pack that is written to.
#[derive(Clone)]
pub(super) struct Growing {
    pub(super) pack: u32,
    pub(super) file: Arc<dyn DiskFile>,
    /// Where the next record goes.
    pub(super) end: u64,
}

type Open = Mutex<HashMap<u32, Arc<Volume>>>;

impl Shelf {
    pub(super) fn open(directory: PathBuf, disk: Arc<dyn Disk>) -> Result<Self, BlobError> {
        disk.make_directory(&directory).map_err(failed)?;
        for path in disk.list(&directory).map_err(failed)? {
            if path.extension().is_some_and(|extension| extension == "new") {
                disk.remove(&path).map_err(failed)?;
            }
        }
        let open = Open::default();
        let graves = Graves::open(directory.clone(), Arc::clone(&disk), |id| {
            lies(&directory, &*disk, &open, id)
        })?;
        let shelf = Self {
            directory,
            disk,
            graves,
            open,
            current: AtomicU32::new(0),
            room: AtomicU64::new(0),
            bounds: Mutex::default(),
            compacting: Mutex::default(),
        };
        let last = shelf.packs()?.last().copied().unwrap_or(0);
        shelf.set_current(last + 1);
        Ok(shelf)
    }

    pub(super) fn path(&self, pack: u32) -> PathBuf {
        path(&self.directory, pack)
    }

    pub(super) fn current(&self) -> u32 {
        self.current.load(Ordering::Acquire)
    }

    pub(super) fn set_current(&self, pack: u32) {
        self.current.store(pack, Ordering::Release);
    }

    /// Bytes of the current pack that are no records yet.
    pub(super) fn room(&self) -> u64 {
        self.room.load(Ordering::Acquire)
    }

    pub(super) fn set_room(&self, bytes: u64) {
        self.room.store(bytes, Ordering::Release);
    }

    /// The numbers of the packs, least first.
    pub(super) fn packs(&self) -> Result<Vec<u32>, BlobError> {
        let names = self.disk.list(&self.directory).map_err(failed)?;
        let mut packs: Vec<u32> = names
            .iter()
            .filter(|path| path.extension().is_some_and(|extension| extension == "pack"))
            .filter_map(|path| path.file_stem()?.to_str()?.parse().ok())
            .collect();
        packs.sort_unstable();
        Ok(packs)
    }

    /// Makes a pack, its name on disk, and gives it to be written.
    pub(super) fn create(&self, pack: u32) -> Result<Arc<dyn DiskFile>, BlobError> {
        let file = self.disk.create(&self.path(pack)).map_err(failed)?;
        self.disk.sync_directory(&self.directory).map_err(failed)?;
        Ok(file)
    }

    /// [`Shelf::last`], which is the current pack from now on.
    pub(super) fn resume(&self) -> Result<Option<Growing>, BlobError> {
        let growing = self.last()?;
        if let Some(growing) = &growing {
            self.set_current(growing.pack);
        }
        Ok(growing)
    }

    /// The last pack, to be written on; `None` if there is none, or none that can grow. Room behind its last record, and what a
    /// group that was never acknowledged left there, is cut off.
    fn last(&self) -> Result<Option<Growing>, BlobError> {
        let Some(pack) = self.packs()?.last().copied() else {
            return Ok(None);
        };
        let volume = self.volume(pack)?;
        let walked = volume.walk(&mut |_, _| {})?;
        if volume.is_compacted() || walked.has_holes {
            return Ok(None);
        }
        let file = self.disk.open_to_write(&self.path(pack)).map_err(failed)?;
        let end = walked.end;
        if end < walked.length {
            // Whole records behind would have been found: nothing that was acknowledged is cut.
            file.truncate(end).map_err(failed)?;
        }
        Ok(Some(Growing { pack, file, end }))
    }

    pub(super) fn volume(&self, pack: u32) -> Result<Arc<Volume>, BlobError> {
        volume(&self.directory, &*self.disk, &self.open, pack)
    }

    /// Lets go of a pack that was replaced or removed; readers that have it go on with it.
    pub(super) fn close(&self, pack: u32) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.remove(&pack);
    }

    /// Whether a packed blob is there and not deleted.
    pub(super) fn holds(&self, id: BlobId) -> Result<bool, BlobError> {
        Ok(!self.graves.contains(id) && lies(&self.directory, &*self.disk, &self.open, id)?)
    }

    /// The length of a packed blob: its record's head is there, and the pack reaches to the end of its body.
    pub(super) fn length(&self, id: BlobId) -> Result<u64, BlobError> {
        let (volume, at) = self.find(id)?;
        let record = read_exactly(&*volume.file, at, HEAD_BYTES)?;
        let bytes = u64::from(head_of(id, &record)?.bytes);
        if at + HEAD_BYTES as u64 + bytes > volume.length()? {
            return Err(BlobError::Corrupt("a pack ends within a body".into()));
        }
        Ok(bytes)
    }

    /// Where the record of a packed blob begins.
    fn find(&self, id: BlobId) -> Result<(Arc<Volume>, u64), BlobError> {
        let Place::Pack { pack, offset, .. } = Place::of(id) else {
            return Err(BlobError::Absent);
        };
        if self.graves.contains(id) {
            return Err(BlobError::Absent);
        }
        let volume = self.volume(pack)?;
        let at = volume.offset_now(offset).ok_or(BlobError::Absent)?;
        Ok((volume, at))
    }

    /// The body of a blob in one read, checked against its record.
    pub(super) fn read(&self, id: BlobId) -> Result<Bytes, BlobError> {
        let Place::Pack { bytes, .. } = Place::of(id) else {
            return Err(BlobError::Absent);
        };
        let (volume, at) = self.find(id)?;
        let mut record = read_exactly(&*volume.file, at, HEAD_BYTES + bytes as usize)?;
        let body = record.split_off(HEAD_BYTES);
        let head = head_of(id, &record)?;
        if crc32c::crc32c(&body) != head.sum {
            return Err(BlobError::Corrupt("a packed body differs from its checksum".into()));
        }
        Ok(body)
    }

    /// Gives every record of a pack; whether all of its bytes are records.
    pub(super) fn walk(
        &self,
        pack: u32,
        found: &mut dyn FnMut(&Head, u64),
    ) -> Result<bool, BlobError> {
        Ok(self.volume(pack)?.walk(found)?.is_whole())
    }

    /// The blobs of the last `count` packs, deleted ones left out.
    pub(super) fn latest(&self, count: usize) -> Result<Vec<BlobId>, BlobError> {
        let mut found = Vec::new();
        for pack in self.packs()?.into_iter().rev().take(count) {
            self.walk(pack, &mut |head, _| {
                if head.kind == Kind::Body && !self.graves.contains(head.id) {
                    found.push(head.id);
                }
            })?;
        }
        Ok(found)
    }

    /// Adds the blobs that belong on `page`. Packs that cannot hold one are not read.
    pub(super) fn list(&self, page: &mut Page) -> Result<(), BlobError> {
        for pack in self.packs()? {
            let known = self.bounds().get(&pack).copied();
            if known.is_some_and(|(least, greatest)| !page.may_take(least, greatest)) {
                continue;
            }
            let is_final = pack < self.current();
            // Taken before the pack is opened: a compaction forgets graves only once the old pack is closed.
            let dead = self.graves.of_pack(pack);
            let mut bounds: Option<(BlobId, BlobId)> = None;
            let walked = self.walk(pack, &mut |head, _| {
                if head.kind != Kind::Body {
                    return;
                }
                let (least, greatest) = bounds.unwrap_or((head.id, head.id));
                bounds = Some((least.min(head.id), greatest.max(head.id)));
                if page.takes(head.id) && !dead.contains(&head.id) {
                    page.add(BlobStat { id: head.id, bytes: u64::from(head.bytes) });
                }
            });
            match walked {
                // It was compacted away since the directory was read.
                Err(BlobError::Absent) => continue,
                walked => walked?,
            };
            if let Some(bounds) = bounds.filter(|_| is_final) {
                self.bounds().insert(pack, bounds);
            }
        }
        Ok(())
    }

    fn bounds(&self) -> std::sync::MutexGuard<'_, HashMap<u32, (BlobId, BlobId)>> {
        self.bounds.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The head of the record of a packed blob, if these bytes begin with it.
fn head_of(id: BlobId, record: &[u8]) -> Result<Head, BlobError> {
    let belongs = |head: &Head| {
        let is_long = matches!(Place::of(id), Place::Pack { bytes, .. } if bytes == head.bytes);
        head.kind == Kind::Body && head.id == id && is_long
    };
    Head::read(record)
        .filter(belongs)
        .ok_or_else(|| BlobError::Corrupt("a pack holds no such record where its name says".into()))
}

fn path(directory: &std::path::Path, pack: u32) -> PathBuf {
    directory.join(format!("{pack:08}.pack"))
}

fn volume(
    directory: &std::path::Path,
    disk: &dyn Disk,
    open: &Open,
    pack: u32,
) -> Result<Arc<Volume>, BlobError> {
    // Held while the file is opened: whoever replaces a pack closes it here afterwards, and so closes the old one.
    let mut open = open.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(volume) = open.get(&pack) {
        return Ok(Arc::clone(volume));
    }
    let file = disk.open(&path(directory, pack)).map_err(failed)?;
    let volume = Arc::new(Volume::read(pack, file)?);
    if open.len() >= OPEN_MAX {
        open.clear();
    }
    open.insert(pack, Arc::clone(&volume));
    Ok(volume)
}

/// Whether the bytes of a packed blob still lie in its pack, deleted or not.
fn lies(
    directory: &std::path::Path,
    disk: &dyn Disk,
    open: &Open,
    id: BlobId,
) -> Result<bool, BlobError> {
    let Place::Pack { pack, offset, .. } = Place::of(id) else {
        return Ok(false);
    };
    match volume(directory, disk, open, pack) {
        Ok(volume) => Ok(volume.offset_now(offset).is_some()),
        Err(BlobError::Absent) => Ok(false),
        Err(error) => Err(error),
    }
}
