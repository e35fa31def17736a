//! Two requests at two instances, the second one before each step of the first: what comes of it is what comes of one after the other.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

mod service;

use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use service::{Answer, Draft, NOW, World};
use triptych_core::blobs::MemoryBlobs;
use triptych_core::id::SeededIds;
use triptych_core::kv::{BATCH_OPERATIONS_MAX, Batch, Counted, KeyValue, Memory, Raced, Span};

/// Bodies, which all instances share, and the rows that each attempt begins with.
struct Base {
    rows: Vec<(Bytes, Bytes)>,
    blobs: Arc<MemoryBlobs>,
}

/// An answer: its status and its code.
type Told = (u16, String);

/// The answers to both, in the order of the requests, and what is there afterwards.
type Outcome = ([Told; 2], Vec<String>);

fn told(answer: &Answer) -> Told {
    (answer.status, answer.element("Code").unwrap_or_default())
}

/// Returns whether requests that met came out as those one after the other. A condition that held at the start and no longer at the commit
/// is a conflict; of one that did not hold at the start the answer says what was wrong.
fn is_as(met: &Outcome, serial: &Outcome) -> bool {
    let conflict = (409, "ConditionalRequestConflict".to_owned());
    let is_refused = |told: &Told| [404, 412].contains(&told.0);
    let mut answers = met.0.iter().zip(&serial.0);
    let are_told = answers.all(|(met, told)| met == told || (*met == conflict && is_refused(told)));
    are_told && met.1 == serial.1
}

/// Does something on a thread and a runtime of its own.
fn apart<T: Send + 'static>(work: impl Future<Output = T> + Send + 'static) -> T {
    let run = || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(work)
    };
    std::thread::spawn(run).join().unwrap()
}

impl Base {
    async fn new() -> Self {
        let blobs = Arc::new(MemoryBlobs::new(SeededIds::from_number(2)));
        let store = Arc::new(Memory::new());
        let world =
            World::on(Arc::<Memory>::clone(&store), Arc::<MemoryBlobs>::clone(&blobs), NOW).await;
        world.store("/bkt/key", b"old").await;
        world.store("/versioned/key", b"old").await;
        let made = world.exchange(&Draft::zonal("PUT", "/key", b"old").bytes()).await;
        assert_eq!(made.status, 200, "{}", made.text());
        let rows = store.scan(&Span::default(), usize::MAX - 1).unwrap().rows;
        Self { rows, blobs }
    }

    fn store(&self) -> Arc<Memory> {
        let store = Memory::new();
        for some in self.rows.chunks(BATCH_OPERATIONS_MAX) {
            let writes = some.iter().map(|(key, value)| (key.clone(), Some(value.clone())));
            let batch = Batch { writes: writes.collect(), ..Batch::default() };
            store.commit(batch).wait().unwrap();
        }
        Arc::new(store)
    }

    /// An instance; each number draws other ids.
    async fn instance(store: Arc<dyn KeyValue>, blobs: Arc<MemoryBlobs>, number: u64) -> World {
        let world = World::on(store, blobs, NOW.plus(Duration::from_secs(number))).await;
        world.clock.set(NOW);
        world
    }

    /// The objects and settings that everybody finds.
    fn shown(&self, store: Arc<Memory>) -> Vec<String> {
        let blobs = Arc::clone(&self.blobs);
        apart(async move {
            let world = Self::instance(store, blobs, 9).await;
            let mut shown = Vec::new();
            for target in
                ["/bkt/key", "/bkt/new", "/versioned/key", "/bkt/key?tagging", "/bkt/key?acl"]
            {
                let answer = world.fetch(target).await;
                let text = if answer.status == 200 { answer.text() } else { String::new() };
                shown.push(format!("{target}: {} {text}", answer.status));
            }
            let answer = world.exchange(&Draft::zonal("GET", "/key", b"").bytes()).await;
            shown.push(format!("zonal: {} {}", answer.status, answer.text()));
            let listed = world.fetch("/versioned?versions").await.text();
            let count = |what: &str| listed.matches(what).count();
            shown.push(format!(
                "{} versions, {} markers",
                count("<Version>"),
                count("<DeleteMarker>")
            ));
            shown
        })
    }

