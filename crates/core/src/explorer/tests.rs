use bytes::Bytes;

use super::*;
use crate::blobs::Blobs as _;
use crate::disk::Disk as _;
use crate::kv::{Batch, Durability, KeyValue as _};
use crate::time::Timestamp;

/// Seeds of the explorations that look for a missing sync, and the states that each of them has.
const SEED: u64 = 1;
const STATES_MAX: u64 = 300;

#[test]
fn no_kill_and_no_cut_loses_what_was_acknowledged_or_leaves_what_does_not_open() {
    for (name, workload) in Workload::ALL {
        let exploration = Exploration { seed: 7, states: 60, without: None };
        let explored = explore(&exploration, |seed| StoreLife::first(seed, workload));
        let explored = explored.unwrap_or_else(|finding| panic!("{name}: {finding}"));
        assert!(explored.states >= 60 && explored.second_lives > 0, "{explored:?}");
        assert!(explored.pending_changes > explored.states, "{explored:?}");
    }
}

#[test]
fn nothing_is_lost_while_the_syncs_of_tree_and_bases_are_slow() {
    let mut slow_syncs = 0;
    for (name, workload) in Workload::ALL {
        let exploration = Exploration { seed: SLOW_LIVES, states: 60, without: None };
        let explored = explore(&exploration, |seed| StoreLife::first(seed, workload));
        let explored = explored.unwrap_or_else(|finding| panic!("{name}: {finding}"));
        slow_syncs += explored.slow_syncs;
    }
    assert!(slow_syncs > 0);
}

fn together(seed: u64, turns: u64, without: Option<MissingSync>) -> Result<Simulated, String> {
    let simulation = Simulation { seed, turns, without };
    let simulated = simulate(&simulation, |seed| StoreLife::first(seed, Workload::Together));
    simulated.map_err(|finding| finding.to_string())
}

#[test]
fn nothing_is_lost_in_any_order_of_threads_and_a_seed_finds_the_same_order_again() {
    let simulated = together(40, 40_000, None).unwrap_or_else(|finding| panic!("{finding}"));
    assert!(simulated.lives > 1 && simulated.faulty > 0, "{simulated:?}");
    assert_eq!(together(40, 40_000, None), Ok(simulated));
}

#[test]
fn a_seed_that_misses_a_sync_misses_it_again() {
    let without = MissingSync::named("a group of the journal");
    let missed = together(1, 1_000_000, without).unwrap_err();
    let seed = missed.strip_prefix("seed ").and_then(|rest| rest.split_once(','));
    let seed: u64 = seed.unwrap().0.parse().unwrap();
    assert_eq!(together(seed, 1, without), Err(missed));
}

/// The disk as a cut leaves it that takes all that it can.
fn all_lost(disk: &SimulatedDisk) -> SimulatedDisk {
    let picture = disk.picture();
    let mut plan = picture.kill();
    plan.0.iter_mut().for_each(|choice| choice.survival = Survival::Missing);
    picture.after(&plan)
}

#[test]
fn what_a_kill_left_of_the_process_level_is_on_disk_before_a_later_frame_says_so() {
    let disk = SimulatedDisk::new();
    let put = |stores: &Stores, key: &'static str, durability| {
        let writes = vec![(Bytes::from(key), Some(Bytes::from("value")))];
        stores.kv.commit(Batch { writes, durability, ..Batch::default() }).wait().unwrap();
    };
    let stores = Stores::open(&disk, 1).unwrap();
    put(&stores, "process", Durability::Process);
    let killed = disk.picture().same_uptime();
    drop(stores);
    let stores = Stores::open(&killed, 1).unwrap();
    put(&stores, "disk", Durability::Disk);
    let cut = all_lost(&killed);
    drop(stores);
    let stores = Stores::open(&cut, 2).unwrap();
    for key in [&b"process"[..], b"disk"] {
        assert_eq!(stores.kv.get(key).unwrap().value, Some(Bytes::from("value")));
    }
}

#[test]
fn a_pack_that_a_kill_left_without_its_name_on_disk_has_it_before_a_body_is_put_into_it() {
    let plain = SimulatedDisk::new();
    let packs = Path::new("/data/blobs/packs");
    let disk = plain.watched(
        move |kind, path| match kind {
            CallKind::SyncDirectory if path == packs => CallOutcome::Pictured,
            _ => CallOutcome::Made,
        },
        || 0,
    );
    let put = |stores: &Stores| {
        let body = Bytes::from_static(b"body");
        stores.blobs.put_small(Timestamp::from_millis(1), body).wait().unwrap().id
    };
    let stores = Stores::open(&disk, 1).unwrap();
    put(&stores);
    let pictures = disk.pictures();
    drop(stores);
    assert!(!pictures.is_empty());
    for picture in pictures {
        let killed = picture.same_uptime();
        let stores = Stores::open(&killed, 1).unwrap();
        let id = put(&stores);
        let cut = all_lost(&killed);
        drop(stores);
        let stores = Stores::open(&cut, 2).unwrap();
        assert_eq!(stores.blobs.read_small(id, 4).unwrap(), "body");
    }
}

