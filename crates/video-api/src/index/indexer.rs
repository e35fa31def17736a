//! Bringing the index to what the documents say, in groups, each step safe to repeat.
//!
//! A step first records which versions of a document the index may come to hold, then changes the words, then the document's entry; a crash
//! in between is mended by the next run, which takes all those versions out and puts the last one in.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use triptych_core::id::Ids;
use triptych_core::kv::{self, JsonRecord, KeyValue, StoreError, Table, Tx};

use super::postings::{self, Change, Facet, Number};
use super::query::Length;
use super::summary::{self, Summary};
use super::{CHANGED, DOCUMENTS, Document, Facets, Held, Kind};
use crate::index::tokenizer::{self, Counts};

/// What a query needs to know of a document beside its words.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Entry {
    /// What it is about.
    #[serde(rename = "k")]
    pub kind: Kind,
    /// The resource's id.
    #[serde(rename = "i")]
    pub id: String,
    /// Its channel.
    #[serde(rename = "c")]
    pub channel: String,
    /// The start of its title, in lower case, for the order by title.
    #[serde(rename = "t")]
    pub title: String,
    /// The weight of all its words, for the rank.
    #[serde(rename = "l")]
    pub length: f64,
    /// What queries filter and order by.
    #[serde(rename = "f")]
    pub facets: Facets,
}

impl JsonRecord for Entry {}

/// What is known of all documents together.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct Totals {
    /// The number that the next document gets.
    pub next: Number,
    /// How many documents there are.
    pub documents: u64,
    /// How many of each kind are public, in the order of [`Kind::ALL`].
    pub public: [u64; 3],
    /// The lengths of all documents together.
    pub length: f64,
}

impl JsonRecord for Totals {}

/// A row that is a number.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Numbered(pub Number);

impl JsonRecord for Numbered {}

/// Entries by number.
pub const ENTRIES: Table<u64, Entry> = Table::new(0x8B);
/// Numbers by kind and id.
pub const NUMBERS: Table<(u8, String), Numbered> = Table::new(0x8C);
/// Public documents by order, kind, what they are ordered by (as [`order_key`] says), and id.
pub const ORDERED: Table<(u8, u8, u64, String), Numbered> = Table::new(0x8D);
/// The one row of totals.
pub const TOTALS: Table<(), Totals> = Table::new(0x8E);

/// The order by date in [`ORDERED`].
pub const BY_DATE: u8 = 0;
/// The order by views in [`ORDERED`].
pub const BY_VIEWS: u8 = 1;
/// The order by rating in [`ORDERED`].
pub const BY_RATING: u8 = 2;
/// The order by number of videos in [`ORDERED`].
pub const BY_VIDEOS: u8 = 3;
/// The order by title in [`ORDERED`].
pub const BY_TITLE: u8 = 4;
/// All orders in [`ORDERED`].
pub const ORDERS: [u8; 5] = [BY_DATE, BY_VIEWS, BY_RATING, BY_VIDEOS, BY_TITLE];

/// Documents that one group takes.
const GROUP: usize = 256;
/// Words that one transaction changes: each may be a row of 20 KiB.
const WORDS_PER_COMMIT: usize = 40;
/// Documents that one transaction begins.
const BEGUN_PER_COMMIT: usize = 100;
/// Documents whose entries one transaction changes: a dozen rows each, and their summaries may lie in as many rows of 8 KiB.
const SETTLED_PER_COMMIT: usize = 60;
const ATTEMPTS: u32 = 100;

/// A document that is being indexed.
pub(super) struct Work {
    key: (u8, String),
    kind: Kind,
    number: Number,
    current: Option<Document>,
    held: Held,
}

/// Follows every document that changed, and says how many there were. Blocks. Two at a time do no harm, but only one makes progress: let the shell
/// hold a lock.
///
/// # Errors
/// As [`kv::run_blocking`].
pub fn drain(store: &dyn KeyValue, ids: &mut dyn Ids) -> Result<usize, StoreError> {
    let mut followed = 0;
    loop {
        let changed = CHANGED.scan(&mut Tx::new(store), &CHANGED.span(&()), GROUP)?.0;
        if changed.is_empty() {
            return Ok(followed);
        }
        let mut group = Vec::new();
        for keys in changed.chunks(BEGUN_PER_COMMIT) {
            group.extend(kv::run_blocking(store, ids, ATTEMPTS, |tx, _| {
                begin(tx, keys.iter().map(|(key, _)| key))
            })?);
        }
        let changes = word_changes(&group);
        let changes: Vec<_> = changes.iter().collect();
        for part in changes.chunks(WORDS_PER_COMMIT) {
            kv::run_blocking(store, ids, ATTEMPTS, |tx, _| {
                part.iter().try_for_each(|((word, block), changes)| {
                    postings::apply(tx, word, *block, changes)
                })
            })?;
        }
        for part in group.chunks(SETTLED_PER_COMMIT) {
            kv::run_blocking(store, ids, ATTEMPTS, |tx, _| settle(tx, part))?;
        }
        followed += group.len();
    }
}

