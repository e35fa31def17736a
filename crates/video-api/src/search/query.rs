//! Answering a query: which documents, in which order, from where on, and how many there are.

mod filter;
mod walk;

pub use filter::{Around, Length};
use walk::{published, walk};

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use triptych_core::kv::{StoreError, Tx};

use super::index::{
    BY_DATE, BY_RATING, BY_TITLE, BY_VIDEOS, BY_VIEWS, ENTRIES, Entry, TOTALS, Totals,
};
use super::postings::{self, Number};
use super::words::{Counts, Term, Wanted};
use super::{DOCUMENTS, Kind};

/// The order of results.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Newest first.
    Date,
    /// Best liked first.
    Rating,
    /// Best match first; without words to match, newest first.
    #[default]
    Relevance,
    /// By title, A to Z.
    Title,
    /// Most videos first.
    VideoCount,
    /// Most viewed first.
    ViewCount,
}

/// What is asked for. Every field that is `None` or empty asks for nothing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Query {
    /// The words.
    pub wanted: Wanted,
    /// These kinds; all if empty.
    pub kinds: Vec<Kind>,
    /// Of this channel alone.
    pub channel: Option<String>,
    /// The channel of the caller, whose private things count too, and nobody else's do.
    pub mine: Option<String>,
    /// Published at this moment or later, in microseconds.
    pub published_after: Option<i64>,
    /// Published before this moment.
    pub published_before: Option<i64>,
    /// `videoCategoryId`.
    pub category: Option<String>,
    /// `videoDuration`.
    pub length: Option<Length>,
    /// `videoDefinition`: whether high.
    pub high_definition: Option<bool>,
    /// `videoCaption`.
    pub captions: Option<bool>,
    /// `videoDimension`: whether 3D.
    pub three_d: Option<bool>,
    /// `videoLicense`: whether Creative Commons.
    pub creative_commons: Option<bool>,
    /// `videoEmbeddable=true`.
    pub embeddable: bool,
    /// `videoSyndicated=true`.
    pub syndicated: bool,
    /// `videoPaidProductPlacement=true`.
    pub sponsored: bool,
    /// `eventType`.
    pub broadcast: Option<String>,
    /// `location` with `locationRadius`.
    pub around: Option<Around>,
    /// `topicId`.
    pub topic: Option<String>,
    /// `regionCode`: what can be viewed there.
    pub region: Option<String>,
    /// `relevanceLanguage`: what is in it comes first, nothing is left out.
    pub language: Option<String>,
    /// `safeSearch=strict`.
    pub strict: bool,
    /// Asks for what nothing is: no document is a film or an episode.
    pub nothing: bool,
    /// The order.
    pub order: Order,
}

/// Where a page starts: after this result.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    /// The bytes that it was ordered by.
    pub key: Vec<u8>,
    /// What it is.
    pub kind: Kind,
    /// Its id.
    pub id: String,
}

/// A result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// What it is.
    pub kind: Kind,
    /// Its id.
    pub id: String,
    /// The place after it.
    pub cursor: Cursor,
}

/// A page of results.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Found {
    /// The results, in order.
    pub hits: Vec<Hit>,
    /// How many results there are in all: exact.
    pub total: u64,
    /// Whether there are more after these.
    pub more: bool,
    /// Whether there are any before these.
    pub earlier: bool,
}

/// Entries that one scan reads.
const SCAN_ENTRIES: usize = 1000;
/// Parameters of BM25 (Robertson and Zaragoza 2009), as they are commonly set.
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// What a document in the wanted language gains.
const LANGUAGE_GAIN: f64 = 1.25;

/// A document that may be a result, and how well its words match.
struct Candidate {
    number: Number,
    counts: Vec<Counts>,
}

/// The documents that hold what is wanted.
struct Narrowed {
    candidates: Vec<Candidate>,
    /// How many documents hold a word of each wanted group.
    frequencies: Vec<u64>,
}

/// A result with what it is ordered by.
type Ranked = (Vec<u8>, Kind, String);

