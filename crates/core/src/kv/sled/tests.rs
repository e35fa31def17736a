use std::io;
use std::path::Path;
use std::sync::Weak;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use parking_lot::Mutex;

use super::rows::{LastVersion, Rows, VERSION_KEY};
use super::*;
use crate::blobs::BlobId;
use crate::disk::SystemDisk;
use crate::disk::testing::{Call, WatchedDisk};
use crate::kv::{Durability, Order, Span, conformance};

fn open(directory: &Path) -> Sled {
    Sled::open(&SledConfig { cache_bytes: 32 * 1024 * 1024, ..SledConfig::new(directory) }).unwrap()
}

fn open_on(disk: WatchedDisk, directory: &Path) -> Result<Sled, OpenError> {
    let config = SledConfig { cache_bytes: 32 * 1024 * 1024, ..SledConfig::new(directory) };
    Sled::open_on(Arc::new(disk), &config)
}

fn open_packed(directory: &Path) -> Sled {
    Sled::open(&SledConfig {
        cache_bytes: 32 * 1024 * 1024,
        record_bytes_max: 16,
        ..SledConfig::new(directory)
    })
    .unwrap()
}

fn put(key: &'static str, value: Vec<u8>, durability: Durability) -> Batch {
    Batch {
        writes: vec![(Bytes::from(key), Some(Bytes::from(value)))],
        durability,
        ..Batch::default()
    }
}

#[test]
fn sled_obeys_the_laws_of_every_engine() {
    let directory = tempfile::tempdir().unwrap();
    let mut number = 0;
    conformance::all(&mut || {
        number += 1;
        Arc::new(open(&directory.path().join(number.to_string())))
    });
}

#[test]
fn sled_keeps_what_it_acknowledged_when_it_is_opened_again() {
    let directory = tempfile::tempdir().unwrap();
    conformance::reopening(&mut || Arc::new(open(directory.path())));
}

#[test]
fn sled_with_long_values_in_packs_obeys_the_laws_of_every_engine() {
    let directory = tempfile::tempdir().unwrap();
    let mut number = 0;
    conformance::all(&mut || {
        number += 1;
        Arc::new(open_packed(&directory.path().join(number.to_string())))
    });
    let kept = directory.path().join("kept");
    conformance::reopening(&mut || Arc::new(open_packed(&kept)));
}

/// Waits until the tree has all that was committed.
fn checkpoint_all(store: &Sled) {
    while !store.engine.queue.read().is_checkpointed() {
        std::thread::yield_now();
    }
}

/// The names of the values that rows point to, and of those that lie in the value log.
fn pointed_to_and_stored(store: &Sled) -> (Vec<BlobId>, Vec<BlobId>) {
    let rows = store.engine.tree.iter().map(|row| row.unwrap());
    let named = rows.filter(|(key, _)| key.as_ref() != VERSION_KEY);
    let mut named: Vec<_> = named
        .filter_map(|(_, row)| match Row::read(&row).unwrap() {
            Row::Pointer(_, name) => Some(name),
            Row::Inline(..) => None,
        })
        .collect();
    let mut kept = store.engine.value_log.as_ref().unwrap().names();
    named.sort_unstable();
    kept.sort_unstable();
    (named, kept)
}

#[test]
fn a_descending_scan_ends_below_a_bound_that_a_leaf_begins_with() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let key = |list: u8, at: u8| [&[list][..], &[u8::MAX; 8], &[at]].concat();
    // Lists of many lengths, so that leaves begin at every place of one, its first key too; that is the list's own in every other one.
    let keys = |list: u8| {
        let own = (list % 2 == 1).then(|| vec![list]);
        own.into_iter().chain((0..20 + list % 32).map(move |at| key(list, at)))
    };
    for list in 0..200 {
        let row = |key| (Bytes::from(key), Some(Bytes::from(vec![7; 40])));
        let batch = Batch {
            writes: keys(list).map(row).collect(),
            durability: Durability::Process,
            ..Batch::default()
        };
        store.commit(batch).wait().unwrap();
    }
    checkpoint_all(&store);
    for (list, limit) in (0..200).flat_map(|list| [(list, 10), (list, 100)]) {
        for to in [None, Some(key(list, 15)), Some(key(list, 0))] {
            let mut expected: Vec<_> =
                keys(list).filter(|key| to.as_ref().is_none_or(|to| key < to)).collect();
            expected.reverse();
            expected.truncate(limit);
            let span = Span { to: to.clone(), order: Order::Descending, ..Span::of([list]) };
            let page = store.scan(&span, limit).unwrap();
            let found: Vec<_> = page.rows.iter().map(|(key, _)| key.to_vec()).collect();
            assert_eq!(found, expected, "list {list} below {to:?}");
        }
    }
}

