//! SubViewer: the plain form with a comma between the times (`.sbv`), and on reading also SubViewer 2 with its header and `[br]`.
//!
//! It holds times and lines, and neither styles nor places.

use super::cue::{Cue, Track};
use super::error::{Error, Problem};
use super::lines::{self, Lines, is_blank};
use super::text::Text;
use super::time::MediaTime;

/// Reads a file.
///
/// # Errors
/// A time line that cannot be read, text before the first one, and more than a track takes.
pub fn read(text: &str) -> Result<Track, Error> {
    let is_second = text.trim_start().starts_with('[');
    let mut track = Track::default();
    let mut open: Option<(usize, MediaTime, MediaTime)> = None;
    let mut raw = String::new();
    let mut after_blank = true;
    let mut last = 1;
    for (number, line) in Lines::of(text) {
        last = number;
        match Some(line).filter(|_| after_blank).and_then(parse_time_line) {
            Some(times) => {
                let (start, end) = times.map_err(|problem| Error::at(number, problem))?;
                close(&mut track, open.replace((number, start, end)), &mut raw, is_second)?;
            }
            None if open.is_some() => {
                raw.push_str(line);
                raw.push('\n');
            }
            None if is_blank(line) => {}
            None if is_second => header(&mut track, line),
            None => return Err(Error::at(number, Problem::TextBeforeCue)),
        }
        after_blank = is_blank(line) || (is_second && open.is_none());
    }
    if open.is_none() {
        return Err(Error::at(last, Problem::NoTimeCodes));
    }
    close(&mut track, open, &mut raw, is_second)?;
    Ok(track)
}

fn close(
    track: &mut Track,
    open: Option<(usize, MediaTime, MediaTime)>,
    raw: &mut String,
    is_second: bool,
) -> Result<(), Error> {
    let Some((line, start, end)) = open else { return Ok(()) };
    let text = lines::trim_blank(raw);
    let text = if is_second { text.replace("[br]", "\n") } else { text.to_owned() };
    raw.clear();
    track.push(Cue::new(start, end, Text::plain(text))).map_err(|problem| Error::at(line, problem))
}

/// Takes the title out of a line of a SubViewer 2 header; the others say nothing that a track holds.
fn header(track: &mut Track, line: &str) {
    if let Some(title) = line.trim().strip_prefix("[TITLE]").map(str::trim) {
        track.title = Some(title.to_owned()).filter(|title| !title.is_empty());
    }
}

/// Reads `start,end` of a line that holds digits, dots, colons and one comma alone.
pub(super) fn parse_time_line(line: &str) -> Option<Result<(MediaTime, MediaTime), Problem>> {
    let line = line.trim();
    if !line.bytes().next().is_some_and(|byte| matches!(byte, b'0'..=b'9' | b':' | b'.')) {
        return None;
    }
    let (start, end) =
        line.split_once(',').map(|(start, end)| (start.trim_end(), end.trim_start()))?;
    let is_clock = |text: &str| {
        text.contains(':') && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b':' | b'.'))
    };
    if !is_clock(start) || !is_clock(end) {
        return None;
    }
    let time = |text: &str| {
        let shown = || Problem::Time(text.chars().take(40).collect());
        MediaTime::parse_clock(text).ok_or_else(shown)
    };
    Some(time(start).and_then(|start| Ok((start, time(end)?))))
}

/// Writes a track in the plain form.
#[must_use]
pub fn write(track: &Track) -> String {
    let mut out = String::with_capacity(track.cues.len() * 80);
    for (_, cue) in track.in_order() {
        cue.start.write_clock(&mut out, 1, '.');
        out.push(',');
        cue.end.write_clock(&mut out, 1, '.');
        out.push('\n');
        let text = cue.text.without_blank_lines();
        if !text.is_empty() {
            out.push_str(text.as_str());
            out.push('\n');
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_and_written_as_it_was() {
        let file = "0:00:01.000,0:00:02.500\nHello\n0:00:09.000,0:00:10.000\n\n123:00:00.000,123:00:00.000\n\n";
        let track = read(file).unwrap();
        assert_eq!(track.cues.len(), 2);
        assert_eq!(track.cues[0].text.as_str(), "Hello\n0:00:09.000,0:00:10.000");
        assert_eq!(write(&track), file);
    }

    #[test]
    fn the_second_form_is_read_with_its_header_and_breaks() {
        let file = "[INFORMATION]\r\n[TITLE]A title\r\n[AUTHOR]\r\n[END INFORMATION]\r\n[SUBTITLE]\r\n\
                    [COLF]&HFFFFFF,[STYLE]bd,[SIZE]18,[FONT]Arial\r\n00:00:01.50,00:00:02.75\r\na[br]b\r\n\r\n\
                    00:00:03.00,00:00:04.00\r\nc";
        let track = read(file).unwrap();
        assert_eq!(track.title.as_deref(), Some("A title"));
        assert_eq!(track.cues[0].text.as_str(), "a\nb");
        assert_eq!(track.cues[0].start.millis(), 1_500);
        assert_eq!(track.cues[1].text.as_str(), "c");
    }

    #[test]
    fn a_fault_is_named_with_its_line() {
        let error = |text: &str| read(text).unwrap_err().to_string();
        assert_eq!(
            error("0:00:01.000,0:99:02.500\nx"),
            "line 1: the time code `0:99:02.500` cannot be read"
        );
        assert_eq!(error("\nx\n"), "line 2: text stands before the first time code");
        assert_eq!(error("\n"), "line 1: the file is a transcript without time codes");
    }

    #[test]
    fn blanks_may_stand_beside_the_comma() {
        let track = read("0:00:01.000, 0:00:02.500\na\n\n 0:00:03.000 ,\t0:00:04.000 \nb").unwrap();
        let times: Vec<_> =
            track.cues.iter().map(|cue| (cue.start.millis(), cue.end.millis())).collect();
        assert_eq!(times, [(1_000, 2_500), (3_000, 4_000)]);
    }

    #[test]
    fn tags_are_text_and_blank_lines_stay_until_it_is_written() {
        let track = read("0:00:01.000,0:00:02.500\n<i>a</i>\n\nb").unwrap();
        assert_eq!(track.cues[0].text.as_str(), "<i>a</i>\n\nb");
        assert!(write(&track).ends_with("<i>a</i>\nb\n\n"));
    }
}
