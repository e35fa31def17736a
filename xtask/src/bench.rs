//! `cargo xtask bench`: measurements, in a release build, each against the machine's own limit in the same run.

#[cfg(feature = "bench")]
mod bare;
#[cfg(feature = "bench")]
mod host;
#[cfg(feature = "bench")]
mod kv;
#[cfg(feature = "bench")]
mod load;
#[cfg(feature = "bench")]
mod object;
#[cfg(feature = "bench")]
mod prism;
#[cfg(feature = "bench")]
mod report;
#[cfg(feature = "bench")]
mod tabs;
#[cfg(feature = "bench")]
mod video;

use anyhow::{Result, bail};

#[cfg(not(feature = "bench"))]
use crate::workspace::cargo;

/// Arguments of `bench`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// What to measure [default: everything]
    #[arg(value_parser = ["kv", "host", "object", "video", "tabs"])]
    pub what: Option<String>,
}

/// Measures, and gives a row for each number; the report makes a page and a plot of them.
#[cfg(feature = "bench")]
type Measure = fn() -> Result<Vec<report::Row>>;

/// What can be measured, by name.
///
/// Each lives in its own file of `bench/`, compiled with the feature `bench` alone, so that no other task waits for it.
#[cfg(feature = "bench")]
const BENCHES: &[(&str, Measure)] = &[
    ("kv", kv::measure),
    ("host", host::measure),
    ("object", object::measure),
    ("video", video::measure),
    ("tabs", tabs::measure),
];

/// Builds this tool again, optimised and with the feature `bench`, and runs that.
///
/// # Errors
/// If the build or the measurement fails.
#[cfg(not(feature = "bench"))]
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let mut command = cargo(&[
        "run",
        "--release",
        "--locked",
        "-p",
        "xtask",
        "--features",
        "bench",
        "--",
        "bench",
    ]);
    let status = command.args(&arguments.what).status()?;
    if !status.success() {
        bail!("the measurement failed");
    }
    Ok(())
}

/// Measures what is asked for.
///
/// # Errors
/// If nothing of that name is measured yet, or a measurement fails.
#[cfg(feature = "bench")]
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let asked = |name: &str| arguments.what.as_deref().is_none_or(|what| what == name);
    let chosen: Vec<_> = BENCHES.iter().filter(|(name, _)| asked(name)).collect();
    if chosen.is_empty() {
        bail!("there is no such measurement yet");
    }
    for (name, measure) in chosen {
        let load = report::load();
        println!("== {name}\n{}", report::write(name, &measure()?, &load)?);
    }
    Ok(())
}
