//! Three instances of the binary on one PostgreSQL and one place for bodies: races between them, and what kills and falls leave.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::panic,
    reason = "a test that meets the unexpected fails"
)]

mod instance;

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::scope;

use instance::{Client, Instance};
use triptych_core::kv::PostgresServer;

const INSTANCES: usize = 3;

/// Instances that run on one store, with their bodies in one place.
fn started(server: &PostgresServer, folder: &tempfile::TempDir) -> Vec<Instance> {
    let mut instances: Vec<_> = (0..INSTANCES)
        .map(|number| Instance::sharing(folder.path(), number, &server.url()))
        .collect();
    // All at once: they make one schema and one seed.
    instances.iter_mut().for_each(Instance::begin);
    instances.iter_mut().for_each(Instance::ready);
    instances
}

#[test]
fn of_clients_that_create_one_object_through_several_instances_exactly_one_wins() {
    let (server, folder) = (PostgresServer::start().unwrap(), tempfile::tempdir().unwrap());
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
    let (server, folder) = (PostgresServer::start().unwrap(), tempfile::tempdir().unwrap());
    let mut instances = started(&server, &folder);
    nothing_is_lost(&mut instances, 6, |number, instances| {
        instances[number % INSTANCES].kill();
        instances[number % INSTANCES].start();
    });
}

#[test]
fn a_store_that_falls_under_load_loses_nothing_that_was_acknowledged() {
    let (mut server, folder) = (PostgresServer::start().unwrap(), tempfile::tempdir().unwrap());
    let mut instances = started(&server, &folder);
    nothing_is_lost(&mut instances, 2, |_, _| {
        server.crash().unwrap();
        server.resume().unwrap();
    });
}

#[test]
fn an_instance_starts_while_the_store_is_away_says_so_and_is_ready_by_itself() {
    let (mut server, folder) = (PostgresServer::start().unwrap(), tempfile::tempdir().unwrap());
    server.crash().unwrap();
    let mut instance = Instance::new(folder.path(), 0, &server.url());
    instance.begin();
    let client = instance.client();
    let waiting = loop {
        if let Some(answer) = client.get("/_ops/health/ready") {
            break answer;
        }
    };
    assert_eq!(waiting.status, 503);
    let said = String::from_utf8(waiting.body).unwrap();
    assert!(said.starts_with("not ready: postgres://triptych@127.0.0.1:"), "{said}");
    assert_eq!(client.get("/_ops/health/live").unwrap().status, 200);
    let refused = client.put("early", &[], b"early").unwrap();
    assert_eq!((refused.status, refused.header("retry-after")), (503, Some("1")));
    server.resume().unwrap();
    instance.ready();
    assert_eq!(client.get("/_ops/health/ready").unwrap().status, 200);
    assert_eq!(client.put("late", &[], b"late").unwrap().status, 200);
    let metrics = client.get("/_ops/metrics").unwrap();
    assert!(String::from_utf8(metrics.body).unwrap().contains("\nstore_up 1\n"));
}

#[test]
fn instances_share_one_root_key_or_do_not_start() {
    let (server, folder) = (PostgresServer::start().unwrap(), tempfile::tempdir().unwrap());
    let mut first = Instance::new(folder.path(), 0, &server.url());
    let second = Instance::new(folder.path(), 1, &server.url());
    let without = first.refused(&[]);
    assert!(without.contains("share its root key"), "{without}");
    first.start();
    let other = "ff".repeat(32);
    let refused = second.refused(&["--root-key", &other]);
    assert!(refused.contains("instances with another root key"), "{refused}");
    let twin = Instance::new(folder.path(), 0, &server.url());
    let refused = twin.refused(&["--root-key", instance::ROOT_KEY]);
    assert!(refused.contains("another instance keeps its bodies there"), "{refused}");
    // Bodies of other records are not taken for theirs.
    let others = PostgresServer::start().unwrap();
    first.kill();
    let astray = Instance::new(folder.path(), 0, &others.url());
    let refused = astray.refused(&["--root-key", instance::ROOT_KEY]);
    assert!(refused.contains("belong to other records"), "{refused}");
}
