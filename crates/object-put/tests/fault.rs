//! Disks and stores that fail: every failure is a clean error, and the old object stays.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected fails"
)]

mod service;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use service::{Draft, NOW, World};
use triptych_core::blobs::{Directory, MemoryBlobs};
use triptych_core::disk::{Disk, DiskFile, SystemDisk};
use triptych_core::id::SeededIds;
use triptych_core::kv::{Batch, Found, KeyValue, Memory, Page, Span, StoreError, Version};
use triptych_core::pending::Pending;

/// Counts calls down to the one that fails; below zero none does.
#[derive(Clone)]
struct Countdown(Arc<AtomicI64>, io::ErrorKind);

impl Countdown {
    fn new(kind: io::ErrorKind) -> Self {
        Self(Arc::new(AtomicI64::new(-1)), kind)
    }

    fn arm(&self, call: i64) {
        self.0.store(call, Ordering::SeqCst);
    }

    /// True while the armed call has not come yet.
    fn is_armed(&self) -> bool {
        self.0.load(Ordering::SeqCst) >= 0
    }

    fn check(&self) -> io::Result<()> {
        if self.0.fetch_sub(1, Ordering::SeqCst) == 0 { Err(self.1.into()) } else { Ok(()) }
    }
}

struct FailingFile(Arc<dyn DiskFile>, Countdown);

impl Disk for Countdown {
    fn make_directory(&self, path: &Path) -> io::Result<()> {
        SystemDisk.make_directory(path)
    }

    fn create_directory(&self, path: &Path) -> io::Result<()> {
        SystemDisk.create_directory(path)
    }

    fn create(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.check()?;
        Ok(Arc::new(FailingFile(SystemDisk.create(path)?, self.clone())))
    }

    fn create_large(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.check()?;
        Ok(Arc::new(FailingFile(SystemDisk.create_large(path)?, self.clone())))
    }

    fn open(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.check()?;
        Ok(Arc::new(FailingFile(SystemDisk.open(path)?, self.clone())))
    }

    fn open_to_write(&self, path: &Path) -> io::Result<Arc<dyn DiskFile>> {
        self.check()?;
        Ok(Arc::new(FailingFile(SystemDisk.open_to_write(path)?, self.clone())))
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        self.check()?;
        SystemDisk.rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        self.check()?;
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
        self.1.check()?;
        self.0.read_at(into, at)
    }

    fn write_all_at(&self, bytes: &[u8], at: u64) -> io::Result<()> {
        if let Err(error) = self.1.check() {
            // A full disk takes a part of what it is given.
            self.0.write_all_at(&bytes[..bytes.len() / 2], at)?;
            return Err(error);
        }
        self.0.write_all_at(bytes, at)
    }

    fn sync(&self) -> io::Result<()> {
        self.1.check()?;
        self.0.sync()
    }

    fn length(&self) -> io::Result<u64> {
        self.0.length()
    }

    fn truncate(&self, bytes: u64) -> io::Result<()> {
        self.1.check()?;
        self.0.truncate(bytes)
    }

    fn forget_cached(&self) -> io::Result<()> {
        self.0.forget_cached()
    }
}

#[tokio::test]
async fn whichever_call_to_the_disk_fails_the_old_object_stays() {
    for kind in [io::ErrorKind::StorageFull, io::ErrorKind::Other] {
        // The largest is still arriving when its first write fails.
        for size in [100_usize, 300_000, 1_500_000] {
            let new = vec![b'n'; size];
            for call in 0.. {
                let directory = tempfile::tempdir().unwrap();
                let disk = Countdown::new(kind);
                let ids = SeededIds::from_number(3);
                let blobs = Directory::open(directory.path(), Arc::new(disk.clone()), ids).unwrap();
                let world = World::on(Arc::new(Memory::new()), Arc::new(blobs), NOW).await;
                world.store("/bkt/k", b"old").await;
                disk.arm(call);
                let answer = world.send(&Draft::put("/bkt/k", &new)).await;
                if disk.is_armed() {
                    assert_eq!(answer.status, 200, "{}", answer.text());
                    assert!(call > 1, "nothing failed");
                    break;
                }
                assert!([200, 500, 503].contains(&answer.status), "{call}: {}", answer.text());
                let stored = world.fetch("/bkt/k").await.body;
                if answer.status == 200 {
                    assert!(stored == new, "acknowledged at {call} and not there");
                } else {
                    assert_eq!(stored, b"old", "{call}");
                }
            }
        }
    }
}

#[tokio::test]
async fn whichever_call_to_the_disk_fails_during_an_append_the_object_stays_as_it_was() {
    for size in [100_usize, 300_000] {
        let more = vec![b'm'; size];
        for call in 0.. {
            let directory = tempfile::tempdir().unwrap();
            let disk = Countdown::new(io::ErrorKind::Other);
            let ids = SeededIds::from_number(3);
            let blobs = Directory::open(directory.path(), Arc::new(disk.clone()), ids).unwrap();
            let world = World::on(Arc::new(Memory::new()), Arc::new(blobs), NOW).await;
            for (offset, piece) in [(0, b"old"), (3, b"und")] {
                let answer = world.send(&Draft::append("/k", offset, piece)).await;
                assert_eq!(answer.status, 200, "{}", answer.text());
            }
            disk.arm(call);
            let answer = world.send(&Draft::append("/k", 6, &more)).await;
            let is_over = disk.is_armed();
            disk.arm(-1);
            let stored = world.send(&Draft::zonal("GET", "/k", b"")).await.body;
            if answer.status == 200 {
                assert!(stored == [b"oldund", more.as_slice()].concat(), "{call}");
            } else {
                assert!([500, 503].contains(&answer.status), "{call}: {}", answer.text());
                assert_eq!(stored, b"oldund", "{call}");
            }
            if is_over {
                assert!(answer.status == 200 && call > 1, "nothing failed");
                break;
            }
        }
    }
}

