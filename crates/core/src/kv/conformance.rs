//! The laws of [`KeyValue`] as a suite that every engine passes, ours and others'.
//!
//! Call [`all`] with a function that gives an empty store each time, and, for an engine that keeps its
//! data, [`reopening`] with one that gives the same store each time. A law that does not hold panics and says which.

#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "a suite reports by panicking, as tests do"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use bytes::Bytes;

use super::{
    BATCH_OPERATIONS_MAX, Batch, Durability, Found, KEY_BYTES_MAX, KeyValue, Order, RollUp,
    SCANS_MAX, Span, StoreError, Tx, VALUE_BYTES_MAX, Version, run_blocking,
};
use crate::id::{Ids, SeededIds};
use crate::pending::Pending;

/// Gives a store: an empty one each time to [`all`], the same one each time to [`reopening`].
pub type Open<'a> = &'a mut dyn FnMut() -> Arc<dyn KeyValue>;

/// Every law that needs no restart.
pub fn all(open: Open<'_>) {
    what_is_put_is_found(&*open());
    an_absent_key_has_no_value_and_can_be_expected(&*open());
    a_deleted_key_is_as_absent_as_one_that_never_was(&*open());
    a_stale_expectation_refuses_the_whole_batch(&*open());
    scans_give_keys_in_order_within_exclusive_bounds(&*open());
    scans_together_equal_the_scans_one_by_one(&*open());
    rows_that_roll_up_are_shown_by_the_first_of_them(&*open());
    limits_hold(&*open());
    versions_of_a_key_grow(&*open());
    a_read_after_an_acknowledgement_is_settled(&*open());
    what_was_read_and_not_written_since_is_what_is_there(open());
    no_update_is_lost(open(), 4, 200);
    writers_of_one_key_never_give_up(open(), 64);
    a_scan_shows_one_moment(open());
    for seed in 0..8 {
        random_batches_equal_a_model(open, seed);
    }
}

/// A batch of one write.
fn put(key: &[u8], value: &[u8]) -> Batch {
    let write = (Bytes::copy_from_slice(key), Some(Bytes::copy_from_slice(value)));
    Batch { writes: vec![write], ..Batch::default() }
}

fn what_is_put_is_found(store: &dyn KeyValue) {
    for value in [&b""[..], b"v", &vec![7; VALUE_BYTES_MAX]] {
        let version = store.commit(put(b"k", value)).wait().unwrap();
        let found = store.get(b"k").unwrap();
        assert_eq!(
            (found.value.as_deref(), found.version()),
            (Some(value), version),
            "a put value is found"
        );
    }
    let long = vec![1; KEY_BYTES_MAX];
    store.commit(put(&long, b"v")).wait().unwrap();
    let many = store.get_many(&[b"k", b"none", &long]).unwrap();
    assert!(
        many[0].value.is_some() && many[1] == Found::default() && many[2].value.is_some(),
        "get_many keeps the order"
    );
    let delete = Batch { writes: vec![(Bytes::from("k"), None)], ..Batch::default() };
    store.commit(delete).wait().unwrap();
    assert_eq!(store.get(b"k").unwrap().value, None, "a deleted key is absent");
}

fn a_deleted_key_is_as_absent_as_one_that_never_was(store: &dyn KeyValue) {
    for durability in [Durability::Process, Durability::Disk] {
        store.commit(put(b"k", b"v")).wait().unwrap();
        let writes = vec![(Bytes::from("k"), None)];
        let pending = store.commit(Batch { writes, durability, ..Batch::default() });
        let found = store.get(b"k").unwrap();
        let version = pending.wait().unwrap();
        assert!(found.seen <= version, "it rests on nothing that came later");
        let again = store.get(b"k").unwrap();
        assert_eq!((again.version(), again.value), (Version::ABSENT, None));
        if store.is_local() {
            assert_eq!((found.version(), found.value), (Version::ABSENT, None));
        }
    }
    let expectations = vec![(Bytes::from("k"), Version::ABSENT)];
    let create = Batch { expectations, ..put(b"k", b"v") };
    store.commit(create).wait().expect("a key that was deleted can be expected to be absent");
}

fn an_absent_key_has_no_value_and_can_be_expected(store: &dyn KeyValue) {
    assert_eq!(store.get(b"k").unwrap(), Found::default(), "an unknown key is absent");
    let create =
        || Batch { expectations: vec![(Bytes::from("k"), Version::ABSENT)], ..put(b"k", b"v") };
    store.commit(create()).wait().expect("a key that is absent can be expected to be");
    assert_eq!(
        store.commit(create()).wait(),
        Err(StoreError::Conflict),
        "a key that is there cannot"
    );
}

