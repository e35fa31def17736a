//! Work beside the requests: upload sessions end when their week is over, and space is given back.

use std::sync::Arc;
use std::time::Duration;

use triptych_core::kv::run_blocking;

use super::service::Inner;
use super::{ATTEMPTS_MAX, VideoApi};
use crate::api::error::Error;
use crate::resource::cascade;
use crate::resource::playlist_items::garbage;
use crate::upload::{media, orphan, session};

/// Pause between two looks; the service's own clock says what is over, so that a clock that was moved is followed soon.
const EVERY: Duration = Duration::from_secs(2);
/// Sessions that one transaction ends: each has a few dozen rows at the most.
const SESSIONS_PER_STEP: usize = 8;

impl VideoApi {
    /// Starts what goes on beside the requests. It ends with the last handle of the service. Call it within a tokio runtime.
    pub fn start_background_tasks(&self) {
        let service = Arc::downgrade(&self.0);
        // What an earlier process deleted and did not free.
        self.sweep_soon();
        let sweeper = self.clone();
        tokio::task::spawn_blocking(move || sweeper.sweep_orphans());
        tokio::spawn(async move {
            while let Some(inner) = service.upgrade() {
                let service = Self(inner);
                if let Ok(Err(error)) =
                    tokio::task::spawn_blocking(move || service.end_sessions()).await
                {
                    tracing::warn!(%error, "expired upload sessions are ended later");
                }
                tokio::time::sleep(EVERY).await;
            }
        });
    }

    /// Frees what uploads left that an earlier process did not come to name.
    fn sweep_orphans(&self) {
        let (store, blobs) = (&*self.0.store, &*self.0.blobs);
        match orphan::sweep(store, blobs, self.0.started) {
            Ok(0) => {}
            Ok(orphans) => tracing::info!(orphans, "bodies without a record were freed"),
            Err(error) => tracing::warn!(%error, "bodies without a record are freed later"),
        }
    }

    /// Ends the sessions whose week is over, and frees what had arrived for them.
    fn end_sessions(&self) -> Result<(), Error> {
        let now = self.0.clock.now();
        let mut ended = false;
        loop {
            let (any, more) =
                run_blocking(&*self.0.store, &mut self.ids(), ATTEMPTS_MAX, |tx, _| {
                    let more = session::expire(tx, now, SESSIONS_PER_STEP)?;
                    Ok::<_, Error>((!tx.is_read_only(), more))
                })?;
            ended |= any;
            if !more {
                break;
            }
        }
        if ended {
            self.sweep();
        }
        Ok(())
    }

    /// Frees the space of what was deleted or replaced, on a thread of its own, unless one is at it.
    pub(crate) fn sweep_soon(&self) {
        use std::sync::atomic::Ordering;
        self.0.sweep_wanted.store(true, Ordering::Release);
        if self.0.sweeping.swap(true, Ordering::AcqRel) {
            return;
        }
        let service = self.clone();
        tokio::task::spawn_blocking(move || {
            let Inner { sweep_wanted, sweeping, .. } = &*service.0;
            loop {
                sweep_wanted.store(false, Ordering::Release);
                service.sweep();
                sweeping.store(false, Ordering::Release);
                // What was deleted while the last rows were swept is not left for the next deletion.
                if !sweep_wanted.load(Ordering::Acquire) || sweeping.swap(true, Ordering::AcqRel) {
                    break;
                }
            }
        });
    }

    /// Frees the space of what was deleted or replaced. It blocks.
    fn sweep(&self) {
        let (store, blobs) = (&*self.0.store, &*self.0.blobs);
        let swept = media::sweep(store, blobs, &mut self.ids())
            .and_then(|_| crate::picture::sweep(store, blobs, &mut self.ids()));
        if let Err(error) = self.sweep_rows() {
            tracing::warn!(%error, "rows of what was deleted are swept again later");
        }
        if let Err(error) = swept {
            tracing::warn!(%error, "space could not be freed and is swept again later");
        }
    }

    /// Removes the rows of what is gone, in steps that a restart continues.
    fn sweep_rows(&self) -> Result<(), Error> {
        let store = &*self.0.store;
        // What goes with a channel leaves garbage of its own.
        while run_blocking(store, &mut self.ids(), ATTEMPTS_MAX, |tx, _| {
            Ok::<_, Error>(garbage::sweep(tx)? || cascade::sweep(tx)?)
        })? {}
        Ok(())
    }
}
