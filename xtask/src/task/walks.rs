//! The long walks of the stock clients of video-api: hundreds of uploads, thousands of writes and every list to its end, over kills of the service.
//! Driven by `tests/video/stock/long.py`, with the programs of the short walks.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::run::at_once::at_once;
use crate::run::clients;
use crate::run::process::watch;
use crate::run::service::{Service, tail};
use crate::run::workspace::{root, target};
use crate::task::e2e;

/// The writes of each kind in one walk, which are its largest batch too; one in ten is the number of its uploads of each kind.
const WRITES: u32 = 500;

/// The time that one walk may take.
const LIMIT: Duration = Duration::from_secs(20 * 60);

/// The clients, with the program that each needs.
const CLIENTS: [(&str, &str); 5] =
    [("go", "go"), ("java", "javac"), ("ruby", "ruby"), ("python", "python3"), ("node", "node")];

/// Builds, and has every client walk.
///
/// # Errors
/// The clients that are not here and the packages that bring them, or whatever a walk found.
pub(crate) fn run() -> Result<String> {
    clients::need(&programs())?;
    clients::install_packages()?;
    e2e::build()?;
    Ok(at_once(CLIENTS.to_vec(), walk)?.join("; "))
}

/// The programs of the clients, with their Debian packages.
fn programs() -> Vec<(&'static str, &'static str)> {
    let is_of_client = |(program, _): &(&str, &str)| CLIENTS.iter().any(|(_, own)| own == program);
    clients::PROGRAMS.into_iter().filter(is_of_client).collect()
}

fn walk((client, _): (&str, &str)) -> Result<String> {
    let service = Service::find("video")?;
    let mut command = Command::new(clients::python());
    command.arg(root().join("tests/video/stock/long.py")).arg(client).arg(WRITES.to_string());
    command.current_dir(root()).env("PYTHONDONTWRITEBYTECODE", "1");
    e2e::identify(&mut command, service)?;
    let log = target().join(format!("xtask/walk-{client}.log"));
    let ended = watch(&mut command, &log, LIMIT, |_| {})?;
    if !ended.success {
        bail!("the walk of {client} failed{}", tail(&log, 60));
    }
    let said = ended.text.lines().last().map(str::to_owned);
    said.with_context(|| format!("{client} did not say what it walked"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_program_of_each_client_is_known_with_its_packages() {
        assert_eq!(programs().len(), CLIENTS.len());
    }
}
