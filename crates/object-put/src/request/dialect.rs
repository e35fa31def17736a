//! The two vocabularies of the service: the spec's neutral one and the one that stock clients speak.
//!
//! Each request is read, and answered, in the dialect that it speaks. Everywhere else names are the spec's: no other module has a
//! word of the second vocabulary, and none asks which of the two a request speaks.

use std::borrow::Cow;

use serde::Deserialize;

/// Names of both dialects in one request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MixedDialects;

/// The service that credentials for directory buckets and their sessions are scoped to.
pub const DIRECTORY_SERVICE: &str = "s3express";

/// The names of signature version 2, which stock clients alone speak.
pub mod sigv2 {
    /// The parameter that names the access key.
    pub const ACCESS_KEY: &str = "AWSAccessKeyId";
    /// The parameter with the session token, which is signed among the headers.
    pub const TOKEN: &str = "x-amz-security-token";
    /// Start of the names of headers that are signed.
    pub const HEADER_PREFIX: &str = "x-amz-";
    /// The scheme of an Authorization header.
    pub const SCHEME: &str = "AWS";
}

/// The end of the aliases of access points.
pub const ALIAS_SUFFIX: &str = "-s3alias";

/// Names that the real service keeps for itself, and that no bucket can have: starts and ends.
pub mod reserved_bucket_names {
    /// Starts.
    pub const PREFIXES: [&str; 3] = ["xn--", "sthree-", "amzn-s3-demo-"];
    /// Ends.
    pub const SUFFIXES: [&str; 4] = [super::ALIAS_SUFFIX, "--ol-s3", ".mrap", "--table-s3"];
    /// Ends of the names of directory buckets, in either vocabulary.
    pub const OF_DIRECTORIES: [&str; 2] =
        [super::AMZ.directory_suffix, super::STORE.directory_suffix];
    /// Ends of the names of access points to directory buckets, in either vocabulary.
    pub const OF_DIRECTORY_POINTS: [&str; 2] =
        [super::AMZ.directory_point_suffix, super::STORE.directory_point_suffix];
}

/// The vocabulary that a request speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Dialect {
    /// The spec's own: `x-store-`, `STORE4-HMAC-SHA256`.
    #[default]
    Store,
    /// The vocabulary of stock clients: `x-amz-`, `AWS4-HMAC-SHA256`.
    Amz,
}

/// The words of one dialect, and the answers in which the two differ.
#[derive(Debug)]
pub struct DialectNames {
    /// Start of the service's own header names.
    pub header_prefix: &'static str,
    /// Start of the query parameters of a presigned URL.
    pub query_prefix: &'static str,
    /// The signing algorithm.
    pub algorithm: &'static str,
    /// The signing algorithm with a key pair.
    pub asymmetric_algorithm: &'static str,
    /// Start of the text that the signing key is made of, before the secret.
    pub key_prefix: &'static str,
    /// The end of a credential scope.
    pub scope_end: &'static str,
    /// Services that a credential scope may name.
    pub scope_services: &'static [&'static str],
    /// Services that a credential scope may name for what is on premises, and nowhere else.
    pub on_premises_services: &'static [&'static str],
    /// The start of the values of `content-sha256` that announce signed chunks.
    pub streaming_signed: &'static str,
    /// The same for signatures with a key pair.
    pub streaming_signed_asymmetric: &'static str,
    /// First line of the text that a chunk's signature covers.
    pub chunk_algorithm: &'static str,
    /// First line of the text that a trailer's signature covers.
    pub trailer_algorithm: &'static str,
    /// Key-management encryption.
    pub kms: &'static str,
    /// Dual-layer key-management encryption.
    pub kms_dual: &'static str,
    /// Start of the ARNs of key-management keys.
    pub kms_arn_prefix: &'static str,
    /// The alias of the key that the provider manages for an account.
    pub managed_alias: &'static str,
    /// Start of the names of permissions in policies.
    pub action_prefix: &'static str,
    /// Start of resource names in policies.
    pub arn_prefix: &'static str,
    /// Start of the names of permissions on directory buckets in policies.
    pub directory_action_prefix: &'static str,
    /// Start of the ARNs of directory buckets, before region and account.
    pub directory_arn_prefix: &'static str,
    /// Start of the URI of a group of grantees.
    pub group_prefix: &'static str,
    /// The group of log writers, after [`DialectNames::group_prefix`].
    pub log_group: &'static str,
    /// End of the name of a directory bucket.
    pub directory_suffix: &'static str,
    /// End of the name of an access point to a directory bucket.
    pub directory_point_suffix: &'static str,
    /// The header with the id of a request.
    pub request_id_header: &'static str,
    /// The header with the second id of a request.
    pub second_id_header: &'static str,
    /// Namespace of XML bodies.
    pub namespace: &'static str,
    /// Element of an error body that names the access key.
    pub access_key_element: &'static str,
    /// The element that shows the time that a presigned URL names.
    pub date_element: &'static str,
    /// Element of an error body that tells how long a URL was valid.
    pub expires_element: &'static str,
    /// True if documents of settings come with a digest of themselves.
    pub documents_need_digest: bool,
    /// `If-Match` on an absent key: spec §3 says 412, the real service 404.
    pub absent_match_is_not_found: bool,
    /// A checksum of another algorithm than the one named: spec §7 says BadDigest, the real service InvalidRequest.
    pub other_algorithm_is_bad_digest: bool,
}

