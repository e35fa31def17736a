use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::*;
use crate::blobs::conformance;
use crate::disk::SystemDisk;
use crate::disk::testing::{Call, WatchedDisk};

fn open(path: &Path) -> Directory {
    Directory::open(path, Arc::new(SystemDisk), SeededIds::from_number(1)).unwrap()
}

#[test]
fn the_directory_obeys_the_laws_of_every_blob_store() {
    let directory = tempfile::tempdir().unwrap();
    let mut number = 0;
    conformance::all(&mut || {
        number += 1;
        Arc::new(open(&directory.path().join(number.to_string())))
    });
}

#[test]
fn finished_blobs_are_there_after_opening_again() {
    let directory = tempfile::tempdir().unwrap();
    conformance::reopening(&mut || Arc::new(open(directory.path())));
}

#[test]
fn the_latest_blobs_are_told_beside_a_pack_that_is_compacted_away_meanwhile() {
    let directory = tempfile::tempdir().unwrap();
    let open = |disk| {
        let ids = SeededIds::from_number(1);
        Directory::open_with_packs_of(directory.path(), disk, ids, 64).unwrap()
    };
    let store = open(Arc::new(SystemDisk));
    let put = |moment| {
        let body = Bytes::from(vec![7; 100]);
        store.put_small(Timestamp::from_millis(moment), body).wait().unwrap()
    };
    let (_, last) = (put(1), put(2));
    drop(store);
    let first = directory.path().join("packs/00000001.pack");
    assert!(directory.path().join("packs/00000002.pack").exists());
    let is_compacted = Arc::new(AtomicBool::new(false));
    let compacted = Arc::clone(&is_compacted);
    let disk = WatchedDisk::new(move |call, path| {
        if call == Call::Open && path == first && compacted.load(Ordering::SeqCst) {
            std::fs::remove_file(path)?;
        }
        Ok(())
    });
    let store = open(Arc::new(disk));
    is_compacted.store(true, Ordering::SeqCst);
    assert_eq!(store.latest(usize::MAX), Ok(vec![last.id]));
}

#[test]
fn a_flipped_byte_in_a_pack_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let stat = store.put_small(Timestamp::EPOCH, Bytes::from_static(b"some bytes")).wait().unwrap();
    drop(store);
    let path = directory.path().join("packs/00000001.pack");
    let mut bytes = std::fs::read(&path).unwrap();
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(&path, bytes).unwrap();
    assert!(matches!(
        open(directory.path()).read_small(stat.id, stat.bytes),
        Err(BlobError::Corrupt(_))
    ));
}

#[test]
fn a_torn_pack_keeps_the_blobs_before_the_tear() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let kept = store.put_small(Timestamp::EPOCH, Bytes::from_static(b"kept")).wait().unwrap();
    store.put_small(Timestamp::from_millis(1), Bytes::from_static(b"torn")).wait().unwrap();
    drop(store);
    let path = directory.path().join("packs/00000001.pack");
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 30]).unwrap();
    let store = open(directory.path());
    assert_eq!(store.list(None, 9).unwrap(), [kept]);
    let new =
        store.put_small(Timestamp::from_millis(2), Bytes::from_static(b"new")).wait().unwrap();
    assert_eq!(store.list(None, 9).unwrap(), [kept, new]);
}

/// The remains of a killed store with these bodies: its packs as they are while it is open.
fn killed(bodies: &[&'static [u8]]) -> (tempfile::TempDir, Vec<BlobStat>) {
    let (directory, copy) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let store = open(directory.path());
    let put = |body: &&'static [u8]| {
        let put = store.put_small(Timestamp::EPOCH, Bytes::from_static(body));
        put.wait().unwrap()
    };
    let stats = bodies.iter().map(put).collect();
    std::fs::create_dir(copy.path().join("packs")).unwrap();
    for pack in std::fs::read_dir(directory.path().join("packs")).unwrap() {
        let pack = pack.unwrap();
        let to = copy.path().join("packs").join(pack.file_name());
        std::fs::copy(pack.path(), to).unwrap();
    }
    (copy, stats)
}

