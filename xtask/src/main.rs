//! Everything one does with this repository: `cargo xtask --help` lists it.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a tool at the terminal: it prints, measures time and reads its environment"
)]

#[cfg(feature = "bench")]
mod bench;
mod check;
mod run;
mod simulation;
mod task;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::check::{licences, purity};
use crate::task::{crash, e2e, record, replay, scale, soak, test, up};

/// Runs, tests and measures Triptych.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", version)]
struct Arguments {
    #[command(subcommand)]
    command: Task,
}

#[derive(Debug, Subcommand)]
enum Task {
    /// Build and start all three services with demo data; Ctrl-C stops them
    Up(up::Arguments),
    /// Run everything that must be green; this is what CI runs
    Test(test::Arguments),
    /// Run what takes long and finds what is rare: many kills and power cuts, and the fuzzer
    Soak(soak::Arguments),
    /// Drive the real binaries with real clients
    E2e(e2e::Arguments),
    /// Kill the real binaries, cut their power, and look for what was lost
    Crash(crash::Arguments),
    /// Drive several instances of each service on PostgreSQL and on etcd: races, kills, pauses, cut networks, falls of the store
    Scale(scale::Arguments),
    /// Measure, in a release build, against the machine's own limits
    Bench(task::bench::Arguments),
    /// Check that services stand alone, that domains stay pure, and that no imports run in a circle
    Purity(purity::Arguments),
    /// Check every dependency's licence and source against deny.toml
    Licences,
    /// Replay recorded browser scenarios against tabs-api
    TabsReplay(replay::Arguments),
    /// Ask a real browser what it does, and tabs-api whether it does the same
    TabsRecord(record::Arguments),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Task::Up(arguments) => up::run(&arguments),
        Task::Test(arguments) => test::run(&arguments),
        Task::Soak(arguments) => soak::run(&arguments),
        Task::E2e(arguments) => e2e::run(&arguments),
        Task::Crash(arguments) => crash::run(&arguments),
        Task::Scale(arguments) => scale::run(&arguments),
        Task::Bench(arguments) => task::bench::run(&arguments),
        Task::Purity(arguments) => purity::run(&arguments),
        Task::Licences => licences::check().map(|summary| println!("{summary}")),
        Task::TabsReplay(arguments) => replay::run(&arguments),
        Task::TabsRecord(arguments) => record::run(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn every_task_has_arguments_that_clap_takes() {
        Arguments::command().debug_assert();
    }
}