fn a_stale_expectation_refuses_the_whole_batch(store: &dyn KeyValue) {
    let first = store.commit(put(b"a", b"1")).wait().unwrap();
    store.commit(put(b"a", b"2")).wait().unwrap();
    let stale = Batch {
        expectations: vec![(Bytes::from("a"), first)],
        writes: vec![
            (Bytes::from("a"), Some(Bytes::from("3"))),
            (Bytes::from("b"), Some(Bytes::from("3"))),
        ],
        ..Batch::default()
    };
    assert_eq!(store.commit(stale).wait(), Err(StoreError::Conflict));
    assert_eq!(
        store.get(b"a").unwrap().value,
        Some(Bytes::from("2")),
        "a refused batch changes nothing"
    );
    assert_eq!(store.get(b"b").unwrap().value, None, "not even keys that it did not expect");
}

fn scans_give_keys_in_order_within_exclusive_bounds(store: &dyn KeyValue) {
    let keys: [&[u8]; 7] = [b"a", b"b", b"b\0", b"b1", b"b\xff", b"c", b"\xff\xff"];
    for key in keys {
        store.commit(put(key, key)).wait().unwrap();
    }
    let scan = |span: Span, limit| -> Vec<Vec<u8>> {
        store.scan(&span, limit).unwrap().rows.iter().map(|(key, _)| key.to_vec()).collect()
    };
    let mut sorted: Vec<_> = keys.iter().map(|key| key.to_vec()).collect();
    sorted.sort();
    assert_eq!(scan(Span::default(), 100), sorted, "a scan of everything gives every key in order");
    let under_b: Vec<Vec<u8>> =
        sorted.iter().filter(|key| key.starts_with(b"b")).cloned().collect();
    assert_eq!(scan(Span::of("b"), 100), under_b, "a prefix gives its keys alone");
    let after = Span { from: Some(b"b".to_vec()), to: Some(b"b\xff".to_vec()), ..Span::of("b") };
    assert_eq!(scan(after.clone(), 100), under_b[1..under_b.len() - 1], "bounds are left out");
    let back = Span { order: Order::Descending, ..after };
    assert_eq!(
        scan(back.clone(), 1),
        under_b[under_b.len() - 2..under_b.len() - 1],
        "descending begins at the end"
    );
    assert!(store.scan(&back, 1).unwrap().more, "a page that was cut says so");
    assert!(!store.scan(&back, 2).unwrap().more, "a page that was not cut says so too");
    assert_eq!(scan(Span::of(vec![0xFF]), 9), [b"\xff\xff".to_vec()], "a prefix of FF has an end");
    let none = Span { from: Some(b"c".to_vec()), to: Some(b"a".to_vec()), ..Span::default() };
    assert_eq!(scan(none, 9), Vec::<Vec<u8>>::new(), "crossed bounds hold nothing");
    assert!(store.scan(&Span::default(), 0).unwrap().rows.is_empty(), "a limit of 0 gives nothing");
}

fn scans_together_equal_the_scans_one_by_one(store: &dyn KeyValue) {
    for number in 0..20_u8 {
        store.commit(put(&[b'a' + number % 3, number], &[number])).wait().unwrap();
    }
    assert_eq!(store.scan_many(&[]).unwrap(), [], "no scan has no page");
    let crossed = Span { from: Some(b"c".to_vec()), to: Some(b"a".to_vec()), ..Span::default() };
    let spans = [Span::of("a"), Span::of("c"), Span::of("none"), crossed, Span::default()];
    let mut scans = Vec::new();
    let both: Vec<_> = [Order::Ascending, Order::Descending]
        .into_iter()
        .flat_map(|order| spans.clone().map(|span| Span { order, ..span }))
        .collect();
    for limit in [0, 1, 6, 7, 100] {
        scans.extend(both.iter().map(|span| (span, limit)));
    }
    // More than any engine reads at once.
    let scans: Vec<_> = scans.iter().cycle().take(SCANS_MAX + scans.len()).copied().collect();
    let one_by_one: Vec<_> =
        scans.iter().map(|(span, limit)| store.scan(span, *limit).unwrap()).collect();
    assert!(one_by_one.iter().any(|page| page.more), "some pages are cut");
    assert_eq!(store.scan_many(&scans).unwrap(), one_by_one, "each has its span and its limit");
    let empty = scans.iter().filter(|(span, _)| span.bounds().is_empty()).copied();
    let pages = store.scan_many(&empty.collect::<Vec<_>>()).unwrap();
    assert!(pages.iter().all(|page| page.rows.is_empty()), "crossed bounds hold nothing");
}

