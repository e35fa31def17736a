//! The encryption that a bucket gives to objects which ask for none.

use serde::{Deserialize, Serialize};
use triptych_core::kv::Tx;

use crate::error::Error;
use crate::kms::key_manager::KeyServiceKind;
use crate::kms::key_name::KeyName;
use crate::store::bucket::{Bucket, BucketKind};
use crate::store::tables::BUCKET_CONFIGS;

/// The name under which it is kept.
pub const SETTING: &str = "encryption";

/// The name under which it is kept whether customers' keys are blocked: apart, so that the default comes and goes without it.
pub const BLOCKED: &str = "blocked-encryption";

/// Tells whether a bucket takes no customers' keys with what is written to it; `None` where nobody said.
///
/// # Errors
/// As reads of the store; [`Error::Damaged`] for a row that cannot be read.
pub fn blocks_customer_keys(tx: &mut Tx<'_>, bucket: u64) -> Result<Option<bool>, Error> {
    let row = BUCKET_CONFIGS.peek(tx, &(bucket, BLOCKED.to_owned()))?;
    row.map(|row| serde_json::from_slice(&row).map_err(|_| Error::Damaged)).transpose()
}

/// The modes that a bucket can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum BucketMode {
    /// Keys that the service manages.
    #[default]
    ServiceManaged,
    /// Key-management keys.
    KeyManagement,
    /// Key-management keys in two layers.
    DualLayer,
}

/// The default encryption of a bucket.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BucketEncryption {
    /// The mode.
    #[serde(default)]
    pub mode: BucketMode,
    /// The key; the one that the provider manages unless one is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<KeyName>,
    /// The name of the key as it was put, where that was an id or an alias.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub short_name: Option<String>,
    /// True if one call to the key service serves many objects.
    #[serde(default)]
    pub bucket_key: bool,
}

/// As it is kept; earlier releases knew one mode, and kept a flag alone.
#[derive(Deserialize)]
#[serde(untagged)]
enum Kept {
    BucketKey(bool),
    Whole(BucketEncryption),
}

impl BucketEncryption {
    /// The encryption that a bucket was given, if it was given one.
    ///
    /// # Errors
    /// As reads of the store; [`Error::Damaged`] for one that cannot be read.
    pub fn given(tx: &mut Tx<'_>, bucket: u64) -> Result<Option<Self>, Error> {
        let Some(row) = BUCKET_CONFIGS.peek(tx, &(bucket, SETTING.to_owned()))? else {
            return Ok(None);
        };
        Ok(Some(match serde_json::from_slice(&row).map_err(|_| Error::Damaged)? {
            Kept::BucketKey(bucket_key) => Self { bucket_key, ..Self::default() },
            Kept::Whole(whole) => whole,
        }))
    }

    /// The name by which `service` is asked for the key, where one is named: one on the network knows an id or an alias as it was put, and
    /// not as one of an account here.
    ///
    /// # Errors
    /// Those of [`KeyName::parse`].
    pub fn name_of_key(&self, service: KeyServiceKind) -> Result<Option<KeyName>, Error> {
        match (&self.short_name, &self.key) {
            (Some(short), Some(key)) if service == KeyServiceKind::Remote => {
                KeyName::parse(short, key.account().unwrap_or_default()).map(Some)
            }
            (_, key) => Ok(key.clone()),
        }
    }

    /// The encryption of a bucket: service-managed keys, unless it was given another. Bucket keys of directory buckets are always on.
    ///
    /// # Errors
    /// Those of [`BucketEncryption::given`].
    pub fn of_bucket(tx: &mut Tx<'_>, bucket: &Bucket) -> Result<Self, Error> {
        let bucket_key = bucket.kind == BucketKind::Directory;
        let default = Self { bucket_key, ..Self::default() };
        Ok(Self::given(tx, bucket.id)?.unwrap_or(default))
    }
}
