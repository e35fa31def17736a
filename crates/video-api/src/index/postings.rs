//! The documents of a word: blocks of up to 4,096 neighbouring documents, each a row, so that a document that comes or goes changes one of them.

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use triptych_core::kv::{Record, StoreError, Table, Tx};

use crate::index::tokenizer::Counts;

/// A document's number in the index.
pub type Number = u64;

/// Bits of a number that are its place in its block.
const BLOCK_BITS: u32 = 12;
/// Blocks that one scan reads.
const SCAN_BLOCKS: usize = 64;

/// Part of the documents of a word: their places in the block, rising. At most 4,096 of 5 bytes each.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Block(Vec<(u16, Counts)>);

impl Block {
    /// Says how often the word stands in the document at a place, or that it does not.
    pub fn set(&mut self, place: u16, counts: Option<Counts>) {
        let found = self.0.binary_search_by_key(&place, |(place, _)| *place);
        let at = found.unwrap_or_else(|at| at);
        self.0.splice(at..at + usize::from(found.is_ok()), counts.map(|counts| (place, counts)));
    }

    /// Its documents, where it is the block of this number.
    pub fn documents(&self, block: u64) -> impl Iterator<Item = (Number, Counts)> {
        let documents = self.0.iter();
        documents.map(move |(place, counts)| (block << BLOCK_BITS | u64::from(*place), *counts))
    }
}

impl Record for Block {
    const FORMAT: u8 = 1;

    fn encode(&self, out: &mut Vec<u8>) {
        self.0.iter().for_each(|(place, counts)| write(*place, *counts, out));
    }

    fn decode(format: u8, bytes: Bytes) -> Option<Self> {
        (format == Self::FORMAT).then(|| read(&bytes)).flatten()
    }
}

fn write(place: u16, counts: Counts, out: &mut Vec<u8>) {
    out.extend_from_slice(&place.to_be_bytes());
    out.extend_from_slice(&[counts.title, counts.tags, counts.description]);
}

fn read(bytes: &[u8]) -> Option<Block> {
    let (rows, rest) = bytes.as_chunks::<5>();
    let rows = rows.iter().map(|[high, low, title, tags, description]| {
        let counts = Counts { title: *title, tags: *tags, description: *description };
        (u16::from_be_bytes([*high, *low]), counts)
    });
    rest.is_empty().then(|| Block(rows.collect()))
}

/// Blocks by word and the numbers that they are for.
pub const POSTINGS: Table<(String, u64), Block> = Table::new(0x8A);

/// Block of a document's number, and its place in it.
#[must_use]
pub fn place(number: Number) -> (u64, u16) {
    let place = number & ((1 << BLOCK_BITS) - 1);
    (number >> BLOCK_BITS, u16::try_from(place).unwrap_or(0))
}

/// A change of one word of one document: how often it stands there now, or that it does not.
pub type Change = (Number, Option<Counts>);

/// Changes the block of a word. Doing it twice is as good as doing it once.
///
/// # Errors
/// As [`Tx::get`].
pub fn apply(
    tx: &mut Tx<'_>,
    word: &str,
    block: u64,
    changes: &[Change],
) -> Result<(), StoreError> {
    let key = (word.to_owned(), block);
    let mut rows = POSTINGS.get(tx, &key)?.unwrap_or_default();
    for (number, counts) in changes {
        let (_, place) = place(*number);
        rows.set(place, *counts);
    }
    if rows.0.is_empty() {
        POSTINGS.delete(tx, &key);
    } else {
        POSTINGS.put(tx, &key, &rows);
    }
    Ok(())
}

/// Documents by their number, each with how often a word stands there.
pub type List = Vec<(Number, Counts)>;

/// All documents of each word, read together.
///
/// # Errors
/// As [`Tx::scan_many`].
pub fn of_each(
    tx: &mut Tx<'_>,
    words: BTreeSet<&String>,
) -> Result<BTreeMap<String, List>, StoreError> {
    let mut all = BTreeMap::new();
    let mut words: Vec<&String> = words.into_iter().collect();
    let mut spans: Vec<_> = words.iter().map(|word| POSTINGS.span(*word)).collect();
    while !spans.is_empty() {
        let pages = POSTINGS.scan_many(tx, &spans, SCAN_BLOCKS)?;
        let (mut unread, mut rests) = (Vec::new(), Vec::new());
        for ((word, mut span), (blocks, more)) in words.into_iter().zip(spans).zip(pages) {
            let list: &mut List = all.entry(word.clone()).or_default();
            for ((_, block), rows) in &blocks {
                list.extend(rows.documents(*block));
            }
            if let Some((key, _)) = blocks.last().filter(|_| more) {
                span.from = Some(POSTINGS.key(key).to_vec());
                unread.push(word);
                rests.push(span);
            }
        }
        (words, spans) = (unread, rests);
    }
    Ok(all)
}

/// Looks documents up in a list, by rising numbers.
#[derive(Debug)]
pub struct PostingsCursor<'l> {
    rest: &'l [(Number, Counts)],
}

impl<'l> PostingsCursor<'l> {
    /// At the beginning of a list.
    #[must_use]
    pub fn on(list: &'l [(Number, Counts)]) -> Self {
        Self { rest: list }
    }

    /// Frequency of the word in this document, which is no earlier than the one before; `None` if it is not in the list.
    pub fn find(&mut self, number: Number) -> Option<Counts> {
        let is_before = |(before, _): &(Number, Counts)| *before < number;
        // Steps that double find the place in time, however far it is.
        let mut end = 1;
        while self.rest.get(end).is_some_and(is_before) {
            end *= 2;
        }
        let near = self.rest.get(..=end).unwrap_or(self.rest);
        let skipped = near.partition_point(is_before);
        self.rest = self.rest.get(skipped..).unwrap_or_default();
        let (found, counts) = self.rest.first()?;
        (*found == number).then_some(*counts)
    }
}

/// Tells whether no document has one of these words.
///
/// # Errors
/// As [`Tx::scan_many`].
pub fn are_unused(tx: &mut Tx<'_>, words: &[String]) -> Result<bool, StoreError> {
    let spans: Vec<_> = words.iter().map(|word| POSTINGS.span(word)).collect();
    let found = POSTINGS.scan_many(tx, &spans, 1)?;
    Ok(found.iter().all(|(blocks, _)| blocks.is_empty()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finger_finds_what_a_list_holds_and_nothing_else() {
        let counts = |title| Counts { title, ..Counts::default() };
        let list: List = (0..300_u16)
            .map(|number| (u64::from(number) * 3, counts(number.to_be_bytes()[1])))
            .collect();
        for step in [1, 2, 5, 9, 100, 1_000] {
            let mut cursor = PostingsCursor::on(&list);
            for number in (0..1_000_u64).step_by(step) {
                let expected = list.iter().find(|(known, _)| *known == number);
                let expected = expected.map(|(_, counts)| *counts);
                assert_eq!(cursor.find(number), expected, "{number} by {step}");
            }
        }
        assert_eq!(PostingsCursor::on(&[]).find(1), None);
    }
}
