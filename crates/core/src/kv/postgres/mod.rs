//! Records on PostgreSQL's wire: one table that several instances of a service share.
//!
//! A batch is one statement, and one serializable transaction. Its id is a row of the same transaction, so that a batch whose answer was lost
//! is looked up, and fenced off where it was not applied. Reads are transactions that write nothing, so that no reader sees an order of
//! events that no writer agrees with. The engine has a thread and a runtime of its own: its reads can be called from anywhere.

mod commit;
mod connection;
mod failure;
mod pool;
mod schema;
mod statements;
#[cfg(feature = "testing")]
mod testing;
mod tls;
mod url;

use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::sync::mpsc;
use tokio::time::sleep;

use self::commit::Asker;
use self::connection::{Lane, Role, StoredRow};
use self::failure::{ConnectError, Failure};
use self::pool::Pool;
#[cfg(feature = "testing")]
pub use self::testing::PostgresServer;
pub use self::url::{PostgresUrl, PostgresUrlError};
use super::{Batch, Found, KEY_BYTES_MAX, KeyValue, Page, Span, StoreError, Version, check_key};
use crate::id::SeededIds;
use crate::pending::{Pending, block_on};

/// Attempts at a read that meets writers, or loses its connection.
const READ_ATTEMPTS_MAX: u32 = 16;
/// The time between two passes that forget ids of old batches.
const FORGET_EVERY: Duration = Duration::from_secs(10 * 60);
/// The end of all keys: longer than any, and greater.
const PAST_ALL: [u8; KEY_BYTES_MAX + 1] = [u8::MAX; KEY_BYTES_MAX + 1];

/// Settings of a store on PostgreSQL's wire.
#[derive(Debug, Clone)]
pub struct PostgresConfig {
    /// The database.
    pub url: PostgresUrl,
    /// The schema that holds the service's tables: lower case letters, digits and underscores.
    pub schema: String,
    /// Connections, half of them for reads; at least one of each.
    pub connections: usize,
}

impl PostgresConfig {
    /// The usual settings for the tables in `schema` of a database.
    #[must_use]
    pub fn new(url: PostgresUrl, schema: impl Into<String>) -> Self {
        Self { url, schema: schema.into(), connections: 16 }
    }
}

/// Figures of the engine since it was opened.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PostgresStats {
    /// Statements that were sent, each a round trip.
    pub round_trips: u64,
    /// Attempts that the server undid because they met another transaction.
    pub retries: u64,
    /// Batches that were refused because an expectation did not hold, or because they met others each time.
    pub conflicts: u64,
    /// Connections that were lost.
    pub lost_connections: u64,
    /// Batches whose answer was lost, and whose outcome was asked for.
    pub outcomes_asked: u64,
    /// Those of them for which nobody answered in time.
    pub outcomes_unknown: u64,
}

#[derive(Debug, Default)]
struct Counters {
    round_trips: AtomicU64,
    retries: AtomicU64,
    conflicts: AtomicU64,
    lost_connections: AtomicU64,
    outcomes_asked: AtomicU64,
    outcomes_unknown: AtomicU64,
}

/// A store on PostgreSQL's wire.
pub struct Postgres {
    pool: Arc<Pool>,
    asker: Arc<Asker>,
    runtime: Handle,
    /// Held by the engine and by everything that it was asked; the runtime ends when the last is gone.
    alive: mpsc::Sender<()>,
}

impl Postgres {
    /// An engine that begins to connect, and goes on to as long as it lives; `ids` draws names and pauses.
    ///
    /// # Errors
    /// `Unavailable` if its thread cannot be started, or the schema is no name.
    pub fn connect(config: PostgresConfig, ids: SeededIds) -> Result<Self, StoreError> {
        let is_name = |name: &str| {
            name.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
                && name.starts_with(|first: char| first.is_ascii_lowercase())
        };
        if !is_name(&config.schema) {
            let reason = format!("{:?} is no name for a schema", config.schema);
            return Err(StoreError::Unavailable(reason));
        }
        let failed = |error: std::io::Error| StoreError::Unavailable(error.to_string());
        let runtime =
            tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(failed)?;
        let handle = runtime.handle().clone();
        let (alive, mut gone) = mpsc::channel(1);
        let entered = handle.enter();
        let pool = Pool::new(config.url, &config.schema, config.connections.div_ceil(2), ids);
        drop(entered);
        let pool = Arc::new(pool);
        let kept = Arc::clone(&pool);
        let work = move || {
            runtime.block_on(async move {
                kept.fill();
                tokio::spawn(keep_forgetting(kept));
                // Nobody sends: this ends once every sender is gone.
                gone.recv().await
            });
        };
        std::thread::Builder::new().name("postgres".into()).spawn(work).map_err(failed)?;
        Ok(Self { pool, asker: Arc::default(), runtime: handle, alive })
    }

