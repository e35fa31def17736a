//! The identity that the records and the bodies of a data directory share: a store is never opened with the bodies of another, or with none.

use std::path::{Path, PathBuf};
#[cfg(feature = "object-store")]
use std::sync::Arc;

use super::body_folders::{self, StrayFolder};
pub use super::identity_error::IdentityError;
use super::identity_file::{FILE, read, write};
use super::private_file::random_hex;
#[cfg(feature = "object-store")]
use crate::blobs::remote::RemoteBlobs;
#[cfg(feature = "object-store")]
use crate::blobs::{BlobError, Blobs as _};
use crate::kv::{KeyValue, Span};

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
            Self::Directory(path) => Ok(body_folders::are_used(path)),
            #[cfg(feature = "object-store")]
            Self::Remote(..) => Ok(self.identity()?.is_some() || self.has_bodies()?),
        }
    }

    fn has_bodies(&self) -> Result<bool, IdentityError> {
        match self {
            Self::Directory(path) => body_folders::have_bodies(path),
            #[cfg(feature = "object-store")]
            Self::Remote(blobs, _) => {
                let first = blobs.list(None, 1).map_err(|error| self.unreachable(&error))?;
                Ok(!first.is_empty())
            }
        }
    }

    /// Checks that the folders of the bodies, if there are any, are those of the store of this identity.
    fn check_folders(
        &self,
        identity: &str,
        of_another: impl FnOnce(String) -> IdentityError,
    ) -> Result<(), IdentityError> {
        let stray = match self {
            Self::Directory(path) => body_folders::stray(path, identity)?,
            #[cfg(feature = "object-store")]
            Self::Remote(..) => None,
        };
        let Some(StrayFolder { path, is_marked }) = stray else {
            return match self {
                Self::Directory(path) => body_folders::check_packs(path),
                #[cfg(feature = "object-store")]
                Self::Remote(..) => Ok(()),
            };
        };
        let folder = path.display().to_string();
        Err(match is_marked {
            true => of_another(folder),
            false => IdentityError::FolderMissing { folder, bodies: self.to_string() },
        })
    }

    /// Returns whether the folders of the bodies, if there are any, have their marks.
    fn has_marked_folders(&self) -> bool {
        match self {
            Self::Directory(path) => body_folders::are_marked(path),
            #[cfg(feature = "object-store")]
            Self::Remote(..) => true,
        }
    }

    /// Checks that the bodies belong to records that instances share, which `identity` names, and marks those that belong to none yet. A
    /// directory is one instance's, so that a new one is empty; an object store is all of theirs.
    ///
    /// # Errors
    /// `Unusable`, `Unreachable`, `Foreign`, `FolderMissing`, `SharedBodiesMissing`.
    #[cfg(any(feature = "etcd", feature = "postgres"))]
    pub(super) fn belong_to(
        &self,
        records: &dyn KeyValue,
        identity: &str,
        store: &str,
    ) -> Result<(), IdentityError> {
        let (store, bodies) = (store.to_owned(), self.to_string());
        match self.identity()? {
            Some(own) if own == identity => {
                self.check_folders(identity, |bodies| IdentityError::Foreign { store, bodies })?;
                return if self.has_marked_folders() { Ok(()) } else { self.mark(identity) };
            }
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
            Self::Directory(path) => {
                // Folders first: bodies that are marked have folders that are.
                body_folders::mark(path, identity)?;
                write(&path.join(FILE), identity)
            }
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
    /// `RecordsMissing`, `BodiesMissing`, `Mismatch`, `FolderMissing`; `Unusable` and `Unreachable` for what cannot be read.
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
            (_, Some(of_bodies)) => {
                let of_another = |bodies| IdentityError::Mismatch { path, bodies };
                sides.bodies.check_folders(of_bodies, of_another)?;
                Ok(sides)
            }
            (_, None) => Ok(sides),
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
        let identity = self.of_bodies.clone().unwrap_or_else(random_hex);
        // Bodies first: records that are marked have bodies that are.
        if self.of_bodies.is_none() || !self.bodies.has_marked_folders() {
            self.bodies.mark(&identity)?;
        }
        match self.of_records {
            Some(_) => Ok(()),
            None => write(&self.directory.join("kv").join(FILE), &identity),
        }
    }
}
