use bytes::Bytes;

use super::*;
use crate::kv::{Batch, Durability, KeyValue as _};

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
    for (name, workload) in Workload::ALL {
        let exploration = Exploration { seed: SLOW_LIVES, states: 40, without: None };
        let explored = explore(&exploration, |seed| StoreLife::first(seed, workload));
        let explored = explored.unwrap_or_else(|finding| panic!("{name}: {finding}"));
        assert!(explored.slow_syncs > 0, "{explored:?}");
    }
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

#[test]
fn no_fault_loses_what_was_acknowledged_or_leaves_what_does_not_open() {
    for (name, workload) in Workload::ALL {
        let report = inject(3, 499, |seed| StoreLife::first(seed, workload));
        let report = report.unwrap_or_else(|finding| panic!("{name}: {finding}"));
        assert!(report.at_run > 0 && report.at_start > 0, "{report:?}");
    }
}
