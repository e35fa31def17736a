//! Regions of TTML, and the layouts of cues that they are.

use super::super::layout::{Align, Anchor, Layout, Line, Percent, Vertical};
use super::style::Declared;

const WHOLE: i64 = 100_000;

/// A rectangle of the picture, in the directions of the text: along its lines and across them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct Area {
    along: (i64, i64),
    across: (i64, i64),
    display: Anchor,
    vertical: Option<Vertical>,
}

impl Area {
    /// The area that a region declares; none for one that says nothing about its place.
    pub(super) fn of(declared: &Declared) -> Option<Self> {
        let Declared { origin, position, extent, display, .. } = declared;
        let says_nothing = origin.is_none() && position.is_none() && extent.is_none();
        if says_nothing && display.is_none() {
            return None;
        }
        let corner = origin.unwrap_or_default();
        let (width, height) = extent.unwrap_or((WHOLE - corner.0, WHOLE - corner.1));
        let (x, y) = position.map_or(corner, |position| position.origin((width, height)));
        let vertical = declared.vertical.flatten();
        let display = declared.display.unwrap_or(Anchor::Start);
        let (along, across) = match vertical {
            None => ((x, width), (y, height)),
            Some(_) => ((y, height), (x, width)),
        };
        Some(Self { along, across, display: turned(display, vertical), vertical })
    }

    /// The area of a layout that needs one.
    pub(super) fn of_layout(layout: &Layout) -> Option<Self> {
        let Layout { vertical, line, position, size, .. } = layout;
        if vertical.is_none() && line.is_none() && position.is_none() && size.is_none() {
            return None;
        }
        let (across, display) = match line.map(Line::place) {
            None => ((0, WHOLE), Anchor::End),
            Some((share, anchor)) => {
                let at = share.thousandths();
                let across = match anchor {
                    Anchor::Start => (at, WHOLE - at),
                    Anchor::End => (0, at),
                    Anchor::Center => {
                        let half = at.min(WHOLE - at);
                        (at - half, 2 * half)
                    }
                };
                (across, anchor)
            }
        };
        let area = Self { along: layout.extent(), across, display, vertical: *vertical };
        let usual =
            Self { along: (0, WHOLE), across: (0, WHOLE), display: Anchor::End, vertical: None };
        (area != usual).then_some(area)
    }

    /// The layout of a cue in this area.
    pub(super) fn layout(&self, align: Option<Align>) -> Layout {
        let (start, depth) = self.across;
        let line = match self.display {
            Anchor::End if (start, depth) == (0, WHOLE) => None,
            anchor => Some(Line::At(Percent::of(start + anchor.within(depth)), anchor)),
        };
        let mut layout = Layout { vertical: self.vertical, line, align, ..Layout::default() };
        if self.along != (0, WHOLE) {
            let (start, length) = self.along;
            let side = layout.alignment().side();
            layout.position = Some((Percent::of(start + side.within(length)), None));
            layout.size = Some(Percent::of(length));
        }
        layout
    }

    /// Writes the attributes of a region.
    pub(super) fn write(&self, out: &mut String) {
        let (x, y) = if self.vertical.is_some() {
            (self.across, self.along)
        } else {
            (self.along, self.across)
        };
        let display = match turned(self.display, self.vertical) {
            Anchor::Start => "before",
            Anchor::Center => "center",
            Anchor::End => "after",
        };
        let [left, top, width, height] = [x.0, y.0, x.1, y.1].map(Percent::of);
        out.push_str(&format!(
            " tts:origin=\"{left} {top}\" tts:extent=\"{width} {height}\" tts:displayAlign=\"{display}\""
        ));
        match self.vertical {
            Some(Vertical::RightToLeft) => out.push_str(" tts:writingMode=\"tbrl\""),
            Some(Vertical::LeftToRight) => out.push_str(" tts:writingMode=\"tblr\""),
            None => {}
        }
    }
}

/// The edge as TTML names it: text whose lines follow each other to the left begins at the right.
const fn turned(anchor: Anchor, vertical: Option<Vertical>) -> Anchor {
    match (anchor, vertical) {
        (Anchor::Start, Some(Vertical::RightToLeft)) => Anchor::End,
        (Anchor::End, Some(Vertical::RightToLeft)) => Anchor::Start,
        _ => anchor,
    }
}
