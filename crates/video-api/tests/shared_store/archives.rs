//! Exports that are imported into other engines: from a shared store to a data directory and on to another shared store.

use std::path::Path;
use std::process::Command;

use triptych_core::host::testing::{Instance, SharedBodies};
use triptych_core::kv::StoreServer;

use crate::{ALICE, INSTANCES, SEED};

/// Runs the binary to its end with these arguments, and says whether it succeeded and what it said.
fn run(arguments: &[&str], place: &[String]) -> (bool, String) {
    let mut command = Command::new(env!("CARGO_BIN_EXE_video-api"));
    let output = command.args(arguments).args(place).output().unwrap();
    (output.status.success(), String::from_utf8_lossy(&output.stderr).into_owned())
}

fn done(arguments: &[&str], place: &[String]) {
    let (is_done, said) = run(arguments, place);
    assert!(is_done, "{arguments:?}: {said}");
}

/// The flags of a sub-command that uses a store, with its bodies beside those of its instances.
fn place(folder: &Path, name: &str, store: &StoreServer) -> Vec<String> {
    std::fs::create_dir_all(folder).unwrap();
    let bodies = SharedBodies::of(folder).unwrap();
    [
        ("--data", folder.join(name).display().to_string()),
        ("--store", store.url()),
        ("--blobs", bodies.url().to_owned()),
    ]
    .into_iter()
    .flat_map(|(flag, value)| [flag.to_owned(), value])
    .collect()
}

fn instance(folder: &Path, store: &StoreServer) -> Instance {
    std::fs::create_dir_all(folder).unwrap();
    let program = env!("CARGO_BIN_EXE_video-api");
    let made = Instance::new(program, folder, INSTANCES, &store.url(), SEED).unwrap();
    made.sharing_bodies().unwrap()
}

#[test]
fn an_export_of_a_shared_store_is_the_same_in_a_directory_and_in_another_store() {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (StoreServer::start().unwrap(), StoreServer::start().unwrap());
    let [of_first, of_second] = ["first", "second"].map(|name| folder.path().join(name));
    let mut source = instance(&of_first, &first);
    source.start().unwrap();
    let start = "/upload/youtube/v3/videos?part=snippet&uploadType=media";
    let headers = [ALICE, "Content-Type: video/mp4"];
    let film = source.client().ask("POST", start, &headers, &vec![7; 300_000]).unwrap();
    assert_eq!(film.status, 200, "{}", film.json());
    let id = film.json()["id"].as_str().unwrap().to_owned();
    let archive = |name: &str| folder.path().join(name).display().to_string();
    let bytes = |name: &str| std::fs::read(folder.path().join(name)).unwrap();
    source.stop().unwrap();
    done(&["export", &archive("a")], &place(&of_first, "export", &first));
    assert!(bytes("a").len() > 300_000, "the film is in it");
    let directory = ["--data".to_owned(), folder.path().join("disk").display().to_string()];
    done(&["import", &archive("a")], &directory);
    done(&["export", &archive("b")], &directory);
    assert!(bytes("a") == bytes("b"), "a directory holds other rows");
    done(&["import", &archive("b")], &place(&of_second, "import", &second));
    done(&["export", &archive("c")], &place(&of_second, "export", &second));
    assert!(bytes("a") == bytes("c"), "the second store holds other rows");
    let mut target = instance(&of_second, &second);
    target.start().unwrap();
    let path = format!("/youtube/v3/videos?part=id&id={id}");
    let found = target.client().ask("GET", &path, &[ALICE], b"").unwrap().json();
    assert_eq!(found["items"][0]["id"], id.as_str(), "{found}");
    let (is_done, said) = run(&["import", &archive("b")], &place(&of_second, "again", &second));
    assert!(!is_done && said.contains("is not empty"), "{said}");
}
