//! Requests while an account is removed, with all that is left of the removal between two calls of theirs at the store.

use std::sync::Arc;

use serde_json::{Value, json};
use triptych_core::blobs::MemoryBlobs;
use triptych_core::id::SeededIds;
use triptych_core::kv::{KeyValue, Memory, Raced};

use crate::closing::{TARGETS, close, seed, step};
use crate::interleaved::{Rows, filled, rows};
use crate::service::Service;

/// The calls of an answer before which the rest of the account goes, for each stage: of many calls these and those, other ones at each stage.
const POINTS: usize = 5;

/// Goes on with the removal until nothing is left; gives the number of steps.
fn finish(store: &Memory, first: u64) -> u64 {
    (first..).find(|at| !step(store, *at)).unwrap_or_default() - first
}

async fn serve(store: Arc<dyn KeyValue>) -> Service {
    let blobs = MemoryBlobs::new(SeededIds::from_number(1));
    Service::filled(store, Arc::new(blobs), 1, &seed()).await
}

async fn ask(service: &Service, target: &str) -> Value {
    let answer = service.ask("GET", &format!("/youtube/v3{target}"), "ALICE", "").await;
    json!([answer.status, answer.json()])
}

/// The rows of an account that was closed, at several stages of its removal, one of them with an index that followed half of it.
async fn stages() -> Vec<Rows> {
    let whole = Arc::new(Memory::new());
    drop(serve(Arc::<Memory>::clone(&whole)).await);
    close(&whole);
    let whole = rows(&whole);
    let steps = finish(&filled(&whole), 0);
    let mut stages = Vec::new();
    for part in 0..4 {
        let stage = filled(&whole);
        for at in 0..steps * part / 4 {
            step(&stage, at);
        }
        if part == 2 {
            let service = serve(Arc::<Memory>::clone(&stage)).await;
            ask(&service, "/search?part=id&q=otter").await;
            for at in 0..steps / 8 {
                step(&stage, 500 + at);
            }
        }
        stages.push(rows(&stage));
    }
    stages
}

/// An answer from a store at such a stage, of which the rest goes before the call of this number, and the number of its calls.
async fn raced(
    stage: &Rows,
    place: fn(Arc<dyn KeyValue>) -> Raced,
    target: &str,
    at: usize,
) -> (Value, usize) {
    let store = filled(stage);
    let raced = Arc::new(place(Arc::<Memory>::clone(&store)));
    let service = serve(Arc::<Raced>::clone(&raced)).await;
    raced.before(at, move || {
        finish(&store, 1_000);
    });
    let answer = ask(&service, target).await;
    (answer, raced.take_calls())
}

async fn check(place: fn(Arc<dyn KeyValue>) -> Raced) {
    let stages = stages().await;
    let closed = serve(filled(&stages[0])).await;
    for target in TARGETS {
        let closed = ask(&closed, target).await;
        for (number, stage) in stages.iter().enumerate() {
            let (answer, calls) = raced(stage, place, target, usize::MAX).await;
            assert_eq!(answer, closed, "{target}: stage {number}");
            let stride = calls.div_ceil(POINTS);
            for at in (number * stride / stages.len()..calls).step_by(stride) {
                let (answer, _) = raced(stage, place, target, at).await;
                assert_eq!(answer, closed, "{target}: stage {number}, call {at}");
            }
        }
    }
}

#[tokio::test]
async fn what_is_left_of_a_closed_account_may_go_between_any_two_reads_of_a_request() {
    check(Raced::local).await;
}

#[tokio::test]
async fn what_is_left_of_a_closed_account_may_go_between_any_two_reads_of_a_store_elsewhere() {
    check(Raced::new).await;
}
