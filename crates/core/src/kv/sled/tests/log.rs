//! The base and the log as the truth: what they hold is there again, whatever becomes of the tree.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};

use proptest::collection::vec;
use proptest::prelude::*;

use super::*;
use crate::disk::testing::{Call, WatchedDisk};

/// A store with small segments and bases, whose long values lie in packs.
pub(super) fn config(directory: &Path) -> SledConfig {
    SledConfig {
        cache_bytes: 32 * 1024 * 1024,
        record_bytes_max: 64,
        ..SledConfig::new(directory).with_segments_of(16 * 1024)
    }
}

pub(super) fn rebuilding(directory: &Path) -> SledConfig {
    SledConfig { rebuilds: true, ..config(directory) }
}

/// Whatever is written stays in the log, in as many files as it fills.
pub(super) fn without_bases(directory: &Path) -> SledConfig {
    SledConfig { base_bytes_min: u64::MAX, ..config(directory) }
}

pub(super) fn bases(directory: &Path) -> Vec<PathBuf> {
    base::paths(&SystemDisk, directory).unwrap().0
}

pub(super) type State = BTreeMap<Vec<u8>, Vec<u8>>;

pub(super) fn state_of(store: &Sled) -> State {
    let page = store.scan(&Span::default(), 100_000).unwrap();
    page.rows.into_iter().map(|(key, value)| (key.to_vec(), value.to_vec())).collect()
}

pub(super) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy(&path, &target);
        } else if let Err(error) = std::fs::copy(&path, &target) {
            // It was renamed or removed since the directory was listed.
            assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
        }
    }
}

/// Writes until there is a base of more than nothing, and gives what the store holds.
pub(super) fn write_until_a_base(store: &Sled, directory: &Path) -> State {
    let empty = base::name(Version::ABSENT);
    let mut number = 0_u32;
    while bases(directory).iter().all(|path| path.ends_with(&empty)) {
        number += 1;
        for (key, bytes) in [(number % 50, 40), (50 + number % 20, 900)] {
            let batch = Batch {
                writes: vec![(
                    Bytes::from(key.to_be_bytes().to_vec()),
                    (!number.is_multiple_of(7)).then(|| Bytes::from(vec![number as u8; bytes])),
                )],
                ..Batch::default()
            };
            store.commit(batch).wait().unwrap();
        }
    }
    state_of(store)
}

#[test]
fn a_tree_of_which_nothing_is_left_is_filled_from_base_and_log() {
    let directory = tempfile::tempdir().unwrap();
    let store = Sled::open(&config(directory.path())).unwrap();
    let mut state = write_until_a_base(&store, directory.path());
    store.commit(put("last", vec![1; 2], Durability::Disk)).wait().unwrap();
    state.insert(b"last".to_vec(), vec![1; 2]);
    drop(store);
    let tree = directory.path().join("db");
    let damages: [&dyn Fn(); 3] = [
        &|| std::fs::remove_file(&tree).unwrap(),
        &|| {
            let length = std::fs::metadata(&tree).unwrap().len();
            std::fs::write(&tree, vec![0xAA; length as usize]).unwrap();
        },
        &|| std::fs::remove_file(directory.path().join("index")).unwrap(),
    ];
    for damage in damages {
        damage();
        let store = Sled::open(&config(directory.path())).unwrap();
        assert!(store.rebuilt().is_some());
        assert_eq!(state_of(&store), state);
        let (named, kept) = pointed_to_and_stored(&store);
        assert_eq!(named, kept);
        drop(store);
        let store = Sled::open(&config(directory.path())).unwrap();
        assert_eq!((store.rebuilt(), state_of(&store)), (None, state.clone()));
    }
}

#[test]
fn a_log_that_lost_a_file_or_a_bit_is_mended_from_the_tree_that_has_all_rows() {
    let flip = |path: &Path| {
        let mut bytes = std::fs::read(path).unwrap();
        let at = bytes.len() / 3;
        bytes[at] ^= 8;
        std::fs::write(path, bytes).unwrap();
    };
    let damages: [&dyn Fn(&Path); 2] = [&|path| std::fs::remove_file(path).unwrap(), &flip];
    for damage in damages {
        let directory = tempfile::tempdir().unwrap();
        let store = Sled::open(&config(directory.path())).unwrap();
        write_until_a_base(&store, directory.path());
        drop(store);
        let store = Sled::open(&without_bases(directory.path())).unwrap();
        for number in 0..30_u8 {
            store.commit(put("more", vec![number; 900], Durability::Disk)).wait().unwrap();
        }
        let state = state_of(&store);
        drop(store);
        let segments = Segment::paths(&SystemDisk, directory.path()).unwrap();
        let [.., broken, _] = segments.as_slice() else { panic!("{segments:?}") };
        damage(broken);
        let store = Sled::open(&config(directory.path())).unwrap();
        assert_eq!((store.log_was_broken(), store.rebuilt()), (true, None));
        assert_eq!(state_of(&store), state);
        drop(store);
        assert_eq!(bases(directory.path()).len(), 1);
        // Without the tree, too.
        let store = Sled::open(&rebuilding(directory.path())).unwrap();
        assert_eq!((store.log_was_broken(), state_of(&store)), (false, state));
    }
}

