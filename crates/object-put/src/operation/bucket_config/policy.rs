//! The policy of a bucket.

use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use crate::auth::policy::{self, Policy, PublicAccessBlock};
use crate::error::Error;
use crate::operation::bucket_config::{delete_config, not_configured, put_config, xml_reply};
use crate::operation::{Call, ReadCall, Reply};
use crate::store::lookup::account_directory;

fn policy_of(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Policy, Error> {
    policy::of_bucket(tx, call.bucket()?.id)?.ok_or_else(|| {
        not_configured(call, "NoSuchBucketPolicy", "The bucket policy does not exist")
    })
}

/// `GetBucketPolicy`: the document as it was put.
///
/// # Errors
/// `NotConfigured`.
pub fn get(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let policy = policy_of(call, tx)?;
    Ok(Reply::xml(policy.document).with("content-type", "application/json"))
}

/// `PutBucketPolicy`.
///
/// # Errors
/// `MalformedPolicy`; `AccessDenied` for a public one where the bucket blocks those.
pub fn put(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let policy = Policy::parse(call.body, call.bucket_name)?;
    policy.check_principals(&account_directory(tx)?)?;
    let block = PublicAccessBlock::of_bucket(tx, call.bucket()?.id)?;
    if policy.is_public() && block.block_public_policy {
        return Err(Error::AccessDenied);
    }
    put_config(call, tx, policy::CONFIG_NAME, &policy.document)?;
    Ok(Reply::empty(204))
}

/// `DeleteBucketPolicy`.
///
/// # Errors
/// Those of the way to it alone.
pub fn delete(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    delete_config(call, tx, policy::CONFIG_NAME)
}

/// `GetBucketPolicyStatus`.
///
/// # Errors
/// `NotConfigured`.
pub fn get_status(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let is_public = policy_of(call, tx)?.is_public();
    Ok(xml_reply(call, "PolicyStatus", |writer| {
        writer.text("IsPublic", is_public);
    }))
}
