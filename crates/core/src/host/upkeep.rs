//! Work that a store needs once, however many instances share it: what runs by the clock, and what frees space.

use std::sync::{Arc, PoisonError, RwLock};

use tokio::time::Instant;

use crate::id::{Ids, SystemIds};
use crate::kv::{BEAT_EVERY, Claim, Guard, Guarded, KeyValue, Member, StoreError};

/// The name of the claim on this work.
const CLAIM: &str = "upkeep";

/// An instance's part in the upkeep of its store. A store that is this process's own is always its own to keep.
pub struct Upkeep {
    store: Arc<dyn KeyValue>,
    /// The claim, while it is held; unused where the store is this process's own.
    held: RwLock<Option<Guard>>,
}

impl Upkeep {
    /// The upkeep of a store, not yet claimed.
    #[must_use]
    pub fn of(store: Arc<dyn KeyValue>) -> Arc<Self> {
        Arc::new(Self { store, held: RwLock::default() })
    }

    /// Begins to ask for the claim on a store that others share, until the last handle is gone. Call it within a tokio runtime.
    pub fn start(self: &Arc<Self>) {
        if self.store.is_local() {
            return;
        }
        let (upkeep, store) = (Arc::downgrade(self), Arc::clone(&self.store));
        tokio::spawn(async move {
            let (mut member, start) = (Member::new("", &mut SystemIds.fork()), Instant::now());
            while let Some(upkeep) = upkeep.upgrade() {
                let claim = match member.beat(&*store).await {
                    Ok(()) => member.claim(&*store, CLAIM, start.elapsed()).await,
                    Err(error) => Err(error),
                };
                upkeep.turn(claim);
                drop(upkeep);
                tokio::time::sleep(BEAT_EVERY).await;
            }
            // Who is not told waits until this instance has been silent for long enough.
            let _ = member.leave(&*store).await;
        });
    }

    /// The store as this instance may write to it in this work; `None` while another instance does it.
    #[must_use]
    pub fn store(&self) -> Option<Arc<dyn KeyValue>> {
        if self.store.is_local() {
            return Some(Arc::clone(&self.store));
        }
        let held = self.held.read().unwrap_or_else(PoisonError::into_inner).clone();
        held.map(|guard| {
            Arc::new(Guarded::new(Arc::clone(&self.store), guard)) as Arc<dyn KeyValue>
        })
    }

    /// Returns whether others may write to the store.
    #[must_use]
    pub fn is_shared(&self) -> bool {
        !self.store.is_local()
    }

    /// Takes note of what a try has given. A store that does not answer changes nothing: whoever has lost the claim writes nothing anyhow.
    fn turn(&self, claim: Result<Claim, StoreError>) {
        let guard = match claim {
            Ok(Claim::Own(guard)) => Some(guard),
            Ok(Claim::Others(_)) | Err(StoreError::Conflict) => None,
            Err(error) => {
                return tracing::warn!(%error, "it is not known which instance keeps the store up");
            }
        };
        let mut held = self.held.write().unwrap_or_else(PoisonError::into_inner);
        if *held != guard {
            match &guard {
                Some(guard) => {
                    tracing::info!(epoch = guard.epoch, "this instance keeps the store up")
                }
                None => tracing::info!("another instance keeps the store up"),
            }
        }
        *held = guard;
    }
}

impl std::fmt::Debug for Upkeep {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Upkeep").field("held", &self.held).finish_non_exhaustive()
    }
}
