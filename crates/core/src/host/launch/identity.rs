//! The identity that the records and the bodies of a data directory share: a store is never opened with the bodies of another, or with none.

use std::path::{Path, PathBuf};
#[cfg(feature = "object-store")]
use std::sync::Arc;

use super::private_file::{random_hex, write_private};
#[cfg(feature = "object-store")]
use crate::blobs::remote::RemoteBlobs;
#[cfg(feature = "object-store")]
use crate::blobs::{BlobError, Blobs as _};
use crate::kv::{KeyValue, Span};

/// The name of the file that holds the identity, on either side.
const FILE: &str = "identity";

/// Reasons for which records and bodies are not opened together. Each says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// A file or a directory of the two sides cannot be read or written.
    #[error(
        "{path} cannot be used: {reason}. Give it to the user of the service, or put it back from the same backup as the rest"
    )]
    Unusable {
        /// Its path.
        path: String,
        /// The cause.
        reason: String,
    },
    /// Bodies without records.
    #[error(
        "there are bodies in {bodies} and the data directory {path} has no records in kv/; nothing was changed: put the records back, from the same backup as the bodies. To begin anew, name an empty directory and an empty place for bodies, or move what is there away"
    )]
    RecordsMissing {
        /// Its path.
        path: String,
        /// The place of the bodies.
        bodies: String,
    },
    /// Records without bodies.
    #[error(
        "the data directory {path} has records in kv/ and not their bodies in {bodies}; nothing was changed: name the place where they are with --blobs (without it, that is blobs/ of the data directory), or put them back, from the same backup as the records. To begin anew, name an empty directory, or move the whole directory away"
    )]
    BodiesMissing {
        /// Its path.
        path: String,
        /// The place in which bodies were looked for.
        bodies: String,
    },
    /// Records of one store, and bodies of another.
    #[error(
        "the records in {path}/kv and the bodies in {bodies} belong to different stores (their files named identity differ), and were not changed: put back the ones that belong together"
    )]
    Mismatch {
        /// Its path.
        path: String,
        /// The place of the bodies.
        bodies: String,
    },
    /// Bodies of other records than those that instances share.
    #[error(
        "the bodies in {bodies} belong to other records than those in {store}, and were not changed: name the place of theirs with --blobs or --data"
    )]
    Foreign {
        /// The store of the records.
        store: String,
        /// The place of the bodies.
        bodies: String,
    },
    /// Records that instances share, without their bodies.
    #[error(
        "there are records in {store} and not their bodies in {bodies}; nothing was changed: name the place where they are with --blobs"
    )]
    SharedBodiesMissing {
        /// The store of the records.
        store: String,
        /// The place in which bodies were looked for.
        bodies: String,
    },
    /// The store of the bodies does not answer.
    #[cfg(feature = "object-store")]
    #[error("the identity of the bodies in {bodies} cannot be read or written: {reason}")]
    Unreachable {
        /// The place of the bodies.
        bodies: String,
        /// The cause.
        reason: String,
    },
}

/// The place of the bodies, as a start looks at it.
pub(super) enum BodySide {
    /// A directory, which may not be there yet.
    Directory(PathBuf),
    /// An object store, and its name for the operator.
    #[cfg(feature = "object-store")]
    Remote(Arc<RemoteBlobs>, String),
}

impl BodySide {
    fn identity(&self) -> Result<Option<String>, IdentityError> {
        match self {
            Self::Directory(path) => read(&path.join(FILE)),
            #[cfg(feature = "object-store")]
            Self::Remote(blobs, _) => blobs.identity().map_err(|error| self.unreachable(&error)),
        }
    }

    /// Tells whether bodies were ever kept here.
    fn is_used(&self) -> Result<bool, IdentityError> {
        match self {
            Self::Directory(path) => Ok(path.join("packs").exists() || path.join("large").exists()),
            #[cfg(feature = "object-store")]
            Self::Remote(..) => Ok(self.identity()?.is_some() || self.has_bodies()?),
        }
    }

    fn has_bodies(&self) -> Result<bool, IdentityError> {
        match self {
            Self::Directory(path) => has_files(path),
            #[cfg(feature = "object-store")]
            Self::Remote(blobs, _) => {
                let first = blobs.list(None, 1).map_err(|error| self.unreachable(&error))?;
                Ok(!first.is_empty())
            }
        }
    }

    /// Checks that the bodies belong to records that instances share, which `identity` names, and marks those that belong to none yet. A
    /// directory is one instance's, so that a new one is empty; an object store is all of theirs.
    ///
    /// # Errors
    /// `Unusable`, `Unreachable`, `Foreign`, `SharedBodiesMissing`.
    #[cfg(any(feature = "etcd", feature = "postgres"))]
    pub(super) fn belong_to(
        &self,
        records: &dyn KeyValue,
        identity: &str,
        store: &str,
    ) -> Result<(), IdentityError> {
        let (store, bodies) = (store.to_owned(), self.to_string());
        match self.identity()? {
            Some(own) if own == identity => return Ok(()),
            Some(_) => return Err(IdentityError::Foreign { store, bodies }),
            None => {}
        }
        if !matches!(self, Self::Directory(_)) {
            let found = records.scan(&Span::default(), 1).map_err(|error| {
                IdentityError::Unusable { path: store.clone(), reason: error.to_string() }
            })?;
            // Another instance that starts at the same time marks them before it writes a record.
            if !found.rows.is_empty() && self.identity()?.as_deref() != Some(identity) {
                return Err(IdentityError::SharedBodiesMissing { store, bodies });
            }
        }
        match self.mark(identity) {
            // Another instance was quicker.
            Err(_) if self.identity()?.as_deref() == Some(identity) => Ok(()),
            marked => marked,
        }
    }

