//! Pages of what several spans hold together, in the order of what follows their prefixes: the time and the id of a thing.

use triptych_core::kv::{Key, Order, Span, Tx};

use crate::api::error::Error;
use crate::api::page_token::{Binding, Direction, PageToken};
use crate::api::paginate::Rows;

/// Rows that are read of a span at once, at the least.
const READ_MIN: usize = 8;

/// The time and the id that a suffix holds; `None` if it is none.
#[must_use]
pub fn time_and_id(mut suffix: &[u8]) -> Option<(u64, String)> {
    let read = Key::read(&mut suffix)?;
    suffix.is_empty().then_some(read)
}

/// The suffix of a time and an id.
#[must_use]
pub fn suffix_of(time: u64, id: &str) -> Vec<u8> {
    let mut out = Vec::new();
    (time, id.to_owned()).write(&mut out);
    out
}

/// One span while it is read.
struct Source {
    span: Span,
    prefix: usize,
    /// Suffixes that were read and not yet taken, the next one last.
    unread: Vec<Vec<u8>>,
    is_ended: bool,
}

impl Source {
    fn peek(&mut self, tx: &mut Tx<'_>, step: usize) -> Result<Option<&Vec<u8>>, Error> {
        while self.unread.is_empty() && !self.is_ended {
            let page = tx.scan(&self.span, step)?;
            self.is_ended = !page.more || page.rows.is_empty();
            if let Some((last, _)) = page.rows.last() {
                match self.span.order {
                    Order::Ascending => self.span.from = Some(last.to_vec()),
                    Order::Descending => self.span.to = Some(last.to_vec()),
                }
            }
            let suffix = |key: &[u8]| key.get(self.prefix..).unwrap_or_default().to_vec();
            self.unread = page.rows.iter().rev().map(|(key, _)| suffix(key)).collect();
        }
        Ok(self.unread.last())
    }
}

/// At most `size` suffixes of the keys that start with one of `prefixes` and that `keeps` lets through, each once, on the page that `token`
/// names. Costs what the page holds for each prefix, and what is left out on the way.
///
/// # Errors
/// As the store, and as `keeps`.
pub fn read(
    tx: &mut Tx<'_>,
    prefixes: &[Vec<u8>],
    token: Option<&PageToken>,
    size: u32,
    binding: Binding,
    keeps: &mut dyn FnMut(&mut Tx<'_>, &[u8]) -> Result<bool, Error>,
) -> Result<Rows<Vec<u8>>, Error> {
    let backwards = token.is_some_and(|token| token.direction == Direction::Previous);
    let step = (size as usize).saturating_add(1).max(READ_MIN);
    let mut sources: Vec<_> = prefixes
        .iter()
        .map(|prefix| Source {
            span: PageToken::narrow(token, Span::of(prefix.clone())),
            prefix: prefix.len(),
            unread: Vec::new(),
            is_ended: false,
        })
        .collect();
    let mut found: Vec<Vec<u8>> = Vec::new();
    let mut more = false;
    while let Some(next) = take_next(tx, &mut sources, step, backwards)? {
        if !keeps(tx, &next)? {
            continue;
        }
        if found.len() == size as usize {
            more = true;
            break;
        }
        found.push(next);
    }
    Ok(rows(found, more, token, binding))
}

/// Takes the next suffix of all sources, wherever it stands.
fn take_next(
    tx: &mut Tx<'_>,
    sources: &mut [Source],
    step: usize,
    backwards: bool,
) -> Result<Option<Vec<u8>>, Error> {
    let mut next: Option<Vec<u8>> = None;
    for source in sources.iter_mut() {
        if let Some(suffix) = source.peek(tx, step)?
            && next.as_ref().is_none_or(|next| (suffix < next) != backwards)
        {
            next = Some(suffix.clone());
        }
    }
    if let Some(next) = &next {
        for source in sources {
            if source.unread.last() == Some(next) {
                source.unread.pop();
            }
        }
    }
    Ok(next)
}

fn rows(
    mut found: Vec<Vec<u8>>,
    more: bool,
    token: Option<&PageToken>,
    binding: Binding,
) -> Rows<Vec<u8>> {
    let backwards = token.is_some_and(|token| token.direction == Direction::Previous);
    if backwards {
        found.reverse();
    }
    let (more_after, more_before) = if backwards { (true, more) } else { (more, token.is_some()) };
    let count = u32::try_from(found.len()).unwrap_or(u32::MAX);
    let before = token.map_or(0, |token| token.position);
    let position = if backwards { before.saturating_sub(count) } else { before };
    let after = position.saturating_add(count);
    let print = |direction, position, suffix: &Vec<u8>| {
        PageToken::print(direction, position, suffix, binding)
    };
    let next = found.last().filter(|_| more_after);
    let next = next.map(|suffix| print(Direction::Next, after, suffix));
    let previous = found.first().filter(|_| more_before);
    let previous = previous.map(|suffix| print(Direction::Previous, position, suffix));
    Rows { position, keys: found, next, previous }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use triptych_core::kv::{Memory, Table};

    const ROWS: Table<(u8, u64, String), ()> = Table::new(1);

    fn pages(tx: &mut Tx<'_>, size: u32, odd_alone: bool) -> (Vec<u64>, Vec<u64>) {
        let binding = Binding::of(&["x"]);
        let prefixes = [0_u8, 1, 2].map(|source| ROWS.span(&source).prefix);
        let time = |suffix: &[u8]| time_and_id(suffix).unwrap().0;
        let mut keeps = |_: &mut Tx<'_>, suffix: &[u8]| Ok(!odd_alone || time(suffix) % 2 == 1);
        let mut page = |tx: &mut Tx<'_>, text: Option<String>| {
            let token = text.map(|text| PageToken::parse(&text, binding).unwrap());
            read(tx, &prefixes, token.as_ref(), size, binding, &mut keeps).unwrap()
        };
        let mut at = page(tx, None);
        let mut forwards: Vec<u64> = at.keys.iter().map(|key| time(key)).collect();
        while let Some(next) = at.next.clone() {
            at = page(tx, Some(next));
            forwards.extend(at.keys.iter().map(|key| time(key)));
        }
        let mut backwards: Vec<u64> = at.keys.iter().map(|key| time(key)).collect();
        while let Some(previous) = at.previous.clone() {
            at = page(tx, Some(previous));
            backwards.splice(0..0, at.keys.iter().map(|key| time(key)));
        }
        (forwards, backwards)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn pages_of_several_spans_are_those_of_their_union_both_ways(
            rows in proptest::collection::vec((0..3_u8, 0..40_u64), 0..60), size in 1..9_u32, odd: bool,
        ) {
            let store = Memory::new();
            let mut tx = Tx::new(&store);
            let mut expected = std::collections::BTreeSet::new();
            for (source, time) in rows {
                ROWS.put(&mut tx, &(source, time, "a".to_owned()), &());
                if !odd || time % 2 == 1 {
                    expected.insert(time);
                }
            }
            let expected: Vec<_> = expected.into_iter().collect();
            let (forwards, backwards) = pages(&mut tx, size, odd);
            prop_assert_eq!(&forwards, &expected);
            prop_assert_eq!(&backwards, &expected);
        }
    }
}
