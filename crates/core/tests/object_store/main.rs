//! The laws of blobs on object stores, and what a store that fails leaves.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected fails"
)]

mod location;
mod seaweedfs;
mod stand_in;

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use triptych_core::blobs::remote::{Location, LocationError, RemoteBlobs};
use triptych_core::blobs::{BlobError, Blobs, conformance, sweep};
use triptych_core::id::SeededIds;
use triptych_core::time::Timestamp;

use self::stand_in::{Behaviour, Server};

/// Time for an answer that comes.
const PATIENCE: Duration = Duration::from_secs(60);
/// Time for one that never comes, and for those before it that do.
const WAITED_FOR: Duration = Duration::from_secs(2);

const NOW: Timestamp = Timestamp::from_millis(1_790_000_000_000);

fn in_memory() -> RemoteBlobs {
    RemoteBlobs::in_memory(SeededIds::from_number(1)).unwrap()
}

fn in_files(directory: &std::path::Path, seed: u64) -> RemoteBlobs {
    let location = Location::parse(&format!("file://{}", directory.display())).unwrap();
    RemoteBlobs::open(&location, SeededIds::from_number(seed)).unwrap()
}

/// A body of two parts and a bit.
fn long() -> Bytes {
    vec![7; 16 * 1024 * 1024 + 100].into()
}

#[test]
fn objects_in_memory_obey_the_laws_of_every_blob_store() {
    conformance::all(&mut || Arc::new(in_memory().with_orphan_wait(Duration::ZERO)));
}

#[test]
fn objects_in_a_shared_file_system_obey_them_too_and_are_there_when_it_is_opened_again() {
    conformance::all(&mut || {
        let directory = tempfile::tempdir().unwrap().keep();
        Arc::new(in_files(&directory, 1).with_orphan_wait(Duration::ZERO))
    });
    let (directory, mut seed) = (tempfile::tempdir().unwrap(), 0);
    conformance::reopening(&mut || {
        seed += 1;
        Arc::new(in_files(directory.path(), seed))
    });
}

#[test]
fn a_body_of_many_parts_comes_back_by_range_and_one_that_is_given_up_leaves_nothing() {
    let store = in_memory();
    let mut body = long().to_vec();
    for (place, byte) in body.iter_mut().enumerate() {
        *byte = (place % 251).to_le_bytes()[0];
    }
    let body = Bytes::from(body);
    let mut writer = store.create(NOW, None);
    for piece in body.chunks(1_000_003) {
        writer.write(Bytes::copy_from_slice(piece)).wait().unwrap();
    }
    let stat = writer.finish().wait().unwrap();
    assert_eq!(stat.bytes, body.len() as u64);
    assert!(store.read_small(stat.id, stat.bytes).unwrap() == body);
    let (from, to) = (8_388_000, 16_777_300);
    let mut reader = store.open(stat.id, from..to).unwrap();
    let mut read = Vec::new();
    while let Some(piece) = reader.next().wait().unwrap() {
        read.extend_from_slice(&piece);
    }
    assert!(read == body[8_388_000..16_777_300]);
    let mut given_up = store.create(NOW, None);
    given_up.write(long()).wait().unwrap();
    drop(given_up);
    assert_eq!(store.list(None, 9).unwrap(), [stat]);
}

#[test]
fn pages_of_a_listing_go_on_in_the_order_of_names_while_others_write_and_delete() {
    let store = in_memory();
    let put =
        |second| store.put_small(Timestamp::from_seconds(second), "body".into()).wait().unwrap().id;
    let mut names: Vec<_> = (0..40).map(put).collect();
    let mut listed: Vec<_> = store.list(None, 7).unwrap().iter().map(|stat| stat.id).collect();
    assert_eq!(listed, names[..7]);
    // One before the place of the listing, which it does not see, and the last, which it meets or not.
    put(0);
    store.delete(names.pop().unwrap()).wait().unwrap();
    while let Some(page) =
        Some(store.list(listed.last().copied(), 7).unwrap()).filter(|page| !page.is_empty())
    {
        listed.extend(page.iter().map(|stat| stat.id));
    }
    assert_eq!(listed[..39], names);
    assert_eq!(store.list(None, 99).unwrap().len(), 40);
}

