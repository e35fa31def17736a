//! The service over sockets: calls that read beside a bare echo, profiles that are reset, events to a thousand listeners.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Barrier};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, anyhow, ensure};
use futures_util::{SinkExt, StreamExt};
use http_body_util::Full;
use hyper::body::{Bytes, Incoming};
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_tungstenite::tungstenite::Message;
use hyper_util::rt::TokioIo;
use tabs_api::http::TabsApi;
use tabs_api::seed::Seed;
use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

use super::super::report::Row;
use super::{PROFILES_MIN, row};

const SPAN: Duration = Duration::from_secs(3);
const CONNECTIONS: usize = 16;
const LISTENERS: usize = 1_000;
/// Events that each listener is to hear.
const EVENTS: usize = 500;
const SEED: &str = r#"{
    "extensions": [{"token": "bench", "manifest": {"name": "Bench", "permissions": ["tabs"]}}],
    "windows": [{"tabs": [{"url": "https://a.test/"}, {"url": "https://b.test/"}]}]
}"#;
const CONTROL: &str = "bench-control";

/// Calls, resets and events over sockets.
///
/// # Errors
/// If a socket fails or a call is refused.
pub(super) fn measure() -> Result<Vec<Row>> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let (ours, echo) = runtime.block_on(async { anyhow::Ok((serve().await?, echoes().await?)) })?;
    let tab = first_tab(ours)?;
    let call = format!(r#"{{"id":1,"method":"tabs.get","params":[{tab}]}}"#);
    // Turn about, so that both meet the same machine.
    let (mut own, mut bare) = (0.0, 0.0);
    for _ in 0..2 {
        bare += calls(echo, "/", &call)? / 2.0;
        own += calls(ours, "/v1/ws?token=bench", &call)? / 2.0;
    }
    let limit = ("bare echo of the call on hyper", bare);
    let mut rows = vec![row("tabs.get over 16 WebSockets", own, "calls/s", limit, Some(0.5))];
    rows.push(resets(ours).context("profiles are reset")?);
    rows.extend(fan_out(ours, tab).context("events go to listeners")?);
    runtime.shutdown_background();
    Ok(rows)
}

/// The service under the same loop as the echo.
async fn serve() -> Result<SocketAddr> {
    let api = TabsApi::builder().seed(Seed::parse(SEED)?).control_token(CONTROL).build()?;
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            let connection = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), api.clone());
            tokio::spawn(connection.with_upgrades());
        }
    });
    Ok(address)
}

/// A server that sends back what it gets.
async fn echoes() -> Result<SocketAddr> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let address = listener.local_addr()?;
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let _ = stream.set_nodelay(true);
            let connection = hyper::server::conn::http1::Builder::new()
                .serve_connection(TokioIo::new(stream), service_fn(upgrade));
            tokio::spawn(connection.with_upgrades());
        }
    });
    Ok(address)
}

async fn upgrade(mut request: Request<Incoming>) -> Result<Response<Full<Bytes>>> {
    let (response, socket) = hyper_tungstenite::upgrade(&mut request, None)?;
    tokio::spawn(async move {
        let Ok(mut socket) = socket.await else { return };
        while let Some(Ok(message @ Message::Text(_))) = socket.next().await {
            if socket.send(message).await.is_err() {
                return;
            }
        }
    });
    Ok(response)
}

/// A client that does as little as a client can, so that the server is what is measured.
struct Client {
    stream: TcpStream,
    buffer: Vec<u8>,
    /// The number of bytes that were read and not yet taken.
    filled: usize,
}

impl Client {
    fn open(address: SocketAddr, path: &str) -> Result<Self> {
        let mut stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        write!(
            stream,
            "GET {path} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n"
        )?;
        let mut client = Self { stream, buffer: vec![0; 64 * 1_024], filled: 0 };
        let end = loop {
            client.fill()?;
            let read = client.buffer.get(..client.filled).unwrap_or_default();
            if let Some(at) = read.windows(4).position(|four| four == b"\r\n\r\n") {
                ensure!(read.starts_with(b"HTTP/1.1 101"), "the server refused");
                break at + 4;
            }
        };
        client.take(end);
        Ok(client)
    }

