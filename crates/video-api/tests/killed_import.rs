//! The binary's own `import`: killed wherever it is, it goes on with the same command, and ends in the store that was exported.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected fails"
)]

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// Bytes between two checkpoints of an import.
const STEP: usize = 8 * 1024 * 1024;
/// More bytes than wait in a pipe and a buffer with the longest line: after so many more, a checkpoint is there.
const WAITING_MOST: usize = 600_000;
/// Videos whose rows take more than a step.
const VIDEOS: &str = "1600";

fn command(arguments: &[&str], data: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_video-api"));
    command.args(arguments).arg("--data").arg(data);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn done(arguments: &[&str], data: &Path) -> String {
    let output = command(arguments, data).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", said(&output));
    said(&output)
}

fn refused(arguments: &[&str], data: &Path) -> String {
    let output = command(arguments, data).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", said(&output));
    said(&output)
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    fn export(&self, data: &str, to: &str) -> Vec<u8> {
        done(&["export", &self.text(to)], &self.path(data));
        std::fs::read(self.path(to)).unwrap()
    }
}

/// Gives an import the first bytes of an archive, and kills it; all but what waits was read by then.
fn kill_after(archive: &[u8], bytes: usize, data: &Path) {
    let mut import = command(&["import", "-"], data).stdin(Stdio::piped()).spawn().unwrap();
    import.stdin.as_mut().unwrap().write_all(&archive[..bytes]).unwrap();
    import.kill().unwrap();
    import.wait().unwrap();
}

#[test]
fn an_import_that_is_killed_goes_on_with_its_own_file_and_ends_in_the_store_that_was_exported() {
    let folder = Folder(tempfile::tempdir().unwrap());
    done(&["generate", "--channels", "20", "--videos", VIDEOS], &folder.path("first"));
    let archive = folder.export("first", "archive");
    assert!(archive.len() > STEP + 2 * WAITING_MOST, "{} bytes", archive.len());
    let data = folder.path("data");
    // Before the first checkpoint, which leaves nothing to go on from, and after it.
    kill_after(&archive, 70_000, &data);
    kill_after(&archive, STEP + WAITING_MOST, &data);
    let served = refused(&["serve", "--port", "0"], &data);
    assert!(served.contains("run the same command again"), "{served}");
    let mut changed = archive.clone();
    changed[STEP / 2] ^= 1;
    std::fs::write(folder.path("changed"), &changed).unwrap();
    std::fs::write(folder.path("cut"), &archive[..STEP / 2]).unwrap();
    for wrong in ["changed", "cut"] {
        let why = refused(&["import", &folder.text(wrong)], &data);
        assert!(why.contains("not the file that this import began with"), "{wrong}: {why}");
        assert!(why.contains("to give it up"), "{wrong}: {why}");
    }
    let told = done(&["import", &folder.text("archive")], &data);
    assert!(told.contains("goes on after"), "{told}");
    assert!(!data.join(".filling").exists());
    assert!(folder.export("data", "found") == archive, "another store");
    let why = refused(&["import", &folder.text("archive")], &data);
    assert!(why.contains("is not empty"), "{why}");
}
