//! Memory of a decoder: 15 rows of 32 characters, and the cues that they are.

use super::super::layout::{Align, Anchor, Layout, Line};
use super::super::text::{Style, Text, TextBuilder};
use super::character::special;
use super::code::Pen;
use super::grid::{self, COLUMNS, ROWS};

/// A character with its look; none where nothing was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Cell {
    shown: Option<(char, Pen)>,
}

impl Cell {
    /// The character and its look; a space where nothing was written.
    fn look(&self) -> (char, Pen) {
        self.shown.unwrap_or((' ', Pen::default()))
    }
}

/// One row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    cells: [Cell; COLUMNS],
    is_used: bool,
}

/// The memory, with the place that the next character goes to.
#[derive(Debug, Clone)]
pub(super) struct Screen {
    rows: Vec<Row>,
    pub(super) row: usize,
    pub(super) column: usize,
    pub(super) pen: Pen,
}

/// Rows that follow each other: what a reader takes for one cue.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Block {
    pub(super) text: Text,
    pub(super) layout: Option<Layout>,
}

impl Default for Screen {
    fn default() -> Self {
        let row = Row { cells: [Cell::default(); COLUMNS], is_used: false };
        Self { rows: vec![row; ROWS], row: ROWS - 1, column: 0, pen: Pen::default() }
    }
}

impl Screen {
    /// Takes everything away.
    pub(super) fn clear(&mut self) {
        for row in self.rows.iter_mut().filter(|row| row.is_used) {
            row.clear();
        }
    }

    /// Tells whether nothing is written.
    pub(super) fn is_empty(&self) -> bool {
        self.rows.iter().all(|row| !row.is_used)
    }

    /// Writes a character; in the last column each takes the place of the one before.
    pub(super) fn put(&mut self, c: char) {
        let (column, pen) = (self.column.min(COLUMNS - 1), self.pen);
        if let Some(row) = self.rows.get_mut(self.row) {
            row.is_used = true;
            if let Some(cell) = row.cells.get_mut(column) {
                cell.shown = Some((c, pen));
            }
        }
        self.column = column + 1;
    }

    /// Takes the last character away.
    pub(super) fn backspace(&mut self) {
        self.column = self.column.saturating_sub(1);
        self.erase(self.column, self.column + 1);
    }

    /// Takes everything from here on away.
    pub(super) fn erase_rest(&mut self) {
        self.erase(self.column, COLUMNS);
    }

    fn erase(&mut self, from: usize, to: usize) {
        if let Some(cells) =
            self.rows.get_mut(self.row).and_then(|row| row.cells.get_mut(from..to.min(COLUMNS)))
        {
            cells.fill(Cell::default());
        }
    }

    /// Moves the last `height` rows that end here one up.
    pub(super) fn roll_up(&mut self, height: usize) {
        let top = (self.row + 1).saturating_sub(height);
        for row in 0..top {
            self.clear_row(row);
        }
        if let Some(window) = self.rows.get_mut(top..=self.row) {
            window.rotate_left(1);
        }
        self.clear_row(self.row);
    }

    /// Moves the rows of the window that ends here to end at another row.
    pub(super) fn move_base(&mut self, row: usize, height: usize) {
        if row == self.row {
            return;
        }
        if self.is_empty() {
            self.row = row;
            return;
        }
        let mut moved = Self::default();
        for back in 0..height {
            let (Some(from), Some(to)) = (self.row.checked_sub(back), row.checked_sub(back)) else {
                break;
            };
            if let (Some(old), Some(new)) = (self.rows.get(from), moved.rows.get_mut(to)) {
                new.clone_from(old);
            }
        }
        self.rows = moved.rows;
        self.row = row;
    }

    fn clear_row(&mut self, row: usize) {
        if let Some(row) = self.rows.get_mut(row).filter(|row| row.is_used) {
            row.clear();
        }
    }

    /// The blocks that are shown, from the top.
    pub(super) fn blocks(&self) -> Vec<Block> {
        let mut blocks = Vec::new();
        let mut lines: Vec<(&Row, (usize, usize))> = Vec::new();
        for (index, row) in self.rows.iter().enumerate() {
            if let Some(extent) = Some(row).filter(|row| row.is_used).and_then(Row::extent) {
                lines.push((row, extent));
                continue;
            }
            blocks.extend(block(&lines, index));
            lines.clear();
        }
        blocks.extend(block(&lines, ROWS));
        blocks
    }
}

impl Row {
    fn clear(&mut self) {
        self.cells.fill(Cell::default());
        self.is_used = false;
    }

    /// The first column and the one after the last that hold more than a space.
    fn extent(&self) -> Option<(usize, usize)> {
        let is_shown = |cell: &Cell| matches!(cell.shown, Some((c, _)) if c != ' ');
        let first = self.cells.iter().position(is_shown)?;
        let last = self.cells.iter().rposition(is_shown)?;
        Some((first, last + 1))
    }
}

/// The block of rows, each with its extent, that end before `end`.
fn block(rows: &[(&Row, (usize, usize))], end: usize) -> Option<Block> {
    let extents = || rows.iter().map(|(_, extent)| *extent);
    let (first, last) = (extents().map(|e| e.0).min()?, extents().map(|e| e.1).max()?);
    let is_centred = extents()
        .all(|(from, to)| matches!(from + to, 31..=33) && from == (COLUMNS - (to - from)) / 2);
    let starts_even = extents().all(|(from, _)| from == first);
    let ends_even = extents().all(|(_, to)| to == last);
    let mut layout = Layout::default();
    if end != ROWS {
        layout.line = Some(Line::At(grid::top(end - rows.len()), Anchor::Start));
    }
    // Twice the middle of each row, which is half a column off where a row has an odd length.
    let middles = || extents().map(|(from, to)| from + to);
    let middle = middles().max()?;
    let shares_middle = middles().all(|own| middle - own <= 1);
    let is_ragged = !is_centred && !starts_even && !shares_middle && !ends_even;
    if !is_centred {
        let (align, place) = if starts_even {
            (Some(Align::Left), grid::left(first))
        } else if shares_middle {
            (None, grid::middle(middle))
        } else if ends_even {
            (Some(Align::Right), grid::left(last))
        } else {
            (Some(Align::Left), grid::left(first))
        };
        layout.align = align;
        layout.position = Some((place, None));
    }
    let mut text = TextBuilder::default();
    text.reserve(rows.len() + extents().map(|(from, to)| to - from).sum::<usize>());
    for (number, (row, (from, to))) in rows.iter().enumerate() {
        if number > 0 {
            text.push('\n');
        }
        if is_ragged {
            // Spaces that stay, since the lines of one cue share one edge.
            text.set_style(Style::default(), None);
            (first..*from).for_each(|_| text.push(special(0x39).unwrap_or(' ')));
        }
        let mut cells = row.cells.get(*from..*to).unwrap_or_default();
        while let Some((_, pen)) = cells.first().map(|cell| cell.look()) {
            let length = cells.iter().position(|cell| cell.look().1 != pen);
            let (alike, others) = cells.split_at(length.unwrap_or(cells.len()));
            let Pen { colour, italic, underline } = pen;
            text.set_style(Style { italic, underline, colour, bold: false }, None);
            alike.iter().for_each(|cell| text.push(cell.look().0));
            cells = others;
        }
    }
    Some(Block {
        text: text.finish(),
        layout: Some(layout).filter(|layout| *layout != Layout::default()),
    })
}
