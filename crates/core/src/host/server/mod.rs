//! From an accepted connection to a request at its service, and the answer back.

pub(super) mod accept;
mod body;
mod refusal;
mod service;
mod shutdown;

pub use accept::{Config, Limits, Report, serve};
pub use body::{Body, BodyError, ReplyBody, drain_refused};
pub use refusal::{Refusal, RequestHead};
pub use service::{Hosted, Operation, Peer, RequestContext, RequestId, Streaming};
pub use shutdown::{Stopping, signals};
