//! `cargo xtask test`: everything that must be green, in one order, with one set of features so that steps share their builds.

use std::process::Command;

use anyhow::{Result, ensure};

use crate::check::{docstrings, licences, links, purity};
use crate::run::clients;
use crate::run::features;
use crate::run::service::SERVICES;
use crate::run::steps::{self, Step};
use crate::run::tally::cargo_tests;
use crate::run::workspace::{cargo, root, target};
use crate::task::{crash, e2e, up};

/// The module of tests that a soak runs, and these steps have no time for.
const LONG: &str = "long::";

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
        Step::new("programs", 1, programs),
        Step::command("format", 10, || Ok(cargo(&["fmt", "--all", "--check"])), said("")),
        Step::new("licences", 5, licences::check),
        Step::new("links", 5, links::check),
        Step::new("docstrings", 5, docstrings::check),
        Step::new("purity", 15, purity::check),
        Step::command("lints", 120, lints, said("no warning")),
        Step::new("domains", 125, domains),
        Step::command("docs", 25, docs, said("no warning")),
        Step::tests("unit", 460, unit),
        Step::command("outside", 40, outside, said("a crate outside the workspace builds")),
        Step::command("build", 15, build, said("binaries and examples")),
        Step::new("clients", 205, || e2e::drive(&e2e::Arguments::default())),
        Step::new("rust-clients", 110, e2e::drive_rust),
        Step::new("crash", 85, crash::short),
        Step::new("demo", 50, || {
            up::run(&up::Arguments { demo: true, ..up::Arguments::default() })?;
            Ok("every printed line and every job worked".into())
        }),
        Step::command("engines", 220, engines, cargo_tests),
    ]
}

/// Programs that single tests want beside those of all clients, with the Debian packages of each.
const PROGRAMS_OF_TESTS: [(&str, &str); 6] = [
    ("cc", "build-essential"),
    ("strace", "strace"),
    ("rclone", "rclone"),
    ("s3cmd", "s3cmd"),
    ("nginx", "nginx-light"),
    ("pg_ctlcluster", "postgresql"),
];

/// Names all programs that are missing before anybody waits for the steps that want them.
fn programs() -> Result<String> {
    let all = [&clients::PROGRAMS[..], &PROGRAMS_OF_TESTS].concat();
    clients::need(&all)?;
    Ok(format!("{} programs are there", all.len()))
}

fn said(text: &'static str) -> impl Fn(&str) -> Result<String> {
    move |_| Ok(text.to_owned())
}

fn lints() -> Result<Command> {
    let mut lints = of_workspace("clippy", &features::local(None)?);
    lints.args(["--all-targets", "--", "-D", "warnings"]);
    Ok(lints)
}

fn docs() -> Result<Command> {
    let mut docs = of_workspace("doc", &features::local(None)?);
    docs.arg("--no-deps").env("RUSTDOCFLAGS", "-D warnings");
    Ok(docs)
}

fn unit() -> Result<Command> {
    Ok(of_workspace("test", &features::local(None)?))
}

fn build() -> Result<Command> {
    let mut build = of_workspace("build", &features::local(None)?);
    build.args(["--bins", "--examples"]);
    Ok(build)
}

/// The tests that start the server of an engine on another machine: the only step that compiles the crates of these engines.
fn engines() -> Result<Command> {
    // One of the servers comes with the Python clients.
    clients::install_packages()?;
    let mut engines = of_workspace("test", &features::with_engines()?);
    engines.arg("--no-fail-fast");
    for name in features::engine_tests()? {
        engines.args(["--test", &name]);
    }
    engines.args(["--", "--skip", LONG]);
    Ok(engines)
}

/// A cargo command for all members, with these features.
pub(crate) fn of_workspace(command: &str, features: &str) -> Command {
    cargo(&[command, "--workspace", "--locked", "--features", features])
}

/// Each domain by itself, without its server: every one is compiled alone, as who embeds it does, so that neither the features of another
/// nor those of its tests hide what it misses; then the tests of all run from one build.
fn domains() -> Result<String> {
    let mut test = cargo(&["test", "--locked", "--no-default-features", "--lib"]);
    for package in SERVICES.iter().map(|service| service.name).chain(["triptych-core"]) {
        check_alone(package, "")?;
        test.args(["-p", package]);
    }
    for feature in CORE_APART {
        check_alone("triptych-core", feature)?;
    }
    cargo_tests(&crate::run::workspace::output(&mut test)?)
}

/// Features of the core that who embeds it may take without the other: a store without a server, and a server without a store on disk.
const CORE_APART: [&str; 2] = ["sled", "host"];

/// Checks a package by itself, with no feature but this. What only the whole uses is unused here, which no build of that says.
fn check_alone(package: &str, feature: &str) -> Result<()> {
    let mut check = cargo(&["check", "--locked", "-p", package, "--no-default-features"]);
    let done = check.args(["--features", feature]).output()?;
    let said = String::from_utf8_lossy(&done.stderr);
    ensure!(
        done.status.success() && !said.contains("` (lib) generated "),
        "{package} alone, with the features \"{feature}\":\n{said}"
    );
    Ok(())
}

/// The crate outside shares the target directory, so that only what its features change is built again; its lock follows ours.
fn outside() -> Result<Command> {
    let manifest = root().join("examples/outside/Cargo.toml");
    let mut command = cargo(&["run", "--manifest-path"]);
    command.arg(manifest).env("CARGO_TARGET_DIR", target());
    Ok(command)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_installs_packages_installs_those_of_every_program() {
        let script = std::fs::read_to_string(root().join(".ci/run")).unwrap();
        let is_installed = |package: &str| {
            script
                .split(|of: char| !(of.is_alphanumeric() || "-_.".contains(of)))
                .any(|own| own == package)
        };
        for (program, packages) in [&clients::PROGRAMS[..], &PROGRAMS_OF_TESTS].concat() {
            assert!(packages.split(' ').all(is_installed), "{program}: {packages}");
        }
    }

    #[test]
    fn the_budgets_of_all_steps_are_within_25_minutes() {
        assert!(steps().iter().map(|step| step.budget).sum::<u64>() <= 25 * 60);
    }
}
