//! An uploaded body: rows that name the blobs that hold its pieces in order, so that nothing is copied when the last one arrives.

use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use serde::{Deserialize, Serialize};
use triptych_core::blobs::{BlobError, BlobId, BlobReader, Blobs};
use triptych_core::id::Ids;
use triptych_core::kv::{self, KeyValue, Order, Record, Span, StoreError, Table, Tx};
use triptych_core::pending::Pending;

/// The name of an uploaded body: 16 random bytes.
pub type MediaId = [u8; 16];

/// The place of a stored file's bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Content {
    /// Blobs that [`PIECES`] names.
    Pieces(MediaId),
    /// Rows of a table of its own: a file that came with the records.
    Rows(MediaId),
}

/// A piece of an uploaded body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Piece {
    /// Blob that holds its bytes.
    pub blob: BlobId,
    /// Its length.
    pub bytes: u64,
}

impl Record for Piece {
    const FORMAT: u8 = 1;

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.blob.0);
        out.extend_from_slice(&self.bytes.to_be_bytes());
    }

    fn decode(format: u8, bytes: Bytes) -> Option<Self> {
        let (blob, rest) = bytes.split_first_chunk()?;
        let bytes = u64::from_be_bytes(rest.try_into().ok()?);
        (format == Self::FORMAT).then_some(Self { blob: BlobId(*blob), bytes })
    }
}

/// Pieces by body and the offset of their first byte.
pub const PIECES: Table<(MediaId, u64), Piece> = Table::new(0x83);
/// Bodies that no record names any more.
pub const GARBAGE: Table<MediaId, ()> = Table::new(0x84);

/// Bytes of files that came with the records, by their name and the number of the slice.
pub const SLICES: Table<(MediaId, u32), Bytes> = Table::new(0x87);
/// Bytes of a slice.
const SLICE_BYTES: usize = 48 * 1024;
/// Slices that a file has at most, so that a transaction takes it.
const SLICES_MAX: usize = 16;
/// Bytes that a file in slices has at most.
pub const SLICED_BYTES_MAX: usize = SLICES_MAX * SLICE_BYTES;

/// Stores a file of at most [`SLICED_BYTES_MAX`] bytes as rows; what is longer is cut off.
pub fn put_slices(tx: &mut Tx<'_>, media: MediaId, bytes: &[u8]) {
    for (number, slice) in (0_u32..).zip(bytes.chunks(SLICE_BYTES)).take(SLICES_MAX) {
        SLICES.put(tx, &(media, number), &Bytes::copy_from_slice(slice));
    }
}

/// A file that [`put_slices`] stored.
///
/// # Errors
/// As the store.
pub fn read_slices(tx: &mut Tx<'_>, media: MediaId) -> Result<Bytes, StoreError> {
    let mut out = BytesMut::new();
    for (_, slice) in SLICES.all(tx, &media, SLICES_MAX)? {
        out.extend_from_slice(&slice);
    }
    Ok(out.freeze())
}

/// Says that a file is no longer named: rows go at once, pieces are freed by [`sweep`].
///
/// # Errors
/// As the store.
pub fn discard_content(tx: &mut Tx<'_>, content: Content) -> Result<(), StoreError> {
    match content {
        Content::Pieces(media) => discard(tx, media),
        Content::Rows(media) => {
            for (key, _) in SLICES.all(tx, &media, SLICES_MAX)? {
                SLICES.delete(tx, &key);
            }
        }
    }
    Ok(())
}

/// Pieces that one step of [`sweep`] deletes.
const SWEEP_STEP: usize = 200;

/// A failure to read an uploaded body.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MediaError {
    /// The rows could not be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The bytes could not be read.
    #[error(transparent)]
    Blob(#[from] BlobError),
}

/// Names a body that is one piece, in the transaction that commits its record.
pub fn put_whole(tx: &mut Tx<'_>, media: MediaId, piece: Piece) {
    if piece.bytes > 0 {
        PIECES.put(tx, &(media, 0), &piece);
    }
}

