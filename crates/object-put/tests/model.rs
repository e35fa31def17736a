//! Random sequences of requests, restarts and kills, on memory and on disk, against a plain map.

#![expect(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    reason = "a test that meets the unexpected fails"
)]

mod service;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Weak};
use std::time::Duration;

use proptest::prelude::*;
use service::{Answer, Draft, NOW, Session, World};
use triptych_core::blobs::{Blobs, Directory, MemoryBlobs};
use triptych_core::disk::SystemDisk;
use triptych_core::id::SeededIds;
use triptych_core::kv::{KeyValue, Memory, Sled, SledConfig};
use triptych_core::time::Timestamp;

const KEYS: [&str; 3] = ["a", "a/b", "z"];

#[derive(Debug, Clone)]
enum Step {
    Put {
        key: usize,
        size: usize,
        fill: u8,
    },
    PutIfAbsent {
        key: usize,
        fill: u8,
    },
    PutIfMatch {
        key: usize,
        fill: u8,
        is_current: bool,
    },
    Delete {
        key: usize,
    },
    DeleteVersion {
        key: usize,
        place: usize,
    },
    Versioning {
        enabled: bool,
    },
    Restart,
    /// A PUT with an offset in the directory bucket, within a session: at the end of the object or elsewhere.
    Append {
        key: usize,
        at_end: bool,
        size: usize,
        fill: u8,
    },
    /// A plain PUT there.
    PutInDirectory {
        key: usize,
        fill: u8,
    },
    DeleteInDirectory {
        key: usize,
    },
    /// An append that is cut off with the whole service: it happened or it did not.
    KillAppend {
        key: usize,
        large: bool,
        share: usize,
        turns: usize,
    },
    /// The clock moves by so many seconds: sessions end.
    Wait {
        seconds: u64,
    },
    /// A PUT that is cut off at some place of it, with the whole service: it happened or it did not.
    Kill {
        key: usize,
        large: bool,
        share: usize,
        turns: usize,
    },
}

fn step() -> impl Strategy<Value = Step> {
    let key = || 0..KEYS.len();
    prop_oneof![
        4 => (key(), prop_oneof![0_usize..100, Just(70_000), Just(140_000)], any::<u8>())
            .prop_map(|(key, size, fill)| Step::Put { key, size, fill }),
        2 => (key(), any::<u8>()).prop_map(|(key, fill)| Step::PutIfAbsent { key, fill }),
        2 => (key(), any::<u8>(), any::<bool>())
            .prop_map(|(key, fill, is_current)| Step::PutIfMatch { key, fill, is_current }),
        3 => key().prop_map(|key| Step::Delete { key }),
        2 => (key(), 0_usize..4).prop_map(|(key, place)| Step::DeleteVersion { key, place }),
        1 => any::<bool>().prop_map(|enabled| Step::Versioning { enabled }),
        1 => Just(Step::Restart),
        5 => (key(), prop_oneof![4 => Just(true), 1 => Just(false)], prop_oneof![1_usize..100, Just(140_000)], any::<u8>())
            .prop_map(|(key, at_end, size, fill)| Step::Append { key, at_end, size, fill }),
        1 => (key(), any::<u8>()).prop_map(|(key, fill)| Step::PutInDirectory { key, fill }),
        1 => key().prop_map(|key| Step::DeleteInDirectory { key }),
        1 => (key(), any::<bool>(), prop_oneof![0_usize..100, Just(100)], 0_usize..60)
            .prop_map(|(key, large, share, turns)| Step::KillAppend { key, large, share, turns }),
        1 => (0_u64..400).prop_map(|seconds| Step::Wait { seconds }),
        2 => (key(), any::<bool>(), prop_oneof![0_usize..100, Just(100)], 0_usize..60)
            .prop_map(|(key, large, share, turns)| Step::Kill { key, large, share, turns }),
    ]
}

/// A version as the model has it: its id, and its body or `None` for a delete marker.
type Entry = (String, Option<Vec<u8>>);

