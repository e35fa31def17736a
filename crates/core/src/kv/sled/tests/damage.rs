//! Damage by something other than a crash: what is found of it, and what a start makes of it.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::log::{
    State, bases, config, cut_store, rebuilding, state_of, without_bases, write_until_a_base,
};
use super::*;

/// Changes a bit of a file.
fn flip(path: &Path, at: usize) {
    let mut bytes = std::fs::read(path).unwrap();
    bytes[at] ^= 1;
    std::fs::write(path, bytes).unwrap();
}

/// The note of the newest segment.
fn note(directory: &Path) -> PathBuf {
    directory.join(wal::NEWEST)
}

/// Makes a closed store one whose tree is not to be believed.
pub(super) fn lose_tree(directory: &Path) {
    std::fs::remove_file(directory.join("db")).unwrap();
    std::fs::remove_file(directory.join("index")).unwrap();
}

#[test]
fn a_note_of_the_newest_segment_with_a_changed_bit_says_the_same() {
    let directory = tempfile::tempdir().unwrap();
    let state = cut_store(directory.path());
    let length = std::fs::read(note(directory.path())).unwrap().len();
    for at in [0, 2, length / 2 - 1, length / 2, length - 1] {
        flip(&note(directory.path()), at);
        let store = Sled::open(&without_bases(directory.path())).unwrap();
        assert_eq!(state_of(&store), state, "byte {at}");
        drop(store);
        lose_tree(directory.path());
        let newest = Segment::paths(&SystemDisk, directory.path()).unwrap().pop().unwrap();
        let kept = [newest.clone(), note(directory.path())];
        let bytes = kept.each_ref().map(|path| std::fs::read(path).unwrap());
        flip(&note(directory.path()), at);
        std::fs::remove_file(&newest).unwrap();
        let refused = Sled::open(&without_bases(directory.path())).unwrap_err().to_string();
        assert!(refused.contains("the journal has lost its end"), "byte {at}: {refused}");
        for (path, bytes) in kept.iter().zip(bytes) {
            std::fs::write(path, bytes).unwrap();
        }
    }
}

#[test]
fn a_note_that_cannot_be_read_matters_only_where_the_tree_is_not_to_be_believed() {
    let directory = tempfile::tempdir().unwrap();
    let state = cut_store(directory.path());
    for damaged in ["", "1", "9 00000000\n8 00000000\n"] {
        let path = note(directory.path());
        std::fs::write(&path, damaged).unwrap();
        let refused = Sled::open(&without_bases(directory.path())).unwrap_err().to_string();
        assert!(refused.contains("newest-segment, cannot be read"), "{damaged:?}: {refused}");
        std::fs::remove_file(&path).unwrap();
        drop(Sled::open(&without_bases(directory.path())).unwrap());
        // Closed, the tree has everything.
        std::fs::write(&path, damaged).unwrap();
        let store = Sled::open(&without_bases(directory.path())).unwrap();
        assert_eq!((store.rebuilt(), state_of(&store)), (None, state.clone()));
        drop(store);
        lose_tree(directory.path());
    }
}

#[test]
fn a_note_of_an_older_release_is_its_number_alone() {
    let directory = tempfile::tempdir().unwrap();
    let state = cut_store(directory.path());
    let newest = Segment::all(&SystemDisk, directory.path()).unwrap().pop().unwrap().number;
    std::fs::write(note(directory.path()), format!("{}\n", newest + 1)).unwrap();
    let refused = Sled::open(&without_bases(directory.path())).unwrap_err().to_string();
    assert!(refused.contains("the journal has lost its end"), "{refused}");
    std::fs::write(note(directory.path()), format!("{newest}\n")).unwrap();
    assert_eq!(state_of(&Sled::open(&without_bases(directory.path())).unwrap()), state);
}

/// Writes a row of its own and adds it to the state; false once the store has stopped.
fn write_row(store: &Sled, state: &mut State) -> bool {
    let (key, value) = (format!("row/{}", state.len()), vec![state.len() as u8; 900]);
    let row = (Bytes::from(key.clone()), Some(Bytes::from(value.clone())));
    let batch = Batch { writes: vec![row], ..Batch::default() };
    let is_written = store.commit(batch).wait().is_ok();
    if is_written {
        state.insert(key.into_bytes(), value);
    }
    is_written
}

