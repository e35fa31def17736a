//! The mark of a data directory: the service that it is of. It is on disk before anything else is, and no other service opens the directory.

#[cfg(feature = "sled")]
use std::ffi::OsStr;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::flags::Product;
#[cfg(feature = "sled")]
use super::private_file::{random_hex, write_private};
use super::storage_error::StorageError;
#[cfg(feature = "sled")]
use crate::kv::{KeyValue, Span};

/// The file in the data directory that has it: the name of the service, and the number of the form of the directory.
pub(super) const FILE: &str = "service";
/// The end of the name of one that is not in its place yet.
#[cfg(feature = "sled")]
const UNFINISHED: &str = ".new";
/// The only form so far.
const FORMAT: &str = "1";
/// Rows by which a directory without a mark is known.
#[cfg(feature = "sled")]
const ROWS_SEEN: usize = 100;

/// Returns whether a data directory has the mark of this service; nothing is changed.
///
/// # Errors
/// `OtherService`, `UnknownMark`, `Directory`.
pub(super) fn is_of(directory: &Path, product: &Product) -> Result<bool, StorageError> {
    let mark = directory.join(FILE);
    let path = || directory.display().to_string();
    let text = match fs::read(&mark) {
        // What is no directory at all is refused by whoever makes it one.
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(false);
        }
        read => read.map_err(|error| unusable(&mark, &error))?,
    };
    let text = String::from_utf8_lossy(&text);
    match text.trim_end().split_once(' ') {
        Some((of, FORMAT)) if of == product.name => Ok(true),
        Some((of, _)) if of != product.name && is_name(of) => {
            let (of, service) = (of.to_owned(), product.name);
            Err(StorageError::OtherService { path: path(), of, service })
        }
        _ => Err(StorageError::UnknownMark { path: path() }),
    }
}

/// Returns whether a file of a data directory is the mark, or one that was to become it when a kill came.
#[cfg(feature = "sled")]
pub(super) fn is_mark(name: &OsStr) -> bool {
    let unfinished =
        |name: &str| name.strip_prefix(FILE)?.strip_prefix('-')?.strip_suffix(UNFINISHED).map(drop);
    name == FILE || name.to_str().and_then(unfinished).is_some()
}

/// Returns whether a word is one that a service may be called.
fn is_name(word: &str) -> bool {
    let is_of_name = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-';
    !word.is_empty() && word.bytes().all(is_of_name)
}

/// Marks a data directory, which is there, as one of this service. Of two services that do so at the same time, one is refused.
///
/// # Errors
/// As [`is_of`].
#[cfg(feature = "sled")]
pub(super) fn claim(directory: &Path, product: &Product) -> Result<(), StorageError> {
    if is_of(directory, product)? {
        return Ok(());
    }
    let mark = directory.join(FILE);
    let beside = directory.join(format!("{FILE}-{}{UNFINISHED}", random_hex()));
    let failed = |error: std::io::Error| unusable(&mark, &error);
    write_private(&beside, format!("{} {FORMAT}\n", product.name).as_bytes()).map_err(failed)?;
    let linked = match fs::hard_link(&beside, &mark) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Ok(()),
        // A file system without hard links.
        Err(_) => fs::rename(&beside, &mark),
        linked => linked,
    };
    if beside.exists() {
        let _ = fs::remove_file(&beside);
    }
    linked.and_then(|()| fs::File::open(directory)?.sync_all()).map_err(failed)?;
    match is_of(directory, product)? {
        true => Ok(()),
        false => Err(failed(ErrorKind::NotFound.into())),
    }
}

/// Checks that the records of a directory without a mark, as older releases made them, are ones that this service writes.
///
/// # Errors
/// `NoMark`, `Directory`.
#[cfg(feature = "sled")]
pub(super) fn check_rows(
    directory: &Path,
    product: &Product,
    records: &dyn KeyValue,
) -> Result<(), StorageError> {
    let found = records.scan(&Span::default(), ROWS_SEEN);
    let found = found.map_err(|error| StorageError::Directory {
        path: directory.display().to_string(),
        reason: error.to_string(),
    })?;
    match found.rows.iter().all(|(key, value)| (product.is_row)(key, value)) {
        true => Ok(()),
        false => {
            let path = directory.display().to_string();
            Err(StorageError::NoMark { path, service: product.name })
        }
    }
}

fn unusable(path: &Path, error: &std::io::Error) -> StorageError {
    StorageError::Directory { path: path.display().to_string(), reason: error.to_string() }
}

#[cfg(all(test, feature = "sled"))]
mod tests {
    use super::super::flags::tests::PRODUCT;
    use super::*;

    const fn product(name: &'static str) -> Product {
        Product { name, ..PRODUCT }
    }

    #[test]
    fn a_mark_is_made_once_and_refused_to_every_other_service() {
        let folder = tempfile::tempdir().unwrap();
        let (one, other) = (product("one"), product("other"));
        assert!(!is_of(folder.path(), &one).unwrap());
        assert!(!is_of(&folder.path().join("absent"), &one).unwrap());
        claim(folder.path(), &one).unwrap();
        claim(folder.path(), &one).unwrap();
        assert!(is_of(folder.path(), &one).unwrap());
        for refused in [is_of(folder.path(), &other).map(drop), claim(folder.path(), &other)] {
            let refused = refused.unwrap_err();
            assert!(
                matches!(&refused, StorageError::OtherService { of, .. } if of == "one"),
                "{refused}"
            );
        }
        assert_eq!(fs::read(folder.path().join(FILE)).unwrap(), b"one 1\n");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is left beside it");
    }

    #[test]
    fn a_mark_is_known_by_its_name_also_where_a_kill_left_it_unfinished() {
        for (name, is) in [
            ("service", true),
            ("service-0a.new", true),
            ("service.new", false),
            ("service-0a", false),
            ("services", false),
            ("kv", false),
        ] {
            assert_eq!(is_mark(OsStr::new(name)), is, "{name}");
        }
    }

    #[test]
    fn a_mark_that_makes_no_sense_or_is_of_a_later_form_is_refused_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        for text in ["", "one", "one 2\n", "one 1 2\n", "\u{fffd} 1\n"] {
            fs::write(folder.path().join(FILE), text).unwrap();
            let refused = claim(folder.path(), &product("one")).unwrap_err();
            assert!(matches!(refused, StorageError::UnknownMark { .. }), "{text:?}: {refused}");
            assert_eq!(fs::read_to_string(folder.path().join(FILE)).unwrap(), text);
        }
    }

    #[test]
    fn of_services_that_mark_a_directory_at_the_same_time_one_gets_it() {
        const NAMES: [&str; 4] = ["one", "two", "three", "four"];
        for _ in 0..20 {
            let folder = tempfile::tempdir().unwrap();
            let marked = std::thread::scope(|scope| {
                let claims =
                    NAMES.map(|name| scope.spawn(|| claim(folder.path(), &product(name)).is_ok()));
                claims.map(|claim| claim.join().unwrap())
            });
            assert_eq!(marked.iter().filter(|is_marked| **is_marked).count(), 1, "{marked:?}");
        }
    }
}
