//! `cargo xtask crash`: kill the real binaries while they are written to, or back them up, start them again, and look for what they acknowledged.
//!
//! The stores below them have rounds of their own, driven by `crates/core/examples/crash`, which also shows that a power
//! cut is noticed when the sync is left out. With `--states`, `--faults`, `--syncs` and `--simulate` the stores run on a simulated disk instead
//! (`explore.rs`); with `--processes` the binaries are recorded under load, and started on what a power cut could have left (`process.rs`).

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::run::at_once::at_once;
use crate::run::clients;
use crate::run::process::watch;
use crate::run::service::{SERVICES, Service, tail};
use crate::run::workspace::{cargo, root, target};
use crate::run::writer;
use crate::task::{e2e, explore, process};

/// Arguments of `crash`.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Arguments {
    /// 200 kills and 10 power cuts of each service, of uploads in parts and of the stores, and 5 backups under load, instead of the short form
    #[arg(long)]
    pub full: bool,
    /// One of them alone: the stores, object, video or tabs
    #[arg(long, value_parser = [STORES, "object", "video", "tabs"])]
    pub only: Option<String>,
    /// So many states of each service's whole process instead, recorded by strace, that kills and power cuts may leave
    #[arg(long, value_name = "N")]
    pub processes: Option<u64>,
    /// A sync that is left out of the recordings, which has to be missed, by its name: "a group of the journal"
    #[arg(long, value_name = "SYNC", requires = "processes")]
    pub without: Option<String>,
    /// It is left out of the recordings that go on from a cut alone
    #[arg(long, requires = "without")]
    pub after_cut: bool,
    /// The tree of the records of whole processes
    #[arg(long, value_name = "TREE", requires = "processes", value_parser = process::TREES)]
    pub tree: Option<String>,
    /// On a simulated disk instead
    #[command(flatten)]
    pub explored: explore::Arguments,
}

/// The time that a soak takes beside its rounds: starts, looks, and rests.
const SOAK_REST_SECONDS: u64 = 10 * 60;

/// The name of the rounds of the stores.
const STORES: &str = "stores";
/// The kills of a service in the short form, which `test` runs.
const KILLS_SHORT: u32 = 3;
/// The kills and the power cuts of each writer in the full form: of the stores, the services, and uploads in parts.
const KILLS_FULL: u32 = 200;
const CUTS_FULL: u32 = 10;
/// Rounds of one process: there are several at once.
const SHARD_MAX: u32 = 40;
/// Backups under load, which are restored to another directory: what was acknowledged before one was asked for is in it. The stores' own are among
/// the unit tests, and what uploads in parts are at one moment no writer knows.
const BACKUP: &str = "backup";
const BACKUPS_SHORT: u32 = 1;
const BACKUPS_FULL: u32 = 5;