    fn mark(&self, identity: &str) -> Result<(), IdentityError> {
        match self {
            Self::Directory(path) => write(path, identity),
            #[cfg(feature = "object-store")]
            Self::Remote(blobs, _) => {
                blobs.set_identity(identity).map_err(|error| self.unreachable(&error))
            }
        }
    }

    #[cfg(feature = "object-store")]
    fn unreachable(&self, error: &BlobError) -> IdentityError {
        IdentityError::Unreachable { bodies: self.to_string(), reason: error.to_string() }
    }
}

impl std::fmt::Display for BodySide {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Directory(path) => write!(f, "{}", path.display()),
            #[cfg(feature = "object-store")]
            Self::Remote(_, place) => f.write_str(place),
        }
    }
}

/// The two sides of a store, as a start found them: records in a data directory, and bodies.
pub(super) struct Sides {
    directory: PathBuf,
    bodies: BodySide,
    has_records: bool,
    has_bodies: bool,
    of_records: Option<String>,
    of_bodies: Option<String>,
}

impl Sides {
    /// Looks at both before anything in them is opened or made.
    ///
    /// # Errors
    /// `RecordsMissing`, `BodiesMissing`, `Mismatch`; `Unusable` and `Unreachable` for what cannot be read.
    pub(super) fn look(directory: &Path, bodies: BodySide) -> Result<Self, IdentityError> {
        let kv = directory.join("kv");
        let sides = Self {
            has_records: kv.join("db").exists() || kv.join("format").exists(),
            has_bodies: bodies.is_used()?,
            of_records: read(&kv.join(FILE))?,
            of_bodies: bodies.identity()?,
            directory: directory.to_owned(),
            bodies,
        };
        let (path, bodies) = (directory.display().to_string(), sides.bodies.to_string());
        if !sides.has_records && (sides.of_bodies.is_some() || sides.bodies.has_bodies()?) {
            return Err(IdentityError::RecordsMissing { path, bodies });
        }
        if sides.of_records.is_some() && (!sides.has_bodies || sides.of_bodies.is_none()) {
            return Err(IdentityError::BodiesMissing { path, bodies });
        }
        match (&sides.of_records, &sides.of_bodies) {
            (Some(of_records), Some(of_bodies)) if of_records != of_bodies => {
                Err(IdentityError::Mismatch { path, bodies })
            }
            _ => Ok(sides),
        }
    }

    /// Checks what only the opened store tells: one without an identity that has records must have had bodies.
    ///
    /// # Errors
    /// `BodiesMissing`.
    pub(super) fn check_records(&self, kv: &dyn KeyValue) -> Result<(), IdentityError> {
        let path = self.directory.display().to_string();
        if self.has_bodies || !self.has_records {
            return Ok(());
        }
        // A first start that was stopped before it came to the bodies has no record.
        let found = kv.scan(&Span::default(), 1).map_err(|error| IdentityError::Unusable {
            path: path.clone(),
            reason: error.to_string(),
        })?;
        let bodies = self.bodies.to_string();
        match found.rows.is_empty() {
            true => Ok(()),
            false => Err(IdentityError::BodiesMissing { path, bodies }),
        }
    }

    /// Marks the sides that have no identity yet: those of a new directory, and of one that an older release made.
    ///
    /// # Errors
    /// `Unusable`, `Unreachable`.
    pub(super) fn mark(self) -> Result<(), IdentityError> {
        if self.of_records.is_some() {
            return Ok(());
        }
        let identity = self.of_bodies.clone().unwrap_or_else(random_hex);
        // Bodies first: records that are marked have bodies that are.
        if self.of_bodies.is_none() {
            self.bodies.mark(&identity)?;
        }
        write(&self.directory.join("kv"), &identity)
    }
}

/// Keeps the identity in a file of a directory.
fn write(directory: &Path, identity: &str) -> Result<(), IdentityError> {
    let path = directory.join(FILE);
    write_private(&path, format!("{identity}\n").as_bytes())
        .map_err(|error| unreadable(&path, &error))
}

/// The identity in a file; `None` without the file.
fn read(path: &Path) -> Result<Option<String>, IdentityError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text.trim().to_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(unreadable(path, &error)),
    }
}

/// Tells whether there is a body: a file in one of the directories of `blobs`.
fn has_files(blobs: &Path) -> Result<bool, IdentityError> {
    for directory in [blobs.join("packs"), blobs.join("large")] {
        match std::fs::read_dir(&directory) {
            Ok(entries) => {
                if entries.count() > 0 {
                    return Ok(true);
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(unreadable(&directory, &error)),
        }
    }
    Ok(false)
}

fn unreadable(path: &Path, error: &std::io::Error) -> IdentityError {
    IdentityError::Unusable { path: path.display().to_string(), reason: error.to_string() }
}
