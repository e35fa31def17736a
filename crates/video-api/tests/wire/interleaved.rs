//! Two requests at two instances, the second one before each step of the first: what comes of it is what comes of one after the other.

use std::sync::{Arc, Mutex};

use bytes::Bytes;
use serde_json::{Value, json};
use triptych_core::blobs::MemoryBlobs;
use triptych_core::id::SeededIds;
use triptych_core::kv::{BATCH_OPERATIONS_MAX, Batch, Counted, KeyValue, Memory, Raced, Span};
use triptych_core::time::{ManualClock, Timestamp};
use video_api::http::VideoApi;

use crate::service::{SEED, Service};

/// A request: who asks, the method, the target and the body.
type Asked = (&'static str, &'static str, String, Value);
/// An answer: its status and its body.
type Told = (u16, Value);
/// Everything in a store.
pub(crate) type Rows = Vec<(Bytes, Bytes)>;

/// An instance on a store that was filled; each number draws other ids.
fn instance(store: Arc<dyn KeyValue>, number: u64) -> Service {
    let clock = Arc::new(ManualClock::at(Timestamp::from_rfc3339("2026-05-01T12:00:00Z").unwrap()));
    let blobs = MemoryBlobs::new(SeededIds::from_number(number));
    let ids = Box::new(SeededIds::from_number(100 + number));
    let api = VideoApi::builder(store, Arc::new(blobs)).clock(clock.clone()).ids(ids).build();
    Service { api, clock }
}

pub(crate) fn rows(store: &Memory) -> Rows {
    store.scan(&Span::default(), usize::MAX - 1).unwrap().rows
}

pub(crate) fn filled(rows: &Rows) -> Arc<Memory> {
    let store = Memory::new();
    for some in rows.chunks(BATCH_OPERATIONS_MAX) {
        let writes = some.iter().map(|(key, value)| (key.clone(), Some(value.clone())));
        let batch = Batch { writes: writes.collect(), ..Batch::default() };
        store.commit(batch).wait().unwrap();
    }
    Arc::new(store)
}

/// Asks at an instance, on a thread of its own.
fn ask(store: Arc<dyn KeyValue>, number: u64, asked: &Asked) -> Told {
    let (who, method, target, body) = asked.clone();
    let thread = std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async {
            let service = instance(store, number);
            let body = if body.is_null() { String::new() } else { body.to_string() };
            let target = format!("/youtube/v3{target}");
            let answer = service.ask(method, &target, who, &body).await;
            (answer.status, answer.json())
        })
    });
    thread.join().unwrap()
}

/// The answers to both, in the order of the requests, and what is in the store then.
type Outcome = ([Told; 2], Rows);

/// One after the other; `first` is the number of the one that comes first.
fn in_turn(base: &Rows, both: [&Asked; 2], first: usize) -> Outcome {
    let store = filled(base);
    let remote: Arc<dyn KeyValue> = Arc::new(Counted::new(Arc::<Memory>::clone(&store)));
    let mut told = [None, None];
    for at in [first, 1 - first] {
        told[at] = Some(ask(Arc::clone(&remote), at as u64, both[at]));
    }
    (told.map(Option::unwrap), rows(&store))
}

/// The second one before a call of the first; `None` once the first makes no such call.
fn raced(base: &Rows, both: [&Asked; 2], at: usize) -> Option<Outcome> {
    let store = filled(base);
    let remote: Arc<dyn KeyValue> = Arc::new(Counted::new(Arc::<Memory>::clone(&store)));
    let (second, told) = (both[1].clone(), Arc::new(Mutex::new(None)));
    let heard = Arc::clone(&told);
    let one = Arc::new(Raced::new(Arc::<Memory>::clone(&store)));
    one.before(at, move || *heard.lock().unwrap() = Some(ask(remote, 1, &second)));
    let first = ask(Arc::<Raced>::clone(&one), 0, both[0]);
    let second = told.lock().unwrap().take()?;
    Some(([first, second], rows(&store)))
}

