//! A data directory made of a backup.

use std::path::{Path, PathBuf};

use super::BackupError;
use super::manifest::{FILE, Manifest, damaged};
use super::take::{newest, sync_directory};
use crate::disk::{Disk as _, SystemDisk, copy_privately, make_private_directories};
use crate::kv::cut_log;
use crate::time::Timestamp;

/// A backup that was found, whose files are what was copied.
pub(in crate::host) struct Found {
    pub(in crate::host) path: PathBuf,
    manifest: Manifest,
}

impl Found {
    /// The backup in `from`, or the newest in it, every file of it read and compared.
    ///
    /// # Errors
    /// `NoBackup`, `Damaged`, `OtherService`, `Unusable`.
    pub(in crate::host) fn verified(from: &Path, service: &str) -> Result<Self, BackupError> {
        let path = match Manifest::read(from) {
            Err(BackupError::NoBackup { path }) => {
                newest(from)?.ok_or(BackupError::NoBackup { path })?
            }
            read => read.map(|_| from.to_owned())?,
        };
        let manifest = Manifest::read(&path).map_err(|error| match error {
            BackupError::NoBackup { .. } => damaged(&path, Path::new(FILE), "is gone"),
            error => error,
        })?;
        if manifest.service != service {
            let (path, of) = (path.display().to_string(), manifest.service);
            return Err(BackupError::OtherService { path, of });
        }
        manifest.verify(&path)?;
        Ok(Self { path, manifest })
    }

    pub(in crate::host) fn described(&self) -> String {
        let bytes: u64 = self.manifest.files.iter().map(|file| file.bytes).sum();
        let (files, taken) = (self.manifest.files.len(), &self.manifest.taken);
        format!("{files} files of {bytes} bytes, taken {taken}, are as they were copied")
    }

    /// Copies it into a directory in which nothing is served before all is there, and cuts its journal off after a moment, if one is given.
    ///
    /// # Errors
    /// `Moment`, `Unusable`.
    pub(in crate::host) fn copy_to(
        &self,
        data: &Path,
        at: Option<Timestamp>,
    ) -> Result<(), BackupError> {
        SystemDisk.make_directory(data).map_err(BackupError::at(data))?;
        for folder in &self.manifest.folders {
            let folder = data.join(folder);
            make_private_directories(&folder).map_err(BackupError::at(&folder))?;
        }
        for file in &self.manifest.files {
            self.copy(&file.path, data)?;
        }
        if let Some(at) = at {
            let millis = u64::try_from(at.millis()).unwrap_or(0);
            cut_log(&data.join("kv"), millis).map_err(BackupError::Moment)?;
        }
        let parents = self.manifest.files.iter().filter_map(|file| file.path.parent());
        let folders = parents.chain(self.manifest.folders.iter().map(PathBuf::as_path));
        let mut folders: Vec<_> = folders.flat_map(Path::ancestors).collect();
        folders.sort_unstable();
        folders.dedup();
        folders.into_iter().try_for_each(|folder| sync_directory(&data.join(folder)))
    }

    /// A copy and never a link: what is restored is written to.
    fn copy(&self, path: &Path, data: &Path) -> Result<(), BackupError> {
        let to = data.join(path);
        if let Some(folder) = to.parent() {
            make_private_directories(folder).map_err(BackupError::at(&to))?;
        }
        copy_privately(&self.path.join(path), &to).map_err(|(at, error)| BackupError::at(at)(error))
    }
}
