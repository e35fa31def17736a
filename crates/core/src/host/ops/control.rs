//! The control plane under `/_ops/`: health, metrics, reset, clock, requests, faults.

#[cfg(feature = "sled")]
use std::sync::Arc;

use bytes::Bytes;
use http::{HeaderMap, HeaderValue, Method, Request, Response, StatusCode, header};
use http_body_util::{BodyExt, Limited};
use serde::Deserialize;
use serde_json::json;
use subtle::ConstantTimeEq;

use super::Metrics;
use super::exposition::Exposition;
use super::faults::Fault;
use super::live;
use super::page::served::is_page;
#[cfg(feature = "sled")]
use crate::host::backup::BackupError;
#[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
use crate::host::launch::shared_clock::share;
use crate::host::server::panic::caught;
use crate::host::server::state::ServerState;
use crate::host::server::{Body, HostedService, Operation, Peer, Refusal, ReplyBody, RequestId};
use crate::time::{Clock, Timestamp};

const BODY_BYTES_MAX: usize = 1024 * 1024;

/// One request to the control plane.
pub(in crate::host) struct ControlRequest<'h, S> {
    pub(in crate::host) server: &'h ServerState<S>,
    pub(in crate::host) name: &'h str,
    pub(in crate::host) peer: Peer,
    pub(in crate::host) id: &'h RequestId,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct ClockChange {
    set: Option<String>,
    advance_ms: Option<i64>,
    reset: Option<bool>,
    /// Set if the clocks of all instances that share the store are moved.
    #[serde(default)]
    shared: bool,
}

/// The body of a request to `/_ops/backup`.
#[cfg(feature = "sled")]
#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct BackupRequest {
    to: std::path::PathBuf,
    /// The identity of the store that is meant; without one that which is served.
    store: Option<String>,
}

