//! Packs: files of records, each a head (magic, kind, name, length, two checksums) and a body.
//! The name says in which pack a record lies and where; a pack that was compacted begins with a table of moves.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use bytes::Bytes;

use crate::blobs::{BlobError, BlobId};
use crate::disk::DiskFile;
use crate::time::Timestamp;

const MAGIC: [u8; 4] = *b"TpK1";
/// Bytes of a record before its body.
pub(super) const HEAD_BYTES: usize = 4 + 1 + BlobId::BYTES + 4 + 4 + 4;
/// Bytes of a row of the table: where a record was, and where it is.
pub(super) const TABLE_ROW_BYTES: usize = 8 + 8;
/// Bytes that a walk reads at once, so that small records cost no call each.
const WINDOW_BYTES: usize = 32 * 1024;
/// A window of preallocated bytes: looked for heads in, it would take most of a start.
static ZEROS: [u8; WINDOW_BYTES] = [0; WINDOW_BYTES];

/// The file of a pack in the folder of all.
pub(super) fn pack_path(directory: &Path, pack: u32) -> PathBuf {
    directory.join(format!("{pack:08}.pack"))
}

/// Kinds of records.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Body,
    /// The blob of this name is deleted; in the log of tombstones alone.
    Tombstone,
    /// The places to which the records of this pack went when it was compacted; its first record, or none.
    Table,
}

/// The place of a blob, as its name says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    Pack { pack: u32, offset: u64, bytes: u32 },
    File,
}

impl Place {
    /// The name of a blob at this place: time (6 bytes), kind (1), pack (4), offset (5), length (4), random (12).
    pub(super) fn name(self, now: Timestamp, salt: [u8; 12]) -> BlobId {
        let (kind, pack, offset, bytes) = match self {
            Self::Pack { pack, offset, bytes } => (0, pack, offset, bytes),
            Self::File => (1, 0, 0, 0),
        };
        let millis = now.millis().max(0).to_be_bytes();
        let offset = offset.to_be_bytes();
        let parts: [&[u8]; 6] =
            [&millis[2..], &[kind], &pack.to_be_bytes(), &offset[3..], &bytes.to_be_bytes(), &salt];
        let mut name = [0; BlobId::BYTES];
        for (place, byte) in name.iter_mut().zip(parts.into_iter().flatten()) {
            *place = *byte;
        }
        BlobId(name)
    }

