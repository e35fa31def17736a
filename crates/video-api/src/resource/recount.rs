//! Counts that stores of earlier builds lack, made once at the first start: the tallies of all that is about a channel, as its owner and as everyone
//! sees it, and the marks of ratings whose video their account does not see. Then texts are indexed again in which earlier builds read other words.
//!
//! It goes step by step before the service answers, each step a transaction with what comes next, so that a restart goes on. Counting anew gives the
//! same, so a store of which nothing is known may be counted.

use serde::{Deserialize, Serialize};
use triptych_core::kv::{JsonRecord, Order, Span, Table, Tx};

use crate::api::error::Error;
use crate::index::{self, DOCUMENTS, tokenizer};
use crate::record::table_entry::{Form, TableEntry};
use crate::resource::comments;
use crate::resource::comments::record::{COMMENTS, whole_lists};
use crate::resource::comments::tally::{self, TALLIES};
use crate::resource::videos::rating::{self, RATINGS};
use crate::resource::videos::render::LISTED_VIDEOS;

/// The one row of what is counted.
pub const RECOUNT: Table<(), Recount> = Table::new(0x07);

/// Tables as an export names them.
pub static TABLES: &[TableEntry] = &[TableEntry::new("recount", &RECOUNT, Form::Json)];

/// Rows that one step looks at; each changes a few.
const STEP: usize = 60;
/// Rows that one step looks through for texts that are read otherwise.
const READ_STEP: usize = 500;
/// Documents of which one step notes that they are indexed again: each is written as a whole.
const DOCUMENTS_CHANGED_MAX: usize = 20;
/// Rows of words behind which a step ends; one comment changes 604 at most, and a transaction 1,000.
const WORD_ROWS_STEP: usize = 300;

/// The part of a recount that comes next, after a row that was counted last.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Recount {
    /// Tallies of all about a channel go. Stores that are `done` counted comments on unlisted videos among what everybody sees, and are counted anew.
    #[default]
    #[serde(alias = "done")]
    Forget,
    /// The lists of channels themselves and of videos are counted in those of all.
    Lists(Option<(String, u8)>),
    /// Ratings are marked.
    Ratings(Option<(String, String)>),
    /// Everything is counted, by a build that read other words in some texts.
    Counted,
    /// Documents of the search index are looked through for such texts.
    Documents(Option<(u8, String)>),
    /// Comments are looked through for such texts.
    Comments(Option<String>),
    /// Everything is as a new store has it, and each request keeps it so.
    #[serde(rename = "current")]
    Done,
}

impl JsonRecord for Recount {}

/// Carries out one step; says whether there is more to do.
///
/// # Errors
/// As the store.
pub fn step(tx: &mut Tx<'_>) -> Result<bool, Error> {
    let next = match RECOUNT.get(tx, &())?.unwrap_or_default() {
        Recount::Forget => forget(tx)?,
        Recount::Lists(after) => count_lists(tx, after)?,
        Recount::Ratings(after) => mark_ratings(tx, after)?,
        Recount::Counted => Recount::Documents(None),
        Recount::Documents(after) => read_documents(tx, after)?,
        Recount::Comments(after) => read_comments(tx, after)?,
        Recount::Done => return Ok(false),
    };
    let goes_on = next != Recount::Done;
    RECOUNT.put(tx, &(), &next);
    Ok(goes_on)
}

fn forget(tx: &mut Tx<'_>) -> Result<Recount, Error> {
    for start in ["A", "P"] {
        let (rows, _) = TALLIES.scan(tx, &lists_from(start), STEP)?;
        if !rows.is_empty() {
            rows.iter().for_each(|(key, _)| TALLIES.delete(tx, key));
            return Ok(Recount::Forget);
        }
    }
    Ok(Recount::Lists(None))
}

/// The tallies of lists whose name begins so.
fn lists_from(start: &str) -> Span {
    Span::of([&TALLIES.span(&()).prefix, start.as_bytes()].concat())
}

fn count_lists(tx: &mut Tx<'_>, after: Option<(String, u8)>) -> Result<Recount, Error> {
    let mut span = Span { order: Order::Ascending, ..TALLIES.span(&()) };
    span.from = after.map(|key| TALLIES.key(&key).to_vec());
    let (rows, more) = TALLIES.scan(tx, &span, STEP)?;
    for ((list, _), share) in &rows {
        let (channel, seen) = match list.split_at_checked(1) {
            Some(("C", channel)) => (channel.to_owned(), [true; 2]),
            Some(("V", video)) => match LISTED_VIDEOS.get_shared(tx, &video.to_owned())? {
                Some(video) => {
                    (video.record.head.channel.clone(), video.record.head.lists_comments())
                }
                None => continue,
            },
            _ => continue,
        };
        for whole in whole_lists(&channel, seen) {
            tally::add(tx, 0, &whole, *share)?;
        }
    }
    let last = rows.into_iter().next_back().filter(|_| more);
    Ok(last.map_or(Recount::Ratings(None), |(key, _)| Recount::Lists(Some(key))))
}

