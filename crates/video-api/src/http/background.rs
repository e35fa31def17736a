//! Work beside the requests: upload sessions end when their week is over, and space is given back.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Weak};
use std::time::{Duration, Instant};

use triptych_core::kv::{Durability, KeyValue, Tx, run_blocking};

use super::service::Inner;
use super::{ATTEMPTS_MAX, VideoApi};
use crate::api::error::Error;
use crate::resource::cascade;
use crate::upload::{media, orphan, session};

/// Pause between two looks; the service's own clock says what is over, so that a clock that was moved is followed soon.
const EVERY: Duration = Duration::from_secs(2);
/// Time between two sweeps of bodies on a store that other instances write to.
const SWEEP_EVERY: Duration = Duration::from_secs(25 * 60 * 60);
/// Sessions that one transaction ends: each has a few dozen rows at the most.
const SESSIONS_PER_STEP: usize = 8;
/// Steps of a removal that follow one another at once: what is small is gone soon.
const STEPS_AT_ONCE: u32 = 50;
/// After these, as long as requests come, a step is followed by a rest of so many times what it took, so that a removal takes a twentieth of a core: the
/// tree is busy with what a step wrote for longer than the step was, and a request that comes in is to find a core that is free.
const REST_TIMES: u32 = 19;
/// Time without a request after which a removal does not rest.
const QUIET: Duration = Duration::from_secs(1);
/// The longest rest, after which a stop is noticed.
const REST_MAX: Duration = Duration::from_millis(200);

/// The service as work beside the requests holds it: one that nobody else holds is being stopped.
struct BackgroundHandle(VideoApi);

impl BackgroundHandle {
    fn of(service: &VideoApi) -> Self {
        service.0.background_handles.fetch_add(1, Ordering::AcqRel);
        Self(service.clone())
    }
}

impl Drop for BackgroundHandle {
    fn drop(&mut self) {
        self.0.0.background_handles.fetch_sub(1, Ordering::AcqRel);
    }
}

/// Sweeps orphans, if it is this instance that keeps the store up; again each day where other instances write to the store, which takes a second look.
async fn sweep_orphans(service: Weak<Inner>) {
    while let Some(inner) = service.upgrade() {
        let service = BackgroundHandle::of(&VideoApi(inner));
        let Some(store) = service.0.0.upkeep.store() else {
            drop(service);
            tokio::time::sleep(EVERY).await;
            continue;
        };
        let is_last = !service.0.0.blobs.is_shared();
        let _ = tokio::task::spawn_blocking(move || service.0.sweep_orphans(&*store)).await;
        if is_last {
            break;
        }
        tokio::time::sleep(SWEEP_EVERY).await;
    }
}

impl VideoApi {
    /// Starts what goes on beside the requests. It ends with the last handle of the service. Call it within a tokio runtime.
    pub fn start_background_tasks(&self) {
        self.0.upkeep.start();
        let service = Arc::downgrade(&self.0);
        // What an earlier process deleted and did not free.
        self.report_removals();
        self.sweep_soon();
        tokio::spawn(sweep_orphans(Arc::downgrade(&self.0)));
        tokio::spawn(async move {
            while let Some(inner) = service.upgrade() {
                let service = BackgroundHandle::of(&Self(inner));
                let kept_up = tokio::task::spawn_blocking(move || service.0.keep_up()).await;
                if let Ok(Err(error)) = kept_up {
                    tracing::warn!(%error, "expired upload sessions are ended later");
                }
                tokio::time::sleep(EVERY).await;
            }
        });
    }

    /// Says what a stop left to be removed, if it is this instance that removes it.
    fn report_removals(&self) {
        if self.0.upkeep.is_shared() {
            return;
        }
        let store = Arc::clone(&self.0.store);
        tokio::task::spawn_blocking(move || match cascade::removals(&mut Tx::new(&*store)) {
            Ok(0) => {}
            Ok(jobs) => tracing::info!(jobs, "what was deleted goes on being removed"),
            Err(error) => tracing::warn!(%error, "what is still to be removed cannot be told"),
        });
    }

    /// Returns whether anybody but the work beside the requests holds the service: else it is being stopped, and the next start goes on.
    fn goes_on(&self) -> bool {
        Arc::strong_count(&self.0) > self.0.background_handles.load(Ordering::Acquire)
    }

    /// Frees what uploads left that an earlier process, or another instance, did not come to name.
    fn sweep_orphans(&self, store: &dyn KeyValue) {
        let blobs = &*self.0.blobs;
        let before = if blobs.is_shared() { self.0.clock.now() } else { self.0.started };
        match orphan::sweep(store, blobs, before, &|| self.goes_on()) {
            Ok(0) => {}
            Ok(orphans) => tracing::info!(orphans, "bodies without a record were freed"),
            Err(error) => tracing::warn!(%error, "bodies without a record are freed later"),
        }
    }

