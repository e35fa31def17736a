use super::*;

fn write(disk: &SimulatedDisk, path: &str, bytes: &[u8]) -> Arc<dyn DiskFile> {
    let file = disk.create(Path::new(path)).unwrap();
    file.write_all_at(bytes, 0).unwrap();
    file
}

fn content(disk: &SimulatedDisk, path: &str) -> Option<Vec<u8>> {
    disk.read(Path::new(path), 10_000).ok()
}

#[test]
fn a_kill_takes_nothing_and_a_cut_nothing_that_was_synced() {
    let disk = SimulatedDisk::new();
    write(&disk, "/kept", b"synced").sync().unwrap();
    disk.sync_directory(Path::new("/")).unwrap();
    write(&disk, "/torn", &[7; 2_000]);
    let picture = disk.picture();
    let killed = picture.after(&picture.kill());
    assert_eq!(content(&killed, "/torn"), Some(vec![7; 2_000]));
    let states: Vec<_> = (0..200)
        .map(|seed| {
            let disk = picture.after(&picture.cut(seed));
            assert_eq!(content(&disk, "/kept"), Some(b"synced".to_vec()));
            content(&disk, "/torn")
        })
        .collect();
    let is_some = |wanted: &dyn Fn(&Vec<u8>) -> bool| states.iter().flatten().any(wanted);
    assert!(states.contains(&None), "its name may be missing");
    assert!(is_some(&|bytes| bytes.is_empty()) && is_some(&|bytes| *bytes == vec![7; 2_000]));
    assert!(is_some(&|bytes| *bytes == vec![7; 512]), "it may be torn at a sector");
    assert!(is_some(&|bytes| bytes.first() == Some(&0) && bytes.contains(&7)));
}

#[test]
fn a_name_and_its_file_come_to_the_disk_apart_and_a_rename_is_one_thing() {
    let disk = SimulatedDisk::new();
    disk.create_directory(Path::new("/kv")).unwrap();
    write(&disk, "/kv/new", b"whole").sync().unwrap();
    disk.rename(Path::new("/kv/new"), Path::new("/kv/old")).unwrap();
    let picture = disk.picture();
    let mut found = std::collections::BTreeSet::new();
    for seed in 0..200 {
        let disk = picture.after(&picture.cut(seed));
        let names = disk.list(Path::new("/kv")).unwrap_or_default();
        assert!(names.len() < 2, "{names:?}");
        found.extend(names);
    }
    assert_eq!(found.len(), 2, "either of its names may be there");
    disk.sync_directory(Path::new("/kv")).unwrap();
    disk.sync_directory(Path::new("/")).unwrap();
    let picture = disk.picture();
    assert!(picture.cut(1).0.is_empty());
    assert_eq!(content(&picture.after(&picture.cut(1)), "/kv/old"), Some(b"whole".to_vec()));
}

#[test]
fn a_sync_that_fails_loses_what_the_system_goes_on_to_show() {
    let plain = SimulatedDisk::new();
    let disk = plain.watched(
        |kind, _| match kind {
            CallKind::Sync => CallOutcome::Fails(Errno::IO),
            _ => CallOutcome::Made,
        },
        || 0,
    );
    let file = write(&disk, "/a", b"lost");
    assert!(file.sync().is_err());
    plain.sync_directory(Path::new("/")).unwrap();
    assert_eq!(content(&plain, "/a"), Some(b"lost".to_vec()));
    let again = plain.picture().same_uptime();
    assert_eq!(content(&again, "/a"), Some(b"lost".to_vec()));
    plain.open(Path::new("/a")).unwrap().sync().unwrap();
    let picture = plain.picture();
    assert_eq!(content(&picture.after(&picture.kill()), "/a"), Some(Vec::new()));
    plain.open(Path::new("/a")).unwrap().forget_cached().unwrap();
    assert_eq!(content(&plain, "/a"), Some(Vec::new()));
}

#[test]
fn a_lock_is_held_until_it_is_dropped_and_no_longer_than_its_process() {
    let disk = SimulatedDisk::new();
    let path = Path::new("/lock");
    let held = disk.lock(path).unwrap();
    assert!(held.is_some() && disk.lock(path).unwrap().is_none());
    assert!(disk.picture().same_uptime().lock(path).unwrap().is_some());
    drop(held);
    assert!(disk.lock(path).unwrap().is_some());
}

#[test]
fn a_slow_sync_is_made_after_later_calls_and_a_picture_meanwhile_does_not_have_it() {
    let plain = SimulatedDisk::new();
    let slow = plain.watched(
        |kind, path| match kind {
            CallKind::Sync if path.ends_with("slow") => CallOutcome::Slow(3),
            CallKind::Truncate => CallOutcome::Pictured,
            _ => CallOutcome::Made,
        },
        || 0,
    );
    let (held, other) = (write(&slow, "/slow", b"late"), write(&slow, "/other", b"x"));
    slow.sync_directory(Path::new("/")).unwrap();
    let syncing = std::thread::spawn(move || held.sync());
    while slow.picture().slow_calls == 0 {
        std::thread::yield_now();
    }
    other.truncate(0).unwrap();
    let pictures = slow.pictures();
    assert_eq!(pictures.iter().map(|picture| picture.slow_calls).collect::<Vec<_>>(), [1]);
    let without = pictures.iter().any(|picture| {
        (0..50).any(|seed| content(&picture.after(&picture.cut(seed)), "/slow") == Some(Vec::new()))
    });
    assert!(without, "what is being synced may be lost");
    syncing.join().unwrap().unwrap();
    let picture = slow.picture();
    assert!((0..50).all(|seed| {
        content(&picture.after(&picture.cut(seed)), "/slow") == Some(b"late".to_vec())
    }));
}
