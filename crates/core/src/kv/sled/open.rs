//! Opening a directory as a store: the truth first, then the tree, then the threads.

use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, RwLock};

use super::base::{Base, BaseSummary};
use super::config::SledConfig;
use super::index_state::{IndexState, replace_whole};
use super::kept_values::KeptValues;
use super::log_files::sealed;
use super::memtable::CommitQueue;
use super::open_error::OpenError;
use super::opening::Opening;
use super::preflight;
use super::rebuild_report::RebuildReason;
use super::row_cache::RowCache;
use super::rows::{LastVersion, Rows};
use super::take_over::base_of_tree;
use super::tree::Tree;
use super::trusted_tree::TrustedTree;
use super::value_log::ValueLog;
use super::wal::{LogEnd, SealedSegment, Segment, Spares, Wal};
use super::{Engine, Sled};
use crate::blobs::missing_pack;
use crate::disk::{Disk, DiskLock, SystemDisk};
use crate::kv::{ClosingFault, DecodedCache, VALUE_BYTES_MAX, Version, WriteVersions};

/// The directory of the value log.
const VALUES: &str = "values";
/// The file that says that there is one.
const VALUES_MARK: &str = "has-values";
/// Segments of the log that are as long as a pack of the value log.
const SEGMENTS_OF_A_PACK: u64 = 8;

impl Sled {
    /// Opens the store in a directory, or makes an empty one.
    ///
    /// # Errors
    /// [`OpenError`]: the directory, foreign files, a lock, a disk that cannot be read, damage, in this order.
    pub fn open(config: &SledConfig) -> Result<Self, OpenError> {
        Self::open_on(Arc::new(SystemDisk), config)
    }

    /// [`Sled::open`] on another disk, for all but what sled does by itself.
    pub(crate) fn open_on(disk: Arc<dyn Disk>, config: &SledConfig) -> Result<Self, OpenError> {
        let opened = Self::open_noting_nothing(&disk, config);
        if let Err(OpenError::Directory { .. } | OpenError::Unreadable { .. }) = &opened {
            // What the system believes of these files after a fault may not be what the disk has.
            let _ = IndexState::forget(&*disk, &config.directory);
        }
        opened
    }

    fn open_noting_nothing(disk: &Arc<dyn Disk>, config: &SledConfig) -> Result<Self, OpenError> {
        let path = config.directory.display().to_string();
        let opening = Opening { disk, config, path };
        let unusable = |error: io::Error| opening.unusable(&error);
        disk.make_directory(&config.directory).map_err(unusable)?;
        if has_files(&**disk, &config.directory.join("blobs")).map_err(unusable)? {
            return Err(OpenError::Foreign { path: opening.path });
        }
        opening.check_mark()?;
        let lock = preflight::lock(&**disk, &config.directory)?;
        if !opening.has_log().map_err(unusable)? {
            return Self::take_over(&opening, lock);
        }
        opening.open_log(lock)
    }
}

