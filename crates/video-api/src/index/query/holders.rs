//! The documents that hold all words of a query, by rising numbers, in parts of which the columns are read together.

use super::words::Found;
use crate::index::column::BLOCK;
use crate::index::postings::{Number, PostingsCursor};
use crate::index::tokenizer::Counts;

/// Rows of a column that hold the documents of one part: 2 MiB of summaries.
const PART_ROWS: usize = if cfg!(test) { 2 } else { 256 };

/// Documents that hold all words.
pub(super) struct Holders<'f> {
    numbers: Box<dyn Iterator<Item = Number> + 'f>,
    groups: Vec<PostingsCursor<'f>>,
    narrow: Vec<PostingsCursor<'f>>,
    excluded: Vec<PostingsCursor<'f>>,
    part: Vec<Number>,
    /// Counts of each group in each document of the part.
    counts: Vec<Counts>,
}

impl<'f> Holders<'f> {
    /// The documents of these; where they name none, all that come before `end`.
    pub(super) fn of(found: &'f Found<'_>, end: Number) -> Self {
        let numbers: Box<dyn Iterator<Item = Number>> = match found.shortest() {
            Some(list) => Box::new(list.iter().map(|(number, _)| *number)),
            None => Box::new(0..end),
        };
        let [groups, narrow, excluded] = [&found.groups, &found.narrow, &found.excluded]
            .map(|lists| lists.iter().map(|list| PostingsCursor::on(list)).collect());
        Self { numbers, groups, narrow, excluded, part: Vec::new(), counts: Vec::new() }
    }

    /// Goes on to the next part; false if there is none.
    pub(super) fn next_part(&mut self) -> bool {
        self.part.clear();
        self.counts.clear();
        let mut rows = 0;
        while rows < PART_ROWS
            && let Some(number) = self.numbers.next()
        {
            if !self.narrow.iter_mut().all(|list| list.find(number).is_some())
                || self.excluded.iter_mut().any(|list| list.find(number).is_some())
            {
                continue;
            }
            let before = self.counts.len();
            self.counts.extend(self.groups.iter_mut().map_while(|list| list.find(number)));
            if self.counts.len() < before + self.groups.len() {
                self.counts.truncate(before);
                continue;
            }
            let is_neighbour = self.part.last().is_some_and(|last| last / BLOCK == number / BLOCK);
            rows += usize::from(!is_neighbour);
            self.part.push(number);
        }
        !self.part.is_empty()
    }

    /// The documents of the part.
    pub(super) fn part(&self) -> &[Number] {
        &self.part
    }

    /// The same, each with how often each group stands there.
    pub(super) fn with_counts(&self) -> impl Iterator<Item = (Number, &[Counts])> {
        let width = self.groups.len();
        self.part.iter().enumerate().map(move |(at, number)| {
            let counts = self.counts.get(at * width..(at + 1) * width);
            (*number, counts.unwrap_or_default())
        })
    }
}
