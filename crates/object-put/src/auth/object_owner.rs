//! The owner of an object that is put into a bucket, and the ACL that it gets.

use triptych_core::kv::Tx;

use crate::auth::account::Caller;
use crate::auth::acl::{Acl, AclContext, BUCKET_OWNER_FULL_CONTROL};
use crate::auth::policy::PublicAccessBlock;
use crate::error::Error;
use crate::request::fields::Fields;
use crate::store::bucket::{Bucket, Ownership};
use crate::store::lookup::account_directory;

const ACL: &str = "x-store-acl";

/// The owner of an object that `caller` puts into `bucket`, and its ACL (spec §1, §4).
///
/// # Errors
/// Those of [`Acl::from_headers`]; [`Error::AccessControlListNotSupported`] where ACLs are disabled and the request asks for more than the
/// bucket owner's full control; [`Error::AccessDenied`] for a public list where the bucket blocks those.
pub fn of_put(
    fields: &Fields<'_>,
    bucket: &Bucket,
    caller: &Caller,
    tx: &mut Tx<'_>,
) -> Result<(String, Acl), Error> {
    let writer = caller.account().map_or(bucket.owner.as_str(), |account| &account.id);
    let named = fields.get(ACL)?;
    let owner = match bucket.ownership {
        Ownership::BucketOwnerEnforced => &bucket.owner,
        Ownership::BucketOwnerPreferred if named.as_deref() == Some(BUCKET_OWNER_FULL_CONTROL) => {
            &bucket.owner
        }
        _ => writer,
    };
    if !Acl::is_named(fields) {
        return Ok((owner.to_owned(), Acl::default()));
    }
    let directory = account_directory(tx)?;
    let bucket_owner = directory.canonical(&bucket.owner);
    let context = AclContext {
        directory: &directory,
        owner: directory.canonical(owner),
        bucket_owner,
        is_bucket: false,
    };
    let acl = Acl::from_headers(fields, &context)?.unwrap_or_default();
    if bucket.ownership == Ownership::BucketOwnerEnforced {
        return match acl.passes_where_disabled(fields, bucket_owner)? {
            true => Ok((owner.to_owned(), Acl::default())),
            false => Err(Error::AccessControlListNotSupported),
        };
    }
    PublicAccessBlock::check(tx, bucket.id, &acl)?;
    Ok((owner.to_owned(), acl))
}
