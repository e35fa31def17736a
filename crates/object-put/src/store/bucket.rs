//! Buckets: their names, kinds and settings.

use serde::{Deserialize, Serialize};
use triptych_core::kv::JsonRecord;
use triptych_core::time::Timestamp;

use crate::auth::acl::Acl;
use crate::error::Error;
use crate::request::dialect::reserved_bucket_names;
use crate::store::lock::DefaultRetention;

/// The kind of a bucket: what its objects can do depends on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum BucketKind {
    /// Keys anywhere in the region.
    #[default]
    GeneralPurpose,
    /// One zone; sessions, appends, no versions.
    Directory,
    /// A deployment on premises; reached through access points alone.
    OnPremises,
}

/// The kind of the zone that a directory bucket is in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ZoneKind {
    /// An availability zone: objects are of the class EXPRESS_ONEZONE.
    #[default]
    Availability,
    /// A dedicated local zone: objects are of the class ONEZONE_IA.
    Local,
}

impl ZoneKind {
    const fn is_availability(&self) -> bool {
        matches!(self, Self::Availability)
    }
}

/// The versioning state of a bucket.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Versioning {
    /// It never did.
    #[default]
    Off,
    /// Every write makes a version.
    Enabled,
    /// Old versions stay; new writes are the one `null` version.
    Suspended,
}

/// The owner of what others upload; it says whether ACLs count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Ownership {
    /// ACLs are disabled: the bucket's owner owns everything.
    #[default]
    BucketOwnerEnforced,
    /// The owner of the bucket owns what is uploaded with `bucket-owner-full-control`.
    BucketOwnerPreferred,
    /// The uploader owns the object.
    ObjectWriter,
    /// As [`Ownership::ObjectWriter`]: what a bucket has whose controls were deleted.
    Unset,
}

impl Ownership {
    const ALL: [(Self, &'static str); 3] = [
        (Self::BucketOwnerEnforced, "BucketOwnerEnforced"),
        (Self::BucketOwnerPreferred, "BucketOwnerPreferred"),
        (Self::ObjectWriter, "ObjectWriter"),
    ];

    /// The setting with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        let mut all = Self::ALL.iter();
        all.find(|(_, own)| *own == name).map(|(own, _)| *own)
    }

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        let mut all = Self::ALL.iter();
        all.find(|(own, _)| *own == self).map_or("", |(_, name)| name)
    }
}

/// The rights of requests without a signature, by the seed file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Public {
    /// Nothing.
    #[default]
    None,
    /// Read objects and list them.
    Read,
    /// Read, list, write and delete.
    ReadWrite,
}

/// The payer of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum RequestPayment {
    /// The owner of the bucket.
    #[default]
    BucketOwner,
    /// Whoever sends the request, and says so.
    Requester,
}

impl RequestPayment {
    /// The setting with this name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        [Self::BucketOwner, Self::Requester].into_iter().find(|own| own.name() == name)
    }

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BucketOwner => "BucketOwner",
            Self::Requester => "Requester",
        }
    }
}

/// A bucket, as stored under its name. It is read by every request, so what is long has a row of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Bucket {
    /// Starts the keys of all rows of this bucket. A bucket that is made again under the same name has another.
    pub id: u64,
    /// Its name.
    pub name: String,
    /// The account that owns it.
    pub owner: String,
    /// Its region.
    pub region: String,
    /// The time at which it was made.
    pub created: Timestamp,
    /// Its kind.
    #[serde(default)]
    pub kind: BucketKind,
    /// The kind of its zone, which a directory bucket's name names.
    #[serde(default, skip_serializing_if = "ZoneKind::is_availability")]
    pub zone_kind: ZoneKind,
    /// Its versioning state.
    #[serde(default)]
    pub versioning: Versioning,
    /// True if its versions can be locked.
    #[serde(default)]
    pub object_lock: bool,
    /// The lock that new versions get unless they bring one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub default_retention: Option<DefaultRetention>,
    /// The owner of what others upload.
    #[serde(default)]
    pub ownership: Ownership,
    /// The rights of anonymous requests.
    #[serde(default)]
    pub public: Public,
    /// The payer of requests.
    #[serde(default)]
    pub request_payment: RequestPayment,
    /// Its ACL.
    #[serde(default)]
    pub acl: Acl,
    /// Set by the first step of DeleteBucket: no new row may come while the second looks whether there is one. Until it has, the bucket is
    /// there for everybody who reads.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub deleting: bool,
}

impl JsonRecord for Bucket {}

impl Bucket {
    /// A general purpose bucket with the settings that new ones have.
    #[must_use]
    pub fn new(id: u64, name: String, owner: String, region: String, created: Timestamp) -> Self {
        Self {
            id,
            name,
            owner,
            region,
            created,
            kind: BucketKind::default(),
            zone_kind: ZoneKind::default(),
            versioning: Versioning::default(),
            object_lock: false,
            default_retention: None,
            ownership: Ownership::default(),
            public: Public::default(),
            request_payment: RequestPayment::default(),
            acl: Acl::default(),
            deleting: false,
        }
    }

