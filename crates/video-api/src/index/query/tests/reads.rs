//! Rows that a page by title reads.

use std::sync::atomic::{AtomicU64, Ordering};

use super::*;
use triptych_core::kv::{Batch, Found, KeyValue, Page, Span, Version};
use triptych_core::pending::Pending;

/// A store that counts the rows that are read of it.
struct CountedReads {
    store: Memory,
    rows: AtomicU64,
}

impl KeyValue for CountedReads {
    fn get(&self, key: &[u8]) -> Result<Found, StoreError> {
        self.rows.fetch_add(1, Ordering::Relaxed);
        self.store.get(key)
    }

    fn scan(&self, span: &Span, limit: usize) -> Result<Page, StoreError> {
        let page = self.store.scan(span, limit)?;
        self.rows.fetch_add(page.rows.len() as u64, Ordering::Relaxed);
        Ok(page)
    }

    fn commit(&self, batch: Batch) -> Pending<Result<Version, StoreError>> {
        self.store.commit(batch)
    }

    fn durable(&self, seen: Version) -> Option<Pending<Result<(), StoreError>>> {
        self.store.durable(seen)
    }
}

const VIDEOS: u64 = 2_000;

/// Rows that the first page by title reads, the one in the middle, and the one before that.
fn costs(title: impl Fn(u64) -> String) -> [u64; 3] {
    let store = Memory::new();
    for part in 0..VIDEOS / 100 {
        change(&store, |tx| {
            (part * 100..(part + 1) * 100).try_for_each(|number| {
                // Neighbours in the order are none in the index.
                let document = video(&title(number * 7 % VIDEOS), "c", 1);
                put(tx, Kind::Video, &format!("{number:05}"), &document)
            })
        });
    }
    caught_up(&store);
    let store = CountedReads { store, rows: AtomicU64::new(0) };
    let query = Query { order: Order::Title, ..words("cat") };
    let page = |cursor: Option<&Cursor>, backwards, limit| {
        let before = store.rows.load(Ordering::Relaxed);
        let found = run(&mut Tx::new(&store), &query, cursor, backwards, limit).unwrap();
        assert_eq!(found.total, VIDEOS);
        (found, store.rows.load(Ordering::Relaxed) - before)
    };
    let half = page(None, false, VIDEOS as usize / 2).0;
    let cursor = half.hits.last().map(|hit| hit.cursor.clone());
    let (after, later) = page(cursor.as_ref(), false, 10);
    let (_, first) = page(None, false, 10);
    let (back, earlier) = page(after.hits.first().map(|hit| &hit.cursor), true, 10);
    let ids = |hits: &[Hit]| hits.iter().map(|hit| hit.id.clone()).collect::<Vec<_>>();
    assert_eq!(ids(&back.hits), ids(&half.hits[half.hits.len() - 10..]));
    [first, later, earlier]
}

#[test]
fn a_page_by_title_reads_as_many_rows_however_many_titles_begin_alike() {
    let apart = costs(|number| format!("{number:05} cat"));
    let alike = costs(|number| format!("the very same beginning of a cat {number:05}"));
    let equal = costs(|_| "cat".to_owned());
    // A row of summaries and a row of titles for 128 videos, beside the words.
    let most = 2 * VIDEOS.div_ceil(128) + 8;
    for rows in [apart, alike, equal].into_iter().flatten() {
        assert!(rows <= most, "{apart:?} {alike:?} {equal:?} {most}");
    }
}
