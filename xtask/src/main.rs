//! Everything one does with this repository: `cargo xtask --help` lists it.
#![expect(
    clippy::print_stdout,
    clippy::disallowed_methods,
    reason = "a tool at the terminal: it prints, measures time and reads its environment"
)]

mod bench;
mod clients;
mod crash;
mod demo;
mod e2e;
mod licences;
mod pages;
mod process;
mod purity;
mod replay;
mod service;
mod steps;
mod suite;
mod up;
mod workspace;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

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
    Test(suite::Arguments),
    /// Drive the real binaries with real clients
    E2e(e2e::Arguments),
    /// Kill the real binaries, cut their power, and look for what was lost
    Crash(crash::Arguments),
    /// Measure, in a release build, against the machine's own limits
    Bench(bench::Arguments),
    /// Check that services stand alone and that domains stay pure
    Purity,
    /// Check every dependency's licence and source against deny.toml
    Licences,
    /// Replay recorded browser scenarios against tabs-api
    TabsReplay(replay::Arguments),
}

fn main() -> ExitCode {
    let outcome = match Arguments::parse().command {
        Task::Up(arguments) => up::run(&arguments),
        Task::Test(arguments) => suite::run(&arguments),
        Task::E2e(arguments) => e2e::run(&arguments),
        Task::Crash(arguments) => crash::run(&arguments),
        Task::Bench(arguments) => bench::run(&arguments),
        Task::Purity => purity::check().map(|summary| println!("{summary}")),
        Task::Licences => licences::check().map(|summary| println!("{summary}")),
        Task::TabsReplay(arguments) => replay::run(&arguments),
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}
