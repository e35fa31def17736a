//! Scenarist closed captions (`.scc`): the byte pairs of CEA-608, channel 1, with their time codes at 29.97 frames a second.
//!
//! Each pair takes a frame, so a caption is sent before it is shown: the writer starts early enough for the last pair, which shows the
//! caption, to fall on the cue's start. Where the line has no room for that the caption comes later, but it comes. The picture has
//! 15 rows of 32 characters in its inner 80 %; a style changes between words alone, since the code for it takes the place of a space.

mod character;
mod code;
mod read;
mod rows;
mod screen;
pub(super) mod timecode;
mod write;

pub use read::read;
pub use write::write;

/// The first line of a file.
pub(super) const SIGNATURE: &str = "Scenarist_SCC V1.0";

/// The place of a row's top edge, and of a column's left edge, in thousandths of a percent: the inner 80 % of the picture.
mod grid {
    use super::super::layout::Percent;

    /// Rows of the picture.
    pub(super) const ROWS: usize = 15;
    /// Columns of the picture.
    pub(super) const COLUMNS: usize = 32;
    const MARGIN: i64 = 10_000;
    const INNER: i64 = 80_000;

    fn place(index: usize, count: i64) -> Percent {
        let index = i64::try_from(index).unwrap_or(count);
        Percent::of(MARGIN + (index * INNER * 2 + count) / (count * 2))
    }

    fn index(share: i64, count: i64) -> i64 {
        ((share - MARGIN) * count * 2 + INNER).div_euclid(INNER * 2)
    }

    /// The top edge of a row, counted from 0.
    pub(super) fn top(row: usize) -> Percent {
        place(row, ROWS as i64)
    }

    /// The left edge of a column, counted from 0.
    pub(super) fn left(column: usize) -> Percent {
        place(column, COLUMNS as i64)
    }

    /// The place of so many half columns.
    pub(super) fn middle(halves: usize) -> Percent {
        place(halves, 2 * COLUMNS as i64)
    }

    /// The row whose top edge lies nearest; it may be none of the picture.
    pub(super) fn row(thousandths: i64) -> i64 {
        index(thousandths, ROWS as i64)
    }

    /// The column whose left edge lies nearest; it may be none of the picture.
    pub(super) fn column(thousandths: i64) -> i64 {
        index(thousandths, COLUMNS as i64)
    }
}

#[cfg(test)]
mod tests;
