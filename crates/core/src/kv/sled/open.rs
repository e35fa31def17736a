//! Opening a directory as a store: every way in which it can be wrong is named, with what to do.

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use parking_lot::{Mutex, RwLock};

use super::base::{self, Base, BaseError, BaseSummary};
use super::index_state::{IndexState, boot_id, place_of};
use super::memtable::CommitQueue;
use super::merge::{LogIndex, MergeError};
use super::open_error::OpenError;
use super::preflight::{self, TREE};
use super::rebuild::{RebuildError, RebuildProgress, RebuildReason, Report};
use super::row_cache::RowCache;
use super::rows::{LastVersion, Rows, VERSION_KEY};
use super::tree::Tree;
use super::value_log::ValueLog;
use super::wal::{LogEnd, SealedSegment, Segment, Spares, Wal, WalError, is_spare, replay};
use super::{Engine, Sled};
use crate::disk::{Disk, DiskFile, SystemDisk};
use crate::kv::{DecodedCache, VALUE_BYTES_MAX, Version, WriteVersions};

/// Segments of this size keep values of up to 64 KiB out of sled's `blobs/`, which it never syncs. It is fixed for the life of a store.
const SEGMENT_BYTES: usize = 8 * 1024 * 1024;

/// A segment of the log, unless it is asked for otherwise.
const LOG_SEGMENT_BYTES: u64 = 8 * 1024 * 1024;
/// Bytes of the log for which a base is made, unless it is asked for otherwise.
const BASE_BYTES_MIN: u64 = 32 * 1024 * 1024;

/// The file that says that the directory holds a store.
pub(super) const MARK: &str = "format";
/// Its content: 1 was a tree alone, 2 had a write-ahead log before it, 3 has a base and a log from which the tree can be filled.
pub(super) const FORMAT: &str = "3\n";
/// The most characters of a mark that is not known which are shown.
const FORMAT_SHOWN_MAX: usize = 32;
/// Share of the cache that is kept for rows that were read lately; sled has the rest for its pages.
const ROWS_SHARE: usize = 16;
/// The directory of the value log.
const VALUES: &str = "values";

/// Settings with which a store is opened.
#[derive(Debug, Clone)]
pub struct SledConfig {
    /// The directory of its files; made if it is not there.
    pub directory: PathBuf,
    /// Memory for the cache. The records must fit it: sled slows down tenfold when they do not.
    pub cache_bytes: u64,
    /// Values longer than this many bytes lie in packs beside the records, which keeps the records within the cache. At 64 KiB there are none.
    pub record_bytes_max: usize,
    /// A segment of the log is full at so many bytes. What the tree does not have yet stands in two of them at the most.
    pub segment_bytes: u64,
    /// A base is not made for less than so many bytes of the log.
    pub base_bytes_min: u64,
    /// The run of the machine since it was started: what a store left open in another one is not believed. None if the machine does not tell.
    pub boot_id: Option<String>,
    /// Fill the index anew from the log, whatever is known of it.
    pub rebuilds: bool,
    /// Told of the progress where the index is filled anew, with the reason.
    pub on_rebuild: Option<fn(&RebuildReason, RebuildProgress)>,
    /// Acknowledge without any sync: only there to show that the power-cut test can fail.
    #[cfg(feature = "testing")]
    pub sync_is_left_out: bool,
}

impl SledConfig {
    /// The store in `directory`, with a cache of 1 GiB and all values in their records.
    #[must_use]
    pub fn new(directory: impl Into<PathBuf>) -> Self {
        Self {
            directory: directory.into(),
            cache_bytes: 1024 * 1024 * 1024,
            record_bytes_max: VALUE_BYTES_MAX,
            segment_bytes: LOG_SEGMENT_BYTES,
            base_bytes_min: BASE_BYTES_MIN,
            boot_id: boot_id(),
            rebuilds: false,
            on_rebuild: None,
            #[cfg(feature = "testing")]
            sync_is_left_out: false,
        }
    }
}

impl Sled {
    /// Opens the store in a directory, or makes an empty one.
    ///
    /// # Errors
    /// [`OpenError`]: the directory, foreign files, a lock, a disk that cannot be read, damage, in this order.
    pub fn open(config: &SledConfig) -> Result<Self, OpenError> {
        Self::open_on(Arc::new(SystemDisk), config)
    }

