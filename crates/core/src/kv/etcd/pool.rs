//! The connections, spread over the servers of the cluster, each made again when it is lost.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use parking_lot::RwLock;
use tokio::time::sleep;

use super::EtcdConfig;
use super::keys::Keys;
use super::lane::Lane;
use super::leases::Leases;
use super::url::EtcdUrl;
use crate::id::SeededIds;
use crate::kv::StoreError;
use crate::kv::shared::{CHECK_EVERY, ConnectError, Link};

/// The one kind of connections: each does for whatever is asked.
const ANY: u8 = 1;
/// Time that a request waits for a connection since the store went away: a cluster has elected another leader by then.
const PATIENCE: Duration = Duration::from_secs(5);
/// The shortest and the longest pause between two attempts to connect.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));

/// The connections of one engine, and everything that they are made with.
pub(super) struct Pool {
    pub(super) url: EtcdUrl,
    pub(super) keys: Keys,
    pub(super) link: Arc<Link>,
    pub(super) leases: Leases,
    places: Vec<Place>,
    /// The place from which the next connection is looked for.
    next: AtomicUsize,
}

/// The place of a connection to one server.
struct Place {
    server: String,
    lane: RwLock<Option<Arc<Lane>>>,
}

impl Pool {
    /// The places, all empty.
    pub(super) fn new(config: EtcdConfig, ids: SeededIds) -> Self {
        let EtcdConfig { url, schema, connections } = config;
        let places = connections.max(url.servers.len());
        let servers = url.servers.iter().cycle().take(places);
        let place = |server: &String| Place { server: server.clone(), lane: RwLock::default() };
        Self {
            places: servers.map(place).collect(),
            keys: Keys::below(&schema),
            link: Arc::new(Link::new(&url, ANY, PATIENCE, ids)),
            leases: Leases::default(),
            next: AtomicUsize::new(0),
            url,
        }
    }

    /// Spawns a task for each place, which keeps a connection in it.
    pub(super) fn fill(self: &Arc<Self>) {
        for number in 0..self.places.len() {
            let pool = Arc::clone(self);
            tokio::spawn(async move { pool.keep(number).await });
        }
    }

    /// Makes the connection of one place, and again each time that it is lost.
    async fn keep(&self, number: usize) {
        let Some(place) = self.places.get(number) else {
            return;
        };
        let (mut pause, longest) = PAUSES;
        loop {
            match Lane::open(&self.url, &place.server, &self.keys).await {
                Ok(lane) => {
                    pause = PAUSES.0;
                    let lane = Arc::new(lane);
                    *place.lane.write() = Some(Arc::clone(&lane));
                    self.link.opened(ANY);
                    let reason = self.watch(&lane, &place.server).await;
                    *place.lane.write() = None;
                    self.link.lost(&reason);
                }
                Err(error) => {
                    self.link.not_reached(&error);
                    sleep(self.link.jittered(pause)).await;
                    pause = longest.min(pause * 2);
                }
            }
        }
    }

    /// Waits for the end of a connection, and gives the reason. An idle one is asked for signs of life, and whether its format is still ours.
    async fn watch(&self, lane: &Lane, server: &str) -> String {
        loop {
            tokio::select! {
                () = lane.condemned() => return format!("{server} did not answer"),
                () = sleep(CHECK_EVERY) => {
                    let checked = lane.check_format(server, &self.keys).await;
                    if let Err(ConnectError::Away(reason) | ConnectError::Refused(reason)) = checked {
                        return reason;
                    }
                }
            }
        }
    }

    /// A connection that is open, of each server in turn.
    ///
    /// # Errors
    /// `Unavailable` once there was none for longer than is waited.
    pub(super) async fn lane(&self) -> Result<Arc<Lane>, StoreError> {
        self.link.connection(|| self.in_turn()).await
    }

    fn in_turn(&self) -> Option<Arc<Lane>> {
        let first = self.next.fetch_add(1, Ordering::Relaxed) % self.places.len().max(1);
        let places = self.places.iter().cycle().skip(first).take(self.places.len());
        let mut open = places.filter_map(|place| place.lane.read().clone());
        open.find(|lane| lane.is_open())
    }
}
