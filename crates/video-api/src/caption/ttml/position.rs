//! Positions of regions as TTML 2 has them: on each axis an edge of the picture, a distance from one, or a share of the room that a region leaves.

use super::frame::Frame;

/// The whole of an axis, in thousandths of a percent.
const WHOLE: i64 = 100_000;

/// The place of a region on one axis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Offset {
    /// Thousandths of a percent.
    thousandths: i64,
    /// It is a share of the room that the region leaves, and not of the picture.
    is_of_room: bool,
    /// It counts from the last edge.
    is_from_end: bool,
}

/// The place of a region, whatever its extent is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    across: Offset,
    down: Offset,
}

/// A word of a position, and the length that stands behind it where it is an edge.
type Item<'t> = (&'t str, Option<&'t str>);

impl Offset {
    const CENTRE: Self = Self { thousandths: WHOLE / 2, is_of_room: true, is_from_end: false };

    /// Reads an item; `share` reads a length of its axis.
    fn of((word, length): Item<'_>, share: impl Fn(&str) -> Option<i64>) -> Option<Self> {
        let length = match (word, length) {
            ("center", _) => return Some(Self::CENTRE),
            (edge, None) if is_edge(edge) => "0%",
            (edge, Some(length)) if is_edge(edge) => length,
            (length, _) => length,
        };
        Some(Self {
            thousandths: share(length)?,
            is_of_room: length.ends_with('%'),
            is_from_end: matches!(word, "right" | "bottom"),
        })
    }

    /// The first edge of a region that is so long.
    const fn start(self, extent: i64) -> i64 {
        let room = WHOLE - extent;
        let offset =
            if self.is_of_room { room * self.thousandths / WHOLE } else { self.thousandths };
        if self.is_from_end { room - offset } else { offset }
    }
}

impl Position {
    /// Reads one or two items; what names no axis is for the one that is left, and the one across comes first.
    pub(super) fn parse(text: &str, frame: &Frame) -> Option<Self> {
        let (mut across, mut down) = (None, None);
        let (edges, others): (Vec<_>, Vec<_>) =
            items(text)?.into_iter().partition(|(word, _)| is_edge(word));
        for item in edges.into_iter().chain(others) {
            let is_across = match item.0 {
                "left" | "right" => true,
                "top" | "bottom" => false,
                _ => across.is_none(),
            };
            let before = if is_across {
                across.replace(Offset::of(item, |length| frame.across(length))?)
            } else {
                down.replace(Offset::of(item, |length| frame.down(length))?)
            };
            if before.is_some() {
                return None;
            }
        }
        let [across, down] = [across, down].map(|offset| offset.unwrap_or(Offset::CENTRE));
        Some(Self { across, down })
    }

    /// The corner of a region of that extent, in thousandths of a percent of the picture.
    pub(super) const fn origin(self, (width, height): (i64, i64)) -> (i64, i64) {
        (self.across.start(width), self.down.start(height))
    }
}

/// Parts a position of at most four words; only where there are more than two do lengths belong to edges.
fn items(text: &str) -> Option<Vec<Item<'_>>> {
    let words: Vec<_> = text.split_ascii_whitespace().collect();
    let has_lengths = words.len() > 2;
    let mut items = Vec::new();
    let mut rest = words.into_iter().peekable();
    while let Some(word) = rest.next() {
        let is_length = |next: &&str| has_lengths && !is_edge(next) && *next != "center";
        let length = if is_edge(word) { rest.next_if(is_length) } else { None };
        items.push((word, length));
    }
    (1..=2).contains(&items.len()).then_some(items)
}

fn is_edge(word: &str) -> bool {
    ["left", "right", "top", "bottom"].contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_is_read_in_one_to_four_words_and_depends_on_the_extent() {
        let origin = |text: &str| {
            Position::parse(text, &Frame::default())
                .map(|position| position.origin((80_000, 20_000)))
        };
        for (text, expected) in [
            ("center", (10_000, 40_000)),
            ("top", (10_000, 0)),
            ("right", (20_000, 40_000)),
            ("50%", (10_000, 40_000)),
            ("left bottom", (0, 80_000)),
            ("bottom left", (0, 80_000)),
            ("center top", (10_000, 0)),
            ("top center", (10_000, 0)),
            ("0% 100%", (0, 80_000)),
            ("left 10%", (0, 8_000)),
            ("5rw 10rh", (5_000, 10_000)),
            ("center top 10%", (10_000, 8_000)),
            ("right 10% bottom 25%", (18_000, 60_000)),
            ("bottom 3c right 4c", (7_500, 60_000)),
        ] {
            assert_eq!(origin(text), Some(expected), "{text}");
        }
        for text in ["", "left right", "1% 2% 3%", "middle", "left 1% top 1% 1%", "5px 5px"] {
            assert_eq!(origin(text), None, "{text}");
        }
    }
}