fn rows_that_roll_up_are_shown_by_the_first_of_them(store: &dyn KeyValue) {
    // Groups of one row, of some, and of more than are read at once; and keys that hold the delimiter where it counts for nothing.
    let mut keys: Vec<String> =
        ["p", "p!|/", "p!|x/", "pa", "pa/", "pa|/1", "pa|/2", "pb//x", "pb/x", "pz", "q/1", "o/1"]
            .map(str::to_owned)
            .into();
    for (group, rows) in [("pc", 1), ("pd", 40), ("pe", 17), ("pp/p", 3)] {
        keys.extend((0..rows).map(|row| format!("{group}/{row:02}")));
    }
    keys.sort();
    for some in keys.chunks(50) {
        let writes = some.iter().map(|key| (Bytes::from(key.clone()), Some(Bytes::from("v"))));
        store.commit(Batch { writes: writes.collect(), ..Batch::default() }).wait().unwrap();
    }
    let shown = |span: &Span, rule: &RollUp<'_>, limit| {
        let page = store.scan_rolled_up(span, rule, limit).unwrap();
        let keys = page.rows.iter().map(|(key, _)| String::from_utf8(key.to_vec()).unwrap());
        (keys.collect::<Vec<_>>(), page.more)
    };
    for delimiter in ["/", "//", "no"] {
        let rule = RollUp { delimiter: delimiter.as_bytes(), end: b"|" };
        for (from, order) in [("", Order::Ascending), ("pd/07", Order::Descending)] {
            let from = Some(from.as_bytes().to_vec()).filter(|from| !from.is_empty());
            let span = Span { from, order, ..Span::of("p") };
            let mut expected: Vec<String> = Vec::new();
            let mut groups = BTreeSet::new();
            for key in keys.iter().filter(|key| span.holds(key.as_bytes())) {
                let text = key.split('|').next().unwrap();
                let at = text[1..].find(delimiter);
                if at.is_none_or(|at| groups.insert(text[..1 + at + delimiter.len()].to_owned())) {
                    expected.push(key.clone());
                }
            }
            for limit in 0..expected.len() + 2 {
                let most = expected.len().min(limit);
                let wanted = (expected[..most].to_vec(), expected.len() > limit);
                assert_eq!(shown(&span, &rule, limit), wanted, "{delimiter} {span:?} {limit}");
            }
        }
    }
}

fn limits_hold(store: &dyn KeyValue) {
    let refused =
        |batch: Batch| matches!(store.commit(batch).wait(), Err(StoreError::LimitExceeded { .. }));
    assert!(refused(put(b"", b"v")), "an empty key is refused");
    assert!(refused(put(&vec![1; KEY_BYTES_MAX + 1], b"v")), "a long key is refused");
    assert!(refused(put(b"k", &vec![1; VALUE_BYTES_MAX + 1])), "a long value is refused");
    let many =
        (0..=BATCH_OPERATIONS_MAX).map(|number| (Bytes::from(number.to_string()), None)).collect();
    assert!(
        refused(Batch { writes: many, ..Batch::default() }),
        "a batch of too many writes is refused"
    );
    let bulky = (0..17)
        .map(|number| {
            (Bytes::from(number.to_string()), Some(Bytes::from(vec![0; VALUE_BYTES_MAX])))
        })
        .collect();
    assert!(
        refused(Batch { writes: bulky, ..Batch::default() }),
        "a batch of too many bytes is refused"
    );
    assert!(store.get(b"").is_err(), "an empty key cannot be read");
    assert!(
        store.scan(&Span::default(), 9).unwrap().rows.is_empty(),
        "what was refused is not there"
    );
}

fn versions_of_a_key_grow(store: &dyn KeyValue) {
    let mut last = Version::ABSENT;
    for round in 0..10 {
        let batch = if round == 5 {
            Batch { writes: vec![(Bytes::from("k"), None)], ..Batch::default() }
        } else {
            put(b"k", b"v")
        };
        let version = store.commit(batch).wait().unwrap();
        assert!(version > last, "the version of a key grows with every write");
        last = version;
    }
}

