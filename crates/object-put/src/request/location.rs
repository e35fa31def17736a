//! The bucket and the key that host and path of a request name.

use percent_encoding::percent_decode_str;

use crate::error::Error;
use crate::request::host::{HostKind, HostTable};
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
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Location {
    /// The bucket.
    pub bucket: Option<String>,
    /// The key.
    pub key: Option<Key>,
    /// The kind of the name before which the host names the bucket; `None` where the path does.
    pub host: Option<HostKind>,
    /// True if the bucket is named by the alias of an access point.
    pub is_aliased: bool,
}

impl Location {
    /// Reads `host` and the percent-encoded `path`: the bucket stands before a name of the service, or first in the path.
    ///
    /// # Errors
    /// [`Error::InvalidUri`], [`Error::KeyTooLong`].
    pub fn of(host: &str, path: &str, hosts: &HostTable) -> Result<Self, Error> {
        let path = path.strip_prefix('/').ok_or(Error::InvalidUri)?;
        if let Some(named) = hosts.find(host) {
            let key = (!path.is_empty()).then(|| Key::from_path(path)).transpose()?;
            return Ok(Self {
                bucket: Some(named.label),
                key,
                host: Some(named.kind),
                is_aliased: false,
            });
        }
        let (bucket, key) = path.split_once('/').unwrap_or((path, ""));
        // Answered as the service itself, `//bucket/key` would be a list of buckets in the place of the object.
        if bucket.is_empty() && !key.is_empty() {
            return Err(Error::InvalidUri);
        }
        let bucket = percent_decode_str(bucket).decode_utf8().map_err(|_| Error::InvalidUri)?;
        Ok(Self {
            bucket: (!bucket.is_empty()).then(|| bucket.into_owned()),
            key: (!key.is_empty()).then(|| Key::from_path(key)).transpose()?,
            host: None,
            is_aliased: false,
        })
    }

    /// The same as an operation on such a thing sees it: what is done to a bucket is done to it whatever the key.
    #[must_use]
    pub fn named_for(mut self, target: Target) -> Self {
        self.key = self.key.filter(|_| target == Target::Object);
        self
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

#[cfg(test)]
mod tests {
    use super::*;

    fn of(host: &str, path: &str) -> (Option<String>, Option<String>) {
        let mut hosts = HostTable::default();
        hosts.add(HostKind::Base, ["store.example:80".to_owned()]);
        let location = Location::of(host, path, &hosts).unwrap();
        (location.bucket, location.key.map(|key| key.to_string()))
    }

    #[test]
    fn a_key_before_which_no_bucket_stands_is_refused() {
        for path in ["//b/k", "//b", "///"] {
            let seen = Location::of("localhost", path, &HostTable::default());
            assert!(matches!(seen, Err(Error::InvalidUri)), "{path}: {seen:?}");
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
            ("localhost:7802", "//", "", ""),
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
