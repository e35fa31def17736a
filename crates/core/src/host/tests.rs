//! The host against real sockets: what a hostile or broken client sends, and how a server ends.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use http::{HeaderValue, Request, Response, StatusCode, header};
use http_body_util::BodyExt;
use hyper::upgrade::OnUpgrade;
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::sync::Notify;

use super::ops::control::KNOWN;
use super::testing::Running;
use super::{
    Body, BodyError, Config, FramePoll, Hosted, Limits, Operation, Page, PageFile, Refusal,
    ReplyBody, RequestHead, SenderOnly,
};
use crate::error::Coded;

/// The longest time that what must come may take on a machine with other work.
const PATIENCE: Duration = Duration::from_secs(60);

/// A service that does what its path says.
#[derive(Clone, Default)]
struct Probe {
    calls: Arc<AtomicUsize>,
    started: Arc<Notify>,
    go: Arc<Notify>,
}

impl Hosted for Probe {
    fn refuse(&self, refusal: &Refusal, _: &RequestHead<'_>) -> Response<ReplyBody> {
        let row = refusal.row();
        let mut response = Response::new(ReplyBody::whole(row.code));
        *response.status_mut() = StatusCode::from_u16(row.status).unwrap();
        response
    }

    async fn reset(&self) -> Result<(), String> {
        self.calls.store(0, Ordering::SeqCst);
        Ok(())
    }

    fn page(&self) -> Option<Page> {
        const FILES: &[PageFile] = &[PageFile { name: "service.js", text: "// none" }];
        Some(Page { name: "probe", version: "1", files: FILES })
    }
}

impl hyper::service::Service<Request<Body>> for Probe {
    type Response = Response<ReplyBody>;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Self::Response, Infallible>> + Send>>;

    fn call(&self, mut request: Request<Body>) -> Self::Future {
        let probe = self.clone();
        Box::pin(async move {
            probe.calls.fetch_add(1, Ordering::SeqCst);
            let path = request.uri().path().to_owned();
            let (status, text) = match path.as_str() {
                "/panic" => panic!("as the test wants"),
                "/wait" => {
                    probe.started.notify_one();
                    probe.go.notified().await;
                    (200, "waited".to_owned())
                }
                "/read" => match request.into_body().collect().await {
                    Ok(body) => (200, body.to_bytes().len().to_string()),
                    Err(BodyError::TimedOut) => (408, "timed out".into()),
                    Err(BodyError::Broken(_)) => (400, "broken".into()),
                },
                "/upgrade" => {
                    let upgrade = request.extensions_mut().remove::<OnUpgrade>().unwrap();
                    tokio::spawn(async move {
                        let mut other = TokioIo::new(upgrade.await.unwrap());
                        probe.started.notify_one();
                        // It ends with its client.
                        other.read_to_end(&mut Vec::new()).await.unwrap();
                    });
                    let mut response = Response::new(ReplyBody::empty());
                    *response.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
                    let field = (header::CONNECTION, HeaderValue::from_static("upgrade"));
                    response.headers_mut().extend([field]);
                    return Ok(response);
                }
                "/refuse" => (403, "not read".into()),
                "/echo" => (400, "told s3cret back".into()),
                "/endless" => {
                    let body = Endless(Arc::clone(&probe.go));
                    return Ok(Response::new(ReplyBody::stream(body)));
                }
                _ => (200, "hello".into()),
            };
            let mut response = Response::new(ReplyBody::whole(text));
            if path == "/echo" {
                response.extensions_mut().insert(SenderOnly("s3cret".to_owned()));
            }
            *response.status_mut() = StatusCode::from_u16(status).unwrap();
            response.extensions_mut().insert(Operation("probe"));
            Ok(response)
        })
    }
}

/// A body without end, which tells when it is dropped.
struct Endless(Arc<Notify>);

impl http_body::Body for Endless {
    type Data = bytes::Bytes;
    type Error = super::BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        _: &mut std::task::Context<'_>,
    ) -> FramePoll<super::BoxError> {
        let piece = bytes::Bytes::from_static(&[b'x'; 64 * 1024]);
        std::task::Poll::Ready(Some(Ok(http_body::Frame::data(piece))))
    }
}

