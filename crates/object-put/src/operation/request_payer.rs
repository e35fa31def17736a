//! Requests that whoever sends them pays for: objects and listings of a bucket that says so.

use crate::auth::account::Caller;
use crate::error::Error;
use crate::operation::Operation;
use crate::request::fields::Fields;
use crate::request::location::Target;
use crate::store::bucket::{Bucket, RequestPayment};

/// The header, or parameter of a presigned URL, that confirms it.
pub const PAYER: &str = "x-store-request-payer";
/// The header of an answer that was charged.
pub const CHARGED: &str = "x-store-request-charged";
/// The one value of both.
pub const REQUESTER: &str = "requester";

/// Operations on a bucket that are charged; those on objects all are.
const OF_BUCKETS: [&str; 5] =
    ["ListObjects", "ListObjectsV2", "ListObjectVersions", "ListMultipartUploads", "DeleteObjects"];

fn is_chargeable(operation: &Operation) -> bool {
    match operation.target {
        Target::Object => true,
        Target::Bucket => OF_BUCKETS.contains(&operation.name),
        Target::Service => false,
    }
}

/// Tells whether a caller pays for what is done to the objects of a bucket: everyone but its owner, where it says so.
#[must_use]
pub fn pays(caller: &Caller, bucket: &Bucket) -> bool {
    let owns = caller.account().is_some_and(|account| account.id == bucket.owner);
    bucket.request_payment == RequestPayment::Requester && !owns
}

/// Tells whether an operation on a bucket is charged to a caller.
#[must_use]
pub fn is_charged(operation: &Operation, caller: &Caller, bucket: &Bucket) -> bool {
    is_chargeable(operation) && pays(caller, bucket)
}

/// Tells whether a request confirms that its sender pays.
///
/// # Errors
/// `InvalidArgument` for a header that is no text.
pub fn confirms(fields: &Fields<'_>) -> Result<bool, Error> {
    Ok(fields.get(PAYER)?.is_some_and(|payer| payer.eq_ignore_ascii_case(REQUESTER)))
}

/// Checks that who pays for an operation says so; nobody can charge who is not known.
///
/// # Errors
/// [`Error::AccessDenied`].
pub fn check(
    operation: &Operation,
    fields: &Fields<'_>,
    caller: &Caller,
    bucket: &Bucket,
) -> Result<(), Error> {
    let denied =
        is_charged(operation, caller, bucket) && (caller.account().is_none() || !confirms(fields)?);
    if denied { Err(Error::AccessDenied) } else { Ok(()) }
}
