//! WebVTT (`.vtt`): cues with identifiers, settings and tags, comments, style sheets and regions.

mod character_reference;
mod markup;
mod setting;

use super::cue::{Block, Cue, Track};
use super::error::{Error, Problem};
use super::limits::{BLOCKS_MAX, CUE_BYTES_MAX, REGIONS_MAX};
use super::lines::{self, Lines};
use super::text::is_language;
use super::time::MediaTime;

const ARROW: &str = "-->";
const SIGNATURE: &str = "WEBVTT";
/// The word that opens a comment.
const NOTE: &str = "NOTE";
/// The word that opens a style sheet.
const STYLE: &str = "STYLE";
/// The header line that names the language.
const LANGUAGE: &str = "Language:";

/// Reads a file.
///
/// # Errors
/// A file that does not begin with `WEBVTT`, a time line that cannot be read, and more than a track takes.
pub fn read(text: &str) -> Result<Track, Error> {
    let mut lines = Lines::of(text).peekable();
    let (_, first) = lines.next().unwrap_or((1, ""));
    let rest = first
        .strip_prefix(SIGNATURE)
        .filter(|rest| rest.is_empty() || rest.starts_with([' ', '\t']));
    let Some(title) = rest.map(str::trim) else {
        return Err(Error::at(1, Problem::Signature(SIGNATURE)));
    };
    let mut reader = Reader::default();
    reader.track.title = Some(title.to_owned()).filter(|title| !title.is_empty());
    while let Some((_, line)) = lines.next_if(|(_, line)| !line.is_empty() && !line.contains(ARROW))
    {
        let line = line.trim();
        match line.strip_prefix(LANGUAGE).map(str::trim).filter(|tag| is_language(tag)) {
            Some(tag) => reader.track.language = Some(tag.to_owned()),
            None => reader.track.header.push(line.to_owned()),
        }
        if reader.track.header.len() > BLOCKS_MAX {
            return Err(Error::at(1, Problem::TooManyDefinitions));
        }
    }
    for (number, line) in lines {
        reader.line(number, line)?;
    }
    reader.end_of_block()?;
    Ok(reader.track)
}

/// A block that is being read.
#[derive(Default)]
struct Reader {
    track: Track,
    /// The line that the block begins at.
    first_line: usize,
    /// The lines so far, or those after the time line.
    text: String,
    has_lines: bool,
    cue: Option<Cue>,
    /// Room for the tags of a cue, which each uses anew.
    tags: markup::Tags,
}

impl Reader {
    fn line(&mut self, number: usize, line: &str) -> Result<(), Error> {
        if line.is_empty() {
            return self.end_of_block();
        }
        if let Some((start, rest)) = lines::split_at_arrow(line).filter(|(start, _)| {
            // An arrow within a text, a comment or a style sheet makes no time line of words.
            let is_aside = |text: &str| is_note(text) || self.is_style(text);
            let block = if self.text.is_empty() { line } else { &self.text };
            let is_within = self.cue.is_some() || is_aside(block);
            !is_within || start.trim_start().starts_with(|c: char| c.is_ascii_digit())
        }) {
            // A time line opens a cue, also right after the text of another; the one line before it is an identifier.
            let is_id = self.cue.is_none() && !self.text.is_empty() && !self.text.contains('\n');
            let id = is_id.then(|| self.text.as_str().into());
            if is_id {
                self.text.clear();
            } else if self.cue.is_some() || self.has_lines {
                self.end_of_block()?;
            }
            let mut cue =
                self.time_line(start, rest).map_err(|problem| Error::at(number, problem))?;
            cue.id = id;
            (self.cue, self.first_line, self.has_lines) = (Some(cue), number, true);
            return Ok(());
        }
        if !self.has_lines {
            (self.first_line, self.has_lines) = (number, true);
        }
        if !self.text.is_empty() {
            self.text.push('\n');
        }
        self.text.push_str(line);
        Ok(())
    }

    /// Tells whether the lines of a block are a style sheet, which stands before all cues.
    fn is_style(&self, text: &str) -> bool {
        let first = text.split('\n').next().unwrap_or_default();
        self.track.cues.is_empty() && first.trim_end() == STYLE
    }

    fn time_line(&self, start: &str, rest: &str) -> Result<Cue, Problem> {
        let rest = rest.trim_start_matches([' ', '\t']);
        let (end, settings) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
        let time = |text: &str| {
            MediaTime::parse_clock(text)
                .ok_or_else(|| Problem::Time(text.chars().take(40).collect()))
        };
        let mut cue = Cue::new(time(start.trim())?, MediaTime::ZERO, super::text::Text::default());
        cue.end = time(end)?.max(cue.start);
        let names_region = |id: &str| self.track.regions.iter().any(|region| region.id == id);
        cue.layout = setting::parse(settings, names_region).boxed();
        Ok(cue)
    }

    fn end_of_block(&mut self) -> Result<(), Error> {
        // The next block gets the same room.
        let mut text = std::mem::take(&mut self.text);
        let ended = self.end_of_lines(&text);
        text.clear();
        self.text = text;
        ended
    }