#[test]
fn room_that_a_kill_left_in_a_pack_holds_no_blobs_and_is_used_by_the_next_ones() {
    let (directory, kept) = killed(&[b"first", b"second"]);
    let path = directory.path().join("packs/00000001.pack");
    let length = || std::fs::metadata(&path).unwrap().len();
    assert!(length() > 1024 * 1024, "bytes were preallocated");
    let store = open(directory.path());
    let next =
        store.put_small(Timestamp::from_millis(1), Bytes::from_static(b"next")).wait().unwrap();
    let all = [kept, vec![next]].concat();
    let names = |store: &Directory| {
        let mut all = store.list(None, 9).unwrap();
        all.sort_by_key(|stat| stat.bytes);
        all
    };
    let mut expected = all.clone();
    expected.sort_by_key(|stat| stat.bytes);
    assert_eq!(names(&store), expected);
    drop(store);
    let records: u64 = all.iter().map(|stat| pack::HEAD_BYTES as u64 + stat.bytes).sum();
    assert_eq!(length(), records, "a pack that is closed ends with its last record");
    let store = open(directory.path());
    assert_eq!(names(&store), expected);
    for (stat, body) in all.iter().zip([&b"first"[..], b"second", b"next"]) {
        assert_eq!(store.read_small(stat.id, stat.bytes).unwrap(), body);
    }
}

#[test]
fn damage_within_the_last_pack_is_not_taken_for_its_end() {
    let (directory, stats) = killed(&[b"first", b"second", b"third"]);
    let path = directory.path().join("packs/00000001.pack");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[pack::HEAD_BYTES + 5] ^= 1;
    std::fs::write(&path, bytes).unwrap();
    let store = open(directory.path());
    let read = |stat: &BlobStat| store.read_small(stat.id, stat.bytes);
    assert_eq!(read(&stats[0]).unwrap(), &b"first"[..]);
    assert!(matches!(read(&stats[1]), Err(BlobError::Corrupt(_))));
    assert_eq!(read(&stats[2]).unwrap(), &b"third"[..]);
}

#[test]
fn a_start_takes_nothing_from_a_last_pack_that_is_damaged_or_another_one_and_begins_the_next() {
    let damages: [fn(&mut [u8]); 4] = [
        // The head of the last record, and of the first.
        |bytes| bytes[2 * (pack::HEAD_BYTES + 5) + 9] ^= 1,
        |bytes| bytes[3] ^= 1,
        // The pack of another number, and none at all.
        |bytes| bytes.rotate_left(1),
        |bytes| bytes.fill(0xA5),
    ];
    for (number, damage) in damages.iter().enumerate() {
        let (directory, _) = killed(&[b"first", b"again", b"third"]);
        let path = directory.path().join("packs/00000001.pack");
        let mut bytes = std::fs::read(&path).unwrap();
        damage(&mut bytes);
        std::fs::write(&path, &bytes).unwrap();
        let store = open(directory.path());
        let next = store.put_small(Timestamp::EPOCH, Bytes::from_static(b"next")).wait().unwrap();
        assert_eq!(store.read_small(next.id, 4).unwrap(), &b"next"[..]);
        drop(store);
        assert!(std::fs::read(&path).unwrap() == bytes, "damage {number}");
    }
}

#[test]
fn packs_that_are_full_are_records_to_their_end() {
    let directory = tempfile::tempdir().unwrap();
    let store = open_with_small_packs(directory.path(), Arc::new(SystemDisk)).unwrap();
    for _ in 0..8 {
        let body = Bytes::from(vec![7; 3_000]);
        store.put_small(Timestamp::EPOCH, body).wait().unwrap();
    }
    let packs = &store.0.packs;
    let (last, full) =
        packs.numbers().unwrap().split_last().map(|(last, full)| (*last, full.to_vec())).unwrap();
    assert_eq!(full.len(), 2);
    for pack in full {
        assert!(packs.walk(pack, &mut |_, _| {}).unwrap(), "pack {pack}");
    }
    assert!(!packs.walk(last, &mut |_, _| {}).unwrap(), "the last one has preallocated bytes");
}

/// The calls to a disk that fail: the n-th, and with `stays` all after it, as if the process had been killed there.
#[derive(Clone)]
struct Failing {
    calls: Arc<AtomicUsize>,
    fails_at: usize,
    stays: bool,
    kind: io::ErrorKind,
}

struct FailingFile {
    file: Arc<dyn DiskFile>,
    faults: Failing,
}

impl Failing {
    fn at(fails_at: usize, stays: bool, kind: io::ErrorKind) -> Self {
        Self { calls: Arc::new(AtomicUsize::new(0)), fails_at, stays, kind }
    }

