//! The operations: one table that routing, permissions, metrics and documents are made from, and what a handler is given.

pub mod bucket;
pub mod bucket_config;
pub mod copy_object;
pub mod delete_object;
pub mod get_object;
pub mod list_objects;
pub mod not_configured;
pub mod object_config;
pub mod put_headers;
pub mod put_object;
pub mod strict;

use std::borrow::Cow;

use bytes::Bytes;
use triptych_core::id::Ids;
use triptych_core::kv::Tx;
use triptych_core::time::Timestamp;

use crate::auth::account::Caller;
use crate::error::Error;
use crate::request::dialect::Dialect;
use crate::request::fields::{Fields, Query};
use crate::store::bucket::{Bucket, Ownership};
use crate::store::key::Key;
use crate::store::version::ObjectRange;

/// The kind of thing that the path of a request names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The service itself: `/`.
    Service,
    /// A bucket.
    Bucket,
    /// A key in a bucket.
    Object,
}

impl Target {
    /// Its name in error bodies.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Service => "SERVICE",
            Self::Bucket => "BUCKET",
            Self::Object => "OBJECT",
        }
    }
}

/// The way in which an operation is done.
#[derive(Debug, Clone, Copy)]
pub enum Run {
    /// A plain function of the request, its whole body and the store.
    Call(Handler),
    /// In steps, each a transaction of its own.
    Steps(Step),
    /// PutObject: the body is a stream.
    Put,
    /// CopyObject: the body is another object's.
    Copy,
    /// It is not there; the answer names it.
    Absent,
}

/// A handler. It may run twice: its only effects are what it does to `tx`, draws from `ids` and returns.
pub type Handler = fn(&Call<'_>, &mut Tx<'_>, &mut dyn Ids) -> Result<Reply, Error>;

/// A handler of work that one batch does not hold. A step may run twice, as a [`Handler`] may.
pub type Step = fn(&Call<'_>, &mut Tx<'_>, &mut dyn Ids, &Progress) -> Result<StepOutcome, Error>;

/// The progress of an operation in steps.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Progress {
    /// Units that are done; the unit is the operation's own affair.
    pub done: usize,
    /// The part of the answer that is written.
    pub text: String,
}

/// The outcome of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StepOutcome {
    /// Another step follows.
    Continue(Progress),
    /// The operation is done: this is the answer.
    Done(Reply),
}

/// One row of the table.
#[derive(Debug)]
pub struct Operation {
    /// Its name, as clients and metrics know it.
    pub name: &'static str,
    /// The method of its requests.
    pub method: &'static str,
    /// The kind of thing that its path names.
    pub target: Target,
    /// The query parameter, or the header, that tells it from the others of this method and target; empty for none.
    pub marker: &'static str,
    /// The permission that a key must hold for it; empty for none.
    pub permission: &'static str,
    /// True if the bucket must exist before it.
    pub needs_bucket: bool,
    /// The way in which it is done.
    pub run: Run,
}

impl Operation {
    /// A row for an operation on an object.
    #[must_use]
    pub const fn object(
        name: &'static str,
        method: &'static str,
        marker: &'static str,
        permission: &'static str,
        handler: Handler,
    ) -> Self {
        let run = Run::Call(handler);
        Self { name, method, target: Target::Object, marker, permission, needs_bucket: true, run }
    }

    /// A row for an operation on a bucket that exists.
    #[must_use]
    pub const fn bucket(
        name: &'static str,
        method: &'static str,
        marker: &'static str,
        permission: &'static str,
        handler: Handler,
    ) -> Self {
        let run = Run::Call(handler);
        Self { name, method, target: Target::Bucket, marker, permission, needs_bucket: true, run }
    }

    /// A row for an operation that is not there.
    #[must_use]
    pub const fn absent(
        name: &'static str,
        method: &'static str,
        target: Target,
        marker: &'static str,
    ) -> Self {
        let run = Run::Absent;
        Self { name, method, target, marker, permission: "", needs_bucket: false, run }
    }

    /// Tells whether it changes nothing.
    #[must_use]
    pub fn only_reads(&self) -> bool {
        matches!(self.method, "GET" | "HEAD")
    }

