//! Places of connections: a request on a connection that has none is told to come again, so that a server with too much to do still answers.

use std::sync::Arc;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::host::ops::Metrics;

/// The share of the connections that are served which may be open beyond them, to be told so.
const BEYOND_SHARE: usize = 4;
/// The least number of those.
const BEYOND_MIN: usize = 16;

/// The connections that may be open beyond so many that are served.
const fn beyond(served: usize) -> usize {
    let share = served / BEYOND_SHARE;
    if share > BEYOND_MIN { share } else { BEYOND_MIN }
}

/// The most connections that can be served with so many open files: each of them has a file beside its socket, and those beyond have a
/// socket. One is always served.
pub(in crate::host) fn served_with(files: usize) -> usize {
    let shared = files.saturating_mul(BEYOND_SHARE) / (2 * BEYOND_SHARE + 1);
    let with_least = files.saturating_sub(BEYOND_MIN) / 2;
    shared.min(with_least).max(1)
}

/// The places of a server. Connections beyond both kinds wait in the listen queue.
pub(super) struct Places {
    served: Arc<Semaphore>,
    beyond: Arc<Semaphore>,
}

/// The place of one connection, which ends with its socket.
pub(super) struct Place {
    served: Arc<Semaphore>,
    /// The permit among those that are served, once there is one; else that among those beyond.
    held: Mutex<Held>,
}

enum Held {
    Served(#[expect(dead_code, reason = "it is held")] OwnedSemaphorePermit),
    Beyond(#[expect(dead_code, reason = "it is held")] OwnedSemaphorePermit),
}

/// A connection for as long as its socket is open, also once it speaks something else than HTTP: its place, and its part of the count of those
/// that are open.
pub(super) struct OpenConnection {
    place: Place,
    metrics: Metrics,
}

impl OpenConnection {
    /// One that has this place, and counts from now on.
    pub(super) fn new(place: Place, metrics: Metrics) -> Self {
        metrics.connected(1);
        Self { place, metrics }
    }

    pub(super) const fn place(&self) -> &Place {
        &self.place
    }
}

impl Drop for OpenConnection {
    fn drop(&mut self) {
        self.metrics.connected(-1);
    }
}

impl Places {
    /// So many places of connections that are served.
    pub(super) fn new(served: usize) -> Self {
        let beyond = beyond(served);
        Self { served: Arc::new(Semaphore::new(served)), beyond: Arc::new(Semaphore::new(beyond)) }
    }

    /// A place for the next connection, among those that are served where one is free; `None` if the semaphores were closed, which nobody does.
    pub(super) async fn next(&self) -> Option<Place> {
        let held = tokio::select! {
            biased;
            permit = Arc::clone(&self.served).acquire_owned() => Held::Served(permit.ok()?),
            permit = Arc::clone(&self.beyond).acquire_owned() => Held::Beyond(permit.ok()?),
        };
        Some(Place { served: Arc::clone(&self.served), held: Mutex::new(held) })
    }
}

impl Place {
    /// Returns whether requests of this connection are served: it is among those that are, or one of them has ended meanwhile.
    pub(super) fn is_served(&self) -> bool {
        let mut held = self.held.lock();
        if let (Held::Beyond(_), Ok(permit)) =
            (&*held, Arc::clone(&self.served).try_acquire_owned())
        {
            *held = Held::Served(permit);
        }
        matches!(*held, Held::Served(_))
    }

    /// Returns whether it is among those beyond now.
    pub(super) fn is_beyond(&self) -> bool {
        matches!(*self.held.lock(), Held::Beyond(_))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_and_their_files_fit_the_open_files() {
        for files in 19..10_000 {
            let served = served_with(files);
            assert!(2 * served + beyond(served) <= files, "{files}: {served}");
            // The share of those beyond is rounded down.
            let more = served + 2;
            assert!(2 * more + beyond(more) > files, "{files}: {served}");
        }
        assert_eq!(served_with(0), 1);
    }

    #[tokio::test]
    async fn who_is_beyond_is_served_once_a_place_is_free() {
        let places = Places::new(1);
        let first = places.next().await.unwrap();
        let second = places.next().await.unwrap();
        assert!(first.is_served() && second.is_beyond() && !second.is_served());
        drop(first);
        assert!(second.is_served() && !second.is_beyond());
        let third = places.next().await.unwrap();
        assert!(!third.is_served());
    }
}
