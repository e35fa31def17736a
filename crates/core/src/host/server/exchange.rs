//! One request: the checks that come before any service, then the control plane, then the service; its line in the log.

use std::borrow::Cow;

use http::{HeaderValue, Request, Response, StatusCode, Version, header};
use http_body::Body as _;
use hyper::body::Incoming;
use tokio::time::Instant;

use super::body::BodyCopy;
use super::panic::caught;
use super::place::Place;
use super::state::ServerState;
use super::{
    Body, HostedService, Operation, Peer, Refusal, ReplyBody, RequestContext, RequestHead,
    RequestId, SenderOnly,
};
use crate::host::ops::control::ControlRequest;
use crate::host::ops::faults::Fault;
use crate::host::ops::page::served::is_page;
use crate::host::ops::request_log::{Detail, header_lines, redact, redact_pairs};
use crate::time::Clock as _;

/// Seconds after which a client may ask again.
const RETRY_AFTER: HeaderValue = HeaderValue::from_static("1");

impl<S: HostedService> ServerState<S> {
    /// Answers one request, counts it, and writes its line.
    pub(super) async fn answer(
        &self,
        request: Request<Incoming>,
        peer: Peer,
        place: &Place,
        address: &str,
    ) -> Response<ReplyBody> {
        let begun = Instant::now();
        let id = self.next_id();
        let method = request.method().clone();
        let target = request.uri().path_and_query();
        let target = target.map_or("/", http::uri::PathAndQuery::as_str);
        let target = redact(target, self.service.secret_parameters());
        let host = host_of(&request).unwrap_or_default();
        let noted = Noted::of(&request, &target, self.service.secret_parameters());
        let is_http1 = request.version() < Version::HTTP_2;
        let expects = is_http1 && request.headers().contains_key(header::EXPECT);
        let is_empty = request.body().is_end_stream();
        self.metrics.begin();
        let (mut response, fault) =
            self.route(request, (peer, place), &id, &target, noted.copy.clone()).await;
        let took = begun.elapsed();
        let is_refused = expects && !response.status().is_success();
        // No `100 Continue` goes out where no body comes, and clients that had none misread the next answer of the connection.
        let is_not_continued = expects && is_empty;
        if is_refused || is_not_continued || is_http1 && place.is_beyond() {
            // A client that was refused sends no body, and its next request would be read as one; one beyond the limit makes room for the next.
            response.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        if response.status() == StatusCode::SERVICE_UNAVAILABLE {
            // What is away now is asked for again; a service that knows better says so itself.
            response.headers_mut().entry(header::RETRY_AFTER).or_insert(RETRY_AFTER);
        }
        let status = response.status().as_u16();
        let operation =
            response.extensions().get::<Operation>().map_or("-", |operation| operation.0);
        self.metrics.end(operation, status, took);
        let micros = u64::try_from(took.as_micros()).unwrap_or(u64::MAX);
        tracing::info!(
            target: "request",
            id = &*id.0, peer = address, method = method.as_str(), host, path = target, operation, status, duration_us = micros,
        );
        if !is_control(&target) {
            let time = self.clock.now();
            let detail = noted.detail(&response, fault, self.service.secret_parameters());
            self.request_log.push(|logged| {
                (*id.0).clone_into(&mut logged.id);
                host.clone_into(&mut logged.host);
                target.clone_into(&mut logged.target);
                address.clone_into(&mut logged.peer);
                (logged.time, logged.method, logged.detail) = (time, method, detail);
                (logged.operation, logged.status, logged.micros) = (operation, status, micros);
            });
        }
        response
    }

    /// Checks that come before any service, then the control plane, then the service. Gives the fault on request beside the answer, where there was one.
    async fn route(
        &self,
        request: Request<Incoming>,
        (peer, place): (Peer, &Place),
        id: &RequestId,
        target: &str,
        copy: Option<BodyCopy>,
    ) -> (Response<ReplyBody>, Option<Fault>) {
        let timeouts = self.body_timeouts();
        let request = request.map(|incoming| Body::new(incoming, timeouts).copied_to(copy));
        // hyper's own limit is that of a buffer, which one read can pass.
        let head_max = self.limits.head_bytes_max;
        if head_bytes(&request) > head_max {
            return (self.refuse(&Refusal::HeadTooLarge(head_max), &request, id), None);
        }
        let host = match check_host(&request) {
            Ok(host) => host,
            Err(refusal) => return (self.refuse(&refusal, &request, id), None),
        };
        if is_control(request.uri().path()) && !self.service.owns_host(&host) {
            let name = host.into_owned();
            let control = ControlRequest { server: self, name: &name, peer, id };
            return (control.answer(request).await, None);
        }
        if !place.is_served() {
            return (self.refuse(&Refusal::Overloaded, &request, id), None);
        }
        let fault = self.faults.take(request.method().as_str(), request.uri().path());
        if let Some(fault) = &fault {
            // A stop waits for what is answered, and nobody gains by an answer that comes late to that.
            tokio::select! {
                () = tokio::time::sleep(fault.delay()) => {}
                () = self.stopping.stopped() => {}
            }
        }
        let response = match fault.as_ref().and_then(|fault| Some((fault, fault.status?))) {
            Some((fault, status)) => {
                let refusal = Refusal::FaultInjected { status, reason: fault.reason.clone() };
                self.refuse(&refusal, &request, id)
            }
            None => self.call(request, peer, id, target).await,
        };
        (response, fault)
    }

    /// Lets the service answer, and answers for one that panics.
    async fn call(
        &self,
        mut request: Request<Body>,
        peer: Peer,
        id: &RequestId,
        target: &str,
    ) -> Response<ReplyBody> {
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
}

/// The facts of a request that are gone once it was answered.
struct Noted {
    headers: String,
    copy: Option<BodyCopy>,
    is_form: bool,
}

impl Noted {
    /// Notes a request; `own` are secret parameters.
    fn of(request: &Request<Incoming>, target: &str, own: &[&str]) -> Self {
        if is_control(target) {
            return Self { headers: String::new(), copy: None, is_form: false };
        }
        let headers = request.headers();
        let is_packed = headers.contains_key(header::CONTENT_ENCODING);
        let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.filter(|_| !is_packed).unwrap_or_default();
        let copied = is_text(kind) && !request.body().is_end_stream();
        Self {
            headers: header_lines(headers, own),
            copy: copied.then(BodyCopy::default),
            is_form: kind.contains("form-urlencoded"),
        }
    }

    /// The part of a request that is kept beside its line; `own` are secret parameters.
    fn detail(self, response: &Response<ReplyBody>, fault: Option<Fault>, own: &[&str]) -> Detail {
        let body = self.copy.map(|copy| copy.text()).filter(|text| !text.is_empty());
        let body = body.map(|text| match self.is_form {
            true => {
                let mut out = String::new();
                redact_pairs(&mut out, &text, own);
                out
            }
            false => text,
        });
        let failed = response.status().as_u16() >= 400
            && !response.headers().contains_key(header::CONTENT_ENCODING);
        let error = match response.body() {
            ReplyBody::Whole(bytes) if failed && !bytes.is_empty() => {
                Some(match response.extensions().get::<SenderOnly>() {
                    // Before the text is cut off, which may be within this one.
                    Some(SenderOnly(own)) if !own.is_empty() => {
                        let text = String::from_utf8_lossy(bytes).replace(own, "...");
                        BodyCopy::text_of(text.as_bytes())
                    }
                    _ => BodyCopy::text_of(bytes),
                })
            }
            _ => None,
        };
        let fault = fault.and_then(|fault| serde_json::to_value(fault).ok());
        Detail { headers: self.headers, body, error, fault }
    }
}

/// Returns whether bodies of a content type are texts.
fn is_text(kind: &str) -> bool {
    ["text/", "json", "xml", "form-urlencoded"].iter().any(|word| kind.contains(word))
}

/// Returns whether a path is for whoever runs the service, and no part of its interface.
#[must_use]
pub fn is_control(path: &str) -> bool {
    path.starts_with("/_ops/") || is_page(path)
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
}
