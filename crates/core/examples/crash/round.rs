//! The rounds: start the writers, end them, look.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::channel;
use std::time::{Duration, Instant};

use crate::Outcome;

const IMAGE_BYTES: u64 = 512 * 1024 * 1024;
/// Age below which a power cut may take what was acknowledged as surviving the process alone.
const PROCESS_GRACE: Duration = Duration::from_millis(600);
/// The writers are ended after this many acknowledgements and some more each round, so that no two of so many end alike.
const ENOUGH: usize = 400;
const LENGTHS: usize = 20;
const PATIENCE: Duration = Duration::from_secs(60);

/// Runs the rounds and fails unless every one held.
pub(crate) fn run(how: &str, count: &str, without_sync: bool) -> Outcome<()> {
    let count: usize = count.parse()?;
    let (mut held, mut acknowledged) = (0, 0);
    for number in 0..count {
        let folder = tempfile::tempdir()?;
        let enough = ENOUGH + 137 * (number % LENGTHS);
        let mut flags = Vec::new();
        if without_sync {
            flags.push("--without-sync");
        }
        if number % 2 == 1 {
            flags.push("--records-alone");
        }
        let (lines, data) = match how {
            "kill" => killed(folder.path(), enough, &flags)?,
            _ => cut(folder.path(), enough, &flags)?,
        };
        acknowledged += lines.len();
        let verdict = verified(&data, &lines, how);
        if how == "cut" {
            command("umount", &[&folder.path().join("copy")])?;
        }
        match verdict {
            Ok(()) => held += 1,
            Err(error) => println!("{how} {}: {error}", number + 1),
        }
    }
    let said = format!("{held} of {count} {how}s held, {acknowledged} writes acknowledged");
    if held == count {
        println!("stores: {said}");
        return Ok(());
    }
    Err(format!("stores: {said}").into())
}

/// Writers under way, and what they have acknowledged.
struct Writers {
    child: Child,
    lines: std::sync::mpsc::Receiver<(Instant, String)>,
    acknowledged: Vec<(Instant, String)>,
}

impl Writers {
    fn start(data: &Path, flags: &[&str]) -> Outcome<Self> {
        let mut start = itself()?;
        start.arg("write").arg(data).args(flags);
        let mut child = start.stdout(Stdio::piped()).spawn()?;
        let out = child.stdout.take().ok_or("no output")?;
        let (send, lines) = channel();
        std::thread::spawn(move || {
            for line in BufReader::new(out).lines().map_while(Result::ok) {
                if send.send((Instant::now(), line)).is_err() {
                    break;
                }
            }
        });
        Ok(Self { child, lines, acknowledged: Vec::new() })
    }

    fn until(&mut self, enough: usize) -> Outcome<()> {
        while self.acknowledged.len() < enough {
            self.acknowledged.push(
                self.lines
                    .recv_timeout(PATIENCE)
                    .map_err(|_| "the writers ended, or acknowledged nothing for a minute")?,
            );
        }
        Ok(())
    }

    /// Kills the writers and gives every line that they wrote.
    fn end(mut self) -> Outcome<Vec<(Instant, String)>> {
        self.child.kill()?;
        self.child.wait()?;
        self.acknowledged.extend(self.lines.iter());
        Ok(self.acknowledged)
    }
}

fn killed(folder: &Path, enough: usize, flags: &[&str]) -> Outcome<(Vec<String>, PathBuf)> {
    let data = folder.join("data");
    let mut writers = Writers::start(&data, flags)?;
    writers.until(enough)?;
    let lines = writers.end()?.into_iter().map(|(_, line)| line).collect();
    Ok((lines, data))
}

fn cut(folder: &Path, enough: usize, flags: &[&str]) -> Outcome<(Vec<String>, PathBuf)> {
    let (image, disk) = (folder.join("disk.img"), folder.join("disk"));
    let (copy, mounted) = (folder.join("copy.img"), folder.join("copy"));
    std::fs::File::create(&image)?.set_len(IMAGE_BYTES)?;
    let needs = |error: Box<dyn std::error::Error>| {
        format!("not run, which is not passed: {error}. A power cut needs root and loop devices")
    };
    command("mkfs.ext4", &[Path::new("-q"), Path::new("-F"), &image]).map_err(needs)?;
    std::fs::create_dir(&disk)?;
    let looped = [Path::new("-o"), Path::new("loop")];
    command("mount", &[looped[0], looped[1], &image, &disk]).map_err(needs)?;
    let mut writers = Writers::start(&disk.join("data"), flags)?;
    let ready = writers.until(enough);
    // Stopped, so that nothing is acknowledged while the image is copied.
    let stopped =
        command("kill", &[Path::new("-STOP"), Path::new(&writers.child.id().to_string())]);
    let ended = Instant::now();
    std::fs::copy(&image, &copy)?;
    let lines = writers.end()?;
    command("umount", &[&disk])?;
    ready?;
    stopped?;
    std::fs::create_dir(&mounted)?;
    command("mount", &[looped[0], looped[1], &copy, &mounted])?;
    let lines = lines
        .into_iter()
        .filter(|(when, line)| !line.starts_with("process") || *when + PROCESS_GRACE < ended)
        .map(|(_, line)| line)
        .collect();
    Ok((lines, mounted.join("data")))
}

/// Looks in a process of its own: an engine that cannot read its files must not end the rounds.
fn verified(data: &Path, lines: &[String], how: &str) -> Outcome<()> {
    let mut child = itself()?
        .arg("verify")
        .args([data, Path::new(how)])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let mut input = child.stdin.take().ok_or("no input")?;
    let told = input.write_all(lines.join("\n").as_bytes());
    drop(input);
    let output = child.wait_with_output()?;
    if output.status.success() {
        return Ok(told?);
    }
    Err(String::from_utf8_lossy(&output.stdout).trim().into())
}

fn itself() -> Outcome<Command> {
    Ok(Command::new(std::env::current_exe()?))
}

fn command(program: &str, arguments: &[&Path]) -> Outcome<()> {
    let output = Command::new(program).args(arguments).output()?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!("{program}: {}", String::from_utf8_lossy(&output.stderr).trim()).into())
}
