//! Query parameters that are refused. Two that choose an operation each: the request is one of them at most. And one of a request that
//! writes which has no meaning for the operation: it may name a part of a bucket or an object that this service does not know, and without
//! it the request would replace or delete the whole.

use std::collections::BTreeSet;

use crate::error::Error;
use crate::operation::table::{is_selector, methods_of};
use crate::operation::{Operation, Run};
use crate::request::dialect::sigv2;
use crate::request::location::Target;
use crate::request::query::Query;

/// Listings of a bucket, which a read of a key is not answered with, nor with the object, and what the real service says there.
const NOT_OF_KEYS: [(&str, &str); 2] = [
    ("versions", "There is no such thing as the ?versions sub-resource for a key"),
    ("uploads", "Key is not expected for the GET method ?uploads subresource"),
];

/// Parameters of signatures of the older scheme.
const OF_SIGNATURES: [&str; 3] = [sigv2::ACCESS_KEY, "Signature", "Expires"];

/// Parameters that an operation takes beside its markers.
#[rustfmt::skip] // A table: one set of operations a line.
const TAKEN: &[(&[&str], &[&str])] = &[
    (&["DeleteObject", "PutObjectAcl", "PutObjectTagging", "DeleteObjectTagging", "PutObjectRetention", "PutObjectLegalHold", "RestoreObject"], &[VERSION]),
    (&["UploadPart", "UploadPartCopy"], &[NUMBER]),
    (&["DeleteBucketAnalyticsConfiguration", "DeleteBucketIntelligentTieringConfiguration", "DeleteBucketInventoryConfiguration", "DeleteBucketMetricsConfiguration"], &["id"]),
];

const NUMBER: &str = "partNumber";
const UPLOAD: &str = "uploadId";
const VERSION: &str = "versionId";

/// Refuses parameters that choose an operation each, named in the order of their letters, and one with HEAD, which no part of a bucket or an
/// object takes: both as in the real service.
///
/// # Errors
/// [`Error::InvalidArgument`]; [`Error::SubresourceMethodNotAllowed`].
pub fn check_selectors(method: &str, query: &Query) -> Result<(), Error> {
    let chosen: BTreeSet<_> = query.names().filter(|name| is_selector(name)).collect();
    match chosen.first() {
        // A browser's question is about the request that it will send.
        Some(first) if chosen.len() > 1 && method != "OPTIONS" => {
            let names = Vec::from_iter(chosen.iter().copied()).join(", ");
            let reason = format!("Conflicting query string parameters: {names}");
            Err(Error::argument("ResourceType", Some(first), reason))
        }
        Some(first) if method == "HEAD" => Err(not_allowed(method, None, first)),
        _ => Ok(()),
    }
}

/// Refuses a listing of a bucket in a read of a key, and the first parameter of a request that writes which its operation does not take. Those
/// that start with `x-` are a client's own or a header's.
///
/// # Errors
/// [`Error::InvalidRequest`] for a listing; [`Error::ParameterNotImplemented`], which names it; as in the real service
/// [`Error::InvalidArgument`] for a version of an object; of the number of a part and the upload that it belongs to
/// [`Error::InvalidArgument`] for the one without the other, [`Error::SubresourceMethodNotAllowed`] for the other without the one.
pub fn check(operation: &Operation, method: &str, query: &Query) -> Result<(), Error> {
    if operation.name == "GetObject" {
        let found = NOT_OF_KEYS.iter().find(|(listing, _)| query.has(listing));
        return found.map_or(Ok(()), |(_, reason)| Err(Error::request(*reason)));
    }
    if !matches!(method, "PUT" | "POST" | "DELETE") || matches!(operation.run, Run::NotImplemented)
    {
        return Ok(());
    }
    let starts_with_x = |name: &str| matches!(name.as_bytes(), [b'x' | b'X', b'-', ..]);
    let is_taken = |name: &str| {
        let mut rows = TAKEN.iter().filter(|(operations, _)| operations.contains(&operation.name));
        starts_with_x(name)
            || query.headers().any(|(header, _)| name.eq_ignore_ascii_case(header))
            || OF_SIGNATURES.contains(&name)
            || operation.markers().any(|marker| marker == name)
            || rows.any(|(_, parameters)| parameters.contains(&name))
    };
    if matches!(operation.name, "UploadPart" | "UploadPartCopy") && !query.has(NUMBER) {
        return Err(not_allowed(method, Some("UPLOAD"), UPLOAD));
    }
    match query.names().find(|name| !is_taken(name)) {
        Some(NUMBER) if matches!(operation.name, "PutObject" | "CopyObject") => {
            let reason = "This operation does not accept partNumber without uploadId";
            Err(Error::argument(NUMBER, Some(NUMBER), reason))
        }
        Some(VERSION) if operation.target == Target::Object => {
            let reason = "This operation does not accept a version-id.";
            Err(Error::argument(VERSION, query.get(VERSION), reason))
        }
        Some(name) => Err(Error::ParameterNotImplemented { name: name.to_owned() }),
        None => Ok(()),
    }
}

fn not_allowed(method: &str, resource: Option<&'static str>, subresource: &str) -> Error {
    let allowed = methods_of(subresource);
    Error::SubresourceMethodNotAllowed { method: method.to_owned(), resource, allowed }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::table::named;

    #[test]
    fn a_write_that_makes_a_version_does_not_accept_one() {
        let seen = |name: &str, query: &str| {
            let operation = named(name).unwrap();
            check(operation, operation.method, &Query::parse(query).unwrap())
        };
        for (name, query) in [
            ("PutObject", "versionId=abc"),
            ("CopyObject", "versionId=abc"),
            ("CreateMultipartUpload", "uploads&versionId=abc"),
            ("UploadPart", "partNumber=1&uploadId=u&versionId=abc"),
            ("CompleteMultipartUpload", "uploadId=u&versionId=abc"),
        ] {
            let reason = "This operation does not accept a version-id.";
            let refused = Error::argument(VERSION, Some("abc"), reason);
            assert_eq!(seen(name, query), Err(refused), "{name}");
        }
        assert_eq!(seen("DeleteObject", "versionId=abc"), Ok(()));
        let unknown = Error::ParameterNotImplemented { name: VERSION.to_owned() };
        assert_eq!(seen("DeleteBucket", "versionId=abc"), Err(unknown));
    }
}
