//! The state of a whole store as one thing: written out as text, read back, or made up from a number.
//!
//! | module | what |
//! |---|---|
//! | [`dump`] | the list of all tables, and a row as a line of text |
//! | [`export`] | a store as lines |
//! | [`import`] | lines as a store |
//! | [`generate`] | channels with sections, videos, playlists, captions, favourites, subscriptions, comments and members that follow from a seed |
//!
//! Everything here blocks: it is for a thread of its own, and for stores that nobody else writes to.

mod catalogue;
mod discussion;
pub mod dump;
pub mod export;
pub mod generate;
pub mod import;
mod showcase;
mod vocabulary;

#[cfg(test)]
mod tests;

/// The reason why a state could not be written or read.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// The text cannot be read or written.
    #[error("the file cannot be used")]
    Text(#[from] std::io::Error),
    /// The text is no export, or not a whole one.
    #[error("line {line}: {reason}")]
    Refused {
        /// The line, counted from 1.
        line: u64,
        /// The reason.
        reason: String,
    },
    /// A thing that was made up breaks a rule of its own.
    #[error("what was generated was refused: {0}")]
    Rule(String),
    /// The records cannot be read or written.
    #[error(transparent)]
    Store(#[from] triptych_core::kv::StoreError),
    /// The bodies cannot be read or written.
    #[error(transparent)]
    Blob(#[from] triptych_core::blobs::BlobError),
}

impl From<crate::upload::media::MediaError> for StateError {
    fn from(error: crate::upload::media::MediaError) -> Self {
        match error {
            crate::upload::media::MediaError::Store(error) => error.into(),
            crate::upload::media::MediaError::Blob(error) => error.into(),
        }
    }
}
