//! The documents of the words of a query, which are read together.

use std::borrow::Cow;
use std::collections::BTreeMap;

use triptych_core::kv::{StoreError, Tx};

use super::Query;
use crate::index::facet::Facet;
use crate::index::postings::{self, List, Number, PostingsCursor};
use crate::index::tokenizer::{Counts, Term};

/// Documents by rising numbers, each with how often something stands there.
pub(super) type Documents<'w> = Cow<'w, [(Number, Counts)]>;

/// The documents of each word of a query.
#[derive(Debug)]
pub(super) struct QueryWords<'q> {
    query: &'q Query,
    /// Words of facets that every result has.
    required: Vec<String>,
    /// The word that no result has.
    blocked: Option<String>,
    documents: BTreeMap<String, List>,
}

/// The documents that a query is about, as far as words tell.
#[derive(Debug)]
pub(super) struct Found<'w> {
    /// Those of each group of terms.
    pub(super) groups: Vec<Documents<'w>>,
    /// Those that every result is among.
    pub(super) narrow: Vec<Documents<'w>>,
    /// Those that no result is among: terms of several words are looked for in the text.
    pub(super) excluded: Vec<Documents<'w>>,
}

impl Found<'_> {
    /// The shortest list that every result is in.
    pub(super) fn shortest(&self) -> Option<&Documents<'_>> {
        self.groups.iter().chain(&self.narrow).min_by_key(|list| list.len())
    }
}

impl<'q> QueryWords<'q> {
    /// Reads the documents of all words.
    ///
    /// # Errors
    /// As [`Tx::scan_many`].
    pub(super) fn read(tx: &mut Tx<'_>, query: &'q Query) -> Result<Self, StoreError> {
        let required = query.required_facets(!query.text.groups.is_empty());
        let blocked = query.region.as_deref().map(|region| Facet::Blocked(region).word());
        let terms = query.text.groups.iter().flatten().chain(single_excluded(query));
        let words = terms.flatten().chain(&required).chain(&blocked).collect();
        let documents = postings::of_each(tx, words)?;
        Ok(Self { query, required, blocked, documents })
    }

    /// The documents of each part of the query.
    pub(super) fn found(&self) -> Found<'_> {
        let excluded = single_excluded(self.query).map(|term| self.with_all(term));
        Found {
            groups: self.query.text.groups.iter().map(|terms| self.with_any(terms)).collect(),
            narrow: self.required.iter().map(|word| self.of(word)).collect(),
            excluded: excluded.chain(self.blocked.iter().map(|word| self.of(word))).collect(),
        }
    }

    fn of(&self, word: &str) -> Documents<'_> {
        Cow::Borrowed(self.documents.get(word).map(Vec::as_slice).unwrap_or_default())
    }

    /// The documents that hold every word of a term, each with how often it can stand there at most.
    fn with_all(&self, term: &Term) -> Documents<'_> {
        let mut lists = term.iter().map(|word| self.of(word));
        let first = lists.next().unwrap_or_default();
        lists.fold(first, |before, list| {
            let mut other = PostingsCursor::on(&list);
            let both = before.iter().filter_map(|(number, counts)| {
                let other = other.find(*number)?;
                let both = Counts {
                    title: counts.title.min(other.title),
                    tags: counts.tags.min(other.tags),
                    description: counts.description.min(other.description),
                };
                Some((*number, both))
            });
            Cow::Owned(both.collect())
        })
    }

    /// The documents that hold one of these terms, each with how often they can stand there together.
    fn with_any(&self, terms: &[Term]) -> Documents<'_> {
        if let [only] = terms {
            return self.with_all(only);
        }
        let mut all: List =
            terms.iter().flat_map(|term| self.with_all(term).into_owned()).collect();
        all.sort_by_key(|(number, _)| *number);
        all.dedup_by(|(number, more), (kept, counts)| {
            let is_same = number == kept;
            if is_same {
                counts.title = counts.title.saturating_add(more.title);
                counts.tags = counts.tags.saturating_add(more.tags);
                counts.description = counts.description.saturating_add(more.description);
            }
            is_same
        });
        Cow::Owned(all)
    }
}

/// Terms of one word that must not be there.
fn single_excluded(query: &Query) -> impl Iterator<Item = &Term> {
    query.text.excluded.iter().filter(|term| term.len() == 1)
}