/// A store whose rows are in its log alone, as a power cut leaves it: the tree is gone, or not to be believed.
pub(super) fn cut_store(directory: &Path) -> State {
    let store = Sled::open(&without_bases(directory)).unwrap();
    for number in 0..40_u8 {
        let row = (Bytes::from(format!("row/{number}")), Some(Bytes::from(vec![number; 900])));
        store.commit(Batch { writes: vec![row], ..Batch::default() }).wait().unwrap();
    }
    let state = state_of(&store);
    drop(store);
    damage::lose_tree(directory);
    state
}

#[test]
fn a_log_without_its_newest_file_is_refused_and_never_taken_for_a_shorter_one() {
    let directory = tempfile::tempdir().unwrap();
    let state = cut_store(directory.path());
    let segments = Segment::paths(&SystemDisk, directory.path()).unwrap();
    let newest = segments.last().unwrap();
    let bytes = std::fs::read(newest).unwrap();
    std::fs::remove_file(newest).unwrap();
    let refused = Sled::open(&config(directory.path())).unwrap_err().to_string();
    assert!(refused.contains("the journal has lost its end"), "{refused}");
    std::fs::write(newest, bytes).unwrap();
    assert_eq!(state_of(&Sled::open(&config(directory.path())).unwrap()), state);
}

#[test]
fn a_mark_that_is_gone_or_empty_does_not_have_the_log_taken_for_what_a_first_start_left() {
    let damages: [&dyn Fn(&Path); 2] =
        [&|mark| std::fs::remove_file(mark).unwrap(), &|mark| std::fs::write(mark, "").unwrap()];
    for damage in damages {
        let directory = tempfile::tempdir().unwrap();
        let state = cut_store(directory.path());
        let (mark, of_store) = (directory.path().join("format"), config(directory.path()));
        let before = std::fs::read(&mark).unwrap();
        damage(&mark);
        assert_eq!(state_of(&Sled::open(&of_store).unwrap()), state);
        assert_eq!(std::fs::read(&mark).unwrap(), before);
    }
}

#[test]
fn what_another_run_of_the_machine_left_open_is_filled_anew_and_what_it_closed_is_not() {
    let directory = tempfile::tempdir().unwrap();
    // No base comes in while the files are copied.
    let of_run =
        |run: &str| SledConfig { boot_id: Some(run.to_owned()), ..without_bases(directory.path()) };
    let store = Sled::open(&of_run("first")).unwrap();
    store.commit(put("a", vec![1], Durability::Disk)).wait().unwrap();
    drop(store);
    let store = Sled::open(&of_run("second")).unwrap();
    assert_eq!(store.rebuilt(), None);
    let copied = tempfile::tempdir().unwrap();
    copy(directory.path(), copied.path());
    let again = Sled::open(&SledConfig { directory: copied.path().into(), ..of_run("second") });
    assert_eq!(
        again.unwrap().rebuilt(),
        Some(&RebuildReason::Restarted),
        "a copy of a store that runs"
    );
    let index = std::fs::read(directory.path().join("index")).unwrap();
    drop(store);
    // As a kill leaves it.
    std::fs::write(directory.path().join("index"), &index).unwrap();
    assert_eq!(Sled::open(&of_run("second")).unwrap().rebuilt(), None);
    std::fs::write(directory.path().join("index"), &index).unwrap();
    let store = Sled::open(&of_run("third")).unwrap();
    assert_eq!(store.rebuilt(), Some(&RebuildReason::Restarted));
    assert_eq!(store.get(b"a").unwrap().value, Some(Bytes::from_static(&[1])));
}

#[test]
fn a_tree_at_a_version_that_the_log_does_not_know_is_filled_anew() {
    let directory = tempfile::tempdir().unwrap();
    let store = Sled::open(&config(directory.path())).unwrap();
    let last = store.commit(put("a", vec![1], Durability::Disk)).wait().unwrap();
    drop(store);
    let mut wal = wal_after(directory.path(), last);
    wal.append(&Rows::new(), Version(last.0 + 5), 0).unwrap();
    drop(wal);
    let store = Sled::open(&config(directory.path())).unwrap();
    let within = rows::LastVersion::write(Version(last.0 + 2), &[]);
    store.engine.tree.write(&[(Bytes::from_static(VERSION_KEY), Some(within.into()))]).unwrap();
    drop(store);
    // Closed as it is, and no frame ends there.
    std::fs::write(directory.path().join("index"), format!("closed {}\n", last.0 + 2)).unwrap();
    let store = Sled::open(&config(directory.path())).unwrap();
    assert_eq!(store.rebuilt(), Some(&RebuildReason::Version));
    assert_eq!(store.get(b"a").unwrap().value, Some(Bytes::from_static(&[1])));
}

