//! The ACL of a bucket, and the list that a request brings for a bucket or an object.

use triptych_core::id::Ids;
use triptych_core::kv::Tx;

use crate::auth::acl::{Acl, AclContext};
use crate::auth::policy::PublicAccessBlock;
use crate::error::Error;
use crate::operation::bucket_config::update_bucket;
use crate::operation::{Call, ReadCall, Reply};
use crate::store::bucket::Ownership;
use crate::store::lookup::account_directory;

/// `GetBucketAcl`.
///
/// # Errors
/// Those of the way to it alone.
pub fn get(call: &ReadCall<'_>, tx: &mut Tx<'_>) -> Result<Reply, Error> {
    let bucket = call.bucket()?;
    let directory = account_directory(tx)?;
    let owner = directory.canonical(&bucket.owner);
    Ok(Reply::xml(bucket.acl.document(call.dialect(), owner, &directory)))
}

/// `PutBucketAcl`.
///
/// # Errors
/// `AccessControlListNotSupported`; those of [`of_put`].
pub fn put(call: &Call<'_>, tx: &mut Tx<'_>, _ids: &mut dyn Ids) -> Result<Reply, Error> {
    let bucket = call.bucket()?;
    let directory = account_directory(tx)?;
    let owner = directory.canonical(&bucket.owner);
    let context = AclContext { directory: &directory, owner, bucket_owner: owner, is_bucket: true };
    let acl = of_put(call, tx, &context)?;
    update_bucket(call, tx, |bucket| bucket.acl = acl)?;
    Ok(Reply::empty(200))
}

/// The list that a `PutBucketAcl` or `PutObjectAcl` brings, by headers or as a document.
///
/// # Errors
/// `MissingSecurityHeader` for neither, `UnexpectedContent` for both; those of the grammar; `AccessControlListNotSupported`;
/// `AccessDenied` for a public list where the bucket blocks those.
pub fn of_put(call: &Call<'_>, tx: &mut Tx<'_>, context: &AclContext<'_>) -> Result<Acl, Error> {
    let bucket = call.bucket()?;
    let acl = match (Acl::is_named(call.fields), call.body.is_empty()) {
        (false, true) => {
            return Err(Error::MissingSecurityHeader { header: "x-store-acl" });
        }
        (true, false) => return Err(Error::UnexpectedContent),
        (true, true) => Acl::from_headers(call.fields, context)?.unwrap_or_default(),
        (false, false) => Acl::from_xml(call.body, call.dialect(), context)?,
    };
    if bucket.ownership == Ownership::BucketOwnerEnforced {
        return match acl.passes_where_disabled(call.fields, context.owner)? {
            true => Ok(Acl::default()),
            false => Err(Error::AccessControlListNotSupported),
        };
    }
    PublicAccessBlock::check(tx, bucket.id, &acl)?;
    Ok(acl)
}