const STORE: DialectNames = DialectNames {
    header_prefix: "x-store-",
    query_prefix: "X-Store-",
    algorithm: "STORE4-HMAC-SHA256",
    asymmetric_algorithm: "STORE4-ECDSA-P256-SHA256",
    key_prefix: "STORE4",
    scope_end: "store4_request",
    scope_services: &["s3", "store", DIRECTORY_SERVICE],
    on_premises_services: &["s3-outposts", "store-outposts"],
    streaming_signed: "STREAMING-STORE4-HMAC-SHA256-PAYLOAD",
    streaming_signed_asymmetric: "STREAMING-STORE4-ECDSA-P256-SHA256-PAYLOAD",
    chunk_algorithm: "STORE4-HMAC-SHA256-PAYLOAD",
    trailer_algorithm: "STORE4-HMAC-SHA256-TRAILER",
    kms: "store:kms",
    kms_dual: "store:kms:dsse",
    kms_arn_prefix: "arn:store:kms:",
    managed_alias: "alias/store/objects",
    action_prefix: "store:",
    arn_prefix: "arn:store:store:::",
    directory_action_prefix: "express:",
    directory_arn_prefix: "arn:store:express:",
    group_prefix: "http://acs.store/groups/",
    log_group: "store/LogDelivery",
    directory_suffix: "--x-store",
    directory_point_suffix: "--xa-store",
    request_id_header: "x-store-request-id",
    second_id_header: "x-store-id-2",
    namespace: "http://store/doc/2006-03-01/",
    access_key_element: "StoreAccessKeyId",
    date_element: "X-Store-Date",
    expires_element: "X-Store-Expires",
    documents_need_digest: false,
    absent_match_is_not_found: false,
    other_algorithm_is_bad_digest: true,
};

const AMZ: DialectNames = DialectNames {
    header_prefix: "x-amz-",
    query_prefix: "X-Amz-",
    algorithm: "AWS4-HMAC-SHA256",
    asymmetric_algorithm: "AWS4-ECDSA-P256-SHA256",
    key_prefix: "AWS4",
    scope_end: "aws4_request",
    scope_services: &["s3", DIRECTORY_SERVICE],
    on_premises_services: &["s3-outposts"],
    streaming_signed: "STREAMING-AWS4-HMAC-SHA256-PAYLOAD",
    streaming_signed_asymmetric: "STREAMING-AWS4-ECDSA-P256-SHA256-PAYLOAD",
    chunk_algorithm: "AWS4-HMAC-SHA256-PAYLOAD",
    trailer_algorithm: "AWS4-HMAC-SHA256-TRAILER",
    kms: "aws:kms",
    kms_dual: "aws:kms:dsse",
    kms_arn_prefix: "arn:aws:kms:",
    managed_alias: "alias/aws/s3",
    action_prefix: "s3:",
    arn_prefix: "arn:aws:s3:::",
    directory_action_prefix: "s3express:",
    directory_arn_prefix: "arn:aws:s3express:",
    group_prefix: "http://acs.amazonaws.com/groups/",
    log_group: "s3/LogDelivery",
    directory_suffix: "--x-s3",
    directory_point_suffix: "--xa-s3",
    request_id_header: "x-amz-request-id",
    second_id_header: "x-amz-id-2",
    namespace: "http://s3.amazonaws.com/doc/2006-03-01/",
    access_key_element: "AWSAccessKeyId",
    date_element: "X-Amz-Date",
    expires_element: "X-Amz-Expires",
    documents_need_digest: true,
    absent_match_is_not_found: true,
    other_algorithm_is_bad_digest: false,
};

