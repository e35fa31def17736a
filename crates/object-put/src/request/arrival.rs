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

impl Arrival {
    /// Tells whether nobody on the way could read along: it came over TLS or, unless `strict`, from this machine. Who runs the service
    /// without its host answers for the way to it as this machine does for its own.
    #[must_use]
    pub fn is_private(&self, strict: bool) -> bool {
        self.secure || (!strict && self.address.is_none_or(|address| address.is_loopback()))
    }
}
