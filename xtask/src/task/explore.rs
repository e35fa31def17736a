//! The stores and the services on a simulated disk, whose every legal state after a kill or a cut may be opened and compared: part of
//! `cargo xtask crash`, driven by `crates/core/examples/explore.rs` and by a test of each service.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::run::at_once::at_once;
use crate::run::features;
use crate::run::process::watch;
use crate::run::service::tail;
use crate::run::workspace::{cargo, target};

/// Arguments of the explorer.
#[derive(Debug, Clone, Default, clap::Args)]
#[group(id = "explored")]
pub(crate) struct Arguments {
    /// So many states that kills and cuts may leave of the stores and of the services on them, on a simulated disk
    #[arg(long, value_name = "N")]
    pub states: Option<u64>,
    /// One call to the simulated disk in so many fails, of each kind, at run and at start
    #[arg(long, value_name = "EVERY")]
    pub faults: Option<u64>,
    /// Each sync is left out in turn, and has to be missed within so many states
    #[arg(long, value_name = "N")]
    pub syncs: Option<u64>,
    /// Threads of the stores take so many turns in orders that seeds draw, with faults and cuts between them
    #[arg(long, value_name = "TURNS")]
    pub simulate: Option<u64>,
    /// The writes on the simulated disk [default: all]
    #[arg(long, value_parser = WORKLOADS)]
    pub workload: Option<String>,
    /// The seed of the first run on the simulated disk
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
}

impl Arguments {
    /// Returns whether anything is asked of the explorer.
    pub(crate) fn is_asked(&self) -> bool {
        [self.states, self.faults, self.syncs, self.simulate].iter().any(Option::is_some)
    }
}

/// The workloads of the explorer: those of the stores, and the services above them.
const WORKLOADS: [&str; 6] = ["records", "bodies", "together", "object", "video", "tabs"];
/// The services that are driven on the simulated disk: the package and the test.
const DRIVEN: [(&str, &str, &str); 3] = [
    ("object", "object-put", "crash_states"),
    ("video", "video-api", "wire"),
    ("tabs", "tabs-api", "crash_states"),
];
/// Explorations of one workload, of seeds that are far apart.
const SHARDS: u64 = 2;
const SHARD_SEEDS: u64 = 1_000_000;

/// The full form, of `soak`; the short one is among the unit tests.
const FULL: Arguments = Arguments {
    states: Some(5_000),
    faults: Some(1),
    syncs: Some(5_000),
    simulate: Some(5_000_000),
    workload: None,
    seed: 1,
};
/// A life of a service has many more calls than one of the stores, each of which a client looks at: one in so many of them fails in the full form.
const SERVICE_FAULTS_FULL: u64 = 5;

/// The time that one exploration may take.
const LIMIT: Duration = Duration::from_secs(60 * 60);

/// Builds what is explored, and does what the arguments ask.
///
/// # Errors
/// Whatever was found, or a sync that nothing missed.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    for said in explored(arguments, arguments.faults)? {
        println!("{said}");
    }
    Ok(())
}

/// The full form, with the last line of what each exploration says: its log has the rest.
///
/// # Errors
/// As [`run`].
pub(crate) fn full() -> Result<String> {
    let said = explored(&FULL, Some(SERVICE_FAULTS_FULL))?;
    let last: Vec<&str> = said.iter().filter_map(|words| words.lines().last()).collect();
    Ok(last.join("; "))
}

/// The words of each exploration, as many of them at once as there are cores.
fn explored(arguments: &Arguments, service_faults: Option<u64>) -> Result<Vec<String>> {
    let jobs = jobs(arguments, service_faults);
    let services = jobs.iter().filter_map(|job| driven(&job.workload));
    let mut programs: Vec<_> = services.collect();
    programs.sort_unstable();
    programs.dedup();
    // First, since each waits for the other to build.
    for (package, test) in programs {
        built(service_test(package, test)?.arg("--no-run"))?;
    }
    built(&mut store_example("build")?)?;
    at_once(jobs, Job::run)
}

fn built(command: &mut Command) -> Result<()> {
    let log = target().join("xtask/explore-build.log");
    let ended = watch(command, &log, LIMIT, |_| {})?;
    if ended.success { Ok(()) } else { bail!("{command:?}{}", tail(&log, 40)) }
}

/// One exploration.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Job {
    how: &'static str,
    number: u64,
    /// None where it has its own.
    workload: Option<&'static str>,
    seed: u64,
}

