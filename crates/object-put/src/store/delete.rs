//! Deletion of a key or of one of its versions.

use std::sync::Arc;

use triptych_core::id::Ids;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::error::Error;
use crate::operation::get_object::{Located, locate};
use crate::request::etag;
use crate::store::bucket::{Bucket, Versioning};
use crate::store::commit::{discard, living_bucket, newest_noncurrent, next_sequence, retire};
use crate::store::key::Key;
use crate::store::tables::{
    CURRENT, DELETES, NONCURRENT, NULLS, delete_slot, object_key, version_place,
};
use crate::store::version::{ObjectVersion, VersionId};

/// A key or a version to delete.
#[derive(Debug, Clone)]
pub struct Removal<'a> {
    /// The bucket, as the request found it.
    pub bucket: &'a Bucket,
    /// The key.
    pub key: &'a Key,
    /// The version; `None` for the key itself.
    pub version: Option<&'a str>,
    /// The entity tag that the object must have.
    pub tag: Option<&'a str>,
    /// True if governance retention is lifted.
    pub bypass: bool,
    /// The time of the delete.
    pub now: Timestamp,
}

/// The outcome of a delete.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Removed {
    /// The version that was deleted, or the delete marker that was made.
    pub version: Option<String>,
    /// True if that is a delete marker.
    pub is_marker: bool,
}

/// Deletes a key, or one version of it for good. What is not there counts as deleted.
///
/// # Errors
/// `NoSuchBucket` if the bucket went away; `InvalidArgument` for what is no version id; `NoSuchKey`, `PreconditionFailed`
/// where a tag was named; `ObjectLocked`.
pub fn remove(tx: &mut Tx<'_>, removal: &Removal<'_>, ids: &mut dyn Ids) -> Result<Removed, Error> {
    let bucket = living_bucket(tx, removal.bucket)?;
    let located = match locate(tx, bucket.id, removal.key, removal.version) {
        Ok(located) => Some(located),
        Err(Error::NoSuchKey { .. } | Error::NoSuchVersion { .. }) => None,
        Err(error) => return Err(error),
    };
    judge(removal, located.as_ref())?;
    let (slot, mark) = delete_slot(bucket.id, removal.key);
    let mut deletes = DELETES.get(tx, &slot)?.unwrap_or_default();
    let removed = match (removal.version, located) {
        (None, None) if bucket.versioning == Versioning::Off => return Ok(Removed::default()),
        (None, located) => remove_key(tx, &bucket, removal, located, ids)?,
        // The service says that a version is gone, whether it was there or not.
        (Some(name), None) => {
            return Ok(Removed { version: Some(name.to_owned()), is_marker: false });
        }
        (Some(_), Some(located)) => remove_version(tx, &bucket, removal, &located)?,
    };
    deletes.remember(mark);
    DELETES.put(tx, &slot, &deletes);
    Ok(removed)
}

fn judge(removal: &Removal<'_>, located: Option<&Located>) -> Result<(), Error> {
    let Some(tag) = removal.tag else {
        return Ok(());
    };
    let stored = located.and_then(|located| located.version.stored.as_ref());
    match stored {
        None => Err(Error::NoSuchKey { key: removal.key.to_string() }),
        Some(stored) if etag::listed(tag, &stored.etag) => Ok(()),
        Some(_) => Err(Error::PreconditionFailed { condition: "If-Match" }),
    }
}

/// Deletes a key: for good where no versions are kept, else under a delete marker.
fn remove_key(
    tx: &mut Tx<'_>,
    bucket: &Bucket,
    removal: &Removal<'_>,
    located: Option<Located>,
    ids: &mut dyn Ids,
) -> Result<Removed, Error> {
    let place = object_key(bucket.id, removal.key);
    let current = located.map(|located| Arc::unwrap_or_clone(located.version));
    if current.is_some() {
        CURRENT.delete(tx, &place);
    }
    if bucket.versioning == Versioning::Off {
        if let Some(current) = &current {
            discard(tx, current, removal.now);
        }
        return Ok(Removed::default());
    }
    let newest = match &current {
        Some(current) => Some(current.version.sequence),
        None => newest_noncurrent(tx, bucket.id, removal.key)?,
    };
    let version = VersionId {
        sequence: next_sequence(newest, removal.now),
        random: VersionId::draw(ids),
        null: bucket.versioning == Versioning::Suspended,
    };
    retire(tx, bucket.id, removal.key, current, version.null, removal.now)?;
    let marker =
        ObjectVersion { version, modified: removal.now, owner: bucket.owner.clone(), stored: None };
    if version.null {
        NULLS.put(tx, &place, &version);
    }
    let at = (bucket.id, place.1, version_place(version.sequence));
    NONCURRENT.put(tx, &at, &marker);
    Ok(Removed { version: Some(version.to_string()), is_marker: true })
}

/// Deletes a version for good; what lies below it becomes current if it was the newest.
fn remove_version(
    tx: &mut Tx<'_>,
    bucket: &Bucket,
    removal: &Removal<'_>,
    located: &Located,
) -> Result<Removed, Error> {
    let place = object_key(bucket.id, removal.key);
    let version = &located.version;
    let lock = version.stored.as_ref().map(|stored| stored.lock);
    if lock.is_some_and(|lock| !lock.lets_go(removal.now, removal.bypass)) {
        return Err(Error::ObjectLocked);
    }
    discard(tx, version, removal.now);
    let was_newest = if located.is_current {
        CURRENT.delete(tx, &place);
        true
    } else {
        let newest = newest_noncurrent(tx, bucket.id, removal.key)?;
        let at = version_place(version.version.sequence);
        NONCURRENT.delete(tx, &(bucket.id, place.1.clone(), at));
        if version.version.null {
            NULLS.delete(tx, &place);
        }
        newest == Some(version.version.sequence) && CURRENT.get(tx, &place)?.is_none()
    };
    if was_newest {
        promote(tx, bucket.id, removal.key)?;
    }
    Ok(Removed { version: Some(version.version.to_string()), is_marker: version.stored.is_none() })
}

/// Makes the newest version of a key its current object, unless it is a delete marker.
fn promote(tx: &mut Tx<'_>, bucket: u64, key: &Key) -> Result<(), Error> {
    let place = object_key(bucket, key);
    let (rows, _) = NONCURRENT.scan(tx, &NONCURRENT.span(&place), 1)?;
    let Some((at, newest)) = rows.into_iter().next() else {
        return Ok(());
    };
    if newest.stored.is_none() {
        return Ok(());
    }
    NONCURRENT.delete(tx, &at);
    if newest.version.null {
        NULLS.delete(tx, &place);
    }
    CURRENT.put(tx, &place, &newest);
    Ok(())
}
