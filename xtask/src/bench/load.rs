//! Requests over connections that are kept: how many a server answers in a second, and one answer at a time.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, ensure};
use hyper::header::{HeaderMap, HeaderName};

/// The time that each rate is measured.
pub(super) const SPAN: Duration = Duration::from_secs(3);
/// The connections of a load.
pub(super) const CONNECTIONS: usize = 16;

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

    /// The body of the answer to a POST of `sent`, into `body`. `fields` are lines of the head.
    ///
    /// # Errors
    /// As [`Connection::get`].
    pub(super) fn post(
        &mut self,
        target: &str,
        fields: &str,
        sent: &[u8],
        body: &mut Vec<u8>,
    ) -> Result<()> {
        let head = format!(
            "POST {target} HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n{fields}\r\n",
            self.address,
            sent.len()
        );
        self.exchange(&[head.as_bytes(), sent].concat(), target, body, |_, _| {})
    }

    fn answer(
        &mut self,
        target: &str,
        body: &mut Vec<u8>,
        field: impl FnMut(&str, &str),
    ) -> Result<()> {
        let request = format!("GET {target} HTTP/1.1\r\nHost: {}\r\n\r\n", self.address);
        self.exchange(request.as_bytes(), target, body, field)
    }

    fn exchange(
        &mut self,
        request: &[u8],
        target: &str,
        body: &mut Vec<u8>,
        mut field: impl FnMut(&str, &str),
    ) -> Result<()> {
        self.stream.get_mut().write_all(request)?;
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
    let clients = (0..CONNECTIONS).map(|client| {
        // Each begins elsewhere, so that what is to be asked once is.
        let begin = client * targets.len() / CONNECTIONS;
        let (targets, mut at) = (targets.clone(), begin);
        move |connection: &mut Connection, body: &mut Vec<u8>| {
            let target = targets.get(at % targets.len().max(1)).context("there is a target")?;
            at += 1;
            connection.get(target, body)
        }
    });
    rate_of(address, clients)
}

/// Exchanges a second that all `clients` make together, each over and over on a connection of its own.
///
/// # Errors
/// Those of a client.
pub(super) fn rate_of<C>(address: SocketAddr, clients: impl Iterator<Item = C>) -> Result<f64>
where
    C: FnMut(&mut Connection, &mut Vec<u8>) -> Result<()> + Send + 'static,
{
    let (count, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let clients: Vec<_> = clients
        .map(|mut exchange| {
            let (count, stop) = (count.clone(), stop.clone());
            std::thread::spawn(move || {
                let (mut connection, mut body) = (Connection::to(address)?, Vec::new());
                while !stop.load(Ordering::Relaxed) {
                    exchange(&mut connection, &mut body)?;
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

/// The time within which 99 of 100 answers to `targets` come, one request after the other for a while.
///
/// # Errors
/// If an answer is not 200.
pub(super) fn percentile_99(
    address: SocketAddr,
    targets: &[String],
    span: Duration,
) -> Result<Duration> {
    let (mut connection, mut body) = (Connection::to(address)?, Vec::new());
    let (begun, mut took) = (Instant::now(), Vec::new());
    for target in targets.iter().cycle().take_while(|_| begun.elapsed() < span) {
        let asked = Instant::now();
        connection.get(target, &mut body)?;
        took.push(asked.elapsed());
        // A client that asks without a pause would be all the work that there is.
        std::thread::sleep(Duration::from_millis(1));
    }
    took.sort_unstable();
    let found = took.get(took.len() * 99 / 100).copied();
    found.context("something was asked")
}
