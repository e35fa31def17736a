//! redb as the tree: its memory is its cache, however many rows there are, and all its calls to the disk go through the disk of the store.

use std::io;
use std::ops::Bound;
use std::sync::Arc;

use bytes::Bytes;
use parking_lot::Mutex;
use redb::{
    Database, Durability, ReadableDatabase, StorageBackend, TableDefinition, WriteTransaction,
};

use super::row_arena::RowArena;
use super::{RowBounds, Tree, TreeError, TreePlace, TreeRows, TreeWrite, caught, close_within};
use crate::disk::DiskFile;
use crate::kv::Order;
use crate::kv::sled::rows::VERSION_KEY;
use crate::schedule::undivided;

/// The file of the tree.
pub(super) const FILE: &str = super::REDB_FILE;
/// Its only table.
const ROWS: TableDefinition<'_, &[u8], &[u8]> = TableDefinition::new("rows");

/// redb's tree. What was written and not sealed is one transaction, which the next seal ends: so no kill leaves a part of it.
pub(super) struct RedbTree {
    database: Option<Database>,
    writing: Mutex<Option<WriteTransaction>>,
    file: Arc<dyn DiskFile>,
}

impl RedbTree {
    /// Opens redb on the file of the tree, or on an empty one.
    pub(super) fn open(place: &TreePlace<'_>) -> Result<Self, TreeError> {
        let path = place.directory.join(FILE);
        let file = match place.disk.open_to_write(&path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => place.disk.create(&path),
            opened => opened,
        };
        let file = file.map_err(|error| TreeError::Failed(error.to_string()))?;
        let backend = RedbFile { file: Arc::clone(&file), is_synced: !place.sync_is_left_out };
        let cache_bytes = usize::try_from(place.cache_bytes).unwrap_or(usize::MAX);
        let database = called(|| {
            let database =
                Database::builder().set_cache_size(cache_bytes).create_with_backend(backend)?;
            // Else readers would find no table before the first seal.
            let begun = database.begin_write()?;
            begun.open_table(ROWS)?;
            begun.commit()?;
            Ok(database)
        })?;
        Ok(Self { database: Some(database), writing: Mutex::new(None), file })
    }

    fn database(&self) -> Result<&Database, TreeError> {
        self.database.as_ref().ok_or_else(|| TreeError::Failed("the engine is closed".into()))
    }
}

impl Tree for RedbTree {
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, TreeError> {
        let database = self.database()?;
        called(|| {
            let rows = database.begin_read()?.open_table(ROWS)?;
            let found = rows.get(key)?;
            Ok(found.map(|stored| Bytes::copy_from_slice(stored.value())))
        })
    }

    fn range(&self, bounds: RowBounds<'_>, order: Order) -> Result<TreeRows<'_>, TreeError> {
        let database = self.database()?;
        let mut rows = called(|| {
            let rows = database.begin_read()?.open_table(ROWS)?;
            Ok(Some(rows.range::<&[u8]>(sound(bounds))?))
        })?;
        let mut arena = RowArena::default();
        let next = move || {
            let range = rows.as_mut()?;
            let row = called(|| {
                let row = match order {
                    Order::Ascending => range.next(),
                    Order::Descending => range.next_back(),
                };
                Ok(row.transpose()?.map(|(key, stored)| arena.copy(key.value(), stored.value())))
            });
            if row.is_err() {
                rows = None;
            }
            row.transpose()
        };
        Ok(Box::new(std::iter::from_fn(next)))
    }

    fn write(&self, rows: &[TreeWrite]) -> Result<(), TreeError> {
        let database = self.database()?;
        let mut writing = self.writing.lock();
        // Taken, so that what failed is dropped, and with it everything since the last seal.
        let begun = writing.take();
        *writing = Some(called(|| {
            let begun = match begun {
                Some(begun) => begun,
                None => database.begin_write()?,
            };
            let mut table = begun.open_table(ROWS)?;
            for (key, stored) in rows {
                match stored {
                    Some(stored) => table.insert(key.as_ref(), stored.as_ref())?,
                    None => table.remove(key.as_ref())?,
                };
            }
            drop(table);
            Ok(begun)
        })?);
        Ok(())
    }

    fn seal(&self, last_version: Bytes) -> Result<(), TreeError> {
        self.write(&[(Bytes::from_static(VERSION_KEY), Some(last_version))])?;
        let Some(mut written) = self.writing.lock().take() else {
            return Ok(());
        };
        called(|| {
            written.set_durability(Durability::Immediate)?;
            // So that a start after a kill need not read all of the tree.
            written.set_quick_repair(true);
            Ok(written.commit()?)
        })
    }

    fn disk_bytes(&self) -> u64 {
        self.file.length().unwrap_or(0)
    }

    fn close(&mut self) -> bool {
        let Some(database) = self.database.take() else {
            return true;
        };
        let (begun, file) = (self.writing.lock().take(), Arc::clone(&self.file));
        close_within(move || {
            drop(begun);
            drop(database);
            file.sync().is_ok()
        })
    }
}

impl Drop for RedbTree {
    fn drop(&mut self) {
        let _is_closed = self.close();
    }
}

/// Bounds that redb takes: it panics where the lower one is behind the upper one.
fn sound((lower, upper): RowBounds<'_>) -> RowBounds<'_> {
    let is_empty = match (lower, upper) {
        (Bound::Unbounded, _) | (_, Bound::Unbounded) => false,
        (Bound::Included(lower), Bound::Included(upper)) => lower > upper,
        (
            Bound::Included(lower) | Bound::Excluded(lower),
            Bound::Included(upper) | Bound::Excluded(upper),
        ) => lower >= upper,
    };
    let none = (Bound::Included(VERSION_KEY), Bound::Excluded(VERSION_KEY));
    if is_empty { none } else { (lower, upper) }
}

/// The file of the tree as redb calls it, with locks held that only redb knows.
struct RedbFile {
    file: Arc<dyn DiskFile>,
    is_synced: bool,
}

impl std::fmt::Debug for RedbFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("RedbFile")
    }
}

impl StorageBackend for RedbFile {
    fn len(&self) -> io::Result<u64> {
        self.file.length()
    }

    fn read(&self, offset: u64, out: &mut [u8]) -> io::Result<()> {
        let read = undivided(|| self.file.read_at(out, offset))?;
        if read == out.len() { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }

    fn set_len(&self, len: u64) -> io::Result<()> {
        undivided(|| self.file.truncate(len))
    }

    fn sync_data(&self) -> io::Result<()> {
        if self.is_synced { undivided(|| self.file.sync()) } else { Ok(()) }
    }

    fn write(&self, offset: u64, data: &[u8]) -> io::Result<()> {
        undivided(|| self.file.write_all_at(data, offset))
    }
}

/// The outcome of calls of redb, an error where one panicked.
fn called<T>(call: impl FnOnce() -> Result<T, redb::Error>) -> Result<T, TreeError> {
    caught(|| {
        call().map_err(|error| match error {
            redb::Error::Corrupted(_) | redb::Error::UpgradeRequired(_) => {
                TreeError::Damaged(error.to_string())
            }
            error => TreeError::Failed(error.to_string()),
        })
    })
}
