mod damage;
mod fault;
mod fill;
mod log;
mod older;
mod values;

use std::path::Path;

use super::rows::{Rows, VERSION_KEY};
use super::tree::ALL;
use super::wal::Segment;
use super::*;
use crate::blobs::BlobId;
use crate::disk::SystemDisk;
use crate::kv::{Durability, Order, Span, VALUE_BYTES_MAX, conformance};

fn open(directory: &Path) -> Sled {
    Sled::open(&SledConfig { cache_bytes: 32 * 1024 * 1024, ..SledConfig::new(directory) }).unwrap()
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

/// The settings of a store on each tree that this program has, without long values and with them.
fn on_each_tree() -> impl Iterator<Item = (String, SledConfig)> {
    TreeKind::all().iter().flat_map(|(name, tree)| {
        [("", VALUE_BYTES_MAX), ("-packed", 16)].map(|(how, record_bytes_max)| {
            let (tree, cache_bytes) = (tree.clone(), 32 * 1024 * 1024);
            let config = SledConfig { tree, cache_bytes, record_bytes_max, ..SledConfig::new("") };
            (format!("{name}{how}"), config)
        })
    })
}

#[test]
fn a_store_on_any_tree_obeys_the_laws_of_every_engine() {
    for (name, config) in on_each_tree() {
        let directory = tempfile::tempdir().unwrap();
        let mut number = 0;
        let open = |directory: PathBuf| -> Arc<dyn KeyValue> {
            Arc::new(Sled::open(&SledConfig { directory, ..config.clone() }).unwrap())
        };
        conformance::all(&mut || {
            number += 1;
            open(directory.path().join(format!("{name}-{number}")))
        });
        conformance::reopening(&mut || open(directory.path().join("kept")));
    }
}

#[test]
fn a_store_that_is_opened_on_another_tree_holds_the_same_and_has_the_files_of_one_tree() {
    let directory = tempfile::tempdir().unwrap();
    let mut last = None;
    let kinds = on_each_tree().chain(on_each_tree());
    for (round, (name, config)) in kinds.enumerate() {
        let config = SledConfig { directory: directory.path().into(), ..config };
        let store = Sled::open(&config).unwrap();
        let is_other = last.as_ref().is_some_and(|last| *last != config.tree_path());
        assert_eq!(store.rebuilt(), is_other.then_some(&RebuildReason::Absent), "{name}");
        let found = store.get(b"round").unwrap().value;
        let before = round.checked_sub(1).map(|before| Bytes::from(vec![before as u8; 100]));
        assert_eq!(found, before, "{name}");
        store.commit(put("round", vec![round as u8; 100], Durability::Disk)).wait().unwrap();
        drop(store);
        let trees = TreeKind::all().iter().filter(|(_, tree)| tree.path(directory.path()).exists());
        assert_eq!(trees.count(), 1, "{name}");
        last = Some(config.tree_path());
    }
}

/// The log of a store that is closed, as its thread would go on with it.
fn wal_after(directory: &Path, last: Version) -> Wal {
    let segments = Segment::all(&SystemDisk, directory).unwrap();
    let number = segments.last().unwrap().number + 1;
    Wal::start(Arc::new(SystemDisk), directory, Arc::default(), 1 << 23, number, last).unwrap()
}

/// Waits until the tree has all that was committed.
fn checkpoint_all(store: &Sled) {
    while !store.engine.queue.read().is_checkpointed() {
        std::thread::yield_now();
    }
}

#[test]
fn who_saw_a_deletion_is_not_refused_once_it_is_in_the_tree() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.commit(put("k", vec![1], Durability::Disk)).wait().unwrap();
    checkpoint_all(&store);
    let held_off = store.engine.inserting.read();
    let delete = Batch { writes: vec![(Bytes::from("k"), None)], ..Batch::default() };
    let version = store.commit(delete).wait().unwrap();
    let found = store.get(b"k").unwrap();
    assert_eq!(found, Found { value: None, seen: version }, "an absence rests on its deletion");
    drop(held_off);
    checkpoint_all(&store);
    assert_eq!(store.get(b"k").unwrap(), Found::default());
    let expectations = vec![(Bytes::from("k"), found.version())];
    let create = Batch { expectations, ..put("k", vec![2], Durability::Disk) };
    store.commit(create).wait().expect("nobody wrote it since");
}

/// The names of the values that rows point to, and of those that lie in the value log, but for what only the base may point to.
fn pointed_to_and_stored(store: &Sled) -> (Vec<BlobId>, Vec<BlobId>) {
    // A base that is being made lets go of values before they are deleted.
    let _held = store.hold_bases();
    let rows = store.engine.tree.range(ALL, Order::Ascending).unwrap().map(|row| row.unwrap());
    let named = rows.filter(|(key, _)| key.as_ref() != VERSION_KEY);
    let mut named: Vec<_> = named
        .filter_map(|(_, row)| match Row::read(row).unwrap() {
            Row::Pointer(_, name) => Some(name),
            Row::Inline(..) => None,
        })
        .collect();
    let mut kept = store.engine.value_log.as_ref().unwrap().names().unwrap();
    let of_base: Vec<_> = store.engine.kept_values.lock().names().collect();
    kept.retain(|name| !of_base.contains(name));
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
    value_log.append(&rows).unwrap();
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
    let page = include_str!("../../../../../../docs/running.md");
    let (path, file, reason) = ("PATH".to_owned(), "FILE".to_owned(), "REASON".to_owned());
    for refusal in [
        OpenError::Directory { path: path.clone(), reason: reason.clone() },
        OpenError::Locked { path: path.clone() },
        OpenError::Unreadable { path: path.clone(), file, reason: reason.clone() },
        OpenError::Foreign { path: path.clone() },
        OpenError::Later { path: path.clone(), format: "FORMAT".to_owned() },
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
fn a_directory_in_use_whose_lock_was_taken_away_is_refused_and_nothing_in_it_is_moved() {
    let directory = tempfile::tempdir().unwrap();
    let held = open(directory.path());
    std::fs::remove_file(directory.path().join("lock")).unwrap();
    let unfinished = directory.path().join("base-00000000000000000009.new");
    std::fs::write(&unfinished, "being made").unwrap();
    let again = Sled::open(&SledConfig::new(directory.path()));
    assert!(matches!(again, Err(OpenError::Locked { .. })), "{again:?}");
    assert!(unfinished.exists());
    held.commit(put("a", vec![1], Durability::Disk)).wait().unwrap();
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
        let mut wal = wal_after(&path, last);
        for (number, value) in [(1, None), (2, Some(Bytes::from(vec![2; 5_000])))] {
            let version = Version(last.0 + number);
            let key = if value.is_some() { "added" } else { "deleted" };
            let rows = [(Bytes::from(key), (value, version))].into_iter().collect();
            wal.append(&rows, version, 0).unwrap();
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
    let names = value_log.append(&rows).unwrap();
    let mut replaced = Vec::new();
    let mut kept = store.engine.kept_values.lock();
    store.engine.find_replaced(&rows, next, &mut replaced, &mut kept).unwrap();
    drop(kept);
    let mut cut = rows.clone();
    cut.retain(|key, _| key.as_ref() < 300_u32.to_be_bytes().as_slice());
    // More rows than one batch takes begin with the names of what they replace; what ends the memtable never came.
    store.engine.insert(&cut, names, &replaced).unwrap();
    drop(store);
    let mut wal = wal_after(directory.path(), last);
    wal.append(&rows, next, 0).unwrap();
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
