//! Answering a query: which documents, in which order, from where on, and how many there are.

mod filter;
mod holders;
mod ordered_scan;
mod page;
mod title_page;
mod words;

pub use filter::GeoCircle;
use holders::Holders;
use ordered_scan::{ordered_scan, published_between};
use page::{Candidate, Candidates};
use title_page::TitlePage;
use words::{Documents, QueryWords};

use serde::{Deserialize, Serialize};
use triptych_core::kv::{Plan, StoreError, Tx};

use super::entry::{ENTRIES, TOTALS, Totals};
use super::facet::DurationClass;
use super::order::{BY_DATE, BY_RATING, BY_TITLE, BY_VIDEOS, BY_VIEWS};
use super::postings::{self, Number};
use super::summary::{Reader, Summary};
use super::title::Title;
use super::{DOCUMENTS, Kind, column};
use crate::index::tokenizer::{Counts, TextQuery};

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
/// Documents whose entries are looked at together.
const ENTRIES_PLANNED: usize = 500;

/// The `limit` results after (or, `backwards`, before) `cursor`. Call `indexer::follow` first.
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
    fn new(totals: &Totals, groups: &[Documents<'_>]) -> Self {
        let documents = totals.documents.max(1) as f64;
        let rarity = |list: &Documents<'_>| {
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
        let excludes_none = postings::are_unused(tx, &self.excluded_facets())?;
        Ok(excludes_none.then(|| self.order.stored()))
    }

    /// Hands out all results, by rising numbers.
    fn matches(
        &self,
        tx: &mut Tx<'_>,
        mut push: impl FnMut(&mut Tx<'_>, Candidate) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        let words = QueryWords::read(tx, self)?;
        let mut found = words.found();
        if found.shortest().is_none() {
            found.narrow.extend(published_between(tx, self)?.map(Documents::Owned));
        }
        let end = match found.shortest() {
            Some(_) => 0,
            None => TOTALS.peek(tx, &())?.unwrap_or_default().next,
        };
        let mut holders = Holders::of(&found, end);
        let mut scorer = None;
        let mut summaries = Reader::default();
        let needs_entries = self.needs_entries();
        while holders.next_part() {
            tx.plan(|plan| self.plan_columns(plan, holders.part()))?;
            let scorer = match &mut scorer {
                Some(scorer) => scorer,
                scorer => {
                    let totals = TOTALS.peek(tx, &())?.unwrap_or_default();
                    scorer.insert(Scorer::new(&totals, &found.groups))
                }
            };
            let mut unsure = Vec::new();
            for (number, counts) in holders.with_counts() {
                let summary = summaries.at(tx, number)?;
                let Some(summary) = summary.filter(|summary| self.passes_filters(summary)) else {
                    continue;
                };
                let result = self.rank(scorer, &summary, counts, number);
                if needs_entries {
                    unsure.push(result);
                } else {
                    push(tx, result)?;
                }
            }
            for unsure in unsure.chunks(ENTRIES_PLANNED) {
                self.push_matches(tx, unsure, &mut push)?;
            }
        }
        Ok(())
    }

    /// Hands out those of these results that match by their entries.
    fn push_matches(
        &self,
        tx: &mut Tx<'_>,
        unsure: &[Candidate],
        mut push: impl FnMut(&mut Tx<'_>, Candidate) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        tx.plan(|plan| unsure.iter().for_each(|result| self.plan_entry(plan, result)))?;
        for result in unsure {
            if self.matches_entry(tx, result)? {
                push(tx, *result)?;
            }
        }
        Ok(())
    }

    /// Plans the columns that are read of these documents, and the totals that they are scored by.
    fn plan_columns(&self, plan: &mut Plan<'_>, numbers: &[Number]) {
        plan.row(&TOTALS, &());
        column::plan::<Summary, _>(plan, numbers);
        if self.order == Order::Title {
            column::plan::<Title, _>(plan, numbers);
        }
    }

    /// Tells whether words and summaries do not say what matches: a place, and the order of words in a text.
    fn needs_entries(&self) -> bool {
        self.near.is_some() || self.text.needs_text()
    }

    /// Plans what [`Query::matches_entry`] reads.
    fn plan_entry(&self, plan: &mut Plan<'_>, result: &Candidate) {
        if self.near.is_some() {
            plan.row(&ENTRIES, &result.number);
        }
        if self.text.needs_text()
            && let Some((kind, id)) = result.plan_name(plan)
        {
            plan.row(&DOCUMENTS, &(kind as u8, id));
        }
    }

    /// Tells whether a document matches by its entry and its text.
    fn matches_entry(&self, tx: &mut Tx<'_>, result: &Candidate) -> Result<bool, StoreError> {
        if let Some(near) = self.near {
            let place = ENTRIES.peek(tx, &result.number)?.and_then(|entry| entry.facets.location);
            if !place.is_some_and(|place| near.holds(place)) {
                return Ok(false);
            }
        }
        if !self.text.needs_text() {
            return Ok(true);
        }
        let Some((kind, id)) = result.name(tx)? else {
            return Ok(false);
        };
        let document = DOCUMENTS.peek(tx, &(kind as u8, id))?;
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
