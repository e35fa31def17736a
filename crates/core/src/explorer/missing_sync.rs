//! The syncs of the stores, each of which can be left out to show that the explorer misses it.

use std::path::Path;

use parking_lot::Mutex;

use crate::disk::simulated::CallKind;

/// A sync that is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MissingSync {
    /// Its name.
    pub name: &'static str,
    /// The part of the data directory.
    folder: &'static str,
    /// The start and the end of the names of its files.
    file: (&'static str, &'static str),
    of: Synced,
    /// Set if a state without it is lost; else it only spares work, and this says why.
    pub needed: Result<(), &'static str>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Synced {
    /// The bytes of the file.
    Bytes,
    /// Its name, by the sync of its directory that follows on a change of it.
    Name,
}

use Synced::{Bytes, Name};

const fn needed(
    name: &'static str,
    folder: &'static str,
    file: (&'static str, &'static str),
    of: Synced,
) -> MissingSync {
    MissingSync { name, folder, file, of, needed: Ok(()) }
}

const fn spared(
    name: &'static str,
    folder: &'static str,
    file: (&'static str, &'static str),
    of: Synced,
    why: &'static str,
) -> MissingSync {
    MissingSync { name, folder, file, of, needed: Err(why) }
}

/// The syncs of journal, bases, long values, marks, packs, tombstones, large bodies and directories.
pub const SYNCS: &[MissingSync] = &[
    needed("a group of the journal", "kv", ("journal-", "0123456789"), Bytes),
    needed("the name of a segment", "kv", ("journal-", ""), Name),
    needed("a base", "kv", ("base-", ".new"), Bytes),
    needed("the name of a base", "kv", ("base-", ""), Name),
    // A base names long values by their places; before one does, the log has them.
    needed("a pack of long values", "kv/values/packs", ("", ".pack"), Bytes),
    needed("the name of a pack of long values", "kv/values/packs", ("", ".pack"), Name),
    needed("a pack of bodies", "blobs/packs", ("", ".pack"), Bytes),
    needed("the name of a pack of bodies", "blobs/packs", ("", ".pack"), Name),
    needed("a large body", "blobs/large", ("", ".part"), Bytes),
    needed("the name of a large body", "blobs/large", ("", ""), Name),
    needed("the name of the data directory", "..", ("", ""), Name),
    needed("the header of a segment", "kv", ("journal-", ".spare"), Bytes),
    // After a cut it is filled anew, unless it was closed.
    needed("the tree", "kv", ("redb", ""), Bytes),
    spared(
        "the state of the tree",
        "kv",
        ("index", ""),
        Bytes,
        "a torn one says nothing, and the tree is filled anew",
    ),
    spared(
        "the tombstones",
        "blobs/packs",
        ("graves", ""),
        Bytes,
        "a body whose tombstone is lost is an orphan, which is swept",
    ),
];

impl MissingSync {
    /// The sync of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        SYNCS.iter().find(|sync| sync.name == name).copied()
    }

    /// Returns whether a file is one of those whose sync it is.
    fn is_of(&self, path: &Path) -> bool {
        let (start, end) = self.file;
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let ends = match end {
            "0123456789" => name.ends_with(|last: char| last.is_ascii_digit()),
            end => name.ends_with(end),
        };
        let folder = super::stores::data().join(self.folder);
        let is_there = match self.folder {
            ".." => path.parent() == Some(Path::new("/")),
            _ => path.parent() == Some(&*folder),
        };
        is_there && name.starts_with(start) && ends
    }

    /// Tells of each call whether it is this sync.
    pub(super) fn rule(self) -> impl Fn(CallKind, &Path) -> bool + Send + Sync {
        // The name that was changed last in the directory.
        let changed = Mutex::new(false);
        move |kind, path| match (self.of, kind) {
            (Bytes, CallKind::Sync) => self.is_of(path),
            (Name, CallKind::Create | CallKind::CreateDirectory | CallKind::Rename) => {
                let folder = super::stores::data().join(self.folder);
                if path.parent() == Some(&*folder) || self.folder == ".." {
                    *changed.lock() = self.is_of(path);
                }
                false
            }
            (Name, CallKind::SyncDirectory) => {
                let folder = super::stores::data().join(self.folder);
                let is_its = match self.folder {
                    ".." => path == Path::new("/"),
                    _ => path == folder,
                };
                is_its && (self.folder == ".." || *changed.lock())
            }
            _ => false,
        }
    }
}
