//! Text of a cue: plain text with lines, and marks that say where a style begins and ends.

use std::borrow::Cow;

use super::colour::Colour;
use super::limits::{CUE_MARKS_MAX, TAG_DEPTH_MAX};
use super::lines::{self, is_blank};
use super::time::MediaTime;

/// The meaning of a stretch of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Tag {
    /// Italics.
    Italic,
    /// Bold.
    Bold,
    /// Underline.
    Underline,
    /// A colour.
    Colour(Colour),
    /// Classes of WebVTT, joined by dots.
    Class(Box<str>),
    /// Classes of the tag that begins right within this one.
    Classes(Box<str>),
    /// The one who speaks.
    Voice(Box<str>),
    /// A language.
    Language(Box<str>),
    /// A ruby base with its annotations.
    Ruby,
    /// A ruby annotation.
    RubyText,
}

/// A change within a text.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Mark {
    Open(Tag),
    /// Closes what was opened last.
    Close,
    /// From here on the text is shown from this time on.
    At(MediaTime),
}

/// Tells whether a text may be a language's tag: letters, digits and hyphens.
pub(super) fn is_language(tag: &str) -> bool {
    !tag.is_empty() && tag.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// A text of lines, with its tags nested and closed.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Text {
    plain: String,
    /// Places in `plain`, in order.
    marks: Vec<(usize, Mark)>,
}

/// A piece of a text, in the order that a writer meets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'t> {
    /// Characters, with line feeds between lines.
    Plain(&'t str),
    /// A tag begins.
    Open(&'t Tag),
    /// A tag ends: the one that began last.
    Close(&'t Tag),
    /// A time from which on the rest is shown.
    At(MediaTime),
}

/// The look of a character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Style {
    /// In italics.
    pub italic: bool,
    /// Bold.
    pub bold: bool,
    /// Underlined.
    pub underline: bool,
    /// In a colour of its own.
    pub colour: Option<Colour>,
}

/// Characters of one line that look the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Run<'t> {
    /// The characters.
    pub text: &'t str,
    /// Their look.
    pub style: Style,
}

impl Text {
    /// A text without tags.
    #[must_use]
    pub fn plain(text: impl Into<String>) -> Self {
        Self { plain: text.into(), marks: Vec::new() }
    }

    /// The characters alone, with line feeds between lines.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.plain
    }

    /// Tells whether there are no characters.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.plain.is_empty()
    }

    /// The number of tags' beginnings and ends.
    pub(super) fn mark_count(&self) -> usize {
        self.marks.len()
    }

    /// The pieces in order; tags are nested.
    pub fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        let mut open: Vec<&Tag> = Vec::new();
        let mut marks = self.marks.iter().peekable();
        let mut place = 0;
        std::iter::from_fn(move || {
            let next = marks.peek().map_or(self.plain.len(), |(at, _)| *at);
            if place < next {
                let plain = self.plain.get(place..next).unwrap_or_default();
                place = next;
                return Some(Piece::Plain(plain));
            }
            match &marks.next()?.1 {
                Mark::Open(tag) => {
                    open.push(tag);
                    Some(Piece::Open(tag))
                }
                Mark::Close => open.pop().map(Piece::Close),
                Mark::At(time) => Some(Piece::At(*time)),
            }
        })
    }

    /// The lines, each as runs of one look. A line without characters has no run.
    #[must_use]
    pub fn runs(&self) -> Vec<Vec<Run<'_>>> {
        let mut lines = vec![Vec::new()];
        let mut outer = Vec::new();
        let mut style = Style::default();
        for piece in self.pieces() {
            match piece {
                Piece::Open(tag) => {
                    outer.push(style);
                    style = style.with(tag);
                }
                Piece::Close(_) => style = outer.pop().unwrap_or_default(),
                Piece::At(_) => {}
                Piece::Plain(plain) => {
                    for (number, text) in plain.split('\n').enumerate() {
                        if number > 0 {
                            lines.push(Vec::new());
                        }
                        if let Some(line) = lines.last_mut().filter(|_| !text.is_empty()) {
                            line.push(Run { text, style });
                        }
                    }
                }
            }
        }
        lines
    }

    /// The same text without lines that hold blanks alone: most formats take such a line for the end of the cue.
    #[must_use]
    pub fn without_blank_lines(&self) -> Cow<'_, Self> {
        if self.plain.is_empty() || !lines::of_plain(&self.plain).any(is_blank) {
            return Cow::Borrowed(self);
        }
        let mut kept = Self::default();
        let mut marks = self.marks.iter().peekable();
        let mut start = 0;
        for line in self.plain.split('\n') {
            let end = start + line.len();
            let keeps = !is_blank(line);
            if keeps && !kept.plain.is_empty() {
                kept.plain.push('\n');
            }
            let new = kept.plain.len();
            while let Some((at, mark)) = marks.next_if(|(at, _)| *at <= end) {
                kept.mark_at(if keeps { new + at - start } else { new }, mark.clone());
            }
            if keeps {
                kept.plain.push_str(line);
            }
            start = end + 1;
        }
        Cow::Owned(kept)
    }

    /// Adds a mark; the end of a tag that nothing stands in takes the tag away.
    fn mark_at(&mut self, at: usize, mark: Mark) {
        if mark == Mark::Close {
            let is_time = |(_, mark): &&(usize, Mark)| matches!(mark, Mark::At(_));
            let times = self.marks.iter().rev().take_while(is_time).count();
            let opened = self.marks.len().checked_sub(times + 1);
            if let Some((begin, Mark::Open(_))) = opened.and_then(|index| self.marks.get(index))
                && *begin == at
            {
                self.marks.remove(opened.unwrap_or_default());
                return;
            }
        }
        self.marks.push((at, mark));
    }
}

