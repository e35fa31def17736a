//! Random operations, and what an engine answers to them.

use bytes::Bytes;
use triptych_core::id::{Ids, SeededIds};
use triptych_core::kv::{Batch, KeyValue, Order, Span, StoreError, Version};

/// A key of few letters, among them the least and the greatest byte, so that prefixes, bounds and batches meet.
fn key(ids: &mut SeededIds) -> Vec<u8> {
    let letters = [0, 1, b'k', 254, 255];
    (0..=ids.next() % 3).map(|_| letters[(ids.next() % 5) as usize]).collect()
}

fn one_in(ids: &mut SeededIds, many: u64) -> bool {
    ids.next().is_multiple_of(many)
}

/// A batch for one engine; `choices` is the same for all of them, versions are each engine's own.
fn batch(choices: &mut SeededIds, store: &dyn KeyValue) -> Batch {
    let keys: std::collections::BTreeSet<_> =
        (0..=choices.next() % 5).map(|_| key(choices)).collect();
    let mut batch = Batch::default();
    for key in keys {
        if one_in(choices, 2) {
            let stale = u64::from(one_in(choices, 6)) * 1_000_000;
            let version = Version(store.get(&key).unwrap().version().0 + stale);
            batch.expectations.push((Bytes::from(key.clone()), version));
        }
        if !one_in(choices, 4) {
            let value = vec![choices.next() as u8; (choices.next() % 300) as usize];
            let value = (!one_in(choices, 3)).then(|| Bytes::from(value));
            batch.writes.push((key.into(), value));
        }
    }
    batch
}

/// The answer of one operation, without versions: those are each engine's own.
pub(crate) fn operation(choices: &mut SeededIds, store: &dyn KeyValue) -> String {
    match choices.next() % 3 {
        0 => {
            let batch = batch(choices, store);
            let answer: Result<_, StoreError> = store.commit(batch).wait();
            format!("{:?}", answer.map(|_| ()))
        }
        1 => {
            let keys: Vec<_> = (0..4).map(|_| key(choices)).collect();
            let keys: Vec<&[u8]> = keys.iter().map(Vec::as_slice).collect();
            let found = store.get_many(&keys).unwrap();
            format!("{:?}", found.iter().map(|found| &found.value).collect::<Vec<_>>())
        }
        _ => {
            let bound = |choices: &mut SeededIds| one_in(choices, 2).then(|| key(choices));
            let order = if one_in(choices, 2) { Order::Ascending } else { Order::Descending };
            let prefix = bound(choices).unwrap_or_default();
            let span = Span { prefix, from: bound(choices), to: bound(choices), order };
            let page = store.scan(&span, (choices.next() % 6) as usize).unwrap();
            format!("{:?} {}", page.rows, page.more)
        }
    }
}
