//! `cargo xtask soak`: what takes long and finds what is rare; an hour at most, and not for CI.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, anyhow, bail};

use crate::run::clients;
use crate::run::process::{has, watch};
use crate::run::service::{SERVICES, tail};
use crate::run::steps::{self, Step};
use crate::run::tally::cargo_tests;
use crate::run::workspace::{cargo, files, root, target};
use crate::task::{crash, e2e, explore, process, scale, walks};

/// Arguments of `soak`.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Arguments {
    /// Only the steps whose name contains this text
    #[arg(long, value_name = "TEXT")]
    pub step: Option<String>,
    /// The minutes of load on the services, which are side by side
    #[arg(long, default_value_t = MINUTES, value_parser = clap::value_parser!(u64).range(1..=60))]
    pub minutes: u64,
}

/// The minutes of load, unless it is asked for otherwise.
const MINUTES: u64 = 10;

/// The table of what the services were like before and after load.
const TABLE: &str = "docs/benchmarks/soak.md";

/// The beginning of its line about the load.
const LOAD: &str = "Load: ";

/// The time that each fuzz target runs.
const FUZZ_SECONDS: u64 = 60;

/// The version of cargo-fuzz that is installed.
const CARGO_FUZZ: &str = "0.13.1";

/// The time that cargo-fuzz may take before it is killed.
const LIMIT: Duration = Duration::from_secs(15 * 60);

/// Runs every step, whatever the others say.
///
/// # Errors
/// The names of the steps that failed.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    steps::run(&steps(arguments.minutes)?, arguments.step.as_deref())
}

/// Fuzz targets that run at once, on two cores.
const FUZZED_AT_ONCE: usize = 6;

/// The steps with their seconds on two cores: kills and power cuts first, then the fuzz targets, whose build the first of them makes.
fn steps(minutes: u64) -> Result<Vec<Step>> {
    let mut steps = vec![
        Step::new("crash", 9 * 60, crash_full),
        Step::new("explore", 10 * 60, explore::full),
        Step::new("processes", 3 * 60, process::full),
        Step::new("load", minutes * 60 + 90, move || load(minutes)),
        Step::new("heavy clients", 75, heavy_clients),
        Step::new("walks", 2 * 60, walks::run),
        Step::command("scale", 6 * 60, || scale::instances("postgres"), cargo_tests),
        Step::command("etcd", 3 * 60, || Ok(etcd()), cargo_tests),
        Step::new("fuzz build", 8 * 60, fuzz_build),
    ];
    for names in targets()?.chunks(FUZZED_AT_ONCE) {
        let names = names.to_vec();
        let name = format!("fuzz {}", names.join(" "));
        steps.push(Step::new(name, FUZZ_SECONDS + 15, move || fuzz_at_once(&names)));
    }
    Ok(steps)
}

fn crash_full() -> Result<String> {
    crash::run(&crash::Arguments { full: true, ..crash::Arguments::default() })?;
    Ok("every kill and every power cut lost nothing".into())
}

/// Soaks all services at once, and keeps their rows in the table.
fn load(minutes: u64) -> Result<String> {
    e2e::build()?;
    clients::install_packages()?;
    let other_work = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let other_work = other_work.split_whitespace().next().unwrap_or("unknown").to_owned();
    let rows = std::thread::scope(|scope| {
        let soaked: Vec<_> = SERVICES
            .iter()
            .map(|service| scope.spawn(move || crash::soak(service, minutes)))
            .collect();
        let ended = soaked.into_iter().map(|thread| {
            thread.join().unwrap_or_else(|_| Err(anyhow!("a thread of a soak panicked")))
        });
        ended.collect::<Vec<_>>()
    });
    let rows = rows.into_iter().collect::<Result<Vec<_>>>()?;
    let each = if minutes == 1 { "1 minute".to_owned() } else { format!("{minutes} minutes") };
    let load =
        format!("{LOAD}{each} each; other work that wanted the cores when it began: {other_work}.");
    write_rows(&root().join(TABLE), &rows, &load)?;
    Ok(format!("{} services for {minutes} minutes; {TABLE} has the figures", rows.len()))
}

/// Puts rows in the place of those of the same services, and what was asked for in the line above them.
fn write_rows(table: &Path, rows: &[String], load: &str) -> Result<()> {
    let mut text = std::fs::read_to_string(table)?;
    let old = text.lines().find(|line| line.starts_with(LOAD));
    let old = old.with_context(|| format!("no line begins with {LOAD:?}"))?.to_owned();
    text = text.replace(&old, load);
    for row in rows {
        let name = row.split('|').nth(1).unwrap_or_default();
        let is_old = |line: &&str| line.split('|').nth(1) == Some(name);
        let old = text.lines().find(is_old).with_context(|| format!("{name} has no row"))?;
        text = text.replace(old, row);
    }
    Ok(std::fs::write(table, text)?)
}

