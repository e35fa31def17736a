//! Buckets: their names, kinds and settings.

use serde::{Deserialize, Serialize};
use triptych_core::kv::JsonRecord;
use triptych_core::time::Timestamp;

use crate::grant::Acl;
use crate::lock::DefaultRetention;

/// What kind of bucket it is: what its objects can do depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BucketKind {
    /// Keys anywhere in the region.
    #[default]
    GeneralPurpose,
    /// One zone; sessions, appends, no versions.
    Directory,
}

/// Whether a bucket keeps versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Versioning {
    /// It never did.
    #[default]
    Off,
    /// Every write makes a version.
    Enabled,
    /// Old versions stay; new writes are the one `null` version.
    Suspended,
}

/// Who owns what others upload, and whether ACLs count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Ownership {
    /// ACLs are disabled: the bucket's owner owns everything.
    #[default]
    BucketOwnerEnforced,
    /// The owner of the bucket owns what is uploaded with `bucket-owner-full-control`.
    BucketOwnerPreferred,
    /// Who uploads owns.
    ObjectWriter,
}

/// What requests without a signature may do, by the seed file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Public {
    /// Nothing.
    #[default]
    None,
    /// Read objects and list them.
    Read,
    /// Read, list, write and delete.
    ReadWrite,
}

/// Who pays for requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum RequestPayment {
    /// The owner of the bucket.
    #[default]
    BucketOwner,
    /// Whoever sends the request, and says so.
    Requester,
}

/// A bucket, as stored under its name. It is read by every request, so what is long has a row of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Bucket {
    /// Starts the keys of all rows of this bucket. A bucket that is made again under the same name has another.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// The account that owns it.
    pub owner: String,
    /// Where it is.
    pub region: String,
    /// When it was made.
    pub created: Timestamp,
    /// What kind it is.
    #[serde(default)]
    pub kind: BucketKind,
    /// Whether it keeps versions.
    #[serde(default)]
    pub versioning: Versioning,
    /// Whether its versions can be locked.
    #[serde(default)]
    pub object_lock: bool,
    /// The lock that new versions get unless they bring one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_retention: Option<DefaultRetention>,
    /// Who owns what others upload.
    #[serde(default)]
    pub ownership: Ownership,
    /// What anonymous requests may do.
    #[serde(default)]
    pub public: Public,
    /// Who pays.
    #[serde(default)]
    pub request_payment: RequestPayment,
    /// Its ACL.
    #[serde(default)]
    pub acl: Acl,
    /// Set by the first step of DeleteBucket: no new row may come while the second looks whether there is one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleting: bool,
}

impl JsonRecord for Bucket {}
