//! The engine by itself: guarded transactions and reads by their keys, through as many connections as instances have.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use anyhow::{Result, anyhow, ensure};
use hyper::body::Bytes;
use triptych_core::id::SeededIds;
use triptych_core::kv::{
    Batch, KeyValue, Postgres, PostgresConfig, SharedKeyValue, Span, StoreError, Version,
};

use super::INSTANCES;
use crate::bench::kv::writers;

/// The time that the database has to be reached.
const PATIENCE: Duration = Duration::from_secs(60);
/// The bytes of a record of an object.
const RECORD_BYTES: usize = 400;
/// Rows that a transaction only guards: who writes, and where to.
const GUARDS: usize = 3;
/// Rows of a service's tables among which those that are read are chosen.
const ROWS_MAX: usize = 10_000;

/// Engines on the tables of one schema, each with the connections of an instance.
pub(super) struct Engines {
    engines: Vec<Postgres>,
    guards: Vec<(Bytes, Version)>,
    /// Keys that were drawn, of which none is written twice.
    drawn: AtomicU64,
}

impl Engines {
    /// As many engines on a database as there are instances, each of which sends `together` of what it is asked in one statement at most: with 1, what
    /// PostgreSQL by itself does with as many transactions and reads.
    ///
    /// # Errors
    /// If it is not reached.
    pub(super) fn connect(url: &str, schema: &str, together: usize) -> Result<Self> {
        let mut engines = Vec::new();
        for number in 0..INSTANCES {
            let config = PostgresConfig { together, ..PostgresConfig::new(url.parse()?, schema) };
            let engine = Postgres::connect(config, SeededIds::from_number(number as u64))?;
            engine.wait_until_reached(PATIENCE).map_err(|error| anyhow!(error))?;
            engines.push(engine);
        }
        Ok(Self { engines, guards: Vec::new(), drawn: AtomicU64::new(0) })
    }

    /// Writes the rows that transactions guard.
    ///
    /// # Errors
    /// As the store.
    pub(super) fn write_guards(&mut self) -> Result<()> {
        for number in 0..GUARDS {
            let key = Bytes::from(format!("guard/{number}"));
            let version = self.engine(0)?.commit(write_of(&key)).wait()?;
            self.guards.push((key, version));
        }
        Ok(())
    }

    fn engine(&self, number: usize) -> Result<&Postgres, StoreError> {
        let found = self.engines.get(number % self.engines.len().max(1));
        found.ok_or_else(|| StoreError::Unavailable("there is no engine".to_owned()))
    }

    /// Transactions a second of so many writers at each of the first `count` engines: as that of a PUT, each guards rows that stand and one
    /// that is absent, and writes that one.
    ///
    /// # Errors
    /// As the store.
    pub(super) fn commits(&self, count: usize, each: usize) -> Result<f64> {
        self.rate(count, each, |engine| {
            let number = self.drawn.fetch_add(1, Ordering::Relaxed);
            // The order of the keys is none of time, as that of names of objects.
            let key = Bytes::from(format!("{:02x}/{number}", number % 256));
            let mut expectations = self.guards.clone();
            expectations.push((key.clone(), Version::ABSENT));
            let batch = Batch { expectations, ..write_of(&key) };
            loop {
                // Where transactions stand side by side in an index PostgreSQL ends all but one; after its last attempt the engine calls it a
                // conflict, which services try again, too.
                match engine.commit(batch.clone()).wait() {
                    Err(StoreError::Conflict) => {}
                    committed => return committed.map(drop),
                }
            }
        })
    }

    /// Reads a second of so many readers at each of the first `count` engines, each of all `keys` at once.
    ///
    /// # Errors
    /// As the store.
    pub(super) fn reads(&self, count: usize, each: usize, keys: &[Bytes]) -> Result<f64> {
        let keys: Vec<&[u8]> = keys.iter().map(AsRef::as_ref).collect();
        self.rate(count, each, |engine| engine.get_many(&keys).map(drop))
    }

    fn rate(
        &self,
        count: usize,
        each: usize,
        ask: impl Fn(&Postgres) -> Result<(), StoreError> + Sync,
    ) -> Result<f64> {
        let all = (count * each) as u64;
        let (rate, _) = writers(all, |writer, _| {
            // No machine has more writers than numbers.
            let number = usize::try_from(writer).unwrap_or_default();
            ask(self.engine(number % count.max(1))?)
        })?;
        Ok(rate)
    }

    /// Keys of rows that the schema has, spread over all of them.
    ///
    /// # Errors
    /// As the store, or if it has fewer.
    pub(super) fn keys(&self, count: usize) -> Result<Vec<Bytes>> {
        let rows = self.engine(0)?.scan(&Span::default(), ROWS_MAX)?.rows;
        ensure!(rows.len() >= count, "the tables have {} rows", rows.len());
        let step = rows.len() / count.max(1);
        Ok(rows.into_iter().step_by(step.max(1)).take(count).map(|(key, _)| key).collect())
    }
}

/// A batch that writes a record.
fn write_of(key: &Bytes) -> Batch {
    let record = Bytes::from_static(&[7; RECORD_BYTES]);
    Batch { writes: vec![(key.clone(), Some(record))], ..Batch::default() }
}
