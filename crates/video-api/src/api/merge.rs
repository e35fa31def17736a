//! Rows of several spans together, in the order of what follows their prefixes: the time and the id of a thing.

use bytes::Bytes;
use triptych_core::kv::{Key, Order, Page, Span, StoreError, Tx};

use crate::api::page_token::{Direction, PageToken};

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

/// A row of one of the spans.
#[derive(Debug, Clone)]
pub struct Row {
    /// The number of its span.
    pub source: usize,
    /// Its key.
    pub key: Bytes,
    /// Length of the prefix of its span.
    prefix: usize,
}

impl Row {
    /// The part of the key after the prefix.
    #[must_use]
    pub fn suffix(&self) -> &[u8] {
        self.key.get(self.prefix..).unwrap_or_default()
    }

    /// The place of a page that begins behind it, or ends before it: what a token carries.
    #[must_use]
    pub fn place(&self) -> Vec<u8> {
        let source = u32::try_from(self.source).unwrap_or(u32::MAX).to_be_bytes();
        [&source, self.suffix()].concat()
    }
}

/// The source and the suffix that the key of a token names.
fn place_of(key: &[u8]) -> Option<(usize, &[u8])> {
    let (source, suffix) = key.split_first_chunk()?;
    Some((usize::try_from(u32::from_be_bytes(*source)).ok()?, suffix))
}

/// One span while it is read.
struct Source {
    span: Span,
    prefix: usize,
    /// Keys that were read and not yet taken, the next one last.
    unread: Vec<Bytes>,
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

    /// Tells whether its next key is to be read.
    fn is_lacking(&self) -> bool {
        self.unread.is_empty() && !self.is_ended
    }

    /// Takes the next rows of its span; where they are none it is ended.
    fn read(&mut self, page: Page) {
        self.is_ended = !page.more || page.rows.is_empty();
        if let Some((last, _)) = page.rows.last() {
            match self.span.order {
                Order::Ascending => self.span.from = Some(last.to_vec()),
                Order::Descending => self.span.to = Some(last.to_vec()),
            }
        }
        self.unread = page.rows.into_iter().rev().map(|(key, _)| key).collect();
    }

    fn suffix<'k>(&self, key: &'k Bytes) -> &'k [u8] {
        key.get(self.prefix..).unwrap_or_default()
    }
}

/// Rows of several spans, taken one after the other.
pub struct Merge {
    sources: Vec<Source>,
    backwards: bool,
    /// Rows that are read of a span at once.
    step: usize,
    /// True if the last row was taken after the store was asked for more.
    has_read: bool,
}

impl Merge {
    /// The rows whose keys start with one of `prefixes`, from where the page of `token` begins, in the direction in which it lies.
    #[must_use]
    pub fn open(
        prefixes: &[Vec<u8>],
        bounds: &Bounds,
        token: Option<&PageToken>,
        step: usize,
    ) -> Self {
        let numbered = prefixes.iter().enumerate();
        Self {
            sources: numbered.map(|(at, prefix)| Source::open(at, prefix, bounds, token)).collect(),
            backwards: token.is_some_and(|token| token.direction == Direction::Previous),
            step,
            has_read: false,
        }
    }

    /// Returns whether the store was asked for more when the last row was taken.
    #[must_use]
    pub const fn has_read(&self) -> bool {
        self.has_read
    }

    /// The rows that were read and not yet taken.
    pub fn read_ahead(&self) -> impl Iterator<Item = Row> {
        let sources = self.sources.iter().enumerate();
        sources.flat_map(|(at, source)| {
            let row =
                move |key: &Bytes| Row { source: at, key: key.clone(), prefix: source.prefix };
            source.unread.iter().rev().map(row)
        })
    }

    /// Reads on in all spans of which the next row is not known, together.
    fn read(&mut self, tx: &mut Tx<'_>) -> Result<(), StoreError> {
        let lacking = self.sources.iter().filter(|source| source.is_lacking());
        let scans: Vec<_> = lacking.map(|source| (&source.span, self.step)).collect();
        self.has_read = !scans.is_empty();
        let pages = tx.scan_many(&scans)?;
        let lacking = self.sources.iter_mut().filter(|source| source.is_lacking());
        lacking.zip(pages).for_each(|(source, page)| source.read(page));
        Ok(())
    }

    /// Takes the next row of all.
    ///
    /// # Errors
    /// As the store.
    pub fn next(&mut self, tx: &mut Tx<'_>) -> Result<Option<Row>, StoreError> {
        self.read(tx)?;
        let mut next: Option<Row> = None;
        for (at, source) in self.sources.iter().enumerate() {
            let Some(key) = source.unread.last().cloned() else {
                continue;
            };
            let suffix = source.suffix(&key);
            let comes_first = match &next {
                None => true,
                Some(next) if self.backwards => suffix >= next.suffix(),
                Some(next) => suffix < next.suffix(),
            };
            if comes_first {
                next = Some(Row { source: at, key, prefix: source.prefix });
            }
        }
        if let Some(source) = next.as_ref().and_then(|row| self.sources.get_mut(row.source)) {
            source.unread.pop();
        }
        Ok(next)
    }
}