/// Headers whose names differ in more than their prefix.
const HEADER_PAIRS: [(&str, &str); 1] =
    [("x-store-server-side-encryption-kms-key-id", "x-amz-server-side-encryption-aws-kms-key-id")];

/// The name under which encryption contexts hold the resource that is encrypted: key services know it by this one.
pub const RESOURCE_CONTEXT: &str = "aws:s3:arn";

/// The ARN of a bucket, or of an object in it after a slash, as key services are told of it.
#[must_use]
pub fn resource_arn(name: &str) -> String {
    [AMZ.arn_prefix, name].concat()
}

/// The ARN of a key-management key without its prefix in either vocabulary.
#[must_use]
pub fn without_kms_arn_prefix(arn: &str) -> Option<&str> {
    [AMZ, STORE].iter().find_map(|names| arn.strip_prefix(names.kms_arn_prefix))
}

/// Tells whether an alias is that of the key that the provider manages, in either vocabulary.
#[must_use]
pub fn is_managed_alias(alias: &str) -> bool {
    [AMZ, STORE].iter().any(|names| alias == names.managed_alias)
}

/// Tells whether an alias is one that only the provider gives: those under its own name in either vocabulary.
#[must_use]
pub fn is_reserved_alias(alias: &str) -> bool {
    let of_provider = |alias: &str| alias.split('/').nth(1).map(str::to_owned);
    [AMZ, STORE].iter().any(|names| of_provider(alias) == of_provider(names.managed_alias))
}

/// A mode of encryption in the spec's words, whichever vocabulary names it; other texts stay as they are.
#[must_use]
pub fn neutral_mode(mode: &str) -> &str {
    match mode {
        mode if mode == AMZ.kms => STORE.kms,
        mode if mode == AMZ.kms_dual => STORE.kms_dual,
        other => other,
    }
}

/// The end of the names of headers that hold a customer's key, or with `-md5` its digest: no answer shows their values.
pub const CUSTOMER_KEY: &str = "-server-side-encryption-customer-key";

/// The end of the names of parameters and headers that hold the token of a session.
const TOKEN: &str = "-token";

/// Tells whether a text names a header or a field whose value no answer shows, in whichever dialect: a customer's key, its digest, or the token of
/// a session.
#[must_use]
pub fn names_secret(text: &str) -> bool {
    let text = text.to_ascii_lowercase();
    let mut tokens = SECRET_PARAMETERS.iter().filter(|name| name.ends_with(TOKEN));
    text.contains(CUSTOMER_KEY) || tokens.any(|name| text.contains(name))
}

/// Query parameters of presigned URLs that nobody but the holder of the URL is to see, in lower case.
pub const SECRET_PARAMETERS: [&str; 17] = [
    "x-amz-signature",
    "x-amz-security-token",
    "x-amz-s3session-token",
    "x-amz-credential",
    "x-store-signature",
    "x-store-security-token",
    "x-store-s3session-token",
    "x-store-credential",
    "awsaccesskeyid",
    "x-amz-server-side-encryption-customer-key",
    "x-amz-server-side-encryption-customer-key-md5",
    "x-amz-copy-source-server-side-encryption-customer-key",
    "x-amz-copy-source-server-side-encryption-customer-key-md5",
    "x-store-server-side-encryption-customer-key",
    "x-store-server-side-encryption-customer-key-md5",
    "x-store-copy-source-server-side-encryption-customer-key",
    "x-store-copy-source-server-side-encryption-customer-key-md5",
];

/// The names of accounts as principals of policies. A policy may be written in either vocabulary, whatever its request speaks.
pub const ACCOUNT_PRINCIPALS: [&str; 2] = ["AWS", "STORE"];

