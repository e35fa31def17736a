//! Tags and escapes in the text of a WebVTT cue.

use super::super::colour::Colour;
use super::super::limits::TAG_DEPTH_MAX;
use super::super::text::{Piece, Tag, Text, TextBuilder};
use super::super::time::MediaTime;
use super::character_reference;

/// A text in the making, with the tags of it that are open.
#[derive(Default)]
pub(super) struct Tags {
    builder: TextBuilder,
    /// The name of each, and the classes that stand around it.
    open: Vec<(&'static str, Option<Tag>)>,
    /// Tags beyond those that a text takes.
    ignored: usize,
}

impl Tags {
    /// Reads a text.
    pub(super) fn parse(&mut self, raw: &str) -> Text {
        if memchr::memchr2(b'<', b'&', raw.as_bytes()).is_none() {
            return Text::plain(raw);
        }
        self.builder.reserve(raw.len());
        let mut rest = raw;
        while let Some(at) = memchr::memchr2(b'<', b'&', rest.as_bytes()) {
            let (plain, tail) = rest.split_at(at);
            self.builder.push_str(plain);
            let inner = tail.get(1..).unwrap_or_default();
            if tail.starts_with('&') {
                rest = self.reference(inner);
                continue;
            }
            // A tag without an end reaches to the end of the text.
            let (body, after) = inner.split_once('>').unwrap_or((inner, ""));
            self.tag(body);
            rest = after;
        }
        self.builder.push_str(rest);
        self.open.clear();
        self.ignored = 0;
        self.builder.take()
    }

    /// Reads what follows an `&`, and gives what is left.
    fn reference<'t>(&mut self, inner: &'t str) -> &'t str {
        let Some((c, after)) = character_reference::read(inner) else {
            self.builder.push('&');
            return inner;
        };
        self.builder.push(c);
        after
    }

    /// Opens or closes what a tag says; a tag of another name says nothing.
    fn tag(&mut self, body: &str) {
        if let Some(name) = body.strip_prefix('/') {
            if let Some((name, _)) = of_name(name.trim_end()) {
                self.close(name);
            }
            return;
        }
        if body.starts_with(|c: char| c.is_ascii_digit()) {
            if let Some(time) = MediaTime::parse_clock(body.trim_end()) {
                self.builder.at(time);
            }
            return;
        }
        let (head, annotation) = body.split_once([' ', '\t', '\n']).unwrap_or((body, ""));
        let (name, classes) = head.split_once('.').unwrap_or((head, ""));
        let Some((name, _)) = of_name(name) else { return };
        let tag = match name {
            "i" => Tag::Italic,
            "b" => Tag::Bold,
            "u" => Tag::Underline,
            "c" => Tag::Class(classes.into()),
            "v" => Tag::Voice(annotation_of(annotation)),
            "lang" => Tag::Language(annotation_of(annotation)),
            "ruby" => Tag::Ruby,
            _ => Tag::RubyText,
        };
        if self.open.len() >= TAG_DEPTH_MAX {
            self.ignored += 1;
            return self.builder.open(tag);
        }
        let has_classes = name != "c" && !classes.is_empty();
        let classes = has_classes.then(|| Tag::Classes(classes.into()));
        classes.iter().cloned().for_each(|classes| self.builder.open(classes));
        self.builder.open(tag);
        self.open.push((name, classes));
    }

    /// Closes the innermost tag of a name, with its classes.
    fn close(&mut self, name: &'static str) {
        let Some((_, is)) = of_name(name) else { return };
        if self.ignored > 0 {
            self.ignored -= 1;
            return self.builder.close(is);
        }
        let innermost = |name| self.open.iter().rposition(|(open, _)| *open == name);
        let Some(at) = innermost(name) else { return };
        // The end of an annotation may be left out before that of its base.
        if name == "ruby" && innermost("rt") > Some(at) {
            return ["rt", "ruby"].into_iter().for_each(|name| self.close(name));
        }
        let (_, classes) = self.open.remove(at);
        self.builder.close(is);
        if let Some(classes) = classes {
            self.builder.close(|tag| *tag == classes);
        }
    }
}

/// Tells whether a tag is of one name.
type IsOfName = fn(&Tag) -> bool;

/// The tag of a name in a file, with what tells it from others.
fn of_name(name: &str) -> Option<(&'static str, IsOfName)> {
    Some(match name {
        "i" => ("i", |tag| *tag == Tag::Italic),
        "b" => ("b", |tag| *tag == Tag::Bold),
        "u" => ("u", |tag| *tag == Tag::Underline),
        "c" => ("c", |tag| matches!(tag, Tag::Class(_))),
        "v" => ("v", |tag| matches!(tag, Tag::Voice(_))),
        "lang" => ("lang", |tag| matches!(tag, Tag::Language(_))),
        "ruby" => ("ruby", |tag| *tag == Tag::Ruby),
        "rt" => ("rt", |tag| *tag == Tag::RubyText),
        _ => return None,
    })
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
        match character_reference::read(inner) {
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
    let mut pieces = text.pieces().peekable();
    // Of the classes that are open, whether they stand on the tag within them, which is closed with them.
    let mut on_tags = Vec::new();
    let mut classes = "";
    while let Some(piece) = pieces.next() {
        match piece {
            Piece::Plain(plain) => escaped(plain, out),
            Piece::Open(tag @ Tag::Classes(names)) => {
                let is_on_tag =
                    matches!(pieces.peek(), Some(Piece::Open(tag)) if takes_classes(tag));
                on_tags.push(is_on_tag);
                if is_on_tag {
                    classes = names;
                } else {
                    write_tag(tag, "", out);
                }
            }
            Piece::Open(tag) => write_tag(tag, std::mem::take(&mut classes), out),
            Piece::Close(Tag::Classes(_)) if on_tags.pop() == Some(true) => {}
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

/// Tells whether classes can stand on a tag.
const fn takes_classes(tag: &Tag) -> bool {
    !matches!(tag, Tag::Colour(_) | Tag::Class(_) | Tag::Classes(_))
}

/// The name of the tag in a file. A colour for which the format has no class is none.
fn name(tag: &Tag) -> Option<&'static str> {
    match tag {
        Tag::Italic => Some("i"),
        Tag::Bold => Some("b"),
        Tag::Underline => Some("u"),
        Tag::Colour(colour) => colour.class().map(|_| "c"),
        Tag::Class(_) | Tag::Classes(_) => Some("c"),
        Tag::Voice(_) => Some("v"),
        Tag::Language(_) => Some("lang"),
        Tag::Ruby => Some("ruby"),
        Tag::RubyText => Some("rt"),
    }
}

fn write_tag(tag: &Tag, classes: &str, out: &mut String) {
    let Some(name) = name(tag) else { return };
    let classes = match tag {
        Tag::Colour(colour) => Colour::class(*colour).unwrap_or_default(),
        Tag::Class(own) | Tag::Classes(own) => own,
        _ => classes,
    };
    out.push('<');
    out.push_str(name);
    if !classes.is_empty() {
        out.push('.');
        out.push_str(classes);
    }
    if let Tag::Voice(annotation) | Tag::Language(annotation) = tag {
        out.push(' ');
        escaped(annotation, out);
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
