//! sled as the tree, held so that its panics are errors, and its end waits for no disk.

use std::fs::File;
use std::io;
use std::ops::Bound;
use std::panic::AssertUnwindSafe;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;

use super::row_arena::RowArena;
use super::{RowBounds, Tree, TreeError, TreePlace, TreeRows, TreeWrite, caught, close_within};
use crate::disk::{Disk, DiskFile};
use crate::kv::sled::rows::VERSION_KEY;
use crate::kv::{KEY_BYTES_MAX, Order};

/// sled's log, which is all of the tree.
pub(super) const FILE: &str = "db";
/// sled's settings.
const SETTINGS: &str = "conf";
/// The start of the names of sled's snapshots.
const SNAPSHOT: &str = "snap.";
/// The end of the names of those that are not whole.
const UNFINISHED: &str = ".generating";
/// Segments of this size keep values of up to 64 KiB out of sled's `blobs/`, which it never syncs. It is fixed for the life of a store.
const SEGMENT_BYTES: usize = 8 * 1024 * 1024;
/// Rows of a batch. Each row that sled takes replaces a page, and nothing of that is freed before its batch has ended: with
/// batches of up to 4 MiB a load of 200,000 videos took 1.2 GiB, with these 0.7.
const ROWS_TOGETHER: usize = 256;
/// Bytes of the rows of such a batch.
const BYTES_TOGETHER: usize = 256 * 1024;

/// Rounds of crossbeam's collector that free what such a batch replaced: it looks at a few bags of 64 in each.
const ROUNDS: usize = 16;

/// Frees what a batch replaced. sled leaves that to the collector, which works when somebody pins: one batch pins once, so that without this
/// the garbage of a long load grows without bound (5 GiB for a million rows).
fn collect() {
    for _ in 0..ROUNDS {
        crossbeam_epoch::pin().flush();
    }
}

/// sled's tree, and its file, to sync it.
pub(super) struct SledTree {
    db: Option<sled::Db>,
    /// The file again, opened for its lock alone.
    lock: Option<File>,
    file: Arc<dyn DiskFile>,
    syncs: bool,
}

impl SledTree {
    /// Opens sled, whose settings and name are on disk then.
    pub(super) fn open(place: &TreePlace<'_>) -> Result<Self, TreeError> {
        let TreePlace { disk, directory, .. } = place;
        let settings = sled::Config::new()
            .path(directory)
            .cache_capacity(place.cache_bytes)
            .segment_size(SEGMENT_BYTES)
            // Besides flushing, this thread is the one that frees segments.
            .flush_every_ms(Some(500));
        let opened = std::panic::catch_unwind(AssertUnwindSafe(|| settings.open()));
        let cannot_read = || TreeError::Damaged("the engine could not read its own log".into());
        let db = opened.map_err(|_| cannot_read())??;
        // It writes its settings once, and does not sync them.
        disk.open(&directory.join(SETTINGS)).and_then(|file| file.sync()).map_err(failed)?;
        let path = directory.join(FILE);
        let lock = Some(File::open(&path).map_err(failed)?);
        let file = disk.open(&path).map_err(failed)?;
        Ok(Self { db: Some(db), lock, file, syncs: !place.sync_is_left_out })
    }

    /// Calls sled.
    fn call<T>(&self, call: impl FnOnce(&sled::Db) -> sled::Result<T>) -> Result<T, TreeError> {
        let closed = || TreeError::Failed("the engine is closed".into());
        let db = self.db.as_ref().ok_or_else(closed)?;
        caught(|| Ok(call(db)?))
    }
}

impl Tree for SledTree {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, TreeError> {
        let found = self.call(|db| db.get(key))?;
        Ok(found.map(|stored| Bytes::copy_from_slice(&stored)))
    }

