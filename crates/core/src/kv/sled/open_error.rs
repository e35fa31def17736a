//! Refusals of a start, in the words that the service prints (docs/running.md).

/// Reasons for which a directory cannot be opened as a store.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The directory cannot be made, read or written.
    #[error("the store's directory {path} cannot be used: {reason}")]
    Directory {
        /// Its path.
        path: String,
        /// The cause.
        reason: String,
    },
    /// Another process has it open.
    #[error(
        "the store in {path} is in use by another process: stop that one, or give this one a directory of its own"
    )]
    Locked {
        /// Its path.
        path: String,
    },
    /// The disk does not give its files back.
    #[error(
        "the store in {path} was not opened and was not changed: {file} cannot be read: {reason}. Mend the disk, or copy the data directory to another one, then start again"
    )]
    Unreadable {
        /// Its path.
        path: String,
        /// The file.
        file: String,
        /// The cause.
        reason: String,
    },
    /// It holds values that were never synced, so it was not written by this program.
    #[error(
        "the store in {path} has files in {path}/blobs, which this program never writes: it is not its store, or was changed by other software. Restore a backup, or choose an empty directory"
    )]
    Foreign {
        /// Its path.
        path: String,
    },
    /// A later version of this program wrote it.
    #[error(
        "the store in {path} has the format {format}, which this version does not know, and was not changed: start the version that wrote it"
    )]
    Later {
        /// Its path.
        path: String,
        /// The format, as its mark has it.
        format: String,
    },
    /// Its files are damaged.
    #[error(
        "the store in {path} is damaged and was not changed: {reason}. Restore records and bodies from one backup, or move the whole data directory away, its bodies with it, and import an export"
    )]
    Corrupt {
        /// Its path.
        path: String,
        /// The damage that was found.
        reason: String,
    },
}
