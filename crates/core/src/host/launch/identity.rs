//! The identity that the records and the bodies of a data directory share: a store is never opened with the bodies of another, or with none.

use std::path::{Path, PathBuf};

use super::private_file::{random_hex, write_private};
use crate::kv::{KeyValue, Span};

/// The name of the file that holds the identity, on either side.
const FILE: &str = "identity";

/// Reasons for which records and bodies are not opened together. Each says what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum IdentityError {
    /// A file or a directory of the two sides cannot be read or written.
    #[error("{path} cannot be used: {reason}")]
    Unusable {
        /// Its path.
        path: String,
        /// The cause.
        reason: String,
    },
    /// Bodies without records.
    #[error(
        "the data directory {path} has bodies in blobs/ and no records in kv/, and was not changed: put the records back, from the same backup as the bodies. To begin anew, name an empty directory, or move the whole directory away"
    )]
    RecordsMissing {
        /// Its path.
        path: String,
    },
    /// Records without bodies.
    #[error(
        "the data directory {path} has records in kv/ and not their bodies in blobs/, and was not changed: put the bodies back, from the same backup as the records. To begin anew, name an empty directory, or move the whole directory away"
    )]
    BodiesMissing {
        /// Its path.
        path: String,
    },
    /// Records of one store, and bodies of another.
    #[error(
        "the records in {path}/kv and the bodies in {path}/blobs belong to different stores (their files named identity differ), and were not changed: put back the ones that belong together"
    )]
    Mismatch {
        /// Its path.
        path: String,
    },
}

/// The two sides of a data directory, as a start found them.
pub(super) struct Sides {
    directory: PathBuf,
    has_records: bool,
    has_bodies: bool,
    of_records: Option<String>,
    of_bodies: Option<String>,
}

impl Sides {
    /// Looks at the directory before anything in it is opened or made.
    ///
    /// # Errors
    /// `RecordsMissing`, `BodiesMissing`, `Mismatch`; `Unusable` for what cannot be read.
    pub(super) fn look(directory: &Path) -> Result<Self, IdentityError> {
        let (kv, blobs) = (directory.join("kv"), directory.join("blobs"));
        let sides = Self {
            has_records: kv.join("db").exists() || kv.join("format").exists(),
            has_bodies: blobs.join("packs").exists() || blobs.join("large").exists(),
            of_records: read(&kv.join(FILE))?,
            of_bodies: read(&blobs.join(FILE))?,
            directory: directory.to_owned(),
        };
        let path = directory.display().to_string();
        if !sides.has_records && (sides.of_bodies.is_some() || has_files(&blobs)?) {
            return Err(IdentityError::RecordsMissing { path });
        }
        if sides.of_records.is_some() && (!sides.has_bodies || sides.of_bodies.is_none()) {
            return Err(IdentityError::BodiesMissing { path });
        }
        match (&sides.of_records, &sides.of_bodies) {
            (Some(records), Some(bodies)) if records != bodies => {
                Err(IdentityError::Mismatch { path })
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
        if found.rows.is_empty() { Ok(()) } else { Err(IdentityError::BodiesMissing { path }) }
    }

    /// Marks the sides that have no identity yet: those of a new directory, and of one that an older release made.
    ///
    /// # Errors
    /// `Unusable`.
    pub(super) fn mark(self) -> Result<(), IdentityError> {
        if self.of_records.is_some() {
            return Ok(());
        }
        let identity = self.of_bodies.clone().unwrap_or_else(random_hex);
        // Bodies first: records that are marked have bodies that are.
        let sides = [("blobs", self.of_bodies.is_none()), ("kv", true)];
        for (side, _) in sides.iter().filter(|(_, is_unmarked)| *is_unmarked) {
            let path = self.directory.join(side).join(FILE);
            write_private(&path, format!("{identity}\n").as_bytes()).map_err(|error| {
                IdentityError::Unusable {
                    path: path.display().to_string(),
                    reason: error.to_string(),
                }
            })?;
        }
        Ok(())
    }
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
