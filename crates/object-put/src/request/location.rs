//! The bucket and the key that host and path of a request name.

use std::net::IpAddr;

use percent_encoding::percent_decode_str;

use crate::error::Error;
use crate::store::key::Key;

/// The kind of thing that the path of a request names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// The service itself: `/`.
    Service,
    /// A bucket.
    Bucket,
    /// A key in a bucket.
    Object,
}

impl Target {
    /// Its name in error bodies.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Service => "SERVICE",
            Self::Bucket => "BUCKET",
            Self::Object => "OBJECT",
        }
    }
}

/// The bucket and the key that a request names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The bucket.
    pub bucket: Option<String>,
    /// The key.
    pub key: Option<Key>,
    /// True if the host names the bucket.
    pub virtual_host: bool,
}

impl Location {
    /// Reads `host` and the percent-encoded `path`. `<bucket>.<base host>` is a bucket; any other host serves path style, so
    /// that the service can be reached by whatever name its network gives it.
    ///
    /// # Errors
    /// [`Error::InvalidUri`], [`Error::KeyTooLong`].
    pub fn of(host: &str, path: &str, base_hosts: &[String]) -> Result<Self, Error> {
        let path = path.strip_prefix('/').ok_or(Error::InvalidUri)?;
        if let Some(bucket) = bucket_of(host, base_hosts) {
            let key = (!path.is_empty()).then(|| Key::from_path(path)).transpose()?;
            return Ok(Self { bucket: Some(bucket), key, virtual_host: true });
        }
        let (bucket, key) = path.split_once('/').unwrap_or((path, ""));
        let bucket = percent_decode_str(bucket).decode_utf8().map_err(|_| Error::InvalidUri)?;
        Ok(Self {
            bucket: (!bucket.is_empty()).then(|| bucket.into_owned()),
            key: (!key.is_empty()).then(|| Key::from_path(key)).transpose()?,
            virtual_host: false,
        })
    }

    /// The kind of thing that it is.
    #[must_use]
    pub const fn target(&self) -> Target {
        match (&self.bucket, &self.key) {
            (None, _) => Target::Service,
            (Some(_), None) => Target::Bucket,
            (Some(_), Some(_)) => Target::Object,
        }
    }
}

/// The bucket that a host names, if it is a virtual host of `localhost` or of a base host.
pub(crate) fn bucket_of(host: &str, base_hosts: &[String]) -> Option<String> {
    let name = without_port(host);
    if name.parse::<IpAddr>().is_ok() {
        return None;
    }
    // Of several that fit the longest counts, and one that is the whole name leaves no bucket.
    let fitting = bases(base_hosts).filter_map(|base| {
        let (bucket, own) = name.split_at_checked(name.len().checked_sub(base.len())?)?;
        let fits = own.eq_ignore_ascii_case(base) && (bucket.is_empty() || bucket.ends_with('.'));
        fits.then_some(bucket)
    });
    let bucket = fitting.min_by_key(|bucket| bucket.len())?.strip_suffix('.')?;
    (!bucket.is_empty()).then(|| bucket.to_ascii_lowercase())
}

/// Tells whether a host is `localhost` or a base host itself.
pub(crate) fn is_base(host: &str, base_hosts: &[String]) -> bool {
    bases(base_hosts).any(|base| base.eq_ignore_ascii_case(without_port(host)))
}

fn bases(base_hosts: &[String]) -> impl Iterator<Item = &str> {
    base_hosts.iter().map(|base| without_port(base)).chain(["localhost"])
}

fn without_port(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(host: &str, path: &str) -> (Option<String>, Option<String>) {
        let bases = ["store.example:80".to_owned()];
        let location = Location::of(host, path, &bases).unwrap();
        (location.bucket, location.key.map(|key| key.to_string()))
    }

    #[test]
    fn of_two_base_hosts_that_fit_the_longer_counts() {
        for bases in [["example", "s3.example"], ["s3.example", "example"]] {
            let bases = bases.map(str::to_owned);
            for (host, bucket) in [
                ("b.s3.example", Some("b")),
                ("s3.example:80", None),
                ("b.example", Some("b")),
                ("xs3.example", Some("xs3")),
                ("example", None),
                (".example", None),
            ] {
                assert_eq!(bucket_of(host, &bases).as_deref(), bucket, "{host} {bases:?}");
            }
        }
    }

    #[test]
    fn hosts_and_paths_name_buckets_and_keys() {
        let named = |bucket: &str, key: &str| {
            let text = |text: &str| (!text.is_empty()).then(|| text.to_owned());
            (text(bucket), text(key))
        };
        for (host, path, bucket, key) in [
            ("localhost:7802", "/", "", ""),
            ("localhost:7802", "/b", "b", ""),
            ("localhost:7802", "/b/", "b", ""),
            ("localhost:7802", "/b/a//c", "b", "a//c"),
            ("localhost", "/b//lead", "b", "/lead"),
            ("b.localhost:7802", "/", "b", ""),
            ("B.LOCALHOST", "/k", "b", "k"),
            ("a.b.localhost", "/k/", "a.b", "k/"),
            ("b.store.example", "/k", "b", "k"),
            ("store.example:443", "/b/k", "b", "k"),
            ("127.0.0.1:7802", "/b/k", "b", "k"),
            ("[::1]:7802", "/b/k", "b", "k"),
            ("object-put:7802", "/b/k", "b", "k"),
            ("b.localhost", "/_ops/x", "b", "_ops/x"),
        ] {
            assert_eq!(of(host, path), named(bucket, key), "{host} {path}");
        }
    }
}
