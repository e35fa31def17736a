//! Instances of the binary on one store, and what clients ask of them.

use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use triptych_core::host::testing::{Answer, Client, Instance};
use triptych_core::time::Timestamp;

use crate::service::Draft;

/// A bucket that anybody may write to, so that a request needs no signature, and a key for those that do.
const SEED: &str = r#"{
    "accounts": [{ "id": "111122223333", "keys": [{ "accessKeyId": "key", "secretAccessKey": "secret" }] }],
    "buckets": [{ "name": "open", "owner": "111122223333", "public": "read-write" }]
}"#;
/// The key of the account that owns the bucket.
const OWNER: (&str, &str) = ("key", "secret");
/// The root key that the instances share.
pub(crate) const ROOT_KEY: &str =
    "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// An instance on a store, not started; its folder is below `folder`, with its bodies.
pub(crate) fn alone(folder: &Path, number: usize, store: &str) -> Instance {
    of_seed(folder, number, store, SEED).started_with(&["--part-bytes-min", "1"])
}

/// An instance with a store of its own on its disk, not started.
pub(crate) fn on_disk(folder: &Path, number: usize) -> Instance {
    let program = env!("CARGO_BIN_EXE_object-put");
    let instance = Instance::on_disk(program, folder, number, SEED).unwrap();
    instance.started_with(&["--root-key", ROOT_KEY, "--part-bytes-min", "1"])
}

/// As [`alone`] with another seed, and parts of the length that clients know.
pub(crate) fn of_seed(folder: &Path, number: usize, store: &str, seed: &str) -> Instance {
    let program = env!("CARGO_BIN_EXE_object-put");
    let instance = Instance::new(program, folder, number, store, seed).unwrap();
    instance.started_with(&["--root-key", ROOT_KEY])
}

/// As [`alone`], with bodies that all instances of `folder` share.
pub(crate) fn sharing(folder: &Path, number: usize, store: &str) -> Instance {
    alone(folder, number, store).sharing_bodies().unwrap()
}

/// The requests of these tests.
pub(crate) trait Asks {
    fn put(self, key: &str, headers: &[&str], body: &[u8]) -> Option<Answer>;
    fn get(self, path: &str) -> Option<Answer>;
    fn tag(self, key: &str) -> Option<String>;
    fn ask_signed(self, method: &'static str, path: &str, body: &[u8]) -> Option<Answer>;
}

impl Asks for Client {
    fn put(self, key: &str, headers: &[&str], body: &[u8]) -> Option<Answer> {
        self.ask("PUT", &format!("/open/{key}"), headers, body)
    }

    fn get(self, path: &str) -> Option<Answer> {
        self.ask("GET", path, &[], b"")
    }

    /// The entity tag of an object; `None` where there is no such object.
    fn tag(self, key: &str) -> Option<String> {
        let answer = self.ask("HEAD", &format!("/open/{key}"), &[], b"").unwrap();
        match answer.status {
            200 => answer.header("etag").map(str::to_owned),
            404 => None,
            _ => panic!("{key}: {answer:?}"),
        }
    }

    /// Asks with the key of the account that owns the bucket.
    fn ask_signed(self, method: &'static str, path: &str, body: &[u8]) -> Option<Answer> {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let time = Timestamp::from_seconds(i64::try_from(now).unwrap());
        let url = self.url();
        let draft = Draft { key: OWNER, time, ..Draft::new(method, path, body) }
            .with("host", url.strip_prefix("http://").unwrap());
        let head = String::from_utf8(draft.bytes()).unwrap();
        let (head, _) = head.split_once("\r\n\r\n").unwrap();
        // The client writes those of its connection by itself.
        let is_own =
            |header: &&str| !["host:", "content-length:"].iter().any(|own| header.starts_with(own));
        let headers: Vec<&str> = head.lines().skip(1).filter(is_own).collect();
        self.ask(method, path, &headers, body)
    }
}
