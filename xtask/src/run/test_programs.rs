//! The programs that cargo builds of tests, run side by side: cargo itself runs one after the other, and many of them keep one core busy.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::run::at_once::at_once;
use crate::run::process::watch;
use crate::run::service::tail;
use crate::run::workspace::{output, root, text};

/// The time that one program may take before it is killed.
const LIMIT: Duration = Duration::from_secs(20 * 60);

/// A program that holds tests.
#[derive(Debug, PartialEq, Eq)]
struct TestProgram {
    /// Its package and its target: `object-put lib`.
    name: String,
    path: PathBuf,
    /// The folder of its package, in which cargo runs it.
    folder: PathBuf,
}

/// Runs the programs that `test`, a `cargo test` command, builds, and its tests of documentation; each logs to a file of its own in `logs`. `on_start`
/// is told the name of each. Gives all that they print, in the order of the programs.
///
/// # Errors
/// If they do not build, or names each that failed with the end of its log.
pub(crate) fn run(
    test: impl Fn() -> Result<Command>,
    logs: &Path,
    on_start: impl Fn(&str) + Sync,
) -> Result<String> {
    let mut build = test()?;
    let built = output(build.args(["--no-run", "--message-format", "json-render-diagnostics"]))?;
    let mut jobs = Vec::new();
    for program in programs(&built)? {
        let mut command = Command::new(&program.path);
        command.current_dir(&program.folder).env("CARGO_MANIFEST_DIR", &program.folder);
        jobs.push((program.name, command));
    }
    let mut documentation = test()?;
    documentation.args(["--doc", "--no-fail-fast"]);
    jobs.push(("documentation".to_owned(), documentation));
    let said = at_once(jobs, |(name, mut command)| {
        on_start(&name);
        let log = logs.join(format!("{}.log", name.replace(' ', "-")));
        let ended = watch(&mut command, &log, LIMIT, |_| {})?;
        if !ended.success {
            let failed = ended.text.lines().filter(|line| is_verdict(line));
            bail!("{name} failed\n{}{}", failed.collect::<Vec<_>>().join("\n"), tail(&log, 60));
        }
        Ok(ended.text)
    })?;
    Ok(said.concat())
}

/// The programs that cargo's messages name.
fn programs(messages: &str) -> Result<Vec<TestProgram>> {
    let mut found = Vec::new();
    for line in messages.lines().filter(|line| line.starts_with('{')) {
        let message: Value = serde_json::from_str(line)?;
        let is_test = message.pointer("/profile/test").and_then(Value::as_bool) == Some(true);
        let Some(path) = message.get("executable").and_then(Value::as_str).filter(|_| is_test)
        else {
            continue;
        };
        let folder = Path::new(text(&message, "manifest_path")).parent();
        let folder = folder.context("a manifest lies in a folder")?.to_owned();
        let package = folder.file_name().unwrap_or(root().as_os_str()).to_string_lossy();
        let target = message.get("target").map(|target| text(target, "name")).unwrap_or_default();
        let kind = message.pointer("/target/kind/0").and_then(Value::as_str);
        let name = match kind {
            Some("test") | None => format!("{package} {target}"),
            Some(kind) => format!("{package} {kind} {target}"),
        };
        found.push(TestProgram { name, path: path.into(), folder });
    }
    Ok(found)
}

/// Tells whether a line names a test that failed, or where it did; the end of a long log no longer shows it.
pub(crate) fn is_verdict(line: &str) -> bool {
    line.ends_with(" ... FAILED")
        || (line.starts_with("thread '") && line.contains(" panicked at "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tests_that_failed_are_named() {
        assert!(is_verdict("test a::b ... FAILED"));
        assert!(is_verdict("thread 'a::b' (7) panicked at src/a.rs:1:2:"));
        assert!(!is_verdict("test a::b ... ok"));
    }

    #[test]
    fn programs_are_those_that_were_built_for_tests() {
        let message = |test: bool, kind: &str, executable: &str| {
            format!(
                r#"{{"reason":"compiler-artifact","manifest_path":"/w/crates/a/Cargo.toml","target":{{"kind":["{kind}"],"name":"n"}},"profile":{{"test":{test}}},"executable":{executable}}}"#
            )
        };
        let messages = [
            "a warning".to_owned(),
            message(true, "test", r#""/t/n-1""#),
            message(true, "lib", r#""/t/n-2""#),
            message(false, "bin", r#""/t/n""#),
            message(false, "lib", "null"),
            r#"{"reason":"build-finished","success":true}"#.to_owned(),
        ];
        let found = programs(&messages.join("\n")).unwrap();
        let named: Vec<_> =
            found.iter().map(|program| (program.name.as_str(), program.path.as_path())).collect();
        assert_eq!(named, [("a n", Path::new("/t/n-1")), ("a lib n", Path::new("/t/n-2"))]);
        assert!(found.iter().all(|program| program.folder == Path::new("/w/crates/a")));
    }
}
