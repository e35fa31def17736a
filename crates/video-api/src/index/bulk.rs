//! An index that is made at once, for documents that no index holds yet: a block of words is written once it is full, and never read.

use std::collections::BTreeMap;

use triptych_core::kv::Tx;

use super::entry::{NUMBERS, NumberRow, TOTALS, Totals};
use super::indexer;
use super::postings::{self, Block, Number, POSTINGS};
use super::summary::Summary;
use super::title::Title;
use super::{Document, Kind, column};

/// Documents on their way into an index that was empty.
#[derive(Debug, Default)]
pub struct Bulk {
    totals: Totals,
    block: u64,
    words: BTreeMap<String, Block>,
    summaries: Vec<(Number, Option<Summary>)>,
    titles: Vec<(Number, Option<Title>)>,
}

impl Bulk {
    /// Numbers a document and indexes it.
    pub fn add(&mut self, tx: &mut Tx<'_>, kind: Kind, id: &str, document: &Document) {
        let number = self.totals.next;
        self.totals.next += 1;
        NUMBERS.put(tx, &(kind as u8, id.to_owned()), &NumberRow(number));
        let (summary, title) =
            indexer::insert_entry(tx, (kind, id), number, document, &mut self.totals);
        let (block, place) = postings::place(number);
        if block != self.block {
            self.flush(tx);
            self.block = block;
        }
        self.summaries.push((number, Some(summary)));
        self.titles.push((number, Some(title)));
        for (word, counts) in indexer::all_words(document) {
            let rows = self.words.entry(word).or_default();
            rows.set(place, Some(counts));
        }
    }

    /// Writes what is not yet written: the last block, and the totals.
    pub fn finish(&mut self, tx: &mut Tx<'_>) {
        self.flush(tx);
        TOTALS.put(tx, &(), &self.totals);
    }

    fn flush(&mut self, tx: &mut Tx<'_>) {
        for (word, rows) in std::mem::take(&mut self.words) {
            POSTINGS.put(tx, &(word, self.block), &rows);
        }
        column::put_new(tx, &std::mem::take(&mut self.summaries));
        column::put_new(tx, &std::mem::take(&mut self.titles));
    }
}
