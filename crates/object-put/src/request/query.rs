//! The query parameters of a request.

use crate::error::Error;
use crate::request::dialect::Dialect;
use crate::request::percent::decoded_query;

/// Headers beside the service's own that a presigned URL may carry as parameters.
const HEADERS: [&str; 12] = [
    "cache-control",
    "content-disposition",
    "content-encoding",
    "content-language",
    "content-md5",
    "content-type",
    "expires",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-unmodified-since",
    "x-robots-tag",
];
/// Parameters of the signature itself, after the dialect's prefix.
const OF_SIGNATURE: [&str; 9] = [
    "algorithm",
    "content-sha256",
    "credential",
    "date",
    "expires",
    "region-set",
    "security-token",
    "signature",
    "signedheaders",
];
/// Checksums, after the dialect's prefix: they count only where the signature names them, for a signer that has not seen the
/// body puts in that of none.
const CHECKSUMS: [&str; 2] = ["checksum-", "sdk-checksum-algorithm"];

/// The query parameters of a request, decoded once, in the order they came.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Query {
    pairs: Vec<(String, String)>,
    /// Those of a presigned URL that are names of headers, in lower case.
    headers: Vec<(String, String)>,
}

impl Query {
    /// The parameters of a raw query string. A name without `=` has an empty value.
    ///
    /// # Errors
    /// [`Error::InvalidUri`] for percent-encoding that is no UTF-8.
    pub fn parse(raw: &str) -> Result<Self, Error> {
        let decode = |text: &str| decoded_query(text).ok_or(Error::InvalidUri);
        let pairs = raw.split('&').filter(|pair| !pair.is_empty()).map(|pair| {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            Ok((decode(name)?, decode(value)?))
        });
        let pairs = pairs.collect::<Result<Vec<_>, Error>>()?;
        let headers = headers_of(&pairs);
        Ok(Self { pairs, headers })
    }

    /// The parameters of a presigned URL that count as headers: names in lower case, and values.
    pub fn headers(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The value of the first parameter with this name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(own, _)| *own == name).map(|(_, value)| value)
    }

    /// Tells whether there is a parameter with this name.
    #[must_use]
    pub fn has(&self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// The value of the first parameter whose name is `prefix` and then `name`.
    #[must_use]
    pub fn get_prefixed(&self, prefix: &str, name: &str) -> Option<&str> {
        self.iter().find(|(own, _)| own.strip_prefix(prefix) == Some(name)).map(|(_, value)| value)
    }

    /// All parameters.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> + Clone {
        self.pairs.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// The names of all parameters.
    pub fn names(&self) -> impl Iterator<Item = &str> + Clone {
        self.iter().map(|(name, _)| name)
    }
}

/// The parameters that count as headers: where they are those of a presigned URL, the service's own names, conditions and those
/// of the content.
fn headers_of(pairs: &[(String, String)]) -> Vec<(String, String)> {
    let Some(dialect) = Dialect::of_presigned(pairs.iter().map(|(name, _)| name.as_str())) else {
        return Vec::new();
    };
    let names = dialect.names();
    let get = |name: &str| {
        let mut found =
            pairs.iter().filter(|(own, _)| own.strip_prefix(names.query_prefix) == Some(name));
        found.next().map(|(_, value)| value.as_str())
    };
    // The older scheme signs every parameter of the service, and `Expires` is its own.
    let (is_older, signed) = (get("Signature").is_none(), get("SignedHeaders").unwrap_or_default());
    let is_any = |names: &[&str], name: &str| names.iter().any(|n| n.eq_ignore_ascii_case(name));
    let counts = |name: &str| match after(name, names.header_prefix) {
        Some(own) if is_any(&OF_SIGNATURE, own) => false,
        Some(own) if CHECKSUMS.iter().any(|checksum| after(own, checksum).is_some()) => {
            let name = name.to_ascii_lowercase();
            is_older || signed.split(';').any(|signed| signed == name)
        }
        Some(_) => true,
        None => is_any(&HEADERS, name) && !(is_older && name.eq_ignore_ascii_case("expires")),
    };
    pairs
        .iter()
        .filter(|(name, _)| counts(name))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.clone()))
        .collect()
}

/// The rest of a name behind a prefix, in whichever case that is written.
fn after<'n>(name: &'n str, prefix: &str) -> Option<&'n str> {
    let (start, rest) = name.split_at_checked(prefix.len())?;
    start.eq_ignore_ascii_case(prefix).then_some(rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_of_a_presigned_url_that_name_headers_count_as_headers() {
        let of = |raw: &str| {
            let query = Query::parse(raw).unwrap();
            query.headers().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>()
        };
        let names = "x-amz-acl=private&X-Amz-Meta-A=1&Content-Type=a&x-id=b&X-Amz-Date=1&x-amz-checksum-crc32=2";
        assert_eq!(of(names), Vec::<String>::new());
        let counted = ["x-amz-acl=private", "x-amz-meta-a=1", "content-type=a"];
        assert_eq!(of(&format!("{names}&X-Amz-Signature=1")), counted);
        let signed =
            format!("{names}&X-Amz-Signature=1&X-Amz-SignedHeaders=host;x-amz-checksum-crc32");
        assert_eq!(of(&signed)[3..], ["x-amz-checksum-crc32=2"]);
        assert_eq!(of("AWSAccessKeyId=1&Expires=5&x-amz-acl=private"), ["x-amz-acl=private"]);
    }

    #[test]
    fn query_parameters_are_decoded_once() {
        let query = Query::parse("acl&prefix=a%2Fb+c&empty=").unwrap();
        assert!(query.has("acl"));
        assert_eq!(query.get("prefix"), Some("a/b c"));
        assert_eq!(query.get("empty"), Some(""));
        assert_eq!(Query::parse("a=%ff"), Err(Error::InvalidUri));
    }
}