fn heavy_clients() -> Result<String> {
    e2e::build()?;
    e2e::drive(&e2e::Arguments { heavy: true, ..e2e::Arguments::default() })
}

/// The engine on etcd, on clusters of three that its tests start: the laws of every engine, and leaders that are killed and cut off.
fn etcd() -> Command {
    let features = "conformance,etcd,host,redb,testing,tls";
    let test = ["test", "--locked", "-p", "triptych-core", "--features", features];
    let mut command = cargo(&test);
    command.args(["--test", "etcd", "--", "--nocapture"]);
    command
}

/// Names of the fuzz targets, one a file.
fn targets() -> Result<Vec<String>> {
    let found = files(&root().join("fuzz/fuzz_targets"), ".rs")?;
    let names = found.iter().filter_map(|path| path.file_stem());
    Ok(names.map(|name| name.to_string_lossy().into_owned()).collect())
}

fn fuzz_build() -> Result<String> {
    install_fuzzer()?;
    fuzzer(&["build"], "fuzz-build")?;
    Ok(format!("{} targets", targets()?.len()))
}

/// Runs these targets side by side.
fn fuzz_at_once(names: &[String]) -> Result<String> {
    let said = std::thread::scope(|scope| {
        let running: Vec<_> = names.iter().map(|name| scope.spawn(|| fuzz(name))).collect();
        let ended = running.into_iter().map(|thread| {
            thread.join().unwrap_or_else(|_| Err(anyhow!("a fuzzing thread panicked")))
        });
        ended.collect::<Result<Vec<_>>>()
    })?;
    Ok(said.join("; "))
}

/// Runs a target on its committed corpus; what it finds new is kept out of that, under the target directory.
fn fuzz(name: &str) -> Result<String> {
    let found = target().join("fuzz-corpus").join(name);
    std::fs::create_dir_all(&found)?;
    let (found, committed) = (found.display().to_string(), format!("fuzz/corpus/{name}"));
    let limit = format!("-max_total_time={FUZZ_SECONDS}");
    let said = fuzzer(&["run", name, &found, &committed, "--", &limit], &format!("fuzz-{name}"))?;
    let last = said.lines().rev().find(|line| line.starts_with("Done "));
    last.map(str::to_owned).ok_or_else(|| anyhow!("{name} did not say how many inputs it ran"))
}

/// The folder of programs that this tool installs for itself.
fn tools() -> PathBuf {
    target().join("tools")
}

/// Installs cargo-fuzz below the target directory, where it is not there already.
fn install_fuzzer() -> Result<()> {
    if has("cargo-fuzz") || tools().join("bin/cargo-fuzz").is_file() {
        return Ok(());
    }
    let mut command = cargo(&["install", "cargo-fuzz", "--locked", "--version", CARGO_FUZZ]);
    logged(command.arg("--root").arg(tools()), "fuzz-install").map(drop)
}

/// Runs cargo-fuzz, which wants flags of a nightly compiler.
fn fuzzer(arguments: &[&str], log: &str) -> Result<String> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let own = std::iter::once(tools().join("bin"));
    let mut command = cargo(&["fuzz"]);
    command.args(arguments).env("RUSTC_BOOTSTRAP", "1");
    command.env("PATH", std::env::join_paths(own.chain(std::env::split_paths(&paths)))?);
    logged(&mut command, log)
}

/// Runs a command that must succeed, and gives what it says, which a log of this name keeps.
fn logged(command: &mut Command, log: &str) -> Result<String> {
    let log = target().join("xtask").join(format!("{log}.log"));
    let ended = watch(command, &log, LIMIT, |_| {})?;
    if !ended.success {
        bail!("{command:?} failed{}", tail(&log, 40));
    }
    Ok(ended.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budgets_of_all_steps_are_within_an_hour() {
        assert!(steps(MINUTES).unwrap().iter().map(|step| step.budget).sum::<u64>() <= 60 * 60);
    }

    #[test]
    fn each_fuzz_target_has_a_corpus_and_each_corpus_a_target() {
        let folders = std::fs::read_dir(root().join("fuzz/corpus")).unwrap();
        let mut corpora: Vec<_> =
            folders.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        corpora.sort();
        assert_eq!(targets().unwrap(), corpora);
    }
}
