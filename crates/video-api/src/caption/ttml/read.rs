//! Reading of TTML: one walk over the elements, with the times, styles and regions that they hand down.

use std::collections::HashMap;
use std::rc::Rc;

use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

use super::super::cue::{Cue, Track};
use super::super::encoding::is_unshown;
use super::super::error::{Error, Problem};
use super::super::layout::Layout;
use super::super::limits::{DEFINITIONS_MAX, ELEMENT_DEPTH_MAX};
use super::super::text::{TextBuilder, is_language};
use super::super::time::MediaTime;
use super::attribute::{Attributes, Name};
use super::frame::Frame;
use super::region::Area;
use super::style::{Declared, Inherited, Styles};
use super::timing::Clock;

/// The end of what has none.
const OPEN: MediaTime = MediaTime::MAX;
/// The time that the last cue is shown if nothing says so.
const LAST_MILLIS: u64 = 4_000;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Root,
    Head,
    Title,
    Region,
    Content,
    Paragraph,
    Span,
    /// A style or a break: without content.
    Empty,
}

/// An open element.
#[derive(Debug, Clone)]
struct Element {
    kind: Kind,
    begin: MediaTime,
    end: MediaTime,
    /// Children follow each other instead of running side by side.
    is_sequence: bool,
    /// The end of the last child, or of the one that ends last.
    children_end: MediaTime,
    has_end: bool,
    /// It is not shown, nor is anything within it: it is said to be so, or ends before it begins because of what is around it.
    is_left_out: bool,
    /// It holds a text of its own.
    is_timed: bool,
    inherited: Inherited,
    region: Option<usize>,
    preserves_space: bool,
    language: Option<Rc<str>>,
}

/// A cue in the making.
#[derive(Debug)]
struct Open {
    cue: Cue,
    text: TextBuilder,
    region: Option<usize>,
    inherited: Inherited,
    /// It is a cue also without text.
    stands_empty: bool,
}

#[derive(Default)]
struct Walk {
    track: Track,
    clock: Clock,
    frame: Frame,
    styles: Styles,
    regions: Vec<Declared>,
    region_names: HashMap<String, usize>,
    elements: Vec<Element>,
    cues: Vec<Open>,
    /// Open elements that say nothing, in each other.
    skipped: usize,
    has_root: bool,
    has_times: bool,
}

/// Reads a document.
///
/// # Errors
/// XML that is not well-formed, has another root, a document type or entities of its own; times and rates that cannot be read; and more
/// than a track takes.
pub fn read(text: &str) -> Result<Track, Error> {
    let mut reader = Reader::from_str(text);
    let mut walk = Walk::default();
    loop {
        let before = usize::try_from(reader.buffer_position()).unwrap_or(usize::MAX);
        let event = reader.read_event().map_err(|error| match error {
            quick_xml::Error::IllFormed(error) => Problem::Xml(error.to_string()),
            error => Problem::Xml(error.to_string()),
        });
        let done = event.and_then(|event| match event {
            Event::Eof => Ok(true),
            event => walk.event(event).map(|()| false),
        });
        match done {
            Ok(false) => {}
            Ok(true) => break,
            Err(problem) => return Err(Error::at(line_of(text, before), problem)),
        }
    }
    let problem = if !walk.elements.is_empty() || walk.skipped > 0 {
        Problem::Xml("an element is not closed".to_owned())
    } else if !walk.has_root {
        Problem::Root
    } else if !walk.has_times && !walk.track.cues.is_empty() {
        Problem::NoTimeCodes
    } else {
        walk.track.close_ends(OPEN, MediaTime::from_millis(LAST_MILLIS));
        return Ok(walk.track);
    };
    Err(Error::at(line_of(text, text.len()), problem))
}

/// The line of the first thing that is no blank from `place` on.
fn line_of(text: &str, place: usize) -> usize {
    let (before, after) = text.split_at_checked(place).unwrap_or((text, ""));
    let blanks = after.len() - after.trim_start().len();
    let ends = |text: &str| memchr::memchr_iter(b'\n', text.as_bytes()).count();
    1 + ends(before)
        + ends(after.get(..blanks).filter(|_| blanks < after.len()).unwrap_or_default())
}

