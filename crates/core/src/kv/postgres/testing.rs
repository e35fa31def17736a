//! A PostgreSQL server of a test's own: on a free port of loopback, its data in a folder that goes with it.

use std::io::{BufRead, BufReader, Error, Read};
use std::net::{Ipv4Addr, SocketAddr};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use crate::free_ports::free_port;
use crate::id::{Ids, SystemIds};

/// The users as whom it runs where a test runs as root, which the server refuses; the first that the system has.
const USERS: [&str; 2] = ["postgres", "nobody"];
/// The folder in which Debian installs one folder for each version.
const INSTALLED: &str = "/usr/lib/postgresql";
/// The line with which it says that it takes connections.
const READY: &str = "database system is ready to accept connections";

/// A running server. It is stopped, and its data removed, when this is dropped.
#[derive(Debug)]
pub struct PostgresServer {
    programs: PathBuf,
    directory: PathBuf,
    user: Option<User>,
    port: u16,
    settings: Vec<String>,
    running: Option<Child>,
}

#[derive(Debug, Clone, Copy)]
struct User {
    id: u32,
    group: u32,
}

impl PostgresServer {
    /// Makes a cluster and starts it.
    ///
    /// # Errors
    /// If the programs are not installed, or do not do as they are told; the error says what they said.
    pub fn start() -> std::io::Result<Self> {
        Self::start_with(&[])
    }

    /// The same with settings of the server, such as `fsync=off`.
    ///
    /// # Errors
    /// As [`PostgresServer::start`].
    pub fn start_with(settings: &[&str]) -> std::io::Result<Self> {
        Self::begin(settings, None)
    }

    /// The same for connections over TLS too, with a certificate for this name that it has signed itself: see
    /// [`PostgresServer::certificate`].
    ///
    /// # Errors
    /// As [`PostgresServer::start`]; if there is no program `openssl`.
    pub fn start_encrypted(name: &str) -> std::io::Result<Self> {
        Self::begin(&["ssl=on"], Some(name))
    }

