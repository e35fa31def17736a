//! Bringing the index to what the documents say, in groups, each step safe to repeat.
//!
//! A step first records which versions of a document the index may come to hold, then changes the words, then the document's entry; a crash
//! in between is mended by the next run, which takes all those versions out and puts the last one in.

use std::collections::{BTreeMap, BTreeSet};

use triptych_core::id::Ids;
use triptych_core::kv::{self, KeyValue, Plan, StoreError, Tx};

use super::column::Cell;
use super::entry::{ENTRIES, Entry, NUMBERS, NumberRow, TOTALS, Totals};
use super::facet::{DurationClass, Facet};
use super::order::{BY_TITLE, ORDERED, ORDERS, OrderKey, order_key};
use super::postings::{self, Change, Number, POSTINGS};
use super::summary::Summary;
use super::title::{Title, ordered_text};
use super::tokenizer::{self, Counts};
use super::{CHANGED, DOCUMENTS, Document, IndexState, Kind, column};
use crate::record::closing;

/// Documents that one group takes.
const GROUP: usize = 256;
/// Words that one transaction changes: each may be a row of 20 KiB.
const WORDS_PER_COMMIT: usize = 40;
/// Documents that one transaction begins.
const BEGUN_PER_COMMIT: usize = 100;
/// Documents whose entries one transaction changes: a dozen rows each, and their summaries and titles may lie in as many rows of 8 and 12 KiB.
const SETTLED_PER_COMMIT: usize = 40;
const ATTEMPTS: u32 = 100;

/// A document that is being indexed.
pub(super) struct PendingDocument {
    key: (u8, String),
    kind: Kind,
    number: Number,
    current: Option<Document>,
    state: IndexState,
}

/// Follows documents that changed, as many as one group takes, and says how many there were: none once the index says what the documents do.
/// Blocks. Two at a time do no harm, but only one makes progress: let the shell hold a lock, and give each group the store as a request reads it.
///
/// # Errors
/// As [`kv::run_blocking`].
pub fn follow(store: &dyn KeyValue, ids: &mut dyn Ids) -> Result<usize, StoreError> {
    let changed = CHANGED.scan(&mut Tx::new(store), &CHANGED.span(&()), GROUP)?.0;
    let mut group = Vec::new();
    for keys in changed.chunks(BEGUN_PER_COMMIT) {
        group.extend(step(store, ids, |tx| {
            tx.plan(|plan| keys.iter().for_each(|(key, _)| plan_begin(plan, key)))?;
            begin(tx, keys.iter().map(|(key, _)| key))
        })?);
    }
    let changes = word_changes(&group);
    let changes: Vec<_> = changes.iter().collect();
    for part in changes.chunks(WORDS_PER_COMMIT) {
        step(store, ids, |tx| {
            tx.plan(|plan| {
                part.iter().for_each(|(key, _)| drop(plan.row(&POSTINGS, *key)));
            })?;
            part.iter()
                .try_for_each(|((word, block), changes)| postings::apply(tx, word, *block, changes))
        })?;
    }
    for part in group.chunks(SETTLED_PER_COMMIT) {
        step(store, ids, |tx| {
            tx.plan(|plan| plan_entries(plan, part))?;
            commit_entries(tx, part)
        })?;
    }
    Ok(group.len())
}

