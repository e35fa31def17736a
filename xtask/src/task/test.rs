//! `cargo xtask test`: everything that must be green, in one order, with one set of features so that steps share their builds.

use std::process::Command;

use anyhow::Result;

use crate::check::{docstrings, licences, links, purity};
use crate::run::service::SERVICES;
use crate::run::steps::{self, Step};
use crate::run::tally::cargo_tests;
use crate::run::workspace::{cargo, root, target};
use crate::task::{crash, e2e, up};

/// Arguments of `test`.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Arguments {
    /// Only the steps whose name contains this text
    #[arg(long, value_name = "TEXT")]
    pub step: Option<String>,
}

/// Runs every step, whatever the others say.
///
/// # Errors
/// The names of the steps that failed.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    steps::run(&steps(), arguments.step.as_deref())
}

/// The steps with their seconds on two cores from a fresh clone: what is quick to fail comes first.
fn steps() -> Vec<Step> {
    vec![
        Step::command("format", 10, || cargo(&["fmt", "--all", "--check"]), said("")),
        Step::new("licences", 5, licences::check),
        Step::new("links", 5, links::check),
        Step::new("docstrings", 5, docstrings::check),
        Step::new("purity", 15, purity::check),
        Step::command("lints", 150, || cargo(LINTS), said("no warning")),
        Step::new("domains", 160, domains),
        Step::command("docs", 30, docs, said("no warning")),
        Step::command("unit", 460, || cargo(UNIT), cargo_tests),
        Step::command("outside", 60, outside, said("a crate outside the workspace builds")),
        Step::command("build", 20, || cargo(BUILD), said("binaries and examples")),
        Step::new("clients", 330, || e2e::drive(&e2e::Arguments::default())),
        Step::new("rust-clients", 100, e2e::drive_rust),
        Step::new("crash", 75, crash::short),
        Step::new("demo", 75, || {
            up::run(&up::Arguments { demo: true, ..up::Arguments::default() })?;
            Ok("every printed line and every job worked".into())
        }),
    ]
}

const LINTS: &[&str] = &[
    "clippy",
    "--workspace",
    "--all-targets",
    "--all-features",
    "--locked",
    "--",
    "-D",
    "warnings",
];
const UNIT: &[&str] = &["test", "--workspace", "--all-features", "--locked", "--no-fail-fast"];
const BUILD: &[&str] =
    &["build", "--workspace", "--all-features", "--bins", "--examples", "--locked"];

fn said(text: &'static str) -> impl Fn(&str) -> Result<String> {
    move |_| Ok(text.to_owned())
}

fn docs() -> Command {
    let mut docs = cargo(&["doc", "--workspace", "--all-features", "--no-deps", "--locked"]);
    docs.env("RUSTDOCFLAGS", "-D warnings");
    docs
}

/// Each domain by itself, without its server: every one is compiled alone, as who embeds it does, so that neither the features of another
/// nor those of its tests hide what it misses; then the tests of all run from one build.
fn domains() -> Result<String> {
    let mut test = cargo(&["test", "--locked", "--no-default-features", "--lib"]);
    for package in SERVICES.iter().map(|service| service.name).chain(["triptych-core"]) {
        let check = ["check", "--locked", "-p", package, "--no-default-features"];
        crate::run::workspace::output(&mut cargo(&check))?;
        test.args(["-p", package]);
    }
    cargo_tests(&crate::run::workspace::output(&mut test)?)
}

/// The crate outside shares the target directory, so that only what its features change is built again; its lock follows ours.
fn outside() -> Command {
    let manifest = root().join("examples/outside/Cargo.toml");
    let mut command = cargo(&["run", "--manifest-path"]);
    command.arg(manifest).env("CARGO_TARGET_DIR", target());
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_budgets_of_all_steps_are_within_25_minutes() {
        assert!(steps().iter().map(|step| step.budget).sum::<u64>() <= 25 * 60);
    }
}
