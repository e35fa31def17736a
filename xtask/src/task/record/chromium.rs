//! The recorded browser: a real Chromium on a display of its own, behind the replay contract.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use super::contract::Contract;
use crate::run::clients;
use crate::run::workspace::root;

/// The programs that have to be installed, with the Debian package of each.
const PROGRAMS: [(&str, &str); 5] = [
    ("chromium", "chromium"),
    ("Xvfb", "xvfb"),
    ("openbox", "openbox"),
    ("xdotool", "xdotool"),
    ("node", "nodejs"),
];

/// A running browser; it ends with this.
#[derive(Debug)]
pub(super) struct Chromium {
    child: Child,
    /// The contract through which it is asked.
    pub contract: Contract,
}

impl Chromium {
    /// Says what is missing to record at all.
    ///
    /// # Errors
    /// A sentence with the packages that are to be installed.
    pub(super) fn need() -> Result<()> {
        clients::need(&PROGRAMS)
    }

    /// Starts the server that starts the browser.
    ///
    /// # Errors
    /// If it cannot be started.
    pub(super) fn start() -> Result<Self> {
        let tests = root().join("tests/tabs");
        let mut command = Command::new("node");
        command.arg(tests.join("record/server.mjs")).arg(tests.join("fixtures.json"));
        // It ends when its input does, so that no browser is left behind.
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.spawn().context("node could not be started")?;
        let mut address = String::new();
        if let Some(output) = child.stdout.take() {
            BufReader::new(output).read_line(&mut address)?;
        }
        if !address.starts_with("http://") {
            let _ = child.kill();
            let _ = child.wait();
            bail!("the recorder did not start");
        }
        Ok(Self { contract: Contract::at(address.trim()), child })
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        let _ = self.child.wait();
    }
}
