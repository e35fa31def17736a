//! Starts on data directories that are not whole: each is refused and says so, and nothing in it is changed.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

mod service;

use std::path::Path;
use std::sync::Arc;

use object_put::body::encryption::Keyring;
use object_put::maintenance::root_keys;
use service::data_directory::{open, world};
use service::{NOW, World};
use triptych_core::blobs::{Blobs as _, MemoryBlobs};
use triptych_core::id::SeededIds;
use triptych_core::kv::Memory;

/// Fills a data directory, and closes it.
async fn filled(data: &Path) {
    let stores = open(data).unwrap();
    let world = world(&stores).await;
    world.store("/bkt/key", b"body").await;
}

fn refusal(data: &Path) -> String {
    open(data).unwrap_err().to_string()
}

/// The names of all files under a directory.
fn files(directory: &Path) -> Vec<String> {
    let mut found = Vec::new();
    let mut left = vec![directory.to_owned()];
    while let Some(next) = left.pop() {
        for entry in std::fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path.clone())
            }
            found.push(path.display().to_string());
        }
    }
    found.sort();
    found
}

#[tokio::test]
async fn records_without_their_bodies_and_bodies_without_their_records_are_refused() {
    for (lost, said) in [("kv", "no records"), ("blobs", "not their bodies")] {
        for leaves_directory in [false, true] {
            let directory = tempfile::tempdir().unwrap();
            let data = directory.path().join("data");
            filled(&data).await;
            let away = directory.path().join("away");
            std::fs::rename(data.join(lost), &away).unwrap();
            if leaves_directory {
                // The mount point of a disk that is not there.
                std::fs::create_dir(data.join(lost)).unwrap();
            }
            let before = files(&data);
            let refused = refusal(&data);
            assert!(refused.contains(said), "{refused}");
            assert_eq!(files(&data), before, "{lost}");
            if leaves_directory {
                std::fs::remove_dir(data.join(lost)).unwrap();
            }
            std::fs::rename(&away, data.join(lost)).unwrap();
            let stores = open(&data).unwrap();
            let world = world(&stores).await;
            assert_eq!(world.fetch("/bkt/key").await.body, b"body");
        }
    }
}

#[tokio::test]
async fn records_and_bodies_of_different_stores_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (one, other) = (directory.path().join("one"), directory.path().join("other"));
    filled(&one).await;
    filled(&other).await;
    std::fs::remove_dir_all(one.join("kv")).unwrap();
    std::fs::rename(other.join("kv"), one.join("kv")).unwrap();
    let refused = refusal(&one);
    assert!(refused.contains("different stores"), "{refused}");
}

#[tokio::test]
async fn a_folder_of_bodies_that_is_gone_emptied_or_of_another_store_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let (data, other) = (directory.path().join("data"), directory.path().join("other"));
    filled(&data).await;
    filled(&other).await;
    let away = directory.path().join("away");
    for folder in ["packs", "large"].map(|folder| Path::new("blobs").join(folder)) {
        let (own, others) = (data.join(&folder), other.join(&folder));
        std::fs::rename(&own, &away).unwrap();
        let refused_with = |words: &str| {
            let before = files(&data);
            // A start that was refused does not mend it for the next one.
            for _ in 0..2 {
                let refused = refusal(&data);
                assert!(refused.contains(words), "{refused}");
                assert!(refused.contains(&own.display().to_string()), "{refused}");
                assert_eq!(files(&data), before);
            }
        };
        refused_with("gone, was emptied");
        std::fs::create_dir(&own).unwrap();
        refused_with("gone, was emptied");
        std::fs::remove_dir(&own).unwrap();
        std::fs::rename(&others, &own).unwrap();
        refused_with("different stores");
        std::fs::rename(&own, &others).unwrap();
        std::fs::rename(&away, &own).unwrap();
        let stores = open(&data).unwrap();
        assert_eq!(world(&stores).await.fetch("/bkt/key").await.body, b"body");
    }
}

#[tokio::test]
async fn a_pack_that_held_a_body_and_is_gone_is_refused_until_its_note_is_taken_away() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    filled(&data).await;
    let blobs = data.join("blobs");
    let (pack, away) = (blobs.join("packs/00000001.pack"), directory.path().join("away"));
    std::fs::rename(&pack, &away).unwrap();
    let before = files(&data);
    let refused = refusal(&data);
    assert!(refused.starts_with(&format!("the pack {} is gone", pack.display())), "{refused}");
    assert_eq!(files(&data), before);
    std::fs::rename(&away, &pack).unwrap();
    let stores = open(&data).unwrap();
    assert_eq!(world(&stores).await.fetch("/bkt/key").await.body, b"body");
    drop(stores);
    std::fs::remove_file(&pack).unwrap();
    std::fs::remove_file(blobs.join("known-packs")).unwrap();
    let stores = open(&data).unwrap();
    assert_eq!(world(&stores).await.fetch("/bkt/key").await.status, 500);
}

