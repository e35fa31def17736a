//! Deletion of a key or of one of its versions.

use std::sync::Arc;

use triptych_core::id::Ids;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::error::Error;
use crate::request::etag;
use crate::store::bucket::{Bucket, Versioning};
use crate::store::commit::{
    discard, make_noncurrent, newest_noncurrent, newest_of_absent, next_sequence, same_bucket,
};
use crate::store::key::Key;
use crate::store::lookup::{FoundVersion, locate};
use crate::store::tables::{
    CURRENT, DELETE_GUARDS, NONCURRENT, NULLS, UPLOADED_KEYS, bucket_slot, object_key,
    version_place,
};
use crate::store::upload::UploadedKey;
use crate::store::version::{ObjectVersion, VersionId};

/// A key or a version to delete.
#[derive(Debug, Clone)]
pub struct DeleteRequest<'a> {
    /// The bucket, as the request found it.
    pub bucket: &'a Bucket,
    /// The key.
    pub key: &'a Key,
    /// The version; `None` for the key itself.
    pub version: Option<&'a str>,
    /// The conditions that the object must meet.
    pub conditions: DeleteConditions<'a>,
    /// True if governance retention is lifted.
    pub bypass: bool,
    /// The time of the delete.
    pub now: Timestamp,
}

/// Conditions of a delete: those that are named hold, or nothing is deleted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct DeleteConditions<'a> {
    /// The entity tag of the object.
    pub tag: Option<&'a str>,
    /// The second in which it was written.
    pub modified: Option<Timestamp>,
    /// Its bytes.
    pub size: Option<u64>,
}

impl DeleteConditions<'_> {
    /// Checks them on what is to be deleted. What is not there has any size and any time, as in the real service, but no entity tag.
    ///
    /// # Errors
    /// `NoSuchKey` for an entity tag where there is nothing; `PreconditionFailed`.
    fn check(&self, key: &Key, found: Option<&FoundVersion>) -> Result<(), Error> {
        let object = found.and_then(|found| Some((found, found.version.data.as_ref()?)));
        let Some((found, data)) = object else {
            return match self.tag {
                Some(_) => Err(Error::NoSuchKey { key: key.to_string() }),
                None => Ok(()),
            };
        };
        let modified = found.version.modified.seconds();
        let failed = |condition| Err(Error::PreconditionFailed { condition });
        if self.tag.is_some_and(|tag| !etag::listed_strongly(tag, &data.etag)) {
            return failed("If-Match");
        }
        if self.modified.is_some_and(|wanted| wanted.seconds() != modified) {
            return failed(IF_MODIFIED_AT);
        }
        if self.size.is_some_and(|wanted| wanted != data.size) {
            return failed(IF_SIZE);
        }
        Ok(())
    }
}

/// The condition on the time, as a header has it.
pub const IF_MODIFIED_AT: &str = "x-store-if-match-last-modified-time";
/// The condition on the size.
pub const IF_SIZE: &str = "x-store-if-match-size";

/// The outcome of a delete.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeleteOutcome {
    /// The version that was deleted, or the delete marker that was made.
    pub version: Option<String>,
    /// True if that is a delete marker.
    pub is_marker: bool,
}

/// Deletes a key, or one version of it for good. What is not there counts as deleted.
///
/// # Errors
/// `NoSuchBucket` if the bucket went away; `InvalidArgument` for what is no version id; those of the conditions; `ObjectLocked`.
pub fn delete(
    tx: &mut Tx<'_>,
    request: &DeleteRequest<'_>,
    ids: &mut dyn Ids,
) -> Result<DeleteOutcome, Error> {
    let bucket = same_bucket(tx, request.bucket)?;
    let found = match locate(tx, bucket.id, request.key, request.version) {
        Ok(found) => Some(found),
        Err(Error::NoSuchKey { .. } | Error::NoSuchVersion { .. }) => None,
        Err(error) => return Err(error),
    };
    request.conditions.check(request.key, found.as_ref())?;
    let (slot, key_hash) = bucket_slot(bucket.id, request.key);
    let mut deletes = DELETE_GUARDS.get(tx, &slot)?.unwrap_or_default();
    let outcome = match (request.version, found) {
        (None, None) if bucket.versioning == Versioning::Off => return Ok(DeleteOutcome::default()),
        (None, found) => delete_key(tx, &bucket, request, found, ids)?,
        // The service says that a version is gone, whether it was there or not.
        (Some(name), None) => {
            return Ok(DeleteOutcome { version: Some(name.to_owned()), is_marker: false });
        }
        (Some(_), Some(found)) => delete_version(tx, &bucket, request, &found)?,
    };
    deletes.record(key_hash);
    DELETE_GUARDS.put(tx, &slot, &deletes);
    let place = object_key(bucket.id, request.key);
    if let Some(own) = UPLOADED_KEYS.get(tx, &place)? {
        UPLOADED_KEYS.put(tx, &place, &UploadedKey { deletes: own.deletes + 1, ..own });
    }
    Ok(outcome)
}

