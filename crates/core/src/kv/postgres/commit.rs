//! Commits: tried again where transactions met, and looked up where the connection was lost before the answer came.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::join_all;
use tokio::time::{Instant, sleep, timeout};

use super::connection::{Role, Session};
use super::failure::{Failure, told};
use super::group_commit::{Apart, Committed, NamedBatch};
use super::pool::Pool;
use crate::id::Ids;
use crate::kv::shared::{ABSENCE_TELLS, ASK_AGAIN, OUTCOME_MAX};
use crate::kv::{Batch, StoreError, Version};

/// Attempts at a batch that meets others.
const ATTEMPTS_MAX: u32 = 16;
/// The longest pauses after the first such meeting and after the last.
const PAUSES: (Duration, Duration) = (Duration::from_millis(1), Duration::from_millis(64));

/// The session that asks for outcomes, made when it is first needed.
#[derive(Default)]
pub(super) struct Asker(tokio::sync::Mutex<Option<Session>>);

/// The longest pause before the next attempt.
pub(super) fn pause(attempt: u32) -> Duration {
    PAUSES.1.min(PAUSES.0 * 2_u32.saturating_pow(attempt))
}

impl Pool {
    /// Applies a batch, or finds out that it was not applied and cannot be any more.
    ///
    /// # Errors
    /// As [`KeyValue::commit`](crate::kv::KeyValue::commit).
    pub(super) async fn commit(
        &self,
        batch: Arc<Batch>,
        asker: &Asker,
    ) -> Result<Version, StoreError> {
        let mut id = batch.id;
        if id == [0; 16] {
            // Nobody named it.
            self.link.ids.lock().fill(&mut id);
        }
        let count = |counter: &std::sync::atomic::AtomicU64| {
            counter.fetch_add(1, Ordering::Relaxed);
        };
        let mut since = Instant::now();
        for attempt in 0..ATTEMPTS_MAX {
            let named = NamedBatch { id, batch: Arc::clone(&batch) };
            match self.commit_one(named).await {
                Ok(Some(version)) => return Ok(Version(version.unsigned_abs())),
                Ok(None) => break,
                Err(Failure::Again) => {
                    count(&self.link.counters.retries);
                    sleep(self.link.jittered(pause(attempt))).await;
                }
                Err(Failure::Named | Failure::Lost(_)) => match self.outcome(&id, asker).await? {
                    Some(version) => return Ok(version),
                    None if since.elapsed() > ABSENCE_TELLS => {
                        count(&self.link.counters.outcomes_unknown);
                        return Err(StoreError::OutcomeUnknown);
                    }
                    // Under its old name it can never be applied.
                    None => {
                        self.link.ids.lock().fill(&mut id);
                        since = Instant::now();
                    }
                },
                Err(Failure::Refused(reason)) => return Err(StoreError::Unavailable(reason)),
            }
        }
        count(&self.link.counters.conflicts);
        Err(StoreError::Conflict)
    }

    /// Commits a batch with others that wait, or by itself where they go alone.
    async fn commit_one(&self, named: NamedBatch) -> Committed {
        let Some(group) = &self.commits else {
            let committed = self.commit_together(vec![named]).await.pop();
            return committed.unwrap_or_else(|| Err(Failure::of_stopped_sender()));
        };
        let send = |batches| self.commit_together(batches);
        group
            .ask::<Apart, _>(named, send)
            .await
            .unwrap_or_else(|| Err(Failure::of_stopped_sender()))
    }

    /// Commits batches in one transaction; each by itself where the server takes them no other way.
    pub(super) async fn commit_together(&self, batches: Vec<NamedBatch>) -> Vec<Committed> {
        let lane = match self.lane(Role::Writer).await {
            Ok(lane) => lane,
            Err(error) => return vec![Err(error.into()); batches.len()],
        };
        if batches.len() > 1 {
            self.link.count_round_trip();
            match lane.commit_many(&batches).await {
                Ok(Some(versions)) => return versions.into_iter().map(Ok).collect(),
                // One of them may be what the server refuses.
                Ok(None) | Err(Failure::Refused(_)) => {}
                Err(failure) => return vec![Err(failure); batches.len()],
            }
        }
        let alone = batches.iter().map(|NamedBatch { id, batch }| {
            self.link.count_round_trip();
            lane.commit(id, batch)
        });
        join_all(alone).await
    }

    /// The version of a batch that was applied; else it is given up, so that nothing can apply it any more.
    async fn outcome(&self, id: &[u8; 16], asker: &Asker) -> Result<Option<Version>, StoreError> {
        let asking = async {
            loop {
                match self.ask(id, asker).await {
                    Ok(outcome) => return outcome,
                    Err(reason) => {
                        tracing::debug!(reason, "the outcome of a batch is asked for again");
                        sleep(self.link.jittered(ASK_AGAIN)).await;
                    }
                }
            }
        };
        self.link.counters.outcomes_asked.fetch_add(1, Ordering::Relaxed);
        timeout(OUTCOME_MAX, asking).await.map_err(|_| {
            self.link.counters.outcomes_unknown.fetch_add(1, Ordering::Relaxed);
            StoreError::OutcomeUnknown
        })
    }

    /// Asks once. A transaction that still runs under this name is waited for by the server: two cannot write the same name.
    async fn ask(&self, id: &[u8; 16], asker: &Asker) -> Result<Option<Version>, String> {
        let mut session = asker.0.lock().await;
        if session.as_ref().is_none_or(|session| session.client.is_closed()) {
            *session = None;
            let opened = self.session().await;
            *session = Some(opened.map_err(|error| error.into_unavailable().to_string())?);
        }
        let Some(Session { client, .. }) = session.as_ref() else {
            return Err("there is no session".to_owned());
        };
        let told = |error: tokio_postgres::Error| told(&error);
        let id = id.as_slice();
        self.link.counters.round_trips.fetch_add(2, Ordering::Relaxed);
        client.execute(&self.statements.give_up, &[&id]).await.map_err(told)?;
        let row = client.query_one(&self.statements.outcome, &[&id]).await.map_err(told)?;
        let version: i64 = row.try_get(0).map_err(told)?;
        Ok((version > 0).then(|| Version(version.unsigned_abs())))
    }
}
