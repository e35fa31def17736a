//! Commands that run for long: watched, logged, ended in time.

use std::io::{BufReader, Read, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

/// The end of a watched command.
#[derive(Debug)]
pub(crate) struct Ended {
    /// Tells whether its exit code was 0.
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
        send_lines(reader, &send);
    });
    let deadline = Instant::now() + limit;
    let mut text = String::new();
    loop {
        match lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok((line, is_kept)) => {
                if is_kept {
                    writeln!(file, "{line}")?;
                    text.push_str(&line);
                    text.push('\n');
                }
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

/// Sends each line, and says if it is kept: what ends with a carriage return alone is shown until it is written over.
fn send_lines(reader: impl Read, send: &Sender<(String, bool)>) {
    let (mut line, mut is_over) = (Vec::new(), false);
    for byte in BufReader::new(reader).bytes().map_while(Result::ok) {
        if is_over && byte != b'\n' {
            line.clear();
        }
        is_over = byte == b'\r';
        if byte != b'\n' && !is_over {
            line.push(byte);
            continue;
        }
        if send.send((String::from_utf8_lossy(&line).into_owned(), !is_over)).is_err() {
            return;
        }
        if !is_over {
            line.clear();
        }
    }
    if !is_over && !line.is_empty() {
        let _ = send.send((String::from_utf8_lossy(&line).into_owned(), true));
    }
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

/// Tells whether a program is on the path.
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
            watch(&mut command, &folder.path().join("log"), Duration::from_secs(60), |_| {})
                .unwrap();
        assert!(!ended.success);
        assert!(ended.text.contains("one") && ended.text.contains("two"));
    }

    #[test]
    fn what_is_written_over_is_shown_and_not_kept() {
        let (send, lines) = channel();
        send_lines(&b"1/2\r2/2\rdone\r\n\nend"[..], &send);
        drop(send);
        let all: Vec<_> = lines.iter().collect();
        let kept = |text: &str| (text.to_owned(), true);
        let shown = |text: &str| (text.to_owned(), false);
        let expected =
            [shown("1/2"), shown("2/2"), shown("done"), kept("done"), kept(""), kept("end")];
        assert_eq!(all, expected);
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