#[test]
fn damage_that_the_next_base_finds_stops_the_store_and_the_start_after_makes_a_base_of_the_tree() {
    let segment = |directory: &Path| {
        let segments = Segment::paths(&SystemDisk, directory).unwrap();
        let [.., sealed, _] = segments.as_slice() else { panic!("{segments:?}") };
        sealed.clone()
    };
    let base = |directory: &Path| bases(directory).remove(0);
    let damages: [&dyn Fn(&Path) -> PathBuf; 2] = [&segment, &base];
    for damaged in damages {
        let directory = tempfile::tempdir().unwrap();
        let of_run = |run: &str| SledConfig {
            boot_id: Some(run.to_owned()),
            // Ten segments, as they are counted.
            base_bytes_min: 640 * 1024,
            ..config(directory.path())
        };
        let store = Sled::open(&config(directory.path())).unwrap();
        write_until_a_base(&store, directory.path());
        drop(store);
        let store = Sled::open(&of_run("first")).unwrap();
        let failure = store.failure();
        let mut state = state_of(&store);
        for _ in 0..40 {
            assert!(write_row(&store, &mut state));
        }
        checkpoint_all(&store);
        let path = damaged(directory.path());
        flip(&path, std::fs::read(&path).unwrap().len() / 3);
        while write_row(&store, &mut state) {
            assert!(state.len() < 10_000, "no base was made");
        }
        let reason = failure.wait();
        assert!(reason.contains("still has everything"), "{reason}");
        drop(store);
        let store = Sled::open(&of_run("first")).unwrap();
        assert_eq!((store.log_was_broken(), store.rebuilt()), (true, None));
        let found = state_of(&store);
        // The write that the stop met may have come to the disk.
        let beyond = found.keys().filter(|key| !state.contains_key(*key)).count();
        assert!(beyond <= 1 && state.iter().all(|(key, value)| found.get(key) == Some(value)));
        drop(store);
        assert_eq!(bases(directory.path()).len(), 1);
        // Without the tree, too.
        let store = Sled::open(&rebuilding(directory.path())).unwrap();
        assert_eq!((store.log_was_broken(), state_of(&store)), (false, found));
    }
}

#[test]
fn no_bit_of_the_mark_has_a_start_take_a_store_for_an_empty_or_an_older_one() {
    for loses_tree in [false, true] {
        let directory = tempfile::tempdir().unwrap();
        let store = Sled::open(&config(directory.path())).unwrap();
        let mut state = write_until_a_base(&store, directory.path());
        write_row(&store, &mut state);
        drop(store);
        let mark = directory.path().join("format");
        let whole = std::fs::read(&mark).unwrap();
        let changed = (0..whole.len() * 8).map(|bit| {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            bytes
        });
        let others =
            ["0\n", "1\n", "2\n", "3\n", "4\n", "5", "", "\n"].map(|mark| mark.as_bytes().to_vec());
        for bytes in changed.chain(others) {
            if loses_tree {
                lose_tree(directory.path());
            }
            std::fs::write(&mark, &bytes).unwrap();
            match Sled::open(&config(directory.path())) {
                Ok(store) => assert_eq!(state_of(&store), state, "{bytes:?}"),
                Err(OpenError::Later { .. }) => std::fs::write(&mark, &whole).unwrap(),
                Err(refused) => panic!("{bytes:?}: {refused}"),
            }
            assert_eq!(
                state_of(&Sled::open(&config(directory.path())).unwrap()),
                state,
                "{bytes:?}"
            );
        }
    }
}

/// The last file of the log that has frames, in a store that was killed: its tree is as it was left, or not to be believed.
fn killed(directory: &Path, is_believed: bool) -> (PathBuf, State) {
    let of_run = SledConfig { boot_id: Some("first".into()), ..without_bases(directory) };
    let store = Sled::open(&of_run).unwrap();
    for number in 0..40_u8 {
        let row = (Bytes::from(format!("row/{number}")), Some(Bytes::from(vec![number; 90])));
        store.commit(Batch { writes: vec![row], ..Batch::default() }).wait().unwrap();
    }
    let (state, newest) = (state_of(&store), Segment::paths(&SystemDisk, directory).unwrap().pop());
    let names = ["index", "journal-0000000001"].map(|name| directory.join(name));
    let left = names.each_ref().map(|path| std::fs::read(path).unwrap());
    drop(store);
    for (path, bytes) in names.iter().zip(left) {
        std::fs::write(path, bytes).unwrap();
    }
    if !is_believed {
        lose_tree(directory);
    }
    (newest.unwrap(), state)
}

