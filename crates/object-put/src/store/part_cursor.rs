//! A walk over the parts of a body, chunk by chunk of its list, from any place in it.

use std::ops::Range;
use std::sync::Arc;

use triptych_core::kv::Tx;

use crate::error::Error;
use crate::store::part_list::{ListedPart, PARTS_PER_CHUNK, Part, PartListChunk, Parts};
use crate::store::tables::PARTS;

/// A part, and its place in the body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedPart {
    /// The part.
    pub part: Part,
    /// Its bytes in the body.
    pub place: Range<u64>,
}

/// The parts of a body, one after the other: of a list one chunk is in memory.
#[derive(Debug)]
pub struct PartCursor {
    parts: Parts,
    chunk: Option<Arc<PartListChunk>>,
    /// Parts of the body before the next one.
    passed: usize,
    /// The place of the next part.
    begin: u64,
    /// The number of the part before.
    number: u32,
}

impl PartCursor {
    /// The parts of a body, from that chunk on which holds the byte at `from`.
    #[must_use]
    pub fn new(parts: Parts, from: u64) -> Self {
        let (mut passed, mut begin) = (0, 0);
        if let Parts::Chunks { starts, .. } = &parts {
            let later = starts.partition_point(|start| *start <= from);
            let chunk = later.saturating_sub(1);
            passed = chunk * PARTS_PER_CHUNK;
            begin = starts.get(chunk).copied().unwrap_or_default();
        }
        Self { parts, chunk: None, passed, begin, number: 0 }
    }

    /// The next part; `None` after the last.
    ///
    /// # Errors
    /// [`Error::Damaged`] where a chunk of the list is missing, or its parts are not in their order.
    pub fn next(&mut self, tx: &mut Tx<'_>) -> Result<Option<PlacedPart>, Error> {
        let part = match &self.parts {
            Parts::One(part) if self.passed == 0 => part.clone(),
            Parts::One(_) => return Ok(None),
            Parts::Chunks { .. } => match self.next_listed(tx)? {
                Some(listed) => listed.part,
                None => return Ok(None),
            },
        };
        let end = self.begin.checked_add(part.bytes).ok_or(Error::Damaged)?;
        let place = self.begin..end;
        (self.passed, self.begin) = (self.passed + 1, end);
        Ok(Some(PlacedPart { part, place }))
    }

    fn next_listed(&mut self, tx: &mut Tx<'_>) -> Result<Option<ListedPart>, Error> {
        let Parts::Chunks { list, count, .. } = &self.parts else {
            return Ok(None);
        };
        if self.passed >= usize::try_from(*count).unwrap_or(usize::MAX) {
            return Ok(None);
        }
        let within = self.passed % PARTS_PER_CHUNK;
        if within == 0 || self.chunk.is_none() {
            let number =
                u32::try_from(self.passed / PARTS_PER_CHUNK).map_err(|_| Error::Damaged)?;
            self.chunk = PARTS.peek_shared(tx, &(*list, number))?;
        }
        let chunk = self.chunk.as_ref().ok_or(Error::Damaged)?;
        let listed = chunk.0.get(within).ok_or(Error::Damaged)?.clone();
        // Each part opens under its own number alone, so none can stand in the place of another.
        if listed.part.number < self.number
            || (listed.part.number == self.number && self.number > 0)
        {
            return Err(Error::Damaged);
        }
        self.number = listed.part.number;
        Ok(Some(listed))
    }
}

/// The part with this number, and its bytes in the body; `None` where the body has none.
///
/// # Errors
/// Those of [`PartCursor::next`].
pub fn part_numbered(
    tx: &mut Tx<'_>,
    parts: &Parts,
    number: u32,
) -> Result<Option<PlacedPart>, Error> {
    let Parts::Chunks { list, starts, .. } = parts else {
        return Ok(None);
    };
    // Numbers ascend: the last chunk that begins with a number as small.
    let (mut low, mut high) = (0, parts.chunks());
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        let chunk = PARTS.peek_shared(tx, &(*list, middle))?.ok_or(Error::Damaged)?;
        match chunk.0.first() {
            Some(first) if first.part.number <= number => low = middle,
            _ => high = middle,
        }
    }
    let start = usize::try_from(low).ok().and_then(|low| starts.get(low)).copied();
    let mut cursor = PartCursor::new(parts.clone(), start.unwrap_or_default());
    while let Some(placed) = cursor.next(tx)? {
        if placed.part.number >= number {
            return Ok((placed.part.number == number).then_some(placed));
        }
    }
    Ok(None)
}

/// At most `limit` parts of a list whose numbers are greater than `marker`, and whether there are more.
///
/// # Errors
/// [`Error::Damaged`] where a chunk of the list is missing.
pub fn listed_after(
    tx: &mut Tx<'_>,
    parts: &Parts,
    marker: u32,
    limit: usize,
) -> Result<(Vec<ListedPart>, bool), Error> {
    let Parts::Chunks { list, .. } = parts else {
        return Ok((Vec::new(), false));
    };
    let mut shown = Vec::new();
    for number in 0..parts.chunks() {
        let chunk = PARTS.peek_shared(tx, &(*list, number))?.ok_or(Error::Damaged)?;
        if chunk.0.last().is_none_or(|last| last.part.number <= marker) {
            continue;
        }
        for listed in chunk.0.iter().filter(|listed| listed.part.number > marker) {
            if shown.len() == limit {
                return Ok((shown, true));
            }
            shown.push(listed.clone());
        }
    }
    Ok((shown, false))
}
