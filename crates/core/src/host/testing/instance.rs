//! Instances of a service's binary on one store, and a client that speaks to one of them.

use std::io::{BufRead, BufReader, Error, Read, Write};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, Output, Stdio};
use std::time::Duration;

use tokio::time::Instant;

#[cfg(feature = "object-store")]
use super::SharedBodies;
use crate::free_ports::free_port;

/// The longest time that a start, an answer or a state that must come may take.
const PATIENCE: Duration = Duration::from_secs(60);

/// An instance: a data directory, a port, and the process while it runs. It is killed when this is dropped.
#[derive(Debug)]
pub struct Instance {
    program: PathBuf,
    directory: PathBuf,
    flags: Vec<String>,
    started_with: Vec<String>,
    port: u16,
    running: Option<(Child, BufReader<ChildStdout>)>,
    /// The length that its log had when it was started last.
    log_begins: usize,
    /// Held for its server.
    #[cfg(feature = "object-store")]
    bodies: Option<SharedBodies>,
}

impl Instance {
    /// The `number`th instance of a program on a store, not started; its data directory is below `folder`, and its seed there.
    ///
    /// # Errors
    /// If no port is free, or the seed cannot be written.
    pub fn new(
        program: &str,
        folder: &Path,
        number: usize,
        store: &str,
        seed: &str,
    ) -> std::io::Result<Self> {
        let mut instance = Self::on_disk(program, folder, number, seed)?;
        instance.flags.extend(["--store".to_owned(), store.to_owned()]);
        Ok(instance)
    }

    /// The same with a store of its own, below its data directory.
    ///
    /// # Errors
    /// As [`Instance::new`].
    pub fn on_disk(
        program: &str,
        folder: &Path,
        number: usize,
        seed: &str,
    ) -> std::io::Result<Self> {
        let port = free_port()?;
        let directory = folder.join(format!("instance-{number}"));
        let seed_file = folder.join("seed.json");
        std::fs::write(&seed_file, seed)?;
        let log = directory.with_extension("log");
        let mut instance = Self {
            program: program.into(),
            flags: Vec::new(),
            started_with: Vec::new(),
            port,
            running: None,
            log_begins: 0,
            directory,
            #[cfg(feature = "object-store")]
            bodies: None,
        };
        for (flag, value) in [
            ("--data", instance.directory.display().to_string()),
            ("--port", port.to_string()),
            ("--seed", seed_file.display().to_string()),
            ("--log", log.display().to_string()),
        ] {
            instance.flags.extend([flag.to_owned(), value]);
        }
        Ok(instance)
    }

    /// The same with bodies that all instances of its folder share.
    ///
    /// # Errors
    /// As [`SharedBodies::of`].
    #[cfg(feature = "object-store")]
    pub fn sharing_bodies(mut self) -> std::io::Result<Self> {
        let folder = self.directory.parent().unwrap_or(&self.directory);
        let bodies = SharedBodies::of(folder)?;
        self.flags.extend(["--blobs".to_owned(), bodies.url().to_owned()]);
        self.bodies = Some(bodies);
        Ok(self)
    }

    /// The same, started with more flags.
    #[must_use]
    pub fn started_with(mut self, flags: &[&str]) -> Self {
        self.started_with.extend(flags.iter().map(|&flag| flag.to_owned()));
        self
    }