#[test]
fn a_log_of_which_nothing_is_left_or_that_has_no_base_is_refused_and_nothing_is_changed() {
    let directory = tempfile::tempdir().unwrap();
    let store = Sled::open(&config(directory.path())).unwrap();
    store.commit(put("a", vec![1], Durability::Disk)).wait().unwrap();
    drop(store);
    let refused = |words: &str| {
        for _ in 0..2 {
            let again = Sled::open(&config(directory.path()));
            assert!(
                matches!(&again, Err(OpenError::Corrupt { reason, .. }) if reason.contains(words)),
                "{words}: {again:?}"
            );
        }
    };
    let segment = directory.path().join(wal::name(1));
    let whole = std::fs::read(&segment).unwrap();
    std::fs::write(&segment, [7; 100]).unwrap();
    refused("does not begin as one");
    std::fs::remove_file(&segment).unwrap();
    refused("journal is gone");
    std::fs::write(&segment, whole).unwrap();
    let base = bases(directory.path()).remove(0);
    let bytes = std::fs::read(&base).unwrap();
    std::fs::write(&base, &bytes[1..]).unwrap();
    refused("is not whole");
    std::fs::remove_file(&base).unwrap();
    refused("base is gone");
    std::fs::write(&base, bytes).unwrap();
    let store = Sled::open(&config(directory.path())).unwrap();
    assert_eq!(store.get(b"a").unwrap().value, Some(Bytes::from_static(&[1])));
}

#[test]
fn the_tree_never_has_what_the_log_has_not_on_disk() {
    let directory = tempfile::tempdir().unwrap();
    let engine: Arc<OnceLock<std::sync::Weak<Engine>>> = Arc::default();
    let seen = Arc::clone(&engine);
    let ahead = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&ahead);
    let disk = WatchedDisk::new(move |call, path| {
        if call == Call::Sync
            && path.ends_with("db")
            && let Some(engine) = seen.get().and_then(std::sync::Weak::upgrade)
            && let Ok(Some(stored)) = engine.tree.get(VERSION_KEY)
        {
            let version = rows::LastVersion::read(&stored).unwrap().version;
            let synced = engine.queue.read().log_synced;
            counted.fetch_add(u64::from(version > synced), Ordering::SeqCst);
        }
        Ok(())
    });
    let store = Sled::open_on(Arc::new(disk), &config(directory.path())).unwrap();
    engine.set(Arc::downgrade(&store.engine)).unwrap();
    let mut last = Version::ABSENT;
    for round in 0..3_000_u32 {
        let batch = put("a", round.to_be_bytes().repeat(20), Durability::Process);
        last = store.commit(batch).wait().unwrap();
    }
    if let Some(durable) = store.durable(last) {
        durable.wait().unwrap();
    }
    checkpoint_all(&store);
    assert_eq!(ahead.load(Ordering::SeqCst), 0);
}

/// A batch of a random run: keys, and the lengths of their values; none deletes.
type RandomBatch = (Vec<(u8, Option<u16>)>, bool);

