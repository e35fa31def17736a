//! Opening a directory as a store: every way in which it can be wrong is named, with what to do.

use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use parking_lot::RwLock;

use super::memtable::CommitQueue;
use super::open_error::OpenError;
use super::preflight::{self, TREE};
use super::row_cache::RowCache;
use super::rows::{LastVersion, VERSION_KEY};
use super::tree::Tree;
use super::value_log::ValueLog;
use super::wal::{Recovered, Wal, WalError};
use super::{Engine, Sled};
use crate::disk::{Disk, DiskFile, SystemDisk};
use crate::kv::{DecodedCache, VALUE_BYTES_MAX, Version, WriteVersions};

/// Segments of this size keep values of up to 64 KiB out of sled's `blobs/`, which it never syncs. It is fixed for the life of a store.
const SEGMENT_BYTES: usize = 8 * 1024 * 1024;

/// The file that says that the directory holds a store.
const MARK: &str = "format";
/// Its content: 1 was a tree alone, 2 has a write-ahead log before it.
const FORMAT: &str = "2\n";
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
        let opened = Self::open_noting_nothing(Arc::clone(&disk), config);
        if let Err(OpenError::Directory { .. } | OpenError::Unreadable { .. }) = &opened {
            preflight::note_failure(&*disk, &config.directory);
        }
        opened
    }

    fn open_noting_nothing(disk: Arc<dyn Disk>, config: &SledConfig) -> Result<Self, OpenError> {
        let path = config.directory.display().to_string();
        let unusable = |error: std::io::Error| OpenError::Directory {
            path: path.clone(),
            reason: error.to_string(),
        };
        disk.make_directory(&config.directory).map_err(unusable)?;
        if has_files(&config.directory.join("blobs")).map_err(unusable)? {
            return Err(OpenError::Foreign { path });
        }
        let mark = config.directory.join(MARK);
        check_mark(&mark, &path)?;
        preflight::check(&*disk, &config.directory)?;
        let settings = sled::Config::new()
            .path(&config.directory)
            .cache_capacity(config.cache_bytes - config.cache_bytes / ROWS_SHARE as u64)
            .segment_size(SEGMENT_BYTES)
            // Besides flushing, this thread is the one that frees segments.
            .flush_every_ms(Some(500));
        let tree = match Tree::open(&settings) {
            Some(Ok(tree)) => tree,
            Some(Err(error)) => return Err(refused(&path, &error)),
            None => {
                return Err(OpenError::Corrupt {
                    path,
                    reason: "the engine could not read its own log".into(),
                });
            }
        };
        let file = disk.open(&config.directory.join(TREE)).map_err(unusable)?;
        let last = match tree.get(VERSION_KEY) {
            // A damaged log can look like an empty one to sled; the mark tells that there was a store.
            Ok(None) if mark.exists() => {
                return Err(OpenError::Corrupt { path, reason: "its records are gone".into() });
            }
            Ok(None) => {
                begin(&tree, &*file).map_err(|error| refused(&path, &error))?;
                LastVersion { version: Version::ABSENT, replaced: Vec::new() }
            }
            Ok(Some(stored)) => LastVersion::read(&stored).ok_or_else(|| OpenError::Corrupt {
                path: path.clone(),
                reason: "its last version cannot be read".into(),
            })?,
            Err(error) => return Err(refused(&path, &error)),
        };
        let marked = std::fs::read_to_string(&mark).is_ok_and(|format| format == FORMAT);
        if marked && Wal::is_missing(&config.directory) {
            return Err(OpenError::Corrupt { path, reason: "its journal is gone".into() });
        }
        // Before anything changes: a broken log leaves the store as it is.
        let recovered = Wal::recover(&*disk, &config.directory, last.version);
        let recovered = recovered.map_err(|error| match error {
            WalError::Disk(error) => unusable(error),
            WalError::Damaged(_) => {
                OpenError::Corrupt { path: path.clone(), reason: error.to_string() }
            }
        })?;
        let value_log = open_value_log(&disk, config, &last)?;
        let engine = Engine {
            disk: Arc::clone(&disk),
            directory: config.directory.clone(),
            tree,
            file,
            lost_frames: recovered.lost,
            value_log,
            row_cache: RowCache::new(config.cache_bytes as usize / ROWS_SHARE),
            write_versions: WriteVersions::new(last.version),
            decoded_cache: DecodedCache::new(),
            queue: RwLock::new(CommitQueue::new(last.version)),
            inserting: RwLock::new(()),
            wal_waker: OnceLock::new(),
            checkpoint_waker: OnceLock::new(),
            #[cfg(feature = "testing")]
            sync_is_left_out: config.sync_is_left_out,
        };
        let wal = catch_up(&engine, &*disk, config, recovered)?;
        // Also where the first start was killed before it came to this.
        if !marked {
            set_mark(&*disk, &mark, &*engine.file, &config.directory).map_err(unusable)?;
        }
        preflight::forget_failure(&*disk, &config.directory).map_err(unusable)?;
        Self::start(engine, wal).map_err(unusable)
    }
}

