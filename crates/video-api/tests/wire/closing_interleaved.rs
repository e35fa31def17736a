//! Requests while an account is removed, with each step of the removal between each two reads of theirs.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use triptych_core::blobs::MemoryBlobs;
use triptych_core::id::SeededIds;
use triptych_core::kv::{Batch, Found, KeyValue, Memory, Page, Span, StoreError, Version};
use triptych_core::pending::Pending;

use crate::closing::{TARGETS, close, seed, step};
use crate::service::Service;

/// A store from which, before one of its reads, all that is left of the account is removed.
struct Interrupted {
    store: Memory,
    reads: AtomicUsize,
    /// The read before which it happens.
    at: usize,
    is_local: bool,
}

impl Interrupted {
    fn before_read(&self) {
        if self.reads.fetch_add(1, Ordering::Relaxed) == self.at {
            finish(&self.store, 1_000);
        }
    }
}

impl KeyValue for Interrupted {
    fn get(&self, key: &[u8]) -> Result<Found, StoreError> {
        self.before_read();
        self.store.get(key)
    }

    fn get_many(&self, keys: &[&[u8]]) -> Result<Vec<Found>, StoreError> {
        self.before_read();
        self.store.get_many(keys)
    }

    fn scan(&self, span: &Span, limit: usize) -> Result<Page, StoreError> {
        self.before_read();
        self.store.scan(span, limit)
    }

    fn commit(&self, batch: Batch) -> Pending<Result<Version, StoreError>> {
        self.store.commit(batch)
    }

    fn durable(&self, seen: Version) -> Option<Pending<Result<(), StoreError>>> {
        self.store.durable(seen)
    }

    fn is_local(&self) -> bool {
        self.is_local
    }
}

/// Goes on with the removal until nothing is left; gives the number of steps.
fn finish(store: &Memory, first: u64) -> u64 {
    (first..).find(|at| !step(store, *at)).unwrap_or_default() - first
}

/// The same rows in a store of their own.
fn copy(store: &Memory) -> Memory {
    let rows = store.scan(&Span::default(), usize::MAX).unwrap().rows;
    let writes = rows.into_iter().map(|(key, value)| (key, Some(value))).collect();
    let copy = Memory::new();
    copy.commit(Batch { writes, ..Batch::default() }).wait().unwrap();
    copy
}

async fn serve(store: Arc<dyn KeyValue>) -> Service {
    let blobs = MemoryBlobs::new(SeededIds::from_number(1));
    Service::filled(store, Arc::new(blobs), 1, &seed()).await
}

async fn ask(service: &Service, target: &str) -> Value {
    let answer = service.ask("GET", &format!("/youtube/v3{target}"), "ALICE", "").await;
    json!([answer.status, answer.json()])
}

/// A store with an account that was closed, at several stages of its removal, some of them with an index that followed half of it.
async fn stages() -> Vec<Memory> {
    let whole = Arc::new(Memory::new());
    drop(serve(whole.clone()).await);
    close(&whole);
    let steps = finish(&copy(&whole), 0);
    let mut stages = Vec::new();
    for part in 0..4 {
        let stage = Arc::new(copy(&whole));
        for at in 0..steps * part / 4 {
            step(&stage, at);
        }
        if part == 2 {
            ask(&serve(stage.clone()).await, "/search?part=id&q=otter").await;
            for at in 0..steps / 8 {
                step(&stage, 500 + at);
            }
        }
        stages.push(copy(&stage));
    }
    stages
}

/// The reads of an answer before which the rest of the account goes, for each stage: of many reads these and those, other ones at each stage.
const POINTS: usize = 5;

impl Interrupted {
    fn new(store: &Memory, at: usize, is_local: bool) -> Arc<Self> {
        Arc::new(Self { store: copy(store), reads: AtomicUsize::new(0), at, is_local })
    }
}

async fn check(is_local: bool) {
    let stages = stages().await;
    let closed = serve(Arc::new(copy(&stages[0]))).await;
    for target in TARGETS {
        let closed = ask(&closed, target).await;
        for (number, stage) in stages.iter().enumerate() {
            let store = Interrupted::new(stage, usize::MAX, is_local);
            let service = serve(store.clone()).await;
            let first = store.reads.load(Ordering::Relaxed);
            assert_eq!(ask(&service, target).await, closed, "{target}");
            let end = store.reads.load(Ordering::Relaxed);
            let stride = (end - first).div_ceil(POINTS);
            for at in (first + number * stride / stages.len()..end).step_by(stride) {
                let service = serve(Interrupted::new(stage, at, is_local)).await;
                let answer = ask(&service, target).await;
                assert_eq!(answer, closed, "{target}: stage {number}, read {}", at - first);
            }
        }
    }
}

#[tokio::test]
async fn what_is_left_of_a_closed_account_may_go_between_any_two_reads_of_a_request() {
    check(true).await;
}

#[tokio::test]
async fn what_is_left_of_a_closed_account_may_go_between_any_two_reads_of_a_store_elsewhere() {
    check(false).await;
}
