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