fn a_read_after_an_acknowledgement_is_settled(store: &dyn KeyValue) {
    for durability in [Durability::Disk, Durability::Process] {
        let batch = Batch { durability, ..put(b"k", b"v") };
        let pending = store.commit(batch);
        let seen = store.get(b"k").unwrap().seen;
        if let Some(durable) = store.durable(seen) {
            durable.wait().unwrap();
        }
        pending.wait().unwrap();
        let page = store.scan(&Span::of("k"), 1).unwrap();
        assert!(page.seen >= seen, "a page rests on the versions of its rows");
        if let Some(durable) = store.durable(page.seen) {
            durable.wait().unwrap();
        }
        assert!(store.durable(seen).is_none(), "what is durable stays so");
    }
}

/// An engine that tells what was written tells of every write, before any read shows it to be over.
fn what_was_read_and_not_written_since_is_what_is_there(store: Arc<dyn KeyValue>) {
    if store.write_versions().is_none() {
        return;
    }
    let writer = {
        let store = Arc::clone(&store);
        std::thread::spawn(move || {
            for number in 0..500_u64 {
                // Both rows change at once, and each second round takes one away.
                let a = number.is_multiple_of(2).then(|| Bytes::from(number.to_string()));
                let b = Some(Bytes::from(number.to_string()));
                let writes = vec![(Bytes::from("a"), a), (Bytes::from("b"), b)];
                let batch = Batch { writes, ..Batch::default() };
                store.commit(batch).wait().unwrap();
            }
        })
    };
    let mut held = 0;
    while held == 0 || !writer.is_finished() {
        let mut tx = Tx::tracking_reads(&*store);
        let read = [b"a", b"b"].map(|key| tx.get(key).unwrap());
        let basis = tx.read_set().unwrap();
        if basis.is_current(&*store) {
            held += 1;
            let [a, b] = read;
            assert!(a.is_none() || a == b, "what holds is of one moment");
        }
    }
    writer.join().unwrap();
    let mut tx = Tx::tracking_reads(&*store);
    let last = tx.get(b"b").unwrap();
    assert_eq!(last, Some(Bytes::from("499")));
    assert!(tx.read_set().unwrap().is_current(&*store), "a quiet row holds");
}

fn add_one(store: &dyn KeyValue, ids: &mut dyn Ids, attempts_max: u32) -> Result<(), StoreError> {
    run_blocking(store, ids, attempts_max, |tx, _| {
        let count = tx
            .get(b"count")?
            .map_or(0, |bytes| u64::from_be_bytes(bytes.as_ref().try_into().unwrap()));
        tx.put("count", (count + 1).to_be_bytes().to_vec());
        Ok(())
    })
}

fn no_update_is_lost(store: Arc<dyn KeyValue>, threads: u64, each: u64) {
    increments(&store, threads, each, 10_000);
}

fn writers_of_one_key_never_give_up(store: Arc<dyn KeyValue>, threads: u64) {
    // Over a network each loser pays a round trip for each winner.
    let each = if store.is_local() { 20 } else { 3 };
    increments(&store, threads, each, 1_000);
}

fn increments(store: &Arc<dyn KeyValue>, threads: u64, each: u64, attempts_max: u32) {
    let writers: Vec<_> = (0..threads)
        .map(|thread| {
            let store = Arc::clone(store);
            std::thread::spawn(move || {
                let mut ids = SeededIds::from_number(thread);
                (0..each).for_each(|_| add_one(&*store, &mut ids, attempts_max).unwrap());
            })
        })
        .collect();
    writers.into_iter().for_each(|writer| writer.join().expect("no writer gives up"));
    let count = store.get(b"count").unwrap().value.unwrap();
    assert_eq!(
        u64::from_be_bytes(count.as_ref().try_into().unwrap()),
        threads * each,
        "no update is lost"
    );
}

