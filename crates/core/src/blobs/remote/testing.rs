//! A SeaweedFS server of a test's own: S3 as others wrote it, on free ports of loopback, its data in a folder that goes with it.

use std::io::{BufRead as _, BufReader, Error, Read as _, Result, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Weak};
use std::time::Duration;

use parking_lot::Mutex;

use crate::free_ports::free_ports;
use crate::id::{Ids as _, SystemIds};
use crate::installed_clients::installed_client;

/// The words of its log before it listens.
const STARTED: &str = "Start Seaweed S3 API Server";
/// Ports that it takes, each by its flag; the first is the one of S3.
const PORTS: [&str; 8] = [
    "s3.port",
    "s3.port.grpc",
    "master.port",
    "master.port.grpc",
    "volume.port",
    "volume.port.grpc",
    "filer.port",
    "filer.port.grpc",
];
/// Time for an answer.
const ANSWER_MAX: Duration = Duration::from_secs(60);

/// A server with a bucket, which ends with this, as does its data.
#[derive(Debug)]
pub struct SeaweedFs {
    child: Child,
    address: SocketAddr,
    directory: PathBuf,
}

impl SeaweedFs {
    /// Starts one, and makes a bucket.
    ///
    /// # Errors
    /// If it is not installed, or does not start.
    pub fn start() -> Result<Self> {
        let program = installed_client("weed")?;
        let name = format!("triptych-weed-{:016x}", SystemIds.next());
        let directory = std::env::temp_dir().join(name);
        std::fs::create_dir(&directory)?;
        let ports = free_ports(PORTS.len())?;
        let port = ports.first().copied().unwrap_or_default();
        let mut command = Command::new(program);
        command.args(["server", "-s3", "-ip=127.0.0.1", "-volume.max=50"]);
        // The catalogs that it serves beside S3 have ports of their own, which another copy or program may hold.
        command.args(["-s3.port.iceberg=0", "-s3.port.lance=0"]);
        command.arg(format!("-dir={}", directory.display()));
        command.args(PORTS.iter().zip(ports).map(|(flag, port)| format!("-{flag}={port}")));
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = command.spawn()?;
        let log = child.stderr.take().ok_or_else(|| Error::other("SeaweedFS has no log"))?;
        let mut log = BufReader::new(log).lines().map_while(Result::ok);
        let mut server = Self { child, address: (Ipv4Addr::LOCALHOST, port).into(), directory };
        if !log.any(|line| line.contains(STARTED)) {
            return Err(Error::other("SeaweedFS does not start"));
        }
        // Its log goes on, and it would wait for who reads it.
        std::thread::spawn(move || log.for_each(drop));
        while !server.has_bucket() {
            if let Some(ended) = server.child.try_wait()? {
                return Err(Error::other(format!("SeaweedFS has ended: {ended}")));
            }
            std::thread::yield_now();
        }
        Ok(server)
    }

    /// The server that the tests of a process share which leave it as it is; it ends with the last that holds it.
    ///
    /// # Errors
    /// As [`SeaweedFs::start`].
    pub fn shared() -> Result<Arc<Self>> {
        static SERVER: Mutex<Weak<SeaweedFs>> = Mutex::new(Weak::new());
        let mut shared = SERVER.lock();
        if let Some(running) = shared.upgrade() {
            return Ok(running);
        }
        let started = Arc::new(Self::start()?);
        *shared = Arc::downgrade(&started);
        Ok(started)
    }

    /// The URL of a place in its bucket.
    #[must_use]
    pub fn place(&self, prefix: &str) -> String {
        format!("s3://bodies/{prefix}?endpoint=http://{}&anonymous=true", self.address)
    }

    /// Asks for the bucket to be made; the server takes a while to listen, and another to have a volume.
    fn has_bucket(&self) -> bool {
        let asked = || {
            let mut connection = TcpStream::connect(self.address)?;
            connection.set_read_timeout(Some(ANSWER_MAX))?;
            connection.write_all(
                b"PUT /bodies HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            )?;
            let mut answer = String::new();
            connection.read_to_string(&mut answer)?;
            Ok::<_, Error>(answer)
        };
        asked().is_ok_and(|answer| {
            answer.starts_with("HTTP/1.1 200") || answer.starts_with("HTTP/1.1 409")
        })
    }
}

impl Drop for SeaweedFs {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}
