//! Bringing the index to what the documents say, in groups, each step safe to repeat.
//!
//! A step first records which versions of a document the index may come to hold, then changes the words, then the document's entry; a crash
//! in between is mended by the next run, which takes all those versions out and puts the last one in.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};
use triptych_core::id::Ids;
use triptych_core::kv::{self, JsonRecord, KeyValue, StoreError, Table, Tx};

use super::postings::{self, Change, Number};
use super::words::{self, Counts};
use super::{CHANGED, DOCUMENTS, Document, Facets, Held, Kind};
use crate::tables;

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
pub const ENTRIES: Table<u64, Entry> = Table::new(tables::SEARCH_ENTRIES);
/// Numbers by kind and id.
pub const NUMBERS: Table<(u8, String), Numbered> = Table::new(tables::SEARCH_NUMBERS);
/// Public documents by order (0 date, 1 views), kind, the inverse of what they are ordered by, and id.
pub const ORDERED: Table<(u8, u8, u64, String), Numbered> = Table::new(tables::SEARCH_ORDERED);
/// The one row of totals.
pub const TOTALS: Table<(), Totals> = Table::new(tables::SEARCH_TOTALS);

/// The order by date in [`ORDERED`].
pub const BY_DATE: u8 = 0;
/// The order by views in [`ORDERED`].
pub const BY_VIEWS: u8 = 1;

/// Documents that one group takes.
const GROUP: usize = 256;
/// Words that one transaction changes: each may be a row of 20 KiB.
const WORDS_PER_COMMIT: usize = 40;
/// Documents whose entries one transaction changes: five rows each.
const ENTRIES_PER_COMMIT: usize = 100;
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
        let changed = CHANGED
            .scan(&mut Tx::new(store), &CHANGED.span(&()), GROUP)?
            .0;
        if changed.is_empty() {
            return Ok(followed);
        }
        let mut group = Vec::new();
        for keys in changed.chunks(ENTRIES_PER_COMMIT) {
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
        for part in group.chunks(ENTRIES_PER_COMMIT) {
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
        let work = Work {
            key: key.clone(),
            kind: *kind,
            number,
            current,
            held: held.clone(),
        };
        if let Some(current) = work
            .current
            .as_ref()
            .filter(|current| !held.begun.contains(current))
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
        let before: BTreeMap<_, _> = work
            .held
            .settled
            .iter()
            .chain(&work.held.begun)
            .flat_map(all_words)
            .collect();
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
    let mut words = words::counts(document);
    words.insert(postings::channel_word(&document.channel), Counts::default());
    if !document.facets.category.is_empty() {
        words.insert(
            postings::category_word(&document.facets.category),
            Counts::default(),
        );
    }
    words
}

/// Changes entries, orders and totals, and ends what [`begin`] began, unless the document changed again meanwhile.
fn settle(tx: &mut Tx<'_>, group: &[Work]) -> Result<(), StoreError> {
    let mut totals = TOTALS.get(tx, &())?.unwrap_or_default();
    for work in group {
        if let Some(before) = ENTRIES.get(tx, &work.number)? {
            forget(tx, work.number, &before, &mut totals);
        }
        match &work.current {
            Some(document) => {
                let found = (work.kind, work.key.1.as_str());
                remember(tx, found, work.number, document, &mut totals);
            }
            None => NUMBERS.delete(tx, &work.key),
        }
        if DOCUMENTS.get(tx, &work.key)? == work.current {
            CHANGED.delete(tx, &work.key);
        } else {
            CHANGED.put(
                tx,
                &work.key,
                &Held {
                    settled: work.current.clone(),
                    begun: Vec::new(),
                },
            );
        }
    }
    TOTALS.put(tx, &(), &totals);
    Ok(())
}

/// Puts the entry, the orders and the totals of a document that the index comes to hold.
pub(super) fn remember(
    tx: &mut Tx<'_>,
    (kind, id): (Kind, &str),
    number: Number,
    document: &Document,
    totals: &mut Totals,
) {
    let title = document.title.to_lowercase();
    let entry = Entry {
        kind,
        id: id.to_owned(),
        channel: document.channel.clone(),
        title: title
            .get(..title.floor_char_boundary(96))
            .unwrap_or_default()
            .to_owned(),
        length: words::counts(document)
            .values()
            .map(|counts| counts.weight())
            .sum(),
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

fn order_keys(entry: &Entry) -> [(u8, u8, u64, String); 2] {
    let kind = entry.kind as u8;
    [
        (
            BY_DATE,
            kind,
            !ascending(entry.facets.published),
            entry.id.clone(),
        ),
        (BY_VIEWS, kind, !entry.facets.views, entry.id.clone()),
    ]
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
    let (documents, _) = DOCUMENTS
        .scan(tx, &DOCUMENTS.span(&()), usize::MAX / 2)
        .map_err(broken)?;
    let (blocks, _) = postings::POSTINGS
        .scan(tx, &postings::POSTINGS.span(&()), usize::MAX / 2)
        .map_err(broken)?;
    let mut stored: BTreeMap<(String, Number), Counts> = BTreeMap::new();
    for ((word, block), rows) in blocks {
        for (place, counts) in rows.0 {
            stored.insert((word.clone(), block << 12 | u64::from(place)), counts);
        }
    }
    let (mut length, mut count, mut public) = (0.0, 0, [0; 3]);
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
        for (word, counts) in all_words(&document) {
            if stored.remove(&(word.clone(), number)) != Some(counts) {
                return Err(format!(
                    "the word {word:?} of {} is not indexed as it stands",
                    key.1
                ));
            }
        }
        count += 1;
        length += entry.length;
        if let Some(count) = public.get_mut(entry.kind as usize) {
            *count += u64::from(entry.facets.public);
        }
    }
    if let Some(((word, number), _)) = stored.pop_first() {
        return Err(format!(
            "the word {word:?} is indexed for {number}, where it does not stand"
        ));
    }
    let totals = TOTALS.peek(tx, &()).map_err(broken)?.unwrap_or_default();
    let same = totals.documents == count
        && totals.public == public
        && (totals.length - length).abs() < 1e-6 * (1.0 + length);
    if same {
        Ok(())
    } else {
        Err("the totals are not those of the documents".to_owned())
    }
}
