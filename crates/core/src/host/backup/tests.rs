use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytes::Bytes;
use parking_lot::Mutex;

use super::restore::Found;
use super::take::{Source, newest};
use super::*;
use crate::blobs::{BlobId, Blobs, Directory};
use crate::disk::SystemDisk;
use crate::id::SeededIds;
use crate::kv::{Batch, KeyValue, Sled, SledConfig, Span};
use crate::time::{Clock as _, SystemClock, Timestamp};

/// A service's stores on disk, with small packs, segments and bases.
struct Stores {
    kv: Arc<Sled>,
    blobs: Arc<Directory>,
    source: Source,
}

fn open(data: &Path) -> Stores {
    let kv = Sled::open(&SledConfig {
        cache_bytes: 32 << 20,
        record_bytes_max: 64,
        segment_bytes: 16 * 1024,
        base_bytes_min: 64 * 1024,
        ..SledConfig::new(data.join("kv"))
    });
    let ids = SeededIds::from_seed([1; 32]);
    let blobs =
        Directory::open_with_packs_of(data.join("blobs"), Arc::new(SystemDisk), ids, 64 * 1024);
    let (kv, blobs) = (Arc::new(kv.unwrap()), Arc::new(blobs.unwrap()));
    let source = Source {
        service: "thing",
        version: "1",
        directory: data.to_owned(),
        kv: Arc::downgrade(&kv),
        bodies_elsewhere: None,
        identity: Some("own".into()),
        blobs: Arc::downgrade(&blobs),
        taking: Mutex::default(),
    };
    Stores { kv, blobs, source }
}

fn write(stores: &Stores, key: &str, value: Option<Vec<u8>>) {
    let writes = vec![(Bytes::copy_from_slice(key.as_bytes()), value.map(Bytes::from))];
    stores.kv.commit(Batch { writes, ..Batch::default() }).wait().unwrap();
}

fn body(number: u64) -> Vec<u8> {
    let bytes = if number.is_multiple_of(9) { 300_000 } else { 5_000 };
    vec![number as u8; bytes]
}

/// Puts a body and the record that names it; the body that the record named before is deleted after that.
fn put_body(stores: &Stores, key: &str, number: u64) {
    let before = stores.kv.get(key.as_bytes()).unwrap().value;
    let put = stores.blobs.put_small(Timestamp::from_millis(number as i64), body(number).into());
    let named = [put.wait().unwrap().id.0.to_vec(), number.to_be_bytes().to_vec()].concat();
    write(stores, key, Some(named));
    if let Some(before) = before {
        stores.blobs.delete(BlobId(before[..32].try_into().unwrap())).wait().unwrap();
    }
}

/// The rows of a store. Every body that one names is there, and is the one that was put.
fn rows(stores: &Stores) -> BTreeMap<String, Vec<u8>> {
    let page = stores.kv.scan(&Span::default(), 100_000).unwrap();
    let rows = page.rows.into_iter();
    let rows: BTreeMap<_, _> = rows
        .map(|(key, value)| (String::from_utf8(key.to_vec()).unwrap(), value.to_vec()))
        .collect();
    for (key, named) in rows.iter().filter(|(key, _)| key.starts_with("body")) {
        let (id, number) = named.split_at(32);
        let number = u64::from_be_bytes(number.try_into().unwrap());
        let wanted = body(number);
        let found = stores.blobs.read_small(BlobId(id.try_into().unwrap()), wanted.len() as u64);
        assert!(found.as_deref() == Ok(wanted.as_slice()), "{key}: {:?}", found.err());
    }
    rows
}

fn restored(from: &Path, at: Option<Timestamp>) -> (tempfile::TempDir, Stores) {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    Found::verified(from, "thing").unwrap().copy_to(&data, at).unwrap();
    let stores = open(&data);
    (folder, stores)
}

fn now(number: i64) -> Timestamp {
    Timestamp::from_millis(1_790_000_000_000 + number)
}

