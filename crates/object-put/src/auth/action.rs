//! The actions that policies can name, and the kind of resource that each is done to.

use crate::auth::account::matches_action;

/// Actions on objects.
const OF_OBJECTS: &[&str] = &[
    "AbortMultipartUpload",
    "BypassGovernanceRetention",
    "DeleteObject",
    "DeleteObjectTagging",
    "DeleteObjectVersion",
    "DeleteObjectVersionTagging",
    "GetObject",
    "GetObjectAcl",
    "GetObjectAttributes",
    "GetObjectLegalHold",
    "GetObjectRetention",
    "GetObjectTagging",
    "GetObjectTorrent",
    "GetObjectVersion",
    "GetObjectVersionAcl",
    "GetObjectVersionAttributes",
    "GetObjectVersionForReplication",
    "GetObjectVersionTagging",
    "GetObjectVersionTorrent",
    "InitiateReplication",
    "ListMultipartUploadParts",
    "ObjectOwnerOverrideToBucketOwner",
    "PutObject",
    "PutObjectAcl",
    "PutObjectLegalHold",
    "PutObjectRetention",
    "PutObjectTagging",
    "PutObjectVersionAcl",
    "PutObjectVersionTagging",
    "ReplicateDelete",
    "ReplicateObject",
    "ReplicateTags",
    "RestoreObject",
    "UpdateObjectEncryption",
];

/// Actions on buckets.
const OF_BUCKETS: &[&str] = &[
    "CreateBucket",
    "CreateBucketMetadataTableConfiguration",
    "DeleteBucket",
    "DeleteBucketMetadataTableConfiguration",
    "DeleteBucketPolicy",
    "DeleteBucketWebsite",
    "GetAccelerateConfiguration",
    "GetAnalyticsConfiguration",
    "GetBucketAbac",
    "GetBucketAcl",
    "GetBucketCORS",
    "GetBucketLocation",
    "GetBucketLogging",
    "GetBucketMetadataTableConfiguration",
    "GetBucketNotification",
    "GetBucketObjectLockConfiguration",
    "GetBucketOwnershipControls",
    "GetBucketPolicy",
    "GetBucketPolicyStatus",
    "GetBucketPublicAccessBlock",
    "GetBucketRequestPayment",
    "GetBucketTagging",
    "GetBucketVersioning",
    "GetBucketWebsite",
    "GetEncryptionConfiguration",
    "GetIntelligentTieringConfiguration",
    "GetInventoryConfiguration",
    "GetLifecycleConfiguration",
    "GetMetricsConfiguration",
    "GetReplicationConfiguration",
    "ListBucket",
    "ListBucketMultipartUploads",
    "ListBucketVersions",
    "ListTagsForResource",
    "PutAccelerateConfiguration",
    "PutAnalyticsConfiguration",
    "PutBucketAbac",
    "PutBucketAcl",
    "PutBucketCORS",
    "PutBucketLogging",
    "PutBucketNotification",
    "PutBucketObjectLockConfiguration",
    "PutBucketOwnershipControls",
    "PutBucketPolicy",
    "PutBucketPublicAccessBlock",
    "PutBucketRequestPayment",
    "PutBucketTagging",
    "PutBucketVersioning",
    "PutBucketWebsite",
    "PutEncryptionConfiguration",
    "PutIntelligentTieringConfiguration",
    "PutInventoryConfiguration",
    "PutLifecycleConfiguration",
    "PutMetricsConfiguration",
    "PutReplicationConfiguration",
    "TagResource",
    "UntagResource",
    "UpdateBucketMetadataInventoryTableConfiguration",
    "UpdateBucketMetadataJournalTableConfiguration",
];

/// Actions on directory buckets.
const OF_DIRECTORIES: &[&str] = &[
    "express:CreateBucket",
    "express:CreateSession",
    "express:DeleteBucket",
    "express:DeleteBucketPolicy",
    "express:GetBucketPolicy",
    "express:GetEncryptionConfiguration",
    "express:GetLifecycleConfiguration",
    "express:PutBucketPolicy",
    "express:PutEncryptionConfiguration",
    "express:PutLifecycleConfiguration",
];

/// The kinds of resources that the actions of a pattern are done to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ActionTargets {
    /// One of them is done to a bucket.
    pub buckets: bool,
    /// One of them is done to an object.
    pub objects: bool,
}

impl ActionTargets {
    /// Those of a pattern without the prefix of the service; `None` where no action fits it.
    #[must_use]
    pub fn of(pattern: &str) -> Option<Self> {
        let fits = |actions: &[&str]| actions.iter().any(|action| matches_action(pattern, action));
        let targets = Self { buckets: fits(OF_BUCKETS), objects: fits(OF_OBJECTS) };
        (targets.buckets || targets.objects).then_some(targets)
    }

    /// Those of a pattern in the policy of a directory bucket: all its actions are done to the bucket.
    #[must_use]
    pub fn of_directory(pattern: &str) -> Option<Self> {
        let mut actions = OF_DIRECTORIES.iter();
        let fits = actions.any(|action| matches_action(pattern, action));
        fits.then_some(Self { buckets: true, objects: false })
    }

    /// Tells whether one of the actions can be done to a resource that `resource` stands for: the name of a bucket, and the key
    /// after a slash.
    #[must_use]
    pub fn fit(self, resource: &str) -> bool {
        let has_slash = resource.contains('/');
        (self.buckets && !has_slash) || (self.objects && (has_slash || resource.contains('*')))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::auth::session::DirectoryAccess;
    use crate::operation::directory_bucket;
    use crate::operation::table::OPERATIONS;

    #[test]
    fn every_permission_of_an_operation_is_an_action() {
        for (name, access) in directory_bucket::SERVED {
            if let DirectoryAccess::Regional(action, _) = access {
                assert!(ActionTargets::of_directory(action).is_some(), "{name}");
            }
        }
        let service = ["store:ListAllMyBuckets", "express:ListAllMyDirectoryBuckets"];
        let rows = OPERATIONS.iter().filter(|row| !row.permission.is_empty());
        for row in rows.filter(|row| !service.contains(&row.permission)) {
            let action = row.permission.strip_prefix("store:").unwrap();
            assert!(ActionTargets::of(action).is_some(), "{}", row.name);
        }
    }
}