    /// Waits until the store is reached for the first time. It may be awaited on any runtime.
    ///
    /// # Errors
    /// A sentence for a server that is reached and must not be used.
    pub async fn reached(&self) -> Result<(), String> {
        let mut health = self.pool.health();
        let known = health.wait_for(pool::Health::is_known).await;
        known.map_err(|error| error.to_string())?.check()
    }

    /// Waits until the store is reached, as [`Postgres::reached`] does, on a thread that may block; not longer than `patience`.
    ///
    /// # Errors
    /// A sentence for a server that must not be used, or is not reached.
    pub fn wait_until_reached(&self, patience: Duration) -> Result<(), String> {
        let mut health = self.pool.health();
        let _entered = self.runtime.enter();
        let limited = tokio::time::timeout(patience, health.wait_for(pool::Health::is_known));
        match block_on(limited) {
            Ok(Ok(known)) => known.check(),
            _ => self.health(),
        }
    }

    /// Tells whether the store can be asked now.
    ///
    /// # Errors
    /// A sentence that says why not.
    pub fn health(&self) -> Result<(), String> {
        self.pool.health().borrow().check()
    }

    /// The fact of this name that the store keeps beside its rows: `value`, if it kept none before. It blocks.
    ///
    /// # Errors
    /// `Unavailable`.
    pub fn claim(&self, name: &str, value: &str) -> Result<String, StoreError> {
        let (pool, name, value) = (Arc::clone(&self.pool), name.to_owned(), value.to_owned());
        wait(self.ask(Err(unavailable()), async move {
            let session = pool.session().await.map_err(ConnectError::into_unavailable)?;
            let kept = schema::claim(&session.client, &pool.schema, &name, &value).await;
            kept.map_err(|error| StoreError::Unavailable(failure::told(&error)))
        }))
    }

    /// Forgets the ids of batches that are older than anybody asks for, as the engine does by itself every ten minutes. It blocks.
    ///
    /// # Errors
    /// `Unavailable`.
    pub fn forget_old_ids(&self) -> Result<(), StoreError> {
        let pool = Arc::clone(&self.pool);
        wait(self.ask(Err(unavailable()), async move { forget(&pool).await }))
    }

    /// Figures since it was opened.
    #[must_use]
    pub fn stats(&self) -> PostgresStats {
        let counters = &self.pool.counters;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        PostgresStats {
            round_trips: read(&counters.round_trips),
            retries: read(&counters.retries),
            conflicts: read(&counters.conflicts),
            lost_connections: read(&counters.lost_connections),
            outcomes_asked: read(&counters.outcomes_asked),
            outcomes_unknown: read(&counters.outcomes_unknown),
        }
    }

    /// Runs `work` on the engine's runtime; `lost` is the answer if that ends first.
    fn ask<T: Send + 'static>(
        &self,
        lost: T,
        work: impl Future<Output = T> + Send + 'static,
    ) -> Pending<T> {
        let (resolver, pending) = Pending::new(lost);
        let alive = self.alive.clone();
        self.runtime.spawn(async move {
            resolver.resolve(work.await);
            drop(alive);
        });
        pending
    }

    /// The rows that `query` gives, asked again where it meets writers or loses its connection: a read can be repeated.
    fn read<F>(
        &self,
        query: impl Fn(Arc<Lane>) -> F + Send + Sync + 'static,
    ) -> Result<Vec<StoredRow>, StoreError>
    where
        F: Future<Output = Result<Vec<StoredRow>, Failure>> + Send,
    {
        let pool = Arc::clone(&self.pool);
        wait(self.ask(Err(unavailable()), async move {
            let mut why = String::new();
            for attempt in 0..READ_ATTEMPTS_MAX {
                let lane = pool.lane(Role::Reader).await?;
                pool.counters.round_trips.fetch_add(1, Ordering::Relaxed);
                match query(lane).await {
                    Ok(rows) => return Ok(rows),
                    Err(Failure::Again | Failure::Named) => {
                        pool.counters.retries.fetch_add(1, Ordering::Relaxed);
                        "the read met writers each time".clone_into(&mut why);
                        sleep(pool.jittered(commit::pause(attempt))).await;
                    }
                    Err(Failure::Lost(reason)) => why = reason,
                    Err(Failure::Refused(reason)) => return Err(StoreError::Unavailable(reason)),
                }
            }
            Err(StoreError::Unavailable(why))
        }))
    }
}

