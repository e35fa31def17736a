//! The way from an accepted connection to a request at its service, and of the answer back.

mod accept;
mod answer_pace;
mod body;
mod exchange;
mod mount;
pub(super) mod panic;
mod piece_body;
mod place;
mod refusal;
mod request_id;
mod service;
mod shutdown;
pub(super) mod state;

pub use accept::{Report, serve};
pub use body::{Body, BodyError, FramePoll, ReplyBody, drain_refused};
pub use exchange::is_control;
pub use piece_body::{PieceBody, Pieces};
pub(super) use place::served_with;
pub use refusal::{Refusal, RequestHead};
pub use request_id::RequestId;
pub use service::{
    Answering, ControlAnswer, Hosted, HostedService, Operation, Peer, RequestContext, SenderOnly,
    Streaming,
};
pub use shutdown::{Stopping, signals};
pub use state::{Config, Limits};
