//! The first start on a directory that has no log of its own: a new one, or one of a release whose truth was sled's tree.

use std::fs::File;
use std::path::Path;
use std::sync::Arc;

use super::base::{self, Base, BaseError, BaseWriter};
use super::index_state::{IndexState, replace_whole};
use super::open::{FORMAT, MARK, Opening, open_tree, refused};
use super::open_error::OpenError;
use super::preflight::{self, SETTINGS};
use super::rows::{LastVersion, Rows, VERSION_KEY};
use super::tree::Tree;
use super::wal::{Segment, Spares, TURNS, is_spare, replay};
use super::{Engine, Sled, Version, wall_clock_millis};
use crate::disk::{Disk, DiskFile};

impl Sled {
    /// Takes over a directory of another format, or begins a new one. Until the mark says so at the end, the directory is as it was to who
    /// wrote it.
    pub(super) fn take_over(opening: &Opening<'_>, lock: File) -> Result<Self, OpenError> {
        let Opening { disk, config, path } = opening;
        let disk = *disk;
        let directory = &config.directory;
        let unusable = |error: std::io::Error| opening.unusable(&error);
        let marked = directory.join(MARK).exists();
        preflight::check_older(&**disk, directory)?;
        remove_unmarked(&**disk, directory).map_err(unusable)?;
        let tree = open_tree(config).map_err(|error| match error {
            Some(error) => refused(path, &error),
            None => opening.corrupt("the engine could not read its own log"),
        })?;
        let file = disk.open(&directory.join(preflight::TREE)).map_err(unusable)?;
        let last = match tree.get(VERSION_KEY) {
            // A damaged log can look like an empty one to sled; the mark tells that there was a store.
            Ok(None) if marked => return Err(opening.corrupt("its records are gone")),
            Ok(None) => {
                begin(&tree, &*file).map_err(|error| refused(path, &error))?;
                LastVersion { version: Version::ABSENT, replaced: Vec::new() }
            }
            Ok(Some(stored)) => LastVersion::read(&stored)
                .ok_or_else(|| opening.corrupt("its last version cannot be read"))?,
            Err(error) => return Err(refused(path, &error)),
        };
        if opening.marked_with(TURNS_FORMAT)
            && TURNS.iter().any(|name| !directory.join(name).exists())
        {
            return Err(opening.corrupt("its journal is gone"));
        }
        // Before anything changes: a broken log leaves the store as it is.
        let segments = Segment::turns(&**disk, directory).map_err(|error| opening.wal(error))?;
        let mut rows = Rows::new();
        let end = replay(&segments, last.version, &mut |frame| {
            frame.add_to(&mut rows)?;
            Ok(true)
        });
        let end = end.map_err(|error| opening.wal(error))?;
        if end.is_at_odds {
            return Err(opening.corrupt("its journal and its records are at odds"));
        }
        let spares = Arc::new(Spares::default());
        let engine = opening.engine(tree, file, &last, lock, Arc::clone(&spares))?;
        opening.catch_up(&engine, &rows, end.last)?;
        let base = base_of_tree(&engine, end.last).map_err(|error| opening.base(error))?;
        *engine.base.lock() = Some(base);
        let wal = opening.wal_at(spares, 1, end.last).map_err(unusable)?;
        opening.note_open().map_err(unusable)?;
        set_mark(&**disk, &*engine.file, directory).map_err(unusable)?;
        for name in TURNS.iter().filter(|name| directory.join(name).exists()) {
            disk.remove(&directory.join(name)).map_err(unusable)?;
        }
        preflight::forget_failure(&**disk, directory).map_err(unusable)?;
        opening.start(engine, wal, end, Vec::new(), None)
    }
}

/// The mark of a directory whose log was two files that took turns.
const TURNS_FORMAT: &str = "2\n";

/// Puts the first version on disk, before the mark says that there is a store.
fn begin(tree: &Tree, file: &dyn DiskFile) -> sled::Result<()> {
    tree.insert(VERSION_KEY, LastVersion::write(Version::ABSENT, &[]))?;
    tree.flush()?;
    Ok(file.sync()?)
}

/// Removes what an earlier start made that did not come to its mark.
fn remove_unmarked(disk: &dyn Disk, directory: &Path) -> std::io::Result<()> {
    IndexState::forget(disk, directory)?;
    let (bases, unfinished) = base::paths(disk, directory)?;
    let segments = Segment::paths(disk, directory)?;
    let spares = disk.list(directory)?.into_iter().filter(|path| is_spare(path));
    for path in bases.into_iter().chain(unfinished).chain(segments).chain(spares) {
        disk.remove(&path)?;
    }
    Ok(())
}

/// The base of all rows of a tree, which has everything up to `last`.
fn base_of_tree(engine: &Engine, last: Version) -> Result<Base, BaseError> {
    let failed = |error| BaseError::Unreadable(engine.directory.clone(), error);
    let disk = &*engine.disk;
    let mut writer =
        BaseWriter::create(disk, &engine.directory, last, wall_clock_millis()).map_err(failed)?;
    let rows = engine.tree.range(..).map_err(|error| failed(std::io::Error::other(error)))?;
    let mut rows = rows;
    while let Some(row) = super::tree::caught(|| rows.next().transpose()).transpose() {
        let (key, stored) = row.map_err(|error| failed(std::io::Error::other(error)))?;
        if key.as_ref() != VERSION_KEY {
            writer.add(&key, &stored).map_err(failed)?;
        }
    }
    writer.finish()
}

/// Says on disk that there is a store of this format, once its files and their names are there.
fn set_mark(disk: &dyn Disk, tree: &dyn DiskFile, directory: &Path) -> std::io::Result<()> {
    tree.sync()?;
    // sled writes its settings once, and does not sync them.
    disk.open(&directory.join(SETTINGS))?.sync()?;
    disk.sync_directory(directory)?;
    replace_whole(disk, directory, MARK, FORMAT.as_bytes())
}