/// The versions that the bucket should hold.
#[derive(Debug, Default)]
struct Model {
    /// True if the bucket keeps versions; `None` before that was ever set.
    versioning: Option<bool>,
    keys: BTreeMap<&'static str, Vec<Entry>>,
    /// The objects of the directory bucket.
    directory: BTreeMap<&'static str, Vec<u8>>,
}

impl Model {
    fn current(&self, key: &str) -> Option<&Vec<u8>> {
        self.keys.get(key)?.first()?.1.as_ref()
    }

    /// Puts a version, or a marker, on top of a key.
    fn push(&mut self, key: &'static str, id: Option<&str>, body: Option<Vec<u8>>) {
        let entries = self.keys.entry(key).or_default();
        let id = id.filter(|_| self.versioning == Some(true)).unwrap_or("null");
        entries.retain(|(own, _)| id != "null" || own != "null");
        entries.insert(0, (id.to_owned(), body));
    }
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
    /// The session that requests on the directory bucket are signed with, and its end.
    session: Option<(Session, Timestamp)>,
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
        Self { world, directory, memory, open, now: NOW, kills: 0, session: None }
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

    /// A PUT that is killed with the service. Whether it happened is seen by its body, which no other PUT has.
    async fn kill(
        &mut self,
        key: &'static str,
        large: bool,
        cut: (usize, usize),
        model: &mut Model,
    ) {
        self.kills += 1;
        let mut body = format!("killed {}", self.kills).into_bytes();
        body.resize(if large { 140_000 } else { 2_000 }, b'.');
        self.now = self.now.plus(Duration::from_secs(1));
        self.world.clock.set(self.now);
        let draft = Draft { time: self.now, ..Draft::put(&format!("/enforced/{key}"), &body) };
        self.world.cut(&draft.bytes(), cut.0, cut.1).await;
        self.restart().await;
        let seen = self.get(key, None).await;
        if seen.status == 200 && seen.body == body {
            assert_eq!(cut.0, 100, "half a body was stored");
            let version = seen.header("x-amz-version-id").map(str::to_owned);
            model.push(key, version.as_deref(), Some(body));
        }
    }

