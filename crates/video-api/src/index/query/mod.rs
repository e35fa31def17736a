//! Answering a query: which documents, in which order, from where on, and how many there are.

mod filter;
mod page;
mod walk;

pub use filter::{Around, Length};
use page::{Ranked, Results};
use walk::{published, walk};

use serde::{Deserialize, Serialize};
use triptych_core::kv::{StoreError, Tx};

use super::postings::{self, Facet, Finger, List, Number};
use super::summary::{Reader, Summary};
use super::{DOCUMENTS, Kind};
use crate::index::indexer::{
    BY_DATE, BY_RATING, BY_TITLE, BY_VIDEOS, BY_VIEWS, ENTRIES, TOTALS, Totals,
};
use crate::index::tokenizer::{Counts, Term, Wanted};

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
    /// How many results came before it: ranks move, and a result that is gone has none.
    pub at: u32,
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

/// Parameters of BM25 (Robertson and Zaragoza 2009), as they are commonly set.
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// What a document in the wanted language gains.
const LANGUAGE_GAIN: f64 = 1.25;

/// The `limit` results after (or, `backwards`, before) `cursor`. Call `index::drain` first.
///
/// Costs grow with the documents of the wanted words, or, without words, of the filters, or of all; each costs a few dozen nanoseconds,
/// and a page of it what it holds. Without words and filters they do not grow at all.
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
    let order = match query.order {
        Order::Relevance if query.wanted.groups.is_empty() => Order::Date,
        order => order,
    };
    // The place of a cursor is found among all of them.
    let enough = cursor.is_none().then_some(limit.max(1));
    let mut results = Results::new(order, enough);
    query.matches(tx, |ranked| results.push(ranked))?;
    page::of(tx, results, cursor, backwards, limit)
}

/// A result with the bytes that it is ordered by.
fn hit((key, kind, id): (Vec<u8>, Kind, String), at: usize) -> Hit {
    Hit {
        kind,
        id: id.clone(),
        cursor: Cursor { key, kind, id, at: u32::try_from(at).unwrap_or(u32::MAX) },
    }
}

/// How well words match, among all documents.
struct Scorer {
    /// The length of a document on average.
    average: f64,
    /// How rare the documents of each wanted group are.
    rarities: Vec<f64>,
}

impl Scorer {
    fn new(totals: &Totals, groups: &[List]) -> Self {
        let documents = totals.documents.max(1) as f64;
        let rarity = |list: &List| {
            let frequency = list.len() as f64;
            (1.0 + (documents - frequency + 0.5) / (frequency + 0.5)).ln()
        };
        Self {
            average: (totals.length / documents).max(1.0),
            rarities: groups.iter().map(rarity).collect(),
        }
    }

    fn score(&self, length: f64, counts: &[Counts]) -> f64 {
        let norm = K1 * (1.0 - B + B * length / self.average);
        let parts = counts.iter().zip(&self.rarities).map(|(counts, rarity)| {
            let weight = counts.weight();
            rarity * weight * (K1 + 1.0) / (weight + norm)
        });
        parts.sum()
    }
}

fn fingers(lists: &[List]) -> Vec<Finger<'_>> {
    lists.iter().map(|list| Finger::on(list)).collect()
}

/// The documents that hold every word of a term, each with how often it can stand there at most.
fn documents_of(tx: &mut Tx<'_>, term: &Term) -> Result<List, StoreError> {
    let mut all: Option<List> = None;
    for word in term {
        let list = postings::of(tx, word)?;
        let Some(before) = &mut all else {
            all = Some(list);
            continue;
        };
        let mut other = Finger::on(&list);
        before.retain_mut(|(number, counts)| {
            let Some(other) = other.find(*number) else {
                return false;
            };
            counts.title = counts.title.min(other.title);
            counts.tags = counts.tags.min(other.tags);
            counts.description = counts.description.min(other.description);
            true
        });
    }
    Ok(all.unwrap_or_default())
}

