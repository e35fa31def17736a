//! The table of operations, which routing, permissions, metrics and documents are made from.

use crate::auth::credentials::is_scoped_to;
use crate::error::Error;
use crate::operation::Run::{
    Begin, Complete, Form, NotImplemented, Read, Session, Steps, Upload, Write,
};
use crate::operation::{
    BodySource, Operation, Run, bucket, bucket_config, delete_object, get_object, list_buckets,
    list_objects, multipart, not_configured, object_config, restore_object,
};
use crate::request::dialect::DIRECTORY_SERVICE;
use crate::request::fields::Fields;
use crate::request::location::Target;
use crate::request::query::Query;

/// A row of an operation on the service itself.
const fn service(
    name: &'static str,
    method: &'static str,
    marker: &'static str,
    permission: &'static str,
    run: Run,
) -> Operation {
    Operation {
        name,
        method,
        target: Target::Service,
        marker,
        permission,
        needs_bucket: false,
        sets_properties: false,
        run,
    }
}

/// A row of an operation on a bucket.
const fn bucket(
    name: &'static str,
    method: &'static str,
    marker: &'static str,
    permission: &'static str,
    run: Run,
) -> Operation {
    Operation {
        target: Target::Bucket,
        needs_bucket: true,
        ..service(name, method, marker, permission, run)
    }
}

/// A row of an operation on an object.
const fn object(
    name: &'static str,
    method: &'static str,
    marker: &'static str,
    permission: &'static str,
    run: Run,
) -> Operation {
    Operation { target: Target::Object, ..bucket(name, method, marker, permission, run) }
}

/// A row whose bucket need not exist.
const fn without_bucket(operation: Operation) -> Operation {
    Operation { needs_bucket: false, ..operation }
}

/// A row that says what an object is beside its bytes.
const fn with_properties(operation: Operation) -> Operation {
    Operation { sets_properties: true, ..operation }
}

/// The marker of an operation that a signature tells from the others: one for the service of directory buckets.
const SIGNED_FOR_DIRECTORIES: &str = "scope s3express";

