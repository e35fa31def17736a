//! The way and the time in which a request came, as policies see them.

use std::net::IpAddr;

use triptych_core::time::Timestamp;

/// The way and the time in which a request came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Arrival {
    /// True if it came over TLS.
    pub secure: bool,
    /// The other end of its connection; `None` where the service runs without its host.
    pub address: Option<IpAddr>,
    /// The time at which it came.
    pub now: Timestamp,
}