/// Numbers the documents, and records the version that the index comes to hold.
pub(super) fn begin<'k>(
    tx: &mut Tx<'_>,
    keys: impl Iterator<Item = &'k (u8, String)>,
) -> Result<Vec<Work>, StoreError> {
    let mut totals = TOTALS.get(tx, &())?.unwrap_or_default();
    let mut group = Vec::new();
    for key in keys {
        let (Some(mut held), Some(kind)) =
            (CHANGED.get(tx, key)?, Kind::ALL.get(usize::from(key.0)))
        else {
            continue;
        };
        let current = DOCUMENTS.get(tx, key)?;
        let number = match NUMBERS.get(tx, key)? {
            Some(Numbered(number)) => number,
            None => {
                NUMBERS.put(tx, key, &Numbered(totals.next));
                totals.next += 1;
                totals.next - 1
            }
        };
        let work = Work { key: key.clone(), kind: *kind, number, current, held: held.clone() };
        if let Some(current) = work.current.as_ref().filter(|current| !held.begun.contains(current))
        {
            held.begun.push(current.clone());
            CHANGED.put(tx, key, &held);
        }
        group.push(work);
    }
    TOTALS.put(tx, &(), &totals);
    Ok(group)
}

/// What of which block of which word changes.
pub(super) fn word_changes(group: &[Work]) -> BTreeMap<(String, u64), Vec<Change>> {
    let mut changes: BTreeMap<(String, u64), Vec<Change>> = BTreeMap::new();
    for work in group {
        let now = work.current.as_ref().map(all_words).unwrap_or_default();
        let before: BTreeMap<_, _> =
            work.held.settled.iter().chain(&work.held.begun).flat_map(all_words).collect();
        let unchanged = work.held.begun.is_empty() && before == now;
        if unchanged {
            continue;
        }
        let words: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
        let (block, _) = postings::place(work.number);
        for word in words {
            changes
                .entry((word.clone(), block))
                .or_default()
                .push((work.number, now.get(word).copied()));
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
        Facet::Length(Length::of(facets.duration_ms).name()),
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
    ];
    let sometimes = sometimes.into_iter().filter(|(is, _)| *is);
    let topics = facets.topics.iter().map(|topic| Facet::Topic(topic));
    let blocked = facets.blocked.iter().map(|region| Facet::Blocked(region));
    let all = always.into_iter().chain(sometimes.map(|(_, facet)| facet));
    words.extend(all.chain(topics).chain(blocked).map(|facet| (facet.word(), kept)));
    words
}

/// Changes entries, orders and totals, and ends what [`begin`] began, unless the document changed again meanwhile.
fn settle(tx: &mut Tx<'_>, group: &[Work]) -> Result<(), StoreError> {
    let mut totals = TOTALS.get(tx, &())?.unwrap_or_default();
    let mut summaries = Vec::with_capacity(group.len());
    for work in group {
        if let Some(before) = ENTRIES.get(tx, &work.number)? {
            forget(tx, work.number, &before, &mut totals);
        }
        let summary = match &work.current {
            Some(document) => {
                let found = (work.kind, work.key.1.as_str());
                Some(remember(tx, found, work.number, document, &mut totals))
            }
            None => {
                NUMBERS.delete(tx, &work.key);
                None
            }
        };
        summaries.push((work.number, summary));
        if DOCUMENTS.get(tx, &work.key)? == work.current {
            CHANGED.delete(tx, &work.key);
        } else {
            CHANGED.put(tx, &work.key, &Held { settled: work.current.clone(), begun: Vec::new() });
        }
    }
    TOTALS.put(tx, &(), &totals);
    summary::apply(tx, &summaries)
}

/// Puts the entry, the orders and the totals of a document that the index comes to hold, and gives its summary.
pub(super) fn remember(
    tx: &mut Tx<'_>,
    (kind, id): (Kind, &str),
    number: Number,
    document: &Document,
    totals: &mut Totals,
) -> Summary {
    let title = document.title.to_lowercase();
    let entry = Entry {
        kind,
        id: id.to_owned(),
        channel: document.channel.clone(),
        title: title.get(..title.floor_char_boundary(96)).unwrap_or_default().to_owned(),
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
            ORDERED.put(tx, &key, &Numbered(number));
        }
    }
    ENTRIES.put(tx, &number, &entry);
    Summary::of(&entry)
}

fn forget(tx: &mut Tx<'_>, number: Number, entry: &Entry, totals: &mut Totals) {
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

fn order_keys(entry: &Entry) -> [OrderKey; ORDERS.len()] {
    ORDERS.map(|order| order_key(order, entry.kind, &entry.rank(order), &entry.id))
}

/// A key of [`ORDERED`].
pub type OrderKey = (u8, u8, u64, String);

/// The key of a document: what an order is by is a number of eight bytes, or, for titles, stands before the id.
#[must_use]
pub fn order_key(order: u8, kind: Kind, rank: &[u8], id: &str) -> OrderKey {
    match rank.try_into() {
        Ok(number) if order != BY_TITLE => {
            (order, kind as u8, u64::from_be_bytes(number), id.to_owned())
        }
        _ => {
            let title = String::from_utf8_lossy(rank);
            (order, kind as u8, 0, format!("{title}\0{id}"))
        }
    }
}

/// What a key is by, and the id.
#[must_use]
pub fn rank_and_id((order, _, number, id): OrderKey) -> (Vec<u8>, String) {
    match id.rsplit_once('\0') {
        Some((title, id)) if order == BY_TITLE => (title.as_bytes().to_vec(), id.to_owned()),
        _ => (number.to_be_bytes().to_vec(), id),
    }
}

impl Entry {
    /// What the document is ordered by: the least bytes come first.
    #[must_use]
    pub fn rank(&self, order: u8) -> Vec<u8> {
        match order {
            BY_TITLE => self.title.clone().into_bytes(),
            _ => Summary::of(self).rank(order).to_be_bytes().to_vec(),
        }
    }
}

/// A signed number as one that sorts the same without a sign.
#[must_use]
pub const fn ascending(number: i64) -> u64 {
    number.cast_unsigned() ^ 1 << 63
}

/// Whether the index holds what a rebuild from the documents would: for `verify` and tests. Reads everything.
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
