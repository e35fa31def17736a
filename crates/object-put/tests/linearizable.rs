//! Calls on one key that overlap are linearizable: conditional and plain puts, appends of parts, completions, aborts and deletes answer as if each
//! had happened at one moment.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that meets the unexpected fails")]

mod condition;
mod service;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};

use condition::Condition;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use service::{Answer, Draft, NOW, World};
use triptych_core::blobs::MemoryBlobs;
use triptych_core::host::testing::history::{Event, History, Model, is_linearizable};
use triptych_core::id::SeededIds;
use triptych_core::kv::{Batch, Found, KeyValue, Memory, Page, Span, StoreError, Version};
use triptych_core::pending::Pending;

/// A call and its answer.
#[derive(Debug, Clone)]
enum Call {
    Put {
        condition: Condition,
        status: u16,
        tag: String,
    },
    /// The tag of the object, if there was one.
    Get(Option<String>),
    Delete {
        condition: Condition,
        status: u16,
    },
    Begin {
        upload: String,
    },
    PutPart {
        upload: String,
        status: u16,
        tag: String,
    },
    /// Of the one part with this tag; `made` is the tag of the object.
    Complete {
        upload: String,
        part: String,
        condition: Condition,
        status: u16,
        made: String,
    },
    Abort {
        upload: String,
        status: u16,
    },
}

/// An upload that has one part at the most.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Upload {
    Open {
        part: Option<String>,
    },
    /// Completed with this part, to an object with that tag.
    Completed {
        part: String,
        made: String,
    },
    Aborted,
}

/// A key of a bucket that keeps no versions.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
struct KeyState {
    /// The tag of the object.
    object: Option<String>,
    uploads: BTreeMap<String, Upload>,
}

struct OneKey;

impl KeyState {
    fn with_object(&self, tag: &str) -> Self {
        Self { object: Some(tag.to_owned()), ..self.clone() }
    }

    fn with_upload(&self, id: &str, upload: Upload) -> Self {
        let mut next = self.clone();
        next.uploads.insert(id.to_owned(), upload);
        next
    }
}

impl Model for OneKey {
    type State = KeyState;
    type Call = Call;

    fn after(state: &KeyState, call: &Call) -> Option<KeyState> {
        let own = |id: &String| state.uploads.get(id).unwrap_or(&Upload::Aborted);
        let unchanged = |fits: bool| fits.then(|| state.clone());
        match call {
            // It tells its client to look again, and did nothing.
            Call::Put { condition, status: 409, .. }
            | Call::Delete { condition, status: 409 }
            | Call::Complete { condition, status: 409, .. } => {
                unchanged(*condition != Condition::None)
            }
            Call::Put { condition, status, tag } => {
                match condition.refusal(state.object.as_ref()) {
                    Some(refusal) => unchanged(*status == refusal),
                    None => (*status == 200).then(|| state.with_object(tag)),
                }
            }
            Call::Get(found) => unchanged(*found == state.object),
            Call::Delete { condition, status } => match condition.refusal(state.object.as_ref()) {
                Some(refusal) => unchanged(*status == refusal),
                None => (*status == 204).then(|| KeyState { object: None, ..state.clone() }),
            },
            Call::Begin { upload } => Some(state.with_upload(upload, Upload::Open { part: None })),
            Call::PutPart { upload, status, tag } => match own(upload) {
                Upload::Open { .. } => (*status == 200)
                    .then(|| state.with_upload(upload, Upload::Open { part: Some(tag.clone()) })),
                _ => unchanged(*status == 404),
            },
            Call::Complete { upload, part, condition, status, made } => match own(upload) {
                Upload::Aborted => unchanged(*status == 404),
                // The same list again is answered as before, as long as the key has an object.
                Upload::Completed { part: own, made: before } => unchanged(match *status {
                    200 => own == part && made == before && state.object.is_some(),
                    status => status == 404 && (own != part || state.object.is_none()),
                }),
                Upload::Open { part: own } => {
                    let refusal = condition.refusal(state.object.as_ref());
                    match (own.as_ref() == Some(part), refusal) {
                        (false, refusal) => unchanged(*status == 400 || refusal == Some(*status)),
                        (true, Some(refusal)) => unchanged(*status == refusal),
                        (true, None) => (*status == 200).then(|| {
                            let done = Upload::Completed { part: part.clone(), made: made.clone() };
                            state.with_object(made).with_upload(upload, done)
                        }),
                    }
                }
            },
            Call::Abort { upload, status } => match own(upload) {
                Upload::Open { .. } => {
                    (*status == 204).then(|| state.with_upload(upload, Upload::Aborted))
                }
                _ => unchanged(*status == 404),
            },
        }
    }
}