    /// The account that owns what `writer` put into it: where lists count for nothing all belongs to the owner of the bucket, whenever it was
    /// written.
    #[must_use]
    pub fn owner_of<'a>(&'a self, writer: &'a str) -> &'a str {
        match self.ownership {
            Ownership::BucketOwnerEnforced => &self.owner,
            _ => writer,
        }
    }
}

/// Tells whether `name` is one of directory buckets alone.
#[must_use]
pub fn is_directory_name(name: &str) -> bool {
    without_directory_suffix(name).is_some()
}

fn without_directory_suffix(name: &str) -> Option<&str> {
    without_one_of(name, &reserved_bucket_names::OF_DIRECTORIES)
}

fn without_one_of<'n>(name: &'n str, suffixes: &[&str]) -> Option<&'n str> {
    suffixes.iter().find_map(|suffix| name.strip_suffix(suffix))
}

/// The id of the zone that the name of a directory bucket names: `<base>--<zone>`, and the end that such names have.
#[must_use]
pub fn zone_of(name: &str) -> Option<&str> {
    zone_before(name, &reserved_bucket_names::OF_DIRECTORIES)
}

/// The id of the zone that a name with one of these ends names before it.
#[must_use]
pub fn zone_before<'n>(name: &'n str, suffixes: &[&str]) -> Option<&'n str> {
    let (base, zone) = without_one_of(name, suffixes)?.rsplit_once("--")?;
    let has_parts = zone.contains('-') && zone.split('-').all(|part| !part.is_empty());
    (!base.is_empty() && !base.ends_with('-') && !name.contains('.') && has_parts).then_some(zone)
}

/// Checks that `name` is one that a bucket can have: 3 to 63 lower-case letters, digits, dots and hyphens, with a letter or digit at
/// both ends and around every dot, no IP address, and none that the real service keeps for itself. Names of directory buckets have no dots
/// and name a zone.
///
/// # Errors
/// [`Error::InvalidBucketName`].
pub fn check_name(name: &str) -> Result<(), Error> {
    use reserved_bucket_names::{OF_DIRECTORY_POINTS, PREFIXES, SUFFIXES};
    let label = |label: &str| {
        let inner = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-';
        !label.is_empty()
            && label.bytes().all(inner)
            && !label.starts_with('-')
            && !label.ends_with('-')
    };
    let fits = (3..=63).contains(&name.len())
        && name.split('.').all(label)
        && name.parse::<std::net::Ipv4Addr>().is_err()
        && !PREFIXES.iter().any(|prefix| name.starts_with(prefix))
        && !SUFFIXES.iter().chain(&OF_DIRECTORY_POINTS).any(|suffix| name.ends_with(suffix))
        && (!is_directory_name(name) || zone_of(name).is_some());
    if fits { Ok(()) } else { Err(Error::InvalidBucketName { bucket: name.to_owned() }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_a_directory_bucket_names_its_zone() {
        for (name, zone) in [
            ("fast--use1-az4--x-store", Some("use1-az4")),
            ("fast--use1-az4--x-s3", Some("use1-az4")),
            ("a--b--usw2-lax1-az1--x-s3", Some("usw2-lax1-az1")),
            ("fast--use1-az4", None),
            ("--use1-az4--x-s3", None),
            ("fast-use1-az4--x-s3", None),
            ("fast--use1--x-s3", None),
            ("fast---use1-az4--x-s3", None),
            ("fa.st--use1-az4--x-s3", None),
            ("fast--use1---x-s3", None),
            ("fast--x-s3", None),
        ] {
            assert_eq!(zone_of(name), zone, "{name}");
            if is_directory_name(name) {
                assert_eq!(check_name(name).is_ok(), zone.is_some(), "{name}");
            }
        }
    }

    #[test]
    fn names_that_no_bucket_can_have_are_refused() {
        for name in ["abc", "a.b-c", "demo", "123", "fast--use1-az4--x-store", &"a".repeat(63)] {
            assert_eq!(check_name(name), Ok(()), "{name}");
        }
        let long = "a".repeat(64);
        for name in
            ["", "ab", &long, "Abc", "a_b", "-abc", "abc-", "a..b", "a.-b", "1.2.3.4", "_ops"]
        {
            assert!(check_name(name).is_err(), "{name}");
        }
        let reserved = [
            "xn--abc",
            "sthree-abc",
            "amzn-s3-demo-a",
            "abc-s3alias",
            "abc--ol-s3",
            "abc.mrap",
            "abc--table-s3",
            "abc--use1-az4--xa-s3",
            "abc--use1-az4--xa-store",
        ];
        for name in reserved {
            assert!(check_name(name).is_err(), "{name}");
        }
    }
}