/// Commits a part of the work, which ends the moment of whoever counts what is hidden.
fn step<T>(
    store: &dyn KeyValue,
    ids: &mut dyn Ids,
    mut work: impl FnMut(&mut Tx<'_>) -> Result<T, StoreError>,
) -> Result<T, StoreError> {
    kv::run_blocking(store, ids, ATTEMPTS, |tx, _| {
        let done = work(tx)?;
        closing::step(tx)?;
        Ok(done)
    })
}

/// Plans what [`begin`] reads of a document.
fn plan_begin(plan: &mut Plan<'_>, key: &(u8, String)) {
    plan.row(&TOTALS, &());
    plan.row(&CHANGED, key);
    plan.row(&DOCUMENTS, key);
    plan.row(&NUMBERS, key);
}

/// Numbers the documents, and records the version that the index comes to hold.
pub(super) fn begin<'k>(
    tx: &mut Tx<'_>,
    keys: impl Iterator<Item = &'k (u8, String)>,
) -> Result<Vec<PendingDocument>, StoreError> {
    let mut totals = TOTALS.get(tx, &())?.unwrap_or_default();
    let mut group = Vec::new();
    for key in keys {
        let (Some(mut state), Some(kind)) =
            (CHANGED.get(tx, key)?, Kind::ALL.get(usize::from(key.0)))
        else {
            continue;
        };
        let current = DOCUMENTS.get(tx, key)?;
        let number = match NUMBERS.get(tx, key)? {
            Some(NumberRow(number)) => number,
            None => {
                NUMBERS.put(tx, key, &NumberRow(totals.next));
                totals.next += 1;
                totals.next - 1
            }
        };
        let pending = PendingDocument {
            key: key.clone(),
            kind: *kind,
            number,
            current,
            state: state.clone(),
        };
        if let Some(current) =
            pending.current.as_ref().filter(|current| !state.in_progress.contains(current))
        {
            state.in_progress.push(current.clone());
            CHANGED.put(tx, key, &state);
        }
        group.push(pending);
    }
    TOTALS.put(tx, &(), &totals);
    Ok(group)
}

/// Changes of words by word and block.
pub(super) fn word_changes(group: &[PendingDocument]) -> BTreeMap<(String, u64), Vec<Change>> {
    let mut changes: BTreeMap<(String, u64), Vec<Change>> = BTreeMap::new();
    for pending in group {
        let now = pending.current.as_ref().map(all_words).unwrap_or_default();
        let indexed = pending.state.indexed.iter().chain(&pending.state.in_progress);
        let mut before: BTreeMap<_, _> = indexed.clone().flat_map(all_words).collect();
        if pending.state.words != tokenizer::VERSION {
            let earlier = indexed.flat_map(tokenizer::earlier_words_of);
            before.extend(earlier.map(|word| (word, Counts::default())));
        }
        let unchanged = pending.state.in_progress.is_empty() && before == now;
        if unchanged {
            continue;
        }
        let words: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
        let (block, _) = postings::place(pending.number);
        for word in words {
            changes
                .entry((word.clone(), block))
                .or_default()
                .push((pending.number, now.get(word).copied()));
        }
    }
    changes
}

/// Every word under which a document is found.
pub(super) fn all_words(document: &Document) -> BTreeMap<String, Counts> {
    let mut words = tokenizer::counts(document);
    let (kept, facets) = (Counts::default(), &document.facets);
    words.insert(Facet::Channel(&document.channel).word(), kept);
    let always = [
        Facet::Duration(DurationClass::of(facets.duration_ms).name()),
        Facet::Definition(facets.high_definition),
    ];
    let sometimes = [
        (!facets.category.is_empty(), Facet::Category(&facets.category)),
        (facets.captions, Facet::Captions),
        (facets.three_d, Facet::ThreeD),
        (facets.creative_commons, Facet::CreativeCommons),
        (facets.sponsored, Facet::Sponsored),
        (facets.location.is_some(), Facet::Place),
        (facets.restricted, Facet::Restricted),
        (!facets.broadcast.is_empty(), Facet::Broadcast(&facets.broadcast)),
        (!facets.form.is_empty(), Facet::Form(&facets.form)),
    ];
    let sometimes = sometimes.into_iter().filter(|(is, _)| *is);
    let topics = facets.topics.iter().map(|topic| Facet::Topic(topic));
    let blocked = facets.blocked.iter().map(|region| Facet::Blocked(region));
    let all = always.into_iter().chain(sometimes.map(|(_, facet)| facet));
    words.extend(all.chain(topics).chain(blocked).map(|facet| (facet.word(), kept)));
    words
}

