//! The states that kills and power cuts leave of the service, on a simulated disk: everything that a client was told is there, whole, and
//! nothing that it was not told.
//!
//! `cargo xtask crash --states N --workload object` looks at more of them than the test does by itself.

mod service;

use std::sync::Arc;

use hex::encode as hex;
use object_put::maintenance::ended_uploads;
use object_put::maintenance::garbage::{self, GRACE, Pass};
use service::{Answer, Draft, NOW, World};
use sha2::{Digest, Sha256};
use tokio::runtime::Runtime;
use triptych_core::blobs::Blobs;
use triptych_core::explorer::{
    Exploration, MissingSync, Seen, ServiceLife, Stores, Subject, explore, explore_service,
    inject_service,
};
use triptych_core::id::{Ids, SeededIds};
use triptych_core::kv::{Durability, KeyValue};
use triptych_core::time::{Clock, Timestamp};

/// Keys of a bucket.
const KEYS: u64 = 5;
/// Seconds between two steps: some of them later, what was replaced may go.
const STEP_SECONDS: i64 = 20;
/// Seconds between two runs of the machine.
const RUN_SECONDS: i64 = 100_000;

/// The service, the upload that is open, and the stores for what is done in the background.
struct ObjectStore {
    runtime: Runtime,
    world: World,
    kv: Arc<dyn KeyValue>,
    blobs: Arc<dyn Blobs>,
    upload: Option<(String, Vec<String>)>,
}

impl ObjectStore {
    fn send(&self, draft: Draft) -> Answer {
        let draft = Draft { time: self.world.clock.now(), ..draft };
        self.runtime.block_on(self.world.send(&draft))
    }

    fn get(&self, target: &str) -> Answer {
        self.send(Draft::new("GET", target, b""))
    }

    /// Sends a request that has to be taken.
    fn taken(&self, draft: Draft) -> Result<Answer, String> {
        let shown = format!("{} {}", draft.method, draft.target);
        let answer = self.send(draft);
        match answer.status {
            200..300 => Ok(answer),
            status => Err(format!("{shown}: {status} {}", answer.text())),
        }
    }

    /// One request of an upload in parts: it begins, gets parts, and is completed or given up.
    fn upload(&mut self, chance: &mut SeededIds) -> Result<(), String> {
        let Some((id, mut parts)) = self.upload.take() else {
            let target = format!("/bkt/k{}?uploads", chance.next() % KEYS);
            let begun = self.taken(Draft::new("POST", &target, b""))?;
            let key = &target[..target.len() - "?uploads".len()];
            let id = begun.element("UploadId").ok_or("no upload id")?;
            self.upload = Some((format!("{key}?uploadId={id}"), Vec::new()));
            return Ok(());
        };
        match chance.next() % 6 {
            0 => drop(self.taken(Draft::new("DELETE", &id, b""))?),
            1 if !parts.is_empty() => {
                let list: String =
                    (1..).zip(&parts).map(|(number, etag)| part(number, etag)).collect();
                let list = format!("<CompleteMultipartUpload>{list}</CompleteMultipartUpload>");
                self.taken(Draft::new("POST", &id, list.as_bytes()))?;
            }
            _ => {
                // A part is uploaded again now and then.
                let number = if parts.is_empty() {
                    1
                } else {
                    1 + chance.next() as usize % (parts.len() + 1)
                };
                let part = format!("{id}&partNumber={number}");
                let answer = self.taken(Draft::put(&part, &body(chance)))?;
                let etag = answer.header("etag").unwrap_or_default().to_owned();
                parts.truncate(number - 1);
                parts.push(etag);
                self.upload = Some((id, parts));
            }
        }
        Ok(())
    }

    /// Frees what was replaced, as the service does beside its requests.
    fn free(&self) -> Result<(), String> {
        let (now, mut ids) = (
            self.world.clock.now(),
            SeededIds::from_number(self.world.clock.now().seconds().unsigned_abs()),
        );
        let (store, blobs) = (&*self.kv, &*self.blobs);
        ended_uploads::collect(store, blobs, &mut ids, now, &|| true)
            .map_err(|error| error.to_string())?;
        let (goes_on, is_open) = (|| true, |_| false);
        let pass = Pass { store, blobs, now, grace: GRACE, goes_on: &goes_on, is_open: &is_open };
        garbage::collect(&pass, &mut ids).map(drop).map_err(|error| error.to_string())
    }

    /// The status of a read, and the digests of what it shows.
    fn read(&self, draft: Draft) -> Result<String, String> {
        let answer = self.send(draft);
        Ok(match answer.status {
            500.. => return Err(format!("{} {}", answer.status, answer.text())),
            200 => {
                let headers = ["etag", "x-amz-checksum-crc64nvme", "last-modified"]
                    .map(|name| answer.header(name).unwrap_or_default());
                format!(
                    "{} bytes, {}, {}",
                    answer.body.len(),
                    hex(Sha256::digest(&answer.body)),
                    headers.join(" ")
                )
            }
            status => format!("{status}"),
        })
    }
}

