//! Failures of requests, as the engine tells them apart.

use etcd_client::Error;

/// The start of what a server says by itself, and nobody on the way.
const SERVER_SAYS: &str = "etcdserver: ";
/// The refusal of a key whose lease is over.
const NO_LEASE: &str = "etcdserver: requested lease not found";
/// Codes of gRPC with which a server refuses before it does anything: an invalid argument, a thing not found, no permission, an exhausted
/// resource, a failed precondition, a place out of range.
const REFUSALS: [i32; 6] = [3, 5, 7, 8, 9, 11];

/// Reasons for which a request was not answered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Failure {
    /// The answer was lost: whether the request was done is not known.
    Lost(String),
    /// The lease that its keys were to have is over; nothing was done.
    NoLease(String),
    /// The server refused it, and nothing was done.
    Refused(String),
}

impl Failure {
    /// The failure that an error of the client means.
    pub(super) fn of(error: &Error) -> Self {
        let Error::GRpcStatus(status) = error else {
            return Self::Lost(error.to_string());
        };
        let said = status.message().to_owned();
        let is_refusal = REFUSALS.contains(&i32::from(status.code()));
        if !is_refusal || !said.starts_with(SERVER_SAYS) {
            return Self::Lost(said);
        }
        if said == NO_LEASE { Self::NoLease(said) } else { Self::Refused(said) }
    }

    /// The reason in words.
    pub(super) fn into_reason(self) -> String {
        let (Self::Lost(reason) | Self::NoLease(reason) | Self::Refused(reason)) = self;
        reason
    }
}
