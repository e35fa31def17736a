//! The connections: some that commit, some that read, each made again when it is lost.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use parking_lot::{Mutex, RwLock};
use tokio::sync::watch;
use tokio::time::{Instant, sleep, timeout_at};

use super::Counters;
use super::connection::{Carrier, Lane, Role, Session};
use super::failure::ConnectError;
use super::statements::Statements;
use super::url::PostgresUrl;
use crate::id::{Ids, SeededIds};
use crate::kv::StoreError;

/// Time that a statement waits for a connection since the store went away: a server that is restarted is back by then.
const PATIENCE: Duration = Duration::from_secs(3);
/// The shortest and the longest pause between two attempts to connect.
const PAUSES: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(2));

/// The state of the store, as far as it is known.
#[derive(Debug, Clone)]
pub(super) struct Health {
    /// Connections that are open.
    open: usize,
    /// The reason for which there is none, and whether it lasts.
    reason: String,
    is_refused: bool,
    /// The moment at which the last connection was lost, or the first was to be made.
    since: Instant,
}

impl Health {
    /// The reason for which nothing can be asked now.
    pub(super) fn check(&self) -> Result<(), String> {
        if self.open > 0 { Ok(()) } else { Err(self.reason.clone()) }
    }

    /// Tells whether the first attempts are over: the store is reached, or refused for good.
    pub(super) const fn is_known(&self) -> bool {
        self.open > 0 || self.is_refused
    }

    pub(super) const fn is_refused(&self) -> bool {
        self.open == 0 && self.is_refused
    }
}

/// The connections of one engine, and everything that they are made with.
pub(super) struct Pool {
    pub(super) url: PostgresUrl,
    pub(super) schema: String,
    pub(super) statements: Statements,
    pub(super) counters: Counters,
    health: watch::Sender<Health>,
    writers: Vec<Slot>,
    readers: Vec<Slot>,
    /// Held while a connection is made: one shows what there is to know of the server, and one takes the steps of the schema.
    connecting: tokio::sync::Mutex<()>,
    pub(super) ids: Mutex<SeededIds>,
}

/// The place of a connection.
#[derive(Default)]
struct Slot(RwLock<Option<Arc<Lane>>>);

impl Pool {
    /// The places of so many connections of each role, all empty.
    pub(super) fn new(url: PostgresUrl, schema: &str, each: usize, ids: SeededIds) -> Self {
        let reason = format!("{url} was not reached yet");
        let health = Health { open: 0, reason, is_refused: false, since: Instant::now() };
        let slots = || (0..each.max(1)).map(|_| Slot::default()).collect();
        Self {
            url,
            schema: schema.to_owned(),
            statements: Statements::of(schema),
            counters: Counters::default(),
            health: watch::Sender::new(health),
            writers: slots(),
            readers: slots(),
            connecting: tokio::sync::Mutex::default(),
            ids: Mutex::new(ids),
        }
    }

    pub(super) fn health(&self) -> watch::Receiver<Health> {
        self.health.subscribe()
    }

    const fn slots(&self, role: Role) -> &Vec<Slot> {
        match role {
            Role::Writer => &self.writers,
            Role::Reader | Role::Keeper => &self.readers,
        }
    }

    /// Spawns a task for each place, which keeps a connection in it.
    pub(super) fn fill(self: &Arc<Self>) {
        for role in [Role::Writer, Role::Reader] {
            for place in 0..self.slots(role).len() {
                let pool = Arc::clone(self);
                tokio::spawn(async move { pool.keep(role, place).await });
            }
        }
    }

    /// Makes the connection of one place, and again each time that it is lost.
    async fn keep(&self, role: Role, place: usize) {
        let Some(slot) = self.slots(role).get(place) else {
            return;
        };
        let (mut pause, longest) = PAUSES;
        loop {
            match self.connect(role).await {
                Ok((lane, mut carrier)) => {
                    pause = PAUSES.0;
                    let lane = Arc::new(lane);
                    *slot.0.write() = Some(Arc::clone(&lane));
                    self.health.send_modify(|health| {
                        health.open += 1;
                        health.is_refused = false;
                    });
                    let reason = tokio::select! {
                        ended = &mut carrier.0 => ended.unwrap_or_else(|error| error.to_string()),
                        () = lane.condemned() => "the server did not answer in time".to_owned(),
                    };
                    *slot.0.write() = None;
                    drop(carrier);
                    self.lost(&reason);
                }
                Err(error) => {
                    self.not_reached(&error);
                    sleep(self.jittered(pause)).await;
                    pause = longest.min(pause * 2);
                }
            }
        }
    }

    async fn connect(&self, role: Role) -> Result<(Lane, Carrier), ConnectError> {
        let _turn = self.connecting.lock().await;
        Lane::open(&self.url, &self.schema, &self.statements, role).await
    }

    /// Opens a session beside the places, for questions and for tidying.
    pub(super) async fn session(&self) -> Result<Session, ConnectError> {
        Session::open(&self.url, &self.schema, Role::Keeper).await
    }

    fn lost(&self, reason: &str) {
        self.counters.lost_connections.fetch_add(1, Ordering::Relaxed);
        self.health.send_modify(|health| {
            health.open -= 1;
            if health.open == 0 {
                health.since = Instant::now();
                health.reason = format!("the connection to {} was lost: {reason}", self.url);
                tracing::warn!(reason = health.reason, "the store is away");
            }
        });
    }

    fn not_reached(&self, error: &ConnectError) {
        let (ConnectError::Away(reason) | ConnectError::Refused(reason)) = error;
        let reason = format!("{} cannot be used: {reason}", self.url);
        self.health.send_modify(|health| {
            health.is_refused = matches!(error, ConnectError::Refused(_));
            if health.open == 0 && health.reason != reason {
                tracing::warn!(reason, "the store is not reached");
                health.reason = reason;
            }
        });
    }

    /// A random part of a time, so that those who were stopped together do not come back together.
    pub(super) fn jittered(&self, longest: Duration) -> Duration {
        let share = self.ids.lock().next() >> 40;
        longest.mul_f64(share as f64 / (1_u64 << 24) as f64)
    }

    /// The connection of this role with the least to do.
    ///
    /// # Errors
    /// `Unavailable` once there was none for longer than is waited.
    pub(super) async fn lane(&self, role: Role) -> Result<Arc<Lane>, StoreError> {
        let mut health = self.health.subscribe();
        let asked = Instant::now();
        loop {
            let known = health.borrow_and_update().clone();
            if let Some(lane) = self.idlest(role) {
                return Ok(lane);
            }
            let since = if known.open > 0 { asked } else { known.since };
            let deadline = since + PATIENCE;
            if known.is_refused() || timeout_at(deadline, health.changed()).await.is_err() {
                return Err(StoreError::Unavailable(known.reason));
            }
        }
    }

    fn idlest(&self, role: Role) -> Option<Arc<Lane>> {
        let open = self.slots(role).iter().filter_map(|slot| slot.0.read().clone());
        let with_load = open.filter_map(|lane| Some((lane.load()?, lane)));
        with_load.min_by_key(|(load, _)| *load).map(|(_, lane)| lane)
    }
}
