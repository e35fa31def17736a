//! Calls on one bucket that overlap are linearizable: uploads that are begun, given a part, completed and aborted, while the bucket is deleted and made
//! again, answer as if each call had happened at one moment.

#![expect(clippy::unwrap_used, reason = "a test that meets the unexpected fails")]

mod service;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use parking_lot::Mutex;
use proptest::prelude::*;
use proptest::strategy::ValueTree as _;
use proptest::test_runner::TestRunner;
use service::{Answer, Draft, NOW, World};
use triptych_core::host::testing::history::{Event, History, Model, is_linearizable};

/// The code of a refusal; `None` where there is none.
type Refusal = Option<String>;

/// A call and its answer.
#[derive(Debug, Clone)]
enum Call {
    MakeBucket(Refusal),
    DeleteBucket(Refusal),
    Put(Refusal),
    Delete(Refusal),
    Begin(Result<String, String>),
    PutPart(String, Refusal),
    Complete(String, Refusal),
    Abort(String, Refusal),
    ListUploads(Result<BTreeSet<String>, String>),
}

/// The refusal of who writes while a bucket is being deleted.
const ABORTED: &str = "OperationAborted";

impl Call {
    /// The code of its refusal.
    fn refusal(&self) -> Option<&str> {
        match self {
            Self::MakeBucket(said) | Self::DeleteBucket(said) | Self::Put(said) => said.as_deref(),
            Self::Delete(said) | Self::PutPart(_, said) => said.as_deref(),
            Self::Complete(_, said) | Self::Abort(_, said) => said.as_deref(),
            Self::Begin(said) => said.as_ref().err().map(String::as_str),
            Self::ListUploads(said) => said.as_ref().err().map(String::as_str),
        }
    }
}

/// Returns whether each call that was aborted overlaps one that deletes the bucket.
fn aborts_overlap_deletions(events: &[Event<Call>]) -> bool {
    let deletes = |at: &&Event<Call>| matches!(at.call, Call::DeleteBucket(_));
    let deletions: Vec<_> = events.iter().filter(deletes).collect();
    let aborted = events.iter().filter(|event| event.call.refusal() == Some(ABORTED));
    let mut aborted = aborted.map(|event| {
        deletions.iter().any(|deletion| {
            deletion.call.refusal() != Some(ABORTED)
                && deletion.begun < event.answered
                && event.begun < deletion.answered
        })
    });
    aborted.all(|overlaps| overlaps)
}

/// An upload of a bucket: every one has one part at the most, and is of one key.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Upload {
    Open { has_part: bool },
    Completed,
    Aborted,
}

/// A bucket that is there.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
struct Bucket {
    has_object: bool,
    uploads: BTreeMap<String, Upload>,
}

impl Bucket {
    fn with(&self, upload: &str, state: Upload) -> Self {
        let mut next = self.clone();
        next.uploads.insert(upload.to_owned(), state);
        next
    }

    /// An upload of an earlier bucket of the same name is none of this one.
    fn upload(&self, id: &str) -> Upload {
        self.uploads.get(id).copied().unwrap_or(Upload::Aborted)
    }

    fn open(&self) -> BTreeSet<String> {
        let open = |(id, upload): (&String, &Upload)| {
            matches!(upload, Upload::Open { .. }).then(|| id.clone())
        };
        self.uploads.iter().filter_map(open).collect()
    }

    /// The bucket after a call, with the code of its refusal.
    fn after(&self, call: &Call) -> (Option<Self>, Refusal) {
        let done = |next: Self| (Some(next), None);
        let refused = |code: &str| (Some(self.clone()), Some(code.to_owned()));
        match call {
            Call::MakeBucket(_) => done(self.clone()),
            Call::DeleteBucket(_) if self.has_object => refused("BucketNotEmpty"),
            Call::DeleteBucket(_) => (None, None),
            Call::Put(_) => done(Self { has_object: true, ..self.clone() }),
            Call::Delete(_) => done(Self { has_object: false, ..self.clone() }),
            Call::Begin(Ok(id)) => done(self.with(id, Upload::Open { has_part: false })),
            Call::Begin(Err(_)) | Call::ListUploads(_) => done(self.clone()),
            Call::PutPart(id, _) => match self.upload(id) {
                Upload::Open { .. } => done(self.with(id, Upload::Open { has_part: true })),
                _ => refused("NoSuchUpload"),
            },
            Call::Complete(id, _) => match self.upload(id) {
                Upload::Open { has_part: true } => {
                    done(Self { has_object: true, ..self.with(id, Upload::Completed) })
                }
                Upload::Open { has_part: false } => refused("InvalidPart"),
                // The same list again is answered as before, as long as the key has an object.
                Upload::Completed if self.has_object => done(self.clone()),
                Upload::Completed | Upload::Aborted => refused("NoSuchUpload"),
            },
            Call::Abort(id, _) => match self.upload(id) {
                Upload::Open { .. } => done(self.with(id, Upload::Aborted)),
                _ => refused("NoSuchUpload"),
            },
        }
    }
}

struct OneBucket;

