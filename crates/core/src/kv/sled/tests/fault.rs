//! Faults of the disk, of sled and of the machine, and what they may not cost.

use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::super::rows::LastVersion;
use super::super::tree::{RowBounds, TestTree, TreeRows, TreeWrite};
use super::*;
use crate::disk::simulated::{CallKind, CallOutcome, SimulatedDisk};
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

/// A step of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Write,
    Seal,
}

type Watch = dyn Fn(Step, &[TreeWrite]) -> Result<(), TreeError> + Send + Sync;

/// sled's tree, whose writes and seals do as a test says, before they are made and once half of a write is.
struct WatchedTree {
    tree: Box<dyn Tree>,
    watch: Arc<Watch>,
}

impl Tree for WatchedTree {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, TreeError> {
        self.tree.get(key)
    }

    fn range(&self, bounds: RowBounds<'_>, order: Order) -> Result<TreeRows<'_>, TreeError> {
        self.tree.range(bounds, order)
    }

    fn write(&self, rows: &[TreeWrite]) -> Result<(), TreeError> {
        let (half, rest) = rows.split_at(rows.len() / 2);
        self.tree.write(half)?;
        (self.watch)(Step::Write, rows)?;
        self.tree.write(rest)
    }

    fn seal(&self, last_version: Bytes) -> Result<(), TreeError> {
        (self.watch)(Step::Seal, &[])?;
        self.tree.seal(last_version)
    }

    fn disk_bytes(&self) -> u64 {
        self.tree.disk_bytes()
    }

    fn close(&mut self) -> bool {
        self.tree.close()
    }
}

fn open_on_tree(
    directory: &Path,
    watch: impl Fn(Step, &[TreeWrite]) -> Result<(), TreeError> + Send + Sync + 'static,
) -> Sled {
    let watch: Arc<Watch> = Arc::new(watch);
    let made =
        move |tree| -> Box<dyn Tree> { Box::new(WatchedTree { tree, watch: Arc::clone(&watch) }) };
    let tree = TreeKind::Test(TestTree(Arc::new(made)));
    let config = SledConfig { tree, cache_bytes: 32 * 1024 * 1024, ..SledConfig::new(directory) };
    Sled::open(&config).unwrap()
}

#[test]
fn half_a_batch_that_a_fault_or_a_panic_left_names_no_version_and_the_next_start_has_all_of_it() {
    for panics in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let armed = Arc::new(AtomicBool::new(false));
        let arming = Arc::clone(&armed);
        let store = open_on_tree(directory.path(), move |step, rows| {
            if step == Step::Write && rows.len() > 50 && arming.load(Ordering::SeqCst) {
                assert!(!panics, "as the test wants");
                return Err(TreeError::Failed("as the test wants".into()));
            }
            Ok(())
        });
        let last = store.commit(put("a", vec![1], Durability::Disk)).wait().unwrap();
        checkpoint_all(&store);
        armed.store(true, Ordering::SeqCst);
        let failure = store.failure();
        let keys = || (0..100_u32).map(|key| Bytes::from(key.to_be_bytes().to_vec()));
        let writes = keys().map(|key| (key, Some(Bytes::from(vec![3; 10])))).collect();
        let next = store.commit(Batch { writes, ..Batch::default() }).wait().unwrap();
        assert!(!failure.wait().is_empty());
        assert_eq!(version_of_tree(&store), last);
        let kept = keys().filter(|key| store.engine.tree.get(key).unwrap().is_some()).count();
        assert_eq!(kept, 50, "half of it is there");
        drop(store);
        let store = open(directory.path());
        assert_eq!(store.rebuilt(), Some(&RebuildReason::Unknown));
        for key in keys() {
            assert_eq!(store.get(&key).unwrap().version(), next, "{key:?}");
        }
    }
}