    fn range(&self, bounds: RowBounds<'_>, order: Order) -> Result<TreeRows<'_>, TreeError> {
        match order {
            Order::Ascending => {
                let rows = self.call(|db| Ok(db.range::<&[u8], _>(bounds)))?;
                Ok(Box::new(SledRows::of(rows)))
            }
            Order::Descending => {
                let (least, greatest, alone) = descending(bounds);
                let upper = greatest.as_ref().map(Vec::as_slice);
                let range = (Bound::Included(least.as_slice()), upper);
                let rows = self.call(|db| Ok(db.range::<&[u8], _>(range)))?.rev();
                let alone = alone.map(Bytes::copy_from_slice);
                let first = alone.into_iter().filter_map(|key| {
                    let found = self.get(&key).transpose()?;
                    Some(found.map(|stored| (key, stored)))
                });
                Ok(Box::new(SledRows::of(rows).chain(first)))
            }
        }
    }

    fn write(&self, rows: &[TreeWrite]) -> Result<(), TreeError> {
        let (mut batch, mut count, mut bytes) = (sled::Batch::default(), 0, 0);
        for (key, stored) in rows {
            count += 1;
            bytes += key.len() + stored.as_ref().map_or(0, Bytes::len);
            match stored {
                Some(stored) => batch.insert(key.as_ref(), stored.as_ref()),
                None => batch.remove(key.as_ref()),
            }
            if count == ROWS_TOGETHER || bytes >= BYTES_TOGETHER {
                let full = std::mem::take(&mut batch);
                self.call(|db| db.apply_batch(full))?;
                collect();
                (count, bytes) = (0, 0);
            }
        }
        self.call(|db| db.apply_batch(batch))?;
        collect();
        Ok(())
    }

    /// sled gives up in the middle of a batch when a read fails, and keeps that half: so the version has no part in one. Its `flush` hands its
    /// buffers to the operating system, which is all that a kill leaves; the sync behind it is not there for power cuts, after which none of
    /// this is believed, but because only a sync tells that the system could not write what it was given.
    fn seal(&self, last_version: Bytes) -> Result<(), TreeError> {
        self.call(|db| db.flush())?;
        self.call(|db| db.insert(VERSION_KEY, last_version.as_ref()).map(|_| ()))?;
        self.call(|db| db.flush())?;
        if self.syncs { self.file.sync().map_err(failed) } else { Ok(()) }
    }

    fn fault(&self) -> Result<(), TreeError> {
        self.call(|db| db.context.global_error())
    }

    fn disk_bytes(&self) -> u64 {
        self.file.length().unwrap_or(0)
    }

    fn close(&mut self) -> bool {
        let Some(db) = self.db.take() else {
            return true;
        };
        let (lock, file) = (self.lock.take(), Arc::clone(&self.file));
        close_within(move || {
            let is_sound = db.flush().is_ok() && db.context.global_error().is_ok();
            drop(db);
            // A thread of sled's pool may hold the file for a moment after its write has counted for the flush, and who opens the tree next
            // must find it free.
            let is_free = lock.is_some_and(|lock| lock.lock().is_ok());
            is_sound && is_free && file.sync().is_ok()
        })
    }
}

impl Drop for SledTree {
    fn drop(&mut self) {
        let _is_closed = self.close();
    }
}

/// Rows of sled, whose panics are errors.
struct SledRows<I> {
    rows: Option<I>,
    arena: RowArena,
}

impl<I> SledRows<I> {
    fn of(rows: I) -> Self {
        Self { rows: Some(rows), arena: RowArena::default() }
    }
}

impl<I: Iterator<Item = sled::Result<(sled::IVec, sled::IVec)>>> Iterator for SledRows<I> {
    type Item = Result<(Bytes, Bytes), TreeError>;

    fn next(&mut self) -> Option<Self::Item> {
        let Self { rows, arena } = self;
        let rows = rows.as_mut()?;
        let copied = |(key, stored): (sled::IVec, sled::IVec)| arena.copy(&key, &stored);
        let row = caught(|| Ok(rows.next().transpose()?.map(copied))).transpose()?;
        if row.is_err() {
            // What comes behind a panic is not to be asked for.
            self.rows = None;
        }
        Some(row)
    }
}

/// Bounds as the least and the greatest key that may lie between them, and a key before the least that may lie there too.
///
/// sled 0.34 steps down from a leaf by guessing a key before its first one. Where the guess misses the leaf before (that begins with
/// four bytes of 255 more), it searches forever, and panics. So it is told bounds at which it need not guess: below the greatest key it
/// begins in the leaf that holds it, and the first key of a leaf that begins with a list is less than all of the list but that one key.
fn descending((lower, upper): RowBounds<'_>) -> (Vec<u8>, Bound<Vec<u8>>, Option<&[u8]>) {
    let (from, alone) = match lower {
        Bound::Included(key) => (key, Some(key)),
        Bound::Excluded(key) => (key, None),
        Bound::Unbounded => (&[][..], None),
    };
    let least = [from, &[0]].concat();
    let greatest = match upper {
        Bound::Excluded(past) => match past.split_last() {
            None => Bound::Unbounded,
            Some((0, before)) => Bound::Included(before.to_vec()),
            Some((last, before)) => {
                let mut greatest = [before, &[last - 1]].concat();
                greatest.resize(KEY_BYTES_MAX.max(greatest.len()), u8::MAX);
                Bound::Included(greatest)
            }
        },
        other => other.map(<[u8]>::to_vec),
    };
    (least, greatest, alone)
}

impl From<sled::Error> for TreeError {
    fn from(error: sled::Error) -> Self {
        let text = error.to_string();
        match error {
            // sled's own text is the only sign of a held lock.
            sled::Error::Io(_) if text.contains("lock") => Self::Locked(text),
            sled::Error::Corruption { .. } | sled::Error::Unsupported(_) => Self::Damaged(text),
            _ => Self::Failed(text),
        }
    }
}

fn failed(error: io::Error) -> TreeError {
    TreeError::Failed(error.to_string())
}

/// Returns whether sled has a file of this name.
pub(super) fn is_own(name: &str) -> bool {
    name == FILE || name == SETTINGS || name.starts_with(SNAPSHOT)
}

/// Reads the tree to its end, and takes away what an earlier start left half written: sled would take a read that fails for the end of its
/// log, and write over what comes behind it.
pub(in crate::kv::sled) fn check(disk: &dyn Disk, directory: &Path) -> io::Result<()> {
    let file = disk.open(&directory.join(FILE))?;
    remove_unfinished_snapshots(disk, directory)?;
    file.read_through()
}

/// Takes away the snapshots that sled has not finished: it would take one for the newest, and for damage. They are made anew from its log.
fn remove_unfinished_snapshots(disk: &dyn Disk, directory: &Path) -> io::Result<()> {
    for path in disk.list(directory)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if name.starts_with(SNAPSHOT) && name.ends_with(UNFINISHED) {
            disk.remove(&path)?;
        }
    }
    Ok(())
}