impl Walk {
    fn event(&mut self, event: Event<'_>) -> Result<(), Problem> {
        match event {
            Event::Start(tag) => self.start(&tag),
            Event::Empty(tag) => {
                self.start(&tag)?;
                self.end()
            }
            Event::End(_) => self.end(),
            Event::Text(text) => {
                self.text(&text.xml10_content());
                Ok(())
            }
            Event::CData(text) => {
                self.text(&text.xml10_content());
                Ok(())
            }
            Event::GeneralRef(reference) => {
                let name = reference.xml10_content();
                let found = reference
                    .resolve_char_ref()
                    .map_err(|error| Problem::Xml(error.to_string()))?;
                let c = match (found, &*name) {
                    (Some(c), _) if is_unshown(c) => char::REPLACEMENT_CHARACTER,
                    (Some(c), _) => c,
                    (None, "lt") => '<',
                    (None, "gt") => '>',
                    (None, "amp") => '&',
                    (None, "apos") => '\'',
                    (None, "quot") => '"',
                    (None, other) => return Err(Problem::Entity(other.chars().take(40).collect())),
                };
                self.text(c.encode_utf8(&mut [0; 4]));
                Ok(())
            }
            Event::DocType(_) => Err(Problem::DocumentType),
            Event::Eof | Event::Decl(_) | Event::PI(_) | Event::Comment(_) => Ok(()),
        }
    }

    fn start(&mut self, tag: &BytesStart<'_>) -> Result<(), Problem> {
        if self.elements.len() + self.skipped >= ELEMENT_DEPTH_MAX {
            return Err(Problem::TooDeep);
        }
        if self.skipped > 0 {
            self.skipped += 1;
            return Ok(());
        }
        let local = tag.local_name();
        let name: &str = local.as_ref();
        let parent = self.elements.last().map(|element| element.kind);
        let kind = match (parent, name) {
            (None, "tt") if !self.has_root => Kind::Root,
            (None, _) => return Err(Problem::Root),
            (Some(Kind::Root), "head") | (Some(Kind::Head), "metadata" | "styling" | "layout") => {
                Kind::Head
            }
            (Some(Kind::Head), "title") => Kind::Title,
            (Some(Kind::Head), "region") => Kind::Region,
            (Some(Kind::Head | Kind::Region), "style") => Kind::Empty,
            (Some(Kind::Root), "body") | (Some(Kind::Content), "div") => Kind::Content,
            (Some(Kind::Content), "p") => Kind::Paragraph,
            (Some(Kind::Paragraph | Kind::Span), "span") => Kind::Span,
            (Some(Kind::Paragraph | Kind::Span), "br") => Kind::Empty,
            _ => {
                self.skipped = 1;
                return Ok(());
            }
        };
        let attributes = Attributes::of(tag)?;
        self.open(kind, parent, &attributes)
    }

    fn open(
        &mut self,
        kind: Kind,
        parent: Option<Kind>,
        attributes: &Attributes<'_>,
    ) -> Result<(), Problem> {
        if kind == Kind::Root {
            self.has_root = true;
            self.clock = Clock::of(attributes)?;
            self.frame = Frame::of(attributes);
            self.track.language =
                attributes.get(Name::Lang).filter(|tag| is_language(tag)).map(str::to_owned);
        }
        let mut element = self.element(kind, attributes)?;
        match (kind, parent) {
            (Kind::Empty, Some(Kind::Head)) => {
                let own = Declared::of(attributes, &self.frame);
                self.styles.define(attributes, own)?;
            }
            (Kind::Empty, Some(Kind::Region)) => {
                let own = self.declarations(attributes);
                if let Some(region) = self.regions.last_mut() {
                    // What stands on the region itself counts for more.
                    *region = own.merge(*region);
                }
            }
            (Kind::Empty, _) => self.line_break(),
            (Kind::Region, _) => {
                if self.regions.len() >= DEFINITIONS_MAX {
                    return Err(Problem::TooManyDefinitions);
                }
                let own = self.declarations(attributes);
                let id = attributes.get(Name::Id).unwrap_or_default().to_owned();
                self.region_names.entry(id).or_insert(self.regions.len());
                self.regions.push(own);
            }
            (Kind::Paragraph, _) => self.open_cue(&mut element, attributes),
            (Kind::Span, _) if is_timed(attributes) => self.open_cue(&mut element, attributes),
            (Kind::Span, _) => {
                let region = element.region;
                if let Some(open) = self.cues.last_mut().filter(|open| open.region.is_none()) {
                    open.region = region;
                }
            }
            _ => {}
        }
        self.elements.push(element);
        Ok(())
    }

