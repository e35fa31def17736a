//! Stores that are made at once, of sorted rows.

use std::collections::BTreeMap;
use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use super::log::{State, bases, config, state_of};
use super::*;
use crate::disk::testing::{Call, WatchedDisk};

/// Rows of which every third has a long value.
fn rows() -> State {
    let row = |number: u32| {
        let bytes = if number.is_multiple_of(3) { 300 } else { 20 };
        (number.to_be_bytes().to_vec(), vec![number as u8; bytes])
    };
    (0..2_000).map(row).collect()
}

fn each(rows: &State) -> impl Iterator<Item = io::Result<(Bytes, Bytes)>> + '_ {
    rows.iter().map(|(key, value)| Ok((Bytes::from(key.clone()), Bytes::from(value.clone()))))
}

#[test]
fn a_store_that_is_made_at_once_holds_its_rows_on_any_tree_and_goes_on_as_any_other() {
    for (name, on_tree) in on_each_tree() {
        let directory = tempfile::tempdir().unwrap();
        let tree = on_tree.tree.clone();
        let config = SledConfig {
            tree,
            record_bytes_max: on_tree.record_bytes_max,
            ..config(directory.path())
        };
        let mut state = rows();
        assert_eq!(Sled::fill(&config, &mut each(&state)), Ok(2_000), "{name}");
        let store = Sled::open(&config).unwrap();
        assert_eq!(store.rebuilt(), Some(&RebuildReason::Absent), "{name}");
        assert!(store.lost_frames().is_none() && !store.log_was_broken());
        assert!(state_of(&store) == state, "{name}");
        // Long values are replaced, a base is made behind the first, and the store is opened once more.
        for number in 0..2_000_u32 {
            let (key, value) = (number.to_be_bytes().to_vec(), vec![9; 400]);
            let found = store.get(&key).unwrap();
            let batch = Batch {
                expectations: vec![(Bytes::from(key.clone()), found.version())],
                writes: vec![(Bytes::from(key.clone()), Some(value.clone().into()))],
                ..Batch::default()
            };
            store.commit(batch).wait().unwrap();
            state.insert(key, value);
        }
        let first = base::name(Version(1));
        while bases(directory.path()).iter().any(|path| path.ends_with(&first)) {
            std::thread::yield_now();
        }
        drop(store);
        let store = Sled::open(&config).unwrap();
        assert_eq!(store.rebuilt(), None, "{name}");
        assert!(state_of(&store) == state, "{name}");
        drop(store);
        let store = Sled::open(&SledConfig { rebuilds: true, ..config }).unwrap();
        assert!(state_of(&store) == state, "{name}");
    }
}

#[test]
fn an_empty_store_is_made_of_no_rows() {
    let directory = tempfile::tempdir().unwrap();
    assert_eq!(Sled::fill(&config(directory.path()), &mut std::iter::empty()), Ok(0));
    assert!(state_of(&Sled::open(&config(directory.path())).unwrap()).is_empty());
}

#[test]
fn rows_out_of_order_or_too_long_make_no_store() {
    let row = |key: &'static str, bytes: usize| Ok((Bytes::from(key), Bytes::from(vec![1; bytes])));
    for wrong in [
        vec![row("b", 1), row("a", 1)],
        vec![row("a", 1), row("a", 2)],
        vec![row("", 1)],
        vec![row("a", VALUE_BYTES_MAX + 1)],
        vec![row("a", 1), Err(io::Error::other("as the test wants"))],
    ] {
        let directory = tempfile::tempdir().unwrap();
        let refused = Sled::fill(&config(directory.path()), &mut wrong.into_iter());
        assert!(matches!(refused, Err(OpenError::Directory { .. })), "{refused:?}");
        assert!(state_of(&Sled::open(&config(directory.path())).unwrap()).is_empty());
    }
}

#[test]
fn a_directory_with_a_store_is_not_filled_and_not_changed() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.commit(put("k", vec![1], Durability::Disk)).wait().unwrap();
    let taken = Sled::fill(&config(directory.path()), &mut each(&rows()));
    assert!(matches!(taken, Err(OpenError::Locked { .. })), "{taken:?}");
    drop(store);
    for mark in [Some("5\n"), Some("0\n"), None] {
        let path = directory.path().join("format");
        match mark {
            Some(mark) => std::fs::write(&path, mark).unwrap(),
            None => std::fs::remove_file(&path).unwrap(),
        }
        let taken = Sled::fill(&config(directory.path()), &mut each(&rows()));
        assert!(matches!(taken, Err(OpenError::Directory { .. })), "{mark:?}: {taken:?}");
    }
    let state = state_of(&open(directory.path()));
    assert_eq!(state, BTreeMap::from([(b"k".to_vec(), vec![1])]));
}

/// Makes a store on a disk that fails from a call on.
fn killed(directory: &Path, killed_at: u64, rows: &State) -> bool {
    let calls = AtomicU64::new(0);
    let disk = WatchedDisk::new(move |call, _| match call {
        Call::Open | Call::List | Call::Read | Call::Length | Call::ForgetCached => Ok(()),
        _ if calls.fetch_add(1, Ordering::Relaxed) < killed_at => Ok(()),
        _ => Err(io::Error::other("killed")),
    });
    Sled::fill_on(Arc::new(disk), &config(directory), &mut each(rows)).is_ok()
}

#[test]
fn a_store_whose_making_was_killed_anywhere_is_empty_whole_or_refused() {
    let rows = rows();
    let [mut empty, mut whole, mut begun_anew] = [0; 3];
    for killed_at in 0.. {
        let directory = tempfile::tempdir().unwrap();
        let is_done = killed(directory.path(), killed_at, &rows);
        match Sled::open(&config(directory.path())) {
            Ok(store) => {
                let state = state_of(&store);
                assert!(state == rows || (state.is_empty() && !is_done), "{killed_at}");
                *(if state.is_empty() { &mut empty } else { &mut whole }) += 1;
            }
            Err(OpenError::Corrupt { .. }) if !is_done => {}
            Err(refused) => panic!("{killed_at}: {refused}"),
        }
        if is_done {
            break;
        }
        // Nobody opened it meanwhile: the same again makes it, unless there is a store by now.
        let directory = tempfile::tempdir().unwrap();
        killed(directory.path(), killed_at, &rows);
        if Sled::fill(&config(directory.path()), &mut each(&rows)).is_ok() {
            assert!(state_of(&Sled::open(&config(directory.path())).unwrap()) == rows);
            begun_anew += 1;
        }
    }
    assert!(empty > 5 && whole > 0 && begun_anew > 5, "{empty} {whole} {begun_anew}");
}