/// A condition key of policies that belongs to no service, without its prefix in either vocabulary.
#[must_use]
pub fn global_condition_key(key: &str) -> Option<&str> {
    key.strip_prefix("aws:").or_else(|| key.strip_prefix("store:"))
}

/// A name in a policy without the prefix of this service's actions in either vocabulary, whose letters may be of either case.
#[must_use]
pub fn without_action_prefix(name: &str) -> Option<&str> {
    [AMZ, STORE].iter().find_map(|names| without_word(name, names.action_prefix))
}

/// A name without the word that it begins with, in letters of either case.
fn without_word<'n>(name: &'n str, word: &str) -> Option<&'n str> {
    let (own, rest) = name.split_at_checked(word.len())?;
    own.eq_ignore_ascii_case(word).then_some(rest)
}

/// The spec's name of a permission on directory buckets that a policy names in either vocabulary.
#[must_use]
pub fn directory_action(name: &str) -> Option<String> {
    let own =
        [AMZ, STORE].iter().find_map(|names| without_word(name, names.directory_action_prefix))?;
    Some([STORE.directory_action_prefix, own].concat())
}

/// The name of a bucket or an object in a policy without the prefix of this service's resources in either vocabulary.
#[must_use]
pub fn without_arn_prefix(name: &str) -> Option<&str> {
    let own = [AMZ, STORE].iter().find_map(|names| name.strip_prefix(names.arn_prefix));
    own.or_else(|| without_directory_arn_prefix(name))
}

/// The name of a directory bucket without what its ARN has before it in either vocabulary: service, region, account.
#[must_use]
pub fn without_directory_arn_prefix(arn: &str) -> Option<&str> {
    let rest =
        [AMZ, STORE].iter().find_map(|names| arn.strip_prefix(names.directory_arn_prefix))?;
    rest.splitn(3, ':').nth(2)?.strip_prefix("bucket/")
}

/// The ARN of a thing in a bucket's place without what names the provider in either vocabulary: region, account and resource.
#[must_use]
pub fn without_point_arn_prefix(arn: &str) -> Option<&str> {
    let partition = arn.strip_prefix("arn:")?;
    let services = [
        "aws:s3:",
        "aws:s3-outposts:",
        "aws:s3express:",
        "store:express:",
        "store:store:",
        "store:s3-outposts:",
        "store:store-outposts:",
    ];
    services.iter().find_map(|start| partition.strip_prefix(start))
}

/// The spec's name of a header of this service that a policy names in either vocabulary.
#[must_use]
pub fn spec_header(name: &str) -> Option<String> {
    if let Some((spec, _)) = HEADER_PAIRS.iter().find(|(_, own)| *own == name) {
        return Some((*spec).to_owned());
    }
    let own = [AMZ, STORE].iter().find_map(|names| name.strip_prefix(names.header_prefix))?;
    Some([STORE.header_prefix, own].concat())
}

/// A value of a header of encryption in the spec's words, whichever vocabulary it is written in: a mode, or the ARN of a key.
#[must_use]
pub fn neutral_encryption(value: &str) -> String {
    match value.strip_prefix(AMZ.kms_arn_prefix) {
        Some(rest) => [STORE.kms_arn_prefix, rest].concat(),
        None => neutral_mode(value).to_owned(),
    }
}

/// Tells whether a header, in lower case, is one in which stock clients speak of themselves: attempt, invocation.
#[must_use]
pub fn is_client_header(name: &str) -> bool {
    name.starts_with("amz-sdk-")
}