/// Says that a body is no longer named. Its space is freed by [`sweep`].
pub fn discard(tx: &mut Tx<'_>, media: MediaId) {
    GARBAGE.put(tx, &media, &());
}

/// Frees the space of bodies that are no longer named, in small steps that a restart continues, as long as it `goes_on`. Blocks; call it on a thread of its own.
///
/// # Errors
/// `Store`, `Blob`.
pub fn sweep(
    store: &dyn KeyValue,
    blobs: &dyn Blobs,
    ids: &mut dyn Ids,
    goes_on: &dyn Fn() -> bool,
) -> Result<usize, MediaError> {
    let mut freed = 0;
    loop {
        let step = kv::run_blocking(store, ids, 8, |tx, _| {
            let (bodies, _) = GARBAGE.scan(tx, &GARBAGE.span(&()), 1)?;
            let Some((media, ())) = bodies.into_iter().next() else {
                return Ok(None);
            };
            let (rows, more) = PIECES.scan(tx, &PIECES.span(&media), SWEEP_STEP)?;
            for (key, _) in &rows {
                PIECES.delete(tx, key);
            }
            if !more {
                GARBAGE.delete(tx, &media);
            }
            Ok::<_, StoreError>(Some(rows))
        })?;
        // A crash between the two leaves blobs that no record names, which the store sweeps by their age.
        let Some(rows) = step else { return Ok(freed) };
        freed += rows.len();
        delete_all(blobs, rows.into_iter().map(|(_, piece)| piece.blob))?;
        if !goes_on() {
            return Ok(freed);
        }
    }
}

/// Deletes bodies together, since those of a pack then share a sync. It blocks.
///
/// # Errors
/// As the bodies.
pub(crate) fn delete_all(
    blobs: &dyn Blobs,
    names: impl Iterator<Item = BlobId>,
) -> Result<(), BlobError> {
    let deletions: Vec<_> = names.map(|name| blobs.delete(name)).collect();
    deletions.into_iter().try_for_each(Pending::wait)
}

/// Reads an uploaded body by range. Blocks; call it on a thread of its own.
pub struct Reader {
    store: Arc<dyn KeyValue>,
    blobs: Arc<dyn Blobs>,
    media: MediaId,
}

impl Reader {
    /// A reader of the body `media`.
    #[must_use]
    pub fn new(store: Arc<dyn KeyValue>, blobs: Arc<dyn Blobs>, media: MediaId) -> Self {
        Self { store, blobs, media }
    }

    /// A reader of a part of one piece, from `offset` on and at most `bytes_max` long; `None` at the end of the body.
    ///
    /// # Errors
    /// `Store`, `Blob`.
    pub fn open_at(
        &self,
        offset: u64,
        bytes_max: u64,
    ) -> Result<Option<Box<dyn BlobReader>>, MediaError> {
        let Some((start, piece)) = self.piece_at(offset)? else {
            return Ok(None);
        };
        let from = offset - start;
        let end = piece.bytes.min(from.saturating_add(bytes_max));
        Ok(Some(self.blobs.open(piece.blob, from..end)?))
    }

    /// At most `bytes_max` bytes from `offset` on; fewer only at the end of the body.
    ///
    /// # Errors
    /// `Store`, `Blob`.
    pub fn read_at(&self, offset: u64, bytes_max: usize) -> Result<Bytes, MediaError> {
        let mut out = BytesMut::new();
        while out.len() < bytes_max {
            let at = offset.saturating_add(out.len() as u64);
            let Some((start, piece)) = self.piece_at(at)? else {
                break;
            };
            let end = piece.bytes.min((at - start).saturating_add((bytes_max - out.len()) as u64));
            out.reserve(usize::try_from(end - (at - start)).unwrap_or_default());
            let mut reader = self.blobs.open(piece.blob, at - start..end)?;
            while let Some(bytes) = reader.next().wait()? {
                out.extend_from_slice(&bytes);
            }
        }
        Ok(out.freeze())
    }

