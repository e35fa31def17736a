//! Costs of a kind of request: what the database, the instance and the disks have of each, in the mean of many.

use anyhow::{Context, Result};
use triptych_core::kv::PostgresServer;

use super::instances::{Busy, Instances};
use crate::simulation::Cost;

/// The costs of each request of a load at the first instance. `load` gives the rate that it reached; `round_trips` were counted before.
///
/// # Errors
/// Those of the load, or if the database does not say how large it is.
pub(super) fn of(
    database: &PostgresServer,
    schema: &str,
    instances: &Instances,
    round_trips: f64,
    load: impl FnOnce() -> Result<f64>,
) -> Result<Cost> {
    let before = Sizes::now(database, schema)?;
    let (rate, busy) = Busy::of(database, instances, load)?;
    let after = Sizes::now(database, schema)?;
    let requests = (rate * busy.took).max(1.0);
    let each = |after: f64, before: f64| (after - before).max(0.0) / requests;
    Ok(Cost {
        round_trips,
        database_ms: busy.database / rate * 1e3,
        instance_ms: busy.instances / rate * 1e3,
        log_bytes: each(after.log, before.log),
        kept_bytes: each(after.rows, before.rows),
        passing_bytes: each(after.ids, before.ids),
    })
}

/// Bytes that the database has written and keeps.
struct Sizes {
    log: f64,
    rows: f64,
    ids: f64,
}

impl Sizes {
    fn now(database: &PostgresServer, schema: &str) -> Result<Self> {
        let told = database.run(&format!(
            "SELECT pg_wal_lsn_diff(pg_current_wal_insert_lsn(), '0/0'), pg_total_relation_size('{schema}.kv'), pg_total_relation_size('{schema}.batches')"
        ))?;
        let mut numbers = told.split('|').map(str::parse::<f64>);
        let mut next =
            || -> Result<f64> { Ok(numbers.next().context("the database says three numbers")??) };
        Ok(Self { log: next()?, rows: next()?, ids: next()? })
    }
}
