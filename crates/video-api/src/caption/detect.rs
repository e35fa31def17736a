//! Detection of a file's format by its content.

use super::error::Problem;
use super::lines::Lines;
use super::{Format, sbv, scc, srt};

/// The format that a file turned out to have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detected {
    /// Captions in a format that is read.
    Captions(Format),
    /// Text without any time codes.
    Transcript,
    /// Captions in a format that is not read, by its name.
    Unsupported(&'static str),
    /// Nothing that is known.
    Unknown,
}

/// Beginnings of files of other formats.
const UNSUPPORTED: [(&str, &str); 6] = [
    ("[Script Info]", "SubStation Alpha"),
    ("<SAMI", "SAMI"),
    ("[ti:", "LRC"),
    ("[ar:", "LRC"),
    ("[00:", "LRC"),
    ("*PART", "Cheetah"),
];

impl Detected {
    /// Looks at a decoded file. A line with an arrow between times makes SubRip of it, one with a comma between them SubViewer.
    #[must_use]
    pub fn of(text: &str) -> Self {
        let start = text.trim_start();
        let begins = |with: &str| {
            start.get(..with.len()).is_some_and(|head| head.eq_ignore_ascii_case(with))
        };
        if start.starts_with("WEBVTT") {
            return Self::Captions(Format::WebVtt);
        }
        if begins(scc::SIGNATURE) {
            return Self::Captions(Format::Scenarist);
        }
        if let Some((_, name)) = UNSUPPORTED.iter().find(|(with, _)| begins(with)) {
            return Self::Unsupported(name);
        }
        if start.get(3..).is_some_and(|rest| rest.starts_with("STL2") || rest.starts_with("STL3")) {
            return Self::Unsupported("EBU STL");
        }
        if start.starts_with('<') {
            match root(start) {
                Some("tt") => return Self::Captions(Format::Ttml),
                Some("sami" | "SAMI") => return Self::Unsupported("SAMI"),
                _ => {}
            }
        }
        if begins("[INFORMATION]") || begins("[SUBTITLE]") || begins("[TITLE]") {
            return Self::Captions(Format::SubViewer);
        }
        by_lines(start)
    }

    /// The format.
    ///
    /// # Errors
    /// [`Problem::UnsupportedFormat`], [`Problem::NoTimeCodes`] or [`Problem::UnknownFormat`] for what is no captions.
    pub const fn format(self) -> Result<Format, Problem> {
        match self {
            Self::Captions(format) => Ok(format),
            Self::Transcript => Err(Problem::NoTimeCodes),
            Self::Unsupported(name) => Err(Problem::UnsupportedFormat(name)),
            Self::Unknown => Err(Problem::UnknownFormat),
        }
    }
}

/// The local name of a document's first element.
fn root(text: &str) -> Option<&str> {
    let mut rest = text;
    loop {
        let inner = rest.trim_start().strip_prefix('<')?;
        rest = if let Some(comment) = inner.strip_prefix("!--") {
            comment.split_once("-->")?.1
        } else if inner.starts_with('?') {
            inner.split_once("?>")?.1
        } else if inner.starts_with('!') {
            // A document type is refused by the reader; here it is passed over, with what it defines.
            let end = inner.find(['[', '>'])?;
            let tail = inner.get(end..)?;
            if tail.starts_with('[') {
                tail.split_once("]>").or_else(|| tail.split_once(']'))?.1
            } else {
                tail.get(1..)?
            }
        } else {
            let name =
                inner.split(|c: char| c.is_ascii_whitespace() || matches!(c, '>' | '/')).next()?;
            return Some(name.rsplit(':').next().unwrap_or(name));
        };
    }
}

fn by_lines(text: &str) -> Detected {
    let mut has_text = false;
    let mut has_times = false;
    for (_, line) in Lines::of(text) {
        if srt::parse_time_line(line).is_some() {
            return Detected::Captions(Format::SubRip);
        }
        if sbv::parse_time_line(line).is_some() {
            return Detected::Captions(Format::SubViewer);
        }
        let line = line.trim_start();
        if !has_text && is_micro_dvd(line) {
            return Detected::Unsupported("MicroDVD");
        }
        has_times |= begins_with_clock(line);
        has_text |= !line.is_empty();
    }
    // Controls became replacement characters when the file was decoded; text has none.
    let is_text = has_text && !text.contains(char::REPLACEMENT_CHARACTER);
    if is_text && !has_times && !text.starts_with(['<', '{']) {
        Detected::Transcript
    } else {
        Detected::Unknown
    }
}

/// Tells whether a line begins with `{frame}{frame}`.
fn is_micro_dvd(line: &str) -> bool {
    let field = |text: &str| -> Option<usize> {
        let end = text.strip_prefix('{')?.find('}')?;
        let digits = text.get(1..=end)?;
        (!digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())).then_some(end + 2)
    };
    field(line).and_then(|end| field(line.get(end..)?)).is_some()
}

/// Tells whether a line begins with a time code such as `0:00:01`.
fn begins_with_clock(line: &str) -> bool {
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let hours = digits(line);
    let Some(rest) =
        line.get(hours..).filter(|_| hours > 0).and_then(|rest| rest.strip_prefix(':'))
    else {
        return false;
    };
    digits(rest) == 2 && rest.get(2..).is_some_and(|rest| rest.starts_with(':'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_format_is_known_by_its_content() {
        for (text, format) in [
            ("WEBVTT\n\n", Format::WebVtt),
            ("\n scenarist_scc v1.0\n", Format::Scenarist),
            ("<?xml version=\"1.0\"?>\n<!-- <x> -->\n<tt:tt xmlns:tt=\"x\">", Format::Ttml),
            ("<!DOCTYPE tt [<!ENTITY a \"b\">]><tt>", Format::Ttml),
            ("<tt/>", Format::Ttml),
            ("[INFORMATION]\n", Format::SubViewer),
            ("0:00:01.000,0:00:02.000\nx", Format::SubViewer),
            ("\n1\n00:00:01,000 --> 00:00:02,000\nx", Format::SubRip),
            ("1\n00:00:01,000 --> broken", Format::SubRip),
        ] {
            assert_eq!(Detected::of(text), Detected::Captions(format), "{text}");
        }
    }

    #[test]
    fn text_without_time_codes_is_a_transcript() {
        assert_eq!(
            Detected::of("Hello there.\n\nIt is 10:30, he said --> and left."),
            Detected::Transcript
        );
        assert_eq!(Detected::Transcript.format(), Err(Problem::NoTimeCodes));
    }

    #[test]
    fn other_formats_are_named_and_others_still_unknown() {
        for (text, name) in [
            ("[Script Info]\nTitle: x", "SubStation Alpha"),
            ("<SAMI><BODY>", "SAMI"),
            ("{0}{25}Hello", "MicroDVD"),
            ("[ti:song]\n[00:12.00]la", "LRC"),
            ("850STL25.01", "EBU STL"),
        ] {
            assert_eq!(Detected::of(text), Detected::Unsupported(name), "{text}");
        }
        for text in [
            "",
            " \n\n",
            "<html></html>",
            "{\"a\": 1}",
            "PK\u{fffd}\u{fffd}",
            "0:00:01 hello\n0:00:05 you",
            "<",
            "<!",
            "<?x",
        ] {
            assert_eq!(Detected::of(text), Detected::Unknown, "{text}");
        }
    }
}