/// The keys and values in which two stores differ, readably.
fn difference(one: &Rows, other: &Rows) -> String {
    let only = |a: &Rows, b: &Rows| {
        let rows = a.iter().filter(|row| !b.contains(row));
        rows.map(|(key, value)| format!("\n    {key:?} = {value:?}")).collect::<String>()
    };
    format!("\n  here{}\n  there{}", only(one, other), only(other, one))
}

fn faults(base: &Rows, both: [&Asked; 2]) -> Vec<String> {
    let serial = [0, 1].map(|first| in_turn(base, both, first));
    let mut faults = Vec::new();
    for at in 0.. {
        let Some(found) = raced(base, both, at) else { break };
        if !serial.contains(&found) {
            let [one, other] =
                both.map(|(who, method, target, _)| format!("{who} {method} {target}"));
            let best = serial.iter().find(|serial| serial.0 == found.0).unwrap_or(&serial[1]);
            let rows = difference(&found.1, &best.1);
            let told = if best.0 == found.0 {
                String::new()
            } else {
                format!("\n  told {:?}\n  not {:?}", found.0, best.0)
            };
            faults.push(format!("{other} before call {at} of {one}:{told}{rows}"));
        }
    }
    faults
}

async fn base() -> (Rows, String) {
    let store = Arc::new(Memory::new());
    let blobs = MemoryBlobs::new(SeededIds::from_number(1));
    let service = Service::filled(Arc::<Memory>::clone(&store), Arc::new(blobs), 0, SEED).await;
    let items = service.list("/playlistItems?part=id&playlistId=PLx").await;
    (rows(&store), items["items"][0]["id"].as_str().unwrap().to_owned())
}

fn request(who: &'static str, method: &'static str, target: &str, body: Value) -> Asked {
    (who, method, target.to_owned(), body)
}

fn video(id: &str) -> Value {
    json!({"kind": "youtube#video", "videoId": id})
}

/// Checks every pair of requests, in both orders.
fn check(base: &Rows, all: &[Asked]) {
    let mut found = Vec::new();
    for one in all {
        let ([(status, answer), _], _) = in_turn(base, [one, one], 0);
        assert!([200, 204].contains(&status), "{one:?}: {status} {answer}");
        for other in all {
            found.extend(faults(base, [one, other]));
        }
    }
    assert!(found.is_empty(), "{}:\n{}", found.len(), found.join("\n"));
}

#[tokio::test]
async fn comments_that_meet_come_out_as_one_after_the_other() {
    let (base, _) = base().await;
    let reply = |text: &str| json!({"snippet": {"parentId": "c", "textOriginal": text}});
    let edit = |id: &str, text: &str| json!({"id": id, "snippet": {"textOriginal": text}});
    let top = json!({"snippet": {"textOriginal": "Words here"}});
    let thread = json!({"snippet": {"videoId": "v", "topLevelComment": top}});
    let moderate = |id: &str, state: &str| {
        let target = format!("/comments/setModerationStatus?id={id}&moderationStatus={state}");
        request("ALICE", "POST", &target, Value::Null)
    };
    let all = [
        request("BOB", "POST", "/commentThreads?part=snippet", thread),
        moderate("c", "rejected"),
        moderate("c.r", "heldForReview"),
        request("BOB", "POST", "/comments?part=snippet", reply("Words new")),
        request("ALICE", "POST", "/comments?part=snippet", reply("Words again")),
        request("ALICE", "DELETE", "/comments?id=c.r", Value::Null),
        request("ALICE", "DELETE", "/comments?id=c", Value::Null),
        request("ALICE", "PUT", "/comments?part=snippet", edit("c.r", "Words welcome hello")),
        request("BOB", "PUT", "/comments?part=snippet", edit("c", "Words hello welcome")),
    ];
    check(&base, &all);
}

