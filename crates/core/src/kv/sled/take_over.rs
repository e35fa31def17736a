//! The first start on a directory that has no log of its own: a new one, or one of a release whose truth was sled's tree.

use std::path::Path;
use std::sync::Arc;

use super::base::{self, Base, BaseError, BaseWriter};
use super::index_state::IndexState;
use super::open_error::OpenError;
use super::opening::Opening;
use super::rows::{LastVersion, Rows, VERSION_KEY};
use super::tree::{self, ALL, TreeKind};
use super::wal::{Segment, Spares, TURNS, is_spare, replay};
use super::{Engine, Sled, Version, mark, preflight};
use crate::disk::{Disk, DiskLock};
use crate::kv::Order;
use crate::schedule::wall_clock_millis;

impl Sled {
    /// Takes over a directory of another format, or begins a new one. Until the mark says so at the end, the directory is as it was to who
    /// wrote it.
    pub(super) fn take_over(opening: &Opening<'_>, lock: DiskLock) -> Result<Self, OpenError> {
        let (disk, config) = (opening.disk, opening.config);
        let directory = &config.directory;
        let unusable = |error: std::io::Error| opening.unusable(&error);
        let is_begun = opening.is_begun().map_err(unusable)?;
        let format = opening.mark().map_err(unusable)?.filter(|_| !is_begun);
        let has_tree = disk.file_id(&TreeKind::Sled.path(directory)).is_ok();
        let has_older = format.is_some() || (has_tree && !is_begun);
        if has_older {
            preflight::check_older(&**disk, directory)?;
        }
        let is_there = |name: &&&str| disk.file_id(&directory.join(name)).is_ok();
        // Before anything is removed: where the mark was changed by a bit, what is removed is the truth.
        if has_older && !has_tree {
            return Err(opening.corrupt("its records are gone"));
        }
        if format.as_deref().map(str::trim) == Some(TURNS_FORMAT)
            && TURNS.iter().filter(is_there).count() < TURNS.len()
        {
            return Err(opening.corrupt("its journal is gone"));
        }
        remove_unmarked(&**disk, directory).map_err(unusable)?;
        let kind = if has_older { TreeKind::Sled } else { config.tree.clone() };
        if !has_older {
            // A start that was cut off before its mark may have left half a tree, which never held anything.
            tree::remove(&**disk, directory).map_err(unusable)?;
            mark::begin(&**disk, directory).map_err(unusable)?;
        }
        let tree = config.open_tree(&kind, disk).map_err(|error| opening.refused(error))?;
        let last = match tree.get(VERSION_KEY).map_err(|error| opening.refused(error))? {
            // A damaged log can look like an empty one to sled; the mark tells that there was a store.
            None if format.is_some() => return Err(opening.corrupt("its records are gone")),
            None => {
                let begun = tree.seal(LastVersion::write(Version::ABSENT, &[]).into());
                begun.map_err(|error| opening.refused(error))?;
                LastVersion { version: Version::ABSENT, replaced: Vec::new() }
            }
            Some(stored) => LastVersion::read(&stored)
                .ok_or_else(|| opening.corrupt("its last version cannot be read"))?,
        };
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
        let engine = opening.engine(tree, &last, lock, Arc::clone(&spares))?;
        opening.catch_up(&engine, &rows, end.last)?;
        let base = base_of_tree(&engine, end.last).map_err(|error| opening.base(error))?;
        *engine.base.lock() = Some(base);
        let wal = opening.wal_at(spares, 1, end.last).map_err(unusable)?;
        opening.note_open().map_err(unusable)?;
        mark::set(&**disk, directory).map_err(unusable)?;
        for name in TURNS.iter().filter(is_there) {
            disk.remove(&directory.join(name)).map_err(unusable)?;
        }
        preflight::forget_failure(&**disk, directory).map_err(unusable)?;
        let store = opening.start(engine, wal, end, Vec::new(), None)?;
        if kind.path(directory) == config.tree_path() {
            return Ok(store);
        }
        // The older release had another tree than is asked for.
        drop(store);
        Self::open_on(Arc::clone(disk), config)
    }
}

/// The mark of a directory whose log was two files that took turns.
const TURNS_FORMAT: &str = "2";

/// Removes what an earlier start made that did not come to its mark.
pub(super) fn remove_unmarked(disk: &dyn Disk, directory: &Path) -> std::io::Result<()> {
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
pub(super) fn base_of_tree(engine: &Engine, last: Version) -> Result<Base, BaseError> {
    let failed = |error| BaseError::Unreadable(engine.directory.clone(), error);
    let disk = &*engine.disk;
    let mut writer =
        BaseWriter::create(disk, &engine.directory, last, wall_clock_millis()).map_err(failed)?;
    let rows = engine.tree.range(ALL, Order::Ascending);
    for row in rows.map_err(|error| failed(std::io::Error::other(error)))? {
        let (key, stored) = row.map_err(|error| failed(std::io::Error::other(error)))?;
        if key.as_ref() != VERSION_KEY {
            writer.add(&key, &stored).map_err(failed)?;
        }
    }
    writer.finish()
}
