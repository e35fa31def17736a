//! A copy of a data directory that a service serves, made a store of its own for as long as it is read.

use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};

use super::super::flags::Flags;
use super::super::healthcheck;
use super::at_path;
use crate::disk::{Disk as _, DiskLock, SystemDisk};
use crate::host::backup::{EXPORTING, Found};

/// The file in it that says that somebody exports.
const LOCK: &str = "lock";
/// The most memory that the store of the copy takes for its cache, beside the service: each row is read once.
const CACHE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The copy. It is removed when this is dropped; what a killed run left of one is removed by the next.
pub(super) struct ServedCopy {
    path: PathBuf,
    _lock: DiskLock,
}

impl ServedCopy {
    /// Has the service that serves `data` take a backup, of one moment, and makes that a store.
    ///
    /// # Errors
    /// A sentence: no service is reached, it cannot take a backup, or there is no room for the copy.
    pub(super) fn take(flags: &Flags, data: &Path, service: &str) -> Result<Self, String> {
        let data = std::path::absolute(data).map_err(|error| at_path(data, &error))?;
        let path = data.join(EXPORTING);
        SystemDisk.make_directory(&path).map_err(|error| at_path(&path, &error))?;
        let lock = SystemDisk.lock(&path.join(LOCK)).map_err(|error| at_path(&path, &error))?;
        let lock =
            lock.ok_or_else(|| format!("{} is being exported by another process", data.display()))?;
        let copy = Self { path, _lock: lock };
        let (taken, store) = (copy.backup(), copy.store());
        for left in [&taken, &store] {
            if left.exists() {
                fs::remove_dir_all(left).map_err(|error| at_path(left, &error))?;
            }
        }
        let _ = writeln!(
            std::io::stderr(),
            "{} is served: its service is asked for a copy of this moment",
            data.display()
        );
        healthcheck::backup(flags, &data, &taken)
            .map_err(|reason| format!("{} is served, and not copied: {reason}", data.display()))?;
        let found = Found::verified(&taken, service).map_err(|error| error.to_string())?;
        found.copy_to(&store, None).map_err(|error| error.to_string())?;
        fs::remove_dir_all(&taken).map_err(|error| at_path(&taken, &error))?;
        Ok(copy)
    }

    fn backup(&self) -> PathBuf {
        self.path.join("backup")
    }

    fn store(&self) -> PathBuf {
        self.path.join("store")
    }

    /// The flags by which its store is opened.
    pub(super) fn flags(&self, flags: &Flags) -> Flags {
        Flags {
            data: Some(self.store()),
            cache_bytes: flags.cache_bytes.min(CACHE_BYTES_MAX),
            ..flags.clone()
        }
    }
}

impl Drop for ServedCopy {
    fn drop(&mut self) {
        // The lock last: who takes it next finds nothing that is still being removed.
        for left in [self.backup(), self.store()] {
            let _ = fs::remove_dir_all(left);
        }
        let _ = fs::remove_file(self.path.join(LOCK));
        let _ = fs::remove_dir(&self.path);
    }
}