    /// [`Sled::open`] on another disk, for all but what sled does by itself.
    pub(super) fn open_on(disk: Arc<dyn Disk>, config: &SledConfig) -> Result<Self, OpenError> {
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
        if has_files(&config.directory.join("blobs")).map_err(unusable)? {
            return Err(OpenError::Foreign { path: opening.path });
        }
        opening.check_mark()?;
        let lock = preflight::lock(&config.directory)?;
        if !opening.has_log().map_err(unusable)? {
            return Self::take_over(&opening, lock);
        }
        opening.open_log(lock)
    }
}

/// A directory that is being opened.
pub(super) struct Opening<'o> {
    pub(super) disk: &'o Arc<dyn Disk>,
    pub(super) config: &'o SledConfig,
    pub(super) path: String,
}

/// A tree whose files are believed, with what the log has beyond it.
struct TrustedTree {
    tree: Tree,
    file: Arc<dyn DiskFile>,
    last: LastVersion,
    rows: Rows,
    end: LogEnd,
}

impl Opening<'_> {
    /// Opens a store whose truth is its base and its log.
    fn open_log(&self, lock: File) -> Result<Sled, OpenError> {
        let (disk, directory) = (self.disk, &self.config.directory);
        let unusable = |error: io::Error| self.unusable(&error);
        let state = IndexState::read(&**disk, directory).map_err(unusable)?;
        if state == IndexState::Unknown {
            self.forget_cached_log()?;
        }
        let base = self.newest_base()?;
        let segments = Segment::all(&**disk, directory).map_err(|error| self.wal(error))?;
        if segments.is_empty() {
            return Err(self.corrupt("its journal is gone"));
        }
        let spares = Arc::new(self.spares(&segments, &base).map_err(unusable)?);
        let version = base.summary.version;
        let trusted = self.trusted_tree(&state, version, &segments)?;
        let (engine, end, reason) = match trusted {
            Ok(TrustedTree { tree, file, last, rows, end }) => {
                let engine = self.engine(tree, file, &last, lock, spares)?;
                self.catch_up(&engine, &rows, end.last)?;
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
        self.cut_tail(&end).map_err(unusable)?;
        let sealed = sealed(&segments, version, &end);
        let number = segments.last().map_or(1, |segment| segment.number + 1);
        let spares = Arc::clone(&engine.spares);
        let wal = self.wal_at(spares, number, end.last).map_err(unusable)?;
        self.start(engine, wal, end, sealed, reason)
    }

    /// The tree, if its files may be believed and are at a version of the log; else the reason to fill it anew. Nothing is changed.
    fn trusted_tree(
        &self,
        state: &IndexState,
        base: Version,
        segments: &[Segment],
    ) -> Result<Result<TrustedTree, RebuildReason>, OpenError> {
        let (disk, directory) = (&**self.disk, &self.config.directory);
        let reason = match state {
            _ if self.config.rebuilds => Some(RebuildReason::Asked),
            IndexState::Unknown => Some(RebuildReason::Unknown),
            IndexState::Closed(_) => None,
            IndexState::Open(place) => {
                let here = place_of(self.config.boot_id.as_deref(), directory);
                (here.as_ref() != Some(place)).then_some(RebuildReason::Restarted)
            }
        };
        if let Some(reason) = reason {
            return Ok(Err(reason));
        }
        // sled writes as soon as it opens.
        self.note_open().map_err(|error| self.unusable(&error))?;
        let (tree, file, last) = match self.read_tree(disk) {
            Ok(read) => read,
            Err(Refused::Locked) => return Err(OpenError::Locked { path: self.path.clone() }),
            Err(Refused::Unreadable(reason)) => return Ok(Err(RebuildReason::Unreadable(reason))),
        };
        let mut rows = Rows::new();
        let end = replay(segments, last.version, &mut |frame| {
            frame.add_to(&mut rows)?;
            Ok(true)
        });
        let is_closed_elsewhere =
            matches!(state, IndexState::Closed(version) if *version != last.version);
        match end {
            Ok(end) if last.version < base || end.is_at_odds || is_closed_elsewhere => {
                Ok(Err(RebuildReason::Version))
            }
            // The tree takes nothing that the log has not on disk.
            Ok(end) if last.version > base && !end.knows_begin => {
                Err(self.corrupt("the journal has lost its end"))
            }
            Ok(end) => Ok(Ok(TrustedTree { tree, file, last, rows, end })),
            // The log may be whole from its base on.
            Err(WalError::Damaged(_)) => Ok(Err(RebuildReason::Version)),
            Err(error) => Err(self.wal(error)),
        }
    }

    /// sled, its file and its last version.
    fn read_tree(
        &self,
        disk: &dyn Disk,
    ) -> Result<(Tree, Arc<dyn DiskFile>, LastVersion), Refused> {
        let unreadable = |error: &dyn std::fmt::Display| Refused::Unreadable(error.to_string());
        let directory = &self.config.directory;
        preflight::check_tree(disk, directory).map_err(|error| unreadable(&error))?;
        let tree = open_tree(self.config).map_err(|error| match error {
            Some(error) if is_lock(&error) => Refused::Locked,
            Some(error) => unreadable(&error),
            None => unreadable(&"the engine could not read its own log"),
        })?;
        let file = disk.open(&directory.join(TREE)).map_err(|error| unreadable(&error))?;
        let stored = tree.get(VERSION_KEY).map_err(|error| unreadable(&error))?;
        let last = stored.as_deref().and_then(LastVersion::read);
        Ok((tree, file, last.ok_or_else(|| unreadable(&"it has no last version"))?))
    }

    /// Fills a new tree from the base and the log. Until it is whole, and known to be, every start does it anew.
    fn rebuild(
        &self,
        base: &Base,
        lock: File,
        spares: Arc<Spares>,
        reason: &RebuildReason,
    ) -> Result<(Engine, LogEnd), OpenError> {
        let (disk, directory) = (self.disk, &self.config.directory);
        let unusable = |error: io::Error| self.unusable(&error);
        let segments = Segment::all(&**disk, directory).map_err(|error| self.wal(error))?;
        let everything = Version(u64::MAX);
        // Before anything changes: a broken log leaves the store as it is.
        let index = LogIndex::read(segments, base.summary.version, everything, u64::MAX);
        let index = index.map_err(|error| self.wal(error))?;
        if index.end.is_at_odds {
            return Err(self.corrupt("its journal and its base are at odds"));
        }
        base.verify().map_err(|error| self.base(error))?;
        IndexState::forget(&**disk, directory).map_err(unusable)?;
        preflight::remove_tree(&**disk, directory).map_err(unusable)?;
        let tree = open_tree(self.config).map_err(|error| match error {
            Some(error) => refused(&self.path, &error),
            None => self.corrupt("the engine could not begin its log"),
        })?;
        let file = disk.open(&directory.join(TREE)).map_err(unusable)?;
        let end = index.end.clone();
        let last = LastVersion { version: end.last, replaced: Vec::new() };
        let engine = self.engine(tree, file, &last, lock, spares)?;
        let rows_most = base.summary.rows + index.len() as u64;
        let report = Report::begin(reason, self.config.on_rebuild, rows_most);
        let filled = engine.fill_tree(index.merge(Some(base)), end.last, report);
        filled.map_err(|error| match error {
            RebuildError::Merge(MergeError::Base(error)) => self.base(error),
            RebuildError::Merge(MergeError::Wal(error)) => self.wal(error),
            RebuildError::ValueIsGone => self.corrupt(error.to_string()),
            error => self.unusable(&io::Error::other(error.to_string())),
        })?;
        disk.open(&directory.join(preflight::SETTINGS))
            .and_then(|settings| settings.sync())
            .and_then(|()| disk.sync_directory(directory))
            .map_err(unusable)?;
        Ok((engine, end))
    }

    /// The newest base that is whole at its ends. Others go once the segments say that they are not needed.
    fn newest_base(&self) -> Result<Base, OpenError> {
        let (disk, directory) = (&**self.disk, &self.config.directory);
        let unusable = |error: io::Error| self.unusable(&error);
        let (bases, unfinished) = base::paths(disk, directory).map_err(unusable)?;
        for path in unfinished {
            disk.remove(&path).map_err(unusable)?;
        }
        let mut broken = None;
        for path in &bases {
            match Base::open(disk, path) {
                Ok(base) => {
                    // Only those before it, which it holds: one that cannot be read stays for who looks into it.
                    for older in bases.iter().skip_while(|other| *other != path).skip(1) {
                        disk.remove(older).map_err(unusable)?;
                    }
                    return Ok(base);
                }
                Err(error) => broken = broken.or(Some(error)),
            }
        }
        Err(match broken {
            Some(error) => self.base(error),
            None => self.corrupt("its base is gone"),
        })
    }

    /// Lets go of segments that the base holds, and gives the files that can be segments again.
    fn spares(&self, segments: &[Segment], base: &Base) -> io::Result<Spares> {
        let (disk, directory) = (&**self.disk, &self.config.directory);
        let spares = Spares::default();
        for path in disk.list(directory)?.into_iter().filter(|path| is_spare(path)) {
            spares.adopt(disk, path)?;
        }
        for segment in held(segments, base.summary.version) {
            spares.add(disk, &segment.path)?;
        }
        Ok(spares)
    }

    /// Has the system forget what it remembers of the log and the base and did not write: after a fault it takes for written what is not.
    fn forget_cached_log(&self) -> Result<(), OpenError> {
        let (disk, directory) = (&**self.disk, &self.config.directory);
        let unusable = |error: io::Error| self.unusable(&error);
        let (bases, _) = base::paths(disk, directory).map_err(unusable)?;
        let segments = Segment::paths(disk, directory).map_err(unusable)?;
        for path in bases.iter().chain(&segments) {
            preflight::forget_cached(disk, path).map_err(|error| self.unreadable(path, &error))?;
        }
        Ok(())
    }

    /// Cuts off what is no frame behind the last one, so that the next segment follows on it.
    fn cut_tail(&self, end: &LogEnd) -> io::Result<()> {
        let Some((path, end)) = &end.tail else {
            return Ok(());
        };
        let file = self.disk.open_to_write(path)?;
        if file.length()? > *end {
            file.truncate(*end)?;
            file.sync()?;
        }
        Ok(())
    }

    /// Notes on disk that the tree is open, before anything of it changes.
    pub(super) fn note_open(&self) -> io::Result<()> {
        let directory = &self.config.directory;
        let place = place_of(self.config.boot_id.as_deref(), directory);
        // Where runs of the machine are not told apart, what a kill leaves is not believed either.
        let state = place.map_or(IndexState::Unknown, IndexState::Open);
        state.write(&**self.disk, directory)
    }

    /// An engine on a tree that has everything up to `last`. Its base is still to come.
    pub(super) fn engine(
        &self,
        tree: Tree,
        file: Arc<dyn DiskFile>,
        last: &LastVersion,
        lock: File,
        spares: Arc<Spares>,
    ) -> Result<Engine, OpenError> {
        let config = self.config;
        Ok(Engine {
            value_log: self.value_log(last)?,
            disk: Arc::clone(self.disk),
            directory: config.directory.clone(),
            tree,
            file,
            lost_frames: None,
            rebuilt: None,
            _lock: lock,
            base: Mutex::new(None),
            making_base: Mutex::new(()),
            spares,
            row_cache: RowCache::new(config.cache_bytes as usize / ROWS_SHARE),
            write_versions: WriteVersions::new(last.version),
            decoded_cache: DecodedCache::new(),
            queue: RwLock::new(CommitQueue::new(last.version, BaseSummary::default(), Vec::new())),
            inserting: RwLock::new(()),
            tree_fault: OnceLock::new(),
            wal_waker: OnceLock::new(),
            checkpoint_waker: OnceLock::new(),
            base_waker: OnceLock::new(),
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
    fn value_log(&self, last: &LastVersion) -> Result<Option<ValueLog>, OpenError> {
        let config = self.config;
        let path = config.directory.join(VALUES);
        if config.record_bytes_max >= VALUE_BYTES_MAX && !path.exists() {
            return Ok(None);
        }
        let opened = ValueLog::open(Arc::clone(self.disk), &path, config.record_bytes_max, last);
        opened.map(Some).map_err(|error| OpenError::Directory {
            path: path.display().to_string(),
            reason: error.to_string(),
        })
    }

    /// Returns whether the truth of the directory is a base and a log. Its mark may be gone, which is the last thing that a first start makes.
    fn has_log(&self) -> io::Result<bool> {
        if self.marked_with(FORMAT) {
            return Ok(true);
        }
        if self.config.directory.join(MARK).exists() {
            return Ok(false);
        }
        let (bases, _) = base::paths(&**self.disk, &self.config.directory)?;
        let opened = bases.iter().map(|path| Base::open(&**self.disk, path));
        let mut whole = opened.filter_map(Result::ok);
        Ok(whole.any(|base| base.summary.version > Version::ABSENT))
    }

    /// Returns whether the mark says this format.
    pub(super) fn marked_with(&self, format: &str) -> bool {
        std::fs::read_to_string(self.config.directory.join(MARK)).is_ok_and(|mark| mark == format)
    }

    /// Refuses a store of a later version. An empty mark is one that a stop of an older release cut short.
    fn check_mark(&self) -> Result<(), OpenError> {
        let format = match std::fs::read_to_string(self.config.directory.join(MARK)) {
            Ok(format) => format,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(self.unusable(&error)),
        };
        if matches!(format.trim(), "" | "1" | "2") || format == FORMAT {
            return Ok(());
        }
        let format = format.trim().chars().take(FORMAT_SHOWN_MAX).collect();
        Err(OpenError::Later { path: self.path.clone(), format })
    }

    pub(super) fn unusable(&self, error: &io::Error) -> OpenError {
        OpenError::Directory { path: self.path.clone(), reason: error.to_string() }
    }

    fn unreadable(&self, file: &Path, error: &io::Error) -> OpenError {
        let (path, file) = (self.path.clone(), file.display().to_string());
        OpenError::Unreadable { path, file, reason: error.to_string() }
    }

    pub(super) fn corrupt(&self, reason: impl Into<String>) -> OpenError {
        OpenError::Corrupt { path: self.path.clone(), reason: reason.into() }
    }

    /// The refusal that an error of the log is.
    pub(super) fn wal(&self, error: WalError) -> OpenError {
        match error {
            WalError::Disk(error) => self.unusable(&error),
            WalError::Unreadable(file, error) => self.unreadable(&file, &error),
            WalError::Damaged(_) => self.corrupt(error.to_string()),
        }
    }

    /// The refusal that an error of the base is.
    pub(super) fn base(&self, error: BaseError) -> OpenError {
        match error {
            BaseError::Unreadable(file, error) => self.unreadable(&file, &error),
            BaseError::Damaged(..) => self.corrupt(error.to_string()),
        }
    }
}

/// Ways in which a tree is not opened.
enum Refused {
    Locked,
    Unreadable(String),
}

/// Opens sled; no error where it panics, as it does where it cannot make sense of its files.
pub(super) fn open_tree(config: &SledConfig) -> Result<Tree, Option<sled::Error>> {
    let settings = sled::Config::new()
        .path(&config.directory)
        .cache_capacity(config.cache_bytes - config.cache_bytes / ROWS_SHARE as u64)
        .segment_size(SEGMENT_BYTES)
        // Besides flushing, this thread is the one that frees segments.
        .flush_every_ms(Some(500));
    Tree::open(&settings).ok_or(None)?.map_err(Some)
}

/// The segments that are held by a base of this version: those whose successor begins there or before.
fn held(segments: &[Segment], base: Version) -> impl Iterator<Item = &Segment> {
    let next = |at: usize| segments.iter().skip(at + 1).find_map(|segment| segment.previous);
    segments
        .iter()
        .enumerate()
        .filter(move |(at, _)| next(*at).is_some_and(|next| next <= base))
        .map(|(_, segment)| segment)
}

/// The segments behind a base, all of which take no more frames once the next one is begun.
fn sealed(segments: &[Segment], base: Version, end: &LogEnd) -> Vec<SealedSegment> {
    let mut sealed = Vec::new();
    for (at, segment) in segments.iter().enumerate() {
        let next = segments.iter().skip(at + 1).find_map(|segment| segment.previous);
        if next.is_some_and(|next| next <= base) {
            continue;
        }
        let (path, last) = (segment.path.clone(), next.unwrap_or(end.last));
        sealed.push(SealedSegment { path, last, bytes: segment.length(), rows: 0 });
    }
    sealed
}

fn is_lock(error: &sled::Error) -> bool {
    // sled's own text is the only sign of a held lock.
    matches!(error, sled::Error::Io(_)) && error.to_string().contains("lock")
}

/// The refusal that an error of sled is, where the tree is all that there is.
pub(super) fn refused(path: &str, error: &sled::Error) -> OpenError {
    let (path, reason) = (path.to_owned(), error.to_string());
    match error {
        error if is_lock(error) => OpenError::Locked { path },
        sled::Error::Io(_) => OpenError::Directory { path, reason },
        _ => OpenError::Corrupt { path, reason },
    }
}

fn has_files(directory: &Path) -> io::Result<bool> {
    match std::fs::read_dir(directory) {
        Ok(mut entries) => Ok(entries.next().is_some()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}