#[test]
fn the_newest_file_of_a_killed_store_is_never_taken_for_whole_where_it_was_cut_or_changed() {
    let of_run =
        |directory: &Path| SledConfig { boot_id: Some("first".into()), ..without_bases(directory) };
    for is_believed in [true, false] {
        let directory = tempfile::tempdir().unwrap();
        let (newest, state) = killed(directory.path(), is_believed);
        let whole = std::fs::read(&newest).unwrap();
        let end = whole.iter().rposition(|byte| *byte != 0).unwrap();
        let files = |directory: &Path| {
            let entries = std::fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path());
            let files = entries.filter(|path| path.is_file());
            files
                .map(|path| (path.clone(), std::fs::read(path).unwrap()))
                .collect::<BTreeMap<_, _>>()
        };
        let before = files(directory.path());
        for at in (20..end - 16).step_by(397).chain([end - 20, end - 16]) {
            let cut = whole[..at].to_vec();
            let mut zeros = cut.clone();
            zeros.resize(whole.len(), 0);
            let mut flipped = whole.clone();
            flipped[at] ^= 4;
            // Zeros from within a frame on look like one that was torn, but for a tree that has it.
            let damages = if is_believed { vec![cut, zeros, flipped] } else { vec![cut, flipped] };
            for damaged in damages {
                std::fs::write(&newest, &damaged).unwrap();
                let refused = Sled::open(&of_run(directory.path())).unwrap_err().to_string();
                assert!(refused.contains("damaged and was not changed: the journal "), "{refused}");
                assert!(std::fs::read(&newest).unwrap() == damaged);
                for (path, bytes) in &before {
                    std::fs::write(path, bytes).unwrap();
                }
            }
        }
        assert_eq!(state_of(&Sled::open(&of_run(directory.path())).unwrap()), state);
    }
}

#[test]
fn a_closed_store_needs_nothing_of_a_log_that_was_cut() {
    let directory = tempfile::tempdir().unwrap();
    let store = Sled::open(&without_bases(directory.path())).unwrap();
    let mut state = State::new();
    for _ in 0..5 {
        write_row(&store, &mut state);
    }
    let newest = Segment::paths(&SystemDisk, directory.path()).unwrap().pop().unwrap();
    drop(store);
    std::fs::OpenOptions::new().write(true).open(&newest).unwrap().set_len(300).unwrap();
    for _ in 0..2 {
        let store = Sled::open(&config(directory.path())).unwrap();
        assert_eq!((store.rebuilt(), state_of(&store)), (None, state.clone()));
    }
    assert_eq!(state_of(&Sled::open(&rebuilding(directory.path())).unwrap()), state);
}

#[test]
fn an_operator_can_say_that_what_is_left_of_a_log_is_all_of_it() {
    let directory = tempfile::tempdir().unwrap();
    let (newest, state) = killed(directory.path(), false);
    let bytes = std::fs::read(&newest).unwrap();
    let end = bytes.iter().rposition(|byte| *byte != 0).unwrap();
    std::fs::write(&newest, &bytes[..end - 60]).unwrap();
    let of_store = without_bases(directory.path());
    assert!(Sled::open(&of_store).is_err());
    std::fs::write(directory.path().join("accept-end"), "").unwrap();
    for _ in 0..2 {
        let found = state_of(&Sled::open(&of_store).unwrap());
        assert_eq!(found.len(), state.len() - 1);
        assert!(found.iter().all(|(key, value)| state.get(key) == Some(value)));
    }
}

#[test]
fn segments_under_each_others_names_are_refused_and_none_is_let_go() {
    let directory = tempfile::tempdir().unwrap();
    let state = cut_store(directory.path());
    let segments = Segment::paths(&SystemDisk, directory.path()).unwrap();
    let [.., one, other] = segments.as_slice() else { panic!("{segments:?}") };
    let swap = || {
        let bytes = [one, other].map(|path| std::fs::read(path).unwrap());
        std::fs::write(one, &bytes[1]).unwrap();
        std::fs::write(other, &bytes[0]).unwrap();
    };
    swap();
    let refused = Sled::open(&config(directory.path())).unwrap_err().to_string();
    assert!(refused.contains("damaged and was not changed: the journal "), "{refused}");
    assert_eq!(Segment::paths(&SystemDisk, directory.path()).unwrap(), segments);
    swap();
    assert_eq!(state_of(&Sled::open(&config(directory.path())).unwrap()), state);
}
