//! Sub-resources of buckets and objects, each by the parameter that names it: at which paths it stands, which methods it takes, and the real service's
//! word for it. All of it is as measured there.

use crate::error::Error;
use crate::operation::Operation;
use crate::request::location::Target;
use crate::request::query::Query;

/// The number of a part: beside the upload that it belongs to it names that part, alone one of a whole object.
pub const NUMBER: &str = "partNumber";
/// The upload in parts.
pub const UPLOAD: &str = "uploadId";

/// A sub-resource of a bucket or an object.
#[derive(Debug)]
pub struct Subresource {
    /// The parameter that names it.
    pub parameter: &'static str,
    of_bucket: &'static str,
    of_key: &'static str,
}

/// A row: the parameter, and the words for what it names behind a bucket and behind a key. A path without a word passes it over.
const fn row(
    parameter: &'static str,
    of_bucket: &'static str,
    of_key: &'static str,
) -> Subresource {
    Subresource { parameter, of_bucket, of_key }
}

/// All of them. What is a bucket's alone and has the same word behind a key is the bucket's there too, whatever the key.
#[rustfmt::skip] // A table: one sub-resource a line.
pub static SUBRESOURCES: &[Subresource] = &[
    row(NUMBER, "PART", "PART"),
    row("abac", "BUCKET_ABAC", ""),
    row("accelerate", "ACCELERATE", "ACCELERATE"),
    row("acl", "ACL", "ACL"),
    row("analytics", "ANALYTICS", ""),
    row("annotation", "", "OBJECT_ANNOTATIONS"),
    row("attributes", "", "OBJECT_ATTRIBUTES"),
    row("cors", "CORS", "CORS"),
    row("delete", "MULTI_OBJECT_DELETE", "MULTI_OBJECT_DELETE"),
    row("encryption", "ENCRYPTION", "OBJECT_ENCRYPTION"),
    row("intelligent-tiering", "INTELLIGENT_TIERING", ""),
    row("inventory", "INVENTORY", "INVENTORY"),
    row("legal-hold", "", "OBJECT_LOCK_LEGALHOLD"),
    row("lifecycle", "LIFECYCLE", "LIFECYCLE"),
    row("location", "LOCATION", "LOCATION"),
    row("logging", "LOGGING_STATUS", "LOGGING_STATUS"),
    row("metadataAnnotationTable", "BUCKET_METADATA_ANNOTATION_TABLE_CONFIGURATION", ""),
    row("metadataConfiguration", "BUCKET_METADATA_CONFIGURATION", ""),
    row("metadataInventoryTable", "BUCKET_METADATA_INVENTORY_TABLE_CONFIGURATION", ""),
    row("metadataJournalTable", "BUCKET_METADATA_JOURNAL_TABLE_CONFIGURATION", ""),
    row("metadataTable", "BUCKET_METADATA_TABLE_CONFIGURATION", ""),
    row("metrics", "METRICS", ""),
    row("notification", "NOTIFICATION", "NOTIFICATION"),
    row("object-lock", "OBJECT_LOCK_CONFIGURATION", ""),
    row("ownershipControls", "OWNERSHIP_CONTROLS", ""),
    row("policy", "BUCKETPOLICY", "BUCKETPOLICY"),
    row("policyStatus", "POLICY_STATUS", ""),
    row("publicAccessBlock", "PUBLIC_ACCESS_BLOCK", ""),
    row("replication", "REPLICATION", "REPLICATION"),
    row("requestPayment", "REQUEST_PAYMENT", "REQUEST_PAYMENT"),
    row("restore", "RESTORE", "RESTORE"),
    row("retention", "", "OBJECT_LOCK_RETENTION"),
    row("select", "", "SELECT"),
    row("tagging", "TAGGING", "OBJECT_TAGGING"),
    row("torrent", "TORRENT", "TORRENT"),
    row(UPLOAD, "UPLOAD", "UPLOAD"),
    row("uploads", "UPLOADS", "UPLOADS"),
    row("versioning", "VERSIONING", "VERSIONING"),
    row("versions", "BUCKETVERSIONS", "BUCKETVERSIONS"),
    row("website", "WEBSITE", "WEBSITE"),
];

impl Subresource {
    /// Those that the parameters of a request name. A number without an upload is a parameter of GetObject, and names none.
    pub fn all_named(target: Target, query: &Query) -> impl Iterator<Item = &'static Self> {
        let (has_number, has_upload) = (query.has(NUMBER), query.has(UPLOAD));
        SUBRESOURCES.iter().filter(move |own| {
            let is_named = match own.parameter {
                NUMBER => has_number && has_upload,
                UPLOAD => has_upload && !has_number,
                parameter => query.has(parameter),
            };
            is_named && !own.word(target).is_empty()
        })
    }

    /// The real service's word for it behind such a path; empty where it is none.
    #[must_use]
    pub const fn word(&self, target: Target) -> &'static str {
        match target {
            Target::Service => "",
            Target::Bucket => self.of_bucket,
            Target::Object => self.of_key,
        }
    }

    /// Tells whether an operation is done to it.
    #[must_use]
    pub fn is_of(&self, operation: &Operation) -> bool {
        let is_named = match self.parameter {
            NUMBER => operation.run.is_of_part(),
            own => operation.markers().next() == Some(own) && !operation.run.is_of_part(),
        };
        is_named && !self.word(operation.target).is_empty()
    }

    /// The refusal of an operation that it has, but not at this path.
    #[must_use]
    pub fn misplaced(&self, target: Target) -> Error {
        match (self.parameter, target) {
            (NUMBER | UPLOAD, Target::Bucket) => Error::request("A key must be specified"),
            ("restore", Target::Bucket) => Error::UserKeyMustBeSpecified,
            // A write that the real service does to the bucket, whatever the key: done by mistake, it would change more than was named.
            (name, _) => Error::ParameterNotImplemented { name: name.to_owned() },
        }
    }
}
