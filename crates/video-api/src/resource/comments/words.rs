//! The words of threads: which threads of a list hold a word in one of their comments.

use std::collections::BTreeSet;

use bytes::Bytes;
use triptych_core::kv::{Plan, Record, Table, Tx};
use triptych_core::time::Timestamp;

use crate::api::error::Error;
use crate::index::tokenizer;
use crate::record::key_order::latest_first;
use crate::resource::comments::record::Comment;

/// Threads of a list by a word of their comments and by the time of the first one, latest first. The empty word stands before texts of more
/// words than have rows: whoever searches looks at these texts themselves.
pub const WORDS: Table<(String, String, u64, String), Uses> = Table::new(0x48);

/// Number of the comments of a thread that use a word.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Uses(pub u32);

impl Record for Uses {
    const FORMAT: u8 = 1;

    fn encode(&self, out: &mut Vec<u8>) {
        if self.0 != 1 {
            out.extend_from_slice(&self.0.to_be_bytes());
        }
    }

    fn decode(format: u8, bytes: Bytes) -> Option<Self> {
        match (format, <[u8; 4]>::try_from(&*bytes)) {
            (Self::FORMAT, Ok(count)) => Some(Self(u32::from_be_bytes(count))),
            _ => bytes.is_empty().then_some(Self(1)),
        }
    }
}

/// Words of a text that have rows, so that a change of a text stays one transaction.
const WORDS_MAX: usize = 150;

/// The words under which a text is found.
fn keys(text: &str) -> BTreeSet<String> {
    keys_of(tokenizer::words(text))
}

fn keys_of(words: impl Iterator<Item = String>) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    for word in words {
        if keys.len() == WORDS_MAX && !keys.contains(&word) {
            keys.insert(String::new());
            break;
        }
        keys.insert(word);
    }
    keys
}

/// The thread of a comment, and when its first comment was written.
#[derive(Debug, Clone, Copy)]
pub struct ThreadTime<'t> {
    /// Its id.
    pub thread: &'t str,
    /// The time by which it is listed.
    pub published: Timestamp,
}

/// Brings the rows of a thread from what the old text of a comment says to what its new one does.
///
/// # Errors
/// As the store.
pub fn replace(
    tx: &mut Tx<'_>,
    at: ThreadTime<'_>,
    comment: &Comment,
    old: Option<&str>,
    new: Option<&str>,
) -> Result<(), Error> {
    let [old, new] = [old, new].map(|text| text.map(keys).unwrap_or_default());
    put(tx, changes(at, comment, &old, &new))
}

/// Brings the rows of a thread from what version 0 of the reading of texts says of a comment to what today's does; says how many rows changed.
///
/// # Errors
/// As the store.
pub fn read_anew(tx: &mut Tx<'_>, at: ThreadTime<'_>, comment: &Comment) -> Result<usize, Error> {
    let old = keys_of(tokenizer::earlier_words(&comment.text));
    let changes = changes(at, comment, &old, &keys(&comment.text));
    let count = changes.len();
    put(tx, changes)?;
    Ok(count)
}

/// Writes the words that come and go.
fn put(tx: &mut Tx<'_>, changes: Vec<(WordKey, bool)>) -> Result<(), Error> {
    for (key, is_used) in changes {
        // Whatever else writes words of this thread meets this transaction at its first comment or at its count of replies, which was read
        // before.
        let uses = WORDS.peek(tx, &key)?.map_or(0, |uses| uses.0);
        let uses = if is_used { uses.saturating_add(1) } else { uses.saturating_sub(1) };
        match uses {
            0 => WORDS.delete(tx, &key),
            uses => WORDS.put(tx, &key, &Uses(uses)),
        }
    }
    Ok(())
}

/// Plans what [`replace`] reads.
pub fn plan(
    plan: &mut Plan<'_>,
    at: ThreadTime<'_>,
    comment: &Comment,
    old: Option<&str>,
    new: Option<&str>,
) {
    let [old, new] = [old, new].map(|text| text.map(keys).unwrap_or_default());
    for (key, _) in changes(at, comment, &old, &new) {
        plan.row(&WORDS, &key);
    }
}

/// The place of a word of a thread.
pub type WordKey = (String, String, u64, String);

/// The words that come or go with a change of a comment's text, and whether they come.
fn changes(
    at: ThreadTime<'_>,
    comment: &Comment,
    old: &BTreeSet<String>,
    new: &BTreeSet<String>,
) -> Vec<(WordKey, bool)> {
    let time = latest_first(at.published.micros());
    let words: Vec<_> = old.symmetric_difference(new).collect();
    let key =
        |list: &String, word: &String| (list.clone(), word.clone(), time, at.thread.to_owned());
    let in_list =
        |list| words.iter().map(|word| (key(&list, word), new.contains(*word))).collect::<Vec<_>>();
    comment.lists().into_iter().flat_map(in_list).collect()
}

/// Number of rows that a text has in its two lists.
#[must_use]
pub fn rows(text: &str) -> usize {
    2 * keys(text).len()
}

/// The terms of a search: every word, once.
#[must_use]
pub fn terms(search: &str) -> BTreeSet<String> {
    tokenizer::words(search).collect()
}

/// Returns whether a text holds every term.
#[must_use]
pub fn holds(text: &str, terms: &BTreeSet<String>) -> bool {
    let mut missing: BTreeSet<&str> = terms.iter().map(String::as_str).collect();
    for word in tokenizer::words(text) {
        missing.remove(word.as_str());
        if missing.is_empty() {
            return true;
        }
    }
    missing.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_of_many_words_is_found_by_its_first_ones_and_looked_at_for_the_others() {
        let text: Vec<_> = (0..1_000).map(|number| format!("w{number}")).collect();
        let long = keys(&text.join(" "));
        assert_eq!(long.len(), WORDS_MAX + 1);
        assert!(long.contains("") && long.contains("w7") && !long.contains("w999"));
        assert!(!keys(&"a b ".repeat(900)).contains(""));
        assert!(holds(&text.join(" "), &terms("W999 w0")));
        assert!(!holds(&text.join(" "), &terms("w999 w1000")));
    }
}
