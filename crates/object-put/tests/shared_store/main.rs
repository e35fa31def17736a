//! Three instances of the binary on one store and one place for bodies: races between them, and what kills and falls leave.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that meets the unexpected fails"
)]

mod archives;
mod clients;
#[path = "../condition/mod.rs"]
mod condition;
mod histories;
mod instance;
mod same_answers;
#[path = "../service/mod.rs"]
mod service;
mod wires;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::scope;

use instance::{Asks, alone, sharing};
use triptych_core::host::testing::{Client, Instance, pause_keeper, until};
use triptych_core::kv::StoreServer;

const INSTANCES: usize = 3;

/// Instances that run on one store, with their bodies in one place.
fn started(server: &StoreServer, folder: &tempfile::TempDir) -> Vec<Instance> {
    let mut instances: Vec<_> =
        (0..INSTANCES).map(|number| sharing(folder.path(), number, &server.url())).collect();
    // All at once: they make one schema and one seed.
    instances.iter_mut().for_each(|instance| instance.begin().unwrap());
    instances.iter_mut().for_each(|instance| instance.ready().unwrap());
    instances
}

#[test]
fn of_clients_that_create_one_object_through_several_instances_exactly_one_wins() {
    let (server, folder) = (StoreServer::start().unwrap(), tempfile::tempdir().unwrap());
    let instances = started(&server, &folder);
    let clients: Vec<Client> = instances.iter().map(Instance::client).collect();
    for round in 0..25 {
        let key = format!("raced-{round}");
        let answers = scope(|scope| {
            let race = |racer: usize| {
                let (client, key) = (clients[racer % INSTANCES], &key);
                scope.spawn(move || {
                    let body = format!("by {racer} in {round}");
                    let answer = client.put(key, &["If-None-Match: *"], body.as_bytes()).unwrap();
                    let tag = answer.header("etag").map(str::to_owned);
                    (answer.status, tag)
                })
            };
            let racers: Vec<_> = (0..2 * INSTANCES).map(race).collect();
            racers.into_iter().map(|racer| racer.join().unwrap()).collect::<Vec<_>>()
        });
        let winners: Vec<_> = answers.iter().filter(|(status, _)| *status == 200).collect();
        assert_eq!(winners.len(), 1, "{answers:?}");
        assert!(answers.iter().all(|(status, _)| [200, 409, 412].contains(status)), "{answers:?}");
        for client in &clients {
            assert_eq!(client.tag(&key), winners[0].1, "round {round}");
        }
    }
}

/// Puts objects through one instance until it is told to stop; gives the keys of those that were acknowledged.
fn put_until(client: Client, writer: usize, stop: &AtomicBool, count: &AtomicUsize) -> Vec<String> {
    let mut acknowledged = Vec::new();
    for number in 0.. {
        if stop.load(Ordering::Relaxed) {
            break;
        }
        let key = format!("{writer}-{number}");
        match client.put(&key, &[], key.as_bytes()) {
            Some(answer) if answer.status == 200 => {
                count.fetch_add(1, Ordering::Relaxed);
                acknowledged.push(key);
            }
            Some(answer) => {
                assert_eq!(answer.status, 503, "{answer:?}");
                assert_eq!(answer.header("retry-after"), Some("1"), "{answer:?}");
            }
            // It was killed, and is not there again yet.
            None => std::thread::yield_now(),
        }
    }
    acknowledged
}

