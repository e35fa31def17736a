//! The operation that a request means, by its method, by what its path names, and by its parameters and headers.

use crate::auth::credentials::is_scoped_to;
use crate::error::Error;
use crate::operation::Operation;
use crate::operation::copy_object::SOURCE;
use crate::operation::subresource::Subresource;
use crate::operation::table::{LISTING_FORM, OPERATIONS, SIGNED_FOR_DIRECTORIES};
use crate::request::dialect::DIRECTORY_SERVICE;
use crate::request::fields::Fields;
use crate::request::location::Target;
use crate::request::query::Query;

/// The operation that a request means: the first row that fits, and rows with a marker come first. One that is not built
/// has a row too: its run says so. A read of what is the bucket's alone is the bucket's behind a key too.
///
/// # Errors
/// [`Error::MethodNotAllowed`]; those of [`Subresource::misplaced`]; [`Error::InvalidArgument`] for a source of a request that copies
/// nothing.
pub fn route(
    method: &str,
    target: Target,
    fields: &Fields<'_>,
    query: &Query,
) -> Result<&'static Operation, Error> {
    // A browser's question is about the request that it will send.
    let subresource = Subresource::all_named(target, query).next().filter(|_| method != "OPTIONS");
    if let Some(subresource) = subresource {
        check_method(subresource, method, target)?;
    }
    let at = |place| {
        OPERATIONS.iter().find(|row| {
            is_meant(row, method, place, fields, query)
                && subresource.is_none_or(|subresource| subresource.is_of(row))
        })
    };
    let of_bucket = || subresource.filter(|_| method == "GET").and_then(|_| at(Target::Bucket));
    let found = at(target).or_else(of_bucket);
    // A browser asks with the address of the copy, which may name its source.
    if method != "OPTIONS" && (found.is_some() || subresource.is_some()) {
        check_source(found, fields)?;
    }
    found.ok_or_else(|| match subresource {
        Some(subresource) => subresource.misplaced(target),
        None => Error::MethodNotAllowed {
            method: method.to_owned(),
            resource: target.name(),
            allowed: Some(methods(
                OPERATIONS.iter().filter(|row| row.target == target && row.marker.is_empty()),
            )),
        },
    })
}

/// Checks that a request with a source is a copy: passed over, it would read, replace or delete what was to be copied to.
fn check_source(operation: Option<&Operation>, fields: &Fields<'_>) -> Result<(), Error> {
    let is_copy =
        operation.is_some_and(|operation| operation.markers().any(|marker| marker == SOURCE));
    match fields.get(SOURCE)? {
        Some(source) if !is_copy => {
            let reason = "You can only specify a copy source header for copy requests.";
            Err(Error::argument(SOURCE, Some(&source), reason))
        }
        _ => Ok(()),
    }
}

/// Checks that a sub-resource takes a method, and tells those that it takes.
fn check_method(subresource: &Subresource, method: &str, target: Target) -> Result<(), Error> {
    let resource = subresource.word(target);
    let own = || {
        let rows = OPERATIONS.iter().filter(|row| subresource.is_of(row));
        rows.filter(|row| subresource.word(row.target) == resource)
    };
    match own().any(|row| row.method == method) {
        true => Ok(()),
        false => Err(Error::MethodNotAllowed {
            method: method.to_owned(),
            resource,
            allowed: Some(methods(own())),
        }),
    }
}

/// The methods of operations, in the order in which the real service tells them.
fn methods<'o>(operations: impl Iterator<Item = &'o Operation>) -> String {
    let own: Vec<_> = operations.map(|row| row.method).collect();
    let told = ["HEAD", "DELETE", "POST", "GET", "PUT"].into_iter();
    Vec::from_iter(told.filter(|method| own.contains(method))).join(", ")
}

/// Tells whether a row is for a request.
fn is_meant(
    row: &Operation,
    method: &str,
    target: Target,
    fields: &Fields<'_>,
    query: &Query,
) -> bool {
    row.target == target
        && row.method == method
        && row.markers().all(|marker| match marker {
            SIGNED_FOR_DIRECTORIES => {
                query.has("max-directory-buckets") || is_scoped_to(DIRECTORY_SERVICE, fields, query)
            }
            header if header.starts_with("x-store-") => fields.has(header),
            // Any other value is the first form, as in the real service.
            LISTING_FORM => query.get(LISTING_FORM) == Some("2"),
            parameter => query.has(parameter),
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::operation::subresource::{NUMBER, SUBRESOURCES, UPLOAD};

    /// Parameters that choose an operation and are passed over by all others, as in the real service.
    const PASSED_OVER: [&str; 3] = ["session", "renameObject", "list-type"];

    #[test]
    fn every_parameter_that_chooses_an_operation_has_a_word_at_its_path() {
        for row in OPERATIONS.iter().filter(|row| row.target != Target::Service) {
            let Some(parameter) = row.markers().next() else { continue };
            if parameter.starts_with("x-store-") || PASSED_OVER.contains(&parameter) {
                continue;
            }
            let own = SUBRESOURCES.iter().filter(|own| own.is_of(row));
            assert_eq!(own.count(), 1, "{} {parameter}", row.name);
        }
    }

    #[test]
    fn what_differs_behind_a_bucket_and_a_key_takes_the_methods_of_its_own() {
        let allowed = |parameter: &str, target| {
            let own = SUBRESOURCES.iter().find(|own| own.parameter == parameter).unwrap();
            let Err(Error::MethodNotAllowed { resource, allowed, .. }) =
                check_method(own, "PATCH", target)
            else {
                panic!("{parameter} takes PATCH");
            };
            (resource, allowed.unwrap())
        };
        for (parameter, target, resource, methods) in [
            ("encryption", Target::Bucket, "ENCRYPTION", "DELETE, GET, PUT"),
            ("encryption", Target::Object, "OBJECT_ENCRYPTION", "PUT"),
            ("tagging", Target::Object, "OBJECT_TAGGING", "DELETE, GET, PUT"),
            ("uploads", Target::Object, "UPLOADS", "POST, GET"),
            ("uploads", Target::Bucket, "UPLOADS", "POST, GET"),
            ("policy", Target::Object, "BUCKETPOLICY", "DELETE, GET, PUT"),
            (UPLOAD, Target::Object, "UPLOAD", "DELETE, POST, GET"),
            (NUMBER, Target::Object, "PART", "PUT"),
        ] {
            assert_eq!(allowed(parameter, target), (resource, methods.to_owned()), "{parameter}");
        }
    }
}
