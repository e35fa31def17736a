//! `cargo xtask bench`: measurements, in a release build, each against the machine's own limit in the same run.

use anyhow::Result;
#[cfg(not(feature = "bench"))]
use anyhow::bail;

#[cfg(not(feature = "bench"))]
use crate::run::workspace::cargo;

/// Arguments of `bench`.
#[derive(Debug, clap::Args)]
pub(crate) struct Arguments {
    /// The measurement to make [default: everything]
    #[arg(value_parser = ["kv", "host", "object", "video", "tabs", "scale"])]
    pub what: Option<String>,
    /// The groups alone whose name contains this: of `object` 4 KiB, 64 KiB, 1 MiB, 64 MiB, memory, keys, parts, modes, sessions, appends, of `video` bare,
    /// videos, threads, subscriptions, writers, captions, prism; shown, and not written down
    #[arg(long, requires = "what")]
    pub only: Option<String>,
}

/// Builds this tool again, optimised and with the feature `bench`, and runs that.
///
/// # Errors
/// If the build or the measurement fails.
#[cfg(not(feature = "bench"))]
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    // The engine on another machine is built for the measurement that has one.
    let has_engine = arguments.what.as_deref().is_none_or(|what| what == "scale");
    let features = if has_engine { "postgres" } else { "bench" };
    let mut command = cargo(&["run", "--release", "--locked", "-p", "xtask", "--features"]);
    command.args([features, "--", "bench"]);
    command.args(&arguments.what);
    if let Some(only) = &arguments.only {
        command.args(["--only", only]);
    }
    let status = command.status()?;
    if !status.success() {
        bail!("the measurement failed");
    }
    Ok(())
}

/// Measures what is asked for.
///
/// # Errors
/// If a measurement fails.
#[cfg(feature = "bench")]
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    crate::bench::measure(arguments.what.as_deref(), arguments.only.as_deref())
}
