//! `cargo xtask tabs-record`: asks a real Chromium what it does, and the engine whether it does the same.
//!
//! Scenarios are generated from the table of operations, or read from files; each is recorded twice, in another order, and then replayed.

mod address;
mod argument;
mod chromium;
mod contract;
mod generator;
mod hand;
mod mismatch;
mod page;
mod random;
mod recording;
mod scenario;
mod show;
mod shrink;
mod sketch;
mod symbols;
mod table;
mod theme;
mod trace;
mod verdict;
mod wrong;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use self::chromium::Chromium;
use self::contract::Contract;
use self::generator::{Seed, generate};
use self::random::Random;
use self::recording::Recording;
use self::scenario::Scenario;
use self::theme::{THEMES, Theme};
use self::trace::Trace;
use crate::run::progress::{Progress, build};
use crate::run::service::{Options, Server, Service};
use crate::run::workspace::{cargo, root, target};

/// Arguments of `tabs-record`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Theme of the scenarios, or all
    #[arg(long, default_value = "mixed")]
    pub theme: String,
    /// Number that scenarios are made from; another one gives others
    #[arg(long, default_value_t = 100_000)]
    pub seed: u64,
    /// Number of scenarios of a theme
    #[arg(long, default_value_t = 12)]
    pub count: usize,
    /// About how many steps a scenario has
    #[arg(long, default_value_t = 12)]
    pub length: usize,
    /// Number of times that each scenario is recorded; what the browser does now so and now so shows with more runs.
    /// After a single one everything is judged, as a first look: record what differs again
    #[arg(long, default_value_t = 2)]
    pub runs: usize,
    /// Number of times that a stable scenario which the engine does otherwise is recorded again: two runs may agree by luck
    #[arg(long, default_value_t = 2)]
    pub again: usize,
    /// Scenarios of your own, in place of generated ones: a file, or a folder of them
    #[arg(long, value_name = "PATH", conflicts_with_all = ["theme", "seed", "count", "length"])]
    pub scenarios: Option<PathBuf>,
    /// The folder that recordings are written to [default: target/tabs-record]
    #[arg(long, value_name = "FOLDER")]
    pub out: Option<PathBuf>,
    /// Number of classes of mismatches that are shrunk to their shortest scenario
    #[arg(long, default_value_t = 3)]
    pub shrink: usize,
    /// Print what the browser did
    #[arg(long)]
    pub show: bool,
}

/// Generates, records, replays and reports.
///
/// # Errors
/// Names what is missing to record, or how many scenarios the engine does otherwise.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    Chromium::need()?;
    build(&mut cargo(&["build", "--package", "tabs-api", "--bin", "tabs-api"]))?;
    let folder = tempfile::tempdir()?;
    let server = engine(folder.path().join("data"))?;
    let engine = Contract::at(&server.url);
    let scenarios = match &arguments.scenarios {
        Some(path) => Scenario::read_all(path)?,
        None => generated(arguments, &engine)?,
    };
    let out = arguments.out.clone().unwrap_or_else(|| target().join("tabs-record"));
    std::fs::create_dir_all(&out).with_context(|| format!("cannot make {}", out.display()))?;
    let mut recordings = record(scenarios, arguments.runs, &out)?;
    for recording in &recordings {
        if let Some(run) = recording.runs.first().filter(|_| arguments.show) {
            println!("{}\n{}\n", recording.scenario.name, show::trace(&recording.scenario, run));
        }
    }
    println!("calls: {}", calls(&recordings));
    println!("recordings are in {}", out.display());
    let judged = verdict::judge(&mut recordings, &engine, arguments, &out);
    server.stop()?;
    judged
}

fn engine(data: PathBuf) -> Result<Server> {
    let service = Service::find("tabs")?;
    let fixtures = root().join("tests/tabs/fixtures.json");
    Server::start(
        service,
        &Options {
            binary: service.binary(false),
            data,
            seed: service.demo_seed(),
            port: Some(0),
            flags: vec!["--lab".into(), fixtures.display().to_string()],
        },
    )
}

fn generated(arguments: &Arguments, engine: &Contract) -> Result<Vec<Scenario>> {
    let table = table::read(&engine.schema()?)?;
    let themes: Vec<&'static Theme> =
        match (arguments.theme.as_str(), Theme::find(&arguments.theme)) {
            (_, Some(theme)) => vec![theme],
            ("all", None) => THEMES.iter().collect(),
            (name, None) => bail!("no theme {name}: choose {}, or all", Theme::names()),
        };
    let of = |theme| {
        let numbers = 0..arguments.count;
        let table = &table;
        numbers.map(move |number| {
            let seed = Seed { seed: arguments.seed, number, length: arguments.length };
            generate(table, theme, seed)
        })
    };
    Ok(themes.into_iter().flat_map(of).collect())
}

/// Records every scenario, in another order and by another browser each time.
fn record(scenarios: Vec<Scenario>, runs: usize, out: &Path) -> Result<Vec<Recording>> {
    let new = |scenario| Recording { scenario, runs: Vec::new() };
    let mut recordings: Vec<_> = scenarios.into_iter().map(new).collect();
    let places: Vec<_> = (0..recordings.len()).collect();
    for run in 0..runs {
        let order = match run {
            0 => places.clone(),
            run => Random::of(&format!("order {run}")).sample(&places, places.len()),
        };
        record_once(&mut recordings, &order, out, &format!("run {} of {runs}", run + 1))?;
    }
    Ok(recordings)
}

/// Records the scenarios at these places, in this order, by a fresh browser. What is recorded is written at once, so that it is kept where this is interrupted.
fn record_once(recordings: &mut [Recording], order: &[usize], out: &Path, run: &str) -> Result<()> {
    let progress = Progress::begin("recording");
    let browser = Chromium::start()?;
    for (done, place) in order.iter().enumerate() {
        let Some(recording) = recordings.get_mut(*place) else { continue };
        progress.at(&format!("{run}, scenario {} of {}", done + 1, order.len()));
        let taken = Trace::take(&browser.contract, &recording.scenario)
            .or_else(|_| Trace::take(&browser.contract, &recording.scenario));
        match taken {
            Ok(trace) => {
                recording.runs.push(trace);
                recording.write(out)?;
            }
            Err(error) => println!("{} was not recorded: {error:#}", recording.scenario.name),
        }
    }
    Ok(())
}

/// The number of calls of each operation.
fn calls(recordings: &[Recording]) -> String {
    let mut counts = BTreeMap::new();
    for step in recordings.iter().flat_map(|recording| &recording.scenario.steps) {
        *counts.entry(step.op.as_str()).or_insert(0_usize) += 1;
    }
    counts.iter().map(|(op, count)| format!("{op} {count}")).collect::<Vec<_>>().join(", ")
}
