//! Records on etcd: a cluster that keeps them on several machines, and that several instances of a service share.
//!
//! A batch is one guarded transaction of etcd: its expectations are comparisons of revisions. Its id is a key of the same transaction, so that
//! a batch whose answer was lost is looked up, and fenced off where it was not applied; etcd forgets ids by itself, with their leases. All
//! reads are linearizable. The engine has a thread and a runtime of its own: its reads can be called from anywhere.

mod commit;
mod failure;
mod keys;
mod lane;
mod leases;
mod pool;
#[cfg(feature = "testing")]
mod testing;
mod tls;
mod url;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::{sleep, timeout};

use self::failure::Failure;
use self::lane::Lane;
use self::pool::Pool;
#[cfg(feature = "testing")]
pub use self::testing::EtcdCluster;
pub use self::url::{EtcdUrl, EtcdUrlError};
use super::shared::{
    ASK_AGAIN, EngineThread, READ_ATTEMPTS_MAX, SharedKeyValue, StoreConnection, read_together,
    unavailable, wait,
};
use super::{Batch, Found, KeyValue, Page, Span, StoreError, Version, check_key};
use crate::id::SeededIds;
use crate::pending::Pending;

/// Operations in a transaction that the servers must take, with `--max-txn-ops`. A batch has fewer; reads of more keys are several transactions.
const TRANSACTION_OPERATIONS: usize = 2048;
/// Time after which a read that goes from one server to the next is given up.
const READ_MAX: Duration = Duration::from_secs(15);

/// Settings of a store on etcd.
#[derive(Debug, Clone)]
pub struct EtcdConfig {
    /// The members of the cluster, or some of them.
    pub url: EtcdUrl,
    /// The first part of every key of the service: lower case letters, digits and underscores.
    pub schema: String,
    /// Connections, spread over the members; at least one to each.
    pub connections: usize,
}

impl EtcdConfig {
    /// The usual settings for the keys below `schema` of a cluster.
    #[must_use]
    pub fn new(url: EtcdUrl, schema: impl Into<String>) -> Self {
        Self { url, schema: schema.into(), connections: 16 }
    }
}

/// A store on etcd.
pub struct Etcd {
    pool: Arc<Pool>,
    thread: EngineThread,
}

impl Etcd {
    /// An engine that begins to connect, and goes on to as long as it lives; `ids` draws names and pauses.
    ///
    /// # Errors
    /// `Unavailable` if the schema is no name, or its thread cannot be started.
    pub fn connect(config: EtcdConfig, ids: SeededIds) -> Result<Self, StoreError> {
        if !keys::is_schema(&config.schema) {
            let reason = format!("{:?} is no name for a schema", config.schema);
            return Err(StoreError::Unavailable(reason));
        }
        let make = || Arc::new(Pool::new(config, ids));
        let (thread, pool) = EngineThread::start("etcd", make, |pool: Arc<Pool>| pool.fill())?;
        Ok(Self { pool, thread })
    }

    /// The answer of `query`, asked again of another server where one does not answer: a read can be repeated.
    fn read<T, F>(
        &self,
        query: impl Fn(Arc<Lane>, Arc<Pool>) -> F + Send + Sync + 'static,
    ) -> Result<T, StoreError>
    where
        T: Send + 'static,
        F: Future<Output = Result<T, Failure>> + Send,
    {
        let pool = Arc::clone(&self.pool);
        let reading = async move {
            let mut why = String::new();
            for _ in 0..READ_ATTEMPTS_MAX {
                let lane = pool.lane().await?;
                pool.link.counters.round_trips.fetch_add(1, Ordering::Relaxed);
                match query(lane, Arc::clone(&pool)).await {
                    Ok(answer) => return Ok(answer),
                    Err(Failure::Refused(reason)) => return Err(StoreError::Unavailable(reason)),
                    Err(Failure::Lost(reason) | Failure::NoLease(reason)) => why = reason,
                }
                sleep(pool.link.jittered(ASK_AGAIN)).await;
            }
            Err(StoreError::Unavailable(why))
        };
        wait(self.thread.ask(Err(unavailable()), async move {
            let late = || StoreError::Unavailable("the servers did not answer in time".into());
            timeout(READ_MAX, reading).await.unwrap_or_else(|_| Err(late()))
        }))
    }
}

impl KeyValue for Etcd {
    fn get(&self, key: &[u8]) -> Result<Found, StoreError> {
        Ok(self.get_many(&[key])?.pop().unwrap_or_default())
    }

    fn get_many(&self, keys: &[&[u8]]) -> Result<Vec<Found>, StoreError> {
        keys.iter().try_for_each(|key| check_key(key))?;
        let mut found = Vec::with_capacity(keys.len());
        for some in keys.chunks(TRANSACTION_OPERATIONS) {
            let some: Arc<[Vec<u8>]> =
                some.iter().map(|key| self.pool.keys.row(key)).collect::<Vec<_>>().into();
            found.extend(self.read(move |lane, _| {
                let some = Arc::clone(&some);
                async move { lane.get(&some).await }
            })?);
        }
        Ok(found)
    }

    fn scan(&self, span: &Span, limit: usize) -> Result<Page, StoreError> {
        Ok(self.scan_many(&[(span, limit)])?.pop().unwrap_or_default())
    }

    fn scan_many(&self, scans: &[(&Span, usize)]) -> Result<Vec<Page>, StoreError> {
        read_together(scans, |some| {
            self.read(move |lane, pool| {
                let some = Arc::clone(&some);
                async move { lane.scan_many(&some, &pool.keys).await }
            })
        })
    }

    fn commit(&self, batch: Batch) -> Pending<Result<Version, StoreError>> {
        if let Err(error) = batch.check() {
            return Pending::ready(Err(error));
        }
        let pool = Arc::clone(&self.pool);
        let work = async move { pool.commit(&batch).await };
        self.thread.ask(Err(StoreError::OutcomeUnknown), work)
    }

    /// Always settled: the cluster shows nothing before a majority has it on its disks.
    fn durable(&self, _seen: Version) -> Option<Pending<Result<(), StoreError>>> {
        None
    }

    fn is_local(&self) -> bool {
        false
    }
}

impl SharedKeyValue for Etcd {
    fn claim(&self, name: &str, value: &str) -> Result<String, StoreError> {
        let fact = (self.pool.keys.fact(name), value.to_owned());
        self.read(move |lane, _| {
            let (key, value) = fact.clone();
            async move { lane.claim(key, value).await }
        })
    }

    fn connection(&self) -> StoreConnection<'_> {
        StoreConnection { link: &self.pool.link, thread: &self.thread }
    }
}

impl std::fmt::Debug for Etcd {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Etcd").field("url", &self.pool.url).finish_non_exhaustive()
    }
}
