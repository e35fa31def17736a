//! A server that speaks as much of S3 as these tests need, and fails on request.

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use triptych_core::blobs::remote::{Location, RemoteBlobs};
use triptych_core::id::SeededIds;

/// The ways in which the server treats a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Behaviour {
    Works,
    /// Answers 500.
    Fails,
    /// Reads the request, and says nothing.
    Hangs,
    /// Begins an answer, and closes the connection.
    Closes,
    /// Works, but for parts of an upload, which get 500.
    TakesNoPart,
    HasNoBucket,
    Denies,
}

/// A server that ends with the test's process.
pub(super) struct Server {
    address: SocketAddr,
    state: Arc<Mutex<State>>,
}

struct State {
    behaviour: Behaviour,
    objects: BTreeMap<String, Vec<u8>>,
    requests: Vec<String>,
}

impl Server {
    pub(super) fn start(behaviour: Behaviour) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state =
            Arc::new(Mutex::new(State { behaviour, objects: BTreeMap::new(), requests: vec![] }));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for connection in listener.incoming().map_while(Result::ok) {
                let state = Arc::clone(&shared);
                std::thread::spawn(move || converse(&connection, &state));
            }
        });
        Self { address, state }
    }

    /// Its address for a client that waits so long for an answer.
    pub(super) fn location(&self, patience: Duration) -> Location {
        let (address, millis) = (self.address, patience.as_millis());
        let text =
            format!("s3://bodies?endpoint=http://{address}&anonymous=true&timeout-ms={millis}");
        Location::parse(&text).unwrap()
    }

    pub(super) fn blobs(&self, patience: Duration) -> RemoteBlobs {
        RemoteBlobs::open(&self.location(patience), SeededIds::from_number(1)).unwrap()
    }

    pub(super) fn behave(&self, behaviour: Behaviour) {
        self.state.lock().behaviour = behaviour;
    }

    pub(super) fn requests(&self) -> Vec<String> {
        self.state.lock().requests.clone()
    }

    pub(super) fn heard(&self, method: &str, part: &str) -> bool {
        self.requests().iter().any(|line| line.starts_with(method) && line.contains(part))
    }
}

fn converse(connection: &TcpStream, state: &Mutex<State>) {
    let mut reader = BufReader::new(connection);
    let mut writer = connection;
    while let Some((line, body)) = request(&mut reader) {
        let behaviour = {
            let mut state = state.lock();
            state.requests.push(line.clone());
            state.behaviour
        };
        let is_part = line.contains("partNumber=");
        match behaviour {
            Behaviour::Hangs => {
                // Until the client gives up.
                let _ = reader.read(&mut [0]);
                return;
            }
            Behaviour::Closes => {
                let head = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf";
                // What has no body is cut within its head.
                let end = if line.starts_with("GET ") { head.len() } else { 20 };
                let _ = writer.write_all(&head.as_bytes()[..end]);
                return;
            }
            Behaviour::Fails => answer(writer, 500, "", b""),
            Behaviour::TakesNoPart if is_part => answer(writer, 500, "", b""),
            Behaviour::HasNoBucket => {
                answer(writer, 404, "", b"<Error><Code>NoSuchBucket</Code></Error>");
            }
            Behaviour::Denies => {
                answer(writer, 403, "", b"<Error><Code>AccessDenied</Code></Error>");
            }
            Behaviour::Works | Behaviour::TakesNoPart => work(writer, &line, body, state),
        }
    }
}

/// The first line of the next request, and its body.
fn request(reader: &mut BufReader<&TcpStream>) -> Option<(String, Vec<u8>)> {
    let mut first = String::new();
    reader.read_line(&mut first).ok().filter(|bytes| *bytes > 0)?;
    let mut bytes = 0;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        if line.trim().is_empty() {
            break;
        }
        if let Some(length) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            bytes = length.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; bytes];
    reader.read_exact(&mut body).ok()?;
    Some((first.trim().to_owned(), body))
}

fn work(writer: &TcpStream, line: &str, body: Vec<u8>, state: &Mutex<State>) {
    let mut words = line.split(' ');
    let (method, target) = (words.next().unwrap(), words.next().unwrap());
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut state = state.lock();
    match method {
        "POST" if query.contains("uploads") => {
            answer(writer, 200, "", b"<InitiateMultipartUploadResult><Bucket>bodies</Bucket><Key>a</Key><UploadId>1</UploadId></InitiateMultipartUploadResult>");
        }
        "PUT" => {
            if !query.contains("partNumber=") {
                state.objects.insert(path.to_owned(), body);
            }
            answer(writer, 200, "ETag: \"1\"\r\n", b"");
        }
        "GET" if path == "/bodies" => {
            answer(writer, 200, "", b"<ListBucketResult><Name>bodies</Name><IsTruncated>false</IsTruncated></ListBucketResult>");
        }
        "GET" => match state.objects.get(path) {
            Some(body) => answer(writer, 200, "ETag: \"1\"\r\n", body),
            None => answer(writer, 404, "", b""),
        },
        _ => answer(writer, 204, "", b""),
    }
}

fn answer(mut writer: &TcpStream, status: u16, fields: &str, body: &[u8]) {
    let head = format!(
        "HTTP/1.1 {status} Some\r\nLast-Modified: Mon, 23 Nov 2026 07:00:00 GMT\r\n{fields}Content-Length: {}\r\n\r\n",
        body.len()
    );
    // A client that is gone hears nothing.
    let _ = writer.write_all(head.as_bytes()).and_then(|()| writer.write_all(body));
}
