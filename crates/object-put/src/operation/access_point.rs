//! Operations through access points: all on objects, and those on the bucket that neither delete nor configure it.

use crate::auth::session::DirectoryAccess;
use crate::error::Error;
use crate::operation::Operation;
use crate::operation::directory_bucket::access_of;
use crate::request::location::Target;
use crate::store::access_point::AccessPoint;
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

/// Checks that an access point lets an operation through; one to a directory bucket what has to do with its sessions.
///
/// # Errors
/// [`Error::MethodNotAllowed`].
pub fn check(operation: &Operation, point: &AccessPoint) -> Result<(), Error> {
    let passes = match point.is_directory() {
        true => !matches!(access_of(operation.name), Some(DirectoryAccess::Regional(..))),
        false => operation.target == Target::Object || ON_BUCKETS.contains(&operation.name),
    };
    if passes {
        return Ok(());
    }
    let method = operation.method.to_owned();
    Err(Error::MethodNotAllowed { method, resource: "ACCESS_POINT", allowed: None })
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
        for name in ["ap", "ap--use1-az4--xa-s3"] {
            let point = AccessPoint {
                name: name.to_owned(),
                account: "111122223333".to_owned(),
                bucket: "b".to_owned(),
                deployment: None,
                alias: None,
                policy: None,
                restricts_public: true,
                ignores_public_acls: true,
            };
            let served = |row: &&Operation| !point.is_directory() || access_of(row.name).is_some();
            for row in OPERATIONS.iter().filter(|row| row.target == Target::Bucket).filter(served) {
                let configures = ["PUT", "DELETE"].contains(&row.method);
                assert!(!(configures && check(row, &point).is_ok()), "{name} {}", row.name);
            }
        }
    }
}