    fn fill(&mut self) -> Result<()> {
        let room = self.buffer.get_mut(self.filled..).unwrap_or_default();
        let read = self.stream.read(room)?;
        ensure!(read > 0, "the server closed the connection");
        self.filled += read;
        Ok(())
    }

    fn take(&mut self, count: usize) {
        self.buffer.copy_within(count..self.filled, 0);
        self.filled -= count;
    }

    /// Reads the next message, looks at it and forgets it.
    fn receive<T>(&mut self, look: impl FnOnce(&[u8]) -> T) -> Result<T> {
        loop {
            let there = self.buffer.get(..self.filled).and_then(whole);
            if let Some((head, end)) = there {
                let seen = look(self.buffer.get(head..end).unwrap_or_default());
                self.take(end);
                return Ok(seen);
            }
            self.fill()?;
        }
    }
}

/// A text as a client's frame. Its mask is zero, which is a mask like any other.
fn frame(text: &str) -> Result<Vec<u8>> {
    let length = u8::try_from(text.len()).context("a short call")?;
    ensure!(length < 126, "a short call");
    let mut frame = vec![0x81, 0x80 | length, 0, 0, 0, 0];
    frame.extend_from_slice(text.as_bytes());
    Ok(frame)
}

/// Answers a second over some connections, one call at a time on each.
fn calls(address: SocketAddr, path: &str, call: &str) -> Result<f64> {
    let (count, stop) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
    let greets = path != "/";
    let frame = frame(call)?;
    let clients: Vec<_> = (0..CONNECTIONS)
        .map(|_| {
            let (count, stop, frame) = (Arc::clone(&count), Arc::clone(&stop), frame.clone());
            let path = path.to_owned();
            std::thread::spawn(move || -> Result<()> {
                let mut client = Client::open(address, &path)?;
                if greets {
                    client.receive(|_| ())?;
                }
                while !stop.load(Ordering::Relaxed) {
                    client.stream.write_all(&frame)?;
                    client.receive(|_| ())?;
                    count.fetch_add(1, Ordering::Relaxed);
                }
                Ok(())
            })
        })
        .collect();
    std::thread::sleep(SPAN / 6);
    let (begun, before) = (Instant::now(), count.load(Ordering::Relaxed));
    std::thread::sleep(SPAN);
    let answered = count.load(Ordering::Relaxed) - before;
    let took = begun.elapsed();
    stop.store(true, Ordering::Relaxed);
    for client in clients {
        client.join().map_err(|_| anyhow!("a client panicked"))??;
    }
    #[expect(clippy::cast_precision_loss, reason = "a rate has no 53 bits")]
    let rate = answered as f64 / took.as_secs_f64();
    Ok(rate)
}

/// The id of the first tab, asked for as a client would.
fn first_tab(address: SocketAddr) -> Result<i64> {
    let mut client = Client::open(address, "/v1/ws?token=bench")?;
    client.receive(|_| ())?;
    let call = r#"{"id":1,"method":"tabs.query","params":[{"index":0}]}"#;
    client.stream.write_all(&frame(call)?)?;
    let answer: serde_json::Value = client.receive(|text| serde_json::from_slice(text))??;
    let id = answer.pointer("/result/0/id");
    id.and_then(serde_json::Value::as_i64).with_context(|| format!("the seed has tabs: {answer}"))
}

/// One profile, reset again and again over one connection.
fn resets(address: SocketAddr) -> Result<Row> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_nodelay(true)?;
    let mut ask = |path: &str, body: &str| -> Result<()> {
        write!(
            stream,
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {CONTROL}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        )?;
        let mut buffer = [0; 4_096];
        let read = stream.read(&mut buffer)?;
        let answer = String::from_utf8_lossy(buffer.get(..read).unwrap_or_default());
        ensure!(answer.starts_with("HTTP/1.1 20"), "refused: {answer}");
        Ok(())
    };
    ask("/v1/control/profiles", r#"{"name": "bench"}"#)?;
    let (begun, mut count) = (Instant::now(), 0_u32);
    while begun.elapsed() < SPAN {
        ask("/v1/control/profiles/bench/reset", "")?;
        count += 1;
    }
    let rate = f64::from(count) / begun.elapsed().as_secs_f64();
    let limit = ("one a millisecond", PROFILES_MIN);
    Ok(row("profiles reset over HTTP", rate, "resets/s", limit, Some(1.0)))
}

