//! A walk over the parts of a body, chunk by chunk of its list, from any place in it.

use std::ops::Range;
use std::sync::Arc;

use triptych_core::kv::Tx;

use crate::error::Error;
use crate::store::part_list::{
    ListedPart, PARTS_PER_CHUNK, PARTS_PER_TAIL, Part, PartListChunk, Parts, tail_row,
};
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
        self.placed(part).map(Some)
    }

    /// The next part of a list with its digests; `None` after the last, and of a body that is one part.
    ///
    /// # Errors
    /// Those of [`PartCursor::next`].
    pub fn next_with_digests(&mut self, tx: &mut Tx<'_>) -> Result<Option<ListedPart>, Error> {
        let Some(listed) = self.next_listed(tx)? else {
            return Ok(None);
        };
        self.placed(listed.part.clone())?;
        Ok(Some(listed))
    }

    fn placed(&mut self, part: Part) -> Result<PlacedPart, Error> {
        let end = self.begin.checked_add(part.bytes).ok_or(Error::Damaged)?;
        let place = self.begin..end;
        (self.passed, self.begin) = (self.passed + 1, end);
        Ok(PlacedPart { part, place })
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
            self.chunk = Some(chunk(tx, *list, number, self.parts.parts_in(number))?);
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
    let number_at = |tx: &mut Tx<'_>, at: u32| {
        let first = chunk(tx, *list, at, 1)?;
        Ok::<_, Error>(first.0.first().map(|first| first.part.shown_number()))
    };
    // Numbers ascend: the last chunk that begins with a number as small.
    let (mut low, mut high) = (0, parts.chunks());
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        match number_at(tx, middle)? {
            Some(first) if first <= number => low = middle,
            _ => high = middle,
        }
    }
    let start = usize::try_from(low).ok().and_then(|low| starts.get(low)).copied();
    let mut cursor = PartCursor::new(parts.clone(), start.unwrap_or_default());
    while let Some(placed) = cursor.next(tx)? {
        if placed.part.shown_number() >= number {
            return Ok((placed.part.shown_number() == number).then_some(placed));
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
        let count = parts.parts_in(number);
        let chunk = chunk(tx, *list, number, count)?;
        let of_body = chunk.0.iter().take(count);
        for listed in of_body.filter(|listed| listed.part.shown_number() > marker) {
            if shown.len() == limit {
                return Ok((shown, true));
            }
            shown.push(listed.clone());
        }
    }
    Ok((shown, false))
}

/// The parts of a chunk, at least `count` of them: those of its own row, then those of its tail.
fn chunk(
    tx: &mut Tx<'_>,
    list: u64,
    number: u32,
    count: usize,
) -> Result<Arc<PartListChunk>, Error> {
    let own = PARTS.peek_shared(tx, &(list, number))?;
    if let Some(own) = own.as_ref().filter(|own| own.0.len() >= count) {
        return Ok(Arc::clone(own));
    }
    let mut parts = own.map_or_else(Vec::new, |own| own.0.clone());
    let mut tail = 0;
    while parts.len() < count {
        let row = PARTS.peek_shared(tx, &(list, tail_row(number, tail)))?;
        let row = row.filter(|row| !row.0.is_empty()).ok_or(Error::Damaged)?;
        parts.extend(row.0.iter().cloned());
        tail += 1;
    }
    Ok(Arc::new(PartListChunk(parts)))
}

/// The last part of a body.
///
/// # Errors
/// [`Error::Damaged`] where its list has none.
pub fn last_part(tx: &mut Tx<'_>, parts: &Parts) -> Result<Part, Error> {
    let list = match parts {
        Parts::One(part) => return Ok(part.clone()),
        Parts::Chunks { list, .. } => *list,
    };
    let number = parts.chunks().checked_sub(1).ok_or(Error::Damaged)?;
    let place = parts.parts_in(number).checked_sub(1).ok_or(Error::Damaged)?;
    let own = PARTS.peek_shared(tx, &(list, number))?;
    let Some(behind) = place.checked_sub(own.as_ref().map_or(0, |own| own.0.len())) else {
        let last = own.as_ref().and_then(|own| own.0.get(place));
        return last.map(|last| last.part.clone()).ok_or(Error::Damaged);
    };
    // Of the tail its last row alone is read.
    let tail = u32::try_from(behind / PARTS_PER_TAIL).map_err(|_| Error::Damaged)?;
    let row = PARTS.peek_shared(tx, &(list, tail_row(number, tail)))?.ok_or(Error::Damaged)?;
    let last = row.0.get(behind % PARTS_PER_TAIL).ok_or(Error::Damaged)?;
    Ok(last.part.clone())
}
