//! Rows that are too long for a store: kept in pieces.
//!
//! A tab whose history has long addresses has a long value, the zoom of a page without a host a long key. The pieces of a row have its key and its
//! value, one after the other, behind the lengths of both. They come and go in one write with the row itself.

use std::collections::BTreeMap;

use sha2::{Digest, Sha256};
use triptych_core::kv::{Key, VALUE_BYTES_MAX};

use super::{Row, Table, key};
use crate::browser::PieceCounts;

/// The longest key of a row that is kept as it is: the store's own has more before it.
const KEY_BYTES_MAX: usize = 1_024;

/// The place of a row's pieces.
type Place = [u8; 32];

/// The rows as a store takes them; pieces that a row had before and has no more are forgotten.
pub(super) fn cut(rows: Vec<Row>, counts: &mut PieceCounts) -> Vec<Row> {
    let mut cut = Vec::with_capacity(rows.len());
    for (row_key, value) in rows {
        let had = counts.remove(&row_key).unwrap_or(0);
        let long = value.as_deref().filter(|value| is_long(&row_key, value));
        if had == 0 && long.is_none() && row_key.len() <= KEY_BYTES_MAX {
            cut.push((row_key, value));
            continue;
        }
        let place: Place = Sha256::digest(&row_key).into();
        let pieces = long.map(|value| pieces(&row_key, value)).unwrap_or_default();
        let has = pieces.len() as u32;
        let piece_key = |number: u32| key(Table::Piece, &(place, number));
        cut.extend((0..).zip(pieces).map(|(number, piece)| (piece_key(number), Some(piece))));
        cut.extend((has..had).map(|number| (piece_key(number), None)));
        if has > 0 {
            counts.insert(row_key.clone(), has);
        }
        if row_key.len() <= KEY_BYTES_MAX {
            cut.push((row_key, value.filter(|_| has == 0)));
        }
    }
    cut
}

fn is_long(key: &[u8], value: &[u8]) -> bool {
    key.len() > KEY_BYTES_MAX || value.len() > VALUE_BYTES_MAX
}

fn pieces(key: &[u8], value: &[u8]) -> Vec<Vec<u8>> {
    let mut whole = Vec::new();
    (key.len() as u64, value.len() as u64).write(&mut whole);
    whole.extend_from_slice(key);
    whole.extend_from_slice(value);
    whole.chunks(VALUE_BYTES_MAX).map(<[u8]>::to_vec).collect()
}

/// The key and the value of a row that was joined from its pieces.
type WholeRow = (Vec<u8>, Vec<u8>);

/// Pieces that were read, in the order of their keys.
#[derive(Default)]
pub(super) struct Pieces(BTreeMap<Place, (u32, Vec<u8>)>);

impl Pieces {
    /// Takes the next piece; `None` if one before it is missing.
    pub(super) fn read(&mut self, mut key: &[u8], piece: &[u8]) -> Option<()> {
        let (place, number) = <(Place, u32)>::read(&mut key)?;
        let (next, whole) = self.0.entry(place).or_default();
        if number != *next {
            return None;
        }
        *next += 1;
        whole.extend_from_slice(piece);
        Some(())
    }

    /// The rows that they are of, and how many each has; `None` if one is missing.
    pub(super) fn join(self) -> Option<(Vec<WholeRow>, PieceCounts)> {
        let (mut rows, mut counts) = (Vec::new(), PieceCounts::new());
        for (count, whole) in self.0.into_values() {
            let mut rest = whole.as_slice();
            let (key_bytes, value_bytes) = <(u64, u64)>::read(&mut rest)?;
            let (key, value) = rest.split_at_checked(usize::try_from(key_bytes).ok()?)?;
            if value.len() as u64 != value_bytes {
                return None;
            }
            counts.insert(key.to_vec(), count);
            rows.push((key.to_vec(), value.to_vec()));
        }
        Some((rows, counts))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The rows of a store, by key.
    type Kept = BTreeMap<Vec<u8>, Vec<u8>>;

    fn joined(kept: &Kept) -> Option<(Kept, PieceCounts)> {
        let (mut pieces, mut rows) = (Pieces::default(), BTreeMap::new());
        for (key, value) in kept {
            match key.split_first()? {
                (first, key) if *first == Table::Piece as u8 => pieces.read(key, value)?,
                _ => drop(rows.insert(key.clone(), value.clone())),
            }
        }
        let (long, counts) = pieces.join()?;
        rows.extend(long);
        Some((rows, counts))
    }

    fn keep(rows: Vec<Row>, kept: &mut Kept) {
        for (key, value) in rows {
            match value {
                Some(value) => kept.insert(key, value),
                None => kept.remove(&key),
            };
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn rows_of_any_length_are_joined_as_they_are_after_each_write_and_leave_nothing(
            writes in prop::collection::vec(
                (0..4_usize, prop::option::of(prop_oneof![0..200_usize, 65_500..65_600_usize])),
                1..12,
            ),
        ) {
            let key = |number: usize| vec![Table::Zoom as u8; [1, 1_024, 1_025, 9_000][number]];
            let (mut kept, mut written) = (BTreeMap::new(), BTreeMap::new());
            let mut counts = PieceCounts::new();
            for (number, bytes) in writes {
                let row = vec![(key(number), bytes.map(|bytes| vec![number as u8; bytes]))];
                keep(row.clone(), &mut written);
                keep(cut(row, &mut counts), &mut kept);
                prop_assert!(kept.iter().all(|(key, value)| !is_long(key, value)));
                prop_assert_eq!(joined(&kept), Some((written.clone(), counts.clone())));
            }
            let gone = written.into_keys().map(|key| (key, None)).collect();
            keep(cut(gone, &mut counts), &mut kept);
            prop_assert!(kept.is_empty() && counts.is_empty());
        }
    }

    #[test]
    fn a_row_of_which_a_piece_is_missing_or_another_is_none() {
        let mut counts = PieceCounts::new();
        let mut whole = BTreeMap::new();
        keep(
            cut(vec![(vec![Table::Tab as u8, 1], Some(vec![7; 150_000]))], &mut counts),
            &mut whole,
        );
        assert_eq!(whole.len(), 3);
        for key in whole.keys() {
            let mut broken = whole.clone();
            broken.remove(key);
            assert_eq!(joined(&broken), None);
            let mut shorter = whole.clone();
            shorter.get_mut(key).unwrap().pop();
            assert_eq!(joined(&shorter), None);
        }
    }
}
