//! Copies of a data directory: taken while it is served, each of one moment, with a manifest of checksums; and the way back.
//!
//! A directory of backups has one folder for each, named by its time. What never changes again (bases, full packs, large bodies) is a hard link
//! to the file that is served, where the file system has them; what the backup before has already is a link to that. See docs/running.md.

mod manifest;
mod restore;
mod take;

pub(super) use self::restore::Found;
pub(super) use self::take::Source;

/// The directory within a data directory that holds the copy of an export: the service can write there, and what never changes again is linked.
pub(super) const EXPORTING: &str = ".exporting";

/// The words by which the answer of a service that serves other data is known.
pub(super) const SERVES_OTHER_DATA: &str = "this service serves another data directory";

/// Reasons for which a backup is not taken, not restored, or not whole.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum BackupError {
    /// There is nothing on disk.
    #[error(
        "there are no records in a data directory to copy or check: start with --data, or back up the database of --store with its own tools"
    )]
    InMemory,
    /// A copy of the data directory would have records without their bodies.
    #[error(
        "the bodies are in {0}, not below the data directory, and a backup copies that alone: keep copies of both with the tools of that store (versions, replication, snapshots), or write everything to a file with the sub-command export where there is one"
    )]
    BodiesElsewhere(String),
    /// It would lie in what it is a copy of.
    #[error(
        "{path} is in the data directory: name a directory of backups beside it, on another disk if there is one"
    )]
    WithinData {
        /// Its path.
        path: String,
    },
    /// A file cannot be read or written.
    #[error("{path} cannot be used: {reason}")]
    Unusable {
        /// Its path.
        path: String,
        /// The cause.
        reason: String,
    },
    /// The service that was asked serves other data than those that are to be copied.
    #[error("{SERVES_OTHER_DATA} than the one that is to be copied: it serves {0}")]
    OtherStore(String),
    /// The directory holds no backup.
    #[error("{path} holds no backup: name a directory that backups were taken to, or one of them")]
    NoBackup {
        /// Its path.
        path: String,
    },
    /// A file is not what was copied.
    #[error("the backup {path} is damaged: {file} {how}")]
    Damaged {
        /// Its path.
        path: String,
        /// The file in it.
        file: String,
        /// The fault that was found.
        how: &'static str,
    },
    /// It is the backup of another service.
    #[error("the backup {path} is one of {of}")]
    OtherService {
        /// Its path.
        path: String,
        /// The service.
        of: String,
    },
    /// A restore never writes over data.
    #[error(
        "{path} is not empty, and nothing is ever written over data: name another directory with --data"
    )]
    NotEmpty {
        /// Its path.
        path: String,
    },
    /// The moment is not one that the backup reaches.
    #[error("the backup does not reach back to that moment: {0}")]
    Moment(String),
}

impl BackupError {
    fn at(path: &std::path::Path) -> impl Fn(std::io::Error) -> Self {
        let path = path.display().to_string();
        move |error| Self::Unusable { path: path.clone(), reason: error.to_string() }
    }
}

#[cfg(test)]
mod tests;
