//! The words of threads: which threads of a list hold a word in their first comment.

use std::collections::BTreeSet;

use triptych_core::kv::{Table, Tx};

use crate::index::tokenizer;
use crate::record::key_order::latest_first;
use crate::resource::comments::record::Comment;

/// Threads of a list by a word of their first comment and by time, latest first. The empty word stands before texts of more words than
/// have rows: whoever searches looks at these texts themselves.
pub const WORDS: Table<(String, String, u64, String), ()> = Table::new(0x48);

/// Words of a text that have rows, so that a change of a text stays one transaction.
const WORDS_MAX: usize = 150;

/// The words under which a text is found.
fn keys(text: &str) -> BTreeSet<String> {
    let mut keys = BTreeSet::new();
    for word in tokenizer::words(text) {
        if keys.len() == WORDS_MAX && !keys.contains(&word) {
            keys.insert(String::new());
            break;
        }
        keys.insert(word);
    }
    keys
}

/// Brings the rows of a thread from what its old text says to what its new one does.
pub fn replace(tx: &mut Tx<'_>, id: &str, comment: &Comment, old: Option<&str>, new: Option<&str>) {
    let [old, new] = [old, new].map(|text| text.map(keys).unwrap_or_default());
    let time = latest_first(comment.published.micros());
    for list in comment.lists() {
        for word in old.difference(&new) {
            WORDS.delete(tx, &(list.clone(), word.clone(), time, id.to_owned()));
        }
        for word in new.difference(&old) {
            WORDS.put(tx, &(list.clone(), word.clone(), time, id.to_owned()), &());
        }
    }
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
