//! A table of steps: each timed beside its budget, logged and shown, and one summary at the end.

use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use indicatif::ProgressBar;

use crate::run::process::watch;
use crate::run::progress::spinner;
use crate::run::service::tail;
use crate::run::tally::cargo_tests;
use crate::run::test_programs::{self, is_verdict};
use crate::run::workspace::target;

/// The time that one command may take before it is killed.
const LIMIT: Duration = Duration::from_secs(40 * 60);

/// The work of a step; it says in a few words what it did.
type Work = Box<dyn Fn(&Step, &ProgressBar) -> Result<String>>;

/// One row of a table of steps.
pub(crate) struct Step {
    /// Its name, by which it is chosen.
    pub name: String,
    /// The seconds that it should take at most; a slower machine may need more, so that more is shown and is no failure.
    pub budget: u64,
    work: Work,
}

impl Step {
    /// A step that does something and says what.
    pub(crate) fn new(
        name: impl Into<String>,
        budget: u64,
        work: impl Fn() -> Result<String> + 'static,
    ) -> Self {
        Self { name: name.into(), budget, work: Box::new(move |_, _| work()) }
    }

    /// A step that runs a command; `say` makes the few words from what it printed.
    pub(crate) fn command(
        name: impl Into<String>,
        budget: u64,
        command: impl Fn() -> Result<Command> + 'static,
        say: impl Fn(&str) -> Result<String> + 'static,
    ) -> Self {
        let work =
            move |step: &Self, bar: &ProgressBar| say(&watched(&step.name, command()?, bar)?);
        Self { name: name.into(), budget, work: Box::new(work) }
    }

    /// A step that builds what a `cargo test` command tests, and runs the programs of it side by side.
    pub(crate) fn tests(
        name: impl Into<String>,
        budget: u64,
        test: impl Fn() -> Result<Command> + 'static,
    ) -> Self {
        let work = move |step: &Self, bar: &ProgressBar| {
            let mut build = test()?;
            build.arg("--no-run");
            watched(&step.name, build, bar)?;
            let logs = target().join("xtask").join(&step.name);
            let say = |name: &str| bar.set_message(name.to_owned());
            cargo_tests(&test_programs::run(&test, &logs, say)?)
        };
        Self { name: name.into(), budget, work: Box::new(work) }
    }
}

fn watched(name: &str, mut command: Command, bar: &ProgressBar) -> Result<String> {
    let log = target().join("xtask").join(format!("{}.log", name.replace(' ', "-")));
    let ended = watch(&mut command, &log, LIMIT, |line| {
        bar.set_message(line.chars().take(100).collect::<String>());
    })?;
    if !ended.success {
        let named: Vec<_> = ended.text.lines().filter(|line| is_verdict(line)).collect();
        bail!("{command:?} failed\n{}{}", named.join("\n"), tail(&log, 60));
    }
    Ok(ended.text)
}

/// Runs the steps whose name contains the text, whatever the others say, and prints each with its time.
///
/// # Errors
/// The names of the steps that failed, or that there is none of this name.
pub(crate) fn run(steps: &[Step], text: Option<&str>) -> Result<()> {
    let chosen = steps.iter().filter(|step| text.is_none_or(|text| step.name.contains(text)));
    let done: Vec<_> = chosen.map(Done::of).collect();
    if done.is_empty() {
        let names: Vec<_> = steps.iter().map(|step| step.name.as_str()).collect();
        bail!("there is no such step; there are: {}", names.join(", "));
    }
    println!("\n{:<24}{:>9}{:>9}", "step", "seconds", "budget");
    for done in &done {
        println!("{}  {}", done.row(), done.outcome.as_ref().map_or("FAILED", String::as_str));
    }
    let took: Duration = done.iter().map(|done| done.took).sum();
    let budget: u64 = done.iter().map(|done| done.step.budget).sum();
    println!("{:<24}{:>9.1}{budget:>9}", "all", took.as_secs_f64());
    let failed = done.iter().filter(|done| done.outcome.is_err());
    let failed: Vec<_> = failed.map(|done| done.step.name.as_str()).collect();
    if failed.is_empty() {
        println!("\nall {} steps are green", done.len());
        return Ok(());
    }
    bail!("{} of {} steps failed: {}", failed.len(), done.len(), failed.join(", "))
}

/// A step that ended.
struct Done<'a> {
    step: &'a Step,
    took: Duration,
    outcome: Result<String, String>,
}

impl<'a> Done<'a> {
    fn of(step: &'a Step) -> Self {
        let bar = spinner(&step.name);
        if bar.is_hidden() {
            println!("== {}", step.name);
        }
        let began = Instant::now();
        let outcome = (step.work)(step, &bar).map_err(|error| format!("{error:#}"));
        bar.finish_and_clear();
        let done = Self { step, took: began.elapsed(), outcome };
        match &done.outcome {
            Ok(said) => println!("ok      {}  {said}", done.row()),
            Err(why) => println!("FAILED  {}\n{why}", done.row()),
        }
        done
    }

    /// The name, the seconds and the budget, with a mark where it was not enough.
    fn row(&self) -> String {
        let (name, budget, took) = (&self.step.name, self.step.budget, self.took.as_secs_f64());
        let mark = if self.took > Duration::from_secs(budget) { '!' } else { ' ' };
        format!("{name:<24}{took:>9.1}{budget:>9}{mark}")
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::rc::Rc;

    use super::*;

    #[test]
    fn one_failing_step_fails_all_and_the_others_still_run() {
        let ran = Rc::new(Cell::new(false));
        let seen = Rc::clone(&ran);
        let good = move || {
            seen.set(true);
            Ok(String::new())
        };
        let steps = [Step::new("bad", 1, || bail!("broken")), Step::new("good", 1, good)];
        let failed = run(&steps, None).unwrap_err();
        assert!(ran.get());
        assert_eq!(failed.to_string(), "1 of 2 steps failed: bad");
    }

    #[test]
    fn a_step_is_chosen_by_a_part_of_its_name_and_one_that_is_not_there_is_refused() {
        let steps =
            [Step::new("bad", 1, || bail!("broken")), Step::new("good", 1, || Ok("".into()))];
        assert!(run(&steps, Some("oo")).is_ok());
        assert!(run(&steps, Some("x")).unwrap_err().to_string().contains("bad, good"));
    }

    #[test]
    fn a_step_over_its_budget_is_marked_and_stays_green() {
        let step = Step::new("slow", 1, || Ok(String::new()));
        let row = |millis| {
            Done { step: &step, took: Duration::from_millis(millis), outcome: Ok(String::new()) }
                .row()
        };
        assert!(row(1_100).ends_with("1.1        1!"));
        assert!(row(900).ends_with("0.9        1 "));
    }
}
