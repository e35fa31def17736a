//! A proxy that gives each request to the next of some instances, so that a client that knows one address asks all of them in turn.

use std::io::{Error, Read, Result, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::JoinHandle;

use super::Client;

/// The longest head of a request.
const HEAD_BYTES_MAX: usize = 64 * 1024;

/// A running proxy. Each connection carries one request, since the next one belongs to another instance; it ends when this is dropped.
#[derive(Debug)]
pub struct RoundRobin {
    address: SocketAddr,
    passed_on: Arc<[AtomicUsize]>,
    stopping: Arc<AtomicBool>,
    accepts: Option<JoinHandle<()>>,
}

impl RoundRobin {
    /// A proxy in front of some instances, on a free port of loopback.
    ///
    /// # Errors
    /// If no port can be taken.
    pub fn start(instances: Vec<Client>) -> Result<Self> {
        let ports = instances.iter().map(|instance| vec![instance.port]);
        Self::over(ports.collect())
    }

    /// The same, but a request that an instance answers with 421, since what it is about runs elsewhere, is given to the ones after it.
    ///
    /// # Errors
    /// As [`RoundRobin::start`].
    pub fn following(instances: &[Client]) -> Result<Self> {
        let turn = |first: usize| {
            let all = instances.iter().cycle().skip(first).take(instances.len());
            all.map(|instance| instance.port).collect()
        };
        Self::over((0..instances.len()).map(turn).collect())
    }

    /// A proxy that gives a request to the first of the next list of ports.
    fn over(turns: Vec<Vec<u16>>) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let passed_on: Arc<[_]> = turns.iter().map(|_| AtomicUsize::new(0)).collect();
        let stopping = Arc::new(AtomicBool::new(false));
        let (counts, stop) = (Arc::clone(&passed_on), Arc::clone(&stopping));
        let accepts = std::thread::spawn(move || {
            let turns = turns.iter().zip(counts.iter()).cycle();
            for (client, (ports, count)) in listener.incoming().zip(turns) {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                count.fetch_add(1, Ordering::Relaxed);
                let ports = ports.clone();
                // What fails, fails at the client, whose connection ends.
                std::thread::spawn(move || client.and_then(|client| pass_on(client, &ports)));
            }
        });
        Ok(Self { address, passed_on, stopping, accepts: Some(accepts) })
    }

    /// The URL for clients.
    #[must_use]
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// The requests that each instance was given.
    #[must_use]
    pub fn passed_on(&self) -> Vec<usize> {
        self.passed_on.iter().map(|count| count.load(Ordering::Relaxed)).collect()
    }
}

impl Drop for RoundRobin {
    fn drop(&mut self) {
        self.stopping.store(true, Ordering::Relaxed);
        // It waits for a connection, and this is one.
        let _ = TcpStream::connect(self.address);
        if let Some(accepts) = self.accepts.take() {
            let _ = accepts.join();
        }
    }
}

/// Passes the one request of a connection on to the first of these ports, or the first that does not send it elsewhere, and its answer back.
fn pass_on(mut client: TcpStream, ports: &[u16]) -> Result<()> {
    let (head, mut body) = head(&mut client)?;
    let Some((&last, others)) = ports.split_last() else {
        return Err(Error::other("there is no instance"));
    };
    if !others.is_empty() {
        let missing = content_length(&head).saturating_sub(body.len() as u64);
        (&client).take(missing).read_to_end(&mut body)?;
    }
    for &port in others {
        let mut instance = asked(port, &head, &body)?;
        let mut start = [0; MISDIRECTED.len()];
        instance.read_exact(&mut start)?;
        if start != *MISDIRECTED {
            client.write_all(&start)?;
            return carry(client, instance);
        }
    }
    carry(client, asked(last, &head, &body)?)
}

/// The start of an answer that sends a client elsewhere.
const MISDIRECTED: &[u8; 12] = b"HTTP/1.1 421";

/// A connection to an instance that was asked.
fn asked(port: u16, head: &[u8], body: &[u8]) -> Result<TcpStream> {
    let mut instance = TcpStream::connect(("127.0.0.1", port))?;
    instance.write_all(&closing(head))?;
    instance.write_all(body)?;
    Ok(instance)
}

/// Carries what both sides say until the instance ends.
fn carry(mut client: TcpStream, mut instance: TcpStream) -> Result<()> {
    let (mut from, mut to) = (client.try_clone()?, instance.try_clone()?);
    let up = std::thread::spawn(move || {
        let mut sent = std::io::copy(&mut from, &mut to);
        // What a client still sends is read, or the answer would be lost to it.
        while sent.is_err() {
            sent = std::io::copy(&mut from, &mut std::io::sink());
        }
        let _ = to.shutdown(Shutdown::Write);
    });
    let answered = std::io::copy(&mut instance, &mut client);
    client.shutdown(Shutdown::Write)?;
    // The client has seen the end of its connection, and ends it too.
    let _ = up.join();
    answered.map(drop)
}

/// The length that a head says that the body has.
fn content_length(head: &[u8]) -> u64 {
    let head = String::from_utf8_lossy(head).to_ascii_lowercase();
    let told = head.lines().find_map(|line| line.strip_prefix("content-length:"));
    told.and_then(|length| length.trim().parse().ok()).unwrap_or_default()
}

/// The head of a request with its end, and what came of the body with it.
fn head(client: &mut TcpStream) -> Result<(Vec<u8>, Vec<u8>)> {
    let (mut read, mut piece) = (Vec::new(), [0; 4096]);
    while read.len() < HEAD_BYTES_MAX {
        let count = client.read(&mut piece)?;
        if count == 0 {
            break;
        }
        read.extend_from_slice(piece.get(..count).unwrap_or_default());
        if let Some(end) = read.windows(4).position(|bytes| bytes == b"\r\n\r\n") {
            let body = read.split_off(end + 4);
            return Ok((read, body));
        }
    }
    Err(Error::other("a request without a head"))
}

/// A head that says that its connection ends with the answer; one that asks for another protocol stays as it is.
fn closing(head: &[u8]) -> Vec<u8> {
    let is_upgrade =
        |line: &[u8]| line.get(..8).is_some_and(|name| name.eq_ignore_ascii_case(b"upgrade:"));
    if head.split(|byte| *byte == b'\n').any(is_upgrade) {
        return head.to_vec();
    }
    let is_connection =
        |line: &&[u8]| line.get(..11).is_some_and(|name| name.eq_ignore_ascii_case(b"connection:"));
    let mut lines: Vec<&[u8]> =
        head.split_inclusive(|byte| *byte == b'\n').filter(|line| !is_connection(line)).collect();
    lines.insert(1.min(lines.len()), b"Connection: close\r\n");
    lines.concat()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_head_says_that_its_connection_ends_and_is_otherwise_as_it_was() {
        let head = closing(b"PUT /k HTTP/1.1\r\nHost: h\r\nconnection: keep-alive\r\n\r\n");
        assert_eq!(head, b"PUT /k HTTP/1.1\r\nConnection: close\r\nHost: h\r\n\r\n");
        let upgrade = b"GET /e HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n";
        assert_eq!(closing(upgrade), upgrade);
    }

    #[test]
    fn the_length_of_a_body_is_what_its_head_says() {
        assert_eq!(content_length(b"PUT / HTTP/1.1\r\ncontent-Length: 12\r\n\r\n"), 12);
        assert_eq!(content_length(b"GET / HTTP/1.1\r\n\r\n"), 0);
    }
}
