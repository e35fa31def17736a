//! Buckets: made, found and deleted.

use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use super::{Call, Reply};
use crate::bucket::{Bucket, check_name};
use crate::error::Error;
use crate::tables::BUCKETS;

/// `CreateBucket`.
///
/// # Errors
/// `AccessDenied`, `InvalidBucketName`, `BucketAlreadyOwnedByYou`, `BucketAlreadyExists`.
pub fn create(call: &Call<'_>, tx: &mut Tx<'_>, ids: &mut dyn Ids) -> Result<Reply, Error> {
    let account = call.caller.account().ok_or(Error::AccessDenied)?;
    if !call.caller.holds(call.operation.permission) {
        return Err(Error::AccessDenied);
    }
    let name = call.bucket_name.to_owned();
    check_name(&name)?;
    if let Some(bucket) = BUCKETS.get(tx, &name)? {
        return Err(if bucket.owner == account.id {
            Error::BucketAlreadyOwnedByYou { bucket: name }
        } else {
            Error::BucketAlreadyExists { bucket: name }
        });
    }
    let bucket = Bucket::new(
        ids.next(),
        name,
        account.id.clone(),
        call.settings.region.clone(),
        call.now,
    );
    BUCKETS.put(tx, &bucket.name, &bucket);
    Ok(Reply::empty(200).with("location", format!("/{}", bucket.name)))
}

/// `HeadBucket`.
///
/// # Errors
/// Those of the way to it alone.
pub fn head(call: &Call<'_>, _tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    Ok(Reply::empty(200).with("x-store-bucket-region", call.bucket()?.region.clone()))
}
