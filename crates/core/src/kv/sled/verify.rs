//! The check of a whole store: its base and its log byte by byte, and its index against both, row by row.

use bytes::Bytes;

use super::merge::{LogIndex, MergedRow};
use super::rows::{Row, VERSION_KEY};
use super::tree::ALL;
use super::wal::Segment;
use super::{Engine, Sled, StoreError, Version};
use crate::kv::Order;

/// Counts of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct VerifiedRows {
    /// Rows that were compared.
    pub rows: u64,
    /// Rows that differ, or whose values are gone.
    pub faults: u64,
}

impl Sled {
    /// Reads the base and the log, and compares the index with them, row by row; `told` hears of each that differs. Nobody may write meanwhile.
    /// It blocks.
    ///
    /// # Errors
    /// `Corrupt` if the base or the log are damaged; `Unavailable` if a file cannot be read.
    pub fn verify(&self, told: &mut dyn FnMut(String)) -> Result<VerifiedRows, StoreError> {
        let _held = self.hold_bases();
        let engine = &*self.engine;
        let corrupt = |error: &dyn std::fmt::Display| StoreError::Corrupt(error.to_string());
        let Some(base) = engine.base.lock().clone() else {
            return Err(corrupt(&"there is no base"));
        };
        base.verify().map_err(|error| corrupt(&error))?;
        let segments = Segment::all(&*engine.disk, &engine.directory);
        let index = LogIndex::read(
            segments.map_err(|error| corrupt(&error))?,
            base.summary.version,
            Version(u64::MAX),
            u64::MAX,
        );
        let index = index.map_err(|error| corrupt(&error))?;
        let mut counts = VerifiedRows::default();
        let tree =
            engine.tree.range(ALL, Order::Ascending).map_err(|error| engine.tree_failed(error))?;
        let mut tree =
            tree.filter(|row| !matches!(row, Ok((key, _)) if key.as_ref() == VERSION_KEY));
        let mut indexed = tree.next().transpose().map_err(|error| engine.tree_failed(error))?;
        for row in index.merge(Some(&base)) {
            let (key, row) = row.map_err(|error| corrupt(&error))?;
            counts.rows += 1;
            // Rows that only the index has.
            while indexed.as_ref().is_some_and(|(indexed, _)| indexed.as_ref() < key.as_ref()) {
                counts.faults += 1;
                told(format!("{}: the index has a row that the log does not", shown(&key)));
                indexed = tree.next().transpose().map_err(|error| engine.tree_failed(error))?;
            }
            let stored = match &indexed {
                Some((found, stored)) if found.as_ref() == key.as_ref() => Some(stored.clone()),
                _ => None,
            };
            if stored.is_some() {
                indexed = tree.next().transpose().map_err(|error| engine.tree_failed(error))?;
            }
            if let Some(fault) = engine.differs(&row, stored.as_ref())? {
                counts.faults += 1;
                told(format!("{}: {fault}", shown(&key)));
            }
        }
        while let Some((key, _)) = indexed {
            counts.faults += 1;
            told(format!("{}: the index has a row that the log does not", shown(&key)));
            indexed = tree.next().transpose().map_err(|error| engine.tree_failed(error))?;
        }
        Ok(counts)
    }
}

#[cfg(all(feature = "redb", feature = "testing"))]
impl Sled {
    /// The first key of the base whose value is gone, replaced or not: without it there is no way back to the moment of the base.
    pub(crate) fn missing_values_of_base(&self) -> Result<Option<String>, StoreError> {
        let _held = self.hold_bases();
        let base = self.engine.base.lock().clone();
        for row in base.iter().flat_map(|base| base.rows()) {
            let (key, stored) = row.map_err(|error| StoreError::Corrupt(error.to_string()))?;
            if self.engine.value(Row::read(stored)?)?.is_none() {
                return Ok(Some(shown(&key)));
            }
        }
        Ok(None)
    }
}

impl Engine {
    /// The difference between a row of base and log and that of the index, if there is one.
    fn differs(
        &self,
        row: &MergedRow,
        stored: Option<&Bytes>,
    ) -> Result<Option<&'static str>, StoreError> {
        let Some(stored) = stored else {
            return Ok(Some("the index has no row"));
        };
        let (version, value) = match row {
            MergedRow::Based(based) => self.version_and_value(based.clone())?,
            MergedRow::Logged(version, value) => (*version, Some(value.clone())),
        };
        let (indexed, found) = self.version_and_value(stored.clone())?;
        Ok(match (value, found) {
            _ if version != indexed => Some("the index has another version"),
            (None, _) | (_, None) => Some("its value is gone"),
            (Some(value), Some(found)) if value != found => Some("the index has another value"),
            _ => None,
        })
    }

    fn version_and_value(&self, stored: Bytes) -> Result<(Version, Option<Bytes>), StoreError> {
        let row = Row::read(stored)?;
        let version = row.version();
        Ok((version, self.value(row)?))
    }
}

/// A key as people can read it.
fn shown(key: &[u8]) -> String {
    String::from_utf8_lossy(key).escape_debug().to_string()
}