/// Deletes a key: for good where no versions are kept, else under a delete marker.
fn delete_key(
    tx: &mut Tx<'_>,
    bucket: &Bucket,
    request: &DeleteRequest<'_>,
    found: Option<FoundVersion>,
    ids: &mut dyn Ids,
) -> Result<DeleteOutcome, Error> {
    let place = object_key(bucket.id, request.key);
    let current = found.map(|found| Arc::unwrap_or_clone(found.version));
    if current.is_some() {
        CURRENT.delete(tx, &place);
    }
    if bucket.versioning == Versioning::Off {
        if let Some(current) = &current {
            discard(tx, current, request.now);
        }
        return Ok(DeleteOutcome::default());
    }
    let newest = match &current {
        Some(current) => Some(current.version.sequence),
        None => newest_of_absent(tx, bucket, request.key)?,
    };
    let version = VersionId {
        sequence: next_sequence(newest, request.now),
        random: VersionId::random_bytes(ids),
        null: bucket.versioning == Versioning::Suspended,
    };
    make_noncurrent(tx, bucket.id, request.key, current, version.null, request.now)?;
    let marker =
        ObjectVersion { version, modified: request.now, owner: bucket.owner.clone(), data: None };
    if version.null {
        NULLS.put(tx, &place, &version);
    }
    let at = (bucket.id, place.1, version_place(version.sequence));
    NONCURRENT.put(tx, &at, &marker);
    Ok(DeleteOutcome { version: Some(version.to_string()), is_marker: true })
}

/// Deletes a version for good; what lies below it becomes current if it was the newest.
fn delete_version(
    tx: &mut Tx<'_>,
    bucket: &Bucket,
    request: &DeleteRequest<'_>,
    found: &FoundVersion,
) -> Result<DeleteOutcome, Error> {
    let place = object_key(bucket.id, request.key);
    let version = &found.version;
    let lock = version.data.as_ref().map(|data| data.lock);
    if lock.is_some_and(|lock| !lock.allows_delete(request.now, request.bypass)) {
        return Err(Error::ObjectLocked);
    }
    discard(tx, version, request.now);
    let was_newest = if found.is_current {
        CURRENT.delete(tx, &place);
        true
    } else {
        let newest = newest_noncurrent(tx, bucket.id, request.key)?;
        let at = version_place(version.version.sequence);
        NONCURRENT.delete(tx, &(bucket.id, place.1.clone(), at));
        if version.version.null {
            NULLS.delete(tx, &place);
        }
        newest == Some(version.version.sequence) && CURRENT.get(tx, &place)?.is_none()
    };
    if was_newest {
        promote(tx, bucket.id, request.key)?;
    }
    Ok(DeleteOutcome {
        version: Some(version.version.to_string()),
        is_marker: version.data.is_none(),
    })
}

/// Makes the newest version of a key its current object, unless it is a delete marker.
fn promote(tx: &mut Tx<'_>, bucket: u64, key: &Key) -> Result<(), Error> {
    let place = object_key(bucket, key);
    let (rows, _) = NONCURRENT.scan(tx, &NONCURRENT.span(&place), 1)?;
    let Some((at, newest)) = rows.into_iter().next() else {
        return Ok(());
    };
    if newest.data.is_none() {
        return Ok(());
    }
    NONCURRENT.delete(tx, &at);
    if newest.version.null {
        NULLS.delete(tx, &place);
    }
    CURRENT.put(tx, &place, &newest);
    Ok(())
}
