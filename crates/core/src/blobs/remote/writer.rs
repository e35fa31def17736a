//! A blob on its way to the store: one request for what fits a part, parts side by side for what does not.

use std::sync::Arc;

use bytes::Bytes;
use object_store::{MultipartUpload, ObjectStoreExt as _, PutPayload, PutPayloadMut};
use tokio::sync::Mutex;
use tokio::task::JoinSet;

use super::Bucket;
use super::connection::{Connection, closed};
use super::fault::fault;
use super::name::Name;
use crate::blobs::{BlobError, BlobStat, BlobWriter};
use crate::pending::Pending;

/// Bytes of a part, and the longest body that is one request.
pub(super) const PART_BYTES: u64 = 8 * 1024 * 1024;
/// Parts that S3 takes of one object, and a few that a wrong hint may cost.
const PARTS_MAX: u64 = 9_000;
/// Parts that are under way at once: with the one that is gathered, that is the memory of a writer.
const PARTS_AT_ONCE: usize = 2;
/// Shorter pieces are copied together.
const PIECE_BYTES_MIN: usize = 64 * 1024;

/// A blob that is being written.
pub(super) struct RemoteWriter {
    connection: Connection,
    name: Name,
    part_bytes: usize,
    /// Bytes that are gathered of the next part.
    part: PutPayloadMut,
    bytes: u64,
    /// Once there was more than a part. Its calls follow one another.
    upload: Option<Arc<Mutex<Upload>>>,
}

impl RemoteWriter {
    pub(super) fn new(connection: Connection, name: Name, size_hint: Option<u64>) -> Self {
        let part_bytes = PART_BYTES.max(size_hint.unwrap_or(0).div_ceil(PARTS_MAX));
        Self {
            connection,
            name,
            part_bytes: usize::try_from(part_bytes).unwrap_or(usize::MAX),
            part: PutPayloadMut::new().with_block_size(PIECE_BYTES_MIN),
            bytes: 0,
            upload: None,
        }
    }

    /// Adds bytes to the part that is gathered; the parts that are full and followed by more.
    fn gather(&mut self, mut bytes: Bytes) -> Vec<PutPayload> {
        let mut full = Vec::new();
        self.bytes += bytes.len() as u64;
        while !bytes.is_empty() {
            if self.part.content_length() >= self.part_bytes {
                full.push(self.take_part());
            }
            let room = self.part_bytes.saturating_sub(self.part.content_length());
            let piece = bytes.split_to(room.min(bytes.len()));
            if piece.len() < PIECE_BYTES_MIN {
                self.part.extend_from_slice(&piece);
            } else {
                self.part.push(piece);
            }
        }
        full
    }

    fn take_part(&mut self) -> PutPayload {
        let next = PutPayloadMut::new().with_block_size(PIECE_BYTES_MIN);
        std::mem::replace(&mut self.part, next).freeze()
    }
}

impl BlobWriter for RemoteWriter {
    fn write(&mut self, bytes: Bytes) -> Pending<Result<(), BlobError>> {
        let full = self.gather(bytes);
        if full.is_empty() {
            return Pending::ready(Ok(()));
        }
        let upload = Arc::clone(self.upload.get_or_insert_default());
        let (bucket, name) = (self.connection.bucket.clone(), self.name);
        self.connection.run(async move { upload.lock().await.add(&bucket, name, full).await })
    }

    fn finish(mut self: Box<Self>) -> Pending<Result<BlobStat, BlobError>> {
        let (last, name, bytes) = (self.take_part(), self.name, self.bytes);
        let bucket = self.connection.bucket.clone();
        let Some(upload) = self.upload.take() else {
            return self.connection.run(async move { bucket.put(name, last).await });
        };
        self.connection.run(async move {
            let mut upload = upload.lock().await;
            upload.add(&bucket, name, vec![last]).await?;
            upload.complete(&bucket, name, bytes).await
        })
    }
}

impl Drop for RemoteWriter {
    fn drop(&mut self) {
        if let Some(upload) = self.upload.take() {
            drop(self.connection.run(async move {
                upload.lock().await.abort().await;
                Ok(())
            }));
        }
    }
}

/// An upload in parts.
#[derive(Default)]
struct Upload {
    begun: Option<Box<dyn MultipartUpload>>,
    under_way: JoinSet<object_store::Result<()>>,
    /// The fault that broke it: nothing is sent any more.
    broken: Option<BlobError>,
}

impl Upload {
    /// Sends parts, and waits until few enough are under way.
    async fn add(
        &mut self,
        bucket: &Bucket,
        name: Name,
        parts: Vec<PutPayload>,
    ) -> Result<(), BlobError> {
        if let Some(broken) = &self.broken {
            return Err(broken.clone());
        }
        let added = self.send(bucket, name, parts).await;
        if let Err(error) = &added {
            self.break_off(error.clone()).await;
        }
        added
    }

    async fn send(
        &mut self,
        bucket: &Bucket,
        name: Name,
        parts: Vec<PutPayload>,
    ) -> Result<(), BlobError> {
        for part in parts {
            if self.begun.is_none() {
                let begun = bucket.objects.put_multipart(&name.path(bucket)).await;
                self.begun = Some(begun.map_err(|error| fault(error).while_writing())?);
            }
            while self.under_way.len() >= PARTS_AT_ONCE {
                self.arrived().await?;
            }
            if let Some(begun) = &mut self.begun {
                self.under_way.spawn(begun.put_part(part));
            }
        }
        Ok(())
    }

    /// Waits for one of the parts that are under way.
    async fn arrived(&mut self) -> Result<(), BlobError> {
        match self.under_way.join_next().await {
            None | Some(Ok(Ok(()))) => Ok(()),
            Some(Ok(Err(error))) => Err(fault(error).while_writing()),
            Some(Err(_)) => Err(closed()),
        }
    }

    /// Gives the object its name.
    async fn complete(
        &mut self,
        bucket: &Bucket,
        name: Name,
        bytes: u64,
    ) -> Result<BlobStat, BlobError> {
        while !self.under_way.is_empty() {
            if let Err(error) = self.arrived().await {
                self.break_off(error.clone()).await;
                return Err(error);
            }
        }
        let Some(begun) = &mut self.begun else { return Err(closed()) };
        let outcome = match begun.complete().await {
            Ok(_) => Ok(name.stat(bytes)),
            Err(error) => bucket.found_or(name, bytes, error).await,
        };
        match &outcome {
            Ok(_) => self.begun = None,
            Err(error) => self.break_off(error.clone()).await,
        }
        outcome
    }

    async fn break_off(&mut self, error: BlobError) {
        self.broken = Some(error);
        self.abort().await;
    }

    /// Has the store forget the parts that came.
    async fn abort(&mut self) {
        self.under_way.shutdown().await;
        if let Some(mut begun) = self.begun.take() {
            // What it does not forget now, a rule of the bucket for unfinished uploads takes away.
            let _ = begun.abort().await;
        }
    }
}