#[test]
fn values_that_were_replaced_or_never_named_are_gone_once_the_store_is_opened_again() {
    let directory = tempfile::tempdir().unwrap();
    let store = open_packed(directory.path());
    for round in 0..150_u8 {
        let long = vec![round; 100];
        store.commit(put("a", long.clone(), Durability::Disk)).wait().unwrap();
        store.commit(put("b", long, Durability::Process)).wait().unwrap();
    }
    store.commit(put("b", b"short".to_vec(), Durability::Disk)).wait().unwrap();
    checkpoint_all(&store);
    // As a kill leaves it between the values and their rows.
    let value_log = store.engine.value_log.as_ref().unwrap();
    let row = (Some(Bytes::from(vec![7; 100])), Version(10_000));
    let rows = [(Bytes::from("never"), row)].into_iter().collect();
    value_log.append(&rows, Version(10_000)).unwrap();
    let (named, kept) = pointed_to_and_stored(&store);
    assert!(named.len() == 1 && (2..100).contains(&kept.len()), "{}", kept.len());
    drop(store);
    let store = open_packed(directory.path());
    let (named, kept) = pointed_to_and_stored(&store);
    assert_eq!(named, kept);
    assert_eq!(store.get(b"a").unwrap().value, Some(Bytes::from(vec![149; 100])));
    drop(store);
    // Once there are packs they are read, whatever the bound is now.
    assert_eq!(open(directory.path()).get(b"a").unwrap().value, Some(Bytes::from(vec![149; 100])));
}

#[test]
fn a_value_that_is_replaced_while_it_is_read_is_read_anew() {
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(open_packed(directory.path()));
    store.commit(put("a", vec![0; 100], Durability::Disk)).wait().unwrap();
    let writer = {
        let store = Arc::clone(&store);
        std::thread::spawn(move || {
            for round in 0..400_u16 {
                let batch = put("a", vec![round as u8; 100], Durability::Disk);
                store.commit(batch).wait().unwrap();
            }
        })
    };
    while !writer.is_finished() {
        let read = store.get(b"a").unwrap().value.unwrap();
        assert!(read.len() == 100 && read.iter().all(|byte| *byte == read[0]));
        assert_eq!(store.scan(&Span::of("a"), 1).unwrap().rows.len(), 1);
    }
    writer.join().unwrap();
}

#[test]
fn the_operators_page_has_the_words_of_every_refusal() {
    let page = include_str!("../../../../../docs/running.md");
    let (path, file, reason) = ("PATH".to_owned(), "FILE".to_owned(), "REASON".to_owned());
    for refusal in [
        OpenError::Directory { path: path.clone(), reason: reason.clone() },
        OpenError::Locked { path: path.clone() },
        OpenError::Unreadable { path: path.clone(), file, reason: reason.clone() },
        OpenError::Foreign { path: path.clone() },
        OpenError::Corrupt { path, reason },
    ] {
        assert!(page.contains(&format!("| {refusal} |")), "{refusal}");
    }
}

#[test]
fn a_directory_in_use_is_refused_by_name() {
    let directory = tempfile::tempdir().unwrap();
    let _held = open(directory.path());
    let again = Sled::open(&SledConfig::new(directory.path()));
    assert!(matches!(again, Err(OpenError::Locked { .. })), "{again:?}");
}

#[test]
fn a_store_with_unsynced_blobs_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    drop(open(directory.path()));
    std::fs::create_dir_all(directory.path().join("blobs")).unwrap();
    std::fs::write(directory.path().join("blobs/1"), "x").unwrap();
    let again = Sled::open(&SledConfig::new(directory.path()));
    assert!(matches!(again, Err(OpenError::Foreign { .. })), "{again:?}");
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
fn a_damaged_store_is_refused_and_never_a_panic() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    for _ in 0..50 {
        store.commit(put("a", vec![7; 5_000], Durability::Disk)).wait().unwrap();
    }
    drop(store);
    let file = directory.path().join("db");
    let length = std::fs::metadata(&file).unwrap().len();
    std::fs::write(&file, vec![0xAA; length as usize]).unwrap();
    let again = Sled::open(&SledConfig::new(directory.path()));
    assert!(
        matches!(again, Err(OpenError::Corrupt { .. } | OpenError::Directory { .. })),
        "{again:?}"
    );
}

