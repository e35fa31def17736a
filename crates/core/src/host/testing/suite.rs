//! The suites of real clients, which stand below `tests/` of the workspace, run against instances of a test's own.

use std::io::{Error, Result};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Runs a Python file of `tests/` against a service at a URL. `service` is the folder's name, `facts` what the file is told beside the URL, by
/// the names that `cargo xtask e2e` uses.
///
/// # Errors
/// What it printed, if a check fails or is skipped, or the clients are not installed.
pub fn run_suite(service: &str, file: &str, url: &str, facts: &[(&str, &str)]) -> Result<()> {
    let root = root()?;
    // Programs of tests stand in `debug/deps` of the folder in which cargo builds, and the clients beside `debug`.
    let program = std::env::current_exe()?;
    let target = program.ancestors().nth(3).unwrap_or(&root);
    let python = target.join("clients/python/bin/python");
    if !python.exists() {
        let python = python.display();
        return Err(Error::other(format!("{python} is missing: cargo xtask e2e installs it")));
    }
    let variable = |what: &str| format!("TRIPTYCH_{}_{what}", service.to_ascii_uppercase());
    let mut command = Command::new(python);
    command.args(["-m", "unittest", "discover", "-v", "-s"]).arg(root.join("tests").join(service));
    command.args(["-p", file]).env(variable("URL"), url);
    for (what, value) in facts {
        command.env(variable(what), value);
    }
    for name in ["AWS_PROFILE", "AWS_ENDPOINT_URL", "AWS_CA_BUNDLE", "HTTP_PROXY", "http_proxy"] {
        command.env_remove(name);
    }
    command.env("NO_PROXY", "127.0.0.1,localhost").env("PYTHONDONTWRITEBYTECODE", "1");
    let done = command.output()?;
    let said = String::from_utf8_lossy(&done.stderr);
    // A run of no test at all, or of skipped ones, shows nothing.
    let shows = said.contains("\nRan ") && !said.contains("\nRan 0 ") && !said.contains("skipped");
    match done.status.success() && shows {
        true => Ok(()),
        false => Err(Error::other(format!("{file}: {}\n{said}", done.status))),
    }
}

/// The path of a file of the workspace.
///
/// # Errors
/// If this is not run from within it.
pub fn workspace_file(path: &str) -> Result<PathBuf> {
    Ok(root()?.join(path))
}

fn root() -> Result<PathBuf> {
    let own = std::env::current_dir()?;
    let is_root = |folder: &&Path| folder.join("Cargo.lock").exists();
    let root = own.ancestors().find(is_root).map(Path::to_owned);
    root.ok_or_else(|| Error::other("no workspace is around this folder"))
}
