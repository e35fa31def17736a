//! `cargo xtask crash`: kill the real binaries while they are written to, start them again, and look for what they acknowledged.

use std::process::Command;
use std::time::Duration;

use anyhow::{Result, bail};

use crate::process::watch;
use crate::service::{SERVICES, Service, tail};
use crate::workspace::{root, target};
use crate::{clients, e2e};

/// Arguments of `crash`.
#[derive(Debug, Default, clap::Args)]
pub(crate) struct Arguments {
    /// 20 kills of each service and 5 power cuts, instead of the short form
    #[arg(long)]
    pub full: bool,
    /// One service alone: object, video or tabs
    #[arg(long, value_parser = ["object", "video", "tabs"])]
    pub only: Option<String>,
}

/// How often a service is killed in the short form, which `test` runs.
const KILLS_SHORT: u32 = 3;
/// How often in the full form.
const KILLS_FULL: u32 = 20;
/// How often the power is cut in the full form.
const CUTS_FULL: u32 = 5;

/// Builds, installs the clients and runs the rounds.
///
/// # Errors
/// If anything acknowledged is lost, anything partial is visible, or a power cut was asked for where none can be made.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    e2e::build()?;
    clients::install()?;
    let mut failed = Vec::new();
    let chosen = SERVICES.iter().filter(|service| {
        arguments
            .only
            .as_deref()
            .is_none_or(|only| only == service.short)
    });
    for service in chosen {
        let kills = if arguments.full {
            KILLS_FULL
        } else {
            KILLS_SHORT
        };
        let mut rounds = vec![("kill", kills)];
        if arguments.full {
            rounds.push(("cut", CUTS_FULL));
        }
        for (how, count) in rounds {
            match rounds_of(service, how, count) {
                Ok(said) => println!("ok      {said}"),
                Err(error) => {
                    println!("FAILED  {} {how}: {error:#}", service.name);
                    failed.push(format!("{} {how}", service.name));
                }
            }
        }
    }
    if failed.is_empty() {
        return Ok(());
    }
    bail!("not held, or not run: {}", failed.join(", "))
}

/// The short form: a few kills of each service.
///
/// # Errors
/// As [`run`].
pub(crate) fn short() -> Result<String> {
    clients::install()?;
    let said: Result<Vec<_>> = SERVICES
        .iter()
        .map(|service| rounds_of(service, "kill", KILLS_SHORT))
        .collect();
    Ok(said?.join("; "))
}

/// Runs a service's writers through some rounds; its last line says what held.
fn rounds_of(service: &Service, how: &str, count: u32) -> Result<String> {
    let script = root()
        .join("tests/crash")
        .join(format!("{}.py", service.name.replace('-', "_")));
    let log = target()
        .join("xtask")
        .join(format!("crash-{}-{how}.log", service.short));
    let mut command = Command::new(clients::python());
    command
        .arg(&script)
        .args([how, &count.to_string()])
        .current_dir(root());
    command.env("TRIPTYCH_BINARY", service.binary(false));
    command.env("TRIPTYCH_SEED", service.demo_seed());
    let ended = watch(&mut command, &log, Duration::from_secs(20 * 60), |_| {})?;
    if !ended.success {
        bail!("{} {how} x{count}{}", service.name, tail(&log, 40));
    }
    Ok(ended.text.lines().last().unwrap_or_default().to_owned())
}
