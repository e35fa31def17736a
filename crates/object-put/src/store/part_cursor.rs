//! A walk over the parts of a body, chunk by chunk of its list, from any place in it.

use std::ops::Range;
use std::sync::Arc;

use triptych_core::kv::Tx;

use crate::error::Error;
use crate::store::part_list::{
    ListedPart, ObjectRange, PARTS_MAX, PARTS_PER_CHUNK, PARTS_PER_TAIL, Part, PartListChunk,
    Parts, tail_row,
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
    /// Bytes of the whole body.
    size: u64,
    chunk: Option<Arc<PartListChunk>>,
    /// Parts of the body before the next one.
    passed: usize,
    /// The place of the next part.
    begin: u64,
    /// The number of the part before.
    number: u32,
}

impl PartCursor {
    /// The parts of a body of `size` bytes, from that chunk on which holds the byte at `from`.
    #[must_use]
    pub fn new(parts: Parts, size: u64, from: u64) -> Self {
        let chunk = match &parts {
            Parts::One(_) => 0,
            Parts::Chunks { starts, .. } => {
                starts.partition_point(|start| *start <= from).saturating_sub(1)
            }
        };
        Self::at_chunk(parts, size, chunk)
    }

    /// The parts of a body of `size` bytes, from this chunk of their list on.
    fn at_chunk(parts: Parts, size: u64, chunk: usize) -> Self {
        let start = match &parts {
            Parts::One(_) => None,
            Parts::Chunks { starts, .. } => starts.get(chunk).copied(),
        };
        let (passed, begin) = start.map_or((0, 0), |start| (chunk * PARTS_PER_CHUNK, start));
        Self { parts, size, chunk: None, passed, begin, number: 0 }
    }

    /// The parts of an object, from about the byte at `from` on.
    #[must_use]
    pub fn of_range(range: &ObjectRange, from: u64) -> Self {
        Self::new(range.parts.clone(), range.size, from)
    }

    /// The next part; `None` after the last.
    ///
    /// # Errors
    /// [`Error::Damaged`] where a chunk of the list is missing or not as long as it should be, or its parts are not in their order.
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
        let Parts::Chunks { count, .. } = &self.parts else {
            return Ok(None);
        };
        if self.passed >= usize::try_from(*count).unwrap_or(usize::MAX) {
            return Ok(None);
        }
        let within = self.passed % PARTS_PER_CHUNK;
        if within == 0 || self.chunk.is_none() {
            let number =
                u32::try_from(self.passed / PARTS_PER_CHUNK).map_err(|_| Error::Damaged)?;
            self.chunk = Some(whole_chunk(tx, &self.parts, self.size, number)?);
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

/// The part at this place among the parts, from 1, with its digests, and its bytes in the body of `size` bytes; `None` where the body has
/// none. Readers count parts so, whatever gaps there were between the numbers that they were uploaded with.
///
/// # Errors
/// Those of [`PartCursor::next`].
pub fn part_at(
    tx: &mut Tx<'_>,
    parts: &Parts,
    size: u64,
    place: u32,
) -> Result<Option<(ListedPart, Range<u64>)>, Error> {
    if place == 0 || place > parts.count() || matches!(parts, Parts::One(_)) {
        return Ok(None);
    }
    let before = usize::try_from(place - 1).map_err(|_| Error::Damaged)?;
    let mut cursor = PartCursor::at_chunk(parts.clone(), size, before / PARTS_PER_CHUNK);
    loop {
        let (passed, begin) = (cursor.passed, cursor.begin);
        let Some(listed) = cursor.next_with_digests(tx)? else {
            return Ok(None);
        };
        if passed == before {
            return Ok(Some((listed, begin..cursor.begin)));
        }
    }
}

/// At most `limit` parts of the list of a body of `size` bytes behind the place `marker`, each with its own, and whether there are more.
///
/// # Errors
/// [`Error::Damaged`] where a chunk of the list is missing or not as long as it should be.
pub fn listed_after(
    tx: &mut Tx<'_>,
    parts: &Parts,
    size: u64,
    marker: u32,
    limit: usize,
) -> Result<(Vec<(u32, ListedPart)>, bool), Error> {
    if let Parts::One(_) = parts {
        return Ok((Vec::new(), false));
    }
    let mut shown = Vec::new();
    let passed = usize::try_from(marker).map_err(|_| Error::Damaged)? / PARTS_PER_CHUNK;
    let mut place = u32::try_from(passed * PARTS_PER_CHUNK).map_err(|_| Error::Damaged)?;
    let first = u32::try_from(passed).map_err(|_| Error::Damaged)?;
    for number in first..parts.chunks() {
        let chunk = whole_chunk(tx, parts, size, number)?;
        for listed in chunk.0.iter().take(parts.parts_in(number)) {
            place += 1;
            if place <= marker {
                continue;
            }
            if shown.len() == limit {
                return Ok((shown, true));
            }
            shown.push((place, listed.clone()));
        }
    }
    Ok((shown, false))
}

/// The parts of a chunk of the list of a body of `size` bytes. They are together as long as the record says: no part opens as a longer or a
/// shorter one, so each stands where it did when the body was written.
fn whole_chunk(
    tx: &mut Tx<'_>,
    parts: &Parts,
    size: u64,
    number: u32,
) -> Result<Arc<PartListChunk>, Error> {
    let Parts::Chunks { list, starts, .. } = parts else {
        return Err(Error::Damaged);
    };
    let count = parts.parts_in(number);
    let chunk = chunk(tx, *list, number, count)?;
    let listed = chunk.0.get(..count).ok_or(Error::Damaged)?;
    let numbers = || listed.iter().map(|listed| listed.part.number);
    let is_ordered = numbers().is_sorted_by(|one, next| one < next)
        && numbers().all(|number| number <= PARTS_MAX);
    let number = usize::try_from(number).map_err(|_| Error::Damaged)?;
    let start = starts.get(number).ok_or(Error::Damaged)?;
    let end = listed.iter().try_fold(*start, |end, listed| end.checked_add(listed.part.bytes));
    let is_long = end == Some(starts.get(number + 1).copied().unwrap_or(size));
    if is_ordered && is_long { Ok(chunk) } else { Err(Error::Damaged) }
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
