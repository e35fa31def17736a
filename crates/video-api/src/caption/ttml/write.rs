//! Writing of TTML.

use std::collections::{HashMap, HashSet};

use super::super::colour::Colour;
use super::super::cue::{Cue, Track};
use super::super::layout::{Align, Layout};
use super::super::lines;
use super::super::text::{Piece, Style, Tag, Text, is_language};
use super::region::Area;

const ROOT: &str = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n\
<tt xmlns=\"http://www.w3.org/ns/ttml\" xmlns:tts=\"http://www.w3.org/ns/ttml#styling\" \
xmlns:ttm=\"http://www.w3.org/ns/ttml#metadata\" xml:lang=\"";

/// Regions of a document, a name for each place.
#[derive(Default)]
struct Regions {
    names: HashMap<Area, usize>,
    in_order: Vec<Area>,
}

/// Writes a track: times to the nanosecond, styles on spans, a region for each place.
#[must_use]
pub fn write(track: &Track) -> String {
    let mut out = String::with_capacity(track.cues.len() * 128 + 512);
    out.push_str(ROOT);
    escaped(track.language.as_deref().unwrap_or_default(), &mut out);
    out.push_str("\">\n");
    let order = track.in_order();
    let mut regions = Regions::default();
    let mut body = String::with_capacity(track.cues.len() * 128);
    let mut ids = HashSet::new();
    for (_, cue) in order {
        let layout = track.place(cue);
        let region = layout.as_deref().and_then(|layout| regions.name(layout));
        let align = layout.as_deref().and_then(|layout| layout.align);
        write_cue(cue, region, align, track.language.as_deref(), &mut ids, &mut body);
    }
    write_head(track, &regions, &mut out);
    out.push_str("  <body>\n    <div>\n");
    out.push_str(&body);
    out.push_str("    </div>\n  </body>\n</tt>\n");
    out
}

impl Regions {
    /// The number of the region for a layout, unless it needs none.
    fn name(&mut self, layout: &Layout) -> Option<usize> {
        let area = Area::of_layout(layout)?;
        let next = self.in_order.len() + 1;
        let number = *self.names.entry(area).or_insert(next);
        if number == next {
            self.in_order.push(area);
        }
        Some(number)
    }
}

fn write_head(track: &Track, regions: &Regions, out: &mut String) {
    // Readers take blanks in a title for one.
    let words: Vec<_> =
        track.title.iter().flat_map(|title| title.split_ascii_whitespace()).collect();
    let title = Some(words.join(" ")).filter(|title| !title.is_empty());
    if title.is_none() && regions.in_order.is_empty() {
        return;
    }
    out.push_str("  <head>\n");
    if let Some(title) = title {
        out.push_str("    <metadata><ttm:title>");
        escaped(&title, out);
        out.push_str("</ttm:title></metadata>\n");
    }
    if !regions.in_order.is_empty() {
        out.push_str("    <layout>\n");
        for (number, area) in (1_usize..).zip(&regions.in_order) {
            out.push_str(&format!("      <region xml:id=\"region.{number}\""));
            area.write(out);
            out.push_str("/>\n");
        }
        out.push_str("    </layout>\n");
    }
    out.push_str("  </head>\n");
}

fn write_cue<'t>(
    cue: &'t Cue,
    region: Option<usize>,
    align: Option<Align>,
    language: Option<&str>,
    ids: &mut HashSet<&'t str>,
    out: &mut String,
) {
    out.push_str("      <p");
    if let Some(id) = cue.id.as_deref().filter(|id| is_name(id)).filter(|id| ids.insert(id)) {
        out.push_str(" xml:id=\"");
        out.push_str(id);
        out.push('"');
    }
    out.push_str(" begin=\"");
    cue.start.write_exact(out);
    out.push_str("\" end=\"");
    cue.end.write_exact(out);
    out.push('"');
    if let Some(number) = region {
        out.push_str(&format!(" region=\"region.{number}\""));
    }
    if let Some(align) =
        align.filter(|align| *align != Align::Center).or(region.map(|_| Align::Center))
    {
        out.push_str(" tts:textAlign=\"");
        out.push_str(align.name());
        out.push('"');
    }
    if cue.text.is_empty() {
        out.push_str("/>\n");
        return;
    }
    if collapses(cue.text.as_str()) {
        out.push_str(" xml:space=\"preserve\"");
    }
    out.push('>');
    write_text(&cue.text, language, out);
    out.push_str("</p>\n");
}

