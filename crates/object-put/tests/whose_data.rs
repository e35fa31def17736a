//! The mark that tells which service a data directory is of: it is there from its first start on, and no command takes another's, makes one
//! where there is none, or copies one in the place of another.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

mod service;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use bytes::Bytes;
use service::data_directory::{open, world};
use triptych_core::host::testing::Instance;
use triptych_core::kv::Batch;

const PROGRAM: &str = env!("CARGO_BIN_EXE_object-put");

fn run(line: &[&str], data: &Path) -> (Option<i32>, String) {
    let mut command = Command::new(PROGRAM);
    let Output { status, stdout, stderr } =
        command.args(line).arg("--data").arg(data).output().unwrap();
    (status.code(), String::from_utf8_lossy(&[stdout, stderr].concat()).into_owned())
}

/// All files under a directory, with what is in them.
fn content(directory: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut found, mut left) = (BTreeMap::new(), vec![directory.to_owned()]);
    while let Some(next) = left.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => left.push(path),
                false => drop(found.insert(path.clone(), std::fs::read(path).unwrap())),
            }
        }
    }
    found
}

#[tokio::test]
async fn every_command_refuses_the_directory_of_another_service_says_whose_it_is_and_changes_nothing()
 {
    let folder = tempfile::tempdir().unwrap();
    let (data, backups) = (folder.path().join("data"), folder.path().join("backups"));
    let stores = open(&data).unwrap();
    world(&stores).await.store("/bkt/key", b"body").await;
    drop(stores);
    assert_eq!(std::fs::read_to_string(data.join("service")).unwrap(), "object-put 1\n");
    let to = backups.display().to_string();
    let archive = folder.path().join("archive").display().to_string();
    assert_eq!(run(&["backup", "--to", &to], &data).0, Some(0));
    assert_eq!(run(&["export", &archive], &data).0, Some(0));
    std::fs::write(data.join("service"), "video-api 1\n").unwrap();
    let (before, copies) = (content(&data), content(&backups));
    let export = folder.path().join("export");
    for (line, code) in [
        (&["--port", "0"][..], 1),
        (&["serve", "--port", "0"], 1),
        (&["verify"], 2),
        (&["verify", "--deep"], 2),
        (&["backup", "--to", &to], 1),
        (&["restore", "--from", &to], 1),
        (&["export", &export.display().to_string()], 1),
        (&["import", &archive], 1),
    ] {
        let (ended, said) = run(line, &data);
        assert_eq!(ended, Some(code), "{line:?}: {said}");
        assert!(said.contains("is one of video-api, and was not changed"), "{line:?}: {said}");
        assert_eq!(content(&data), before, "{line:?}");
        assert_eq!(content(&backups), copies, "{line:?}");
        assert!(!export.exists());
    }
}

#[tokio::test]
async fn a_directory_of_an_older_release_is_marked_by_the_service_whose_rows_it_has_alone() {
    let folder = tempfile::tempdir().unwrap();
    let (data, mark) = (folder.path().join("data"), folder.path().join("data/service"));
    let stores = open(&data).unwrap();
    world(&stores).await.store("/bkt/key", b"body").await;
    drop(stores);
    std::fs::remove_file(&mark).unwrap();
    let stores = open(&data).unwrap();
    assert_eq!(std::fs::read_to_string(&mark).unwrap(), "object-put 1\n");
    let writes = vec![("default/\x01".into(), Some(Bytes::from("{}")))];
    stores.kv.commit(Batch { writes, ..Batch::default() }).wait().unwrap();
    drop(stores);
    std::fs::remove_file(&mark).unwrap();
    let (code, said) = run(&["--port", "0"], &data);
    assert_eq!(code, Some(1), "{said}");
    assert!(said.contains("not all of its records are of object-put"), "{said}");
    assert!(!mark.exists() && !data.join("admin-token").exists());
}

#[test]
fn a_directory_that_is_not_there_or_holds_no_store_is_not_copied_and_nothing_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let (absent, to) = (folder.path().join("absent"), folder.path().join("backups"));
    let (empty, mounted) = (folder.path().join("empty"), folder.path().join("mounted"));
    std::fs::create_dir(&empty).unwrap();
    std::fs::create_dir_all(mounted.join("kv")).unwrap();
    let (shown, export) = (to.display().to_string(), folder.path().join("export"));
    for data in [&absent, &empty, &mounted] {
        for (line, code) in [
            (&["backup", "--to", &shown][..], 1),
            (&["export", &export.display().to_string()], 1),
            (&["verify"], 2),
        ] {
            let (ended, said) = run(line, data);
            assert_eq!(ended, Some(code), "{line:?}: {said}");
            assert!(said.contains("holds no data"), "{line:?}: {said}");
        }
    }
    assert!(!absent.exists() && !to.exists() && !export.exists());
    assert_eq!(std::fs::read_dir(&empty).unwrap().count(), 0);
    assert_eq!(std::fs::read_dir(mounted.join("kv")).unwrap().count(), 0);
}

#[test]
fn a_service_that_serves_another_directory_is_not_asked_for_a_copy_of_this_one() {
    let folder = tempfile::tempdir().unwrap();
    let mut served =
        [0, 1].map(|number| Instance::on_disk(PROGRAM, folder.path(), number, "{}").unwrap());
    served.iter_mut().for_each(|instance| instance.start().unwrap());
    let client = served[0].client();
    let port = client.url().rsplit_once(':').unwrap().1.to_owned();
    let (own, other) = (folder.path().join("instance-0"), folder.path().join("instance-1"));
    let (to, export) = (folder.path().join("backups"), folder.path().join("export"));
    let (to_shown, export_shown) = (to.display().to_string(), export.display().to_string());
    let backup = ["backup", "--to", &to_shown, "--port", &port];
    let lines = [&backup[..], &["export", &export_shown, "--port", &port]];
    for line in lines {
        let (code, said) = run(line, &other);
        assert_eq!(code, Some(1), "{line:?}: {said}");
        let words = format!("serves another data directory than {}", other.display());
        assert!(said.contains(&words) && said.contains("--port"), "{said}");
    }
    assert!(!to.exists() && !export.exists());
    for line in lines {
        assert_eq!(run(line, &own).0, Some(0), "{line:?}");
    }
}

#[test]
fn a_service_whose_directory_is_removed_ends_with_a_sentence_that_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let mut command = Command::new(PROGRAM);
    command.args(["--port", "0", "--data"]).arg(&data);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let said = BufReader::new(child.stdout.take().unwrap());
    said.lines().find(|line| line.as_ref().unwrap().ends_with("is ready")).unwrap().unwrap();
    std::fs::remove_dir_all(&data).unwrap();
    let ended = child.wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(1), "{said}");
    let words = format!("the data directory {} is gone", data.display());
    assert!(said.contains(&words) && !said.contains("is in the journal"), "{said}");
    assert!(!data.exists());
}
