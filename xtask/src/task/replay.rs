//! `cargo xtask tabs-replay`: the recorded scenarios of a real browser against the running tabs-api.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::run::clients;
use crate::run::service::{Options, Server, Service};
use crate::run::workspace::root;
use crate::task::e2e;

/// Arguments of `tabs-replay`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// Directory of recorded scenarios [default: tests/tabs/corpus]
    pub directory: Option<PathBuf>,
    /// The file that says what each page of the scenarios does [default: tests/tabs/fixtures.json]
    #[arg(long, value_name = "FILE")]
    pub fixtures: Option<PathBuf>,
}

/// Starts tabs-api in lab mode and replays every scenario of the directory.
///
/// # Errors
/// If the service does not start, or the replay finds a difference.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    e2e::build()?;
    clients::need(&[("python3", "python3")])?;
    let service = Service::find("tabs")?;
    let tests = root().join("tests/tabs");
    let corpus = arguments.directory.clone().unwrap_or_else(|| tests.join("corpus"));
    let fixtures = arguments.fixtures.clone().unwrap_or_else(|| tests.join("fixtures.json"));
    let folder = tempfile::tempdir()?;
    let server = Server::start(
        service,
        &Options {
            binary: service.binary(false),
            data: folder.path().join("data"),
            seed: service.demo_seed(),
            port: Some(0),
            flags: vec!["--lab".into(), fixtures.display().to_string()],
        },
    )?;
    let status = Command::new("python3")
        .arg(tests.join("replay.py"))
        .arg(&server.url)
        .arg("--stable-only")
        .arg("--corpus")
        .arg(&corpus)
        .status()
        .context("python3 could not be started")?;
    server.stop()?;
    if !status.success() {
        bail!("the replay of {} found differences", corpus.display());
    }
    Ok(())
}
