//! The reason why a request to a session is refused.

use triptych_core::error::{Coded, Row};
use triptych_core::kv::StoreError;

use crate::upload::PIECE_BYTES_MULTIPLE;

/// A refusal of a request to a session. In the order of the checks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SessionError {
    /// There is no such session, or its week is over. The client has to start again.
    #[error("there is no upload session with this id; it may have expired")]
    Absent,
    /// The `Content-Range` header is none.
    #[error("Content-Range is not of the form `bytes FIRST-LAST/TOTAL` or `bytes */TOTAL`")]
    ContentRange,
    /// `X-Upload-Content-Length` is no number.
    #[error("X-Upload-Content-Length is not a number of bytes")]
    DeclaredLength,
    /// The total differs from the one that was said before.
    #[error(
        "the upload was {before} bytes long in an earlier request and is {now} bytes long in this one"
    )]
    TotalChanged {
        /// As it was said before.
        before: u64,
        /// As this request says.
        now: u64,
    },
    /// Longer than the operation takes.
    #[error("the upload is longer than the {bytes_max} bytes that this operation takes")]
    TooLarge {
        /// The operation's limit.
        bytes_max: u64,
    },
    /// The body is not as long as its range says.
    #[error("a body of {range} bytes was announced, and {body} came")]
    LengthMismatch {
        /// Length that the range says.
        range: u64,
        /// Length of the body.
        body: u64,
    },
    /// A piece that is not the last has a length that is no multiple of 256 KiB.
    #[error(
        "a piece that is not the last must be a multiple of {PIECE_BYTES_MULTIPLE} bytes long, and this one has {bytes}"
    )]
    NotAMultiple {
        /// Its length.
        bytes: u64,
    },
    /// `X-Goog-Upload-Command` is none.
    #[error(
        "X-Goog-Upload-Command is none of query, upload, `upload, finalize`, finalize and cancel"
    )]
    Command,
    /// `X-Goog-Upload-Offset` is missing or no number.
    #[error("X-Goog-Upload-Offset is not the number of bytes that were sent before")]
    Offset,
    /// The bytes do not follow those that have arrived. Nothing of them is kept.
    #[error("bytes from {offset} on were sent, and {received} have arrived")]
    OffsetMismatch {
        /// As the request says.
        offset: u64,
        /// Number of bytes on disk.
        received: u64,
    },
    /// A piece that is not the last says nothing of its length.
    #[error("a piece that is not the last needs Content-Length")]
    LengthNeeded,
    /// The store failed.
    #[error("the upload could not be recorded")]
    Store(#[from] StoreError),
}

impl Coded for SessionError {
    fn row(&self) -> Row {
        match self {
            Self::Absent => Row::of(404, "notFound"),
            Self::ContentRange
            | Self::DeclaredLength
            | Self::Command
            | Self::Offset
            | Self::LengthNeeded => Row::of(400, "invalidHeader"),
            Self::TotalChanged { .. }
            | Self::LengthMismatch { .. }
            | Self::NotAMultiple { .. }
            | Self::OffsetMismatch { .. } => Row::of(400, "badContent"),
            Self::TooLarge { .. } => Row::of(413, "uploadTooLarge"),
            Self::Store(_) => Row::of(503, "backendError"),
        }
    }
}
