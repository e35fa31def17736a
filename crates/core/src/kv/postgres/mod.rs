//! Records on PostgreSQL's wire: one table that several instances of a service share.
//!
//! A batch is part of one statement, which is one serializable transaction; those that wait at the same time go in one. Its id is a row of the
//! same transaction, so that a batch whose answer was lost is looked up, and fenced off where it was not applied. Reads are transactions that
//! write nothing, so that no reader sees an order of events that no writer agrees with. The engine has a thread and a runtime of its own: its reads can be called from anywhere.

mod commit;
mod connection;
mod failure;
mod group_commit;
mod group_read;
mod pool;
mod read;
mod schema;
mod statements;
#[cfg(feature = "testing")]
mod testing;
mod tls;
mod url;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use bytes::Bytes;
use tokio::time::sleep;

use self::commit::{Asker, pause};
use self::failure::Failure;
use self::group_read::Asked;
use self::pool::Pool;
#[cfg(feature = "testing")]
pub use self::testing::PostgresServer;
pub use self::url::{PostgresUrl, PostgresUrlError};
use super::shared::{
    ConnectError, EngineThread, READ_ATTEMPTS_MAX, Scan, SharedKeyValue, StoreConnection,
    read_together, unavailable, wait,
};
use super::{
    Batch, Found, KeyValue, Order, Page, RollUp, Span, StoreError, Version, check_key, roll_up,
};
use crate::id::SeededIds;
use crate::pending::Pending;

/// The time between two passes that forget ids of old batches.
const FORGET_EVERY: Duration = Duration::from_secs(10 * 60);

/// Settings of a store on PostgreSQL's wire.
#[derive(Debug, Clone)]
pub struct PostgresConfig {
    /// The database.
    pub url: PostgresUrl,
    /// The schema that holds the service's tables: lower case letters, digits and underscores.
    pub schema: String,
    /// Connections, half of them for reads; at least one of each.
    pub connections: usize,
    /// Batches that are committed in one transaction at most, and reads of rows by their keys that go in one statement, where so many wait. With 1 each
    /// goes by itself, beside others.
    pub together: usize,
}

impl PostgresConfig {
    /// The usual settings for the tables in `schema` of a database.
    #[must_use]
    pub fn new(url: PostgresUrl, schema: impl Into<String>) -> Self {
        Self { url, schema: schema.into(), connections: 16, together: 64 }
    }
}

/// A store on PostgreSQL's wire.
pub struct Postgres {
    pool: Arc<Pool>,
    asker: Arc<Asker>,
    thread: EngineThread,
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
        let make = || {
            let each = config.connections.div_ceil(2);
            Arc::new(Pool::new(config.url, &config.schema, each, config.together, ids))
        };
        let begin = |pool: Arc<Pool>| {
            pool.fill();
            tokio::spawn(keep_forgetting(pool));
        };
        let (thread, pool) = EngineThread::start("postgres", make, begin)?;
        Ok(Self { pool, asker: Arc::default(), thread })
    }

    /// Forgets the ids of batches that are older than anybody asks for, as the engine does by itself every ten minutes. It blocks.
    ///
    /// # Errors
    /// `Unavailable`.
    pub fn forget_old_ids(&self) -> Result<(), StoreError> {
        let pool = Arc::clone(&self.pool);
        wait(self.thread.ask(Err(unavailable()), async move { forget(&pool).await }))
    }

    /// The answer of `query`, asked again where it meets writers or loses its connection: a read can be repeated.
    fn read<T, F>(
        &self,
        query: impl Fn(Arc<Pool>) -> F + Send + Sync + 'static,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Failure>> + Send,
    {
        let pool = Arc::clone(&self.pool);
        wait(self.thread.ask(Err(unavailable()), async move {
            let mut why = String::new();
            for attempt in 0..READ_ATTEMPTS_MAX {
                match query(Arc::clone(&pool)).await {
                    Ok(answer) => return Ok(answer),
                    Err(Failure::Again | Failure::Named) => {
                        pool.link.counters.retries.fetch_add(1, Ordering::Relaxed);
                        "the read met writers each time".clone_into(&mut why);
                        sleep(pool.link.jittered(pause(attempt))).await;
                    }
                    Err(Failure::Lost(reason)) => why = reason,
                    Err(Failure::Refused(reason)) => return Err(StoreError::Unavailable(reason)),
                }
            }
            Err(StoreError::Unavailable(why))
        }))
    }
}

