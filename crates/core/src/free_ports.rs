//! Ports of loopback for the servers of tests that are told theirs before they listen, and come back at the same one.

use std::hash::{BuildHasher, RandomState};
use std::net::{Ipv4Addr, TcpListener};
use std::ops::Range;

/// The least port that is drawn; services of the system listen below.
const FIRST: u16 = 10_000;
/// The first port that Linux gives to connections where nobody says otherwise.
const OF_CONNECTIONS: u16 = 32_768;
/// Ports that are tried for each that is wanted.
const ATTEMPTS_MAX: usize = 1_000;

/// Ports at which nobody listens, all different. They are none that the system gives to connections, of which a test has thousands: one of
/// those would take the port of a server that is not started yet, or that was killed and comes back.
///
/// # Errors
/// If there are not so many.
pub fn free_ports(count: usize) -> std::io::Result<Vec<u16>> {
    let random = RandomState::new();
    let range = drawn_from(local_range());
    let width = u64::from(range.end - range.start).max(1);
    // Held together, so that they differ.
    let mut held = Vec::new();
    for attempt in 0..count * ATTEMPTS_MAX {
        if held.len() == count {
            break;
        }
        let port = u16::try_from(random.hash_one(attempt) % width).unwrap_or_default();
        held.extend(TcpListener::bind((Ipv4Addr::LOCALHOST, range.start + port)));
    }
    while held.len() < count {
        held.push(TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?);
    }
    held.iter().map(|listener| Ok(listener.local_addr()?.port())).collect()
}

/// A port as [`free_ports`] gives several.
///
/// # Errors
/// If there is none.
pub fn free_port() -> std::io::Result<u16> {
    let mut ports = free_ports(1)?;
    ports.pop().ok_or_else(|| std::io::Error::other("no port is free"))
}

/// The first port that the system gives to connections.
fn local_range() -> u16 {
    let told = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range");
    let first = told.ok().and_then(|told| told.split_whitespace().next()?.parse().ok());
    first.unwrap_or(OF_CONNECTIONS)
}

/// The ports to draw from where connections have those from `first` on; where they have nearly all, they have these too.
fn drawn_from(first: u16) -> Range<u16> {
    let end = if first > FIRST { first } else { OF_CONNECTIONS };
    FIRST..end
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_differ_are_free_and_are_none_that_connections_are_given() {
        let mut ports = free_ports(32).unwrap();
        let range = drawn_from(local_range());
        assert!(ports.iter().all(|port| range.contains(port)), "{ports:?} of {range:?}");
        ports.sort_unstable();
        ports.dedup();
        assert_eq!(ports.len(), 32);
    }

    #[test]
    fn where_connections_have_nearly_all_ports_servers_share_them() {
        assert_eq!(drawn_from(1_024), FIRST..OF_CONNECTIONS);
        assert_eq!(drawn_from(20_000), FIRST..20_000);
    }
}
