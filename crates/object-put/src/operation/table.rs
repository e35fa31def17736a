//! The table of operations, which routing, permissions, metrics and documents are made from.

use triptych_core::kv::RoundTrips;

use crate::operation::Run::{
    Begin, Complete, Form, NotImplemented, Read, Session, Steps, Upload, Write,
};
use crate::operation::{
    BodySource, DigestNeed, Operation, Run, additions, bucket, bucket_config, delete_object,
    get_object, list_buckets, list_objects, multipart, not_configured, object_config,
    restore_object,
};
use crate::request::location::Target;

/// A row of an operation on the service itself.
const fn service(
    name: &'static str,
    method: &'static str,
    marker: &'static str,
    permission: &'static str,
    run: Run,
    (reads, commits): (u32, u32),
) -> Operation {
    Operation {
        name,
        method,
        target: Target::Service,
        marker,
        permission,
        needs_bucket: false,
        sets_properties: false,
        digest: DigestNeed::Optional,
        round_trips: RoundTrips::of(reads, commits),
        largest: None,
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
    round_trips: (u32, u32),
) -> Operation {
    Operation {
        target: Target::Bucket,
        needs_bucket: true,
        ..service(name, method, marker, permission, run, round_trips)
    }
}

/// A row of an operation on an object.
const fn object(
    name: &'static str,
    method: &'static str,
    marker: &'static str,
    permission: &'static str,
    run: Run,
    round_trips: (u32, u32),
) -> Operation {
    Operation {
        target: Target::Object,
        ..bucket(name, method, marker, permission, run, round_trips)
    }
}

/// A row whose bucket need not exist.
const fn without_bucket(operation: Operation) -> Operation {
    Operation { needs_bucket: false, ..operation }
}

/// A row that says what an object is beside its bytes.
const fn with_properties(operation: Operation) -> Operation {
    Operation { sets_properties: true, ..operation }
}

/// A row whose document must come with a digest where the real service asks for one.
const fn with_digest(operation: Operation) -> Operation {
    Operation { digest: DigestNeed::OfRealService, ..operation }
}

/// The row that deletes many: a key that the way changed would take another object.
const DELETE_OBJECTS: Operation = Operation {
    digest: DigestNeed::Required,
    ..bucket("DeleteObjects", "POST", "delete", "", Steps(delete_object::objects), (2, 1))
};

/// A row of what is done in steps: its largest request costs so many reads and commits.
const fn largest(
    operation: Operation,
    (reads, commits): (u32, u32),
    what: &'static str,
) -> Operation {
    Operation { largest: Some((RoundTrips::of(reads, commits), what)), ..operation }
}

/// The parameter that tells the two forms of a listing apart.
pub(super) const LISTING_FORM: &str = "list-type";
/// The marker of an operation that a signature tells from the others: one for the service of directory buckets.
pub(super) const SIGNED_FOR_DIRECTORIES: &str = "scope s3express";

/// All operations. Rows with a marker stand before those without. The last column is what a request costs at most on a store of another machine:
/// reads, and commits, as `tests/round_trips.rs` counts them.
#[rustfmt::skip] // A table: one operation a line.
pub static OPERATIONS: &[Operation] = &[
    // The service.
    service("ListDirectoryBuckets", "GET", SIGNED_FOR_DIRECTORIES, "express:ListAllMyDirectoryBuckets", Read(list_buckets::directory), (2, 0)),
    service("ListBuckets", "GET", "", "store:ListAllMyBuckets", Read(list_buckets::general), (3, 0)),
    service("Preflight", "OPTIONS", "", "", Read(bucket_config::cors::preflight), (1, 0)),
    // Buckets: what hangs on them.
    bucket("GetBucketLocation", "GET", "location", "store:GetBucketLocation", Read(bucket_config::location::get), (1, 0)),
    bucket("GetBucketVersioning", "GET", "versioning", "store:GetBucketVersioning", Read(bucket_config::versioning::get), (1, 0)),
    bucket("PutBucketVersioning", "PUT", "versioning", "store:PutBucketVersioning", Write(bucket_config::versioning::put), (1, 1)),
    bucket("GetBucketOwnershipControls", "GET", "ownershipControls", "store:GetBucketOwnershipControls", Read(bucket_config::ownership::get), (1, 0)),
    bucket("PutBucketOwnershipControls", "PUT", "ownershipControls", "store:PutBucketOwnershipControls", Write(bucket_config::ownership::put), (2, 1)),
    bucket("DeleteBucketOwnershipControls", "DELETE", "ownershipControls", "store:PutBucketOwnershipControls", Write(bucket_config::ownership::delete), (1, 1)),
    bucket("GetBucketAcl", "GET", "acl", "store:GetBucketAcl", Read(bucket_config::acl::get), (2, 0)),
    bucket("PutBucketAcl", "PUT", "acl", "store:PutBucketAcl", Write(bucket_config::acl::put), (2, 1)),
    bucket("GetObjectLockConfiguration", "GET", "object-lock", "store:GetBucketObjectLockConfiguration", Read(bucket_config::object_lock::get), (1, 0)),
    with_digest(bucket("PutObjectLockConfiguration", "PUT", "object-lock", "store:PutBucketObjectLockConfiguration", Write(bucket_config::object_lock::put), (1, 1))),
    bucket("GetBucketLifecycleConfiguration", "GET", "lifecycle", "store:GetLifecycleConfiguration", Read(bucket_config::lifecycle::get), (1, 0)),
    with_digest(bucket("PutBucketLifecycleConfiguration", "PUT", "lifecycle", "store:PutLifecycleConfiguration", Write(bucket_config::lifecycle::put), (1, 1))),
    bucket("DeleteBucketLifecycle", "DELETE", "lifecycle", "store:PutLifecycleConfiguration", Write(bucket_config::lifecycle::delete), (1, 1)),
    bucket("GetBucketEncryption", "GET", "encryption", "store:GetEncryptionConfiguration", Read(bucket_config::encryption::get), (1, 0)),
    bucket("PutBucketEncryption", "PUT", "encryption", "store:PutEncryptionConfiguration", Write(bucket_config::encryption::put), (1, 1)),
    bucket("DeleteBucketEncryption", "DELETE", "encryption", "store:PutEncryptionConfiguration", Write(bucket_config::encryption::delete), (1, 1)),
    bucket("GetBucketPolicyStatus", "GET", "policyStatus", "store:GetBucketPolicyStatus", Read(bucket_config::policy::get_status), (1, 0)),
    bucket("GetBucketPolicy", "GET", "policy", "store:GetBucketPolicy", Read(bucket_config::policy::get), (1, 0)),
    bucket("PutBucketPolicy", "PUT", "policy", "store:PutBucketPolicy", Write(bucket_config::policy::put), (2, 1)),
    bucket("DeleteBucketPolicy", "DELETE", "policy", "store:DeleteBucketPolicy", Write(bucket_config::policy::delete), (1, 1)),
    bucket("GetPublicAccessBlock", "GET", "publicAccessBlock", "store:GetBucketPublicAccessBlock", Read(bucket_config::public_access::get), (1, 0)),
    bucket("PutPublicAccessBlock", "PUT", "publicAccessBlock", "store:PutBucketPublicAccessBlock", Write(bucket_config::public_access::put), (1, 1)),
    bucket("DeletePublicAccessBlock", "DELETE", "publicAccessBlock", "store:PutBucketPublicAccessBlock", Write(bucket_config::public_access::delete), (1, 1)),
    bucket("GetBucketAbac", "GET", "abac", "store:GetBucketAbac", Read(not_configured::read), (1, 0)),
    bucket("PutBucketAbac", "PUT", "abac", "store:PutBucketAbac", Write(not_configured::switch), (1, 0)),
    bucket("GetBucketAccelerateConfiguration", "GET", "accelerate", "store:GetAccelerateConfiguration", Read(not_configured::read), (1, 0)),
    bucket("PutBucketAccelerateConfiguration", "PUT", "accelerate", "store:PutAccelerateConfiguration", Write(not_configured::switch), (1, 0)),
    bucket("GetBucketAnalyticsConfiguration", "GET", "analytics&id", "store:GetAnalyticsConfiguration", Read(not_configured::read), (1, 0)),
    bucket("ListBucketAnalyticsConfigurations", "GET", "analytics", "store:GetAnalyticsConfiguration", Read(not_configured::read), (1, 0)),
    bucket("PutBucketAnalyticsConfiguration", "PUT", "analytics", "", NotImplemented, (0, 0)),
    bucket("DeleteBucketAnalyticsConfiguration", "DELETE", "analytics", "store:PutAnalyticsConfiguration", Write(not_configured::delete_by_id), (1, 0)),
    bucket("GetBucketCors", "GET", "cors", "store:GetBucketCORS", Read(bucket_config::cors::get), (1, 0)),
    with_digest(bucket("PutBucketCors", "PUT", "cors", "store:PutBucketCORS", Write(bucket_config::cors::put), (1, 1))),
    bucket("DeleteBucketCors", "DELETE", "cors", "store:PutBucketCORS", Write(bucket_config::cors::delete), (1, 1)),
    bucket("GetBucketIntelligentTieringConfiguration", "GET", "intelligent-tiering&id", "store:GetIntelligentTieringConfiguration", Read(not_configured::read), (1, 0)),
    bucket("ListBucketIntelligentTieringConfigurations", "GET", "intelligent-tiering", "store:GetIntelligentTieringConfiguration", Read(not_configured::read), (1, 0)),
    bucket("PutBucketIntelligentTieringConfiguration", "PUT", "intelligent-tiering", "", NotImplemented, (0, 0)),
    bucket("DeleteBucketIntelligentTieringConfiguration", "DELETE", "intelligent-tiering", "store:PutIntelligentTieringConfiguration", Write(not_configured::delete_by_id), (1, 0)),
    bucket("GetBucketInventoryConfiguration", "GET", "inventory&id", "store:GetInventoryConfiguration", Read(not_configured::read), (1, 0)),
    bucket("ListBucketInventoryConfigurations", "GET", "inventory", "store:GetInventoryConfiguration", Read(not_configured::read), (1, 0)),
    bucket("PutBucketInventoryConfiguration", "PUT", "inventory", "", NotImplemented, (0, 0)),
    bucket("DeleteBucketInventoryConfiguration", "DELETE", "inventory", "store:PutInventoryConfiguration", Write(not_configured::delete_by_id), (1, 0)),
    bucket("GetBucketLogging", "GET", "logging", "store:GetBucketLogging", Read(not_configured::read), (1, 0)),
    bucket("PutBucketLogging", "PUT", "logging", "store:PutBucketLogging", Write(not_configured::switch), (1, 0)),
    bucket("CreateBucketMetadataConfiguration", "POST", "metadataConfiguration", "", NotImplemented, (0, 0)),
    bucket("GetBucketMetadataConfiguration", "GET", "metadataConfiguration", "store:GetBucketMetadataTableConfiguration", Read(not_configured::read), (1, 0)),
    bucket("DeleteBucketMetadataConfiguration", "DELETE", "metadataConfiguration", "", NotImplemented, (0, 0)),
    bucket("UpdateBucketMetadataAnnotationTableConfiguration", "PUT", "metadataAnnotationTable", "", NotImplemented, (0, 0)),
    bucket("UpdateBucketMetadataInventoryTableConfiguration", "PUT", "metadataInventoryTable", "", NotImplemented, (0, 0)),
    bucket("UpdateBucketMetadataJournalTableConfiguration", "PUT", "metadataJournalTable", "", NotImplemented, (0, 0)),
    bucket("CreateBucketMetadataTableConfiguration", "POST", "metadataTable", "", NotImplemented, (0, 0)),
    bucket("GetBucketMetadataTableConfiguration", "GET", "metadataTable", "store:GetBucketMetadataTableConfiguration", Read(not_configured::read), (1, 0)),
    bucket("DeleteBucketMetadataTableConfiguration", "DELETE", "metadataTable", "", NotImplemented, (0, 0)),
    bucket("GetBucketMetricsConfiguration", "GET", "metrics&id", "store:GetMetricsConfiguration", Read(not_configured::read), (1, 0)),
    bucket("ListBucketMetricsConfigurations", "GET", "metrics", "store:GetMetricsConfiguration", Read(not_configured::read), (1, 0)),
    bucket("PutBucketMetricsConfiguration", "PUT", "metrics", "", NotImplemented, (0, 0)),
    bucket("DeleteBucketMetricsConfiguration", "DELETE", "metrics", "store:PutMetricsConfiguration", Write(not_configured::delete_by_id), (1, 0)),
    bucket("GetBucketNotificationConfiguration", "GET", "notification", "store:GetBucketNotification", Read(not_configured::read), (1, 0)),
    bucket("PutBucketNotificationConfiguration", "PUT", "notification", "store:PutBucketNotification", Write(not_configured::switch), (1, 0)),
    bucket("GetBucketReplication", "GET", "replication", "store:GetReplicationConfiguration", Read(not_configured::read), (1, 0)),
    bucket("PutBucketReplication", "PUT", "replication", "", NotImplemented, (0, 0)),
    bucket("DeleteBucketReplication", "DELETE", "replication", "store:PutReplicationConfiguration", Write(not_configured::delete), (1, 0)),
    bucket("GetBucketRequestPayment", "GET", "requestPayment", "store:GetBucketRequestPayment", Read(bucket_config::request_payment::get), (1, 0)),
    bucket("PutBucketRequestPayment", "PUT", "requestPayment", "store:PutBucketRequestPayment", Write(bucket_config::request_payment::put), (1, 1)),
    bucket("GetBucketTagging", "GET", "tagging", "store:GetBucketTagging", Read(bucket_config::tagging::get), (2, 0)),
    with_digest(bucket("PutBucketTagging", "PUT", "tagging", "store:PutBucketTagging", Write(bucket_config::tagging::put), (1, 1))),
    bucket("DeleteBucketTagging", "DELETE", "tagging", "store:PutBucketTagging", Write(bucket_config::tagging::delete), (1, 1)),
    bucket("GetBucketWebsite", "GET", "website", "store:GetBucketWebsite", Read(bucket_config::website::get), (2, 0)),
    bucket("PutBucketWebsite", "PUT", "website", "store:PutBucketWebsite", Write(bucket_config::website::put), (1, 1)),
    bucket("DeleteBucketWebsite", "DELETE", "website", "store:DeleteBucketWebsite", Write(bucket_config::website::delete), (1, 1)),
    bucket("CreateSession", "GET", "session", "", Session, (2, 0)),
    bucket("ListMultipartUploads", "GET", "uploads", "store:ListBucketMultipartUploads", Read(multipart::list_uploads::uploads), (3, 0)),
    // Buckets: what is in them.
    bucket("ListObjectVersions", "GET", "versions", "store:ListBucketVersions", Read(list_objects::versions), (5, 0)),
    bucket("ListObjectsV2", "GET", LISTING_FORM, "store:ListBucket", Read(list_objects::objects_v2), (2, 0)),
    // Each key is looked at by itself.
    largest(DELETE_OBJECTS, (21, 20), "1,000 keys"),
    bucket("WriteGetObjectResponse", "POST", "x-store-request-route", "", NotImplemented, (0, 0)),
    bucket("PostObject", "POST", "", "store:PutObject", Form, (5, 1)),
    // Buckets themselves.
    bucket("ListObjects", "GET", "", "store:ListBucket", Read(list_objects::objects), (3, 0)),
    bucket("HeadBucket", "HEAD", "", "store:ListBucket", Read(bucket::head), (1, 0)),
    without_bucket(bucket("CreateBucket", "PUT", "", "store:CreateBucket", Write(bucket::create), (2, 1))),
    bucket("DeleteBucket", "DELETE", "", "store:DeleteBucket", Steps(bucket::delete), (7, 2)),
    without_bucket(bucket("Preflight", "OPTIONS", "", "", Read(bucket_config::cors::preflight), (1, 0))),
    // Objects: what hangs on them.
    object("GetObjectAcl", "GET", "acl", "store:GetObjectAcl", Read(object_config::get_acl), (2, 0)),
    object("PutObjectAcl", "PUT", "acl", "store:PutObjectAcl", Write(object_config::put_acl), (2, 1)),
    object("GetObjectTagging", "GET", "tagging", "store:GetObjectTagging", Read(object_config::get_tagging), (1, 0)),
    object("PutObjectTagging", "PUT", "tagging", "store:PutObjectTagging", Write(object_config::put_tagging), (1, 1)),
    object("DeleteObjectTagging", "DELETE", "tagging", "store:DeleteObjectTagging", Write(object_config::delete_tagging), (1, 1)),
    object("GetObjectRetention", "GET", "retention", "store:GetObjectRetention", Read(object_config::get_retention), (1, 0)),
    with_digest(object("PutObjectRetention", "PUT", "retention", "store:PutObjectRetention", Write(object_config::put_retention), (1, 1))),
    object("GetObjectLegalHold", "GET", "legal-hold", "store:GetObjectLegalHold", Read(object_config::get_hold), (1, 0)),
    with_digest(object("PutObjectLegalHold", "PUT", "legal-hold", "store:PutObjectLegalHold", Write(object_config::put_hold), (1, 1))),
    object("GetObjectAttributes", "GET", "attributes", "store:GetObjectAttributes", Read(get_object::attributes), (1, 0)),
    object("GetObjectTorrent", "GET", "torrent", "", NotImplemented, (0, 0)),
    object("PutObjectAnnotation", "PUT", "annotation", "", NotImplemented, (0, 0)),
    object("GetObjectAnnotation", "GET", "annotation&annotationName", "", NotImplemented, (0, 0)),
    object("ListObjectAnnotations", "GET", "annotation", "", NotImplemented, (0, 0)),
    object("DeleteObjectAnnotation", "DELETE", "annotation", "", NotImplemented, (0, 0)),
    object("UpdateObjectEncryption", "PUT", "encryption", "", NotImplemented, (0, 0)),
    object("RestoreObject", "POST", "restore", "store:RestoreObject", Write(restore_object::restore), (1, 1)),
    object("SelectObjectContent", "POST", "select", "", NotImplemented, (0, 0)),
    object("RenameObject", "PUT", "renameObject", "", NotImplemented, (0, 0)),
    with_properties(object("CreateMultipartUpload", "POST", "uploads", "store:PutObject", Begin, (4, 1))),
    largest(object("CompleteMultipartUpload", "POST", "uploadId", "store:PutObject", Complete, (2, 1)), (14, 4), "10,000 parts"),
    object("AbortMultipartUpload", "DELETE", "uploadId", "store:AbortMultipartUpload", Write(multipart::abort::abort), (1, 1)),
    object("ListParts", "GET", "uploadId", "store:ListMultipartUploadParts", Read(multipart::list_parts::parts), (3, 0)),
    object("UploadPartCopy", "PUT", "uploadId&x-store-copy-source", "store:PutObject", Upload(BodySource::PartOfObject), (4, 1)),
    object("UploadPart", "PUT", "uploadId", "store:PutObject", Upload(BodySource::PartOfRequest), (2, 1)),
    object("WriteGetObjectResponse", "POST", "x-store-request-route", "", NotImplemented, (0, 0)),
    // Objects themselves.
    without_bucket(object("Preflight", "OPTIONS", "", "", Read(bucket_config::cors::preflight), (1, 0))),
    object("GetObject", "GET", "", "store:GetObject", Read(get_object::get), (2, 0)),
    object("HeadObject", "HEAD", "", "store:GetObject", Read(get_object::head), (1, 0)),
    object("DeleteObject", "DELETE", "", "store:DeleteObject", Write(delete_object::object), (1, 1)),
    with_properties(object("CopyObject", "PUT", "x-store-copy-source", "store:PutObject", Upload(BodySource::Object), (3, 1))),
    with_properties(object("PutObject", "PUT", "", "store:PutObject", Upload(BodySource::Request), (1, 1))),
];

/// The operation with this name.
#[must_use]
pub fn named(name: &str) -> Option<&'static Operation> {
    OPERATIONS.iter().find(|row| row.name == name)
}

