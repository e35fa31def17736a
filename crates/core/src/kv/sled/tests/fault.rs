//! Faults of the disk, of sled and of the machine, and what they may not cost.

use std::io;
use std::path::Path;
use std::sync::Weak;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::super::rows::LastVersion;
use super::*;
use crate::disk::testing::{Call, WatchedDisk};

fn open_on(disk: WatchedDisk, directory: &Path) -> Result<Sled, OpenError> {
    let config = SledConfig { cache_bytes: 32 * 1024 * 1024, ..SledConfig::new(directory) };
    Sled::open_on(Arc::new(disk), &config)
}

/// Rows of so many bytes each, at a version.
fn rows_of(count: u32, bytes: usize, version: Version) -> Rows {
    let value = Some(Bytes::from(vec![3; bytes]));
    let keys = (0..count).map(|key| Bytes::from(key.to_be_bytes().to_vec()));
    keys.map(|key| (key, (value.clone(), version))).collect()
}

/// The version that the tree says it has.
fn version_of_tree(store: &Sled) -> Version {
    let stored = store.engine.tree.get(VERSION_KEY).unwrap().unwrap();
    LastVersion::read(&stored).unwrap().version
}

#[test]
fn the_tree_never_names_a_version_before_its_rows_are_on_disk() {
    let directory = tempfile::tempdir().unwrap();
    let fails = Arc::new(AtomicBool::new(false));
    let failing = Arc::clone(&fails);
    let disk = WatchedDisk::new(move |call, path| {
        let is_tree = path.ends_with("db") && call == Call::Sync;
        if is_tree && failing.load(Ordering::SeqCst) {
            return Err(io::Error::other("as the test wants"));
        }
        Ok(())
    });
    let store = open_on(disk, directory.path()).unwrap();
    let last = store.commit(put("a", vec![1], Durability::Disk)).wait().unwrap();
    checkpoint_all(&store);
    assert_eq!(version_of_tree(&store), last);
    fails.store(true, Ordering::SeqCst);
    let next = Version(last.0 + 1);
    let checkpointed = store.engine.checkpoint(&rows_of(10, 10, next), next, &mut Vec::new());
    assert!(checkpointed.unwrap_err().contains("as the test wants"));
    assert_eq!(version_of_tree(&store), last);
}

#[test]
fn the_tree_is_synced_before_much_of_it_is_not_on_disk() {
    const MEBIBYTE: u64 = 1024 * 1024;
    for (count, bytes) in [(200, 60_000), (20_000, 500), (100_000, 60)] {
        let directory = tempfile::tempdir().unwrap();
        let engine: Arc<OnceLock<Weak<Engine>>> = Arc::default();
        let seen = Arc::clone(&engine);
        // What sled has written at each sync of its file.
        let synced = Arc::new(Mutex::new(Vec::new()));
        let syncs = Arc::clone(&synced);
        let disk = WatchedDisk::new(move |call, path| {
            if path.ends_with("db")
                && call == Call::Sync
                && let Some(engine) = seen.get().and_then(Weak::upgrade)
            {
                syncs.lock().push(engine.tree.written());
            }
            Ok(())
        });
        let store = open_on(disk, directory.path()).unwrap();
        engine.set(Arc::downgrade(&store.engine)).unwrap();
        let engine = &store.engine;
        let begun = engine.tree.written();
        engine.checkpoint(&rows_of(count, bytes, Version(1)), Version(1), &mut Vec::new()).unwrap();
        let synced = std::mem::take(&mut *synced.lock());
        let all: Vec<u64> = std::iter::once(begun).chain(synced).collect();
        assert!(all.last().unwrap() - begun > 6 * MEBIBYTE, "{all:?}");
        let most = all.windows(2).map(|pair| pair[1] - pair[0]).max().unwrap();
        assert!(most <= 4 * MEBIBYTE, "{count} rows of {bytes} bytes: {most}");
    }
}

#[test]
fn a_part_of_a_batch_that_sled_kept_hides_nothing_of_the_log() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let last = store.commit(put("a", vec![1], Durability::Disk)).wait().unwrap();
    checkpoint_all(&store);
    let next = Version(last.0 + 1);
    let rows = rows_of(100, 10, next);
    let mut part = rows.clone();
    part.retain(|key, _| key.as_ref() < 50_u32.to_be_bytes().as_slice());
    // As a read leaves it that fails in the middle.
    store.engine.insert(&part, Vec::new(), &[]).unwrap();
    drop(store);
    let mut wal = Wal::start(&SystemDisk, directory.path(), last).unwrap();
    wal.append(&rows, next).unwrap();
    drop(wal);
    let store = open(directory.path());
    for key in rows.keys() {
        assert_eq!(store.get(key).unwrap().version, next, "{key:?}");
    }
}

