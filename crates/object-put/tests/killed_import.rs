//! The binary's own `import`: killed wherever it is, it goes on with the same command, and ends in the store that an uninterrupted one ends in.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected fails"
)]

mod service;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use service::data_directory::{open, world};

/// Bytes between two checkpoints of an import.
const STEP: usize = 8 * 1024 * 1024;
/// More bytes than a row takes with its body, and than wait in a pipe and a buffer: after so many more, a checkpoint is there.
const ROW_MOST: usize = 2_600_000;

fn command(arguments: &[&str], data: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_object-put"));
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

/// An export without the names of its bodies, which every import draws anew, and the digest of all of it.
fn without_names(text: &[u8]) -> Vec<String> {
    let lines = std::str::from_utf8(text).unwrap().lines();
    let mut names = Vec::new();
    let mut plain = Vec::new();
    for line in lines {
        let row: serde_json::Value = serde_json::from_str(line).unwrap();
        for body in row["bodies"].as_array().into_iter().flatten() {
            names.push(body["blob"].as_str().unwrap().to_owned());
        }
        let line = names.iter().fold(line.to_owned(), |line, name| line.replace(name, "NAME"));
        names.clear();
        plain.push(line.split("\"sha256\"").next().unwrap().to_owned());
    }
    plain
}

/// A store with versions, locks and bodies of many sizes, as its directory.
async fn filled(data: &Path) {
    let stores = open(data).unwrap();
    let world = world(&stores).await;
    for number in 0..12_u8 {
        world.store(&format!("/bkt/large-{number}"), &vec![number; 1_500_000]).await;
        for small in 0..20 {
            world.store(&format!("/versioned/{number}-{small}"), &vec![small; 40_000]).await;
            world.store(&format!("/versioned/{number}-{small}"), b"newer").await;
        }
    }
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

/// Gives an import the first bytes of an archive, and kills it; all but what pipes hold was read by then.
fn kill_after(archive: &[u8], bytes: usize, data: &Path) {
    let mut import = command(&["import", "-"], data).stdin(Stdio::piped()).spawn().unwrap();
    import.stdin.as_mut().unwrap().write_all(&archive[..bytes]).unwrap();
    import.kill().unwrap();
    import.wait().unwrap();
}

#[tokio::test]
async fn an_import_that_is_killed_goes_on_and_ends_in_the_same_store() {
    let folder = Folder(tempfile::tempdir().unwrap());
    filled(&folder.path("first")).await;
    let archive = folder.export("first", "archive");
    assert!(archive.len() > 4 * STEP, "{} bytes", archive.len());
    done(&["import", &folder.text("archive")], &folder.path("whole"));
    let wanted = without_names(&folder.export("whole", "wanted"));
    for (number, bytes) in
        [70_000, STEP + ROW_MOST, 3 * STEP, archive.len() - 400_000].into_iter().enumerate()
    {
        let name = format!("killed-{number}");
        let data = folder.path(&name);
        kill_after(&archive, bytes, &data);
        let served = refused(&["serve", "--port", "0"], &data);
        assert!(served.contains("run the same command again"), "{bytes}: {served}");
        // Killed a second time, a little later.
        if number % 2 == 1 {
            kill_after(&archive, bytes + (archive.len() - bytes) / 2, &data);
        }
        let told = done(&["import", &folder.text("archive")], &data);
        assert_eq!(told.contains("goes on after"), bytes > STEP, "{bytes}: {told}");
        let found = without_names(&folder.export(&name, &format!("found-{number}")));
        assert!(found == wanted, "another store after {bytes} bytes");
        assert!(!data.join(".filling").exists());
        done(&["verify", "--deep", "--root-key", &"09".repeat(32)], &data);
    }
}

#[tokio::test]
async fn an_import_goes_on_with_the_archive_that_it_began_with_alone() {
    let folder = Folder(tempfile::tempdir().unwrap());
    filled(&folder.path("first")).await;
    let archive = folder.export("first", "archive");
    let (data, wanted) = (folder.path("data"), without_names(&archive));
    kill_after(&archive, STEP + ROW_MOST, &data);
    // One of another store, one in which a byte was changed, and one that was cut off.
    filled(&folder.path("other")).await;
    folder.export("other", "another");
    let mut changed = archive.clone();
    changed[STEP / 2] ^= 1;
    std::fs::write(folder.path("changed"), &changed).unwrap();
    std::fs::write(folder.path("cut"), &archive[..STEP / 2]).unwrap();
    for wrong in ["another", "changed", "cut"] {
        let why = refused(&["import", &folder.text(wrong)], &data);
        assert!(why.contains("not the file that this import began with"), "{wrong}: {why}");
        assert!(why.contains("to give it up"), "{wrong}: {why}");
    }
    // A pipe that breaks is no end of it.
    kill_after(&archive, 3 * STEP, &data);
    done(&["import", &folder.text("archive")], &data);
    let found = folder.export("data", "found");
    assert!(without_names(&found) == wanted);
    // Once it is there, nothing is written over it.
    let why = refused(&["import", &folder.text("archive")], &data);
    assert!(why.contains("is not empty"), "{why}");
}

#[tokio::test]
async fn an_import_that_is_killed_while_its_store_is_moved_says_so_and_ends_the_move() {
    let folder = Folder(tempfile::tempdir().unwrap());
    filled(&folder.path("first")).await;
    let archive = folder.export("first", "archive");
    done(&["import", &folder.text("archive")], &folder.path("data"));
    let wanted = without_names(&folder.export("data", "wanted"));
    // As the kill between the two moves leaves it.
    let data = folder.path("data");
    let staging = data.join(".filling");
    std::fs::create_dir(&staging).unwrap();
    std::fs::rename(data.join("kv"), staging.join("kv")).unwrap();
    let end: serde_json::Value = serde_json::from_slice(
        archive.trim_ascii_end().rsplit(|byte| *byte == b'\n').next().unwrap(),
    )
    .unwrap();
    let note = serde_json::json!({
        "archive": end["sha256"], "bytes": archive.len(), "lines": 1, "rows": end["rows"],
        "bodies": end["bodies"], "sha256": "", "last": "", "is_whole": true,
    });
    std::fs::write(staging.join("progress.json"), note.to_string()).unwrap();
    assert!(refused(&["serve", "--port", "0"], &data).contains("is being filled"));
    // The archive has to be the same here too.
    filled(&folder.path("other")).await;
    folder.export("other", "another");
    let why = refused(&["import", &folder.text("another")], &data);
    assert!(why.contains("not the file that this import began with"), "{why}");
    done(&["import", &folder.text("archive")], &data);
    assert!(without_names(&folder.export("data", "found")) == wanted);
}

#[tokio::test]
async fn an_export_that_is_killed_leaves_no_file_and_the_next_one_is_whole() {
    let folder = Folder(tempfile::tempdir().unwrap());
    filled(&folder.path("first")).await;
    let wanted = folder.export("first", "wanted");
    let (file, beside) = (folder.path("archive"), folder.path("archive.part"));
    let mut export =
        command(&["export", &folder.text("archive")], &folder.path("first")).spawn().unwrap();
    // As soon as it has written something.
    while !std::fs::metadata(&beside).is_ok_and(|found| found.len() > 0) {
        assert!(export.try_wait().unwrap().is_none(), "it ended before it was killed");
        std::thread::yield_now();
    }
    export.kill().unwrap();
    export.wait().unwrap();
    assert!(!file.exists() && beside.exists());
    assert!(folder.export("first", "archive") == wanted);
    assert!(!beside.exists());
}
