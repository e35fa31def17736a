//! Tags in the text of a SubRip cue.

use super::super::colour::Colour;
use super::super::layout::Layout;
use super::super::text::{Piece, Tag, Text, TextBuilder};
use super::{ARROW, override_code};

/// A sign without width that keeps text from being read as a tag.
const GUARD: char = '\u{200b}';

/// Longest tag that is looked for.
const TAG_BYTES_MAX: usize = 256;

/// Names of the tags.
const TAGS: [&str; 7] = ["i", "b", "u", "font", "s", "br", "br/"];

/// A tag, or the end of one.
enum Found {
    Open(Tag),
    Close(fn(&Tag) -> bool),
    Font(Option<Colour>),
    EndOfFont,
    /// The end of a line.
    Break,
    /// A tag for what a track does not hold.
    Nothing,
}

/// Reads a text; tags that SubRip does not have are characters.
pub(super) fn parse(raw: &str, builder: &mut TextBuilder) -> (Text, Option<Layout>) {
    let mut layout = None;
    builder.reserve(raw.len());
    // Of the fonts that are open, whether they have a colour.
    let mut fonts = Vec::new();
    let mut rest = raw;
    while let Some(at) = memchr::memchr3(b'<', b'{', b'\\', rest.as_bytes()) {
        let (plain, tail) = rest.split_at(at);
        builder.push_str(plain);
        if let Some(after) = override_code::hard_space(builder.as_str(), tail) {
            builder.push(override_code::HARD_SPACE);
            rest = after;
            continue;
        }
        if let Some(after) = override_code::read(tail, builder, &mut layout) {
            rest = after;
            continue;
        }
        match tag(tail) {
            Some((found, after)) => {
                match found {
                    Found::Open(tag) => builder.open(tag),
                    Found::Close(is) => builder.close(is),
                    Found::Font(colour) => {
                        fonts.push(colour.is_some());
                        colour.into_iter().for_each(|colour| builder.open(Tag::Colour(colour)));
                    }
                    Found::EndOfFont if fonts.pop() == Some(false) => {}
                    Found::EndOfFont => builder.close(|tag| matches!(tag, Tag::Colour(_))),
                    Found::Break => builder.push('\n'),
                    Found::Nothing => {}
                }
                rest = after;
            }
            None => {
                let (sign, after) = tail.split_at(1);
                builder.push_str(sign);
                rest = after;
            }
        }
    }
    builder.push_str(rest);
    (builder.take(), layout)
}

/// Reads a tag at the start of `text`, and gives what follows it.
fn tag(text: &str) -> Option<(Found, &str)> {
    let bytes = Some(text.as_bytes()).filter(|bytes| bytes.starts_with(b"<"))?;
    let window = bytes.get(1..bytes.len().min(TAG_BYTES_MAX))?;
    let end = memchr::memchr3(b'>', b'<', b'\n', window)
        .filter(|end| window.get(*end) == Some(&b'>'))?
        + 1;
    let (inner, after) = (text.get(1..end)?, text.get(end + 1..)?);
    let name = inner.split([' ', '=']).next().unwrap_or_default();
    let is = |tag: &str| name.eq_ignore_ascii_case(tag);
    let found = match name.len() {
        1 if is("i") => Found::Open(Tag::Italic),
        1 if is("b") => Found::Open(Tag::Bold),
        1 if is("u") => Found::Open(Tag::Underline),
        1 if is("s") => Found::Nothing,
        2 if is("/i") => Found::Close(|tag| *tag == Tag::Italic),
        2 if is("/b") => Found::Close(|tag| *tag == Tag::Bold),
        2 if is("/u") => Found::Close(|tag| *tag == Tag::Underline),
        2 if is("/s") => Found::Nothing,
        2 if is("br") => Found::Break,
        3 if is("br/") => Found::Break,
        4 if is("font") => Found::Font(colour(inner)),
        5 if is("/font") => Found::EndOfFont,
        _ => return None,
    };
    Some((found, after))
}

/// Reads the colour of a `font` tag.
fn colour(tag: &str) -> Option<Colour> {
    let at = tag.to_ascii_lowercase().find("color")?;
    let value = tag.get(at + "color".len()..)?.trim_start().strip_prefix('=')?.trim_start();
    Colour::parse(match value.strip_prefix(['"', '\'']) {
        Some(quoted) => quoted.split(['"', '\'']).next()?,
        None => value.split(' ').next()?,
    })
}

/// Writes a text.
pub(super) fn write(text: &Text, out: &mut String) {
    let body = out.len();
    for piece in text.pieces() {
        match piece {
            Piece::Plain(plain) => guarded(plain, out),
            Piece::Open(Tag::Italic) => out.push_str("<i>"),
            Piece::Open(Tag::Bold) => out.push_str("<b>"),
            Piece::Open(Tag::Underline) => out.push_str("<u>"),
            Piece::Close(Tag::Italic) => out.push_str("</i>"),
            Piece::Close(Tag::Bold) => out.push_str("</b>"),
            Piece::Close(Tag::Underline) => out.push_str("</u>"),
            Piece::Open(tag) => {
                if let Some(colour) = colour_of(tag) {
                    out.push_str("<font color=\"");
                    out.push_str(&colour.to_string());
                    out.push_str("\">");
                }
            }
            Piece::Close(tag) if colour_of(tag).is_some() => out.push_str("</font>"),
            Piece::Close(_) | Piece::At(_) => {}
        }
    }
    override_code::guard(out, body, ARROW);
}

fn colour_of(tag: &Tag) -> Option<Colour> {
    match tag {
        Tag::Colour(colour) => Some(*colour),
        Tag::Class(names) | Tag::Classes(names) => names.split('.').find_map(Colour::of_class),
        _ => None,
    }
}

/// Writes characters so that they are read as such.
fn guarded(plain: &str, out: &mut String) {
    let mut rest = plain;
    while let Some(at) = memchr::memchr(b'<', rest.as_bytes()) {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        out.push('<');
        if opens_tag(tail) {
            out.push(GUARD);
        }
        rest = tail.get(1..).unwrap_or_default();
    }
    out.push_str(rest);
}

/// Tells whether characters begin as a tag does, as far as this piece of text shows it.
fn opens_tag(text: &str) -> bool {
    let inner = text.get(1..).unwrap_or_default();
    let end = inner.find([' ', '=', '>', '\n']);
    let name = inner.get(..end.unwrap_or(inner.len())).unwrap_or_default();
    let name = name.strip_prefix('/').unwrap_or(name).to_ascii_lowercase();
    TAGS.iter().any(|tag| if end.is_none() { tag.starts_with(&name) } else { **tag == name })
}