#[test]
fn an_orphan_goes_at_a_second_look_a_day_after_the_first_by_the_clock_of_the_store() {
    let store = in_memory();
    let put = || store.put_small(Timestamp::EPOCH, "body".into()).wait().unwrap().id;
    let (orphan, named_late, named) = (put(), put(), put());
    let swept = |store: &RemoteBlobs, late: bool| {
        let is_named = |id| id == named || (late && id == named_late);
        sweep(store, NOW, is_named, &|| true).unwrap().orphans
    };
    assert_eq!(swept(&store, false), 0, "this machine's clock says nothing of its age");
    assert_eq!(swept(&store, false), 0, "nor does a second look on the same day");
    let store = store.with_orphan_wait(Duration::ZERO);
    assert_eq!(swept(&store, true), 1);
    let left: Vec<_> = store.list(None, 9).unwrap().iter().map(|stat| stat.id).collect();
    assert!(!left.contains(&orphan) && left.contains(&named) && left.contains(&named_late));
}

#[test]
fn a_store_keeps_its_identity() {
    let store = in_memory();
    assert_eq!(store.identity(), Ok(None));
    store.set_identity("one").unwrap();
    assert_eq!(store.identity(), Ok(Some("one".to_owned())));
    assert!(store.set_identity("two").is_err(), "a mark is set once");
    assert_eq!(store.list(None, 9).unwrap(), []);
}

/// Every call, on a store that behaves so: each gives an error, and none a body.
fn fails(behaviour: Behaviour) {
    let server = Server::start(Behaviour::Works);
    let patience = if behaviour == Behaviour::Hangs { WAITED_FOR } else { PATIENCE };
    let store = server.blobs(patience);
    let id = store.put_small(NOW, "body".into()).wait().unwrap().id;
    server.behave(behaviour);
    let is_unavailable = |outcome: Result<(), BlobError>, of: &str| {
        assert!(matches!(outcome, Err(BlobError::Unavailable(_))), "{of}: {outcome:?}");
    };
    is_unavailable(store.put_small(NOW, "body".into()).wait().map(drop), "put");
    is_unavailable(store.read_small(id, 4).map(drop), "read");
    is_unavailable(store.stat(id).map(drop), "stat");
    is_unavailable(store.delete(id).wait(), "delete");
    is_unavailable(store.list(None, 9).map(drop), "list");
    let mut writer = store.create(NOW, None);
    let written = writer.write(long()).wait();
    is_unavailable(written.and_then(|()| writer.finish().wait().map(drop)), "parts");
    assert!(matches!(
        RemoteBlobs::open(&server.location(patience), SeededIds::from_number(1)).map(drop),
        Err(LocationError::Unreachable { .. })
    ));
}

#[test]
fn a_store_that_answers_500_gives_errors() {
    fails(Behaviour::Fails);
}

#[test]
fn a_store_that_never_answers_gives_errors_in_time() {
    fails(Behaviour::Hangs);
}

#[test]
fn a_store_that_closes_in_the_middle_of_its_answers_gives_errors() {
    fails(Behaviour::Closes);
}

#[test]
fn a_store_that_takes_no_part_is_told_to_forget_the_upload() {
    let server = Server::start(Behaviour::TakesNoPart);
    let store = server.blobs(PATIENCE);
    let mut writer = store.create(NOW, None);
    let written = writer.write(long()).wait();
    let finished = written.and_then(|()| writer.finish().wait());
    assert!(matches!(finished, Err(BlobError::Unavailable(_))), "{finished:?}");
    drop(store);
    assert!(server.heard("DELETE", "uploadId=1"), "{:?}", server.requests());
    assert!(!server.heard("POST", "uploadId=1"), "it was never completed");
}

#[test]
fn a_writer_that_is_dropped_has_the_store_forget_its_parts() {
    let server = Server::start(Behaviour::Works);
    let store = server.blobs(PATIENCE);
    let mut writer = store.create(NOW, None);
    writer.write(long()).wait().unwrap();
    drop(writer);
    drop(store);
    assert!(server.heard("DELETE", "uploadId=1"), "{:?}", server.requests());
}

#[test]
fn a_bucket_that_is_not_there_or_not_ours_is_told_apart_at_the_start() {
    let open = |behaviour| {
        let server = Server::start(behaviour);
        RemoteBlobs::open(&server.location(PATIENCE), SeededIds::from_number(1))
            .map(drop)
            .unwrap_err()
    };
    assert!(matches!(open(Behaviour::HasNoBucket), LocationError::Absent(_)));
    assert!(matches!(open(Behaviour::Denies), LocationError::Denied { .. }));
    // A port that is given to nobody who does not ask for it by its number.
    let nobody = "s3://bodies?endpoint=http://127.0.0.1:9&anonymous=true&timeout-ms=300";
    let refused = RemoteBlobs::open(&Location::parse(nobody).unwrap(), SeededIds::from_number(1));
    assert!(matches!(refused.map(drop), Err(LocationError::Unreachable { .. })));
}
