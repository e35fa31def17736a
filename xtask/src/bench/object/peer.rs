//! The peers that run in the same minutes on the same disk: installed once under `target/peers/`, started for the run.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::load::{BUCKET, Target};
use super::sign::{ACCESS_KEY, SECRET_KEY, Signer};
use super::{KIB, MIB};
use crate::run::clients::need;
use crate::run::process::terminate;
use crate::run::process::watch;
use crate::run::progress::spinner;
use crate::run::service::tail;
use crate::run::workspace::{cargo, target};

const S3S_FS: &str = "s3s-fs@0.14.1";
const MOTO: &str = "moto[s3,server]==5.2.1";
const LIMIT: Duration = Duration::from_secs(30 * 60);
const PATIENCE: Duration = Duration::from_secs(30);

/// A peer.
pub(super) struct Peer {
    /// The name that it has in tables.
    pub name: &'static str,
    /// The most bytes that are sent to it at once: one of them keeps all bodies in memory.
    pub in_flight_max: usize,
    /// The sizes and numbers of connections that it is measured with.
    meets: fn(usize, usize) -> bool,
    /// False if a bucket is a folder, which is there.
    has_buckets: bool,
    command: fn(&Path, SocketAddr) -> Result<Command>,
}

pub(super) const PEERS: [Peer; 3] = [
    Peer {
        name: "s3s-fs 0.14.1, which does not sync",
        in_flight_max: usize::MAX,
        meets: |_, _| true,
        has_buckets: true,
        command: s3s_fs,
    },
    Peer {
        name: "moto 5.2.1, in memory",
        in_flight_max: 1024 * MIB,
        meets: |_, _| true,
        has_buckets: true,
        command: moto,
    },
    Peer {
        name: NGINX,
        in_flight_max: usize::MAX,
        meets: |size, connections| connections == 16 && [4 * KIB, MIB].contains(&size),
        has_buckets: false,
        command: nginx,
    },
];

/// The peer that signs, seals and syncs nothing.
pub(super) const NGINX: &str = "nginx: static files and DAV, unsynced";

/// A running peer; killed when dropped.
pub(super) struct Running {
    child: Child,
    pub target: Target,
}

impl Drop for Running {
    fn drop(&mut self) {
        // One that has workers takes them along when it is asked, and not when it is killed.
        let _ = terminate(self.child.id());
        let begun = Instant::now();
        while matches!(self.child.try_wait(), Ok(None)) && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(20));
        }
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Peer {
    /// Tells whether it is measured with bodies of this size over so many connections.
    pub(super) fn meets(&self, size: usize, connections: usize) -> bool {
        size * connections <= self.in_flight_max && (self.meets)(size, connections)
    }

    /// Installs it where it is not yet, starts it, and makes the bucket.
    ///
    /// # Errors
    /// If it cannot be installed, or does not listen.
    pub(super) fn start(&self, folder: &Path) -> Result<Running> {
        let address = TcpListener::bind("127.0.0.1:0")?.local_addr()?;
        let data = folder.join(format!("peer-{}", address.port()));
        std::fs::create_dir_all(&data)?;
        let log = std::fs::File::create(data.with_extension("log"))?;
        let mut command = (self.command)(&data, address)?;
        let child = command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .with_context(|| format!("{} does not start", self.name))?;
        let running = Running { child, target: Target { address, signer: Signer::now()? } };
        let begun = Instant::now();
        while TcpStream::connect(address).is_err() {
            if begun.elapsed() > PATIENCE {
                let end = tail(&data.with_extension("log"), 12);
                bail!("{} does not listen{end}", self.name);
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        if self.has_buckets {
            running.target.make_bucket()?;
        }
        Ok(running)
    }
}

fn s3s_fs(data: &Path, address: SocketAddr) -> Result<Command> {
    let home = home()?.join("s3s-fs");
    let binary = home.join("bin/s3s-fs");
    if !binary.exists() {
        let mut install = cargo(&["install", "--locked", S3S_FS, "--features", "binary"]);
        run("s3s-fs", install.arg("--root").arg(&home))?;
    }
    let mut command = Command::new(binary);
    command
        .args(["--host", "127.0.0.1", "--port"])
        .arg(address.port().to_string())
        .args(["--access-key", ACCESS_KEY, "--secret-key", SECRET_KEY])
        .arg(data);
    // Its log is not what is measured.
    command.env("RUST_LOG", "error");
    Ok(command)
}

fn moto(_: &Path, address: SocketAddr) -> Result<Command> {
    let home = home()?.join("moto");
    let server = home.join("bin/moto_server");
    if !server.exists() {
        run(
            "moto environment",
            Command::new("python3").args(["-m", "venv", "--clear"]).arg(&home),
        )?;
        let mut pip = Command::new(home.join("bin/python"));
        pip.args(["-m", "pip", "install", "--disable-pip-version-check", MOTO]);
        run("moto", &mut pip)?;
    }
    // Asked of the interpreter: the script names the folder it was installed in, and folders move.
    let mut command = Command::new(home.join("bin/python"));
    command.arg(server).args(["-H", "127.0.0.1", "-p"]).arg(address.port().to_string());
    Ok(command)
}

fn nginx(data: &Path, address: SocketAddr) -> Result<Command> {
    need(&[("nginx", "nginx-light")])?;
    let folder = data.canonicalize()?;
    std::fs::create_dir_all(folder.join(BUCKET))?;
    let settings = folder.with_extension("conf");
    let at = folder.display();
    // A user other than root has no choice, and is told so; root's workers would have another user, who may not write here.
    std::fs::write(
        &settings,
        format!(
            "user root; worker_processes 2; daemon off; pid {at}/pid; error_log stderr; events {{ worker_connections 512; }}\n\
             http {{ sendfile on; tcp_nopush on; keepalive_requests 1000000000; client_max_body_size 0; access_log {at}/log;\n\
             client_body_temp_path {at}/sent; server {{ listen {address}; root {at}; dav_methods PUT; create_full_put_path on; }} }}\n"
        ),
    )?;
    let mut command = Command::new("nginx");
    command.arg("-c").arg(settings).arg("-p").arg(&folder);
    Ok(command)
}

fn home() -> Result<PathBuf> {
    let home = target().join("peers");
    std::fs::create_dir_all(&home)?;
    Ok(home)
}

fn run(name: &str, command: &mut Command) -> Result<()> {
    let bar = spinner(&format!("installs {name}"));
    let log = home()?.join(format!("{}.log", name.replace(' ', "-")));
    let ended = watch(command, &log, LIMIT, |line| bar.set_message(line.to_owned()))?;
    bar.finish_and_clear();
    if ended.success {
        return Ok(());
    }
    bail!("{name} cannot be installed{}", tail(&log, 30))
}
