//! Several instances of each service on one store: races between them, kills, pauses, falls of the store.

use std::time::Duration;

use anyhow::{Result, bail};

use crate::run::clients;
use crate::run::features;
use crate::run::process::watch;
use crate::run::service::tail;
use crate::run::tally::cargo_tests;
use crate::run::workspace::target;
use crate::task::test::of_workspace;

/// The test program of each service that starts several instances of it; the step `engines` runs it among others, but for what is long.
const TESTS: &str = "shared_store";

/// The longest that building and running them may take.
const LIMIT: Duration = Duration::from_secs(20 * 60);

/// Builds the services with the engines on other machines, and runs what drives several instances of each.
///
/// # Errors
/// If the clients cannot be installed, anything does not build, or a check fails.
pub(crate) fn run() -> Result<String> {
    clients::install()?;
    let mut tests = of_workspace("test", &features::with_engines()?);
    tests.args(["--no-fail-fast", "--test", TESTS]);
    let log = target().join("xtask/scale.log");
    let ended = watch(&mut tests, &log, LIMIT, |_| {})?;
    if !ended.success {
        bail!("several instances on one store failed{}", tail(&log, 60));
    }
    cargo_tests(&ended.text)
}
