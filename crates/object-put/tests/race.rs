//! Writers that meet: exactly one create wins, and what a condition saw at the start still holds at the commit.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

mod service;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use service::{Answer, Draft, NOW, World};
use triptych_core::blobs::{Directory, MemoryBlobs};
use triptych_core::disk::SystemDisk;
use triptych_core::id::SeededIds;
use triptych_core::kv::{KeyValue, Memory, Sled, SledConfig};

fn put(target: &str, body: &[u8]) -> Draft {
    Draft::put(target, body).with("expect", "100-continue")
}

fn code(answer: &Answer) -> (u16, String) {
    (answer.status, answer.element("Code").unwrap_or_default())
}

/// 40 rounds of 16 writers that all want to create the same key.
async fn creators_race(world: World) {
    let world = Arc::new(world);
    for round in 0..40 {
        let writers = (0..16).map(|writer| {
            let world = Arc::clone(&world);
            tokio::spawn(async move {
                let body = format!("{round} {writer}");
                let draft = Draft::put(&format!("/bkt/{round}"), body.as_bytes());
                (world.send(&draft.with("if-none-match", "*")).await, body)
            })
        });
        let mut winner = None;
        for writer in writers.collect::<Vec<_>>() {
            let (answer, body) = writer.await.unwrap();
            if answer.status == 200 {
                assert!(winner.replace(body).is_none(), "two writers won round {round}");
            } else {
                assert_eq!(code(&answer), (412, "PreconditionFailed".to_owned()));
            }
        }
        let stored = world.fetch(&format!("/bkt/{round}")).await;
        assert_eq!(Some(stored.text()), winner, "round {round}");
    }
}

/// A service on disk, in a directory that goes with the guard.
async fn on_disk() -> (World, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let store: Arc<dyn KeyValue> =
        Arc::new(Sled::open(&SledConfig::new(directory.path().join("kv"))).unwrap());
    let ids = SeededIds::from_number(3);
    let blobs = Directory::open(directory.path().join("blobs"), Arc::new(SystemDisk), ids).unwrap();
    let world = World::on(store, Arc::new(blobs), NOW).await;
    (world, directory)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn exactly_one_of_sixteen_creators_wins_in_memory() {
    creators_race(World::new(NOW).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn exactly_one_of_sixteen_creators_wins_on_disk() {
    let (world, _directory) = on_disk().await;
    creators_race(world).await;
}

/// Three that read a key while it is written over 200 times: what was acknowledged when a reader began is the oldest that it may see.
async fn readers_race(world: World) {
    const LAST: usize = 200;
    world.store("/bkt/k", b"0").await;
    let (world, acknowledged) = (Arc::new(world), Arc::new(AtomicUsize::new(0)));
    let readers = (0..3).map(|_| {
        let (world, acknowledged) = (Arc::clone(&world), Arc::clone(&acknowledged));
        tokio::spawn(async move {
            loop {
                let least = acknowledged.load(Ordering::SeqCst);
                let seen: usize = world.fetch("/bkt/k").await.text().parse().unwrap();
                assert!(seen >= least, "{seen} was read after {least} was written");
                if least == LAST {
                    return;
                }
            }
        })
    });
    let readers: Vec<_> = readers.collect();
    for number in 1..=LAST {
        world.store("/bkt/k", number.to_string().as_bytes()).await;
        acknowledged.store(number, Ordering::SeqCst);
    }
    for reader in readers {
        reader.await.unwrap();
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nobody_reads_what_an_acknowledged_write_replaced_in_memory() {
    readers_race(World::new(NOW).await).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn nobody_reads_what_an_acknowledged_write_replaced_on_disk() {
    let (world, _directory) = on_disk().await;
    readers_race(world).await;
}

#[tokio::test]
async fn a_create_that_loses_while_its_body_comes_is_refused_with_412() {
    let world = World::new(NOW).await;
    let slow = world.start(&put("/bkt/k", b"slow").with("if-none-match", "*")).await;
    world.store("/bkt/k", b"fast").await;
    assert_eq!(code(&slow.finish(b"slow").await), (412, "PreconditionFailed".to_owned()));
    assert_eq!(world.fetch("/bkt/k").await.body, b"fast");
}

#[tokio::test]
async fn an_update_whose_object_was_replaced_meanwhile_is_a_conflict_even_by_the_same_bytes() {
    let world = World::new(NOW).await;
    let tag = world.store("/bkt/k", b"one").await.header("etag").unwrap().to_owned();
    for replacement in [&b"one"[..], b"two"] {
        let tag = world.store("/bkt/k", b"one").await.header("etag").unwrap().to_owned();
        let slow = world.start(&put("/bkt/k", b"mine").with("if-match", tag)).await;
        world.store("/bkt/k", replacement).await;
        let answer = slow.finish(b"mine").await;
        assert_eq!(code(&answer), (409, "ConditionalRequestConflict".to_owned()));
        assert_eq!(answer.element("Condition").unwrap(), "If-Match");
    }
    let late = world.send(&put("/bkt/k", b"mine").with("if-match", tag)).await;
    assert_eq!(code(&late), (412, "PreconditionFailed".to_owned()), "it did not hold at the start");
}

#[tokio::test]
async fn a_put_that_breaks_off_leaves_the_old_object_and_no_body() {
    let store: Arc<dyn KeyValue> = Arc::new(Memory::new());
    let blobs = Arc::new(MemoryBlobs::new(SeededIds::from_number(2)));
    let world = World::on(store, blobs.clone(), NOW).await;
    world.store("/bkt/k", b"old").await;
    for size in [10_usize, 1_000_000] {
        let body = vec![b'x'; size];
        for part in [0, size / 2, size - 1] {
            world.start(&put("/bkt/k", &body)).await.abandon(body.get(..part).unwrap()).await;
        }
    }
    assert_eq!(world.fetch("/bkt/k").await.body, b"old");
    use triptych_core::blobs::Blobs;
    assert_eq!(blobs.list(None, 10).unwrap().len(), 1);
}

#[tokio::test]
async fn a_key_that_is_created_and_deleted_meanwhile_is_a_conflict() {
    let world = World::new(NOW).await;
    for bucket in ["bkt", "versioned", "suspended"] {
        let target = format!("/{bucket}/k");
        let slow = world.start(&put(&target, b"slow").with("if-none-match", "*")).await;
        world.store(&target, b"fast").await;
        assert_eq!(world.send(&Draft::new("DELETE", &target, b"")).await.status, 204);
        let answer = slow.finish(b"slow").await;
        assert_eq!(code(&answer), (409, "ConditionalRequestConflict".to_owned()), "{bucket}");
        assert_eq!(answer.element("Condition").unwrap(), "If-None-Match");
        // A later one sees the key absent, and stays alone.
        let answer = world.send(&put(&target, b"late").with("if-none-match", "*")).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn writers_of_one_key_all_succeed_and_versions_keep_them_all() {
    let world = Arc::new(World::new(NOW).await);
    let writers = (0..64).map(|writer| {
        let world = Arc::clone(&world);
        tokio::spawn(
            async move { world.store("/versioned/k", format!("{writer}").as_bytes()).await },
        )
    });
    let mut ids = std::collections::BTreeSet::new();
    for writer in writers.collect::<Vec<_>>() {
        let answer = writer.await.unwrap();
        assert!(ids.insert(answer.header("x-amz-version-id").unwrap().to_owned()));
    }
    for id in ids {
        assert_eq!(world.fetch(&format!("/versioned/k?versionId={id}")).await.status, 200);
    }
}
