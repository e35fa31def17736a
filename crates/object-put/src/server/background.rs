//! Tasks beside the requests: the lifecycle worker, freeing of replaced bodies, the sweep of what an earlier process left.

use std::sync::Arc;
use std::time::Duration;

use triptych_core::kv::KeyValue;
use triptych_core::time::{Clock, Timestamp};

use crate::maintenance::ended_uploads;
use crate::maintenance::garbage::{
    self, GRACE, GRACE_OF_INSTANCES, GarbageError, Pass, SweepOutcome,
};
use crate::maintenance::lifecycle_worker::{ExpiredCounts, LifecycleWorker};
use crate::server::state::ObjectPut;
use crate::store::lifecycle::DAY_SECONDS;

/// Time between two passes that free replaced bodies.
const PASS_EVERY: Duration = Duration::from_secs(60);
/// Time between two sweeps of bodies on a store that other instances write to: each is a second look at what the one before it found.
const SWEEP_EVERY: Duration = Duration::from_secs(25 * 60 * 60);
/// Time between two looks at the clock for a new day, and between two at the clients that read.
const LOOK_EVERY: Duration = Duration::from_secs(1);

fn day_of(clock: &dyn Clock) -> i64 {
    clock.now().seconds().div_euclid(DAY_SECONDS)
}

impl ObjectPut {
    /// Starts what goes on beside the requests: sweeping what an earlier process left, and every minute deleting what
    /// lifecycle rules have ended and freeing replaced bodies, and every second what is read ahead for clients that stall. A day that begins, by itself or because the clock was moved,
    /// is seen within a second. Of instances that share a store, one does it. It ends with the last handle of the service. Call it within a tokio runtime.
    pub fn start_background_tasks(&self) {
        let service = Arc::downgrade(&self.0);
        tokio::spawn(async move {
            while let Some(inner) = service.upgrade() {
                inner.bodies.open.release_idle();
                drop(inner);
                tokio::time::sleep(LOOK_EVERY).await;
            }
        });
        self.0.upkeep.start();
        let (service, start) = (Arc::downgrade(&self.0), self.0.clock.now());
        tokio::spawn(async move {
            let mut next_sweep = Some((start, tokio::time::Instant::now()));
            let mut worker = LifecycleWorker::default();
            while let Some(inner) = service.upgrade() {
                let Some(store) = inner.upkeep.store() else {
                    drop(inner);
                    // What the other instance does is not known here.
                    worker = LifecycleWorker::default();
                    tokio::time::sleep(LOOK_EVERY).await;
                    continue;
                };
                let day = day_of(&*inner.clock);
                let service_now = Self(inner);
                let now = tokio::time::Instant::now();
                let sweep_from = next_sweep.take_if(|(_, at)| *at <= now).map(|(from, _)| from);
                if sweep_from.is_some() && service_now.0.bodies.blobs.is_shared() {
                    next_sweep = Some((service_now.0.clock.now(), now + SWEEP_EVERY));
                }
                let pass = tokio::task::spawn_blocking(move || {
                    service_now.apply_lifecycle(&*store, &mut worker);
                    let freed = service_now.collect_garbage(&*store, sweep_from);
                    (freed, worker)
                });
                // A pass that panicked forgets what it knew, and looks at everything again.
                let (freed, known) = pass.await.unwrap_or((Ok(()), LifecycleWorker::default()));
                worker = known;
                if let Err(error) = freed {
                    tracing::warn!(%error, "space could not be freed and is tried again");
                }
                let next = tokio::time::Instant::now() + PASS_EVERY;
                while tokio::time::Instant::now() < next
                    && service.upgrade().is_some_and(|inner| day_of(&*inner.clock) == day)
                {
                    tokio::time::sleep(LOOK_EVERY).await;
                }
            }
        });
    }

    /// Deletes what lifecycle rules have ended.
    fn apply_lifecycle(&self, store: &dyn KeyValue, worker: &mut LifecycleWorker) {
        let now = self.0.clock.now();
        match worker.pass(store, &mut self.ids(), now) {
            Ok(expired) if expired == ExpiredCounts::default() => {}
            Ok(ExpiredCounts { objects, versions, uploads }) => {
                tracing::info!(objects, versions, uploads, "lifecycle rules ended objects");
            }
            Err(error) => {
                tracing::warn!(%error, source = ?std::error::Error::source(&error), "lifecycle rules are tried again");
            }
        }
    }

    fn collect_garbage(
        &self,
        store: &dyn KeyValue,
        sweep_from: Option<Timestamp>,
    ) -> Result<(), GarbageError> {
        let blobs = &*self.0.bodies.blobs;
        // A service that nobody else holds is being stopped.
        let goes_on = || Arc::strong_count(&self.0) > 1;
        if let Some(start) = sweep_from {
            let swept = garbage::sweep_orphans(store, blobs, start, self.0.sweeps_all, &goes_on)?;
            if let SweepOutcome::Waits { orphans, bodies } = swept {
                tracing::error!(
                    orphans,
                    bodies,
                    "bodies without a record are kept, for they are many: if the records are whole, start with --sweep-orphans"
                );
            }
            if let SweepOutcome::Done(swept) = swept
                && swept.orphans > 0
            {
                tracing::info!(
                    orphans = swept.orphans,
                    bytes = swept.bytes,
                    "bodies without a record were swept"
                );
            }
        }
        let now = self.0.clock.now();
        let is_open = |name| self.0.bodies.open.is_open(name);
        ended_uploads::collect(store, blobs, &mut self.ids(), now, &goes_on)?;
        let grace = if self.0.upkeep.is_shared() { GRACE_OF_INSTANCES } else { GRACE };
        let pass = Pass { store, blobs, now, grace, goes_on: &goes_on, is_open: &is_open };
        let freed = garbage::collect(&pass, &mut self.ids())?;
        if freed > 0 {
            tracing::info!(freed, "replaced bodies were freed");
        }
        Ok(())
    }
}
