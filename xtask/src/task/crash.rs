//! `cargo xtask crash`: kill the real binaries while they are written to, or back them up, start them again, and look for what they acknowledged.
//!
//! The stores below them have rounds of their own, driven by `crates/core/examples/crash`, which also shows that a power
//! cut is noticed when the sync is left out. With `--states`, `--faults` and `--syncs` the stores run on a simulated disk instead
//! (`crates/core/examples/explore.rs`), whose every legal state after a kill or a cut may be opened and compared.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::run::clients;
use crate::run::features;
use crate::run::process::watch;
use crate::run::service::{SERVICES, Service, tail};
use crate::run::workspace::{cargo, root, target};
use crate::task::e2e;

/// Arguments of `crash`.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Arguments {
    /// 20 kills of each service, 50 of uploads in parts, 5 power cuts and 5 backups under load, instead of the short form
    #[arg(long)]
    pub full: bool,
    /// One of them alone: the stores, object, video or tabs
    #[arg(long, value_parser = [STORES, "object", "video", "tabs"])]
    pub only: Option<String>,
    /// Instead: so many states that kills and cuts may leave of the stores and of the services on them, on a simulated disk
    #[arg(long, value_name = "N")]
    pub states: Option<u64>,
    /// Instead: one call to the simulated disk in so many fails, of each kind, at run and at start
    #[arg(long, value_name = "EVERY")]
    pub faults: Option<u64>,
    /// Instead: each sync is left out in turn, and has to be missed within so many states
    #[arg(long, value_name = "N")]
    pub syncs: Option<u64>,
    /// The writes on the simulated disk [default: all]
    #[arg(long, value_parser = WORKLOADS)]
    pub workload: Option<String>,
    /// The seed of the first run on the simulated disk
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

/// The workloads of the explorer: two of the stores, and the services above them.
const WORKLOADS: [&str; 5] = ["records", "bodies", "object", "video", "tabs"];
/// The services that are driven on the simulated disk: the package and the test.
const DRIVEN: [(&str, &str, &str); 3] = [
    ("object", "object-put", "crash_states"),
    ("video", "video-api", "wire"),
    ("tabs", "tabs-api", "crash_states"),
];
/// States of the full form; the short one is among the unit tests.
const STATES_FULL: u64 = 5_000;
/// States of each service in the full form: each is looked at by a client, which takes longer.
const SERVICE_STATES_FULL: u64 = 600;
/// One call in so many fails in the full form.
const FAULTS_FULL: u64 = 7;

/// The time that a soak takes beside its rounds: starts, looks, and rests.
const SOAK_REST_SECONDS: u64 = 10 * 60;

/// The name of the rounds of the stores.
const STORES: &str = "stores";
/// The kills of a service in the short form, which `test` runs.
const KILLS_SHORT: u32 = 3;
/// The kills in the full form.
const KILLS_FULL: u32 = 20;
/// The kills of uploads in parts in the full form: there is more between their steps.
const KILLS_OF_PARTS: u32 = 50;
/// Backups under load, which are restored to another directory: what was acknowledged before one was asked for is in it. The stores' own are among
/// the unit tests, and what uploads in parts are at one moment no writer knows.
const BACKUP: &str = "backup";
const BACKUPS_SHORT: u32 = 1;
const BACKUPS_FULL: u32 = 5;
/// The power cuts in the full form.
const CUTS_FULL: u32 = 5;

