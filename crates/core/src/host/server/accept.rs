//! The accept loop: one task a connection, one line a request, and the checks that come before any service.

use std::borrow::Cow;
use std::convert::Infallible;
use std::net::SocketAddr;
use std::panic::AssertUnwindSafe;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;
use std::time::Duration;

use http::{Request, Response, Version, header};
use hyper::body::Incoming;
use hyper::service::{Service, service_fn};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, mpsc};
use tokio::time::Instant;

use super::body::BodyTimeouts;
use super::shutdown::{self, Stopping};
use super::{
    Body, Hosted, Operation, Peer, Refusal, ReplyBody, RequestContext, RequestHead, RequestId,
};
use crate::host::ops::Metrics;
use crate::host::ops::control::Control;
use crate::host::ops::faults::Faults;
use crate::host::ops::request_log::{RequestLog, redact};
use crate::id::{Ids, SystemIds};
use crate::time::{Clock, SystemClock};

/// What the host bounds, for every connection.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Connections at once; more wait in the listen queue.
    pub connections_max: usize,
    /// Bytes of a request head.
    pub head_bytes_max: usize,
    /// How long a head may take, and how long a connection may be idle.
    pub head_ms_max: u64,
    /// How long a body may pause.
    pub body_idle_ms_max: u64,
    /// Bytes a second that a body must reach on average, once its grace is over.
    pub body_rate_min: u64,
    /// How long a body may take without being measured against the rate.
    pub body_grace_ms: u64,
    /// How long requests that run may go on after a stop.
    pub drain_ms_max: u64,
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
            drain_ms_max: 30_000,
        }
    }
}

/// How a service is hosted.
#[derive(Debug, Default)]
pub struct Config {
    /// What is bounded.
    pub limits: Limits,
    /// The clock that `/_ops/clock` moves; the service holds the same one.
    pub clock: Arc<SystemClock>,
    /// Needed for control paths from other machines; without one they are refused there.
    pub admin_token: Option<String>,
    /// Host names, beside `localhost` and IP literals, under which control paths are served.
    pub base_hosts: Vec<String>,
    /// Counters, with the service's own registered.
    pub metrics: Metrics,
    /// TLS, where it is wanted.
    #[cfg(feature = "tls")]
    pub tls: Option<Arc<rustls::ServerConfig>>,
}

/// How serving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report {
    /// Whether everything that ran was finished before the deadline.
    pub drained: bool,
}

