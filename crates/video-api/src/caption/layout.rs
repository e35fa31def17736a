//! Places of cues on the picture. The terms are those of WebVTT, which can say what the other formats say.

use std::fmt::{self, Display};

use super::time::{number, parse_fraction};

/// A share of the picture's width or height, in thousandths of a percent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Percent(u32);

/// The alignment of lines of text within their box.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Align {
    /// The place where the text's direction starts.
    Start,
    /// In the middle, which is the default.
    Center,
    /// The place where the text's direction ends.
    End,
    /// At the left.
    Left,
    /// At the right.
    Right,
}

/// The point of a box that a place names.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Anchor {
    /// Its start: top or left.
    Start,
    /// Its middle.
    Center,
    /// Its end: bottom or right.
    End,
}

/// The place of a box across the lines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Line {
    /// A line, counted from 0 at the top, or from -1 at the bottom.
    Row(i32),
    /// A share of the height, at which the box has its anchor.
    At(Percent, Anchor),
}

/// The direction of vertical text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Vertical {
    /// Lines follow each other to the left.
    RightToLeft,
    /// Lines follow each other to the right.
    LeftToRight,
}

/// A place on the picture. What is absent has the default: at the bottom, in the middle, as wide as the picture.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Layout {
    /// Vertical text.
    pub vertical: Option<Vertical>,
    /// The place across the lines.
    pub line: Option<Line>,
    /// The place along the lines, with the point of the box that it names, if that does not follow from `align`.
    pub position: Option<(Percent, Option<Anchor>)>,
    /// The width of the box.
    pub size: Option<Percent>,
    /// The alignment of the text.
    pub align: Option<Align>,
    /// The region's name.
    pub region: Option<Box<str>>,
}

/// A region of WebVTT.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Region {
    /// Its name.
    pub id: String,
    /// Its width.
    pub width: Percent,
    /// Its height in lines.
    pub lines: u32,
    /// The point of it that lies on `viewport_anchor`.
    pub anchor: (Percent, Percent),
    /// A point of the picture.
    pub viewport_anchor: (Percent, Percent),
    /// Lines scroll up.
    pub scroll: bool,
}

impl Percent {
    /// Nothing.
    pub const ZERO: Self = Self(0);
    /// Half.
    pub const HALF: Self = Self(50_000);
    /// The whole.
    pub const FULL: Self = Self(100_000);
    /// The height of one line of WebVTT: 5.33 % of the picture's.
    pub const LINE: Self = Self(5_330);

    /// A share in thousandths of a percent, at most the whole.
    #[must_use]
    pub fn of(thousandths: i64) -> Self {
        Self(u32::try_from(thousandths.clamp(0, 100_000)).unwrap_or_default())
    }

    /// Thousandths of a percent.
    #[must_use]
    pub fn thousandths(self) -> i64 {
        i64::from(self.0)
    }

    /// Reads `12.5%`, between 0 and 100.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        let digits = text.strip_suffix('%')?;
        let (whole, fraction) =
            digits.split_once('.').map_or((digits, None), |(w, f)| (w, Some(f)));
        if fraction.is_some_and(str::is_empty) {
            return None;
        }
        let fraction = parse_fraction(fraction.unwrap_or_default())? / 1_000_000;
        let thousandths = number(whole, 100)? * 1_000 + fraction;
        u32::try_from(thousandths).ok().map(Self).filter(|share| *share <= Self::FULL)
    }
}

impl Display for Percent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (whole, fraction) = (self.0 / 1_000, self.0 % 1_000);
        match fraction {
            0 => write!(f, "{whole}%"),
            _ if fraction % 100 == 0 => write!(f, "{whole}.{}%", fraction / 100),
            _ if fraction % 10 == 0 => write!(f, "{whole}.{:02}%", fraction / 10),
            _ => write!(f, "{whole}.{fraction:03}%"),
        }
    }
}

impl Align {
    /// Each with its name, which WebVTT and TTML share.
    pub(super) const NAMES: [(Self, &'static str); 5] = [
        (Self::Start, "start"),
        (Self::Center, "center"),
        (Self::End, "end"),
        (Self::Left, "left"),
        (Self::Right, "right"),
    ];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES.iter().find(|(align, _)| *align == self).map_or("center", |(_, name)| name)
    }

    /// The alignment of that name.
    #[must_use]
    pub fn parse(name: &str) -> Option<Self> {
        Self::NAMES.iter().find(|(_, own)| *own == name).map(|(align, _)| *align)
    }

    /// The side of a box that the text keeps to.
    pub(super) const fn side(self) -> Anchor {
        match self {
            Self::Start | Self::Left => Anchor::Start,
            Self::Center => Anchor::Center,
            Self::End | Self::Right => Anchor::End,
        }
    }
}

