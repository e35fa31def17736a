//! The server shell that the three services run under: sockets, limits, control plane, flags, logs.
//!
//! It knows no resource, no user's authentication and no error body. It meets a service in three
//! things: the request extension [`RequestContext`], the response extension [`Operation`], and the hooks
//! of [`Hosted`].

#[cfg(feature = "sled")]
mod backup;
pub mod launch;
mod ops;
mod server;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
#[cfg(test)]
mod tests;
mod upkeep;

pub use launch::{Log, flags, storage};
pub use ops::{CallMetrics, Metrics, Page, PageFile, is_own_name};
pub use server::{
    Answering, Body, BodyError, Config, ControlAnswer, FramePoll, Hosted, HostedService, Limits,
    Operation, Peer, PieceBody, Pieces, Refusal, ReplyBody, Report, RequestContext, RequestHead,
    RequestId, SenderOnly, Stopping, Streaming, drain_refused, is_control, serve, signals,
};

pub use upkeep::Upkeep;

/// An error of any kind, as bodies give it.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;