    fn is_meant(&self, method: &str, target: Target, fields: &Fields<'_>, query: &Query) -> bool {
        self.target == target
            && self.method == method
            && (self.marker.is_empty()
                || if self.marker.starts_with("x-store-") {
                    fields.has(self.marker)
                } else {
                    query.has(self.marker)
                })
    }
}

/// The operation that a request means: the first row that fits, and rows with a marker come first.
///
/// # Errors
/// [`Error::MethodNotAllowed`]; [`Error::OperationNotImplemented`], which names it.
pub fn route(
    method: &str,
    target: Target,
    fields: &Fields<'_>,
    query: &Query,
) -> Result<&'static Operation, Error> {
    let found = OPERATIONS.iter().find(|row| row.is_meant(method, target, fields, query));
    let Some(operation) = found else {
        return Err(Error::MethodNotAllowed { method: method.to_owned(), resource: target.name() });
    };
    match operation.run {
        Run::Absent => Err(Error::OperationNotImplemented { operation: operation.name }),
        _ => Ok(operation),
    }
}

/// Settings that are the same for all requests.
#[derive(Debug, Clone)]
pub struct Settings {
    /// The region of the service; scopes of signatures must name it.
    pub region: String,
    /// Refuses headers and parameters that are not known.
    pub strict: bool,
    /// The ownership of buckets that are made without a word about it.
    pub ownership: Ownership,
}

/// A request whose sender is known, for an operation whose bucket was found.
#[derive(Debug)]
pub struct Call<'r> {
    /// The operation.
    pub operation: &'static Operation,
    /// Header fields, looked up by the spec's names.
    pub fields: &'r Fields<'r>,
    /// Query parameters.
    pub query: &'r Query,
    /// The whole body, for operations that take one; empty for PutObject.
    pub body: &'r Bytes,
    /// The sender.
    pub caller: &'r Caller,
    /// The name of the bucket; empty if the path names none.
    pub bucket_name: &'r str,
    /// The bucket, where the operation needs it.
    pub bucket: Option<&'r Bucket>,
    /// The key, where the path names one.
    pub key: Option<&'r Key>,
    /// The time at which the request came.
    pub now: Timestamp,
    /// True if it came over TLS.
    pub secure: bool,
    /// Settings of the service.
    pub settings: &'r Settings,
}

impl Call<'_> {
    /// The dialect that the request speaks.
    #[must_use]
    pub const fn dialect(&self) -> Dialect {
        self.fields.dialect()
    }

    /// The bucket.
    ///
    /// # Errors
    /// [`Error::Internal`] if the operation's row does not say that it needs one.
    pub fn bucket(&self) -> Result<&Bucket, Error> {
        self.bucket.ok_or(Error::Internal)
    }

    /// The key.
    ///
    /// # Errors
    /// [`Error::Internal`] if the operation's row does not target an object.
    pub fn key(&self) -> Result<&Key, Error> {
        self.key.ok_or(Error::Internal)
    }
}

/// The body of a reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplyBody {
    /// None.
    Empty,
    /// A text: XML unless a Content-Type header says otherwise.
    Text(Bytes),
    /// Bytes of an object.
    Object(Box<ObjectRange>),
}

/// The answer of a handler. Headers have the spec's names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reply {
    /// HTTP status.
    pub status: u16,
    /// Header names of the spec, and values.
    pub headers: Vec<(Cow<'static, str>, Cow<'static, str>)>,
    /// The body.
    pub body: ReplyBody,
}

impl Reply {
    /// A reply without a body.
    #[must_use]
    pub const fn empty(status: u16) -> Self {
        Self { status, headers: Vec::new(), body: ReplyBody::Empty }
    }

    /// A 200 with this XML.
    #[must_use]
    pub fn xml(text: String) -> Self {
        Self { status: 200, headers: Vec::new(), body: ReplyBody::Text(text.into()) }
    }

    /// The same reply with one more header.
    #[must_use]
    pub fn with(
        mut self,
        name: impl Into<Cow<'static, str>>,
        value: impl Into<Cow<'static, str>>,
    ) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// The same reply with one more header if there is a value for it.
    #[must_use]
    pub fn with_some(
        self,
        name: &'static str,
        value: Option<impl Into<Cow<'static, str>>>,
    ) -> Self {
        match value {
            Some(value) => self.with(name, value),
            None => self,
        }
    }
}

