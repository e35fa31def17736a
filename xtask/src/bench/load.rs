//! Requests over connections that are kept: how many a server answers in a second, and one answer at a time.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use hyper::header::{HeaderMap, HeaderName};

/// How long each rate is measured.
const SPAN: Duration = Duration::from_secs(3);
const CONNECTIONS: usize = 16;

/// One connection that is kept.
#[derive(Debug)]
pub(super) struct Connection {
    stream: BufReader<TcpStream>,
    address: SocketAddr,
}

impl Connection {
    /// Connects.
    ///
    /// # Errors
    /// If nobody listens.
    pub(super) fn to(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        Ok(Self { stream: BufReader::with_capacity(64 * 1024, stream), address })
    }

    /// The body of the answer to a GET of `target`, into `body`.
    ///
    /// # Errors
    /// If the answer is not 200, or has no length.
    pub(super) fn get(&mut self, target: &str, body: &mut Vec<u8>) -> Result<()> {
        self.answer(target, body, |_, _| {})
    }

    /// The same, and the fields of the head.
    ///
    /// # Errors
    /// As [`Connection::get`].
    pub(super) fn get_with_head(&mut self, target: &str, body: &mut Vec<u8>) -> Result<HeaderMap> {
        let mut head = HeaderMap::new();
        self.answer(target, body, |name, value| {
            let pair = (name.parse::<HeaderName>(), value.trim().parse());
            if let (Ok(name), Ok(value)) = pair {
                head.append(name, value);
            }
        })?;
        Ok(head)
    }

    fn answer(
        &mut self,
        target: &str,
        body: &mut Vec<u8>,
        mut field: impl FnMut(&str, &str),
    ) -> Result<()> {
        let request = format!("GET {target} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address);
        self.stream.get_mut().write_all(request.as_bytes())?;
        let (mut line, mut bytes) = (String::new(), None);
        self.stream.read_line(&mut line)?;
        ensure!(line.starts_with("HTTP/1.1 200"), "{target}: {line}");
        loop {
            line.clear();
            self.stream.read_line(&mut line)?;
            let Some((name, value)) = line.trim_end().split_once(':') else {
                break;
            };
            field(name, value);
            if name.eq_ignore_ascii_case("content-length") {
                bytes = Some(value.trim().parse()?);
            }
        }
        body.resize(bytes.context("the answer has a length")?, 0);
        Ok(self.stream.read_exact(body)?)
    }

    /// The same, as JSON.
    ///
    /// # Errors
    /// As [`Connection::get`], or if it is none.
    pub(super) fn json(&mut self, target: &str) -> Result<serde_json::Value> {
        let mut body = Vec::new();
        self.get(target, &mut body)?;
        Ok(serde_json::from_slice(&body)?)
    }
}

/// Answers a second to `targets`, over and over, on a few connections at once.
///
/// # Errors
/// If an answer is not 200.
pub(super) fn rate(address: SocketAddr, targets: &[String]) -> Result<f64> {
    let targets: Arc<[String]> = targets.into();
    let (count, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let clients: Vec<_> = (0..CONNECTIONS)
        .map(|client| {
            let (count, stop, targets) = (count.clone(), stop.clone(), targets.clone());
            std::thread::spawn(move || {
                let (mut connection, mut body) = (Connection::to(address)?, Vec::new());
                // Each begins elsewhere, so that what is to be asked once is.
                let begin = client * targets.len() / CONNECTIONS;
                let asked = targets.iter().cycle().skip(begin);
                for target in asked.take_while(|_| !stop.load(Ordering::Relaxed)) {
                    connection.get(target, &mut body)?;
                    count.fetch_add(1, Ordering::Relaxed);
                }
                anyhow::Ok(())
            })
        })
        .collect();
    // The first moments are not counted: connections open and caches fill.
    std::thread::sleep(SPAN / 3);
    let (begun, before) = (Instant::now(), count.load(Ordering::Relaxed));
    std::thread::sleep(SPAN);
    let (answered, took) = (count.load(Ordering::Relaxed) - before, begun.elapsed());
    stop.store(true, Ordering::Relaxed);
    for client in clients {
        let ended = client.join();
        ended.map_err(|_| anyhow::anyhow!("a client panicked"))??;
    }
    #[expect(clippy::cast_precision_loss, reason = "a rate has no 53 bits")]
    let rate = answered as f64 / took.as_secs_f64();
    Ok(rate)
}
