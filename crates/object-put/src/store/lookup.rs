//! Versions and accounts, found in their tables.

use std::sync::Arc;

use triptych_core::kv::Tx;

use crate::auth::account::AccountDirectory;
use crate::error::Error;
use crate::store::key::Key;
use crate::store::tables::{
    ACCOUNTS, CURRENT, NONCURRENT, NULLS, ObjectKey, object_key, version_place,
};
use crate::store::version::{ObjectData, ObjectVersion, VersionId};

/// The most accounts that a store holds.
const ACCOUNTS_MAX: usize = 10_000;

/// A version, and the table that it stands in.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundVersion {
    /// The version.
    pub version: Arc<ObjectVersion>,
    /// True if it is what a plain GET of its key finds.
    pub is_current: bool,
}

impl FoundVersion {
    /// The object that it is.
    ///
    /// # Errors
    /// [`Error::Internal`] for a delete marker, which has none.
    pub fn data(&self) -> Result<&ObjectData, Error> {
        self.version.data.as_deref().ok_or(Error::Internal)
    }

    /// Writes a changed version back to where it stood.
    pub fn put(&self, tx: &mut Tx<'_>, bucket: u64, key: &Key) {
        let place = object_key(bucket, key);
        if self.is_current {
            CURRENT.put(tx, &place, &self.version);
        } else {
            let at = version_place(self.version.version.sequence);
            NONCURRENT.put(tx, &(bucket, place.1, at), &self.version);
        }
    }
}

/// Finds a version: the current one if `version` names none. A delete marker that is named is found too.
///
/// # Errors
/// `NoSuchKey`; `InvalidArgument` for what is no version id; `NoSuchVersion`.
pub fn locate(
    tx: &mut Tx<'_>,
    bucket: u64,
    key: &Key,
    version: Option<&str>,
) -> Result<FoundVersion, Error> {
    let place = object_key(bucket, key);
    let current = CURRENT.get_shared(tx, &place)?;
    let Some(name) = version else {
        return current
            .map(|version| FoundVersion { version, is_current: true })
            .ok_or_else(|| Error::NoSuchKey { key: key.to_string() });
    };
    let missing = || Error::NoSuchVersion { key: key.to_string(), version: name.to_owned() };
    let version_named = version_named(tx, &place, name, current.as_deref())?.ok_or_else(missing)?;
    if let Some(version) = current.filter(|current| current.version == version_named) {
        return Ok(FoundVersion { version, is_current: true });
    }
    let at = (place.0, place.1, version_place(version_named.sequence));
    let version = NONCURRENT.get_shared(tx, &at)?.filter(|own| own.version == version_named);
    version.map(|version| FoundVersion { version, is_current: false }).ok_or_else(missing)
}

fn version_named(
    tx: &mut Tx<'_>,
    place: &ObjectKey,
    name: &str,
    current: Option<&ObjectVersion>,
) -> Result<Option<VersionId>, Error> {
    if name == "null" {
        let own = current.map(|current| current.version);
        return Ok(match own.filter(|version| version.null) {
            Some(version) => Some(version),
            None => NULLS.get(tx, place)?,
        });
    }
    let reason = match name {
        "" => "Version id cannot be the empty string",
        _ => "Invalid version id specified",
    };
    let read = VersionId::parse(name).map(Some);
    read.ok_or_else(|| Error::argument("versionId", Some(name), reason))
}

/// All accounts of the store.
///
/// # Errors
/// As reads of the store.
pub fn account_directory(tx: &mut Tx<'_>) -> Result<AccountDirectory, Error> {
    let rows = ACCOUNTS.all(tx, &(), ACCOUNTS_MAX)?;
    Ok(AccountDirectory::new(rows.into_iter().map(|(_, account)| account).collect()))
}
