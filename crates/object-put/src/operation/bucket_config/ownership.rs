//! The owner of what others upload to a bucket.

use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use crate::auth::acl::Acl;
use crate::error::Error;
use crate::operation::bucket_config::{not_configured, update_bucket, xml_reply};
use crate::operation::{Call, ReadCall, Reply};
use crate::request::xml::Element;
use crate::store::bucket::Ownership;
use crate::store::lookup::account_directory;

/// `GetBucketOwnershipControls`.
///
/// # Errors
/// `NotConfigured` for a bucket whose controls were deleted.
pub fn get(call: &ReadCall<'_>, _tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let ownership = call.bucket()?.ownership;
    if ownership == Ownership::Unset {
        return Err(not_configured(
            call,
            "OwnershipControlsNotFoundError",
            "The bucket ownership controls were not found",
        ));
    }
    let name = ownership.name();
    Ok(xml_reply(call, "OwnershipControls", |writer| {
        writer.element("Rule", |writer| writer.text("ObjectOwnership", name));
    }))
}

/// `PutBucketOwnershipControls`.
///
/// # Errors
/// `MalformedXml`; `BucketAclWithOwnership` for disabling ACLs while the bucket's own names others.
pub fn put(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let root = Element::parse(call.body, "OwnershipControls")?;
    root.has_only(&["Rule"], &[])?;
    let rule = root.child("Rule").ok_or(Error::MalformedXml)?;
    rule.has_only(&["ObjectOwnership"], &[])?;
    let ownership =
        Ownership::parse(rule.required("ObjectOwnership")?).ok_or(Error::MalformedXml)?;
    let owner = account_directory(tx)?;
    let owner = owner.canonical(&call.bucket()?.owner);
    let own = Acl::default().entries(owner);
    if ownership == Ownership::BucketOwnerEnforced && call.bucket()?.acl.entries(owner) != own {
        return Err(Error::BucketAclWithOwnership);
    }
    update_bucket(call, tx, |bucket| bucket.ownership = ownership)?;
    Ok(Reply::empty(200))
}

/// `DeleteBucketOwnershipControls`.
///
/// # Errors
/// Those of the way to it alone.
pub fn delete(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    update_bucket(call, tx, |bucket| bucket.ownership = Ownership::Unset)?;
    Ok(Reply::empty(204))
}