/// A step of a client. Conditions with a tag name the one that the client saw last; steps of uploads are about one that all clients share.
#[derive(Debug, Clone, Copy)]
enum Step {
    Put,
    Create,
    Replace,
    Get,
    Delete,
    DeleteSeen,
    PutPart,
    Complete,
    CompleteCreating,
    Abort,
}

fn steps() -> impl Strategy<Value = Vec<Vec<Step>>> {
    use Step::{
        Abort, Complete, CompleteCreating, Create, Delete, DeleteSeen, Get, Put, PutPart, Replace,
    };
    let step = prop::sample::select(vec![
        Put,
        Create,
        Create,
        Replace,
        Get,
        Get,
        Delete,
        DeleteSeen,
        PutPart,
        PutPart,
        Complete,
        Complete,
        CompleteCreating,
        Abort,
    ]);
    prop::collection::vec(prop::collection::vec(step, 3..6), 4..5)
}

/// A client of a key, and what it saw.
struct Client {
    world: Arc<World>,
    history: Arc<History<Call>>,
    target: String,
    upload: String,
    number: usize,
    object: String,
    part: String,
}

fn tag_of(answer: &Answer) -> String {
    answer.header("etag").unwrap_or_default().trim_matches('"').to_owned()
}

impl Client {
    fn conditional(draft: Draft, condition: &Condition) -> Draft {
        match condition {
            Condition::None => draft,
            Condition::Absent => draft.with("if-none-match", "*"),
            Condition::Matches(tag) => draft.with("if-match", format!("\"{tag}\"")),
        }
    }

    async fn take(&mut self, place: usize, step: Step) {
        let begun = self.history.now();
        let seen = Condition::Matches(self.object.clone());
        let call = match step {
            Step::Put => self.put(place, Condition::None).await,
            Step::Create => self.put(place, Condition::Absent).await,
            Step::Replace => self.put(place, seen).await,
            Step::Get => {
                let answer = self.world.fetch(&self.target).await;
                assert!([200, 404].contains(&answer.status), "{}", answer.text());
                let found = (answer.status == 200).then(|| tag_of(&answer));
                if let Some(tag) = &found {
                    self.object.clone_from(tag);
                }
                Call::Get(found)
            }
            Step::Delete => self.delete(Condition::None).await,
            Step::DeleteSeen => self.delete(seen).await,
            Step::PutPart => {
                let target = format!("{}?partNumber=1&uploadId={}", self.target, self.upload);
                let body = format!("part {} of {}", place, self.number);
                let answer = self.world.send(&Draft::put(&target, body.as_bytes())).await;
                let tag = tag_of(&answer);
                if answer.status == 200 {
                    self.part.clone_from(&tag);
                }
                Call::PutPart { upload: self.upload.clone(), status: answer.status, tag }
            }
            Step::Complete => self.complete(Condition::None).await,
            Step::CompleteCreating => self.complete(Condition::Absent).await,
            Step::Abort => {
                let target = format!("{}?uploadId={}", self.target, self.upload);
                let answer = self.world.send(&Draft::new("DELETE", &target, b"")).await;
                Call::Abort { upload: self.upload.clone(), status: answer.status }
            }
        };
        self.history.note(begun, call);
    }