#[tokio::test]
async fn changes_of_a_playlist_that_meet_come_out_as_one_after_the_other() {
    let (base, item) = base().await;
    let listed = |id: &str, position: u32| json!({"snippet": {"playlistId": "PLx", "resourceId": video(id), "position": position}});
    let mut moved = listed("v", 1);
    moved["id"] = item.as_str().into();
    let noted = json!({"id": item, "contentDetails": {"note": "words"}});
    let renamed =
        json!({"id": "PLx", "snippet": {"title": "New"}, "status": {"privacyStatus": "private"}});
    let shelf =
        json!({"snippet": {"type": "singlePlaylist"}, "contentDetails": {"playlists": ["PLx"]}});
    let all = [
        request("ALICE", "DELETE", &format!("/playlistItems?id={item}"), Value::Null),
        request("ALICE", "POST", "/playlistItems?part=snippet", listed("v", 0)),
        request("ALICE", "POST", "/playlistItems?part=snippet", listed("w", 1)),
        request("ALICE", "PUT", "/playlistItems?part=snippet", moved),
        request("ALICE", "PUT", "/playlistItems?part=contentDetails", noted),
        request("ALICE", "DELETE", "/playlists?id=PLx", Value::Null),
        request("ALICE", "PUT", "/playlists?part=snippet,status", renamed),
        request("ALICE", "POST", "/channelSections?part=snippet,contentDetails", shelf),
    ];
    check(&base, &all);
}

#[tokio::test]
async fn changes_of_a_video_that_meet_come_out_as_one_after_the_other() {
    let (base, _) = base().await;
    let snippet = json!({"id": "v", "snippet": {"title": "New", "categoryId": "22"}});
    let status = json!({"id": "v", "status": {"privacyStatus": "private"}});
    let favorite = json!({"snippet": {"playlistId": "FL", "resourceId": video("v")}});
    let draft = json!({"id": "c", "snippet": {"isDraft": true}});
    let all = [
        request("ALICE", "DELETE", "/captions?id=c", Value::Null),
        request("ALICE", "PUT", "/captions?part=snippet", draft),
        request("ALICE", "POST", "/playlistItems?part=snippet", favorite),
        request("ALICE", "DELETE", "/videos?id=v", Value::Null),
        request("ALICE", "PUT", "/videos?part=snippet,statistics", snippet),
        request("ALICE", "PUT", "/videos?part=status", status),
        request("ALICE", "POST", "/videos/rate?id=v&rating=like", Value::Null),
        request("BOB", "POST", "/videos/rate?id=v&rating=dislike", Value::Null),
    ];
    check(&base, &all);
}

#[tokio::test]
async fn changes_of_a_channel_that_meet_come_out_as_one_after_the_other() {
    let (base, _) = base().await;
    let resource = json!({"kind": "youtube#channel", "channelId": "UCbob"});
    let moved = json!({"id": "shelf", "snippet": {"type": "popularUploads"}});
    let made = json!({"snippet": {"type": "recentUploads", "position": 0}});
    let settings = json!({"unsubscribedTrailer": "v"});
    let branding = json!({"id": "UCx", "brandingSettings": {"channel": settings}});
    let all = [
        request("ALICE", "DELETE", "/channelSections?id=shelf", Value::Null),
        request("ALICE", "POST", "/channelSections?part=snippet", made),
        request("ALICE", "PUT", "/channelSections?part=snippet", moved),
        request("ALICE", "PUT", "/channels?part=brandingSettings", branding),
        request("ALICE", "DELETE", "/videos?id=v", Value::Null),
        request("BOB", "DELETE", "/subscriptions?id=s", Value::Null),
        request(
            "ALICE",
            "POST",
            "/subscriptions?part=snippet",
            json!({"snippet": {"resourceId": resource}}),
        ),
    ];
    check(&base, &all);
}