#[test]
fn a_backup_under_load_holds_all_that_was_acknowledged_before_it_and_every_body_that_its_rows_name()
{
    let folder = tempfile::tempdir().unwrap();
    let (data, to) = (folder.path().join("data"), folder.path().join("backups"));
    let stores = Arc::new(open(&data));
    let (stop, acknowledged) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    let writer = {
        let (stores, stop) = (Arc::clone(&stores), Arc::clone(&stop));
        let acknowledged = Arc::clone(&acknowledged);
        std::thread::spawn(move || {
            for number in 1.. {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                put_body(&stores, &format!("body/{}", number % 20), number);
                write(&stores, &format!("long/{}", number % 30), Some(vec![number as u8; 2_000]));
                write(&stores, "last", Some(number.to_be_bytes().to_vec()));
                acknowledged.store(number, Ordering::SeqCst);
            }
        })
    };
    for round in 1..=3 {
        while acknowledged.load(Ordering::SeqCst) < round * 40 {
            std::thread::yield_now();
        }
        let before = acknowledged.load(Ordering::SeqCst);
        let taken = stores.source.take(&to, now(round as i64)).unwrap();
        let (_folder, copy) = restored(&taken.path, None);
        let last = rows(&copy).remove("last").unwrap();
        let last = u64::from_be_bytes(last.try_into().unwrap());
        assert!(last >= before, "{last} and {before}");
        assert_eq!(copy.kv.verify(&mut |fault| panic!("{fault}")).unwrap().faults, 0);
    }
    stop.store(true, Ordering::SeqCst);
    writer.join().unwrap();
    let whole = stores.source.take(&to, now(9)).unwrap();
    let (_folder, copy) = restored(&to, None);
    assert_eq!(rows(&copy), rows(&stores));
    assert!(newest(&to).unwrap() == Some(whole.path));
}

#[test]
fn a_second_backup_writes_only_what_is_new() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("backups");
    let stores = open(&folder.path().join("data"));
    for number in 0..100 {
        put_body(&stores, &format!("body/{number}"), number);
    }
    let first = stores.source.take(&to, now(1)).unwrap();
    write(&stores, "one", Some(vec![1]));
    let second = stores.source.take(&to, now(2)).unwrap();
    assert!(second.bytes >= first.bytes);
    // The packs that are full and the large bodies are the very files that are served.
    assert!(first.copied_bytes < first.bytes / 4, "{first:?}");
    assert!(second.copied_bytes <= first.copied_bytes, "{second:?}");
    // What is restored is no link: it is written to.
    let (_folder, copy) = restored(&first.path, None);
    put_body(&copy, "body/3", 1_000);
    Found::verified(&first.path, "thing").unwrap();
    Found::verified(&second.path, "thing").unwrap();
}

#[test]
fn a_restore_ends_at_the_moment_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("backups");
    let stores = open(&folder.path().join("data"));
    write(&stores, "early", Some(vec![1; 200]));
    write(&stores, "gone", Some(vec![1; 200]));
    let clock = SystemClock::new();
    let moment = clock.now();
    // Frames tell milliseconds.
    while clock.now().millis() <= moment.millis() {
        std::thread::yield_now();
    }
    write(&stores, "later", Some(vec![2]));
    write(&stores, "gone", None);
    let taken = stores.source.take(&to, now(1)).unwrap();
    let (_folder, copy) = restored(&taken.path, Some(moment));
    let found = rows(&copy);
    assert_eq!(found.into_keys().collect::<Vec<_>>(), ["early", "gone"]);
    let (_folder, copy) = restored(&taken.path, None);
    assert!(!rows(&copy).contains_key("gone"));
    let too_early = folder.path().join("too-early");
    let refused = Found::verified(&to, "thing").unwrap();
    let refused = refused.copy_to(&too_early, Some(Timestamp::from_millis(1)));
    assert!(matches!(refused, Err(BackupError::Moment(_))), "{refused:?}");
}

