//! The preflight of a store: its files before sled opens them, since sled writes at once, and on what it believes to have read.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::Path;

use super::open_error::OpenError;
use super::wal::TURNS;
use crate::disk::Disk;

/// sled's log, which is all of the tree.
pub(super) const TREE: &str = "db";
/// sled's settings.
pub(super) const SETTINGS: &str = "conf";
/// The start of the names of sled's snapshots.
const SNAPSHOT: &str = "snap.";
/// The file that is locked as long as the store is open.
const LOCK: &str = "lock";
/// The note of an older release that the disk had failed its store.
const FAILED: &str = "disk-failed";
/// Bytes that are read at once.
const PIECE_BYTES: usize = 1024 * 1024;

/// Takes the lock of a directory for this process.
///
/// # Errors
/// `Locked`; `Directory`.
pub(super) fn lock(directory: &Path) -> Result<File, OpenError> {
    let opened = OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(directory.join(LOCK))
        .map_err(|error| unusable(directory, &error))?;
    held(directory, opened)
}

fn held(directory: &Path, file: File) -> Result<File, OpenError> {
    match file.try_lock() {
        Ok(()) => Ok(file),
        Err(TryLockError::WouldBlock) => {
            Err(OpenError::Locked { path: directory.display().to_string() })
        }
        Err(TryLockError::Error(error)) => Err(unusable(directory, &error)),
    }
}

/// Checks the tree of an older release, which is the truth there, and takes away what an earlier start left half written.
///
/// # Errors
/// `Locked`; `Directory`; `Unreadable`, if any byte of the tree cannot be read: sled would take that for the end of its log, and write
/// over what comes behind it.
pub(super) fn check_older(disk: &dyn Disk, directory: &Path) -> Result<(), OpenError> {
    let tree = directory.join(TREE);
    let file = match File::open(&tree) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        opened => opened.map_err(|error| unusable(directory, &error))?,
    };
    // sled's own lock, so that nothing here meets a start that is under way; sled takes it again.
    let _held = held(directory, file)?;
    let unreadable = |file: &Path, error: &io::Error| OpenError::Unreadable {
        path: directory.display().to_string(),
        file: file.display().to_string(),
        reason: error.to_string(),
    };
    if has_failed(directory) {
        for name in [TREE, TURNS[0], TURNS[1]] {
            let file = directory.join(name);
            forget_cached(disk, &file).map_err(|error| unreadable(&file, &error))?;
        }
    }
    remove_unfinished_snapshots(disk, directory).map_err(|error| unusable(directory, &error))?;
    read_all(disk, &tree).map_err(|error| unreadable(&tree, &error))
}

/// Checks the files of a tree that can be filled anew.
///
/// # Errors
/// As the disk: the tree is not to be opened.
pub(super) fn check_tree(disk: &dyn Disk, directory: &Path) -> io::Result<()> {
    remove_unfinished_snapshots(disk, directory)?;
    read_all(disk, &directory.join(TREE))
}

/// Removes the files of the tree, and puts that on disk.
pub(super) fn remove_tree(disk: &dyn Disk, directory: &Path) -> io::Result<()> {
    for path in disk.list(directory)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name == TREE || name == SETTINGS || name.starts_with(SNAPSHOT) {
            disk.remove(&path)?;
        }
    }
    disk.sync_directory(directory)
}

fn unusable(directory: &Path, error: &io::Error) -> OpenError {
    OpenError::Directory { path: directory.display().to_string(), reason: error.to_string() }
}

/// Takes away the note of an older release that the disk had failed its store, once that was opened from what the disk has.
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

/// Takes away the snapshots that sled has not finished: it would take one for the newest, and for damage. They are made anew from its log.
fn remove_unfinished_snapshots(disk: &dyn Disk, directory: &Path) -> io::Result<()> {
    for path in disk.list(directory)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(SNAPSHOT) && name.ends_with(".generating") {
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
