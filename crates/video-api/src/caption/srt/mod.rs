//! SubRip (`.srt`): a number, a time line and lines of text, with a few tags that players agree on.
//!
//! It has no escapes: text that would be read as a tag, or as a time line, gets a zero-width space into it when it is written.

mod markup;

use super::cue::{Cue, Track};
use super::error::{Error, Problem};
use super::layout::{Anchor, Layout, Line, Percent};
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
        match parse_time_line(line).filter(|_| may_start) {
            Some(times) => {
                let (start, end) = times.map_err(|problem| Error::at(number, problem))?;
                let own = before.filter(|line| is_number(line)).map(|line| line.trim().to_owned());
                if let Some(mut done) = open.take() {
                    if own.is_some() {
                        done.text.truncate(done.last_line);
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
            if let Some(digit) = track.place(cue).and_then(|layout| keypad(&layout)) {
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

/// The key of a number pad that lies where a cue does; none for the middle of the bottom.
fn keypad(layout: &Layout) -> Option<u8> {
    let bottom = match layout.line.map(Line::place) {
        None => 0,
        Some((share, anchor)) => {
            let top = match anchor {
                Anchor::Start => share.thousandths(),
                Anchor::Center => share.thousandths() - 5_000,
                Anchor::End => share.thousandths() - 10_000,
            };
            if top < 33_333 {
                6
            } else if top < 60_000 {
                3
            } else {
                0
            }
        }
    };
    let side = match layout.alignment().side() {
        Anchor::Start => 1,
        Anchor::Center => 2,
        Anchor::End => 3,
    };
    Some(bottom + side).filter(|key| *key != 2).map(|key| b'0' + key)
}

/// The layout of a key of a number pad.
fn of_keypad(key: u8) -> Layout {
    use super::layout::Align;
    let align = match key % 3 {
        1 => Some(Align::Left),
        2 => None,
        _ => Some(Align::Right),
    };
    let line = match key {
        7..=9 => Some(Line::Row(0)),
        4..=6 => Some(Line::At(Percent::HALF, Anchor::Center)),
        _ => None,
    };
    Layout { align, line, ..Layout::default() }
}

#[cfg(test)]
mod tests;
