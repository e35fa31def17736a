//! The state of a whole store as one thing: written out as text, read back, or made up from a number.
//!
//! | module | what |
//! |---|---|
//! | [`archive`] | the rows of a store as lines of an archive |
//! | [`dump`] | the list of all tables, and a row as a line of text |
//! | [`generate`] | channels with sections, videos, playlists, captions, favourites, subscriptions, comments and members that follow from a seed |
//!
//! Everything here blocks: it is for a thread of its own, and for stores that nobody else writes to.

pub mod archive;
mod catalogue;
mod discussion;
pub mod dump;
pub mod generate;
mod showcase;
mod vocabulary;

#[cfg(test)]
mod tests;

/// The reason why a state could not be made up.
#[derive(Debug, thiserror::Error)]
pub enum StateError {
    /// A thing that was made up breaks a rule of its own.
    #[error("what was generated was refused: {0}")]
    Rule(String),
    /// The records cannot be read or written.
    #[error(transparent)]
    Store(#[from] triptych_core::kv::StoreError),
}
