//! The manifest of a backup: its files, with their lengths and checksums. It is written last, so what has one is whole.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::BackupError;

/// The name of the file.
pub(super) const FILE: &str = "manifest.json";
/// The only format so far.
const FORMAT: u32 = 1;
/// Bytes that are read at once.
const PIECE_BYTES: usize = 1024 * 1024;

/// A backup: its moment, and the files that it holds.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Manifest {
    format: u32,
    pub(super) service: String,
    pub(super) version: String,
    /// RFC 3339.
    pub(super) taken: String,
    /// Its folders: a store that has no body yet has empty ones, and is none without them.
    #[serde(default)]
    pub(super) folders: BTreeSet<PathBuf>,
    pub(super) files: Vec<ManifestFile>,
}

/// A file of a backup.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ManifestFile {
    /// Below the backup, as below the data directory.
    pub(super) path: PathBuf,
    pub(super) bytes: u64,
    pub(super) crc32c: u32,
}

impl Manifest {
    pub(super) fn new(service: &str, version: &str, taken: String) -> Self {
        let (service, version) = (service.to_owned(), version.to_owned());
        Self {
            format: FORMAT,
            service,
            version,
            taken,
            folders: BTreeSet::new(),
            files: Vec::new(),
        }
    }

    /// Reads the one of a backup.
    ///
    /// # Errors
    /// `NoBackup`, `Unusable`, `Damaged`.
    pub(super) fn read(backup: &Path) -> Result<Self, BackupError> {
        let path = backup.join(FILE);
        let text = match std::fs::read(&path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                return Err(BackupError::NoBackup { path: backup.display().to_string() });
            }
            read => read.map_err(BackupError::at(&path))?,
        };
        let damaged = |how| damaged(backup, Path::new(FILE), how);
        let manifest: Self =
            serde_json::from_slice(&text).map_err(|_| damaged("makes no sense"))?;
        if manifest.format != FORMAT {
            return Err(damaged("has a format that this version does not know"));
        }
        let is_within = |path: &PathBuf| {
            path.components().all(|part| matches!(part, std::path::Component::Normal(_)))
        };
        let mut paths = manifest.files.iter().map(|file| &file.path).chain(&manifest.folders);
        if !paths.all(is_within) {
            return Err(damaged("names a file outside of it"));
        }
        Ok(manifest)
    }

    /// The file of a path.
    pub(super) fn file(&self, path: &Path) -> Option<&ManifestFile> {
        self.files.iter().find(|file| file.path == path)
    }

    /// Reads every file of the backup, and compares it with what the manifest says.
    ///
    /// # Errors
    /// `Unusable`, `Damaged`: the first that differs.
    pub(super) fn verify(&self, backup: &Path) -> Result<(), BackupError> {
        self.files.iter().try_for_each(|file| {
            let path = backup.join(&file.path);
            match sum_of(&path) {
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                    Err(damaged(backup, &file.path, "is gone"))
                }
                Ok(sum) if sum == (file.bytes, file.crc32c) => Ok(()),
                Ok(_) => Err(damaged(backup, &file.path, "is not what was copied")),
                Err(error) => Err(BackupError::at(&path)(error)),
            }
        })
    }
}

pub(super) fn damaged(backup: &Path, file: &Path, how: &'static str) -> BackupError {
    BackupError::Damaged {
        path: backup.display().to_string(),
        file: file.display().to_string(),
        how,
    }
}

/// The length and the checksum of a file.
pub(super) fn sum_of(path: &Path) -> std::io::Result<(u64, u32)> {
    let mut file = File::open(path)?;
    let mut piece = vec![0; PIECE_BYTES];
    let (mut bytes, mut sum) = (0, 0);
    loop {
        let read = file.read(&mut piece)?;
        if read == 0 {
            return Ok((bytes, sum));
        }
        bytes += read as u64;
        sum = crc32c::crc32c_append(sum, piece.get(..read).unwrap_or_default());
    }
}