fn mark_ratings(tx: &mut Tx<'_>, after: Option<(String, String)>) -> Result<Recount, Error> {
    let mut span = Span { order: Order::Ascending, ..RATINGS.span(&()) };
    span.from = after.map(|key| RATINGS.key(&key).to_vec());
    let (rows, more) = RATINGS.scan(tx, &span, STEP)?;
    for (key, rating) in &rows {
        if let Some(found) = LISTED_VIDEOS.get_shared(tx, &key.1)? {
            rating::mark_one(tx, key, *rating, &found.record.head)?;
        }
    }
    let last = rows.into_iter().next_back().filter(|_| more);
    Ok(last.map_or(Recount::Documents(None), |(key, _)| Recount::Ratings(Some(key))))
}

fn read_documents(tx: &mut Tx<'_>, after: Option<(u8, String)>) -> Result<Recount, Error> {
    let mut span = Span { order: Order::Ascending, ..DOCUMENTS.span(&()) };
    span.from = after.map(|key| DOCUMENTS.key(&key).to_vec());
    let (rows, more) = DOCUMENTS.scan(tx, &span, READ_STEP)?;
    let (mut changed, mut last) = (0, None);
    for (key, document) in rows {
        if tokenizer::texts(&document).any(tokenizer::is_read_anew) {
            changed += usize::from(index::read_anew(tx, &key)?);
        }
        if changed == DOCUMENTS_CHANGED_MAX {
            return Ok(Recount::Documents(Some(key)));
        }
        last = Some(key);
    }
    let last = last.filter(|_| more);
    Ok(last.map_or(Recount::Comments(None), |key| Recount::Documents(Some(key))))
}

fn read_comments(tx: &mut Tx<'_>, after: Option<String>) -> Result<Recount, Error> {
    let mut span = Span { order: Order::Ascending, ..COMMENTS.span(&()) };
    span.from = after.map(|key| COMMENTS.key(&key).to_vec());
    let (rows, more) = COMMENTS.scan(tx, &span, READ_STEP)?;
    let (mut changed, mut last) = (0, None);
    for (id, comment) in rows {
        if tokenizer::is_read_anew(&comment.text) {
            changed += comments::store::read_anew(tx, &id)?;
        }
        if changed > WORD_ROWS_STEP {
            return Ok(Recount::Comments(Some(id)));
        }
        last = Some(id);
    }
    Ok(last.filter(|_| more).map_or(Recount::Done, |id| Recount::Comments(Some(id))))
}

#[cfg(test)]
mod tests {
    use triptych_core::id::SeededIds;
    use triptych_core::kv::{KeyValue, Memory, run_blocking};
    use triptych_core::time::Timestamp;

    use super::*;
    use crate::index::postings::POSTINGS;
    use crate::resource::comments::words::WORDS;
    use crate::resource::videos::rating::HIDDEN_COUNT;
    use crate::seed::Seed;

