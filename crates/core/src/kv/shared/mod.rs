//! The parts that engines on other machines have in common: a thread of their own behind reads that block, what is known of the store, and figures.

mod engine_thread;
#[cfg(feature = "postgres")]
mod group;
mod link;
mod scan;
mod stats;
#[cfg(feature = "testing")]
mod testing;

use std::sync::Arc;
use std::time::Duration;

pub(super) use self::engine_thread::{EngineThread, unavailable, wait};
#[cfg(feature = "postgres")]
pub(super) use self::group::{Companions, Group};
pub(super) use self::link::{ConnectError, Link};
pub(super) use self::scan::{Scan, StoredRow, read_together};
pub use self::stats::SharedStats;
#[cfg(feature = "testing")]
pub use self::testing::{StoreServer, Weather, Wire};
use super::{KeyValue, StoreError};
use crate::pending::Pending;

/// Attempts at a read that meets writers, or loses its connection.
pub(super) const READ_ATTEMPTS_MAX: u32 = 16;
/// Time within which it is found out what became of a batch.
pub(super) const OUTCOME_MAX: Duration = Duration::from_secs(15);
/// Time after which the absence of a batch's id tells nothing, since ids are forgotten an hour after their batches: an instance may have slept on
/// its question.
pub(super) const ABSENCE_TELLS: Duration = Duration::from_secs(30 * 60);
/// Pause between two looks at whether a connection still lives, and whether what is stored has a form that this release knows.
pub(super) const CHECK_EVERY: Duration = Duration::from_secs(3);
/// Pause between two attempts to ask for it.
pub(super) const ASK_AGAIN: Duration = Duration::from_millis(100);

/// A store that several instances of a service use at the same time.
pub trait SharedKeyValue: KeyValue {
    /// The fact of this name that the store keeps beside its rows: `value`, if it kept none before. It blocks.
    ///
    /// # Errors
    /// `Unavailable`.
    fn claim(&self, name: &str, value: &str) -> Result<String, StoreError>;

    /// The connection to the store.
    fn connection(&self) -> StoreConnection<'_>;

    /// Tells whether the store can be asked now.
    ///
    /// # Errors
    /// A sentence that says why not.
    fn health(&self) -> Result<(), String> {
        self.connection().link.health()
    }

    /// Waits until the store is reached for the first time, on a thread that may block; not longer than `patience`.
    ///
    /// # Errors
    /// A sentence for a store that must not be used, or is not reached.
    fn wait_until_reached(&self, patience: Duration) -> Result<(), String> {
        let connection = self.connection();
        let _entered = connection.thread.runtime.enter();
        connection.link.wait_until_reached(patience)
    }

    /// Answers once the store is reached for the first time, with a sentence if it must not be used.
    fn reached(&self) -> Pending<Result<(), String>> {
        let connection = self.connection();
        let link = Arc::clone(connection.link);
        let lost = Err(unavailable().to_string());
        connection.thread.watch(lost, async move { link.reached().await })
    }

    /// Figures since it was opened.
    fn stats(&self) -> SharedStats {
        self.connection().link.counters.read()
    }
}

/// The connection of an engine to its store, and the thread that keeps it open.
pub struct StoreConnection<'a> {
    pub(super) link: &'a Arc<Link>,
    pub(super) thread: &'a EngineThread,
}