/// Plans what [`commit_entries`] reads.
fn plan_entries(plan: &mut Plan<'_>, group: &[PendingDocument]) {
    plan.row(&TOTALS, &());
    for pending in group {
        plan.row(&ENTRIES, &pending.number);
        plan.row(&DOCUMENTS, &pending.key);
    }
    let mut numbers: Vec<_> = group.iter().map(|pending| pending.number).collect();
    numbers.sort_unstable();
    column::plan::<Summary, _>(plan, &numbers);
    column::plan::<Title, _>(plan, &numbers);
}

/// Changes entries, orders and totals, and ends what [`begin`] began, unless the document changed again meanwhile.
fn commit_entries(tx: &mut Tx<'_>, group: &[PendingDocument]) -> Result<(), StoreError> {
    let mut totals = TOTALS.get(tx, &())?.unwrap_or_default();
    let mut summaries = Vec::with_capacity(group.len());
    let mut titles = Vec::with_capacity(group.len());
    for pending in group {
        if let Some(before) = ENTRIES.get(tx, &pending.number)? {
            remove_entry(tx, pending.number, &before, &mut totals);
        }
        let (summary, title) = match &pending.current {
            Some(document) => {
                let found = (pending.kind, pending.key.1.as_str());
                Some(insert_entry(tx, found, pending.number, document, &mut totals))
            }
            None => {
                NUMBERS.delete(tx, &pending.key);
                None
            }
        }
        .unzip();
        summaries.push((pending.number, summary));
        titles.push((pending.number, title));
        if DOCUMENTS.get(tx, &pending.key)? == pending.current {
            CHANGED.delete(tx, &pending.key);
        } else {
            CHANGED.put(
                tx,
                &pending.key,
                &IndexState {
                    indexed: pending.current.clone(),
                    in_progress: Vec::new(),
                    words: tokenizer::VERSION,
                },
            );
        }
    }
    TOTALS.put(tx, &(), &totals);
    summaries.sort_unstable_by_key(|(number, _)| *number);
    titles.sort_unstable_by_key(|(number, _)| *number);
    column::apply(tx, &summaries)?;
    column::apply(tx, &titles)
}

/// Puts the entry, the orders and the totals of a document that the index comes to hold, and gives its cells.
pub(super) fn insert_entry(
    tx: &mut Tx<'_>,
    (kind, id): (Kind, &str),
    number: Number,
    document: &Document,
    totals: &mut Totals,
) -> (Summary, Title) {
    let entry = Entry {
        kind,
        id: id.to_owned(),
        channel: document.channel.clone(),
        title: ordered_text(&document.title),
        length: tokenizer::counts(document).values().map(|counts| counts.weight()).sum(),
        facets: document.facets.clone(),
    };
    totals.documents += 1;
    totals.length += entry.length;
    if entry.facets.public {
        if let Some(count) = totals.public.get_mut(entry.kind as usize) {
            *count += 1;
        }
        for key in order_keys(&entry) {
            ORDERED.put(tx, &key, &NumberRow(number));
        }
    }
    ENTRIES.put(tx, &number, &entry);
    (Summary::of(&entry), Title::of(&entry))
}

fn remove_entry(tx: &mut Tx<'_>, number: Number, entry: &Entry, totals: &mut Totals) {
    totals.documents = totals.documents.saturating_sub(1);
    totals.length -= entry.length;
    if entry.facets.public {
        if let Some(count) = totals.public.get_mut(entry.kind as usize) {
            *count = count.saturating_sub(1);
        }
        for key in order_keys(entry) {
            ORDERED.delete(tx, &key);
        }
    }
    ENTRIES.delete(tx, &number);
}

pub(super) fn order_keys(entry: &Entry) -> [OrderKey; ORDERS.len()] {
    ORDERS.map(|order| order_key(order, entry.kind, &entry.rank(order), &entry.id))
}

impl Entry {
    /// Rank of the document in an order: the least bytes come first.
    fn rank(&self, order: u8) -> Vec<u8> {
        match order {
            BY_TITLE => self.title.clone().into_bytes(),
            _ => Summary::of(self).rank(order).to_be_bytes().to_vec(),
        }
    }
}
