//! Connections that are cut and servers that fall, under load: nothing that was acknowledged is lost, and nothing is applied twice.

use std::sync::Arc;

use bytes::Bytes;
use triptych_core::kv::{Batch, KeyValue, PostgresServer, SharedKeyValue, Wire};

use super::load::under_load;
use super::wire::under_all_weathers;

#[test]
fn connections_that_are_cut_during_commits_lose_nothing_and_apply_nothing_twice() {
    let server = super::shared_server();
    server.run("CREATE DATABASE cut").unwrap();
    let store = Arc::new(super::at(&server.url().replace("/postgres", "/cut"), "cut"));
    store.wait_until_reached(super::PATIENCE).unwrap();
    under_load(&store, 15, || {
        let cut =
            "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity WHERE datname = 'cut'";
        assert_ne!(server.run(cut).unwrap(), "0");
    });
    assert!(store.stats().outcomes_asked > 0, "no answer was lost: {:?}", store.stats());
}

#[test]
fn a_server_that_falls_under_load_loses_nothing_that_was_acknowledged() {
    let server = std::cell::RefCell::new(PostgresServer::start().unwrap());
    let store = super::open(&server.borrow(), "fallen");
    under_load(&store, 3, || {
        server.borrow_mut().crash().unwrap();
        server.borrow_mut().resume().unwrap();
    });
    assert!(store.stats().outcomes_asked > 0, "no answer was lost: {:?}", store.stats());
}

#[test]
fn a_batch_that_was_given_up_can_never_be_applied_any_more() {
    let server = super::shared_server();
    let store = super::open(&server, "fenced");
    let id = [7; 16];
    let batch = || Batch { id, writes: vec![("k".into(), Some("v".into()))], ..Batch::default() };
    server
        .run("INSERT INTO fenced.batches (id, ver, at) VALUES (decode(repeat('07', 16), 'hex'), 0, now())")
        .unwrap();
    store.commit(batch()).wait().unwrap();
    // The engine found its name given up, and applied the batch under another.
    assert_eq!(server.run("SELECT count(*) FROM fenced.batches WHERE ver > 0").unwrap(), "1");
    assert_eq!(store.stats().outcomes_asked, 1);
}

#[test]
fn a_batch_that_was_applied_is_not_applied_again_under_its_name() {
    let server = super::shared_server();
    let store = super::open(&server, "named");
    let batch = |value: &'static str| Batch {
        id: [9; 16],
        writes: vec![("k".into(), Some(value.into()))],
        ..Batch::default()
    };
    let first = store.commit(batch("first")).wait().unwrap();
    assert_eq!(store.commit(batch("second")).wait(), Ok(first));
    assert_eq!(store.get(b"k").unwrap().value, Some("first".into()));
}

#[test]
fn ids_of_old_batches_are_forgotten_and_those_of_young_ones_are_not() {
    let server = super::shared_server();
    let store = super::open(&server, "old");
    for key in ["a", "b"] {
        let writes = vec![(Bytes::from(key), Some(Bytes::from("v")))];
        let batch = Batch { writes, ..Batch::default() };
        store.commit(batch).wait().unwrap();
    }
    server.run("UPDATE old.batches SET at = now() - INTERVAL '2 hours' WHERE ver = (SELECT min(ver) FROM old.batches)").unwrap();
    store.forget_old_ids().unwrap();
    assert_eq!(server.run("SELECT count(*) FROM old.batches").unwrap(), "1");
}

#[test]
fn a_wire_that_is_cut_at_random_bytes_and_loses_answers_loses_no_batch_and_applies_none_twice() {
    let server = super::shared_server();
    let wire = Wire::start(&[server.address()], 1).unwrap();
    let own = format!("postgres://triptych@{}/postgres", wire.addresses()[0]);
    under_all_weathers(&Arc::new(super::at(&own, "wired")), &wire, 40_000);
}
