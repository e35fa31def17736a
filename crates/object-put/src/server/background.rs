//! The service under the host: refusals as XML, the reset, the hosts that are its own, and the tasks in the background.

use std::sync::Arc;
use std::time::Duration;

use http::Response;
use triptych_core::error::Coded;
use triptych_core::host::{Hosted, Refusal, ReplyBody, RequestHead};
use triptych_core::kv::{Span, StoreError, run};
use triptych_core::time::{Clock, Timestamp};

use crate::maintenance::garbage::{self, GarbageError};
use crate::maintenance::lifecycle_worker::{ExpiredCounts, LifecycleWorker};
use crate::maintenance::seed::SeedError;
use crate::operation::bucket::reopen;
use crate::request::dialect::Dialect;
use crate::request::fields::{Fields, Query};
use crate::request::location;
use crate::server::{ATTEMPTS_MAX, ObjectPut, render};
use crate::store::lifecycle::DAY_SECONDS;

/// Time between two passes that free replaced bodies.
const PASS_EVERY: Duration = Duration::from_secs(60);
/// Time between two looks at the clock for a new day.
const LOOK_EVERY: Duration = Duration::from_secs(1);
/// Rows or blobs that a step of the wipe takes.
const CLEAR_STEP: usize = 500;

/// Query parameters of presigned URLs that nobody but the holder of the URL is to see.
const SECRET_PARAMETERS: [&str; 7] = [
    "x-amz-signature",
    "x-amz-security-token",
    "x-amz-credential",
    "x-store-signature",
    "x-store-security-token",
    "x-store-credential",
    "awsaccesskeyid",
];

fn day_of(clock: &dyn Clock) -> i64 {
    clock.now().seconds().div_euclid(DAY_SECONDS)
}

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

    fn secret_parameters(&self) -> &'static [&'static str] {
        &SECRET_PARAMETERS
    }

    async fn reset(&self) -> Result<(), String> {
        self.clear().await.map_err(|error| error.to_string())?;
        self.apply_seed().await.map(drop).map_err(|error| error.to_string())
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
    pub async fn apply_seed(&self) -> Result<usize, SeedError> {
        let now = self.0.clock.now();
        let mut ids = self.ids();
        run(&*self.0.store, &mut ids, ATTEMPTS_MAX, |tx, ids| {
            reopen(tx)?;
            self.0.seed.apply(tx, ids, now)
        })
        .await
    }

    /// Starts what goes on beside the requests: sweeping what an earlier process left, and every minute deleting what
    /// lifecycle rules have ended and freeing replaced bodies. A day that begins, by itself or because the clock was moved,
    /// is seen within a second. It ends with the last handle of the service. Call it within a tokio runtime.
    pub fn start_background_tasks(&self) {
        let (service, start) = (Arc::downgrade(&self.0), self.0.clock.now());
        tokio::spawn(async move {
            let mut sweep_from = Some(start);
            let mut expiry = LifecycleWorker::default();
            while let Some(inner) = service.upgrade() {
                let day = day_of(&*inner.clock);
                let service_now = Self(inner);
                let sweep_from = sweep_from.take();
                let pass = tokio::task::spawn_blocking(move || {
                    service_now.apply_lifecycle(&mut expiry);
                    let freed = service_now.collect_garbage(sweep_from);
                    (freed, expiry)
                });
                // A pass that panicked forgets what it knew, and looks at everything again.
                let (freed, known) = pass.await.unwrap_or((Ok(()), LifecycleWorker::default()));
                expiry = known;
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
    fn apply_lifecycle(&self, expiry: &mut LifecycleWorker) {
        let now = self.0.clock.now();
        match expiry.pass(&*self.0.store, &mut self.ids(), now) {
            Ok(expired) if expired == ExpiredCounts::default() => {}
            Ok(ExpiredCounts { objects, versions }) => {
                tracing::info!(objects, versions, "lifecycle rules ended objects");
            }
            Err(error) => {
                tracing::warn!(%error, source = ?std::error::Error::source(&error), "lifecycle rules are tried again");
            }
        }
    }

    fn collect_garbage(&self, sweep_from: Option<Timestamp>) -> Result<(), GarbageError> {
        let (store, blobs) = (&*self.0.store, &*self.0.blobs);
        if let Some(start) = sweep_from {
            let swept = garbage::sweep_orphans(store, blobs, start)?;
            if swept.orphans > 0 {
                tracing::info!(
                    orphans = swept.orphans,
                    bytes = swept.bytes,
                    "bodies without a record were swept"
                );
            }
        }
        let freed = garbage::collect(store, blobs, &mut self.ids(), self.0.clock.now())?;
        if freed > 0 {
            tracing::info!(freed, "replaced bodies were freed");
        }
        Ok(())
    }

    /// Deletes every row, then every body.
    async fn clear(&self) -> Result<(), StoreError> {
        let mut ids = self.ids();
        loop {
            let more = run(&*self.0.store, &mut ids, ATTEMPTS_MAX, |tx, _| {
                let page = tx.scan(&Span::default(), CLEAR_STEP)?;
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
            let blobs = self.0.blobs.list(after, CLEAR_STEP).unwrap_or_default();
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