fn unavailable() -> StoreError {
    StoreError::Unavailable("the service stops".to_owned())
}

/// Waits for an answer of the engine. On a thread of a runtime, what else that thread has to do goes on elsewhere.
fn wait<T>(pending: Pending<T>) -> T {
    let flavor = Handle::try_current().map(|current| current.runtime_flavor());
    match flavor {
        Ok(RuntimeFlavor::MultiThread) => tokio::task::block_in_place(|| pending.wait()),
        _ => pending.wait(),
    }
}

/// Forgets the ids of batches that nobody asks for any more, in steps, as long as the engine lives.
async fn keep_forgetting(pool: Arc<Pool>) {
    loop {
        sleep(FORGET_EVERY / 2 + pool.jittered(FORGET_EVERY)).await;
        if let Err(error) = forget(&pool).await {
            tracing::debug!(%error, "ids of old batches are forgotten by the next pass");
        }
    }
}

async fn forget(pool: &Pool) -> Result<(), StoreError> {
    let session = pool.session().await.map_err(ConnectError::into_unavailable)?;
    loop {
        let forgotten = session.client.execute(&pool.statements.forget, &[]).await;
        match forgotten {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) => return Err(StoreError::Unavailable(failure::told(&error))),
        }
    }
}

impl KeyValue for Postgres {
    fn get(&self, key: &[u8]) -> Result<Found, StoreError> {
        Ok(self.get_many(&[key])?.pop().unwrap_or_default())
    }

    fn get_many(&self, keys: &[&[u8]]) -> Result<Vec<Found>, StoreError> {
        keys.iter().try_for_each(|key| check_key(key))?;
        if keys.is_empty() {
            return Ok(Vec::new());
        }
        let asked: Arc<[Vec<u8>]> = keys.iter().map(|key| key.to_vec()).collect();
        let rows = self.read(move |lane| {
            let asked = Arc::clone(&asked);
            async move {
                let keys: Vec<&[u8]> = asked.iter().map(Vec::as_slice).collect();
                lane.get(&keys).await
            }
        })?;
        let found: BTreeMap<_, _> = rows.into_iter().map(|row| (row.key, row.found)).collect();
        Ok(keys.iter().map(|key| found.get(*key).cloned().unwrap_or_default()).collect())
    }

    fn scan(&self, span: &Span, limit: usize) -> Result<Page, StoreError> {
        let bounds = span.bounds();
        let from = match bounds.lower() {
            Bound::Included(low) => low.to_vec(),
            // The next key after another has a zero more.
            Bound::Excluded(low) => [low, &[0]].concat(),
            Bound::Unbounded => Vec::new(),
        };
        let before = match bounds.upper() {
            Bound::Excluded(high) => high.to_vec(),
            Bound::Included(high) => [high, &[0]].concat(),
            Bound::Unbounded => PAST_ALL.to_vec(),
        };
        if bounds.is_empty() {
            return Ok(Page::default());
        }
        // One more tells whether there are more.
        let asked = i64::try_from(limit.saturating_add(1)).unwrap_or(i64::MAX);
        let (range, order) = (Arc::new((from, before)), span.order);
        let mut rows = self.read(move |lane| {
            let range = Arc::clone(&range);
            async move { lane.scan(order, &range.0, &range.1, asked).await }
        })?;
        let more = rows.len() > limit;
        rows.truncate(limit);
        let seen = rows.iter().map(|row| row.found.version).max().unwrap_or_default();
        let rows = rows.into_iter().map(|row| (row.key, row.found.value.unwrap_or_default()));
        Ok(Page { rows: rows.collect(), more, seen })
    }

    fn commit(&self, batch: Batch) -> Pending<Result<Version, StoreError>> {
        if let Err(error) = batch.check() {
            return Pending::ready(Err(error));
        }
        let (pool, asker) = (Arc::clone(&self.pool), Arc::clone(&self.asker));
        self.ask(Err(StoreError::OutcomeUnknown), async move { pool.commit(&batch, &asker).await })
    }

    /// Always settled: the server shows nothing before it is on its disk.
    fn durable(&self, _seen: Version) -> Option<Pending<Result<(), StoreError>>> {
        None
    }

    fn is_local(&self) -> bool {
        false
    }
}

impl std::fmt::Debug for Postgres {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Postgres").field("url", &self.pool.url).finish_non_exhaustive()
    }
}
