//! The three services: one table, and a running process of any of them.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use crate::run::workspace::{cargo, root, target, text};

/// The time that a service may take to be ready, and to stop.
const PATIENCE: Duration = Duration::from_secs(60);

/// A service as this tool knows it.
#[derive(Debug)]
pub(crate) struct Service {
    /// The package, the binary, and the name in its banner.
    pub name: &'static str,
    /// The short name: `--only object`, `tests/object`, `TRIPTYCH_OBJECT_URL`.
    pub short: &'static str,
}

/// The services, in the order in which they are started and shown.
pub(crate) const SERVICES: [Service; 3] = [
    Service { name: "video-api", short: "video" },
    Service { name: "object-put", short: "object" },
    Service { name: "tabs-api", short: "tabs" },
];

impl Service {
    /// The service with this short name.
    ///
    /// # Errors
    /// If there is none.
    pub(crate) fn find(short: &str) -> Result<&'static Self> {
        SERVICES
            .iter()
            .find(|service| service.short == short)
            .ok_or_else(|| anyhow!("no service {short}: choose object, video or tabs"))
    }

    /// The demo data.
    pub(crate) fn demo_seed(&self) -> PathBuf {
        root().join("packaging/demo").join(format!("{}.json", self.name))
    }

    /// The seed file of tests: their own, else the demo data.
    pub(crate) fn test_seed(&self) -> PathBuf {
        let own = root().join("tests").join(self.short).join("seed.json");
        if own.exists() { own } else { self.demo_seed() }
    }

    /// The binary that cargo built.
    pub(crate) fn binary(&self, release: bool) -> PathBuf {
        target().join(if release { "release" } else { "debug" }).join(self.name)
    }

    /// The environment variable of one of its flags, such as `OBJECT_PUT_TREE`.
    pub(crate) fn flag_variable(&self, flag: &str) -> String {
        format!("{}_{flag}", self.name.to_ascii_uppercase().replace('-', "_"))
    }

    /// The name of an environment variable for clients, such as `TRIPTYCH_OBJECT_URL`.
    pub(crate) fn variable(&self, what: &str) -> String {
        format!("TRIPTYCH_{}_{what}", self.short.to_ascii_uppercase())
    }
}

/// The cargo command that builds the three binaries with their default features.
pub(crate) fn build_command(release: bool) -> Command {
    let mut command = cargo(&["build", "--bins"]);
    for service in &SERVICES {
        command.args(["-p", service.name]);
    }
    if release {
        command.arg("--release");
    }
    command
}

/// The flags and folders that a server is started with.
#[derive(Debug)]
pub(crate) struct Options {
    /// The binary.
    pub binary: PathBuf,
    /// The data directory, made if absent.
    pub data: PathBuf,
    /// The file that fills an empty store.
    pub seed: PathBuf,
    /// The port: `None` is the service's own default, 0 a free one.
    pub port: Option<u16>,
    /// Further flags.
    pub flags: Vec<String>,
}

/// A running server. It is killed when dropped; [`Server::stop`] stops it as its user would.
#[derive(Debug)]
pub(crate) struct Server {
    child: Child,
    lines: Receiver<String>,
    name: &'static str,
    log: PathBuf,
    /// The address at which it is reached, without a slash at the end.
    pub url: String,
    /// The lines that it printed before it was ready.
    pub banner: Vec<String>,
}

impl Server {
    /// Starts a server and waits until it says that it is ready.
    ///
    /// # Errors
    /// If it cannot be started, ends, or is silent for a minute; the message carries the end of its log.
    pub(crate) fn start(service: &'static Service, options: &Options) -> Result<Self> {
        std::fs::create_dir_all(&options.data)?;
        let beside = |suffix: &str| options.data.with_extension(suffix);
        let (ready, log) = (beside("ready.json"), beside("log"));
        let _ = std::fs::remove_file(&ready);
        let errors = std::fs::File::options().create(true).append(true).open(&log)?;
        let mut command = Command::new(&options.binary);
        command.arg("--data").arg(&options.data).arg("--seed").arg(&options.seed);
        command.arg("--ready-file").arg(&ready).args(&options.flags);
        if let Some(port) = options.port {
            command.arg("--port").arg(port.to_string());
        }
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(errors);
        own_process_group(&mut command);
        let mut child = command
            .spawn()
            .with_context(|| format!("cannot start {}: is it built?", options.binary.display()))?;
        let lines = lines_of(&mut child)?;
        let mut server =
            Self { child, lines, name: service.name, log, url: String::new(), banner: Vec::new() };
        server.wait_until_ready()?;
        let written = std::fs::read_to_string(&ready)
            .with_context(|| format!("{} is ready but wrote no ready file", service.name))?;
        let facts: serde_json::Value = serde_json::from_str(&written)?;
        server.url = text(&facts, "url").trim_end_matches('/').to_owned();
        Ok(server)
    }

    fn wait_until_ready(&mut self) -> Result<()> {
        let last = format!("{} is ready", self.name);
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(line) if line == last => return Ok(()),
                Ok(line) => self.banner.push(line),
                Err(RecvTimeoutError::Timeout) => {
                    bail!("{} was not ready after {PATIENCE:?}{}", self.name, self.tail())
                }
                Err(RecvTimeoutError::Disconnected) => {
                    let status = self.child.wait()?;
                    bail!("{} ended with {status} before it was ready{}", self.name, self.tail())
                }
            }
        }
    }

    /// The end of its log.
    pub(crate) fn tail(&self) -> String {
        tail(&self.log, 12)
    }

    /// Its process id.
    pub(crate) fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Tells whether it still runs.
    ///
    /// # Errors
    /// If the system cannot say.
    pub(crate) fn is_running(&mut self) -> Result<bool> {
        Ok(self.child.try_wait()?.is_none())
    }

    /// Sends SIGTERM and waits for exit code 0.
    ///
    /// # Errors
    /// If it does not stop in a minute, or ends with another code.
    pub(crate) fn stop(mut self) -> Result<()> {
        crate::run::process::terminate(self.child.id())?;
        loop {
            match self.lines.recv_timeout(PATIENCE) {
                Ok(_) => {}
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    bail!("{} did not stop within {PATIENCE:?}{}", self.name, self.tail())
                }
            }
        }
        let status = self.child.wait()?;
        if status.success() {
            return Ok(());
        }
        bail!("{} stopped with {status}{}", self.name, self.tail())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The last lines of a log, indented, with its path; empty if there is none.
pub(crate) fn tail(log: &Path, lines_max: usize) -> String {
    let written = std::fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<_> = written.lines().collect();
    let from = lines.len().saturating_sub(lines_max);
    let last = lines.get(from..).unwrap_or_default();
    if last.is_empty() {
        return String::new();
    }
    format!(". The end of {}:\n    {}", log.display(), last.join("\n    "))
}

/// Its own process group, so that Ctrl-C reaches this tool alone, which then stops the servers in order.
fn own_process_group(command: &mut Command) {
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(command, 0);
    #[cfg(not(unix))]
    let _ = command;
}

fn lines_of(child: &mut Child) -> Result<Receiver<String>> {
    use std::io::BufRead;
    let output = child.stdout.take().ok_or_else(|| anyhow!("no standard output"))?;
    let (send, receive) = channel();
    std::thread::spawn(move || {
        for line in std::io::BufReader::new(output).lines().map_while(Result::ok) {
            let _ = send.send(line);
        }
    });
    Ok(receive)
}
