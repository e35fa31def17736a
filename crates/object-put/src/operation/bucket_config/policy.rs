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

/// Refuses every account but the one that owns the bucket, whatever the policy lets it do: nobody else decides who may what.
fn check_owner(call: &ReadCall<'_>) -> Result<(), Error> {
    let owner = &call.bucket()?.owner;
    match call.caller.account().is_some_and(|account| account.id == *owner) {
        true => Ok(()),
        false => Err(Error::MethodNotAllowed {
            method: call.operation.method.to_owned(),
            resource: "BUCKETPOLICY",
            allowed: None,
        }),
    }
}

/// `GetBucketPolicy`: the document as it was put.
///
/// # Errors
/// `MethodNotAllowed` for another account than the bucket's; `NotConfigured`.
pub fn get(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    check_owner(call)?;
    let policy = policy_of(call, tx)?;
    Ok(Reply::xml(policy.document).with("content-type", "application/json"))
}

/// `PutBucketPolicy`.
///
/// # Errors
/// `MethodNotAllowed` for another account than the bucket's; `MalformedPolicy`; `AccessDenied` for a public one where the bucket blocks those.
pub fn put(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    check_owner(call)?;
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
/// `MethodNotAllowed` for another account than the bucket's.
pub fn delete(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    check_owner(call)?;
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