impl Style {
    /// The look of what stands within `tag`.
    pub(super) fn with(self, tag: &Tag) -> Self {
        match tag {
            Tag::Italic => Self { italic: true, ..self },
            Tag::Bold => Self { bold: true, ..self },
            Tag::Underline => Self { underline: true, ..self },
            Tag::Colour(colour) => Self { colour: Some(*colour), ..self },
            Tag::Class(names) | Tag::Classes(names) => {
                Self { colour: names.split('.').find_map(Colour::of_class).or(self.colour), ..self }
            }
            Tag::Voice(_) | Tag::Language(_) | Tag::Ruby | Tag::RubyText => self,
        }
    }

    /// The tags that make this look, outermost first.
    fn tags(self) -> impl Iterator<Item = Tag> {
        let colour = self.colour.map(Tag::Colour);
        let flags =
            [(self.bold, Tag::Bold), (self.italic, Tag::Italic), (self.underline, Tag::Underline)];
        colour.into_iter().chain(flags.into_iter().filter(|(is, _)| *is).map(|(_, tag)| tag))
    }
}

/// A text in the making: tags that are closed in another order than they were opened, or never, come out nested.
#[derive(Debug, Default)]
pub(super) struct TextBuilder {
    text: Text,
    open: Vec<Tag>,
    /// Tags that were not taken, since too many are open: their ends are not taken either.
    ignored: usize,
}

impl TextBuilder {
    /// The characters so far.
    pub(super) fn as_str(&self) -> &str {
        &self.text.plain
    }

    /// Makes room for that many more bytes.
    pub(super) fn reserve(&mut self, bytes: usize) {
        self.text.plain.reserve(bytes);
    }

    /// Appends characters; line feeds part lines.
    pub(super) fn push_str(&mut self, text: &str) {
        self.text.plain.push_str(text);
    }

    /// Appends a character.
    pub(super) fn push(&mut self, c: char) {
        self.text.plain.push(c);
    }

    /// Begins a tag.
    pub(super) fn open(&mut self, tag: Tag) {
        if self.open.len() >= TAG_DEPTH_MAX || self.text.marks.len() >= CUE_MARKS_MAX {
            self.ignored = self.ignored.saturating_add(1);
            return;
        }
        self.mark(Mark::Open(tag.clone()));
        self.open.push(tag);
    }

    /// Ends the innermost tag for which `is` holds; those within it end and begin anew. An end without a beginning is nothing.
    pub(super) fn close(&mut self, is: impl Fn(&Tag) -> bool) {
        if self.ignored > 0 {
            self.ignored -= 1;
            return;
        }
        let Some(at) = self.open.iter().rposition(is) else { return };
        if at + 1 == self.open.len() {
            self.open.pop();
            return self.mark(Mark::Close);
        }
        let inner = self.open.split_off(at);
        for _ in &inner {
            self.mark(Mark::Close);
        }
        for tag in inner.into_iter().skip(1) {
            self.mark(Mark::Open(tag.clone()));
            self.open.push(tag);
        }
    }

    /// Ends all tags that are open.
    pub(super) fn close_all(&mut self) {
        while self.open.pop().is_some() {
            self.mark(Mark::Close);
        }
        self.ignored = 0;
    }

    /// Says from when on the rest is shown.
    pub(super) fn at(&mut self, time: MediaTime) {
        if self.text.marks.len() < CUE_MARKS_MAX {
            self.mark(Mark::At(time));
        }
    }

    /// Opens and closes what has to be, so that what follows has this look and language. For formats that give each stretch its whole look.
    pub(super) fn set_style(&mut self, style: Style, language: Option<&str>) {
        if language.is_none() && self.is_styled(style) {
            return;
        }
        let language = language.map(|name| Tag::Language(name.into()));
        let wanted = || language.iter().cloned().chain(style.tags());
        let shared = self.open.iter().zip(wanted()).take_while(|(open, tag)| *open == tag).count();
        while self.open.len() > shared {
            self.open.pop();
            self.mark(Mark::Close);
        }
        wanted().skip(shared).for_each(|tag| self.open(tag));
    }

