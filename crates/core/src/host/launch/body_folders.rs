//! The folders of bodies in a directory, each marked with the identity of the store: one that is gone, was emptied or is another store's is found
//! without a look at the bodies in it.

use std::path::{Path, PathBuf};

use super::identity_error::IdentityError;
use super::identity_file::{FILE, read, write};
use crate::blobs::{KNOWN_PACKS, LARGE, PACKS, missing_pack};
use crate::disk::SystemDisk;

/// The folders.
const FOLDERS: [&str; 2] = [PACKS, LARGE];
/// The file that says that all of them are marked. Older releases wrote none.
const MARKED: &str = "folders";

/// A folder that is not the one of its store.
pub(super) struct StrayFolder {
    pub(super) path: PathBuf,
    /// Set if it has the mark of another store; else it has none, or is not there.
    pub(super) is_marked: bool,
}

/// Returns whether bodies were ever kept in a directory.
pub(super) fn are_used(bodies: &Path) -> bool {
    FOLDERS.iter().any(|folder| bodies.join(folder).exists())
}

/// Returns whether the folders of a directory have their marks.
pub(super) fn are_marked(bodies: &Path) -> bool {
    bodies.join(MARKED).exists()
}

/// Returns whether there is a body: a file in one of the folders that is no mark.
///
/// # Errors
/// `Unusable`.
pub(super) fn have_bodies(bodies: &Path) -> Result<bool, IdentityError> {
    for folder in FOLDERS.map(|folder| bodies.join(folder)) {
        match std::fs::read_dir(&folder) {
            Ok(mut entries) => {
                if entries.any(|entry| entry.is_ok_and(|entry| entry.file_name() != FILE)) {
                    return Ok(true);
                }
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(error) => return Err(IdentityError::unusable(&folder, &error)),
        }
    }
    Ok(false)
}

/// The first folder that is not the one of the store of this identity. Where they were never marked, it has to be there, and no more is known.
///
/// # Errors
/// `Unusable`.
pub(super) fn stray(bodies: &Path, own: &str) -> Result<Option<StrayFolder>, IdentityError> {
    let are_marked = are_marked(bodies);
    for path in FOLDERS.map(|folder| bodies.join(folder)) {
        let mark = read(&path.join(FILE))?;
        let is_own = mark.as_ref().map_or(!are_marked && path.is_dir(), |mark| mark == own);
        if !is_own {
            return Ok(Some(StrayFolder { path, is_marked: mark.is_some() }));
        }
    }
    Ok(None)
}

/// Checks that the packs are there that are known to hold bodies.
///
/// # Errors
/// `PackMissing`, `Unusable`.
pub(super) fn check_packs(bodies: &Path) -> Result<(), IdentityError> {
    let missing = missing_pack(&SystemDisk, bodies);
    let missing = missing.map_err(|error| IdentityError::unusable(bodies, &error))?;
    missing.map_or(Ok(()), |pack| {
        let note = bodies.join(KNOWN_PACKS).display().to_string();
        Err(IdentityError::PackMissing { pack: pack.display().to_string(), note })
    })
}

/// Marks the folders, which are there, and says so once all of them are.
///
/// # Errors
/// `Unusable`.
pub(super) fn mark(bodies: &Path, own: &str) -> Result<(), IdentityError> {
    for folder in FOLDERS {
        write(&bodies.join(folder).join(FILE), own)?;
    }
    write(&bodies.join(MARKED), &FOLDERS.join(" "))
}
