//! The load: prepared requests over kept connections, one blocking thread each, so that little of the machine goes to the client.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use hyper::body::Bytes;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};

use super::sign::{Draft, Signer};

/// The bucket that everything goes to.
pub(in crate::bench) const BUCKET: &str = "bench";
/// The longest head of an answer.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// The time that a server may be silent.
const PATIENCE: Duration = Duration::from_secs(120);

/// A server, and how it is asked.
#[derive(Clone)]
pub(in crate::bench) struct Target {
    pub address: SocketAddr,
    pub signer: Signer,
}

/// One kind of request.
#[derive(Clone)]
pub(in crate::bench) enum Work {
    /// A body to keys of which each is new, named after `prefix`.
    Put { prefix: String, body: Bytes },
    /// Bodies of `size` bytes: those that `writers` connections put with `keys` requests each under this prefix.
    Get { prefix: String, writers: usize, keys: u64, size: usize },
    /// Requests that were signed before, over and over, each with this body; their answers have `size` bytes.
    Signed { heads: Arc<[String]>, body: Bytes, size: usize },
}

impl Target {
    /// The head of a request; `draft` says all but the host.
    ///
    /// # Errors
    /// If it cannot be signed.
    pub(in crate::bench) fn head(&self, draft: &Draft<'_>) -> Result<String> {
        let host = self.address.to_string();
        self.signer.sign(&Draft { host: &host, ..*draft })
    }

    /// Makes the bucket.
    pub(in crate::bench) fn make_bucket(&self) -> Result<()> {
        let head = self.signer.head("PUT", self.address, &format!("/{BUCKET}"), 0)?;
        let mut connection = Connection::open(self.address)?;
        connection.exchange(&head, &[])?;
        Ok(())
    }

    /// The head of the answer to a GET.
    ///
    /// # Errors
    /// If it is refused.
    pub(in crate::bench) fn head_of(&self, path: &str) -> Result<HeaderMap> {
        let head = self.signer.head("GET", self.address, path, 0)?;
        let mut connection = Connection::open(self.address)?;
        connection.exchange(&head, &[])?;
        let lines = connection.answer.lines().skip(1);
        lines
            .filter_map(|line| line.split_once(": "))
            .map(|(name, value)| Ok((name.parse()?, value.parse()?)))
            .collect::<Result<Vec<(HeaderName, HeaderValue)>>>()
            .map(HeaderMap::from_iter)
    }

    /// Requests a second over `connections`, while `span` lasts and until all that have begun are answered.
    pub(in crate::bench) fn rate(
        &self,
        work: &Work,
        connections: usize,
        span: Duration,
    ) -> Result<f64> {
        let stop = AtomicBool::new(false);
        self.run(work, connections, &|_, _| !stop.load(Ordering::Relaxed), || {
            std::thread::sleep(span);
            stop.store(true, Ordering::Relaxed);
        })
    }

    /// Requests a second where each connection sends `count` of them.
    pub(in crate::bench) fn rate_of(
        &self,
        work: &Work,
        connections: usize,
        count: u64,
    ) -> Result<f64> {
        self.run(work, connections, &|_, number| number < count, || {})
    }

    fn run(
        &self,
        work: &Work,
        connections: usize,
        goes_on: &(dyn Fn(usize, u64) -> bool + Sync),
        meanwhile: impl FnOnce(),
    ) -> Result<f64> {
        let answered = AtomicU64::new(0);
        let begun = Instant::now();
        std::thread::scope(|scope| {
            let clients: Vec<_> = (0..connections)
                .map(|client| {
                    let answered = &answered;
                    scope.spawn(move || {
                        let mut connection = Connection::open(self.address)?;
                        let mut number = 0;
                        while goes_on(client, number) {
                            self.ask(&mut connection, work, client, number)?;
                            answered.fetch_add(1, Ordering::Relaxed);
                            number += 1;
                        }
                        Ok::<_, anyhow::Error>(())
                    })
                })
                .collect();
            meanwhile();
            for client in clients {
                client.join().map_err(|_| anyhow!("a client panicked"))??;
            }
            Ok::<_, anyhow::Error>(())
        })?;
        #[expect(clippy::cast_precision_loss, reason = "a rate has no 53 bits")]
        let rate = answered.load(Ordering::Relaxed) as f64 / begun.elapsed().as_secs_f64();
        Ok(rate)
    }

