//! Exports that are imported into other engines: from a shared store to a data directory and on to another shared store.

use std::io::Write as _;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use triptych_core::host::testing::{Client, Instance, SharedBodies};
use triptych_core::kv::StoreServer;

use crate::instance::{Asks, ROOT_KEY, sharing};

/// Bytes of an archive between two checkpoints, as the program has them.
const STEP: usize = 8 * 1024 * 1024;

/// A run of the binary with these arguments, and those of `place`.
fn command(arguments: &[&str], place: &[String]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_object-put"));
    command.args(arguments).args(place).stdin(Stdio::null());
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn done(arguments: &[&str], place: &[String]) -> String {
    let output = command(arguments, place).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {}", said(&output));
    said(&output)
}

fn refused(arguments: &[&str], place: &[String]) -> String {
    let output = command(arguments, place).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{arguments:?}: {}", said(&output));
    said(&output)
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

/// The lines of an archive without the names of bodies and the digest, which depends on them.
fn without_names(archive: &Path) -> Vec<serde_json::Value> {
    let text = std::fs::read_to_string(archive).unwrap();
    let line = |line: &str| {
        let mut row: serde_json::Value = serde_json::from_str(line).unwrap();
        let fields = row.as_object_mut().unwrap();
        let bodies = fields.get_mut("bodies").and_then(|bodies| bodies.as_array_mut());
        let mut names = Vec::new();
        for body in bodies.into_iter().flatten() {
            names.extend(body["blob"].take().as_str().map(str::to_owned));
        }
        fields.remove("sha256");
        let plain = names.iter().fold(row.to_string(), |row, name| row.replace(name, "NAME"));
        serde_json::from_str(&plain).unwrap()
    };
    text.lines().map(line).collect()
}

/// Puts objects of some lengths, ten megabytes in all.
fn fill(client: Client) {
    for number in 0..20_u8 {
        let body = vec![number; 500_000];
        assert_eq!(client.put(&format!("large-{number}"), &[], &body).unwrap().status, 200);
        let small = format!("small {number}");
        let key = format!("small-{number}");
        assert_eq!(client.put(&key, &[], small.as_bytes()).unwrap().status, 200);
    }
}

#[test]
fn an_export_moves_from_a_shared_store_to_a_directory_and_on_to_another_store_also_when_it_is_killed()
 {
    let folder = tempfile::tempdir().unwrap();
    let (first, second) = (StoreServer::start().unwrap(), StoreServer::start().unwrap());
    let [of_first, of_second] = ["first", "second"].map(|name| folder.path().join(name));
    std::fs::create_dir_all(&of_first).unwrap();
    std::fs::create_dir_all(&of_second).unwrap();
    let mut instance = sharing(&of_first, 0, &first.url());
    instance.start().unwrap();
    fill(instance.client());
    let archive = |name: &str| folder.path().join(name);
    let text = |name: &str| archive(name).display().to_string();
    // The source serves reads all the while.
    done(&["export", &text("a")], &place(&of_first, "export", &first));
    assert_eq!(instance.client().get("/open/small-7").unwrap().body, b"small 7");
    let wanted = without_names(&archive("a"));

    let directory = ["--data".to_owned(), folder.path().join("disk").display().to_string()];
    done(&["import", &text("a")], &directory);
    done(&["verify", "--deep", "--root-key", ROOT_KEY], &directory);
    done(&["export", &text("b")], &directory);
    assert!(without_names(&archive("b")) == wanted, "a directory holds other rows");

    // Killed on its way, it goes on; nothing starts on half a store, and nothing else is imported into it.
    let bytes = std::fs::read(archive("b")).unwrap();
    assert!(bytes.len() > STEP + STEP / 2, "{} bytes", bytes.len());
    let here = place(&of_second, "import", &second);
    let mut import = command(&["import", "-"], &here).stdin(Stdio::piped()).spawn().unwrap();
    import.stdin.as_mut().unwrap().write_all(&bytes[..STEP + STEP / 4]).unwrap();
    import.kill().unwrap();
    import.wait().unwrap();
    let half = sharing(&of_second, 0, &second.url());
    let why = half.refused(&["--root-key", ROOT_KEY]).unwrap();
    assert!(why.contains("is being filled by an import"), "{why}");
    let elsewhere = place(&of_second, "elsewhere", &second);
    let why = refused(&["import", &text("b")], &elsewhere);
    assert!(why.contains("is not empty"), "{why}");
    let told = done(&["import", &text("b")], &here);
    assert!(told.contains("goes on after"), "{told}");

    let mut other = sharing(&of_second, 1, &second.url());
    other.start().unwrap();
    let client = Instance::client(&other);
    assert_eq!(client.get("/open/large-3").unwrap().body, vec![3; 500_000]);
    assert_eq!(client.get("/open/small-19").unwrap().body, b"small 19");
    done(&["export", &text("c")], &place(&of_second, "export", &second));
    assert!(without_names(&archive("c")) == wanted, "the second store holds other rows");
    // A store that is used is never written over.
    let why = refused(&["import", &text("c")], &place(&of_first, "again", &first));
    assert!(why.contains("is not empty"), "{why}");
    assert_eq!(client.put("late", &[], b"late").unwrap().status, 200);
}
