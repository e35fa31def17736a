//! Directories of older releases, taken over at their first start.

use super::*;

/// Makes a closed store what the release before wrote: a tree, two files that take turns, and its mark. The second file holds frames of one row.
fn as_older(directory: &Path, format: &str, rows: &[(&str, u64)]) {
    for entry in std::fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if ["base-", "journal-", "index", "lock"].iter().any(|start| name.starts_with(start)) {
            std::fs::remove_file(path).unwrap();
        }
    }
    std::fs::write(directory.join("format"), format).unwrap();
    if format == "1\n" {
        return;
    }
    let salt = [5; 8];
    let mut file = [*b"kvjrnl02", salt].concat();
    file.extend(crc32c::crc32c(&file).to_be_bytes());
    std::fs::write(directory.join("journal-0"), &file).unwrap();
    for (key, version) in rows {
        let row = [
            version.to_be_bytes().to_vec(),
            (key.len() as u16).to_be_bytes().to_vec(),
            3_u32.to_be_bytes().to_vec(),
            key.as_bytes().to_vec(),
            b"log".to_vec(),
        ]
        .concat();
        let versions = [version - 1, *version, version - 1].map(u64::to_be_bytes).concat();
        let lengths = [row.len() as u32, crc32c::crc32c(&row)].map(u32::to_be_bytes).concat();
        let said = [versions, lengths].concat();
        let sum = crc32c::crc32c_append(crc32c::crc32c(&salt), &said);
        file.extend([said, sum.to_be_bytes().to_vec(), row].concat());
    }
    std::fs::write(directory.join("journal-1"), &file).unwrap();
}

fn value(store: &Sled, key: &str) -> Option<Vec<u8>> {
    store.get(key.as_bytes()).unwrap().value.map(|value| value.to_vec())
}

#[test]
fn a_store_of_an_older_release_is_taken_over_with_what_only_its_log_holds() {
    for open in [open, open_packed] {
        let directory = tempfile::tempdir().unwrap();
        let store = open(directory.path());
        let long = vec![7; 500];
        let last = store.commit(put("tree", long.clone(), Durability::Disk)).wait().unwrap().0;
        drop(store);
        as_older(directory.path(), "2\n", &[("first", last + 1), ("second", last + 2)]);
        for rebuilds in [false, false, true] {
            let store = match rebuilds {
                false => open(directory.path()),
                true => Sled::open(&SledConfig {
                    rebuilds: true,
                    record_bytes_max: 16,
                    ..SledConfig::new(directory.path())
                })
                .unwrap(),
            };
            assert_eq!(value(&store, "tree"), Some(long.clone()));
            assert_eq!(value(&store, "first"), Some(b"log".to_vec()));
            assert_eq!(value(&store, "second"), Some(b"log".to_vec()));
        }
        assert_eq!(std::fs::read_to_string(directory.path().join("format")).unwrap(), "6\n");
        assert!(!directory.path().join("journal-0").exists());
    }
}

#[test]
fn a_take_over_that_was_killed_before_its_mark_is_begun_anew() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.commit(put("tree", vec![1], Durability::Disk)).wait().unwrap();
    drop(store);
    let files = |directory: &Path| {
        let names = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
        names.filter(|path| path.is_file()).collect::<Vec<_>>()
    };
    let kept: Vec<_> = files(directory.path())
        .into_iter()
        .filter(|path| {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            name.starts_with("base-") || name.starts_with("journal-") || name == "index"
        })
        .map(|path| (path.clone(), std::fs::read(path).unwrap()))
        .collect();
    as_older(directory.path(), "2\n", &[]);
    // What an earlier take-over made of an older state of the tree.
    for (path, bytes) in kept {
        std::fs::write(path, bytes).unwrap();
    }
    assert_eq!(value(&open(directory.path()), "tree"), Some(vec![1]));
    assert_eq!(value(&open(directory.path()), "tree"), Some(vec![1]));
}

#[test]
fn a_store_from_before_there_was_a_log_is_opened() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.commit(put("tree", vec![1], Durability::Disk)).wait().unwrap();
    drop(store);
    as_older(directory.path(), "1\n", &[]);
    assert_eq!(value(&open(directory.path()), "tree"), Some(vec![1]));
}

#[test]
fn an_older_store_whose_log_is_broken_or_gone_is_refused_and_not_changed() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let last = store.commit(put("tree", vec![1], Durability::Disk)).wait().unwrap().0;
    drop(store);
    as_older(directory.path(), "2\n", &[("first", last + 2)]);
    for _ in 0..2 {
        let lost = Sled::open(&SledConfig::new(directory.path()));
        assert!(matches!(lost, Err(OpenError::Corrupt { .. })), "{lost:?}");
    }
    std::fs::write(directory.path().join("journal-1"), [7; 100]).unwrap();
    let broken = Sled::open(&SledConfig::new(directory.path()));
    assert!(matches!(broken, Err(OpenError::Corrupt { .. })), "{broken:?}");
    std::fs::remove_file(directory.path().join("journal-1")).unwrap();
    let gone = Sled::open(&SledConfig::new(directory.path()));
    assert!(matches!(gone, Err(OpenError::Corrupt { .. })), "{gone:?}");
    assert_eq!(std::fs::read_to_string(directory.path().join("format")).unwrap(), "2\n");
}

#[test]
fn the_tree_of_an_older_store_is_not_opened_where_the_disk_does_not_give_it_back_whole() {
    use crate::disk::testing::{Call, WatchedDisk};
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.commit(put("tree", vec![1], Durability::Disk)).wait().unwrap();
    drop(store);
    as_older(directory.path(), "2\n", &[]);
    let tree = directory.path().join("db");
    let before = std::fs::read(&tree).unwrap();
    let disk = WatchedDisk::new(|call, path| match call {
        Call::Read if path.ends_with("db") => Err(std::io::Error::other("as the test wants")),
        _ => Ok(()),
    });
    let refused = Sled::open_on(Arc::new(disk), &SledConfig::new(directory.path()));
    assert!(matches!(refused, Err(OpenError::Unreadable { .. })), "{refused:?}");
    assert!(std::fs::read(&tree).unwrap() == before);
    assert_eq!(value(&open(directory.path()), "tree"), Some(vec![1]));
}

#[test]
fn a_store_of_the_formats_before_with_the_same_files_is_opened_and_says_todays_from_then_on() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.commit(put("tree", vec![1], Durability::Disk)).wait().unwrap();
    drop(store);
    let mark = directory.path().join("format");
    for before in ["3\n", "4\n", "5\n"] {
        std::fs::write(&mark, before).unwrap();
        assert_eq!(value(&open(directory.path()), "tree"), Some(vec![1]));
        assert_eq!(std::fs::read_to_string(&mark).unwrap(), "6\n");
    }
    // A release of the formats before refuses that as this one refuses the next.
    std::fs::write(&mark, "7\n").unwrap();
    let later = Sled::open(&SledConfig::new(directory.path()));
    assert!(matches!(later, Err(OpenError::Later { .. })), "{later:?}");
    assert_eq!(std::fs::read_to_string(&mark).unwrap(), "7\n");
}