#[test]
fn a_store_whose_file_vanished_is_refused_and_not_taken_for_a_new_one() {
    let directory = tempfile::tempdir().unwrap();
    drop(open(directory.path()));
    for entry in std::fs::read_dir(directory.path()).unwrap() {
        let path = entry.unwrap().path();
        if path.is_file() && !path.ends_with("format") {
            std::fs::remove_file(path).unwrap();
        }
    }
    let again = Sled::open(&SledConfig::new(directory.path()));
    assert!(matches!(again, Err(OpenError::Corrupt { .. })), "{again:?}");
}

#[test]
fn a_store_whose_log_vanished_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    drop(open(directory.path()));
    std::fs::remove_file(directory.path().join("journal-1")).unwrap();
    let again = Sled::open(&SledConfig::new(directory.path()));
    assert!(matches!(again, Err(OpenError::Corrupt { .. })), "{again:?}");
}

#[test]
fn a_store_from_before_there_was_a_log_is_opened() {
    let directory = tempfile::tempdir().unwrap();
    drop(open(directory.path()));
    std::fs::remove_file(directory.path().join("journal-0")).unwrap();
    std::fs::remove_file(directory.path().join("journal-1")).unwrap();
    std::fs::write(directory.path().join("format"), "1\n").unwrap();
    drop(open(directory.path()));
    let format = std::fs::read_to_string(directory.path().join("format")).unwrap();
    assert_eq!(format, "2\n");
}

#[test]
fn a_first_start_that_was_killed_before_its_mark_is_opened_and_marked() {
    let directory = tempfile::tempdir().unwrap();
    drop(open(directory.path()));
    std::fs::remove_file(directory.path().join("format")).unwrap();
    drop(open(directory.path()));
    assert!(directory.path().join("format").exists());
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

#[test]
fn the_largest_values_leave_no_file_in_sleds_own_blob_directory() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    for round in 0..40_u8 {
        let writes = (0..15_u8).map(|key| {
            (Bytes::from(vec![key + 1, round]), Some(Bytes::from(vec![round; 64 * 1024])))
        });
        store.commit(Batch { writes: writes.collect(), ..Batch::default() }).wait().unwrap();
    }
    drop(store);
    assert!(!has_any(&directory.path().join("blobs")));
}

fn has_any(directory: &Path) -> bool {
    std::fs::read_dir(directory).is_ok_and(|mut entries| entries.next().is_some())
}

#[test]
fn a_batch_of_the_process_level_is_acknowledged_and_then_kept() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let version = store.commit(put("a", b"1".to_vec(), Durability::Process)).wait().unwrap();
    if let Some(durable) = store.durable(version) {
        durable.wait().unwrap();
    }
    drop(store);
    assert_eq!(open(directory.path()).get(b"a").unwrap().value, Some(Bytes::from("1")));
}

#[test]
fn what_only_the_log_holds_after_a_kill_is_there_when_the_store_is_opened_again() {
    let directory = tempfile::tempdir().unwrap();
    for open in [open, open_packed] {
        let path = directory.path().join(format!("{}", open as usize));
        let store = open(&path);
        let long = vec![1; 5_000];
        store.commit(put("kept", long.clone(), Durability::Disk)).wait().unwrap();
        let last = store.commit(put("deleted", long, Durability::Disk)).wait().unwrap();
        drop(store);
        // As the log's thread leaves it between the log and the tree.
        let mut wal = Wal::start(&SystemDisk, &path, last).unwrap();
        for (number, value) in [(1, None), (2, Some(Bytes::from(vec![2; 5_000])))] {
            let version = Version(last.0 + number);
            let key = if value.is_some() { "added" } else { "deleted" };
            let rows = [(Bytes::from(key), (value, version))].into_iter().collect();
            wal.append(&rows, version).unwrap();
        }
        drop(wal);
        for _ in 0..2 {
            let store = open(&path);
            let read = |key: &str| store.get(key.as_bytes()).unwrap().value.map(|value| value[0]);
            assert_eq!((read("kept"), read("deleted"), read("added")), (Some(1), None, Some(2)));
        }
        let version = open(&path).commit(put("a", vec![], Durability::Disk)).wait().unwrap();
        assert!(version > Version(last.0 + 2));
    }
}

