//! All packs of a directory, and which of their blobs are deleted.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};

use bytes::Bytes;
use parking_lot::{Mutex, RwLock};

use super::Listing;
use super::known_packs;
use super::pack::{HEAD_BYTES, Head, Kind, PackFile, Place, pack_path, read_exactly};
use super::tombstones::Tombstones;
use crate::blobs::{BlobError, BlobId, BlobStat};
use crate::disk::{Disk, DiskFile};
use crate::schedule;

/// Packs that are kept open for reading.
const OPEN_MAX: usize = 256;

/// All packs of a directory.
pub(super) struct PackSet {
    pub(super) directory: PathBuf,
    pub(super) disk: Arc<dyn Disk>,
    pub(super) tombstones: Tombstones,
    open: OpenFiles,
    /// The pack that is written to; those before it never grow again.
    active: AtomicU32,
    /// Bytes behind its records that are preallocated for more.
    preallocated: AtomicU64,
    /// The least and the greatest name in a pack that never grows again.
    bounds: Mutex<HashMap<u32, (BlobId, BlobId)>>,
    /// The packs that the note of them names.
    known: Mutex<BTreeSet<u32>>,
    pub(super) compacting: Mutex<()>,
    /// Held for reading by what deletes.
    pub(super) deleting: Arc<RwLock<()>>,
}

/// The pack that is written to.
#[derive(Clone)]
pub(super) struct ActivePack {
    pub(super) pack: u32,
    pub(super) file: Arc<dyn DiskFile>,
    /// The offset of the next record.
    pub(super) end: u64,
}

type OpenFiles = Mutex<HashMap<u32, Arc<PackFile>>>;

impl PackSet {
    pub(super) fn open(directory: PathBuf, disk: Arc<dyn Disk>) -> Result<Self, BlobError> {
        disk.make_directory(&directory)?;
        for path in disk.list(&directory)? {
            if path.extension().is_some_and(|extension| extension == "new") {
                disk.remove(&path)?;
            }
        }
        let open = OpenFiles::default();
        let tombstones = Tombstones::open(directory.clone(), Arc::clone(&disk), |id| {
            is_stored(&directory, &*disk, &open, id)
        })?;
        let packs = Self {
            directory,
            disk,
            tombstones,
            open,
            active: AtomicU32::new(0),
            preallocated: AtomicU64::new(0),
            bounds: Mutex::default(),
            known: Mutex::default(),
            compacting: Mutex::default(),
            deleting: Arc::default(),
        };
        let numbers = packs.numbers()?;
        if !numbers.is_empty() {
            // A kill may have left names that the disk does not have yet: the note says from now on that these packs are there, and the last is written on.
            packs.disk.sync_directory(&packs.directory)?;
        }
        packs.set_active(numbers.last().copied().unwrap_or(0) + 1);
        packs.know(numbers);
        Ok(packs)
    }

    /// The note of the packs, beside their folder.
    fn note(&self) -> PathBuf {
        self.directory.with_file_name(known_packs::FILE)
    }

    /// Takes the packs that are there for all that there are. A note that cannot be written now is written with the next pack.
    fn know(&self, numbers: Vec<u32>) {
        let there: BTreeSet<u32> = numbers.into_iter().collect();
        let (disk, note) = (&*self.disk, self.note());
        let is_noted =
            || known_packs::read(disk, &note).is_ok_and(|known| known.as_ref() == Some(&there));
        if there.is_empty() || is_noted() || known_packs::write(disk, &note, &there).is_ok() {
            *self.known.lock() = there;
        }
    }

    /// Notes that a pack holds a body, if that is not noted yet.
    pub(super) fn note_pack(&self, pack: u32) -> Result<(), BlobError> {
        let mut known = schedule::lock(&self.known);
        if known.insert(pack)
            && let Err(error) = known_packs::write(&*self.disk, &self.note(), &known)
        {
            known.remove(&pack);
            return Err(error.into());
        }
        Ok(())
    }

    /// Takes a pack out of the note, on disk, before it is removed.
    pub(super) fn forget_pack(&self, pack: u32) -> Result<(), BlobError> {
        let mut known = schedule::lock(&self.known);
        if known.remove(&pack) {
            let note = self.note();
            let written = known_packs::write(&*self.disk, &note, &known);
            let above = note.parent().unwrap_or(&self.directory);
            if let Err(error) = written.and_then(|()| self.disk.sync_directory(above)) {
                known.insert(pack);
                return Err(error.into());
            }
        }
        Ok(())
    }