    fn begin(settings: &[&str], certified: Option<&str>) -> std::io::Result<Self> {
        let directory = std::env::temp_dir().join(format!("triptych-pg-{:016x}", SystemIds.next()));
        std::fs::create_dir(&directory)?;
        let user = user()?;
        if let Some(User { id, group }) = user {
            std::os::unix::fs::chown(&directory, Some(id), Some(group))?;
        }
        let port = free_port()?;
        let settings = settings.iter().map(|setting| (*setting).to_owned()).collect();
        let mut server =
            Self { programs: programs()?, directory, user, port, settings, running: None };
        if let Some(name) = certified {
            server.certify(name)?;
        }
        let data = server.directory.join("data");
        let mut init = server.command("initdb");
        init.args(["-U", "triptych", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"]);
        let done = init.arg("-D").arg(data).output()?;
        if !done.status.success() {
            return Err(Error::other(String::from_utf8_lossy(&done.stderr).into_owned()));
        }
        server.resume()?;
        Ok(server)
    }

    /// Makes a certificate and its key, and names them in the settings.
    fn certify(&mut self, name: &str) -> std::io::Result<()> {
        let (certificate, key) = (self.certificate(), self.directory.join("server.key"));
        let mut made = self.command("openssl");
        made.args(["req", "-x509", "-nodes", "-days", "2", "-subj", "/CN=triptych"]);
        made.args(["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]);
        made.args(["-addext", &format!("subjectAltName=DNS:{name}")]);
        made.args(["-addext", "basicConstraints=critical,CA:FALSE"]);
        let made = made.arg("-keyout").arg(&key).arg("-out").arg(&certificate).output()?;
        if !made.status.success() {
            return Err(Error::other(String::from_utf8_lossy(&made.stderr).into_owned()));
        }
        self.settings.push(format!("ssl_cert_file={}", certificate.display()));
        self.settings.push(format!("ssl_key_file={}", key.display()));
        Ok(())
    }

    /// The file of the certificate of one that was started with it.
    #[must_use]
    pub fn certificate(&self) -> PathBuf {
        self.directory.join("server.pem")
    }

    /// The address at which it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        (Ipv4Addr::LOCALHOST, self.port).into()
    }

    /// The URL of its database.
    #[must_use]
    pub fn url(&self) -> String {
        format!("postgres://triptych@127.0.0.1:{}/postgres", self.port)
    }

    /// Starts it again on the same port, and waits until it takes connections.
    ///
    /// # Errors
    /// As [`PostgresServer::start`].
    pub fn resume(&mut self) -> std::io::Result<()> {
        let mut command = self.command("postgres");
        command.arg("-D").arg(self.directory.join("data")).arg("-p").arg(self.port.to_string());
        let fixed =
            ["listen_addresses=127.0.0.1", "unix_socket_directories=", "max_connections=200"];
        let given = self.settings.iter().map(String::as_str);
        fixed.into_iter().chain(given).for_each(|setting| {
            command.args(["-c", setting]);
        });
        let mut child = command.stderr(Stdio::piped()).spawn()?;
        let said = child.stderr.take().map(BufReader::new);
        self.running = Some(child);
        let mut said = said.ok_or_else(|| Error::other("the server has no standard error"))?;
        let (mut line, mut all) = (String::new(), String::new());
        while !line.contains(READY) {
            line.clear();
            if said.read_line(&mut line)? == 0 {
                return Err(Error::other(all));
            }
            all.push_str(&line);
        }
        // It goes on talking; a full pipe would stop it.
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while said.read(&mut bytes).is_ok_and(|read| read > 0) {}
        });
        Ok(())
    }

    /// Stops it as a fall of the machine would: nothing is written back, and connections break.
    ///
    /// # Errors
    /// If there is no program `kill`.
    pub fn crash(&mut self) -> std::io::Result<()> {
        let Some(mut child) = self.running.take() else {
            return Ok(());
        };
        // The signal by which it leaves all to the next start; without the program that sends it, the hard one.
        let told = Command::new("kill").args(["-QUIT", &child.id().to_string()]).status();
        if !told.as_ref().is_ok_and(std::process::ExitStatus::success) {
            child.kill()?;
        }
        child.wait()?;
        told.map(|_| ())
    }

    /// Runs SQL as an administrator and gives what it answers, a line a row.
    ///
    /// # Errors
    /// A sentence for a statement that the server refuses, or if it cannot be asked.
    pub fn run(&self, sql: &str) -> std::io::Result<String> {
        let mut command = self.command("psql");
        let done = command.args(["-XqtA", "-v", "ON_ERROR_STOP=1", "-d", &self.url(), "-c", sql]);
        let done = done.output()?;
        if done.status.success() {
            return Ok(String::from_utf8_lossy(&done.stdout).trim().to_owned());
        }
        Err(Error::other(String::from_utf8_lossy(&done.stderr).into_owned()))
    }

    /// One of its programs, as its user.
    fn command(&self, name: &str) -> Command {
        let own = self.programs.join(name);
        let mut command = if own.exists() { Command::new(own) } else { Command::new(name) };
        command.current_dir(&self.directory).stdin(Stdio::null());
        if let Some(User { id, group }) = self.user {
            command.uid(id).gid(group);
        }
        command
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        let _ = self.crash();
        let _ = std::fs::remove_dir_all(&self.directory);
    }
}

/// The folder of the programs of the newest version.
fn programs() -> std::io::Result<PathBuf> {
    let missing = || Error::other("PostgreSQL is not installed: apt-get install postgresql");
    let mut found = Vec::new();
    for entry in std::fs::read_dir(INSTALLED).map_err(|_| missing())? {
        let entry = entry?;
        let version: u32 = entry.file_name().to_string_lossy().parse().unwrap_or_default();
        let programs = entry.path().join("bin");
        if programs.join("postgres").exists() {
            found.push((version, programs));
        }
    }
    found.sort();
    found.pop().map(|(_, programs)| programs).ok_or_else(missing)
}

/// The user as whom it runs; `None` is whoever runs the test.
fn user() -> std::io::Result<Option<User>> {
    use std::os::unix::fs::MetadataExt;
    // The owner of what this process made last is whoever it runs as.
    let own = std::fs::metadata(Path::new("/proc/self"))?.uid();
    if own != 0 {
        return Ok(None);
    }
    let accounts = std::fs::read_to_string("/etc/passwd")?;
    for name in USERS {
        let account = accounts.lines().map(|line| line.split(':').collect::<Vec<_>>());
        let mut numbers = account.filter(|fields| fields.first() == Some(&name)).map(|fields| {
            let number = |at: usize| fields.get(at)?.parse().ok();
            Some(User { id: number(2)?, group: number(3)? })
        });
        if let Some(Some(user)) = numbers.next() {
            return Ok(Some(user));
        }
    }
    Err(Error::other(
        "the server refuses to run as root, and this system has no user postgres or nobody",
    ))
}
