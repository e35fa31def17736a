//! The second look at blobs that no record names. Other instances write to the same store, with clocks of their own: a blob goes only if it
//! was found without a record a day ago by the store's own clock, and is found so again.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use futures_util::{StreamExt as _, TryStreamExt as _, stream};
use object_store::{ObjectStoreExt as _, PutPayload};

use super::Bucket;
use super::fault::fault;
use super::name::Name;
use crate::blobs::{BlobError, BlobId};

/// The object whose writing asks the store for the time.
const CLOCK: &str = "clock";
/// Marks that are written or removed at once.
const AT_ONCE: usize = 16;
/// A mark that is older says nothing any more: the blob may have had a record in between.
const STALE_AFTER: Duration = Duration::from_secs(7 * 24 * 60 * 60);

/// Those of `orphans` that were marked so long ago, which lose their marks; the others are marked now.
pub(super) async fn ripe(
    bucket: &Bucket,
    orphans: Vec<BlobId>,
    wait: Duration,
) -> Result<Vec<BlobId>, BlobError> {
    let now = now(bucket).await?;
    let (wait, stale) = (millis(wait), millis(STALE_AFTER));
    let marks = marks(bucket, &orphans).await?;
    let (mut ripe, mut unmarked) = (Vec::new(), Vec::new());
    for orphan in orphans {
        match marks.get(&Name::of(orphan)).map(|since| now - since) {
            Some(age) if age < wait => {}
            Some(age) if age <= stale => ripe.push(orphan),
            _ => unmarked.push(orphan),
        }
    }
    let marked = unmarked.into_iter().map(|orphan| async move {
        let path = Name::of(orphan).mark_path(bucket);
        bucket.objects.put(&path, PutPayload::new()).await.map(drop).map_err(fault)
    });
    stream::iter(marked).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
    // One that cannot be deleted after this is marked again.
    let forgotten = ripe.clone().into_iter().map(|orphan| async move {
        let path = Name::of(orphan).mark_path(bucket);
        bucket.remove(&path).await
    });
    stream::iter(forgotten).buffer_unordered(AT_ONCE).try_collect::<()>().await?;
    Ok(ripe)
}

/// The store's clock, in milliseconds.
async fn now(bucket: &Bucket) -> Result<i64, BlobError> {
    let path = bucket.path(&[CLOCK]);
    bucket.objects.put(&path, PutPayload::new()).await.map_err(fault)?;
    let written = bucket.objects.head(&path).await.map_err(fault)?;
    Ok(written.last_modified.timestamp_millis())
}

/// The moments at which those of `orphans` that have a mark were marked. Marks of blobs between them that are none are removed: those were named since.
async fn marks(bucket: &Bucket, orphans: &[BlobId]) -> Result<BTreeMap<Name, i64>, BlobError> {
    let names: BTreeSet<_> = orphans.iter().map(|orphan| Name::of(*orphan)).collect();
    let (Some(first), Some(last)) = (names.first(), names.last()) else {
        return Ok(BTreeMap::new());
    };
    let mut listed = bucket.objects.list(Some(&Name::marks(bucket)));
    let mut marks = BTreeMap::new();
    while let Some(object) = listed.try_next().await.map_err(fault)? {
        let Some(name) = Name::read(&object.location).filter(|name| (first..=last).contains(&name))
        else {
            continue;
        };
        if names.contains(&name) {
            marks.insert(name, object.last_modified.timestamp_millis());
        } else {
            bucket.remove(&object.location).await?;
        }
    }
    Ok(marks)
}

fn millis(duration: Duration) -> i64 {
    i64::try_from(duration.as_millis()).unwrap_or(i64::MAX)
}
