//! The load: prepared requests over kept connections, one blocking thread each, so that little of the machine goes to the client.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, bail, ensure};
use hmac::{Hmac, KeyInit, Mac};
use hyper::body::Bytes;
use hyper::header::{HeaderMap, HeaderName, HeaderValue};
use sha2::{Digest, Sha256};

/// The bucket that everything goes to.
pub(super) const BUCKET: &str = "bench";
pub(super) const ACCESS_KEY: &str = "BENCHACCESSKEY";
pub(super) const SECRET_KEY: &str = "bench-secret-for-this-run-alone";
const REGION: &str = "us-east-1";
/// The longest head of an answer.
const HEAD_BYTES_MAX: usize = 64 * 1024;
/// The time that a server may be silent.
const PATIENCE: Duration = Duration::from_secs(120);

/// Signs requests (SigV4 with an unsigned payload); the key of the day is derived once.
#[derive(Clone)]
pub(super) struct Signer {
    key: Vec<u8>,
    stamp: String,
    scope: String,
}

impl Signer {
    /// A signer for the next fifteen minutes.
    pub(super) fn now() -> Result<Self> {
        let stamp = crate::run::workspace::output(
            std::process::Command::new("date").args(["-u", "+%Y%m%dT%H%M%SZ"]),
        )?;
        let stamp = stamp.trim().to_owned();
        let date = stamp.get(..8).context("a date has eight digits")?;
        let start = format!("AWS4{SECRET_KEY}").into_bytes();
        let key = [date, REGION, "s3", "aws4_request"]
            .iter()
            .try_fold(start, |key, text| mac(&key, text))?;
        let scope = format!("{date}/{REGION}/s3/aws4_request");
        Ok(Self { key, stamp, scope })
    }

    /// The head of a request with a body of `length` bytes.
    pub(super) fn head(
        &self,
        method: &str,
        address: SocketAddr,
        path: &str,
        length: usize,
    ) -> Result<String> {
        let Self { key, stamp, scope } = self;
        let fields =
            format!("host:{address}\nx-amz-content-sha256:UNSIGNED-PAYLOAD\nx-amz-date:{stamp}\n");
        let names = "host;x-amz-content-sha256;x-amz-date";
        let canonical = format!("{method}\n{path}\n\n{fields}\n{names}\nUNSIGNED-PAYLOAD");
        let digest = hex(&Sha256::digest(canonical));
        let to_sign = format!("AWS4-HMAC-SHA256\n{stamp}\n{scope}\n{digest}");
        let signature = hex(&mac(key, &to_sign)?);
        let length =
            if method == "PUT" { format!("Content-Length: {length}\r\n") } else { String::new() };
        Ok(format!(
            "{method} {path} HTTP/1.1\r\nHost: {address}\r\nx-amz-content-sha256: UNSIGNED-PAYLOAD\r\nx-amz-date: {stamp}\r\n\
             Authorization: AWS4-HMAC-SHA256 Credential={ACCESS_KEY}/{scope}, SignedHeaders={names}, Signature={signature}\r\n{length}\r\n"
        ))
    }
}

fn mac(key: &[u8], text: &str) -> Result<Vec<u8>> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key)?;
    mac.update(text.as_bytes());
    Ok(mac.finalize().into_bytes().to_vec())
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A server, and how it is asked.
#[derive(Clone)]
pub(super) struct Target {
    pub address: SocketAddr,
    pub signer: Signer,
}

/// One kind of request.
#[derive(Clone)]
pub(super) enum Work {
    /// A body to keys of which each is new, named after `prefix`.
    Put { prefix: String, body: Bytes },
    /// Bodies of `size` bytes: those that `writers` connections put with `keys` requests each under this prefix.
    Get { prefix: String, writers: usize, keys: u64, size: usize },
}

impl Target {
    /// Makes the bucket.
    pub(super) fn make_bucket(&self) -> Result<()> {
        let head = self.signer.head("PUT", self.address, &format!("/{BUCKET}"), 0)?;
        let mut connection = Connection::open(self.address)?;
        connection.exchange(&head, &[])?;
        Ok(())
    }

    /// The head of the answer to a GET.
    ///
    /// # Errors
    /// If it is refused.
    pub(super) fn head_of(&self, path: &str) -> Result<HeaderMap> {
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
    pub(super) fn rate(&self, work: &Work, connections: usize, span: Duration) -> Result<f64> {
        let stop = AtomicBool::new(false);
        self.run(work, connections, &|_, _| !stop.load(Ordering::Relaxed), || {
            std::thread::sleep(span);
            stop.store(true, Ordering::Relaxed);
        })
    }

    /// Requests a second where each connection sends `count` of them.
    pub(super) fn rate_of(&self, work: &Work, connections: usize, count: u64) -> Result<f64> {
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
        }
        Ok(())
    }
}

/// One connection; opened anew where the server closes it.
struct Connection {
    address: SocketAddr,
    stream: TcpStream,
    buffer: Vec<u8>,
    /// The head of the last answer, in lower case.
    answer: String,
}

impl Connection {
    fn open(address: SocketAddr) -> Result<Self> {
        Ok(Self {
            address,
            stream: connect(address)?,
            buffer: vec![0; 256 * 1024],
            answer: String::new(),
        })
    }

    /// Sends a request and reads its whole answer: how many bytes the body has.
    fn exchange(&mut self, head: &str, body: &[u8]) -> Result<usize> {
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
        let length: usize = length.trim().parse()?;
        let closes = answer.contains("connection: close");
        let mut body_read = read - head_bytes;
        if !answer.starts_with("http/1.1 200") {
            let shown = self.buffer.get(..read).unwrap_or_default();
            bail!("refused: {}", String::from_utf8_lossy(shown));
        }
        while body_read < length {
            body_read += self.read_into(0)?;
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
