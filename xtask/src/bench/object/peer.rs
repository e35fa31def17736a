//! The peers that run in the same minutes on the same disk: installed once under `target/peers/`, started for the run.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use super::load::{ACCESS_KEY, SECRET_KEY, Signer, Target};
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
    command: fn(&Path, SocketAddr) -> Result<Command>,
}

pub(super) const PEERS: [Peer; 2] = [
    Peer { name: "s3s-fs 0.14.1, which does not sync", in_flight_max: usize::MAX, command: s3s_fs },
    Peer { name: "moto 5.2.1, in memory", in_flight_max: 1024 * 1024 * 1024, command: moto },
];

/// A running peer; killed when dropped.
pub(super) struct Running {
    child: Child,
    pub target: Target,
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

impl Peer {
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
        running.target.make_bucket()?;
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
