//! `verify` finds what is missing and what is damaged, and nothing else.

#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected fails"
)]

mod service;

use std::sync::Arc;

use object_put::encryption::Keyring;
use object_put::verify::verify;
use service::{NOW, World};
use triptych_core::blobs::{Blobs, Directory, SystemDisk};
use triptych_core::id::SeededIds;
use triptych_core::kv::Memory;

#[tokio::test]
async fn whole_bodies_pass_and_a_flipped_bit_or_a_missing_body_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let open = || {
        let ids = SeededIds::from_number(3);
        Arc::new(Directory::open(directory.path(), Arc::new(SystemDisk), ids).unwrap())
    };
    let (store, blobs) = (Arc::new(Memory::new()), open());
    let world = World::on(store.clone(), blobs.clone(), NOW).await;
    world.store("/bkt/empty", b"").await;
    for body in [vec![1; 100], vec![2; 2_000_000]] {
        world.store("/versioned/k", &body).await;
    }
    let ring = Keyring::new(&[9; 32]);
    let found = verify(&*store, &*blobs, &ring, true).unwrap();
    assert_eq!(
        (found.versions, found.bytes, found.faults.len()),
        (3, 2_000_100, 0)
    );
    let other = verify(&*store, &*blobs, &Keyring::new(&[8; 32]), true).unwrap();
    assert_eq!(
        other.faults.len(),
        3,
        "a root key that is missing opens nothing"
    );
    // One bit of the large body, which has a file of its own.
    let file = std::fs::read_dir(directory.path().join("large")).unwrap();
    let file = file
        .map(|entry| entry.unwrap().path())
        .find(|path| path.is_file())
        .unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[1_000_000] ^= 1;
    std::fs::write(&file, bytes).unwrap();
    assert_eq!(
        verify(&*store, &*blobs, &ring, false).unwrap().faults,
        Vec::<String>::new()
    );
    let found = verify(&*store, &*blobs, &ring, true).unwrap();
    assert_eq!(found.faults.len(), 1, "{found:?}");
    for stat in blobs.list(None, 10).unwrap() {
        blobs.delete(stat.id).wait().unwrap();
    }
    assert_eq!(
        verify(&*store, &*blobs, &ring, false).unwrap().faults.len(),
        3
    );
}
