//! Appends that the clients' tests cannot reach: the most parts, races that are made to happen, and what a disk holds of a session.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

mod service;

use std::path::Path;
use std::sync::Arc;

use object_put::store::part_list::{PARTS_MAX, PARTS_PER_CHUNK, Parts};
use object_put::store::tables::CURRENT;
use service::{Draft, NOW, World};
use triptych_core::blobs::{Directory, MemoryBlobs};
use triptych_core::disk::SystemDisk;
use triptych_core::id::SeededIds;
use triptych_core::kv::{KeyValue, Memory, Sled, SledConfig, StoreError, Tx, run_blocking};

#[tokio::test]
async fn an_object_of_ten_thousand_parts_takes_no_more_and_its_copy_does() {
    let store = Arc::new(Memory::new());
    let blobs = Arc::new(MemoryBlobs::new(SeededIds::from_number(2)));
    let world = World::on(store.clone(), blobs, NOW).await;
    for (offset, piece) in [(0, b"ab"), (2, b"cd")] {
        let answer = world.send(&Draft::append("/k", offset, piece)).await;
        assert_eq!(answer.status, 200, "{}", answer.text());
    }
    let copy = Draft::zonal("PUT", "/copy", b"");
    let copy = copy.with("x-store-copy-source", "mybkt--use1-az4--x-s3/k");
    assert_eq!(world.send(&copy).await.status, 200);
    set_count(&*store, PARTS_MAX);
    let answer = world.send(&Draft::append("/k", 4, b"e")).await;
    assert_eq!(answer.status, 400);
    assert_eq!(answer.element("Code").as_deref(), Some("TooManyParts"));
    assert_eq!(world.send(&Draft::append("/copy", 4, b"e")).await.status, 200);
    assert_eq!(world.send(&Draft::zonal("GET", "/copy", b"")).await.body, b"abcde");
}

#[tokio::test]
async fn parts_in_a_directory_bucket_are_listed_whatever_their_checksum_is_of() {
    let world = World::new(NOW).await;
    for (offset, piece) in [(0, &b"ab"[..]), (2, b"c")] {
        assert_eq!(world.send(&Draft::append("/k", offset, piece)).await.status, 200);
    }
    let asked = Draft::zonal("GET", "/k?attributes", b"")
        .with("x-store-object-attributes", "Checksum,ObjectParts");
    let text = world.send(&asked).await.text();
    assert!(text.contains("<ChecksumType>FULL_OBJECT</ChecksumType>"), "{text}");
    for shown in ["<PartsCount>2</PartsCount>", "<PartNumber>1</PartNumber><Size>2</Size>"] {
        assert!(text.contains(shown), "{text}");
    }
}

/// Says of every object with a list that it has so many parts.
fn set_count(store: &dyn KeyValue, parts: u32) {
    let mut ids = SeededIds::from_number(5);
    run_blocking(store, &mut ids, 3, |tx: &mut Tx<'_>, _| {
        for (key, mut object) in CURRENT.all(tx, &(), 100)? {
            let data = object.data.as_deref_mut().unwrap();
            if let Parts::Chunks { count, starts, .. } = &mut data.parts {
                *count = parts;
                // A record without a place for each chunk is none.
                starts.resize(usize::try_from(parts).unwrap().div_ceil(PARTS_PER_CHUNK), 0);
                CURRENT.put(tx, &key, &object);
            }
        }
        Ok::<_, StoreError>(())
    })
    .unwrap();
}

#[tokio::test]
async fn of_two_appends_at_one_place_the_second_to_end_is_refused() {
    let world = World::new(NOW).await;
    let begun = world.send(&Draft::append("/k", 0, b"start")).await;
    assert_eq!(begun.status, 200, "{}", begun.text());
    let expecting = |body: &[u8]| Draft::append("/k", 5, body).with("expect", "100-continue");
    let (one, two) = (expecting(b"one"), expecting(b"two"));
    let (first, second) = (world.start(&one).await, world.start(&two).await);
    assert_eq!(second.finish(b"two").await.status, 200);
    let late = first.finish(b"one").await;
    assert_eq!(late.element("Code").as_deref(), Some("InvalidWriteOffset"));
    assert_eq!(world.send(&Draft::zonal("GET", "/k", b"")).await.body, b"starttwo");
}

#[tokio::test]
async fn an_append_to_an_object_that_was_replaced_by_one_as_long_is_a_conflict() {
    let world = World::new(NOW).await;
    assert_eq!(world.send(&Draft::append("/k", 0, b"first")).await.status, 200);
    let append = Draft::append("/k", 5, b"more").with("expect", "100-continue");
    let started = world.start(&append).await;
    assert_eq!(world.send(&Draft::zonal("PUT", "/k", b"other")).await.status, 200);
    let late = started.finish(b"more").await;
    assert_eq!(
        (late.status, late.element("Code")),
        (409, Some("ConditionalRequestConflict".into()))
    );
    assert_eq!(world.send(&Draft::zonal("GET", "/k", b"")).await.body, b"other");
}

#[tokio::test]
async fn a_connection_that_breaks_during_an_append_leaves_the_object_as_it_was() {
    let world = World::new(NOW).await;
    assert_eq!(world.send(&Draft::append("/k", 0, b"first")).await.status, 200);
    let append = Draft::append("/k", 5, &[b'x'; 10_000]).with("expect", "100-continue");
    world.start(&append).await.abandon(&[b'x'; 5_000]).await;
    assert_eq!(world.send(&Draft::zonal("GET", "/k", b"")).await.body, b"first");
    assert_eq!(world.send(&Draft::append("/k", 5, b"!")).await.status, 200);
}

#[tokio::test]
async fn no_byte_of_the_data_directory_is_of_a_session_s_secret() {
    let folder = tempfile::tempdir().unwrap();
    let secrets = {
        let config =
            SledConfig { cache_bytes: 16 << 20, ..SledConfig::new(folder.path().join("kv")) };
        let ids = SeededIds::from_number(3);
        let blobs = folder.path().join("blobs");
        let blobs = Directory::open(blobs, Arc::new(SystemDisk), ids).unwrap();
        let store = Arc::new(Sled::open(&config).unwrap());
        let world = World::on(store, Arc::new(blobs), NOW).await;
        let session = world.session(NOW).await;
        for offset in [0, 5] {
            let append = Draft::append("/k", offset, b"bytes");
            let answer = world.send(&append.within(&session)).await;
            assert_eq!(answer.status, 200, "{}", answer.text());
        }
        [session.key.1.to_owned(), session.key.0.to_owned(), session.token]
    };
    let mut files = 0;
    scan(folder.path(), &mut |bytes| {
        files += 1;
        for secret in &secrets {
            assert!(!bytes.windows(secret.len()).any(|window| window == secret.as_bytes()));
        }
    });
    assert!(files > 2, "only {files} files were found");
}

fn scan(folder: &Path, file: &mut dyn FnMut(&[u8])) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => scan(&path, file),
            false => file(&std::fs::read(&path).unwrap()),
        }
    }
}
