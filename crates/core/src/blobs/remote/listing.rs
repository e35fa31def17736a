//! Blobs in the order of their names, out of the folders that they are spread over.

use std::collections::VecDeque;

use futures_util::future::try_join_all;
use futures_util::{StreamExt as _, TryStreamExt as _};

use super::Bucket;
use super::fault::fault;
use super::name::Name;
use crate::blobs::{BlobError, BlobId, BlobStat};

/// Names that a request reads of a folder.
const STEP: usize = 1_000;

/// A listing between two of its pages.
pub(super) struct Listing {
    after: Option<BlobId>,
    shards: Vec<Shard>,
}

/// Names that were read of a folder and not given.
struct Shard {
    number: u8,
    after: Option<BlobId>,
    read: VecDeque<BlobStat>,
    is_whole: bool,
}

impl Listing {
    /// A listing that begins after a name.
    pub(super) fn after(after: Option<BlobId>) -> Self {
        let shard = |number| Shard { number, after, read: VecDeque::new(), is_whole: false };
        Self { after, shards: Name::shards().map(shard).collect() }
    }

    /// Tells whether its next page is the one after `after`. A listing that begins is always read anew.
    pub(super) fn continues(&self, after: Option<BlobId>) -> bool {
        after.is_some() && self.after == after
    }

    /// The next names, at most so many.
    pub(super) async fn page(
        &mut self,
        bucket: &Bucket,
        limit: usize,
    ) -> Result<Vec<BlobStat>, BlobError> {
        let mut page = Vec::new();
        while page.len() < limit {
            try_join_all(self.shards.iter_mut().map(|shard| shard.fill(bucket))).await?;
            let least = self.shards.iter_mut().filter(|shard| !shard.read.is_empty());
            let least = least.min_by_key(|shard| shard.read.front().map(|stat| stat.id));
            let Some(stat) = least.and_then(|shard| shard.read.pop_front()) else { break };
            self.after = Some(stat.id);
            page.push(stat);
        }
        Ok(page)
    }
}

impl Shard {
    /// Reads the next names where none are left.
    async fn fill(&mut self, bucket: &Bucket) -> Result<(), BlobError> {
        while self.read.is_empty() && !self.is_whole {
            let mut step = self.step(bucket).await?;
            self.is_whole = step.len() < STEP;
            step.sort_by_key(|stat| stat.id);
            step.retain(|stat| self.after.is_none_or(|after| stat.id > after));
            self.after = step.last().map_or(self.after, |stat| stat.id.into());
            self.read = step.into();
        }
        Ok(())
    }

    /// The next objects of the folder; all of them, where the store gives them in no order.
    async fn step(&self, bucket: &Bucket) -> Result<Vec<BlobStat>, BlobError> {
        let folder = Name::folder(self.number, bucket);
        let offset = self.after.map(|after| Name::of(after).path_in(self.number, bucket));
        let objects = match offset {
            Some(offset) if bucket.lists_in_order => {
                bucket.objects.list_with_offset(Some(&folder), &offset)
            }
            _ => bucket.objects.list(Some(&folder)),
        };
        let most = if bucket.lists_in_order { STEP } else { usize::MAX };
        let found: Vec<_> = objects.take(most).try_collect().await.map_err(fault)?;
        let named = |object: &object_store::ObjectMeta| {
            Name::read(&object.location).map(|name| name.stat(object.size))
        };
        Ok(found.iter().filter_map(named).collect())
    }
}
