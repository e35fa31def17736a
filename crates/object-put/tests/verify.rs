//! `verify` finds what is missing and what is damaged, and nothing else.

mod service;

use std::sync::Arc;

use object_put::body::encryption::Keyring;
use object_put::maintenance::verify::{VerifyEvent, verify};
use service::data_directory::open;
use service::{NOW, World};
use triptych_core::blobs::{Blobs, Directory};
use triptych_core::disk::SystemDisk;
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
    let check = |deep: Option<[u8; 32]>| {
        let mut faults = Vec::new();
        let ring = deep.map(|root| Keyring::new(&root));
        let found = verify(&*store, &*blobs, ring.as_ref(), &mut |note| {
            if let VerifyEvent::Fault(fault) = note {
                faults.push(fault);
            }
        })
        .unwrap();
        assert_eq!(found.faults, faults.len() as u64);
        (found, faults)
    };
    let root = Some([9; 32]);
    let (found, _) = check(root);
    assert_eq!((found.versions, found.bytes, found.faults), (3, 2_000_100, 0));
    let (other, _) = check(Some([8; 32]));
    assert_eq!(other.faults, 3, "a root key that is missing opens nothing");
    // One bit of the large body, which has a file of its own.
    let file = std::fs::read_dir(directory.path().join("large")).unwrap();
    let file = file.map(|entry| entry.unwrap().path()).find(|path| path.is_file()).unwrap();
    let mut bytes = std::fs::read(&file).unwrap();
    bytes[1_000_000] ^= 1;
    std::fs::write(&file, &bytes).unwrap();
    assert_eq!(check(None).1, Vec::<String>::new());
    assert_eq!(check(root).1.len(), 1);
    bytes.pop();
    std::fs::write(&file, &bytes).unwrap();
    let (_, faults) = check(None);
    assert!(faults[0].ends_with("its body has another length"), "{faults:?}");
    for stat in blobs.list(None, 10).unwrap() {
        blobs.delete(stat.id).wait().unwrap();
    }
    let (_, faults) = check(None);
    assert_eq!(faults.len(), 3);
    assert!(faults.iter().all(|fault| fault.ends_with("its body is missing")));
}

#[test]
fn the_command_makes_nothing_where_there_is_no_store() {
    let directory = tempfile::tempdir().unwrap();
    let run = |data: &std::path::Path, flags: &[&str]| {
        let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_object-put"));
        let done = command.arg("verify").arg("--data").arg(data).args(flags).output().unwrap();
        let text = String::from_utf8(done.stdout).unwrap();
        (done.status.code(), text)
    };
    let absent = directory.path().join("absent");
    let (code, text) = run(&absent, &[]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("keeps no store"), "{text}");
    assert!(!absent.exists());
    let empty = directory.path().join("empty");
    std::fs::create_dir(&empty).unwrap();
    assert_eq!(run(&empty, &["--deep"]).0, Some(2));
    assert_eq!(std::fs::read_dir(&empty).unwrap().count(), 0);
    // A store whose root key is gone: records can be checked, bodies cannot be opened, and no key is made up.
    let store = directory.path().join("store");
    drop(open(&store).unwrap());
    assert_eq!(run(&store, &[]).0, Some(0));
    let (code, text) = run(&store, &["--deep"]);
    assert_eq!(code, Some(2), "{text}");
    assert!(text.contains("root-key"), "{text}");
    assert!(!store.join("root-key").exists());
}