    fn ask(&self, store: Arc<dyn KeyValue>, number: u64, request: Vec<u8>) -> Told {
        let blobs = Arc::clone(&self.blobs);
        apart(async move {
            let world = Self::instance(store, blobs, number).await;
            told(&world.exchange(&request).await)
        })
    }

    fn in_turn(&self, both: [&[u8]; 2], first: usize) -> Outcome {
        let store = self.store();
        let remote: Arc<dyn KeyValue> = Arc::new(Counted::new(Arc::<Memory>::clone(&store)));
        let ask = |at: u64, request: &[u8]| self.ask(Arc::clone(&remote), at, request.to_vec());
        let [one, other] = both;
        let told = if first == 0 {
            let one = ask(0, one);
            [one, ask(1, other)]
        } else {
            let other = ask(1, other);
            [ask(0, one), other]
        };
        (told, self.shown(store))
    }

    /// The second one before a call of the first; `None` once the first makes no such call.
    fn raced(&self, [one, other]: [&[u8]; 2], at: usize) -> Option<Outcome> {
        let store = self.store();
        let remote: Arc<dyn KeyValue> = Arc::new(Counted::new(Arc::<Memory>::clone(&store)));
        let raced = Arc::new(Raced::new(Arc::<Memory>::clone(&store)));
        let heard = Arc::new(Mutex::new(None));
        let (blobs, told_to, request) =
            (Arc::clone(&self.blobs), Arc::clone(&heard), other.to_vec());
        let rival = move || {
            let answer = apart(async move {
                let world = Self::instance(remote, blobs, 1).await;
                told(&world.exchange(&request).await)
            });
            *told_to.lock().unwrap() = Some(answer);
        };
        let (blobs, request, armed) = (Arc::clone(&self.blobs), one.to_vec(), Arc::clone(&raced));
        let first = apart(async move {
            let world = Self::instance(Arc::<Raced>::clone(&armed), blobs, 0).await;
            armed.before(at, rival);
            told(&world.exchange(&request).await)
        });
        let second = heard.lock().unwrap().take()?;
        Some(([first, second], self.shown(store)))
    }
}

/// Requests that meet at one key.
fn requests() -> Vec<(&'static str, Draft)> {
    // The MD5 of what is there.
    let etag = "\"149603e6c03516362a8da23f624db945\"";
    let tagging = b"<Tagging><TagSet><Tag><Key>a</Key><Value>b</Value></Tag></TagSet></Tagging>";
    let tagging = Draft::document("/bkt/key?tagging", tagging);
    let none = |target: &str| Draft::put(target, b"new").with("if-none-match", "*");
    vec![
        ("put", Draft::put("/bkt/key", b"one")),
        ("swap", Draft::put("/bkt/key", b"two").with("if-match", etag)),
        ("delete", Draft::new("DELETE", "/bkt/key", b"")),
        ("create", none("/bkt/key")),
        ("create another", none("/bkt/new")),
        ("copy", Draft::put("/bkt/new", b"").with("x-store-copy-source", "/bkt/key")),
        ("acl", Draft::document("/bkt/key?acl", b"").with("x-store-acl", "public-read")),
        ("tagging", tagging),
        ("put a version", Draft::put("/versioned/key", b"one")),
        ("mark", Draft::new("DELETE", "/versioned/key", b"")),
        ("append", Draft::append("/key", 3, b"1")),
        ("append as well", Draft::append("/key", 3, b"2")),
    ]
}

#[tokio::test]
async fn two_requests_that_meet_come_out_as_one_after_the_other() {
    let base = Base::new().await;
    let all: Vec<_> = requests().into_iter().map(|(name, draft)| (name, draft.bytes())).collect();
    let mut wrong = Vec::new();
    for (one, first) in &all {
        for (other, second) in &all {
            let both = [first.as_slice(), second.as_slice()];
            let serial = [0, 1].map(|first| base.in_turn(both, first));
            for at in 0.. {
                let Some(found) = base.raced(both, at) else { break };
                if !serial.iter().any(|serial| is_as(&found, serial)) {
                    wrong.push(format!(
                        "{other} before call {at} of {one}: {found:?}\n  not {serial:?}"
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}:\n{}", wrong.len(), wrong.join("\n"));
}