impl Opening<'_> {
    /// Opens a store whose truth is its base and its log.
    fn open_log(&self, lock: DiskLock) -> Result<Sled, OpenError> {
        let (disk, directory) = (self.disk, &self.config.directory);
        let unusable = |error: io::Error| self.unusable(&error);
        preflight::check_tree_is_free(&**disk, directory, &self.config.tree_path())?;
        // A kill leaves names that the disk does not have yet, and what they replace goes next.
        disk.sync_directory(directory).map_err(unusable)?;
        let state = IndexState::read(&**disk, directory).map_err(unusable)?;
        if state == IndexState::Unknown {
            self.forget_cached_log()?;
        }
        let mut base = self.newest_base()?;
        self.end_log_where_asked()?;
        let segments = Segment::all(&**disk, directory).map_err(|error| self.wal(error))?;
        if segments.is_empty() {
            return Err(self.corrupt("its journal is gone"));
        }
        if let Some(last) = segments.last() {
            // A kill leaves frames of the process level that the disk does not have yet. Those behind them will say that it has, and the tree
            // takes them.
            last.sync().map_err(unusable)?;
        }
        let spares = Arc::new(self.spares(&segments, &base).map_err(unusable)?);
        let trusted = self.trusted_tree(&state, base.summary.version, &segments)?;
        // A tree that was closed has all that the log had.
        if trusted.is_err() || !matches!(state, IndexState::Closed(_)) {
            self.check_end(&segments)?;
        }
        let (engine, end, reason) = match trusted {
            Ok(TrustedTree { tree, last, rows, end }) => {
                let log_is_whole = !matches!(state, IndexState::Ahead(_))
                    && self.log_leads_to(end.last, &segments, base.summary.version)?;
                let mut engine = self.engine(tree, &last, lock, spares)?;
                self.catch_up(&engine, &rows, end.last)?;
                if !log_is_whole {
                    base = self.replace_base(&engine, &base, end.last)?;
                    self.note_open().map_err(unusable)?;
                    engine.log_was_broken = true;
                }
                *engine.base.lock() = Some(base);
                (engine, end, None)
            }
            Err(reason) => {
                let (engine, end) = self.rebuild(&base, lock, spares, &reason)?;
                self.note_open().map_err(unusable)?;
                *engine.base.lock() = Some(base);
                (engine, end, Some(reason))
            }
        };
        let version =
            engine.base.lock().as_ref().map_or(Version::ABSENT, |base| base.summary.version);
        self.cut_tail(&end).map_err(unusable)?;
        let sealed = sealed(&segments, version, &end);
        let number = segments.last().map_or(1, |segment| segment.number + 1);
        let spares = Arc::clone(&engine.spares);
        self.raise_mark().map_err(unusable)?;
        let wal = self.wal_at(spares, number, end.last).map_err(unusable)?;
        self.start(engine, wal, end, sealed, reason)
    }

    /// An engine on a tree that has everything up to `last`. Its base is still to come.
    pub(super) fn engine(
        &self,
        tree: Box<dyn Tree>,
        last: &LastVersion,
        lock: DiskLock,
        spares: Arc<Spares>,
    ) -> Result<Engine, OpenError> {
        let config = self.config;
        Ok(Engine {
            value_log: self.value_log(last)?,
            kept_values: Mutex::new(KeptValues::open(&**self.disk, &config.directory.join(VALUES))),
            disk: Arc::clone(self.disk),
            directory: config.directory.clone(),
            tree,
            lost_frames: None,
            rebuilt: None,
            log_was_broken: false,
            _lock: lock,
            base: Mutex::new(None),
            making_base: Mutex::new(()),
            noting_state: Mutex::new(()),
            spares,
            row_cache: RowCache::new(config.row_cache_bytes()),
            write_versions: WriteVersions::new(last.version),
            decoded_cache: DecodedCache::new(),
            queue: RwLock::new(CommitQueue::new(last.version, BaseSummary::default(), Vec::new())),
            inserting: RwLock::new(()),
            tree_fault: OnceLock::new(),
            closing_fault: ClosingFault::default(),
            wal_parker: OnceLock::new(),
            checkpoint_parker: OnceLock::new(),
            base_parker: OnceLock::new(),
            #[cfg(feature = "testing")]
            sync_is_left_out: config.sync_is_left_out,
        })
    }

    /// Brings into the tree what only the log has.
    pub(super) fn catch_up(
        &self,
        engine: &Engine,
        rows: &Rows,
        last: Version,
    ) -> Result<(), OpenError> {
        if rows.is_empty() {
            return Ok(());
        }
        let failed = |reason: String| self.unusable(&io::Error::other(reason));
        let mut replaced = Vec::new();
        engine.checkpoint(rows, last, &mut replaced).map_err(failed)?;
        if let Some(value_log) = &engine.value_log {
            let deleted = value_log.delete(&replaced);
            deleted.map_err(|error| failed(error.to_string()))?;
        }
        Ok(())
    }

    /// Makes a base of the tree, which has everything up to `last`, in place of one from which the log does not lead there any more.
    fn replace_base(
        &self,
        engine: &Engine,
        broken: &Base,
        last: Version,
    ) -> Result<Base, OpenError> {
        let base = base_of_tree(engine, last).map_err(|error| self.base(error))?;
        if base.path != broken.path {
            self.disk.remove(&broken.path).map_err(|error| self.unusable(&error))?;
        }
        Ok(base)
    }

    /// Starts the threads of an engine whose tree has all of the log.
    pub(super) fn start(
        &self,
        mut engine: Engine,
        wal: Wal,
        end: LogEnd,
        sealed: Vec<SealedSegment>,
        rebuilt: Option<RebuildReason>,
    ) -> Result<Sled, OpenError> {
        let base =
            engine.base.lock().as_ref().map_or_else(BaseSummary::default, |base| base.summary);
        let mut queue = CommitQueue::new(end.last, base, sealed);
        queue.base_bytes_min = self.config.base_bytes_min;
        *engine.queue.write() = queue;
        engine.kept_values.lock().known_up_to(end.last);
        engine.lost_frames = end.lost;
        engine.rebuilt = rebuilt;
        Sled::start(engine, wal).map_err(|error| self.unusable(&error))
    }

    /// The log, with a segment of this number that follows `last`.
    pub(super) fn wal_at(
        &self,
        spares: Arc<Spares>,
        number: u64,
        last: Version,
    ) -> io::Result<Wal> {
        let (disk, config) = (Arc::clone(self.disk), self.config);
        Wal::start(disk, &config.directory, spares, config.segment_bytes, number, last)
    }

    /// The value log, if values go there, or went there once.
    pub(super) fn value_log(&self, last: &LastVersion) -> Result<Option<ValueLog>, OpenError> {
        let config = self.config;
        let path = config.directory.join(VALUES);
        let unusable = |error: io::Error| self.unusable(&error);
        let is_there = self.disk.has_directory(&path).map_err(unusable)?;
        let mark = config.directory.join(VALUES_MARK);
        let is_marked = self.disk.file_id(&mark).is_ok();
        if is_marked && !is_there {
            return Err(self.corrupt(format!("its long values in {} are gone", path.display())));
        }
        if config.record_bytes_max >= VALUE_BYTES_MAX && !is_there {
            return Ok(None);
        }
        if let Some(pack) = missing_pack(&**self.disk, &path).map_err(unusable)? {
            return Err(self.corrupt(format!("its long values in {} are gone", pack.display())));
        }
        let pack_bytes_max = config.segment_bytes * SEGMENTS_OF_A_PACK;
        let disk = Arc::clone(self.disk);
        let opened = ValueLog::open(disk, &path, config.record_bytes_max, pack_bytes_max, last);
        let opened = opened.map_err(|error| OpenError::Directory {
            path: path.display().to_string(),
            reason: error.to_string(),
        })?;
        if !is_marked {
            replace_whole(&**self.disk, &config.directory, VALUES_MARK, b"").map_err(unusable)?;
        }
        Ok(Some(opened))
    }
}

fn has_files(disk: &dyn Disk, directory: &Path) -> io::Result<bool> {
    match disk.list(directory) {
        Ok(files) => Ok(!files.is_empty()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
