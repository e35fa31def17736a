//! Bodies on an object store, which is another object-put: what clients put into the one lies in the other.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that meets the unexpected fails"
)]

mod service;

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::Arc;
use std::time::Duration;

use service::{Answer, Draft, OWNER, SEED, read_answer};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use triptych_core::blobs::conformance;
use triptych_core::blobs::remote::{Location, RemoteBlobs};
use triptych_core::id::{Ids as _, SystemIds};
use triptych_core::time::{Clock as _, SystemClock};

/// A running server; killed when it is dropped, as by `kill -9`.
struct Server {
    child: Child,
    /// Host and port.
    address: String,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Server {
    fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let banner = lines.next().expect("the server starts").unwrap();
        let url = banner.split_whitespace().find_map(|word| word.strip_prefix("http://")).unwrap();
        let address = url.to_owned();
        assert!(lines.any(|line| line.is_ok_and(|line| line.ends_with(" is ready"))));
        Self { child, address }
    }

    async fn send(&self, draft: Draft) -> Answer {
        let mut connection = TcpStream::connect(&self.address).await.unwrap();
        connection.write_all(&now(draft).bytes()).await.unwrap();
        let mut raw = Vec::new();
        connection.read_to_end(&mut raw).await.unwrap();
        read_answer(&raw)
    }

    async fn fetch(&self, target: &str) -> Answer {
        self.send(Draft::new("GET", target, b"")).await
    }

    async fn put(&self, target: &str, body: &[u8]) {
        let answer = self.send(Draft::put(target, body)).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
}

/// A request of this moment, after which the connection ends.
fn now(draft: Draft) -> Draft {
    Draft { time: SystemClock::new().now(), ..draft }.with("connection", "close")
}

/// A folder for the data of a test, with the seed file of every server.
struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("seed.json"), SEED).unwrap();
        Self(folder)
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.0.path().join(name)
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_object-put"));
        command.args(arguments).stdin(Stdio::null());
        command
            .env("AWS_ACCESS_KEY_ID", OWNER.0)
            .env("AWS_SECRET_ACCESS_KEY", OWNER.1)
            .env("AWS_REGION", "us-east-1");
        command
    }

    /// The object-put that keeps the bodies.
    fn store(&self) -> Server {
        let mut command = self.command(&["--memory", "--port", "0", "--seed"]);
        Server::start(command.arg(self.path("seed.json")))
    }

    fn data(&self, arguments: &[&str], data: &str, bodies: &str) -> Command {
        let mut command = self.command(arguments);
        command.arg("--data").arg(self.path(data)).arg("--blobs").arg(bodies);
        command
    }

    /// An object-put whose bodies are elsewhere.
    fn front(&self, data: &str, bodies: &str) -> Server {
        let mut command = self.data(&["--port", "0"], data, bodies);
        command.arg("--seed").arg(self.path("seed.json")).arg("--log").arg(self.path("log"));
        Server::start(&mut command)
    }

    fn output(&self, arguments: &[&str], data: &str, bodies: &str) -> Output {
        self.data(arguments, data, bodies).output().unwrap()
    }
}