/// The explorations that are asked for, those that take longest first.
fn jobs(arguments: &Arguments, service_faults: Option<u64>) -> Vec<Job> {
    let seed = arguments.seed;
    let is_chosen =
        |workload: &&&str| arguments.workload.as_deref().is_none_or(|chosen| chosen == **workload);
    let mut jobs = Vec::new();
    for workload in WORKLOADS.iter().rev().filter(is_chosen).copied() {
        let job = |how, number, seed| Job { how, number, workload: Some(workload), seed };
        let faults =
            if driven(&Some(workload)).is_some() { service_faults } else { arguments.faults };
        jobs.extend(faults.map(|every| job("faults", every, seed)));
        let states = arguments.states.unwrap_or(0);
        let shards = if states < 1_000 { 1 } else { SHARDS };
        let shard = |number| job("states", states.div_ceil(shards), seed + number * SHARD_SEEDS);
        jobs.extend((0..shards).filter(|_| states > 0).map(shard));
    }
    let alone = |how, number: u64| Job { how, number, workload: None, seed };
    jobs.extend(arguments.syncs.map(|states| alone("syncs", states)));
    jobs.extend(arguments.simulate.map(|turns| alone("simulate", turns)));
    jobs
}

fn driven(workload: &Option<&'static str>) -> Option<(&'static str, &'static str)> {
    let found = DRIVEN.iter().find(|(name, ..)| Some(*name) == *workload);
    found.map(|(_, package, test)| (*package, *test))
}

impl Job {
    fn run(self) -> Result<String> {
        match driven(&self.workload) {
            Some((package, test)) => self.run_service(package, test),
            None => self.run_stores(),
        }
    }

    /// The name of its log, and of its failure.
    fn name(&self) -> String {
        let workload = self.workload.unwrap_or("all");
        format!("explore-{}-{workload}-{}-{}", self.how, self.number, self.seed)
    }

    fn run_stores(&self) -> Result<String> {
        let mut command = store_example("run")?;
        command.args(["--", self.how, &self.number.to_string()]);
        command.args(self.workload).arg(self.seed.to_string());
        let said = self.watched(&mut command)?;
        Ok(said.trim().to_owned())
    }

    fn run_service(&self, package: &str, test: &str) -> Result<String> {
        let (begin, asked) = match self.how {
            "faults" => ("no_call_of_the_disk_that_fails", "TRIPTYCH_FAULTS"),
            _ => ("no_kill_", "TRIPTYCH_STATES"),
        };
        let mut command = service_test(package, test)?;
        command.args(["--", begin, "--nocapture"]);
        command.env(asked, self.number.to_string()).env("TRIPTYCH_SEED", self.seed.to_string());
        let said = self.watched(&mut command)?;
        let said = said.lines().find(|line| line.contains("lost nothing"));
        let said =
            said.with_context(|| format!("{} ran no test that begins with {begin}", self.name()))?;
        Ok(format!("{}: {said}", self.workload.unwrap_or_default()))
    }

    fn watched(&self, command: &mut Command) -> Result<String> {
        let log = target().join("xtask").join(format!("{}.log", self.name()));
        let ended = watch(command, &log, LIMIT, |_| {})?;
        if !ended.success {
            bail!("{}{}", self.name(), tail(&log, 40));
        }
        Ok(ended.text)
    }
}

/// The test program of a service, optimised: a look at a state of an unoptimised one takes ten times as long.
fn service_test(package: &str, test: &str) -> Result<Command> {
    let features = features::local(Some(package))?;
    let words = ["test", "--quiet", "--locked", "--profile", "soak", "-p", package];
    let mut command = cargo(&words);
    command.args(["--features", &features, "--test", test]);
    Ok(command)
}

/// The program of the stores, optimised, to be built or run.
fn store_example(how: &str) -> Result<Command> {
    let features = features::local(Some("triptych-core"))?;
    let words = [how, "--quiet", "--locked", "--profile", "soak", "-p", "triptych-core"];
    let mut command = cargo(&words);
    command.args(["--example", "explore", "--features", &features]);
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_workload_has_its_states_in_shards_of_other_seeds_and_its_faults() {
        let jobs = jobs(&FULL, Some(SERVICE_FAULTS_FULL));
        for workload in WORKLOADS {
            let own: Vec<_> = jobs.iter().filter(|job| job.workload == Some(workload)).collect();
            let states = own.iter().filter(|job| job.how == "states");
            assert_eq!(states.map(|job| job.number).sum::<u64>(), 5_000, "{workload}");
            assert_eq!(own.iter().filter(|job| job.how == "faults").count(), 1, "{workload}");
        }
        let mut names: Vec<_> = jobs.iter().map(Job::name).collect();
        names.sort();
        names.dedup();
        assert_eq!(names.len(), jobs.len());
    }

    #[test]
    fn one_workload_alone_and_a_few_states_are_one_exploration() {
        let asked = Arguments {
            states: Some(60),
            workload: Some("tabs".into()),
            seed: 7,
            ..Arguments::default()
        };
        let one = Job { how: "states", number: 60, workload: Some("tabs"), seed: 7 };
        assert_eq!(jobs(&asked, None), [one]);
    }
}
