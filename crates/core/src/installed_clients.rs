//! The programs that `cargo xtask e2e` installs for tests, in a folder beside what cargo builds.

use std::io::{Error, Result};
use std::path::PathBuf;

/// The path of a program among the Python clients.
///
/// # Errors
/// A sentence that says who installs it, where it is not there.
pub(crate) fn installed_client(name: &str) -> Result<PathBuf> {
    // Programs of tests stand in `debug/deps` of the folder in which cargo builds, those that are built for use in `debug`.
    let own = std::env::current_exe()?;
    let place = |folder: &std::path::Path| folder.join("clients/python/bin").join(name);
    let found = own.ancestors().skip(2).take(2).map(place).find(|program| program.exists());
    found.ok_or_else(|| Error::other(format!("{name} is missing: cargo xtask e2e installs it")))
}