#[test]
fn a_tree_that_cannot_be_put_on_disk_is_not_believed_by_the_next_start() {
    let directory = tempfile::tempdir().unwrap();
    let fails = Arc::new(AtomicBool::new(false));
    let disk = tree_disk(&fails, || Err(io::Error::other("as the test wants")));
    let store = open_on(disk, directory.path()).unwrap();
    let last = store.commit(put("a", vec![1], Durability::Disk)).wait().unwrap();
    checkpoint_all(&store);
    assert_eq!(version_of_tree(&store), last);
    fails.store(true, Ordering::SeqCst);
    let failure = store.failure();
    let next = store.commit(put("a", vec![2], Durability::Disk)).wait().unwrap();
    assert!(failure.wait().contains("as the test wants"));
    assert!(!store.engine.queue.read().is_checkpointed());
    drop(store);
    let store = open(directory.path());
    assert_eq!(store.rebuilt(), Some(&RebuildReason::Unknown));
    assert_eq!(store.get(b"a").unwrap().version(), next);
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
        assert_eq!(store.get(key).unwrap().version(), next, "{key:?}");
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
    for (name, is_written_again) in [(base, false), (wal::name(1), true)] {
        let path = directory.path().join(&name);
        let of_file: Vec<_> =
            first.iter().filter(|(_, on)| *on == path).map(|(call, _)| *call).collect();
        let forgotten = of_file.iter().position(|call| *call == Call::ForgetCached).unwrap();
        let (before, after) = of_file.split_at(forgotten);
        assert_eq!(before.last(), Some(&Call::Sync), "{name}");
        assert!(after.contains(&Call::Read), "{name}");
        // What is read before that is written again and believed in nothing: a piece each, and the end of the file.
        let count = |wanted: Call| before.iter().filter(|call| **call == wanted).count();
        let read = if is_written_again { count(Call::Write) + 1 } else { 0 };
        assert_eq!(count(Call::Read), read, "{name}: {before:?}");
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
    let new = data.join("format.new");
    let marks: Vec<_> =
        (0..calls.len()).filter(|at| calls[*at] == (Call::Rename, new.clone())).collect();
    let [begun, mark] = marks[..] else { panic!("{marks:?}") };
    let tree = at(Call::Open, &data.join("db"));
    assert!(begun < tree && tree < mark);
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
fn a_first_start_that_was_cut_anywhere_is_begun_anew_whatever_it_left_of_its_tree() {
    let calls_of_a_start = {
        let (directory, calls) = (tempfile::tempdir().unwrap(), Arc::new(AtomicUsize::new(0)));
        let counted = Arc::clone(&calls);
        let disk = WatchedDisk::new(move |_, _| {
            counted.fetch_add(1, Ordering::SeqCst);
            Ok(())
        });
        drop(open_on(disk, &directory.path().join("data")).unwrap());
        calls.load(Ordering::SeqCst)
    };
    // A store that closes waits for threads of sled more than it works, so several cuts are looked at side by side.
    const SIDE_BY_SIDE: usize = 6;
    let cuts: usize = std::thread::scope(|scope| {
        let cut_from = |first| {
            move || {
                (first..calls_of_a_start).step_by(SIDE_BY_SIDE).map(cut_first_start).sum::<usize>()
            }
        };
        let looking: Vec<_> = (0..SIDE_BY_SIDE).map(|first| scope.spawn(cut_from(first))).collect();
        looking.into_iter().map(|thread| thread.join().unwrap()).sum()
    });
    assert!(cuts > 10, "{cuts} of {calls_of_a_start}");
}

/// Cuts a first start at a call, and starts again; gives the files of a tree that the cut had left.
fn cut_first_start(cut_at: usize) -> usize {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let calls = AtomicUsize::new(0);
    // From the cut on nothing reaches the disk any more.
    let disk = WatchedDisk::new(move |_, _| match calls.fetch_add(1, Ordering::SeqCst) {
        call if call < cut_at => Ok(()),
        _ => Err(io::Error::other("as the test wants")),
    });
    drop(open_on(disk, &data));
    let is_marked = std::fs::read(data.join("format")).is_ok_and(|mark| mark == b"6\n");
    if is_marked {
        return 0;
    }
    let mut left = 0;
    // The system may have written any part of the tree, which was not synced.
    for name in ["db", "conf"] {
        let path = data.join(name);
        if let Ok(bytes) = std::fs::read(&path) {
            left += 1;
            std::fs::write(&path, vec![0xA5; bytes.len().min(4096)]).unwrap();
        }
    }
    let store = open_on(WatchedDisk::new(|_, _| Ok(())), &data);
    let store = store.unwrap_or_else(|error| panic!("cut at call {cut_at}: {error}"));
    store.commit(put("a", vec![1], Durability::Disk)).wait().unwrap();
    drop(store);
    assert!(open(&data).get(b"a").unwrap().value.is_some(), "cut at call {cut_at}");
    left
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
fn a_store_that_cannot_be_closed_says_why_and_loses_nothing() {
    for wanted in [None, Some(Call::Sync), Some(Call::SyncDirectory), Some(Call::Rename)] {
        let directory = tempfile::tempdir().unwrap();
        let armed = Arc::new(AtomicBool::new(false));
        let arming = Arc::clone(&armed);
        let disk = WatchedDisk::new(move |call, _| {
            let fails = arming.load(Ordering::SeqCst) && Some(call) == wanted;
            if fails { Err(io::Error::other("no such disk")) } else { Ok(()) }
        });
        let store = open_on(disk, directory.path()).unwrap();
        store.commit(put("a", vec![1], Durability::Disk)).wait().unwrap();
        checkpoint_all(&store);
        let fault = store.closing_fault();
        assert_eq!(fault.reason(), None, "{wanted:?}: as long as it is open");
        armed.store(true, Ordering::SeqCst);
        drop(store);
        assert_eq!(fault.reason().is_some(), wanted.is_some(), "{wanted:?}: {fault:?}");
        assert_eq!(open(directory.path()).get(b"a").unwrap().value, Some(Bytes::from(vec![1])));
    }
}

#[test]
fn a_read_of_the_tree_that_fails_stops_the_store_and_the_next_start_fills_it_anew() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.commit(put("a", vec![1], Durability::Disk)).wait().unwrap();
    let failure = store.failure();
    let seen = store.engine.tree_failed(TreeError::Failed("as the test wants".into()));
    assert!(matches!(seen, StoreError::Unavailable(_)), "{seen:?}");
    assert!(failure.wait().contains("as the test wants"));
    drop(store);
    let store = open(directory.path());
    assert_eq!(store.rebuilt(), Some(&RebuildReason::Unknown));
    assert_eq!(store.get(b"a").unwrap().value, Some(Bytes::from_static(&[1])));
}

/// A disk in memory on which syncs of the log fail, so many after the first ones, once or from then on, and the syncs of it that were asked for.
fn log_fails(disk: &SimulatedDisk, at: usize, stays: bool) -> (SimulatedDisk, Arc<AtomicUsize>) {
    let syncs = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&syncs);
    let on_call = move |kind: CallKind, path: &Path| {
        let is_log =
            path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("journal-"));
        if kind != CallKind::Sync || !is_log {
            return CallOutcome::Made;
        }
        let number = counted.fetch_add(1, Ordering::SeqCst);
        let fails = number == at || (stays && number > at);
        if fails { CallOutcome::Fails(rustix::io::Errno::IO) } else { CallOutcome::Made }
    };
    (disk.watched(on_call, || 0), syncs)
}

