//! Batches that go in one transaction: each is applied or refused by itself.

use std::sync::Arc;

use bytes::Bytes;
use triptych_core::id::SeededIds;
use triptych_core::kv::{
    Batch, KeyValue, Postgres, PostgresConfig, SharedKeyValue, StoreError, Version,
};
use triptych_core::pending::Pending;

use super::shared_server;

/// Batches that wait at the same time.
const AT_ONCE: usize = 200;

fn key(number: usize) -> Bytes {
    format!("row/{number}").into()
}

fn write(number: usize, value: impl Into<Bytes>) -> Batch {
    Batch { writes: vec![(key(number), Some(value.into()))], ..Batch::default() }
}

/// Commits all at once, and gives what became of each.
fn commit(store: &Arc<dyn KeyValue>, batches: Vec<Batch>) -> Vec<Result<Version, StoreError>> {
    let pending: Vec<_> = batches.into_iter().map(|batch| store.commit(batch)).collect();
    pending.into_iter().map(Pending::wait).collect()
}

#[test]
fn batches_that_wait_together_cost_few_round_trips_and_each_is_applied_or_refused_by_itself() {
    let server = shared_server();
    let engine = super::open(&server, "together");
    let store: Arc<dyn KeyValue> = engine.clone();
    let bucket = store.commit(write(AT_ONCE, "bucket")).wait().unwrap();
    let before = engine.stats();
    let batches = (0..AT_ONCE).map(|number| {
        // Every third expects what is not so, one half of them of a row that all others expect as it is.
        let stale = Version(bucket.0 + 1);
        let of_bucket = if number % 6 == 3 { stale } else { bucket };
        let of_own = if number % 6 == 0 { stale } else { Version::ABSENT };
        let expectations = vec![(key(AT_ONCE), of_bucket), (key(number), of_own)];
        Batch { expectations, ..write(number, number.to_string()) }
    });
    let ended = commit(&store, batches.collect());
    for (number, ended) in ended.iter().enumerate() {
        let found = store.get(&key(number)).unwrap();
        match ended {
            Err(error) => {
                assert_eq!((error, number % 3), (&StoreError::Conflict, 0));
                assert_eq!(found.value, None);
            }
            Ok(version) => {
                assert_ne!(number % 3, 0);
                assert_eq!(found.value, Some(number.to_string().into()));
                assert_eq!(found.version(), *version);
            }
        }
    }
    let statements = engine.stats().round_trips - before.round_trips - AT_ONCE as u64;
    assert!(statements < AT_ONCE as u64 / 2, "{statements} statements for {AT_ONCE} batches");
}

#[test]
fn batches_that_delete_go_with_those_that_write() {
    let server = shared_server();
    let store: Arc<dyn KeyValue> = super::open(&server, "deleted_together");
    for ended in commit(&store, (0..AT_ONCE).map(|number| write(number, "old")).collect()) {
        ended.unwrap();
    }
    let batches = (0..AT_ONCE).map(|number| match number % 3 {
        0 => write(number, "new"),
        1 => Batch { writes: vec![(key(number), None)], ..Batch::default() },
        _ => Batch {
            expectations: vec![(key(number), Version::ABSENT)],
            writes: vec![(key(number), None)],
            ..Batch::default()
        },
    });
    let ended = commit(&store, batches.collect());
    for (number, ended) in ended.iter().enumerate() {
        let value = store.get(&key(number)).unwrap().value;
        let expected = [Some("new"), None, Some("old")][number % 3];
        assert_eq!(value, expected.map(Bytes::from), "{number}: {ended:?}");
        assert_eq!(ended.is_err(), number % 3 == 2);
    }
}

#[test]
fn batches_that_write_the_same_row_are_applied_one_after_the_other() {
    let server = shared_server();
    let store: Arc<dyn KeyValue> = super::open(&server, "same_row");
    let batches = (0..AT_ONCE).map(|number| {
        let expectations = vec![(key(0), Version::ABSENT)];
        Batch { expectations, ..write(0, number.to_string()) }
    });
    let ended = commit(&store, batches.collect());
    let applied: Vec<_> = (0..AT_ONCE).filter(|&number| ended[number].is_ok()).collect();
    assert_eq!(applied.len(), 1, "one found it absent");
    let value = store.get(&key(0)).unwrap().value.unwrap();
    assert_eq!(value, applied[0].to_string());
}

