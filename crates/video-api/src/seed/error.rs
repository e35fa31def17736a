//! Faults of seed files.

use triptych_core::kv::StoreError;

/// A fault of a seed file. The text says where in the file.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SeedError {
    /// It is no JSON, or holds what no seed file holds.
    #[error("{0}")]
    Unreadable(String),
    /// A resource breaks a rule of its own.
    #[error("{place}: {reason}")]
    Refused {
        /// The resource.
        place: String,
        /// The reason.
        reason: String,
    },
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}
