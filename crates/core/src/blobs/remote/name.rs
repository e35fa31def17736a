//! Names of blobs, and of their objects.

use object_store::path::Path;

use super::Bucket;
use crate::blobs::{BlobId, BlobStat};
use crate::id::Ids;
use crate::time::Timestamp;

/// The folder of the blobs.
const BODIES: &str = "bodies";
/// The folder of the marks of orphans.
const MARKS: &str = "orphans";
/// Bytes of the time at the start.
const TIME_BYTES: usize = 6;
/// Bytes before the length.
const HEAD_BYTES: usize = 16;
/// Bytes of the length.
const LENGTH_BYTES: usize = 8;

/// A blob's name without its length: the time of its creation and 18 random bytes. An object is named before its length is known, and says it
/// by itself; a [`BlobId`] says it too, between the random bytes, so that a range is checked without a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Name([u8; BlobId::BYTES - LENGTH_BYTES]);

impl Name {
    /// A new name.
    pub(super) fn draw(now: Timestamp, ids: &mut dyn Ids) -> Self {
        let mut name = [0; BlobId::BYTES - LENGTH_BYTES];
        ids.fill(&mut name);
        let millis = now.millis().to_be_bytes();
        for (place, byte) in name.iter_mut().zip(millis.iter().skip(8 - TIME_BYTES)) {
            *place = *byte;
        }
        Self(name)
    }

    /// The name of a blob.
    pub(super) fn of(id: BlobId) -> Self {
        let mut name = [0; BlobId::BYTES - LENGTH_BYTES];
        let kept = id.0.iter().take(HEAD_BYTES).chain(id.0.iter().skip(HEAD_BYTES + LENGTH_BYTES));
        for (place, byte) in name.iter_mut().zip(kept) {
            *place = *byte;
        }
        Self(name)
    }

    /// The length that a blob's name says.
    pub(super) fn bytes(id: BlobId) -> u64 {
        let length = id.0.iter().skip(HEAD_BYTES).take(LENGTH_BYTES);
        length.fold(0, |length, byte| (length << 8) | u64::from(*byte))
    }

    /// The blob of this name and length.
    pub(super) fn stat(self, bytes: u64) -> BlobStat {
        let (head, tail) = self.0.split_at(HEAD_BYTES);
        let mut id = [0; BlobId::BYTES];
        let all = head.iter().copied().chain(bytes.to_be_bytes()).chain(tail.iter().copied());
        for (place, byte) in id.iter_mut().zip(all) {
            *place = byte;
        }
        BlobStat { id: BlobId(id), bytes }
    }

    /// The shards of the names, each with a folder. Names start with their time: in one folder all writes of a moment would meet at one
    /// place of the store's own index.
    pub(super) fn shards() -> impl Iterator<Item = u8> {
        0..16
    }

    fn shard(self) -> u8 {
        self.0.last().map_or(0, |byte| byte & 15)
    }

    /// The folder of a shard.
    pub(super) fn folder(shard: u8, bucket: &Bucket) -> Path {
        bucket.path(&[BODIES, &format!("{shard:x}")])
    }

    /// The object that holds the blob.
    pub(super) fn path(self, bucket: &Bucket) -> Path {
        self.path_in(self.shard(), bucket)
    }

    /// The place of this name among those of a shard.
    pub(super) fn path_in(self, shard: u8, bucket: &Bucket) -> Path {
        Self::folder(shard, bucket).join(hex::encode(self.0))
    }

    /// The folder of the marks of orphans.
    pub(super) fn marks(bucket: &Bucket) -> Path {
        bucket.path(&[MARKS])
    }

    /// The object that says since when the blob is known to have no record.
    pub(super) fn mark_path(self, bucket: &Bucket) -> Path {
        Self::marks(bucket).join(hex::encode(self.0))
    }

    /// The name that an object has; `None` for one that is no blob.
    pub(super) fn read(path: &Path) -> Option<Self> {
        let mut name = [0; BlobId::BYTES - LENGTH_BYTES];
        hex::decode_to_slice(path.filename()?, &mut name).ok()?;
        Some(Self(name))
    }
}