impl Dialect {
    /// The dialect with this name: `store` or `amz`.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        match name {
            "store" => Some(Self::Store),
            "amz" => Some(Self::Amz),
            _ => None,
        }
    }

    /// The dialect of a request with these header fields, in lower case, and these names of parameters; `None` if it names nothing of
    /// the service.
    ///
    /// # Errors
    /// [`MixedDialects`].
    pub fn of<'r>(
        fields: impl Iterator<Item = (&'r str, &'r [u8])> + Clone,
        parameters: impl Iterator<Item = &'r str> + Clone,
    ) -> Result<Option<Self>, MixedDialects> {
        let speaks = |dialect: Self| {
            fields.clone().any(|(name, value)| dialect.has_field(name, value))
                || parameters.clone().any(|name| dialect.has_parameter(name))
        };
        match (speaks(Self::Store), speaks(Self::Amz)) {
            (true, true) => Err(MixedDialects),
            (_, true) => Ok(Some(Self::Amz)),
            (true, _) => Ok(Some(Self::Store)),
            _ => Ok(None),
        }
    }

    fn has_field(self, name: &str, value: &[u8]) -> bool {
        let scheme = |value: &str| match self {
            Self::Store => value.starts_with("STORE4-"),
            // `AWS key:signature` is the older scheme of the same clients.
            Self::Amz => value.starts_with("AWS4-") || value.starts_with("AWS "),
        };
        name.starts_with(self.names().header_prefix)
            // Stock clients say so even where they sign nothing.
            || (self == Self::Amz && is_client_header(name))
            || (name == "authorization" && std::str::from_utf8(value).is_ok_and(scheme))
    }

    fn has_parameter(self, name: &str) -> bool {
        let prefix = self.names().query_prefix;
        name.get(..prefix.len()).is_some_and(|start| start.eq_ignore_ascii_case(prefix))
            || (self == Self::Amz && name == sigv2::ACCESS_KEY)
    }

    /// The dialect of a presigned URL with these names of parameters, if they are those of one.
    pub fn of_presigned<'r>(mut parameters: impl Iterator<Item = &'r str>) -> Option<Self> {
        parameters.find_map(|name| {
            let signs = |dialect: &Self| {
                let own = name.strip_prefix(dialect.names().query_prefix);
                own == Some("Signature") || (*dialect == Self::Amz && name == sigv2::ACCESS_KEY)
            };
            [Self::Store, Self::Amz].into_iter().find(signs)
        })
    }

    /// The words of this dialect.
    #[must_use]
    pub const fn names(self) -> &'static DialectNames {
        match self {
            Self::Store => &STORE,
            Self::Amz => &AMZ,
        }
    }

    /// The ARN of a directory bucket.
    #[must_use]
    pub fn directory_arn(self, region: &str, account: &str, bucket: &str) -> String {
        format!("{}{region}:{account}:bucket/{bucket}", self.names().directory_arn_prefix)
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

    fn of(headers: &[(&str, &str)], query: &str) -> Result<Option<Dialect>, MixedDialects> {
        let fields = headers.iter().map(|(name, value)| (*name, value.as_bytes()));
        let names = query.split('&').filter_map(|pair| pair.split('=').next());
        Dialect::of(fields, names)
    }

    #[test]
    fn a_request_is_answered_in_the_dialect_that_it_speaks() {
        assert_eq!(of(&[], ""), Ok(None));
        assert_eq!(of(&[("x-amz-acl", "private")], ""), Ok(Some(Dialect::Amz)));
        assert_eq!(of(&[("authorization", "AWS4-HMAC-SHA256 x")], ""), Ok(Some(Dialect::Amz)));
        assert_eq!(of(&[("authorization", "AWS key:sig")], ""), Ok(Some(Dialect::Amz)));
        assert_eq!(of(&[], "X-Amz-Date=1"), Ok(Some(Dialect::Amz)));
        assert_eq!(of(&[], "AWSAccessKeyId=1"), Ok(Some(Dialect::Amz)));
        assert_eq!(of(&[("amz-sdk-request", "a=1")], ""), Ok(Some(Dialect::Amz)));
        assert_eq!(of(&[("x-store-acl", "private")], ""), Ok(Some(Dialect::Store)));
    }

    #[test]
    fn every_part_of_a_presigned_url_that_lets_its_holder_in_is_secret_in_both_dialects() {
        for names in [AMZ, STORE] {
            for part in ["signature", "credential", "security-token", "s3session-token"] {
                let parameter = [names.header_prefix, part].concat();
                assert!(SECRET_PARAMETERS.contains(&parameter.as_str()), "{parameter}");
            }
        }
    }

    #[test]
    fn a_request_that_mixes_both_is_refused() {
        let mixed = [("x-amz-acl", "private"), ("x-store-date", "1")];
        assert_eq!(of(&mixed, ""), Err(MixedDialects));
        assert_eq!(of(&[("x-store-acl", "private")], "X-Amz-Date=1"), Err(MixedDialects));
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