/// Runs two writers to each instance while `fault` comes a number of times; every acknowledged object must be there.
fn nothing_is_lost(
    instances: &mut [Instance],
    faults: usize,
    mut fault: impl FnMut(usize, &mut [Instance]),
) {
    let clients: Vec<Client> = instances.iter().map(Instance::client).collect();
    let (stop, count) = (AtomicBool::new(false), AtomicUsize::new(0));
    let acknowledged = scope(|scope| {
        let writers: Vec<_> = (0..2 * INSTANCES)
            .map(|writer| {
                let (client, stop, count) = (clients[writer % INSTANCES], &stop, &count);
                scope.spawn(move || put_until(client, writer, stop, count))
            })
            .collect();
        for number in 0..faults {
            let goal = count.load(Ordering::Relaxed) + 40;
            while count.load(Ordering::Relaxed) < goal {
                assert!(!writers.iter().any(|writer| writer.is_finished()), "a writer gave up");
                std::thread::yield_now();
            }
            fault(number, instances);
        }
        stop.store(true, Ordering::Relaxed);
        writers.into_iter().map(|writer| writer.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(acknowledged.iter().all(|keys| !keys.is_empty()));
    for client in &clients {
        // Each comes back by itself.
        while client.get("/_ops/health/ready").is_none_or(|answer| answer.status != 200) {
            std::thread::yield_now();
        }
    }
    for (writer, keys) in acknowledged.iter().enumerate() {
        // Another instance than the one that took it.
        let other = clients[(writer + 1) % INSTANCES];
        for key in keys {
            let answer = other.get(&format!("/open/{key}")).unwrap();
            assert_eq!((answer.status, answer.body.as_slice()), (200, key.as_bytes()));
        }
    }
}

#[test]
fn an_instance_that_is_killed_under_load_loses_nothing_that_was_acknowledged() {
    let (server, folder) = (StoreServer::start().unwrap(), tempfile::tempdir().unwrap());
    let mut instances = started(&server, &folder);
    nothing_is_lost(&mut instances, 6, kill_one);
}

/// Kills the instance whose turn it is, and starts it again.
fn kill_one(number: usize, instances: &mut [Instance]) {
    instances[number % INSTANCES].restart_killed().unwrap();
}

/// Faults that the tests of each time have no time for: `cargo xtask scale` runs them.
mod long {
    use super::*;

    #[test]
    fn instances_that_are_killed_twenty_times_under_load_lose_nothing_that_was_acknowledged() {
        let (server, folder) = (StoreServer::start().unwrap(), tempfile::tempdir().unwrap());
        let mut instances = started(&server, &folder);
        nothing_is_lost(&mut instances, 20, kill_one);
    }
}

#[test]
fn a_store_that_falls_under_load_loses_nothing_that_was_acknowledged() {
    let (mut server, folder) = (StoreServer::start().unwrap(), tempfile::tempdir().unwrap());
    let mut instances = started(&server, &folder);
    let falls = server.falls().max(2);
    nothing_is_lost(&mut instances, falls, |number, _| server.fall(number).unwrap());
}

#[test]
fn a_client_that_asks_once_more_sees_no_error_while_instances_are_replaced_one_by_one() {
    let (server, folder) = (StoreServer::start().unwrap(), tempfile::tempdir().unwrap());
    let mut instances = started(&server, &folder);
    let clients: Vec<Client> = instances.iter().map(Instance::client).collect();
    let (stop, count) = (AtomicBool::new(false), AtomicUsize::new(0));
    let work = |writer: usize| {
        for number in 0.. {
            if stop.load(Ordering::Relaxed) {
                return number;
            }
            let key = format!("rolled-{writer}-{number}");
            let statuses = [0, 1].map(|try_| {
                let client = clients[(writer + number + try_) % INSTANCES];
                client.put(&key, &[], key.as_bytes()).map(|answer| answer.status)
            });
            assert!(statuses.contains(&Some(200)), "{key}: {statuses:?}");
            count.fetch_add(1, Ordering::Relaxed);
        }
        0
    };
    let written: Vec<usize> = scope(|scope| {
        let writers: Vec<_> = (0..4).map(|writer| scope.spawn(move || work(writer))).collect();
        let go_on = || {
            let goal = count.load(Ordering::Relaxed) + 40;
            while count.load(Ordering::Relaxed) < goal {
                assert!(
                    !writers.iter().any(|writer| writer.is_finished()),
                    "a writer saw an error"
                );
                std::thread::yield_now();
            }
        };
        for instance in &mut instances {
            go_on();
            instance.stop().unwrap();
            go_on();
            instance.start().unwrap();
        }
        go_on();
        stop.store(true, Ordering::Relaxed);
        writers.into_iter().map(|writer| writer.join().unwrap()).collect()
    });
    for (writer, count) in written.into_iter().enumerate() {
        for number in 0..count {
            let key = format!("rolled-{writer}-{number}");
            assert!(clients[number % INSTANCES].tag(&key).is_some(), "{key}");
        }
    }
}

#[test]
fn an_instance_starts_while_the_store_is_away_says_so_and_is_ready_by_itself() {
    let (mut server, folder) = (StoreServer::start().unwrap(), tempfile::tempdir().unwrap());
    server.crash().unwrap();
    let mut instance = alone(folder.path(), 0, &server.url());
    instance.begin().unwrap();
    let client = instance.client();
    let waiting = loop {
        if let Some(answer) = client.get("/_ops/health/ready") {
            break answer;
        }
    };
    assert_eq!(waiting.status, 503);
    let said = String::from_utf8(waiting.body).unwrap();
    let shown = ["not ready: postgres://triptych@127.0.0.1:", "not ready: etcd://10."];
    assert!(shown.iter().any(|start| said.starts_with(start)), "{said}");
    assert_eq!(client.get("/_ops/health/live").unwrap().status, 200);
    let refused = client.put("early", &[], b"early").unwrap();
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    server.resume().unwrap();
    instance.ready().unwrap();
    assert_eq!(client.get("/_ops/health/ready").unwrap().status, 200);
    assert_eq!(client.put("late", &[], b"late").unwrap().status, 200);
    let metrics = client.get("/_ops/metrics").unwrap();
    assert!(String::from_utf8(metrics.body).unwrap().contains("\nstore_up 1\n"));
}

#[test]
fn instances_share_one_root_key_or_do_not_start() {
    let (server, folder) = (StoreServer::start().unwrap(), tempfile::tempdir().unwrap());
    let mut first = alone(folder.path(), 0, &server.url());
    let second = alone(folder.path(), 1, &server.url());
    let without = first.refused(&[]).unwrap();
    assert!(without.contains("share its root key"), "{without}");
    first.start().unwrap();
    let other = "ff".repeat(32);
    let refused = second.refused(&["--root-key", &other]).unwrap();
    assert!(refused.contains("instances with another root key"), "{refused}");
    let twin = alone(folder.path(), 0, &server.url());
    let refused = twin.refused(&["--root-key", instance::ROOT_KEY]).unwrap();
    assert!(refused.contains("another instance keeps its bodies there"), "{refused}");
    // Bodies of other records are not taken for theirs.
    let others = StoreServer::start().unwrap();
    first.kill();
    let astray = alone(folder.path(), 0, &others.url());
    let refused = astray.refused(&["--root-key", instance::ROOT_KEY]).unwrap();
    assert!(refused.contains("belong to other records"), "{refused}");
}

#[test]
fn of_swaps_of_one_object_through_several_instances_none_is_lost() {
    let (server, folder) = (StoreServer::start().unwrap(), tempfile::tempdir().unwrap());
    let instances = started(&server, &folder);
    let clients: Vec<Client> = instances.iter().map(Instance::client).collect();
    assert_eq!(clients[0].put("counter", &[], b"0").unwrap().status, 200);
    let each = 8;
    scope(|scope| {
        for writer in 0..INSTANCES {
            let clients = &clients;
            scope.spawn(move || {
                for number in 0..each {
                    let client = clients[(writer + number) % INSTANCES];
                    until(|| {
                        let found = client.get("/open/counter").unwrap();
                        let count: usize =
                            String::from_utf8(found.body.clone()).unwrap().parse().unwrap();
                        let tag = format!("If-Match: {}", found.header("etag").unwrap());
                        let next = (count + 1).to_string();
                        let answer = client.put("counter", &[&tag], next.as_bytes()).unwrap();
                        assert!([200, 409, 412, 503].contains(&answer.status), "{answer:?}");
                        (answer.status == 200).then_some(())
                    })
                    .unwrap();
                }
            });
        }
    });
    for client in clients {
        let found = client.get("/open/counter").unwrap();
        assert_eq!(found.body, (INSTANCES * each).to_string().into_bytes());
    }
}

#[test]
fn an_upload_takes_its_parts_and_its_end_at_whichever_instance() {
    let (server, folder) = (StoreServer::start().unwrap(), tempfile::tempdir().unwrap());
    let mut instances = started(&server, &folder);
    let clients: Vec<Client> = instances.iter().map(Instance::client).collect();
    // Everybody may write its parts, but begin it nobody who is not known.
    let begun = clients[0].ask_signed("POST", "/open/whole?uploads", b"").unwrap();
    assert_eq!(begun.status, 200, "{begun:?}");
    let said = String::from_utf8(begun.body).unwrap();
    let (_, rest) = said.split_once("<UploadId>").unwrap();
    let (upload, _) = rest.split_once("</UploadId>").unwrap();
    instances[0].restart_killed().unwrap();
    let tags = scope(|scope| {
        let put = |number: usize| {
            let client = clients[number % INSTANCES];
            let path = format!("/open/whole?partNumber={}&uploadId={upload}", number + 1);
            let put = move || {
                let answer = client.ask("PUT", &path, &[], format!("part {number};").as_bytes());
                let answer = answer.unwrap();
                assert_eq!(answer.status, 200, "{answer:?}");
                answer.header("etag").unwrap().to_owned()
            };
            scope.spawn(put)
        };
        let parts: Vec<_> = (0..2 * INSTANCES).map(put).collect();
        parts.into_iter().map(|part| part.join().unwrap()).collect::<Vec<_>>()
    });
    let part = |(number, tag): (usize, &String)| {
        format!("<Part><PartNumber>{}</PartNumber><ETag>{tag}</ETag></Part>", number + 1)
    };
    let parts: String = tags.iter().enumerate().map(part).collect();
    let list = format!("<CompleteMultipartUpload>{parts}</CompleteMultipartUpload>");
    let path = format!("/open/whole?uploadId={upload}");
    let ends = scope(|scope| {
        let end = |client: Client| {
            let (path, list) = (&path, &list);
            scope.spawn(move || client.ask("POST", path, &[], list.as_bytes()).unwrap())
        };
        let racers: Vec<_> = clients.iter().map(|&client| end(client)).collect();
        racers.into_iter().map(|racer| racer.join().unwrap()).collect::<Vec<_>>()
    });
    assert!(ends.iter().any(|end| end.status == 200), "{ends:?}");
    assert!(ends.iter().all(|end| [200, 404, 409, 503].contains(&end.status)), "{ends:?}");
    let whole: String = (0..2 * INSTANCES).map(|number| format!("part {number};")).collect();
    for client in clients {
        let found = client.get("/open/whole").unwrap();
        assert_eq!((found.status, found.body), (200, whole.clone().into_bytes()));
    }
}

#[test]
fn a_clock_that_is_set_in_the_store_is_that_of_all_instances_and_of_those_that_come_later() {
    let (server, folder) = (StoreServer::start().unwrap(), tempfile::tempdir().unwrap());
    let mut instances = started(&server, &folder);
    let clients: Vec<Client> = instances.iter().map(Instance::client).collect();
    let offset = |client: Client| client.get("/_ops/clock").unwrap().json()["offsetMs"].clone();
    let change = |body: &str| clients[0].ask("POST", "/_ops/clock", &[], body.as_bytes()).unwrap();
    let own = change(r#"{"advanceMs": 1000}"#).json();
    assert_eq!(own["offsetMs"], 1000);
    assert!(own["scope"].as_str().unwrap().contains("the clock of one instance"), "{own}");
    assert_eq!(offset(clients[1]), 0);
    assert_eq!(change(r#"{"advanceMs": 59000, "shared": true}"#).status, 200);
    for client in &clients {
        until(|| (offset(*client) == 60_000).then_some(())).unwrap();
    }
    instances[2].restart_killed().unwrap();
    assert_eq!(offset(clients[2]), 60_000);
    assert_eq!(change(r#"{"reset": true, "shared": true}"#).status, 200);
    for client in &clients {
        until(|| (offset(*client) == 0).then_some(())).unwrap();
    }
}

#[test]
fn one_instance_does_the_work_by_the_clock_until_it_is_paused_for_too_long() {
    let (server, folder) = (StoreServer::start().unwrap(), tempfile::tempdir().unwrap());
    let instances = started(&server, &folder);
    let clients: Vec<Client> = instances.iter().map(Instance::client).collect();
    assert_eq!(clients[0].put("kept", &[], b"kept").unwrap().status, 200);
    let ask_others = |paused: usize| {
        for other in (0..INSTANCES).filter(|place| *place != paused) {
            let answer = clients[other].ask("GET", "/open/kept", &[], b"").unwrap();
            assert_eq!((answer.status, answer.body.as_slice()), (200, b"kept".as_slice()));
        }
    };
    let (first, second) = pause_keeper(&instances, ask_others).unwrap();
    let is_keeper = |number: &usize| instances[*number].is_keeper().unwrap();
    until(|| (!is_keeper(&first)).then_some(())).unwrap();
    assert!(is_keeper(&second));
    assert_eq!((0..INSTANCES).filter(is_keeper).count(), 1);
}