impl<S: HostedService> ControlRequest<'_, S> {
    pub(in crate::host) async fn answer(self, request: Request<Body>) -> Response<ReplyBody> {
        if let Err(refusal) = self.check(&request) {
            return self.server.refuse(&refusal, &request, self.id);
        }
        let (head, body) = request.into_parts();
        let refused = Request::from_parts(head.clone(), ());
        let mut response = match self.dispatch(Request::from_parts(head, body)).await {
            Ok(response) => response,
            Err(refusal) => self.server.refuse(&refusal, &refused, self.id),
        };
        if response.extensions().get::<Operation>().is_none() {
            response.extensions_mut().insert(Operation("control"));
        }
        response
    }

    /// Lets this machine's own programs use control paths, and holders of the admin token. Never a web page of another origin.
    fn check(&self, request: &Request<Body>) -> Result<(), Refusal> {
        if !is_own_name(self.name, &self.server.base_hosts) {
            return Err(Refusal::ForeignHost);
        }
        let text = |name| {
            request.headers().get(name).map(|value: &HeaderValue| value.to_str().unwrap_or(""))
        };
        let own = |origin: &str| {
            origin.split_once("://").is_some_and(|(_, host)| host.eq_ignore_ascii_case(self.name))
        };
        let mut origins = request.headers().get_all(header::ORIGIN).into_iter();
        if !origins.all(|origin| origin.to_str().is_ok_and(own)) {
            return Err(Refusal::ForeignOrigin);
        }
        let site =
            request.headers().get("sec-fetch-site").map(|value| value.to_str().unwrap_or(""));
        if site.is_some_and(|site| !matches!(site, "same-origin" | "none")) {
            return Err(Refusal::ForeignOrigin);
        }
        // The page itself holds nothing; what it asks for needs the token, which its user types.
        if is_page(request.uri().path()) || self.peer.address.ip().to_canonical().is_loopback() {
            return Ok(());
        }
        let given = text(header::AUTHORIZATION).and_then(|value| value.strip_prefix("Bearer "));
        match (&self.server.admin_token, given) {
            (Some(wanted), Some(given))
                if bool::from(wanted.as_bytes().ct_eq(given.as_bytes())) =>
            {
                Ok(())
            }
            _ => Err(Refusal::AdminTokenRequired),
        }
    }

    async fn dispatch(&self, request: Request<Body>) -> Result<Response<ReplyBody>, Refusal> {
        let path = request.uri().path().to_owned();
        let method = request.method().clone();
        let server = self.server;
        if let Some(page) = server.page.as_ref().filter(|_| is_page(&path)) {
            return page.answer(&method, &path);
        }
        match (path.as_str(), &method) {
            ("/_ops/health/live", &Method::GET | &Method::HEAD) => {
                Ok(text(StatusCode::OK, "live\n"))
            }
            ("/_ops/health/ready", &Method::GET | &Method::HEAD) => Ok(match server.unready() {
                None => text(StatusCode::OK, "ready\n"),
                Some(reason) => text(StatusCode::SERVICE_UNAVAILABLE, reason),
            }),
            ("/_ops/metrics", &Method::GET) => Ok(metrics(&server.metrics, request.headers())),
            ("/_ops/requests", &Method::GET) => self.requests(request.uri().query()),
            ("/_ops/requests/live", &Method::GET) => {
                Ok(live::reply(&server.request_log, &server.stopping, request.headers()))
            }
            ("/_ops/requests", &Method::DELETE) => {
                server.request_log.clear();
                Ok(no_content())
            }
            ("/_ops/faults", &Method::GET) => json(&json!({ "faults": server.faults.list() })),
            ("/_ops/faults", &Method::DELETE) => {
                self.remove_faults(request.uri().query())?;
                Ok(no_content())
            }
            ("/_ops/faults", &Method::POST | &Method::PUT) => {
                server
                    .faults
                    .add(read::<Fault>(request).await?)
                    .map_err(Refusal::BadControlRequest)?;
                json(&json!({ "faults": server.faults.list() }))
            }
            ("/_ops/reset", &Method::POST) => {
                let outcome = caught(Box::pin(server.service.reset()))
                    .await
                    .unwrap_or_else(|| Err("it panicked".into()));
                outcome.map_err(Refusal::ControlFailed)?;
                server.faults.clear();
                Ok(no_content())
            }
            #[cfg(feature = "sled")]
            ("/_ops/backup", &Method::POST) => self.backup(read(request).await?).await,
            ("/_ops/clock", &Method::GET) => self.clock(),
            ("/_ops/clock", &Method::POST) => {
                let change: ClockChange = read(request).await?;
                if change.shared && !self.has_shared_store() {
                    let reason = "no other instance shares the store: leave shared out";
                    return Err(Refusal::BadControlRequest(reason.into()));
                }
                self.change_clock(&change)?;
                if change.shared {
                    self.share_clock().await?;
                }
                self.clock()
            }
            // In a box, as above: what a service does here rarely must not make the future of every request large.
            _ => match Box::pin(server.service.control(request)).await {
                Ok(answer) => answer,
                Err(_) => {
                    let known = KNOWN.iter().find(|(known, _)| *known == path);
                    Err(known.map_or(Refusal::NoSuchControlPath, |(_, methods)| {
                        Refusal::MethodNotAllowed(methods)
                    }))
                }
            },
        }
    }

    /// The requests that are kept, or one of them (`id`) with its headers, the beginning of its body and the error that it was answered with.
    fn requests(&self, query: Option<&str>) -> Result<Response<ReplyBody>, Refusal> {
        let log = &self.server.request_log;
        let Some(id) = query.and_then(|query| query.strip_prefix("id=")) else {
            return json(&json!({ "requests": log.list() }));
        };
        let gone = || Refusal::BadControlRequest(format!("no request {id} is kept"));
        let request = log.find(id).ok_or_else(gone)?;
        json(&json!({ "request": request, "detail": request.detail }))
    }

    /// Takes the faults on request back, or one of them (`id`).
    fn remove_faults(&self, query: Option<&str>) -> Result<(), Refusal> {
        let faults = &self.server.faults;
        let Some(id) = query.and_then(|query| query.strip_prefix("id=")) else {
            faults.clear();
            return Ok(());
        };
        match id.parse().is_ok_and(|id| faults.remove(id)) {
            true => Ok(()),
            false => Err(Refusal::BadControlRequest(format!("there is no fault {id}"))),
        }
    }

    /// Copies the stores, on a thread of its own: a copy takes as long as the disk does.
    #[cfg(feature = "sled")]
    async fn backup(&self, asked: BackupRequest) -> Result<Response<ReplyBody>, Refusal> {
        let in_memory = || Refusal::BadControlRequest(BackupError::InMemory.to_string());
        let source = Arc::clone(self.server.backup.as_ref().ok_or_else(in_memory)?);
        if !asked.to.is_absolute() {
            return Err(Refusal::BadControlRequest("to is an absolute path".into()));
        }
        let store = asked.store;
        let now = crate::time::SystemClock::new().now();
        let taken = tokio::task::spawn_blocking(move || {
            store.map_or(Ok(()), |store| source.check_store(&store))?;
            source.take(&asked.to, now)
        })
        .await;
        let failed = |why: String| Refusal::ControlFailed(why);
        let taken = taken.map_err(|error| failed(error.to_string()))?;
        let taken = taken.map_err(|error| match error {
            BackupError::WithinData { .. } | BackupError::OtherStore(_) => {
                Refusal::BadControlRequest(error.to_string())
            }
            other => failed(other.to_string()),
        })?;
        json(&taken.to_json())
    }

    fn clock(&self) -> Result<Response<ReplyBody>, Refusal> {
        let clock = &self.server.clock;
        let mut shown =
            json!({ "now": clock.now().rfc3339_millis(), "offsetMs": clock.offset_millis() });
        if self.has_shared_store()
            && let Some(fields) = shown.as_object_mut()
        {
            let scope = "this is the clock of one instance; with \"shared\": true a change moves those of all";
            fields.insert("scope".into(), scope.into());
        }
        json(&shown)
    }

    /// Has the clocks of all instances show what this one shows.
    #[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
    async fn share_clock(&self) -> Result<(), Refusal> {
        let Some(store) = &self.server.shared else { return Ok(()) };
        let shared = share(&**store.kv(), &self.server.clock).await;
        shared.map_err(|error| Refusal::ControlFailed(error.to_string()))
    }

    #[cfg(all(any(feature = "etcd", feature = "postgres"), feature = "sled"))]
    const fn has_shared_store(&self) -> bool {
        self.server.shared.is_some()
    }

    #[cfg(not(all(any(feature = "etcd", feature = "postgres"), feature = "sled")))]
    const fn has_shared_store(&self) -> bool {
        false
    }

    #[cfg(not(all(any(feature = "etcd", feature = "postgres"), feature = "sled")))]
    async fn share_clock(&self) -> Result<(), Refusal> {
        Ok(())
    }

    fn change_clock(&self, change: &ClockChange) -> Result<(), Refusal> {
        let clock = &self.server.clock;
        let bad = |why: &str| Refusal::BadControlRequest(why.into());
        match (&change.set, change.advance_ms, change.reset) {
            (Some(text), None, None) => {
                clock.set(
                    Timestamp::from_rfc3339(text)
                        .ok_or_else(|| bad("set takes an RFC 3339 time"))?,
                );
            }
            (None, Some(by), None) => clock.advance_millis(by),
            (None, None, Some(true)) => clock.reset(),
            _ => return Err(bad("it takes one of set, advanceMs and reset: true")),
        }
        Ok(())
    }
}

