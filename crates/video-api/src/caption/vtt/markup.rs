//! Tags and escapes in the text of a WebVTT cue.

use super::super::colour::Colour;
use super::super::encoding::is_unshown;
use super::super::text::{Piece, Tag, Text, TextBuilder};
use super::super::time::MediaTime;

/// The longest escape that is looked for, without its `&`.
const ESCAPE_BYTES_MAX: usize = 12;

/// Reads a text.
pub(super) fn parse(raw: &str) -> Text {
    if memchr::memchr2(b'<', b'&', raw.as_bytes()).is_none() {
        return Text::plain(raw);
    }
    let mut builder = TextBuilder::default();
    let mut rest = raw;
    while let Some(at) = memchr::memchr2(b'<', b'&', rest.as_bytes()) {
        let (plain, tail) = rest.split_at(at);
        builder.push_str(plain);
        let inner = tail.get(1..).unwrap_or_default();
        if tail.starts_with('&') {
            rest = match escape(inner) {
                Some((c, after)) => {
                    builder.push(c);
                    after
                }
                None => {
                    builder.push('&');
                    inner
                }
            };
            continue;
        }
        // A tag without an end reaches to the end of the text.
        let (body, after) = inner.split_once('>').unwrap_or((inner, ""));
        tag(body, &mut builder);
        rest = after;
    }
    builder.push_str(rest);
    builder.finish()
}

/// Reads an escape after its `&`, and gives what follows it.
fn escape(text: &str) -> Option<(char, &str)> {
    let window = text.as_bytes().get(..text.len().min(ESCAPE_BYTES_MAX))?;
    let end = memchr::memchr(b';', window)?;
    let (name, after) = (text.get(..end)?, text.get(end + 1..)?);
    let c = match name {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "nbsp" => '\u{a0}',
        "lrm" => '\u{200e}',
        "rlm" => '\u{200f}',
        "quot" => '"',
        "apos" => '\'',
        _ => {
            let digits = name.strip_prefix('#')?;
            let code = match digits.strip_prefix(['x', 'X']) {
                Some(hex) => u32::from_str_radix(hex, 16).ok()?,
                None => digits.parse().ok()?,
            };
            let c = char::from_u32(code).filter(|c| !is_unshown(*c));
            // A line end within an escape would part the cue when it is written.
            c.filter(|c| !matches!(c, '\n' | '\r')).unwrap_or(char::REPLACEMENT_CHARACTER)
        }
    };
    Some((c, after))
}

/// Opens or closes what a tag says; a tag of another name says nothing.
fn tag(body: &str, builder: &mut TextBuilder) {
    if let Some(name) = body.strip_prefix('/') {
        match name.trim_end() {
            "i" => builder.close(|tag| *tag == Tag::Italic),
            "b" => builder.close(|tag| *tag == Tag::Bold),
            "u" => builder.close(|tag| *tag == Tag::Underline),
            "c" => builder.close(|tag| matches!(tag, Tag::Class(_))),
            "v" => builder.close(|tag| matches!(tag, Tag::Voice(_))),
            "lang" => builder.close(|tag| matches!(tag, Tag::Language(_))),
            "ruby" => builder.close(|tag| *tag == Tag::Ruby),
            "rt" => builder.close(|tag| *tag == Tag::RubyText),
            _ => {}
        }
        return;
    }
    if body.starts_with(|c: char| c.is_ascii_digit()) {
        if let Some(time) = MediaTime::parse_clock(body.trim_end()) {
            builder.at(time);
        }
        return;
    }
    let (head, annotation) = body.split_once([' ', '\t', '\n']).unwrap_or((body, ""));
    let (name, classes) = head.split_once('.').unwrap_or((head, ""));
    let annotation = || annotation_of(annotation);
    match name {
        "i" => builder.open(Tag::Italic),
        "b" => builder.open(Tag::Bold),
        "u" => builder.open(Tag::Underline),
        "c" => builder.open(Tag::Class(classes.into())),
        "v" => builder.open(Tag::Voice(annotation())),
        "lang" => builder.open(Tag::Language(annotation())),
        "ruby" => builder.open(Tag::Ruby),
        "rt" => builder.open(Tag::RubyText),
        _ => {}
    }
}

/// Reads the annotation of a tag: escapes, and blanks as one space.
fn annotation_of(raw: &str) -> Box<str> {
    let words: Vec<_> = raw.split_ascii_whitespace().collect();
    let joined = words.join(" ");
    if !joined.contains('&') {
        return joined.into();
    }
    let mut out = String::with_capacity(joined.len());
    let mut rest = joined.as_str();
    while let Some((before, inner)) = rest.split_once('&') {
        out.push_str(before);
        match escape(inner) {
            Some((c, after)) => {
                out.push(c);
                rest = after;
            }
            None => {
                out.push('&');
                rest = inner;
            }
        }
    }
    out.push_str(rest);
    out.into()
}

/// Writes a text.
pub(super) fn write(text: &Text, out: &mut String) {
    for piece in text.pieces() {
        match piece {
            Piece::Plain(plain) => escaped(plain, out),
            Piece::Open(tag) => write_tag(tag, out),
            Piece::Close(tag) => {
                if let Some(name) = name(tag) {
                    out.push_str("</");
                    out.push_str(name);
                    out.push('>');
                }
            }
            Piece::At(time) => {
                out.push('<');
                time.write_clock(out, 2, '.');
                out.push('>');
            }
        }
    }
}

/// The name of the tag in a file. A colour for which the format has no class is none.
fn name(tag: &Tag) -> Option<&'static str> {
    match tag {
        Tag::Italic => Some("i"),
        Tag::Bold => Some("b"),
        Tag::Underline => Some("u"),
        Tag::Colour(colour) => colour.class().map(|_| "c"),
        Tag::Class(_) => Some("c"),
        Tag::Voice(_) => Some("v"),
        Tag::Language(_) => Some("lang"),
        Tag::Ruby => Some("ruby"),
        Tag::RubyText => Some("rt"),
    }
}

fn write_tag(tag: &Tag, out: &mut String) {
    let Some(name) = name(tag) else { return };
    out.push('<');
    out.push_str(name);
    match tag {
        Tag::Colour(colour) => {
            out.push('.');
            out.push_str(Colour::class(*colour).unwrap_or_default());
        }
        Tag::Class(classes) if !classes.is_empty() => {
            out.push('.');
            out.push_str(classes);
        }
        Tag::Voice(annotation) | Tag::Language(annotation) => {
            out.push(' ');
            escaped(annotation, out);
        }
        _ => {}
    }
    // Otherwise an arrow stands there, which makes a time line of the text.
    if out.ends_with("--") {
        out.push(' ');
    }
    out.push('>');
}

/// Writes characters with escapes.
fn escaped(plain: &str, out: &mut String) {
    let mut rest = plain;
    while let Some(at) = memchr::memchr3(b'<', b'>', b'&', rest.as_bytes()) {
        let (before, tail) = rest.split_at(at);
        out.push_str(before);
        out.push_str(match tail.as_bytes().first() {
            Some(b'<') => "&lt;",
            Some(b'>') => "&gt;",
            _ => "&amp;",
        });
        rest = tail.get(1..).unwrap_or_default();
    }
    out.push_str(rest);
}
