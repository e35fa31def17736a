//! The engine that keeps nothing: the reference model that every other engine is judged by.

use std::collections::BTreeMap;

use bytes::Bytes;
use parking_lot::RwLock;

use super::{
    Batch, DecodedCache, Found, KeyValue, Order, Page, Span, StoreError, Version, WriteVersions,
    check_key,
};
use crate::pending::Pending;

/// An ordered map in memory. A commit is acknowledged at once and lost with the process.
#[derive(Debug)]
pub struct Memory {
    rows: RwLock<Rows>,
    write_versions: WriteVersions,
    decoded_cache: DecodedCache,
}

#[derive(Debug, Default)]
struct Rows {
    rows: BTreeMap<Bytes, (Bytes, Version)>,
    last: Version,
}

impl Memory {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self {
            rows: RwLock::default(),
            write_versions: WriteVersions::new(Version::ABSENT),
            decoded_cache: DecodedCache::new(),
        }
    }
}

impl Default for Memory {
    fn default() -> Self {
        Self::new()
    }
}

impl Rows {
    fn version(&self, key: &[u8]) -> Version {
        self.rows.get(key).map_or(Version::ABSENT, |(_, version)| *version)
    }

    fn apply(
        &mut self,
        batch: Batch,
        write_versions: &WriteVersions,
    ) -> Result<Version, StoreError> {
        batch.check()?;
        if batch.expectations.iter().any(|(key, version)| self.version(key) != *version) {
            return Err(StoreError::Conflict);
        }
        let version = Version(self.last.0 + 1);
        self.last = version;
        write_versions.note(batch.writes.iter().map(|(key, _)| key), version);
        for (key, value) in batch.writes {
            match value {
                Some(value) => self.rows.insert(key, (value, version)),
                None => self.rows.remove(&key),
            };
        }
        Ok(version)
    }
}

impl KeyValue for Memory {
    fn get(&self, key: &[u8]) -> Result<Found, StoreError> {
        check_key(key)?;
        let rows = self.rows.read();
        let row = rows.rows.get(key);
        Ok(row.map_or_else(Found::default, |(value, version)| Found {
            value: Some(value.clone()),
            seen: *version,
        }))
    }

    fn scan(&self, span: &Span, limit: usize) -> Result<Page, StoreError> {
        let rows = self.rows.read();
        let mut page = Page { seen: rows.last, ..Page::default() };
        let bounds = span.bounds();
        if bounds.is_empty() {
            return Ok(page);
        }
        let mut range = rows.rows.range::<[u8], _>((bounds.lower(), bounds.upper()));
        let mut next = || match span.order {
            Order::Ascending => range.next(),
            Order::Descending => range.next_back(),
        };
        while let Some((key, (value, _))) = next() {
            if page.rows.len() == limit {
                page.more = true;
                break;
            }
            page.rows.push((key.clone(), value.clone()));
        }
        Ok(page)
    }

    fn commit(&self, batch: Batch) -> Pending<Result<Version, StoreError>> {
        let mut rows = self.rows.write();
        Pending::ready(rows.apply(batch, &self.write_versions))
    }

    fn durable(&self, _seen: Version) -> Option<Pending<Result<(), StoreError>>> {
        None
    }

    fn write_versions(&self) -> Option<&WriteVersions> {
        Some(&self.write_versions)
    }

    fn decoded_cache(&self) -> Option<&DecodedCache> {
        Some(&self.decoded_cache)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn memory_obeys_the_laws_of_every_engine() {
        crate::kv::conformance::all(&mut || Arc::new(Memory::new()));
    }
}