/// Tells whether a parameter names a part of a bucket or an object: another operation is done with it than without. Which form a listing has
/// is no part.
#[must_use]
pub fn is_subresource(parameter: &str) -> bool {
    let mut markers = OPERATIONS.iter().flat_map(Operation::markers);
    parameter != LISTING_FORM && markers.any(|marker| marker == parameter)
}

/// The table as a page: docs/operations/object-put.md is this text.
#[must_use]
pub fn page() -> String {
    let mut text = String::from(
        "# Operations of object-put\n\nMade from the rows of `OPERATIONS`; a test compares the two.\n\n`built` works. `never set` answers as for a bucket that never had it: 404 with its own code, or an empty document. `501, but for off` takes a document that switches the feature off, and refuses any other by name. `501` is refused and names itself.\n\nRound trips are those to a store on another machine that a request costs at most: reads + commits; where a large request is done in steps, also those of the largest. Counted are those to PostgreSQL, which passes over the keys behind a common prefix by itself. etcd does not: there a list with a delimiter costs one more for each common prefix that has some hundred keys or more. A conflict with another writer, and what an instance sees for the first time (credentials, a bucket, an access point that another made), cost more, and so does a setting of a bucket of more than 60 KiB.\n\n| Operation | HTTP | On | Told by | Permission | Round trips | State |\n|---|---|---|---|---|---|---|\n",
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
        let mut trips = row.round_trips.to_string();
        if let Some((most, size)) = row.largest {
            trips.push_str(&format!("; {most} for {size}"));
        }
        let cells = [row.name, row.method, target, &markers.join(" "), &permission, &trips, state];
        text.push_str(&format!("| {} |\n", cells.join(" | ")));
    }
    text.push_str(&additions::page());
    text
}
