//! A connection to the server: settings that are asked for and set, statements that are prepared, and what becomes of each.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use futures_util::future::join_all;
use tokio::sync::Notify;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{FromSql, ToSql};
use tokio_postgres::{Client, Row, Statement};

use super::failure::Failure;
use super::group_commit::{NamedBatch, Together, to_signed};
use super::statements::Statements;
use super::url::PostgresUrl;
use super::{schema, tls};
use crate::kv::shared::{ConnectError, Scan, StoredRow};
use crate::kv::{Batch, KEY_BYTES_MAX, Order, Version};

/// Time for a connection to be ready for use.
const READY_MAX: Duration = Duration::from_secs(10);
/// Time for a statement, after which its connection counts as lost.
const STATEMENT_MAX: Duration = Duration::from_secs(15);
/// Settings of every session; the server ends by itself what nobody waits for any more.
const SETTINGS: &str = "SET statement_timeout = '10s'; SET timezone = 'UTC'";
/// Settings that keep plans to the index, each ignored by a server that does not know it: whoever reads a whole table depends on all of it.
const PLANS: [&str; 6] = [
    "SET enable_seqscan = off",
    "SET enable_bitmapscan = off",
    "SET enable_hashjoin = off",
    "SET enable_mergejoin = off",
    "SET enable_sort = off",
    "SET plan_cache_mode = force_generic_plan",
];

/// The end of all keys: longer than any, and greater.
const PAST_ALL: [u8; KEY_BYTES_MAX + 1] = [u8::MAX; KEY_BYTES_MAX + 1];

/// The work of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Role {
    /// Commits: each statement is a serializable transaction.
    Writer,
    /// Reads, as transactions that write nothing: the server finds them a place among the others.
    Reader,
    /// Questions for outcomes, and tidying, which depend on no other row.
    Keeper,
}

impl Role {
    const fn isolation(self) -> &'static str {
        match self {
            Self::Writer | Self::Reader => "SET default_transaction_isolation = 'serializable'",
            Self::Keeper => "SET default_transaction_isolation = 'read committed'",
        }
    }
}

/// The task that carries the bytes of a connection; its end, with the reason, is that of the connection. Dropping it closes the connection.
pub(super) struct Carrier(pub(super) JoinHandle<String>);

impl Drop for Carrier {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// A session that is set up for a role.
pub(super) struct Session {
    pub(super) client: Client,
    pub(super) carrier: Carrier,
}

impl Session {
    /// Connects, checks what the server promises, and brings the schema to this release's format.
    pub(super) async fn open(
        url: &PostgresUrl,
        schema: &str,
        role: Role,
    ) -> Result<Self, ConnectError> {
        let (client, carrier) = tls::connect(url).await?;
        let session = Self { client, carrier: Carrier(carrier) };
        let client = &session.client;
        client.batch_execute(&[SETTINGS, role.isolation()].join(";")).await?;
        if client.batch_execute(&PLANS.join(";")).await.is_err() {
            // A server of another kind has other plans, and takes those settings that it knows.
            for setting in PLANS {
                let _ = client.batch_execute(setting).await;
            }
        }
        if role == Role::Keeper {
            return Ok(session);
        }
        check_promises(client).await?;
        schema::prepare(client, schema).await?;
        if role == Role::Reader {
            client.batch_execute("SET default_transaction_read_only = on").await?;
        }
        Ok(session)
    }
}

/// Refuses a server that acknowledges what a power cut takes back, or whose transactions do not exclude each other.
async fn check_promises(client: &Client) -> Result<(), ConnectError> {
    let settings = "SELECT name, setting FROM pg_settings WHERE name IN ('fsync', 'synchronous_commit', 'transaction_isolation')";
    let (mut isolation, mut off) = (String::new(), None);
    for row in client.query(settings, &[]).await? {
        match (row.try_get::<_, String>(0)?, row.try_get::<_, String>(1)?) {
            (name, value) if name == "transaction_isolation" => isolation = value,
            (name, value) if value == "off" => off = Some(name),
            _ => {}
        }
    }
    if let Some(setting) = off {
        return Err(ConnectError::Refused(format!(
            "the server runs with {setting} = off, so that a power cut takes back what it acknowledged: switch it on"
        )));
    }
    if isolation != "serializable" {
        return Err(ConnectError::Refused(format!(
            "transactions of this server are {isolation}, not serializable: a proxy between may not pass settings of a session on"
        )));
    }
    Ok(())
}

/// A connection that statements of many callers follow each other on, without waiting for each other's answers.
pub(super) struct Lane {
    client: Client,
    statements: Prepared,
    running: AtomicUsize,
    /// Told once the connection must not be used any more.
    condemned: Notify,
}

struct Prepared {
    commit: Option<Statement>,
    /// None of a server of another kind that does not take it.
    commit_many: Option<Statement>,
    get: Statement,
    scans: [Statement; 2],
    /// None of a server of another kind that does not take it.
    rolled_up: Option<Statement>,
    format: Statement,
}

impl Lane {
    /// Connects for a role, and prepares its statements.
    pub(super) async fn open(
        url: &PostgresUrl,
        schema: &str,
        statements: &Statements,
        role: Role,
    ) -> Result<(Self, Carrier), ConnectError> {
        let opened = timeout(READY_MAX, async {
            let Session { client, carrier } = Session::open(url, schema, role).await?;
            let (mut commit, mut commit_many) = (None, None);
            if role == Role::Writer {
                commit = Some(client.prepare(&statements.commit).await?);
                commit_many = prepare_if_known(&client, &statements.commit_many).await?;
            }
            let get = client.prepare(&statements.get).await?;
            let scans = [
                client.prepare(statements.scan(Order::Ascending)).await?,
                client.prepare(statements.scan(Order::Descending)).await?,
            ];
            let rolled_up = prepare_if_known(&client, &statements.rolled_up).await?;
            let format = client.prepare(&statements.format).await?;
            let (running, condemned) = (AtomicUsize::new(0), Notify::new());
            let statements = Prepared { commit, commit_many, get, scans, rolled_up, format };
            Ok((Self { client, statements, running, condemned }, carrier))
        });
        let late = |_| ConnectError::Away("the server did not answer in time".to_owned());
        opened.await.map_err(late)?
    }

