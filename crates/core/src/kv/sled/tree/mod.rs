//! The tree of a store: an ordered map on disk of what the base and the log say, quick to read, and filled anew from them where it is not
//! to be believed. So it may lose what it has to a power cut; it may not give what it was never given.

#[cfg(feature = "redb")]
mod redb_tree;
mod row_arena;
mod sled_tree;

use std::ops::Bound;
use std::panic::AssertUnwindSafe;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::Duration;

use bytes::Bytes;

use crate::disk::Disk;
use crate::kv::Order;

/// Time that a tree has to bring what it holds to the disk when it is closed. What it does not bring there the log has.
const CLOSE_MAX: Duration = Duration::from_secs(10);

/// An ordered map of rows, written by one thread and read by many.
///
/// Writes come to the disk in any parts, and may be seen at once or with the next [`Tree::seal`]: until that has returned, readers
/// look elsewhere first.
pub(super) trait Tree: Send + Sync {
    /// The row at a key.
    ///
    /// # Errors
    /// [`TreeError`].
    fn get(&self, key: &[u8]) -> Result<Option<Bytes>, TreeError>;

    /// The rows within bounds. After the first error no more come.
    ///
    /// # Errors
    /// [`TreeError`].
    fn range(&self, bounds: RowBounds<'_>, order: Order) -> Result<TreeRows<'_>, TreeError>;

    /// Takes rows, `None` where one is deleted.
    ///
    /// # Errors
    /// [`TreeError`]; some of the rows may have been taken.
    fn write(&self, rows: &[TreeWrite]) -> Result<(), TreeError>;

    /// Puts on disk what was written, and behind it the row of the last version: no kill leaves that without what was written before it.
    ///
    /// # Errors
    /// [`TreeError`].
    fn seal(&self, last_version: Bytes) -> Result<(), TreeError>;

    /// The error that the tree keeps to itself once one of its own threads has met it.
    ///
    /// # Errors
    /// [`TreeError`].
    fn fault(&self) -> Result<(), TreeError> {
        Ok(())
    }

    /// Bytes of its files.
    fn disk_bytes(&self) -> u64;

    /// Closes it, and tells whether all of it is on disk.
    fn close(&mut self) -> bool;
}

/// A key, and what is stored at it; `None` deletes.
pub(super) type TreeWrite = (Bytes, Option<Bytes>);
/// Rows in order: each key, and what is stored at it.
pub(super) type TreeRows<'t> = Box<dyn Iterator<Item = Result<(Bytes, Bytes), TreeError>> + 't>;
/// The bounds of keys.
pub(super) type RowBounds<'b> = (Bound<&'b [u8]>, Bound<&'b [u8]>);

/// The bounds of everything.
pub(super) const ALL: RowBounds<'static> = (Bound::Unbounded, Bound::Unbounded);

/// Reasons for which a tree does not do what it was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum TreeError {
    /// Another process has it.
    #[error("{0}")]
    Locked(String),
    /// Its files make no sense to it.
    #[error("{0}")]
    Damaged(String),
    /// The disk failed it, or it failed itself.
    #[error("{0}")]
    Failed(String),
}

/// Trees that a store can have.
#[derive(Debug, Clone, Default)]
pub enum TreeKind {
    /// sled: the quickest, as long as all rows fit its cache.
    #[default]
    Sled,
    /// redb: memory of the size of its cache, however many rows there are.
    #[cfg(feature = "redb")]
    Redb,
    /// One of a test.
    #[cfg(test)]
    Test(TestTree),
}

/// Makes the tree of a test of the one that sled is.
#[cfg(test)]
#[derive(Clone)]
pub struct TestTree(pub(super) Arc<MakeTree>);

#[cfg(test)]
type MakeTree = dyn Fn(Box<dyn Tree>) -> Box<dyn Tree> + Send + Sync;

#[cfg(test)]
impl std::fmt::Debug for TestTree {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("TestTree")
    }
}