fn batch_of((writes, is_process): &RandomBatch, number: usize) -> Batch {
    let rows: BTreeMap<u8, Option<u16>> = writes.iter().copied().collect();
    let value = |bytes: u16| Bytes::from(vec![number as u8; usize::from(bytes)]);
    Batch {
        writes: (rows.into_iter())
            .map(|(key, bytes)| (Bytes::from(vec![key]), bytes.map(value)))
            .collect(),
        durability: if *is_process { Durability::Process } else { Durability::Disk },
        ..Batch::default()
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3))]

    /// The directory is copied at every few of the calls that put something on disk, which is what a kill leaves there.
    #[test]
    fn every_kill_leaves_a_state_that_was_and_nothing_that_was_acknowledged_is_missing(
        batches in vec(
            (vec((0..40_u8, prop_oneof![1 => Just(None), 6 => (0..3_000_u16).prop_map(Some)]), 1..8), any::<bool>()),
            60..140,
        ),
        every in 7..23_u64,
    ) {
        let directory = tempfile::tempdir().unwrap();
        let copies = tempfile::tempdir().unwrap();
        let acknowledged = Arc::new(AtomicU64::new(0));
        let kills = Arc::new(Mutex::new(Vec::<(u64, PathBuf)>::new()));
        let disk = {
            let (acknowledged, kills) = (Arc::clone(&acknowledged), Arc::clone(&kills));
            let (from, to) = (directory.path().to_owned(), copies.path().to_owned());
            let calls = AtomicU64::new(0);
            let under_way = Arc::new(RwLock::new(()));
            WatchedDisk::with_lock(Arc::clone(&under_way), move |call, _| {
                let is_step = matches!(call, Call::Sync | Call::SyncDirectory | Call::Rename | Call::Remove);
                if is_step && calls.fetch_add(1, Ordering::SeqCst).is_multiple_of(every) && kills.lock().len() < 8 {
                    let mut kills = kills.lock();
                    let _still = under_way.write();
                    let at_least = acknowledged.load(Ordering::SeqCst);
                    let to = to.join(kills.len().to_string());
                    copy(&from, &to);
                    kills.push((at_least, to));
                }
                Ok(())
            })
        };
        let store = Sled::open_on(Arc::new(disk), &config(directory.path())).unwrap();
        let mut states = vec![State::new()];
        for (number, batch) in batches.iter().enumerate() {
            let batch = batch_of(batch, number);
            let mut state = states.last().unwrap().clone();
            for (key, value) in &batch.writes {
                match value {
                    Some(value) => state.insert(key.to_vec(), value.to_vec()),
                    None => state.remove(key.as_ref()),
                };
            }
            states.push(state);
            store.commit(batch).wait().unwrap();
            acknowledged.store(number as u64 + 1, Ordering::SeqCst);
        }
        drop(store);
        kills.lock().push((batches.len() as u64, directory.path().to_owned()));
        for (number, (at_least, killed)) in kills.lock().iter().enumerate() {
            if !killed.join("format").exists() && *at_least == 0 {
                continue;
            }
            for rebuilds in [number % 2 == 0, true] {
                let config = if rebuilds { rebuilding(killed) } else { config(killed) };
                let store = Sled::open(&config).unwrap();
                let found = state_of(&store);
                let since = *at_least as usize;
                prop_assert!(states[since..].contains(&found), "kill {number} after {at_least}");
                let (named, kept) = pointed_to_and_stored(&store);
                if rebuilds {
                    prop_assert_eq!(named, kept);
                }
            }
        }
    }
}

#[test]
fn a_check_names_every_row_in_which_index_and_log_differ() {
    let directory = tempfile::tempdir().unwrap();
    let store = Sled::open(&config(directory.path())).unwrap();
    for (key, bytes) in [("changed", 5), ("gone", 5), ("kept", 5), ("long", 500)] {
        store.commit(put(key, vec![1; bytes], Durability::Disk)).wait().unwrap();
    }
    checkpoint_all(&store);
    assert_eq!(store.verify(&mut |_| {}).unwrap(), VerifiedRows { rows: 4, faults: 0 });
    let tree = &store.engine.tree;
    let row = |value| Some(Row::write(Version(1), value, None).into());
    let writes = [("changed", row(b"other".as_slice())), ("never", row(b"was")), ("gone", None)];
    tree.write(&writes.map(|(key, stored)| (Bytes::from(key), stored))).unwrap();
    let mut told = Vec::new();
    let verified = store.verify(&mut |fault| told.push(fault)).unwrap();
    assert_eq!(verified, VerifiedRows { rows: 4, faults: 3 });
    assert_eq!(
        told,
        [
            "changed: the index has another value",
            "gone: the index has no row",
            "never: the index has a row that the log does not",
        ]
    );
    drop(store);
    let store = Sled::open(&rebuilding(directory.path())).unwrap();
    assert_eq!(store.verify(&mut |_| {}).unwrap().faults, 0);
}

#[test]
fn a_flipped_bit_in_a_base_is_named_by_a_check_and_by_a_start_that_needs_it() {
    let directory = tempfile::tempdir().unwrap();
    let store = Sled::open(&config(directory.path())).unwrap();
    write_until_a_base(&store, directory.path());
    drop(store);
    let base = bases(directory.path()).pop().unwrap();
    let mut bytes = std::fs::read(&base).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 0x10;
    std::fs::write(&base, &bytes).unwrap();
    let name = base.file_name().unwrap().to_string_lossy().into_owned();
    // The tree was closed, and is believed: the service runs, and a check finds it.
    let store = Sled::open(&config(directory.path())).unwrap();
    let found = store.verify(&mut |_| {}).unwrap_err();
    assert!(matches!(&found, StoreError::Corrupt(why) if why.contains(&name)), "{found:?}");
    drop(store);
    let refused = Sled::open(&rebuilding(directory.path())).unwrap_err();
    assert!(refused.to_string().contains(&name), "{refused}");
    assert!(std::fs::read(&base).unwrap() == bytes, "it is left to who looks into it");
}