    /// An element with what it has of its own and what its parent hands down.
    fn element(&mut self, kind: Kind, attributes: &Attributes<'_>) -> Result<Element, Problem> {
        let parent = self.elements.last();
        let (reference, limit) = parent.map_or((MediaTime::ZERO, OPEN), |parent| {
            (if parent.is_sequence { parent.children_end } else { parent.begin }, parent.end)
        });
        let is_content = matches!(kind, Kind::Content | Kind::Paragraph | Kind::Span);
        let time = |name: Name| match attributes.get(name).filter(|_| is_content) {
            Some(text) => self.clock.parse(text).map(Some),
            None => Ok(None),
        };
        let (begin, end, length) = (time(Name::Begin)?, time(Name::End)?, time(Name::Dur)?);
        let begin_at = reference.plus(begin.unwrap_or_default());
        let ends = [
            end.map(|end| reference.plus(end)),
            length.map(|length| begin_at.plus(length)),
            Some(limit),
        ];
        let end_at = ends.into_iter().flatten().min().unwrap_or(limit);
        let region =
            attributes.get(Name::Region).and_then(|name| self.region_names.get(name).copied());
        let space = attributes.get(Name::Space);
        let language = attributes.get(Name::Lang).map(Rc::from);
        let mut element = Element {
            kind,
            begin: begin_at,
            end: end_at,
            is_sequence: attributes.get(Name::TimeContainer) == Some("seq"),
            children_end: begin_at,
            has_end: end.is_some() || length.is_some(),
            is_left_out: parent.is_some_and(|parent| parent.is_left_out)
                || limit < OPEN && (limit < begin_at || limit == begin_at && reference < begin_at),
            is_timed: false,
            inherited: Inherited::default(),
            region: region.or_else(|| parent.and_then(|parent| parent.region)),
            preserves_space: space
                .map_or_else(|| parent.is_some_and(|p| p.preserves_space), |s| s == "preserve"),
            language: language.or_else(|| parent.and_then(|parent| parent.language.clone())),
        };
        self.has_times |= begin.is_some() || end.is_some() || length.is_some();
        if is_content || kind == Kind::Root {
            let inherited = self.elements.last().map(|parent| parent.inherited).unwrap_or_default();
            if region.is_none() && !Declared::may_be_of(attributes) {
                element.inherited = inherited;
                return Ok(element);
            }
            let of_region =
                region.and_then(|index| self.regions.get(index)).copied().unwrap_or_default();
            let own = self.declarations(attributes);
            element.is_left_out |= own.is_displayed == Some(false);
            element.inherited = of_region.inherited.merge(inherited).merge(own.inherited);
        }
        Ok(element)
    }

    /// The style that an element declares by the styles that it names, and by itself.
    fn declarations(&mut self, attributes: &Attributes<'_>) -> Declared {
        let named =
            attributes.get(Name::Style).map(|names| self.styles.resolve(names)).unwrap_or_default();
        named.merge(Declared::of(attributes, &self.frame))
    }

    fn open_cue(&mut self, element: &mut Element, attributes: &Attributes<'_>) {
        element.is_timed = true;
        let mut cue =
            Cue { start: element.begin, end: element.end.max(element.begin), ..Cue::default() };
        cue.id = attributes.get(Name::Id).filter(|id| !id.is_empty()).map(Into::into);
        self.cues.push(Open {
            cue,
            text: TextBuilder::default(),
            region: element.region,
            inherited: element.inherited,
            stands_empty: is_timed(attributes) && !self.is_hidden(element),
        });
    }

    fn end(&mut self) -> Result<(), Problem> {
        if self.skipped > 0 {
            self.skipped -= 1;
            return Ok(());
        }
        let Some(element) = self.elements.pop() else { return Ok(()) };
        if element.kind == Kind::Title {
            let words: Vec<_> =
                self.track.title.iter().flat_map(|title| title.split_ascii_whitespace()).collect();
            self.track.title = Some(words.join(" ")).filter(|title| !title.is_empty());
        }
        let end = if element.has_end
            || element.kind == Kind::Paragraph && element.children_end == element.begin
        {
            element.end
        } else {
            element.children_end
        };
        if let Some(parent) = self.elements.last_mut() {
            parent.children_end = parent.children_end.max(end);
        }
        if element.is_timed
            && let Some(mut open) = self.cues.pop()
        {
            if !element.preserves_space {
                open.text.trim_end();
            }
            if element.kind == Kind::Span
                && let Some(outer) = self.cues.last_mut()
            {
                outer.stands_empty = false;
            }
            return self.close_cue(open);
        }
        Ok(())
    }

