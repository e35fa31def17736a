//! Refusals of the host itself. Each service renders these in its own error body.

use http::{HeaderMap, Method, Uri};

use super::RequestId;
use crate::error::{Coded, Row};

/// The head of a refused request, as far as it was read.
#[derive(Debug, Clone, Copy)]
pub struct RequestHead<'r> {
    /// The method.
    pub method: &'r Method,
    /// The target.
    pub uri: &'r Uri,
    /// The headers.
    pub headers: &'r HeaderMap,
    /// The id that the answer carries.
    pub id: &'r RequestId,
}

/// A refusal of the host, in the order of its checks.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// The head is larger than the server reads.
    #[error("the request's head is larger than {0} bytes")]
    HeadTooLarge(usize),
    /// An HTTP/1.1 request has one Host header (RFC 9112 §3.2).
    #[error("the request has no Host header")]
    MissingHost,
    /// Two Host headers name two things (RFC 9112 §3.2).
    #[error("the request has more than one Host header, or one that is no host name")]
    BadHost,
    /// The target and the Host header name two hosts.
    #[error("the request target and the Host header name different hosts")]
    HostMismatch,
    /// A control path was asked for under a name that is not this server's: a page may have rebound its name.
    #[error(
        "this host name is not served here; use the address that the server printed, or add the name with --base-host"
    )]
    ForeignHost,
    /// A web page of another origin asked for a control path.
    #[error("control paths cannot be used from web pages of another origin")]
    ForeignOrigin,
    /// A control path off loopback needs the admin token.
    #[error(
        "from another machine this path needs the admin token: send it as Authorization: Bearer"
    )]
    AdminTokenRequired,
    /// There is no such control path.
    #[error("there is no such control path")]
    NoSuchControlPath,
    /// The control path is used with other methods: these, as an `Allow` header lists them (RFC 9110 §10.2.1).
    #[error("this control path takes {0} alone")]
    MethodNotAllowed(&'static str),
    /// The body of a control request cannot be used.
    #[error("the control request cannot be used: {0}")]
    BadControlRequest(String),
    /// The service could not do what a control request asked.
    #[error("the control request failed: {0}")]
    ControlFailed(String),
    /// More connections are open than are served at once.
    #[error("more connections are open than are served at once: come again in a second")]
    Overloaded,
    /// Asked for through `/_ops/faults`.
    #[error("{}", .reason.as_deref().unwrap_or("asked for through /_ops/faults"))]
    FaultInjected {
        /// The status to answer with.
        status: u16,
        /// The reason to give, where one was asked for.
        reason: Option<String>,
    },
    /// The handler panicked; the service goes on.
    #[error("the service met an internal fault; the log has it under this request's id")]
    Panicked,
}

impl Coded for Refusal {
    fn row(&self) -> Row {
        match self {
            Self::HeadTooLarge(_) => Row::of(431, "HeadTooLarge"),
            Self::MissingHost => Row::of(400, "MissingHost"),
            Self::BadHost => Row::of(400, "BadHost"),
            Self::HostMismatch => Row::of(400, "HostMismatch"),
            Self::ForeignHost => Row::of(403, "ForeignHost"),
            Self::ForeignOrigin => Row::of(403, "ForeignOrigin"),
            Self::AdminTokenRequired => Row::of(401, "AdminTokenRequired"),
            Self::NoSuchControlPath => Row::of(404, "NoSuchControlPath"),
            Self::MethodNotAllowed(_) => Row::of(405, "MethodNotAllowed"),
            Self::BadControlRequest(_) => Row::of(400, "BadControlRequest"),
            Self::ControlFailed(_) => Row::of(500, "ControlFailed"),
            Self::Overloaded => Row::of(503, "SlowDown"),
            Self::FaultInjected { status, .. } => Row::of(*status, "FaultInjected"),
            Self::Panicked => Row::of(500, "InternalError"),
        }
    }
}
