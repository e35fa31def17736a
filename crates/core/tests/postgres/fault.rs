//! Connections that are cut and servers that fall, under load: nothing that was acknowledged is lost, and nothing is applied twice.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use bytes::Bytes;
use triptych_core::id::SeededIds;
use triptych_core::kv::{
    Batch, KeyValue, Postgres, PostgresServer, Span, StoreError, run_blocking,
};

const WRITERS: u64 = 8;
/// Acknowledged writes that come before each fault, so that there is load when it comes.
const BETWEEN: u64 = 60;

/// The answers that the writers were given.
#[derive(Default)]
struct Told {
    acknowledged: AtomicU64,
    refused: AtomicU64,
    stop: AtomicBool,
}

/// Adds one to a counter of its own and to one that all share, and leaves a row for each, until it is stopped.
fn write(store: &Postgres, writer: u64, told: &Told) -> u64 {
    let mut ids = SeededIds::from_number(1_000 + writer);
    let mut own = 0_u64;
    while !told.stop.load(Ordering::Relaxed) {
        let done = run_blocking(store, &mut ids, 10_000, |tx, _| {
            for counter in [format!("own/{writer}"), "shared".to_owned()] {
                let count = tx.get(counter.as_bytes())?.map_or(0, |bytes| number(&bytes));
                tx.put(counter, (count + 1).to_be_bytes().to_vec());
            }
            tx.put(format!("row/{writer}/{own:08}"), "there");
            Ok(())
        });
        match done {
            Ok(()) => {
                own += 1;
                told.acknowledged.fetch_add(1, Ordering::Relaxed);
            }
            // Nothing was written: the next attempt leaves the same row.
            Err(StoreError::Unavailable(_)) => {
                told.refused.fetch_add(1, Ordering::Relaxed);
                store.wait_until_reached(super::PATIENCE).unwrap();
            }
            Err(error) => panic!("a writer was told {error}"),
        }
    }
    own
}

fn number(bytes: &Bytes) -> u64 {
    u64::from_be_bytes(bytes.as_ref().try_into().unwrap())
}

/// Runs the writers while `fault` comes a number of times, then compares the store with what they were told.
fn under_load(store: &Arc<Postgres>, faults: u32, mut fault: impl FnMut()) {
    let told = Arc::new(Told::default());
    let writers: Vec<_> = (0..WRITERS)
        .map(|writer| {
            let (store, told) = (Arc::clone(store), Arc::clone(&told));
            std::thread::spawn(move || write(&store, writer, &told))
        })
        .collect();
    for _ in 0..faults {
        let goal = told.acknowledged.load(Ordering::Relaxed) + BETWEEN;
        while told.acknowledged.load(Ordering::Relaxed) < goal {
            assert!(writers.iter().all(|writer| !writer.is_finished()), "a writer gave up");
            std::thread::yield_now();
        }
        fault();
    }
    told.stop.store(true, Ordering::Relaxed);
    let written: Vec<u64> = writers.into_iter().map(|writer| writer.join().unwrap()).collect();
    for (writer, own) in written.iter().enumerate() {
        let count = store.get(format!("own/{writer}").as_bytes()).unwrap().value.unwrap();
        assert_eq!(number(&count), *own, "writer {writer}");
        let rows = store.scan(&Span::of(format!("row/{writer}/")), 100_000).unwrap().rows.len();
        assert_eq!(rows as u64, *own, "rows of writer {writer}");
    }
    let shared = number(&store.get(b"shared").unwrap().value.unwrap());
    assert_eq!(shared, written.iter().sum::<u64>(), "the counter that all share");
    println!("{shared} writes, {:?}, {:?} refused", store.stats(), told.refused);
}

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
