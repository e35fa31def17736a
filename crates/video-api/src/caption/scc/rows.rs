//! Rows of the picture that a cue takes: its text in the characters of CEA-608, broken at 32 columns, in its place.

use std::ops::Range;

use super::super::layout::{Anchor, Layout, Line};
use super::super::lines;
use super::super::text::{Piece, Style, Text};
use super::character;
use super::code::Pen;
use super::grid::{self, COLUMNS, ROWS};

/// Characters of a row, from a column on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PlacedRow<'r> {
    pub(super) row: usize,
    pub(super) column: usize,
    chars: &'r [char],
    /// The place of the first among the characters of all rows, which its looks count from.
    from: usize,
    looks: &'r [Look],
}

/// The look that characters have from a place on.
type Look = (usize, Pen);

/// A line that fits into a row, without blanks at its ends.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Row {
    /// Blanks that stood before it.
    indent: usize,
    /// Its place in the characters of all rows.
    chars: Range<usize>,
}

/// The rows of a text.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Rows {
    /// The characters of all rows, and those between them.
    chars: Vec<char>,
    /// The looks of all of them, in order; the first begins where they do.
    looks: Vec<Look>,
    rows: Vec<Row>,
}

/// The looks of a range of characters, the first of which may begin before it.
fn looks_of<'l>(looks: &'l [Look], range: &Range<usize>) -> &'l [Look] {
    let first = looks.partition_point(|(at, _)| *at <= range.start).saturating_sub(1);
    let last = looks.partition_point(|(at, _)| *at < range.end);
    looks.get(first..last).unwrap_or_default()
}

impl<'r> PlacedRow<'r> {
    /// The characters in stretches of one look.
    pub(super) fn stretches(&self) -> impl Iterator<Item = (Pen, &'r [char])> {
        let Self { chars, from, looks, .. } = *self;
        let ends = looks.iter().skip(1).map(move |(at, _)| at - from).chain([chars.len()]);
        let mut start = 0;
        looks.iter().zip(ends).map(move |((_, pen), end)| {
            (*pen, chars.get(std::mem::replace(&mut start, end)..end).unwrap_or_default())
        })
    }
}

/// Tells whether the rows of a text fit on the picture without making them. No character becomes more than it has bytes, and of two rows
/// that a line is broken into one is more than half full.
pub(super) fn surely_fits(text: &Text) -> bool {
    let text = text.as_str();
    let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    1 + breaks + text.len() / (COLUMNS / 4) <= ROWS
}

fn is_blank(c: &char) -> bool {
    matches!(c, ' ' | '\u{a0}')
}

impl Rows {
    /// The rows of a text, however many; lines of blanks alone are none. They take the room of `used`, which nobody needs any more.
    pub(super) fn of(text: &Text, used: Self) -> Self {
        let mut rows = used;
        rows.chars.clear();
        rows.looks.clear();
        rows.rows.clear();
        let mut outer = Vec::new();
        let mut style = Style::default();
        let mut line = 0;
        for piece in text.pieces() {
            match piece {
                Piece::At(_) => {}
                Piece::Open(tag) => {
                    outer.push(style);
                    style = style.with(tag);
                }
                Piece::Close(_) => style = outer.pop().unwrap_or_default(),
                Piece::Plain(plain) => {
                    rows.look(Pen::new(style.colour, style.italic, style.underline));
                    for (number, text) in lines::of_plain(plain).enumerate() {
                        if number > 0 {
                            line = rows.wrap(line);
                        }
                        rows.append(text);
                    }
                }
            }
        }
        rows.wrap(line);
        rows
    }

    /// The number of rows.
    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Some of the rows.
    pub(super) fn part(&self, range: Range<usize>) -> Self {
        let rows = self.rows.get(range).unwrap_or_default();
        let first = rows.first().map_or(0, |row| row.chars.start);
        let all = first..rows.last().map_or(first, |row| row.chars.end);
        let moved = |row: &Row| {
            let chars = row.chars.start - first..row.chars.end - first;
            Row { indent: row.indent, chars }
        };
        let looks = looks_of(&self.looks, &all).iter();
        Self {
            looks: looks.map(|(at, pen)| (at.saturating_sub(first), *pen)).collect(),
            chars: self.chars.get(all).unwrap_or_default().to_vec(),
            rows: rows.iter().map(moved).collect(),
        }
    }

    /// Gives what follows a look.
    fn look(&mut self, pen: Pen) {
        // One that nothing was written in is none.
        self.looks.pop_if(|(at, _)| *at == self.chars.len());
        if self.looks.last().is_none_or(|(_, last)| *last != pen) {
            self.looks.push((self.chars.len(), pen));
        }
    }

