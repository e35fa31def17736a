//! A directory in which a new store is made before it is moved into its place.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use super::flags::Flags;
use super::storage::{self, Storage};
use crate::disk::{Disk as _, SystemDisk};

/// The directory within a data directory in which a new store is made. What it holds is nothing until it is moved out.
const STAGING: &str = ".filling";
/// The most that a store which is filled takes for its cache: its rows come in the order of their keys, so that none is looked at again.
const FILL_CACHE_BYTES: u64 = 256 * 1024 * 1024;

/// A store that is being made within its data directory. Dropped before it is published, it leaves nothing.
#[derive(Debug)]
pub struct StagingDir(PathBuf);

impl StagingDir {
    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.0
    }

    /// A staging in `data`, which has to be empty or absent; what an interrupted run left in it is removed.
    ///
    /// # Errors
    /// A sentence that says what is in the way.
    pub fn new(data: &Path) -> Result<Self, String> {
        let staging = data.join(STAGING);
        match fs::remove_dir_all(&staging) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(at_path(&staging, &error));
            }
            _ => {}
        }
        SystemDisk.make_directory(data).map_err(|error| at_path(data, &error))?;
        let mut entries = fs::read_dir(data).map_err(|error| at_path(data, &error))?;
        if entries.next().is_some() {
            return Err(format!(
                "{} is not empty, and nothing is ever written over data: name another directory with --data",
                data.display()
            ));
        }
        fs::create_dir(&staging).map_err(|error| at_path(&staging, &error))?;
        Ok(Self(staging))
    }

    /// The empty store in it.
    ///
    /// # Errors
    /// A sentence that says why it cannot be opened.
    pub fn open(&self, flags: &Flags) -> Result<Storage, String> {
        let flags = Flags {
            data: Some(self.0.clone()),
            cache_bytes: flags.cache_bytes.min(FILL_CACHE_BYTES),
            ..flags.clone()
        };
        storage::open(&flags).map_err(|error| error.to_string())
    }

    /// Moves the finished store into its place. The records come last: without them a directory holds no store.
    ///
    /// # Errors
    /// A sentence that says what cannot be moved.
    pub fn publish(self, data: &Path) -> Result<(), String> {
        for name in ["blobs", "kv"] {
            let from = self.0.join(name);
            fs::rename(&from, data.join(name)).map_err(|error| at_path(&from, &error))?;
            sync(data).map_err(|error| at_path(data, &error))?;
        }
        Ok(())
    }
}

impl Drop for StagingDir {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn sync(directory: &Path) -> std::io::Result<()> {
    File::open(directory)?.sync_all()
}

fn at_path(path: &Path, error: &std::io::Error) -> String {
    format!("{}: {error}", path.display())
}
