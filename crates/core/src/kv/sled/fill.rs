//! A store that is made at once: rows in the order of their keys go straight into a base, and no log, no memtable and no tree sees them one by one.
//!
//! The directory says that a store is begun before its first file is there, and that there is one after its last: what a kill leaves of it is
//! begun anew, or refused.

use std::io;
use std::sync::Arc;

use bytes::Bytes;

use super::base::{BaseError, BaseWriter};
use super::index_state::IndexState;
use super::open_error::OpenError;
use super::opening::Opening;
use super::rows::{LastVersion, Row, Rows};
use super::take_over::remove_unmarked;
use super::tree;
use super::value_log::ValueLog;
use super::{Sled, SledConfig, Version, mark, preflight};
use crate::disk::{Disk, SystemDisk};
use crate::kv::{VALUE_BYTES_MAX, check_key};
use crate::schedule::wall_clock_millis;

/// The version of all rows of a store that is made at once.
const VERSION: Version = Version(1);
/// Bytes of rows that are in memory together: their long values come to the disk with one sync.
const TOGETHER_BYTES: usize = 4 * 1024 * 1024;

/// Rows in the order of their keys, or the reason for which no more come.
pub type SortedRows<'r> = &'r mut dyn Iterator<Item = io::Result<(Bytes, Bytes)>>;

impl Sled {
    /// Makes the store of a directory that holds none, of all these rows, and gives their number: it is on disk when this returns. Its tree
    /// is filled when it is opened.
    ///
    /// # Errors
    /// [`OpenError`], also where the directory holds a store, rows do not come in the order of their keys, or are longer than a store takes.
    pub fn fill(config: &SledConfig, rows: SortedRows<'_>) -> Result<u64, OpenError> {
        Self::fill_on(Arc::new(SystemDisk), config, rows)
    }

    /// [`Sled::fill`] on another disk.
    pub(super) fn fill_on(
        disk: Arc<dyn Disk>,
        config: &SledConfig,
        rows: SortedRows<'_>,
    ) -> Result<u64, OpenError> {
        let path = config.directory.display().to_string();
        let opening = Opening { disk: &disk, config, path };
        let unusable = |error: io::Error| opening.unusable(&error);
        disk.make_directory(&config.directory).map_err(unusable)?;
        let _lock = preflight::lock(&*disk, &config.directory)?;
        opening.check_is_none().map_err(unusable)?;
        remove_unmarked(&*disk, &config.directory).map_err(unusable)?;
        tree::remove(&*disk, &config.directory).map_err(unusable)?;
        mark::begin(&*disk, &config.directory).map_err(unusable)?;
        let count = opening.write_filled(rows)?;
        drop(opening.wal_at(Arc::default(), 1, VERSION).map_err(unusable)?);
        // There is no tree, so none is believed.
        IndexState::Closed(VERSION).write(&*disk, &config.directory).map_err(unusable)?;
        mark::set(&*disk, &config.directory).map_err(unusable)?;
        Ok(count)
    }
}

impl Opening<'_> {
    /// Refuses a directory in which there is a store.
    fn check_is_none(&self) -> io::Result<()> {
        let files = self.disk.list(&self.config.directory)?;
        let mut names = files.iter().filter_map(|path| path.file_name()?.to_str());
        let is_of_older = self.mark()?.is_some() || names.any(tree::is_of_tree);
        if self.has_log()? || (is_of_older && !self.is_begun()?) {
            return Err(io::Error::new(io::ErrorKind::AlreadyExists, "it holds a store already"));
        }
        Ok(())
    }

    /// Writes the base of all rows, and gives their number.
    fn write_filled(&self, rows: SortedRows<'_>) -> Result<u64, OpenError> {
        let unusable = |error: io::Error| self.unusable(&error);
        let last = LastVersion { version: VERSION, replaced: Vec::new() };
        let value_log = self.value_log(&last)?;
        let (disk, directory) = (&**self.disk, &self.config.directory);
        let writer = BaseWriter::create(disk, directory, VERSION, wall_clock_millis());
        let mut fill =
            Fill { writer: writer.map_err(unusable)?, value_log, rows: Vec::new(), bytes: 0 };
        let mut last = Bytes::new();
        for row in rows {
            let (key, value) = row.map_err(unusable)?;
            check(&last, &key, &value).map_err(unusable)?;
            last = key.clone();
            fill.add(key, value).map_err(unusable)?;
        }
        fill.write().map_err(unusable)?;
        let base = fill.writer.finish().map_err(|error| match error {
            BaseError::Unreadable(_, error) => self.unusable(&error),
            error @ BaseError::Damaged(..) => self.corrupt(error.to_string()),
        })?;
        Ok(base.summary.rows)
    }
}

/// Refuses a row that does not come behind the last one, or that no engine would take.
fn check(last: &[u8], key: &[u8], value: &[u8]) -> io::Result<()> {
    let refuse = |reason: String| io::Error::new(io::ErrorKind::InvalidData, reason);
    check_key(key).map_err(|error| refuse(error.to_string()))?;
    if value.len() > VALUE_BYTES_MAX {
        return Err(refuse(format!("a value has {} bytes", value.len())));
    }
    if key <= last {
        return Err(refuse("rows do not come in the order of their keys".to_owned()));
    }
    Ok(())
}

/// Rows on their way into a base.
struct Fill<'d> {
    writer: BaseWriter<'d>,
    value_log: Option<ValueLog>,
    rows: Vec<(Bytes, Bytes)>,
    bytes: usize,
}

impl Fill<'_> {
    fn add(&mut self, key: Bytes, value: Bytes) -> io::Result<()> {
        self.bytes += key.len() + value.len();
        self.rows.push((key, value));
        if self.bytes < TOGETHER_BYTES { Ok(()) } else { self.write() }
    }

    /// Writes what is there: the long values first, then the rows, which name them.
    fn write(&mut self) -> io::Result<()> {
        self.bytes = 0;
        let rows = std::mem::take(&mut self.rows);
        let mut names = Vec::new();
        if let Some(value_log) = &self.value_log {
            let long = rows.iter().filter(|(_, value)| value_log.is_long(value));
            let long: Rows =
                long.map(|(key, value)| (key.clone(), (Some(value.clone()), VERSION))).collect();
            names = value_log.append(&long).map_err(io::Error::other)?;
        }
        let mut names = names.into_iter();
        for (key, value) in rows {
            let is_long = self.value_log.as_ref().is_some_and(|log| log.is_long(&value));
            let name = if is_long { names.next() } else { None };
            self.writer.add(&key, &Row::write(VERSION, &value, name))?;
        }
        Ok(())
    }
}
