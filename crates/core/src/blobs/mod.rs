//! Bodies too long for a key-value store: written in pieces, on disk before they have a name, read by range.
//!
//! A blob that no record names is invisible. The record that names it is committed last, and that
//! order is what makes "never a partial body" true.

#[cfg(any(test, feature = "conformance"))]
pub mod conformance;
#[cfg(feature = "sled")]
mod directory;
mod memory;
#[cfg(feature = "object-store")]
pub mod remote;

#[cfg(feature = "sled")]
pub(crate) use directory::missing_pack;
#[cfg(feature = "sled")]
pub use directory::{Directory, DirectoryStats};
#[cfg(all(feature = "host", feature = "sled"))]
pub(crate) use directory::{KNOWN_PACKS, LARGE, PACKS};
pub use memory::MemoryBlobs;

use std::collections::BTreeSet;
use std::io;
use std::ops::Range;

use bytes::Bytes;

use crate::pending::Pending;
use crate::time::Timestamp;

/// The name of a blob: 32 bytes that start with its time, so that names sort by age. It is never derived from a user's key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlobId(pub [u8; Self::BYTES]);

impl BlobId {
    /// Length of a name.
    pub const BYTES: usize = 32;

    /// The moment at which the blob was created, to the millisecond (its first six bytes).
    #[must_use]
    pub fn created(&self) -> Timestamp {
        let [a, b, c, d, e, f, ..] = self.0;
        Timestamp::from_millis(i64::from_be_bytes([0, 0, a, b, c, d, e, f]))
    }
}

impl AsRef<[u8]> for BlobId {
    fn as_ref(&self) -> &[u8] {
        &self.0
    }
}

/// A finished blob.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlobStat {
    /// Its name.
    pub id: BlobId,
    /// Its length in bytes.
    pub bytes: u64,
}

/// Reasons for which a blob could not be written or read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BlobError {
    /// There is no such blob.
    #[error("there is no such blob")]
    Absent,
    /// The range does not lie within the blob.
    #[error("the range is not within the blob")]
    OutOfRange,
    /// Stored bytes are not what was written.
    #[error("a stored blob is damaged: {0}")]
    Corrupt(String),
    /// The disk is full; nothing is kept of the blob that was being written.
    #[error("the disk is full")]
    Full,
    /// The disk or its engine failed; nothing is kept of the blob that was being written.
    #[error("the blob store is unavailable: {0}")]
    Unavailable(String),
}

impl From<io::Error> for BlobError {
    /// The meaning of a disk error to the writer or reader of a blob.
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::Full,
            io::ErrorKind::NotFound => Self::Absent,
            _ => Self::Unavailable(error.to_string()),
        }
    }
}

/// A store of bodies. Object-safe; no runtime's type in it.
pub trait Blobs: Send + Sync {
    /// Begins a blob. `size_hint` is the length in bytes where it is known: it decides how the blob is kept, never how long it may be.
    fn create(&self, now: Timestamp, size_hint: Option<u64>) -> Box<dyn BlobWriter>;

    /// A reader of the bytes of `range` (`0..stat.bytes` for all of them).
    ///
    /// # Errors
    /// `Absent`, `OutOfRange`, `Corrupt`, `Unavailable`.
    fn open(&self, id: BlobId, range: Range<u64>) -> Result<Box<dyn BlobReader>, BlobError>;

    /// Makes the blob's space free. A reader that is open may end with `Absent`. Deleting what is absent is no error.
    fn delete(&self, id: BlobId) -> Pending<Result<(), BlobError>>;

    /// All bytes of a blob in one read, for small ones.
    ///
    /// # Errors
    /// `Absent`, `Corrupt`, `Unavailable`.
    fn read_small(&self, id: BlobId, bytes: u64) -> Result<Bytes, BlobError> {
        let mut reader = self.open(id, 0..bytes)?;
        let mut pieces = Vec::new();
        while let Some(piece) = reader.next().wait()? {
            pieces.extend_from_slice(&piece);
        }
        Ok(pieces.into())
    }

    /// Keeps bytes that are there already as one blob.
    fn put_small(&self, now: Timestamp, bytes: Bytes) -> Pending<Result<BlobStat, BlobError>> {
        let mut writer = self.create(now, Some(bytes.len() as u64));
        match writer.write(bytes).wait() {
            Ok(()) => writer.finish(),
            Err(error) => Pending::ready(Err(error)),
        }
    }

    /// A finished blob without its bytes: that it is there, and its length.
    ///
    /// # Errors
    /// `Absent`, `Corrupt`, `Unavailable`.
    fn stat(&self, id: BlobId) -> Result<BlobStat, BlobError>;

    /// The length of a finished blob, for a reader who opens it next. Where its name says that, whether it is there is left to the first read.
    ///
    /// # Errors
    /// `Absent`, `Corrupt`, `Unavailable`.
    fn length(&self, id: BlobId) -> Result<u64, BlobError> {
        Ok(self.stat(id)?.bytes)
    }

    /// At most `limit` finished blobs with names after `after`, in the order of their names: for sweeps and `verify`.
    ///
    /// # Errors
    /// `Unavailable`, `Corrupt`.
    fn list(&self, after: Option<BlobId>, limit: usize) -> Result<Vec<BlobStat>, BlobError>;

