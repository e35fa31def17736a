//! The way of an engine to its store, as far as it is known: whether it is there, why not, and for how long it is waited for.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::{Instant, timeout, timeout_at};

use super::stats::Counters;
use crate::id::{Ids, SeededIds};
use crate::kv::StoreError;
use crate::pending::block_on;

/// Reasons for which there is no connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(in crate::kv) enum ConnectError {
    /// The server cannot be reached now; it may be later.
    Away(String),
    /// The server is reached, and this release must not write to it.
    Refused(String),
}

/// The state of the store, as far as it is known.
#[derive(Debug, Clone)]
struct Health {
    /// Connections that are open.
    open: usize,
    /// Kinds of connections, as bits, of which none was open yet.
    lacking: u8,
    /// The reason for which there is none, and whether it lasts.
    reason: String,
    is_refused: bool,
    /// The moment at which the last connection was lost, or the first was to be made.
    since: Instant,
}

impl Health {
    /// The reason for which nothing can be asked now.
    fn check(&self) -> Result<(), String> {
        if self.open > 0 { Ok(()) } else { Err(self.reason.clone()) }
    }

    /// Tells whether the first attempts are over: the store is reached, or refused for good.
    const fn is_known(&self) -> bool {
        self.lacking == 0 || self.is_refused
    }
}

/// The way to a store, its figures, and the randomness of its pauses.
pub(in crate::kv) struct Link {
    /// The address as it may be shown.
    address: String,
    /// Time that a request waits for a connection since the store went away.
    patience: Duration,
    health: watch::Sender<Health>,
    pub(in crate::kv) counters: Counters,
    pub(in crate::kv) ids: Mutex<SeededIds>,
}

impl Link {
    /// A way that nobody went yet. The store is reached once a connection of each of these `kinds`, which are bits, was open.
    pub(in crate::kv) fn new(
        address: &impl fmt::Display,
        kinds: u8,
        patience: Duration,
        ids: SeededIds,
    ) -> Self {
        let reason = format!("{address} was not reached yet");
        let since = Instant::now();
        let health = Health { open: 0, lacking: kinds, reason, is_refused: false, since };
        Self {
            address: address.to_string(),
            patience,
            health: watch::Sender::new(health),
            counters: Counters::default(),
            ids: Mutex::new(ids),
        }
    }

    /// Counts a statement that is sent.
    #[cfg(feature = "postgres")]
    pub(in crate::kv) fn count_round_trip(&self) {
        self.counters.round_trips.fetch_add(1, Ordering::Relaxed);
    }

    /// Tells whether the store can be asked now.
    pub(in crate::kv) fn health(&self) -> Result<(), String> {
        self.health.borrow().check()
    }

    /// Waits until the store is reached for the first time, or refused.
    pub(in crate::kv) async fn reached(&self) -> Result<(), String> {
        let mut health = self.health.subscribe();
        let known = health.wait_for(Health::is_known).await;
        known.map_err(|error| error.to_string())?.check()
    }

    /// The same on a thread that may block, within the runtime of the engine.
    pub(in crate::kv) fn wait_until_reached(&self, patience: Duration) -> Result<(), String> {
        block_on(timeout(patience, self.reached())).unwrap_or_else(|_| self.health())
    }

    /// A connection of this kind is open.
    pub(in crate::kv) fn opened(&self, kind: u8) {
        self.health.send_modify(|health| {
            health.open += 1;
            health.lacking &= !kind;
            health.is_refused = false;
        });
    }

    /// A connection that was open is lost.
    pub(in crate::kv) fn lost(&self, reason: &str) {
        self.counters.lost_connections.fetch_add(1, Ordering::Relaxed);
        self.health.send_modify(|health| {
            health.open -= 1;
            if health.open == 0 {
                health.since = Instant::now();
                health.reason = format!("the connection to {} was lost: {reason}", self.address);
                tracing::warn!(reason = health.reason, "the store is away");
            }
        });
    }

    /// A connection was not made.
    pub(in crate::kv) fn not_reached(&self, error: &ConnectError) {
        let (ConnectError::Away(reason) | ConnectError::Refused(reason)) = error;
        let reason = format!("{} cannot be used: {reason}", self.address);
        self.health.send_modify(|health| {
            health.is_refused = matches!(error, ConnectError::Refused(_));
            if health.open == 0 && health.reason != reason {
                tracing::warn!(reason, "the store is not reached");
                health.reason = reason;
            }
        });
    }

    /// The connection that `choose` gives, as soon as it gives one.
    ///
    /// # Errors
    /// `Unavailable` once there was none for longer than is waited.
    pub(in crate::kv) async fn connection<L>(
        &self,
        choose: impl Fn() -> Option<Arc<L>>,
    ) -> Result<Arc<L>, StoreError> {
        let mut health = self.health.subscribe();
        let asked = Instant::now();
        loop {
            let known = health.borrow_and_update().clone();
            if let Some(found) = choose() {
                return Ok(found);
            }
            let since = if known.open > 0 { asked } else { known.since };
            let is_refused = known.open == 0 && known.is_refused;
            let deadline = since + self.patience;
            if is_refused || timeout_at(deadline, health.changed()).await.is_err() {
                return Err(StoreError::Unavailable(known.reason));
            }
        }
    }

    /// A random part of a time, so that those who were stopped together do not come back together.
    pub(in crate::kv) fn jittered(&self, longest: Duration) -> Duration {
        let share = self.ids.lock().next() >> 40;
        longest.mul_f64(share as f64 / (1_u64 << 24) as f64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_reached_once_a_connection_of_each_kind_was_open() {
        let link = Link::new(&"store", 0b11, Duration::ZERO, SeededIds::from_number(1));
        let is_reached = |patience| link.wait_until_reached(patience).is_ok();
        let is_known = || link.health.borrow().is_known();
        for _ in 0..3 {
            link.opened(0b01);
            assert!(!is_known(), "nothing can be asked of the other kind");
        }
        link.opened(0b10);
        assert!(is_known());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
        let _entered = runtime.enter();
        assert!(is_reached(Duration::from_secs(60)));
    }
}