    /// The piece that holds the byte at `offset`, and where it starts.
    fn piece_at(&self, offset: u64) -> Result<Option<(u64, Piece)>, MediaError> {
        let mut tx = Tx::new(self.store.as_ref());
        let span = Span {
            to: Some(PIECES.key(&(self.media, offset.saturating_add(1))).to_vec()),
            order: Order::Descending,
            ..PIECES.span(&self.media)
        };
        let (rows, _) = PIECES.scan(&mut tx, &span, 1)?;
        let found = rows.into_iter().next().map(|((_, start), piece)| (start, piece));
        Ok(found.filter(|(start, piece)| offset - start < piece.bytes))
    }
}

impl std::fmt::Debug for Reader {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Reader").field("media", &self.media).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use triptych_core::blobs::MemoryBlobs;
    use triptych_core::id::SeededIds;
    use triptych_core::kv::Memory;
    use triptych_core::time::Timestamp;

    fn blob(blobs: &MemoryBlobs, bytes: &[u8]) -> Piece {
        let mut writer = blobs.create(Timestamp::EPOCH, None);
        writer.write(Bytes::copy_from_slice(bytes)).wait().unwrap();
        let stat = writer.finish().wait().unwrap();
        Piece { blob: stat.id, bytes: stat.bytes }
    }

    fn stored(pieces: &[&[u8]]) -> (Arc<Memory>, MemoryBlobs, MediaId) {
        let (store, blobs, media) =
            (Arc::new(Memory::new()), MemoryBlobs::new(SeededIds::from_number(1)), [7; 16]);
        kv::run_blocking(store.as_ref(), &mut SeededIds::from_number(2), 1, |tx, _| {
            let mut offset = 0;
            for piece in pieces {
                PIECES.put(tx, &(media, offset), &blob(&blobs, piece));
                offset += piece.len() as u64;
            }
            Ok::<_, StoreError>(())
        })
        .unwrap();
        (store, blobs, media)
    }

    #[test]
    fn a_body_in_pieces_reads_as_one() {
        let (store, blobs, media) = stored(&[b"abc", b"d", b"efghij"]);
        let reader = Reader::new(store, Arc::new(blobs), media);
        for from in 0..12_usize {
            for length in 0..12_usize {
                let expected =
                    b"abcdefghij".get(from.min(10)..(from + length).min(10)).unwrap_or_default();
                assert_eq!(
                    reader.read_at(from as u64, length).unwrap(),
                    expected,
                    "{from} {length}"
                );
            }
        }
        assert_eq!(reader.read_at(u64::MAX, 5).unwrap(), "");
    }

    #[test]
    fn a_discarded_body_frees_its_blobs_and_leaves_no_row() {
        let pieces: Vec<Vec<u8>> =
            (0..SWEEP_STEP + 5).map(|number| number.to_be_bytes().to_vec()).collect();
        let pieces: Vec<&[u8]> = pieces.iter().map(Vec::as_slice).collect();
        let (store, blobs, media) = stored(&pieces);
        let mut ids = SeededIds::from_number(3);
        assert_eq!(
            sweep(store.as_ref(), &blobs, &mut ids, &|| true).unwrap(),
            0,
            "what is named is kept"
        );
        kv::run_blocking(store.as_ref(), &mut ids, 1, |tx, _| {
            discard(tx, media);
            Ok::<_, StoreError>(())
        })
        .unwrap();
        assert_eq!(sweep(store.as_ref(), &blobs, &mut ids, &|| true).unwrap(), SWEEP_STEP + 5);
        assert_eq!(blobs.list(None, 9).unwrap(), []);
        assert!(store.scan(&Span::default(), 9).unwrap().rows.is_empty());
    }
}
