//! Packs: append-only files of small blobs. A record is a head (magic, kind, name, length, two
//! checksums) and the body. The name says in which pack and where.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;

use super::disk::{Disk, DiskFile, failed, read_exactly};
use crate::blobs::{BlobError, BlobId, BlobStat};
use crate::time::Timestamp;

const MAGIC: [u8; 4] = *b"TpK1";
/// Bytes of a record before its body.
pub(super) const HEAD_BYTES: usize = 4 + 1 + BlobId::BYTES + 4 + 4 + 4;
/// Open packs that are kept for reading.
const OPEN_MAX: usize = 256;

/// What a record is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Body,
    /// The blob of this name is deleted.
    Grave,
}

/// Where a blob lies, as its name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Pack { pack: u32, offset: u64, bytes: u32 },
    File,
}

impl Place {
    /// The name of a blob at this place: time (6 bytes), kind (1), pack (4), offset (5), length (4), random (12).
    pub(super) fn name(self, now: Timestamp, salt: [u8; 12]) -> BlobId {
        let (kind, pack, offset, bytes) = match self {
            Self::Pack {
                pack,
                offset,
                bytes,
            } => (0, pack, offset, bytes),
            Self::File => (1, 0, 0, 0),
        };
        let millis = now.millis().max(0).to_be_bytes();
        let offset = offset.to_be_bytes();
        let parts: [&[u8]; 6] = [
            &millis[2..],
            &[kind],
            &pack.to_be_bytes(),
            &offset[3..],
            &bytes.to_be_bytes(),
            &salt,
        ];
        let mut name = [0; BlobId::BYTES];
        for (place, byte) in name.iter_mut().zip(parts.into_iter().flatten()) {
            *place = *byte;
        }
        BlobId(name)
    }

    pub(super) fn of(id: BlobId) -> Self {
        let [
            _,
            _,
            _,
            _,
            _,
            _,
            kind,
            p0,
            p1,
            p2,
            p3,
            o0,
            o1,
            o2,
            o3,
            o4,
            b0,
            b1,
            b2,
            b3,
            ..,
        ] = id.0;
        if kind != 0 {
            return Self::File;
        }
        Self::Pack {
            pack: u32::from_be_bytes([p0, p1, p2, p3]),
            offset: u64::from_be_bytes([0, 0, 0, o0, o1, o2, o3, o4]),
            bytes: u32::from_be_bytes([b0, b1, b2, b3]),
        }
    }
}

/// Appends a record's head.
pub(super) fn write_head(kind: Kind, id: BlobId, body: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(&MAGIC);
    out.push(match kind {
        Kind::Body => 0,
        Kind::Grave => 1,
    });
    out.extend_from_slice(&id.0);
    out.extend_from_slice(&u32::try_from(body.len()).unwrap_or(u32::MAX).to_be_bytes());
    out.extend_from_slice(&crc32c::crc32c(body).to_be_bytes());
    let sum = crc32c::crc32c(out.get(start..).unwrap_or_default());
    out.extend_from_slice(&sum.to_be_bytes());
}

/// A record's head, checked.
pub(super) struct Head {
    pub(super) kind: Kind,
    pub(super) id: BlobId,
    pub(super) bytes: u32,
    sum: u32,
}

impl Head {
    /// Reads a head; `None` if it is none, as at the torn end of a pack.
    pub(super) fn read(bytes: &[u8]) -> Option<Self> {
        let (fields, sum) = bytes.get(..HEAD_BYTES)?.split_last_chunk::<4>()?;
        if crc32c::crc32c(fields) != u32::from_be_bytes(*sum) {
            return None;
        }
        let (magic, rest) = fields.split_first_chunk::<4>()?;
        let (kind, rest) = rest.split_first()?;
        let (id, rest) = rest.split_first_chunk::<{ BlobId::BYTES }>()?;
        let (length, rest) = rest.split_first_chunk::<4>()?;
        let kind = match kind {
            0 => Kind::Body,
            1 => Kind::Grave,
            _ => return None,
        };
        let sum = u32::from_be_bytes(*rest.first_chunk()?);
        (*magic == MAGIC).then_some(Self {
            kind,
            id: BlobId(*id),
            bytes: u32::from_be_bytes(*length),
            sum,
        })
    }
}

/// All packs of a directory.
pub(super) struct Shelf {
    directory: PathBuf,
    pub(super) disk: Arc<dyn Disk>,
    open: Mutex<HashMap<u32, Arc<dyn DiskFile>>>,
    /// Deleted blobs whose bytes still lie in a pack.
    graves: Mutex<HashSet<BlobId>>,
}

