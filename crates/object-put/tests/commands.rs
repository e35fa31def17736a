//! Commands of the program: what they refuse before they do anything, and how they end.

use std::process::{Command, Output, Stdio};

fn command(line: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_object-put"));
    command.args(line).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn a_reader_that_leaves_ends_a_command_quietly() {
    for line in [&["completions", "bash"][..], &["completions", "zsh"]] {
        let mut running = command(line).spawn().unwrap();
        drop(running.stdout.take());
        let output = running.wait_with_output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{}", said(&output));
    }
}

#[test]
fn what_no_flag_can_mean_is_refused_before_anything_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    for (flag, value) in [
        ("--base-host", "http://store.example.com"),
        ("--zonal-host", "*.zone.example.com"),
        ("--access-point-host", "a b"),
        ("--on-prem-host", "a/b"),
        ("--website-host", "a?b"),
        ("--part-bytes-min", "0"),
    ] {
        let mut refused = command(&["--port", "0", flag, value]);
        let output = refused.arg("--data").arg(&data).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{flag}");
        assert!(said(&output).contains(flag), "{flag}: {}", said(&output));
        assert!(!data.exists(), "{flag}");
    }
}

#[test]
fn a_deep_check_of_a_backup_is_refused_since_it_would_be_none() {
    let output = command(&["verify", "--backup", "nowhere", "--deep"]).output().unwrap();
    let said = said(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("--deep") && said.contains("--backup"), "{said}");
}

#[test]
fn a_moment_that_is_no_time_is_told_alone() {
    let line = ["restore", "--from", "nowhere", "--at", "garbage"];
    let output = command(&line).output().unwrap();
    assert_eq!(
        said(&output),
        "object-put restore: --at takes an RFC 3339 time: 2026-11-22T16:00:00Z\n"
    );
}