    /// Tells whether the tags that are open are those of this look alone.
    fn is_styled(&self, style: Style) -> bool {
        if self.open.is_empty() || style == Style::default() {
            return self.open.is_empty() && style == Style::default();
        }
        let mut open = self.open.iter();
        style.tags().all(|tag| open.next() == Some(&tag)) && open.next().is_none()
    }

    /// Takes away spaces at the end, as collapsing formats do before a line ends.
    pub(super) fn trim_end(&mut self) {
        let length = self.text.plain.trim_end_matches(' ').len();
        self.text.plain.truncate(length);
        for (at, _) in self.text.marks.iter_mut().rev().take_while(|(at, _)| *at > length) {
            *at = length;
        }
    }

    /// The text, with every tag closed.
    pub(super) fn finish(mut self) -> Text {
        self.take()
    }

    /// The same, and begins another text.
    pub(super) fn take(&mut self) -> Text {
        self.close_all();
        std::mem::take(&mut self.text)
    }

    fn mark(&mut self, mark: Mark) {
        self.text.mark_at(self.text.plain.len(), mark);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(text: &Text) -> String {
        text.pieces()
            .map(|piece| match piece {
                Piece::Plain(plain) => plain.to_owned(),
                Piece::Open(tag) => format!("<{tag:?}>"),
                Piece::Close(tag) => format!("</{tag:?}>"),
                Piece::At(time) => format!("<{}>", time.millis()),
            })
            .collect()
    }

    #[test]
    fn tags_that_cross_come_out_nested() {
        let mut builder = TextBuilder::default();
        builder.open(Tag::Italic);
        builder.push_str("a");
        builder.open(Tag::Bold);
        builder.push_str("b");
        builder.close(|tag| *tag == Tag::Italic);
        builder.push_str("c");
        assert_eq!(shape(&builder.finish()), "<Italic>a<Bold>b</Bold></Italic><Bold>c</Bold>");
    }

    #[test]
    fn tags_around_nothing_and_ends_of_nothing_leave_nothing() {
        let mut builder = TextBuilder::default();
        builder.close(|tag| *tag == Tag::Bold);
        builder.open(Tag::Italic);
        builder.close(|tag| *tag == Tag::Italic);
        builder.push_str("x");
        builder.open(Tag::Bold);
        assert_eq!(builder.finish(), Text::plain("x"));
    }

    #[test]
    fn tags_deeper_than_the_limit_are_left_out_with_their_ends() {
        let mut builder = TextBuilder::default();
        for _ in 0..1_000 {
            builder.open(Tag::Italic);
        }
        builder.push_str("x");
        for _ in 0..1_000 {
            builder.close(|tag| *tag == Tag::Italic);
        }
        builder.push_str("y");
        let text = builder.finish();
        assert_eq!(text.mark_count(), 2 * TAG_DEPTH_MAX);
        assert_eq!(text.runs()[0].len(), 2);
        assert!(!text.runs()[0][1].style.italic);
    }

    #[test]
    fn blank_lines_go_and_the_tags_around_them_stay() {
        let mut builder = TextBuilder::default();
        builder.push_str("\n \na");
        builder.open(Tag::Italic);
        builder.push_str("b\n\n");
        builder.close(|tag| *tag == Tag::Italic);
        builder.push_str("c\n");
        let text = builder.finish();
        assert_eq!(shape(&text.without_blank_lines()), "a<Italic>b\n</Italic>c");
    }

    #[test]
    fn a_style_is_reached_by_what_has_to_change() {
        let mut builder = TextBuilder::default();
        let bold = Style { bold: true, ..Style::default() };
        builder.set_style(bold, None);
        builder.push_str("a");
        builder.set_style(Style { italic: true, ..bold }, None);
        builder.push_str("b  ");
        builder.trim_end();
        builder.set_style(Style::default(), Some("fr"));
        builder.push_str("c");
        assert_eq!(
            shape(&builder.finish()),
            "<Bold>a<Italic>b</Italic></Bold><Language(\"fr\")>c</Language(\"fr\")>"
        );
    }

    #[test]
    fn runs_are_parted_by_lines_and_looks() {
        let mut builder = TextBuilder::default();
        builder.push_str("a");
        builder.open(Tag::Class("loud.red".into()));
        builder.push_str("b\nc");
        let text = builder.finish();
        let red = Style { colour: Some(Colour::of(0xff_0000)), ..Style::default() };
        assert_eq!(
            text.runs(),
            [
                vec![Run { text: "a", style: Style::default() }, Run { text: "b", style: red }],
                vec![Run { text: "c", style: red }],
            ]
        );
    }
}
