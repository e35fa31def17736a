//! The files that hold the identity of a store, in each of its parts.

use std::path::Path;

use super::identity_error::IdentityError;
use super::private_file::write_private;

/// Their name.
pub(super) const FILE: &str = "identity";

/// The identity in a file; `None` without the file.
///
/// # Errors
/// `Unusable`.
pub(super) fn read(path: &Path) -> Result<Option<String>, IdentityError> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text.trim().to_owned())),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(IdentityError::unusable(path, &error)),
    }
}

/// The identity of the records in a data directory; `None` without it.
///
/// # Errors
/// `Unusable`.
pub(super) fn of_records(directory: &Path) -> Result<Option<String>, IdentityError> {
    read(&directory.join("kv").join(FILE))
}

/// Keeps a line in a file that its owner alone can read.
///
/// # Errors
/// `Unusable`.
pub(super) fn write(path: &Path, line: &str) -> Result<(), IdentityError> {
    let written = write_private(path, format!("{line}\n").as_bytes());
    written.map_err(|error| IdentityError::unusable(path, &error))
}
