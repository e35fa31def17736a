//! The server shell that the three services run under: sockets, limits, control plane, flags, logs.
//!
//! It knows no resource, no user's authentication and no error body. It meets a service in three
//! things: the request extension [`Received`], the response extension [`Operation`], and the hooks
//! of [`Hosted`].

mod accept;
mod body;
mod control;
mod drain;
mod faults;
#[cfg(feature = "sled")]
mod figures;
pub mod flags;
mod hosted;
pub mod launch;
mod log;
mod metrics;
mod refusal;
mod requests;
pub mod storage;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;
#[cfg(feature = "tls")]
mod tls;

pub use accept::{Config, Limits, Report, serve};
pub use body::{Body, BodyError, ReplyBody, drain_refused};
pub use control::is_own_name;
pub use drain::{Stopping, signals};
pub use hosted::{Hosted, Operation, Peer, Received, RequestId, Streaming};
pub use log::Log;
pub use metrics::Metrics;
pub use refusal::{Refusal, RequestHead};

/// An error of any kind, as bodies give it.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
