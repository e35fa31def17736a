//! Answers that are files: where the bytes are, and what is to be made of them.

use crate::caption::{Format, MediaTime};
use crate::upload::media::Content;

/// A file in the place of JSON.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Download {
    /// The bytes as they came.
    pub content: Content,
    /// Their number.
    pub bytes: u64,
    /// The version of what is sent.
    pub etag: String,
    /// The media type of what is sent.
    pub media_type: &'static str,
    /// The conversion of them; none if they are sent as they came.
    pub conversion: Option<Conversion>,
}

/// Captions that are made of others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Conversion {
    /// The format.
    pub to: Format,
    /// The length of the video, where times are those of the service.
    pub sync: Option<MediaTime>,
    /// The language of the track, for a file that names none.
    pub language: String,
    /// The languages, where it is another one than that of the bytes.
    pub translation: Option<Translation>,
}

/// A translation, by the tags of languages.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Translation {
    /// The language of what there is.
    pub from: String,
    /// The language that is asked for.
    pub to: String,
}
