//! The two vocabularies of the service: the spec's neutral one and the one that stock clients speak.
//!
//! Each request is read, and answered, in the dialect that it speaks. Nothing else in the crate knows that
//! there are two: everywhere else names are the spec's.

use std::borrow::Cow;

use crate::error::Error;
use crate::request::fields::{Fields, Query};

/// The vocabulary that a request speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Dialect {
    /// The spec's own: `x-store-`, `STORE4-HMAC-SHA256`.
    #[default]
    Store,
    /// The vocabulary of stock clients: `x-amz-`, `AWS4-HMAC-SHA256`.
    Amz,
}

/// The words of one dialect, and the answers in which the two differ.
#[derive(Debug)]
pub struct Vocabulary {
    /// Start of the service's own header names.
    pub header_prefix: &'static str,
    /// Start of the query parameters of a presigned URL.
    pub query_prefix: &'static str,
    /// The signing algorithm.
    pub algorithm: &'static str,
    /// Start of the text that the signing key is made of, before the secret.
    pub key_prefix: &'static str,
    /// The end of a credential scope.
    pub scope_end: &'static str,
    /// Services that a credential scope may name.
    pub scope_services: &'static [&'static str],
    /// The start of the values of `content-sha256` that announce signed chunks.
    pub streaming_signed: &'static str,
    /// First line of the text that a chunk's signature covers.
    pub chunk_algorithm: &'static str,
    /// First line of the text that a trailer's signature covers.
    pub trailer_algorithm: &'static str,
    /// Key-management encryption.
    pub kms: &'static str,
    /// Dual-layer key-management encryption.
    pub kms_dual: &'static str,
    /// Start of the names of permissions in policies.
    pub action_prefix: &'static str,
    /// Start of resource names in policies.
    pub arn_prefix: &'static str,
    /// Start of the URI of a group of grantees.
    pub group_prefix: &'static str,
    /// The group of log writers, after [`Vocabulary::group_prefix`].
    pub log_group: &'static str,
    /// End of the name of a directory bucket.
    pub directory_suffix: &'static str,
    /// Namespace of XML bodies.
    pub namespace: &'static str,
    /// Element of an error body that names the access key.
    pub access_key_element: &'static str,
    /// Element of an error body that tells how long a URL was valid.
    pub expires_element: &'static str,
    /// `If-Match` on an absent key: spec §3 says 412, the real service 404.
    pub absent_match_is_not_found: bool,
    /// A checksum of another algorithm than the one named: spec §7 says BadDigest, the real service InvalidRequest.
    pub other_algorithm_is_bad_digest: bool,
}

const STORE: Vocabulary = Vocabulary {
    header_prefix: "x-store-",
    query_prefix: "X-Store-",
    algorithm: "STORE4-HMAC-SHA256",
    key_prefix: "STORE4",
    scope_end: "store4_request",
    scope_services: &["s3", "store", "s3express"],
    streaming_signed: "STREAMING-STORE4-HMAC-SHA256-PAYLOAD",
    chunk_algorithm: "STORE4-HMAC-SHA256-PAYLOAD",
    trailer_algorithm: "STORE4-HMAC-SHA256-TRAILER",
    kms: "store:kms",
    kms_dual: "store:kms:dsse",
    action_prefix: "store:",
    arn_prefix: "arn:store:store:::",
    group_prefix: "http://acs.store/groups/",
    log_group: "store/LogDelivery",
    directory_suffix: "--x-store",
    namespace: "http://store/doc/2006-03-01/",
    access_key_element: "StoreAccessKeyId",
    expires_element: "X-Store-Expires",
    absent_match_is_not_found: false,
    other_algorithm_is_bad_digest: true,
};

const AMZ: Vocabulary = Vocabulary {
    header_prefix: "x-amz-",
    query_prefix: "X-Amz-",
    algorithm: "AWS4-HMAC-SHA256",
    key_prefix: "AWS4",
    scope_end: "aws4_request",
    scope_services: &["s3", "s3express"],
    streaming_signed: "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
    chunk_algorithm: "AWS4-HMAC-SHA256-PAYLOAD",
    trailer_algorithm: "AWS4-HMAC-SHA256-TRAILER",
    kms: "aws:kms",
    kms_dual: "aws:kms:dsse",
    action_prefix: "s3:",
    arn_prefix: "arn:aws:s3:::",
    group_prefix: "http://acs.amazonaws.com/groups/",
    log_group: "s3/LogDelivery",
    directory_suffix: "--x-s3",
    namespace: "http://s3.amazonaws.com/doc/2006-03-01/",
    access_key_element: "AWSAccessKeyId",
    expires_element: "X-Amz-Expires",
    absent_match_is_not_found: true,
    other_algorithm_is_bad_digest: false,
};

/// Headers whose names differ in more than their prefix.
const HEADER_PAIRS: [(&str, &str); 1] =
    [("x-store-server-side-encryption-kms-key-id", "x-amz-server-side-encryption-aws-kms-key-id")];

/// Tells whether a header, in lower case, is one in which stock clients speak of themselves: attempt, invocation.
#[must_use]
pub fn is_client_header(name: &str) -> bool {
    name.starts_with("amz-sdk-")
}

impl Dialect {
    /// The dialect of a request. One that names nothing of the service speaks the spec's.
    ///
    /// # Errors
    /// [`Error::MixedDialects`].
    pub fn of(fields: &Fields<'_>, query: &Query) -> Result<Self, Error> {
        match (Self::Store.speaks(fields, query), Self::Amz.speaks(fields, query)) {
            (true, true) => Err(Error::MixedDialects),
            (_, true) => Ok(Self::Amz),
            _ => Ok(Self::Store),
        }
    }

