//! Access points: other ways to a bucket, each with an owner and a policy of its own.

use serde::{Deserialize, Serialize};
use triptych_core::kv::JsonRecord;

use crate::request::dialect::reserved_bucket_names::OF_DIRECTORY_POINTS;
use crate::store::bucket::zone_before;

/// An access point, as stored under its account and name.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct AccessPoint {
    /// Its name.
    pub name: String,
    /// The account that owns it.
    pub account: String,
    /// The bucket that it leads to.
    pub bucket: String,
    /// The deployment on premises that it is in.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub deployment: Option<String>,
    /// The name by which it stands in the place of a bucket.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alias: Option<String>,
    /// Its policy, a JSON document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<String>,
    /// True if what its policy lets everybody do is its own account's alone.
    pub restricts_public: bool,
    /// True if public lists of objects do not count on this way.
    pub ignores_public_acls: bool,
}

impl JsonRecord for AccessPoint {}

/// The stamp of the access points of a store: another one once any of them is another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct AccessPointStamp(pub u64);

impl JsonRecord for AccessPointStamp {}

impl AccessPoint {
    /// Its ARN without what names the provider: region, account, and name.
    #[must_use]
    pub fn bare_arn(&self, region: &str) -> String {
        format!("{region}:{}:{}", self.account, self.resource())
    }

    /// It, as policies name it without region and account.
    #[must_use]
    pub fn resource(&self) -> String {
        match &self.deployment {
            None => format!("accesspoint/{}", self.name),
            Some(deployment) => format!("outpost/{deployment}/accesspoint/{}", self.name),
        }
    }

    /// Tells whether it leads to a directory bucket.
    #[must_use]
    pub fn is_directory(&self) -> bool {
        is_directory_point_name(&self.name)
    }

    /// Its name with its account, and with its deployment where it is in one, as hosts have it; that of one to a directory bucket is its
    /// name alone, which is the only one in its zone.
    #[must_use]
    pub fn label(&self) -> String {
        if self.is_directory() {
            return self.name.clone();
        }
        let start = format!("{}-{}", self.name, self.account);
        match &self.deployment {
            None => start,
            Some(deployment) => format!("{start}.{deployment}"),
        }
    }
}

/// Tells whether a name is one that an access point can have: 3 to 50 lower-case letters, digits and hyphens, with a letter or digit at both
/// ends.
#[must_use]
pub fn is_name(name: &str) -> bool {
    let fits = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
    (3..=50).contains(&name.len())
        && name.bytes().all(fits)
        && !name.starts_with('-')
        && !name.ends_with('-')
}

/// Tells whether `name` is one of access points to directory buckets alone.
#[must_use]
pub fn is_directory_point_name(name: &str) -> bool {
    OF_DIRECTORY_POINTS.iter().any(|suffix| name.ends_with(suffix))
}

/// The id of the zone that the name of an access point to a directory bucket names.
#[must_use]
pub fn point_zone_of(name: &str) -> Option<&str> {
    zone_before(name, &OF_DIRECTORY_POINTS)
}

/// An access point as an ARN names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NamedPoint<'a> {
    /// The account.
    pub account: &'a str,
    /// The name, with the deployment that it is in: see [`AccessPoint::resource`].
    pub resource: &'a str,
    /// The name.
    pub name: &'a str,
    /// The key of an object in it, where the ARN is that of one.
    pub key: Option<&'a str>,
}

impl<'a> NamedPoint<'a> {
    /// Reads an ARN without what names the provider: `us-east-1:111122223333:accesspoint/name/object/key`, with `outpost/<deployment>/`
    /// before its name on premises.
    #[must_use]
    pub fn of_bare_arn(arn: &'a str) -> Option<Self> {
        let mut parts = arn.splitn(3, ':');
        let (_region, account, resource) = (parts.next()?, parts.next()?, parts.next()?);
        let (resource, key) = match resource.split_once("/object/") {
            Some((resource, key)) => (resource, Some(key)),
            None => (resource, None),
        };
        let own = match resource.strip_prefix("outpost/") {
            None => resource,
            Some(rest) => rest.split_once('/')?.1,
        };
        let name = own.strip_prefix("accesspoint/")?;
        Some(Self { account, resource, name, key })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_arn_names_account_access_point_and_key() {
        let read = NamedPoint::of_bare_arn;
        let resource = "accesspoint/ap";
        let point = NamedPoint { account: "111122223333", resource, name: "ap", key: None };
        assert_eq!(read("us-east-1:111122223333:accesspoint/ap"), Some(point));
        let object = read("us-east-1:111122223333:accesspoint/ap/object/a/object/b");
        assert_eq!(object, Some(NamedPoint { key: Some("a/object/b"), ..point }));
        let outpost = read("us-east-1:111122223333:outpost/op-1/accesspoint/ap/object/k");
        let resource = "outpost/op-1/accesspoint/ap";
        assert_eq!(outpost, Some(NamedPoint { resource, key: Some("k"), ..point }));
        for wrong in ["", "a:b", "us-east-1:1:bucket/a", "accesspoint/ap", "a:1:outpost/op"] {
            assert_eq!(read(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn the_name_of_an_access_point_to_a_directory_bucket_names_its_zone() {
        for (name, is_of_directories, zone) in [
            ("ap--use1-az4--xa-s3", true, Some("use1-az4")),
            ("ap--use1-az4--xa-store", true, Some("use1-az4")),
            ("a--b--usw2-lax1-az1--xa-s3", true, Some("usw2-lax1-az1")),
            ("--use1-az4--xa-s3", true, None),
            ("ap--use1--xa-s3", true, None),
            ("ap--xa-s3", true, None),
            ("a.p--use1-az4--xa-s3", true, None),
            ("ap--use1-az4--x-s3", false, None),
            ("ap--use1-az4--xa-s3-111122223333", false, None),
            ("ap", false, None),
        ] {
            assert_eq!(is_directory_point_name(name), is_of_directories, "{name}");
            assert_eq!(point_zone_of(name), zone, "{name}");
        }
    }

    #[test]
    fn names_that_no_access_point_can_have_are_told() {
        for (name, fits) in [
            ("abc", true),
            ("a-1", true),
            ("ab", false),
            ("-ab", false),
            ("ab-", false),
            ("aBc", false),
            ("a.b", false),
        ] {
            assert_eq!(is_name(name), fits, "{name}");
        }
        assert!(!is_name(&"a".repeat(51)));
    }
}