#[test]
fn a_sync_of_the_log_that_fails_takes_nothing_that_was_acknowledged_before_it_and_not_synced() {
    // The log grows, and has several segments.
    let config = SledConfig {
        tree: TreeKind::Redb,
        cache_bytes: 4 * 1024 * 1024,
        segment_bytes: 4 * 1024,
        boot_id: Some("1".into()),
        ..SledConfig::new("/data")
    };
    let open = |disk: SimulatedDisk| Sled::open_on(Arc::new(disk), &config);
    let (mut faults, mut kept) = (0, 0);
    for stays in [false, true] {
        for at in 0.. {
            let disk = SimulatedDisk::new();
            let (failing, syncs) = log_fails(&disk, at, stays);
            let Ok(store) = open(failing) else {
                // The first start makes one.
                continue;
            };
            let key = |number: u32| Bytes::from(number.to_be_bytes().to_vec());
            let commit = |number: u32| {
                let is_synced = number % 4 == 3;
                let durability = if is_synced { Durability::Disk } else { Durability::Process };
                let writes = vec![(key(number), Some(Bytes::from(vec![number as u8; 700])))];
                store.commit(Batch { writes, durability, ..Batch::default() }).wait()
            };
            let acknowledged = (0..40).take_while(|number| commit(*number).is_ok()).count() as u32;
            let failed = store.engine.queue.read().failed.is_some();
            drop(store);
            if syncs.load(Ordering::SeqCst) <= at {
                break;
            }
            faults += 1;
            kept += u32::from(failed && !acknowledged.is_multiple_of(4));
            let store = open(disk.picture().same_uptime()).unwrap();
            for number in 0..acknowledged {
                let found = store.get(&key(number)).unwrap().value;
                assert!(found.is_some(), "{number} of {acknowledged}, sync {at} fails");
            }
        }
    }
    assert!(faults > 20 && kept > 10, "{kept} of {faults}");
}

#[test]
fn what_is_written_to_a_directory_that_was_removed_is_not_acknowledged_and_ends_the_store() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let store = open(&data);
    store.commit(put("a", vec![1], Durability::Disk)).wait().unwrap();
    let failure = store.failure();
    // One that was moved has its files under another name.
    let moved = directory.path().join("moved");
    std::fs::rename(&data, &moved).unwrap();
    store.commit(put("b", vec![1], Durability::Disk)).wait().unwrap();
    std::fs::remove_dir_all(&moved).unwrap();
    assert!(store.commit(put("c", vec![1], Durability::Disk)).wait().is_err());
    let reason = failure.wait();
    assert!(reason.contains("a file was removed while it was written"), "{reason}");
}