    fn check(&self) -> io::Result<()> {
        let call = self.calls.fetch_add(1, Ordering::SeqCst);
        if call == self.fails_at || self.stays && call > self.fails_at {
            Err(self.kind.into())
        } else {
            Ok(())
        }
    }

    fn has_failed(&self) -> bool {
        self.calls.load(Ordering::SeqCst) > self.fails_at
    }

    fn file(&self, file: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        Arc::new(FailingFile { file, faults: self.clone() })
    }
}

impl Disk for Failing {
    fn make_directory(&self, path: &Path) -> io::Result<()> {
        std::fs::create_dir_all(path)
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        std::fs::create_dir(path)
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.check()?;
        Ok(self.file(SystemDisk.create(path)?))
    }

    fn create_large(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.check()?;
        Ok(self.file(SystemDisk.create_large(path)?))
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.check()?;
        Ok(self.file(SystemDisk.open(path)?))
    }

    fn open_to_write(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.check()?;
        Ok(self.file(SystemDisk.open_to_write(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.check()?;
        SystemDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        if self.stays {
            self.check()?;
        }
        SystemDisk.remove(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        // What ends here is a process, and what it wrote stays: the sync itself would only take time.
        let _ = path;
        self.check()
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        SystemDisk.list(path)
    }
}

impl DiskFile for FailingFile {
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        self.faults.check()?;
        self.file.read_at(into, at)
    }

    fn write_all_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        if let Err(error) = self.faults.check() {
            // A full disk takes half of what it is given.
            self.file.write_all_at(&bytes[..bytes.len() / 2], at)?;
            return Err(error);
        }
        self.file.write_all_at(bytes, at)
    }

    fn sync(&self) -> io::Result<()> {
        self.faults.check()
    }

    fn length(&self) -> io::Result<u64> {
        self.file.length()
    }

    fn truncate(&self, bytes: u64) -> io::Result<()> {
        self.file.truncate(bytes)
    }

    fn forget_cached(&self) -> io::Result<()> {
        self.file.forget_cached()
    }
}

/// A store on a disk whose packs refuse calls of one kind while `armed` is set.
fn open_refusing(
    path: &Path,
    armed: &Arc<AtomicBool>,
    kind: Call,
    with: io::ErrorKind,
) -> Directory {
    let armed = Arc::clone(armed);
    let disk = WatchedDisk::new(move |call, path| {
        let is_pack = path.extension().is_some_and(|extension| extension == "pack");
        if is_pack && call == kind && armed.load(Ordering::SeqCst) {
            Err(with.into())
        } else {
            Ok(())
        }
    });
    Directory::open(path, Arc::new(disk), SeededIds::from_number(1)).unwrap()
}

#[test]
fn a_disk_that_stays_full_is_left_no_pack_for_each_body_that_it_refuses() {
    let directory = tempfile::tempdir().unwrap();
    let is_full = Arc::new(AtomicBool::new(false));
    let store = open_refusing(directory.path(), &is_full, Call::Write, io::ErrorKind::StorageFull);
    let put =
        |body: &'static [u8]| store.put_small(Timestamp::EPOCH, Bytes::from_static(body)).wait();
    let first = put(b"first").unwrap();
    is_full.store(true, Ordering::SeqCst);
    for _ in 0..5 {
        assert!(matches!(put(b"refused"), Err(BlobError::Full)));
    }
    assert_eq!(store.0.packs.numbers().unwrap(), [1]);
    is_full.store(false, Ordering::SeqCst);
    let second = put(b"second").unwrap();
    drop(store);
    let store = open(directory.path());
    assert_eq!(store.read_small(first.id, first.bytes).unwrap(), &b"first"[..]);
    assert_eq!(store.read_small(second.id, second.bytes).unwrap(), &b"second"[..]);
    assert_eq!(store.0.packs.numbers().unwrap(), [1, 2]);
}

#[test]
fn a_sync_of_bodies_that_fails_refuses_them_and_no_pack_of_it_is_written_on() {
    let directory = tempfile::tempdir().unwrap();
    let fails = Arc::new(AtomicBool::new(false));
    let store = open_refusing(directory.path(), &fails, Call::Sync, io::ErrorKind::Other);
    let put =
        |body: &'static [u8]| store.put_small(Timestamp::EPOCH, Bytes::from_static(body)).wait();
    let first = put(b"first").unwrap();
    fails.store(true, Ordering::SeqCst);
    assert!(matches!(put(b"refused"), Err(BlobError::Unavailable(_))));
    fails.store(false, Ordering::SeqCst);
    let next = put(b"next").unwrap();
    let pack_of = |stat: BlobStat| match Place::of(stat.id) {
        Place::Pack { pack, .. } => Some(pack),
        Place::File => None,
    };
    assert_eq!((pack_of(first), pack_of(next)), (Some(1), Some(2)));
    let mut expected = vec![first, next];
    expected.sort_by_key(|stat| stat.id);
    assert_eq!(store.list(None, 9).unwrap(), expected);
}

#[test]
fn whichever_call_to_the_disk_fails_the_error_is_clean_and_nothing_is_left() {
    for kind in [io::ErrorKind::StorageFull, io::ErrorKind::Other] {
        // The last one is long enough to be written while more of it is gathered.
        for (pieces, bytes) in [(1, 10), (1, 400_000), (3, 900_000)] {
            for fails_at in 0.. {
                let directory = tempfile::tempdir().unwrap();
                let disk = Failing::at(fails_at, false, kind);
                let faults = disk.clone();
                let store =
                    Directory::open(directory.path(), Arc::new(disk), SeededIds::from_number(2))
                        .unwrap();
                let mut writer = store.create(Timestamp::EPOCH, None);
                let piece = Bytes::from(vec![1; bytes]);
                let written = (0..pieces).try_for_each(|_| writer.write(piece.clone()).wait());
                let outcome = written.and_then(|()| writer.finish().wait());
                let is_failure = faults.has_failed();
                match outcome {
                    Ok(_) => {
                        assert!(!is_failure, "call {fails_at} failed and nobody was told");
                        break;
                    }
                    Err(BlobError::Full) => assert_eq!(kind, io::ErrorKind::StorageFull),
                    Err(error) => assert!(matches!(error, BlobError::Unavailable(_)), "{error}"),
                }
                // The next blob is whole, and the failed one is nowhere.
                let next = store
                    .put_small(Timestamp::from_millis(1), Bytes::from_static(b"next"))
                    .wait()
                    .unwrap();
                drop(store);
                assert_eq!(
                    open(directory.path()).list(None, 9).unwrap(),
                    [next],
                    "{kind} at call {fails_at}"
                );
            }
        }
    }
}

#[test]
fn many_large_bodies_that_come_at_once_in_odd_pieces_are_each_whole() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let mut writers: Vec<_> = (0..12).map(|_| store.create(Timestamp::EPOCH, None)).collect();
    let piece = |writer: usize, number: usize| {
        let bytes = (0..301_003_usize).map(|place| (place * (writer + 1) + number) as u8);
        Bytes::from(bytes.collect::<Vec<_>>())
    };
    for number in 0..7 {
        for (writer, blob) in writers.iter_mut().enumerate() {
            blob.write(piece(writer, number)).wait().unwrap();
        }
    }
    for (writer, blob) in writers.into_iter().enumerate() {
        let stat = blob.finish().wait().unwrap();
        let whole = store.read_small(stat.id, stat.bytes).unwrap();
        let expected: Vec<Bytes> = (0..7).map(|number| piece(writer, number)).collect();
        assert!(whole == expected.concat(), "body {writer}");
    }
}

#[test]
fn a_body_whose_write_failed_is_never_finished() {
    let mut failed = 0;
    for fails_at in 0.. {
        let directory = tempfile::tempdir().unwrap();
        let disk = Failing::at(fails_at, false, io::ErrorKind::Other);
        let faults = disk.clone();
        let Ok(store) =
            Directory::open(directory.path(), Arc::new(disk), SeededIds::from_number(5))
        else {
            continue;
        };
        let mut writer = store.create(Timestamp::EPOCH, None);
        for _ in 0..5 {
            // Whoever does not look at the outcome must not get a body with a gap.
            let _ = writer.write(Bytes::from(vec![1; 600_000])).wait();
        }
        let is_finished = writer.finish().wait().is_ok();
        if !faults.has_failed() {
            assert!(is_finished && failed > 5, "{failed} faults on the way");
            break;
        }
        failed += 1;
        assert!(!is_finished, "call {fails_at} failed");
    }
}

/// Packs of a few blobs each, so that a test fills many.
const SMALL_PACKS: u64 = 8 * 1024;

fn open_with_small_packs(path: &Path, disk: Arc<dyn Disk>) -> Result<Directory, BlobError> {
    Directory::open_with_packs_of(path, disk, SeededIds::from_number(3), SMALL_PACKS)
}

/// Forty blobs, of which all but each fifth are then deleted as far as the disk lets them be: those that
/// stay, and those that are certainly gone.
fn fill_and_delete(store: &Directory) -> (Vec<(BlobStat, Bytes)>, Vec<BlobId>) {
    let (mut kept, mut gone) = (Vec::new(), Vec::new());
    for number in 0..40_i64 {
        let body = Bytes::from(vec![u8::try_from(number).unwrap(); 1_000]);
        let put = store.put_small(Timestamp::from_millis(number), body.clone());
        if let Ok(stat) = put.wait() {
            kept.push((stat, body));
        }
    }
    let mut number = 0;
    kept.retain(|(stat, _)| {
        number += 1;
        if number % 5 == 0 {
            return true;
        }
        if store.delete(stat.id).wait().is_ok() {
            gone.push(stat.id);
        }
        false
    });
    (kept, gone)
}

fn assert_holds(store: &Directory, kept: &[(BlobStat, Bytes)], gone: &[BlobId], when: &str) {
    for (stat, body) in kept {
        assert_eq!(store.read_small(stat.id, stat.bytes).as_ref(), Ok(body), "{when}");
    }
    for id in gone {
        assert_eq!(store.read_small(*id, 1_000), Err(BlobError::Absent), "{when}");
    }
    let listed = store.list(None, 1_000).unwrap();
    assert!(kept.iter().all(|(stat, _)| listed.contains(stat)), "what lives is listed, {when}");
    assert!(listed.iter().all(|stat| !gone.contains(&stat.id)), "what is deleted is not, {when}");
}

#[test]
fn compaction_gives_the_space_back_and_every_name_stays_valid() {
    let directory = tempfile::tempdir().unwrap();
    let store = open_with_small_packs(directory.path(), Arc::new(SystemDisk)).unwrap();
    let (kept, gone) = fill_and_delete(&store);
    store.compact().unwrap();
    let stats = store.stats().unwrap();
    // The thread may have come first and left almost half of a pack dead; and nothing goes out of the pack that is written to.
    let packs = &store.0.packs;
    assert!(packs.tombstones.packs().into_iter().all(|pack| !packs.deserves_compaction(pack)));
    let bound = 2 * 9_000 + SMALL_PACKS;
    assert!(stats.pack_bytes < bound, "40 KB were written, less than 9 KB live: {stats:?}");
    assert_holds(&store, &kept, &gone, "after compaction");
    // The rest goes too, in packs that were compacted before.
    let (rest, last) = kept.split_at(kept.len() - 1);
    for (stat, _) in rest {
        store.delete(stat.id).wait().unwrap();
    }
    store.compact().unwrap();
    let gone: Vec<_> = gone.into_iter().chain(rest.iter().map(|(stat, _)| stat.id)).collect();
    assert_holds(&store, last, &gone, "after compaction of compacted packs");
    drop(store);
    let store = open_with_small_packs(directory.path(), Arc::new(SystemDisk)).unwrap();
    assert_holds(&store, last, &gone, "after opening again");
    let new =
        store.put_small(Timestamp::from_millis(99), Bytes::from_static(b"new")).wait().unwrap();
    assert_eq!(store.list(None, 9).unwrap(), [last[0].0, new]);
}

#[test]
fn the_accounts_of_free_space_survive_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let (kept, gone) = fill_and_delete(&store);
    let before = store.stats().unwrap();
    assert!(before.dead_bytes > 30_000, "one pack, still written to: {before:?}");
    drop(store);
    let store = open(directory.path());
    assert_eq!(store.stats().unwrap(), before);
    assert_holds(&store, &kept, &gone, "after opening again");
}