    fn command(&self, flags: &[String]) -> Command {
        let mut command = Command::new(&self.program);
        command.args(&self.flags).args(flags);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// Runs it with these flags in place of those that it starts with, to its end, which is a refusal; gives what it said.
    ///
    /// # Errors
    /// If it does not run, or does not refuse.
    pub fn refused(&self, flags: &[&str]) -> std::io::Result<String> {
        let flags: Vec<_> = flags.iter().map(|&flag| flag.to_owned()).collect();
        let Output { status, stderr, .. } = self.command(&flags).output()?;
        match status.code() {
            Some(1) => Ok(String::from_utf8_lossy(&stderr).into_owned()),
            _ => Err(Error::other(format!("{status}"))),
        }
    }

    /// Starts it, and does not wait until it is ready.
    ///
    /// # Errors
    /// If the program does not run.
    pub fn begin(&mut self) -> std::io::Result<()> {
        let log = std::fs::metadata(self.directory.with_extension("log"));
        self.log_begins = log.map_or(0, |log| usize::try_from(log.len()).unwrap_or(usize::MAX));
        let errors = std::fs::File::create(self.directory.with_extension("err"))?;
        let mut child = self.command(&self.started_with).stderr(errors).spawn()?;
        let said = child.stdout.take().ok_or_else(|| Error::other("it has no output"))?;
        self.running = Some((child, BufReader::new(said)));
        Ok(())
    }

    /// Waits until it says that it is ready.
    ///
    /// # Errors
    /// Its log and what it said at its end, if it ended before that.
    pub fn ready(&mut self) -> std::io::Result<()> {
        let told = |kind| std::fs::read_to_string(self.directory.with_extension(kind));
        let (_, said) = self.running.as_mut().ok_or_else(|| Error::other("it does not run"))?;
        match said.lines().map_while(Result::ok).any(|line| line.ends_with(" is ready")) {
            true => Ok(()),
            false => Err(Error::other(told("log")? + &told("err")?)),
        }
    }

    /// Starts it and waits until it is ready.
    ///
    /// # Errors
    /// As [`Instance::begin`] and [`Instance::ready`].
    pub fn start(&mut self) -> std::io::Result<()> {
        self.begin()?;
        self.ready()
    }

    /// Kills it as no program can prevent.
    pub fn kill(&mut self) {
        if let Some((mut child, _)) = self.running.take() {
            let _ = child.kill();
            let _ = child.wait();
        }
    }

    /// Kills it and starts it again.
    ///
    /// # Errors
    /// As [`Instance::start`].
    pub fn restart_killed(&mut self) -> std::io::Result<()> {
        self.kill();
        self.start()
    }

    /// Tells it to end, and waits until it has.
    ///
    /// # Errors
    /// If it does not run, there is no program `kill`, or it ends with an error.
    pub fn stop(&mut self) -> std::io::Result<()> {
        self.signal("-TERM")?;
        let (mut child, _) = self.running.take().ok_or_else(|| Error::other("it does not run"))?;
        let ended = child.wait()?;
        ended.success().then_some(()).ok_or_else(|| Error::other(format!("it ended with {ended}")))
    }

    /// Stops it in the middle of whatever it does, so that it learns nothing of it.
    ///
    /// # Errors
    /// If it does not run, or there is no program `kill`.
    pub fn pause(&self) -> std::io::Result<()> {
        self.signal("-STOP")
    }

    /// Lets one that was paused go on.
    ///
    /// # Errors
    /// As [`Instance::pause`].
    pub fn wake(&self) -> std::io::Result<()> {
        self.signal("-CONT")
    }

    fn signal(&self, signal: &str) -> std::io::Result<()> {
        let (child, _) = self.running.as_ref().ok_or_else(|| Error::other("it does not run"))?;
        let sent = Command::new("kill").args([signal, &child.id().to_string()]).status()?;
        sent.success().then_some(()).ok_or_else(|| Error::other("it was not told"))
    }

    /// The pages of memory that it was given by the system so far, a page that was given back and given again counting twice. Linux tells.
    ///
    /// # Errors
    /// If it does not run, or the system does not tell.
    pub fn page_faults(&self) -> std::io::Result<u64> {
        let (child, _) = self.running.as_ref().ok_or_else(|| Error::other("it does not run"))?;
        let told = std::fs::read_to_string(format!("/proc/{}/stat", child.id()))?;
        // The name of the program, in parentheses, may have blanks; proc_pid_stat(5) counts minflt as the eighth behind it.
        let faults = told.rsplit_once(')').and_then(|(_, rest)| rest.split_whitespace().nth(7));
        let faults = faults.and_then(|faults| faults.parse().ok());
        faults.ok_or_else(|| Error::other("no count of page faults"))
    }

    /// The lines that it has logged so far.
    ///
    /// # Errors
    /// If the log cannot be read.
    pub fn logged(&self) -> std::io::Result<String> {
        std::fs::read_to_string(self.directory.with_extension("log"))
    }

    /// Tells whether it has said last since its start that it keeps the store up: that the work by the clock is its own.
    ///
    /// # Errors
    /// As [`Instance::logged`].
    pub fn is_keeper(&self) -> std::io::Result<bool> {
        let logged = self.logged()?;
        let logged = logged.get(self.log_begins..).unwrap_or_default();
        let last = logged.lines().rfind(|line| line.contains("keeps the store up"));
        Ok(last.is_some_and(|line| line.contains("this instance")))
    }

    /// A client of it.
    #[must_use]
    pub const fn client(&self) -> Client {
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
pub struct Client {
    pub(super) port: u16,
}

/// An answer: its status, its head in lower case, its body.
#[derive(Debug)]
pub struct Answer {
    /// Its status.
    pub status: u16,
    /// Its head, in lower case.
    pub head: String,
    /// Its body, as it was sent.
    pub body: Vec<u8>,
}

impl Answer {
    /// The value of a header.
    #[must_use]
    pub fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }

    /// Tells whether an answer leaves open what became of the call: there was none, or it was 503.
    #[must_use]
    pub fn leaves_open(answer: Option<&Self>) -> bool {
        answer.is_none_or(|answer| answer.status == 503)
    }

    /// Its body as JSON; `Null` where it is none.
    #[must_use]
    pub fn json(&self) -> serde_json::Value {
        serde_json::from_slice(&self.body).unwrap_or_default()
    }
}

impl Client {
    /// A client of whatever listens at a port of loopback.
    #[must_use]
    pub const fn at(port: u16) -> Self {
        Self { port }
    }

    /// The URL of the instance.
    #[must_use]
    pub fn url(self) -> String {
        format!("http://127.0.0.1:{}", self.port)
    }

    /// Asks once, on a connection of its own; `None` where nobody answered.
    #[must_use]
    pub fn ask(self, method: &str, path: &str, headers: &[&str], body: &[u8]) -> Option<Answer> {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).ok()?;
        stream.set_read_timeout(Some(PATIENCE)).ok()?;
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
        let body = answer.split_off(end + 4);
        let head = String::from_utf8_lossy(&answer).to_ascii_lowercase();
        let status = head.split(' ').nth(1)?.parse().ok()?;
        Some(Answer { status, head, body })
    }
}

/// Pauses the one of some instances that keeps their store up until another does, which is for longer than any waits for another, and wakes it
/// again; `meanwhile` runs as soon as it is paused, with its place. Gives the places of the two.
///
/// # Errors
/// As [`Instance::pause`]; where nobody keeps the store up, or nobody else takes that over.
pub fn pause_keeper(
    instances: &[Instance],
    meanwhile: impl FnOnce(usize),
) -> std::io::Result<(usize, usize)> {
    let keeper = |but: Option<usize>| {
        let mut others = instances.iter().enumerate().filter(|(place, _)| Some(*place) != but);
        others.find(|(_, instance)| instance.is_keeper().unwrap_or(false)).map(|(place, _)| place)
    };
    let nobody = || Error::other("nobody keeps the store up");
    let first = until(|| keeper(None)).ok_or_else(nobody)?;
    let paused = instances.get(first).ok_or_else(nobody)?;
    paused.pause()?;
    meanwhile(first);
    let second = until(|| keeper(Some(first)));
    paused.wake()?;
    Ok((first, second.ok_or_else(nobody)?))
}

/// Waits until `state` gives something; `None` where that takes too long.
pub fn until<T>(mut state: impl FnMut() -> Option<T>) -> Option<T> {
    let start = Instant::now();
    loop {
        match state() {
            None if start.elapsed() < PATIENCE => std::thread::yield_now(),
            found => return found,
        }
    }
}