/// Each batch moves one unit between two of a hundred rows: their sum is the same at every moment.
fn a_scan_shows_one_moment(store: Arc<dyn KeyValue>) {
    let row = |number: u64| Bytes::from(format!("row/{number:03}"));
    let amount = |units: u64| Some(Bytes::from(units.to_be_bytes().to_vec()));
    let writes = (0..100).map(|number| (row(number), amount(10))).collect();
    store.commit(Batch { writes, ..Batch::default() }).wait().unwrap();
    let mover = {
        let store = Arc::clone(&store);
        std::thread::spawn(move || {
            let mut ids = SeededIds::from_number(5);
            for _ in 0..300 {
                let (from, to) = (ids.next() % 100, ids.next() % 100);
                let mut tx = Tx::new(&*store);
                let units = |tx: &mut Tx<'_>, key: Bytes| {
                    u64::from_be_bytes(tx.get(&key).unwrap().unwrap().as_ref().try_into().unwrap())
                };
                let (a, b) = (units(&mut tx, row(from)), units(&mut tx, row(to)));
                if from != to && a > 0 {
                    tx.put(row(from), (a - 1).to_be_bytes().to_vec());
                    tx.put(row(to), (b + 1).to_be_bytes().to_vec());
                }
                drop(store.commit(tx.into_batch([0; 16])));
            }
        })
    };
    while !mover.is_finished() {
        let page = store.scan(&Span::of("row/"), 1_000).unwrap();
        let sum: u64 = page
            .rows
            .iter()
            .map(|(_, value)| u64::from_be_bytes(value.as_ref().try_into().unwrap()))
            .sum();
        assert_eq!(sum, 1_000, "a scan shows all rows of one moment");
    }
    mover.join().unwrap();
}

/// A random batch over few keys, so that they meet; some of it expects what the model says, some of it not.
fn random_batch(ids: &mut SeededIds, store: &dyn KeyValue) -> Batch {
    let mut batch = Batch::default();
    let mut keys = BTreeSet::new();
    for _ in 0..=ids.next() % 4 {
        keys.insert(vec![1 + (ids.next() % 3) as u8, (ids.next() % 5) as u8]);
    }
    for key in keys {
        if ids.next().is_multiple_of(3) {
            let version = store.get(&key).unwrap().version();
            let stale = ids.next().is_multiple_of(4);
            batch.expectations.push((
                key.clone().into(),
                if stale { Version(version.0 + 1_000_000) } else { version },
            ));
        }
        let value = (!ids.next().is_multiple_of(4))
            .then(|| Bytes::from(vec![ids.next() as u8; (ids.next() % 40) as usize]));
        batch.writes.push((key.into(), value));
    }
    if ids.next().is_multiple_of(2) {
        batch.durability = Durability::Process;
    }
    batch
}

fn step(ids: &mut SeededIds, store: &dyn KeyValue, model: &mut BTreeMap<Bytes, Bytes>) {
    let batch = random_batch(ids, store);
    let holds = batch
        .expectations
        .iter()
        .all(|(key, version)| store.get(key).unwrap().version() == *version);
    let mut answer = store.commit(batch.clone());
    if !store.is_local() {
        // Over a network only what was acknowledged is seen by every read after it.
        answer = Pending::ready(answer.wait());
    }
    if holds {
        for (key, value) in batch.writes {
            match value {
                Some(value) => model.insert(key, value),
                None => model.remove(&key),
            };
        }
    }
    if ids.next().is_multiple_of(5) {
        assert_eq!(
            answer.wait().is_ok(),
            holds,
            "a batch is applied exactly if its expectations hold"
        );
    }
    let order = if ids.next().is_multiple_of(2) { Order::Ascending } else { Order::Descending };
    let span = Span {
        order,
        ..Span::of(if ids.next().is_multiple_of(2) {
            vec![]
        } else {
            vec![1 + (ids.next() % 3) as u8]
        })
    };
    let mut expected: Vec<_> = model
        .iter()
        .filter(|(key, _)| span.holds(key))
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    if order == Order::Descending {
        expected.reverse();
    }
    assert_eq!(store.scan(&span, 100).unwrap().rows, expected, "a scan equals the model");
}

fn random_batches_equal_a_model(open: Open<'_>, seed: u64) {
    let (store, mut ids, mut model) = (open(), SeededIds::from_number(seed), BTreeMap::new());
    for _ in 0..150 {
        step(&mut ids, &*store, &mut model);
    }
}

/// The laws of an engine that keeps its data: `open` gives the same store each time.
pub fn reopening(open: Open<'_>) {
    let (mut ids, mut model) = (SeededIds::from_number(99), BTreeMap::new());
    let mut highest = Version::ABSENT;
    for round in 0..6 {
        let store = open();
        let rows: BTreeMap<_, _> =
            store.scan(&Span::default(), 1_000).unwrap().rows.into_iter().collect();
        assert_eq!(
            rows, model,
            "what was acknowledged is there after opening again (round {round})"
        );
        for _ in 0..40 {
            step(&mut ids, &*store, &mut model);
        }
        let version = store.commit(put(b"\x01last", b"v")).wait().unwrap();
        model.insert(Bytes::from_static(b"\x01last"), Bytes::from("v"));
        assert!(version > highest, "versions grow across restarts");
        highest = version;
    }
}