    pub(super) fn path(&self, pack: u32) -> PathBuf {
        pack_path(&self.directory, pack)
    }

    /// The number of the pack that is written to.
    pub(super) fn active(&self) -> u32 {
        self.active.load(Ordering::Acquire)
    }

    pub(super) fn set_active(&self, pack: u32) {
        self.active.store(pack, Ordering::Release);
    }

    /// Bytes of the active pack that are no records yet.
    pub(super) fn preallocated(&self) -> u64 {
        self.preallocated.load(Ordering::Acquire)
    }

    pub(super) fn set_preallocated(&self, bytes: u64) {
        self.preallocated.store(bytes, Ordering::Release);
    }

    /// The numbers of the packs, least first.
    pub(super) fn numbers(&self) -> Result<Vec<u32>, BlobError> {
        let names = self.disk.list(&self.directory)?;
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
        let file = self.disk.create(&self.path(pack))?;
        if let Err(error) = self.disk.sync_directory(&self.directory) {
            self.remove_empty(pack);
            return Err(error.into());
        }
        Ok(file)
    }

    /// Removes a pack that no blob was ever named after, and tells whether it is gone.
    pub(super) fn remove_empty(&self, pack: u32) -> bool {
        self.close(pack);
        // One that an earlier process left empty is noted.
        self.forget_pack(pack).is_ok() && self.disk.remove(&self.path(pack)).is_ok()
    }

    /// [`PackSet::last`], which is the active pack from now on.
    pub(super) fn resume(&self) -> Result<Option<ActivePack>, BlobError> {
        let active = self.last()?;
        if let Some(active) = &active {
            self.set_active(active.pack);
        }
        Ok(active)
    }

    /// The last pack, to be written on; `None` if there is none, or none that can grow. Preallocated bytes behind its last record are cut off.
    ///
    /// What else lies there stays, and the next pack is begun: a group that was never acknowledged looks like a record that was, and has been
    /// damaged, or like those of another pack that was put in its place.
    fn last(&self) -> Result<Option<ActivePack>, BlobError> {
        let Some(pack) = self.numbers()?.last().copied() else {
            return Ok(None);
        };
        let packed = self.file(pack)?;
        let walked = packed.walk(&mut |_, _| {})?;
        if packed.is_compacted() || walked.has_holes || walked.has_remains {
            return Ok(None);
        }
        let file = self.disk.open_to_write(&self.path(pack))?;
        let end = walked.end;
        if end < walked.length {
            file.truncate(end)?;
        }
        Ok(Some(ActivePack { pack, file, end }))
    }

    pub(super) fn file(&self, pack: u32) -> Result<Arc<PackFile>, BlobError> {
        open_file(&self.directory, &*self.disk, &self.open, pack)
    }

    /// Lets go of a pack that was replaced or removed; readers that have it go on with it.
    pub(super) fn close(&self, pack: u32) {
        schedule::lock(&self.open).remove(&pack);
    }

    /// Returns whether a packed blob is there and not deleted.
    pub(super) fn holds(&self, id: BlobId) -> Result<bool, BlobError> {
        Ok(!self.tombstones.contains(id)
            && is_stored(&self.directory, &*self.disk, &self.open, id)?)
    }

    /// The length of a packed blob: its record's head is there, and the pack reaches to the end of its body.
    pub(super) fn length(&self, id: BlobId) -> Result<u64, BlobError> {
        let (packed, at) = self.find(id)?;
        let record = read_exactly(&*packed.file, at, HEAD_BYTES)?;
        let bytes = u64::from(head_of(id, &record)?.bytes);
        if at + HEAD_BYTES as u64 + bytes > packed.length()? {
            return Err(BlobError::Corrupt("a pack ends within a body".into()));
        }
        Ok(bytes)
    }

    /// The pack of a blob, and the offset of its record.
    fn find(&self, id: BlobId) -> Result<(Arc<PackFile>, u64), BlobError> {
        let Place::Pack { pack, offset, .. } = Place::of(id) else {
            return Err(BlobError::Absent);
        };
        if self.tombstones.contains(id) {
            return Err(BlobError::Absent);
        }
        let packed = self.file(pack)?;
        let at = packed.offset_now(offset).ok_or(BlobError::Absent)?;
        Ok((packed, at))
    }

