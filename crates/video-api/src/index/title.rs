//! The starts of titles that results are ordered by, beside the summaries: titles that begin alike are told apart without their entries.

use triptych_core::kv::Table;

use super::column::{self, Cell, Row};
use super::entry::Entry;

/// Bytes of a title that the order by title looks at.
pub const BYTES: usize = 96;

/// The start of a title in lower case, filled up with zeros: it sorts as the title does as far as it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Title([u8; BYTES]);

/// Titles by the numbers that they are for.
pub const TITLES: Table<u64, Row<BYTES>> = Table::new(0x96);

/// Reads titles.
pub type Reader = column::Reader<Title, BYTES>;

/// The text that a title is ordered by: its start in lower case, whole characters of at most [`BYTES`].
#[must_use]
pub fn ordered_text(title: &str) -> String {
    let mut lower = title.to_lowercase();
    lower.truncate(lower.floor_char_boundary(BYTES));
    lower
}

impl Title {
    /// The title of these bytes, or of as many of them as it has.
    #[must_use]
    pub fn of_bytes(bytes: &[u8]) -> Self {
        let mut start = [0; BYTES];
        start.iter_mut().zip(bytes).for_each(|(place, byte)| *place = *byte);
        Self(start)
    }

    /// Its text, without what filled it up.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        let end = self.0.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
        self.0.get(..end).unwrap_or_default()
    }

    /// Its first bytes, as a summary has them.
    #[must_use]
    pub fn start(&self) -> u64 {
        self.0.first_chunk().map_or(0, |start| u64::from_be_bytes(*start))
    }
}

impl Cell<BYTES> for Title {
    const ROWS: Table<u64, Row<BYTES>> = TITLES;

    fn of(entry: &Entry) -> Self {
        Self::of_bytes(entry.title.as_bytes())
    }

    fn write(&self) -> [u8; BYTES] {
        self.0
    }

    fn read(bytes: &[u8; BYTES]) -> Option<Self> {
        Some(Self(*bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::index::summary::start_of;

    #[test]
    fn a_title_sorts_as_its_text_and_gives_it_back() {
        let long = "é".repeat(60);
        let texts = ["", "a", "a b", "aa", "the same start 1", "the same start 2", "z", &long];
        let titles = texts.map(|text| Title::of_bytes(ordered_text(text).as_bytes()));
        assert!(titles.is_sorted());
        for (text, title) in texts.iter().zip(&titles) {
            assert_eq!(title.bytes(), ordered_text(text).as_bytes());
            assert_eq!(title.start(), start_of(text));
            assert_eq!(Title::read(&title.write()), Some(*title));
        }
        assert_eq!(ordered_text(&long).len(), 96);
        assert_eq!(ordered_text("ÄB"), "äb");
    }
}
