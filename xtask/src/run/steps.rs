//! A list of steps: each timed, logged and shown, and one summary at the end.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use indicatif::ProgressBar;

use crate::run::process::watch;
use crate::run::progress::spinner;
use crate::run::service::tail;
use crate::run::workspace::target;

/// How long one step may take.
const LIMIT: Duration = Duration::from_secs(40 * 60);

#[derive(Debug)]
struct Done {
    name: String,
    took: Duration,
    outcome: Result<String, String>,
}

/// Steps done so far.
#[derive(Debug, Default)]
pub(crate) struct Steps {
    done: Vec<Done>,
}

impl Steps {
    /// Runs a step that says in a few words what it did. A failure is noted, and the next step runs.
    pub(crate) fn run(&mut self, name: &str, step: impl FnOnce(&ProgressBar) -> Result<String>) {
        let bar = spinner(name);
        if bar.is_hidden() {
            println!("== {name}");
        }
        let began = Instant::now();
        let outcome = step(&bar).map_err(|error| format!("{error:#}"));
        bar.finish_and_clear();
        let took = began.elapsed();
        match &outcome {
            Ok(said) => println!("ok      {name:<14} {:>6.1} s  {said}", took.as_secs_f64()),
            Err(why) => println!("FAILED  {name:<14} {:>6.1} s\n{why}", took.as_secs_f64()),
        }
        self.done.push(Done { name: name.to_owned(), took, outcome });
    }

    /// Runs a command as a step; `say` makes the few words from what it printed.
    pub(crate) fn command(
        &mut self,
        name: &str,
        mut command: Command,
        say: impl FnOnce(&str) -> Result<String>,
    ) {
        self.run(name, |bar| {
            let log = target().join("xtask").join(format!("{}.log", name.replace(' ', "-")));
            let ended = watch(&mut command, &log, LIMIT, |line| {
                bar.set_message(line.chars().take(100).collect::<String>());
            })?;
            if !ended.success {
                let named: Vec<_> = ended.text.lines().filter(|line| is_verdict(line)).collect();
                bail!("{command:?} failed\n{}{}", named.join("\n"), tail(&log, 60));
            }
            say(&ended.text)
        });
    }

    /// Prints every step with its time.
    ///
    /// # Errors
    /// The names of the steps that failed.
    pub(crate) fn finish(self) -> Result<()> {
        println!("\n{:<16}{:>9}", "step", "seconds");
        for done in &self.done {
            let said = done.outcome.as_ref().map_or("FAILED", String::as_str);
            println!("{:<16}{:>9.1}  {said}", done.name, done.took.as_secs_f64());
        }
        let total: Duration = self.done.iter().map(|done| done.took).sum();
        println!("{:<16}{:>9.1}", "all", total.as_secs_f64());
        let failed: Vec<_> = self
            .done
            .iter()
            .filter(|done| done.outcome.is_err())
            .map(|done| done.name.as_str())
            .collect();
        if failed.is_empty() {
            println!("\nall {} steps are green", self.done.len());
            return Ok(());
        }
        bail!("{} of {} steps failed: {}", failed.len(), self.done.len(), failed.join(", "))
    }
}

/// Whether a line of `cargo test` names a test that failed, or where it did; the end of a long log no longer shows it.
fn is_verdict(line: &str) -> bool {
    line.ends_with(" ... FAILED")
        || (line.starts_with("thread '") && line.contains(" panicked at "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_that_failed_are_named() {
        assert!(is_verdict("test a::b ... FAILED"));
        assert!(is_verdict("thread 'a::b' (7) panicked at src/a.rs:1:2:"));
        assert!(!is_verdict("test a::b ... ok"));
    }

    #[test]
    fn one_failing_step_fails_all_and_the_others_still_run() {
        let mut steps = Steps::default();
        steps.run("bad", |_| bail!("broken"));
        let mut ran = false;
        steps.run("good", |_| {
            ran = true;
            Ok(String::new())
        });
        assert!(ran);
        assert_eq!(steps.finish().unwrap_err().to_string(), "1 of 2 steps failed: bad");
    }
}
