//! Answering a query: which documents, in which order, from where on, and how many there are.

mod filter;
mod ordered_scan;
mod page;
mod title_page;

pub use filter::GeoCircle;
use ordered_scan::{ordered_scan, published_between};
use page::{Candidate, Candidates};
use title_page::TitlePage;

use serde::{Deserialize, Serialize};
use triptych_core::kv::{StoreError, Tx};

use super::entry::{ENTRIES, TOTALS, Totals};
use super::facet::{DurationClass, Facet};
use super::order::{BY_DATE, BY_RATING, BY_TITLE, BY_VIDEOS, BY_VIEWS};
use super::postings::{self, List, Number, PostingsCursor};
use super::summary::{Reader, Summary};
use super::{DOCUMENTS, Kind};
use crate::index::tokenizer::{Counts, Term, TextQuery};

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

/// A query. Every field that is `None` or empty asks for nothing.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Query {
    /// The words.
    pub text: TextQuery,
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
    pub duration: Option<DurationClass>,
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
    pub near: Option<GeoCircle>,
    /// `topicId`.
    pub topic: Option<String>,
    /// `regionCode`: what can be viewed there.
    pub region: Option<String>,
    /// `relevanceLanguage`: what is in it comes first, nothing is left out.
    pub language: Option<String>,
    /// `safeSearch=strict`.
    pub strict: bool,
    /// `videoType`: films, or episodes.
    pub form: Option<String>,
    /// Asks for what nothing is: no channel is a show, and no text is known by signs alone.
    pub nothing: bool,
    /// The order.
    pub order: Order,
}

/// The result after which a page starts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cursor {
    /// The bytes that it was ordered by.
    pub key: Vec<u8>,
    /// Its kind.
    pub kind: Kind,
    /// Its id.
    pub id: String,
    /// Number of results before it: ranks move, and a result that is gone has none.
    pub at: u32,
}

/// A result.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit {
    /// Its kind.
    pub kind: Kind,
    /// Its id.
    pub id: String,
    /// The place after it.
    pub cursor: Cursor,
}

/// A page of results.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ResultPage {
    /// The results, in order.
    pub hits: Vec<Hit>,
    /// Number of results in all: exact.
    pub total: u64,
    /// True if there are more after these.
    pub more: bool,
    /// True if there are any before these.
    pub earlier: bool,
}

/// Parameters of BM25 (Robertson and Zaragoza 2009), as they are commonly set.
const K1: f64 = 1.2;
const B: f64 = 0.75;
/// Gain of a document in the language of the query.
const LANGUAGE_GAIN: f64 = 1.25;

/// The `limit` results after (or, `backwards`, before) `cursor`. Call `indexer::catch_up` first.
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
) -> Result<ResultPage, StoreError> {
    if query.nothing {
        return Ok(ResultPage::default());
    }
    if let Some(order) = query.stored_order(tx)? {
        return ordered_scan(tx, query, order, cursor, backwards, limit);
    }
    if query.order == Order::Title {
        let mut page = TitlePage::new(tx, cursor, backwards, limit)?;
        query.matches(tx, |tx, result| page.push(tx, &result))?;
        return page.finish(tx);
    }
    let order = match query.order {
        Order::Relevance if query.text.groups.is_empty() => Order::Date,
        order => order,
    };
    // The place of a cursor is found among all of them.
    let top = cursor.is_none().then_some(limit.max(1));
    let mut results = Candidates::new(order, top);
    query.matches(tx, |_, ranked| {
        results.push(ranked);
        Ok(())
    })?;
    page::page_of(tx, results, cursor, backwards, limit)
}

/// A result with the bytes that it is ordered by.
fn hit((key, kind, id): (Vec<u8>, Kind, String), at: usize) -> Hit {
    Hit {
        kind,
        id: id.clone(),
        cursor: Cursor { key, kind, id, at: u32::try_from(at).unwrap_or(u32::MAX) },
    }
}

/// BM25 over all documents.
struct Scorer {
    /// The length of a document on average.
    average: f64,
    /// Inverse document frequency of each group.
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

fn cursors(lists: &[List]) -> Vec<PostingsCursor<'_>> {
    lists.iter().map(|list| PostingsCursor::on(list)).collect()
}