fn part(number: usize, etag: &str) -> String {
    format!("<Part><PartNumber>{number}</PartNumber><ETag>{etag}</ETag></Part>")
}

/// A body for a pack, or one with a file of its own.
fn body(chance: &mut SeededIds) -> Vec<u8> {
    let bytes = match chance.next() % 10 {
        0 => 270_000 + chance.next() % 9_000,
        _ => 8 + chance.next() % 3_000,
    };
    let mut body = vec![0; bytes as usize];
    chance.fill(&mut body);
    body
}

impl Subject for ObjectStore {
    fn start(stores: Stores, run_of_machine: u64) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let (kv, blobs): (Arc<dyn KeyValue>, Arc<dyn Blobs>) =
            (Arc::new(stores.kv), Arc::new(stores.blobs));
        let now = Timestamp::from_seconds(NOW.seconds() + run_of_machine as i64 * RUN_SECONDS);
        let world = runtime.block_on(World::started(Arc::clone(&kv), Arc::clone(&blobs), now))?;
        Ok(Self { runtime, world, kv, blobs, upload: None })
    }

    fn step(&mut self, chance: &mut SeededIds) -> Result<Durability, String> {
        let now = self.world.clock.now();
        self.world.clock.set(Timestamp::from_seconds(now.seconds() + STEP_SECONDS));
        let key = chance.next() % KEYS;
        match chance.next() % 12 {
            0..3 => drop(self.taken(Draft::put(&format!("/bkt/k{key}"), &body(chance)))?),
            3 => drop(self.taken(Draft::new("DELETE", &format!("/bkt/k{key}"), b""))?),
            4 | 5 => drop(self.taken(Draft::put(&format!("/versioned/k{key}"), &body(chance)))?),
            6 => drop(self.taken(Draft::new("DELETE", &format!("/versioned/k{key}"), b""))?),
            7 => {
                let target = format!("/k{key}");
                let there = self.send(Draft::zonal("GET", &target, b"")).body.len();
                let is_there = self.send(Draft::zonal("HEAD", &target, b"")).status == 200;
                let offset = if is_there { there } else { 0 };
                self.taken(Draft::append(&target, offset, &body(chance)))?;
            }
            8 => self.free()?,
            _ => self.upload(chance)?,
        }
        Ok(Durability::Disk)
    }

    fn seen(&mut self) -> Result<Seen, String> {
        let mut seen = Seen::new();
        for target in ["/bkt?versions", "/bkt?uploads", "/versioned?versions"] {
            let answer = self.get(target);
            if answer.status != 200 {
                return Err(format!("{target}: {} {}", answer.status, answer.text()));
            }
            let text = answer.text();
            for version in text.split("<VersionId>").skip(1).filter_map(|rest| rest.split_once('<'))
            {
                for key in 0..KEYS {
                    let bucket = &target[..target.len() - "?versions".len()];
                    let target = format!("{bucket}/k{key}?versionId={}", version.0);
                    seen.insert(target.clone(), self.read(Draft::new("GET", &target, b""))?);
                }
            }
            for upload in text.split("<Upload>").skip(1) {
                let element = |name: &str| {
                    let (_, rest) = upload.split_once(&format!("<{name}>"))?;
                    Some(rest.split_once('<')?.0.to_owned())
                };
                let (key, id) =
                    (element("Key").unwrap_or_default(), element("UploadId").unwrap_or_default());
                let parts = format!("/bkt/{key}?uploadId={id}");
                seen.insert(parts.clone(), self.read(Draft::new("GET", &parts, b""))?);
            }
            seen.insert(target.to_owned(), text);
        }
        for key in 0..KEYS {
            let zonal = Draft::zonal("GET", &format!("/k{key}"), b"");
            seen.insert(format!("directory bucket, k{key}"), self.read(zonal)?);
        }
        Ok(seen)
    }
}

#[test]
fn no_kill_and_no_cut_takes_what_a_client_was_told_or_shows_what_it_was_not() {
    #[expect(clippy::disallowed_methods, reason = "a test has no flags")]
    let explored = explore_service::<ObjectStore>(24, 40, |name| std::env::var(name).ok());
    println!("{}", explored.unwrap_or_else(|finding| panic!("{finding}")));
}

#[test]
fn a_client_misses_a_sync_that_is_left_out() {
    for name in ["a group of the journal", "a pack of bodies"] {
        let without = MissingSync::named(name);
        assert!(without.is_some(), "{name}");
        let exploration = Exploration { seed: 1, states: 300, without };
        let first = |seed| ServiceLife::<ObjectStore>::first(seed, 24);
        assert!(explore(&exploration, first).is_err(), "{name}");
    }
}

#[test]
fn no_call_of_the_disk_that_fails_takes_what_a_client_was_told_or_shows_a_part_of_something() {
    #[expect(clippy::disallowed_methods, reason = "a test has no flags")]
    let report = inject_service::<ObjectStore>(10, 97, |name| std::env::var(name).ok());
    let report = report.unwrap_or_else(|finding| panic!("{finding}"));
    assert!(report.at_run > 0 && report.at_start > 0, "{report:?}");
    println!("{report}");
}