    pub(super) fn of(id: BlobId) -> Self {
        let [_, _, _, _, _, _, kind, p0, p1, p2, p3, o0, o1, o2, o3, o4, b0, b1, b2, b3, ..] = id.0;
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
        Kind::Tombstone => 1,
        Kind::Table => 2,
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
    pub(super) sum: u32,
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
            1 => Kind::Tombstone,
            2 => Kind::Table,
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

/// An open pack.
pub(super) struct PackFile {
    number: u32,
    pub(super) file: Arc<dyn DiskFile>,
    /// The old and the new offset of each record, sorted; `None` if the pack was never compacted.
    moves: Option<Vec<(u64, u64)>>,
}

impl PackFile {
    pub(super) fn read(number: u32, file: Arc<dyn DiskFile>) -> Result<Self, BlobError> {
        let mut bytes = [0; HEAD_BYTES];
        let read = file.read_at(&mut bytes, 0)?;
        let head = bytes.get(..read).and_then(Head::read);
        let moves = match head.filter(|head| head.kind == Kind::Table) {
            None => None,
            Some(head) => {
                let table = read_exactly(&*file, HEAD_BYTES as u64, head.bytes as usize)?;
                if crc32c::crc32c(&table) != head.sum {
                    return Err(BlobError::Corrupt("a pack's table is damaged".into()));
                }
                let mut moves: Vec<_> = table
                    .chunks_exact(TABLE_ROW_BYTES)
                    .filter_map(|row| {
                        let (was, is) = row.split_first_chunk()?;
                        let is = u64::from_be_bytes(*is.first_chunk()?);
                        Some((u64::from_be_bytes(*was), is))
                    })
                    .collect();
                moves.sort_unstable();
                Some(moves)
            }
        };
        Ok(Self { number, file, moves })
    }

    pub(super) const fn is_compacted(&self) -> bool {
        self.moves.is_some()
    }

    pub(super) fn length(&self) -> Result<u64, BlobError> {
        Ok(self.file.length()?)
    }

    /// The offset now of the record that was written at `offset`; `None` if it is gone.
    pub(super) fn offset_now(&self, offset: u64) -> Option<u64> {
        let Some(moves) = &self.moves else {
            return Some(offset);
        };
        let row = moves.binary_search_by_key(&offset, |(was, _)| *was).ok()?;
        moves.get(row).map(|(_, is)| *is)
    }

    /// Returns whether a record of this name belongs at this place: what looks like a head inside a body does not.
    fn belongs(&self, head: &Head, at: u64) -> bool {
        match (head.kind, Place::of(head.id)) {
            (Kind::Table, _) => at == 0,
            (Kind::Body, Place::Pack { pack, offset, .. }) => {
                pack == self.number && self.offset_now(offset) == Some(at)
            }
            _ => false,
        }
    }

    /// Gives every whole record, in order, and goes on behind what is none.
    pub(super) fn walk(&self, found: &mut dyn FnMut(&Head, u64)) -> Result<Walked, BlobError> {
        let length = self.length()?;
        let mut window = Window::default();
        let (mut at, mut end, mut has_holes, mut has_remains) = (0, 0, false, false);
        while at < length {
            let bytes = window.at(&*self.file, at)?;
            if bytes.is_empty() {
                // Preallocated bytes were cut off meanwhile.
                break;
            }
            let head = Head::read(bytes).filter(|head| {
                self.belongs(head, at) && at + HEAD_BYTES as u64 + u64::from(head.bytes) <= length
            });
            if let Some(head) = head {
                found(&head, at);
                has_holes |= at > end;
                has_remains = false;
                at += HEAD_BYTES as u64 + u64::from(head.bytes);
                end = at;
                continue;
            }
            if ZEROS.starts_with(bytes) {
                at = (at + bytes.len() as u64).min(length);
                continue;
            }
            has_remains = true;
            let next = bytes
                .get(1..)
                .unwrap_or_default()
                .windows(MAGIC.len())
                .position(|bytes| *bytes == MAGIC);
            // The last bytes of a window may be the first ones of a head.
            let skipped = next
                .map_or((bytes.len() - MAGIC.len().min(bytes.len()) + 1) as u64, |next| {
                    next as u64 + 1
                });
            at = (at + skipped).min(length);
        }
        Ok(Walked { end, length, has_holes, has_remains })
    }
}

/// Findings of a walk through a pack.
#[derive(Debug, Clone, Copy)]
pub(super) struct Walked {
    /// The end of its last record.
    pub(super) end: u64,
    /// Its length.
    pub(super) length: u64,
    /// Set if bytes that are no record lie before the last one.
    pub(super) has_holes: bool,
    /// Set if bytes that are neither a record nor preallocated lie behind the last one.
    pub(super) has_remains: bool,
}

impl Walked {
    /// Returns whether all of its bytes are records.
    pub(super) const fn is_whole(self) -> bool {
        !self.has_holes && self.end == self.length
    }
}

/// A piece of a file in memory.
#[derive(Default)]
struct Window {
    start: u64,
    bytes: Vec<u8>,
}

impl Window {
    /// The bytes in memory from `at` on: a head at least, except at the end of the file.
    fn at(&mut self, file: &dyn DiskFile, at: u64) -> Result<&[u8], BlobError> {
        let held = at
            .checked_sub(self.start)
            .and_then(|skip| usize::try_from(skip).ok())
            .filter(|skip| skip + HEAD_BYTES <= self.bytes.len());
        let skip = match held {
            Some(skip) => skip,
            None => {
                self.bytes.resize(WINDOW_BYTES, 0);
                let read = file.read_at(&mut self.bytes, at)?;
                self.bytes.truncate(read);
                self.start = at;
                0
            }
        };
        Ok(self.bytes.get(skip..).unwrap_or_default())
    }
}

/// Exactly `bytes` bytes at `at`.
pub(super) fn read_exactly(file: &dyn DiskFile, at: u64, bytes: usize) -> Result<Bytes, BlobError> {
    let read = file.read_new(bytes, at)?;
    if read.len() < bytes {
        return Err(BlobError::Corrupt("a file is shorter than its blob".into()));
    }
    Ok(read.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_says_where_its_blob_lies() {
        let place = Place::Pack { pack: 7, offset: (1 << 40) - 1, bytes: 99 };
        let now = Timestamp::from_millis(1_790_000_000_123);
        assert_eq!(Place::of(place.name(now, [1; 12])), place);
        assert_eq!(place.name(now, [1; 12]).created(), now);
        assert_eq!(Place::of(Place::File.name(now, [1; 12])), Place::File);
    }

    #[test]
    fn a_head_with_any_flipped_bit_is_none() {
        let mut bytes = Vec::new();
        write_head(Kind::Body, BlobId([3; BlobId::BYTES]), b"body", &mut bytes);
        assert_eq!(Head::read(&bytes).map(|head| (head.kind, head.bytes)), Some((Kind::Body, 4)));
        for bit in 0..bytes.len() * 8 {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(Head::read(&flipped).is_none(), "bit {bit}");
        }
    }
}