/// Builds, installs the clients and runs the rounds.
///
/// # Errors
/// If anything acknowledged is lost, anything partial is visible, or a power cut was asked for where none can be made.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    if arguments.explored.is_asked() {
        return explore::run(&arguments.explored);
    }
    if let Some(states) = arguments.processes {
        let tree = arguments.tree.as_deref();
        let tree = process::TREES.into_iter().find(|own| Some(*own) == tree);
        return process::run(&process::Asked {
            states,
            only: arguments.only.clone(),
            tree: tree.unwrap_or(process::TREES[0]),
            seed: arguments.explored.seed,
            without: arguments.without.clone(),
            after_cut: arguments.after_cut,
        });
    }
    e2e::build()?;
    clients::install_packages()?;
    let is_chosen = |rounds: &Rounds| {
        let name = rounds.service.map_or(STORES, |service| service.short);
        arguments.only.as_deref().is_none_or(|only| only == name)
    };
    let mut rounds = all_rounds(arguments.full);
    rounds.retain(is_chosen);
    if arguments.full {
        built(&mut stores("build"))?;
        for said in at_once(rounds, |rounds| rounds.run())? {
            println!("ok      {said}");
        }
        return Ok(());
    }
    let mut failed = Vec::new();
    for rounds in rounds {
        match rounds.run() {
            Ok(said) => println!("ok      {said}"),
            Err(error) => {
                println!("FAILED  {error:#}");
                failed.push(rounds.name());
            }
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    bail!("not held, or not run: {}", failed.join(", "))
}

/// The short form: a few kills of each service, and a few states of its process.
///
/// # Errors
/// As [`run`].
pub(crate) fn short() -> Result<String> {
    clients::install_packages()?;
    let said: Result<Vec<_>> = all_rounds(false).iter().map(Rounds::run).collect();
    let mut said = said?;
    said.push(process::short()?);
    Ok(said.join("; "))
}

/// Rounds of one writer, in a process of their own.
#[derive(Debug)]
struct Rounds {
    /// None for the stores' own writers.
    service: Option<&'static Service>,
    writer: String,
    how: &'static str,
    count: u32,
    /// Tells the rounds of one writer apart where they are side by side.
    shard: u32,
}

/// The rounds of the short form or the full one.
fn all_rounds(full: bool) -> Vec<Rounds> {
    let mut all = Vec::new();
    let mut add = |service, writer: &str, how, count: u32| {
        let shards = count.div_ceil(SHARD_MAX);
        all.extend((0..shards).map(|shard| {
            let count = count / shards + u32::from(shard < count % shards);
            Rounds { service, writer: writer.to_owned(), how, count, shard }
        }));
    };
    let (kills, cuts, backups) =
        if full { (KILLS_FULL, CUTS_FULL, BACKUPS_FULL) } else { (KILLS_SHORT, 0, BACKUPS_SHORT) };
    add(None, STORES, "kill", kills);
    add(None, STORES, "cut", cuts);
    for service in &SERVICES {
        for writer in writer::all(service) {
            add(Some(service), &writer, "kill", kills);
            add(Some(service), &writer, "cut", cuts);
        }
        add(Some(service), &writer::own(service), BACKUP, backups);
    }
    all
}

impl Rounds {
    fn name(&self) -> String {
        format!("{} {}", self.writer, self.how)
    }

    /// Runs them; the last line that they say is what held.
    fn run(&self) -> Result<String> {
        let limit = Duration::from_secs(20 * 60);
        match self.service {
            Some(service) => rounds_within(service, self, u64::from(self.count), limit),
            None => {
                let mut command = stores("run");
                command.args(["--", self.how, &self.count.to_string()]);
                self.watched(&mut command, limit)
            }
        }
    }

    fn watched(&self, command: &mut Command, limit: Duration) -> Result<String> {
        let log = format!("crash-{}-{}-{}.log", self.writer, self.how, self.shard);
        let log = target().join("xtask").join(log);
        if self.how != "soak" && Path::new(writer::MEMORY).is_dir() {
            // A kill takes nothing from the system, and a cut what the device below the file system does not have: both know no slow disk.
            command.env("TMPDIR", writer::MEMORY);
        }
        let ended = watch(command, &log, limit, |_| {})?;
        if !ended.success {
            bail!("{} x{}{}", self.name(), self.count, tail(&log, 40));
        }
        Ok(ended.text.lines().last().unwrap_or_default().to_owned())
    }
}

/// The program of the stores' own writers, to be built or run.
fn stores(how: &str) -> Command {
    let example = ["-p", "triptych-core", "--example", "crash", "--features", "sled,testing"];
    let mut command = cargo(&[how, "--quiet", "--locked"]);
    command.args(example);
    command
}

fn built(command: &mut Command) -> Result<()> {
    let log = target().join("xtask/crash-build.log");
    let ended = watch(command, &log, Duration::from_secs(20 * 60), |_| {})?;
    if ended.success { Ok(()) } else { bail!("{command:?}{}", tail(&log, 40)) }
}

/// Soaks a service for so many minutes; gives its row of the table.
///
/// # Errors
/// Whatever was lost, or did not come back to where it was.
pub(crate) fn soak(service: &'static Service, minutes: u64) -> Result<String> {
    let limit = Duration::from_secs(minutes * 60 + SOAK_REST_SECONDS);
    let (writer, how) = (writer::own(service), "soak");
    let rounds = Rounds { service: Some(service), writer, how, count: 1, shard: 0 };
    rounds_within(service, &rounds, minutes * 60, limit)
}

/// Runs writers of a service through some rounds, or for so many seconds; the last line says what held.
fn rounds_within(
    service: &Service,
    rounds: &Rounds,
    count: u64,
    limit: Duration,
) -> Result<String> {
    let mut command = Command::new(clients::python());
    command
        .arg(writer::script(&rounds.writer))
        .args([rounds.how, &count.to_string()])
        .current_dir(root());
    writer::tell(&mut command, service);
    rounds.watched(&mut command, limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_full_form_has_a_thousand_kills_and_fifty_cuts_and_no_process_has_many_of_them() {
        let rounds = all_rounds(true);
        let count = |how| {
            let counted = rounds.iter().filter(|rounds| rounds.how == how);
            counted.map(|rounds| rounds.count).sum::<u32>()
        };
        assert_eq!((count("kill"), count("cut"), count(BACKUP)), (1_000, 50, 15));
        assert!(rounds.iter().all(|rounds| rounds.count <= SHARD_MAX));
    }

    #[test]
    fn the_short_form_kills_each_writer_and_backs_each_service_up() {
        let names: Vec<_> = all_rounds(false).iter().map(Rounds::name).collect();
        assert_eq!(names.len(), 8, "{names:?}");
    }
}