#[test]
fn a_store_that_ends_at_any_call_to_the_disk_opens_whole() {
    for fails_at in 0.. {
        let directory = tempfile::tempdir().unwrap();
        let disk = Failing::at(fails_at, true, io::ErrorKind::Other);
        let faults = disk.clone();
        let (mut kept, mut gone) = (Vec::new(), Vec::new());
        if let Ok(store) = open_with_small_packs(directory.path(), Arc::new(disk)) {
            (kept, gone) = fill_and_delete(&store);
            let _ = store.compact();
        }
        let store = open_with_small_packs(directory.path(), Arc::new(SystemDisk)).unwrap();
        assert_holds(&store, &kept, &gone, &format!("ended at call {fails_at}"));
        if !faults.has_failed() {
            assert!(fails_at > 100, "the compaction took calls too");
            break;
        }
    }
}

#[test]
fn a_reader_of_a_pack_goes_on_while_it_is_compacted() {
    let directory = tempfile::tempdir().unwrap();
    let store = open_with_small_packs(directory.path(), Arc::new(SystemDisk)).unwrap();
    let stay: Vec<_> = (0..30)
        .map(|number| {
            let body = Bytes::from(vec![number; 500]);
            (store.put_small(Timestamp::EPOCH, body.clone()).wait().unwrap(), body)
        })
        .collect();
    std::thread::scope(|scope| {
        let readers: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    for _ in 0..200 {
                        assert_holds(&store, &stay, &[], "beside compaction");
                    }
                })
            })
            .collect();
        while readers.iter().any(|reader| !reader.is_finished()) {
            let put = |_| store.put_small(Timestamp::EPOCH, Bytes::from(vec![9; 900]));
            let short: Vec<_> = (0..20).map(put).map(|put| put.wait().unwrap()).collect();
            for stat in short {
                store.delete(stat.id).wait().unwrap();
            }
        }
    });
    store.compact().unwrap();
    assert_holds(&store, &stay, &[], "afterwards");
}