/// The `limit` results after (or, `backwards`, before) `cursor`. Call `index::drain` first.
///
/// Costs grow with the number of results, and with the documents of the wanted words, or, without words, of the filters; without either
/// they do not grow at all.
///
/// # Errors
/// As [`Tx::scan`].
pub fn run(
    tx: &mut Tx<'_>,
    query: &Query,
    cursor: Option<&Cursor>,
    backwards: bool,
    limit: usize,
) -> Result<Found, StoreError> {
    if let Some(order) = query.plain_order(tx)? {
        return walk(tx, query, order, cursor, backwards, limit);
    }
    let totals = TOTALS.peek(tx, &())?.unwrap_or_default();
    let mut ranked = match query.candidates(tx)? {
        Some(Narrowed {
            candidates,
            frequencies,
        }) => {
            let scorer = Scorer {
                totals: &totals,
                frequencies: &frequencies,
            };
            let mut ranked = Vec::new();
            for candidate in &candidates {
                let entry = ENTRIES.peek(tx, &candidate.number)?;
                if let Some(entry) = entry.filter(|entry| query.admits(entry))
                    && query.reads(tx, &entry)?
                {
                    ranked.push(query.rank(&scorer, &entry, &candidate.counts));
                }
            }
            ranked
        }
        None => query.sift_all(tx)?,
    };
    ranked.sort_unstable();
    let place = |cursor: &Cursor| {
        // A rank moves as documents come and go: the page starts where its last result stands now.
        let now = ranked
            .iter()
            .position(|(_, kind, id)| *kind == cursor.kind && *id == cursor.id);
        now.unwrap_or_else(|| {
            let (key, kind, id) = (cursor.key.as_slice(), cursor.kind, cursor.id.as_str());
            ranked.partition_point(|ranked| {
                (ranked.0.as_slice(), ranked.1, ranked.2.as_str()) < (key, kind, id)
            })
        })
    };
    let still_there = |at: usize, cursor: &Cursor| {
        ranked
            .get(at)
            .is_some_and(|(_, kind, id)| *kind == cursor.kind && *id == cursor.id)
    };
    let (start, end) = match cursor {
        None => (0, limit.min(ranked.len())),
        Some(cursor) if backwards => {
            let end = place(cursor);
            (end.saturating_sub(limit), end)
        }
        Some(cursor) => {
            let at = place(cursor);
            let start = at + usize::from(still_there(at, cursor));
            (start, (start + limit).min(ranked.len()))
        }
    };
    let total = ranked.len() as u64;
    let more = end < ranked.len();
    let hits = ranked
        .into_iter()
        .skip(start)
        .take(end - start)
        .map(hit)
        .collect();
    Ok(Found {
        hits,
        total,
        more,
        earlier: start > 0,
    })
}

fn hit((key, kind, id): Ranked) -> Hit {
    Hit {
        kind,
        id: id.clone(),
        cursor: Cursor { key, kind, id },
    }
}

struct Scorer<'q> {
    totals: &'q Totals,
    /// How many documents hold a word of each wanted group.
    frequencies: &'q [u64],
}

impl Scorer<'_> {
    fn score(&self, length: f64, counts: &[Counts]) -> f64 {
        let documents = self.totals.documents.max(1) as f64;
        let average = (self.totals.length / documents).max(1.0);
        let norm = K1 * (1.0 - B + B * length / average);
        let parts = counts
            .iter()
            .zip(self.frequencies)
            .map(|(counts, frequency)| {
                let frequency = *frequency as f64;
                let rarity = (1.0 + (documents - frequency + 0.5) / (frequency + 0.5)).ln();
                let weight = counts.weight();
                rarity * weight * (K1 + 1.0) / (weight + norm)
            });
        parts.sum()
    }
}

/// The documents that hold every word of a term, each with how often it can stand there at most.
fn documents_of(tx: &mut Tx<'_>, term: &Term) -> Result<BTreeMap<Number, Counts>, StoreError> {
    let mut all: Option<BTreeMap<Number, Counts>> = None;
    for word in term {
        let mut list: BTreeMap<_, _> = postings::of(tx, word)?.into_iter().collect();
        if let Some(before) = &all {
            list.retain(|number, counts| {
                let Some(other) = before.get(number) else {
                    return false;
                };
                counts.title = counts.title.min(other.title);
                counts.tags = counts.tags.min(other.tags);
                counts.description = counts.description.min(other.description);
                true
            });
        }
        all = Some(list);
    }
    Ok(all.unwrap_or_default())
}

impl Query {
    /// The stored order that answers this query alone, if there is one.
    fn plain_order(&self, tx: &mut Tx<'_>) -> Result<Option<u8>, StoreError> {
        let plain = Self {
            kinds: self.kinds.clone(),
            order: self.order,
            // Without words they change nothing, or nothing that is not looked at below.
            language: self.language.clone(),
            region: self.region.clone(),
            strict: self.strict,
            ..Self::default()
        };
        if *self != plain {
            return Ok(None);
        }
        for word in self.leaving_out() {
            if !postings::is_free(tx, &word)? {
                return Ok(None);
            }
        }
        Ok(Some(self.order.stored()))
    }

