//! Random sequences of requests by all ways to a bucket, of restarts and kills, on memory and on disk, against a plain map.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected fails"
)]

mod encryption;
#[path = "../service/mod.rs"]
mod service;
mod step;
mod versions;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

use encryption::{CUSTOMER, MODES, with_customers_key};
use object_put::maintenance::ended_uploads;
use object_put::maintenance::garbage::{self, GRACE, Pass};
use proptest::prelude::*;
use service::{Answer, Draft, NOW, Session, World};
use step::{Step, step};
use triptych_core::blobs::{Blobs, Directory, MemoryBlobs};
use triptych_core::disk::SystemDisk;
use triptych_core::id::SeededIds;
use triptych_core::kv::{KeyValue, Memory, Sled, SledConfig};
use triptych_core::time::Timestamp;
use versions::{Body, Model, Upload};

const KEYS: [&str; 3] = ["a", "a/b", "z"];
/// The ways to the bucket: its own, and two access points; a host and the start of the path.
const WAYS: [(&str, &str); 3] = [
    ("localhost", "/enforced"),
    ("shared-111122223333.localhost", ""),
    ("everybody-111122223333.localhost", ""),
];
/// The ways to the directory bucket: its own, and an access point. Each has sessions of its own.
const ZONAL_WAYS: [&str; 2] =
    ["mybkt--use1-az4--x-s3.localhost", "mine--use1-az4--xa-s3.localhost"];
const SECOND: Duration = Duration::from_secs(1);
/// The key of another account, which the bucket lets nothing do.
const OTHER: (&str, &str) = ("OTHER", "other");

/// A request on a key of the bucket, by one of the ways to it.
fn by_way(way: usize, method: &'static str, key: &str, body: &[u8]) -> Draft {
    let (host, start) = WAYS[way];
    Draft { host, ..Draft::new(method, &format!("{start}/{key}"), body) }
}

/// The same request on the directory bucket by one of the ways to it.
fn by_zonal_way(way: usize, mut draft: Draft) -> Draft {
    for (_, value) in draft.headers.iter_mut().filter(|(name, _)| name == "host") {
        ZONAL_WAYS[way].clone_into(value);
    }
    draft
}

/// A service on stores that outlive it.
struct Bench {
    world: World,
    directory: Option<tempfile::TempDir>,
    memory: (Arc<Memory>, Arc<MemoryBlobs>),
    /// The stores of the disk that are open, to see when the last request lets go of them.
    open: (Weak<dyn KeyValue>, Weak<dyn Blobs>),
    now: Timestamp,
    kills: usize,
    /// The sessions that requests on the directory bucket are signed with, by the way to it, and their ends.
    sessions: [Option<(Session, Timestamp)>; 2],
}

fn disk(path: &Path) -> (Arc<dyn KeyValue>, Arc<dyn Blobs>) {
    let config = SledConfig { cache_bytes: 16 << 20, ..SledConfig::new(path.join("kv")) };
    let ids = SeededIds::from_number(3);
    let blobs = Directory::open(path.join("blobs"), Arc::new(SystemDisk), ids).unwrap();
    (Arc::new(Sled::open(&config).unwrap()), Arc::new(blobs))
}

impl Bench {
    async fn new(on_disk: bool) -> Self {
        let ids = SeededIds::from_number(2);
        let memory = (Arc::new(Memory::new()), Arc::new(MemoryBlobs::new(ids)));
        let directory = on_disk.then(|| tempfile::tempdir().unwrap());
        let (store, blobs) = match &directory {
            Some(directory) => disk(directory.path()),
            None => (memory.0.clone() as Arc<dyn KeyValue>, memory.1.clone() as Arc<dyn Blobs>),
        };
        let open = (Arc::downgrade(&store), Arc::downgrade(&blobs));
        let world = World::on(store, blobs, NOW).await;
        Self { world, directory, memory, open, now: NOW, kills: 0, sessions: [None, None] }
    }

