//! The preflight of a store: its lock, and the files of an older release before sled opens them, since sled writes at once, and on what it
//! believes to have read.

use std::io;
use std::path::Path;

use super::open_error::OpenError;
use super::tree::TreeKind;
use super::wal::TURNS;
use crate::disk::{Disk, DiskLock};

/// The file that is locked as long as the store is open.
const LOCK: &str = "lock";
/// The note of an older release that the disk had failed its store.
const FAILED: &str = "disk-failed";
/// Bytes of a file that are written again at once.
const BYTES_WRITTEN_AGAIN: usize = 1024 * 1024;

/// Takes the lock of a directory for this process.
///
/// # Errors
/// `Locked`; `Directory`.
pub(super) fn lock(disk: &dyn Disk, directory: &Path) -> Result<DiskLock, OpenError> {
    locked(disk, directory, &directory.join(LOCK))
}

fn locked(disk: &dyn Disk, directory: &Path, file: &Path) -> Result<DiskLock, OpenError> {
    let locked = disk.lock(file).map_err(|error| unusable(directory, &error))?;
    locked.ok_or_else(|| OpenError::Locked { path: directory.display().to_string() })
}

/// Refuses a directory whose tree another process has, before anything in it is removed or renamed: its lock may have been taken away.
///
/// # Errors
/// `Locked`; `Directory`.
pub(super) fn check_tree_is_free(
    disk: &dyn Disk,
    directory: &Path,
    tree: &Path,
) -> Result<(), OpenError> {
    match disk.file_id(tree) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(unusable(directory, &error)),
        // The tree takes it again.
        Ok(_) => locked(disk, directory, tree).map(drop),
    }
}

/// Checks the tree of an older release, which is the truth there, and takes away what an earlier start left half written.
///
/// # Errors
/// `Locked`; `Directory`; `Unreadable`, if any byte of the tree cannot be read: sled would take that for the end of its log, and write
/// over what comes behind it.
pub(super) fn check_older(disk: &dyn Disk, directory: &Path) -> Result<(), OpenError> {
    let tree = TreeKind::Sled.path(directory);
    // sled's own lock, so that nothing here meets a start that is under way; sled takes it again.
    let _held = match disk.file_id(&tree) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(unusable(directory, &error)),
        Ok(_) => locked(disk, directory, &tree)?,
    };
    let unreadable = |file: &Path, error: &io::Error| OpenError::Unreadable {
        path: directory.display().to_string(),
        file: file.display().to_string(),
        reason: error.to_string(),
    };
    if has_failed(disk, directory) {
        for file in [tree.clone(), directory.join(TURNS[0]), directory.join(TURNS[1])] {
            forget_cached(disk, &file).map_err(|error| unreadable(&file, &error))?;
        }
    }
    TreeKind::Sled.check(disk, directory).map_err(|error| unreadable(&tree, &error))
}

fn unusable(directory: &Path, error: &io::Error) -> OpenError {
    OpenError::Directory { path: directory.display().to_string(), reason: error.to_string() }
}

/// Takes away the note of an older release that the disk had failed its store, once that was opened from what the disk has.
pub(super) fn forget_failure(disk: &dyn Disk, directory: &Path) -> io::Result<()> {
    if has_failed(disk, directory) {
        disk.remove(&directory.join(FAILED))?;
    }
    Ok(())
}

fn has_failed(disk: &dyn Disk, directory: &Path) -> bool {
    disk.file_id(&directory.join(FAILED)).is_ok()
}

/// Writes what memory has of a file once more: after a sync that failed the system shows it, takes it for written, and would never write it.
pub(super) fn write_again(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    let file = disk.open_to_write(path)?;
    let mut at = 0;
    loop {
        let bytes = file.read_new(BYTES_WRITTEN_AGAIN, at)?;
        if bytes.is_empty() {
            return Ok(());
        }
        file.write_all_at(&bytes, at)?;
        at += bytes.len() as u64;
    }
}

/// Writes what memory has of a file and the disk has not, if it knows of that, and has the rest read again.
pub(super) fn forget_cached(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    match disk.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        opened => {
            let file = opened?;
            file.sync()?;
            file.forget_cached()
        }
    }
}