    /// Does what is to be done by now, if it is this instance that keeps the store up: of what others delete, nobody tells it.
    fn keep_up(&self) -> Result<(), Error> {
        let Some(store) = self.0.upkeep.store() else {
            return Ok(());
        };
        let ended = self.end_sessions(&*store)?;
        if ended || self.0.upkeep.is_shared() {
            self.sweep(&*store);
        }
        Ok(())
    }

    /// Ends the sessions whose week is over, and frees what had arrived for them; whether there were any.
    fn end_sessions(&self, store: &dyn KeyValue) -> Result<bool, Error> {
        let now = self.0.clock.now();
        let mut ended = false;
        loop {
            let (any, more) =
                run_blocking(store, &mut self.background_ids(), ATTEMPTS_MAX, |tx, _| {
                    let more = session::expire(tx, now, SESSIONS_PER_STEP)?;
                    Ok::<_, Error>((!tx.is_read_only(), more))
                })?;
            ended |= any;
            if !more {
                return Ok(ended);
            }
        }
    }

    /// Frees the space of what was deleted or replaced, on a thread of its own, unless one is at it; of instances that share a store, the one
    /// that keeps it up comes to it by itself.
    pub(crate) fn sweep_soon(&self) {
        if self.0.upkeep.is_shared() {
            return;
        }
        self.0.sweep_wanted.store(true, Ordering::Release);
        if self.0.sweeping.swap(true, Ordering::AcqRel) {
            return;
        }
        let service = BackgroundHandle::of(self);
        tokio::task::spawn_blocking(move || {
            let Inner { sweep_wanted, sweeping, .. } = &*service.0.0;
            loop {
                sweep_wanted.store(false, Ordering::Release);
                service.0.sweep(&*service.0.0.store);
                sweeping.store(false, Ordering::Release);
                // What was deleted while the last rows were swept is not left for the next deletion.
                if !service.0.goes_on()
                    || !sweep_wanted.load(Ordering::Acquire)
                    || sweeping.swap(true, Ordering::AcqRel)
                {
                    break;
                }
            }
        });
    }

    /// Frees the space of what was deleted or replaced. It blocks.
    fn sweep(&self, store: &dyn KeyValue) {
        let blobs = &*self.0.blobs;
        let goes_on = || self.goes_on();
        let swept =
            media::sweep(store, blobs, &mut self.background_ids(), &goes_on).and_then(|_| {
                crate::picture::sweep(store, blobs, &mut self.background_ids(), &goes_on)
            });
        if let Err(error) = self.sweep_rows(store) {
            tracing::warn!(%error, "rows of what was deleted are swept again later");
        }
        if let Err(error) = swept {
            tracing::warn!(%error, "space could not be freed and is swept again later");
        }
    }

    /// Removes the rows of what is gone, in steps that a restart continues. The job is on disk, and a step that a power cut takes is done again: so no step
    /// waits for the disk, and many go there together.
    #[expect(
        clippy::disallowed_methods,
        reason = "how long a step took decides nothing but the rest after it, which no event ends"
    )]
    fn sweep_rows(&self, store: &dyn KeyValue) -> Result<(), Error> {
        let step = || {
            // Reads that a step has disturbed are made again first.
            drop(self.0.closing_turn.write());
            run_blocking(store, &mut self.background_ids(), ATTEMPTS_MAX, |tx, _| {
                tx.set_durability(Durability::Process);
                cascade::sweep(tx)
            })
        };
        let requests = || self.0.requests.load(Ordering::Relaxed);
        let (mut steps, mut known, mut since) = (0_u32, requests(), Instant::now());
        loop {
            let begun = Instant::now();
            if !self.goes_on() || !step()? {
                break;
            }
            let came = requests();
            if came != known {
                (known, since) = (came, Instant::now());
            }
            std::thread::sleep(rest(steps, begun.elapsed(), since.elapsed()));
            steps = steps.saturating_add(1);
        }
        Ok(())
    }
}

/// The rest after a step of a removal, by the number of steps before it, what it took, and the time since a request came.
fn rest(number: u32, took: Duration, quiet: Duration) -> Duration {
    let is_rested = number >= STEPS_AT_ONCE && quiet < QUIET;
    if is_rested { (took * REST_TIMES).min(REST_MAX) } else { Duration::ZERO }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_removal_of_many_steps_rests_between_them_while_requests_come() {
        let took = Duration::from_millis(2);
        let just_now = Duration::ZERO;
        assert_eq!(rest(0, took, just_now), Duration::ZERO);
        assert_eq!(rest(STEPS_AT_ONCE - 1, took, just_now), Duration::ZERO);
        assert_eq!(rest(STEPS_AT_ONCE, took, just_now), took * REST_TIMES);
        assert_eq!(rest(STEPS_AT_ONCE, took, QUIET), Duration::ZERO);
        assert_eq!(rest(u32::MAX, Duration::from_secs(60), just_now), REST_MAX);
    }
}
