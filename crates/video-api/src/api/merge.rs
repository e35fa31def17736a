//! Pages of what several spans hold together, in the order of what follows their prefixes: the time and the id of a thing.

use triptych_core::kv::{Key, Order, Span, Tx};

use crate::api::error::Error;
use crate::api::page_token::{Binding, Direction, PageToken};
use crate::api::paginate::{Rows, Wanted};

/// Rows that are read of a span at once, at the least.
const READ_MIN: usize = 8;

/// The time and the id that a suffix holds; `None` if it is none.
#[must_use]
pub fn time_and_id(mut suffix: &[u8]) -> Option<(u64, String)> {
    let read = Key::read(&mut suffix)?;
    suffix.is_empty().then_some(read)
}

/// Suffixes between which rows are read; neither is read itself.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Bounds {
    /// Greater ones than this.
    pub from: Option<Vec<u8>>,
    /// Lesser ones than this.
    pub to: Option<Vec<u8>>,
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
    /// The span of the source `at`, from where the page of `token` begins.
    fn open(at: usize, prefix: &[u8], bounds: &Bounds, token: Option<&PageToken>) -> Self {
        let mut span = Span::of(prefix.to_vec());
        let place = |suffix: &Vec<u8>| [prefix, suffix].concat();
        span.from = bounds.from.as_ref().map(place);
        span.to = bounds.to.as_ref().map(place);
        if let Some((token, (source, suffix))) =
            token.and_then(|token| Some((token, place_of(&token.key)?)))
        {
            // What has the same suffix in another source comes before or after it by the order of the sources. Nothing lies between a suffix
            // and the same with a zero in the place of its last byte, or behind it.
            if token.direction == Direction::Next {
                let is_over = at <= source;
                let end = suffix.len().saturating_sub(usize::from(!is_over));
                let mut from = suffix.get(..end).unwrap_or_default().to_vec();
                from.extend((!is_over).then_some(0));
                span.from = span.from.max(Some(place(&from)));
            } else {
                let mut to = suffix.to_vec();
                to.extend((at < source).then_some(0));
                let to = place(&to);
                span.to = Some(span.to.map_or_else(|| to.clone(), |other| other.min(to.clone())));
                span.order = Order::Descending;
            }
        }
        Self { span, prefix: prefix.len(), unread: Vec::new(), is_ended: false }
    }

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

/// The source and the suffix that the key of a token names.
fn place_of(key: &[u8]) -> Option<(usize, &[u8])> {
    let (source, suffix) = key.split_first_chunk()?;
    Some((usize::try_from(u32::from_be_bytes(*source)).ok()?, suffix))
}

/// Tells whether a row is shown, by the number of its prefix and what follows that.
pub type Keeps<'k> = dyn FnMut(&mut Tx<'_>, usize, &[u8]) -> Result<bool, Error> + 'k;

/// At most `size` rows whose keys start with one of `prefixes` and that `keeps` lets through, on the page that `token` names: each as the
/// number of its prefix and what follows that. Costs what the page holds for each prefix, and what is left out on the way.
///
/// # Errors
/// As the store, and as `keeps`.
pub fn read(
    tx: &mut Tx<'_>,
    prefixes: &[Vec<u8>],
    bounds: &Bounds,
    Wanted { token, size, binding }: Wanted<'_>,
    keeps: &mut Keeps<'_>,
) -> Result<Rows<(usize, Vec<u8>)>, Error> {
    let backwards = token.is_some_and(|token| token.direction == Direction::Previous);
    let step = (size as usize).saturating_add(1).max(READ_MIN);
    let numbered = prefixes.iter().enumerate();
    let mut sources: Vec<_> =
        numbered.map(|(at, prefix)| Source::open(at, prefix, bounds, token)).collect();
    let mut found = Vec::new();
    let mut more = false;
    while let Some((source, suffix)) = take_next(tx, &mut sources, step, backwards)? {
        if !keeps(tx, source, &suffix)? {
            continue;
        }
        if found.len() == size as usize {
            more = true;
            break;
        }
        found.push((source, suffix));
    }
    Ok(rows(found, more, token, binding))
}

/// Takes the next suffix of all sources, with the number of its source.
fn take_next(
    tx: &mut Tx<'_>,
    sources: &mut [Source],
    step: usize,
    backwards: bool,
) -> Result<Option<(usize, Vec<u8>)>, Error> {
    let mut next: Option<(usize, Vec<u8>)> = None;
    for (at, source) in sources.iter_mut().enumerate() {
        let Some(suffix) = source.peek(tx, step)? else {
            continue;
        };
        let comes_first = match &next {
            None => true,
            Some((_, next)) if backwards => suffix >= next,
            Some((_, next)) => suffix < next,
        };
        if comes_first {
            next = Some((at, suffix.clone()));
        }
    }
    if let Some(source) = next.as_ref().and_then(|(at, _)| sources.get_mut(*at)) {
        source.unread.pop();
    }
    Ok(next)
}

fn rows(
    mut found: Vec<(usize, Vec<u8>)>,
    more: bool,
    token: Option<&PageToken>,
    binding: Binding,
) -> Rows<(usize, Vec<u8>)> {
    let backwards = token.is_some_and(|token| token.direction == Direction::Previous);
    if backwards {
        found.reverse();
    }
    let (more_after, more_before) = if backwards { (true, more) } else { (more, token.is_some()) };
    let count = u32::try_from(found.len()).unwrap_or(u32::MAX);
    let before = token.map_or(0, |token| token.position);
    let position = if backwards { before.saturating_sub(count) } else { before };
    let after = position.saturating_add(count);
    let print = |direction, position, (source, suffix): &(usize, Vec<u8>)| {
        let source = u32::try_from(*source).unwrap_or(u32::MAX).to_be_bytes();
        PageToken::print(direction, position, &[&source, suffix.as_slice()].concat(), binding)
    };
    let next = found.last().filter(|_| more_after).map(|row| print(Direction::Next, after, row));
    let previous = found.first().filter(|_| more_before);
    let previous = previous.map(|row| print(Direction::Previous, position, row));
    Rows { position, keys: found, next, previous }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use triptych_core::kv::{Memory, Table};

    const ROWS: Table<(u8, u64, String), ()> = Table::new(1);
    type Place = (u64, usize);

    fn pages(tx: &mut Tx<'_>, size: u32, odd: bool, bounds: &Bounds) -> [Vec<Place>; 2] {
        let binding = Binding::of(&["x"]);
        let prefixes = [0_u8, 1, 2].map(|source| ROWS.span(&source).prefix);
        let time = |suffix: &[u8]| time_and_id(suffix).unwrap().0;
        let mut keeps = |_: &mut Tx<'_>, _, suffix: &[u8]| Ok(!odd || time(suffix) % 2 == 1);
        let places = |rows: &Rows<(usize, Vec<u8>)>| -> Vec<Place> {
            rows.keys.iter().map(|(source, suffix)| (time(suffix), *source)).collect()
        };
        let mut page = |tx: &mut Tx<'_>, text: Option<String>| {
            let token = text.map(|text| PageToken::parse(&text, binding).unwrap());
            let wanted = Wanted { token: token.as_ref(), size, binding };
            read(tx, &prefixes, bounds, wanted, &mut keeps).unwrap()
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