    fn speaks(self, fields: &Fields<'_>, query: &Query) -> bool {
        let words = self.words();
        let scheme = |value: &str| match self {
            Self::Store => value.starts_with("STORE4-"),
            // `AWS key:signature` is the older scheme of the same clients.
            Self::Amz => value.starts_with("AWS4-") || value.starts_with("AWS "),
        };
        fields.iter().any(|(name, value)| {
            name.starts_with(words.header_prefix)
                // Stock clients say so even where they sign nothing.
                || (self == Self::Amz && is_client_header(name))
                || (name == "authorization" && std::str::from_utf8(value).is_ok_and(scheme))
        }) || query.iter().any(|(name, _)| {
            name.get(..words.query_prefix.len())
                .is_some_and(|start| start.eq_ignore_ascii_case(words.query_prefix))
                || (self == Self::Amz && name == "AWSAccessKeyId")
        })
    }

    /// The words of this dialect.
    #[must_use]
    pub const fn words(self) -> &'static Vocabulary {
        match self {
            Self::Store => &STORE,
            Self::Amz => &AMZ,
        }
    }

    /// A header name of the spec, as this dialect has it. Names that are not the service's own are the same in both.
    #[must_use]
    pub fn header(self, name: &str) -> Cow<'_, str> {
        match self.spelling(name) {
            Spelling { start: "", rest } => Cow::Borrowed(rest),
            Spelling { start, rest } => Cow::Owned([start, rest].concat()),
        }
    }

    /// The name in this dialect of the header that the spec calls `name`.
    #[must_use]
    pub fn spelling(self, name: &str) -> Spelling<'_> {
        let plain = |whole| Spelling { start: "", rest: whole };
        if self == Self::Store {
            return plain(name);
        }
        let Some(rest) = name.strip_prefix(STORE.header_prefix) else {
            return plain(name);
        };
        match HEADER_PAIRS.iter().find(|(spec, _)| *spec == name) {
            Some((_, own)) => plain(own),
            None => Spelling { start: AMZ.header_prefix, rest },
        }
    }

    /// Tells whether `sent`, in lower case, is the name in this dialect of the header that the spec calls `name`.
    #[must_use]
    pub fn is_header(self, sent: &str, name: &str) -> bool {
        self.spelling(name).is(sent)
    }

    /// A sentence in the spec's words, in the words of this dialect.
    #[must_use]
    pub fn sentence(self, sentence: &str) -> String {
        match self {
            Self::Store => sentence.to_owned(),
            Self::Amz => sentence
                .replace(STORE.header_prefix, AMZ.header_prefix)
                .replace(STORE.query_prefix, AMZ.query_prefix)
                .replace(STORE.algorithm, AMZ.algorithm)
                .replace(STORE.kms, AMZ.kms),
        }
    }
}

/// The name of a header in one dialect.
#[derive(Debug, Clone, Copy)]
pub struct Spelling<'n> {
    start: &'static str,
    rest: &'n str,
}

impl Spelling<'_> {
    /// Tells whether a name that was sent, in lower case, is this one.
    #[must_use]
    pub fn is(&self, sent: &str) -> bool {
        sent.len() == self.start.len() + self.rest.len()
            && sent.starts_with(self.start)
            && sent.ends_with(self.rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(headers: &[(&str, &str)], query: &str) -> Result<Dialect, Error> {
        let fields = Fields::of(headers.iter().map(|(name, value)| (*name, value.as_bytes())));
        Dialect::of(&fields, &Query::parse(query).unwrap())
    }

    #[test]
    fn a_request_is_answered_in_the_dialect_that_it_speaks() {
        assert_eq!(of(&[], ""), Ok(Dialect::Store));
        assert_eq!(of(&[("x-amz-acl", "private")], ""), Ok(Dialect::Amz));
        assert_eq!(of(&[("authorization", "AWS4-HMAC-SHA256 x")], ""), Ok(Dialect::Amz));
        assert_eq!(of(&[("authorization", "AWS key:sig")], ""), Ok(Dialect::Amz));
        assert_eq!(of(&[], "X-Amz-Date=1"), Ok(Dialect::Amz));
        assert_eq!(of(&[], "AWSAccessKeyId=1"), Ok(Dialect::Amz));
        assert_eq!(of(&[("amz-sdk-request", "a=1")], ""), Ok(Dialect::Amz));
        assert_eq!(of(&[("x-store-acl", "private")], ""), Ok(Dialect::Store));
    }

    #[test]
    fn a_request_that_mixes_both_is_refused() {
        let mixed = [("x-amz-acl", "private"), ("x-store-date", "1")];
        assert_eq!(of(&mixed, ""), Err(Error::MixedDialects));
        assert_eq!(of(&[("x-store-acl", "private")], "X-Amz-Date=1"), Err(Error::MixedDialects));
    }

    #[test]
    fn header_names_translate_both_ways() {
        for (spec, own) in [
            ("x-store-acl", "x-amz-acl"),
            (
                "x-store-server-side-encryption-kms-key-id",
                "x-amz-server-side-encryption-aws-kms-key-id",
            ),
            ("content-md5", "content-md5"),
        ] {
            assert_eq!(Dialect::Amz.header(spec), own);
            assert!(Dialect::Amz.is_header(own, spec));
            assert!(Dialect::Store.is_header(spec, spec));
        }
        assert!(!Dialect::Amz.is_header("x-store-acl", "x-store-acl"));
    }
}