/// Builds, installs the clients and runs the rounds.
///
/// # Errors
/// If anything acknowledged is lost, anything partial is visible, or a power cut was asked for where none can be made.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if [arguments.states, arguments.faults, arguments.syncs].iter().any(Option::is_some) {
        return explore(arguments);
    }
    e2e::build()?;
    clients::install()?;
    let mut failed = Vec::new();
    let is_chosen = |name: &str| arguments.only.as_deref().is_none_or(|only| only == name);
    let rounds: &[_] = if arguments.full {
        &[("kill", KILLS_FULL), ("cut", CUTS_FULL), (BACKUP, BACKUPS_FULL)]
    } else {
        &[("kill", KILLS_SHORT), (BACKUP, BACKUPS_SHORT)]
    };
    let mut told = |name: &str, how: &str, outcome: Result<String>| match outcome {
        Ok(said) => println!("ok      {said}"),
        Err(error) => {
            println!("FAILED  {name} {how}: {error:#}");
            failed.push(format!("{name} {how}"));
        }
    };
    for (how, count) in rounds {
        if is_chosen(STORES) && *how != BACKUP {
            told(STORES, how, rounds_of_stores(how, *count));
        }
        for service in SERVICES.iter().filter(|service| is_chosen(service.short)) {
            for writer in writers(service) {
                if *how == BACKUP && writer.ends_with(PARTS) {
                    continue;
                }
                let kills_of_parts = arguments.full && *how == "kill" && writer.ends_with(PARTS);
                let count = if kills_of_parts { KILLS_OF_PARTS } else { *count };
                told(&writer, how, rounds_of(service, &writer, how, count));
            }
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    bail!("not held, or not run: {}", failed.join(", "))
}

/// The short form: a few kills of each service.
///
/// # Errors
/// As [`run`].
pub(crate) fn short() -> Result<String> {
    clients::install()?;
    let mut said = vec![rounds_of_stores("kill", KILLS_SHORT)?];
    for service in &SERVICES {
        for writer in writers(service) {
            said.push(rounds_of(service, &writer, "kill", KILLS_SHORT)?);
        }
        said.push(rounds_of(service, &own_writer(service), BACKUP, BACKUPS_SHORT)?);
    }
    Ok(said.join("; "))
}

/// The full form of the explorer.
///
/// # Errors
/// Whatever was found, or a sync that nothing missed.
pub(crate) fn explore_full() -> Result<String> {
    let mut said = explored(STATES_FULL, FAULTS_FULL)?;
    said.push(explorer(&["syncs", &STATES_FULL.to_string(), "1"])?);
    Ok(said.join("; "))
}

/// All workloads on the simulated disk: states, then faults of the stores.
fn explored(states: u64, every: u64) -> Result<Vec<String>> {
    let mut said = Vec::new();
    for workload in WORKLOADS {
        if driven(workload).is_some() {
            said.push(states_of_service(workload, SERVICE_STATES_FULL, "1")?);
            continue;
        }
        said.push(explorer(&["states", &states.to_string(), workload, "1"])?);
        said.push(explorer(&["faults", &every.to_string(), workload, "1"])?);
    }
    Ok(said)
}

fn driven(workload: &str) -> Option<(&'static str, &'static str)> {
    let found = DRIVEN.iter().find(|(name, ..)| *name == workload);
    found.map(|(_, package, test)| (*package, *test))
}

/// The states of a service on the simulated disk.
fn states_of_service(workload: &str, states: u64, seed: &str) -> Result<String> {
    let (package, test) = driven(workload).with_context(|| format!("{workload} is no service"))?;
    let features = features::local(Some(package))?;
    let mut command =
        cargo(&["test", "--quiet", "--locked", "-p", package, "--features", &features]);
    command.args(["--test", test, "no_kill_and_no_cut_takes", "--", "--nocapture"]);
    command.env("TRIPTYCH_STATES", states.to_string()).env("TRIPTYCH_SEED", seed);
    let log = target().join("xtask").join(format!("explore-states-{workload}.log"));
    let ended = watch(&mut command, &log, Duration::from_secs(60 * 60), |_| {})?;
    let said = ended.text.lines().find(|line| line.contains("lost nothing"));
    match said {
        Some(said) if ended.success => Ok(format!("{workload}: {said}")),
        _ => bail!("explore states {states} {workload}{}", tail(&log, 40)),
    }
}

/// Runs what the arguments ask of the explorer, and prints what it found.
fn explore(arguments: &Arguments) -> Result<()> {
    let seed = arguments.seed.to_string();
    let is_chosen =
        |workload: &&str| arguments.workload.as_deref().is_none_or(|chosen| chosen == *workload);
    for workload in WORKLOADS.iter().filter(|workload| is_chosen(workload)) {
        if driven(workload).is_some() {
            if let Some(states) = arguments.states {
                println!("{}", states_of_service(workload, states, &seed)?);
            }
            continue;
        }
        for (how, number) in [("states", arguments.states), ("faults", arguments.faults)] {
            if let Some(number) = number {
                println!("{}", explorer(&[how, &number.to_string(), workload, &seed])?);
            }
        }
    }
    if let Some(states) = arguments.syncs {
        println!("{}", explorer(&["syncs", &states.to_string(), &seed])?);
    }
    Ok(())
}

/// Runs the explorer; gives all that it said.
fn explorer(words: &[&str]) -> Result<String> {
    let features = features::local(Some("triptych-core"))?;
    let program = ["run", "--quiet", "--locked", "-p", "triptych-core", "--example", "explore"];
    let mut command = cargo(&program);
    command.args(["--features", &features, "--"]).args(words);
    let log = target().join("xtask").join(format!("explore-{}.log", words.join("-")));
    let ended = watch(&mut command, &log, Duration::from_secs(30 * 60), |_| {})?;
    if !ended.success {
        bail!("explore {}{}", words.join(" "), tail(&log, 40));
    }
    Ok(ended.text.trim().to_owned())
}

/// Runs the stores' own writers through some rounds; the last line says what held.
fn rounds_of_stores(how: &str, count: u32) -> Result<String> {
    let mut command = cargo(&[
        "run",
        "--quiet",
        "--locked",
        "-p",
        "triptych-core",
        "--example",
        "crash",
        "--features",
        "sled,testing",
        "--",
        how,
        &count.to_string(),
    ]);
    let log = target().join("xtask").join(format!("crash-{STORES}-{how}.log"));
    let ended = watch(&mut command, &log, Duration::from_secs(20 * 60), |_| {})?;
    if !ended.success {
        bail!("{STORES} {how} x{count}{}", tail(&log, 40));
    }
    Ok(ended.text.lines().last().unwrap_or_default().to_owned())
}

/// The end of the name of those writers that upload in parts.
const PARTS: &str = "_parts";

/// The names of a service's writers: its own, and those beside it.
fn writers(service: &Service) -> Vec<String> {
    let own = own_writer(service);
    let of_parts = format!("{own}{PARTS}");
    let all = [own, of_parts].into_iter();
    all.filter(|writer| script(writer).is_file()).collect()
}

fn own_writer(service: &Service) -> String {
    service.name.replace('-', "_")
}

fn script(writer: &str) -> PathBuf {
    root().join("tests/crash").join(format!("{writer}.py"))
}

/// Soaks a service for so many minutes; gives its row of the table.
///
/// # Errors
/// Whatever was lost, or did not come back to where it was.
pub(crate) fn soak(service: &Service, minutes: u64) -> Result<String> {
    let limit = Duration::from_secs(minutes * 60 + SOAK_REST_SECONDS);
    rounds_within(service, &own_writer(service), "soak", minutes * 60, limit)
}

/// Runs writers of a service through some rounds; the last line says what held.
fn rounds_of(service: &Service, writer: &str, how: &str, count: u32) -> Result<String> {
    rounds_within(service, writer, how, u64::from(count), Duration::from_secs(20 * 60))
}

fn rounds_within(
    service: &Service,
    writer: &str,
    how: &str,
    count: u64,
    limit: Duration,
) -> Result<String> {
    let script = script(writer);
    let log = target().join("xtask").join(format!("crash-{writer}-{how}.log"));
    let mut command = Command::new(clients::python());
    command.arg(&script).args([how, &count.to_string()]).current_dir(root());
    command.env("TRIPTYCH_BINARY", service.binary(false));
    command.env("TRIPTYCH_SEED", service.demo_seed());
    let ended = watch(&mut command, &log, limit, |_| {})?;
    if !ended.success {
        bail!("{writer} {how} x{count}{}", tail(&log, 40));
    }
    Ok(ended.text.lines().last().unwrap_or_default().to_owned())
}
