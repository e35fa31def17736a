//! The object lock of a bucket, and its default retention.

use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use crate::error::Error;
use crate::operation::bucket_config::{not_configured, update_bucket};
use crate::operation::{Call, ReadCall, Reply};
use crate::store::bucket::Versioning;
use crate::store::lock::{self, DefaultRetention};

/// `GetObjectLockConfiguration`.
///
/// # Errors
/// `NotConfigured` for a bucket without object lock.
pub fn get(call: &ReadCall<'_>, _tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let bucket = call.bucket()?;
    if !bucket.object_lock {
        return Err(not_configured(
            call,
            "ObjectLockConfigurationNotFoundError",
            "Object Lock configuration does not exist for this bucket",
        ));
    }
    Ok(Reply::xml(lock::configuration_document(
        bucket.default_retention.as_ref(),
        call.dialect().names().namespace,
    )))
}

/// `PutObjectLockConfiguration`: turns object lock on in a bucket that keeps versions, and sets its default.
///
/// # Errors
/// `MalformedXml`, `InvalidArgument`; `InvalidBucketState` for a bucket that does not keep versions.
pub fn put(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let default = DefaultRetention::from_xml(call.body)?;
    if call.bucket()?.versioning != Versioning::Enabled {
        return Err(Error::InvalidBucketState {
            reason: "Versioning must be 'Enabled' on the bucket to apply a Object Lock configuration",
        });
    }
    update_bucket(call, tx, |bucket| {
        bucket.object_lock = true;
        bucket.default_retention = default;
    })?;
    Ok(Reply::empty(200))
}
