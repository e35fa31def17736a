//! Captions: five formats, read into one model of cues and written from it.
//!
//! | format | holds, beside times and lines |
//! |---|---|
//! | SubRip | italics, bold, underline, colours, the third of the picture, numbers |
//! | WebVTT | all but colours beyond its eight classes; it alone holds voices, ruby, classes (those of backgrounds among them), times within a cue, comments and style sheets |
//! | SubViewer | nothing |
//! | TTML | italics, bold, underline, colours, languages of text, places, vertical text, XML names as identifiers, the title, times to the nanosecond |
//! | Scenarist | italics, underline and seven colours a word, places on a grid of 15 rows and 32 columns, the characters of CEA-608 |
//!
//! A conversion keeps what source and target both hold by this table. The texts of what goes stay: those of ruby stand behind their base. A span of
//! TTML with times of its own is a cue of its own, and what is not shown is none; its backgrounds, sizes, fonts and animations are not read. Lines of blanks alone end a cue in the first three formats,
//! so they are left out there. Cues are written by their start; those that overlap, or have no length, are written as they are.
//!
//! Memory and time grow with the file alone: see [`limits`]. Nothing here reads a clock, a file or a network.

pub mod colour;
pub mod cue;
pub mod detect;
pub mod encoding;
pub mod error;
pub mod form;
pub mod layout;
pub mod limits;
mod lines;
pub mod sbv;
pub mod scc;
pub mod srt;
pub mod text;
pub mod time;
pub mod transcript;
pub mod translation;
pub mod ttml;
pub mod vtt;

pub use cue::{Cue, Track};
pub use detect::Detected;
pub use error::{Error, Problem};
pub use form::FileForm;
pub use time::MediaTime;

/// A format of caption files.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "camelCase")]
pub enum Format {
    /// SubRip.
    SubRip,
    /// WebVTT.
    WebVtt,
    /// SubViewer.
    SubViewer,
    /// Timed Text Markup Language.
    Ttml,
    /// Scenarist closed captions.
    Scenarist,
}

impl Format {
    /// All formats.
    pub const ALL: [Self; 5] =
        [Self::SubRip, Self::WebVtt, Self::SubViewer, Self::Ttml, Self::Scenarist];

    /// The name that `tfmt` takes, which is the extension of its files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::SubRip => "srt",
            Self::WebVtt => "vtt",
            Self::SubViewer => "sbv",
            Self::Ttml => "ttml",
            Self::Scenarist => "scc",
        }
    }

    /// The format of that name, in any letter case.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|format| format.name().eq_ignore_ascii_case(name))
    }

    /// The media type of its files.
    #[must_use]
    pub const fn media_type(self) -> &'static str {
        match self {
            Self::SubRip => "application/x-subrip; charset=utf-8",
            Self::WebVtt => "text/vtt; charset=utf-8",
            Self::SubViewer | Self::Scenarist => "text/plain; charset=utf-8",
            Self::Ttml => "application/ttml+xml; charset=utf-8",
        }
    }

    /// Reads a decoded file of this format.
    ///
    /// # Errors
    /// The line and the reason of what cannot be read.
    pub fn read(self, text: &str) -> Result<Track, Error> {
        match self {
            Self::SubRip => srt::read(text),
            Self::WebVtt => vtt::read(text),
            Self::SubViewer => sbv::read(text),
            Self::Ttml => ttml::read(text),
            Self::Scenarist => scc::read(text),
        }
    }

    /// Writes a track in this format, in UTF-8.
    #[must_use]
    pub fn write(self, track: &Track) -> String {
        match self {
            // An empty file would be one of no format: a cue without text and length shows nothing either.
            Self::SubRip | Self::SubViewer if track.cues.is_empty() => {
                let nothing = Cue::new(MediaTime::ZERO, MediaTime::ZERO, text::Text::default());
                self.write(&Track::of_cues(vec![nothing]))
            }
            Self::SubRip => srt::write(track),
            Self::WebVtt => vtt::write(track),
            Self::SubViewer => sbv::write(track),
            Self::Ttml => ttml::write(track),
            Self::Scenarist => scc::write(track),
        }
    }
}

/// Reads a file in whichever format and encoding it is.
///
/// # Errors
/// The line and the reason of what cannot be read; a transcript is [`Problem::NoTimeCodes`].
pub fn read(bytes: &[u8]) -> Result<(Format, Track), Error> {
    if bytes.len() > limits::BYTES_MAX {
        return Err(Error::at(1, Problem::TooLong));
    }
    let text = encoding::decode(bytes);
    let format = Detected::of(&text).format().map_err(|problem| Error::at(1, problem))?;
    // A signature is at the very start, which blank lines before it would hide.
    Ok((format, format.read(if format == Format::WebVtt { text.trim_start() } else { &text })?))
}

/// Converts a file into a format. One that is in that format already is written anew.
///
/// # Errors
/// As [`read`].
pub fn convert(bytes: &[u8], to: Format) -> Result<String, Error> {
    read(bytes).map(|(_, track)| to.write(&track))
}

#[cfg(test)]
mod tests;