/// A disk on which syncs of the tree do as `then` says once `armed` is set.
fn tree_disk(
    armed: &Arc<AtomicBool>,
    then: impl Fn() -> io::Result<()> + Send + Sync + 'static,
) -> WatchedDisk {
    let armed = Arc::clone(armed);
    WatchedDisk::new(move |call, path| {
        if path.ends_with("db") && call == Call::Sync && armed.load(Ordering::SeqCst) {
            return then();
        }
        Ok(())
    })
}

#[test]
fn a_panic_while_the_tree_is_written_stops_the_store_and_keeps_the_log() {
    let directory = tempfile::tempdir().unwrap();
    let armed = Arc::new(AtomicBool::new(false));
    let store = open_on(tree_disk(&armed, || panic!("as the test wants")), directory.path());
    let store = store.unwrap();
    let failure = store.failure();
    armed.store(true, Ordering::SeqCst);
    store.commit(put("a", vec![1], Durability::Disk)).wait().unwrap();
    assert!(failure.wait().contains("the engine panicked"));
    drop(store);
    let found = open(directory.path()).get(b"a").unwrap().value;
    assert_eq!(found, Some(Bytes::from_static(&[1])));
}

#[test]
fn a_thread_that_panics_stops_the_store_and_the_log_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let armed = Arc::new(AtomicBool::new(false));
    let arming = Arc::clone(&armed);
    let disk = WatchedDisk::new(move |call, path| {
        let is_log =
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("journal"));
        assert!(
            !(is_log && call == Call::Sync && arming.load(Ordering::SeqCst)),
            "as the test wants"
        );
        Ok(())
    });
    let store = open_on(disk, directory.path()).unwrap();
    let failure = store.failure();
    store.commit(put("a", vec![1], Durability::Disk)).wait().unwrap();
    armed.store(true, Ordering::SeqCst);
    let torn = store.commit(put("a", vec![2], Durability::Disk)).wait();
    assert_eq!(torn, Err(StoreError::OutcomeUnknown));
    assert!(failure.wait().contains("the thread kv-wal panicked"));
    drop(store);
    assert!(open(directory.path()).get(b"a").unwrap().value.is_some());
}

#[test]
fn the_log_is_kept_while_the_tree_has_not_all_of_it() {
    let directory = tempfile::tempdir().unwrap();
    let armed = Arc::new(AtomicBool::new(false));
    let store =
        open_on(tree_disk(&armed, || Err(io::Error::other("as the test wants"))), directory.path());
    let store = store.unwrap();
    armed.store(true, Ordering::SeqCst);
    store.commit(put("a", vec![1], Durability::Disk)).wait().unwrap();
    drop(store);
    let kept = Wal::recover(&SystemDisk, directory.path(), Version::ABSENT).unwrap();
    assert_eq!(kept.rows.len(), 1);
}

#[test]
fn after_the_disk_has_failed_a_store_is_opened_from_what_the_disk_has() {
    let directory = tempfile::tempdir().unwrap();
    let armed = Arc::new(AtomicBool::new(false));
    let store =
        open_on(tree_disk(&armed, || Err(io::Error::other("as the test wants"))), directory.path());
    let store = store.unwrap();
    let failure = store.failure();
    armed.store(true, Ordering::SeqCst);
    store.commit(put("a", vec![1], Durability::Disk)).wait().unwrap();
    assert!(failure.wait().contains("as the test wants"));
    drop(store);
    let calls = || {
        let calls = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&calls);
        let disk = WatchedDisk::new(move |call, path| {
            seen.lock().push((call, path.to_owned()));
            Ok(())
        });
        let store = open_on(disk, directory.path()).unwrap();
        let found = store.get(b"a").unwrap().value;
        assert_eq!(found, Some(Bytes::from_static(&[1])));
        std::mem::take(&mut *calls.lock())
    };
    let first = calls();
    for name in ["db", "journal-0", "journal-1"] {
        let path = directory.path().join(name);
        let at = |wanted: Call| {
            first.iter().position(|(call, on)| *call == wanted && *on == path).unwrap()
        };
        assert!(at(Call::Sync) < at(Call::ForgetCached), "{name}");
        assert!(at(Call::ForgetCached) < at(Call::Read), "{name}");
    }
    let again = calls();
    assert!(!again.iter().any(|(call, _)| *call == Call::ForgetCached), "once is enough");
}