    fn end_of_lines(&mut self, text: &str) -> Result<(), Error> {
        self.has_lines = false;
        let first_line = self.first_line;
        let at = |problem| Error::at(first_line, problem);
        if let Some(mut cue) = self.cue.take() {
            // Tags and escapes only make a text shorter; what is far beyond the limit is not even looked at.
            if text.len() > 8 * CUE_BYTES_MAX {
                return Err(at(Problem::CueTooLong));
            }
            cue.text = self.tags.parse(text);
            return self.track.push(cue).map_err(at);
        }
        let (first, rest) = text.split_once('\n').unwrap_or((text, ""));
        let is_first = self.track.cues.is_empty();
        match first.trim_end() {
            _ if self.is_style(text) => self.block(true, rest.to_owned()).map_err(at),
            "REGION" if is_first => {
                if self.track.regions.len() >= REGIONS_MAX {
                    return Err(at(Problem::TooManyDefinitions));
                }
                self.track.regions.extend(setting::parse_region(rest));
                Ok(())
            }
            // Any other block without a time line is skipped by players, as a comment is.
            _ if is_note(text) => {
                let note = text.get(NOTE.len()..).unwrap_or_default();
                self.block(false, note.trim().to_owned()).map_err(at)
            }
            _ => Ok(()),
        }
    }

    fn block(&mut self, is_style: bool, text: String) -> Result<(), Problem> {
        if self.track.blocks.len() >= BLOCKS_MAX {
            return Err(Problem::TooManyDefinitions);
        }
        self.track.blocks.push(Block { before: self.track.cues.len(), is_style, text });
        Ok(())
    }
}

/// Writes a track with all that it holds.
#[must_use]
pub fn write(track: &Track) -> String {
    let mut out = String::with_capacity(track.cues.len() * 96 + 64);
    write_header(track, &mut out);
    let mut blocks = track.blocks.iter().filter(|block| !block.is_style).collect::<Vec<_>>();
    blocks.sort_by_key(|block| block.before);
    let write_notes = |range: std::ops::Range<usize>, out: &mut String| {
        let from = blocks.partition_point(|block| block.before < range.start);
        for block in blocks.iter().skip(from).take_while(|block| range.contains(&block.before)) {
            write_note(&block.text, out);
        }
    };
    for (index, cue) in track.in_order() {
        write_notes(index..index + 1, &mut out);
        write_cue(track, cue, &mut out);
    }
    write_notes(track.cues.len()..usize::MAX, &mut out);
    out
}

fn write_header(track: &Track, out: &mut String) {
    out.push_str(SIGNATURE);
    if let Some(title) = track.title.as_deref().map(single_line).filter(|title| !title.is_empty()) {
        out.push(' ');
        out.push_str(&title);
    }
    out.push('\n');
    if let Some(language) = track.language.as_deref().map(single_line).filter(|tag| !tag.is_empty())
    {
        out.push_str(LANGUAGE);
        out.push(' ');
        out.push_str(&language);
        out.push('\n');
    }
    for line in track.header.iter().map(|line| single_line(line)).filter(|line| !line.is_empty()) {
        out.push_str(&line);
        out.push('\n');
    }
    out.push('\n');
    for region in &track.regions {
        setting::write_region(region, out);
    }
    for block in track.blocks.iter().filter(|block| block.is_style) {
        out.push_str(STYLE);
        out.push('\n');
        push_lines(&block.text, out);
        out.push('\n');
    }
}

fn write_note(text: &str, out: &mut String) {
    out.push_str(if text.contains('\n') { "NOTE\n" } else { "NOTE " });
    let start = out.len();
    push_lines(text, out);
    if out.len() == start {
        out.truncate(start - 1);
        out.push('\n');
    }
    out.push('\n');
}

fn write_cue(track: &Track, cue: &Cue, out: &mut String) {
    if let Some(id) = cue.id.as_deref().map(single_line).filter(|id| !id.is_empty()) {
        out.push_str(&id);
        out.push('\n');
    }
    cue.start.write_clock(out, 2, '.');
    out.push_str(" --> ");
    cue.end.write_clock(out, 2, '.');
    if let Some(layout) = &cue.layout {
        let names_region = |id: &str| track.regions.iter().any(|region| region.id == id);
        setting::write(layout, names_region, out);
    }
    out.push('\n');
    let text = cue.text.without_blank_lines();
    if !text.is_empty() {
        markup::write(&text, out);
        out.push('\n');
    }
    out.push('\n');
}

/// Tells whether the lines of a block are a comment.
fn is_note(text: &str) -> bool {
    let rest = text.strip_prefix(NOTE);
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with([' ', '\t', '\n']))
}

/// Text in one line, without an arrow, which would make a time line of it.
fn single_line(text: &str) -> String {
    text.replace(['\n', '\r'], " ").replace(ARROW, "--\u{200b}>").trim().to_owned()
}

/// Lines of a block: blank ones would end it.
fn push_lines(text: &str, out: &mut String) {
    for line in text.split('\n').filter(|line| !line.is_empty()) {
        out.push_str(&line.replace(ARROW, "--\u{200b}>"));
        out.push('\n');
    }
}

#[cfg(test)]
mod tests;
