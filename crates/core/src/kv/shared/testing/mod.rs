//! The servers that tests start instances of services on, and wires to them.

mod wire;

use std::io::{Error, Result};
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

pub use self::wire::{Weather, Wire};
use crate::id::{Ids as _, SystemIds};
use crate::kv::{Batch, SharedKeyValue, Span};
#[cfg(feature = "etcd")]
use crate::kv::{Etcd, EtcdCluster, EtcdConfig};
#[cfg(feature = "postgres")]
use crate::kv::{Postgres, PostgresConfig, PostgresServer};

/// The variable of the environment that names the store: `postgres`, which is the default, or `etcd`.
const VARIABLE: &str = "TRIPTYCH_TEST_STORE";
/// Time for a store to be reached.
const PATIENCE: Duration = Duration::from_secs(60);
/// Rows that a test keeps at the most.
const ROWS_MAX: usize = 100_000;

/// The server of a test's own that keeps the records of its instances. It ends with this.
#[derive(Debug)]
pub enum StoreServer {
    /// A PostgreSQL.
    #[cfg(feature = "postgres")]
    Postgres(PostgresServer),
    /// Three members of an etcd, each in a network namespace.
    #[cfg(feature = "etcd")]
    Etcd(EtcdCluster),
}

impl StoreServer {
    /// Starts the store that the environment names.
    ///
    /// # Errors
    /// If it is not installed, does not start, or this build does not know it.
    #[expect(
        clippy::disallowed_methods,
        reason = "a test program is told by its environment what to run on"
    )]
    pub fn start() -> Result<Self> {
        let wanted = std::env::var(VARIABLE).unwrap_or_else(|_| "postgres".to_owned());
        match wanted.as_str() {
            #[cfg(feature = "postgres")]
            "postgres" => PostgresServer::start().map(Self::Postgres),
            #[cfg(feature = "etcd")]
            "etcd" => EtcdCluster::start_in_namespaces().map(Self::Etcd),
            _ => Err(Error::other(format!("{VARIABLE} names {wanted}, which was not built"))),
        }
    }

    /// The URL for `--store`.
    #[must_use]
    pub fn url(&self) -> String {
        match self {
            #[cfg(feature = "postgres")]
            Self::Postgres(server) => server.url(),
            #[cfg(feature = "etcd")]
            Self::Etcd(cluster) => cluster.url(),
        }
    }

    /// A wire to it, and the URL of the store behind that; `seed` draws where it is cut.
    ///
    /// # Errors
    /// If no port can be taken.
    pub fn behind_a_wire(&self, seed: u64) -> Result<(Wire, String)> {
        let wire = Wire::start(&self.addresses(), seed)?;
        let own = wire.addresses().iter().map(SocketAddr::to_string).collect::<Vec<_>>().join(",");
        let url = match self {
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => format!("postgres://triptych@{own}/postgres"),
            #[cfg(feature = "etcd")]
            Self::Etcd(_) => format!("etcd://{own}"),
        };
        Ok((wire, url))
    }

    /// The weather in which connections to it are cut, often, and after a while that is long enough to begin one.
    #[must_use]
    pub const fn cut(&self) -> Weather {
        match self {
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => Weather::Cut(40_000),
            // The question for what a server takes has more than 80,000 bytes.
            #[cfg(feature = "etcd")]
            Self::Etcd(_) => Weather::Cut(300_000),
        }
    }

    fn addresses(&self) -> Vec<SocketAddr> {
        match self {
            #[cfg(feature = "postgres")]
            Self::Postgres(server) => vec![server.address()],
            #[cfg(feature = "etcd")]
            Self::Etcd(cluster) => cluster.addresses(),
        }
    }

    /// Stops all of it as a fall of its machines would.
    ///
    /// # Errors
    /// Those of the system.
    pub fn crash(&mut self) -> Result<()> {
        match self {
            #[cfg(feature = "postgres")]
            Self::Postgres(server) => server.crash(),
            #[cfg(feature = "etcd")]
            Self::Etcd(cluster) => cluster.kill_all(),
        }
    }

    /// Starts it again where it was.
    ///
    /// # Errors
    /// If it does not start.
    pub fn resume(&mut self) -> Result<()> {
        match self {
            #[cfg(feature = "postgres")]
            Self::Postgres(server) => server.resume(),
            #[cfg(feature = "etcd")]
            Self::Etcd(cluster) => cluster.revive_all(),
        }
    }

    /// The number of ways in which it can fall and come back.
    #[must_use]
    pub const fn falls(&self) -> usize {
        match self {
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => 1,
            #[cfg(feature = "etcd")]
            Self::Etcd(_) => 4,
        }
    }

    /// Lets it fall in the `number`th of its ways and come back: a fall of all of it; of etcd also one of the leader, a leader that nobody reaches
    /// any more, and one that clients alone still reach, each until the others have another.
    ///
    /// # Errors
    /// If it does not come back.
    pub fn fall(&mut self, number: usize) -> Result<()> {
        match (number % self.falls(), &mut *self) {
            #[cfg(feature = "etcd")]
            (way @ 1.., Self::Etcd(cluster)) => fall_of_leader(cluster, way),
            _ => {
                self.crash()?;
                self.resume()
            }
        }
    }

    /// An engine on it, with which a test looks and writes past the instances.
    ///
    /// # Errors
    /// If it is not reached.
    pub fn open(&self, schema: &str) -> Result<Arc<dyn SharedKeyValue>> {
        let url = self.url();
        let ids = SystemIds.fork();
        let store: Arc<dyn SharedKeyValue> = match self {
            #[cfg(feature = "postgres")]
            Self::Postgres(_) => {
                let url = url.parse().map_err(Error::other)?;
                let config = PostgresConfig { connections: 2, ..PostgresConfig::new(url, schema) };
                Arc::new(Postgres::connect(config, ids).map_err(Error::other)?)
            }
            #[cfg(feature = "etcd")]
            Self::Etcd(_) => {
                let url = url.parse().map_err(Error::other)?;
                let config = EtcdConfig { connections: 3, ..EtcdConfig::new(url, schema) };
                Arc::new(Etcd::connect(config, ids).map_err(Error::other)?)
            }
        };
        store.wait_until_reached(PATIENCE).map_err(Error::other)?;
        Ok(store)
    }

    /// Takes all rows of a schema away whose keys hold `part`, behind the backs of the instances; gives how many there were.
    ///
    /// # Errors
    /// Those of the store.
    pub fn take_away(&self, schema: &str, part: &str) -> Result<usize> {
        let store = self.open(schema)?;
        let rows = store.scan(&Span::default(), ROWS_MAX).map_err(Error::other)?.rows;
        let holds = |key: &[u8]| key.windows(part.len()).any(|bytes| bytes == part.as_bytes());
        let keys = rows.into_iter().map(|(key, _)| key).filter(|key| holds(key));
        let writes: Vec<_> = keys.map(|key| (key, None)).collect();
        let count = writes.len();
        let batch = Batch { writes, ..Batch::default() };
        store.commit(batch).wait().map_err(Error::other)?;
        Ok(count)
    }
}

/// Lets the leader of a cluster fall in one of its ways, until another leads, and come back.
#[cfg(feature = "etcd")]
fn fall_of_leader(cluster: &mut EtcdCluster, way: usize) -> Result<()> {
    let leader = cluster.wait_for_leader()?;
    match way {
        1 => cluster.kill(leader)?,
        2 => cluster.cut_off(leader)?,
        _ => cluster.cut_off_from_others(leader)?,
    }
    cluster.wait_for_another_leader(leader)?;
    if way == 1 { cluster.revive(leader) } else { cluster.join(leader) }
}