impl Drop for Endless {
    fn drop(&mut self) {
        self.0.notify_one();
    }
}

fn quick() -> Config {
    Config {
        limits: Limits {
            head_ms_max: 150,
            body_idle_ms_max: 150,
            drain_ms_max: 20_000,
            ..Limits::default()
        },
        ..Config::default()
    }
}

async fn start(config: Config) -> (Running, Probe) {
    let probe = Probe::default();
    (Running::start(probe.clone(), config).await.unwrap(), probe)
}

/// Sends `text` and gives all that comes until the server closes.
async fn exchange(server: &Running, text: &str) -> String {
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(text.as_bytes()).await.unwrap();
    read_all(&mut stream).await
}

async fn read_all(stream: &mut TcpStream) -> String {
    let mut out = Vec::new();
    let read = stream.read_to_end(&mut out);
    let ended = tokio::time::timeout(PATIENCE, read).await;
    // A reset is an end too.
    let _ = ended.expect("the server closes the connection");
    String::from_utf8_lossy(&out).into_owned()
}

/// Reads until `wanted` has come.
async fn read_until(stream: &mut TcpStream, wanted: &str) -> String {
    let mut out = String::new();
    let mut bytes = [0; 1024];
    while !out.contains(wanted) {
        let read = tokio::time::timeout(PATIENCE, stream.read(&mut bytes));
        let count = read.await.expect("it comes").unwrap();
        assert!(count > 0, "closed after {out:?}");
        out.push_str(&String::from_utf8_lossy(&bytes[..count]));
    }
    out
}

fn status(answer: &str) -> u16 {
    let code = answer.get(9..12).unwrap_or_default();
    code.parse().unwrap_or(0)
}

