//! The files and directories of a simulated disk: each as processes see it, as the disk has it, and what lies between the two.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use parking_lot::Mutex;

/// The number of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct InodeId(pub(super) usize);

/// A change of a file that is not on disk yet.
#[derive(Debug, Clone)]
pub(super) enum PendingWrite {
    Write { at: u64, bytes: Arc<[u8]> },
    Truncate(u64),
}

/// A change of names that is not on disk yet: the name is gone, or names this.
#[derive(Debug, Clone)]
pub(super) struct PendingName {
    /// Names that are gone, and names that are there, after it: all of it happens or nothing.
    pub(super) names: Vec<(OsString, Option<Node>)>,
}

/// The thing that a name names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Node {
    File(InodeId),
    Directory,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Inode {
    pub(super) seen: Vec<u8>,
    pub(super) durable: Arc<Vec<u8>>,
    pub(super) pending: Vec<PendingWrite>,
    /// The changes before those that are pending.
    pub(super) settled: u64,
}

#[derive(Debug, Clone, Default)]
pub(super) struct Directory {
    pub(super) seen: BTreeMap<OsString, Node>,
    pub(super) durable: BTreeMap<OsString, Node>,
    pub(super) pending: Vec<PendingName>,
    /// The changes before those that are pending.
    pub(super) settled: u64,
}

/// All files and directories.
#[derive(Debug, Clone)]
pub(super) struct World {
    pub(super) inodes: BTreeMap<usize, Inode>,
    pub(super) directories: BTreeMap<PathBuf, Directory>,
    /// The calls that were made of it.
    pub(super) calls: u64,
    locked: Arc<Mutex<BTreeSet<InodeId>>>,
}

impl Default for World {
    fn default() -> Self {
        let root = (PathBuf::from("/"), Directory::default());
        Self {
            inodes: BTreeMap::new(),
            directories: [root].into(),
            calls: 0,
            locked: Arc::default(),
        }
    }
}

/// A lock, free again once it is dropped.
struct Held(InodeId, Arc<Mutex<BTreeSet<InodeId>>>);

impl Drop for Held {
    fn drop(&mut self) {
        self.1.lock().remove(&self.0);
    }
}

fn absent() -> io::Error {
    io::ErrorKind::NotFound.into()
}

/// The directory and the name of a path.
fn split(path: &Path) -> io::Result<(&Path, OsString)> {
    let name = path.file_name().ok_or_else(absent)?;
    Ok((path.parent().ok_or_else(absent)?, name.to_owned()))
}

impl PendingWrite {
    /// Makes the change.
    pub(super) fn apply(&self, content: &mut Vec<u8>) {
        match self {
            Self::Write { at, bytes } => overwrite(content, *at, bytes),
            Self::Truncate(bytes) => content.resize(*bytes as usize, 0),
        }
    }
}

/// Writes bytes over what is there, or behind it.
pub(super) fn overwrite(content: &mut Vec<u8>, at: u64, bytes: &[u8]) {
    let (begin, end) = (at as usize, at as usize + bytes.len());
    if content.len() < end {
        content.resize(end, 0);
    }
    if let Some(place) = content.get_mut(begin..end) {
        place.copy_from_slice(bytes);
    }
}

impl World {
    fn directory(&mut self, path: &Path) -> io::Result<&mut Directory> {
        self.directories.get_mut(path).ok_or_else(absent)
    }

    fn inode(&mut self, inode: InodeId) -> &mut Inode {
        self.inodes.entry(inode.0).or_default()
    }

    pub(super) fn create_directory(&mut self, path: &Path) -> io::Result<()> {
        let (above, name) = split(path)?;
        self.name(above, vec![(name, Some(Node::Directory))], false)?;
        self.directories.insert(path.to_owned(), Directory::default());
        Ok(())
    }

    pub(super) fn create(&mut self, path: &Path) -> io::Result<InodeId> {
        let (above, name) = split(path)?;
        let inode = InodeId(self.inodes.len());
        self.name(above, vec![(name, Some(Node::File(inode)))], false)?;
        self.inodes.insert(inode.0, Inode::default());
        Ok(inode)
    }