#[test]
fn a_memtable_that_was_cut_off_between_its_batches_is_whole_when_the_store_is_opened_again() {
    let directory = tempfile::tempdir().unwrap();
    let memtable = |number: u8, version| -> Rows {
        let value = Some(Bytes::from(vec![number; 100]));
        let keys = (0..600_u32).map(|key| Bytes::from(key.to_be_bytes().to_vec()));
        keys.map(|key| (key, (value.clone(), version))).collect()
    };
    let store = open_packed(directory.path());
    let first = store.commit(Batch {
        writes: memtable(1, Version(0)).into_iter().map(|(key, (value, _))| (key, value)).collect(),
        ..Batch::default()
    });
    let last = first.wait().unwrap();
    checkpoint_all(&store);
    let next = Version(last.0 + 1);
    let rows = memtable(2, next);
    let value_log = store.engine.value_log.as_ref().unwrap();
    let names = value_log.append(&rows, next).unwrap();
    let mut replaced = Vec::new();
    store.engine.find_replaced(&rows, &mut replaced).unwrap();
    let mut cut = rows.clone();
    cut.retain(|key, _| key.as_ref() < 300_u32.to_be_bytes().as_slice());
    // More rows than one batch takes begin with the names of what they replace; what ends the memtable never came.
    store.engine.insert(&cut, names, &replaced).unwrap();
    drop(store);
    let mut wal = Wal::start(&SystemDisk, directory.path(), last).unwrap();
    wal.append(&rows, next).unwrap();
    drop(wal);
    let store = open_packed(directory.path());
    for key in [0_u32, 299, 300, 599] {
        let found = store.get(&key.to_be_bytes()).unwrap().value.unwrap();
        assert_eq!(found, vec![2; 100]);
    }
    let (named, kept) = pointed_to_and_stored(&store);
    assert_eq!(named.len(), 600);
    assert_eq!(named, kept);
}

/// The version that the tree says it has.
fn version_of_tree(store: &Sled) -> Version {
    let stored = store.engine.tree.get(VERSION_KEY).unwrap().unwrap();
    LastVersion::read(&stored).unwrap().version
}

/// Rows of so many bytes each, at a version.
fn rows_of(count: u32, bytes: usize, version: Version) -> Rows {
    let value = Some(Bytes::from(vec![3; bytes]));
    let keys = (0..count).map(|key| Bytes::from(key.to_be_bytes().to_vec()));
    keys.map(|key| (key, (value.clone(), version))).collect()
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

#[test]
fn more_than_the_log_holds_at_once_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let mut pendings = Vec::new();
    for round in 0..40_u8 {
        let writes = (0..15_u8).map(|key| {
            let value = Bytes::from(vec![round; 64 * 1024]);
            (Bytes::from(vec![key + 1]), Some(value))
        });
        pendings.push(store.commit(Batch { writes: writes.collect(), ..Batch::default() }));
    }
    for pending in pendings {
        pending.wait().unwrap();
    }
    drop(store);
    let store = open(directory.path());
    for key in 0..15_u8 {
        let found = store.get(&[key + 1]).unwrap().value.unwrap();
        assert_eq!(found, vec![39; 64 * 1024]);
    }
}

#[test]
fn a_broken_log_is_named_and_nothing_is_changed() {
    let directory = tempfile::tempdir().unwrap();
    drop(open(directory.path()));
    std::fs::write(directory.path().join("journal-0"), [7; 100]).unwrap();
    for _ in 0..2 {
        let again = Sled::open(&SledConfig::new(directory.path()));
        assert!(matches!(again, Err(OpenError::Corrupt { .. })), "{again:?}");
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
fn a_failed_disk_stops_the_store_for_good_and_says_so() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let failure = store.failure();
    store.engine.fail("as the test wants");
    assert!(failure.wait().contains("as the test wants"));
    assert!(matches!(store.get(b"a"), Err(StoreError::Unavailable(_))));
    assert!(matches!(
        store.commit(put("a", vec![], Durability::Disk)).wait(),
        Err(StoreError::Unavailable(_))
    ));
}