impl Model for OneBucket {
    type State = Option<Bucket>;
    type Call = Call;

    fn after(state: &Self::State, call: &Call) -> Option<Self::State> {
        let (next, wanted) = match (state, call) {
            (Some(bucket), call) => bucket.after(call),
            (None, Call::MakeBucket(_)) => (Some(Bucket::default()), None),
            (None, _) => (None, Some("NoSuchBucket".to_owned())),
        };
        if call.refusal() == Some(ABORTED) {
            // It tells its client to try again, and did nothing to a bucket that was there.
            return state.is_some().then(|| state.clone());
        }
        let fits = match call {
            // One's own bucket made again may say that it is one's own.
            Call::MakeBucket(said) => said.is_none() || state.is_some(),
            Call::DeleteBucket(said) | Call::Put(said) | Call::Delete(said) => *said == wanted,
            Call::PutPart(_, said) | Call::Complete(_, said) | Call::Abort(_, said) => {
                *said == wanted
            }
            Call::Begin(said) => said.as_ref().err() == wanted.as_ref(),
            Call::ListUploads(Ok(listed)) => {
                state.as_ref().is_some_and(|bucket| bucket.open() == *listed)
            }
            Call::ListUploads(Err(said)) => Some(said) == wanted.as_ref(),
        };
        fits.then_some(next)
    }
}

/// A step of a client. Those of uploads are about the last one that any client began.
#[derive(Debug, Clone, Copy)]
enum Step {
    MakeBucket,
    DeleteBucket,
    Put,
    Delete,
    Begin,
    PutPart,
    Complete,
    Abort,
    ListUploads,
}

fn steps() -> impl Strategy<Value = Vec<Vec<Step>>> {
    use Step::{
        Abort, Begin, Complete, Delete, DeleteBucket, ListUploads, MakeBucket, Put, PutPart,
    };
    let often = [Begin, PutPart, Complete, DeleteBucket, DeleteBucket, MakeBucket];
    let all = [&often[..], &often[..], &[Abort, Delete, Delete, ListUploads, Put]].concat();
    prop::collection::vec(prop::collection::vec(prop::sample::select(all), 4..7), 4..5)
}

/// A client of a bucket.
#[derive(Clone)]
struct Client {
    world: Arc<World>,
    history: Arc<History<Call>>,
    bucket: String,
    last: Arc<Mutex<String>>,
}

/// The bytes of every part, and their entity tag.
const PART: (&[u8], &str) = (b"part", "f4c9385f1902f7334b00b9b4ecd164de");

/// The code of a refusal, which may come after the head of the answer.
fn refusal(answer: &Answer) -> Refusal {
    let code = answer.element("Code");
    assert!(code.is_some() || answer.status < 300, "{}: {}", answer.status, answer.text());
    code
}

impl Client {
    async fn send(&self, method: &'static str, rest: &str, body: &[u8]) -> Answer {
        self.world.send(&Draft::new(method, &format!("{}{rest}", self.bucket), body)).await
    }

    async fn take(&self, step: Step) {
        let last = self.last.lock().clone();
        let begun = self.history.now();
        let call = match step {
            Step::MakeBucket => {
                let said = refusal(&self.send("PUT", "", b"").await);
                let known = ["BucketAlreadyOwnedByYou", ABORTED];
                assert!(said.as_deref().is_none_or(|code| known.contains(&code)), "{said:?}");
                Call::MakeBucket(said)
            }
            Step::DeleteBucket => Call::DeleteBucket(refusal(&self.send("DELETE", "", b"").await)),
            Step::Put => Call::Put(refusal(&self.send("PUT", "/k", b"object").await)),
            Step::Delete => Call::Delete(refusal(&self.send("DELETE", "/k", b"").await)),
            Step::Begin => {
                let answer = self.send("POST", "/k?uploads", b"").await;
                let id = match refusal(&answer) {
                    Some(code) => Err(code),
                    None => Ok(answer.element("UploadId").unwrap()),
                };
                if let Ok(id) = &id {
                    self.last.lock().clone_from(id);
                }
                Call::Begin(id)
            }
            Step::PutPart => {
                let target = format!("/k?partNumber=1&uploadId={last}");
                Call::PutPart(last, refusal(&self.send("PUT", &target, PART.0).await))
            }
            Step::Complete => self.complete(last).await,
            Step::Abort => {
                let target = format!("/k?uploadId={last}");
                Call::Abort(last, refusal(&self.send("DELETE", &target, b"").await))
            }
            Step::ListUploads => {
                let answer = self.send("GET", "?uploads", b"").await;
                let text = answer.text();
                let ids = text.split("<UploadId>").skip(1);
                let ids = ids.map(|rest| rest.split('<').next().unwrap().to_owned()).collect();
                Call::ListUploads(refusal(&answer).map_or(Ok(ids), Err))
            }
        };
        self.history.note(begun, call);
    }

    async fn complete(&self, upload: String) -> Call {
        let document = format!(
            "<CompleteMultipartUpload><Part><PartNumber>1</PartNumber><ETag>{}</ETag></Part></CompleteMultipartUpload>",
            PART.1
        );
        let target = format!("/k?uploadId={upload}");
        let said = refusal(&self.send("POST", &target, document.as_bytes()).await);
        Call::Complete(upload, said)
    }
}