    async fn put(&mut self, place: usize, condition: Condition) -> Call {
        let body = format!("object {} of {}", place, self.number);
        let draft = Self::conditional(Draft::put(&self.target, body.as_bytes()), &condition);
        let answer = self.world.send(&draft).await;
        let tag = tag_of(&answer);
        if answer.status == 200 {
            self.object.clone_from(&tag);
        }
        Call::Put { condition, status: answer.status, tag }
    }

    async fn delete(&self, condition: Condition) -> Call {
        let draft = Self::conditional(Draft::new("DELETE", &self.target, b""), &condition);
        let status = self.world.send(&draft).await.status;
        Call::Delete { condition, status }
    }

    async fn complete(&self, condition: Condition) -> Call {
        let document = format!(
            "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>{}</ETag></Part></CompleteMultipartUpload>",
            self.part
        );
        let target = format!("{}?uploadId={}", self.target, self.upload);
        let draft = Draft::new("POST", &target, document.as_bytes());
        let answer = self.world.send(&Self::conditional(draft, &condition)).await;
        let made = answer.element("ETag").unwrap_or_default().replace("&quot;", "");
        // A refusal may come after the head of the answer.
        let status = match answer.element("Code").as_deref() {
            None => answer.status,
            Some("NoSuchUpload") => 404,
            Some("PreconditionFailed") => 412,
            Some("ConditionalRequestConflict") => 409,
            Some("InvalidPart") => 400,
            Some(other) => panic!("{other}"),
        };
        let (upload, part) = (self.upload.clone(), self.part.clone());
        Call::Complete { upload, part, condition, status, made }
    }
}

