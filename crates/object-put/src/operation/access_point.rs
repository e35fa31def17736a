//! Operations through access points: all on objects, and those on the bucket that neither delete nor configure it.

use crate::error::Error;
use crate::operation::Operation;
use crate::request::location::Target;
use crate::store::bucket::{Bucket, BucketKind};

/// Operations on the bucket that an access point lets through.
const ON_BUCKETS: &[&str] = &[
    "DeleteObjects",
    "GetBucketAcl",
    "GetBucketCors",
    "GetBucketLocation",
    "GetBucketNotificationConfiguration",
    "GetBucketPolicy",
    "HeadBucket",
    "ListMultipartUploads",
    "ListObjectVersions",
    "ListObjects",
    "ListObjectsV2",
    "PostObject",
    "Preflight",
];

/// Checks that an access point lets an operation through.
///
/// # Errors
/// [`Error::MethodNotAllowed`].
pub fn check(operation: &Operation) -> Result<(), Error> {
    if operation.target == Target::Object || ON_BUCKETS.contains(&operation.name) {
        return Ok(());
    }
    Err(Error::MethodNotAllowed { method: operation.method.to_owned(), resource: "ACCESS_POINT" })
}

/// Checks that a bucket has an operation: on premises there are no lists.
///
/// # Errors
/// [`Error::OperationNotImplemented`].
pub fn check_kind(operation: &Operation, bucket: &Bucket) -> Result<(), Error> {
    let is_of_lists = ["GetBucketAcl", "GetObjectAcl", "PutObjectAcl"].contains(&operation.name);
    if bucket.kind == BucketKind::OnPremises && is_of_lists {
        return Err(Error::OperationNotImplemented { operation: operation.name });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::table::OPERATIONS;

    #[test]
    fn what_deletes_or_configures_a_bucket_does_not_pass() {
        for name in ON_BUCKETS {
            assert!(OPERATIONS.iter().any(|row| row.name == *name), "{name}");
        }
        for row in OPERATIONS.iter().filter(|row| row.target == Target::Bucket) {
            let configures = ["PUT", "DELETE"].contains(&row.method);
            assert!(!(configures && check(row).is_ok()), "{}", row.name);
        }
    }
}
