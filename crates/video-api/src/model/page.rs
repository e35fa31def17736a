//! Pages of rows, forwards and backwards, from a token that carries a key.

use triptych_core::kv::{Key, Record, Table, Tx};

use crate::envelope::Paging;
use crate::error::Error;
use crate::page_token::{Binding, Direction, PageToken};

/// The rows of one page, and where its neighbours are.
#[derive(Debug)]
pub struct Rows<K> {
    /// How many rows come before them.
    pub position: u32,
    /// Keys in the table's order.
    pub keys: Vec<K>,
    /// The token of the next page.
    pub next: Option<String>,
    /// The token of the previous page.
    pub previous: Option<String>,
}

impl<K> Rows<K> {
    /// What the envelope says of the page.
    #[must_use]
    pub fn paging(&self, total: u64, size: u32) -> Paging {
        Paging {
            next: self.next.clone(),
            previous: self.previous.clone(),
            total,
            size,
        }
    }
}

/// At most `size` keys of `table` that start with `start`, on the page that `token` names. Costs what the page holds.
///
/// # Errors
/// As the store.
pub fn read<K: Key, V: Record>(
    tx: &mut Tx<'_>,
    table: &Table<K, V>,
    start: &impl Key,
    token: Option<&PageToken>,
    size: u32,
    binding: Binding,
) -> Result<Rows<K>, Error> {
    let span = table.span(start);
    let prefix = span.prefix.len();
    let backwards = token.is_some_and(|token| token.direction == Direction::Previous);
    let page = tx.scan(&PageToken::narrow(token, span), size as usize)?;
    let mut rows: Vec<_> = page.rows.into_iter().map(|(key, _)| key).collect();
    if backwards {
        rows.reverse();
    }
    let (more_after, more_before) = if backwards {
        (true, page.more)
    } else {
        (page.more, token.is_some())
    };
    let count = u32::try_from(rows.len()).unwrap_or(u32::MAX);
    let before = token.map_or(0, |token| token.position);
    let position = if backwards {
        before.saturating_sub(count)
    } else {
        before
    };
    let print = |direction, position, key: &[u8]| {
        PageToken::print(
            direction,
            position,
            key.get(prefix..).unwrap_or_default(),
            binding,
        )
    };
    let after = position.saturating_add(count);
    let next = rows
        .last()
        .filter(|_| more_after)
        .map(|key| print(Direction::Next, after, key));
    let previous = rows
        .first()
        .filter(|_| more_before)
        .map(|key| print(Direction::Previous, position, key));
    let keys = rows
        .iter()
        .map(|key| table.read_key(key))
        .collect::<Result<_, _>>()?;
    Ok(Rows {
        position,
        keys,
        next,
        previous,
    })
}

/// A moment as a part of a key that sorts the latest first.
#[must_use]
pub const fn latest_first(micros: i64) -> u64 {
    !(micros as u64 ^ (1 << 63))
}

/// The moment of such a part.
#[must_use]
pub const fn moment_of(part: u64) -> i64 {
    (!part ^ (1 << 63)) as i64
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
            read(tx, &NUMBERS, &7_u8, token.as_ref(), 20, binding).unwrap()
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
    fn later_moments_sort_first() {
        for (early, late) in [(-5, 3), (3, 4), (i64::MIN, i64::MAX)] {
            assert!(latest_first(late) < latest_first(early));
            assert_eq!(moment_of(latest_first(late)), late);
        }
    }
}