impl Anchor {
    /// The distance from the start of a box of that `length` to this point.
    pub(super) const fn within(self, length: i64) -> i64 {
        match self {
            Self::Start => 0,
            Self::Center => length / 2,
            Self::End => length,
        }
    }
}

impl Line {
    /// The share of the height and the anchor: a row is taken as high as a line of WebVTT.
    pub(super) fn place(self) -> (Percent, Anchor) {
        match self {
            Self::At(share, anchor) => (share, anchor),
            Self::Row(row) if row < 0 => {
                let above = (i64::from(row) + 1).saturating_mul(Percent::LINE.thousandths());
                (Percent::of(100_000 + above), Anchor::End)
            }
            Self::Row(row) => {
                (Percent::of(i64::from(row) * Percent::LINE.thousandths()), Anchor::Start)
            }
        }
    }
}

impl Layout {
    /// The layout, unless it says nothing.
    #[must_use]
    pub fn boxed(self) -> Option<Box<Self>> {
        (self != Self::default()).then(|| Box::new(self))
    }

    /// The alignment, which is in the middle by default.
    pub(super) fn alignment(&self) -> Align {
        self.align.unwrap_or(Align::Center)
    }

    /// The left edge and the width of the box, in thousandths of a percent, as WebVTT computes them.
    pub(super) fn extent(&self) -> (i64, i64) {
        let side = self.alignment().side();
        let (position, anchor) = match self.position {
            Some((share, anchor)) => (share.thousandths(), anchor.unwrap_or(side)),
            None => (side.within(100_000), side),
        };
        let most = match anchor {
            Anchor::Start => 100_000 - position,
            Anchor::Center => position.min(100_000 - position) * 2,
            Anchor::End => position,
        };
        let width = self.size.unwrap_or(Percent::FULL).thousandths().min(most);
        (position - anchor.within(width), width)
    }
}

impl Region {
    /// A region of that name, with the defaults of WebVTT.
    #[must_use]
    pub fn new(id: String) -> Self {
        let bottom = (Percent::ZERO, Percent::FULL);
        Self {
            id,
            width: Percent::FULL,
            lines: 3,
            anchor: bottom,
            viewport_anchor: bottom,
            scroll: false,
        }
    }

    /// The place that the region gives to a cue, for formats without regions of this kind.
    pub(super) fn layout(&self, align: Option<Align>) -> Layout {
        let height = Percent::LINE.thousandths() * i64::from(self.lines.min(18));
        let corner = |viewport: Percent, anchor: Percent, length: i64| {
            viewport.thousandths() - anchor.thousandths() * length / 100_000
        };
        let left = corner(self.viewport_anchor.0, self.anchor.0, self.width.thousandths());
        let top = corner(self.viewport_anchor.1, self.anchor.1, height);
        let side = align.unwrap_or(Align::Center).side();
        let position = Percent::of(left + side.within(self.width.thousandths()));
        Layout {
            line: Some(Line::At(Percent::of(top + height), Anchor::End)),
            position: Some((position, None)),
            size: Some(self.width),
            align,
            ..Layout::default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_share_is_read_and_written_to_a_thousandth_of_a_percent() {
        for text in ["0%", "5.5%", "33.333%", "10.05%", "100%"] {
            assert_eq!(Percent::parse(text).map(|share| share.to_string()).as_deref(), Some(text));
        }
        for text in ["", "%", "5", "100.001%", "-1%", "5.%", ".5%", "1e1%", "101%"] {
            assert_eq!(Percent::parse(text), None, "{text}");
        }
    }

    #[test]
    fn a_box_lies_where_webvtt_computes_it() {
        let at = |align, position, size: Option<u32>| {
            let position = Some((Percent(position), None));
            Layout { align, position, size: size.map(Percent), ..Layout::default() }.extent()
        };
        assert_eq!(Layout::default().extent(), (0, 100_000));
        assert_eq!(at(None, 30_000, None), (0, 60_000));
        assert_eq!(at(Some(Align::Start), 30_000, None), (30_000, 70_000));
        assert_eq!(at(Some(Align::End), 30_000, Some(20_000)), (10_000, 20_000));
    }

    #[test]
    fn rows_count_from_the_top_and_from_the_bottom() {
        assert_eq!(Line::Row(0).place(), (Percent::ZERO, Anchor::Start));
        assert_eq!(Line::Row(-1).place(), (Percent::FULL, Anchor::End));
        assert_eq!(Line::Row(-2).place(), (Percent(94_670), Anchor::End));
        assert_eq!(Line::Row(i32::MIN).place(), (Percent::ZERO, Anchor::End));
    }
}
