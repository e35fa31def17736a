//! The preflight of a store: its files before sled opens them, since sled writes at once, and on what it believes to have read.

use std::fs::{File, TryLockError};
use std::io;
use std::path::Path;

use super::open_error::OpenError;
use super::wal::NAMES as JOURNALS;
use crate::disk::Disk;

/// sled's log, which is all of the tree.
pub(super) const TREE: &str = "db";
/// The note that the disk has failed this store.
const FAILED: &str = "disk-failed";
/// Bytes that are read at once.
const PIECE_BYTES: usize = 1024 * 1024;

/// Checks the files of a store that is there, and takes away what an earlier start left half written.
///
/// # Errors
/// `Locked`; `Directory`; `Unreadable`, if any byte of the tree cannot be read: sled would take that for the end of its log, and write
/// over what comes behind it.
pub(super) fn check(disk: &dyn Disk, directory: &Path) -> Result<(), OpenError> {
    let path = || directory.display().to_string();
    let unusable =
        |error: io::Error| OpenError::Directory { path: path(), reason: error.to_string() };
    let tree = directory.join(TREE);
    let lock = match File::open(&tree) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened.map_err(unusable)?,
    };
    // sled's own lock, so that nothing here meets a start that is under way; sled takes it again.
    lock.try_lock().map_err(|error| match error {
        TryLockError::WouldBlock => OpenError::Locked { path: path() },
        TryLockError::Error(error) => unusable(error),
    })?;
    let unreadable = |file: &Path, error: &io::Error| OpenError::Unreadable {
        path: path(),
        file: file.display().to_string(),
        reason: error.to_string(),
    };
    if has_failed(directory) {
        for name in [TREE, JOURNALS[0], JOURNALS[1]] {
            let file = directory.join(name);
            forget_cached(disk, &file).map_err(|error| unreadable(&file, &error))?;
        }
    }
    remove_unfinished_snapshots(disk, directory).map_err(unusable)?;
    read_all(disk, &tree).map_err(|error| unreadable(&tree, &error))
}

/// Notes that the disk has failed this store, as well as that can be told. It need not outlast the machine: what it warns of does not.
///
/// The system takes what it could not write for written, and would give it to the next start, which would let the log go.
pub(super) fn note_failure(disk: &dyn Disk, directory: &Path) {
    let _ = disk.create(&directory.join(FAILED));
}

/// Takes that note away, once the store was opened from what the disk has.
pub(super) fn forget_failure(disk: &dyn Disk, directory: &Path) -> io::Result<()> {
    if has_failed(directory) {
        disk.remove(&directory.join(FAILED))?;
    }
    Ok(())
}

fn has_failed(directory: &Path) -> bool {
    directory.join(FAILED).exists()
}

/// Writes what memory has of a file and the disk has not, if it knows of that, and has the rest read again.
fn forget_cached(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    match disk.open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        opened => {
            let file = opened?;
            file.sync()?;
            file.forget_cached()
        }
    }
}

/// Takes away the snapshots that sled has not finished: it would take one for the newest, and for damage. They are made anew from its log.
fn remove_unfinished_snapshots(disk: &dyn Disk, directory: &Path) -> io::Result<()> {
    for path in disk.list(directory)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with("snap.") && name.ends_with(".generating") {
            disk.remove(&path)?;
        }
    }
    Ok(())
}

/// Reads a file to its end.
fn read_all(disk: &dyn Disk, path: &Path) -> io::Result<()> {
    let file = disk.open(path)?;
    let mut piece = vec![0; PIECE_BYTES];
    let mut at = 0;
    loop {
        match file.read_at(&mut piece, at)? {
            0 => return Ok(()),
            bytes => at += bytes as u64,
        }
    }
}