impl Shelf {
    pub(super) fn open(directory: PathBuf, disk: Arc<dyn Disk>) -> Result<Self, BlobError> {
        disk.make_directory(&directory).map_err(failed)?;
        let shelf = Self {
            directory,
            disk,
            open: Mutex::default(),
            graves: Mutex::default(),
        };
        for pack in shelf.packs()? {
            shelf.walk(pack, &mut |head, _| {
                if head.kind == Kind::Grave {
                    shelf.graves().insert(head.id);
                }
            })?;
        }
        Ok(shelf)
    }

    pub(super) fn graves(&self) -> MutexGuard<'_, HashSet<BlobId>> {
        self.graves.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn path(&self, pack: u32) -> PathBuf {
        self.directory.join(format!("{pack:08}.pack"))
    }

    /// The numbers of the packs, least first.
    pub(super) fn packs(&self) -> Result<Vec<u32>, BlobError> {
        let names = self.disk.list(&self.directory).map_err(failed)?;
        let mut packs: Vec<u32> = names
            .iter()
            .filter(|path| {
                path.extension()
                    .is_some_and(|extension| extension == "pack")
            })
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

    fn file(&self, pack: u32) -> Result<Arc<dyn DiskFile>, BlobError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = open.get(&pack) {
            return Ok(Arc::clone(file));
        }
        let file = self.disk.open(&self.path(pack)).map_err(failed)?;
        if open.len() >= OPEN_MAX {
            open.clear();
        }
        open.insert(pack, Arc::clone(&file));
        Ok(file)
    }

    /// The body of a blob in one read, checked against its record.
    pub(super) fn read(&self, id: BlobId) -> Result<Bytes, BlobError> {
        let Place::Pack {
            pack,
            offset,
            bytes,
        } = Place::of(id)
        else {
            return Err(BlobError::Absent);
        };
        if self.graves().contains(&id) {
            return Err(BlobError::Absent);
        }
        let file = self.file(pack)?;
        let mut record = read_exactly(&*file, offset, HEAD_BYTES + bytes as usize)?;
        let body = record.split_off(HEAD_BYTES);
        let head = Head::read(&record)
            .filter(|head| head.kind == Kind::Body && head.id == id && head.bytes == bytes);
        let head = head.ok_or_else(|| {
            BlobError::Corrupt("a pack holds no such record where its name says".into())
        })?;
        if crc32c::crc32c(&body) != head.sum {
            return Err(BlobError::Corrupt(
                "a packed body differs from its checksum".into(),
            ));
        }
        Ok(body)
    }

    /// Gives every record of a pack, in order, up to its end or its torn end.
    pub(super) fn walk(
        &self,
        pack: u32,
        found: &mut dyn FnMut(&Head, u64),
    ) -> Result<(), BlobError> {
        let file = self.file(pack)?;
        let (mut offset, mut bytes) = (0, [0; HEAD_BYTES]);
        loop {
            let read = file.read_at(&mut bytes, offset).map_err(failed)?;
            let Some(head) = bytes.get(..read).and_then(Head::read) else {
                return Ok(());
            };
            found(&head, offset);
            offset += HEAD_BYTES as u64 + u64::from(head.bytes);
        }
    }

    pub(super) fn each(&self, found: &mut dyn FnMut(BlobStat)) -> Result<(), BlobError> {
        for pack in self.packs()? {
            let mut bodies = BTreeMap::new();
            self.walk(pack, &mut |head, _| {
                if head.kind == Kind::Body {
                    bodies.insert(head.id, u64::from(head.bytes));
                }
            })?;
            let graves = self.graves();
            bodies
                .into_iter()
                .filter(|(id, _)| !graves.contains(id))
                .for_each(|(id, bytes)| found(BlobStat { id, bytes }));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_where_its_blob_lies() {
        let place = Place::Pack {
            pack: 7,
            offset: (1 << 40) - 1,
            bytes: 99,
        };
        let now = Timestamp::from_millis(1_790_000_000_123);
        assert_eq!(Place::of(place.name(now, [1; 12])), place);
        assert_eq!(place.name(now, [1; 12]).created(), now);
        assert_eq!(Place::of(Place::File.name(now, [1; 12])), Place::File);
    }

    #[test]
    fn a_head_with_any_flipped_bit_is_none() {
        let mut bytes = Vec::new();
        write_head(Kind::Body, BlobId([3; BlobId::BYTES]), b"body", &mut bytes);
        assert_eq!(
            Head::read(&bytes).map(|head| (head.kind, head.bytes)),
            Some((Kind::Body, 4))
        );
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(Head::read(&flipped).is_none(), "bit {bit}");
        }
    }
}
