//! Blobs on an object store: S3, Google Cloud Storage, Azure, a shared file system. Each blob is an object of its own, under a random
//! name that is never written a second time; other instances may read and write the same store.

mod connection;
mod fault;
mod listing;
mod location;
mod name;
mod orphans;
mod reader;
#[cfg(feature = "testing")]
mod testing;
mod writer;

pub use self::location::{Location, LocationError};
#[cfg(feature = "testing")]
pub use self::testing::SeaweedFs;

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use object_store::path::Path;
use object_store::{ObjectStore, ObjectStoreExt as _, PutMode, PutOptions, PutPayload};
use parking_lot::Mutex;

use self::connection::Connection;
use self::fault::fault;
use self::listing::Listing;
use self::name::Name;
use self::reader::RemoteReader;
use self::writer::RemoteWriter;
use super::{BlobError, BlobId, BlobReader, BlobStat, BlobWriter, Blobs};
use crate::id::SeededIds;
use crate::pending::Pending;
use crate::time::Timestamp;

/// The object that says which records the bodies belong to.
const IDENTITY: &str = "identity";

/// Time for which a blob has to be without a record before it is deleted.
const ORPHAN_WAIT: Duration = Duration::from_secs(24 * 60 * 60);

/// Blobs on an object store.
pub struct RemoteBlobs {
    connection: Connection,
    ids: Mutex<SeededIds>,
    /// The listing whose page was asked for last, with the names that it read beyond that.
    listing: Mutex<Option<Listing>>,
    orphan_wait: Duration,
}

/// An object store, as its blobs use it.
#[derive(Debug, Clone)]
struct Bucket {
    objects: Arc<dyn ObjectStore>,
    prefix: Path,
    /// Set if the store lists names in their order.
    lists_in_order: bool,
}

impl Bucket {
    fn path(&self, parts: &[&str]) -> Path {
        parts.iter().fold(self.prefix.clone(), |path, part| path.join(*part))
    }
}

impl RemoteBlobs {
    /// Connects to the store at `location`, and has one look into it, so that a store which is not there is known at the start. It blocks.
    ///
    /// # Errors
    /// [`LocationError`]: what is missing of the location, then what the first look found.
    pub fn open(location: &Location, ids: SeededIds) -> Result<Self, LocationError> {
        let bucket = location.bucket()?;
        let store = Self::over(bucket, ids).map_err(|error| location.unreachable(&error))?;
        let (connection, bucket) = (&store.connection, store.connection.bucket.clone());
        let look = async move { Ok(location::look(&bucket).await) };
        let looked = connection.run(look).wait().map_err(|error| location.unreachable(&error))?;
        looked.map_err(|error| location.refused(&error))?;
        Ok(store)
    }

    /// Blobs of a store in memory, which ends with them: what tests put in the place of one.
    ///
    /// # Errors
    /// `Unavailable` without a thread.
    #[cfg(any(test, feature = "testing"))]
    pub fn in_memory(ids: SeededIds) -> Result<Self, BlobError> {
        let objects = Arc::new(object_store::memory::InMemory::new());
        Self::over(Bucket { objects, prefix: Path::from("a/prefix"), lists_in_order: true }, ids)
    }

    fn over(bucket: Bucket, ids: SeededIds) -> Result<Self, BlobError> {
        Ok(Self {
            connection: Connection::start(bucket)?,
            ids: Mutex::new(ids),
            listing: Mutex::new(None),
            orphan_wait: ORPHAN_WAIT,
        })
    }

    /// The same store with another wait than a day between the two looks at an orphan: for tests.
    #[must_use]
    pub fn with_orphan_wait(mut self, wait: Duration) -> Self {
        self.orphan_wait = wait;
        self
    }