/// The URL of bodies in a store, below `prefix`.
fn bodies(store: &Server, prefix: &str) -> String {
    format!("s3://bkt/{prefix}?endpoint=http://{}&region=us-east-1", store.address)
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn body(bytes: usize) -> Vec<u8> {
    (0..bytes).map(|place| (place % 251).to_le_bytes()[0]).collect()
}

#[test]
fn our_own_object_store_obeys_the_laws_of_every_blob_store() {
    let folder = Folder::new();
    let store = folder.store();
    let open = |prefix: &str| {
        let location = Location::parse(&bodies(&store, prefix)).unwrap();
        RemoteBlobs::open(&location.with_key(OWNER.0, OWNER.1), SystemIds.fork()).unwrap()
    };
    conformance::all(&mut || {
        let prefix = format!("{:x}", SystemIds.next());
        Arc::new(open(&prefix).with_orphan_wait(Duration::ZERO))
    });
    conformance::reopening(&mut || Arc::new(open("again")));
}

#[tokio::test]
async fn what_is_put_lies_in_the_store_and_comes_back_whole_and_by_range() {
    let folder = Folder::new();
    let store = folder.store();
    let front = folder.front("data", &bodies(&store, "a/b"));
    let (small, large) = (body(4_000), body(20_000_000));
    front.put("/bkt/small", &small).await;
    front.put("/bkt/large", &large).await;
    front.put("/bkt/empty", b"").await;
    assert!(!folder.path("data/blobs").exists(), "no body is on this disk");
    assert!(front.fetch("/bkt/small").await.body == small);
    assert!(front.fetch("/bkt/large").await.body == large);
    assert_eq!(front.fetch("/bkt/empty").await.body, b"");
    for (from, to) in [(0, 0), (8_388_000, 8_389_000), (19_999_999, 19_999_999), (5, 19_999_990)] {
        let range = format!("bytes={from}-{to}");
        let answer = front.send(Draft::new("GET", "/bkt/large", b"").with("range", range)).await;
        assert_eq!(answer.status, 206);
        assert!(answer.body == large[from..=to], "{from}-{to}");
    }
    // Replaced bodies leave the store, in their time; the identity and the three bodies are there now.
    let listed = store.fetch("/bkt?list-type=2&prefix=a/b/bodies/").await.text();
    assert_eq!(listed.matches("<Key>").count(), 3, "{listed}");
    let log = std::fs::read_to_string(folder.path("log")).unwrap();
    assert!(!log.contains(OWNER.1), "no secret is in the log");
}

#[tokio::test]
async fn parts_of_an_upload_survive_the_process_that_took_them() {
    let folder = Folder::new();
    let store = folder.store();
    let place = bodies(&store, "parts");
    let front = folder.front("data", &place);
    let begun = front.send(Draft::new("POST", "/bkt/whole?uploads", b"")).await;
    let upload = begun.element("UploadId").unwrap();
    let (first, second) = (body(6_000_000), body(70_000));
    front.put(&format!("/bkt/whole?partNumber=1&uploadId={upload}"), &first).await;
    drop(front);
    let front = folder.front("data", &place);
    front.put(&format!("/bkt/whole?partNumber=2&uploadId={upload}"), &second).await;
    let listed = front.fetch(&format!("/bkt/whole?uploadId={upload}")).await.text();
    let tags = listed.split("<ETag>").skip(1).map(|rest| rest.split('<').next().unwrap());
    let part = |(tag, number): (&str, u32)| {
        format!("<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>")
    };
    let parts: Vec<_> = tags.zip(1..).map(part).collect();
    assert_eq!(parts.len(), 2, "{listed}");
    let list = format!("<CompleteMultipartUpload>{}</CompleteMultipartUpload>", parts.concat());
    let complete = Draft::new("POST", &format!("/bkt/whole?uploadId={upload}"), list.as_bytes());
    let completed = front.send(complete).await;
    assert_eq!(completed.status, 200, "{}", completed.text());
    assert!(front.fetch("/bkt/whole").await.body == [first, second].concat());
}

#[tokio::test]
async fn a_kill_during_an_upload_leaves_no_object_and_nothing_that_a_check_complains_of() {
    let folder = Folder::new();
    let store = folder.store();
    let place = bodies(&store, "killed");
    let front = folder.front("data", &place);
    front.put("/bkt/kept", &body(9_000_000)).await;
    let request = now(Draft::put("/bkt/cut", &body(40_000_000))).bytes();
    let mut connection = TcpStream::connect(&front.address).await.unwrap();
    // More than fits the buffers on the way, so that parts of it have reached the store.
    connection.write_all(&request[..30_000_000]).await.unwrap();
    drop(front);
    let front = folder.front("data", &place);
    assert_eq!(front.fetch("/bkt/cut").await.status, 404);
    assert!(front.fetch("/bkt/kept").await.body == body(9_000_000));
    let listed = store.fetch("/bkt?list-type=2&prefix=killed/bodies/").await.text();
    assert_eq!(listed.matches("<Key>").count(), 1, "{listed}");
    drop(front);
    let checked = folder.output(&["verify", "--deep"], "data", &place);
    assert!(checked.status.success(), "{}", said(&checked));
}

#[tokio::test]
async fn bodies_of_another_store_are_refused_and_so_is_a_place_without_them() {
    let folder = Folder::new();
    let store = folder.store();
    let (one, two) = (bodies(&store, "one"), bodies(&store, "two"));
    drop(folder.front("one", &one));
    drop(folder.front("two", &two));
    let refused = |data: &str, place: &str, words: &str| {
        let output = folder.output(&["--port", "0"], data, place);
        assert_eq!(output.status.code(), Some(1));
        assert!(said(&output).contains(words), "{}", said(&output));
    };
    refused("one", &two, "different stores");
    refused("one", &bodies(&store, "three"), "not their bodies");
    refused("new", &one, "no records");
    refused("one", "s3://absent/x?endpoint=http://127.0.0.1:9&timeout-ms=300", "cannot be reached");
    refused("one", &one.replace("/bkt/", "/no-such-bucket/"), "there is no bucket");
    refused("one", "ftp://bkt/x", "names no store");
    drop(folder.front("one", &one));
}

#[tokio::test]
async fn a_key_that_the_store_refuses_is_told_at_the_start_without_its_secret() {
    let folder = Folder::new();
    let store = folder.store();
    let mut command = folder.data(&["--port", "0"], "data", &bodies(&store, "a"));
    let refused = command.env("AWS_SECRET_ACCESS_KEY", "not-the-secret").output().unwrap();
    assert_eq!(refused.status.code(), Some(1));
    assert!(said(&refused).contains("refuses our credentials"), "{}", said(&refused));
    assert!(!said(&refused).contains("not-the-secret"));
}

#[tokio::test]
async fn a_backup_of_bodies_elsewhere_is_refused_and_an_export_has_them() {
    let folder = Folder::new();
    let store = folder.store();
    let place = bodies(&store, "copies");
    let front = folder.front("data", &place);
    front.put("/bkt/object", &body(300_000)).await;
    drop(front);
    let to = folder.path("backups").display().to_string();
    let refused = folder.output(&["backup", "--to", &to], "data", &place);
    assert_eq!(refused.status.code(), Some(1));
    assert!(said(&refused).contains("not below the data directory"), "{}", said(&refused));
    let file = folder.path("archive").display().to_string();
    let exported = folder.output(&["export", &file], "data", &place);
    assert!(exported.status.success(), "{}", said(&exported));
    let imported = folder.output(&["import", &file], "second", &bodies(&store, "imported"));
    assert!(imported.status.success(), "{}", said(&imported));
    std::fs::copy(folder.path("data/root-key"), folder.path("second/root-key")).unwrap();
    let front = folder.front("second", &bodies(&store, "imported"));
    assert!(front.fetch("/bkt/object").await.body == body(300_000));
}

#[tokio::test]
async fn bodies_in_a_directory_of_their_own_need_no_store() {
    let folder = Folder::new();
    let elsewhere = folder.path("elsewhere").display().to_string();
    let front = folder.front("data", &elsewhere);
    front.put("/bkt/object", &body(300_000)).await;
    drop(front);
    assert!(Path::new(&elsewhere).join("large").is_dir() && !folder.path("data/blobs").exists());
    let front = folder.front("data", &elsewhere);
    assert!(front.fetch("/bkt/object").await.body == body(300_000));
}
