//! Blobs of which some were changed behind the back of the store.

use std::collections::HashMap;
use std::ops::Range;

use bytes::Bytes;
use parking_lot::Mutex;
use triptych_core::blobs::{
    BlobError, BlobId, BlobReader, BlobStat, BlobWriter, Blobs, MemoryBlobs,
};
use triptych_core::pending::Pending;
use triptych_core::time::Timestamp;

/// Blobs of which some were changed.
pub struct ChangedBlobs {
    pub own: MemoryBlobs,
    pub changed: Mutex<HashMap<BlobId, Bytes>>,
}

pub struct ChangedReader(Bytes);

impl BlobReader for ChangedReader {
    fn next(&mut self) -> Pending<Result<Option<Bytes>, BlobError>> {
        let piece = std::mem::take(&mut self.0);
        Pending::ready(Ok((!piece.is_empty()).then_some(piece)))
    }

    fn next_pieces(&mut self, _: usize, _: usize) -> Pending<Result<Vec<Bytes>, BlobError>> {
        let piece = std::mem::take(&mut self.0);
        Pending::ready(Ok((!piece.is_empty()).then_some(piece).into_iter().collect()))
    }
}

impl Blobs for ChangedBlobs {
    fn create(&self, now: Timestamp, size_hint: Option<u64>) -> Box<dyn BlobWriter> {
        self.own.create(now, size_hint)
    }

    fn open(&self, id: BlobId, range: Range<u64>) -> Result<Box<dyn BlobReader>, BlobError> {
        let Some(changed) = self.changed.lock().get(&id).cloned() else {
            return self.own.open(id, range);
        };
        let (start, end) = (range.start as usize, range.end as usize);
        if start > end || end > changed.len() {
            return Err(BlobError::OutOfRange);
        }
        Ok(Box::new(ChangedReader(changed.slice(start..end))))
    }

    fn delete(&self, id: BlobId) -> Pending<Result<(), BlobError>> {
        self.own.delete(id)
    }

    fn stat(&self, id: BlobId) -> Result<BlobStat, BlobError> {
        match self.changed.lock().get(&id) {
            Some(changed) => Ok(BlobStat { id, bytes: changed.len() as u64 }),
            None => self.own.stat(id),
        }
    }

    fn list(&self, after: Option<BlobId>, limit: usize) -> Result<Vec<BlobStat>, BlobError> {
        self.own.list(after, limit)
    }
}
