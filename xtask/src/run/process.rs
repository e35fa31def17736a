//! Commands that run for long: watched, logged, ended in time.

use std::io::{BufRead, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// How a watched command ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Whether its exit code was 0.
    pub success: bool,
    /// Everything that it printed on both outputs.
    pub text: String,
}

/// Runs a command with both outputs in one log, calling `on_line` for each line.
///
/// # Errors
/// If it cannot be started or is not done within `limit`; it is then killed.
pub(crate) fn watch(
    command: &mut Command,
    log: &Path,
    limit: Duration,
    mut on_line: impl FnMut(&str),
) -> Result<Ended> {
    if let Some(parent) = log.parent() {
        std::fs::create_dir_all(parent)?;
    }
    let mut file = std::fs::File::create(log)?;
    let (reader, writer) = std::io::pipe()?;
    command.stdin(Stdio::null()).stdout(writer.try_clone()?).stderr(writer);
    let mut child = command
        .spawn()
        .with_context(|| format!("cannot start {}", command.get_program().display()))?;
    // The command keeps its own copies of the pipe's end; without this the reader would never see the end.
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let (send, lines) = channel();
    std::thread::spawn(move || {
        for line in std::io::BufReader::new(reader).split(b'\n').map_while(Result::ok) {
            if send.send(String::from_utf8_lossy(&line).into_owned()).is_err() {
                break;
            }
        }
    });
    let deadline = Instant::now() + limit;
    let mut text = String::new();
    loop {
        match lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                writeln!(file, "{line}")?;
                text.push_str(&line);
                text.push('\n');
                on_line(&line);
            }
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                let _ = child.kill();
                let _ = child.wait();
                bail!("not done after {limit:?}, killed; see {}", log.display());
            }
        }
    }
    Ok(Ended { success: child.wait()?.success(), text })
}

/// Asks a process to stop (SIGTERM).
///
/// # Errors
/// If it does not exist any more.
pub(crate) fn terminate(pid: u32) -> Result<()> {
    let status = Command::new("kill").args(["-TERM", &pid.to_string()]).status()?;
    if !status.success() {
        bail!("process {pid} could not be asked to stop");
    }
    Ok(())
}

/// Whether a program is on the path.
pub(crate) fn has(program: &str) -> bool {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&paths).any(|folder| folder.join(program).is_file())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_outputs_and_the_exit_code_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sh");
        command.args(["-c", "echo one; echo two >&2; exit 3"]);
        let ended =
            watch(&mut command, &folder.path().join("log"), Duration::from_secs(10), |_| {})
                .unwrap();
        assert!(!ended.success);
        assert!(ended.text.contains("one") && ended.text.contains("two"));
    }

    #[test]
    fn a_command_that_never_ends_is_killed() {
        let folder = tempfile::tempdir().unwrap();
        let mut command = Command::new("sleep");
        command.arg("600");
        let log = folder.path().join("log");
        assert!(watch(&mut command, &log, Duration::from_millis(200), |_| {}).is_err());
    }
}
