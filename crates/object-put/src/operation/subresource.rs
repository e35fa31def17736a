//! Parts of buckets and objects, each by the parameter that names it: at which paths it stands, which methods it takes, and the real service's
//! word for it. All of it is as measured there.

use crate::error::Error;
use crate::operation::Operation;
use crate::request::location::Target;
use crate::request::query::Query;

/// The number of a part of an upload: beside the upload it names that part.
pub const NUMBER: &str = "partNumber";
/// The upload in parts.
pub const UPLOAD: &str = "uploadId";

/// A part of a bucket or an object.
#[derive(Debug)]
pub struct Subresource {
    /// The parameter that names it.
    pub parameter: &'static str,
    of_bucket: &'static str,
    of_key: &'static str,
}

/// A row: the parameter, and the words for what it names behind a bucket and behind a key. A path without a word passes it over.
const fn part(
    parameter: &'static str,
    of_bucket: &'static str,
    of_key: &'static str,
) -> Subresource {
    Subresource { parameter, of_bucket, of_key }
}

/// All of them. What is a bucket's alone and has the same word behind a key is the bucket's there too, whatever the key.
#[rustfmt::skip] // A table: one part a line.
pub static SUBRESOURCES: &[Subresource] = &[
    part(NUMBER, "PART", "PART"),
    part("abac", "BUCKET_ABAC", ""),
    part("accelerate", "ACCELERATE", "ACCELERATE"),
    part("acl", "ACL", "ACL"),
    part("analytics", "ANALYTICS", ""),
    part("annotation", "", "OBJECT_ANNOTATIONS"),
    part("attributes", "", "OBJECT_ATTRIBUTES"),
    part("cors", "CORS", "CORS"),
    part("delete", "MULTI_OBJECT_DELETE", "MULTI_OBJECT_DELETE"),
    part("encryption", "ENCRYPTION", "OBJECT_ENCRYPTION"),
    part("intelligent-tiering", "INTELLIGENT_TIERING", ""),
    part("inventory", "INVENTORY", "INVENTORY"),
    part("legal-hold", "", "OBJECT_LOCK_LEGALHOLD"),
    part("lifecycle", "LIFECYCLE", "LIFECYCLE"),
    part("location", "LOCATION", "LOCATION"),
    part("logging", "LOGGING_STATUS", "LOGGING_STATUS"),
    part("metadataAnnotationTable", "BUCKET_METADATA_ANNOTATION_TABLE_CONFIGURATION", ""),
    part("metadataConfiguration", "BUCKET_METADATA_CONFIGURATION", ""),
    part("metadataInventoryTable", "BUCKET_METADATA_INVENTORY_TABLE_CONFIGURATION", ""),
    part("metadataJournalTable", "BUCKET_METADATA_JOURNAL_TABLE_CONFIGURATION", ""),
    part("metadataTable", "BUCKET_METADATA_TABLE_CONFIGURATION", ""),
    part("metrics", "METRICS", ""),
    part("notification", "NOTIFICATION", "NOTIFICATION"),
    part("object-lock", "OBJECT_LOCK_CONFIGURATION", ""),
    part("ownershipControls", "OWNERSHIP_CONTROLS", ""),
    part("policy", "BUCKETPOLICY", "BUCKETPOLICY"),
    part("policyStatus", "POLICY_STATUS", ""),
    part("publicAccessBlock", "PUBLIC_ACCESS_BLOCK", ""),
    part("replication", "REPLICATION", "REPLICATION"),
    part("requestPayment", "REQUEST_PAYMENT", "REQUEST_PAYMENT"),
    part("restore", "RESTORE", "RESTORE"),
    part("retention", "", "OBJECT_LOCK_RETENTION"),
    part("select", "", "SELECT"),
    part("tagging", "TAGGING", "OBJECT_TAGGING"),
    part("torrent", "TORRENT", "TORRENT"),
    part(UPLOAD, "UPLOAD", "UPLOAD"),
    part("uploads", "UPLOADS", "UPLOADS"),
    part("versioning", "VERSIONING", "VERSIONING"),
    part("versions", "BUCKETVERSIONS", "BUCKETVERSIONS"),
    part("website", "WEBSITE", "WEBSITE"),
];

impl Subresource {
    /// Those that the parameters of a request name. A number alone is one of GetObject's, and no part of anything.
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
