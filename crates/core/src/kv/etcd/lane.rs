//! A connection to one server of the cluster, and what is asked on it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use bytes::Bytes;
use etcd_client::{
    Client, Compare, CompareOp, ConnectOptions, Error, GetOptions, KvClient, LeaseClient,
    PutOptions, SortOrder, SortTarget, Txn, TxnOp, TxnOpResponse, TxnResponse,
};
use tokio::sync::Notify;
use tokio::time::timeout;

use super::failure::Failure;
use super::keys::Keys;
use super::url::EtcdUrl;
use super::{TRANSACTION_OPERATIONS, tls};
use crate::kv::shared::{ConnectError, Scan, StoredRow};
use crate::kv::{Batch, Found, Order, Version};

/// Time for an answer, after which the connection counts as lost.
const ANSWER_MAX: Duration = Duration::from_secs(5);
/// Time for an address to answer.
const CONNECT_MAX: Duration = Duration::from_secs(3);
/// Pauses after which a silent connection is asked for a sign of life, and time for the sign.
const KEEPALIVE: (Duration, Duration) = (Duration::from_secs(5), Duration::from_secs(5));
/// The format of the keys that this release writes.
const FORMAT: u32 = 1;
/// The values of an id: of a batch that was applied, and of one that was given up.
const APPLIED: &[u8] = b"1";
const GIVEN_UP: &[u8] = b"0";

/// The outcome of a batch under its id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Outcome {
    /// It was applied, with this version.
    Applied(Version),
    /// It was given up, and cannot be applied under this id any more.
    GivenUp,
    /// An expectation does not hold; nothing was written.
    Conflict,
}

/// A connection that requests of many callers share.
pub(super) struct Lane {
    kv: KvClient,
    lease: LeaseClient,
    is_condemned: AtomicBool,
    /// Told once the connection must not be used any more.
    condemned: Notify,
}

impl Lane {
    /// Connects to one server, checks what it takes, and brings the keys to this release's format.
    pub(super) async fn open(
        url: &EtcdUrl,
        server: &str,
        keys: &Keys,
    ) -> Result<Self, ConnectError> {
        let mut options = ConnectOptions::new()
            .with_connect_timeout(CONNECT_MAX)
            .with_tcp_keepalive(KEEPALIVE.0)
            .with_keep_alive(KEEPALIVE.0, KEEPALIVE.1)
            .with_keep_alive_while_idle(true)
            .with_require_leader(true);
        if let Some((name, password)) = &url.user {
            options = options.with_user(name, password);
        }
        let (address, options) =
            tls::secured(url, server, options).map_err(ConnectError::Refused)?;
        let away = |reason: String| ConnectError::Away(format!("{server}: {reason}"));
        let client = timeout(CONNECT_MAX, Client::connect([address], Some(options)))
            .await
            .map_err(|_| away("it did not answer in time".to_owned()))?
            .map_err(|error| away(Failure::of(&error).into_reason()))?;
        let lane = Self {
            // A page of rows is as long as its rows.
            kv: client.kv_client().max_decoding_message_size(usize::MAX),
            lease: client.lease_client(),
            is_condemned: AtomicBool::new(false),
            condemned: Notify::new(),
        };
        lane.check_operations(server, keys).await?;
        lane.check_format(server, keys).await?;
        Ok(lane)
    }

    /// Refuses a server that does not take as many operations as a batch can have.
    async fn check_operations(&self, server: &str, keys: &Keys) -> Result<(), ConnectError> {
        let key = keys.fact("format");
        let compare = Compare::create_revision(key, CompareOp::NotEqual, i64::MAX);
        // It compares and does nothing, so that the server answers by itself.
        match self.txn(Txn::new().when(vec![compare; TRANSACTION_OPERATIONS])).await {
            Ok(_) => Ok(()),
            Err(Failure::Refused(reason)) if reason.contains("too many operations") => {
                Err(ConnectError::Refused(format!(
                    "the server {server} takes too few operations in a transaction: start each etcd of the cluster with --max-txn-ops={TRANSACTION_OPERATIONS}"
                )))
            }
            Err(failure) => Err(ConnectError::Away(format!("{server}: {}", failure.into_reason()))),
        }
    }

