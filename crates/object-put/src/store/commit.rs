//! The commit of an object: its condition is checked again, and the versions before it are kept or replaced.

use std::sync::Arc;

use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::error::Error;
use crate::store::bucket::{Bucket, Versioning};
use crate::store::key::Key;
use crate::store::part_list::Parts;
use crate::store::precondition::{Precondition, Snapshot};
use crate::store::tables::{
    BUCKETS, CURRENT, DELETE_GUARDS, DISCARDED_LISTS, GARBAGE, NONCURRENT, NULLS, UPLOADED_KEYS,
    bucket_slot, object_key, version_place,
};
use crate::store::version::{ObjectData, ObjectVersion, VersionId};

/// An object whose body is on disk, to be made visible.
#[derive(Debug, Clone)]
pub struct NewVersion<'a> {
    /// The bucket as the start saw it.
    pub bucket: &'a Bucket,
    /// The key.
    pub key: &'a Key,
    /// The account that will own it.
    pub owner: &'a str,
    /// The version's random bytes.
    pub random: [u8; 12],
    /// The condition that must still hold.
    pub precondition: &'a Precondition,
    /// The key as the start saw it.
    pub snapshot: &'a Snapshot,
    /// The time of the commit.
    pub now: Timestamp,
}

/// Makes an object visible. What it replaces becomes a version of its own where the bucket keeps versions, and garbage where not.
///
/// # Errors
/// `NoSuchBucket` if the bucket went away; those of [`Precondition::check_at_commit`].
pub fn commit(
    tx: &mut Tx<'_>,
    new: &NewVersion<'_>,
    data: ObjectData,
) -> Result<ObjectVersion, Error> {
    let bucket = same_bucket(tx, new.bucket)?;
    let place = object_key(bucket.id, new.key);
    let current = CURRENT.get(tx, &place)?;
    let is_deleted = is_deleted_since(tx, bucket.id, new.key, new.snapshot)?;
    new.precondition.check_at_commit(new.key, new.snapshot, current.as_ref(), is_deleted)?;
    let newest = match &current {
        Some(current) => Some(current.version.sequence),
        None => newest_of_absent(tx, &bucket, new.key)?,
    };
    let version = VersionId {
        sequence: next_sequence(newest, new.now),
        random: new.random,
        null: bucket.versioning != Versioning::Enabled,
    };
    make_noncurrent(tx, bucket.id, new.key, current, version.null, new.now)?;
    let object = ObjectVersion {
        version,
        modified: new.now,
        owner: new.owner.to_owned(),
        data: Some(Box::new(data)),
    };
    CURRENT.put(tx, &place, &object);
    Ok(object)
}

/// Tells whether a key may have been deleted since it was seen. Sure where the key counts its deletes, as each does that has an upload.
fn is_deleted_since(
    tx: &mut Tx<'_>,
    bucket: u64,
    key: &Key,
    seen: &Snapshot,
) -> Result<bool, Error> {
    let (slot, key_hash) = bucket_slot(bucket, key);
    let deletes = DELETE_GUARDS.get(tx, &slot)?.unwrap_or_default();
    if let Some(count) = seen.key_deletes
        && let Some(own) = UPLOADED_KEYS.get(tx, &object_key(bucket, key))?
    {
        return Ok(own.deletes != count);
    }
    Ok(deletes.may_include(seen.delete_count, key_hash))
}

/// The bucket with this name, if it is still the one that the start saw.
///
/// # Errors
/// [`Error::NoSuchBucket`] if it went away, [`Error::OperationAborted`] while that is being decided.
pub fn same_bucket(tx: &mut Tx<'_>, seen: &Bucket) -> Result<Arc<Bucket>, Error> {
    match BUCKETS.get_shared(tx, &seen.name)?.filter(|bucket| bucket.id == seen.id) {
        Some(bucket) if bucket.deleting => Err(Error::OperationAborted),
        Some(bucket) => Ok(bucket),
        None => Err(Error::NoSuchBucket { bucket: seen.name.clone() }),
    }
}

/// The sequence of a version that comes after `newest`: the time in microseconds, or one more where the clock stands behind.
#[must_use]
pub fn next_sequence(newest: Option<u64>, now: Timestamp) -> u64 {
    let by_time = u64::try_from(now.micros()).unwrap_or_default();
    newest.map_or(by_time, |newest| by_time.max(newest + 1))
}

/// The sequence of the newest version of a key that has no current object. In a bucket that never kept versions there is none, nor of a key that
/// was never deleted.
///
/// # Errors
/// As reads of the store.
pub fn newest_of_absent(tx: &mut Tx<'_>, bucket: &Bucket, key: &Key) -> Result<Option<u64>, Error> {
    let (slot, key_hash) = bucket_slot(bucket.id, key);
    let deletes = DELETE_GUARDS.get(tx, &slot)?.unwrap_or_default();
    if bucket.versioning == Versioning::Off || !deletes.may_include(0, key_hash) {
        return Ok(None);
    }
    newest_noncurrent(tx, bucket.id, key)
}

/// The sequence of the newest version of a key that is not current.
///
/// # Errors
/// As `scan` of the store.
pub fn newest_noncurrent(tx: &mut Tx<'_>, bucket: u64, key: &Key) -> Result<Option<u64>, Error> {
    let span = NONCURRENT.span(&object_key(bucket, key));
    let (rows, _) = NONCURRENT.scan(tx, &span, 1)?;
    Ok(rows.first().map(|(_, version)| version.version.sequence))
}

/// Takes a key's current object out of the way of a newer version or delete marker; `null` says whether that one is the
/// key's `null` version, which there is one of at the most.
///
/// # Errors
/// As reads of the store.
pub fn make_noncurrent(
    tx: &mut Tx<'_>,
    bucket: u64,
    key: &Key,
    current: Option<ObjectVersion>,
    null: bool,
    now: Timestamp,
) -> Result<(), Error> {
    let place = object_key(bucket, key);
    if null && let Some(older) = NULLS.get(tx, &place)? {
        let at = (bucket, place.1.clone(), version_place(older.sequence));
        if let Some(version) = NONCURRENT.get(tx, &at)? {
            discard(tx, &version, now);
        }
        NONCURRENT.delete(tx, &at);
        NULLS.delete(tx, &place);
    }
    let Some(current) = current else {
        return Ok(());
    };
    if null && current.version.null {
        discard(tx, &current, now);
        return Ok(());
    }
    if current.version.null {
        NULLS.put(tx, &place, &current.version);
    }
    let at = (bucket, place.1, version_place(current.version.sequence));
    NONCURRENT.put(tx, &at, &current);
    Ok(())
}

/// Records that the bodies of a version are named no more: one row, however many parts there are.
pub fn discard(tx: &mut Tx<'_>, version: &ObjectVersion, now: Timestamp) {
    let since = u64::try_from(now.millis()).unwrap_or_default();
    match version.data.as_deref().map(|data| &data.parts) {
        None => {}
        Some(Parts::One(part)) => GARBAGE.put(tx, &(since, part.blob.0), &()),
        Some(Parts::Chunks { list, .. }) => DISCARDED_LISTS.put(tx, &(since, *list), &()),
    }
}
