//! Damage by something other than a crash: what is found of it, and what a start makes of it.

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
