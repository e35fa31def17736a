//! Lengths of TTML as shares of the picture.

use super::attribute::{Attributes, Name};

/// More than any picture has.
const LENGTH_MAX: f64 = 1e6;

/// The extent that lengths in pixels and cells are shares of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Frame {
    pixels: Option<(f64, f64)>,
    cells: (f64, f64),
}

impl Default for Frame {
    fn default() -> Self {
        Self { pixels: None, cells: (32.0, 15.0) }
    }
}

impl Frame {
    /// Reads the picture's size in pixels and in cells off the root.
    pub(super) fn of(root: &Attributes<'_>) -> Self {
        let pair = |text: &str, unit: &str| {
            let mut numbers = text
                .split_ascii_whitespace()
                .map(|length| length.strip_suffix(unit).and_then(decimal));
            let (x, y) = (numbers.next()??, numbers.next()??);
            (x >= 1.0 && y >= 1.0).then_some((x, y))
        };
        Self {
            pixels: root.get(Name::Extent).and_then(|text| pair(text, "px")),
            cells: root
                .get(Name::CellResolution)
                .and_then(|text| pair(text, ""))
                .unwrap_or(Self::default().cells),
        }
    }

    /// Reads two lengths as thousandths of a percent of the picture.
    pub(super) fn pair(&self, text: &str) -> Option<(i64, i64)> {
        let mut lengths = text.split_ascii_whitespace();
        Some((self.across(lengths.next()?)?, self.down(lengths.next()?)?))
    }

    /// Reads a length across the picture as thousandths of a percent of its width.
    pub(super) fn across(&self, length: &str) -> Option<i64> {
        share(length, self.pixels.map(|(width, _)| width), self.cells.0)
    }

    /// The same of a length down the picture.
    pub(super) fn down(&self, length: &str) -> Option<i64> {
        share(length, self.pixels.map(|(_, height)| height), self.cells.1)
    }
}

fn share(length: &str, pixels: Option<f64>, cells: f64) -> Option<i64> {
    let unit = length.find(|c: char| c == '%' || c.is_ascii_alphabetic())?;
    let (digits, unit) = length.split_at(unit);
    let value = decimal(digits)?;
    let percent = match unit {
        "%" => value,
        // Shares of the root container, which is the picture.
        "rw" | "rh" => value,
        "px" => value / pixels? * 100.0,
        "c" => value / cells * 100.0,
        _ => return None,
    };
    let thousandths = (percent * 1_000.0).round();
    (thousandths.abs() < 1e9).then_some(thousandths as i64)
}

fn decimal(text: &str) -> Option<f64> {
    let is_plain = text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'.' | b'-' | b'+'));
    let value: f64 = text.parse().ok()?;
    (is_plain && value.abs() <= LENGTH_MAX).then_some(value)
}
