//! Faults of the disk, of sled and of the machine, and what they may not cost.

use std::io;
use std::path::Path;
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
    let mut wal = wal_after(directory.path(), last);
    wal.append(&rows, next, 0).unwrap();
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
fn after_the_disk_has_failed_nothing_that_the_system_remembers_is_believed() {
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
        (std::mem::take(&mut *calls.lock()), store.rebuilt().cloned())
    };
    let (first, reason) = calls();
    assert_eq!(reason, Some(RebuildReason::Unknown));
    let base = base::name(Version::ABSENT);
    for name in [base, wal::name(1)] {
        let path = directory.path().join(&name);
        let at = |wanted: Call| {
            first.iter().position(|(call, on)| *call == wanted && *on == path).unwrap()
        };
        assert!(at(Call::Sync) < at(Call::ForgetCached), "{name}");
        assert!(at(Call::ForgetCached) < at(Call::Read), "{name}");
    }
    let (_, reason) = calls();
    assert_eq!(reason, None, "once is enough");
}

#[test]
fn a_start_that_the_disk_failed_is_not_believed_by_the_next_one() {
    let directory = tempfile::tempdir().unwrap();
    drop(open(directory.path()));
    let disk = WatchedDisk::new(|call, path| {
        let is_log = path.extension().is_some_and(|extension| extension == "spare");
        if is_log && call == Call::Sync {
            return Err(io::Error::other("as the test wants"));
        }
        Ok(())
    });
    let refused = open_on(disk, directory.path());
    assert!(matches!(refused, Err(OpenError::Directory { .. })), "{refused:?}");
    let store = open(directory.path());
    assert_eq!(store.rebuilt(), Some(&RebuildReason::Unknown));
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
fn a_tree_that_the_disk_does_not_give_back_whole_is_filled_anew() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.commit(put("a", vec![1], Durability::Disk)).wait().unwrap();
    drop(store);
    let length = std::fs::metadata(directory.path().join("db")).unwrap().len() as usize;
    for fails_at in 0..=length / (1024 * 1024) {
        let reads = AtomicUsize::new(0);
        let disk = WatchedDisk::new(move |call, path| {
            let is_tree = path.ends_with("db") && call == Call::Read;
            if is_tree && reads.fetch_add(1, Ordering::SeqCst) == fails_at {
                return Err(io::Error::other("as the test wants"));
            }
            Ok(())
        });
        let store = open_on(disk, directory.path()).unwrap();
        let reason = store.rebuilt();
        assert!(matches!(reason, Some(RebuildReason::Unreadable(_))), "{fails_at}: {reason:?}");
        assert_eq!(store.get(b"a").unwrap().value, Some(Bytes::from_static(&[1])));
    }
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
    let mark = at(Call::Rename, &data.join("format.new"));
    assert!(at(Call::SyncDirectory, directory.path()) < mark);
    let base = base::name(Version::ABSENT) + ".new";
    let log = "journal-0000000001.spare";
    for name in ["db", "conf", "index.new", "format.new", &base, log] {
        assert!(at(Call::Sync, &data.join(name)) < mark, "{name}");
    }
    let names = at(Call::SyncDirectory, &data);
    assert!(names < mark);
}

#[test]
fn a_panic_while_a_base_is_made_stops_the_store_and_loses_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let disk = WatchedDisk::new(|call, path| {
        let is_base = path.extension().is_some_and(|extension| extension == "new")
            && path.to_string_lossy().contains("base-");
        let is_first = path.to_string_lossy().contains("base-00000000000000000000");
        assert!(!(is_base && !is_first && call == Call::Write), "as the test wants");
        Ok(())
    });
    let config = SledConfig {
        segment_bytes: 16 * 1024,
        base_bytes_min: 32 * 1024,
        cache_bytes: 32 * 1024 * 1024,
        ..SledConfig::new(directory.path())
    };
    let store = Sled::open_on(Arc::new(disk), &config).unwrap();
    let failure = store.failure();
    let mut acknowledged = 0_u32;
    while store
        .commit(put("a", acknowledged.to_be_bytes().repeat(500), Durability::Disk))
        .wait()
        .is_ok()
    {
        acknowledged += 1;
    }
    assert!(failure.wait().contains("the thread kv-base panicked"));
    drop(store);
    let store = open(directory.path());
    assert_eq!(store.rebuilt(), Some(&RebuildReason::Unknown));
    let found = store.get(b"a").unwrap().value.unwrap();
    let found = u32::from_be_bytes(found[..4].try_into().unwrap());
    assert!(found + 1 >= acknowledged, "{found} of {acknowledged}");
}

#[test]
fn a_panic_while_long_values_are_kept_or_looked_up_stops_the_store_and_loses_nothing() {
    for wanted in [Call::Write, Call::Read] {
        let directory = tempfile::tempdir().unwrap();
        let armed = Arc::new(AtomicBool::new(false));
        let arming = Arc::clone(&armed);
        let disk = WatchedDisk::new(move |call, path| {
            let is_pack = path.extension().is_some_and(|extension| extension == "pack");
            assert!(!(is_pack && call == wanted && arming.load(Ordering::SeqCst)), "as wanted");
            Ok(())
        });
        let config = SledConfig {
            cache_bytes: 32 * 1024 * 1024,
            record_bytes_max: 16,
            ..SledConfig::new(directory.path())
        };
        let store = Sled::open_on(Arc::new(disk), &config).unwrap();
        store.commit(put("a", vec![1; 100], Durability::Disk)).wait().unwrap();
        checkpoint_all(&store);
        armed.store(true, Ordering::SeqCst);
        store.commit(put("a", vec![2; 100], Durability::Disk)).wait().unwrap();
        if wanted == Call::Write {
            // The threads of the packs end with the panic, and what waits for them is refused.
            assert!(store.failure().wait().contains("closed"));
        } else {
            armed.store(false, Ordering::SeqCst);
        }
        drop(store);
        armed.store(false, Ordering::SeqCst);
        let found = open_packed(directory.path()).get(b"a").unwrap().value;
        assert_eq!(found, Some(Bytes::from(vec![2; 100])));
    }
}

#[test]
fn a_read_of_the_tree_that_fails_stops_the_store_and_the_next_start_fills_it_anew() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.commit(put("a", vec![1], Durability::Disk)).wait().unwrap();
    let failure = store.failure();
    let error = sled::Error::Io(io::Error::other("as the test wants"));
    let seen = store.engine.tree_failed(error);
    assert!(matches!(seen, StoreError::Unavailable(_)), "{seen:?}");
    assert!(failure.wait().contains("as the test wants"));
    drop(store);
    let store = open(directory.path());
    assert_eq!(store.rebuilt(), Some(&RebuildReason::Unknown));
    assert_eq!(store.get(b"a").unwrap().value, Some(Bytes::from_static(&[1])));
}
