//! The suites of real clients, which stand below `tests/` of the workspace, run against instances of a test's own.

use std::io::{Error, ErrorKind, Result};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use crate::installed_clients::installed_client;

/// The longest that a file may take.
const SUITE_TIME: Duration = Duration::from_secs(10 * 60);

/// Runs a file of `tests/`, in Python or JavaScript, against a service at a URL. `service` is the folder's name, `facts` what the file is told
/// beside the URL, by the names that `cargo xtask e2e` uses.
///
/// # Errors
/// The output of the file, if a check fails or is skipped; `TimedOut` if it does not end within ten minutes; if the clients are not installed.
pub fn run_suite(service: &str, file: &str, url: &str, facts: &[(&str, &str)]) -> Result<()> {
    let folder = root()?.join("tests").join(service);
    let python = installed_client("python")?;
    let variable = |what: &str| format!("TRIPTYCH_{}_{what}", service.to_ascii_uppercase());
    let is_script = file.ends_with(".mjs");
    let mut command = Command::new(if is_script { "node".as_ref() } else { python.as_path() });
    if is_script {
        command.args(["--test", "--test-reporter=tap"]).arg(folder.join(file));
    } else {
        command.args(["-m", "unittest", "discover", "-v", "-s"]).arg(folder).args(["-p", file]);
    }
    command.env(variable("URL"), url);
    for (what, value) in facts {
        command.env(variable(what), value);
    }
    for name in ["AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_CA_BUNDLE", "HTTP_PROXY", "http_proxy"] {
        command.env_remove(name);
    }
    command.env("NO_PROXY", "127.0.0.1,localhost").env("PYTHONDONTWRITEBYTECODE", "1");
    let done = ended(command, SUITE_TIME)
        .map_err(|error| Error::new(error.kind(), format!("{file}: {error}")))?;
    let said = [done.stdout, done.stderr].concat();
    let said = String::from_utf8_lossy(&said);
    // A run of no test at all, or of skipped ones, shows nothing.
    let shows = if is_script {
        !said.contains("\n# tests 0\n") && said.contains("\n# skipped 0\n")
    } else {
        said.contains("\nRan ") && !said.contains("\nRan 0 ") && !said.contains("skipped")
    };
    match done.status.success() && shows {
        true => Ok(()),
        false => Err(Error::other(format!("{file}: {}\n{said}", done.status))),
    }
}

/// The output of a program that ends within `limit`; else it is killed with all that it started.
///
/// # Errors
/// `TimedOut`; if it cannot be run.
fn ended(mut command: Command, limit: Duration) -> Result<Output> {
    use std::os::unix::process::CommandExt as _;

    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let child = command.process_group(0).spawn()?;
    let group = format!("-{}", child.id());
    let (give, given) = channel();
    let waiter = std::thread::spawn(move || {
        // Nobody listens any more where it took too long.
        let _ = give.send(child.wait_with_output());
    });
    let done = given.recv_timeout(limit);
    if let Err(RecvTimeoutError::Timeout) = done {
        Command::new("kill").args(["-KILL", "--", &group]).status()?;
    }
    waiter.join().map_err(|_| Error::other("the one who waits for it panicked"))?;
    done.map_err(|_| Error::new(ErrorKind::TimedOut, "it did not end"))?
}

/// The path of a file of the workspace.
///
/// # Errors
/// If this is not run from within it.
pub fn workspace_file(path: &str) -> Result<PathBuf> {
    Ok(root()?.join(path))
}

fn root() -> Result<PathBuf> {
    let own = std::env::current_dir()?;
    let is_root = |folder: &&Path| folder.join("Cargo.lock").exists();
    let root = own.ancestors().find(is_root).map(Path::to_owned);
    root.ok_or_else(|| Error::other("no workspace is around this folder"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_that_does_not_end_is_killed_with_what_it_started() {
        let shell = |script: &str| {
            let mut command = Command::new("sh");
            command.args(["-c", script]);
            command
        };
        // The pipe stays open for as long as one of them lives, and the wait for it is without an end.
        let late = ended(shell("sleep 1000 & wait"), Duration::ZERO);
        assert_eq!(late.unwrap_err().kind(), ErrorKind::TimedOut);
        let done = ended(shell("echo said; exit 3"), SUITE_TIME).unwrap();
        assert_eq!((done.stdout, done.status.code()), (b"said\n".to_vec(), Some(3)));
    }
}
