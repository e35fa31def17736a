//! A page of results that were ranked at first sight. Entries are read of what is on the page and beside it alone, and only where a summary
//! does not hold the whole id.

use triptych_core::kv::{Plan, StoreError, Tx};

use super::{Cursor, Order, ResultPage, hit};
use crate::index::Kind;
use crate::index::entry::{ENTRIES, NUMBERS, NumberRow};
use crate::index::postings::Number;
use crate::index::summary::IdStart;

/// A result as far as its summary tells where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Candidate {
    /// Its rank, or by title the start of that.
    pub(super) rank: u64,
    pub(super) kind: Kind,
    /// Its id, or the start of that.
    pub(super) id: IdStart,
    pub(super) number: Number,
}

/// Full sort key of results of one rank: kind and id.
pub(super) type Name = (Kind, String);

/// Sort key of a result, as far as summaries tell.
type SortKey = (u64, Kind, IdStart);

impl Candidate {
    const fn sort_key(&self) -> SortKey {
        (self.rank, self.kind, self.id)
    }

    /// Plans what [`Candidate::name`] reads, and gives the same once it is known.
    pub(super) fn plan_name(&self, plan: &mut Plan<'_>) -> Option<Name> {
        Some((self.kind, plan_whole_id(plan, &self.id, self.number)?))
    }

    /// The name of a result, if it is still there.
    pub(super) fn name(&self, tx: &mut Tx<'_>) -> Result<Option<Name>, StoreError> {
        Ok(whole_id(tx, &self.id, self.number)?.map(|id| (self.kind, id)))
    }
}

/// Plans what [`whole_id`] reads, and gives the same once it is known.
pub(super) fn plan_whole_id(
    plan: &mut Plan<'_>,
    start: &IdStart,
    number: Number,
) -> Option<String> {
    match start.whole() {
        Some(id) => Some(id.to_owned()),
        None => plan.row(&ENTRIES, &number).map(|entry| entry.id),
    }
}

/// The id of a result, if it is still there.
pub(super) fn whole_id(
    tx: &mut Tx<'_>,
    start: &IdStart,
    number: Number,
) -> Result<Option<String>, StoreError> {
    if let Some(id) = start.whole() {
        return Ok(Some(id.to_owned()));
    }
    Ok(ENTRIES.peek(tx, &number)?.map(|entry| entry.id))
}

/// Candidates that are left at the least where those that come later are thrown away: few in tests, so that they see it.
pub(super) const KEPT_MIN: usize = if cfg!(test) { 4 } else { 4_096 };

/// Candidates on their way to a page: all of them or, where only the first ones are shown, those.
#[derive(Debug)]
pub(super) struct Candidates {
    order: Order,
    ranked: Vec<Candidate>,
    total: usize,
    /// Number of the first ones that are enough.
    top: Option<usize>,
    /// With so many, it is time to throw some away.
    full: usize,
}

impl Candidates {
    /// None yet.
    pub(super) const fn new(order: Order, top: Option<usize>) -> Self {
        Self { order, ranked: Vec::new(), total: 0, top, full: KEPT_MIN }
    }

    /// One more.
    pub(super) fn push(&mut self, ranked: Candidate) {
        self.total += 1;
        self.ranked.push(ranked);
        if let Some(top) = self.top
            && self.ranked.len() >= self.full
        {
            keep_top(&mut self.ranked, top);
            self.full = KEPT_MIN.max(2 * self.ranked.len());
        }
    }
}

/// Leaves the first `count` and what looks like the last of them, which may stand before it.
fn keep_top(ranked: &mut Vec<Candidate>, count: usize) {
    let Some(last) = count.checked_sub(1).filter(|at| *at < ranked.len()) else {
        return;
    };
    let (_, last, _) = ranked.select_nth_unstable_by_key(last, Candidate::sort_key);
    let last = last.sort_key();
    ranked.retain(|ranked| ranked.sort_key() <= last);
}

