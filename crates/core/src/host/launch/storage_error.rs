//! Reasons for which the stores of a service cannot be opened.

#[cfg(feature = "sled")]
pub use super::identity::IdentityError;
#[cfg(feature = "sled")]
use crate::kv::OpenError;

/// Reasons for which the stores cannot be opened. Each says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StorageError {
    /// The directory cannot be made or read.
    #[error(
        "the data directory {path} cannot be used: {reason}. Choose another with --data, or --memory to keep nothing"
    )]
    Directory {
        /// Its path.
        path: String,
        /// The cause.
        reason: String,
    },
    /// A secret of the directory is not whole.
    #[error(
        "{path} is cut off after {digits} of its digits: put it back from a backup, or remove it and another is drawn at the next start"
    )]
    SecretCutOff {
        /// Its path.
        path: String,
        /// The digits that are left.
        digits: usize,
    },
    /// The directory is another service's.
    #[error(
        "the data directory {path} is one of {of}, and was not changed: run {of} on it, or name another directory for {service} with --data"
    )]
    OtherService {
        /// Its path.
        path: String,
        /// The service that it is of.
        of: String,
        /// The service that was to open it.
        service: &'static str,
    },
    /// The mark of the directory is none that this version writes.
    #[error(
        "the file {path}/service is no mark that this version knows, and nothing was changed: start the version that wrote it, or put the file back from a backup"
    )]
    UnknownMark {
        /// Its path.
        path: String,
    },
    /// A directory of an older release has records that are not this service's.
    #[error(
        "the data directory {path} has no mark of its service, and not all of its records are of {service}; it was not marked: run the service that made it, or name another directory with --data. If it is one of {service} all the same, write the line \"{service} 1\" to {path}/service"
    )]
    NoMark {
        /// Its path.
        path: String,
        /// The service that was to open it.
        service: &'static str,
    },
    /// There is no store to read.
    #[error(
        "{path} holds no data: it keeps no store, and none was made. Name the directory of one with --data"
    )]
    NoStore {
        /// Its path.
        path: String,
    },
    /// The directory is being filled, or that was interrupted.
    #[error(
        "the data directory {path} is being filled, and is not whole: where that was interrupted, run the same command again (an import goes on where it was), or remove {path}/.filling to give it up"
    )]
    Unfinished {
        /// Its path.
        path: String,
    },
    /// Records and bodies do not belong together.
    #[cfg(feature = "sled")]
    #[error(transparent)]
    Identity(#[from] IdentityError),
    /// The key-value store cannot be opened.
    #[cfg(feature = "sled")]
    #[error(transparent)]
    KeyValue(#[from] OpenError),
    /// Bodies without a place for their records.
    #[error("--blobs keeps bodies and --memory no records of them: give --data too")]
    BodiesAlone,
    /// The store of the bodies cannot be used.
    #[cfg(feature = "object-store")]
    #[error(transparent)]
    Bodies(#[from] crate::blobs::remote::LocationError),
    /// This build knows no object store.
    #[error(
        "this build keeps bodies in directories alone: build with the feature object-store, or give a directory to --blobs"
    )]
    NoObjectStore,
    /// The store on another machine is not reached, or must not be used.
    #[error("{0}")]
    Shared(String),
    /// This build has no engine for other machines.
    #[error(
        "--store needs an engine that is not built in: build with the feature postgres or etcd"
    )]
    NoSharedEngine,
    /// Records that stay without a place for their bodies.
    #[error(
        "records on a shared store need bodies that stay: give --blobs or --data, not --memory"
    )]
    BodiesInMemory,
    /// A store that others may use is filled by an import alone.
    #[error(
        "a store that instances share is filled by import alone: leave --store out to fill a data directory"
    )]
    SharedFill,
    /// An import fills the store, or that was interrupted.
    #[error(
        "the store {0} is being filled by an import, and is not whole: where that was interrupted, run the same command again, or drop the schema to give it up"
    )]
    Filling(String),
    /// The store that is to be filled has records.
    #[error(
        "the store {0} is not empty, and nothing is ever written over data: name another with --store or --store-schema"
    )]
    NotEmpty(String),
    /// The import that is to go on was given up, or ended.
    #[error(
        "the store {0} holds nothing of the import that is to go on: remove {1} to begin it anew"
    )]
    NothingToGoOnWith(String, String),
    /// This build has no engine for the disk.
    #[error("this build keeps no data on disk: use --memory, or build with the feature sled")]
    NoEngine,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operators_page_has_the_words_of_every_refusal_of_a_directory() {
        let page = include_str!("../../../../../docs/running.md");
        let path = || "PATH".to_owned();
        for refusal in [
            StorageError::Directory { path: path(), reason: "REASON".into() },
            StorageError::SecretCutOff { path: "FILE".into(), digits: 7 },
            StorageError::OtherService { path: path(), of: "OTHER".into(), service: "SERVICE" },
            StorageError::UnknownMark { path: path() },
            StorageError::NoMark { path: path(), service: "SERVICE" },
            StorageError::NoStore { path: path() },
            StorageError::Unfinished { path: path() },
            StorageError::BodiesAlone,
            StorageError::NoObjectStore,
        ] {
            assert!(page.contains(&format!("| {refusal} |")), "{refusal}");
        }
    }
}
