//! A page of results that were ranked at first sight. Entries are read of what is on the page and beside it alone, and only where a summary
//! does not hold the whole id, or the order is by title.

use triptych_core::kv::{StoreError, Tx};

use super::{Cursor, Order, ResultPage, hit};
use crate::index::Kind;
use crate::index::entry::{ENTRIES, NUMBERS, NumberRow};
use crate::index::postings::Number;
use crate::index::summary::{IdStart, start_of};

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

/// Full sort key of a result: its title if they are ordered by that, its kind and its id.
type Name = (Vec<u8>, Kind, String);

/// Sort key of a result, as far as summaries tell.
type SortKey = (u64, Kind, IdStart);

impl Order {
    fn sort_key(self, ranked: &Candidate) -> SortKey {
        match self {
            // The rest of a title comes before all else.
            Self::Title => (ranked.rank, Kind::Video, IdStart::default()),
            _ => (ranked.rank, ranked.kind, ranked.id),
        }
    }

    fn sort_key_of(self, cursor: &Cursor) -> SortKey {
        if self == Self::Title {
            let title = String::from_utf8_lossy(&cursor.key);
            return (start_of(&title), Kind::Video, IdStart::default());
        }
        let rank = cursor.key.first_chunk().copied().unwrap_or_default();
        let id = IdStart::of(&cursor.id);
        (u64::from_be_bytes(rank), cursor.kind, id)
    }

    /// The name of a result, if it is still there.
    fn name(self, tx: &mut Tx<'_>, ranked: &Candidate) -> Result<Option<Name>, StoreError> {
        if let Some(id) = ranked.id.whole().filter(|_| self != Self::Title) {
            return Ok(Some((Vec::new(), ranked.kind, id.to_owned())));
        }
        let entry = ENTRIES.peek(tx, &ranked.number)?;
        Ok(entry.map(|entry| {
            let title = match self {
                Self::Title => entry.title.into_bytes(),
                _ => Vec::new(),
            };
            (title, entry.kind, entry.id)
        }))
    }
}

/// Candidates that are left at the least where those that come later are thrown away: few in tests, so that they see it.
const KEPT_MIN: usize = if cfg!(test) { 4 } else { 4_096 };

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
            keep_top(&mut self.ranked, self.order, top);
            self.full = KEPT_MIN.max(2 * self.ranked.len());
        }
    }
}

/// Leaves the first `count` and what looks like the last of them, which may stand before it.
fn keep_top(ranked: &mut Vec<Candidate>, order: Order, count: usize) {
    let Some(last) = count.checked_sub(1).filter(|at| *at < ranked.len()) else {
        return;
    };
    let (_, last, _) = ranked.select_nth_unstable_by_key(last, |ranked| order.sort_key(ranked));
    let last = order.sort_key(last);
    ranked.retain(|ranked| order.sort_key(ranked) <= last);
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
    let shown = window(tx, order, &mut ranked, start, end)?;
    for ((rank, (title, kind, id)), at) in shown.into_iter().zip(start..) {
        let key = match order {
            Order::Title => title,
            _ => rank.to_be_bytes().to_vec(),
        };
        hits.push(hit((key, kind, id), at));
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
    let (sort_key, now) = match found {
        Some(found) => (order.sort_key(found), order.name(tx, found)?),
        // How well it matched among those documents says nothing among these.
        None if order == Order::Relevance => {
            let at = usize::try_from(cursor.at).unwrap_or(usize::MAX);
            return Ok((at.min(ranked.len()), false));
        }
        None => (order.sort_key_of(cursor), None),
    };
    let title = match order {
        Order::Title => cursor.key.clone(),
        _ => Vec::new(),
    };
    let name = now.unwrap_or_else(|| (title, cursor.kind, cursor.id.clone()));
    let mut before = 0;
    for other in ranked {
        before += usize::from(match order.sort_key(other).cmp(&sort_key) {
            std::cmp::Ordering::Less => true,
            std::cmp::Ordering::Greater => false,
            std::cmp::Ordering::Equal => order.name(tx, other)?.is_some_and(|other| other < name),
        });
    }
    Ok((before, found.is_some()))
}

/// The results from `start` to `end`, in order, with what they are ordered by.
fn window(
    tx: &mut Tx<'_>,
    order: Order,
    ranked: &mut Vec<Candidate>,
    start: usize,
    end: usize,
) -> Result<Vec<(u64, Name)>, StoreError> {
    if start >= end || end > ranked.len() {
        return Ok(Vec::new());
    }
    keep_top(ranked, order, end);
    ranked.sort_unstable_by_key(|ranked| order.sort_key(ranked));
    let first = ranked.get(start).map(|ranked| order.sort_key(ranked));
    let from = ranked.partition_point(|ranked| Some(order.sort_key(ranked)) < first);
    let alike = |a: &Candidate, b: &Candidate| order.sort_key(a) == order.sort_key(b);
    let mut names = Vec::new();
    for group in ranked.get(from..).unwrap_or_default().chunk_by(alike) {
        let begin = names.len();
        for ranked in group {
            if let Some(name) = order.name(tx, ranked)? {
                names.push((ranked.rank, name));
            }
        }
        if let Some(group) = names.get_mut(begin..) {
            group.sort_unstable();
        }
    }
    Ok(names.into_iter().skip(start - from).take(end - start).collect())
}