    /// Refuses keys of a later release; where there are none yet, they are of this one's format from now on. A sign of life beside that.
    pub(super) async fn check_format(&self, server: &str, keys: &Keys) -> Result<(), ConnectError> {
        let key = keys.fact("format");
        let format = async {
            // A claim is a proposal to the cluster even where it changes nothing; a read is not.
            match self.get(std::slice::from_ref(&key)).await?.pop().and_then(|found| found.value) {
                Some(kept) => Ok(String::from_utf8_lossy(&kept).into_owned()),
                None => self.claim(key, FORMAT.to_string()).await,
            }
        };
        let format = format.await.map_err(|failure: Failure| {
            ConnectError::Away(format!("{server}: {}", failure.into_reason()))
        })?;
        match format.parse::<u32>() {
            Ok(FORMAT) => Ok(()),
            Ok(later) if later > FORMAT => Err(ConnectError::Refused(format!(
                "the keys of the cluster are of format {later}, which a later release made; this one knows formats up to {FORMAT}: start the release that made it"
            ))),
            _ => Err(ConnectError::Refused(format!(
                "the keys of the cluster are of the format {format:?}, which is none"
            ))),
        }
    }

    /// Tells whether the connection may still be used.
    pub(super) fn is_open(&self) -> bool {
        !self.is_condemned.load(Ordering::Relaxed)
    }

    /// Waits until the connection must not be used any more.
    pub(super) async fn condemned(&self) {
        self.condemned.notified().await;
    }

    /// The answer to a request; a connection on which one is lost is used no more.
    async fn answer<T>(
        &self,
        asked: impl Future<Output = Result<T, Error>> + Send,
    ) -> Result<T, Failure> {
        if !self.is_open() {
            return Err(Failure::Lost("the connection was given up".to_owned()));
        }
        let late = |_| Failure::Lost("the server did not answer in time".to_owned());
        let answer = match timeout(ANSWER_MAX, asked).await.map_err(late) {
            Ok(Ok(answer)) => return Ok(answer),
            Ok(Err(error)) => Failure::of(&error),
            Err(late) => late,
        };
        if matches!(answer, Failure::Lost(_)) {
            self.is_condemned.store(true, Ordering::Relaxed);
            self.condemned.notify_one();
        }
        Err(answer)
    }

    async fn txn(&self, txn: Txn) -> Result<TxnResponse, Failure> {
        let mut kv = self.kv.clone();
        self.answer(async move { kv.txn(txn).await }).await
    }

    /// A lease for so long.
    ///
    /// # Errors
    /// Those of the server; a lease whose answer was lost ends unused.
    pub(super) async fn grant(&self, time: Duration) -> Result<i64, Failure> {
        let mut lease = self.lease.clone();
        let seconds = i64::try_from(time.as_secs()).unwrap_or(i64::MAX);
        let granted = self.answer(async move { lease.grant(seconds, None).await });
        granted.await.map(|granted| granted.id())
    }

    /// Applies a guarded batch, unless its id is there already.
    pub(super) async fn commit(
        &self,
        keys: &Keys,
        id: &[u8; 16],
        batch: &Batch,
        lease: i64,
    ) -> Result<Outcome, Failure> {
        let name = keys.batch(id);
        let mut guards = vec![is_absent(&name)];
        guards.extend(batch.expectations.iter().map(|(key, version)| {
            let version = i64::try_from(version.0).unwrap_or(i64::MAX);
            Compare::mod_revision(keys.row(key), CompareOp::Equal, version)
        }));
        let mut operations = vec![put(&name, APPLIED, lease)];
        operations.extend(batch.writes.iter().map(|(key, value)| match value {
            Some(value) => TxnOp::put(keys.row(key), value.to_vec(), None),
            None => TxnOp::delete(keys.row(key), None),
        }));
        let txn = Txn::new().when(guards).and_then(operations);
        let answer = self.txn(txn.or_else([TxnOp::get(name, None)])).await?;
        if answer.succeeded() {
            let revision = answer.header().map(|header| version(header.revision()));
            return Ok(Outcome::Applied(revision.unwrap_or_default()));
        }
        // What stands under its name tells why.
        Ok(match rows_of(&answer).into_iter().flatten().next() {
            None => Outcome::Conflict,
            Some(named) if named.value() == APPLIED => {
                Outcome::Applied(version(named.mod_revision()))
            }
            Some(_) => Outcome::GivenUp,
        })
    }