#[test]
fn a_restore_to_a_moment_has_the_long_values_that_were_replaced_since() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("backups");
    let stores = open(&folder.path().join("data"));
    let long = |number: u64| format!("long/{}", number % 300);
    for number in 0..900_u64 {
        write(&stores, &long(number), Some(vec![number as u8; 300]));
    }
    let clock = SystemClock::new();
    let (moment, before) = (clock.now(), rows(&stores));
    while clock.now().millis() <= moment.millis() {
        std::thread::yield_now();
    }
    let bases = || {
        let names = std::fs::read_dir(folder.path().join("data/kv")).unwrap();
        let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
        names.filter(|name| name.starts_with("base-")).collect::<Vec<_>>()
    };
    let base = bases();
    // More than are deleted together, and less than a base is made for.
    for number in 0..100_u64 {
        write(&stores, &long(number), (number % 3 > 0).then(|| vec![!number as u8; 300]));
    }
    while stores.kv.waits() > std::time::Duration::ZERO {}
    let taken = stores.source.take(&to, now(1)).unwrap();
    let (_folder, copy) = restored(&taken.path, None);
    assert_eq!(rows(&copy), rows(&stores));
    let is_same_base = bases() == base;
    let back = tempfile::tempdir().unwrap();
    let data = back.path().join("data");
    match Found::verified(&to, "thing").unwrap().copy_to(&data, Some(moment)) {
        Ok(()) => assert_eq!(rows(&open(&data)), before),
        Err(refused) => assert!(!is_same_base, "{refused}"),
    }
}

#[test]
fn the_last_name_is_the_youngest_backup_whatever_was_done_to_the_clock_or_to_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("backups");
    let stores = open(&folder.path().join("data"));
    for (number, moment) in [5_000, 9_000, 9_000, 200, 10_000].into_iter().enumerate() {
        write(&stores, "last", Some(vec![number as u8]));
        let taken = stores.source.take(&to, now(moment)).unwrap();
        assert_eq!(newest(&to).unwrap(), Some(taken.path));
        let (_folder, copy) = restored(&to, None);
        assert_eq!(rows(&copy).remove("last"), Some(vec![number as u8]));
    }
    let newest_one = newest(&to).unwrap().unwrap();
    // A copy under another name is no newer one.
    std::fs::create_dir(to.join("weekly")).unwrap();
    std::fs::copy(newest_one.join("manifest.json"), to.join("weekly/manifest.json")).unwrap();
    assert_eq!(newest(&to).unwrap(), Some(newest_one.clone()));
    // One that has lost its manifest is not passed over in silence.
    std::fs::remove_file(newest_one.join("manifest.json")).unwrap();
    let refused = Found::verified(&to, "thing").err().unwrap().to_string();
    assert!(refused.ends_with("is damaged: manifest.json is gone"), "{refused}");
    let taken = stores.source.take(&to, now(20_000)).unwrap();
    assert_eq!(Found::verified(&to, "thing").unwrap().path, taken.path);
}

#[test]
fn what_was_damaged_in_the_backup_before_is_copied_again_and_not_linked() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("backups");
    let stores = open(&folder.path().join("data"));
    write(&stores, "a", Some(vec![1; 100]));
    let first = stores.source.take(&to, now(1)).unwrap();
    let mark = first.path.join("kv/format");
    std::fs::write(&mark, "9").unwrap();
    let second = stores.source.take(&to, now(2)).unwrap();
    assert!(Found::verified(&first.path, "thing").is_err());
    assert!(Found::verified(&second.path, "thing").is_ok());
}

