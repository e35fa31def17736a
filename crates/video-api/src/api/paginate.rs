//! Pages of rows, forwards and backwards, from a token that carries a key.

use triptych_core::kv::{Key, Plan, Record, Table, Tx};

use crate::api::error::Error;
use crate::api::merge::{Bounds, Merge, Row};
use crate::api::page_token::{Binding, Direction, PageToken};
use crate::api::response::Paging;

/// The rows of one page, and the way to its neighbours.
#[derive(Debug)]
pub struct Rows<K> {
    /// Number of rows that come before them.
    pub position: u32,
    /// Keys, or what was made of them, in the table's order.
    pub keys: Vec<K>,
    /// The token of the next page.
    pub next: Option<String>,
    /// The token of the previous page.
    pub previous: Option<String>,
}

impl<K> Rows<K> {
    /// The words of the envelope about the page.
    #[must_use]
    pub fn paging(&self, total: u64, size: u32) -> Paging {
        Paging { next: self.next.clone(), previous: self.previous.clone(), total, size }
    }
}

/// The page of a list that is asked for.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'t> {
    /// The page's token; the first page has none.
    pub token: Option<&'t PageToken>,
    /// The most rows that it has.
    pub size: u32,
    /// The bond of its tokens to the list.
    pub binding: Binding,
}

impl Wanted<'_> {
    /// The first page, of which no token is told.
    #[must_use]
    pub fn latest(size: u32) -> Self {
        Self { token: None, size, binding: Binding::of(&[]) }
    }
}

/// Rows that are read of a span at once, at the least.
const READ_MIN: usize = 8;

/// Rows that are left out on the way through a page at most. A page that meets more of them ends there, with what it has, and the next one
/// goes on behind them: no list costs by the rows that nobody is shown of it.
pub const LEFT_OUT_MAX: u32 = 2_000;