/// The same disk, pictured before each sync of names.
fn pictured(disk: &SimulatedDisk) -> SimulatedDisk {
    let on_call = |kind: CallKind, _: &Path| match kind {
        CallKind::SyncDirectory => CallOutcome::Pictured,
        _ => CallOutcome::Made,
    };
    disk.watched(on_call, || 0)
}

/// The disk as cuts leave it that take one change alone, each that is not on disk.
fn each_lost(picture: &Picture) -> impl Iterator<Item = SimulatedDisk> {
    let plan = picture.kill();
    (0..plan.0.len()).map(move |at| {
        let mut plan = plan.clone();
        plan.0[at].survival = Survival::Missing;
        picture.after(&plan)
    })
}

/// Commits a batch for each number, one after the other.
fn put_rows(stores: &Stores, numbers: std::ops::Range<u8>) {
    for number in numbers {
        let writes = vec![(Bytes::from(vec![number]), Some(Bytes::from(vec![number; 1_500])))];
        let batch = Batch { writes, durability: Durability::Disk, ..Batch::default() };
        stores.kv.commit(batch).wait().unwrap();
    }
}

/// The pictures of a store that wrote several segments and bases.
fn pictures_of_a_run() -> Vec<Picture> {
    let disk = SimulatedDisk::new();
    drop(Stores::open(&disk, 1).unwrap());
    let run = pictured(&disk);
    let stores = Stores::open(&run, 1).unwrap();
    put_rows(&stores, 0..40);
    drop(stores);
    run.pictures()
}

#[test]
fn a_name_that_a_kill_left_is_on_disk_before_the_next_start_removes_what_it_replaces() {
    let mut cuts = 0;
    for killed in pictures_of_a_run() {
        let start = pictured(&killed.same_uptime());
        let state = Stores::open(&start, 1).unwrap().state().unwrap();
        for left in start.pictures().iter().flat_map(each_lost) {
            cuts += 1;
            let stores = Stores::open(&left, 2).unwrap_or_else(|error| panic!("{error}"));
            let found = stores.state().unwrap();
            // The last batch may be one that was not acknowledged when the kill came.
            assert!(found.len() + 1 >= state.len());
            assert!(found.iter().all(|(key, value)| state.get(key) == Some(value)));
        }
    }
    assert!(cuts > 50, "{cuts}");
}

#[test]
fn a_cut_that_takes_any_one_name_leaves_a_store_that_goes_on() {
    let mut cuts = 0;
    for left in pictures_of_a_run().iter().flat_map(each_lost) {
        cuts += 1;
        let stores = Stores::open(&left, 2).unwrap_or_else(|error| panic!("{error}"));
        put_rows(&stores, 100..140);
        let state = stores.state().unwrap();
        drop(stores);
        let stores = Stores::open(&left, 2).unwrap_or_else(|error| panic!("{error}"));
        assert!(stores.state().unwrap() == state);
        stores.verify().unwrap_or_else(|error| panic!("{error}"));
    }
    assert!(cuts > 50, "{cuts}");
}

#[test]
fn a_spare_file_that_has_the_number_of_a_segment_is_not_taken_for_that_ones() {
    let disk = SimulatedDisk::new();
    drop(Stores::open(&disk, 1).unwrap());
    // As kills leave them that come while a segment is begun.
    for number in 1..9 {
        disk.replace(&Path::new("/data/kv").join(format!("journal-{number:010}.spare"))).unwrap();
    }
    let stores = Stores::open(&disk, 1).unwrap();
    put_rows(&stores, 0..200);
    assert_eq!(stores.state().unwrap().len(), 200);
}

#[test]
fn a_sync_that_is_left_out_is_missed() {
    let missed = |sync: &MissingSync| {
        Workload::ALL.iter().any(|(_, workload)| {
            let exploration = Exploration { seed: SEED, states: STATES_MAX, without: Some(*sync) };
            explore(&exploration, |seed| StoreLife::first(seed, *workload)).is_err()
        })
    };
    for name in ["a group of the journal", "a pack of bodies"] {
        let sync = MissingSync::named(name).unwrap();
        assert!(missed(&sync), "{name}");
    }
}

/// Lets one call in 499 of each kind fail in lives of this workload: a test for each, so that they run side by side.
fn each_fault_is_survived(workload: Workload) {
    let report = inject(3, 499, |seed| StoreLife::first(seed, workload));
    let report = report.unwrap_or_else(|finding| panic!("{finding}"));
    assert!(report.at_run > 0 && report.at_start > 0, "{report:?}");
}

#[test]
fn no_fault_loses_records_that_were_acknowledged_or_leaves_what_does_not_open() {
    each_fault_is_survived(Workload::Records);
}

#[test]
fn no_fault_loses_bodies_that_were_acknowledged_or_leaves_what_does_not_open() {
    each_fault_is_survived(Workload::Bodies);
}

#[test]
fn no_fault_loses_what_clients_wrote_together_or_leaves_what_does_not_open() {
    each_fault_is_survived(Workload::Together);
}