#[test]
fn a_start_that_the_disk_failed_is_not_believed_by_the_next_one() {
    let directory = tempfile::tempdir().unwrap();
    drop(open(directory.path()));
    let disk = WatchedDisk::new(|call, path| {
        let is_log = path.ends_with("journal-0");
        if is_log && call == Call::Truncate {
            return Err(io::Error::other("as the test wants"));
        }
        Ok(())
    });
    let refused = open_on(disk, directory.path());
    assert!(matches!(refused, Err(OpenError::Directory { .. })), "{refused:?}");
    let forgotten = Arc::new(AtomicBool::new(false));
    let seen = Arc::clone(&forgotten);
    let disk = WatchedDisk::new(move |call, _| {
        seen.fetch_or(call == Call::ForgetCached, Ordering::SeqCst);
        Ok(())
    });
    drop(open_on(disk, directory.path()).unwrap());
    assert!(forgotten.load(Ordering::SeqCst));
}

#[test]
fn a_snapshot_that_a_kill_left_half_written_is_taken_away() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.commit(put("a", vec![1], Durability::Disk)).wait().unwrap();
    // Behind every other, as the one that is being made is.
    let snapshot = directory.path().join("snap.7FFFFFFFFFFFFFFF.generating");
    std::fs::write(&snapshot, [0; 7]).unwrap();
    let meanwhile = Sled::open(&SledConfig::new(directory.path()));
    assert!(matches!(meanwhile, Err(OpenError::Locked { .. })), "{meanwhile:?}");
    assert!(snapshot.exists(), "the snapshot of a store that is open is left alone");
    drop(store);
    let store = open(directory.path());
    assert_eq!(store.get(b"a").unwrap().value, Some(Bytes::from_static(&[1])));
    assert!(!snapshot.exists());
}

#[test]
fn a_tree_that_the_disk_does_not_give_back_whole_is_refused_and_not_changed() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.commit(put("a", vec![1], Durability::Disk)).wait().unwrap();
    drop(store);
    let tree = directory.path().join("db");
    let before = std::fs::read(&tree).unwrap();
    let reads = |fails_at: usize| {
        let reads = AtomicUsize::new(0);
        let disk = WatchedDisk::new(move |call, path| {
            let is_tree = path.ends_with("db") && call == Call::Read;
            if is_tree && reads.fetch_add(1, Ordering::SeqCst) == fails_at {
                return Err(io::Error::other("as the test wants"));
            }
            Ok(())
        });
        open_on(disk, directory.path())
    };
    for fails_at in 0..=before.len() / (1024 * 1024) {
        let refused = reads(fails_at);
        assert!(matches!(refused, Err(OpenError::Unreadable { .. })), "{fails_at}: {refused:?}");
        assert!(std::fs::read(&tree).unwrap() == before, "read {fails_at}");
    }
    let value = open(directory.path()).get(b"a").unwrap().value;
    assert_eq!(value, Some(Bytes::from_static(&[1])));
}

#[test]
fn all_that_a_first_start_makes_is_on_disk_before_its_mark() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let calls = Arc::new(Mutex::new(Vec::new()));
    let seen = Arc::clone(&calls);
    let disk = WatchedDisk::new(move |call, path| {
        seen.lock().push((call, path.to_owned()));
        Ok(())
    });
    drop(open_on(disk, &data).unwrap());
    let calls = calls.lock();
    let at = |call: Call, path: &Path| {
        let found = calls.iter().position(|(made, on)| *made == call && on == path);
        found.unwrap_or_else(|| panic!("{call:?} of {}", path.display()))
    };
    let mark = at(Call::Create, &data.join("format"));
    assert!(at(Call::SyncDirectory, directory.path()) < mark);
    for name in ["db", "conf", "journal-0", "journal-1"] {
        assert!(at(Call::Sync, &data.join(name)) < mark, "{name}");
    }
    let names = at(Call::SyncDirectory, &data);
    assert!(names < mark);
}