/// The history of clients that take their steps at once on a key of their own.
async fn raced(world: &Arc<World>, target: &str, plan: Vec<Vec<Step>>) -> Vec<Event<Call>> {
    let history = Arc::new(History::default());
    let begun = history.now();
    let answer = world.send(&Draft::new("POST", &format!("{target}?uploads"), b"")).await;
    let upload = answer.element("UploadId").unwrap();
    history.note(begun, Call::Begin { upload: upload.clone() });
    let clients = plan.into_iter().enumerate().map(|(number, steps)| {
        let mut client = Client {
            world: Arc::clone(world),
            history: Arc::clone(&history),
            target: target.to_owned(),
            upload: upload.clone(),
            number,
            object: "00000000000000000000000000000000".to_owned(),
            part: "00000000000000000000000000000000".to_owned(),
        };
        tokio::spawn(async move {
            for (place, step) in steps.into_iter().enumerate() {
                client.take(place, step).await;
            }
        })
    });
    for client in clients.collect::<Vec<_>>() {
        client.await.unwrap();
    }
    let mut events = Arc::into_inner(history).unwrap().into_events();
    events.sort_by_key(|event| event.begun);
    events
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn racing_puts_completions_aborts_and_deletes_of_a_key_are_linearizable() {
    let world = Arc::new(World::new(NOW).await);
    let mut runner = TestRunner::deterministic();
    let mut met = BTreeMap::<(&str, u16), usize>::new();
    for round in 0..300 {
        let plan = steps().new_tree(&mut runner).unwrap().current();
        let events = raced(&world, &format!("/bkt/{round}"), plan).await;
        assert!(
            is_linearizable::<OneKey>(KeyState::default(), &events),
            "round {round}: {events:#?}"
        );
        for event in &events {
            let (name, status) = match &event.call {
                Call::Put { status, .. } => ("put", *status),
                Call::Complete { status, .. } => ("complete", *status),
                Call::Delete { status, .. } => ("delete", *status),
                Call::Abort { status, .. } => ("abort", *status),
                _ => continue,
            };
            *met.entry((name, status)).or_default() += 1;
        }
    }
    // Each of them won and lost.
    for outcome in [
        ("put", 200),
        ("put", 412),
        ("complete", 200),
        ("complete", 404),
        ("complete", 400),
        ("delete", 204),
        ("delete", 412),
        ("abort", 204),
        ("abort", 404),
    ] {
        assert!(met.contains_key(&outcome), "{outcome:?}: {met:?}");
    }
}

/// A store that forgets what transactions depend on, and lets two that have read alike commit one after the other: an update is lost.
struct ForgetfulStore {
    inner: Memory,
    meet: Barrier,
    forgets: AtomicBool,
}

impl KeyValue for ForgetfulStore {
    fn get(&self, key: &[u8]) -> Result<Found, StoreError> {
        self.inner.get(key)
    }

    fn scan(&self, span: &Span, limit: usize) -> Result<Page, StoreError> {
        self.inner.scan(span, limit)
    }

    fn commit(&self, mut batch: Batch) -> Pending<Result<Version, StoreError>> {
        if self.forgets.load(Ordering::SeqCst) && !batch.writes.is_empty() {
            batch.expectations.clear();
            self.meet.wait();
        }
        self.inner.commit(batch)
    }

    fn durable(&self, seen: Version) -> Option<Pending<Result<(), StoreError>>> {
        self.inner.durable(seen)
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_store_that_loses_updates_is_found_out() {
    for pair in [
        [Step::Create, Step::Create],
        [Step::Complete, Step::Abort],
        [Step::Replace, Step::Replace],
    ] {
        let store = Arc::new(ForgetfulStore {
            inner: Memory::new(),
            meet: Barrier::new(2),
            forgets: AtomicBool::new(false),
        });
        let blobs = Arc::new(MemoryBlobs::new(SeededIds::from_number(2)));
        let world = Arc::new(World::on(store.clone(), blobs, NOW).await);
        let history = Arc::new(History::default());
        let begun = history.now();
        let answer = world.send(&Draft::new("POST", "/bkt/k?uploads", b"")).await;
        let upload = answer.element("UploadId").unwrap();
        history.note(begun, Call::Begin { upload: upload.clone() });
        let client = |number| Client {
            world: Arc::clone(&world),
            history: Arc::clone(&history),
            target: "/bkt/k".to_owned(),
            upload: upload.clone(),
            number,
            object: String::new(),
            part: String::new(),
        };
        let mut first = client(1);
        first.take(0, Step::PutPart).await;
        if matches!(pair[0], Step::Replace) {
            first.take(1, Step::Put).await;
        }
        let mut second = client(2);
        (second.object, second.part) = (first.object.clone(), first.part.clone());
        store.forgets.store(true, Ordering::SeqCst);
        let racing = [(first, pair[0]), (second, pair[1])]
            .map(|(mut client, step)| tokio::spawn(async move { client.take(2, step).await }));
        for client in racing {
            client.await.unwrap();
        }
        let events = Arc::into_inner(history).unwrap().into_events();
        assert!(!is_linearizable::<OneKey>(KeyState::default(), &events), "{pair:?}: {events:#?}");
    }
}

#[test]
fn calls_that_did_not_overlap_keep_their_order() {
    let put =
        |tag: &str| Call::Put { condition: Condition::None, status: 200, tag: tag.to_owned() };
    let get = |tag: &str| Call::Get(Some(tag.to_owned()));
    let history = |calls: [(u64, u64, Call); 3]| {
        calls.map(|(begun, answered, call)| Event { begun, answered, call })
    };
    let is_right = |events: &[Event<Call>]| is_linearizable::<OneKey>(KeyState::default(), events);
    assert!(is_right(&history([(0, 1, put("a")), (2, 3, put("b")), (4, 5, get("b"))])));
    assert!(!is_right(&history([(0, 1, put("a")), (2, 3, put("b")), (4, 5, get("a"))])));
    // While the second put goes on, either may be there.
    assert!(is_right(&history([(0, 1, put("a")), (2, 5, put("b")), (3, 4, get("a"))])));
    assert!(is_right(&history([(0, 1, put("a")), (2, 5, put("b")), (3, 4, get("b"))])));
    // The later of two reads does not see the earlier object again.
    let turned = [(0, 7, put("b")), (1, 2, get("b")), (3, 4, Call::Get(None))];
    assert!(!is_right(&history(turned)));
}
