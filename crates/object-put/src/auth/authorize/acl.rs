//! ACLs of a bucket and of its objects: the permissions that they give a caller.

use triptych_core::kv::Tx;

use crate::auth::acl::{Acl, Permission};
use crate::auth::authorize::{AccessRequest, is_public, object, owns};
use crate::auth::policy::PublicAccessBlock;
use crate::error::Error;
use crate::store::bucket::{Bucket, Ownership};
use crate::store::tables::ACCOUNTS;

/// Tells whether the object's own ACL says who has `permission`, whoever owns the bucket.
pub(super) fn is_of_object(permission: &str) -> bool {
    matches!(acl_permission(permission), Some((true, _)))
}

/// The grant that gives a permission, and whether it is the object's ACL that has it.
fn acl_permission(permission: &str) -> Option<(bool, Permission)> {
    Some(match permission {
        "store:ListBucket" | "store:ListBucketVersions" | "store:ListBucketMultipartUploads" => {
            (false, Permission::Read)
        }
        "store:PutObject" | "store:DeleteObject" => (false, Permission::Write),
        "store:GetBucketAcl" => (false, Permission::ReadAcp),
        "store:PutBucketAcl" => (false, Permission::WriteAcp),
        "store:GetObject"
        | "store:GetObjectVersion"
        | "store:GetObjectAttributes"
        | "store:GetObjectVersionAttributes" => (true, Permission::Read),
        "store:GetObjectAcl" | "store:GetObjectVersionAcl" => (true, Permission::ReadAcp),
        "store:PutObjectAcl" | "store:PutObjectVersionAcl" => (true, Permission::WriteAcp),
        _ => return None,
    })
}

/// Tells whether the ACL of the bucket, or of the object, gives the permission.
pub(super) fn acl_allows(
    access: &AccessRequest<'_>,
    permission: &str,
    bucket: &Bucket,
    tx: &mut Tx<'_>,
) -> Result<bool, Error> {
    let Some((is_object, wanted)) = acl_permission(permission) else {
        return Ok(false);
    };
    let (true, Some(key)) = (is_object, access.key) else {
        return grants(access, bucket, &bucket.acl, &bucket.owner, wanted, tx);
    };
    match object(access, bucket, key, tx)? {
        Some(object) => {
            // The owner of an object may always read and change its ACL; its bytes are a matter of the ACL alone.
            let account = access.caller.account();
            let owns = account.is_some_and(|account| account.id == bucket.owner_of(&object.owner));
            let none = Acl::default();
            let acl = object.data.as_ref().map_or(&none, |data| &data.acl);
            Ok((owns && wanted != Permission::Read)
                || grants(access, bucket, acl, &object.owner, wanted, tx)?)
        }
        // Only who may list learns that a key is absent.
        None => Ok(owns(access.caller, bucket)
            || is_public("store:ListBucket", bucket.public)
            || acl_allows(access, "store:ListBucket", bucket, tx)?),
    }
}

/// Tells whether an ACL gives what is wanted, where ACLs count at all. A public one that is to be ignored counts as if none had been put: it
/// lets nobody in, but does not shut its owner out.
fn grants(
    access: &AccessRequest<'_>,
    bucket: &Bucket,
    acl: &Acl,
    owner: &str,
    wanted: Permission,
    tx: &mut Tx<'_>,
) -> Result<bool, Error> {
    if bucket.ownership == Ownership::BucketOwnerEnforced {
        return Ok(false);
    }
    let by_point = access.point.is_some_and(|point| point.ignores_public_acls);
    let is_ignored = acl.is_public()
        && (by_point || PublicAccessBlock::of_bucket(tx, bucket.id)?.ignore_public_acls);
    let none = Acl::default();
    let acl = if is_ignored { &none } else { acl };
    let account = ACCOUNTS.peek(tx, &owner.to_owned())?;
    let canonical = account.map_or_else(|| owner.to_owned(), |account| account.canonical_id);
    Ok(acl.allows(access.caller, &canonical, wanted))
}