/// The documents that hold one of these terms, each with how often they can stand there together.
fn documents_of_any(tx: &mut Tx<'_>, terms: &[Term]) -> Result<List, StoreError> {
    let mut all = List::new();
    for term in terms {
        all.extend(documents_of(tx, term)?);
    }
    if terms.len() > 1 {
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
    }
    Ok(all)
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

    /// Hands out all results, in no order.
    fn matches(&self, tx: &mut Tx<'_>, mut push: impl FnMut(Ranked)) -> Result<(), StoreError> {
        let totals = TOTALS.peek(tx, &())?.unwrap_or_default();
        let groups = self.wanted.groups.iter();
        let groups = groups.map(|group| documents_of_any(tx, group));
        let groups: Vec<List> = groups.collect::<Result<_, _>>()?;
        let narrow = self.narrowing(!groups.is_empty()).into_iter();
        let narrow = narrow.map(|word| postings::of(tx, &word));
        let mut narrow: Vec<List> = narrow.collect::<Result<_, _>>()?;
        if groups.is_empty() && narrow.is_empty() {
            narrow.extend(published(tx, self)?);
        }
        let unwanted = self.unwanted(tx)?;
        let shortest = groups.iter().chain(&narrow).min_by_key(|list| list.len());
        let numbers: Box<dyn Iterator<Item = Number>> = match shortest {
            Some(list) => Box::new(list.iter().map(|(number, _)| *number)),
            None => Box::new(0..totals.next),
        };
        let scorer = Scorer::new(&totals, &groups);
        let (mut groups, mut narrow, mut unwanted) =
            (fingers(&groups), fingers(&narrow), fingers(&unwanted));
        let mut summaries = Reader::default();
        let mut counts = Vec::with_capacity(groups.len());
        for number in numbers {
            if !narrow.iter_mut().all(|list| list.find(number).is_some())
                || unwanted.iter_mut().any(|list| list.find(number).is_some())
            {
                continue;
            }
            counts.clear();
            counts.extend(groups.iter_mut().map_while(|list| list.find(number)));
            if counts.len() < groups.len() {
                continue;
            }
            if let Some(summary) = summaries.at(tx, number)?
                && self.admits(&summary)
                && self.reads(tx, number)?
            {
                push(self.rank(&scorer, &summary, &counts, number));
            }
        }
        Ok(())
    }

    /// The documents of each single word that must not be there; terms of several words are looked for in the text.
    fn unwanted(&self, tx: &mut Tx<'_>) -> Result<Vec<List>, StoreError> {
        let words = self.wanted.unwanted.iter().filter(|term| term.len() == 1);
        let lists = words.map(|term| documents_of(tx, term));
        let mut lists: Vec<List> = lists.collect::<Result<_, _>>()?;
        if let Some(region) = &self.region {
            lists.push(postings::of(tx, &Facet::Blocked(region).word())?);
        }
        Ok(lists)
    }

    /// Whether a document is what is wanted, where its words and its summary do not say it: its place, and the order of words in its text.
    fn reads(&self, tx: &mut Tx<'_>, number: Number) -> Result<bool, StoreError> {
        let needs_text = self.wanted.needs_text();
        if self.around.is_none() && !needs_text {
            return Ok(true);
        }
        let Some(entry) = ENTRIES.peek(tx, &number)? else {
            return Ok(false);
        };
        let place = entry.facets.location;
        let is_near = |around: Around| place.is_some_and(|place| around.holds(place));
        if !self.around.is_none_or(is_near) {
            return Ok(false);
        }
        if !needs_text {
            return Ok(true);
        }
        let document = DOCUMENTS.peek(tx, &(entry.kind as u8, entry.id))?;
        Ok(document.is_some_and(|document| self.wanted.holds(&document)))
    }

    /// A result where it stands.
    fn rank(
        &self,
        scorer: &Scorer,
        summary: &Summary,
        counts: &[Counts],
        number: Number,
    ) -> Ranked {
        let rank = if self.order == Order::Relevance && !counts.is_empty() {
            let wanted = self.language.as_deref().map(str::as_bytes);
            let gain = match wanted {
                Some(wanted) if wanted == summary.language.as_slice() => LANGUAGE_GAIN,
                _ => 1.0,
            };
            let score = scorer.score(summary.length, counts) * gain;
            !score.max(0.0).to_bits()
        } else {
            summary.rank(self.order.stored())
        };
        Ranked { rank, kind: summary.kind, id: summary.id, number }
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
