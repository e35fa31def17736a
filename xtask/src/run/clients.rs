//! The real clients that tests drive: a Python environment and Node packages, both pinned, both under `target/`.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::run::process::{has, watch};
use crate::run::progress::Progress;
use crate::run::service::tail;
use crate::run::workspace::{root, target};

const LIMIT: Duration = Duration::from_secs(10 * 60);

/// The folder of the clients.
fn home() -> PathBuf {
    target().join("clients")
}

/// The interpreter of the environment.
pub(crate) fn python() -> PathBuf {
    home().join("python/bin/python")
}

/// Programs that install and run the pinned packages, with the Debian packages of each.
const INSTALLERS: [(&str, &str); 3] =
    [("python3", "python3 python3-venv"), ("node", "nodejs"), ("npm", "npm")];

/// Programs that every run of client files wants and pip and npm do not install, with the Debian packages of each.
pub(crate) const PROGRAMS: [(&str, &str); 9] = [
    INSTALLERS[0],
    INSTALLERS[1],
    INSTALLERS[2],
    ("curl", "curl"),
    ("chromium", "chromium"),
    ("kill", "procps"),
    ("go", "golang-go golang-google-api-dev"),
    ("javac", "default-jdk-headless libgoogle-api-client-java"),
    ("ruby", "ruby-google-api-client"),
];

/// Installs what is missing or pinned anew, where the clients that no package brings are there as well.
///
/// # Errors
/// The programs that are missing and how to install them, or why an installation failed.
pub(crate) fn install() -> Result<()> {
    need(&PROGRAMS)?;
    install_packages()
}

/// Installs the pinned packages, whatever other clients there are.
///
/// # Errors
/// The programs that are missing and how to install them, or why an installation failed.
pub(crate) fn install_packages() -> Result<()> {
    need(&INSTALLERS)?;
    let tests = root().join("tests");
    let python_pins = read(&tests.join("requirements.txt"))?;
    once("python", &python_pins, || {
        let folder = home().join("python");
        run("python venv", Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
        let mut pip = Command::new(folder.join("bin/python"));
        pip.args(["-m", "pip", "install", "--disable-pip-version-check", "-r"]);
        run("pip install", pip.arg(tests.join("requirements.txt")))
    })?;
    let node_pins = read(&tests.join("package.json"))? + &read(&tests.join("package-lock.json"))?;
    once("node", &node_pins, || {
        let folder = home().join("node");
        std::fs::create_dir_all(&folder)?;
        for name in ["package.json", "package-lock.json"] {
            std::fs::copy(tests.join(name), folder.join(name))?;
        }
        let mut npm = Command::new("npm");
        run("npm ci", npm.args(["ci", "--no-audit", "--no-fund"]).current_dir(&folder))
    })?;
    link_node_modules(&tests)
}

/// Fails for the first programs that are not on the path, naming the packages that bring them.
///
/// # Errors
/// The programs that are missing and how to install them.
pub(crate) fn need(programs: &[(&str, &str)]) -> Result<()> {
    let missing: Vec<_> = programs.iter().filter(|(program, _)| !has(program)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let names: Vec<_> = missing.iter().map(|(program, _)| *program).collect();
    let packages: Vec<_> = missing.iter().map(|(_, package)| *package).collect();
    bail!("missing: {}. Install with: apt-get install {}", names.join(", "), packages.join(" "))
}

/// Node looks for packages beside the script and above it, so `tests/` gets a link to those under `target/`.
fn link_node_modules(tests: &Path) -> Result<()> {
    let (link, modules) = (tests.join("node_modules"), home().join("node/node_modules"));
    if link.canonicalize().ok() == modules.canonicalize().ok() {
        return Ok(());
    }
    let _ = std::fs::remove_file(&link);
    #[cfg(unix)]
    std::os::unix::fs::symlink(&modules, &link)
        .with_context(|| format!("cannot link {}", link.display()))?;
    Ok(())
}

/// Runs `install` unless it already succeeded with the same pins.
fn once(name: &str, pins: &str, install: impl FnOnce() -> Result<()>) -> Result<()> {
    let stamp = home().join(format!("{name}.pins"));
    if std::fs::read_to_string(&stamp).is_ok_and(|done| done == pins) {
        return Ok(());
    }
    std::fs::create_dir_all(home())?;
    install()?;
    std::fs::write(stamp, pins)?;
    Ok(())
}

fn run(name: &str, command: &mut Command) -> Result<()> {
    let progress = Progress::begin(name);
    let log = home().join(format!("{}.log", name.replace(' ', "-")));
    let ended = watch(command, &log, LIMIT, |line| progress.at(line))?;
    drop(progress);
    if ended.success {
        return Ok(());
    }
    bail!("{name} failed{}", tail(&log, 30))
}

fn read(path: &Path) -> Result<String> {
    std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}