    /// Sends a request on the directory bucket within a session, which is good for five minutes, restarts or not.
    async fn send_within(&mut self, draft: Draft) -> Answer {
        loop {
            let Some((session, end)) = self.session.clone() else {
                let asked = self.now;
                let made = self.world.session(asked).await;
                self.session = Some((made, asked.plus(Duration::from_secs(300))));
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
            self.session = None;
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
        self.kills += 1;
        let mut piece = format!("killed {}", self.kills).into_bytes();
        piece.resize(if large { 140_000 } else { 2_000 }, b'.');
        let before = model.directory.get(key).cloned();
        let held = before.clone().unwrap_or_default();
        self.now = self.now.plus(Duration::from_secs(1));
        self.world.clock.set(self.now);
        let path = format!("/{key}");
        let draft = Draft { time: self.now, ..Draft::append(&path, held.len(), &piece) };
        self.world.cut(&draft.bytes(), cut.0, cut.1).await;
        self.restart().await;
        let seen = self.send_within(Draft::zonal("GET", &path, b"")).await;
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
            Step::Put { key, size, fill } => {
                let body = vec![*fill; *size];
                let answer = self.put(KEYS[*key], &body, None).await;
                assert_eq!(answer.status, 200, "{}", answer.text());
                model.push(KEYS[*key], answer.header("x-amz-version-id"), Some(body));
            }
            Step::PutIfAbsent { key, fill } => {
                let is_there = model.current(KEYS[*key]).is_some();
                let condition = Some(("if-none-match", "*".to_owned()));
                let answer = self.put(KEYS[*key], &[*fill], condition).await;
                assert_eq!(answer.status, if is_there { 412 } else { 200 }, "{}", answer.text());
                if !is_there {
                    model.push(KEYS[*key], answer.header("x-amz-version-id"), Some(vec![*fill]));
                }
            }
            Step::PutIfMatch { key, fill, is_current } => {
                let seen = self.get(KEYS[*key], None).await;
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
                    model.push(KEYS[*key], answer.header("x-amz-version-id"), Some(vec![*fill]));
                }
            }
            Step::Delete { key } => {
                let draft = Draft::new("DELETE", &format!("/enforced/{}", KEYS[*key]), b"");
                let answer = self.send(draft).await;
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
                let answer = self.send(Draft::put("/enforced?versioning", body.as_bytes())).await;
                assert_eq!(answer.status, 200, "{}", answer.text());
                model.versioning = Some(*enabled);
            }
            Step::Restart => self.restart().await,
            Step::Append { key, at_end, size, fill } => {
                let held = model.directory.get(KEYS[*key]).cloned();
                let length = held.as_ref().map_or(0, Vec::len);
                let offset = if *at_end { length } else { length + 1 };
                let piece = vec![*fill; *size];
                let draft = Draft::append(&format!("/{}", KEYS[*key]), offset, &piece);
                let answer = self.send_within(draft).await;
                assert_eq!(answer.status, if *at_end { 200 } else { 400 }, "{}", answer.text());
                if *at_end {
                    let whole = [held.clone().unwrap_or_default(), piece].concat();
                    let shown = held.is_some().then(|| whole.len().to_string());
                    assert_eq!(answer.header("x-amz-object-size"), shown.as_deref());
                    model.directory.insert(KEYS[*key], whole);
                }
            }
            Step::PutInDirectory { key, fill } => {
                let path = format!("/{}", KEYS[*key]);
                let answer = self.send_within(Draft::zonal("PUT", &path, &[*fill])).await;
                assert_eq!(answer.status, 200, "{}", answer.text());
                model.directory.insert(KEYS[*key], vec![*fill]);
            }
            Step::DeleteInDirectory { key } => {
                let path = format!("/{}", KEYS[*key]);
                let answer = self.send_within(Draft::zonal("DELETE", &path, b"")).await;
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

    async fn get(&mut self, key: &str, version: Option<&str>) -> Answer {
        let version = version.map(|id| format!("?versionId={id}")).unwrap_or_default();
        self.send(Draft::new("GET", &format!("/enforced/{key}{version}"), b"")).await
    }

    /// Everything that the model holds is there, and nothing else is listed.
    async fn compare(&mut self, model: &Model) {
        let mut live = Vec::new();
        for key in KEYS {
            let answer = self.get(key, None).await;
            match model.current(key) {
                Some(body) => {
                    assert_eq!(answer.status, 200, "{key}: {}", answer.text());
                    assert!(answer.body == *body, "{key}");
                    live.push(key);
                }
                None => assert_eq!(answer.status, 404, "{key}"),
            }
            for (id, body) in model.keys.get(key).into_iter().flatten() {
                let answer = self.get(key, Some(id)).await;
                match body {
                    Some(body) => {
                        assert!(answer.status == 200 && answer.body == *body, "{key} {id}")
                    }
                    None => assert_eq!(answer.status, 405, "{key} {id}"),
                }
            }
        }
        for key in KEYS {
            let answer = self.send_within(Draft::zonal("GET", &format!("/{key}"), b"")).await;
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
        let held = self.send_within(Draft::zonal("GET", target, b"")).await.text();
        let expected: Vec<_> = model.directory.keys().map(|key| (*key).to_owned()).collect();
        assert_eq!(listed(&held), expected, "{held}");
        let versions = self.send(Draft::new("GET", "/enforced?versions", b"")).await.text();
        let expected: Vec<_> = model
            .keys
            .iter()
            .flat_map(|(key, entries)| entries.iter().map(|_| (*key).to_owned()))
            .collect();
        assert_eq!(listed(&versions), expected, "{versions}");
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