/// All operations. Rows with a marker stand before those without.
#[rustfmt::skip] // A table: one operation a line.
pub static OPERATIONS: &[Operation] = &[
    // The service.
    service("ListDirectoryBuckets", "GET", SIGNED_FOR_DIRECTORIES, "express:ListAllMyDirectoryBuckets", Read(list_buckets::directory)),
    service("ListBuckets", "GET", "", "store:ListAllMyBuckets", Read(list_buckets::general)),
    // Buckets: what hangs on them.
    bucket("GetBucketLocation", "GET", "location", "store:GetBucketLocation", Read(bucket_config::location::get)),
    bucket("GetBucketVersioning", "GET", "versioning", "store:GetBucketVersioning", Read(bucket_config::versioning::get)),
    bucket("PutBucketVersioning", "PUT", "versioning", "store:PutBucketVersioning", Write(bucket_config::versioning::put)),
    bucket("GetBucketOwnershipControls", "GET", "ownershipControls", "store:GetBucketOwnershipControls", Read(bucket_config::ownership::get)),
    bucket("PutBucketOwnershipControls", "PUT", "ownershipControls", "store:PutBucketOwnershipControls", Write(bucket_config::ownership::put)),
    bucket("DeleteBucketOwnershipControls", "DELETE", "ownershipControls", "store:PutBucketOwnershipControls", Write(bucket_config::ownership::delete)),
    bucket("GetBucketAcl", "GET", "acl", "store:GetBucketAcl", Read(bucket_config::acl::get)),
    bucket("PutBucketAcl", "PUT", "acl", "store:PutBucketAcl", Write(bucket_config::acl::put)),
    bucket("GetObjectLockConfiguration", "GET", "object-lock", "store:GetBucketObjectLockConfiguration", Read(bucket_config::object_lock::get)),
    bucket("PutObjectLockConfiguration", "PUT", "object-lock", "store:PutBucketObjectLockConfiguration", Write(bucket_config::object_lock::put)),
    bucket("GetBucketLifecycleConfiguration", "GET", "lifecycle", "store:GetLifecycleConfiguration", Read(bucket_config::lifecycle::get)),
    bucket("PutBucketLifecycleConfiguration", "PUT", "lifecycle", "store:PutLifecycleConfiguration", Write(bucket_config::lifecycle::put)),
    bucket("DeleteBucketLifecycle", "DELETE", "lifecycle", "store:PutLifecycleConfiguration", Write(bucket_config::lifecycle::delete)),
    bucket("GetBucketEncryption", "GET", "encryption", "store:GetEncryptionConfiguration", Read(bucket_config::encryption::get)),
    bucket("PutBucketEncryption", "PUT", "encryption", "store:PutEncryptionConfiguration", Write(bucket_config::encryption::put)),
    bucket("DeleteBucketEncryption", "DELETE", "encryption", "store:PutEncryptionConfiguration", Write(bucket_config::encryption::delete)),
    bucket("GetBucketPolicyStatus", "GET", "policyStatus", "store:GetBucketPolicyStatus", Read(bucket_config::policy::get_status)),
    bucket("GetBucketPolicy", "GET", "policy", "store:GetBucketPolicy", Read(bucket_config::policy::get)),
    bucket("PutBucketPolicy", "PUT", "policy", "store:PutBucketPolicy", Write(bucket_config::policy::put)),
    bucket("DeleteBucketPolicy", "DELETE", "policy", "store:DeleteBucketPolicy", Write(bucket_config::policy::delete)),
    bucket("GetPublicAccessBlock", "GET", "publicAccessBlock", "store:GetBucketPublicAccessBlock", Read(bucket_config::public_access::get)),
    bucket("PutPublicAccessBlock", "PUT", "publicAccessBlock", "store:PutBucketPublicAccessBlock", Write(bucket_config::public_access::put)),
    bucket("DeletePublicAccessBlock", "DELETE", "publicAccessBlock", "store:PutBucketPublicAccessBlock", Write(bucket_config::public_access::delete)),
    bucket("GetBucketAbac", "GET", "abac", "store:GetBucketAbac", Read(not_configured::read)),
    bucket("PutBucketAbac", "PUT", "abac", "store:PutBucketAbac", Write(not_configured::switch)),
    bucket("GetBucketAccelerateConfiguration", "GET", "accelerate", "store:GetAccelerateConfiguration", Read(not_configured::read)),
    bucket("PutBucketAccelerateConfiguration", "PUT", "accelerate", "store:PutAccelerateConfiguration", Write(not_configured::switch)),
    bucket("GetBucketAnalyticsConfiguration", "GET", "analytics&id", "store:GetAnalyticsConfiguration", Read(not_configured::read)),
    bucket("ListBucketAnalyticsConfigurations", "GET", "analytics", "store:GetAnalyticsConfiguration", Read(not_configured::read)),
    bucket("PutBucketAnalyticsConfiguration", "PUT", "analytics", "", NotImplemented),
    bucket("DeleteBucketAnalyticsConfiguration", "DELETE", "analytics", "store:PutAnalyticsConfiguration", Write(not_configured::delete_by_id)),
    bucket("GetBucketCors", "GET", "cors", "store:GetBucketCORS", Read(bucket_config::cors::get)),
    bucket("PutBucketCors", "PUT", "cors", "store:PutBucketCORS", Write(bucket_config::cors::put)),
    bucket("DeleteBucketCors", "DELETE", "cors", "store:PutBucketCORS", Write(bucket_config::cors::delete)),
    bucket("GetBucketIntelligentTieringConfiguration", "GET", "intelligent-tiering&id", "store:GetIntelligentTieringConfiguration", Read(not_configured::read)),
    bucket("ListBucketIntelligentTieringConfigurations", "GET", "intelligent-tiering", "store:GetIntelligentTieringConfiguration", Read(not_configured::read)),
    bucket("PutBucketIntelligentTieringConfiguration", "PUT", "intelligent-tiering", "", NotImplemented),
    bucket("DeleteBucketIntelligentTieringConfiguration", "DELETE", "intelligent-tiering", "store:PutIntelligentTieringConfiguration", Write(not_configured::delete_by_id)),
    bucket("GetBucketInventoryConfiguration", "GET", "inventory&id", "store:GetInventoryConfiguration", Read(not_configured::read)),
    bucket("ListBucketInventoryConfigurations", "GET", "inventory", "store:GetInventoryConfiguration", Read(not_configured::read)),
    bucket("PutBucketInventoryConfiguration", "PUT", "inventory", "", NotImplemented),
    bucket("DeleteBucketInventoryConfiguration", "DELETE", "inventory", "store:PutInventoryConfiguration", Write(not_configured::delete_by_id)),
    bucket("GetBucketLogging", "GET", "logging", "store:GetBucketLogging", Read(not_configured::read)),
    bucket("PutBucketLogging", "PUT", "logging", "store:PutBucketLogging", Write(not_configured::switch)),
    bucket("CreateBucketMetadataConfiguration", "POST", "metadataConfiguration", "", NotImplemented),
    bucket("GetBucketMetadataConfiguration", "GET", "metadataConfiguration", "store:GetBucketMetadataTableConfiguration", Read(not_configured::read)),
    bucket("DeleteBucketMetadataConfiguration", "DELETE", "metadataConfiguration", "", NotImplemented),
    bucket("UpdateBucketMetadataAnnotationTableConfiguration", "PUT", "metadataAnnotationTable", "", NotImplemented),
    bucket("UpdateBucketMetadataInventoryTableConfiguration", "PUT", "metadataInventoryTable", "", NotImplemented),
    bucket("UpdateBucketMetadataJournalTableConfiguration", "PUT", "metadataJournalTable", "", NotImplemented),
    bucket("CreateBucketMetadataTableConfiguration", "POST", "metadataTable", "", NotImplemented),
    bucket("GetBucketMetadataTableConfiguration", "GET", "metadataTable", "store:GetBucketMetadataTableConfiguration", Read(not_configured::read)),
    bucket("DeleteBucketMetadataTableConfiguration", "DELETE", "metadataTable", "", NotImplemented),
    bucket("GetBucketMetricsConfiguration", "GET", "metrics&id", "store:GetMetricsConfiguration", Read(not_configured::read)),
    bucket("ListBucketMetricsConfigurations", "GET", "metrics", "store:GetMetricsConfiguration", Read(not_configured::read)),
    bucket("PutBucketMetricsConfiguration", "PUT", "metrics", "", NotImplemented),
    bucket("DeleteBucketMetricsConfiguration", "DELETE", "metrics", "store:PutMetricsConfiguration", Write(not_configured::delete_by_id)),
    bucket("GetBucketNotificationConfiguration", "GET", "notification", "store:GetBucketNotification", Read(not_configured::read)),
    bucket("PutBucketNotificationConfiguration", "PUT", "notification", "store:PutBucketNotification", Write(not_configured::switch)),
    bucket("GetBucketReplication", "GET", "replication", "store:GetReplicationConfiguration", Read(not_configured::read)),
    bucket("PutBucketReplication", "PUT", "replication", "", NotImplemented),
    bucket("DeleteBucketReplication", "DELETE", "replication", "store:PutReplicationConfiguration", Write(not_configured::delete)),
    bucket("GetBucketRequestPayment", "GET", "requestPayment", "store:GetBucketRequestPayment", Read(bucket_config::request_payment::get)),
    bucket("PutBucketRequestPayment", "PUT", "requestPayment", "store:PutBucketRequestPayment", Write(bucket_config::request_payment::put)),
    bucket("GetBucketTagging", "GET", "tagging", "store:GetBucketTagging", Read(bucket_config::tagging::get)),
    bucket("PutBucketTagging", "PUT", "tagging", "store:PutBucketTagging", Write(bucket_config::tagging::put)),
    bucket("DeleteBucketTagging", "DELETE", "tagging", "store:PutBucketTagging", Write(bucket_config::tagging::delete)),
    bucket("GetBucketWebsite", "GET", "website", "store:GetBucketWebsite", Read(bucket_config::website::get)),
    bucket("PutBucketWebsite", "PUT", "website", "store:PutBucketWebsite", Write(bucket_config::website::put)),
    bucket("DeleteBucketWebsite", "DELETE", "website", "store:DeleteBucketWebsite", Write(bucket_config::website::delete)),
    bucket("CreateSession", "GET", "session", "", Session),
    bucket("ListMultipartUploads", "GET", "uploads", "store:ListBucketMultipartUploads", Read(multipart::list_uploads::uploads)),
    // Buckets: what is in them.
    bucket("ListObjectVersions", "GET", "versions", "store:ListBucketVersions", Read(list_objects::versions)),
    bucket("ListObjectsV2", "GET", "list-type", "store:ListBucket", Read(list_objects::objects_v2)),
    // Each key is looked at by itself.
    bucket("DeleteObjects", "POST", "delete", "", Steps(delete_object::objects)),
    bucket("WriteGetObjectResponse", "POST", "x-store-request-route", "", NotImplemented),
    bucket("PostObject", "POST", "", "store:PutObject", Form),
    // Buckets themselves.
    bucket("ListObjects", "GET", "", "store:ListBucket", Read(list_objects::objects)),
    bucket("HeadBucket", "HEAD", "", "store:ListBucket", Read(bucket::head)),
    without_bucket(bucket("CreateBucket", "PUT", "", "store:CreateBucket", Write(bucket::create))),
    bucket("DeleteBucket", "DELETE", "", "store:DeleteBucket", Steps(bucket::delete)),
    without_bucket(bucket("Preflight", "OPTIONS", "", "", Read(bucket_config::cors::preflight))),
    // Objects: what hangs on them.
    object("GetObjectAcl", "GET", "acl", "store:GetObjectAcl", Read(object_config::get_acl)),
    object("PutObjectAcl", "PUT", "acl", "store:PutObjectAcl", Write(object_config::put_acl)),
    object("GetObjectTagging", "GET", "tagging", "store:GetObjectTagging", Read(object_config::get_tagging)),
    object("PutObjectTagging", "PUT", "tagging", "store:PutObjectTagging", Write(object_config::put_tagging)),
    object("DeleteObjectTagging", "DELETE", "tagging", "store:DeleteObjectTagging", Write(object_config::delete_tagging)),
    object("GetObjectRetention", "GET", "retention", "store:GetObjectRetention", Read(object_config::get_retention)),
    object("PutObjectRetention", "PUT", "retention", "store:PutObjectRetention", Write(object_config::put_retention)),
    object("GetObjectLegalHold", "GET", "legal-hold", "store:GetObjectLegalHold", Read(object_config::get_hold)),
    object("PutObjectLegalHold", "PUT", "legal-hold", "store:PutObjectLegalHold", Write(object_config::put_hold)),
    object("GetObjectAttributes", "GET", "attributes", "store:GetObjectAttributes", Read(get_object::attributes)),
    object("GetObjectTorrent", "GET", "torrent", "", NotImplemented),
    object("PutObjectAnnotation", "PUT", "annotation", "", NotImplemented),
    object("GetObjectAnnotation", "GET", "annotation&annotationName", "", NotImplemented),
    object("ListObjectAnnotations", "GET", "annotation", "", NotImplemented),
    object("DeleteObjectAnnotation", "DELETE", "annotation", "", NotImplemented),
    object("UpdateObjectEncryption", "PUT", "encryption", "", NotImplemented),
    object("RestoreObject", "POST", "restore", "store:RestoreObject", Write(restore_object::restore)),
    object("SelectObjectContent", "POST", "select", "", NotImplemented),
    object("RenameObject", "PUT", "renameObject", "", NotImplemented),
    with_properties(object("CreateMultipartUpload", "POST", "uploads", "store:PutObject", Begin)),
    object("CompleteMultipartUpload", "POST", "uploadId", "store:PutObject", Complete),
    object("AbortMultipartUpload", "DELETE", "uploadId", "store:AbortMultipartUpload", Write(multipart::abort::abort)),
    object("ListParts", "GET", "uploadId", "store:ListMultipartUploadParts", Read(multipart::list_parts::parts)),
    object("UploadPartCopy", "PUT", "uploadId&x-store-copy-source", "store:PutObject", Upload(BodySource::PartOfObject)),
    object("UploadPart", "PUT", "uploadId", "store:PutObject", Upload(BodySource::PartOfRequest)),
    object("WriteGetObjectResponse", "POST", "x-store-request-route", "", NotImplemented),
    // Objects themselves.
    without_bucket(object("Preflight", "OPTIONS", "", "", Read(bucket_config::cors::preflight))),
    object("GetObject", "GET", "", "store:GetObject", Read(get_object::get)),
    object("HeadObject", "HEAD", "", "store:GetObject", Read(get_object::head)),
    object("DeleteObject", "DELETE", "", "store:DeleteObject", Write(delete_object::object)),
    with_properties(object("CopyObject", "PUT", "x-store-copy-source", "store:PutObject", Upload(BodySource::Object))),
    with_properties(object("PutObject", "PUT", "", "store:PutObject", Upload(BodySource::Request))),
];

