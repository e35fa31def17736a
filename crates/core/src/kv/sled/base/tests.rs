use std::collections::BTreeMap;

use proptest::collection::{btree_map, vec};
use proptest::prelude::*;

use super::*;
use crate::disk::SystemDisk;

type Rows = BTreeMap<Vec<u8>, Vec<u8>>;

fn written(directory: &Path, rows: &Rows) -> Base {
    let mut writer = BaseWriter::create(&SystemDisk, directory, Version(7), 9).unwrap();
    for (key, stored) in rows {
        writer.add(key, stored).unwrap();
    }
    writer.finish().unwrap()
}

fn read(base: &Base) -> Result<Rows, BaseError> {
    base.rows().map(|row| row.map(|(key, stored)| (key.to_vec(), stored.to_vec()))).collect()
}

fn rows() -> impl Strategy<Value = Rows> {
    btree_map(vec(any::<u8>(), 1..20), vec(any::<u8>(), 8..60_000), 0..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    #[test]
    fn a_base_gives_the_rows_that_it_was_made_of(rows in rows()) {
        let directory = tempfile::tempdir().unwrap();
        let base = written(directory.path(), &rows);
        let BaseSummary { version, time, rows: count, bytes } = base.summary;
        prop_assert_eq!((version, time, count), (Version(7), 9, rows.len() as u64));
        prop_assert_eq!(bytes, std::fs::metadata(&base.path).unwrap().len());
        let again = Base::open(&SystemDisk, &base.path).unwrap();
        prop_assert_eq!(read(&again).unwrap(), rows);
    }

    #[test]
    fn a_flipped_bit_or_a_cut_is_named(
        rows in rows(),
        at in any::<prop::sample::Index>(),
        bit in 0..8_u8,
        is_cut in any::<bool>(),
    ) {
        let directory = tempfile::tempdir().unwrap();
        let base = written(directory.path(), &rows);
        let mut bytes = std::fs::read(&base.path).unwrap();
        let at = at.index(bytes.len());
        if is_cut {
            bytes.truncate(at);
        } else {
            bytes[at] ^= 1 << bit;
        }
        std::fs::write(&base.path, bytes).unwrap();
        let found = Base::open(&SystemDisk, &base.path).and_then(|base| base.verify());
        prop_assert!(matches!(found, Err(BaseError::Damaged(..))), "{:?}", found);
    }
}

#[test]
fn a_base_that_is_not_whole_has_no_name() {
    let directory = tempfile::tempdir().unwrap();
    let mut writer = BaseWriter::create(&SystemDisk, directory.path(), Version(7), 0).unwrap();
    writer.add(b"a", &[0; 8]).unwrap();
    let (bases, unfinished) = paths(&SystemDisk, directory.path()).unwrap();
    assert_eq!((bases.len(), unfinished.len()), (0, 1));
    writer.abandon();
    assert_eq!(std::fs::read_dir(directory.path()).unwrap().count(), 0);
}

#[test]
fn the_newest_base_comes_first() {
    let directory = tempfile::tempdir().unwrap();
    for version in [9, 100, 20] {
        BaseWriter::create(&SystemDisk, directory.path(), Version(version), 0)
            .unwrap()
            .finish()
            .unwrap();
    }
    let (bases, _) = paths(&SystemDisk, directory.path()).unwrap();
    let versions: Vec<_> = bases.iter().filter_map(|path| version_of(path)).collect();
    assert_eq!(versions, [Version(100), Version(20), Version(9)]);
}
