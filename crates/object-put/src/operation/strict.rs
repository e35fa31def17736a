//! `--strict`: names of the service that nobody here knows are refused, where the real service passes over them.

use crate::error::Error;
use crate::operation::put_headers::HEADERS;
use crate::operation::table::OPERATIONS;
use crate::request::dialect::{Dialect, sigv2};
use crate::request::fields::Fields;
use crate::request::query::Query;

/// Headers of the service beside those of the header table; a name that ends in `-` stands for all that start with it.
const HEADERS_BESIDE: [&str; 36] = [
    "x-store-bucket-namespace",
    "x-store-bucket-object-lock-enabled",
    "x-store-bucket-region",
    "x-store-bypass-governance-retention",
    "x-store-checksum-algorithm",
    "x-store-checksum-mode",
    "x-store-checksum-type",
    "x-store-content-sha256",
    "x-store-copy-source",
    "x-store-copy-source-",
    "x-store-create-session-mode",
    "x-store-date",
    "x-store-decoded-content-length",
    "x-store-delete-marker",
    "x-store-expected-bucket-owner",
    "x-store-grant-",
    "x-store-id-2",
    "x-store-if-match-",
    "x-store-max-parts",
    "x-store-meta-",
    "x-store-metadata-directive",
    "x-store-mfa",
    "x-store-mp-object-size",
    "x-store-object-attributes",
    "x-store-object-ownership",
    "x-store-optional-object-attributes",
    "x-store-part-number-marker",
    "x-store-region-set",
    "x-store-request-id",
    "x-store-s3session-token",
    "x-store-security-token",
    "x-store-source-expected-bucket-owner",
    "x-store-tagging-directive",
    "x-store-trailer",
    "x-store-transition-default-minimum-object-size",
    "x-store-user-agent",
];

/// Fields of the service that a form has beside them: those of its signature.
const FIELDS_OF_FORMS: [&str; 3] = ["x-store-algorithm", "x-store-credential", "x-store-signature"];

/// Parameters beside the markers of operations.
const PARAMETERS: [&str; 25] = [
    sigv2::ACCESS_KEY,
    "Expires",
    "Signature",
    "bucket-region",
    "continuation-token",
    "delimiter",
    "encoding-type",
    "fetch-owner",
    "key-marker",
    "marker",
    "max-buckets",
    "max-directory-buckets",
    "max-keys",
    "max-parts",
    "max-uploads",
    "part-number-marker",
    "partNumber",
    "prefix",
    "start-after",
    "upload-id-marker",
    "uploadId",
    "version-id-marker",
    "versionId",
    sigv2::TOKEN,
    "x-id",
];

/// Refuses the first header of the service, then the first parameter, that is not known.
///
/// # Errors
/// [`Error::Unknown`], which names it as it was sent.
pub fn check(fields: &Fields<'_>, query: &Query) -> Result<(), Error> {
    let names = fields.dialect().names();
    check_names(fields.iter().map(|(name, _)| name), &[], fields.dialect())?;
    for (name, _) in query.iter() {
        let is_known = name.starts_with(names.query_prefix)
            || query.headers().any(|(header, _)| name.eq_ignore_ascii_case(header))
            // Passed over with the checksum of a body that its signer has not seen.
            || name.starts_with(names.header_prefix)
            || name.starts_with("response-")
            || PARAMETERS.contains(&name)
            || OPERATIONS.iter().any(|row| row.markers().any(|marker| marker == name));
        if !is_known {
            return Err(Error::Unknown { name: name.to_owned() });
        }
    }
    Ok(())
}

/// Refuses the first field of the service in a form that is not known.
///
/// # Errors
/// [`Error::Unknown`], which names it as it was sent.
pub fn check_form<'f>(names: impl Iterator<Item = &'f str>, dialect: Dialect) -> Result<(), Error> {
    check_names(names, &FIELDS_OF_FORMS, dialect)
}

/// Refuses the first name of the service that is neither that of a header nor one of `beside`.
fn check_names<'f>(
    names: impl Iterator<Item = &'f str>,
    beside: &[&str],
    dialect: Dialect,
) -> Result<(), Error> {
    for sent in names {
        let name = sent.to_ascii_lowercase();
        let is_known = |known: &str| {
            let known = dialect.header(known);
            name == known || (known.ends_with('-') && name.starts_with(&*known))
        };
        let mut known = HEADERS.iter().map(|rule| rule.name).chain(HEADERS_BESIDE);
        if name.starts_with(dialect.names().header_prefix)
            && !(known.any(is_known) || beside.iter().any(|known| is_known(known)))
        {
            return Err(Error::Unknown { name: sent.to_owned() });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_of(header: &str, query: &str) -> Result<(), Error> {
        let fields = Fields::of([(header, &b"1"[..])]).in_dialect(Dialect::Amz);
        check(&fields, &Query::parse(query).unwrap())
    }

    #[test]
    fn known_names_pass_and_others_are_named() {
        for (header, query) in [
            ("x-amz-acl", "versionId=1&x-id=PutObject"),
            ("x-amz-server-side-encryption-aws-kms-key-id", ""),
            ("x-amz-meta-anything", "X-Amz-Date=1"),
            ("content-type", "response-content-type=a"),
        ] {
            assert_eq!(check_of(header, query), Ok(()), "{header} {query}");
        }
        let named = |name: &str| Err(Error::Unknown { name: name.to_owned() });
        assert_eq!(check_of("x-amz-alc", ""), named("x-amz-alc"));
        assert_eq!(check_of("host", "versionID=1"), named("versionID"));
    }
}