    /// The mark that records and bodies share; `None` in a store that has none yet. It blocks.
    ///
    /// # Errors
    /// `Unavailable`.
    pub fn identity(&self) -> Result<Option<String>, BlobError> {
        let bucket = self.connection.bucket.clone();
        let read = self.connection.run(async move {
            let found = bucket.objects.get(&bucket.path(&[IDENTITY])).await;
            found.map_err(fault)?.bytes().await.map_err(fault)
        });
        match read.wait() {
            Ok(bytes) => Ok(Some(String::from_utf8_lossy(&bytes).trim().to_owned())),
            Err(BlobError::Absent) => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Keeps the mark in a store that has none. It blocks.
    ///
    /// # Errors
    /// `Unavailable`, also where another instance has just marked it.
    pub fn set_identity(&self, identity: &str) -> Result<(), BlobError> {
        let (bucket, mark) = (self.connection.bucket.clone(), format!("{identity}\n"));
        let set = self.connection.run(async move {
            let (path, once) = (bucket.path(&[IDENTITY]), PutOptions::from(PutMode::Create));
            bucket.objects.put_opts(&path, mark.into(), once).await.map_err(fault)
        });
        set.wait().map(|_| ())
    }

    fn name(&self, now: Timestamp) -> Name {
        Name::draw(now, &mut *self.ids.lock())
    }
}

impl Blobs for RemoteBlobs {
    fn create(&self, now: Timestamp, size_hint: Option<u64>) -> Box<dyn BlobWriter> {
        Box::new(RemoteWriter::new(self.connection.clone(), self.name(now), size_hint))
    }

    fn open(&self, id: BlobId, range: Range<u64>) -> Result<Box<dyn BlobReader>, BlobError> {
        // The name says the length: whether the blob is there is told by the first read, so that a range is one request.
        if range.start > range.end || range.end > Name::bytes(id) {
            return Err(BlobError::OutOfRange);
        }
        Ok(Box::new(RemoteReader::new(self.connection.clone(), id, range)))
    }

    fn delete(&self, id: BlobId) -> Pending<Result<(), BlobError>> {
        let bucket = self.connection.bucket.clone();
        self.connection.run(async move { bucket.remove(&Name::of(id).path(&bucket)).await })
    }

    fn put_small(&self, now: Timestamp, bytes: Bytes) -> Pending<Result<BlobStat, BlobError>> {
        let mut writer = RemoteWriter::new(self.connection.clone(), self.name(now), None);
        // Nothing is sent before a part is full, and then the next call waits for it.
        match writer.write(bytes).wait() {
            Ok(()) => Box::new(writer).finish(),
            Err(error) => Pending::ready(Err(error)),
        }
    }

    fn stat(&self, id: BlobId) -> Result<BlobStat, BlobError> {
        let bucket = self.connection.bucket.clone();
        self.connection.run(async move { bucket.stat(Name::of(id)).await }).wait()
    }

    fn length(&self, id: BlobId) -> Result<u64, BlobError> {
        Ok(Name::bytes(id))
    }

    fn list(&self, after: Option<BlobId>, limit: usize) -> Result<Vec<BlobStat>, BlobError> {
        let listing = self.listing.lock().take().filter(|listing| listing.continues(after));
        let mut listing = listing.unwrap_or_else(|| Listing::after(after));
        let bucket = self.connection.bucket.clone();
        let read = self.connection.run(async move {
            let page = listing.page(&bucket, limit).await?;
            Ok((page, listing))
        });
        let (page, listing) = read.wait()?;
        *self.listing.lock() = Some(listing);
        Ok(page)
    }

    fn is_shared(&self) -> bool {
        true
    }

    fn ripe_orphans(&self, orphans: Vec<BlobId>) -> Result<Vec<BlobId>, BlobError> {
        if orphans.is_empty() {
            return Ok(orphans);
        }
        let (bucket, wait) = (self.connection.bucket.clone(), self.orphan_wait);
        self.connection.run(async move { orphans::ripe(&bucket, orphans, wait).await }).wait()
    }
}

impl Bucket {
    /// Keeps an object that was not there. An answer that was lost is found out about: the name is nobody else's.
    async fn put(&self, name: Name, payload: PutPayload) -> Result<BlobStat, BlobError> {
        let bytes = payload.content_length() as u64;
        let (path, once) = (name.path(self), PutOptions::from(PutMode::Create));
        match self.objects.put_opts(&path, payload, once).await {
            Ok(_) => Ok(name.stat(bytes)),
            Err(error) => self.found_or(name, bytes, error).await,
        }
    }

    /// The blob, where it came to the store although its last request failed.
    async fn found_or(
        &self,
        name: Name,
        bytes: u64,
        error: object_store::Error,
    ) -> Result<BlobStat, BlobError> {
        match self.stat(name).await {
            Ok(stat) if stat.bytes == bytes => Ok(stat),
            _ => Err(fault(error).while_writing()),
        }
    }

    async fn stat(&self, name: Name) -> Result<BlobStat, BlobError> {
        let found = self.objects.head(&name.path(self)).await.map_err(fault)?;
        Ok(name.stat(found.size))
    }

    /// Removes an object; one that is not there is removed.
    async fn remove(&self, path: &Path) -> Result<(), BlobError> {
        match self.objects.delete(path).await.map_err(fault) {
            Err(BlobError::Absent) => Ok(()),
            removed => removed,
        }
    }
}

impl std::fmt::Debug for RemoteBlobs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RemoteBlobs")
            .field("bucket", &self.connection.bucket)
            .finish_non_exhaustive()
    }
}
