//! Instances whose wires to the store are slow, are cut at random bytes, lose answers, or hold what is under way while the instance sleeps.

use std::time::Duration;

use triptych_core::host::testing::history::is_linearizable;
use triptych_core::host::testing::{Client, Fault, Instance, run_workload, until};
use triptych_core::kv::{StoreServer, Weather, Wire};

use crate::INSTANCES;
use crate::histories::{Objects, OneKey, is_lost};
use crate::instance::{Asks, sharing};

/// Instances that share a store, each behind a wire of its own.
fn wired(server: &StoreServer, folder: &tempfile::TempDir) -> (Vec<Wire>, Vec<Instance>) {
    let make = |number: usize| {
        let (wire, url) = server.behind_a_wire(number as u64).unwrap();
        (wire, sharing(folder.path(), number, &url))
    };
    let (wires, mut instances): (Vec<_>, Vec<_>) = (0..INSTANCES).map(make).unzip();
    instances.iter_mut().for_each(|instance| instance.begin().unwrap());
    instances.iter_mut().for_each(|instance| instance.ready().unwrap());
    (wires, instances)
}

fn judged(instances: &mut [Instance], faults: &mut [Fault<'_>]) {
    let history = run_workload(&Objects, instances, faults).unwrap();
    for (key, events) in history.into_keys(is_lost) {
        assert!(is_linearizable::<OneKey>(None, &events), "{key}: {events:#?}");
    }
}

#[test]
fn a_store_that_answers_fifty_milliseconds_late_costs_time_and_no_answer() {
    let (server, folder) = (StoreServer::start().unwrap(), tempfile::tempdir().unwrap());
    let (wires, instances) = wired(&server, &folder);
    wires.iter().for_each(|wire| wire.turn(Weather::Slow(Duration::from_millis(50))));
    let clients: Vec<Client> = instances.iter().map(Instance::client).collect();
    for number in 0..8 {
        let (key, body) = (format!("slow-{number}"), format!("body {number}"));
        let answer = clients[number % INSTANCES].put(&key, &[], body.as_bytes()).unwrap();
        assert_eq!(answer.status, 200, "{answer:?}");
        let found = clients[(number + 1) % INSTANCES].get(&format!("/open/{key}")).unwrap();
        assert_eq!((found.status, found.body), (200, body.into_bytes()));
        let refused = clients[(number + 2) % INSTANCES].put(&key, &["If-None-Match: *"], b"no");
        assert_eq!(refused.unwrap().status, 412);
    }
}

#[test]
fn what_clients_see_is_linearizable_while_wires_are_cut_at_random_bytes_and_lose_answers() {
    let (server, folder) = (StoreServer::start().unwrap(), tempfile::tempdir().unwrap());
    let (wires, mut instances) = wired(&server, &folder);
    let all = |weather| wires.iter().for_each(|wire| wire.turn(weather));
    judged(
        &mut instances,
        &mut [
            &mut |_| all(Weather::LosesAnswers),
            &mut |_| all(server.cut()),
            &mut |_| all(Weather::Slow(Duration::from_millis(20))),
            &mut |_| all(Weather::LosesAnswers),
            &mut |_| all(Weather::Clear),
        ],
    );
    assert!(wires.iter().all(|wire| wire.cut() > 0), "a wire was never cut");
}

#[test]
fn what_clients_see_is_linearizable_while_an_instance_sleeps_in_the_middle_of_its_commits() {
    let (server, folder) = (StoreServer::start().unwrap(), tempfile::tempdir().unwrap());
    let (wires, mut instances) = wired(&server, &folder);
    // What is under way waits on the wire, the instance sleeps, and the others go on.
    let sleep = |wire: &Wire, weather, instance: &Instance| {
        wire.turn(weather);
        until(|| (wire.held() > 0).then_some(())).unwrap();
        instance.pause().unwrap();
    };
    let wake = |wire: &Wire, instance: &Instance| {
        wire.turn(Weather::Clear);
        instance.wake().unwrap();
    };
    judged(
        &mut instances,
        &mut [
            &mut |instances| sleep(&wires[0], Weather::HoldsAnswers, &instances[0]),
            &mut |instances| wake(&wires[0], &instances[0]),
            &mut |instances| sleep(&wires[1], Weather::HoldsRequests, &instances[1]),
            &mut |instances| wake(&wires[1], &instances[1]),
            &mut |instances| sleep(&wires[2], Weather::HoldsAnswers, &instances[2]),
            &mut |instances| wake(&wires[2], &instances[2]),
            &mut |instances| sleep(&wires[0], Weather::HoldsRequests, &instances[0]),
            &mut |instances| wake(&wires[0], &instances[0]),
        ],
    );
}