    async fn restart(&mut self) {
        // The old service lets go of its stores first.
        let away = (Arc::new(Memory::new()), Arc::new(MemoryBlobs::new(SeededIds::from_number(9))));
        self.world = World::on(away.0, away.1, self.now).await;
        // Threads of a request that was cut off end when they see that nobody sends any more.
        let released = async {
            while self.directory.is_some()
                && (self.open.0.strong_count() > 0 || self.open.1.strong_count() > 0)
            {
                tokio::task::yield_now().await;
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(60), released).await;
        assert!(waited.is_ok(), "a request that is gone holds a store");
        let (store, blobs) = match &self.directory {
            Some(directory) => disk(directory.path()),
            None => (
                self.memory.0.clone() as Arc<dyn KeyValue>,
                self.memory.1.clone() as Arc<dyn Blobs>,
            ),
        };
        self.open = (Arc::downgrade(&store), Arc::downgrade(&blobs));
        self.world = World::on(store, blobs, self.now).await;
    }

    /// The body of a request that is to be killed, which no other request has; a second passes before that is sent.
    fn body_of_kill(&mut self, large: bool) -> Vec<u8> {
        self.kills += 1;
        self.now = self.now.plus(Duration::from_secs(1));
        self.world.clock.set(self.now);
        let mut body = format!("killed {}", self.kills).into_bytes();
        body.resize(if large { 140_000 } else { 2_000 }, b'.');
        body
    }

    /// A PUT that is killed with the service. Whether it happened is seen by its body, which no other PUT has.
    async fn kill(
        &mut self,
        key: &'static str,
        large: bool,
        cut: (usize, usize),
        model: &mut Model,
    ) {
        let body = self.body_of_kill(large);
        let draft = Draft { time: self.now, ..Draft::put(&format!("/enforced/{key}"), &body) };
        self.world.cut(&draft.bytes(), cut.0, cut.1).await;
        self.restart().await;
        let mode = model.current(key).map_or(0, |body| body.mode);
        let mut seen = self.get(key, None, 0).await;
        if seen.status == 400 {
            seen = self.get(key, None, mode).await;
        }
        if seen.status == 200 && seen.body == body {
            assert_eq!(cut.0, 100, "half a body was stored");
            let version = seen.header("x-amz-version-id").map(str::to_owned);
            model.push(key, version.as_deref(), Some(Body { bytes: body, mode: 0 }));
        }
    }

    /// Sends a request on the directory bucket within a session, which is good for five minutes, restarts or not.
    async fn send_within(&mut self, way: usize, draft: Draft) -> Answer {
        let draft = by_zonal_way(way, draft);
        loop {
            let Some((session, end)) = self.sessions[way].clone() else {
                let time = self.now;
                self.world.clock.set(time);
                let asked = Draft { time, ..Draft::zonal("GET", "/?session", b"") };
                let made = self.world.session_of(&by_zonal_way(way, asked)).await;
                self.sessions[way] = Some((made, time.plus(Duration::from_secs(300))));
                continue;
            };
            let answer = self.send(draft.clone().within(&session)).await;
            let is_over = self.now >= end;
            if !is_over {
                assert_ne!(answer.element("Code").as_deref(), Some("ExpiredToken"));
                return answer;
            }
            assert_eq!(answer.status, 400, "{}", answer.text());
            // The answer to a HEAD has no body, and none is sent here.
            assert_eq!(answer.element("Code").as_deref(), Some("ExpiredToken"));
            self.sessions[way] = None;
        }
    }

    /// An append that is killed with the service.
    async fn kill_append(
        &mut self,
        key: &'static str,
        large: bool,
        cut: (usize, usize),
        model: &mut Model,
    ) {
        let piece = self.body_of_kill(large);
        let held = model.directory.get(key).cloned().unwrap_or_default();
        let path = format!("/{key}");
        let draft = Draft { time: self.now, ..Draft::append(&path, held.len(), &piece) };
        self.world.cut(&draft.bytes(), cut.0, cut.1).await;
        self.restart().await;
        let seen = self.send_within(1, Draft::zonal("GET", &path, b"")).await;
        let whole = [held, piece].concat();
        if seen.status == 200 && seen.body == whole {
            assert_eq!(cut.0, 100, "half a body was appended");
            model.directory.insert(key, whole);
        }
    }

    async fn send(&mut self, draft: Draft) -> Answer {
        self.now = self.now.plus(Duration::from_secs(1));
        self.world.clock.set(self.now);
        self.world.send(&Draft { time: self.now, ..draft }).await
    }

    async fn put(&mut self, key: &str, body: &[u8], condition: Option<(&str, String)>) -> Answer {
        let mut draft = Draft::put(&format!("/enforced/{key}"), body);
        if let Some((name, value)) = condition {
            draft = draft.with(name, value);
        }
        self.send(draft).await
    }

    async fn apply(&mut self, step: &Step, model: &mut Model) {
        match step {
            Step::Put { key, size, fill, mode, way } => {
                let bytes = vec![*fill; *size];
                let draft = by_way(*way, "PUT", KEYS[*key], &bytes);
                let answer = self.send(MODES[*mode].0(draft)).await;
                assert_eq!(answer.status, 200, "{}", answer.text());
                let body = Body { bytes, mode: *mode };
                model.push(KEYS[*key], answer.header("x-amz-version-id"), Some(body));
            }
            Step::PutIfAbsent { key, fill } => {
                let is_there = model.current(KEYS[*key]).is_some();
                let condition = Some(("if-none-match", "*".to_owned()));
                let answer = self.put(KEYS[*key], &[*fill], condition).await;
                assert_eq!(answer.status, if is_there { 412 } else { 200 }, "{}", answer.text());
                if !is_there {
                    let body = Body { bytes: vec![*fill], mode: 0 };
                    model.push(KEYS[*key], answer.header("x-amz-version-id"), Some(body));
                }
            }
            Step::PutIfMatch { key, fill, is_current } => {
                let mode = model.current(KEYS[*key]).map_or(0, |body| body.mode);
                let seen = self.get(KEYS[*key], None, mode).await;
                let tag = seen.header("etag").filter(|_| *is_current).unwrap_or("\"stale\"");
                let condition = Some(("if-match", tag.to_owned()));
                let answer = self.put(KEYS[*key], &[*fill], condition).await;
                let expected = match (model.current(KEYS[*key]).is_some(), is_current) {
                    (false, _) => 404,
                    (true, false) => 412,
                    (true, true) => 200,
                };
                assert_eq!(answer.status, expected, "{}", answer.text());
                if expected == 200 {
                    let body = Body { bytes: vec![*fill], mode: 0 };
                    model.push(KEYS[*key], answer.header("x-amz-version-id"), Some(body));
                }
            }
            Step::Guest { key, way, writes } => {
                let method = if *writes { "PUT" } else { "GET" };
                let draft = by_way(*way, method, KEYS[*key], b"guest");
                let answer = self.send(Draft { key: OTHER, ..draft }).await;
                assert_eq!(answer.status, 403, "{}", answer.text());
            }
            Step::Delete { key, way } => {
                let answer = self.send(by_way(*way, "DELETE", KEYS[*key], b"")).await;
                assert_eq!(answer.status, 204, "{}", answer.text());
                match model.versioning {
                    None => drop(model.keys.remove(KEYS[*key])),
                    Some(_) => model.push(KEYS[*key], answer.header("x-amz-version-id"), None),
                }
            }
            Step::DeleteVersion { key, place } => {
                let entries = model.keys.entry(KEYS[*key]).or_default();
                if *place < entries.len() {
                    let (id, _) = entries.remove(*place);
                    let target = format!("/enforced/{}?versionId={id}", KEYS[*key]);
                    let answer = self.send(Draft::new("DELETE", &target, b"")).await;
                    assert_eq!(answer.status, 204, "{}", answer.text());
                }
            }
            Step::Versioning { enabled } => {
                let status = if *enabled { "Enabled" } else { "Suspended" };
                let body = format!(
                    "<VersioningConfiguration><Status>{status}</Status></VersioningConfiguration>"
                );
                let answer =
                    self.send(Draft::document("/enforced?versioning", body.as_bytes())).await;
                assert_eq!(answer.status, 200, "{}", answer.text());
                model.versioning = Some(*enabled);
            }
            Step::Begin { key, mode } => {
                let draft = Draft::new("POST", &format!("/enforced/{}?uploads", KEYS[*key]), b"");
                let answer = self.send(MODES[*mode].0(draft)).await;
                let id = answer.element("UploadId").unwrap();
                let (key, parts) = (KEYS[*key], BTreeMap::new());
                model.uploads.push(Upload { key, id, mode: *mode, parts });
            }
            Step::Part { upload, number, size, fill } => {
                if let Some(upload) = model.uploads.get_mut(*upload) {
                    let bytes = vec![*fill; *size];
                    let answer = self.send(upload.part(*number, &bytes)).await;
                    assert_eq!(answer.status, 200, "{}", answer.text());
                    let tag = answer.header("etag").unwrap().to_owned();
                    upload.parts.insert(*number, (tag, bytes));
                }
            }
            Step::CopyPart { upload, number, key } => {
                let source = model.current(KEYS[*key]).cloned();
                if let Some(upload) = model.uploads.get_mut(*upload) {
                    self.copy_part(upload, *number, KEYS[*key], source).await;
                }
            }
            Step::Complete { upload, parts } => self.complete(*upload, *parts, model).await,
            Step::Abort { upload } => {
                if *upload < model.uploads.len() {
                    let upload = model.uploads.remove(*upload);
                    let answer = self.send(Draft::new("DELETE", &upload.target(), b"")).await;
                    assert_eq!(answer.status, 204, "{}", answer.text());
                    let answer = self.send(upload.part(1, b"late")).await;
                    assert_eq!(answer.status, 404, "{}", answer.text());
                }
            }
            Step::Clock { hours } => {
                self.now = self.now.plus(Duration::from_secs(hours * 3_600));
                self.free();
            }
            Step::Restart => self.restart().await,
            Step::Append { key, at_end, size, fill, way } => {
                let held = model.directory.get(KEYS[*key]).cloned();
                let length = held.as_ref().map_or(0, Vec::len);
                let offset = if *at_end { length } else { length + 1 };
                let piece = vec![*fill; *size];
                let draft = Draft::append(&format!("/{}", KEYS[*key]), offset, &piece);
                let answer = self.send_within(*way, draft).await;
                assert_eq!(answer.status, if *at_end { 200 } else { 400 }, "{}", answer.text());
                if *at_end {
                    let whole = [held.clone().unwrap_or_default(), piece].concat();
                    let shown = held.is_some().then(|| whole.len().to_string());
                    assert_eq!(answer.header("x-amz-object-size"), shown.as_deref());
                    model.directory.insert(KEYS[*key], whole);
                }
            }
            Step::PutInDirectory { key, fill, way } => {
                let path = format!("/{}", KEYS[*key]);
                let answer = self.send_within(*way, Draft::zonal("PUT", &path, &[*fill])).await;
                assert_eq!(answer.status, 200, "{}", answer.text());
                model.directory.insert(KEYS[*key], vec![*fill]);
            }
            Step::Stray { key, way } => {
                let other = self.sessions[1 - *way].clone();
                let Some((session, _)) = other.filter(|(_, end)| *end > self.now.plus(SECOND))
                else {
                    return;
                };
                let draft = Draft::zonal("PUT", &format!("/{}", KEYS[*key]), b"stray");
                let answer = self.send(by_zonal_way(*way, draft).within(&session)).await;
                assert_eq!(answer.status, 400, "{}", answer.text());
                assert_eq!(answer.element("Code").as_deref(), Some("InvalidToken"));
            }
            Step::DeleteInDirectory { key, way } => {
                let path = format!("/{}", KEYS[*key]);
                let answer = self.send_within(*way, Draft::zonal("DELETE", &path, b"")).await;
                assert_eq!(answer.status, 204, "{}", answer.text());
                model.directory.remove(KEYS[*key]);
            }
            Step::KillAppend { key, large, share, turns } => {
                self.kill_append(KEYS[*key], *large, (*share, *turns), model).await;
                self.compare(model).await;
            }
            Step::Wait { seconds } => self.now = self.now.plus(Duration::from_secs(*seconds)),
            Step::Kill { key, large, share, turns } => {
                self.kill(KEYS[*key], *large, (*share, *turns), model).await;
                self.compare(model).await;
            }
        }
    }

    /// Frees what nobody needs by now, as the service does in the background.
    fn free(&self) {
        let (store, blobs) = (self.open.0.upgrade().unwrap(), self.open.1.upgrade().unwrap());
        let (store, blobs) = (&*store, &*blobs);
        let mut ids = SeededIds::from_number(8);
        let (goes_on, is_open) = (|| true, |_| false);
        ended_uploads::collect(store, blobs, &mut ids, self.now, &goes_on).unwrap();
        let pass = Pass {
            store,
            blobs,
            now: self.now,
            grace: GRACE,
            goes_on: &goes_on,
            is_open: &is_open,
        };
        garbage::collect(&pass, &mut ids).unwrap();
    }

    async fn copy_part(
        &mut self,
        upload: &mut Upload,
        number: u32,
        key: &str,
        source: Option<Body>,
    ) {
        let draft = upload.part(number, b"").with("x-store-copy-source", format!("enforced/{key}"));
        let of_customer = source.as_ref().is_some_and(|source| source.mode == CUSTOMER);
        let draft = if of_customer { with_customers_key(draft, "-copy-source") } else { draft };
        let answer = self.send(draft).await;
        let Some(source) = source else {
            assert_eq!(answer.status, 404, "{}", answer.text());
            return;
        };
        assert_eq!(answer.status, 200, "{}", answer.text());
        let tag = answer.element("ETag").unwrap().replace("&quot;", "\"");
        upload.parts.insert(number, (tag, source.bytes));
    }

    async fn complete(&mut self, place: usize, parts: usize, model: &mut Model) {
        let Some(upload) = model.uploads.get(place) else {
            return;
        };
        let named: Vec<_> = upload.parts.iter().take(parts).collect();
        let rows = named.iter().map(|(number, (tag, _))| {
            format!("<Part><PartNumber>{number}</PartNumber><ETag>{tag}</ETag></Part>")
        });
        let rows: String = rows.collect();
        let text = format!("<CompleteMultipartUpload>{rows}</CompleteMultipartUpload>");
        let draft = Draft::new("POST", &upload.target(), text.as_bytes());
        let draft = MODES[upload.mode].1(draft);
        let answer = self.send(draft.clone()).await;
        let is_short = |(_, (_, bytes)): &(&u32, &(String, Vec<u8>))| {
            (bytes.len() as u64) < service::PART_BYTES_MIN
        };
        let but_the_last = named.len().saturating_sub(1);
        if named.is_empty() || named[..but_the_last].iter().any(is_short) {
            assert_eq!(answer.status, 400, "{}", answer.text());
            return;
        }
        assert_eq!(answer.status, 200, "{}", answer.text());
        let bytes: Vec<u8> = named.iter().flat_map(|(_, (_, bytes))| bytes.clone()).collect();
        let upload = model.uploads.remove(place);
        let version = answer.header("x-amz-version-id").map(str::to_owned);
        let body = Body { bytes, mode: upload.mode };
        model.push(upload.key, version.as_deref(), Some(body));
        // Asked again, it answers as before.
        let again = self.send(draft).await;
        assert_eq!((again.status, again.text()), (200, answer.text()));
    }

    async fn get(&mut self, key: &str, version: Option<&str>, mode: usize) -> Answer {
        let version = version.map(|id| format!("?versionId={id}")).unwrap_or_default();
        let draft = Draft::new("GET", &format!("/enforced/{key}{version}"), b"");
        self.send(MODES[mode].1(draft)).await
    }

    /// Everything that the model holds is there, and nothing else is listed.
    async fn compare(&mut self, model: &Model) {
        let mut live = Vec::new();
        for key in KEYS {
            let mode = model.current(key).map_or(0, |body| body.mode);
            let answer = self.get(key, None, mode).await;
            match model.current(key) {
                Some(body) => {
                    assert_eq!(answer.status, 200, "{key}: {}", answer.text());
                    assert!(answer.body == body.bytes, "{key}");
                    live.push(key);
                }
                None => assert_eq!(answer.status, 404, "{key}"),
            }
            for way in 1..WAYS.len() {
                let draft = MODES[mode].1(by_way(way, "GET", key, b""));
                let through = self.send(draft).await;
                assert_eq!(through.status, answer.status, "{key}: {}", through.text());
                assert!(through.status != 200 || through.body == answer.body, "{key}");
            }
            for (id, body) in model.keys.get(key).into_iter().flatten() {
                let mode = body.as_ref().map_or(0, |body| body.mode);
                let answer = self.get(key, Some(id), mode).await;
                match body {
                    Some(body) => {
                        assert!(answer.status == 200 && answer.body == body.bytes, "{key} {id}")
                    }
                    None => assert_eq!(answer.status, 405, "{key} {id}"),
                }
            }
        }
        for (place, key) in KEYS.iter().enumerate() {
            let way = place % ZONAL_WAYS.len();
            let answer = self.send_within(way, Draft::zonal("GET", &format!("/{key}"), b"")).await;
            match model.directory.get(key) {
                Some(body) => assert!(answer.status == 200 && answer.body == *body, "{key}"),
                None => assert_eq!(answer.status, 404, "{key}"),
            }
        }
        let listed = |text: &str| -> Vec<String> {
            text.split("<Key>")
                .skip(1)
                .map(|rest| rest.split('<').next().unwrap().to_owned())
                .collect()
        };
        let objects = self.send(Draft::new("GET", "/enforced?list-type=2", b"")).await.text();
        assert_eq!(listed(&objects), live, "{objects}");
        let target = "/?list-type=2";
        for way in 0..ZONAL_WAYS.len() {
            let held = self.send_within(way, Draft::zonal("GET", target, b"")).await.text();
            let expected: Vec<_> = model.directory.keys().map(|key| (*key).to_owned()).collect();
            assert_eq!(listed(&held), expected, "{held}");
        }
        let versions = self.send(Draft::new("GET", "/enforced?versions", b"")).await.text();
        let expected: Vec<_> = model
            .keys
            .iter()
            .flat_map(|(key, entries)| entries.iter().map(|_| (*key).to_owned()))
            .collect();
        assert_eq!(listed(&versions), expected, "{versions}");
        let uploads = self.send(Draft::new("GET", "/enforced?uploads", b"")).await.text();
        let mut expected: Vec<_> = model.uploads.iter().map(|upload| upload.key).collect();
        expected.sort_unstable();
        assert_eq!(listed(&uploads), expected, "{uploads}");
        for upload in &model.uploads {
            let draft = MODES[upload.mode].1(Draft::new("GET", &upload.target(), b""));
            let parts = self.send(draft).await.text();
            let rows: Vec<_> = parts.split("<Part>").skip(1).collect();
            assert_eq!(rows.len(), upload.parts.len(), "{parts}");
            for (row, (number, (tag, bytes))) in rows.iter().zip(&upload.parts) {
                let tag = tag.replace('"', "&quot;");
                for shown in [
                    format!("<PartNumber>{number}<"),
                    format!("<ETag>{tag}<"),
                    format!("<Size>{}<", bytes.len()),
                ] {
                    assert!(row.contains(&shown), "{shown}: {row}");
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, max_shrink_iters: 200, ..ProptestConfig::default() })]
    #[test]
    fn any_sequence_of_requests_restarts_and_kills_leaves_what_a_plain_map_would(
        steps in prop::collection::vec(step(), 1..30),
    ) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            for on_disk in [false, true] {
                let mut bench = Bench::new(on_disk).await;
                let mut model = Model::default();
                for step in &steps {
                    bench.apply(step, &mut model).await;
                }
                bench.restart().await;
                bench.compare(&model).await;
            }
        });
    }
}