/// The control paths of the host, each with the methods that `dispatch` takes, as `Allow` lists them.
pub(in crate::host) const KNOWN: &[(&str, &str)] = &[
    #[cfg(feature = "sled")]
    ("/_ops/backup", "POST"),
    ("/_ops/health/live", "GET, HEAD"),
    ("/_ops/health/ready", "GET, HEAD"),
    ("/_ops/metrics", "GET"),
    ("/_ops/requests", "GET, DELETE"),
    ("/_ops/requests/live", "GET"),
    ("/_ops/faults", "GET, POST, PUT, DELETE"),
    ("/_ops/reset", "POST"),
    ("/_ops/clock", "GET, POST"),
];

/// Returns whether `host` (with or without a port) is this server's own name: `localhost`, an IP literal, or one of `base_hosts`.
///
/// A name that is none of these may be one that a web page has rebound to this machine.
#[must_use]
pub fn is_own_name(host: &str, base_hosts: &[String]) -> bool {
    let Ok(authority) = host.parse::<http::uri::Authority>() else {
        return false;
    };
    let name = authority.host();
    let literal = name.trim_start_matches('[').trim_end_matches(']');
    name.eq_ignore_ascii_case("localhost")
        || literal.parse::<std::net::IpAddr>().is_ok()
        || base_hosts
            .iter()
            .any(|base| base.eq_ignore_ascii_case(host) || base.eq_ignore_ascii_case(name))
}

async fn read<T: serde::de::DeserializeOwned>(request: Request<Body>) -> Result<T, Refusal> {
    let body = Limited::new(request.into_body(), BODY_BYTES_MAX).collect().await;
    let bytes = body.map_err(|error| Refusal::BadControlRequest(error.to_string()))?.to_bytes();
    serde_json::from_slice(&bytes).map_err(|error| Refusal::BadControlRequest(error.to_string()))
}

fn text(status: StatusCode, body: impl Into<Bytes>) -> Response<ReplyBody> {
    let mut response = Response::new(ReplyBody::whole(body));
    *response.status_mut() = status;
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"));
    response.headers_mut().insert(header::CACHE_CONTROL, HeaderValue::from_static("no-store"));
    response
}

/// The page of metrics, in the form that the request wants.
fn metrics(metrics: &Metrics, headers: &HeaderMap) -> Response<ReplyBody> {
    let form = Exposition::wanted(headers);
    let mut response = text(StatusCode::OK, form.of(metrics.text()));
    let kind = HeaderValue::from_static(form.content_type());
    response.headers_mut().insert(header::CONTENT_TYPE, kind);
    response.headers_mut().insert(header::VARY, HeaderValue::from_static("accept"));
    response
}

fn json(value: &serde_json::Value) -> Result<Response<ReplyBody>, Refusal> {
    let mut response = text(StatusCode::OK, value.to_string());
    response
        .headers_mut()
        .insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    Ok(response)
}

fn no_content() -> Response<ReplyBody> {
    let mut response = Response::new(ReplyBody::empty());
    *response.status_mut() = StatusCode::NO_CONTENT;
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_paths_are_served_under_own_names_alone() {
        let bases = ["store.example".to_owned(), "other.example:81".to_owned()];
        for own in [
            "localhost",
            "localhost:7802",
            "127.0.0.1:1",
            "[::1]:1",
            "store.example:9",
            "other.example:81",
        ] {
            assert!(is_own_name(own, &bases), "{own}");
        }
        for foreign in [
            "evil.example",
            "localhost.evil.example",
            "other.example:82",
            "bucket.localhost:7802",
            "",
        ] {
            assert!(!is_own_name(foreign, &bases), "{foreign}");
        }
    }
}
