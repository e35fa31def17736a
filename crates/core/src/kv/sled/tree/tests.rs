//! The laws of every tree, on each that this program has.

use std::collections::BTreeMap;

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::disk::SystemDisk;

fn opened(kind: &TreeKind, directory: &Path) -> Box<dyn Tree> {
    let disk: Arc<dyn Disk> = Arc::new(SystemDisk);
    let cache_bytes = 16 * 1024 * 1024;
    kind.open(&TreePlace { disk: &disk, directory, cache_bytes, sync_is_left_out: false }).unwrap()
}

type Model = BTreeMap<Vec<u8>, Vec<u8>>;

fn writes_of(rows: &[(Vec<u8>, Option<Vec<u8>>)]) -> Vec<TreeWrite> {
    let bytes = |bytes: &Vec<u8>| Bytes::copy_from_slice(bytes);
    rows.iter().map(|(key, stored)| (bytes(key), stored.as_ref().map(bytes))).collect()
}

/// Rows within bounds, in an order.
fn rows_of(tree: &dyn Tree, bounds: RowBounds<'_>, order: Order) -> Vec<(Vec<u8>, Vec<u8>)> {
    let rows = tree.range(bounds, order).unwrap().map(|row| row.unwrap());
    // The row of the last version, whose key is empty, is asked for by its key alone.
    let rows = rows.filter(|(key, _)| !key.is_empty());
    rows.map(|(key, stored)| (key.to_vec(), stored.to_vec())).collect()
}

fn bound(key: &Option<(Vec<u8>, bool)>) -> Bound<&[u8]> {
    match key {
        None => Bound::Unbounded,
        Some((key, true)) => Bound::Included(key),
        Some((key, false)) => Bound::Excluded(key),
    }
}

/// Keys of few bytes, many of them 255, where sled's order of leaves is at its weakest. The key of the last version is empty.
fn key() -> impl Strategy<Value = Vec<u8>> {
    vec(prop_oneof![Just(0), Just(1), Just(7), Just(254), Just(255)], 1..7)
}

type Rows = Vec<(Vec<u8>, Option<Vec<u8>>)>;

fn rows() -> impl Strategy<Value = Rows> {
    let row = (key(), proptest::option::weighted(0.8, vec(any::<u8>(), 0..60)));
    vec(row, 0..60)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn every_tree_holds_what_an_ordered_map_holds_and_keeps_what_was_sealed(
        steps in vec(rows(), 1..6),
        bounds in vec((proptest::option::of((key(), any::<bool>())), proptest::option::of((key(), any::<bool>()))), 6),
    ) {
        for (name, kind) in TreeKind::all() {
            let directory = tempfile::tempdir().unwrap();
            let mut tree = opened(kind, directory.path());
            let mut model = Model::new();
            for (number, step) in steps.iter().enumerate() {
                tree.write(&writes_of(step)).unwrap();
                for (key, stored) in step {
                    match stored {
                        Some(stored) => model.insert(key.clone(), stored.clone()),
                        None => model.remove(key),
                    };
                }
                let version = vec![number as u8; 8];
                tree.seal(Bytes::from(version.clone())).unwrap();
                model.insert(Vec::new(), version);
                if number % 2 == 1 {
                    prop_assert!(tree.close(), "{}", name);
                    tree = opened(kind, directory.path());
                }
            }
            for (lower, upper) in bounds.iter().chain([&(None, None)]) {
                // Callers ask for nothing where nothing can lie.
                if let (Some((lower, _)), Some((upper, _))) = (lower, upper) && lower >= upper {
                    continue;
                }
                let bounds = (bound(lower), bound(upper));
                let range = model.range::<[u8], _>(bounds).filter(|(key, _)| !key.is_empty());
                let mut expected: Vec<_> = range.map(|(key, stored)| (key.clone(), stored.clone())).collect();
                prop_assert_eq!(&rows_of(&*tree, bounds, Order::Ascending), &expected, "{}", name);
                expected.reverse();
                prop_assert_eq!(&rows_of(&*tree, bounds, Order::Descending), &expected, "{}", name);
            }
            for (key, stored) in &model {
                let found = tree.get(key).unwrap();
                prop_assert_eq!(found.as_deref(), Some(stored.as_slice()), "{}", name);
            }
            prop_assert!(tree.get(b"never").unwrap().is_none());
        }
    }
}

#[test]
fn a_kill_leaves_no_tree_a_version_without_the_rows_before_it() {
    for (name, kind) in TreeKind::all() {
        let directory = tempfile::tempdir().unwrap();
        let tree = opened(kind, directory.path());
        let rows = |value: u8| -> Vec<TreeWrite> {
            let keys = (0..500_u16).map(|key| Bytes::from(key.to_be_bytes().to_vec()));
            keys.map(|key| (key, Some(Bytes::from(vec![value; 100])))).collect()
        };
        tree.write(&rows(1)).unwrap();
        tree.seal(Bytes::from_static(b"1")).unwrap();
        tree.write(&rows(2)).unwrap();
        let copied = tempfile::tempdir().unwrap();
        // As a kill leaves it: what the operating system has.
        for entry in std::fs::read_dir(directory.path()).unwrap() {
            let path = entry.unwrap().path();
            if path.is_file() {
                std::fs::copy(&path, copied.path().join(path.file_name().unwrap())).unwrap();
            }
        }
        drop(tree);
        let tree = opened(kind, copied.path());
        assert_eq!(tree.get(b"").unwrap().as_deref(), Some(&b"1"[..]), "{name}");
        for (key, _) in rows(0) {
            let stored = tree.get(&key).unwrap().unwrap();
            // A tree may have more than it was sealed with.
            assert!(stored == vec![1; 100] || stored == vec![2; 100], "{name} {key:?}");
        }
    }
}

#[test]
fn a_tree_has_a_name_and_each_kind_files_of_its_own() {
    let directory = Path::new("kv");
    for (name, kind) in TreeKind::all() {
        let named = TreeKind::named(name).unwrap();
        assert_eq!(named.path(directory), kind.path(directory));
        let file = kind.path(directory);
        assert!(is_of_tree(file.file_name().unwrap().to_str().unwrap()));
    }
    assert!(TreeKind::named("other").is_none());
}

#[test]
fn what_is_closed_can_be_opened_at_once() {
    for (name, kind) in TreeKind::all() {
        let directory = tempfile::tempdir().unwrap();
        for round in 0..100_u32 {
            let mut tree = opened(kind, directory.path());
            let row = (Bytes::from_static(b"key"), Some(Bytes::from(vec![7; 200_000])));
            tree.write(&[row]).unwrap();
            tree.seal(Bytes::copy_from_slice(&round.to_be_bytes())).unwrap();
            assert!(tree.close(), "{name}");
        }
    }
}
