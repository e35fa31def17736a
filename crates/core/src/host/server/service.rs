//! A service as the host sees it, and the facts that the two tell each other about a request.

use std::convert::Infallible;
use std::future::Future;
use std::net::SocketAddr;
use std::pin::Pin;

use http::{Request, Response};
use hyper::service::Service;

use super::{Body, Refusal, ReplyBody, RequestHead, RequestId, Stopping};
use crate::host::ops::Page;

/// A service as the host sees it, beside being a `hyper::service::Service`.
pub trait Hosted: Clone + Send + Sync + 'static {
    /// The service's own error body for a request that the host refused.
    fn refuse(&self, refusal: &Refusal, request: &RequestHead<'_>) -> Response<ReplyBody>;

    /// Returns whether requests can be answered now.
    fn ready(&self) -> bool {
        true
    }

    /// Empties the service and fills it from its seed file again.
    ///
    /// # Errors
    /// A sentence that says what could not be done.
    fn reset(&self) -> impl Future<Output = Result<(), String>> + Send;

    /// Query parameters of the service's own whose values are secret: neither the log nor `/_ops/requests` shows them.
    fn secret_parameters(&self) -> &'static [&'static str] {
        &[]
    }

    /// Returns whether this Host names something of the service's own, so that control paths under it are the service's.
    fn owns_host(&self, _host: &str) -> bool {
        false
    }

    /// The page at `/_ui/`, if the service has one.
    fn page(&self) -> Option<Page> {
        None
    }

    /// Answers a control path of the service's own, after the host's checks, or refuses it as the host does its own; gives the request back if
    /// it has none.
    fn control(
        &self,
        request: Request<Body>,
    ) -> impl Future<Output = Result<ControlAnswer, Request<Body>>> + Send {
        async { Err(request) }
    }

    /// Completes what is under way, before the process ends.
    fn flush(&self) -> impl Future<Output = ()> + Send {
        async {}
    }
}

/// The answer of a service to a request to one of its control paths.
pub type ControlAnswer = Result<Response<ReplyBody>, Refusal>;

/// The answer of a service, still to come.
pub type Answering = Pin<Box<dyn Future<Output = Result<Response<ReplyBody>, Infallible>> + Send>>;

/// A service that the host can run.
pub trait HostedService:
    Hosted + Service<Request<Body>, Response = Response<ReplyBody>, Error = Infallible, Future: Send>
{
}

impl<S> HostedService for S where
    S: Hosted
        + Service<Request<Body>, Response = Response<ReplyBody>, Error = Infallible, Future: Send>
{
}

/// The sender of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer {
    /// The other end of the connection.
    pub address: SocketAddr,
    /// Set if the connection is encrypted.
    pub tls: bool,
}

/// Facts that the host knows of a request beside its head. A request extension, which a service that runs without the host misses.
#[derive(Debug, Clone)]
pub struct RequestContext {
    /// Its id.
    pub id: RequestId,
    /// Its sender.
    pub peer: Peer,
    /// Tells when the server begins to stop.
    pub stopping: Stopping,
}

/// The name of the operation that answered, for metrics and log. A response extension; never contains ids or a user's text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Operation(pub &'static str);

/// A text of an answer that its sender alone is to see: `/_ops/requests` has dots in its place. A response extension.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SenderOnly(pub String);

/// Marks a reply that goes on for as long as both sides like (event stream, WebSocket). A response extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Streaming;
