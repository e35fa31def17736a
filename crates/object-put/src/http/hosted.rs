//! What the host asks of the service: its refusals as XML, its reset, and whose hosts are whose.

use std::sync::Arc;
use std::time::Duration;

use http::Response;
use triptych_core::error::Coded;
use triptych_core::host::{Hosted, Refusal, ReplyBody, RequestHead};
use triptych_core::kv::{Span, StoreError, run};
use triptych_core::time::Timestamp;

use super::{ATTEMPTS_MAX, ObjectPut, location, render};
use crate::dialect::Dialect;
use crate::operation::bucket::reopen;
use crate::reclaim::{self, ReclaimError};
use crate::request::{Fields, Query};
use crate::seed::SeedError;

/// How often replaced bodies are freed.
const TEND_EVERY: Duration = Duration::from_secs(60);
/// How many rows or blobs a step of the wipe takes.
const WIPE_STEP: usize = 500;

impl Hosted for ObjectPut {
    fn refuse(&self, refusal: &Refusal, request: &RequestHead<'_>) -> Response<ReplyBody> {
        let entries = request.headers.iter();
        let fields = Fields::of(entries.map(|(name, value)| (name.as_str(), value.as_bytes())));
        let query = Query::parse(request.uri.query().unwrap_or_default()).unwrap_or_default();
        let dialect = Dialect::of(&fields, &query).unwrap_or_default();
        let row = refusal.row();
        let body = render::error_body(row.code, &refusal.to_string(), [], request.id);
        let mut response = render::xml(row.status, body);
        render::identify(&mut response, dialect, request.id, self.0.clock.now());
        response
    }

    async fn reset(&self) -> Result<(), String> {
        self.wipe().await.map_err(|error| error.to_string())?;
        self.fill()
            .await
            .map(drop)
            .map_err(|error| error.to_string())
    }

    fn owns_host(&self, host: &str) -> bool {
        location::bucket_of(host, &self.0.base_hosts).is_some()
    }
}

impl ObjectPut {
    /// Applies the seed: accounts and keys that are new, buckets if there is none. Gives how many accounts and keys came.
    /// To be run before the first request: buckets whose deletion a stop cut short are opened again.
    ///
    /// # Errors
    /// [`SeedError::Store`].
    pub async fn fill(&self) -> Result<usize, SeedError> {
        let now = self.0.clock.now();
        let mut ids = self.draw();
        run(&*self.0.store, &mut ids, ATTEMPTS_MAX, |tx, ids| {
            reopen(tx)?;
            self.0.seed.apply(tx, ids, now)
        })
        .await
    }

    /// Starts what goes on beside the requests: sweeping what an earlier process left, and freeing replaced bodies every
    /// minute. It ends with the last handle of the service. Call it within a tokio runtime.
    pub fn tend(&self) {
        let (service, start) = (Arc::downgrade(&self.0), self.0.clock.now());
        tokio::spawn(async move {
            let mut is_swept = false;
            while let Some(inner) = service.upgrade() {
                let service = Self(inner);
                let sweeps = !std::mem::replace(&mut is_swept, true);
                let pass =
                    tokio::task::spawn_blocking(move || service.reclaim(sweeps.then_some(start)));
                if let Ok(Err(error)) = pass.await {
                    tracing::warn!(%error, "space could not be freed and is tried again");
                }
                tokio::time::sleep(TEND_EVERY).await;
            }
        });
    }

    fn reclaim(&self, sweep_from: Option<Timestamp>) -> Result<(), ReclaimError> {
        let (store, blobs) = (&*self.0.store, &*self.0.blobs);
        if let Some(start) = sweep_from {
            let swept = reclaim::sweep_orphans(store, blobs, start)?;
            if swept.orphans > 0 {
                tracing::info!(
                    orphans = swept.orphans,
                    bytes = swept.bytes,
                    "bodies without a record were swept"
                );
            }
        }
        let freed = reclaim::collect(store, blobs, &mut self.draw(), self.0.clock.now())?;
        if freed > 0 {
            tracing::info!(freed, "replaced bodies were freed");
        }
        Ok(())
    }

    /// Deletes every row, then every body.
    async fn wipe(&self) -> Result<(), StoreError> {
        let mut ids = self.draw();
        loop {
            let more = run(&*self.0.store, &mut ids, ATTEMPTS_MAX, |tx, _| {
                let page = tx.scan(&Span::default(), WIPE_STEP)?;
                let any = !page.rows.is_empty();
                page.rows.into_iter().for_each(|(key, _)| tx.delete(key));
                Ok::<_, StoreError>(any)
            })
            .await?;
            if !more {
                break;
            }
        }
        let mut after = None;
        loop {
            let blobs = self.0.blobs.list(after, WIPE_STEP).unwrap_or_default();
            let Some(last) = blobs.last() else {
                return Ok(());
            };
            after = Some(last.id);
            for blob in &blobs {
                // What cannot be deleted now is named by no row, and swept later.
                let _ = self.0.blobs.delete(blob.id).await;
            }
        }
    }
}
