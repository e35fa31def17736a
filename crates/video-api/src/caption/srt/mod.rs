//! SubRip (`.srt`): a number, a time line and lines of text, with a few tags that players agree on.
//!
//! It has no escapes: text that would be read as a tag, or as a time line, gets a zero-width space into it when it is written.

mod markup;
mod override_code;

use std::borrow::Cow;

use super::cue::{Cue, Track};
use super::error::{Error, Problem};
use super::layout::Layout;
use super::lines::{self, Lines, is_blank};
use super::text::TextBuilder;
use super::time::{MediaTime, push_padded};

const ARROW: &str = "-->";

/// A cue whose text is not complete yet.
struct Open<'t> {
    line: usize,
    number: Option<Cow<'t, str>>,
    start: MediaTime,
    end: MediaTime,
}

/// Cues in the making, with room for the text of one, which each uses anew.
#[derive(Default)]
struct Reader<'t> {
    track: Track,
    open: Option<Open<'t>>,
    /// The lines of the open cue so far, each with its end.
    text: String,
    /// The place where the last of them begins.
    last_line: usize,
    builder: TextBuilder,
    /// The number that the open cue has unless it has one of its own.
    running: String,
}

/// Reads a file. Cues may lack their number, and the blank line between them; blank lines within a text stay.
///
/// # Errors
/// A time line that cannot be read, text before the first one, and more than a track takes.
pub fn read(text: &str) -> Result<Track, Error> {
    let mut reader = Reader::default();
    let mut before: Option<&str> = None;
    let mut last_number = 0;
    for (number, line) in Lines::of(text) {
        last_number = number;
        let may_start = || before.is_none_or(|line| is_blank(line) || is_number(line));
        // A time line that can be read begins a cue wherever it stands, as players have it; one that cannot is text within a text.
        match parse_time_line(line).filter(|times| times.is_ok() || may_start()) {
            Some(times) => {
                let times = times.map_err(|problem| Error::at(number, problem))?;
                reader.begin(number, times, before)?;
            }
            None if reader.open.is_some() => {
                reader.last_line = reader.text.len();
                reader.text.push_str(line);
                reader.text.push('\n');
            }
            None if is_blank(line) || is_number(line) => {}
            None => return Err(Error::at(number, Problem::TextBeforeCue)),
        }
        before = Some(line);
    }
    if reader.open.is_none() {
        return Err(Error::at(last_number.max(1), Problem::NoTimeCodes));
    }
    reader.close()?;
    Ok(reader.track)
}

impl<'t> Reader<'t> {
    /// Begins a cue at its time line, and ends the one before.
    fn begin(
        &mut self,
        line: usize,
        (start, end): (MediaTime, MediaTime),
        before: Option<&'t str>,
    ) -> Result<(), Error> {
        let mut number = before.filter(|line| is_number(line)).map(|line| line.trim().into());
        if self.open.is_some() {
            if number.is_some() {
                self.text.truncate(self.last_line);
            } else if let Some((text, spaced)) = spaced_number(&self.text) {
                number = Some(spaced.trim().to_owned().into());
                self.text.truncate(text.len());
            }
            self.close()?;
        }
        self.open = Some(Open { line, number, start, end });
        Ok(())
    }

    fn close(&mut self) -> Result<(), Error> {
        let Some(Open { line, number, start, end }) = self.open.take() else { return Ok(()) };
        let raw = lines::trim_blank(&self.text);
        let (text, layout) = markup::parse(raw, &mut self.builder);
        self.text.clear();
        self.last_line = 0;
        self.running.clear();
        push_padded(&mut self.running, self.track.cues.len() as u64 + 1, 1);
        let id = number.filter(|number| *number != self.running).map(Into::into);
        let cue = Cue { id, layout: layout.and_then(Layout::boxed), ..Cue::new(start, end, text) };
        self.track.push(cue).map_err(|problem| Error::at(line, problem))
    }
}

/// Parts a text from the number of the next cue, where blank lines stand before and behind that: some files have one behind each line.
fn spaced_number(text: &str) -> Option<(&str, &str)> {
    let kept = text.strip_suffix('\n').and_then(|text| text.rsplit_once('\n'));
    if !kept.is_some_and(|(_, last)| is_blank(last)) {
        return None;
    }
    let (before, number) = text.trim_end().rsplit_once('\n')?;
    let above = before.rsplit_once('\n').map_or(before, |(_, above)| above);
    (is_number(number) && is_blank(above)).then_some((before, number))
}

/// Tells whether a line is the number of a cue.
fn is_number(line: &str) -> bool {
    // Most lines are text, and seen to be so by their first letter.
    if line.bytes().next().is_some_and(|byte| byte.is_ascii_alphabetic()) {
        return false;
    }
    let line = line.trim();
    !line.is_empty() && line.len() < 20 && line.bytes().all(|byte| byte.is_ascii_digit())
}

/// Reads the two times of a line with an arrow that begins with a digit. What follows them, such as coordinates, says nothing.
pub(super) fn parse_time_line(line: &str) -> Option<Result<(MediaTime, MediaTime), Problem>> {
    let line = line.trim_start();
    if !line.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let (start, rest) = lines::split_at_arrow(line)?;
    let end = rest.split_ascii_whitespace().next().unwrap_or_default();
    let time = |text: &str| {
        let shown = || Problem::Time(text.chars().take(40).collect());
        MediaTime::parse_clock(text).ok_or_else(shown)
    };
    Some(time(start.trim_end()).and_then(|start| Ok((start, time(end)?))))
}

/// Writes a track: italics, bold, underline and colours as tags, the third of the picture as `{\an8}`.
#[must_use]
pub fn write(track: &Track) -> String {
    let mut out = String::with_capacity(track.cues.len() * 96);
    for (number, (_, cue)) in (1_u64..).zip(track.in_order()) {
        match &cue.id {
            Some(id) if is_number(id) => out.push_str(id.trim()),
            _ => push_padded(&mut out, number, 1),
        }
        out.push('\n');
        cue.start.write_clock(&mut out, 2, ',');
        out.push_str(" --> ");
        cue.end.write_clock(&mut out, 2, ',');
        out.push('\n');
        let text = cue.text.without_blank_lines();
        if !text.is_empty() {
            if let Some(digit) = track.place(cue).and_then(|layout| override_code::keypad(&layout))
            {
                out.push_str("{\\an");
                out.push(char::from(digit));
                out.push('}');
            }
            markup::write(&text, &mut out);
            out.push('\n');
        }
        out.push('\n');
    }
    out
}

#[cfg(test)]
mod tests;
