//! Progress of long work: in a spinner, or on lines of their own where there is no terminal.

use std::process::Command;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use indicatif::{ProgressBar, ProgressStyle};

use crate::run::process::watch;
use crate::run::service::tail;
use crate::run::workspace::target;

/// The time that a build may take.
const LIMIT: Duration = Duration::from_secs(40 * 60);

/// The time between lines where there is no terminal.
const PACE: Duration = Duration::from_secs(1);

/// Work that says where it is.
#[derive(Debug)]
pub(crate) struct Progress {
    bar: ProgressBar,
    name: String,
    printer: Option<(Sender<String>, JoinHandle<()>)>,
}

impl Progress {
    /// Work of this name, which begins now.
    pub(crate) fn begin(name: &str) -> Self {
        let bar = spinner(name);
        let printer = bar.is_hidden().then(|| {
            println!("{name}");
            let (send, lines) = channel();
            (send, std::thread::spawn(move || print_latest(&lines, PACE)))
        });
        Self { bar, name: name.to_owned(), printer }
    }

    /// Says where it is now.
    pub(crate) fn at(&self, what: &str) {
        match &self.printer {
            Some((send, _)) => drop(send.send(format!("{} {what}", self.name))),
            None => self.bar.set_message(what.to_owned()),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
        if let Some((send, printer)) = self.printer.take() {
            drop(send);
            let _ = printer.join();
        }
    }
}

/// Prints the latest of the lines that come within each `pace`.
fn print_latest(lines: &Receiver<String>, pace: Duration) {
    while let Ok(mut line) = lines.recv() {
        let end = Instant::now() + pace;
        while let Ok(next) = lines.recv_timeout(end.saturating_duration_since(Instant::now())) {
            line = next;
        }
        println!("{line}");
    }
}

/// Runs a build of cargo's, and says which of its steps it is at.
///
/// # Errors
/// If the build fails; the message carries the end of its log.
pub(crate) fn build(command: &mut Command) -> Result<()> {
    let progress = Progress::begin("building");
    let log = target().join("xtask/build.log");
    command.env("CARGO_TERM_PROGRESS_WHEN", "always").env("CARGO_TERM_PROGRESS_WIDTH", "200");
    let ended = watch(command, &log, LIMIT, |line| {
        if let Some(step) = cargo_step(line) {
            progress.at(&step);
        }
    })?;
    drop(progress);
    if ended.success {
        return Ok(());
    }
    bail!("the build failed{}", tail(&log, 60))
}

/// The step that a line of cargo's names, such as `120 of 281: image`; of its other lines, those of what it waits for.
fn cargo_step(line: &str) -> Option<String> {
    let line = line.trim();
    if let Some(bar) = line.strip_prefix("Building [") {
        let (count, names) = bar.split_once("] ")?.1.split_once(": ")?;
        let (done, all) = count.trim().split_once('/')?;
        return Some(format!("{done} of {all}: {}", names.split(", ").next()?.trim()));
    }
    let waits = ["Blocking", "Updating", "Locking", "Downloading", "Downloaded"];
    waits.iter().any(|start| line.starts_with(start)).then(|| line.to_owned())
}

/// A spinner with its time; it hides itself where there is no terminal.
pub(crate) fn spinner(name: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {prefix:14} {elapsed:>4}  {wide_msg}")
        .unwrap_or_else(|_| ProgressStyle::default_spinner());
    let bar = ProgressBar::new_spinner().with_style(style).with_prefix(name.to_owned());
    bar.enable_steady_tick(Duration::from_millis(120));
    bar
}

/// Says where a measurement is: in its spinner, or on a line of its own where nobody sees one.
#[cfg(feature = "bench")]
pub(crate) fn at(bar: &ProgressBar, what: &str) {
    if bar.is_hidden() {
        eprintln!("   {what}");
    } else {
        bar.set_message(what.to_owned());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_step_of_a_build_is_read_from_cargos_own_bar() {
        let bar = "    Building [===>      ] 120/281: image, serde_core(build)    ";
        assert_eq!(cargo_step(bar).unwrap(), "120 of 281: image");
        assert_eq!(cargo_step("   Compiling image v0.25.10"), None);
        let waits = "    Blocking waiting for file lock on build directory";
        assert_eq!(cargo_step(waits).unwrap(), waits.trim());
    }

    #[test]
    fn where_lines_come_fast_the_latest_is_printed_and_the_end_waits_for_nothing() {
        let (send, lines) = channel();
        for line in ["a", "b"] {
            send.send(line.to_owned()).unwrap();
        }
        drop(send);
        let (began, pace) = (Instant::now(), Duration::from_secs(3_600));
        print_latest(&lines, pace);
        assert!(began.elapsed() < pace);
    }
}