    fn append(&mut self, text: &str) {
        if character::is_plain(text) {
            self.chars.extend(text.bytes().map(char::from));
        } else {
            let chars = &mut self.chars;
            text.chars().for_each(|c| character::stand_ins(c, |c| chars.push(c)));
        }
    }

    /// Breaks the line that begins at a place at its spaces, or within words that are longer than a row. Gives where the next line begins.
    fn wrap(&mut self, line: usize) -> usize {
        let next = self.chars.len();
        let chars = self.chars.get(line..).unwrap_or_default();
        let Some(start) = chars.iter().position(|c| !is_blank(c)) else { return next };
        let end = chars.iter().rposition(|c| !is_blank(c)).map_or(start, |last| last + 1);
        // Half of the row is left to a line that has to be broken; one that fits keeps its place.
        let is_whole = end <= COLUMNS;
        let mut indent = if is_whole { start } else { start.min(COLUMNS / 2) };
        let mut rest = chars.get(start..end).unwrap_or_default();
        let mut begin = line + start;
        while !rest.is_empty() {
            let width = COLUMNS - indent;
            let mut cut = rest.len();
            if cut > width {
                let window = rest.get(..=width).unwrap_or(rest);
                let space = window.iter().rposition(|c| *c == ' ').filter(|at| *at > 0);
                cut = space.unwrap_or(width);
            }
            let (row, tail) = rest.split_at(cut);
            let length = row.iter().rposition(|c| *c != ' ').map_or(0, |last| last + 1);
            self.rows.push(Row { indent, chars: begin..begin + length });
            let blanks = tail.iter().take_while(|c| **c == ' ').count();
            rest = tail.get(blanks..).unwrap_or_default();
            begin += cut + blanks;
            indent = 0;
        }
        next
    }

    /// Puts the rows to their place on a picture, or to the nearest above or below it that has room; nothing if none has.
    pub(super) fn place<'r>(
        &'r self,
        layout: Option<&Layout>,
        taken: &mut [bool; ROWS],
        picture: &mut Vec<PlacedRow<'r>>,
    ) {
        let default = Layout::default();
        let layout = layout.unwrap_or(&default);
        let wanted = top(self.len(), layout.line);
        let is_free = |top: &usize| {
            let rows = taken.get(*top..*top + self.len());
            rows.is_some_and(|rows| rows.iter().all(|taken| !taken))
        };
        let mut tops = (0..=wanted).rev().chain(wanted + 1..ROWS);
        let Some(top) = tops.find(is_free) else { return };
        if let Some(rows) = taken.get_mut(top..top + self.len()) {
            rows.fill(true);
        }
        let columns = self.columns(layout);
        picture.extend(self.rows.iter().zip(columns).enumerate().map(|(index, (row, column))| {
            let chars = self.chars.get(row.chars.clone()).unwrap_or_default();
            let looks = looks_of(&self.looks, &row.chars);
            PlacedRow { row: top + index, column, chars, from: row.chars.start, looks }
        }));
    }

    /// The first column of each row.
    fn columns(&self, layout: &Layout) -> impl Iterator<Item = usize> {
        let side = layout.alignment().side();
        let (left, width) = layout.extent();
        let edge = grid::column(left + side.within(width));
        let is_whole = layout.position.is_none() && layout.size.is_none();
        let widest = self.rows.iter().map(|row| row.chars.len() + row.indent).max();
        let widest = widest.unwrap_or(0).min(COLUMNS);
        let longest = self.rows.iter().map(|row| row.chars.len()).max().unwrap_or(0);
        let within = move |from: usize, to: usize| {
            usize::try_from(edge).unwrap_or(0).clamp(from, to.max(from))
        };
        self.rows.iter().map(move |row| {
            let length = row.chars.len();
            match side {
                Anchor::Start => within(0, COLUMNS - widest) + row.indent,
                Anchor::End => within(longest, COLUMNS) - length,
                Anchor::Center if is_whole => (COLUMNS - length) / 2,
                Anchor::Center => {
                    let middle = grid::column(left * 2 + width - 10_000);
                    let column = (middle - i64::try_from(length).unwrap_or(0)).div_euclid(2);
                    usize::try_from(column).unwrap_or(0).min(COLUMNS - length)
                }
            }
        })
    }
}

fn top(height: usize, line: Option<Line>) -> usize {
    let rows = i64::try_from(height).unwrap_or(0);
    let last = i64::try_from(ROWS).unwrap_or(0) - rows;
    let top = match line {
        None => last,
        Some(Line::Row(row)) if row < 0 => last + i64::from(row) + 1,
        Some(Line::Row(row)) => i64::from(row),
        Some(Line::At(share, anchor)) => grid::row(share.thousandths()) - anchor.within(rows),
    };
    usize::try_from(top.clamp(0, last.max(0))).unwrap_or(0)
}
