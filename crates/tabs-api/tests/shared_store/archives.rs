//! Exports that are imported into other engines: from a shared store to a data directory and on to another shared store.

use std::path::Path;
use std::process::Command;

use triptych_core::host::testing::Instance;
use triptych_core::kv::StoreServer;

use crate::{count_of, create, started, tabs};

fn done(arguments: &[&str], place: &[String]) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_tabs-api"));
    let output = command.args(arguments).args(place).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {said}");
}

/// The flags of a sub-command that uses a store.
fn place(folder: &Path, name: &str, store: &StoreServer) -> Vec<String> {
    let data = folder.join(name).display().to_string();
    ["--data".to_owned(), data, "--store".to_owned(), store.url()].into()
}

#[test]
fn a_profile_goes_on_with_its_tabs_where_an_export_was_imported() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (StoreServer::start().unwrap(), StoreServer::start().unwrap());
    let (own, others) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let mut instances = started(&first, &own, 1);
    let client = instances.first().map(Instance::client).unwrap();
    for number in 0..5 {
        let url = format!("http://a.test/{number}");
        assert_eq!(create(client, "first", &url).unwrap().status, 200);
    }
    instances.iter_mut().for_each(|instance| instance.stop().unwrap());
    let archive = |name: &str| folder.path().join(name).display().to_string();
    let bytes = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    done(&["export", &archive("a")], &place(folder.path(), "from", &first));
    let directory = ["--data".to_owned(), archive("disk")];
    done(&["import", &archive("a")], &directory);
    done(&["export", &archive("b")], &directory);
    assert!(bytes("a") == bytes("b"), "a directory holds other rows");
    done(&["import", &archive("b")], &place(folder.path(), "to", &second));
    done(&["export", &archive("c")], &place(folder.path(), "again", &second));
    assert!(bytes("a") == bytes("c"), "the second store holds other rows");
    let targets = started(&second, &others, 1);
    let found = tabs(targets.first().map(Instance::client).unwrap(), "first").unwrap();
    for number in 0..5 {
        assert_eq!(count_of(&found, &format!("http://a.test/{number}")), 1, "{found:?}");
    }
}
