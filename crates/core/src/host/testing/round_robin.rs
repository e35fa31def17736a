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
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let passed_on: Arc<[_]> = instances.iter().map(|_| AtomicUsize::new(0)).collect();
        let stopping = Arc::new(AtomicBool::new(false));
        let (counts, stop) = (Arc::clone(&passed_on), Arc::clone(&stopping));
        let accepts = std::thread::spawn(move || {
            let turns = instances.iter().zip(counts.iter()).cycle();
            for (client, (instance, count)) in listener.incoming().zip(turns) {
                if stop.load(Ordering::Relaxed) {
                    break;
                }
                count.fetch_add(1, Ordering::Relaxed);
                let port = instance.port;
                // What fails, fails at the client, whose connection ends.
                std::thread::spawn(move || client.and_then(|client| pass_on(client, port)));
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

/// Passes the one request of a connection on, and its answer back.
fn pass_on(mut client: TcpStream, port: u16) -> Result<()> {
    let (head, body) = head(&mut client)?;
    let mut instance = TcpStream::connect(("127.0.0.1", port))?;
    instance.write_all(&closing(&head))?;
    instance.write_all(&body)?;
    let (mut from, mut to) = (client.try_clone()?, instance.try_clone()?);
    let up = std::thread::spawn(move || {
        let mut sent = std::io::copy(&mut from, &mut to);
        // What a client still sends is read, or the answer would be lost to it.
        while sent.is_err() {
            sent = std::io::copy(&mut from, &mut std::io::sink());
        }
    });
    let answered = std::io::copy(&mut instance, &mut client);
    client.shutdown(Shutdown::Write)?;
    // The client has seen the end of its connection, and ends it too.
    let _ = up.join();
    answered.map(drop)
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

/// A head that says that its connection ends with the answer.
fn closing(head: &[u8]) -> Vec<u8> {
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
    }
}
