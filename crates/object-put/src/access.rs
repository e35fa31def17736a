//! Whether a caller may do something to a bucket or an object: the owner's keys, and what the bucket lets others do.

use triptych_core::kv::Tx;

use crate::account::Caller;
use crate::bucket::{Bucket, Public, RequestPayment};
use crate::error::Error;
use crate::grant::Acl;
use crate::operation::Operation;
use crate::request::Fields;
use crate::tables::BUCKETS;

/// Finds the bucket of a request and lets the caller in.
///
/// # Errors
/// `NoSuchBucket`, `InvalidBucketOwner`, `AccessDenied`.
pub fn admit(
    operation: &Operation,
    name: &str,
    fields: &Fields<'_>,
    caller: &Caller,
    tx: &mut Tx<'_>,
) -> Result<Bucket, Error> {
    let bucket = BUCKETS
        .get(tx, &name.to_owned())?
        .filter(|bucket| !bucket.deleting)
        .ok_or_else(|| Error::NoSuchBucket {
            bucket: name.to_owned(),
        })?;
    check_expected_owner(fields, "x-store-expected-bucket-owner", &bucket.owner)?;
    allow(operation.permission, caller, &bucket)?;
    check_payer(fields, caller, &bucket)?;
    if operation.name == "PutObject" {
        if Acl::is_named(fields) {
            allow("store:PutObjectAcl", caller, &bucket)?;
        }
        if fields.has("x-store-tagging") {
            allow("store:PutObjectTagging", caller, &bucket)?;
        }
    }
    Ok(bucket)
}

/// Where the requester pays, whoever is not the owner must say that they know (spec §4, `x-store-request-payer`).
fn check_payer(fields: &Fields<'_>, caller: &Caller, bucket: &Bucket) -> Result<(), Error> {
    let owns = caller
        .account()
        .is_some_and(|account| account.id == bucket.owner);
    let confirms = fields.get("x-store-request-payer")?.is_some();
    if bucket.request_payment == RequestPayment::Requester && !owns && !confirms {
        return Err(Error::AccessDenied);
    }
    Ok(())
}

/// Checks the owner that the header `name` expects, if it is there (spec §5.5).
///
/// # Errors
/// [`Error::InvalidBucketOwner`] for what is no account id, [`Error::AccessDenied`] for another owner.
pub fn check_expected_owner(
    fields: &Fields<'_>,
    name: &'static str,
    owner: &str,
) -> Result<(), Error> {
    let Some(expected) = fields.get(name)? else {
        return Ok(());
    };
    if expected.len() != 12 || !expected.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(Error::InvalidBucketOwner {
            value: expected.into_owned(),
        });
    }
    if *expected != *owner {
        return Err(Error::AccessDenied);
    }
    Ok(())
}

/// Whether `caller` has `permission` in `bucket`.
///
/// # Errors
/// [`Error::AccessDenied`].
pub fn allow(permission: &str, caller: &Caller, bucket: &Bucket) -> Result<(), Error> {
    if permission.is_empty() {
        return Ok(());
    }
    let owns = caller
        .account()
        .is_some_and(|account| account.id == bucket.owner);
    if (owns && caller.holds(permission)) || is_public(permission, bucket.public) {
        return Ok(());
    }
    Err(Error::AccessDenied)
}

fn is_public(permission: &str, public: Public) -> bool {
    let reads = [
        "store:GetObject",
        "store:ListBucket",
        "store:GetObjectVersion",
    ];
    let writes = ["store:PutObject", "store:DeleteObject"];
    match public {
        Public::None => false,
        Public::Read => reads.contains(&permission),
        Public::ReadWrite => reads.contains(&permission) || writes.contains(&permission),
    }
}