    /// The documents that hold what is wanted, and how many hold a word of each group; `None` if nothing narrows them.
    fn candidates(&self, tx: &mut Tx<'_>) -> Result<Option<Narrowed>, StoreError> {
        let mut lists: Vec<BTreeMap<Number, Counts>> = Vec::new();
        for group in &self.wanted.groups {
            let mut list: BTreeMap<Number, Counts> = BTreeMap::new();
            for term in group {
                for (number, counts) in documents_of(tx, term)? {
                    let sum = list.entry(number).or_default();
                    sum.title = sum.title.saturating_add(counts.title);
                    sum.tags = sum.tags.saturating_add(counts.tags);
                    sum.description = sum.description.saturating_add(counts.description);
                }
            }
            lists.push(list);
        }
        let frequencies: Vec<u64> = lists.iter().map(|list| list.len() as u64).collect();
        let mut narrow = Vec::new();
        for word in self.narrowing(!lists.is_empty()) {
            let list = postings::of(tx, &word)?;
            narrow.push(list.into_iter().collect::<BTreeMap<_, _>>());
        }
        if lists.is_empty() && narrow.is_empty() && self.mine.is_none() {
            narrow.extend(published(tx, self)?);
        }
        let Some(shortest) = lists.iter().chain(&narrow).min_by_key(|list| list.len()) else {
            return Ok(None);
        };
        let unwanted = self.unwanted(tx)?;
        let candidates = shortest
            .keys()
            .filter(|number| narrow.iter().all(|list| list.contains_key(*number)));
        let candidates =
            candidates.filter(|number| !unwanted.iter().any(|list| list.contains_key(*number)));
        let candidates = candidates.filter_map(|number| {
            let counts = lists
                .iter()
                .map(|list| list.get(number).copied())
                .collect::<Option<_>>()?;
            Some(Candidate {
                number: *number,
                counts,
            })
        });
        Ok(Some(Narrowed {
            candidates: candidates.collect(),
            frequencies,
        }))
    }

    /// The documents of each single word that must not be there; terms of several words are looked for in the text.
    fn unwanted(&self, tx: &mut Tx<'_>) -> Result<Vec<BTreeMap<Number, Counts>>, StoreError> {
        let words = self.wanted.unwanted.iter().filter(|term| term.len() == 1);
        words.map(|term| documents_of(tx, term)).collect()
    }

    /// Whether the text of a document is what is wanted, where its words alone do not say it.
    fn reads(&self, tx: &mut Tx<'_>, entry: &Entry) -> Result<bool, StoreError> {
        if !self.wanted.needs_text() {
            return Ok(true);
        }
        let document = DOCUMENTS.peek(tx, &(entry.kind as u8, entry.id.clone()))?;
        Ok(document.is_some_and(|document| self.wanted.holds(&document)))
    }

    /// Looks at every document.
    fn sift_all(&self, tx: &mut Tx<'_>) -> Result<Vec<Ranked>, StoreError> {
        let unwanted = self.unwanted(tx)?;
        let scorer = Scorer {
            totals: &Totals::default(),
            frequencies: &[],
        };
        let (mut ranked, mut span) = (Vec::new(), ENTRIES.span(&()));
        loop {
            let (entries, more) = ENTRIES.scan(tx, &span, SCAN_ENTRIES)?;
            let admitted = entries.iter().filter(|(number, entry)| {
                self.admits(entry) && !unwanted.iter().any(|list| list.contains_key(number))
            });
            for (_, entry) in admitted {
                if self.reads(tx, entry)? {
                    ranked.push(self.rank(&scorer, entry, &[]));
                }
            }
            match entries.last() {
                Some((number, _)) if more => span.from = Some(ENTRIES.key(number).to_vec()),
                _ => return Ok(ranked),
            }
        }
    }

    /// What the results are ordered by: the least bytes first, then by kind and id.
    fn rank(&self, scorer: &Scorer<'_>, entry: &Entry, counts: &[Counts]) -> Ranked {
        let key = if self.order == Order::Relevance && !counts.is_empty() {
            let language = entry.facets.language.split('-').next();
            let spoken = self.language.is_some() && self.language.as_deref() == language;
            let gain = if spoken { LANGUAGE_GAIN } else { 1.0 };
            let score = scorer.score(entry.length, counts) * gain;
            (!score.max(0.0).to_bits()).to_be_bytes().to_vec()
        } else {
            entry.rank(self.order.stored())
        };
        (key, entry.kind, entry.id.clone())
    }
}

impl Order {
    /// The order in `ORDERED` that this is where no words are to match.
    const fn stored(self) -> u8 {
        match self {
            Self::Date | Self::Relevance => BY_DATE,
            Self::Rating => BY_RATING,
            Self::Title => BY_TITLE,
            Self::VideoCount => BY_VIDEOS,
            Self::ViewCount => BY_VIEWS,
        }
    }
}

#[cfg(test)]
mod tests;
