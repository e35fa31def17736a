//! Replay of a real process's calls: its changes are made here one by one, and what is left is written out for a real process again.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::world::{InodeId, Node};
use super::{CallKind, SimulatedDisk};
use crate::disk::{Disk as _, DiskFile as _};

/// A file of the disk, whatever its name is by now.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct FileNumber(InodeId);

/// A change of what is on the disk.
#[derive(Debug, Clone)]
pub enum Change {
    /// A directory is made.
    CreateDirectory(PathBuf),
    /// A file is made.
    Create(PathBuf),
    /// A file gets another name.
    Rename(PathBuf, PathBuf),
    /// A file gets a second name.
    Link(PathBuf, PathBuf),
    /// A file is removed.
    Remove(PathBuf),
    /// Bytes are written to a file, at an offset.
    Write(FileNumber, u64, Arc<[u8]>),
    /// A file is given a length.
    Truncate(FileNumber, u64),
}

/// A sync that is under way: it puts on disk what was changed before it began.
#[derive(Debug, Clone)]
pub struct BegunSync {
    of: Synced,
    changes: u64,
}

#[derive(Debug, Clone)]
enum Synced {
    File(InodeId),
    Names(PathBuf),
}

impl SimulatedDisk {
    /// The number of the file at a path.
    ///
    /// # Errors
    /// If there is none.
    pub fn file_number(&self, path: &Path) -> io::Result<FileNumber> {
        self.world.lock().find(path).map(FileNumber)
    }

    /// The path of a file now, if it has one.
    #[must_use]
    pub fn path_of(&self, file: FileNumber) -> Option<PathBuf> {
        self.world.lock().path_of(file.0)
    }

    /// The length of a file.
    #[must_use]
    pub fn length_of(&self, file: FileNumber) -> u64 {
        self.world.lock().length(file.0)
    }

    /// The bytes of a file at an offset, so many; fewer only at the end.
    #[must_use]
    pub fn bytes_of(&self, file: FileNumber, bytes: usize, at: u64) -> Vec<u8> {
        let mut into = vec![0; bytes];
        let read = self.world.lock().read(file.0, &mut into, at);
        into.truncate(read);
        into
    }

    /// Makes a change.
    ///
    /// # Errors
    /// As a call of the disk.
    pub fn make(&self, change: &Change) -> io::Result<()> {
        match change {
            Change::CreateDirectory(path) => self.create_directory(path),
            Change::Create(path) => self.create(path).map(drop),
            Change::Rename(from, to) if from.parent() != to.parent() => {
                Err(io::Error::other("a name that moves to another directory has no rule"))
            }
            Change::Rename(from, to) => self.rename(from, to),
            Change::Link(file, name) => self.world.lock().link(file, name),
            Change::Remove(path) => self.remove(path),
            Change::Write(file, at, bytes) => self.numbered(*file).write_all_at(bytes, *at),
            Change::Truncate(file, bytes) => self.numbered(*file).truncate(*bytes),
        }
    }

    fn numbered(&self, file: FileNumber) -> super::SimulatedFile {
        let path = self.world.lock().path_of(file.0).unwrap_or_default();
        super::SimulatedFile { disk: self.clone(), path, inode: file.0 }
    }

    /// Begins a sync of a file.
    #[must_use]
    pub fn begin_sync(&self, file: FileNumber) -> BegunSync {
        BegunSync { of: Synced::File(file.0), changes: self.world.lock().changes(file.0) }
    }

    /// Begins a sync of the names of a directory.
    ///
    /// # Errors
    /// If there is none at this path.
    pub fn begin_directory_sync(&self, path: &Path) -> io::Result<BegunSync> {
        let changes = self.world.lock().name_changes(path)?;
        Ok(BegunSync { of: Synced::Names(path.to_owned()), changes })
    }

    /// Ends a sync that succeeded.
    ///
    /// # Errors
    /// As a call of the disk.
    pub fn end_sync(&self, sync: &BegunSync) -> io::Result<()> {
        let (kind, path, inode) = match &sync.of {
            Synced::File(inode) => (CallKind::Sync, Path::new("/"), Some(*inode)),
            Synced::Names(path) => (CallKind::SyncDirectory, &**path, None),
        };
        self.call(kind, (path, inode), |world, fails, is_left_out| match (fails, is_left_out) {
            (Some(with), _) => Err(with.into()),
            (None, true) => Ok(()),
            (None, false) => match &sync.of {
                Synced::File(inode) => {
                    world.sync_until(*inode, sync.changes);
                    Ok(())
                }
                Synced::Names(path) => world.sync_directory_until(path, sync.changes),
            },
        })
    }

    /// Everything below a directory as processes see it: the bytes of each file, and nothing for a directory.
    #[must_use]
    pub fn below(&self, directory: &Path) -> BTreeMap<PathBuf, Option<Vec<u8>>> {
        let world = self.world.lock();
        let mut found = BTreeMap::new();
        let is_below = |path: &Path| path.starts_with(directory);
        for (path, names) in world.directories.iter().filter(|(path, _)| is_below(path)) {
            for (name, node) in &names.seen {
                let content = match node {
                    Node::Directory => None,
                    Node::File(inode) => world.inodes.get(&inode.0).map(|inode| inode.seen.clone()),
                };
                found.insert(path.join(name), content);
            }
        }
        found
    }
}