/// The place of a tree, and its share of memory.
pub(super) struct TreePlace<'p> {
    pub(super) disk: &'p Arc<dyn Disk>,
    pub(super) directory: &'p Path,
    pub(super) cache_bytes: u64,
    /// Leaves out the syncs, to show that the power-cut test can fail.
    pub(super) sync_is_left_out: bool,
}

impl TreeKind {
    /// The kinds that this program has, by the names under which they are asked for.
    #[must_use]
    pub fn all() -> &'static [(&'static str, Self)] {
        &[
            ("sled", Self::Sled),
            #[cfg(feature = "redb")]
            ("redb", Self::Redb),
        ]
    }

    /// The kind of this name, if the program has it.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        let found = Self::all().iter().find(|(own, _)| *own == name);
        found.map(|(_, kind)| kind.clone())
    }

    /// The file that is the tree: another one has another tree.
    pub(super) fn path(&self, directory: &Path) -> PathBuf {
        directory.join(match self {
            #[cfg(feature = "redb")]
            Self::Redb => redb_tree::FILE,
            _ => sled_tree::FILE,
        })
    }

    /// Opens the tree in a directory, or makes an empty one.
    ///
    /// # Errors
    /// [`TreeError`], also where it panics, as sled does where it cannot make sense of its files.
    pub(super) fn open(&self, place: &TreePlace<'_>) -> Result<Box<dyn Tree>, TreeError> {
        match self {
            Self::Sled => Ok(Box::new(sled_tree::SledTree::open(place)?)),
            #[cfg(feature = "redb")]
            Self::Redb => Ok(Box::new(redb_tree::RedbTree::open(place)?)),
            #[cfg(test)]
            Self::Test(made) => Ok((made.0)(Self::Sled.open(place)?)),
        }
    }

    /// Checks the files of a tree that can be filled anew, before it is opened.
    ///
    /// # Errors
    /// As the disk: the tree is not to be opened.
    pub(super) fn check(&self, disk: &dyn Disk, directory: &Path) -> std::io::Result<()> {
        match self {
            // Its pages carry sums, which it looks at itself.
            #[cfg(feature = "redb")]
            Self::Redb => Ok(()),
            _ => sled_tree::check(disk, directory),
        }
    }
}

/// Removes the files of any tree, and puts that on disk.
pub(super) fn remove(disk: &dyn Disk, directory: &Path) -> std::io::Result<()> {
    for path in disk.list(directory)? {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if is_of_tree(&name) {
            disk.remove(&path)?;
        }
    }
    disk.sync_directory(directory)
}

/// Returns whether a file of this name is one of a tree, and nothing that is to be kept.
pub(crate) fn is_of_tree(name: &str) -> bool {
    sled_tree::is_own(name) || name == REDB_FILE
}

/// The file of redb's tree, which a program without redb removes as well where it fills its own anew.
const REDB_FILE: &str = "redb";

/// The outcome of a call, an error where it panicked.
fn caught<T>(call: impl FnOnce() -> Result<T, TreeError>) -> Result<T, TreeError> {
    let called = std::panic::catch_unwind(AssertUnwindSafe(call));
    called.unwrap_or_else(|_| Err(TreeError::Failed("the engine panicked".into())))
}

/// Has a tree closed, and tells whether all of it is on disk. In a thread of its own: one may panic where a last sync fails, or wait for its
/// threads however they have ended.
fn close_within(close: impl FnOnce() -> bool + Send + 'static) -> bool {
    let (closed, wait) = mpsc::channel();
    let run = move || {
        let is_sound = close();
        let _ = closed.send(is_sound);
    };
    let Ok(thread) = std::thread::Builder::new().name("kv-close".into()).spawn(run) else {
        return false;
    };
    let is_closed = wait.recv_timeout(CLOSE_MAX);
    if is_closed != Err(mpsc::RecvTimeoutError::Timeout) {
        let _ = thread.join();
    }
    is_closed == Ok(true)
}

#[cfg(test)]
mod tests;
