//! Rows of the picture that a cue takes: its text in the characters of CEA-608, broken at 32 columns, in its place.

use super::super::layout::{Anchor, Layout, Line};
use super::super::text::Text;
use super::character;
use super::code::Pen;
use super::grid::{self, COLUMNS, ROWS};

/// Characters of a row, from a column on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct PlacedRow<'r> {
    pub(super) row: usize,
    pub(super) column: usize,
    pub(super) cells: &'r [(char, Pen)],
}

/// A line that fits into a row, without blanks at its ends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RowText {
    /// Blanks that stood before it.
    indent: usize,
    cells: Vec<(char, Pen)>,
}

/// Tells whether the rows of a text fit on the picture without making them. No character becomes more than it has bytes, and of two rows
/// that a line is broken into one is more than half full.
pub(super) fn surely_fits(text: &Text) -> bool {
    let text = text.as_str();
    let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).count();
    1 + breaks + text.len() / (COLUMNS / 4) <= ROWS
}

/// The rows of a text, however many; lines of blanks alone are none.
pub(super) fn of_text(text: &Text) -> Vec<RowText> {
    let mut rows = Vec::new();
    let mut cells: Vec<(char, Pen)> = Vec::new();
    for line in text.runs() {
        cells.clear();
        for run in line {
            let pen = Pen::new(run.style.colour, run.style.italic, run.style.underline);
            if character::is_plain(run.text) {
                cells.extend(run.text.bytes().map(|byte| (char::from(byte), pen)));
            } else {
                run.text.chars().for_each(|c| character::stand_ins(c, |c| cells.push((c, pen))));
            }
        }
        wrap(&cells, &mut rows);
    }
    rows
}

fn is_blank((c, _): &(char, Pen)) -> bool {
    matches!(c, ' ' | '\u{a0}')
}

/// Breaks a line at its spaces, or within words that are longer than a row.
fn wrap(cells: &[(char, Pen)], rows: &mut Vec<RowText>) {
    let Some(start) = cells.iter().position(|cell| !is_blank(cell)) else { return };
    let end = cells.iter().rposition(|cell| !is_blank(cell)).map_or(start, |last| last + 1);
    // Half of the row is left to a line that has to be broken; one that fits keeps its place.
    let is_whole = end <= COLUMNS;
    let mut indent = if is_whole { start } else { start.min(COLUMNS / 2) };
    let mut rest = cells.get(start..end).unwrap_or_default();
    while !rest.is_empty() {
        let width = COLUMNS - indent;
        let mut cut = rest.len();
        if cut > width {
            let window = rest.get(..=width).unwrap_or(rest);
            cut = window.iter().rposition(|(c, _)| *c == ' ').filter(|at| *at > 0).unwrap_or(width);
        }
        let (row, tail) = rest.split_at(cut);
        let length = row.iter().rposition(|cell| cell.0 != ' ').map_or(0, |last| last + 1);
        rows.push(RowText { indent, cells: row.get(..length).unwrap_or(row).to_vec() });
        let blanks = tail.iter().take_while(|(c, _)| *c == ' ').count();
        rest = tail.get(blanks..).unwrap_or_default();
        indent = 0;
    }
}

/// Puts rows to their place, or to the nearest above or below it that has room; nothing if none has.
pub(super) fn place<'r>(
    rows: &'r [RowText],
    layout: Option<&Layout>,
    taken: &mut [bool; ROWS],
) -> Vec<PlacedRow<'r>> {
    let default = Layout::default();
    let layout = layout.unwrap_or(&default);
    let wanted = top(rows.len(), layout.line);
    let is_free = |top: &usize| {
        taken.get(*top..*top + rows.len()).is_some_and(|rows| rows.iter().all(|taken| !taken))
    };
    let mut tops = (0..=wanted).rev().chain(wanted + 1..ROWS);
    let Some(top) = tops.find(is_free) else { return Vec::new() };
    if let Some(rows) = taken.get_mut(top..top + rows.len()) {
        rows.fill(true);
    }
    let columns = columns(rows, layout);
    rows.iter()
        .zip(columns)
        .enumerate()
        .map(|(index, (row, column))| PlacedRow { row: top + index, column, cells: &row.cells })
        .collect()
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

/// The first column of each row.
fn columns(rows: &[RowText], layout: &Layout) -> Vec<usize> {
    let side = layout.alignment().side();
    let (left, width) = layout.extent();
    let edge = grid::column(left + side.within(width));
    let is_whole = layout.position.is_none() && layout.size.is_none();
    let widest =
        rows.iter().map(|row| row.cells.len() + row.indent).max().unwrap_or(0).min(COLUMNS);
    let longest = rows.iter().map(|row| row.cells.len()).max().unwrap_or(0);
    let within =
        |from: usize, to: usize| usize::try_from(edge).unwrap_or(0).clamp(from, to.max(from));
    rows.iter()
        .map(|row| {
            let length = row.cells.len();
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
        .collect()
}