#[test]
fn a_backup_that_cannot_be_taken_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let (data, to) = (folder.path().join("data"), folder.path().join("backups"));
    let stores = open(&data);
    write(&stores, "a", Some(vec![1; 100]));
    // The journal that is written has lost what was on disk.
    let journal = data.join("kv/journal-0000000001");
    std::fs::OpenOptions::new().write(true).open(&journal).unwrap().set_len(40).unwrap();
    let refused = stores.source.take(&to, now(1)).unwrap_err().to_string();
    assert!(
        refused.ends_with("journal-0000000001 cannot be used: the journal has lost its end"),
        "{refused}"
    );
    assert_eq!(std::fs::read_dir(&to).unwrap().count(), 0);
}

#[test]
fn a_store_without_a_body_is_restored_with_the_folders_of_bodies() {
    let folder = tempfile::tempdir().unwrap();
    let to = folder.path().join("backups");
    let stores = open(&folder.path().join("data"));
    write(&stores, "a", Some(vec![1]));
    let taken = stores.source.take(&to, now(1)).unwrap();
    let data = folder.path().join("restored");
    Found::verified(&taken.path, "thing").unwrap().copy_to(&data, None).unwrap();
    assert!(data.join("blobs/packs").is_dir() && data.join("blobs/large").is_dir());
}

#[test]
fn the_records_of_a_service_that_has_no_bodies_are_copied_as_well() {
    let folder = tempfile::tempdir().unwrap();
    let stores = open(&folder.path().join("data"));
    write(&stores, "a", Some(vec![1]));
    let Stores { kv: _kv, blobs, source } = stores;
    drop(blobs);
    let taken = source.take(&folder.path().join("backups"), now(1)).unwrap();
    let (_folder, copy) = restored(&taken.path, None);
    assert_eq!(rows(&copy).len(), 1);
}

#[test]
fn a_backup_that_is_not_whole_or_not_its_service_s_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let (data, to) = (folder.path().join("data"), folder.path().join("backups"));
    let stores = open(&data);
    put_body(&stores, "body/1", 1);
    let taken = stores.source.take(&to, now(1)).unwrap();
    let other = Found::verified(&to, "other").err();
    assert!(matches!(other, Some(BackupError::OtherService { .. })), "{other:?}");
    let nothing = Found::verified(folder.path(), "thing").err();
    assert!(matches!(nothing, Some(BackupError::NoBackup { .. })), "{nothing:?}");
    let files = ["kv/format", "blobs/packs/00000001.pack", "kv/journal-0000000001"];
    for file in files.map(|file| taken.path.join(file)) {
        let whole = std::fs::read(&file).unwrap();
        let mut flipped = whole.clone();
        *flipped.last_mut().unwrap() ^= 1;
        std::fs::write(&file, flipped).unwrap();
        let damaged = Found::verified(&taken.path, "thing").err();
        assert!(matches!(damaged, Some(BackupError::Damaged { .. })), "{damaged:?}");
        std::fs::remove_file(&file).unwrap();
        let gone = Found::verified(&taken.path, "thing").err();
        assert!(matches!(gone, Some(BackupError::Damaged { .. })), "{gone:?}");
        std::fs::write(&file, whole).unwrap();
    }
    // One that was cut off has no manifest, and is never the newest.
    let unfinished: PathBuf = to.join("2099-01-01T00-00-00-000Z.unfinished");
    std::fs::create_dir(&unfinished).unwrap();
    assert_eq!(newest(&to).unwrap(), Some(taken.path));
}

#[test]
fn the_operators_page_has_the_words_of_every_refusal() {
    let page = include_str!("../../../../../docs/running.md");
    let path = || "PATH".to_owned();
    for refusal in [
        BackupError::InMemory,
        BackupError::NoBackup { path: path() },
        BackupError::Damaged { path: path(), file: "FILE".into(), how: "HOW" },
        BackupError::OtherService { path: path(), of: "SERVICE".into() },
        BackupError::NotEmpty { path: path() },
        BackupError::Moment("REASON".into()),
    ] {
        assert!(page.contains(&format!("| {refusal} |")), "{refusal}");
    }
}

