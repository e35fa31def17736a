//! Long values and the way back to a moment: what base and log lead to is there, wherever the log is cut off.

use proptest::collection::vec;
use proptest::prelude::*;

use super::log::{State, bases, config, copy, rebuilding, state_of, without_bases};
use super::*;

/// Bytes of a value that goes to the value log.
const LONG_BYTES: usize = 300;

fn write(store: &Sled, key: u16, value: Option<Vec<u8>>) {
    let key = Bytes::copy_from_slice(&key.to_be_bytes());
    let batch = Batch { writes: vec![(key, value.map(Bytes::from))], ..Batch::default() };
    store.commit(batch).wait().unwrap();
}

/// A moment with frames before it and none since.
fn moment() -> u64 {
    let moment = schedule::wall_clock_millis();
    while schedule::wall_clock_millis() <= moment {
        std::thread::yield_now();
    }
    moment
}

/// Writes long values that come into the tree together, and replaces some of them, all in one memtable, of which the next base has a part. Gives the moment
/// between the two, and what the store held then.
fn write_in_one_memtable(directory: &Path) -> (u64, State) {
    let store = Sled::open(&config(directory)).unwrap();
    let held_up = store.engine.kept_values.lock();
    write(&store, 0, Some(vec![0; LONG_BYTES]));
    while store.engine.queue.read().checkpoints_begun == 0 {
        std::thread::yield_now();
    }
    for key in 0..60 {
        write(&store, key, Some(vec![key as u8; LONG_BYTES]));
    }
    let (moment, state) = (moment(), state_of(&store));
    for key in 40..60 {
        write(&store, key, (key % 3 > 0).then(|| vec![!key as u8; LONG_BYTES]));
    }
    drop(held_up);
    let empty = base::name(Version::ABSENT);
    while bases(directory).iter().any(|path| path.ends_with(&empty)) {
        std::thread::yield_now();
    }
    (moment, state)
}

#[test]
fn a_log_that_is_cut_off_within_what_came_into_the_tree_at_once_leads_to_every_long_value() {
    let directory = tempfile::tempdir().unwrap();
    let (moment, state) = write_in_one_memtable(directory.path());
    cut_log(directory.path(), moment).unwrap();
    // By the base and the log, then by the tree that came of them, then by both again.
    for of_store in [config, config, rebuilding] {
        let store = Sled::open(&of_store(directory.path())).unwrap();
        assert!(state_of(&store) == state);
        assert_eq!(store.verify(&mut |fault| panic!("{fault}")).unwrap().faults, 0);
    }
}

#[test]
fn the_long_values_of_a_log_that_was_cut_off_stay_until_the_next_base_however_many_are_replaced() {
    let directory = tempfile::tempdir().unwrap();
    let (moment, state) = write_in_one_memtable(directory.path());
    cut_log(directory.path(), moment).unwrap();
    let store = Sled::open(&without_bases(directory.path())).unwrap();
    for round in [100, 200] {
        for key in 0..60 {
            write(&store, key, Some(vec![round; LONG_BYTES]));
        }
        checkpoint_all(&store);
    }
    drop(store);
    cut_log(directory.path(), moment).unwrap();
    assert!(state_of(&Sled::open(&config(directory.path())).unwrap()) == state);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(10))]

    #[test]
    fn a_log_that_is_cut_off_at_a_moment_of_any_run_leads_to_what_the_store_held_then(
        writes in vec((0_u16..40, proptest::option::weighted(0.8, 0_usize..900), 0_u8..6), 60..200),
    ) {
        let directory = tempfile::tempdir().unwrap();
        // A run has several bases, which end where segments do.
        let small = SledConfig {
            segment_bytes: 4 * 1024,
            base_bytes_min: 16 * 1024,
            ..config(directory.path())
        };
        let store = Sled::open(&small).unwrap();
        let mut moments = Vec::new();
        for (number, (key, bytes, chance)) in writes.iter().enumerate() {
            write(&store, *key, bytes.map(|bytes| vec![number as u8; bytes]));
            if *chance == 0 {
                moments.push((moment(), state_of(&store)));
            }
        }
        drop(store);
        for (moment, state) in moments {
            let cut = tempfile::tempdir().unwrap();
            copy(directory.path(), cut.path());
            // A base of later than that is refused, and nothing else.
            if let Err(refused) = cut_log(cut.path(), moment) {
                prop_assert!(refused.contains("its base is younger"), "{}", refused);
                continue;
            }
            for of_store in [config, config, rebuilding] {
                let store = Sled::open(&of_store(cut.path())).unwrap();
                prop_assert!(state_of(&store) == state);
                prop_assert_eq!(store.verify(&mut |_| {}).unwrap().faults, 0);
            }
        }
    }
}
