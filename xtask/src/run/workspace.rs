//! Folders of the workspace, and cargo itself.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The repository's root.
pub(crate) fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap_or_else(|| Path::new("."))
}

/// The folder in which cargo builds: `CARGO_TARGET_DIR`, else `target/` of the repository.
pub(crate) fn target() -> PathBuf {
    std::env::var_os("CARGO_TARGET_DIR").map_or_else(|| root().join("target"), PathBuf::from)
}

/// A cargo command at the root, with the compiler that runs this program.
pub(crate) fn cargo(arguments: &[&str]) -> Command {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(program);
    command.args(arguments).current_dir(root());
    command
}

/// Runs a command and gives what it prints.
///
/// # Errors
/// If it cannot be started or fails; the message carries its standard error.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let done = command
        .output()
        .with_context(|| format!("cannot start {}", command.get_program().display()))?;
    if !done.status.success() {
        bail!("{command:?} failed:\n{}", String::from_utf8_lossy(&done.stderr));
    }
    Ok(String::from_utf8(done.stdout)?)
}

/// `cargo metadata` as JSON.
///
/// # Errors
/// If cargo fails or prints something else.
pub(crate) fn metadata(arguments: &[&str]) -> Result<serde_json::Value> {
    let mut command = cargo(&["metadata", "--format-version", "1", "--locked"]);
    command.args(arguments);
    Ok(serde_json::from_str(&output(&mut command)?)?)
}

/// The list under a key; empty if there is none.
pub(crate) fn list<'a>(value: &'a serde_json::Value, key: &str) -> &'a [serde_json::Value] {
    value.get(key).and_then(serde_json::Value::as_array).map_or(&[], Vec::as_slice)
}

/// The text under a key; empty if there is none.
pub(crate) fn text<'a>(value: &'a serde_json::Value, key: &str) -> &'a str {
    value.get(key).and_then(serde_json::Value::as_str).unwrap_or_default()
}

/// All files below `directory` whose name ends with `suffix`, sorted.
///
/// # Errors
/// If a directory cannot be read.
pub(crate) fn files(directory: &Path, suffix: &str) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(next) = open.pop() {
        for entry in
            std::fs::read_dir(&next).with_context(|| format!("cannot read {}", next.display()))?
        {
            let path = entry?.path();
            let is_ours = path.file_name().is_some_and(|name| name != "node_modules");
            if path.is_dir() && is_ours {
                open.push(path);
            } else if path.to_string_lossy().ends_with(suffix) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
