//! Operations and headers on directory buckets: what they have, by which right, and what they refuse by name.

use crate::auth::session::{DirectoryAccess, SessionMode};
use crate::error::Error;
use crate::operation::Operation;
use crate::operation::put_headers::HEADERS;
use crate::request::fields::Fields;
use crate::request::host::HostKind;
use crate::request::location::{Location, Target};
use crate::request::query::Query;
use crate::store::access_point::is_directory_point_name;
use crate::store::bucket::{BucketKind, is_directory_name};

use DirectoryAccess::{Copy, CreateSession, Regional, Zonal};
use SessionMode::{ReadOnly, ReadWrite};

/// The permission to make one.
pub const CREATE_BUCKET: &str = "express:CreateBucket";

/// The operations that directory buckets have; all others are 501 and name themselves.
#[rustfmt::skip] // A table: one operation a line.
pub const SERVED: &[(&str, DirectoryAccess)] = &[
    ("CreateSession", CreateSession),
    ("HeadBucket", Zonal(ReadOnly)),
    ("ListObjectsV2", Zonal(ReadOnly)),
    ("ListMultipartUploads", Zonal(ReadOnly)),
    ("GetObject", Zonal(ReadOnly)),
    ("HeadObject", Zonal(ReadOnly)),
    ("GetObjectAttributes", Zonal(ReadOnly)),
    ("ListParts", Zonal(ReadOnly)),
    ("PutObject", Zonal(ReadWrite)),
    ("DeleteObject", Zonal(ReadWrite)),
    ("DeleteObjects", Zonal(ReadWrite)),
    ("CreateMultipartUpload", Zonal(ReadWrite)),
    ("UploadPart", Zonal(ReadWrite)),
    ("CompleteMultipartUpload", Zonal(ReadWrite)),
    ("AbortMultipartUpload", Zonal(ReadWrite)),
    ("CopyObject", Copy),
    ("UploadPartCopy", Copy),
    ("CreateBucket", Regional(CREATE_BUCKET, true)),
    ("DeleteBucket", Regional("express:DeleteBucket", true)),
    ("GetBucketPolicy", Regional("express:GetBucketPolicy", false)),
    ("PutBucketPolicy", Regional("express:PutBucketPolicy", true)),
    ("DeleteBucketPolicy", Regional("express:DeleteBucketPolicy", true)),
    ("GetBucketEncryption", Regional("express:GetEncryptionConfiguration", false)),
    ("PutBucketEncryption", Regional("express:PutEncryptionConfiguration", true)),
    ("DeleteBucketEncryption", Regional("express:PutEncryptionConfiguration", true)),
    ("GetBucketLifecycleConfiguration", Regional("express:GetLifecycleConfiguration", false)),
    ("PutBucketLifecycleConfiguration", Regional("express:PutLifecycleConfiguration", true)),
    ("DeleteBucketLifecycle", Regional("express:PutLifecycleConfiguration", true)),
];

/// The way in which an operation on a directory bucket is authorized; `None` for one that they do not have.
#[must_use]
pub fn access_of(operation: &str) -> Option<DirectoryAccess> {
    SERVED.iter().find(|(name, _)| *name == operation).map(|(_, access)| *access)
}

/// Checks what can be told of a request by the name of its bucket, or of the access point in its place: directory buckets have some
/// operations, no versions, and are addressed virtual-hosted but for operations on the bucket itself; other buckets have no sessions, and no
/// zonal host.
///
/// # Errors
/// [`Error::OperationNotImplemented`], [`Error::HeaderNotImplemented`], [`Error::ParameterNotImplemented`]; [`Error::NoSuchBucket`],
/// [`Error::MethodNotAllowed`].
pub fn check_place(operation: &Operation, location: &Location, query: &Query) -> Result<(), Error> {
    let Some(name) = location.bucket.as_deref() else {
        return Ok(());
    };
    if !is_directory_name(name) && !is_directory_point_name(name) {
        return match operation.name {
            _ if location.host == Some(HostKind::Zonal) => {
                Err(Error::NoSuchBucket { bucket: name.to_owned() })
            }
            "CreateSession" => Err(Error::MethodNotAllowed {
                method: operation.method.to_owned(),
                resource: operation.target.name(),
                allowed: None,
            }),
            _ => Ok(()),
        };
    }
    let access = match access_of(operation.name) {
        // A question of a browser: such a bucket has no rules for it.
        None if operation.name == "Preflight" => return Ok(()),
        access => access.ok_or(Error::OperationNotImplemented { operation: operation.name })?,
    };
    if location.host.is_none() && !matches!(access, Regional(..)) {
        let reason = "Directory buckets are addressed virtual-hosted alone";
        return Err(Error::HeaderNotImplemented { header: "Host", reason: Some(reason) });
    }
    if query.get("versionId").is_some_and(|version| version != "null") {
        return Err(Error::ParameterNotImplemented { name: "versionId".to_owned() });
    }
    Ok(())
}

/// Checks the headers of a request on a directory bucket: those that are for other buckets are refused by name, whatever the operation.
///
/// # Errors
/// [`Error::HeaderNotImplemented`].
pub fn check_headers(operation: &Operation, fields: &Fields<'_>) -> Result<(), Error> {
    const OF_NEW_BUCKETS: [&str; 2] =
        ["x-store-bucket-object-lock-enabled", "x-store-object-ownership"];
    const OF_REQUESTS: [&str; 2] = ["x-store-bypass-governance-retention", "x-store-mfa"];
    let of_table = HEADERS.iter().filter(|rule| !rule.applies_to.takes(BucketKind::Directory));
    let refused = of_table.map(|rule| rule.name).chain(OF_NEW_BUCKETS).chain(OF_REQUESTS);
    for header in refused {
        // A document has a digest of its own.
        let is_document = operation.target != Target::Object && header == "content-md5";
        if fields.has(header) && !is_document {
            return Err(Error::HeaderNotImplemented { header, reason: None });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::table::OPERATIONS;

    #[test]
    fn every_operation_of_directory_buckets_is_one_of_the_table() {
        for (name, _) in SERVED {
            assert!(OPERATIONS.iter().any(|row| row.name == *name), "{name}");
        }
    }
}
