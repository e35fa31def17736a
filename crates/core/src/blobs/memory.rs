//! Blobs that live as long as the process: for `--memory`, for tests, and as the model of the directory.

use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use parking_lot::Mutex;

use super::{BlobError, BlobId, BlobReader, BlobStat, BlobWriter, Blobs};
use crate::id::{Ids, SeededIds};
use crate::pending::Pending;
use crate::time::Timestamp;

const PIECE_BYTES_MAX: usize = 1024 * 1024;

/// Blobs in memory.
#[derive(Debug, Clone)]
pub struct MemoryBlobs(Arc<Mutex<Named>>);

#[derive(Debug)]
struct Named {
    blobs: BTreeMap<BlobId, Bytes>,
    ids: SeededIds,
}

impl MemoryBlobs {
    /// An empty store whose names are drawn from `ids`.
    #[must_use]
    pub fn new(ids: SeededIds) -> Self {
        Self(Arc::new(Mutex::new(Named { blobs: BTreeMap::new(), ids })))
    }
}

impl Blobs for MemoryBlobs {
    fn create(&self, now: Timestamp, _size_hint: Option<u64>) -> Box<dyn BlobWriter> {
        Box::new(MemoryWriter { store: self.clone(), now, bytes: BytesMut::new() })
    }

    fn open(&self, id: BlobId, range: Range<u64>) -> Result<Box<dyn BlobReader>, BlobError> {
        let named = self.0.lock();
        let blob = named.blobs.get(&id).ok_or(BlobError::Absent)?;
        let bounds = usize::try_from(range.start).ok().zip(usize::try_from(range.end).ok());
        match bounds {
            Some((start, end)) if start <= end && end <= blob.len() => {
                Ok(Box::new(MemoryReader(blob.slice(start..end))))
            }
            _ => Err(BlobError::OutOfRange),
        }
    }

    fn delete(&self, id: BlobId) -> Pending<Result<(), BlobError>> {
        self.0.lock().blobs.remove(&id);
        Pending::ready(Ok(()))
    }

    fn stat(&self, id: BlobId) -> Result<BlobStat, BlobError> {
        let named = self.0.lock();
        let blob = named.blobs.get(&id).ok_or(BlobError::Absent)?;
        let bytes = blob.len() as u64;
        Ok(BlobStat { id, bytes })
    }

    fn list(&self, after: Option<BlobId>, limit: usize) -> Result<Vec<BlobStat>, BlobError> {
        let named = self.0.lock();
        let later = named.blobs.iter().filter(|(id, _)| after.is_none_or(|after| **id > after));
        Ok(later
            .take(limit)
            .map(|(id, bytes)| BlobStat { id: *id, bytes: bytes.len() as u64 })
            .collect())
    }
}

struct MemoryWriter {
    store: MemoryBlobs,
    now: Timestamp,
    bytes: BytesMut,
}

impl BlobWriter for MemoryWriter {
    fn write(&mut self, bytes: Bytes) -> Pending<Result<(), BlobError>> {
        self.bytes.extend_from_slice(&bytes);
        Pending::ready(Ok(()))
    }

    fn finish(self: Box<Self>) -> Pending<Result<BlobStat, BlobError>> {
        let mut named = self.store.0.lock();
        let mut name = [0; BlobId::BYTES];
        named.ids.fill(&mut name);
        let millis = self.now.millis().to_be_bytes();
        for (place, byte) in name.iter_mut().zip(millis.iter().skip(2)) {
            *place = *byte;
        }
        let stat = BlobStat { id: BlobId(name), bytes: self.bytes.len() as u64 };
        named.blobs.insert(stat.id, self.bytes.freeze());
        Pending::ready(Ok(stat))
    }
}

struct MemoryReader(Bytes);

impl BlobReader for MemoryReader {
    fn next(&mut self) -> Pending<Result<Option<Bytes>, BlobError>> {
        let piece = self.0.split_to(self.0.len().min(PIECE_BYTES_MAX));
        Pending::ready(Ok((!piece.is_empty()).then_some(piece)))
    }

    fn next_pieces(&mut self, each: usize, count: usize) -> Pending<Result<Vec<Bytes>, BlobError>> {
        let bytes = self.0.split_to(self.0.len().min(each.saturating_mul(count)));
        Pending::ready(Ok(bytes.chunks(each.max(1)).map(Bytes::copy_from_slice).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_obeys_the_laws_of_every_blob_store() {
        crate::blobs::conformance::all(&mut || {
            Arc::new(MemoryBlobs::new(SeededIds::from_number(1)))
        });
    }
}