/// A store whose n-th commit fails, in the way that `outcome` says.
struct FailingStore {
    inner: Memory,
    countdown: Countdown,
    error: StoreError,
    /// True if the failing commit happens all the same.
    applies: bool,
}

impl KeyValue for FailingStore {
    fn get(&self, key: &[u8]) -> Result<Found, StoreError> {
        self.inner.get(key)
    }

    fn scan(&self, span: &Span, limit: usize) -> Result<Page, StoreError> {
        self.inner.scan(span, limit)
    }

    fn commit(&self, batch: Batch) -> Pending<Result<Version, StoreError>> {
        if self.countdown.check().is_ok() {
            return self.inner.commit(batch);
        }
        if self.applies {
            self.inner.commit(batch).wait().unwrap();
        }
        Pending::ready(Err(self.error.clone()))
    }

    fn durable(&self, seen: Version) -> Option<Pending<Result<(), StoreError>>> {
        self.inner.durable(seen)
    }
}

/// A service whose commit ends with `error` once the countdown is over.
async fn world_on_failing_store(error: StoreError, applies: bool) -> (World, Countdown) {
    let countdown = Countdown::new(io::ErrorKind::Other);
    let inner = Memory::new();
    let store = FailingStore { inner, countdown: countdown.clone(), error, applies };
    let blobs = MemoryBlobs::new(SeededIds::from_number(2));
    (World::on(Arc::new(store), Arc::new(blobs), NOW).await, countdown)
}

#[tokio::test]
async fn a_commit_that_fails_is_an_error_and_the_object_is_the_old_one_or_the_new_one_whole() {
    for (error, applies, status, expected) in [
        (StoreError::Unavailable("disk".to_owned()), false, 503, &b"old"[..]),
        (StoreError::Corrupt("page".to_owned()), false, 500, b"old"),
        (StoreError::OutcomeUnknown, false, 503, b"old"),
        (StoreError::OutcomeUnknown, true, 503, b"new"),
        // A conflict is tried again.
        (StoreError::Conflict, false, 200, b"new"),
    ] {
        let (world, countdown) = world_on_failing_store(error, applies).await;
        world.store("/bkt/k", b"old").await;
        countdown.arm(0);
        let answer = world.send(&Draft::put("/bkt/k", b"new")).await;
        assert_eq!(answer.status, status, "{}", answer.text());
        assert_eq!(world.fetch("/bkt/k").await.body, expected);
    }
}

#[tokio::test]
async fn a_commit_of_an_append_that_fails_leaves_the_object_as_it_was_or_whole_with_it() {
    for (error, applies, status, expected) in [
        (StoreError::Unavailable("disk".to_owned()), false, 503, &b"old"[..]),
        (StoreError::OutcomeUnknown, false, 503, b"old"),
        (StoreError::OutcomeUnknown, true, 503, b"oldnew"),
        (StoreError::Conflict, false, 200, b"oldnew"),
    ] {
        let (world, countdown) = world_on_failing_store(error, applies).await;
        let first = world.send(&Draft::append("/k", 0, b"old")).await;
        assert_eq!(first.status, 200, "{}", first.text());
        countdown.arm(0);
        let answer = world.send(&Draft::append("/k", 3, b"new")).await;
        assert_eq!(answer.status, status, "{}", answer.text());
        assert_eq!(world.send(&Draft::zonal("GET", "/k", b"")).await.body, expected);
    }
}

#[tokio::test]
async fn whichever_call_to_the_disk_fails_a_part_is_the_old_one_or_the_new_one_whole() {
    for (kind, size) in [
        (io::ErrorKind::StorageFull, 100_usize),
        (io::ErrorKind::StorageFull, 300_000),
        (io::ErrorKind::Other, 100),
        (io::ErrorKind::Other, 300_000),
    ] {
        for call in 0.. {
            let directory = tempfile::tempdir().unwrap();
            let disk = Countdown::new(kind);
            let ids = SeededIds::from_number(3);
            let blobs = Directory::open(directory.path(), Arc::new(disk.clone()), ids).unwrap();
            let world = World::on(Arc::new(Memory::new()), Arc::new(blobs), NOW).await;
            let begun = world.send(&Draft::new("POST", "/bkt/k?uploads", b"")).await;
            let id = begun.element("UploadId").unwrap();
            let part = format!("/bkt/k?partNumber=1&uploadId={id}");
            let old = world.store(&part, b"the old part").await;
            let new = vec![b'n'; size];
            disk.arm(call);
            let answer = world.send(&Draft::put(&part, &new)).await;
            let was_reached = !disk.is_armed();
            disk.arm(-1);
            assert!([200, 500, 503].contains(&answer.status), "{call}: {}", answer.text());
            let (kept, body) = if answer.status == 200 {
                (&answer, new)
            } else {
                (&old, b"the old part".to_vec())
            };
            let tag = kept.header("etag").unwrap();
            let text = format!(
                "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>{tag}</ETag></Part></CompleteMultipartUpload>"
            );
            let done = Draft::new("POST", &format!("/bkt/k?uploadId={id}"), text.as_bytes());
            let done = world.send(&done).await;
            assert_eq!(done.status, 200, "{kind} {size} {call}: {}", done.text());
            assert!(world.fetch("/bkt/k").await.body == body, "{kind} {size} {call}");
            if !was_reached {
                assert!(answer.status == 200 && call > 1, "nothing failed");
                break;
            }
        }
    }
}