/// The `limit` results after (or, `backwards`, before) `cursor`, of all that there are.
pub(super) fn page_of(
    tx: &mut Tx<'_>,
    results: Candidates,
    cursor: Option<&Cursor>,
    backwards: bool,
    limit: usize,
) -> Result<ResultPage, StoreError> {
    let Candidates { order, mut ranked, total, .. } = results;
    let (start, end) = match cursor {
        None => (0, limit.min(total)),
        Some(cursor) => {
            let (at, is_there) = place(tx, order, &ranked, cursor)?;
            if backwards {
                (at.saturating_sub(limit), at)
            } else {
                let start = at + usize::from(is_there);
                (start, (start + limit).min(total))
            }
        }
    };
    let mut hits = Vec::new();
    let shown = window(tx, &mut ranked, start, end)?;
    for ((rank, (kind, id)), at) in shown.into_iter().zip(start..) {
        hits.push(hit((rank.to_be_bytes().to_vec(), kind, id), at));
    }
    Ok(ResultPage { hits, total: total as u64, more: end < total, earlier: start > 0 })
}

/// Number of results before the cursor's, and whether that is one of them. A rank moves as documents come and go: the page starts where
/// its last result stands now.
fn place(
    tx: &mut Tx<'_>,
    order: Order,
    ranked: &[Candidate],
    cursor: &Cursor,
) -> Result<(usize, bool), StoreError> {
    let number = NUMBERS.peek(tx, &(cursor.kind as u8, cursor.id.clone()))?;
    let found = number.and_then(|NumberRow(number)| {
        let is_it = |ranked: &&Candidate| ranked.number == number;
        ranked.iter().find(is_it)
    });
    let sort_key = match found {
        Some(found) => found.sort_key(),
        // How well it matched among those documents says nothing among these.
        None if order == Order::Relevance => {
            let at = usize::try_from(cursor.at).unwrap_or(usize::MAX);
            return Ok((at.min(ranked.len()), false));
        }
        None => {
            let rank = cursor.key.first_chunk().copied().unwrap_or_default();
            (u64::from_be_bytes(rank), cursor.kind, IdStart::of(&cursor.id))
        }
    };
    tx.plan(|plan| {
        let equals = ranked.iter().filter(|ranked| ranked.sort_key() == sort_key);
        equals.for_each(|equal| drop(equal.plan_name(plan)));
    })?;
    let now = found.map(|found| found.name(tx)).transpose()?.flatten();
    let name = now.unwrap_or_else(|| (cursor.kind, cursor.id.clone()));
    let mut before = 0;
    for other in ranked {
        before += usize::from(match other.sort_key().cmp(&sort_key) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Greater => false,
            std::cmp::Ordering::Equal => other.name(tx)?.is_some_and(|other| other < name),
        });
    }
    Ok((before, found.is_some()))
}

/// The results from `start` to `end`, in order, with what they are ordered by.
fn window(
    tx: &mut Tx<'_>,
    ranked: &mut Vec<Candidate>,
    start: usize,
    end: usize,
) -> Result<Vec<(u64, Name)>, StoreError> {
    if start >= end || end > ranked.len() {
        return Ok(Vec::new());
    }
    keep_top(ranked, end);
    ranked.sort_unstable_by_key(Candidate::sort_key);
    let first = ranked.get(start).map(Candidate::sort_key);
    let from = ranked.partition_point(|ranked| Some(ranked.sort_key()) < first);
    let alike = |a: &Candidate, b: &Candidate| a.sort_key() == b.sort_key();
    let shown = ranked.get(from..).unwrap_or_default();
    tx.plan(|plan| shown.iter().for_each(|shown| drop(shown.plan_name(plan))))?;
    let mut names = Vec::new();
    for group in shown.chunk_by(alike) {
        let begin = names.len();
        for ranked in group {
            if let Some(name) = ranked.name(tx)? {
                names.push((ranked.rank, name));
            }
        }
        if let Some(group) = names.get_mut(begin..) {
            group.sort_unstable();
        }
    }
    Ok(names.into_iter().skip(start - from).take(end - start).collect())
}
