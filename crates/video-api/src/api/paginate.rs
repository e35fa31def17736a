//! Pages of rows, forwards and backwards, from a token that carries a key.

use bytes::Bytes;
use triptych_core::kv::{Key, Order, Record, Table, Tx};

use crate::api::error::Error;
use crate::api::page_token::{Binding, Direction, PageToken};
use crate::api::response::Paging;

/// The rows of one page, and where its neighbours are.
#[derive(Debug)]
pub struct Rows<K> {
    /// Number of rows that come before them.
    pub position: u32,
    /// Keys in the table's order.
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
    read_where(tx, table, start, page, |_, _| Ok(true))
}

/// The same of the keys that `keeps` lets through. What it leaves out on the way costs as well; the last page may be empty.
///
/// # Errors
/// As the store, and as `keeps`.
pub fn read_where<K: Key, V: Record>(
    tx: &mut Tx<'_>,
    table: &Table<K, V>,
    start: &impl Key,
    Wanted { token, size, binding }: Wanted<'_>,
    mut keeps: impl FnMut(&mut Tx<'_>, &K) -> Result<bool, Error>,
) -> Result<Rows<K>, Error> {
    let whole = table.span(start);
    let prefix = whole.prefix.len();
    let backwards = token.is_some_and(|token| token.direction == Direction::Previous);
    let mut span = PageToken::narrow(token, whole);
    let mut rows: Vec<(Bytes, K)> = Vec::new();
    let more = loop {
        let page = tx.scan(&span, size as usize)?;
        let last = page.rows.last().map(|(key, _)| key.to_vec());
        let mut unread = page.rows.into_iter().map(|(key, _)| key);
        while rows.len() < size as usize
            && let Some(row) = unread.next()
        {
            let key = table.read_key(&row)?;
            if keeps(tx, &key)? {
                rows.push((row, key));
            }
        }
        let more = page.more || unread.next().is_some();
        if !more || last.is_none() || rows.len() == size as usize {
            break more;
        }
        match span.order {
            Order::Ascending => span.from = last,
            Order::Descending => span.to = last,
        }
    };
    if backwards {
        rows.reverse();
    }
    let (more_after, more_before) = if backwards { (true, more) } else { (more, token.is_some()) };
    let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
    let before = token.map_or(0, |token| token.position);
    let position = if backwards { before.saturating_sub(count) } else { before };
    let print = |direction, position, key: &[u8]| {
        PageToken::print(direction, position, key.get(prefix..).unwrap_or_default(), binding)
    };
    let after = position.saturating_add(count);
    let next =
        rows.last().filter(|_| more_after).map(|(row, _)| print(Direction::Next, after, row));
    let previous = rows
        .first()
        .filter(|_| more_before)
        .map(|(row, _)| print(Direction::Previous, position, row));
    Ok(Rows { position, keys: rows.into_iter().map(|(_, key)| key).collect(), next, previous })
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
    mut keeps: impl FnMut(&mut Tx<'_>, &K) -> Result<bool, Error>,
) -> Result<Counted<K>, Error> {
    let found = read_where(tx, table, start, page, &mut keeps)?;
    if rows > u64::from(EXACT_TOTAL_MAX) {
        return Ok((found, rows));
    }
    let all = Wanted { token: None, size: EXACT_TOTAL_MAX, ..page };
    let all = read_where(tx, table, start, all, keeps)?;
    Ok((found, all.keys.len() as u64))
}

#[cfg(test)]
mod tests {
    use super::*;
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
            read_where(tx, &NUMBERS, &7_u8, wanted, tenth).unwrap()
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
}