/// Tells whether a reader would take blanks away unless it is told not to.
fn collapses(text: &str) -> bool {
    // Without a way out of the loop, so that the compiler takes many bytes at once.
    let bytes = text.as_bytes();
    let is_blank = |byte: u8| byte == b' ' || byte == b'\n';
    let pairs = bytes.iter().zip(bytes.iter().skip(1));
    let collapses = |(a, b): (&u8, &u8)| {
        (is_blank(*a) & is_blank(*b) & (*a != b'\n' || *b != b'\n')) | (*a == b'\t')
    };
    let is_edge = |byte: Option<&u8>| byte.is_some_and(|byte| matches!(byte, b' ' | b'\t'));
    pairs.fold(false, |found, pair| found | collapses(pair))
        || is_edge(bytes.last())
        || is_edge(bytes.first())
}

/// Tells whether a text may be an XML name without a colon, which is not the name of a region.
fn is_name(text: &str) -> bool {
    let mut chars = text.chars();
    let starts = chars.next().is_some_and(|c| c == '_' || c.is_ascii_alphabetic());
    starts
        && chars.all(|c| matches!(c, '_' | '-' | '.') || c.is_ascii_alphanumeric())
        && !text.starts_with("region.")
}

/// Writes a text with one span for each look.
fn write_text(text: &Text, document: Option<&str>, out: &mut String) {
    let mut outer: Vec<(Style, Option<&str>)> = Vec::new();
    let mut wanted = (Style::default(), None);
    let mut current = wanted;
    for piece in text.pieces() {
        match piece {
            Piece::Open(tag) => {
                outer.push(wanted);
                match tag {
                    Tag::Language(tag) => {
                        wanted.1 =
                            Some(&**tag).filter(|tag| is_language(tag) && Some(*tag) != document);
                    }
                    tag => wanted.0 = wanted.0.with(tag),
                }
            }
            Piece::Close(_) => wanted = outer.pop().unwrap_or_default(),
            Piece::At(_) => {}
            Piece::Plain(plain) => {
                for (number, line) in lines::of_plain(plain).enumerate() {
                    if number > 0 {
                        out.push_str("<br/>");
                    }
                    if line.is_empty() {
                        continue;
                    }
                    if wanted != current {
                        close_span(current, out);
                        open_span(wanted, out);
                        current = wanted;
                    }
                    escaped(line, out);
                }
            }
        }
    }
    close_span(current, out);
}

fn open_span((style, language): (Style, Option<&str>), out: &mut String) {
    if style == Style::default() && language.is_none() {
        return;
    }
    out.push_str("<span");
    if let Some(language) = language {
        out.push_str(" xml:lang=\"");
        escaped(language, out);
        out.push('"');
    }
    if style.italic {
        out.push_str(" tts:fontStyle=\"italic\"");
    }
    if style.bold {
        out.push_str(" tts:fontWeight=\"bold\"");
    }
    if style.underline {
        out.push_str(" tts:textDecoration=\"underline\"");
    }
    if let Some(colour) = style.colour {
        out.push_str(" tts:color=\"");
        out.push_str(&Colour::to_string(&colour));
        out.push('"');
    }
    out.push('>');
}

fn close_span(current: (Style, Option<&str>), out: &mut String) {
    if current != (Style::default(), None) {
        out.push_str("</span>");
    }
}

/// Writes characters as XML has them.
fn escaped(text: &str, out: &mut String) {
    let mut rest = text;
    let next = |text: &str| {
        let at = memchr::memchr3(b'<', b'>', b'&', text.as_bytes());
        let before = text.as_bytes().get(..at.unwrap_or(text.len())).unwrap_or_default();
        memchr::memchr(b'"', before).or(at)
    };
    while let Some(at) = next(rest) {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        out.push_str(match tail.as_bytes().first() {
            Some(b'<') => "&lt;",
            Some(b'>') => "&gt;",
            Some(b'"') => "&quot;",
            _ => "&amp;",
        });
        rest = tail.get(1..).unwrap_or_default();
    }
    out.push_str(rest);
}