    /// Tells whether other processes may write to the store: then a sweep of it is never the last one.
    fn is_shared(&self) -> bool {
        false
    }

    /// Those of `orphans`, which no record names, that may be deleted now: all of them, where this process alone writes to the store. One that
    /// others write to as well marks them, and gives those that it marked a day ago by its own clock: they were looked at twice, and what
    /// another instance has just written is named in between. It blocks.
    ///
    /// # Errors
    /// `Unavailable`.
    fn ripe_orphans(&self, orphans: Vec<BlobId>) -> Result<Vec<BlobId>, BlobError> {
        Ok(orphans)
    }

    /// Told by [`sweep`] of each orphan that it deleted, for an engine that counts them for its operator.
    fn orphan_swept(&self, _orphan: BlobStat) {}
}

/// A blob that is being written. Dropping it without `finish` leaves nothing.
pub trait BlobWriter: Send {
    /// Hands over the next bytes. Await the answer before the next call: that is the back-pressure.
    fn write(&mut self, bytes: Bytes) -> Pending<Result<(), BlobError>>;

    /// [`BlobWriter::write`] on a thread of the caller's that may block.
    ///
    /// # Errors
    /// `Full`, `Unavailable`.
    fn write_blocking(&mut self, bytes: Bytes) -> Result<(), BlobError> {
        self.write(bytes).wait()
    }

    /// Says that all bytes are handed over: what they need of the disk happens now, so that `finish` has little left to do. It
    /// blocks, and may be left out.
    ///
    /// # Errors
    /// `Full`, `Unavailable`.
    fn sync_blocking(&mut self) -> Result<(), BlobError> {
        Ok(())
    }

    /// Answers once the whole blob is on disk under its name.
    fn finish(self: Box<Self>) -> Pending<Result<BlobStat, BlobError>>;
}

/// A blob that is being read.
pub trait BlobReader: Send {
    /// The next piece, at most 1 MiB; `None` after the last one.
    fn next(&mut self) -> Pending<Result<Option<Bytes>, BlobError>>;

    /// The next bytes, at most `count` times `each`; none after the last ones. Of a large blob they come as pieces of `each`, each with
    /// memory of its own, so that one which is still needed does not hold the others.
    fn next_pieces(&mut self, each: usize, count: usize) -> Pending<Result<Vec<Bytes>, BlobError>>;

    /// Bytes that it read ahead of whoever asks, and holds in memory.
    fn held(&self) -> usize {
        0
    }
}

/// Blobs that a step of [`clear`] deletes.
const CLEAR_STEP: usize = 500;

/// Deletes every blob, of a store whose rows are gone: one that cannot be deleted now is named by no row, and swept later.
pub async fn clear(blobs: &dyn Blobs) {
    let mut after = None;
    loop {
        let page = blobs.list(after, CLEAR_STEP).unwrap_or_default();
        let Some(last) = page.last() else { return };
        after = Some(last.id);
        let deletions: Vec<_> = page.iter().map(|stat| blobs.delete(stat.id)).collect();
        for deletion in deletions {
            let _ = deletion.await;
        }
    }
}

/// Blobs that a step of [`sweep`] looks at.
const SWEEP_STEP: usize = 500;

/// Counts of a sweep.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Swept {
    /// Blobs that it looked at.
    pub seen: u64,
    /// Blobs that no record named, and that it deleted.
    pub orphans: u64,
    /// Their bytes.
    pub bytes: u64,
}

/// Deletes every blob that was created before `before` and that `is_named` does not know: what an upload
/// left that never came to its record. A store that others write to takes a second look ([`Blobs::ripe_orphans`]). It ends early where `goes_on` says no, which it is asked after each page. It blocks; call it on a
/// thread of its own.
///
/// # Errors
/// The first [`BlobError`] of the store; what was swept before it stays swept.
pub fn sweep(
    blobs: &dyn Blobs,
    before: Timestamp,
    mut is_named: impl FnMut(BlobId) -> bool,
    goes_on: &dyn Fn() -> bool,
) -> Result<Swept, BlobError> {
    let mut swept = Swept::default();
    let mut after = None;
    loop {
        let page = blobs.list(after, SWEEP_STEP)?;
        // Names sort by age, so everything behind the first that is too young is so as well.
        let old = page.iter().take_while(|stat| stat.id.created() < before).count();
        let mut orphans: Vec<_> =
            page.iter().take(old).filter(|stat| !is_named(stat.id)).copied().collect();
        let ripe = blobs.ripe_orphans(orphans.iter().map(|stat| stat.id).collect())?;
        let ripe: BTreeSet<_> = ripe.into_iter().collect();
        orphans.retain(|stat| ripe.contains(&stat.id));
        swept.seen += old as u64;
        // Together, since those of a pack then share a sync.
        let deletions: Vec<_> = orphans.iter().map(|stat| blobs.delete(stat.id)).collect();
        for (stat, deletion) in orphans.into_iter().zip(deletions) {
            deletion.wait()?;
            blobs.orphan_swept(stat);
            swept.orphans += 1;
            swept.bytes += stat.bytes;
        }
        after = page.last().map(|stat| stat.id);
        if page.is_empty() || old < page.len() || !goes_on() {
            return Ok(swept);
        }
    }
}