/// The history of clients that take their steps at once on a bucket of their own, which is there at first and has an upload with a part.
async fn raced(world: &Arc<World>, bucket: String, plan: Vec<Vec<Step>>) -> Vec<Event<Call>> {
    let history = Arc::new(History::default());
    let last = Arc::new(Mutex::new("none".to_owned()));
    let client = Client { world: Arc::clone(world), history: Arc::clone(&history), bucket, last };
    for step in [Step::MakeBucket, Step::Begin, Step::PutPart] {
        client.take(step).await;
    }
    let racing = plan.into_iter().map(|steps| {
        let client = client.clone();
        tokio::spawn(async move {
            for step in steps {
                client.take(step).await;
            }
        })
    });
    for racing in racing.collect::<Vec<_>>() {
        racing.await.unwrap();
    }
    drop(client);
    let mut events = Arc::into_inner(history).unwrap().into_events();
    events.sort_by_key(|event| event.begun);
    events
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn uploads_that_race_with_the_end_of_their_bucket_are_linearizable() {
    let world = Arc::new(World::new(NOW).await);
    let mut runner = TestRunner::deterministic();
    let mut met = BTreeMap::<(&str, String), usize>::new();
    for round in 0..300 {
        let plan = steps().new_tree(&mut runner).unwrap().current();
        let events = raced(&world, format!("/race-{round}"), plan).await;
        assert!(is_linearizable::<OneBucket>(None, &events), "round {round}: {events:#?}");
        assert!(aborts_overlap_deletions(&events), "round {round}: {events:#?}");
        for event in &events {
            let (name, said) = match &event.call {
                Call::DeleteBucket(said) => ("delete bucket", said.clone()),
                Call::Begin(said) => ("begin", said.clone().err()),
                Call::PutPart(_, said) => ("part", said.clone()),
                Call::Complete(_, said) => ("complete", said.clone()),
                Call::Abort(_, said) => ("abort", said.clone()),
                _ => continue,
            };
            *met.entry((name, said.unwrap_or_default())).or_default() += 1;
        }
    }
    // Each of them won and lost.
    for (name, said) in [
        ("delete bucket", ""),
        ("delete bucket", "BucketNotEmpty"),
        ("delete bucket", "NoSuchBucket"),
        ("begin", ""),
        ("begin", "NoSuchBucket"),
        ("part", ""),
        ("part", "NoSuchUpload"),
        ("complete", ""),
        ("complete", "NoSuchUpload"),
        ("complete", "NoSuchBucket"),
        ("complete", "InvalidPart"),
        ("abort", ""),
        ("abort", "NoSuchUpload"),
    ] {
        assert!(met.contains_key(&(name, said.to_owned())), "{name} {said}: {met:?}");
    }
}

#[test]
fn an_object_in_a_bucket_that_was_deleted_is_found_out() {
    let id = || "u".to_owned();
    let begun = [Call::MakeBucket(None), Call::Begin(Ok(id())), Call::PutPart(id(), None)];
    let history = |racing: [Call; 2], last: Call| {
        let before = begun.iter().zip(0..).map(|(call, number)| Event {
            begun: number * 2,
            answered: number * 2 + 1,
            call: call.clone(),
        });
        // The two overlap.
        let racing = racing.into_iter().zip(6..).map(|(call, begun)| Event {
            begun,
            answered: begun + 2,
            call,
        });
        let last = Event { begun: 10, answered: 11, call: last };
        before.chain(racing).chain([last]).collect::<Vec<_>>()
    };
    let gone = || Some("NoSuchBucket".to_owned());
    let is_right = |events: &[Event<Call>]| is_linearizable::<OneBucket>(None, events);
    let complete = |said| Call::Complete(id(), said);
    assert!(is_right(&history([complete(gone()), Call::DeleteBucket(None)], Call::Put(gone()))));
    let kept = Some("BucketNotEmpty".to_owned());
    assert!(is_right(&history([complete(None), Call::DeleteBucket(kept)], Call::Put(None))));
    // Both of them won.
    assert!(!is_right(&history([complete(None), Call::DeleteBucket(None)], Call::Put(gone()))));
    // An upload of the bucket before.
    let made = [Call::DeleteBucket(None), Call::MakeBucket(None)];
    let listed = |ids: &[&str]| {
        Call::ListUploads(Ok(ids.iter().map(|id| (*id).to_owned()).collect::<BTreeSet<_>>()))
    };
    assert!(is_right(&history(made.clone(), listed(&[]))));
    assert!(!is_right(&history([made[1].clone(), Call::DeleteBucket(None)], listed(&["u"]))));
    let began = [Call::Begin(Ok("v".to_owned())), Call::DeleteBucket(None)];
    assert!(!is_right(&history(began, listed(&["u", "v"]))));
    let aborted = [Call::Abort(id(), None), Call::Begin(Ok("v".to_owned()))];
    assert!(is_right(&history(aborted, listed(&["v"]))));
}
