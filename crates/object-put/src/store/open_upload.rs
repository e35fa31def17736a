//! Uploads that are not finished: named, found, given parts, and ended.

use std::sync::Arc;

use triptych_core::id::Ids;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::error::Error;
use crate::store::bucket::Bucket;
use crate::store::commit::same_bucket;
use crate::store::key::Key;
use crate::store::tables::{
    COMPLETED_UPLOADS, GARBAGE, UPLOAD_ENDS, UPLOAD_PARTS, UPLOADED_KEYS, UPLOADS, object_key,
};
use crate::store::upload::{
    PartNumbers, Upload, UploadEnd, UploadId, UploadPart, UploadedKey, due,
};
use crate::store::version::VersionId;

/// A sequence for an upload of a key that no other has.
///
/// # Errors
/// As reads of the store.
pub fn new_id(
    tx: &mut Tx<'_>,
    bucket: u64,
    key: &Key,
    now: Timestamp,
    ids: &mut dyn Ids,
) -> Result<UploadId, Error> {
    let mut place = (bucket, key.as_bytes().to_vec(), u64::try_from(now.micros()).unwrap_or(0));
    tx.plan(|plan| {
        plan.row(&UPLOADS, &place);
        plan.row(&COMPLETED_UPLOADS, &place);
    })?;
    while UPLOADS.get_shared(tx, &place)?.is_some()
        || COMPLETED_UPLOADS.get_shared(tx, &place)?.is_some()
    {
        place.2 += 1;
    }
    Ok(UploadId { sequence: place.2, random: VersionId::random_bytes(ids) })
}

/// The upload of a key that a request names; the commit depends on it.
///
/// # Errors
/// [`Error::NoSuchUpload`].
pub fn find(tx: &mut Tx<'_>, bucket: u64, key: &Key, name: &str) -> Result<Arc<Upload>, Error> {
    let missing = || Error::NoSuchUpload { upload: name.to_owned() };
    let id = UploadId::parse(name, bucket, key).ok_or_else(missing)?;
    let place = (bucket, key.as_bytes().to_vec(), id.sequence);
    let upload = UPLOADS.get_shared(tx, &place)?;
    upload.filter(|upload| upload.id == id).ok_or_else(missing)
}

/// Adds a part whose body is on disk to the upload that `seen` was, in place of one with the same number.
///
/// # Errors
/// `NoSuchBucket` and [`Error::NoSuchUpload`] if they ended meanwhile.
pub fn put_part(
    tx: &mut Tx<'_>,
    bucket: &Bucket,
    key: &Key,
    seen: &Upload,
    part: &UploadPart,
) -> Result<(), Error> {
    let bucket = same_bucket(tx, bucket)?;
    let upload = find(tx, bucket.id, key, &seen.id.text(bucket.id, key))?;
    let at = (upload.number, part.listed.part.number);
    if let Some(older) = UPLOAD_PARTS.get(tx, &at)? {
        GARBAGE.put(tx, &(due(part.modified), older.listed.part.blob.0), &());
        let upload = Upload { replaced: upload.replaced + 1, ..Upload::clone(&upload) };
        UPLOADS.put(tx, &upload.place(bucket.id, key), &upload);
    }
    UPLOAD_PARTS.put(tx, &at, part);
    Ok(())
}

/// Counts one more upload of a key; gives the deletes that the key has counted so far.
///
/// # Errors
/// As reads of the store.
pub fn begin(tx: &mut Tx<'_>, bucket: u64, key: &Key) -> Result<u64, Error> {
    let place = object_key(bucket, key);
    let own = UPLOADED_KEYS.get(tx, &place)?.unwrap_or_default();
    UPLOADED_KEYS.put(tx, &place, &UploadedKey { uploads: own.uploads + 1, ..own });
    Ok(own.deletes)
}

/// Ends an upload: its parts, but those that an object has `kept`, are freed from now on.
///
/// # Errors
/// As reads of the store.
pub fn end(
    tx: &mut Tx<'_>,
    bucket: u64,
    key: &Key,
    upload: &Upload,
    kept: PartNumbers,
    now: Timestamp,
) -> Result<(), Error> {
    UPLOADS.delete(tx, &upload.place(bucket, key));
    UPLOAD_ENDS.put(tx, &(due(now), upload.number), &UploadEnd::Parts { kept });
    let place = object_key(bucket, key);
    // None of one that began in an earlier release.
    let own = UPLOADED_KEYS.get(tx, &place)?.filter(|_| upload.snapshot.key_deletes.is_some());
    match own {
        Some(own) if own.uploads > 1 => {
            UPLOADED_KEYS.put(tx, &place, &UploadedKey { uploads: own.uploads - 1, ..own });
        }
        Some(_) => UPLOADED_KEYS.delete(tx, &place),
        None => {}
    }
    Ok(())
}
