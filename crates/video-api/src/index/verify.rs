//! The check that the index holds what its documents say.

use std::collections::{BTreeMap, BTreeSet};

use triptych_core::kv::{StoreError, Tx};

use super::DOCUMENTS;
use super::column::Cell;
use super::entry::{ENTRIES, NUMBERS, TOTALS};
use super::indexer::{all_words, order_keys};
use super::order::{ORDERED, OrderKey};
use super::postings::{self, Number};
use super::summary::{self, Summary};
use super::title::{self, Title, ordered_text};
use super::tokenizer::Counts;

/// Checks that the index holds what a rebuild from the documents would: for `verify` and tests. Reads everything.
///
/// # Errors
/// A sentence that names the first difference.
pub fn verify(tx: &mut Tx<'_>) -> Result<(), String> {
    let broken = |error: StoreError| error.to_string();
    let (documents, _) =
        DOCUMENTS.scan(tx, &DOCUMENTS.span(&()), usize::MAX / 2).map_err(broken)?;
    let (blocks, _) = postings::POSTINGS
        .scan(tx, &postings::POSTINGS.span(&()), usize::MAX / 2)
        .map_err(broken)?;
    let mut stored: BTreeMap<(String, Number), Counts> = BTreeMap::new();
    for ((word, block), rows) in blocks {
        for (number, counts) in rows.documents(block) {
            stored.insert((word.clone(), number), counts);
        }
    }
    let (ordered, _) = ORDERED.scan(tx, &ORDERED.span(&()), usize::MAX / 2).map_err(broken)?;
    let mut ordered: BTreeSet<OrderKey> = ordered.into_iter().map(|(key, _)| key).collect();
    let (mut length, mut count, mut public) = (0.0, 0, [0; 3]);
    let mut summarized = BTreeSet::new();
    for (key, document) in documents {
        let number = NUMBERS
            .peek(tx, &key)
            .map_err(broken)?
            .ok_or_else(|| format!("{} has no number", key.1))?
            .0;
        let entry = ENTRIES
            .peek(tx, &number)
            .map_err(broken)?
            .ok_or_else(|| format!("{} has no entry", key.1))?;
        if entry.id != key.1 || entry.facets != document.facets || entry.channel != document.channel
        {
            return Err(format!("the entry of {} is not its document's", key.1));
        }
        let summary = summary::Reader::default().at(tx, number).map_err(broken)?;
        if summary != Some(Summary::of(&entry)) {
            return Err(format!("the summary of {} is not its entry's", key.1));
        }
        let title = title::Reader::default().at(tx, number).map_err(broken)?;
        if title != Some(Title::of(&entry)) || entry.title != ordered_text(&document.title) {
            return Err(format!("the title of {} is not its document's", key.1));
        }
        summarized.insert(number);
        for (word, counts) in all_words(&document) {
            if stored.remove(&(word.clone(), number)) != Some(counts) {
                return Err(format!("the word {word:?} of {} is not indexed as it stands", key.1));
            }
        }
        let orders = order_keys(&entry).into_iter().filter(|_| entry.facets.public);
        for key in orders {
            if !ordered.remove(&key) {
                return Err(format!("{} does not stand in order {}", entry.id, key.0));
            }
        }
        count += 1;
        length += entry.length;
        if let Some(count) = public.get_mut(entry.kind as usize) {
            *count += u64::from(entry.facets.public);
        }
    }
    if let Some(((word, number), _)) = stored.pop_first() {
        return Err(format!("the word {word:?} is indexed for {number}, where it does not stand"));
    }
    if let Some((order, _, _, id)) = ordered.pop_first() {
        return Err(format!("{id} stands in order {order} and should not"));
    }
    let totals = TOTALS.peek(tx, &()).map_err(broken)?.unwrap_or_default();
    let mut reader = summary::Reader::default();
    for number in (0..totals.next).filter(|number| !summarized.contains(number)) {
        if reader.at(tx, number).map_err(broken)?.is_some() {
            return Err(format!("{number} has a summary and is no document"));
        }
    }
    let same = totals.documents == count
        && totals.public == public
        && (totals.length - length).abs() < 1e-6 * (1.0 + length);
    if same { Ok(()) } else { Err("the totals are not those of the documents".to_owned()) }
}
