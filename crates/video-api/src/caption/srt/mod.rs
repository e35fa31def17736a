//! SubRip (`.srt`): a number, a time line and lines of text, with a few tags that players agree on.
//!
//! It has no escapes: text that would be read as a tag, or as a time line, gets a zero-width space into it when it is written.

mod markup;
mod override_code;

use super::cue::{Cue, Track};
use super::error::{Error, Problem};
use super::layout::Layout;
use super::lines::{self, Lines, is_blank};
use super::time::MediaTime;

const ARROW: &str = "-->";

/// A cue whose text is not complete yet.
struct Open {
    line: usize,
    number: Option<String>,
    start: MediaTime,
    end: MediaTime,
    text: String,
    /// The place where the last line of `text` begins.
    last_line: usize,
}

/// Reads a file. Cues may lack their number, and the blank line between them; blank lines within a text stay.
///
/// # Errors
/// A time line that cannot be read, text before the first one, and more than a track takes.
pub fn read(text: &str) -> Result<Track, Error> {
    let mut track = Track::default();
    let mut open: Option<Open> = None;
    let mut before: Option<&str> = None;
    let mut last_number = 0;
    for (number, line) in Lines::of(text) {
        last_number = number;
        let may_start = before.is_none_or(|line| is_blank(line) || is_number(line));
        // A time line that can be read begins a cue wherever it stands, as players have it; one that cannot is text within a text.
        match parse_time_line(line).filter(|times| may_start || times.is_ok()) {
            Some(times) => {
                let (start, end) = times.map_err(|problem| Error::at(number, problem))?;
                let mut own =
                    before.filter(|line| is_number(line)).map(|line| line.trim().to_owned());
                if let Some(mut done) = open.take() {
                    if own.is_some() {
                        done.text.truncate(done.last_line);
                    } else if let Some((text, number)) = spaced_number(&done.text) {
                        own = Some(number.trim().to_owned());
                        done.text.truncate(text.len());
                    }
                    close(&mut track, done)?;
                }
                open = Some(Open {
                    line: number,
                    number: own,
                    start,
                    end,
                    text: String::new(),
                    last_line: 0,
                });
            }
            None => match &mut open {
                Some(open) => {
                    open.last_line = open.text.len();
                    open.text.push_str(line);
                    open.text.push('\n');
                }
                None if is_blank(line) || is_number(line) => {}
                None => return Err(Error::at(number, Problem::TextBeforeCue)),
            },
        }
        before = Some(line);
    }
    match open {
        Some(done) => close(&mut track, done)?,
        None => return Err(Error::at(last_number.max(1), Problem::NoTimeCodes)),
    }
    Ok(track)
}

fn close(track: &mut Track, open: Open) -> Result<(), Error> {
    let raw = lines::trim_blank(&open.text);
    let (text, layout) = markup::parse(raw);
    let running = (track.cues.len() + 1).to_string();
    let id = open.number.filter(|number| *number != running).map(Into::into);
    let cue =
        Cue { id, layout: layout.and_then(Layout::boxed), ..Cue::new(open.start, open.end, text) };
    track.push(cue).map_err(|problem| Error::at(open.line, problem))
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
    for (number, (_, cue)) in (1_usize..).zip(track.in_order()) {
        match &cue.id {
            Some(id) if is_number(id) => out.push_str(id.trim()),
            _ => out.push_str(&number.to_string()),
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