/// Events to a thousand listeners, and what the one who causes them feels of it.
fn fan_out(address: SocketAddr, tab: i64) -> Result<Vec<Row>> {
    let flips = [true, false].map(|value| {
        frame(&format!(
            r#"{{"id":1,"method":"tabs.update","params":[{tab},{{"autoDiscardable":{value}}}]}}"#
        ))
    });
    let [on, off] = flips;
    let flips = [off?, on?];
    let alone = cause(address, &flips)?;
    let ready = Arc::new(Barrier::new(3));
    let threads: Vec<_> = (0..2)
        .map(|_| {
            let ready = Arc::clone(&ready);
            std::thread::spawn(move || listen(address, LISTENERS / 2, &ready))
        })
        .collect();
    ready.wait();
    let begun = Instant::now();
    let beside = cause(address, &flips)?;
    for thread in threads {
        thread.join().map_err(|_| anyhow!("a listener panicked"))??;
    }
    #[expect(clippy::cast_precision_loss, reason = "it is a million")]
    let delivered = (LISTENERS * EVENTS) as f64 / begun.elapsed().as_secs_f64();
    Ok(vec![
        Row {
            what: "events to 1,000 listeners".into(),
            value: delivered,
            unit: "events/s",
            limit: None,
            expected: None,
        },
        row(
            "calls that cause them, one at a time",
            beside,
            "calls/s",
            ("the same without listeners", alone),
            None,
        ),
    ])
}

/// Causes events, one call after the other; how many a second.
fn cause(address: SocketAddr, flips: &[Vec<u8>; 2]) -> Result<f64> {
    let mut client = Client::open(address, "/v1/ws?token=bench")?;
    client.receive(|_| ())?;
    let begun = Instant::now();
    for turn in 0..EVENTS {
        let flip = flips.get(turn % 2).context("one of two")?;
        client.stream.write_all(flip)?;
        while client.receive(|text| text.starts_with(br#"{"type":"event""#))? {}
    }
    #[expect(clippy::cast_precision_loss, reason = "it is small")]
    let rate = EVENTS as f64 / begun.elapsed().as_secs_f64();
    Ok(rate)
}

/// Listens on many connections at once until each has heard everything.
///
/// All are read as they come: a socket that is left full falls into the kernel's own long pauses.
fn listen(address: SocketAddr, count: usize, ready: &Barrier) -> Result<()> {
    let open = || -> Result<TcpStream> {
        let mut client = Client::open(address, "/v1/ws?token=bench")?;
        client.receive(|_| ())?;
        client.stream.set_nonblocking(true)?;
        Ok(client.stream)
    };
    let streams = (0..count).map(|_| open()).collect::<Result<Vec<_>>>()?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut tasks = tokio::task::JoinSet::new();
        for stream in streams {
            let stream = tokio::net::TcpStream::from_std(stream)?;
            tasks.spawn(hear(stream));
        }
        ready.wait();
        while let Some(heard) = tasks.join_next().await {
            heard??;
        }
        Ok(())
    })
}

/// Counts frames until there were enough of them.
async fn hear(mut stream: tokio::net::TcpStream) -> Result<()> {
    let (mut buffer, mut filled, mut heard) = (vec![0; 16 * 1_024], 0, 0);
    while heard < EVENTS {
        let room = buffer.get_mut(filled..).unwrap_or_default();
        let read = stream.read(room).await?;
        ensure!(read > 0, "the server closed after {heard} events");
        filled += read;
        let mut at = 0;
        while let Some((_, end)) = buffer.get(at..filled).and_then(whole) {
            at += end;
            heard += 1;
        }
        buffer.copy_within(at..filled, 0);
        filled -= at;
    }
    Ok(())
}

/// The places where the text of the first frame begins and ends, once it is there in full.
fn whole(read: &[u8]) -> Option<(usize, usize)> {
    let (head, length) = match read.get(1)? & 0x7f {
        126 => (4, usize::from(u16::from_be_bytes([*read.get(2)?, *read.get(3)?]))),
        127 => return None,
        short => (2, usize::from(short)),
    };
    (read.len() >= head + length).then_some((head, head + length))
}