    fn close_cue(&mut self, open: Open) -> Result<(), Problem> {
        let mut cue = open.cue;
        cue.text = open.text.finish();
        if cue.text.as_str().trim_matches([' ', '\n']).is_empty() && !open.stands_empty {
            return Ok(());
        }
        let region = open.region.and_then(|index| self.regions.get(index));
        // The middle is where captions stand anyway.
        let align =
            open.inherited.align.filter(|align| *align != super::super::layout::Align::Center);
        let layout = match region.and_then(Area::of) {
            Some(area) => area.layout(align),
            None => Layout { align, ..Layout::default() },
        };
        cue.layout = layout.boxed();
        self.track.push(cue)
    }

    /// Tells whether nobody sees the texts of an element.
    fn is_hidden(&self, element: &Element) -> bool {
        let region = element.region.and_then(|index| self.regions.get(index));
        element.is_left_out
            || element.inherited.is_hidden()
            || region.is_some_and(|region| region.is_displayed == Some(false))
    }

    fn line_break(&mut self) {
        let preserves = self.elements.last().is_some_and(|element| element.preserves_space);
        if let Some(open) = self.cues.last_mut() {
            if !preserves {
                open.text.trim_end();
            }
            open.text.push('\n');
        }
    }

    fn text(&mut self, text: &str) {
        let Some(element) = self.elements.last().filter(|_| self.skipped == 0) else { return };
        if element.kind == Kind::Title {
            let title = self.track.title.get_or_insert_default();
            title.push_str(text);
            return;
        }
        if !matches!(element.kind, Kind::Paragraph | Kind::Span) {
            return;
        }
        if self.is_hidden(element) {
            // A cue of hidden text alone is none.
            if let Some(open) = self.cues.last_mut().filter(|_| !text.trim().is_empty()) {
                open.stands_empty = false;
            }
            return;
        }
        let Some(open) = self.cues.last_mut() else { return };
        let language =
            element.language.as_deref().filter(|tag| Some(*tag) != self.track.language.as_deref());
        let language = language.filter(|tag| is_language(tag));
        if element.preserves_space {
            open.text.set_style(element.inherited.style(), language);
            open.text.push_str(&text.replace('\r', "\n"));
            return;
        }
        open.text.reserve(text.len());
        let joins = || open.text.as_str().is_empty() || open.text.as_str().ends_with([' ', '\n']);
        if !text.is_empty() && is_collapsed(text) && !(text.starts_with(' ') && joins()) {
            open.text.set_style(element.inherited.style(), language);
            open.text.push_str(text);
            return;
        }
        let mut is_styled = false;
        for (number, word) in text.split([' ', '\t', '\n', '\r']).enumerate() {
            let so_far = open.text.as_str();
            let parts_words = number > 0 && !so_far.is_empty() && !so_far.ends_with([' ', '\n']);
            if (parts_words || !word.is_empty()) && !is_styled {
                open.text.set_style(element.inherited.style(), language);
                is_styled = true;
            }
            if parts_words {
                open.text.push(' ');
            }
            open.text.push_str(word);
        }
    }
}

/// Tells whether a text has no blanks but single spaces.
fn is_collapsed(text: &str) -> bool {
    // Without a way out of the loops, so that the compiler takes many bytes at once.
    let bytes = text.as_bytes();
    let is_other = |byte: &u8| matches!(byte, b'\t' | b'\n' | b'\r');
    let has_other = bytes.iter().fold(false, |found, byte| found | is_other(byte));
    let pairs = bytes.iter().zip(bytes.iter().skip(1));
    !has_other && !pairs.fold(false, |found, pair| found | (pair == (&b' ', &b' ')))
}

fn is_timed(attributes: &Attributes<'_>) -> bool {
    attributes.has(&[Name::Begin, Name::End, Name::Dur])
}