/// Forgets the ids of batches that nobody asks for any more, in steps, as long as the engine lives.
async fn keep_forgetting(pool: Arc<Pool>) {
    loop {
        sleep(FORGET_EVERY / 2 + pool.link.jittered(FORGET_EVERY)).await;
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
        let asked: Asked = keys.iter().map(|key| Bytes::copy_from_slice(key)).collect();
        let found = self.read(move |pool| {
            let asked = Arc::clone(&asked);
            async move { pool.read_keys(asked).await }
        })?;
        Ok(keys.iter().map(|key| found.get(*key).cloned().unwrap_or_default()).collect())
    }

    fn scan(&self, span: &Span, limit: usize) -> Result<Page, StoreError> {
        Ok(self.scan_many(&[(span, limit)])?.pop().unwrap_or_default())
    }

    fn scan_many(&self, scans: &[(&Span, usize)]) -> Result<Vec<Page>, StoreError> {
        read_together(scans, |some| {
            self.read(move |pool| {
                let some = Arc::clone(&some);
                async move { pool.reader().await?.scan_many(&some).await }
            })
        })
    }

    fn scan_rolled_up(
        &self,
        span: &Span,
        rule: &RollUp<'_>,
        limit: usize,
    ) -> Result<Page, StoreError> {
        let span = Span { order: Order::Ascending, ..span.clone() };
        let Some(scan) = Scan::of(&span, limit).map(Arc::new) else {
            return Ok(Page::default());
        };
        let asked = Arc::clone(&scan);
        let texts: Arc<[Vec<u8>; 2]> = [rule.delimiter, rule.end].map(<[u8]>::to_vec).into();
        let prefix = span.prefix.len();
        let rows = self.read(move |pool| {
            let (scan, texts) = (Arc::clone(&asked), Arc::clone(&texts));
            async move {
                let [delimiter, end] = &*texts;
                pool.reader().await?.scan_rolled_up(&scan, (prefix, delimiter, end)).await
            }
        })?;
        match rows {
            Some(rows) => Ok(scan.page(rows)),
            None => roll_up::page(&span, rule, limit, false, |span, rows| self.scan(span, rows)),
        }
    }

    fn commit(&self, batch: Batch) -> Pending<Result<Version, StoreError>> {
        if let Err(error) = batch.check() {
            return Pending::ready(Err(error));
        }
        let (pool, asker) = (Arc::clone(&self.pool), Arc::clone(&self.asker));
        self.thread.ask(Err(StoreError::OutcomeUnknown), async move {
            pool.commit(Arc::new(batch), &asker).await
        })
    }

    /// Always settled: the server shows nothing before it is on its disk.
    fn durable(&self, _seen: Version) -> Option<Pending<Result<(), StoreError>>> {
        None
    }

    fn is_local(&self) -> bool {
        false
    }
}

impl SharedKeyValue for Postgres {
    fn claim(&self, name: &str, value: &str) -> Result<String, StoreError> {
        let (pool, name, value) = (Arc::clone(&self.pool), name.to_owned(), value.to_owned());
        wait(self.thread.ask(Err(unavailable()), async move {
            let session = pool.session().await.map_err(ConnectError::into_unavailable)?;
            let kept = schema::claim(&session.client, &pool.schema, &name, &value).await;
            kept.map_err(|error| StoreError::Unavailable(failure::told(&error)))
        }))
    }

    fn connection(&self) -> StoreConnection<'_> {
        StoreConnection { link: &self.pool.link, thread: &self.thread }
    }
}

impl std::fmt::Debug for Postgres {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Postgres").field("url", &self.pool.url).finish_non_exhaustive()
    }
}