    /// Gives the id of a batch up, so that one that still runs somewhere cannot be applied; the version of a batch that was applied before.
    pub(super) async fn give_up(
        &self,
        keys: &Keys,
        id: &[u8; 16],
        lease: i64,
    ) -> Result<Option<Version>, Failure> {
        let name = keys.batch(id);
        let txn = Txn::new().when([is_absent(&name)]).and_then([put(&name, GIVEN_UP, lease)]);
        let answer = self.txn(txn.or_else([TxnOp::get(name, None)])).await?;
        let named = rows_of(&answer).into_iter().flatten().next();
        let applied = named.filter(|named| named.value() == APPLIED);
        Ok(applied.map(|named| version(named.mod_revision())))
    }

    /// The fact under a key: `value` if there was none, which then stays.
    pub(super) async fn claim(&self, key: Vec<u8>, value: String) -> Result<String, Failure> {
        let guard = [is_absent(&key)];
        let txn = Txn::new().when(guard).and_then([TxnOp::put(key.clone(), value.clone(), None)]);
        let answer = self.txn(txn.or_else([TxnOp::get(key, None)])).await?;
        let kept = rows_of(&answer).into_iter().flatten().next();
        Ok(kept.map_or(value, |kept| String::from_utf8_lossy(kept.value()).into_owned()))
    }

    /// The values under several keys, in their order, all of one moment.
    pub(super) async fn get(&self, keys: &[Vec<u8>]) -> Result<Vec<Found>, Failure> {
        let operations: Vec<_> = keys.iter().map(|key| TxnOp::get(key.clone(), None)).collect();
        let found = rows_of(&self.txn(Txn::new().and_then(operations)).await?);
        if found.len() != keys.len() {
            return Err(Failure::Refused("the server answered for other keys".to_owned()));
        }
        let found = found.into_iter().map(|mut rows| match rows.pop() {
            None => Found::default(),
            Some(row) => {
                let version = version(row.mod_revision());
                Found { value: Some(row.into_key_value().1.into()), seen: version }
            }
        });
        Ok(found.collect())
    }

    /// The rows of each of several scans, in their order, all of one moment.
    pub(super) async fn scan_many(
        &self,
        scans: &[Scan],
        keys: &Keys,
    ) -> Result<Vec<Vec<StoredRow>>, Failure> {
        let operations: Vec<_> = scans.iter().map(|scan| range(scan, keys)).collect();
        let found = rows_of(&self.txn(Txn::new().and_then(operations)).await?);
        if found.len() != scans.len() {
            return Err(Failure::Refused("the server answered for other ranges".to_owned()));
        }
        let own = |row: etcd_client::KeyValue| {
            let version = version(row.mod_revision());
            let (key, value) = row.into_key_value();
            let key = Bytes::copy_from_slice(keys.own(&key)?);
            Some(StoredRow { key, value: value.into(), version })
        };
        Ok(found.into_iter().map(|rows| rows.into_iter().filter_map(own).collect()).collect())
    }
}

/// The operation that reads the range of a scan.
fn range(scan: &Scan, keys: &Keys) -> TxnOp {
    let before = scan.before.as_ref().map_or_else(|| keys.past_rows(), |key| keys.row(key));
    let options = GetOptions::new().with_range(before).with_limit(scan.rows());
    let options = match scan.order {
        Order::Ascending => options,
        Order::Descending => options.with_sort(SortTarget::Key, SortOrder::Descend),
    };
    TxnOp::get(keys.row(&scan.from), Some(options))
}

fn is_absent(key: &[u8]) -> Compare {
    Compare::create_revision(key, CompareOp::Equal, 0)
}

fn put(key: &[u8], value: &[u8], lease: i64) -> TxnOp {
    TxnOp::put(key, value, Some(PutOptions::new().with_lease(lease)))
}

/// A revision as a version; none is below zero.
const fn version(revision: i64) -> Version {
    Version(revision.unsigned_abs())
}

/// The rows of each range that a transaction read.
fn rows_of(answer: &TxnResponse) -> Vec<Vec<etcd_client::KeyValue>> {
    let ranges = answer.op_responses().into_iter().filter_map(|answer| match answer {
        TxnOpResponse::Get(mut found) => Some(found.take_kvs()),
        _ => None,
    });
    ranges.collect()
}