/// Serves connections of `listener` until `stop` returns; then finishes what runs, flushes, and reports.
///
/// Readiness falls at the stop, before anything is closed. A handler that panics gives a 500 and nothing else.
pub async fn serve<S>(
    listener: TcpListener,
    service: S,
    config: Config,
    stop: impl Future<Output = ()>,
) -> Report
where
    S: Hosted + Service<Request<Body>, Response = Response<ReplyBody>, Error = Infallible>,
    S::Future: Send,
{
    let (stopper, stopping) = shutdown::stop();
    let connections = Arc::new(Semaphore::new(config.limits.connections_max));
    let drain_max = Duration::from_millis(config.limits.drain_ms_max);
    // Every connection holds a sender; the channel closes when the last one has ended.
    let (open, mut all_closed) = mpsc::channel::<Infallible>(1);
    let host = Arc::new(Host::new(service, config, stopping));
    let mut stop = pin!(stop);
    loop {
        let permit = tokio::select! {
            biased;
            () = &mut stop => break,
            permit = Arc::clone(&connections).acquire_owned() => permit,
        };
        let accepted = tokio::select! {
            biased;
            () = &mut stop => break,
            accepted = listener.accept() => accepted,
        };
        match accepted {
            Ok((stream, address)) => {
                let (host, open) = (Arc::clone(&host), open.clone());
                tokio::spawn(async move {
                    host.metrics.connected(1);
                    connection(&host, stream, address).await;
                    host.metrics.connected(-1);
                    drop((permit, open));
                });
            }
            // Out of file descriptors, most often: the next connection that ends makes room.
            Err(error) => {
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    drop(listener);
    stopper.begin();
    drop(open);
    let drained = tokio::time::timeout(drain_max, all_closed.recv()).await.is_ok();
    host.service.flush().await;
    Report { drained }
}

/// Serves one connection to its end.
async fn connection<S>(host: &Arc<Host<S>>, stream: TcpStream, address: SocketAddr)
where
    S: Hosted + Service<Request<Body>, Response = Response<ReplyBody>, Error = Infallible>,
    S::Future: Send,
{
    // Small answers must not wait for the acknowledgement of earlier ones.
    let _ = stream.set_nodelay(true);
    #[cfg(feature = "tls")]
    if let Some(tls) = &host.tls {
        let accept = tokio_rustls::TlsAcceptor::from(Arc::clone(tls)).accept(stream);
        if let Some(Ok(stream)) = host.in_time(accept).await {
            let http2 = stream.get_ref().1.alpn_protocol() == Some(b"h2");
            speak(host, stream, Peer { address, tls: true }, http2).await;
        }
        return;
    }
    // Looking at the first bytes has a time limit too: a silent connection is not kept.
    let mut first = [0; 3];
    let Some(Ok(read)) = host.in_time(stream.peek(&mut first)).await else {
        return;
    };
    // A method of HTTP/1 that begins like this does not exist; the preface of HTTP/2 does.
    let http2 = first.get(..read) == Some(b"PRI");
    speak(host, stream, Peer { address, tls: false }, http2).await;
}

async fn speak<S, IO>(host: &Arc<Host<S>>, io: IO, peer: Peer, http2: bool)
where
    S: Hosted + Service<Request<Body>, Response = Response<ReplyBody>, Error = Infallible>,
    S::Future: Send,
    IO: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let shared = Arc::clone(host);
    // Every line of the log names it.
    let address: Arc<str> = peer.address.to_string().into();
    let service = service_fn(move |request| {
        let (host, address) = (Arc::clone(&shared), Arc::clone(&address));
        async move { Ok::<_, Infallible>(host.answer(request, peer, &address).await) }
    });
    let io = TokioIo::new(io);
    let ended = if http2 {
        let mut builder = hyper::server::conn::http2::Builder::new(TokioExecutor::new());
        builder
            .timer(TokioTimer::new())
            .max_header_list_size(64 * 1024)
            .keep_alive_interval(Duration::from_secs(30));
        let mut connection = pin!(builder.serve_connection(io, service));
        tokio::select! {
            ended = connection.as_mut() => ended,
            () = host.stopping.stopped() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        }
    } else {
        let mut builder = hyper::server::conn::http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(Duration::from_millis(host.limits.head_ms_max))
            .max_buf_size(host.limits.head_bytes_max);
        let mut connection = pin!(builder.serve_connection(io, service).with_upgrades());
        tokio::select! {
            ended = connection.as_mut() => ended,
            () = host.stopping.stopped() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        }
    };
    if let Err(error) = ended {
        tracing::debug!(peer = %peer.address, %error, "connection ended");
    }
}

/// What all connections of a server share.
pub(in crate::host) struct Host<S> {
    pub(in crate::host) service: S,
    pub(in crate::host) metrics: Metrics,
    pub(in crate::host) request_log: RequestLog,
    pub(in crate::host) faults: Faults,
    pub(in crate::host) clock: Arc<SystemClock>,
    pub(in crate::host) stopping: Stopping,
    pub(in crate::host) admin_token: Option<String>,
    pub(in crate::host) base_hosts: Vec<String>,
    limits: Limits,
    id_key: u64,
    id_next: AtomicU64,
    #[cfg(feature = "tls")]
    tls: Option<Arc<rustls::ServerConfig>>,
}

impl<S: Hosted> Host<S> {
    fn new(service: S, config: Config, stopping: Stopping) -> Self {
        Self {
            service,
            metrics: config.metrics,
            request_log: RequestLog::default(),
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

    /// What comes before the first request: it ends at the limit of a head, and when the server stops.
    async fn in_time<F: Future>(&self, begin: F) -> Option<F::Output> {
        let limit = Duration::from_millis(self.limits.head_ms_max);
        tokio::select! {
            begun = begin => Some(begun),
            () = tokio::time::sleep(limit) => None,
            () = self.stopping.stopped() => None,
        }
    }

    const fn body_timeouts(&self) -> BodyTimeouts {
        BodyTimeouts {
            idle: Duration::from_millis(self.limits.body_idle_ms_max),
            rate_min: self.limits.body_rate_min,
            grace: Duration::from_millis(self.limits.body_grace_ms),
        }
    }
}

impl<S> Host<S>
where
    S: Hosted + Service<Request<Body>, Response = Response<ReplyBody>, Error = Infallible>,
    S::Future: Send,
{
    /// Answers one request, counts it, and writes its line.
    async fn answer(
        &self,
        request: Request<Incoming>,
        peer: Peer,
        address: &str,
    ) -> Response<ReplyBody> {
        let begun = Instant::now();
        let id = RequestId::from_number(self.id_next.fetch_add(1, Ordering::Relaxed), self.id_key);
        let method = request.method().clone();
        let target = request.uri().path_and_query();
        let target = redact(target.map_or("/", http::uri::PathAndQuery::as_str));
        let host = host_of(&request).unwrap_or_default();
        self.metrics.begin();
        let response = self.route(request, peer, &id, &target).await;
        let took = begun.elapsed();
        let status = response.status().as_u16();
        let operation =
            response.extensions().get::<Operation>().map_or("-", |operation| operation.0);
        self.metrics.end(operation, status, took);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        tracing::info!(
            target: "request",
            id = &*id.0, peer = address, method = method.as_str(), host, path = target, operation, status, duration_us = micros,
        );
        if !target.starts_with("/_ops/") {
            let time = self.clock.now();
            self.request_log.push(|logged| {
                (*id.0).clone_into(&mut logged.id);
                host.clone_into(&mut logged.host);
                target.clone_into(&mut logged.target);
                (logged.time, logged.method) = (time, method);
                (logged.operation, logged.status, logged.micros) = (operation, status, micros);
            });
        }
        response
    }

    /// Checks that come before any service, then the control plane, then the service.
    async fn route(
        &self,
        request: Request<Incoming>,
        peer: Peer,
        id: &RequestId,
        target: &str,
    ) -> Response<ReplyBody> {
        let timeouts = self.body_timeouts();
        let mut request = request.map(|incoming| Body::new(incoming, timeouts));
        // hyper's own limit is that of a buffer, which one read can pass.
        let head_max = self.limits.head_bytes_max;
        if head_bytes(&request) > head_max {
            return self.refuse(&Refusal::HeadTooLarge(head_max), &request, id);
        }
        let host = match check_host(&request) {
            Ok(host) => host,
            Err(refusal) => return self.refuse(&refusal, &request, id),
        };
        if is_control(request.uri().path()) && !self.service.owns_host(&host) {
            let name = host.into_owned();
            return Control { host: self, name: &name, peer, id }.answer(request).await;
        }
        if let Some(fault) = self.faults.take(request.method().as_str(), request.uri().path()) {
            tokio::time::sleep(fault.delay()).await;
            if let Some(status) = fault.status {
                let reason = fault.reason;
                return self.refuse(&Refusal::FaultInjected { status, reason }, &request, id);
            }
        }
        request.extensions_mut().insert(RequestContext {
            id: id.clone(),
            peer,
            stopping: self.stopping.clone(),
        });
        let method = request.method().clone();
        // The future is built inside, so that a panic before its first await is caught as well.
        match caught(async { self.service.call(request).await }).await {
            Some(Ok(response)) => response,
            None => {
                self.metrics.panicked();
                tracing::error!(id = &*id.0, "a handler panicked");
                // The request went with the handler; this is what was noted of it.
                let (uri, headers) = (target.parse().unwrap_or_default(), http::HeaderMap::new());
                self.service.refuse(
                    &Refusal::Panicked,
                    &RequestHead { method: &method, uri: &uri, headers: &headers, id },
                )
            }
        }
    }

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
        self.service.refuse(refusal, &head)
    }
}

/// The output of `future`, or `None` if it panicked.
pub(in crate::host) async fn caught<F: Future>(future: F) -> Option<F::Output> {
    let mut future = pin!(future);
    std::future::poll_fn(move |context| {
        // What a handler shares is behind locks that survive a panic; its own state is dropped with it.
        match std::panic::catch_unwind(AssertUnwindSafe(|| future.as_mut().poll(context))) {
            Ok(poll) => poll.map(Some),
            Err(_) => Poll::Ready(None),
        }
    })
    .await
}

fn is_control(path: &str) -> bool {
    path.starts_with("/_ops/") || path.starts_with("/_ui/")
}

fn head_bytes<B>(request: &Request<B>) -> usize {
    let target = request.uri().path_and_query();
    let fields = request.headers().iter();
    fields.map(|(name, value)| name.as_str().len() + value.len() + 4).sum::<usize>()
        + target.map_or(0, |target| target.as_str().len())
}

/// The authority that a request names, as text.
fn host_of<B>(request: &Request<B>) -> Option<String> {
    let named = request.headers().get(header::HOST).and_then(|value| value.to_str().ok());
    named.or_else(|| request.uri().authority().map(http::uri::Authority::as_str)).map(str::to_owned)
}

/// The one host that a request names.
fn check_host<B>(request: &Request<B>) -> Result<Cow<'_, str>, Refusal> {
    let mut named = request.headers().get_all(header::HOST).iter();
    let first = named.next();
    if named.next().is_some() {
        return Err(Refusal::BadHost);
    }
    let target = request.uri().authority().map(http::uri::Authority::as_str);
    let host = match first {
        Some(value) => value.to_str().map_err(|_| Refusal::BadHost)?,
        None if request.version() == Version::HTTP_2 => target.ok_or(Refusal::MissingHost)?,
        // HTTP/1.0 had no Host; what it asks for is on the base host.
        None if request.version() <= Version::HTTP_10 => return Ok("localhost".into()),
        None => return Err(Refusal::MissingHost),
    };
    if host.is_empty() || host.parse::<http::uri::Authority>().is_err() || host.contains('@') {
        return Err(Refusal::BadHost);
    }
    if target.is_some_and(|target| !target.eq_ignore_ascii_case(host)) {
        return Err(Refusal::HostMismatch);
    }
    let is_lower = !host.bytes().any(|byte| byte.is_ascii_uppercase());
    Ok(if is_lower { host.into() } else { host.to_ascii_lowercase().into() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(
        build: impl FnOnce(http::request::Builder) -> http::request::Builder,
    ) -> Result<String, Refusal> {
        check_host(&build(Request::builder()).body(()).unwrap()).map(Cow::into_owned)
    }

    #[test]
    fn a_request_names_exactly_one_host() {
        assert_eq!(check(|request| request.uri("/")), Err(Refusal::MissingHost));
        assert_eq!(
            check(|request| request.header("host", "a").header("host", "a")),
            Err(Refusal::BadHost)
        );
        assert_eq!(check(|request| request.header("host", "a b")), Err(Refusal::BadHost));
        assert_eq!(check(|request| request.header("host", "user@a")), Err(Refusal::BadHost));
        assert_eq!(
            check(|request| request.header("host", "A.localhost:1")),
            Ok("a.localhost:1".into())
        );
    }

    #[test]
    fn an_absolute_target_that_differs_from_the_host_is_refused() {
        assert_eq!(
            check(|request| request.uri("http://evil/p").header("host", "a")),
            Err(Refusal::HostMismatch)
        );
        assert_eq!(
            check(|request| request.uri("http://a:1/p").header("host", "a:1")),
            Ok("a:1".into())
        );
    }

    #[tokio::test]
    async fn a_panic_is_caught() {
        assert_eq!(caught(async { 7 }).await, Some(7));
        assert_eq!(caught(async { panic!("as the test wants") }).await, None::<()>);
    }
}
