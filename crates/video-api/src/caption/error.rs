//! Reasons why a caption file cannot be read, each with its place.

use super::limits;

/// A refusal of a file: the line that it fails at, counted from 1, and the reason.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct Error {
    /// The line, counted from 1.
    pub line: usize,
    /// The reason.
    pub problem: Problem,
}

impl Error {
    /// A problem at a line.
    pub(super) const fn at(line: usize, problem: Problem) -> Self {
        Self { line, problem }
    }
}

/// A reason why a file cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Longer than [`limits::BYTES_MAX`].
    #[error("the file has more than {} bytes", limits::BYTES_MAX)]
    TooLong,
    /// None of the formats.
    #[error("the file is in none of the formats SubRip, WebVTT, SubViewer, TTML and Scenarist")]
    UnknownFormat,
    /// A known format that is not read.
    #[error("the file is in the format {0}, which is not supported")]
    UnsupportedFormat(&'static str),
    /// Text without time codes, where time codes are needed.
    #[error("the file is a transcript without time codes")]
    NoTimeCodes,
    /// A first line that does not open this format.
    #[error("the file does not begin with {0}")]
    Signature(&'static str),
    /// A time code that is none.
    #[error("the time code `{0}` cannot be read")]
    Time(String),
    /// Text before the first time code.
    #[error("text stands before the first time code")]
    TextBeforeCue,
    /// A word of a Scenarist file that is no pair of bytes.
    #[error("`{0}` is no pair of bytes in four hexadecimal digits")]
    Word(String),
    /// XML that is not well-formed.
    #[error("the XML is not well-formed: {0}")]
    Xml(String),
    /// A document type declaration.
    #[error("a document type declaration is refused")]
    DocumentType,
    /// An entity that XML itself does not define.
    #[error("the entity `{0}` is not defined")]
    Entity(String),
    /// A root that is not `tt`.
    #[error("the root of the document is not `tt`")]
    Root,
    /// A rate that is no number, or nought.
    #[error("`{0}` is no frame or tick rate")]
    Rate(String),
    /// XML deeper than [`limits::ELEMENT_DEPTH_MAX`].
    #[error("more than {} elements are nested in each other", limits::ELEMENT_DEPTH_MAX)]
    TooDeep,
    /// More cues than [`limits::CUES_MAX`].
    #[error("the file has more than {} cues", limits::CUES_MAX)]
    TooManyCues,
    /// A cue longer than [`limits::CUE_BYTES_MAX`].
    #[error("a cue has more than {} bytes of text", limits::CUE_BYTES_MAX)]
    CueTooLong,
    /// More text than [`limits::TEXT_BYTES_MAX`], or more tags than [`limits::MARKS_MAX`].
    #[error("the cues have too much text or too many tags in all")]
    TooMuchText,
    /// More styles, regions or comments than there may be.
    #[error("the file has too many styles, regions or comments")]
    TooManyDefinitions,
}