/// The page of what `take` makes of the rows whose keys start with one of `prefixes`; it leaves out a row by `None`, and `plan` names what it
/// reads of one. Costs what the page holds for each prefix, and at most [`LEFT_OUT_MAX`] rows that are left out on the way.
///
/// # Errors
/// As the store, and as `take`.
pub fn read_spans<T>(
    tx: &mut Tx<'_>,
    prefixes: &[Vec<u8>],
    bounds: &Bounds,
    wanted: Wanted<'_>,
    plan: impl Fn(&mut Plan<'_>, &Row),
    take: impl FnMut(&mut Tx<'_>, &Row) -> Result<Option<T>, Error>,
) -> Result<Rows<T>, Error> {
    Ok(read_on(tx, prefixes, bounds, wanted, 0, (plan, take))?.0)
}

/// The same, with the number of rows that all pages have, counted up to [`EXACT_TOTAL_MAX`], or until [`LEFT_OUT_MAX`] are left out. The
/// rows of the first page are read once.
///
/// # Errors
/// As [`read_spans`].
pub fn count_spans<T>(
    tx: &mut Tx<'_>,
    prefixes: &[Vec<u8>],
    bounds: &Bounds,
    wanted: Wanted<'_>,
    plan: impl Fn(&mut Plan<'_>, &Row),
    mut take: impl FnMut(&mut Tx<'_>, &Row) -> Result<Option<T>, Error>,
) -> Result<Counted<T>, Error> {
    if wanted.token.is_none() {
        return read_on(tx, prefixes, bounds, wanted, EXACT_TOTAL_MAX, (plan, take));
    }
    let rows = read_spans(tx, prefixes, bounds, wanted, &plan, &mut take)?;
    let first = Wanted { token: None, size: 0, ..wanted };
    let (_, total) = read_on(tx, prefixes, bounds, first, EXACT_TOTAL_MAX, (plan, take))?;
    Ok((rows, total))
}

/// A page, and how many rows it and what follows it have, counted up to `count_max`.
fn read_on<T>(
    tx: &mut Tx<'_>,
    prefixes: &[Vec<u8>],
    bounds: &Bounds,
    Wanted { token, size, binding }: Wanted<'_>,
    count_max: u32,
    (plan, mut take): (
        impl Fn(&mut Plan<'_>, &Row),
        impl FnMut(&mut Tx<'_>, &Row) -> Result<Option<T>, Error>,
    ),
) -> Result<Counted<T>, Error> {
    let step = (size.max(count_max) as usize).saturating_add(1).max(READ_MIN);
    let mut merge = Merge::open(prefixes, bounds, token, step);
    let (mut found, mut count, mut more) = (Vec::with_capacity(size as usize), 0, false);
    let (mut left_out, mut last) = (0, None);
    while let Some(row) = merge.next(tx)? {
        if merge.has_read() {
            tx.plan(|rows| {
                merge.read_ahead().chain([row.clone()]).for_each(|row| plan(rows, &row))
            })?;
        }
        let Some(taken) = take(tx, &row)? else {
            left_out += 1;
            if left_out == LEFT_OUT_MAX {
                more = true;
                last = Some(row);
                break;
            }
            continue;
        };
        if found.len() < size as usize {
            found.push((row, taken));
        } else {
            more = true;
            if count >= count_max {
                break;
            }
        }
        count += 1;
    }
    // A page that is full ends at its own last row, however far was counted.
    let last = last.filter(|_| found.len() < size as usize);
    Ok((rows(found, more, last.as_ref(), token, binding), count.into()))
}

/// The page of what was found in the direction of its token; `last` is the row that was looked at last, where that is not the last one found.
fn rows<T>(
    mut found: Vec<(Row, T)>,
    more: bool,
    last: Option<&Row>,
    token: Option<&PageToken>,
    binding: Binding,
) -> Rows<T> {
    let backwards = token.is_some_and(|token| token.direction == Direction::Previous);
    if backwards {
        found.reverse();
    }
    let (more_after, more_before) = if backwards { (true, more) } else { (more, token.is_some()) };
    let count = u32::try_from(found.len()).unwrap_or(u32::MAX);
    let before = token.map_or(0, |token| token.position);
    let position = if backwards { before.saturating_sub(count) } else { before };
    let after = position.saturating_add(count);
    let print = |direction, position, row: &Row| {
        PageToken::print(direction, position, &row.place(), binding)
    };
    let [first, end] = [found.first(), found.last()].map(|found| found.map(|(row, _)| row));
    let next = if backwards { end } else { last.or(end) }.filter(|_| more_after);
    let next = next.map(|row| print(Direction::Next, after, row));
    let previous = if backwards { last.or(first) } else { first }.filter(|_| more_before);
    let previous = previous.map(|row| print(Direction::Previous, position, row));
    Rows { position, keys: found.into_iter().map(|(_, taken)| taken).collect(), next, previous }
}

/// The keys of `table` that start with `start`, of one page. Costs what the page holds.
///
/// # Errors
/// As the store.
pub fn read<K: Key, V: Record>(
    tx: &mut Tx<'_>,
    table: &Table<K, V>,
    start: &impl Key,
    page: Wanted<'_>,
) -> Result<Rows<K>, Error> {
    read_where(tx, table, start, page, |_, _| (), |_, _| Ok(true))
}

/// The same of the keys that `keeps` lets through; `plan` names what it reads of one. What it leaves out on the way costs as well.
///
/// # Errors
/// As the store, and as `keeps`.
pub fn read_where<K: Key, V: Record>(
    tx: &mut Tx<'_>,
    table: &Table<K, V>,
    start: &impl Key,
    page: Wanted<'_>,
    plan: impl Fn(&mut Plan<'_>, &K),
    mut keeps: impl FnMut(&mut Tx<'_>, &K) -> Result<bool, Error>,
) -> Result<Rows<K>, Error> {
    let spans = [table.span(start).prefix];
    read_spans(tx, &spans, &Bounds::default(), page, of_keys(table, plan), |tx, row| {
        let key = table.read_key(&row.key)?;
        Ok(keeps(tx, &key)?.then_some(key))
    })
}

/// The plan of a row, by its key.
fn of_keys<K: Key, V: Record>(
    table: &Table<K, V>,
    plan: impl Fn(&mut Plan<'_>, &K),
) -> impl Fn(&mut Plan<'_>, &Row) {
    move |rows, row| {
        if let Ok(key) = table.read_key(&row.key) {
            plan(rows, &key);
        }
    }
}

/// A list of which not every row is shown counts these rows one by one up to so many; beyond, it counts what is not shown as well.
pub const EXACT_TOTAL_MAX: u32 = 200;

/// A page, and the total of its list.
pub type Counted<K> = (Rows<K>, u64);

/// The same as [`read_where`], with the total of what is shown: exact as long as the list has at most [`EXACT_TOTAL_MAX`] of its `rows`, so
/// that it costs what a page does.
///
/// # Errors
/// As [`read_where`].
pub fn read_counted<K: Key, V: Record>(
    tx: &mut Tx<'_>,
    table: &Table<K, V>,
    start: &impl Key,
    page: Wanted<'_>,
    rows: u64,
    plan: impl Fn(&mut Plan<'_>, &K),
    keeps: impl FnMut(&mut Tx<'_>, &K) -> Result<bool, Error>,
) -> Result<Counted<K>, Error> {
    if rows > u64::from(EXACT_TOTAL_MAX) {
        return Ok((read_where(tx, table, start, page, plan, keeps)?, rows));
    }
    count_where(tx, table, start, page, plan, keeps)
}

/// The same as [`read_where`], with the total of what is shown, counted up to [`EXACT_TOTAL_MAX`].
///
/// # Errors
/// As [`read_where`].
pub fn count_where<K: Key, V: Record>(
    tx: &mut Tx<'_>,
    table: &Table<K, V>,
    start: &impl Key,
    page: Wanted<'_>,
    plan: impl Fn(&mut Plan<'_>, &K),
    mut keeps: impl FnMut(&mut Tx<'_>, &K) -> Result<bool, Error>,
) -> Result<Counted<K>, Error> {
    let spans = [table.span(start).prefix];
    count_spans(tx, &spans, &Bounds::default(), page, of_keys(table, plan), |tx, row| {
        let key = table.read_key(&row.key)?;
        Ok(keeps(tx, &key)?.then_some(key))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::api::merge;
    use proptest::prelude::*;
    use triptych_core::kv::Memory;

    const NUMBERS: Table<(u8, u32), ()> = Table::new(1);

    #[test]
    fn pages_go_forwards_and_backwards_and_rows_that_are_added_move_none() {
        let store = Memory::new();
        let mut tx = Tx::new(&store);
        for number in (0..100).step_by(2) {
            NUMBERS.put(&mut tx, &(7, number), &());
            NUMBERS.put(&mut tx, &(8, number), &());
        }
        let binding = Binding::of(&["x"]);
        let page = |tx: &mut Tx<'_>, text: Option<&str>| {
            let token = text.map(|text| PageToken::parse(text, binding).unwrap());
            let wanted = Wanted { token: token.as_ref(), size: 20, binding };
            read(tx, &NUMBERS, &7_u8, wanted).unwrap()
        };
        let numbers =
            |rows: &Rows<(u8, u32)>| rows.keys.iter().map(|key| key.1).collect::<Vec<_>>();
        let first = page(&mut tx, None);
        assert_eq!(numbers(&first), (0..40).step_by(2).collect::<Vec<_>>());
        assert_eq!(first.previous, None);
        NUMBERS.put(&mut tx, &(7, 1), &());
        let second = page(&mut tx, first.next.as_deref());
        assert_eq!(
            (second.position, numbers(&second)),
            (20, (40..80).step_by(2).collect::<Vec<_>>())
        );
        let last = page(&mut tx, second.next.as_deref());
        assert_eq!((numbers(&last).len(), last.next.as_deref()), (10, None));
        let back = page(&mut tx, last.previous.as_deref());
        assert_eq!((back.position, numbers(&back)), (20, numbers(&second)));
    }

    #[test]
    fn a_page_of_rows_that_are_let_through_is_full_as_long_as_there_are_some() {
        let store = Memory::new();
        let mut tx = Tx::new(&store);
        for number in 0..100 {
            NUMBERS.put(&mut tx, &(7, number), &());
        }
        let binding = Binding::of(&["x"]);
        let page = |tx: &mut Tx<'_>, text: Option<&str>| {
            let token = text.map(|text| PageToken::parse(text, binding).unwrap());
            let tenth = |_: &mut Tx<'_>, key: &(u8, u32)| Ok(key.1 % 10 == 3);
            let wanted = Wanted { token: token.as_ref(), size: 4, binding };
            read_where(tx, &NUMBERS, &7_u8, wanted, |_, _| (), tenth).unwrap()
        };
        let numbers =
            |rows: &Rows<(u8, u32)>| rows.keys.iter().map(|key| key.1).collect::<Vec<_>>();
        let first = page(&mut tx, None);
        assert_eq!(numbers(&first), [3, 13, 23, 33]);
        let second = page(&mut tx, first.next.as_deref());
        assert_eq!((second.position, numbers(&second)), (4, vec![43, 53, 63, 73]));
        let last = page(&mut tx, second.next.as_deref());
        assert_eq!((numbers(&last), last.next.as_deref()), (vec![83, 93], None));
        let back = page(&mut tx, last.previous.as_deref());
        assert_eq!((back.position, numbers(&back)), (4, numbers(&second)));
        let start = page(&mut tx, back.previous.as_deref());
        assert_eq!((start.position, numbers(&start)), (0, numbers(&first)));
    }

    #[test]
    fn a_page_that_leaves_out_much_ends_and_the_next_one_goes_on_both_ways() {
        let store = Memory::new();
        let mut tx = Tx::new(&store);
        let most = 3 * LEFT_OUT_MAX;
        for number in 0..most {
            NUMBERS.put(&mut tx, &(7, number), &());
        }
        let binding = Binding::of(&["x"]);
        let mut looked_at = 0;
        let mut page = |tx: &mut Tx<'_>, text: Option<&str>| {
            let token = text.map(|text| PageToken::parse(text, binding).unwrap());
            let wanted = Wanted { token: token.as_ref(), size: 4, binding };
            looked_at = 0;
            let rows = read_where(
                tx,
                &NUMBERS,
                &7_u8,
                wanted,
                |_, _| (),
                |_, key| {
                    looked_at += 1;
                    Ok(key.1 == 3 || key.1 == most - 5)
                },
            );
            assert!(looked_at <= LEFT_OUT_MAX + 4, "{looked_at}");
            rows.unwrap()
        };
        let numbers =
            |rows: &Rows<(u8, u32)>| rows.keys.iter().map(|key| key.1).collect::<Vec<_>>();
        let mut at = page(&mut tx, None);
        assert_eq!(numbers(&at), [3]);
        let (mut forwards, mut pages) = (numbers(&at), 1);
        while let Some(next) = at.next.clone() {
            at = page(&mut tx, Some(&next));
            assert_eq!(at.position, forwards.len() as u32);
            forwards.extend(numbers(&at));
            pages += 1;
        }
        assert_eq!((forwards, pages), (vec![3, most - 5], 3));
        let mut backwards = Vec::new();
        while let Some(previous) = at.previous.clone() {
            at = page(&mut tx, Some(&previous));
            backwards.splice(0..0, numbers(&at));
        }
        assert_eq!(backwards, [3]);
        let wanted = Wanted { token: None, size: 4, binding };
        let keeps = |_: &mut Tx<'_>, key: &(u8, u32)| Ok(key.1 >= most - 5);
        let (rows, total) =
            count_where(&mut tx, &NUMBERS, &7_u8, wanted, |_, _| (), keeps).unwrap();
        assert_eq!((rows.keys.len(), total), (0, 0));
        assert!(rows.next.is_some());
    }

    const ROWS: Table<(u8, u64, String), ()> = Table::new(1);
    type Place = (u64, usize);

    fn pages(tx: &mut Tx<'_>, size: u32, odd: bool, bounds: &Bounds) -> [Vec<Place>; 2] {
        let binding = Binding::of(&["x"]);
        let prefixes = [0_u8, 1, 2].map(|source| ROWS.span(&source).prefix);
        let time = |suffix: &[u8]| merge::time_and_id(suffix).unwrap().0;
        let take = |_: &mut Tx<'_>, row: &Row| {
            let place = (time(row.suffix()), row.source);
            Ok((!odd || place.0 % 2 == 1).then_some(place))
        };
        let places = |rows: &Rows<Place>| rows.keys.clone();
        let page = |tx: &mut Tx<'_>, text: Option<String>| {
            let token = text.map(|text| PageToken::parse(&text, binding).unwrap());
            let wanted = Wanted { token: token.as_ref(), size, binding };
            read_spans(tx, &prefixes, bounds, wanted, |_, _| (), take).unwrap()
        };
        let mut at = page(tx, None);
        let mut forwards = places(&at);
        while let Some(next) = at.next.clone() {
            at = page(tx, Some(next));
            forwards.extend(places(&at));
        }
        let mut backwards = places(&at);
        while let Some(previous) = at.previous.clone() {
            at = page(tx, Some(previous));
            backwards.splice(0..0, places(&at));
        }
        [forwards, backwards]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(96))]
        #[test]
        fn pages_of_several_spans_are_those_of_all_their_rows_both_ways(
            rows in proptest::collection::vec((0..3_usize, 0..40_u64), 0..60), size in 1..9_u32, odd: bool,
            least in 0..40_u64, most in 0..40_u64,
        ) {
            let store = Memory::new();
            let mut tx = Tx::new(&store);
            let mut expected = std::collections::BTreeSet::new();
            for (source, time) in rows {
                ROWS.put(&mut tx, &(source as u8, time, "a".to_owned()), &());
                if (least..most).contains(&time) && (!odd || time % 2 == 1) {
                    expected.insert((time, source));
                }
            }
            let bounds = [least, most].map(|time| time.to_be_bytes().to_vec());
            let [from, to] = bounds.map(Some);
            let expected: Vec<_> = expected.into_iter().collect();
            for told in pages(&mut tx, size, odd, &Bounds { from, to }) {
                prop_assert_eq!(&told, &expected);
            }
        }
    }
}
