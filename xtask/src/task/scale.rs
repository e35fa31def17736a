//! Several instances of each service on the stores that they can share: races between them, kills, pauses, cut networks, falls of the store.

use std::process::Command;

use anyhow::{Result, ensure};

use crate::run::clients;
use crate::run::features;
use crate::run::steps::{self, Step};
use crate::run::tally::cargo_tests;
use crate::run::workspace::output;
use crate::simulation;
use crate::task::test::of_workspace;

/// The test program of each service that starts several instances of it; the step `engines` of `cargo xtask test` runs it among others, but
/// for what is long.
const TESTS: &str = "shared_store";
/// The test programs of the engines.
const ENGINES: [&str; 3] = ["etcd", "object_store", "postgres"];
/// Programs that the steps need beside the clients, and the packages of Debian that have them.
const PROGRAMS: [(&str, &str); 5] = [
    ("etcd", "etcd-server"),
    ("ip", "iproute2"),
    ("nginx", "nginx-light"),
    ("protoc", "protobuf-compiler libprotobuf-dev"),
    ("psql", "postgresql"),
];
/// Tests that run at once: each has a store and three instances.
const AT_ONCE: &str = "--test-threads=2";

/// Arguments of `scale`.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Arguments {
    /// Only the steps whose name contains this text
    #[arg(long, value_name = "TEXT")]
    pub step: Option<String>,
}

/// Builds the services with all engines on other machines, and runs the laws of each engine and what drives several instances of each service on
/// PostgreSQL and on etcd, with their bodies on SeaweedFS.
///
/// # Errors
/// If a program is missing, this is not root, or the names of the steps that failed.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    clients::need(&PROGRAMS)?;
    let user = output(Command::new("id").arg("-u"))?;
    ensure!(
        user.trim() == "0",
        "the members of etcd run in network namespaces, which root alone may make: run this as root (PostgreSQL, which refuses root, is then run as the user postgres)"
    );
    clients::install_packages()?;
    steps::run(&steps(), arguments.step.as_deref())
}

/// The steps with their seconds on two cores; the first of them builds.
fn steps() -> Vec<Step> {
    vec![
        Step::command("engines", 900, engines, cargo_tests),
        Step::command("postgres and seaweedfs", 600, || instances("postgres"), cargo_tests),
        Step::command("etcd and seaweedfs", 900, || instances("etcd"), cargo_tests),
        Step::new("simulation", 60, simulation::run),
    ]
}

/// The laws of every engine on real servers, the same random operations on all, and their own faults.
fn engines() -> Result<Command> {
    let mut tests = of_workspace("test", &features::all()?);
    tests.arg("--no-fail-fast");
    tests.args(ENGINES.iter().flat_map(|name| ["--test", name]));
    tests.args(["--", AT_ONCE]);
    Ok(tests)
}

/// The tests of three instances of each service on a store of this kind, with their bodies on SeaweedFS.
///
/// # Errors
/// If cargo fails.
pub(crate) fn instances(store: &str) -> Result<Command> {
    let mut tests = of_workspace("test", &features::all()?);
    tests.args(["--no-fail-fast", "--test", TESTS, "--", AT_ONCE]);
    tests.env("TRIPTYCH_TEST_STORE", store).env("TRIPTYCH_TEST_BODIES", "seaweedfs");
    Ok(tests)
}