#[tokio::test]
async fn a_head_that_never_ends_is_cut() {
    let (server, probe) = start(quick()).await;
    let answer = exchange(&server, "GET / HTTP/1.1\r\nHost: localhost\r\nX-Slow: ").await;
    assert!(!answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(probe.calls.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_silent_and_an_idle_connection_are_closed() {
    let (server, _) = start(quick()).await;
    assert_eq!(exchange(&server, "").await, "");
    let answer = exchange(&server, "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n").await;
    assert_eq!(status(&answer), 200);
}

#[tokio::test]
async fn a_client_that_closes_its_sending_side_gets_its_answer() {
    let (server, probe) = start(quick()).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(b"GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    stream.shutdown().await.unwrap();
    probe.started.notified().await;
    // The server has had the time to see the end before it answers.
    tokio::task::yield_now().await;
    probe.go.notify_one();
    let answer = read_all(&mut stream).await;
    assert!(answer.ends_with("waited"), "{answer}");
}

/// A config whose answers are given up soon.
fn impatient(answer_idle_ms_max: u64, answer_rate_min: u64) -> Config {
    let limits = Limits {
        answer_idle_ms_max,
        answer_rate_min,
        answer_grace_ms: 150,
        head_ms_max: 20_000,
        ..Limits::default()
    };
    Config { limits, ..Config::default() }
}

#[tokio::test]
async fn an_answer_that_nobody_reads_is_given_up() {
    let (server, probe) = start(impatient(150, 0)).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(b"GET /endless HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    // The service sees that its body was dropped.
    let dropped = tokio::time::timeout(PATIENCE, probe.go.notified()).await;
    assert!(dropped.is_ok(), "the answer goes on");
}

#[tokio::test]
async fn an_answer_that_is_read_too_slowly_is_given_up() {
    let (server, probe) = start(impatient(20_000, u64::MAX)).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(b"GET /endless HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let mut bytes = [0; 64 * 1024];
    let dropped = async {
        tokio::select! {
            () = probe.go.notified() => {}
            () = async { loop {
                let _ = stream.read(&mut bytes).await;
                tokio::time::sleep(Duration::from_millis(20)).await;
            } } => {}
        }
    };
    assert!(tokio::time::timeout(PATIENCE, dropped).await.is_ok());
}

#[tokio::test]
async fn a_stream_of_http_2_whose_window_stays_shut_is_given_up() {
    let (server, probe) = start(impatient(150, 0)).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    // GET http://localhost/endless in indexed and literal header fields (RFC 7541 §6).
    let fields = b"\x82\x86\x04\x08/endless\x01\x09localhost";
    let settings = [0, 0, 0, 4, 0, 0, 0, 0, 0];
    let head = [0, 0, fields.len() as u8, 1, 5, 0, 0, 0, 1];
    let preface = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
    stream.write_all(&[&preface[..], &settings, &head, fields].concat()).await.unwrap();
    // All that comes is read; the window of the stream is never opened further.
    let reading = async {
        let mut bytes = [0; 4096];
        while stream.read(&mut bytes).await.is_ok_and(|count| count > 0) {}
    };
    let dropped = async {
        tokio::join!(probe.go.notified(), reading);
    };
    assert!(tokio::time::timeout(PATIENCE, dropped).await.is_ok());
}

#[tokio::test]
async fn a_body_that_stops_arriving_is_given_up() {
    let (server, _) = start(quick()).await;
    let head = "POST /read HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nabc";
    assert_eq!(status(&exchange(&server, head).await), 408);
}

#[tokio::test]
async fn a_body_that_trickles_is_given_up() {
    let mut config = quick();
    config.limits.body_idle_ms_max = 60_000;
    config.limits.body_grace_ms = 100;
    let (server, _) = start(config).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream
        .write_all(b"POST /read HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\na")
        .await
        .unwrap();
    let answer = read_all(&mut stream).await;
    assert_eq!(status(&answer), 408, "{answer}");
}

#[tokio::test]
async fn hosts_that_are_missing_repeated_or_contradicted_are_refused() {
    let (server, probe) = start(quick()).await;
    for head in [
        "GET / HTTP/1.1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: a\r\nHost: a\r\n\r\n",
        "GET http://evil/ HTTP/1.1\r\nHost: a\r\n\r\n",
    ] {
        assert_eq!(status(&exchange(&server, head).await), 400, "{head}");
    }
    assert_eq!(probe.calls.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_smuggled_request_is_never_run() {
    let (server, probe) = start(quick()).await;
    let text = "POST /read HTTP/1.1\r\nHost: localhost\r\nContent-Length: 44\r\nTransfer-Encoding: chunked\r\n\r\n\
                0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let answer = exchange(&server, text).await;
    assert_eq!(answer.matches("HTTP/1.1 ").count(), 1, "{answer}");
    assert!(probe.calls.load(Ordering::SeqCst) <= 1);
}

#[tokio::test]
async fn framing_that_two_servers_could_read_differently_is_refused() {
    let (server, probe) = start(quick()).await;
    for fields in [
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: 5, 5",
        "Content-Length: +5",
        "Content-Length: -1",
        "Transfer-Encoding: gzip",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: chunked, identity",
        "Content-Length : 5",
        "X-Folded: a\r\n b",
        "X-Nul: a\0b",
    ] {
        let text = format!("POST /read HTTP/1.1\r\nHost: localhost\r\n{fields}\r\n\r\nabcde");
        assert_eq!(status(&exchange(&server, &text).await), 400, "{fields}");
    }
    assert_eq!(probe.calls.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_head_is_limited_by_its_bytes_and_not_by_a_hundred_fields() {
    let (server, _) = start(quick()).await;
    for (fields, expected) in [(300, 200), (600, 431)] {
        let fields: String = (0..fields).map(|at| format!("X-{at}: v\r\n")).collect();
        let text = format!(
            "POST /read HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n{fields}\r\nabcde"
        );
        assert_eq!(status(&exchange(&server, &text).await), expected);
    }
}

#[tokio::test]
async fn a_head_beyond_its_limit_is_431() {
    let (server, probe) = start(quick()).await;
    let filler = "x".repeat(70 * 1024);
    let head = format!("GET / HTTP/1.1\r\nHost: localhost\r\nX-Filler: {filler}\r\n\r\n");
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    // The server may close before it has read everything.
    let _ = stream.write_all(head.as_bytes()).await;
    let answer = read_all(&mut stream).await;
    assert!(answer.is_empty() || status(&answer) == 431, "{answer}");
    assert_eq!(probe.calls.load(Ordering::SeqCst), 0);
}

#[tokio::test]
async fn a_panic_is_a_500_and_the_connection_lives() {
    let (server, _) = start(Config::default()).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let panics = b"GET /panic HTTP/1.1\r\nHost: localhost\r\n\r\n";
    stream.write_all(panics).await.unwrap();
    let answer = read_until(&mut stream, "InternalError").await;
    assert_eq!(status(&answer), 500);
    let again = b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    stream.write_all(again).await.unwrap();
    read_until(&mut stream, "hello").await;
}

#[tokio::test]
async fn a_stop_lets_running_requests_finish_and_takes_no_more() {
    let (server, probe) = start(Config::default()).await;
    let address = server.address;
    let mut silent = TcpStream::connect(address).await.unwrap();
    let mut stream = TcpStream::connect(address).await.unwrap();
    let head = b"GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n";
    stream.write_all(head).await.unwrap();
    probe.started.notified().await;
    let served = server.stop();
    // The silent connection is closed at once; the running one is not.
    assert_eq!(read_all(&mut silent).await, "");
    assert!(TcpStream::connect(address).await.is_err());
    assert!(!served.is_finished());
    probe.go.notify_one();
    assert!(read_all(&mut stream).await.ends_with("waited"));
    assert!(served.await.unwrap().drained);
}

#[tokio::test]
async fn a_stop_cuts_what_outlasts_the_deadline() {
    let mut config = quick();
    config.limits.drain_ms_max = 100;
    let (server, probe) = start(config).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    let head = b"GET /wait HTTP/1.1\r\nHost: localhost\r\n\r\n";
    stream.write_all(head).await.unwrap();
    probe.started.notified().await;
    assert!(!server.stop().await.unwrap().drained);
}

#[tokio::test]
async fn a_body_is_asked_for_only_when_it_is_read() {
    let (server, _) = start(quick()).await;
    for (path, asked) in [("/read", true), ("/refuse", false)] {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let head = format!(
            "PUT {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nExpect: 100-continue\r\n\r\n"
        );
        stream.write_all(head.as_bytes()).await.unwrap();
        let first = read_until(&mut stream, "\r\n\r\n").await;
        assert_eq!(first.starts_with("HTTP/1.1 100 "), asked, "{path}: {first}");
        // What follows a refusal may be the body or the next request, and nobody can tell.
        assert_eq!(first.contains("connection: close"), !asked, "{path}: {first}");
    }
}

#[tokio::test]
async fn the_connection_closes_behind_a_request_that_expects_100_continue_and_has_no_body() {
    let (server, _) = start(Config::default()).await;
    for (fields, closes) in [("Expect: 100-continue\r\n", true), ("", false)] {
        let mut stream = TcpStream::connect(server.address).await.unwrap();
        let head =
            format!("PUT /read HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n{fields}\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let first = read_until(&mut stream, "\r\n\r\n").await;
        assert_eq!((status(&first), first.contains("connection: close")), (200, closes), "{first}");
    }
}

#[tokio::test]
async fn requests_beyond_the_connections_that_are_served_are_told_to_come_again() {
    let mut config = Config::default();
    config.limits.connections_max = 1;
    let (server, probe) = start(config).await;
    let mut first = TcpStream::connect(server.address).await.unwrap();
    let head = b"GET /wait HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    first.write_all(head).await.unwrap();
    probe.started.notified().await;
    let head = "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n";
    // Many more than there are places for those that are told.
    for _ in 0..40 {
        let refused = exchange(&server, head).await.to_ascii_lowercase();
        assert!(refused.starts_with("http/1.1 503 "), "{refused}");
        assert!(refused.contains("retry-after: 1\r\n") && refused.contains("connection: close"));
    }
    // Health still answers, and the one that is served is served to its end.
    let asked = control("GET", "/_ops/health/ready", "Host: localhost\r\n", "");
    assert_eq!(status(&exchange(&server, &asked).await), 200);
    assert_eq!(probe.calls.load(Ordering::SeqCst), 1);
    probe.go.notify_one();
    assert!(read_all(&mut first).await.ends_with("waited"));
    let head = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    // The server may see the end of the first one a moment after its client does.
    let served = async { while !exchange(&server, head).await.ends_with("hello") {} };
    tokio::time::timeout(PATIENCE, served).await.unwrap();
}

#[tokio::test]
async fn a_connection_that_speaks_something_else_has_its_place_until_it_ends() {
    let mut config = Config::default();
    config.limits.connections_max = 1;
    let (server, probe) = start(config).await;
    let mut first = TcpStream::connect(server.address).await.unwrap();
    let head =
        b"GET /upgrade HTTP/1.1\r\nHost: localhost\r\nConnection: upgrade\r\nUpgrade: probe\r\n\r\n";
    first.write_all(head).await.unwrap();
    assert_eq!(status(&read_until(&mut first, "\r\n\r\n").await), 101);
    probe.started.notified().await;
    let head = "GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    assert_eq!(status(&exchange(&server, head).await), 503);
    let asked = control("GET", "/_ops/metrics", "Host: localhost\r\n", "");
    let metrics = exchange(&server, &asked).await;
    assert!(metrics.contains("\nhttp_connections 2\n"), "{metrics}");
    drop(first);
    // The server may see its end a moment after its client does.
    let served = async { while !exchange(&server, head).await.ends_with("hello") {} };
    tokio::time::timeout(PATIENCE, served).await.unwrap();
}

fn control(method: &str, path: &str, fields: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "{method} {path} HTTP/1.1\r\n{fields}Connection: close\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

#[tokio::test]
async fn web_pages_get_nowhere_on_control_paths() {
    let (server, _) = start(Config::default()).await;
    for (fields, wanted) in [
        ("Host: localhost\r\n", 200),
        ("Host: 127.0.0.1\r\n", 200),
        ("Host: localhost\r\nOrigin: http://localhost\r\n", 200),
        ("Host: evil.example\r\n", 403),
        ("Host: localhost\r\nOrigin: http://evil.example\r\n", 403),
        ("Host: localhost\r\nOrigin: null\r\n", 403),
        ("Host: localhost\r\nOrigin: http://localhost\r\nOrigin: http://evil.example\r\n", 403),
        ("Host: localhost\r\nSec-Fetch-Site: cross-site\r\n", 403),
    ] {
        let text = control("GET", "/_ops/requests", fields, "");
        assert_eq!(status(&exchange(&server, &text).await), wanted, "{fields}");
    }
}

#[tokio::test]
async fn a_control_path_asked_by_another_method_names_those_that_it_takes() {
    let (server, _) = start(Config::default()).await;
    let paths = KNOWN.iter().copied().chain([("/_ui/", "GET, HEAD")]);
    // It answers for as long as it is listened to.
    for (path, allowed) in paths.filter(|(path, _)| *path != "/_ops/requests/live") {
        for method in ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"] {
            let answer = exchange(&server, &control(method, path, "Host: localhost\r\n", "")).await;
            let is_taken = allowed.split(", ").any(|taken| taken == method);
            assert_eq!(status(&answer) != 405, is_taken, "{method} {path}: {answer}");
            let names_them = answer.contains(&format!("allow: {allowed}\r\n"));
            assert_eq!(names_them, !is_taken, "{method} {path}: {answer}");
        }
    }
}

#[tokio::test]
async fn faults_are_injected_seen_and_taken_back() {
    let (server, _) = start(Config::default()).await;
    let host = "Host: localhost\r\n";
    let fault = r#"{"method": "GET", "path": "/x", "status": 503, "times": 1}"#;
    let text = control("POST", "/_ops/faults", host, fault);
    assert_eq!(status(&exchange(&server, &text).await), 200);
    let get = control("GET", "/x?key=s3cret", host, "");
    assert_eq!(status(&exchange(&server, &get).await), 503);
    assert_eq!(status(&exchange(&server, &get).await), 200);
    let seen = exchange(&server, &control("GET", "/_ops/requests", host, "")).await;
    assert!(seen.contains("/x?key=...") && !seen.contains("s3cret"), "{seen}");
    let metrics = exchange(&server, &control("GET", "/_ops/metrics", host, "")).await;
    let counted = r#"http_requests_total{operation="probe",status="200"} 1"#;
    assert!(metrics.contains(counted), "{metrics}");
    assert!(
        metrics.contains("content-type: text/plain; version=0.0.4; charset=utf-8"),
        "{metrics}"
    );
    let accept = "Host: localhost\r\nAccept: application/openmetrics-text;version=1.0.0\r\n";
    let metrics = exchange(&server, &control("GET", "/_ops/metrics", accept, "")).await;
    let kind = "content-type: application/openmetrics-text; version=1.0.0; charset=utf-8";
    assert!(metrics.contains(kind) && metrics.ends_with("# EOF\n"), "{metrics}");
}

#[tokio::test]
async fn a_stop_ends_the_delay_of_a_fault() {
    let (server, _) = start(Config::default()).await;
    let fault = r#"{"path": "/x", "delayMs": 600000}"#;
    let text = control("POST", "/_ops/faults", "Host: localhost\r\n", fault);
    assert_eq!(status(&exchange(&server, &text).await), 200);
    let mut delayed = TcpStream::connect(server.address).await.unwrap();
    delayed.write_all(b"GET /x HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    let running = || control("GET", "/_ops/metrics", "Host: localhost\r\n", "");
    while !exchange(&server, &running()).await.contains("http_requests_running 2") {}
    let report = tokio::time::timeout(PATIENCE, server.stop()).await.unwrap().unwrap();
    assert!(report.drained);
}

#[tokio::test]
async fn the_clock_is_moved_through_its_path() {
    let (server, _) = start(Config::default()).await;
    let host = "Host: localhost\r\n";
    let set = control("POST", "/_ops/clock", host, r#"{"advanceMs": 60000}"#);
    let answer = exchange(&server, &set).await;
    assert!(answer.contains(r#""offsetMs":60000"#), "{answer}");
    assert_eq!(server.clock.offset_millis(), 60_000);
    let bad = control("POST", "/_ops/clock", host, r#"{"set": "noon"}"#);
    assert_eq!(status(&exchange(&server, &bad).await), 400);
}

#[tokio::test]
async fn the_page_is_served_under_own_names_and_to_no_page_of_another_origin() {
    let (server, probe) = start(Config::default()).await;
    for (fields, wanted) in [
        ("Host: localhost\r\n", 200),
        ("Host: evil.example\r\n", 403),
        ("Host: localhost\r\nSec-Fetch-Site: cross-site\r\n", 403),
        ("Host: localhost\r\nOrigin: http://evil.example\r\n", 403),
    ] {
        let answer = exchange(&server, &control("GET", "/_ui/", fields, "")).await;
        assert_eq!(status(&answer), wanted, "{fields}");
        let guarded = answer.contains("content-security-policy: default-src 'self'");
        assert_eq!(guarded, wanted == 200, "{answer}");
    }
    let typed = exchange(&server, &control("GET", "/_ui", "Host: localhost\r\n", "")).await;
    assert_eq!(status(&typed), 308);
    let missing = exchange(&server, &control("GET", "/_ui/x", "Host: localhost\r\n", "")).await;
    assert_eq!(status(&missing), 404);
    assert_eq!(probe.calls.load(Ordering::SeqCst), 0, "the service is not asked");
    let seen =
        exchange(&server, &control("GET", "/_ops/requests", "Host: localhost\r\n", "")).await;
    assert!(!seen.contains("_ui"), "{seen}");
}

#[tokio::test]
async fn a_request_is_shown_with_its_head_and_the_beginning_of_its_text_without_secrets() {
    let (server, _) = start(Config::default()).await;
    let host = "Host: localhost\r\n";
    let body = "x".repeat(5_000);
    for (kind, body) in [
        ("application/json", body.as_str()),
        ("application/x-www-form-urlencoded", "a=1&client_secret=s3cret"),
        ("application/octet-stream", "bytes"),
    ] {
        let fields = format!("{host}Content-Type: {kind}\r\nX-Own-Token: s3cret\r\n");
        exchange(&server, &control("POST", "/read", &fields, body)).await;
    }
    let list = exchange(&server, &control("GET", "/_ops/requests", host, "")).await;
    assert!(!list.contains("x-own-token"), "the list is short: {list}");
    let ids = list.split("\"id\":\"").skip(1).map(|rest| rest.split('"').next().unwrap());
    let mut shown = Vec::new();
    for id in ids {
        let path = format!("/_ops/requests?id={id}");
        shown.push(exchange(&server, &control("GET", &path, host, "")).await);
    }
    assert_eq!(shown.len(), 3);
    let all = shown.concat();
    assert!(!all.contains("s3cret") && all.contains("x-own-token: ..."), "{all}");
    assert!(shown[0].contains(&"x".repeat(4_096)) && !shown[0].contains(&"x".repeat(4_097)));
    assert!(shown[1].contains("a=1&client_secret=..."), "{}", shown[1]);
    assert!(shown[2].contains("\"body\":null"), "{}", shown[2]);
}

#[tokio::test]
async fn what_an_answer_tells_its_sender_alone_is_not_shown_with_the_request() {
    let (server, _) = start(Config::default()).await;
    let host = "Host: localhost\r\n";
    let answer = exchange(&server, &control("GET", "/echo", host, "")).await;
    assert!(answer.ends_with("told s3cret back"), "{answer}");
    let list = exchange(&server, &control("GET", "/_ops/requests", host, "")).await;
    let id = list.split("\"id\":\"").nth(1).unwrap().split('"').next().unwrap();
    let path = format!("/_ops/requests?id={id}");
    let shown = exchange(&server, &control("GET", &path, host, "")).await;
    assert!(shown.contains("told ... back") && !shown.contains("s3cret"), "{shown}");
}

#[tokio::test]
async fn requests_are_told_of_as_they_are_answered_and_again_behind_a_place() {
    let (server, _) = start(Config::default()).await;
    let live =
        |more: &str| format!("GET /_ops/requests/live HTTP/1.1\r\nHost: localhost\r\n{more}\r\n");
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(live("").as_bytes()).await.unwrap();
    read_until(&mut stream, ": listening").await;
    let host = "Host: localhost\r\n";
    exchange(&server, &control("GET", "/first", host, "")).await;
    let told = read_until(&mut stream, "/first").await;
    let place = told.split("id: ").nth(1).unwrap().lines().next().unwrap().to_owned();
    drop(stream);
    exchange(&server, &control("GET", "/second", host, "")).await;
    let mut stream = TcpStream::connect(server.address).await.unwrap();
    stream.write_all(live(&format!("Last-Event-ID: {place}\r\n")).as_bytes()).await.unwrap();
    let told = read_until(&mut stream, "/second").await;
    assert!(!told.contains("/first"), "{told}");
    let stopped = tokio::time::timeout(PATIENCE, server.stop()).await;
    assert!(stopped.unwrap().unwrap().drained, "a listener does not keep the server");
}

#[cfg(feature = "sled")]
#[test]
fn health_tells_of_a_disk_that_does_not_answer_until_it_does() {
    use crate::disk::testing::WatchedDisk;
    use crate::kv::{Batch, KeyValue as _, Sled, SledConfig};

    let runtime = tokio::runtime::Runtime::new().unwrap();
    let (folder, still) = (tempfile::tempdir().unwrap(), Arc::default());
    let disk = WatchedDisk::with_lock(Arc::clone(&still), |_, _| Ok(()));
    let settings = SledConfig::new(folder.path().join("kv"));
    let records = Arc::new(Sled::open_on(Arc::new(disk), &settings).unwrap());
    let limits = Limits { disk_silent_ms_max: 20, ..Limits::default() };
    let config = Config { limits, records: Arc::downgrade(&records), ..Config::default() };
    let (server, _) = runtime.block_on(start(config));
    let ask = "GET /_ops/health/ready HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
    let answer = || runtime.block_on(exchange(&server, ask));
    assert!(answer().starts_with("HTTP/1.1 200"));
    let held = still.write();
    let writes = vec![("key".into(), Some("value".into()))];
    let commit = records.commit(Batch { writes, ..Batch::default() });
    let mut told = answer();
    while told.starts_with("HTTP/1.1 200") {
        told = answer();
    }
    assert!(told.starts_with("HTTP/1.1 503"), "{told}");
    assert!(told.ends_with("the disk does not answer\n"), "{told}");
    drop(held);
    commit.wait().unwrap();
    assert!(answer().starts_with("HTTP/1.1 200"));
}