#[test]
fn records_behind_a_damaged_one_are_still_found() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let stats: Vec<_> = (0..3)
        .map(|number| {
            let put = store.put_small(Timestamp::from_millis(number), Bytes::from(vec![1; 50_000]));
            put.wait().unwrap()
        })
        .collect();
    drop(store);
    let path = directory.path().join("packs/00000001.pack");
    let mut bytes = std::fs::read(&path).unwrap();
    bytes[50_000 + 60] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    let store = open(directory.path());
    assert_eq!(store.list(None, 9).unwrap(), [stats[0], stats[2]]);
    assert!(matches!(store.read_small(stats[1].id, stats[1].bytes), Err(BlobError::Corrupt(_))));
    // The damaged pack is neither cut nor compacted.
    store.delete(stats[0].id).wait().unwrap();
    store.delete(stats[2].id).wait().unwrap();
    store.compact().unwrap();
    assert_eq!(std::fs::read(&path).unwrap(), bytes);
}

#[test]
fn a_body_that_looks_like_a_pack_is_one_blob() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let first =
        store.put_small(Timestamp::EPOCH, Bytes::from_static(b"some bytes")).wait().unwrap();
    drop(store);
    let pack = std::fs::read(directory.path().join("packs/00000001.pack")).unwrap();
    let store = open(directory.path());
    let second = store.put_small(Timestamp::from_millis(1), Bytes::from(pack)).wait().unwrap();
    drop(store);
    // Its own head is damaged, so that a walk looks for heads inside of it.
    let path = directory.path().join("packs/00000001.pack");
    let mut bytes = std::fs::read(&path).unwrap();
    let head = bytes.len() - usize::try_from(second.bytes).unwrap() - 20;
    bytes[head] ^= 1;
    std::fs::write(&path, &bytes).unwrap();
    assert_eq!(open(directory.path()).list(None, 9).unwrap(), [first]);
}

#[test]
fn what_is_appended_to_the_pack_of_an_earlier_process_stays_where_half_of_that_pack_is_deleted() {
    let directory = tempfile::tempdir().unwrap();
    for round in 0..40 {
        let store = open(directory.path());
        let put = |body: &'static [u8]| {
            store
                .put_small(Timestamp::from_millis(round), Bytes::from_static(body))
                .wait()
                .unwrap()
                .id
        };
        let (kept, gone) = (put(b"kept"), put(b"gone, and longer"));
        store.delete(gone).wait().unwrap();
        assert_eq!(store.read_named(kept).unwrap().as_ref(), b"kept");
        drop(store);
        assert_eq!(open(directory.path()).read_named(kept).unwrap().as_ref(), b"kept");
    }
}
