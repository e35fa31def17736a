//! The meaning of a failed request to the writer or reader of a blob.

use crate::blobs::BlobError;

/// Bytes of an answer that an error repeats: stores answer with pages.
const TEXT_BYTES_MAX: usize = 400;

/// The meaning of an error of the store.
pub(super) fn fault(error: object_store::Error) -> BlobError {
    match error {
        object_store::Error::NotFound { .. } => BlobError::Absent,
        error => BlobError::Unavailable(sentence(&error)),
    }
}

/// The error with its causes in one line.
pub(super) fn sentence(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(inner) = cause {
        let said = inner.to_string();
        if !text.contains(&said) {
            text.push_str(": ");
            text.push_str(&said);
        }
        cause = inner.source();
    }
    let words: Vec<_> = text.split_whitespace().collect();
    let mut line = words.join(" ");
    if line.len() > TEXT_BYTES_MAX {
        let end = (0..=TEXT_BYTES_MAX).rev().find(|end| line.is_char_boundary(*end));
        line.truncate(end.unwrap_or_default());
        line.push('…');
    }
    line
}

impl BlobError {
    /// To a writer, an object that is not found is a bucket that is not there.
    pub(super) fn while_writing(self) -> Self {
        match self {
            Self::Absent => Self::Unavailable("there is no such bucket".to_owned()),
            error => error,
        }
    }
}