#[test]
fn a_backup_is_never_taken_into_what_it_is_a_copy_of() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let stores = open(&data);
    write(&stores, "key", Some(vec![1]));
    std::os::unix::fs::symlink(&data, folder.path().join("link")).unwrap();
    let now = SystemClock::new().now();
    for inside in [
        "data",
        "data/backups",
        "data/a/b",
        "link",
        "link/a",
        "new/../data/x",
        "new/../link/x",
        "data/../data",
        "data/.exporting/../a",
    ] {
        let taken = stores.source.take(&folder.path().join(inside), now);
        assert!(matches!(taken, Err(BackupError::WithinData { .. })), "{inside}: {taken:?}");
    }
    assert!(!data.join("backups").exists() && !data.join("x").exists() && !data.join("a").exists());
    for outside in ["data-of-backups", "new/a", "data/.exporting/backup"] {
        stores.source.take(&folder.path().join(outside), now).unwrap();
    }
}

/// The folders and files below a path, each with its mode.
fn modes(path: &Path) -> Vec<(PathBuf, u32)> {
    use std::os::unix::fs::PermissionsExt as _;
    let mut found = Vec::new();
    let mut left = vec![path.to_owned()];
    while let Some(path) = left.pop() {
        let about = std::fs::symlink_metadata(&path).unwrap();
        if about.is_dir() {
            left.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        }
        found.push((path, about.permissions().mode() & 0o777));
    }
    found
}

#[test]
fn only_their_owner_can_read_a_backup_and_what_is_restored() {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let stores = open(&data);
    put_body(&stores, "body", 9);
    std::fs::write(data.join("root-key"), "of the user").unwrap();
    let (to, restored) = (folder.path().join("all/backups"), folder.path().join("restored"));
    let taken = stores.source.take(&to, Timestamp::from_millis(1_000)).unwrap();
    Found::verified(&taken.path, "thing").unwrap().copy_to(&restored, None).unwrap();
    for (path, mode) in [modes(&folder.path().join("all")), modes(&restored)].concat() {
        assert_eq!(mode & 0o077, 0, "{}: {mode:o}", path.display());
    }
}

#[test]
fn a_secret_that_is_a_link_is_copied_with_what_it_leads_to_and_one_that_leads_nowhere_is_a_fault() {
    use std::os::unix::fs::symlink;
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    let stores = open(&data);
    let secret = folder.path().join("mounted-key");
    std::fs::write(&secret, "a key").unwrap();
    symlink(&secret, data.join("root-key")).unwrap();
    let to = folder.path().join("backups");
    let taken = stores.source.take(&to, Timestamp::from_millis(1_000)).unwrap();
    let copied = taken.path.join("root-key");
    assert!(!copied.is_symlink());
    assert_eq!(std::fs::read(&copied).unwrap(), b"a key");
    Found::verified(&taken.path, "thing").unwrap();
    std::fs::remove_file(&secret).unwrap();
    let refused = stores.source.take(&to, Timestamp::from_millis(2_000)).unwrap_err();
    assert!(refused.to_string().contains("root-key cannot be used"), "{refused}");
}

#[test]
fn a_path_that_is_no_utf_8_is_told_as_well_as_text_can() {
    use std::os::unix::ffi::OsStrExt as _;
    let folder = tempfile::tempdir().unwrap();
    let stores = open(&folder.path().join("data"));
    write(&stores, "key", Some(b"value".to_vec()));
    let to = folder.path().join(std::ffi::OsStr::from_bytes(b"b\xFF"));
    let taken = stores.source.take(&to, Timestamp::from_millis(1_000)).unwrap();
    assert!(taken.to_json()["path"].as_str().unwrap().contains("b\u{FFFD}"));
}

#[test]
fn a_copy_of_another_store_than_that_which_is_meant_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let stores = open(&folder.path().join("data"));
    stores.source.check_store("own").unwrap();
    for other in ["other", ""] {
        let refused = stores.source.check_store(other).unwrap_err();
        assert!(refused.to_string().contains(SERVES_OTHER_DATA), "{refused}");
    }
}
