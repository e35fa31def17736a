//! The state that all connections of a server share, and its limits.

use std::sync::Arc;
#[cfg(feature = "sled")]
use std::sync::Weak;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use http::{HeaderValue, Request, Response, header};

use super::answer_pace::AnswerTimeouts;
use super::body::BodyTimeouts;
use super::shutdown::Stopping;
use super::{Hosted, Refusal, ReplyBody, RequestHead, RequestId};
#[cfg(feature = "sled")]
use crate::host::launch::directory_watch::DirectoryWatch;
#[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
use crate::host::launch::shared_store::SharedStore;
use crate::host::ops::Metrics;
use crate::host::ops::faults::Faults;
use crate::host::ops::page::served::ServedPage;
use crate::host::ops::request_log::RequestLog;
use crate::id::{Ids, SystemIds};
use crate::time::SystemClock;

/// Bounds that the host keeps, for every connection.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections that are served at once; some more are told to come again, and others wait in the listen queue.
    pub connections_max: usize,
    /// Bytes of a request head.
    pub head_bytes_max: usize,
    /// Time that a head may take, and that a connection may be idle.
    pub head_ms_max: u64,
    /// Time for which a body may pause.
    pub body_idle_ms_max: u64,
    /// Bytes a second that a body must reach on average, once its grace is over.
    pub body_rate_min: u64,
    /// Time that a body may take without being measured against the rate.
    pub body_grace_ms: u64,
    /// Time for which a client may take no byte of an answer.
    pub answer_idle_ms_max: u64,
    /// Bytes a second that a client must take on average while it is waited for, once its grace is over.
    pub answer_rate_min: u64,
    /// Time for which a client may be waited for without being measured against the rate.
    pub answer_grace_ms: u64,
    /// Time for which requests that run may go on after a stop.
    pub drain_ms_max: u64,
    /// Time without an answer of the disk after which the service is not ready.
    pub disk_silent_ms_max: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections_max: 4_096,
            head_bytes_max: 64 * 1024,
            head_ms_max: 30_000,
            body_idle_ms_max: 30_000,
            body_rate_min: 128,
            body_grace_ms: 10_000,
            answer_idle_ms_max: 60_000,
            answer_rate_min: 128,
            answer_grace_ms: 60_000,
            drain_ms_max: 30_000,
            disk_silent_ms_max: 5_000,
        }
    }
}

/// Settings with which a service is hosted.
#[derive(Debug, Default)]
pub struct Config {
    /// Its bounds.
    pub limits: Limits,
    /// The clock that `/_ops/clock` moves; the service holds the same one.
    pub clock: Arc<SystemClock>,
    /// Needed for control paths from other machines; without one they are refused there.
    pub admin_token: Option<String>,
    /// Host names, beside `localhost` and IP literals, under which control paths are served.
    pub base_hosts: Vec<String>,
    /// Counters, with the service's own registered.
    pub metrics: Metrics,
    /// The stores that `/_ops/backup` copies; none in memory.
    #[cfg(feature = "sled")]
    pub(in crate::host) backup: Option<crate::host::backup::Source>,
    /// The records whose disk has to answer for `/_ops/health/ready`; none in memory.
    #[cfg(feature = "sled")]
    pub(in crate::host) records: Weak<crate::kv::Sled>,
    /// The data directory that has to be there for `/_ops/health/ready`; none in memory.
    #[cfg(feature = "sled")]
    pub(in crate::host) watch: Option<DirectoryWatch>,
    /// The store on another machine that requests need.
    #[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
    pub(in crate::host) shared: Option<SharedStore>,
    /// TLS, where it is wanted.
    #[cfg(feature = "tls")]
    pub tls: Option<Arc<rustls::ServerConfig>>,
}

/// The service, and everything that its connections share.
pub(in crate::host) struct ServerState<S> {
    pub(in crate::host) service: S,
    pub(in crate::host) metrics: Metrics,
    pub(in crate::host) request_log: Arc<RequestLog>,
    pub(in crate::host) page: Option<ServedPage>,
    pub(in crate::host) faults: Faults,
    pub(in crate::host) clock: Arc<SystemClock>,
    pub(in crate::host) stopping: Stopping,
    pub(in crate::host) admin_token: Option<String>,
    pub(in crate::host) base_hosts: Vec<String>,
    pub(super) limits: Limits,
    #[cfg(feature = "sled")]
    pub(in crate::host) backup: Option<Arc<crate::host::backup::Source>>,
    #[cfg(feature = "sled")]
    records: Weak<crate::kv::Sled>,
    #[cfg(feature = "sled")]
    watch: Option<DirectoryWatch>,
    #[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
    pub(in crate::host) shared: Option<SharedStore>,
    id_key: u64,
    id_next: AtomicU64,
    #[cfg(feature = "tls")]
    pub(super) tls: Option<Arc<rustls::ServerConfig>>,
}