/// The operation that a request means: the first row that fits, and rows with a marker come first. One that is not built
/// has a row too: its run says so.
///
/// # Errors
/// [`Error::MethodNotAllowed`].
pub fn route(
    method: &str,
    target: Target,
    fields: &Fields<'_>,
    query: &Query,
) -> Result<&'static Operation, Error> {
    let found = OPERATIONS.iter().find(|row| is_meant(row, method, target, fields, query));
    found.ok_or_else(|| Error::MethodNotAllowed {
        method: method.to_owned(),
        resource: target.name(),
    })
}

/// The operation with this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Operation> {
    OPERATIONS.iter().find(|row| row.name == name)
}

/// Tells whether a row is for a request.
fn is_meant(
    row: &Operation,
    method: &str,
    target: Target,
    fields: &Fields<'_>,
    query: &Query,
) -> bool {
    row.target == target
        && row.method == method
        && row.markers().all(|marker| match marker {
            SIGNED_FOR_DIRECTORIES => {
                query.has("max-directory-buckets") || is_scoped_to(DIRECTORY_SERVICE, fields, query)
            }
            header if header.starts_with("x-store-") => fields.has(header),
            parameter => query.has(parameter),
        })
}

/// The table as a page: docs/operations/object-put.md is this text.
#[must_use]
pub fn page() -> String {
    let mut text = String::from(
        "# Operations of object-put\n\nMade from the rows of `OPERATIONS`; a test compares the two.\n\n`built` works. `never set` answers as for a bucket that never had it: 404 with its own code, or an empty document. `501, but for off` takes a document that switches the feature off, and refuses any other by name. `501` is refused and names itself.\n\n| Operation | HTTP | On | Told by | Permission | State |\n|---|---|---|---|---|---|\n",
    );
    for row in OPERATIONS {
        let target = match row.target {
            Target::Service => "service",
            Target::Bucket => "bucket",
            Target::Object => "object",
        };
        let markers: Vec<_> = row.markers().map(|name| format!("`{name}`")).collect();
        let permission = match row.permission {
            "" => String::new(),
            name => format!("`{name}`"),
        };
        let state = match row.run {
            NotImplemented => "501",
            _ => not_configured::state(row.name).unwrap_or("built"),
        };
        let cells = [row.name, row.method, target, &markers.join(" "), &permission, state];
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    text
}
