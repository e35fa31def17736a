//! The binary's own `export` of a data directory that is served meanwhile.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

use std::path::Path;
use std::process::{Command, Output};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use triptych_core::host::testing::{Client, Instance, until};

const PROGRAM: &str = env!("CARGO_BIN_EXE_object-put");
/// A bucket that everybody may use.
const SEED: &str = r#"{
    "publicAccessBlock": false,
    "accounts": [{ "id": "111122223333", "displayName": "main", "keys": [] }],
    "buckets": [{ "name": "open", "owner": "111122223333", "public": "read-write" }]
}"#;

fn run(arguments: &[&str], data: &Path, port: u16) -> Output {
    let mut command = Command::new(PROGRAM);
    command.args(arguments).arg("--data").arg(data).args(["--port", &port.to_string()]);
    command.output().unwrap()
}

fn done(arguments: &[&str], data: &Path, port: u16) {
    let output = run(arguments, data, port);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
}

/// Stores bodies of both kinds, small and large, until it is told to stop.
fn write(client: Client, stop: &AtomicBool, acknowledged: &AtomicUsize) {
    while !stop.load(Ordering::Acquire) {
        let number = acknowledged.load(Ordering::Acquire);
        let body = vec![number as u8; if number.is_multiple_of(8) { 600_000 } else { 300 }];
        let answer = client.ask("PUT", &format!("/open/{number}"), &[], &body).unwrap();
        assert_eq!(answer.status, 200);
        acknowledged.fetch_add(1, Ordering::AcqRel);
    }
}

#[test]
fn a_directory_that_is_served_is_exported_as_of_one_moment_while_it_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let mut source = Instance::on_disk(PROGRAM, folder.path(), 0, SEED).unwrap();
    source.start().unwrap();
    let (client, data) = (source.client(), folder.path().join("instance-0"));
    let port = client.url().rsplit_once(':').unwrap().1.parse().unwrap();
    let archive = folder.path().join("archive").display().to_string();
    let (stop, acknowledged) = (AtomicBool::new(false), AtomicUsize::new(0));
    let before = std::thread::scope(|scope| {
        let writer = scope.spawn(|| write(client, &stop, &acknowledged));
        let at_least =
            |least: usize| until(|| (acknowledged.load(Ordering::Acquire) >= least).then_some(()));
        at_least(20).unwrap();
        let before = acknowledged.load(Ordering::Acquire);
        done(&["export", &archive], &data, port);
        // It goes on as if nothing had been.
        at_least(acknowledged.load(Ordering::Acquire) + 5).unwrap();
        stop.store(true, Ordering::Release);
        writer.join().unwrap();
        before
    });
    assert!(!data.join(".exporting").exists(), "the copy is gone");
    // All that was acknowledged before it is in the file, and what is in it is whole.
    let imported = folder.path().join("instance-1");
    done(&["import", &archive], &imported, port);
    let mut target = Instance::on_disk(PROGRAM, folder.path(), 1, SEED).unwrap();
    let root_key = std::fs::read(data.join("root-key")).unwrap();
    std::fs::write(imported.join("root-key"), root_key).unwrap();
    target.start().unwrap();
    let (mut number, all) = (0, acknowledged.load(Ordering::Acquire));
    while number < all {
        let found = target.client().ask("GET", &format!("/open/{number}"), &[], b"").unwrap();
        if found.status == 404 {
            break;
        }
        let expected = if number.is_multiple_of(8) { 600_000 } else { 300 };
        assert_eq!((found.status, found.body.len()), (200, expected), "{number}");
        number += 1;
    }
    assert!(number >= before, "{number} objects of at least {before}");
    for later in number..all {
        let found = target.client().ask("GET", &format!("/open/{later}"), &[], b"").unwrap();
        assert_eq!(found.status, 404, "{later} is there without those before it");
    }
}

#[test]
fn a_directory_whose_service_is_not_reached_is_not_exported_and_the_answer_says_by_which_flags() {
    let folder = tempfile::tempdir().unwrap();
    let mut source = Instance::on_disk(PROGRAM, folder.path(), 0, SEED).unwrap();
    source.start().unwrap();
    let (data, archive) = (folder.path().join("instance-0"), folder.path().join("archive"));
    let output = run(&["export", &archive.display().to_string()], &data, 9);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("--port"), "{said}");
    assert!(!archive.exists() && !data.join(".exporting").exists());
}