impl<S: Hosted> ServerState<S> {
    /// The reason for which requests cannot be answered now, if there is one.
    pub(in crate::host) fn unready(&self) -> Option<String> {
        if let Err(why) = self.store_health() {
            return Some(format!("not ready: {why}\n"));
        }
        #[cfg(feature = "sled")]
        if let Some(gone) = self.watch.as_ref().and_then(DirectoryWatch::gone) {
            return Some(format!("not ready: {gone}\n"));
        }
        if self.stopping.is_stopping() || !self.service.ready() {
            return Some("not ready\n".to_owned());
        }
        let is_silent = self.disk_waits() > Duration::from_millis(self.limits.disk_silent_ms_max);
        is_silent.then(|| "not ready: the disk does not answer\n".to_owned())
    }

    #[cfg(feature = "sled")]
    fn disk_waits(&self) -> Duration {
        self.records.upgrade().map_or(Duration::ZERO, |records| records.waits())
    }

    #[cfg(not(feature = "sled"))]
    const fn disk_waits(&self) -> Duration {
        Duration::ZERO
    }

    pub(super) fn new(service: S, config: Config, stopping: Stopping) -> Self {
        Self {
            page: service.page().as_ref().map(ServedPage::new),
            service,
            metrics: config.metrics,
            #[cfg(feature = "sled")]
            backup: config.backup.map(Arc::new),
            #[cfg(feature = "sled")]
            records: config.records,
            #[cfg(feature = "sled")]
            watch: config.watch,
            #[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
            shared: config.shared,
            request_log: Arc::default(),
            faults: Faults::default(),
            clock: config.clock,
            stopping,
            admin_token: config.admin_token,
            base_hosts: config.base_hosts,
            limits: config.limits,
            id_key: SystemIds.next(),
            id_next: AtomicU64::new(1),
            #[cfg(feature = "tls")]
            tls: config.tls,
        }
    }

    /// Tells whether the store can be asked; one on this machine always can.
    ///
    /// # Errors
    /// A sentence that says why not.
    #[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
    pub(in crate::host) fn store_health(&self) -> Result<(), String> {
        self.shared.as_ref().map_or(Ok(()), SharedStore::health)
    }

    /// Tells whether the store can be asked: one on this machine always can.
    #[cfg(not(all(any(feature = "etcd", feature = "postgres"), feature = "sled")))]
    pub(in crate::host) const fn store_health(&self) -> Result<(), String> {
        Ok(())
    }

    /// The outcome of what comes before the first request; none at the limit of a head, and when the server stops.
    pub(super) async fn in_time<F: Future>(&self, begin: F) -> Option<F::Output> {
        let limit = Duration::from_millis(self.limits.head_ms_max);
        tokio::select! {
            begun = begin => Some(begun),
            () = tokio::time::sleep(limit) => None,
            () = self.stopping.stopped() => None,
        }
    }

    pub(super) const fn body_timeouts(&self) -> BodyTimeouts {
        BodyTimeouts {
            idle: Duration::from_millis(self.limits.body_idle_ms_max),
            rate_min: self.limits.body_rate_min,
            grace: Duration::from_millis(self.limits.body_grace_ms),
        }
    }

    pub(super) const fn answer_timeouts(&self) -> AnswerTimeouts {
        AnswerTimeouts {
            idle: Duration::from_millis(self.limits.answer_idle_ms_max),
            rate_min: self.limits.answer_rate_min,
            grace: Duration::from_millis(self.limits.answer_grace_ms),
        }
    }

    /// The id of the next request.
    pub(super) fn next_id(&self) -> RequestId {
        RequestId::from_number(self.id_next.fetch_add(1, Ordering::Relaxed), self.id_key)
    }

    /// The service's own error body for a refusal of the host; with the methods that the path takes, where that is what is refused.
    pub(in crate::host) fn refuse<B>(
        &self,
        refusal: &Refusal,
        request: &Request<B>,
        id: &RequestId,
    ) -> Response<ReplyBody> {
        let head = RequestHead {
            method: request.method(),
            uri: request.uri(),
            headers: request.headers(),
            id,
        };
        let mut refused = self.service.refuse(refusal, &head);
        if let Refusal::MethodNotAllowed(methods) = refusal {
            refused.headers_mut().insert(header::ALLOW, HeaderValue::from_static(methods));
        }
        refused
    }
}