const fn absent_bucket(
    name: &'static str,
    method: &'static str,
    marker: &'static str,
) -> Operation {
    Operation::absent(name, method, Target::Bucket, marker)
}

const fn absent_object(
    name: &'static str,
    method: &'static str,
    marker: &'static str,
) -> Operation {
    Operation::absent(name, method, Target::Object, marker)
}

/// A row of an operation on a bucket that is done in steps.
const fn in_steps(
    name: &'static str,
    method: &'static str,
    marker: &'static str,
    permission: &'static str,
    step: Step,
) -> Operation {
    Operation {
        permission,
        needs_bucket: true,
        run: Run::Steps(step),
        ..absent_bucket(name, method, marker)
    }
}

/// A row whose bucket need not exist.
const fn without_bucket(operation: Operation) -> Operation {
    Operation { needs_bucket: false, ..operation }
}

/// A row of an operation that is done by more than a plain handler.
const fn special(
    name: &'static str,
    method: &'static str,
    marker: &'static str,
    permission: &'static str,
    run: Run,
) -> Operation {
    Operation {
        permission,
        needs_bucket: true,
        run,
        ..Operation::absent(name, method, Target::Object, marker)
    }
}

/// All operations. Rows with a marker stand before those without.
#[rustfmt::skip] // A table: one operation a line.
pub static OPERATIONS: &[Operation] = &[
    // The service. A zonal host that is not served looks like it.
    Operation::absent("CreateSession", "GET", Target::Service, "session"),
    Operation { target: Target::Service, ..without_bucket(Operation::bucket("ListBuckets", "GET", "", "store:ListAllMyBuckets", list_objects::buckets)) },
    // Buckets: what hangs on them.
    Operation::bucket("GetBucketLocation", "GET", "location", "store:GetBucketLocation", bucket_config::location),
    Operation::bucket("GetBucketVersioning", "GET", "versioning", "store:GetBucketVersioning", bucket_config::get_versioning),
    Operation::bucket("PutBucketVersioning", "PUT", "versioning", "store:PutBucketVersioning", bucket_config::put_versioning),
    Operation::bucket("GetBucketOwnershipControls", "GET", "ownershipControls", "store:GetBucketOwnershipControls", bucket_config::get_ownership),
    Operation::bucket("PutBucketOwnershipControls", "PUT", "ownershipControls", "store:PutBucketOwnershipControls", bucket_config::put_ownership),
    Operation::bucket("DeleteBucketOwnershipControls", "DELETE", "ownershipControls", "store:PutBucketOwnershipControls", bucket_config::delete_ownership),
    Operation::bucket("GetBucketAcl", "GET", "acl", "store:GetBucketAcl", bucket_config::get_acl),
    Operation::bucket("PutBucketAcl", "PUT", "acl", "store:PutBucketAcl", bucket_config::put_acl),
    Operation::bucket("GetObjectLockConfiguration", "GET", "object-lock", "store:GetBucketObjectLockConfiguration", bucket_config::get_lock),
    Operation::bucket("PutObjectLockConfiguration", "PUT", "object-lock", "store:PutBucketObjectLockConfiguration", bucket_config::put_lock),
    Operation::bucket("GetBucketLifecycleConfiguration", "GET", "lifecycle", "store:GetLifecycleConfiguration", bucket_config::get_lifecycle),
    Operation::bucket("PutBucketLifecycleConfiguration", "PUT", "lifecycle", "store:PutLifecycleConfiguration", bucket_config::put_lifecycle),
    Operation::bucket("DeleteBucketLifecycle", "DELETE", "lifecycle", "store:PutLifecycleConfiguration", bucket_config::delete_lifecycle),
    Operation::bucket("GetBucketEncryption", "GET", "encryption", "store:GetEncryptionConfiguration", bucket_config::get_encryption),
    Operation::bucket("PutBucketEncryption", "PUT", "encryption", "store:PutEncryptionConfiguration", bucket_config::put_encryption),
    Operation::bucket("DeleteBucketEncryption", "DELETE", "encryption", "store:PutEncryptionConfiguration", bucket_config::delete_encryption),
    Operation::bucket("GetBucketPolicyStatus", "GET", "policyStatus", "store:GetBucketPolicyStatus", bucket_config::get_policy_status),
    Operation::bucket("GetBucketPolicy", "GET", "policy", "store:GetBucketPolicy", bucket_config::get_policy),
    Operation::bucket("PutBucketPolicy", "PUT", "policy", "store:PutBucketPolicy", bucket_config::put_policy),
    Operation::bucket("DeleteBucketPolicy", "DELETE", "policy", "store:DeleteBucketPolicy", bucket_config::delete_policy),
    Operation::bucket("GetPublicAccessBlock", "GET", "publicAccessBlock", "store:GetBucketPublicAccessBlock", bucket_config::get_public_access),
    Operation::bucket("PutPublicAccessBlock", "PUT", "publicAccessBlock", "store:PutBucketPublicAccessBlock", bucket_config::put_public_access),
    Operation::bucket("DeletePublicAccessBlock", "DELETE", "publicAccessBlock", "store:PutBucketPublicAccessBlock", bucket_config::delete_public_access),
    Operation::bucket("GetBucketAccelerateConfiguration", "GET", "accelerate", "store:GetAccelerateConfiguration", not_configured::acceleration),
    absent_bucket("PutBucketAccelerateConfiguration", "PUT", "accelerate"),
    absent_bucket("GetBucketAnalyticsConfiguration", "GET", "analytics"),
    absent_bucket("PutBucketAnalyticsConfiguration", "PUT", "analytics"),
    absent_bucket("DeleteBucketAnalyticsConfiguration", "DELETE", "analytics"),
    Operation::bucket("GetBucketCors", "GET", "cors", "store:GetBucketCORS", not_configured::cors),
    absent_bucket("PutBucketCors", "PUT", "cors"),
    Operation::bucket("DeleteBucketCors", "DELETE", "cors", "store:PutBucketCORS", not_configured::delete),
    absent_bucket("GetBucketIntelligentTieringConfiguration", "GET", "intelligent-tiering"),
    absent_bucket("PutBucketIntelligentTieringConfiguration", "PUT", "intelligent-tiering"),
    absent_bucket("DeleteBucketIntelligentTieringConfiguration", "DELETE", "intelligent-tiering"),
    absent_bucket("GetBucketInventoryConfiguration", "GET", "inventory"),
    absent_bucket("PutBucketInventoryConfiguration", "PUT", "inventory"),
    absent_bucket("DeleteBucketInventoryConfiguration", "DELETE", "inventory"),
    Operation::bucket("GetBucketLogging", "GET", "logging", "store:GetBucketLogging", not_configured::logging),
    absent_bucket("PutBucketLogging", "PUT", "logging"),
    absent_bucket("GetBucketMetricsConfiguration", "GET", "metrics"),
    absent_bucket("PutBucketMetricsConfiguration", "PUT", "metrics"),
    absent_bucket("DeleteBucketMetricsConfiguration", "DELETE", "metrics"),
    Operation::bucket("GetBucketNotificationConfiguration", "GET", "notification", "store:GetBucketNotification", not_configured::notification),
    absent_bucket("PutBucketNotificationConfiguration", "PUT", "notification"),
    Operation::bucket("GetBucketReplication", "GET", "replication", "store:GetReplicationConfiguration", not_configured::replication),
    absent_bucket("PutBucketReplication", "PUT", "replication"),
    Operation::bucket("DeleteBucketReplication", "DELETE", "replication", "store:PutReplicationConfiguration", not_configured::delete),
    Operation::bucket("GetBucketRequestPayment", "GET", "requestPayment", "store:GetBucketRequestPayment", bucket_config::get_payment),
    Operation::bucket("PutBucketRequestPayment", "PUT", "requestPayment", "store:PutBucketRequestPayment", bucket_config::put_payment),
    Operation::bucket("GetBucketTagging", "GET", "tagging", "store:GetBucketTagging", bucket_config::get_tagging),
    Operation::bucket("PutBucketTagging", "PUT", "tagging", "store:PutBucketTagging", bucket_config::put_tagging),
    Operation::bucket("DeleteBucketTagging", "DELETE", "tagging", "store:PutBucketTagging", bucket_config::delete_tagging),
    Operation::bucket("GetBucketWebsite", "GET", "website", "store:GetBucketWebsite", not_configured::website),
    absent_bucket("PutBucketWebsite", "PUT", "website"),
    Operation::bucket("DeleteBucketWebsite", "DELETE", "website", "store:DeleteBucketWebsite", not_configured::delete),
    absent_bucket("CreateSession", "GET", "session"),
    Operation::bucket("ListMultipartUploads", "GET", "uploads", "store:ListBucketMultipartUploads", not_configured::uploads),
    // Buckets: what is in them.
    Operation::bucket("ListObjectVersions", "GET", "versions", "store:ListBucketVersions", list_objects::versions),
    Operation::bucket("ListObjectsV2", "GET", "list-type", "store:ListBucket", list_objects::objects_v2),
    in_steps("DeleteObjects", "POST", "delete", "store:DeleteObject", delete_object::objects),
    absent_bucket("PostObject", "POST", ""),
    // Buckets themselves.
    Operation::bucket("ListObjects", "GET", "", "store:ListBucket", list_objects::objects),
    Operation::bucket("HeadBucket", "HEAD", "", "store:ListBucket", bucket::head),
    without_bucket(Operation::bucket("CreateBucket", "PUT", "", "store:CreateBucket", bucket::create)),
    in_steps("DeleteBucket", "DELETE", "", "store:DeleteBucket", bucket::delete),
    without_bucket(Operation::bucket("Preflight", "OPTIONS", "", "", not_configured::preflight)),
    // Objects: what hangs on them.
    Operation::object("GetObjectAcl", "GET", "acl", "store:GetObjectAcl", object_config::get_acl),
    Operation::object("PutObjectAcl", "PUT", "acl", "store:PutObjectAcl", object_config::put_acl),
    Operation::object("GetObjectTagging", "GET", "tagging", "store:GetObjectTagging", object_config::get_tagging),
    Operation::object("PutObjectTagging", "PUT", "tagging", "store:PutObjectTagging", object_config::put_tagging),
    Operation::object("DeleteObjectTagging", "DELETE", "tagging", "store:DeleteObjectTagging", object_config::delete_tagging),
    Operation::object("GetObjectRetention", "GET", "retention", "store:GetObjectRetention", object_config::get_retention),
    Operation::object("PutObjectRetention", "PUT", "retention", "store:PutObjectRetention", object_config::put_retention),
    Operation::object("GetObjectLegalHold", "GET", "legal-hold", "store:GetObjectLegalHold", object_config::get_hold),
    Operation::object("PutObjectLegalHold", "PUT", "legal-hold", "store:PutObjectLegalHold", object_config::put_hold),
    Operation::object("GetObjectAttributes", "GET", "attributes", "store:GetObject", get_object::attributes),
    absent_object("GetObjectTorrent", "GET", "torrent"),
    absent_object("RestoreObject", "POST", "restore"),
    absent_object("SelectObjectContent", "POST", "select"),
    absent_object("RenameObject", "PUT", "renameObject"),
    absent_object("CreateMultipartUpload", "POST", "uploads"),
    absent_object("CompleteMultipartUpload", "POST", "uploadId"),
    absent_object("AbortMultipartUpload", "DELETE", "uploadId"),
    absent_object("ListParts", "GET", "uploadId"),
    absent_object("UploadPart", "PUT", "uploadId"),
    // Objects themselves.
    without_bucket(Operation::object("Preflight", "OPTIONS", "", "", not_configured::preflight)),
    Operation::object("GetObject", "GET", "", "store:GetObject", get_object::get),
    Operation::object("HeadObject", "HEAD", "", "store:GetObject", get_object::head),
    Operation::object("DeleteObject", "DELETE", "", "store:DeleteObject", delete_object::object),
    special("CopyObject", "PUT", "x-store-copy-source", "store:PutObject", Run::Copy),
    special("PutObject", "PUT", "", "store:PutObject", Run::Put),
];