#[test]
fn one_that_the_server_refuses_takes_no_other_with_it() {
    let server = shared_server();
    let store: Arc<dyn KeyValue> = super::open(&server, "refused_together");
    server.run("ALTER TABLE refused_together.kv ADD CHECK (length(v) < 100)").unwrap();
    let value = |number: usize| vec![7; if number % 20 == 7 { 100 } else { 99 }];
    let ended = commit(&store, (0..AT_ONCE).map(|number| write(number, value(number))).collect());
    for (number, ended) in ended.iter().enumerate() {
        let is_refused = matches!(ended, Err(StoreError::Unavailable(_)));
        assert_eq!(is_refused, number % 20 == 7, "{number}: {ended:?}");
        assert_eq!(store.get(&key(number)).unwrap().value.is_some(), !is_refused);
    }
}

#[test]
fn one_that_was_applied_already_costs_those_beside_it_nothing_and_is_not_applied_again() {
    let server = shared_server();
    let engine = super::open(&server, "named_together");
    let store: Arc<dyn KeyValue> = engine.clone();
    let named = |value: &'static str| Batch { id: [9; 16], ..write(AT_ONCE, value) };
    let first = store.commit(named("first")).wait().unwrap();
    let mut batches: Vec<_> = (0..AT_ONCE).map(|number| write(number, "new")).collect();
    batches.insert(AT_ONCE / 2, named("second"));
    let ended = commit(&store, batches);
    assert_eq!(ended[AT_ONCE / 2], Ok(first));
    assert!(ended.iter().all(Result::is_ok), "{ended:?}");
    assert_eq!(store.get(&key(AT_ONCE)).unwrap().value, Some("first".into()));
    let keys: Vec<_> = (0..AT_ONCE).map(key).collect();
    let keys: Vec<&[u8]> = keys.iter().map(AsRef::as_ref).collect();
    let found = store.get_many(&keys).unwrap();
    assert!(found.iter().all(|found| found.value.as_deref() == Some(b"new")));
}

#[test]
fn each_is_a_transaction_of_its_own_where_that_is_asked_for() {
    let server = shared_server();
    let url = server.url().parse().unwrap();
    let config = PostgresConfig { together: 1, ..PostgresConfig::new(url, "alone") };
    let engine = Postgres::connect(config, SeededIds::from_number(77)).unwrap();
    engine.wait_until_reached(super::PATIENCE).unwrap();
    let engine = Arc::new(engine);
    let store: Arc<dyn KeyValue> = engine.clone();
    for ended in commit(&store, (0..AT_ONCE).map(|number| write(number, "v")).collect()) {
        ended.unwrap();
    }
    for number in 0..AT_ONCE {
        assert_eq!(store.get(&key(number)).unwrap().value, Some("v".into()));
    }
    assert!(engine.stats().round_trips >= 2 * AT_ONCE as u64);
}

#[test]
fn rows_that_many_read_at_once_are_those_that_each_asked_for() {
    let server = shared_server();
    let engine = super::open(&server, "read_together");
    let store: Arc<dyn KeyValue> = engine.clone();
    for ended in
        commit(&store, (0..AT_ONCE).map(|number| write(number, number.to_string())).collect())
    {
        ended.unwrap();
    }
    let before = engine.stats().round_trips;
    let read = 20;
    std::thread::scope(|scope| {
        for reader in 0..16 {
            let store = &store;
            scope.spawn(move || {
                for turn in 0..read {
                    let asked: Vec<_> = (0..reader + 1)
                        .map(|step| (turn * 7 + reader * step) % (2 * AT_ONCE))
                        .collect();
                    let keys: Vec<_> = asked.iter().map(|&number| key(number)).collect();
                    let keys: Vec<&[u8]> = keys.iter().map(AsRef::as_ref).collect();
                    let found = store.get_many(&keys).unwrap();
                    let values = found.into_iter().map(|found| found.value);
                    let expected = asked
                        .iter()
                        .map(|&number| (number < AT_ONCE).then(|| Bytes::from(number.to_string())));
                    assert!(values.eq(expected));
                }
            });
        }
    });
    assert!(engine.stats().round_trips - before <= 16 * read as u64);
}
