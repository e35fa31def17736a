//! Use of an uploaded file: captions of a format, text without times, or a reason why it can serve no player.

use serde::{Deserialize, Serialize};

use super::error::Problem;
use super::time::MediaTime;
use super::{Format, encoding, read, transcript};

/// The use of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FileForm {
    /// Captions that were read to their end.
    Captions(Format),
    /// Text without any time codes.
    Transcript,
    /// Nothing that is known.
    Unknown,
    /// Captions in a format that is not read.
    Unsupported,
    /// Captions that cannot be read to their end.
    Broken,
}

impl FileForm {
    /// Reads a file to its end.
    #[must_use]
    pub fn of(bytes: &[u8]) -> Self {
        match read(bytes) {
            Ok((format, _)) => Self::Captions(format),
            Err(error) => match error.problem {
                Problem::UnknownFormat => Self::Unknown,
                Problem::UnsupportedFormat(_) => Self::Unsupported,
                Problem::NoTimeCodes => {
                    let text = encoding::decode(bytes);
                    match transcript::spread(&text, MediaTime::ZERO) {
                        Ok(_) => Self::Transcript,
                        Err(_) => Self::Broken,
                    }
                }
                _ => Self::Broken,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_to_its_end_before_it_serves() {
        let bytes = |text: &str| text.as_bytes().to_vec();
        for (file, form) in [
            (bytes("WEBVTT\n\n00:01.000 --> 00:02.000\nx\n"), FileForm::Captions(Format::WebVtt)),
            (bytes("1\n00:00:01,000 --> 00:00:02,000\nx"), FileForm::Captions(Format::SubRip)),
            (bytes("What is said.\nAnd more."), FileForm::Transcript),
            (bytes("[Script Info]\nTitle: x"), FileForm::Unsupported),
            (vec![0, 1, 2, 255, 254, 7, 0, 0], FileForm::Unknown),
            (bytes("<tt xmlns=\"http://www.w3.org/ns/ttml\"><body>"), FileForm::Broken),
        ] {
            assert_eq!(FileForm::of(&file), form, "{}", String::from_utf8_lossy(&file));
        }
    }
}
