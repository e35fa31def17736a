//! Commits, looked up where the answer was lost.

use std::sync::atomic::{AtomicU64, Ordering};

use tokio::time::{Instant, sleep, timeout};

use super::failure::Failure;
use super::lane::Outcome;
use super::pool::Pool;
use crate::id::Ids;
use crate::kv::shared::{ABSENCE_TELLS, ASK_AGAIN, OUTCOME_MAX};
use crate::kv::{Batch, StoreError, Version};

/// Attempts at a batch whose answers are lost.
const ATTEMPTS_MAX: u32 = 16;

fn count(counter: &AtomicU64) {
    counter.fetch_add(1, Ordering::Relaxed);
}

impl Pool {
    /// Applies a batch, or finds out that it was not applied and cannot be any more.
    ///
    /// # Errors
    /// As [`KeyValue::commit`](crate::kv::KeyValue::commit).
    pub(super) async fn commit(&self, batch: &Batch) -> Result<Version, StoreError> {
        let mut id = batch.id;
        if id == [0; 16] {
            // Nobody named it.
            self.link.ids.lock().fill(&mut id);
        }
        let (mut why, mut named) = (String::new(), Instant::now());
        for _ in 0..ATTEMPTS_MAX {
            let lane = self.lane().await?;
            let lease = match self.leases.current(&lane).await {
                Ok(lease) => lease,
                Err(Failure::Refused(reason)) => return Err(StoreError::Unavailable(reason)),
                Err(failure) => {
                    why = failure.into_reason();
                    sleep(self.link.jittered(ASK_AGAIN)).await;
                    continue;
                }
            };
            count(&self.link.counters.round_trips);
            match lane.commit(&self.keys, &id, batch, lease).await {
                Ok(Outcome::Applied(version)) => return Ok(version),
                Ok(Outcome::Conflict) => {
                    count(&self.link.counters.conflicts);
                    return Err(StoreError::Conflict);
                }
                Ok(Outcome::GivenUp) => {
                    self.link.ids.lock().fill(&mut id);
                    named = Instant::now();
                }
                Err(Failure::NoLease(reason)) => {
                    why = reason;
                    self.leases.give_up(lease).await;
                }
                Err(Failure::Lost(reason)) => match self.outcome(&id).await? {
                    Some(version) => return Ok(version),
                    None if named.elapsed() > ABSENCE_TELLS => {
                        count(&self.link.counters.outcomes_unknown);
                        return Err(StoreError::OutcomeUnknown);
                    }
                    // Under its old name it can never be applied.
                    None => {
                        why = reason;
                        self.link.ids.lock().fill(&mut id);
                        named = Instant::now();
                    }
                },
                Err(Failure::Refused(reason)) => return Err(StoreError::Unavailable(reason)),
            }
        }
        Err(StoreError::Unavailable(why))
    }

    /// The version of a batch that was applied; else it is given up, so that nothing can apply it any more.
    async fn outcome(&self, id: &[u8; 16]) -> Result<Option<Version>, StoreError> {
        let asking = async {
            loop {
                match self.ask(id).await {
                    Ok(outcome) => return outcome,
                    Err(reason) => {
                        tracing::debug!(reason, "the outcome of a batch is asked for again");
                        sleep(self.link.jittered(ASK_AGAIN)).await;
                    }
                }
            }
        };
        count(&self.link.counters.outcomes_asked);
        timeout(OUTCOME_MAX, asking).await.map_err(|_| {
            count(&self.link.counters.outcomes_unknown);
            StoreError::OutcomeUnknown
        })
    }

    /// Asks once.
    async fn ask(&self, id: &[u8; 16]) -> Result<Option<Version>, String> {
        let lane = self.lane().await.map_err(|error| error.to_string())?;
        let lease = self.leases.current(&lane).await.map_err(Failure::into_reason)?;
        count(&self.link.counters.round_trips);
        match lane.give_up(&self.keys, id, lease).await {
            Ok(outcome) => Ok(outcome),
            Err(failure) => {
                if matches!(failure, Failure::NoLease(_)) {
                    self.leases.give_up(lease).await;
                }
                Err(failure.into_reason())
            }
        }
    }
}