    /// The body of a blob in one read, checked against its record.
    pub(super) fn read(&self, id: BlobId) -> Result<Bytes, BlobError> {
        let Place::Pack { bytes, .. } = Place::of(id) else {
            return Err(BlobError::Absent);
        };
        let (packed, at) = self.find(id)?;
        let mut record = read_exactly(&*packed.file, at, HEAD_BYTES + bytes as usize)?;
        let body = record.split_off(HEAD_BYTES);
        let head = head_of(id, &record)?;
        if crc32c::crc32c(&body) != head.sum {
            return Err(BlobError::Corrupt("a packed body differs from its checksum".into()));
        }
        Ok(body)
    }

    /// Gives every record of a pack to `found`, and returns whether all of its bytes are records.
    pub(super) fn walk(
        &self,
        pack: u32,
        found: &mut dyn FnMut(&Head, u64),
    ) -> Result<bool, BlobError> {
        Ok(self.file(pack)?.walk(found)?.is_whole())
    }

    /// The blobs of the last `count` packs, deleted ones left out.
    pub(super) fn latest(&self, count: usize) -> Result<Vec<BlobId>, BlobError> {
        let mut found = Vec::new();
        for pack in self.numbers()?.into_iter().rev().take(count) {
            // Taken before the pack is opened, as for a listing.
            let dead = self.tombstones.of_pack(pack);
            let walked = self.walk(pack, &mut |head, _| {
                if head.kind == Kind::Body && !dead.contains(&head.id) {
                    found.push(head.id);
                }
            });
            match walked {
                // All of it was dead, and it was compacted away since the directory was read.
                Err(BlobError::Absent) => continue,
                walked => walked?,
            };
        }
        Ok(found)
    }

    /// Adds the blobs that belong into `listing`. Packs that cannot hold one are not read.
    pub(super) fn list(&self, listing: &mut Listing) -> Result<(), BlobError> {
        for pack in self.numbers()? {
            let known = self.bounds.lock().get(&pack).copied();
            if known.is_some_and(|(least, greatest)| !listing.may_take(least, greatest)) {
                continue;
            }
            let is_final = pack < self.active();
            // Taken before the pack is opened: a compaction forgets tombstones only once the old pack is closed.
            let dead = self.tombstones.of_pack(pack);
            let mut bounds: Option<(BlobId, BlobId)> = None;
            let walked = self.walk(pack, &mut |head, _| {
                if head.kind != Kind::Body {
                    return;
                }
                let (least, greatest) = bounds.unwrap_or((head.id, head.id));
                bounds = Some((least.min(head.id), greatest.max(head.id)));
                if listing.takes(head.id) && !dead.contains(&head.id) {
                    listing.add(BlobStat { id: head.id, bytes: u64::from(head.bytes) });
                }
            });
            match walked {
                // It was compacted away since the directory was read.
                Err(BlobError::Absent) => continue,
                walked => walked?,
            };
            if let Some(bounds) = bounds.filter(|_| is_final) {
                self.bounds.lock().insert(pack, bounds);
            }
        }
        Ok(())
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

fn open_file(
    directory: &std::path::Path,
    disk: &dyn Disk,
    open: &OpenFiles,
    pack: u32,
) -> Result<Arc<PackFile>, BlobError> {
    // Held while the file is opened: whoever replaces a pack closes it here afterwards, and so closes the old one.
    let mut open = schedule::lock(open);
    if let Some(packed) = open.get(&pack) {
        return Ok(Arc::clone(packed));
    }
    let file = disk.open(&pack_path(directory, pack))?;
    let packed = Arc::new(PackFile::read(pack, file)?);
    if open.len() >= OPEN_MAX {
        open.clear();
    }
    open.insert(pack, Arc::clone(&packed));
    Ok(packed)
}

/// Returns whether the bytes of a packed blob still lie in its pack, deleted or not.
fn is_stored(
    directory: &std::path::Path,
    disk: &dyn Disk,
    open: &OpenFiles,
    id: BlobId,
) -> Result<bool, BlobError> {
    let Place::Pack { pack, offset, .. } = Place::of(id) else {
        return Ok(false);
    };
    match open_file(directory, disk, open, pack) {
        Ok(packed) => Ok(packed.offset_now(offset).is_some()),
        Err(BlobError::Absent) => Ok(false),
        Err(error) => Err(error),
    }
}