#[tokio::test]
async fn folders_of_bodies_of_an_older_release_are_marked_if_they_are_there() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    filled(&data).await;
    let blobs = data.join("blobs");
    let marks = ["folders", "packs/identity", "large/identity"].map(|mark| blobs.join(mark));
    let unmark = || marks.iter().for_each(|mark| std::fs::remove_file(mark).unwrap());
    unmark();
    drop(open(&data).unwrap());
    let identity = std::fs::read(blobs.join("identity")).unwrap();
    for mark in &marks[1..] {
        assert_eq!(std::fs::read(mark).unwrap(), identity);
    }
    // As a stop before the last mark leaves it.
    std::fs::remove_file(&marks[0]).unwrap();
    std::fs::remove_file(&marks[2]).unwrap();
    drop(open(&data).unwrap());
    unmark();
    std::fs::rename(blobs.join("large"), directory.path().join("away")).unwrap();
    let refused = refusal(&data);
    assert!(refused.contains("gone, was emptied"), "{refused}");
}

#[tokio::test]
async fn a_directory_of_an_older_release_gets_its_marks_if_it_is_whole() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    filled(&data).await;
    let unmark = || {
        for side in ["kv", "blobs"] {
            std::fs::remove_file(data.join(side).join("identity")).unwrap();
        }
    };
    let identity = |side: &str| std::fs::read_to_string(data.join(side).join("identity")).unwrap();
    unmark();
    drop(open(&data).unwrap());
    assert_eq!(identity("kv"), identity("blobs"));
    unmark();
    std::fs::rename(data.join("blobs"), directory.path().join("away")).unwrap();
    let refused = refusal(&data);
    assert!(refused.contains("not their bodies"), "{refused}");
}

#[tokio::test]
async fn a_format_of_a_later_version_is_refused_and_kept() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    filled(&data).await;
    let mark = data.join("kv/format");
    for later in ["7\n", "2.1\n", "something\n"] {
        std::fs::write(&mark, later).unwrap();
        let refused = refusal(&data);
        assert!(refused.contains("which this version does not know"), "{refused}");
        assert_eq!(std::fs::read_to_string(&mark).unwrap(), later);
    }
}

#[tokio::test]
async fn a_store_remembers_the_root_keys_that_its_bodies_need() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    let own = Keyring::new(&[9; 32]).current_id().to_owned();
    filled(&data).await;
    let stores = open(&data).unwrap();
    assert_eq!(root_keys::needed(&*stores.kv).unwrap().into_iter().collect::<Vec<_>>(), [own]);
}

#[tokio::test]
async fn a_lost_root_key_is_not_replaced_in_silence() {
    let directory = tempfile::tempdir().unwrap();
    let data = directory.path().join("data");
    filled(&data).await;
    let other = "11".repeat(32);
    for flags in [&[][..], &["--root-key", other.as_str()]] {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_object-put"));
        command.arg("--port").arg("0").arg("--data").arg(&data).args(flags);
        let done = command.output().unwrap();
        let text = String::from_utf8(done.stderr).unwrap();
        assert!(!done.status.success(), "{text}");
        assert!(text.contains(Keyring::new(&[9; 32]).current_id()), "{text}");
        assert!(text.contains("--root-key-file"), "{text}");
        assert!(!data.join("root-key").exists());
    }
}

#[tokio::test]
async fn a_body_that_cannot_be_opened_is_an_error_and_no_broken_answer() {
    let blobs = Arc::new(MemoryBlobs::new(SeededIds::from_number(2)));
    let world = World::on(Arc::new(Memory::new()), blobs.clone(), NOW).await;
    world.store("/bkt/key", b"body").await;
    for stat in blobs.list(None, 9).unwrap() {
        blobs.delete(stat.id).wait().unwrap();
    }
    let answer = world.fetch("/bkt/key").await;
    assert_eq!(answer.status, 500);
    assert_eq!(answer.element("Code").as_deref(), Some("InternalError"), "{}", answer.text());
}