/// Brings into the tree what only the log holds after a crash, and gives the log, empty again.
fn catch_up(
    engine: &Engine,
    disk: &dyn Disk,
    config: &SledConfig,
    Recovered { rows, last, lost: _ }: Recovered,
) -> Result<Wal, OpenError> {
    let unusable = |reason: String| OpenError::Directory {
        path: config.directory.display().to_string(),
        reason,
    };
    if !rows.is_empty() {
        let mut replaced = Vec::new();
        let caught_up = engine.checkpoint(&rows, last, &mut replaced);
        caught_up.map_err(unusable)?;
        if let Some(value_log) = &engine.value_log {
            let deleted = value_log.delete(&replaced);
            deleted.map_err(|error| unusable(error.to_string()))?;
        }
        *engine.queue.write() = CommitQueue::new(last);
    }
    let wal = Wal::start(disk, &config.directory, last);
    wal.map_err(|error| unusable(error.to_string()))
}

/// The value log, if values go there, or went there once.
fn open_value_log(
    disk: &Arc<dyn Disk>,
    config: &SledConfig,
    last: &LastVersion,
) -> Result<Option<ValueLog>, OpenError> {
    let path = config.directory.join(VALUES);
    if config.record_bytes_max >= VALUE_BYTES_MAX && !path.exists() {
        return Ok(None);
    }
    let opened = ValueLog::open(Arc::clone(disk), &path, config.record_bytes_max, last);
    opened.map(Some).map_err(|error| OpenError::Directory {
        path: path.display().to_string(),
        reason: error.to_string(),
    })
}

/// Puts the first version on disk, before the mark says that there is a store.
fn begin(tree: &Tree, file: &dyn DiskFile) -> sled::Result<()> {
    tree.insert(VERSION_KEY, LastVersion::write(Version::ABSENT, &[]))?;
    tree.flush()?;
    Ok(file.sync()?)
}

fn refused(path: &str, error: &sled::Error) -> OpenError {
    let (path, reason) = (path.to_owned(), error.to_string());
    match error {
        // sled's own text is the only sign of a held lock.
        sled::Error::Io(_) if reason.contains("lock") => OpenError::Locked { path },
        sled::Error::Io(_) => OpenError::Directory { path, reason },
        _ => OpenError::Corrupt { path, reason },
    }
}

/// Refuses a store of a later version. An empty mark is one that a stop cut short.
fn check_mark(mark: &Path, path: &str) -> Result<(), OpenError> {
    let format = match std::fs::read_to_string(mark) {
        Ok(format) => format,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => {
            return Err(OpenError::Directory { path: path.to_owned(), reason: error.to_string() });
        }
    };
    if matches!(format.trim(), "" | "1") || format == FORMAT {
        return Ok(());
    }
    let format = format.trim().chars().take(FORMAT_SHOWN_MAX).collect();
    Err(OpenError::Later { path: path.to_owned(), format })
}

fn has_files(directory: &Path) -> std::io::Result<bool> {
    match std::fs::read_dir(directory) {
        Ok(mut entries) => Ok(entries.next().is_some()),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

/// Says on disk that there is a store, once its files and their names are there.
fn set_mark(
    disk: &dyn Disk,
    mark: &Path,
    tree: &dyn DiskFile,
    directory: &Path,
) -> std::io::Result<()> {
    tree.sync()?;
    // sled writes its settings once, and does not sync them.
    disk.open(&directory.join("conf"))?.sync()?;
    disk.sync_directory(directory)?;
    let file = disk.replace(mark)?;
    file.write_all_at(FORMAT.as_bytes(), 0)?;
    file.sync()?;
    disk.sync_directory(directory)
}