    /// The number of statements whose answers are waited for; `None` once the connection is closed.
    pub(super) fn load(&self) -> Option<usize> {
        (!self.client.is_closed()).then(|| self.running.load(Ordering::Relaxed))
    }

    /// Waits until the connection must not be used any more.
    pub(super) async fn condemned(&self) {
        self.condemned.notified().await;
    }

    /// The version of a guarded batch, or `None` where an expectation does not hold.
    pub(super) async fn commit(
        &self,
        id: &[u8; 16],
        batch: &Batch,
    ) -> Result<Option<i64>, Failure> {
        let Some(statement) = &self.statements.commit else {
            return Err(Failure::Refused("this connection only reads".to_owned()));
        };
        let (mut expected, mut versions) = (Vec::new(), Vec::new());
        for (key, version) in &batch.expectations {
            expected.push(key.as_ref());
            versions.push(to_signed(version.0));
        }
        let (mut gone, mut keys, mut values) = (Vec::new(), Vec::new(), Vec::new());
        for (key, value) in &batch.writes {
            match value {
                Some(value) => {
                    keys.push(key.as_ref());
                    values.push(value.as_ref());
                }
                None => gone.push(key.as_ref()),
            }
        }
        let (expected, gone): (Vec<&[u8]>, Vec<&[u8]>) = (expected, gone);
        let (keys, values): (Vec<&[u8]>, Vec<&[u8]>) = (keys, values);
        let id = id.as_slice();
        let rows =
            self.rows(statement, &[&expected, &versions, &id, &gone, &keys, &values]).await?;
        rows.first().map(|row| column(row, 0)).transpose()
    }

    /// The version of each of several guarded batches, of which none writes what another one expects or writes, or `None` for one of which an expectation
    /// does not hold. `None` altogether where the server does not take them together.
    pub(super) async fn commit_many(
        &self,
        batches: &[NamedBatch],
    ) -> Result<Option<Vec<Option<i64>>>, Failure> {
        let Some(statement) = &self.statements.commit_many else {
            return Ok(None);
        };
        let together = Together::of(batches);
        let rows = self.rows(statement, &together.parameters()).await?;
        let mut versions = vec![None; batches.len()];
        for row in &rows {
            let number: i64 = column(row, 0)?;
            let at = usize::try_from(number - 1).ok();
            if let Some(version) = at.and_then(|at| versions.get_mut(at)) {
                *version = Some(column(row, 1)?);
            }
        }
        Ok(Some(versions))
    }

    /// The format of the schema now, as it is written down.
    pub(super) async fn format(&self) -> Result<String, Failure> {
        let rows = self.rows(&self.statements.format, &[]).await?;
        rows.first().map_or_else(|| Ok(String::new()), |row| column(row, 0))
    }

