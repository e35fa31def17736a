//! Rows of a bucket that requests read together.

use triptych_core::kv::Plan;

use crate::auth::policy::{self, PublicAccessBlock};
use crate::cors;
use crate::store::key::Key;
use crate::store::tables::{
    BUCKET_CONFIGS, COMPLETED_UPLOADS, CURRENT, DELETE_GUARDS, NULLS, UPLOAD_PARTS, UPLOADED_KEYS,
    UPLOADS, bucket_slot, object_key,
};
use crate::store::upload::UploadId;
use crate::store::{bucket_encryption, lifecycle};

/// Plans the settings of a bucket that say who may do something and what an answer has beside the object.
pub fn settings(plan: &mut Plan<'_>, bucket: u64) {
    let names = [
        policy::CONFIG_NAME,
        PublicAccessBlock::CONFIG_NAME,
        lifecycle::CONFIG_NAME,
        bucket_encryption::SETTING,
        bucket_encryption::BLOCKED,
        cors::CONFIG_NAME,
    ];
    for name in names {
        plan.row(&BUCKET_CONFIGS, &(bucket, name.to_owned()));
    }
}

/// Plans the rows of an upload in parts, and that of one of its parts.
pub fn upload(plan: &mut Plan<'_>, bucket: u64, key: &Key, name: &str, part: Option<u32>) {
    let Some(id) = UploadId::parse(name, bucket, key) else {
        return;
    };
    let place = (bucket, key.as_bytes().to_vec(), id.sequence);
    let upload = plan.row(&UPLOADS, &place);
    plan.row(&COMPLETED_UPLOADS, &place);
    if let (Some(upload), Some(part)) = (upload, part) {
        plan.row(&UPLOAD_PARTS, &(upload.number, part));
    }
}

/// Plans the rows of a key that those who read and who change it look at.
pub fn object(plan: &mut Plan<'_>, bucket: u64, key: &Key) {
    let place = object_key(bucket, key);
    plan.row(&CURRENT, &place);
    plan.row(&NULLS, &place);
    plan.row(&UPLOADED_KEYS, &place);
    plan.row(&DELETE_GUARDS, &bucket_slot(bucket, key).0);
}