/// The documents that hold every word of a term, each with how often it can stand there at most.
fn documents_with(tx: &mut Tx<'_>, term: &Term) -> Result<List, StoreError> {
    let mut all: Option<List> = None;
    for word in term {
        let list = postings::of(tx, word)?;
        let Some(before) = &mut all else {
            all = Some(list);
            continue;
        };
        let mut other = PostingsCursor::on(&list);
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
fn documents_with_any(tx: &mut Tx<'_>, terms: &[Term]) -> Result<List, StoreError> {
    let mut all = List::new();
    for term in terms {
        all.extend(documents_with(tx, term)?);
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
    fn stored_order(&self, tx: &mut Tx<'_>) -> Result<Option<u8>, StoreError> {
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
        for word in self.excluded_facets() {
            if !postings::is_unused(tx, &word)? {
                return Ok(None);
            }
        }
        Ok(Some(self.order.stored()))
    }

    /// Hands out all results, by rising numbers.
    fn matches(
        &self,
        tx: &mut Tx<'_>,
        mut push: impl FnMut(&mut Tx<'_>, Candidate) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let totals = TOTALS.peek(tx, &())?.unwrap_or_default();
        let groups = self.text.groups.iter();
        let groups = groups.map(|group| documents_with_any(tx, group));
        let groups: Vec<List> = groups.collect::<Result<_, _>>()?;
        let narrow = self.required_facets(!groups.is_empty()).into_iter();
        let narrow = narrow.map(|word| postings::of(tx, &word));
        let mut narrow: Vec<List> = narrow.collect::<Result<_, _>>()?;
        if groups.is_empty() && narrow.is_empty() {
            narrow.extend(published_between(tx, self)?);
        }
        let excluded = self.excluded(tx)?;
        let shortest = groups.iter().chain(&narrow).min_by_key(|list| list.len());
        let numbers: Box<dyn Iterator<Item = Number>> = match shortest {
            Some(list) => Box::new(list.iter().map(|(number, _)| *number)),
            None => Box::new(0..totals.next),
        };
        let scorer = Scorer::new(&totals, &groups);
        let (mut groups, mut narrow, mut excluded) =
            (cursors(&groups), cursors(&narrow), cursors(&excluded));
        let mut summaries = Reader::default();
        let mut counts = Vec::with_capacity(groups.len());
        for number in numbers {
            if !narrow.iter_mut().all(|list| list.find(number).is_some())
                || excluded.iter_mut().any(|list| list.find(number).is_some())
            {
                continue;
            }
            counts.clear();
            counts.extend(groups.iter_mut().map_while(|list| list.find(number)));
            if counts.len() < groups.len() {
                continue;
            }
            if let Some(summary) = summaries.at(tx, number)?
                && self.passes_filters(&summary)
                && self.matches_text(tx, number)?
            {
                push(tx, self.rank(&scorer, &summary, &counts, number))?;
            }
        }
        Ok(())
    }

    /// The documents of each single word that must not be there; terms of several words are looked for in the text.
    fn excluded(&self, tx: &mut Tx<'_>) -> Result<Vec<List>, StoreError> {
        let words = self.text.excluded.iter().filter(|term| term.len() == 1);
        let lists = words.map(|term| documents_with(tx, term));
        let mut lists: Vec<List> = lists.collect::<Result<_, _>>()?;
        if let Some(region) = &self.region {
            lists.push(postings::of(tx, &Facet::Blocked(region).word())?);
        }
        Ok(lists)
    }

    /// Tells whether a document matches where its words and its summary do not say it: its place, and the order of words in its text.
    fn matches_text(&self, tx: &mut Tx<'_>, number: Number) -> Result<bool, StoreError> {
        let needs_text = self.text.needs_text();
        if self.near.is_none() && !needs_text {
            return Ok(true);
        }
        let Some(entry) = ENTRIES.peek(tx, &number)? else {
            return Ok(false);
        };
        let place = entry.facets.location;
        let is_near = |near: GeoCircle| place.is_some_and(|place| near.holds(place));
        if !self.near.is_none_or(is_near) {
            return Ok(false);
        }
        if !needs_text {
            return Ok(true);
        }
        let document = DOCUMENTS.peek(tx, &(entry.kind as u8, entry.id))?;
        Ok(document.is_some_and(|document| self.text.holds(&document)))
    }

    /// A result where it stands.
    fn rank(
        &self,
        scorer: &Scorer,
        summary: &Summary,
        counts: &[Counts],
        number: Number,
    ) -> Candidate {
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
        Candidate { rank, kind: summary.kind, id: summary.id, number }
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
