use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::*;
use crate::blobs::conformance;

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
fn a_flipped_byte_in_a_pack_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let stat = store
        .put_small(Timestamp::EPOCH, Bytes::from_static(b"some bytes"))
        .wait()
        .unwrap();
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
    let kept = store
        .put_small(Timestamp::EPOCH, Bytes::from_static(b"kept"))
        .wait()
        .unwrap();
    store
        .put_small(Timestamp::from_millis(1), Bytes::from_static(b"torn"))
        .wait()
        .unwrap();
    drop(store);
    let path = directory.path().join("packs/00000001.pack");
    let bytes = std::fs::read(&path).unwrap();
    std::fs::write(&path, &bytes[..bytes.len() - 30]).unwrap();
    let store = open(directory.path());
    assert_eq!(store.list(None, 9).unwrap(), [kept]);
    let new = store
        .put_small(Timestamp::from_millis(2), Bytes::from_static(b"new"))
        .wait()
        .unwrap();
    assert_eq!(store.list(None, 9).unwrap(), [kept, new]);
}

/// A disk whose n-th call fails.
struct Failing {
    calls: Arc<AtomicUsize>,
    fails_at: usize,
    kind: io::ErrorKind,
}

struct FailingFile {
    file: Arc<dyn DiskFile>,
    calls: Arc<AtomicUsize>,
    fails_at: usize,
    kind: io::ErrorKind,
}

fn count(calls: &AtomicUsize, fails_at: usize, kind: io::ErrorKind) -> io::Result<()> {
    if calls.fetch_add(1, Ordering::SeqCst) == fails_at {
        Err(kind.into())
    } else {
        Ok(())
    }
}

impl Failing {
    fn check(&self) -> io::Result<()> {
        count(&self.calls, self.fails_at, self.kind)
    }

    fn file(&self, file: Arc<dyn DiskFile>) -> Arc<dyn DiskFile> {
        Arc::new(FailingFile {
            file,
            calls: Arc::clone(&self.calls),
            fails_at: self.fails_at,
            kind: self.kind,
        })
    }
}

impl Disk for Failing {
    fn make_directory(&self, path: &Path) -> io::Result<()> {
        SystemDisk.make_directory(path)
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.check()?;
        Ok(self.file(SystemDisk.create(path)?))
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.check()?;
        Ok(self.file(SystemDisk.open(path)?))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.check()?;
        SystemDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        SystemDisk.remove(path)
    }

    fn sync_directory(&self, path: &Path) -> io::Result<()> {
        self.check()?;
        SystemDisk.sync_directory(path)
    }

    fn list(&self, path: &Path) -> io::Result<Vec<PathBuf>> {
        SystemDisk.list(path)
    }
}

impl DiskFile for FailingFile {
    fn read_at(&self, into: &mut [u8], at: u64) -> io::Result<usize> {
        count(&self.calls, self.fails_at, self.kind)?;
        self.file.read_at(into, at)
    }

    fn write_all_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        if let Err(error) = count(&self.calls, self.fails_at, self.kind) {
            // A full disk takes half of what it is given.
            self.file.write_all_at(&bytes[..bytes.len() / 2], at)?;
            return Err(error);
        }
        self.file.write_all_at(bytes, at)
    }

    fn sync(&self) -> io::Result<()> {
        count(&self.calls, self.fails_at, self.kind)?;
        self.file.sync()
    }

    fn length(&self) -> io::Result<u64> {
        self.file.length()
    }

    fn truncate(&self, bytes: u64) -> io::Result<()> {
        self.file.truncate(bytes)
    }
}

#[test]
fn whichever_call_to_the_disk_fails_the_error_is_clean_and_nothing_is_left() {
    for kind in [io::ErrorKind::StorageFull, io::ErrorKind::Other] {
        for bytes in [10, 400_000] {
            for fails_at in 0.. {
                let directory = tempfile::tempdir().unwrap();
                let calls = Arc::new(AtomicUsize::new(0));
                let disk = Failing {
                    calls: Arc::clone(&calls),
                    fails_at,
                    kind,
                };
                let store =
                    Directory::open(directory.path(), Arc::new(disk), SeededIds::from_number(2))
                        .unwrap();
                let mut writer = store.create(Timestamp::EPOCH, None);
                let first = writer.write(Bytes::from(vec![1; bytes])).wait();
                let outcome = first.and_then(|()| writer.finish().wait());
                let is_failure = calls.load(Ordering::SeqCst) > fails_at;
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