    const SEED: &str = r#"{"accounts": [
        {"id": "a", "channel": {"id": "UCa", "title": "A"}}, {"id": "b", "channel": {"id": "UCb", "title": "B"}}],
    "videos": [{"id": "public", "owner": "a", "snippet": {"title": "1"}}, {"id": "kids", "owner": "a", "snippet": {"title": "2"}},
        {"id": "private", "owner": "a", "snippet": {"title": "3"}, "status": {"privacyStatus": "private"}}],
    "ratings": [{"account": "a", "video": "private", "rating": "like"}, {"account": "b", "video": "private", "rating": "like"},
        {"account": "b", "video": "public", "rating": "like"}],
    "comments": [{"id": "one", "author": "b", "video": "public", "textOriginal": "1", "replies": [{"id": "r", "author": "a", "textOriginal": "2"}]},
        {"id": "two", "author": "b", "video": "private", "textOriginal": "3"}, {"id": "three", "author": "b", "channel": "a", "textOriginal": "4"}]}"#;

    fn rows(store: &dyn KeyValue) -> Vec<(bytes::Bytes, bytes::Bytes)> {
        store.scan(&Span::default(), 10_000).unwrap().rows
    }

    fn filled() -> Memory {
        let (store, seed) = (Memory::new(), Seed::parse(SEED).unwrap());
        let mut ids = SeededIds::from_number(1);
        for at in 0..seed.len() {
            let now = Timestamp::from_seconds(1_790_000_000);
            run_blocking(&store, &mut ids, 9, |tx, _| seed.apply(at, tx, now, true)).unwrap();
        }
        store
    }

    /// As an earlier build left it: one tally for all of a channel, in which everything counts, and no marks.
    fn make_older(store: &Memory) {
        let older = |tx: &mut Tx<'_>| {
            RECOUNT.delete(tx, &());
            tally::take(tx, "PUCa")?;
            tally::add(tx, 0, "AUCa", tally::Tally::of(7, [7, 0, 0, 0]))?;
            HIDDEN_COUNT.delete(tx, &("UCb".to_owned(), 1));
            let key = ("UCb".to_owned(), "private".to_owned());
            if let Some(rating) = RATINGS.get(tx, &key)? {
                RATINGS.put(tx, &key, &rating::Rating { is_hidden: false, ..rating });
            }
            Ok::<_, Error>(())
        };
        run_blocking(store, &mut SeededIds::from_number(2), 9, |tx, _| older(tx)).unwrap();
    }

    fn recount(store: &Memory) -> u32 {
        let mut steps = 1;
        while run_blocking(store, &mut SeededIds::from_number(3), 9, |tx, _| step(tx)).unwrap() {
            steps += 1;
        }
        steps
    }

    #[test]
    fn a_store_of_an_earlier_build_counts_what_a_new_one_does_and_is_counted_once() {
        let store = filled();
        assert!(recount(&store) > 1);
        let expected = rows(&store);
        make_older(&store);
        assert_ne!(rows(&store), expected);
        recount(&store);
        assert_eq!(rows(&store), expected);
        assert_eq!(recount(&store), 1);
        let mut tx = Tx::new(&store);
        let threads = |tx: &mut Tx<'_>, list: &str| tally::of(tx, list.into()).unwrap().threads(1);
        assert_eq!([threads(&mut tx, "AUCa"), threads(&mut tx, "PUCa")], [3, 2]);
        assert_eq!(rating::total(&mut tx, "UCb", 1, false).unwrap(), 1);
    }

    #[test]
    fn a_store_whose_texts_an_earlier_build_read_as_other_words_is_found_by_todays() {
        let file = r#"{"accounts": [{"id": "a", "channel": {"id": "UCa", "title": "A"}}],
            "videos": [{"id": "v", "owner": "a", "snippet": {"title": "Cafe\u0301"}}, {"id": "w", "owner": "a", "snippet": {"title": "plain"}}],
            "comments": [{"id": "c", "author": "a", "video": "v", "textOriginal": "don\u2019t", "replies": [{"id": "r", "author": "a", "textOriginal": "u\u0308"}]}]}"#;
        let (store, seed) = (Memory::new(), Seed::parse(file).unwrap());
        let mut ids = SeededIds::from_number(1);
        recount(&store);
        for at in 0..seed.len() {
            let now = Timestamp::from_seconds(1_790_000_000);
            run_blocking(&store, &mut ids, 9, |tx, _| seed.apply(at, tx, now, true)).unwrap();
        }
        while index::indexer::follow(&store, &mut ids).unwrap() > 0 {}
        let expected = rows(&store);
        // As the earlier build left it: the rows of the words stand under other ones.
        let words: &[(&str, &str)] =
            &[("café", "cafe\u{301}"), ("don't", "don\u{2019}t"), ("ü", "u\u{308}")];
        let older = |tx: &mut Tx<'_>| {
            RECOUNT.put(tx, &(), &Recount::Counted);
            for (now, before) in words {
                let (blocks, _) = POSTINGS.scan(tx, &POSTINGS.span(&(*now).to_owned()), 9)?;
                for ((word, block), held) in blocks {
                    POSTINGS.delete(tx, &(word, block));
                    POSTINGS.put(tx, &((*before).to_owned(), block), &held);
                }
                let (uses, _) = WORDS.scan(tx, &WORDS.span(&()), 99)?;
                for (key, count) in uses.into_iter().filter(|(key, _)| key.1 == *now) {
                    WORDS.delete(tx, &key);
                    WORDS.put(tx, &(key.0, (*before).to_owned(), key.2, key.3), &count);
                }
            }
            Ok::<_, Error>(())
        };
        run_blocking(&store, &mut ids, 9, |tx, _| older(tx)).unwrap();
        assert_ne!(rows(&store), expected);
        recount(&store);
        while index::indexer::follow(&store, &mut ids).unwrap() > 0 {}
        assert_eq!(rows(&store), expected);
    }
}
