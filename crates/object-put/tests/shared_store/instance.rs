//! Instances of the binary on one store, and a client that speaks to one of them.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};

/// A bucket that anybody may write to, so that a request needs no signature.
const SEED: &str = r#"{
    "accounts": [{ "id": "111122223333", "keys": [{ "accessKeyId": "key", "secretAccessKey": "secret" }] }],
    "buckets": [{ "name": "open", "owner": "111122223333", "public": "read-write" }]
}"#;
/// The root key that the instances share.
pub(crate) const ROOT_KEY: &str =
    "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// An instance: a data directory for its bodies, a port, and the process while it runs.
pub(crate) struct Instance {
    directory: PathBuf,
    store: String,
    /// The place of the bodies that instances share; without it they are in the directory.
    blobs: Option<String>,
    port: u16,
    running: Option<(Child, BufReader<ChildStdout>)>,
}

impl Instance {
    /// An instance on a store, not started; its folder is below `folder`, with its bodies.
    pub(crate) fn new(folder: &Path, number: usize, store: &str) -> Self {
        let directory = folder.join(format!("instance-{number}"));
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        std::fs::write(folder.join("seed.json"), SEED).unwrap();
        Self { directory, store: store.to_owned(), blobs: None, port, running: None }
    }

    /// The same with bodies that all instances of `folder` share.
    pub(crate) fn sharing(folder: &Path, number: usize, store: &str) -> Self {
        let bodies = folder.join("bodies");
        std::fs::create_dir_all(&bodies).unwrap();
        let mut instance = Self::new(folder, number, store);
        instance.blobs = Some(format!("file://{}", bodies.display()));
        instance
    }

    fn command(&self) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_object-put"));
        command.arg("--data").arg(&self.directory).args(["--store", &self.store]);
        if let Some(blobs) = &self.blobs {
            command.args(["--blobs", blobs]);
        }
        command.args(["--port", &self.port.to_string()]).arg("--seed");
        command.arg(self.directory.with_file_name("seed.json"));
        command.arg("--log").arg(self.directory.with_extension("log"));
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs it with other flags to its end, which is a refusal.
    pub(crate) fn refused(&self, flags: &[&str]) -> String {
        let Output { status, stderr, .. } = self.command().args(flags).output().unwrap();
        assert_eq!(status.code(), Some(1));
        String::from_utf8(stderr).unwrap()
    }

    /// Starts it, and does not wait until it is ready.
    pub(crate) fn begin(&mut self) {
        let mut child = self.command().args(["--root-key", ROOT_KEY]).spawn().unwrap();
        let said = BufReader::new(child.stdout.take().unwrap());
        self.running = Some((child, said));
    }

    /// Waits until it says that it is ready.
    pub(crate) fn ready(&mut self) {
        let (_, said) = self.running.as_mut().unwrap();
        let is_ready = said.lines().map_while(Result::ok).any(|line| line == "object-put is ready");
        assert!(
            is_ready,
            "{}",
            std::fs::read_to_string(self.directory.with_extension("log")).unwrap()
        );
    }

    pub(crate) fn start(&mut self) {
        self.begin();
        self.ready();
    }

    /// Kills it as no program can prevent.
    pub(crate) fn kill(&mut self) {
        if let Some((mut child, _)) = self.running.take() {
            child.kill().unwrap();
            child.wait().unwrap();
        }
    }

    pub(crate) const fn client(&self) -> Client {
        Client { port: self.port }
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        self.kill();
    }
}

/// A client of the instance at one port.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Client {
    port: u16,
}

/// An answer: its status, its head in lower case, its body.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

impl Client {
    /// Asks once, on a connection of its own; `None` where nobody answered.
    pub(crate) fn ask(
        self,
        method: &str,
        path: &str,
        headers: &[&str],
        body: &[u8],
    ) -> Option<Answer> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        let mut head = format!(
            "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\nContent-Length: {}\r\n",
            self.port,
            body.len()
        );
        headers.iter().for_each(|header| head = format!("{head}{header}\r\n"));
        stream.write_all(format!("{head}\r\n").as_bytes()).ok()?;
        stream.write_all(body).ok()?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).ok()?;
        let end = answer.windows(4).position(|bytes| bytes == b"\r\n\r\n")?;
        let head = String::from_utf8_lossy(&answer[..end]).to_ascii_lowercase();
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some(Answer { status, head, body: answer[end + 4..].to_vec() })
    }

    pub(crate) fn put(self, key: &str, headers: &[&str], body: &[u8]) -> Option<Answer> {
        self.ask("PUT", &format!("/open/{key}"), headers, body)
    }

    pub(crate) fn get(self, path: &str) -> Option<Answer> {
        self.ask("GET", path, &[], b"")
    }

    /// The entity tag of an object; `None` where there is no such object.
    pub(crate) fn tag(self, key: &str) -> Option<String> {
        let answer = self.ask("HEAD", &format!("/open/{key}"), &[], b"").unwrap();
        match answer.status {
            200 => answer.header("etag").map(str::to_owned),
            404 => None,
            _ => panic!("{key}: {answer:?}"),
        }
    }
}
