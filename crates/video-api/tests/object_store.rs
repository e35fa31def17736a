//! Bodies on an object store: an upload in pieces goes on at the process that comes after.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that meets the unexpected fails"
)]

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

/// Bytes of a piece.
const PIECE: usize = 256 * 1024;

/// A running server; killed when it is dropped, as by `kill -9`.
struct Server {
    child: Child,
    /// Host and port.
    address: String,
}

/// An answer as it was read.
struct Answer {
    head: String,
    body: Vec<u8>,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Answer {
    fn status(&self) -> &str {
        self.head.split(' ').nth(1).unwrap()
    }

    fn header(&self, name: &str) -> &str {
        let mut lines = self.head.lines().filter_map(|line| line.split_once(':'));
        lines.find(|(own, _)| own.eq_ignore_ascii_case(name)).map_or("", |(_, value)| value.trim())
    }

    fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

impl Server {
    fn start(folder: &Path) -> Self {
        let bodies = folder.join("bodies");
        std::fs::create_dir_all(&bodies).unwrap();
        let seed = json!({
            "projects": [{ "id": "demo", "apiKeys": ["KEY"], "quota": "off" }],
            "accounts": [{ "id": "alice", "email": "alice@example.com",
                "tokens": [{ "token": "ALICE", "scopes": ["youtube", "youtube.upload"] }],
                "channel": { "id": "UCaliceAliceAliceAlice0A", "title": "Alice", "handle": "@alice" } }]
        });
        std::fs::write(folder.join("seed.json"), seed.to_string()).unwrap();
        let mut command = Command::new(env!("CARGO_BIN_EXE_video-api"));
        command.args(["--port", "0", "--blobs"]).arg(format!("file://{}", bodies.display()));
        command.arg("--data").arg(folder.join("data")).arg("--seed").arg(folder.join("seed.json"));
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let banner = lines.next().expect("the server starts").unwrap();
        let url = banner.split_whitespace().find_map(|word| word.strip_prefix("http://")).unwrap();
        let address = url.to_owned();
        assert!(lines.any(|line| line.is_ok_and(|line| line.ends_with(" is ready"))));
        Self { child, address }
    }

    fn ask(&self, method: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Answer {
        let mut connection = TcpStream::connect(&self.address).unwrap();
        let mut head = format!("{method} {target} HTTP/1.1\r\nhost: {}\r\n", self.address);
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("content-length: {}\r\nconnection: close\r\n\r\n", body.len()));
        connection.write_all(&[head.as_bytes(), body].concat()).unwrap();
        let mut raw = Vec::new();
        connection.read_to_end(&mut raw).unwrap();
        let end = raw.windows(4).position(|window| window == b"\r\n\r\n").expect("a whole head");
        let (head, body) = raw.split_at(end);
        Answer {
            head: String::from_utf8(head.to_vec()).unwrap(),
            body: body.iter().skip(4).copied().collect(),
        }
    }
}

/// The files of bodies.
fn bodies(folder: &Path) -> usize {
    let shards = std::fs::read_dir(folder.join("bodies/bodies")).unwrap();
    shards.map(|shard| std::fs::read_dir(shard.unwrap().path()).unwrap().count()).sum()
}

#[test]
fn an_upload_in_pieces_goes_on_at_the_process_that_comes_after() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path());
    let start = "/upload/youtube/v3/videos?part=snippet&uploadType=resumable";
    let alice = ("authorization", "Bearer ALICE");
    let headers =
        [alice, ("content-type", "application/json"), ("x-upload-content-type", "video/mp4")];
    let metadata = br#"{"snippet": {"title": "First light", "categoryId": "22"}}"#;
    let opened = server.ask("POST", start, &headers, metadata);
    assert_eq!(opened.status(), "200", "{}", opened.json());
    let session = opened.header("location");
    let session = session.split_once("/upload").map(|(_, path)| format!("/upload{path}")).unwrap();
    let first = [("content-range", "bytes 0-262143/*")];
    let answer = server.ask("PUT", &session, &first, &vec![0; PIECE]);
    assert_eq!((answer.status(), answer.header("range")), ("308", "bytes=0-262143"));
    assert_eq!(bodies(folder.path()), 1, "the piece lies in the store");
    drop(server);
    let server = Server::start(folder.path());
    let probe = server.ask("PUT", &session, &[("content-range", "bytes */*")], b"");
    assert_eq!((probe.status(), probe.header("range")), ("308", "bytes=0-262143"));
    let last = [("content-range", "bytes 262144-262148/262149")];
    let done = server.ask("PUT", &session, &last, b"bytes");
    assert_eq!((done.status(), &done.json()["kind"]), ("200", &json!("youtube#video")));
    let id = done.json()["id"].as_str().unwrap().to_owned();
    let target = format!("/youtube/v3/videos?part=fileDetails&id={id}");
    let found = server.ask("GET", &target, &[alice], b"");
    assert_eq!(
        found.json()["items"][0]["fileDetails"]["fileSize"],
        json!("262149"),
        "{}",
        found.json()
    );
    assert!(!folder.path().join("data/blobs").exists(), "no body is on the disk of the records");
}