    /// The rows of several keys, in any order.
    pub(super) async fn get(&self, keys: &[&[u8]]) -> Result<Vec<StoredRow>, Failure> {
        let rows = self.rows(&self.statements.get, &[&keys]).await?;
        rows.iter().map(stored).collect()
    }

    /// The rows of each of several scans: their statements follow each other, and their answers are waited for together.
    pub(super) async fn scan_many(&self, scans: &[Scan]) -> Result<Vec<Vec<StoredRow>>, Failure> {
        // Where one fails the others still end, so that what runs is counted.
        let found = join_all(scans.iter().map(|scan| self.scan(scan))).await;
        found.into_iter().collect()
    }

    async fn scan(&self, scan: &Scan) -> Result<Vec<StoredRow>, Failure> {
        let [ascending, descending] = &self.statements.scans;
        let statement = match scan.order {
            Order::Ascending => ascending,
            Order::Descending => descending,
        };
        let before = scan.before.as_deref().unwrap_or(&PAST_ALL);
        let rows = self.rows(statement, &[&scan.from, &before, &scan.rows()]).await?;
        rows.iter().map(stored).collect()
    }

    /// The rows of a scan of which many roll up, the first of them alone, in their order; `None` where the server does not pass over the others.
    pub(super) async fn scan_rolled_up(
        &self,
        scan: &Scan,
        (prefix, delimiter, end): (usize, &[u8], &[u8]),
    ) -> Result<Option<Vec<StoredRow>>, Failure> {
        let Some(statement) = &self.statements.rolled_up else {
            return Ok(None);
        };
        // Places in texts begin with 1.
        let place = i32::try_from(prefix + 1).unwrap_or(i32::MAX);
        let before = scan.before.as_deref().unwrap_or(&PAST_ALL);
        let rows = self
            .rows(statement, &[&scan.from, &before, &place, &delimiter, &end, &scan.rows()])
            .await?;
        let mut rows = rows.iter().map(stored).collect::<Result<Vec<_>, _>>()?;
        rows.sort_by(|one, other| one.key.cmp(&other.key));
        Ok(Some(rows))
    }

    async fn rows(
        &self,
        statement: &Statement,
        parameters: &[&(dyn ToSql + Sync)],
    ) -> Result<Vec<Row>, Failure> {
        self.running.fetch_add(1, Ordering::Relaxed);
        let answer = timeout(STATEMENT_MAX, self.client.query(statement, parameters)).await;
        self.running.fetch_sub(1, Ordering::Relaxed);
        let Ok(answer) = answer else {
            self.condemned.notify_one();
            return Err(Failure::Lost("the server did not answer in time".to_owned()));
        };
        let failed = answer.map_err(|error| (Failure::of(&error), is_for_reading_only(&error)));
        failed.map_err(|(failure, is_standby)| {
            if is_standby {
                self.condemned.notify_one();
            }
            failure
        })
    }
}

/// A prepared statement, unless a server of another kind does not take it.
async fn prepare_if_known(
    client: &Client,
    statement: &str,
) -> Result<Option<Statement>, tokio_postgres::Error> {
    match client.prepare(statement).await {
        Ok(statement) => Ok(Some(statement)),
        Err(error) if is_unknown_there(&error) => Ok(None),
        Err(error) => Err(error),
    }
}

/// Tells whether a server refuses a statement for what it says: one that knows less SQL.
fn is_unknown_there(error: &tokio_postgres::Error) -> bool {
    let refused = error.code().map(SqlState::code);
    // Feature not supported; syntax error or access rule violation.
    refused.is_some_and(|code| code.starts_with("0A") || code.starts_with("42"))
}

/// Tells whether the server takes no writes any more, as one that another was put in the place of.
fn is_for_reading_only(error: &tokio_postgres::Error) -> bool {
    error.code() == Some(&SqlState::READ_ONLY_SQL_TRANSACTION)
}

fn stored(row: &Row) -> Result<StoredRow, Failure> {
    let bytes = |at| column::<&[u8]>(row, at).map(Bytes::copy_from_slice);
    let version = Version(column::<i64>(row, 2)?.unsigned_abs());
    Ok(StoredRow { key: bytes(0)?, value: bytes(1)?, version })
}

fn column<'r, T: FromSql<'r>>(row: &'r Row, at: usize) -> Result<T, Failure> {
    row.try_get(at).map_err(|error| Failure::Refused(error.to_string()))
}
