//! Secrets of a data directory: drawn once, and kept there for their owner alone.

use std::path::Path;

pub use super::private_file::random_hex;
use super::private_file::write_private;
use super::storage_error::StorageError;

/// Hex digits of a secret that is drawn.
const SECRET_DIGITS: usize = 64;

/// Reads a secret of the data directory, or draws 32 random bytes as hex and keeps them there, readable by their owner alone. One that somebody
/// else put there is what it is.
///
/// # Errors
/// `Directory` if the file cannot be read or written; `SecretCutOff` if it holds the beginning of one that was drawn.
pub fn secret(directory: &Path, name: &str) -> Result<String, StorageError> {
    let path = directory.join(name);
    let failed = |error: std::io::Error| StorageError::Directory {
        path: path.display().to_string(),
        reason: error.to_string(),
    };
    match std::fs::read_to_string(&path) {
        Ok(text) if is_cut_off(text.trim()) => {
            let (path, digits) = (path.display().to_string(), text.trim().len());
            return Err(StorageError::SecretCutOff { path, digits });
        }
        Ok(text) if !text.trim().is_empty() => return Ok(text.trim().to_owned()),
        Ok(_) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(failed(error)),
    }
    let text = random_hex();
    write_private(&path, text.as_bytes()).map_err(failed)?;
    Ok(text)
}

/// Returns whether a text looks as a drawn secret of which the end is missing.
fn is_cut_off(text: &str) -> bool {
    let is_digit = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    (1..SECRET_DIGITS).contains(&text.len()) && text.bytes().all(is_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_drawn_once_and_only_its_owner_can_read_it() {
        let directory = tempfile::tempdir().unwrap();
        let first = secret(directory.path(), "admin-token").unwrap();
        assert_eq!(first.len(), 64);
        assert_eq!(secret(directory.path(), "admin-token").unwrap(), first);
        assert_ne!(secret(directory.path(), "other").unwrap(), first);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            let mode = std::fs::metadata(directory.path().join("admin-token"))
                .unwrap()
                .permissions()
                .mode();
            assert_eq!(mode & 0o777, 0o600);
        }
    }

    #[test]
    fn a_secret_of_which_the_end_is_missing_is_refused_and_one_of_somebody_else_is_taken() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("admin-token");
        let drawn = secret(directory.path(), "admin-token").unwrap();
        for digits in [1, 20, 63] {
            std::fs::write(&path, &drawn[..digits]).unwrap();
            let refused = secret(directory.path(), "admin-token");
            assert!(
                matches!(&refused, Err(StorageError::SecretCutOff { digits: left, .. }) if *left == digits),
                "{refused:?}"
            );
        }
        for own in ["correct horse", "0xbeef", "DEADBEEF", &drawn] {
            std::fs::write(&path, format!("{own}\n")).unwrap();
            assert_eq!(secret(directory.path(), "admin-token").unwrap(), own);
        }
    }
}
