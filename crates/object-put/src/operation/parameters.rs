//! Query parameters that are refused. Two that choose an operation each: the request is one of them at most. And one of a request that
//! writes which has no meaning for the operation: it may name a part of a bucket or an object that this service does not know, and without
//! it the request would replace or delete the whole.

use std::collections::BTreeSet;

use crate::error::Error;
use crate::operation::subresource::{NUMBER, Subresource, UPLOAD};
use crate::operation::{Operation, Run};
use crate::request::dialect::sigv2;
use crate::request::location::Target;
use crate::request::query::Query;

/// Parameters of signatures of the older scheme.
const OF_SIGNATURES: [&str; 3] = [sigv2::ACCESS_KEY, "Signature", "Expires"];

/// Parameters that an operation takes beside its markers.
#[rustfmt::skip] // A table: one set of operations a line.
const TAKEN: &[(&[&str], &[&str])] = &[
    (&["DeleteObject", "PutObjectAcl", "PutObjectTagging", "DeleteObjectTagging", "PutObjectRetention", "PutObjectLegalHold", "RestoreObject"], &[VERSION]),
    (&["GetObject", "HeadObject", "GetObjectAcl", "GetObjectTagging", "GetObjectRetention", "GetObjectLegalHold", "GetObjectAttributes"], &[VERSION]),
    (&["UploadPart", "UploadPartCopy"], &[NUMBER]),
    (&["DeleteBucketAnalyticsConfiguration", "DeleteBucketIntelligentTieringConfiguration", "DeleteBucketInventoryConfiguration", "DeleteBucketMetricsConfiguration"], &["id"]),
];

const VERSION: &str = "versionId";
const WEBSITE: &str = "website";

/// Refuses what names two sub-resources at once, in the order of their letters, and the number of a part where no key stands,
/// both as in the real service.
///
/// # Errors
/// [`Error::InvalidArgument`]; [`Error::InvalidRequest`].
pub fn check_selectors(method: &str, target: Target, query: &Query) -> Result<(), Error> {
    // A browser's question is about the request that it will send.
    if method == "OPTIONS" {
        return Ok(());
    }
    let mut chosen: BTreeSet<_> =
        Subresource::all_named(target, query).map(|own| own.parameter).collect();
    if query.has(NUMBER) && !query.has(UPLOAD) && (target == Target::Bucket || !chosen.is_empty()) {
        chosen.insert(NUMBER);
    }
    match chosen.first() {
        Some(first) if chosen.len() > 1 => {
            let names = Vec::from_iter(chosen.iter().copied()).join(", ");
            let reason = format!("Conflicting query string parameters: {names}");
            Err(Error::argument("ResourceType", Some(first), reason))
        }
        Some(&NUMBER) if !query.has(UPLOAD) => {
            Err(Error::request("Object must have a valid key name."))
        }
        _ => Ok(()),
    }
}

/// Refuses what a read of a key is not answered with: listings and the log of its bucket.
fn check_key(operation: &Operation) -> Result<(), Error> {
    match operation.name {
        "ListObjectVersions" => {
            Err(Error::request("There is no such thing as the ?versions sub-resource for a key"))
        }
        "ListMultipartUploads" => {
            Err(Error::request("Key is not expected for the GET method ?uploads subresource"))
        }
        "GetBucketLogging" => Err(Error::NoLoggingStatusForKey),
        _ => Ok(()),
    }
}

/// Refuses reads of a key that are its bucket's alone, a version where none is taken, and the first parameter of a request that writes which its
/// operation does not take. Those that start with `x-` are a client's own or a header's.
///
/// # Errors
/// [`Error::InvalidRequest`], [`Error::NoLoggingStatusForKey`] for a key; as in the real service [`Error::InvalidArgument`] for a version, a
/// website with a value, and the number of a part without its upload; [`Error::ParameterNotImplemented`], which names it.
pub fn check(
    operation: &Operation,
    method: &str,
    target: Target,
    query: &Query,
) -> Result<(), Error> {
    if target == Target::Object {
        check_key(operation)?;
    }
    if matches!(operation.run, Run::NotImplemented) || method == "OPTIONS" {
        return Ok(());
    }
    let is_taken = |name: &str| takes(operation, query, name);
    // A form says in its fields what it does.
    if query.has(VERSION) && target != Target::Service && !is_taken(VERSION) && !is_form(operation)
    {
        let reason = "This operation does not accept a version-id.";
        return Err(Error::argument(VERSION, query.get(VERSION), reason));
    }
    if let Some(value) = query.get(WEBSITE).filter(|value| !value.is_empty()) {
        let reason = "The website parameter must not have a value";
        return Err(Error::argument(WEBSITE, Some(value), reason));
    }
    if !matches!(method, "PUT" | "POST" | "DELETE") {
        return Ok(());
    }
    match query.names().find(|name| !is_taken(name)) {
        Some(NUMBER) if matches!(operation.name, "PutObject" | "CopyObject") => {
            let reason = "This operation does not accept partNumber without uploadId";
            Err(Error::argument(NUMBER, Some(NUMBER), reason))
        }
        Some(name) => Err(Error::ParameterNotImplemented { name: name.to_owned() }),
        None => Ok(()),
    }
}

const fn is_form(operation: &Operation) -> bool {
    matches!(operation.run, Run::Form)
}

/// Tells whether a parameter means something to an operation, or is none of its affair.
fn takes(operation: &Operation, query: &Query, name: &str) -> bool {
    let mut rows = TAKEN.iter().filter(|(operations, _)| operations.contains(&operation.name));
    matches!(name.as_bytes(), [b'x' | b'X', b'-', ..])
        || query.headers().any(|(header, _)| name.eq_ignore_ascii_case(header))
        || OF_SIGNATURES.contains(&name)
        || operation.markers().any(|marker| marker == name)
        || rows.any(|(_, parameters)| parameters.contains(&name))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::table::named;

    #[test]
    fn what_is_about_no_version_does_not_accept_one() {
        let seen = |name: &str, query: &str| {
            let operation = named(name).unwrap();
            check(operation, operation.method, operation.target, &Query::parse(query).unwrap())
        };
        for (name, query) in [
            ("PutObject", "versionId=abc"),
            ("CopyObject", "versionId=abc"),
            ("CreateMultipartUpload", "uploads&versionId=abc"),
            ("UploadPart", "partNumber=1&uploadId=u&versionId=abc"),
            ("CompleteMultipartUpload", "uploadId=u&versionId=abc"),
            ("ListParts", "uploadId=u&versionId=abc"),
            ("ListObjectsV2", "list-type=2&versionId=abc"),
            ("GetBucketVersioning", "versioning&versionId=abc"),
            ("DeleteBucket", "versionId=abc"),
        ] {
            let reason = "This operation does not accept a version-id.";
            let refused = Error::argument(VERSION, Some("abc"), reason);
            assert_eq!(seen(name, query), Err(refused), "{name}");
        }
        for name in ["DeleteObject", "GetObject", "HeadObject", "GetObjectAcl"] {
            assert_eq!(seen(name, "versionId=abc"), Ok(()), "{name}");
        }
    }
}