    /// Changes names; one that is there is in the way unless it is replaced.
    fn name(
        &mut self,
        directory: &Path,
        names: Vec<(OsString, Option<Node>)>,
        replaces: bool,
    ) -> io::Result<()> {
        let directory = self.directory(directory)?;
        let is_taken = |(name, node): &(OsString, Option<Node>)| {
            node.is_some() && directory.seen.contains_key(name)
        };
        if !replaces && names.iter().any(is_taken) {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        rename_in(&mut directory.seen, &names);
        directory.pending.push(PendingName { names });
        Ok(())
    }

    pub(super) fn find(&mut self, path: &Path) -> io::Result<InodeId> {
        let (above, name) = split(path)?;
        match self.directory(above)?.seen.get(&name) {
            Some(Node::File(inode)) => Ok(*inode),
            Some(Node::Directory) => Err(io::ErrorKind::IsADirectory.into()),
            None => Err(absent()),
        }
    }

    /// The path of a file now, if it has one.
    pub(super) fn path_of(&self, inode: InodeId) -> Option<PathBuf> {
        self.directories.iter().find_map(|(path, directory)| {
            let found = directory.seen.iter().find(|(_, node)| **node == Node::File(inode));
            found.map(|(name, _)| path.join(name))
        })
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> io::Result<()> {
        let inode = self.find(from)?;
        let ((above, from), (_, to)) = (split(from)?, split(to)?);
        self.name(above, vec![(from, None), (to, Some(Node::File(inode)))], true)
    }

    /// Gives a file a second name, which is not taken.
    pub(super) fn link(&mut self, file: &Path, name: &Path) -> io::Result<()> {
        let inode = self.find(file)?;
        let (above, name) = split(name)?;
        self.name(above, vec![(name, Some(Node::File(inode)))], false)
    }

    pub(super) fn remove(&mut self, path: &Path) -> io::Result<()> {
        self.find(path)?;
        let (above, name) = split(path)?;
        self.name(above, vec![(name, None)], true)
    }

    pub(super) fn sync_directory(&mut self, path: &Path) -> io::Result<()> {
        self.sync_directory_until(path, u64::MAX)
    }

    /// The changes of a directory's names so far.
    pub(super) fn name_changes(&mut self, path: &Path) -> io::Result<u64> {
        let directory = self.directory(path)?;
        Ok(directory.settled + directory.pending.len() as u64)
    }

    /// Puts the changes of names on disk that were the first so many.
    pub(super) fn sync_directory_until(&mut self, path: &Path, changes: u64) -> io::Result<()> {
        let directory = self.directory(path)?;
        for change in take_first(&mut directory.pending, &mut directory.settled, changes) {
            rename_in(&mut directory.durable, &change.names);
        }
        Ok(())
    }

    pub(super) fn list(&mut self, path: &Path) -> io::Result<Vec<PathBuf>> {
        let directory = self.directory(path)?;
        Ok(directory.seen.keys().map(|name| path.join(name)).collect())
    }

    pub(super) fn lock(&mut self, inode: InodeId) -> Option<impl Send + Sync + 'static> {
        let is_free = self.locked.lock().insert(inode);
        is_free.then(|| Held(inode, Arc::clone(&self.locked)))
    }

    pub(super) fn read(&mut self, inode: InodeId, into: &mut [u8], at: u64) -> usize {
        let seen = &self.inode(inode).seen;
        let rest = seen.get(at as usize..).unwrap_or_default();
        let read = rest.len().min(into.len());
        if let (Some(into), Some(rest)) = (into.get_mut(..read), rest.get(..read)) {
            into.copy_from_slice(rest);
        }
        read
    }

    fn change(&mut self, inode: InodeId, change: PendingWrite) {
        let inode = self.inode(inode);
        change.apply(&mut inode.seen);
        inode.pending.push(change);
    }

    pub(super) fn write(&mut self, inode: InodeId, bytes: &[u8], at: u64) {
        self.change(inode, PendingWrite::Write { at, bytes: bytes.into() });
    }

    pub(super) fn truncate(&mut self, inode: InodeId, bytes: u64) {
        self.change(inode, PendingWrite::Truncate(bytes));
    }

    pub(super) fn length(&mut self, inode: InodeId) -> u64 {
        self.inode(inode).seen.len() as u64
    }

    pub(super) fn sync(&mut self, inode: InodeId) {
        self.sync_until(inode, u64::MAX);
    }

    /// The changes of a file so far.
    pub(super) fn changes(&mut self, inode: InodeId) -> u64 {
        let inode = self.inode(inode);
        inode.settled + inode.pending.len() as u64
    }

    /// Puts the changes of a file on disk that were the first so many.
    pub(super) fn sync_until(&mut self, inode: InodeId, changes: u64) {
        let inode = self.inode(inode);
        let durable = Arc::make_mut(&mut inode.durable);
        for change in take_first(&mut inode.pending, &mut inode.settled, changes) {
            change.apply(durable);
        }
    }

    /// Takes for written what is not, as a system does after a sync that failed.
    pub(super) fn lose(&mut self, inode: InodeId) {
        let inode = self.inode(inode);
        take_first(&mut inode.pending, &mut inode.settled, u64::MAX);
    }

    /// Shows what the disk has, with what is still to be written.
    pub(super) fn forget_cached(&mut self, inode: InodeId) {
        let inode = self.inode(inode);
        let mut seen = Vec::clone(&inode.durable);
        for change in &inode.pending {
            change.apply(&mut seen);
        }
        inode.seen = seen;
    }

    /// The same disk after the machine was started again, or only the process: nobody holds a lock.
    pub(super) fn unlocked(mut self) -> Self {
        self.locked = Arc::default();
        self
    }
}

/// Takes those changes out that were the first so many, which are settled then.
fn take_first<T>(pending: &mut Vec<T>, settled: &mut u64, changes: u64) -> Vec<T> {
    let first = changes.saturating_sub(*settled).min(pending.len() as u64);
    *settled += first;
    pending.drain(..first as usize).collect()
}

/// Makes changes of names.
pub(super) fn rename_in(
    names: &mut BTreeMap<OsString, Node>,
    changes: &[(OsString, Option<Node>)],
) {
    for (name, node) in changes {
        match node {
            Some(node) => names.insert(name.clone(), *node),
            None => names.remove(name),
        };
    }
}
