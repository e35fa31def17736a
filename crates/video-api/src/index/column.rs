//! Cells of a fixed width, one for each document, neighbours together in a row: a query looks at so many documents that reading and parsing
//! each entry would be all that it does.

use std::marker::PhantomData;

use bytes::Bytes;
use triptych_core::kv::{Plan, Record, StoreError, Table, Tx};

use super::entry::{ENTRIES, Entry};
use super::postings::Number;

/// Neighbouring documents of one row.
pub const BLOCK: u64 = 128;

/// The value of a document in a column.
pub trait Cell<const BYTES: usize>: Sized {
    /// The rows, by the numbers that they are for: each of [`BLOCK`] documents.
    const ROWS: Table<u64, Row<BYTES>>;

    /// The cell of an entry.
    fn of(entry: &Entry) -> Self;

    /// Its bytes. All zeros are read as a document that is not there, where the column tells that.
    fn write(&self) -> [u8; BYTES];

    /// The cell of these bytes; `None` for a document that is not there.
    fn read(bytes: &[u8; BYTES]) -> Option<Self>;
}

/// The cells of neighbours.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Row<const BYTES: usize>(Bytes);

impl<const BYTES: usize> Record for Row<BYTES> {
    const FORMAT: u8 = 1;

    fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.0);
    }

    fn decode(format: u8, bytes: Bytes) -> Option<Self> {
        (format == Self::FORMAT && bytes.len().is_multiple_of(BYTES)).then_some(Self(bytes))
    }
}

impl<const BYTES: usize> Row<BYTES> {
    fn at<C: Cell<BYTES>>(&self, number: Number) -> Option<C> {
        let (all, _) = self.0.as_chunks::<BYTES>();
        let place = usize::try_from(number % BLOCK).ok()?;
        all.get(place).and_then(C::read)
    }

    /// With these in their places.
    fn with<C: Cell<BYTES>>(&self, changes: &[(Number, Option<C>)]) -> Self {
        let mut bytes = self.0.to_vec();
        for (number, cell) in changes {
            let place = usize::try_from(number % BLOCK).unwrap_or_default();
            let end = (place + 1) * BYTES;
            if bytes.len() < end {
                bytes.resize(end, 0);
            }
            let (all, _) = bytes.as_chunks_mut::<BYTES>();
            if let Some(slot) = all.get_mut(place) {
                *slot = cell.as_ref().map_or([0; BYTES], C::write);
            }
        }
        Self(bytes.into())
    }

    /// Made from the entries, where an older index has none.
    fn from_entries<C: Cell<BYTES>>(tx: &mut Tx<'_>, block: u64) -> Result<Self, StoreError> {
        let numbers = block * BLOCK..(block + 1) * BLOCK;
        // All at once: most rows are made of none, when the first document of their block comes.
        tx.plan(|plan| numbers.clone().for_each(|number| drop(plan.row(&ENTRIES, &number))))?;
        let mut all = Vec::new();
        for number in numbers {
            if let Some(entry) = ENTRIES.peek(tx, &number)? {
                all.push((number, Some(C::of(&entry))));
            }
        }
        Ok(Self::default().with(&all))
    }
}

/// Puts and takes away cells, by rising numbers, after the entries.
///
/// # Errors
/// As [`Tx::get`].
pub fn apply<C: Cell<BYTES>, const BYTES: usize>(
    tx: &mut Tx<'_>,
    changes: &[(Number, Option<C>)],
) -> Result<(), StoreError> {
    for changes in changes.chunk_by(|(a, _), (b, _)| a / BLOCK == b / BLOCK) {
        let Some((number, _)) = changes.first() else {
            continue;
        };
        let block = number / BLOCK;
        let stored = C::ROWS.get(tx, &block)?;
        let before = match &stored {
            Some(before) => before.clone(),
            None => Row::from_entries::<C>(tx, block)?,
        };
        // Most changes are of numbers, which leave titles as they are.
        let now = before.with(changes);
        if stored.is_none_or(|stored| stored != now) {
            C::ROWS.put(tx, &block, &now);
        }
    }
    Ok(())
}

/// Puts cells of documents whose rows are not there yet, by rising numbers.
pub fn put_new<C: Cell<BYTES>, const BYTES: usize>(tx: &mut Tx<'_>, new: &[(Number, Option<C>)]) {
    for new in new.chunk_by(|(a, _), (b, _)| a / BLOCK == b / BLOCK) {
        if let Some((number, _)) = new.first() {
            C::ROWS.put(tx, &(number / BLOCK), &Row::default().with(new));
        }
    }
}

/// Plans the rows that hold the cells of these documents, by rising numbers.
pub fn plan<C: Cell<BYTES>, const BYTES: usize>(plan: &mut Plan<'_>, numbers: &[Number]) {
    for neighbours in numbers.chunk_by(|a, b| a / BLOCK == b / BLOCK) {
        if let Some(number) = neighbours.first() {
            plan.row(&C::ROWS, &(number / BLOCK));
        }
    }
}

/// Reads cells at rising numbers, each row once.
#[derive(Debug)]
pub struct Reader<C, const BYTES: usize> {
    block: u64,
    row: Option<Row<BYTES>>,
    cells: PhantomData<C>,
}

impl<C, const BYTES: usize> Default for Reader<C, BYTES> {
    fn default() -> Self {
        Self { block: 0, row: None, cells: PhantomData }
    }
}

impl<C: Cell<BYTES>, const BYTES: usize> Reader<C, BYTES> {
    /// The cell of a document, if that is there.
    ///
    /// # Errors
    /// As [`Tx::peek`].
    pub fn at(&mut self, tx: &mut Tx<'_>, number: Number) -> Result<Option<C>, StoreError> {
        let block = number / BLOCK;
        let row = match self.row.take() {
            Some(row) if self.block == block => row,
            _ => match C::ROWS.peek(tx, &block)? {
                Some(row) => row,
                None => Row::from_entries::<C>(tx, block)?,
            },
        };
        let found = row.at(number);
        (self.block, self.row) = (block, Some(row));
        Ok(found)
    }
}
