//! A directory in which a new store is made before it is moved into its place.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::private_file::write_private;
use super::service_mark;
use crate::disk::{Disk as _, DiskLock, SystemDisk};

/// The directory within a data directory in which a new store is made. What it holds is nothing until it is moved out.
const STAGING: &str = ".filling";
/// The file that is locked as long as something fills the directory.
const LOCK: &str = "lock";
/// The note of how far the filling came, where it can go on from there.
const NOTE: &str = "progress.json";
/// The parts of a store in the order in which they are moved. The mark of its service comes first, and the records last: without them a directory
/// holds no store.
const SIDES: [&str; 3] = [service_mark::FILE, "blobs", "kv"];

/// A store that is being made within its data directory. Dropped before it is published, it leaves nothing but what a note says how to go on with.
#[derive(Debug)]
pub struct StagingDir {
    path: PathBuf,
    has_note: bool,
    _lock: DiskLock,
}

impl StagingDir {
    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A staging in `data`, which has to be empty or absent; what an interrupted run left in it is removed.
    ///
    /// # Errors
    /// A sentence that says what is in the way.
    pub fn new(data: &Path) -> Result<Self, String> {
        Self::open_or_begin(data, false).map(|(staging, _)| staging)
    }

    /// The staging that an interrupted run left in `data` with its note, or a new one as [`StagingDir::new`].
    ///
    /// # Errors
    /// A sentence that says what is in the way.
    pub fn resumed(data: &Path) -> Result<(Self, Option<Vec<u8>>), String> {
        Self::open_or_begin(data, true)
    }

    fn open_or_begin(data: &Path, resumes: bool) -> Result<(Self, Option<Vec<u8>>), String> {
        let path = data.join(STAGING);
        SystemDisk.make_directory(data).map_err(|error| at_path(data, &error))?;
        let note = note_in(data);
        if note.is_some() && !resumes {
            return Err(format!(
                "{} holds an import that is not finished: go on with that, or remove {} to give it up",
                data.display(),
                path.display()
            ));
        }
        if note.is_none() {
            check_empty(data)?;
        }
        SystemDisk.make_directory(&path).map_err(|error| at_path(&path, &error))?;
        let lock = SystemDisk.lock(&path.join(LOCK)).map_err(|error| at_path(&path, &error))?;
        let Some(lock) = lock else {
            return Err(format!("{} is being filled by another process", data.display()));
        };
        let staging = Self { path, has_note: note.is_some(), _lock: lock };
        if note.is_none() {
            staging.wipe().map_err(|error| at_path(&staging.path, &error))?;
        }
        Ok((staging, note))
    }

    /// Removes what an interrupted run left.
    fn wipe(&self) -> std::io::Result<()> {
        for entry in fs::read_dir(&self.path)? {
            let entry = entry?;
            match entry.file_type()?.is_dir() {
                true => fs::remove_dir_all(entry.path())?,
                false if entry.file_name() == LOCK => {}
                false => fs::remove_file(entry.path())?,
            }
        }
        Ok(())
    }

    /// Puts a note of how far the filling came in the place of the last one; from now on what is there is kept.
    ///
    /// # Errors
    /// As the disk.
    pub fn keep(&mut self, note: &[u8]) -> std::io::Result<()> {
        write_private(&self.path.join(NOTE), note)?;
        self.has_note = true;
        Ok(())
    }

    /// Gives up what is in it.
    pub(super) const fn forget(&mut self) {
        self.has_note = false;
    }

    /// Tells whether what is in it stays when this is dropped.
    pub(super) const fn has_note(&self) -> bool {
        self.has_note
    }

    /// Moves the finished store into its place, with the other files of its data directory, or what an interrupted move left.
    ///
    /// # Errors
    /// A sentence that says what cannot be moved.
    pub(super) fn publish_all(self, data: &Path) -> Result<(), String> {
        let entries = fs::read_dir(&self.path).map_err(|error| at_path(&self.path, &error))?;
        for entry in entries {
            let name = entry.map_err(|error| at_path(&self.path, &error))?.file_name();
            if ![LOCK, NOTE].into_iter().chain(SIDES).any(|kept| name == kept) {
                let from = self.path.join(&name);
                fs::rename(&from, data.join(&name)).map_err(|error| at_path(&from, &error))?;
            }
        }
        self.publish(data)
    }

    /// Moves the finished store into its place, or what an interrupted move left.
    ///
    /// # Errors
    /// A sentence that says what cannot be moved.
    pub fn publish(mut self, data: &Path) -> Result<(), String> {
        for name in SIDES {
            let from = self.path.join(name);
            if from.exists() {
                fs::rename(&from, data.join(name)).map_err(|error| at_path(&from, &error))?;
                sync(data).map_err(|error| at_path(data, &error))?;
            }
        }
        self.forget();
        Ok(())
    }
}

impl Drop for StagingDir {
    fn drop(&mut self) {
        if !self.has_note {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

/// Tells whether a data directory is being filled, or was and is not whole: its records are moved into it last.
pub(super) fn is_unfinished(data: &Path) -> bool {
    data.join(STAGING).exists() && !data.join("kv").exists()
}

/// Takes away what a filling left that was stopped after its store was in its place.
pub(super) fn clear_finished(data: &Path) {
    let staging = data.join(STAGING);
    if staging.exists() && !staging.join("kv").exists() && data.join("kv").exists() {
        let _ = fs::remove_dir_all(staging);
    }
}

/// The note that a filling of `data` left.
pub(super) fn note_in(data: &Path) -> Option<Vec<u8>> {
    fs::read(data.join(STAGING).join(NOTE)).ok()
}

/// The folder that each ext4 file system has at its root: a fresh disk that is mounted holds nothing of anybody.
const LOST_AND_FOUND: &str = "lost+found";

/// Tells whether a data directory holds nothing but its mark and what a filling left.
///
/// # Errors
/// As the disk.
pub(super) fn is_empty_but_for_it(data: &Path) -> std::io::Result<bool> {
    for entry in fs::read_dir(data)? {
        let name = entry?.file_name();
        if name != STAGING && name != LOST_AND_FOUND && !service_mark::is_mark(&name) {
            return Ok(false);
        }
    }
    Ok(true)
}

fn check_empty(data: &Path) -> Result<(), String> {
    match is_empty_but_for_it(data).map_err(|error| at_path(data, &error))? {
        true => Ok(()),
        false => Err(format!(
            "{} is not empty, and nothing is ever written over data: name another directory with --data",
            data.display()
        )),
    }
}

fn sync(directory: &Path) -> std::io::Result<()> {
    File::open(directory)?.sync_all()
}

fn at_path(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
