//! A page of results by title. Titles are told apart by their column and never by their entries, so that it costs the same however many of
//! them begin alike; a result that is not on the page is not kept.

use std::cmp::Ordering;

use triptych_core::kv::{StoreError, Tx};

use super::page::{Candidate, KEPT_MIN, plan_whole_id, whole_id};
use super::{Cursor, ResultPage, hit};
use crate::index::Kind;
use crate::index::entry::{ENTRIES, NUMBERS, NumberRow};
use crate::index::postings::Number;
use crate::index::summary::IdStart;
use crate::index::title::{self, Title};

/// A result where it stands, as far as columns tell: two that are equal in this differ in the rest of their ids.
type SortKey = (Title, Kind, IdStart);

/// The place of a cursor among the results.
#[derive(Debug)]
struct Place {
    /// The document's number, if it is still there.
    number: Option<Number>,
    title: Title,
    kind: Kind,
    id: String,
}

/// Results on their way to a page.
#[derive(Debug)]
pub(super) struct TitlePage {
    place: Option<Place>,
    backwards: bool,
    limit: usize,
    titles: title::Reader,
    kept: Vec<(SortKey, Number)>,
    /// With so many, it is time to throw some away.
    full: usize,
    /// The start of a title beyond which nothing is on the page.
    furthest: Option<u64>,
    before: usize,
    is_there: bool,
    total: usize,
}

impl TitlePage {
    /// The `limit` results after (or, `backwards`, before) `cursor`: where its document stands now or, if that is gone, where it stood.
    pub(super) fn new(
        tx: &mut Tx<'_>,
        cursor: Option<&Cursor>,
        backwards: bool,
        limit: usize,
    ) -> Result<Self, StoreError> {
        let place = cursor.map(|cursor| Place::of(tx, cursor)).transpose()?;
        Ok(Self {
            place,
            backwards,
            limit,
            titles: title::Reader::default(),
            kept: Vec::new(),
            full: KEPT_MIN,
            furthest: None,
            before: 0,
            is_there: false,
            total: 0,
        })
    }

    /// One more result, with a number greater than those before.
    pub(super) fn push(&mut self, tx: &mut Tx<'_>, result: &Candidate) -> Result<(), StoreError> {
        self.total += 1;
        let side = match &self.place {
            None => Ordering::Greater,
            Some(place) => place.side_of(tx, result, &mut self.titles)?,
        };
        match side {
            Ordering::Less => self.before += 1,
            Ordering::Equal => self.is_there = true,
            Ordering::Greater => {}
        }
        let wanted = if self.backwards { Ordering::Less } else { Ordering::Greater };
        let is_beyond = self.furthest.is_some_and(|furthest| {
            let from_there = result.rank.cmp(&furthest);
            from_there == wanted
        });
        if side != wanted || is_beyond {
            return Ok(());
        }
        if let Some(title) = self.titles.at(tx, result.number)? {
            self.kept.push(((title, result.kind, result.id), result.number));
        }
        if self.kept.len() >= self.full {
            self.keep_nearest();
        }
        Ok(())
    }

    /// Throws away what is not on the page, but for what looks like its last result.
    fn keep_nearest(&mut self) {
        let backwards = self.backwards;
        let nearest = |a: &SortKey, b: &SortKey| if backwards { b.cmp(a) } else { a.cmp(b) };
        let last = self.limit.max(1) - 1;
        if last < self.kept.len() {
            let (_, (last, _), _) =
                self.kept.select_nth_unstable_by(last, |(a, _), (b, _)| nearest(a, b));
            let last = *last;
            self.kept.retain(|(key, _)| nearest(key, &last).is_le());
            self.furthest = Some(last.0.start());
        }
        self.full = KEPT_MIN.max(2 * self.kept.len());
    }

    /// The page, once all results are in.
    pub(super) fn finish(mut self, tx: &mut Tx<'_>) -> Result<ResultPage, StoreError> {
        self.keep_nearest();
        self.kept.sort_unstable();
        tx.plan(|plan| {
            let kept = self.kept.iter();
            kept.for_each(|((_, _, start), number)| drop(plan_whole_id(plan, start, *number)));
        })?;
        let mut names = Vec::with_capacity(self.kept.len());
        for alike in self.kept.chunk_by(|(a, _), (b, _)| a == b) {
            let begin = names.len();
            for ((title, kind, start), number) in alike {
                if let Some(id) = whole_id(tx, start, *number)? {
                    names.push((*title, *kind, id));
                }
            }
            if let Some(alike) = names.get_mut(begin..) {
                alike.sort_unstable();
            }
        }
        let start = if self.backwards {
            names.drain(..names.len().saturating_sub(self.limit));
            self.before - names.len().min(self.before)
        } else {
            names.truncate(self.limit);
            self.before + usize::from(self.is_there)
        };
        let end = start + names.len();
        let hits = names
            .into_iter()
            .zip(start..)
            .map(|((title, kind, id), at)| hit((title.bytes().to_vec(), kind, id), at));
        Ok(ResultPage {
            hits: hits.collect(),
            total: self.total as u64,
            more: end < self.total,
            earlier: start > 0,
        })
    }
}

impl Place {
    fn of(tx: &mut Tx<'_>, cursor: &Cursor) -> Result<Self, StoreError> {
        let number = NUMBERS.peek(tx, &(cursor.kind as u8, cursor.id.clone()))?;
        let number = number.map(|NumberRow(number)| number);
        let entry = match number {
            Some(number) => ENTRIES.peek(tx, &number)?,
            None => None,
        };
        let title = entry.as_ref().map_or(cursor.key.as_slice(), |entry| entry.title.as_bytes());
        let title = Title::of_bytes(title);
        Ok(Self { number, title, kind: cursor.kind, id: cursor.id.clone() })
    }

    /// The side on which a result stands of this place.
    fn side_of(
        &self,
        tx: &mut Tx<'_>,
        result: &Candidate,
        titles: &mut title::Reader,
    ) -> Result<Ordering, StoreError> {
        if self.number == Some(result.number) {
            return Ok(Ordering::Equal);
        }
        let by_start = result.rank.cmp(&self.title.start());
        if by_start.is_ne() {
            return Ok(by_start);
        }
        let Some(title) = titles.at(tx, result.number)? else {
            return Ok(Ordering::Less);
        };
        let by_columns =
            (title, result.kind, result.id).cmp(&(self.title, self.kind, IdStart::of(&self.id)));
        if by_columns.is_ne() {
            return Ok(by_columns);
        }
        let id = whole_id(tx, &result.id, result.number)?;
        Ok(id.map_or(Ordering::Less, |id| id.cmp(&self.id)))
    }
}