    fn ask(
        &self,
        connection: &mut Connection,
        work: &Work,
        client: usize,
        number: u64,
    ) -> Result<()> {
        match work {
            Work::Put { prefix, body } => {
                let path = format!("/{BUCKET}/{prefix}/{client}/{number}");
                let head = self.signer.head("PUT", self.address, &path, body.len())?;
                connection.exchange(&head, body)?;
            }
            Work::Get { prefix, writers, keys, size } => {
                let (writer, key) = (client % writers, number % keys);
                let path = format!("/{BUCKET}/{prefix}/{writer}/{key}");
                let head = self.signer.head("GET", self.address, &path, 0)?;
                let bytes = connection.exchange(&head, &[])?;
                ensure!(bytes == *size, "{bytes} bytes were answered, not {size}");
            }
            Work::Signed { heads, body, size } => {
                // Each connection begins elsewhere.
                let at = client as u64 * 7 + number;
                let at = usize::try_from(at)? % heads.len().max(1);
                let head = heads.get(at).context("there is a request")?;
                let bytes = connection.exchange(head, body)?;
                ensure!(bytes == *size, "{bytes} bytes were answered, not {size}");
            }
        }
        Ok(())
    }
}

/// One connection; opened anew where the server closes it.
pub(in crate::bench) struct Connection {
    address: SocketAddr,
    stream: TcpStream,
    buffer: Vec<u8>,
    /// The head of the last answer, in lower case.
    pub answer: String,
    /// The place of its body in the buffer; empty for one that is larger.
    body: std::ops::Range<usize>,
}

impl Connection {
    pub(in crate::bench) fn open(address: SocketAddr) -> Result<Self> {
        Ok(Self {
            address,
            stream: connect(address)?,
            buffer: vec![0; 256 * 1024],
            answer: String::new(),
            body: 0..0,
        })
    }

    /// A field of the head of the last answer.
    pub(in crate::bench) fn field(&self, name: &str) -> Option<&str> {
        self.answer.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    /// The text of an element of the last answer.
    ///
    /// # Errors
    /// If it has none.
    pub(in crate::bench) fn element(&self, name: &str) -> Result<String> {
        let body = self.buffer.get(self.body.clone()).unwrap_or_default();
        let text = String::from_utf8_lossy(body).into_owned();
        let rest = text.split_once(&format!("<{name}>")).map(|(_, rest)| rest);
        let found = rest.and_then(|rest| rest.split_once('<')).map(|(found, _)| found.to_owned());
        found.with_context(|| format!("no {name} in {text}"))
    }

    /// Sends a request and reads its whole answer: how many bytes the body has.
    ///
    /// # Errors
    /// If it is refused.
    pub(in crate::bench) fn exchange(&mut self, head: &str, body: &[u8]) -> Result<usize> {
        let read = self.ask(head, body)?;
        if !self.answer.starts_with("http/1.1 2") {
            let shown = self.buffer.get(self.body.clone()).unwrap_or_default();
            bail!("refused: {}{}", self.answer, String::from_utf8_lossy(shown));
        }
        Ok(read)
    }

    /// The same for a request that may be refused.
    pub(in crate::bench) fn ask(&mut self, head: &str, body: &[u8]) -> Result<usize> {
        if body.len() <= 64 * 1024 {
            // One write, so that a small request is one packet.
            let mut whole = Vec::with_capacity(head.len() + body.len());
            whole.extend_from_slice(head.as_bytes());
            whole.extend_from_slice(body);
            self.stream.write_all(&whole)?;
        } else {
            self.stream.write_all(head.as_bytes())?;
            self.stream.write_all(body)?;
        }
        let mut read = 0;
        let head_bytes = loop {
            let bytes = self.read_into(read)?;
            read += bytes;
            let so_far = self.buffer.get(..read).unwrap_or_default();
            if let Some(at) = so_far.windows(4).position(|four| four == b"\r\n\r\n") {
                break at + 4;
            }
            ensure!(read < HEAD_BYTES_MAX, "the head of an answer has no end");
        };
        let answer = self.buffer.get(..head_bytes).unwrap_or_default();
        self.answer = String::from_utf8_lossy(answer).to_ascii_lowercase();
        let answer = &self.answer;
        let length = answer
            .lines()
            .find_map(|line| line.strip_prefix("content-length:"))
            .context("the answer has a length")?;
        let length: usize = if head.starts_with("HEAD ") { 0 } else { length.trim().parse()? };
        let closes = answer.contains("connection: close");
        let mut body_read = read - head_bytes;
        let fits = head_bytes + length <= self.buffer.len();
        self.body = if fits { head_bytes..head_bytes + length } else { 0..0 };
        while body_read < length {
            body_read += self.read_into(if fits { head_bytes + body_read } else { 0 })?;
        }
        if closes {
            self.stream = connect(self.address)?;
        }
        Ok(body_read)
    }

    fn read_into(&mut self, from: usize) -> Result<usize> {
        let rest = self.buffer.get_mut(from..).unwrap_or_default();
        let bytes = self.stream.read(rest)?;
        ensure!(bytes > 0, "the server closed the connection");
        Ok(bytes)
    }
}

fn connect(address: SocketAddr) -> Result<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(stream)
}
