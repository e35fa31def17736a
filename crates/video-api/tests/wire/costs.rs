//! Costs of lists and cascades, as rows that are read and written: none follows from rows that are not in the answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use serde_json::{Value, json};
use triptych_core::blobs::MemoryBlobs;
use triptych_core::id::SeededIds;
use triptych_core::kv::{
    Batch, Found, KeyValue, Memory, Page, Span, StoreError, Version, run_blocking,
};
use triptych_core::pending::Pending;
use video_api::api::paginate::LEFT_OUT_MAX;
use video_api::resource::cascade;

use crate::service::Service;

/// A store that counts the rows that are read of it, its batches, and the operations of the largest one.
#[derive(Default)]
struct Counting {
    store: Memory,
    rows: AtomicU64,
    batches: AtomicUsize,
    largest: AtomicUsize,
}

impl KeyValue for Counting {
    fn get(&self, key: &[u8]) -> Result<Found, StoreError> {
        self.rows.fetch_add(1, Ordering::Relaxed);
        self.store.get(key)
    }

    fn scan(&self, span: &Span, limit: usize) -> Result<Page, StoreError> {
        let page = self.store.scan(span, limit)?;
        self.rows.fetch_add(page.rows.len() as u64, Ordering::Relaxed);
        Ok(page)
    }

    fn commit(&self, batch: Batch) -> Pending<Result<Version, StoreError>> {
        let operations = batch.expectations.len() + batch.writes.len();
        self.largest.fetch_max(operations, Ordering::Relaxed);
        self.batches.fetch_add(1, Ordering::Relaxed);
        self.store.commit(batch)
    }

    fn durable(&self, seen: Version) -> Option<Pending<Result<(), StoreError>>> {
        self.store.durable(seen)
    }
}

/// Alice with so many of everything that a list can hold, of which three comments say a word that no other does.
fn seed(size: usize) -> String {
    let token = |id: &str| {
        json!([{"token": id.to_uppercase(), "scopes":
            ["youtube", "youtube.force-ssl", "youtube.channel-memberships.creator"]}])
    };
    let alice = json!({"id": "alice", "tokens": token("alice"), "channel": {"id": "UCalice", "title": "Alice"}});
    let others = (0..size).map(|at| {
        let title = format!("Channel {at:05}");
        json!({"id": format!("a{at}"), "channel": {"id": format!("UC{at}"), "title": title}})
    });
    let each = |of: &dyn Fn(usize) -> Value| (0..size).map(of).collect::<Vec<_>>();
    let time =
        |at: usize| format!("2026-01-01T{:02}:{:02}:{:02}Z", at / 3600, at / 60 % 60, at % 60);
    let comment = |at: usize| {
        let word = if at < 3 { "otter" } else { "heron" };
        let replies = if at == 0 {
            each(
                &|at| json!({"id": format!("r{at}"), "author": format!("a{at}"), "textOriginal": "reply", "publishedAt": time(at)}),
            )
        } else {
            Vec::new()
        };
        json!({"id": format!("t{at}"), "author": format!("a{at}"), "video": "v0", "textOriginal": format!("a {word} beside the waterside"),
            "publishedAt": time(at), "replies": replies})
    };
    let accounts: Vec<_> = [alice].into_iter().chain(others).collect();
    let follow = |subscriber: &str, channel: &str, at: usize| json!({"subscriber": subscriber, "channel": channel, "publishedAt": time(at)});
    let mut subscriptions = each(&|at| follow("alice", &format!("a{at}"), at));
    subscriptions.extend(each(&|at| follow(&format!("a{at}"), "alice", at)));
    json!({
        "projects": [{"id": "p", "apiKeys": ["KEY"]}],
        "accounts": accounts,
        "videos": each(&|at| json!({"id": format!("v{at}"), "owner": "alice", "publishedAt": time(at), "snippet": {"title": format!("Film {at}"), "categoryId": "22"}})),
        "ratings": each(&|at| json!({"account": "alice", "video": format!("v{at}"), "rating": "like"})),
        "subscriptions": subscriptions,
        "membershipsLevels": [{"id": "tin", "channel": "alice", "displayName": "Tin", "priceMicros": 1_000_000}],
        "members": each(&|at| json!({"creator": "alice", "member": format!("a{at}"), "level": "tin", "since": time(at)})),
        "comments": each(&comment),
    })
    .to_string()
}

async fn service(size: usize) -> (Service, Arc<Counting>) {
    let store = Arc::new(Counting::default());
    let blobs = MemoryBlobs::new(SeededIds::from_number(1));
    let service =
        Service::filled(Arc::<Counting>::clone(&store), Arc::new(blobs), 0, &seed(size)).await;
    (service, store)
}

/// Rows that the first page of a list reads, and the second one.
async fn costs(service: &Service, store: &Counting, list: &str) -> (u64, u64) {
    // The first search of a service brings the index up to date.
    service.ask("GET", &format!("/youtube/v3{list}"), "ALICE", "").await;
    let mut rows = [0; 2];
    let mut token = String::new();
    for rows in &mut rows {
        let before = store.rows.load(Ordering::Relaxed);
        let target = format!("/youtube/v3{list}&maxResults=5{token}");
        let answer = service.ask("GET", &target, "ALICE", "").await;
        assert_eq!(answer.status, 200, "{target}: {}", answer.json());
        *rows = store.rows.load(Ordering::Relaxed) - before;
        if let Some(next) = answer.json()["nextPageToken"].as_str() {
            token = format!("&pageToken={next}");
        }
    }
    let [first, second] = rows;
    (first, second)
}

#[tokio::test]
async fn no_list_reads_more_rows_where_more_are_not_in_its_answer() {
    let (small, few) = service(250).await;
    let (large, many) = service(1_000).await;
    for list in [
        "/commentThreads?part=id,snippet,replies&videoId=v0",
        "/commentThreads?part=id,snippet,replies&videoId=v0&order=relevance",
        "/commentThreads?part=id,snippet&videoId=v0&searchTerms=otter",
        "/commentThreads?part=id,snippet&videoId=v0&searchTerms=waterside%20otter",
        "/commentThreads?part=id,snippet&allThreadsRelatedToChannelId=UCalice",
        "/comments?part=id,snippet&parentId=t0",
        "/activities?part=id,snippet,contentDetails&mine=true",
        "/activities?part=id,snippet,contentDetails&channelId=UCalice",
        "/subscriptions?part=id,snippet&mine=true",
        "/subscriptions?part=id,snippet&mine=true&order=alphabetical",
        "/subscriptions?part=id,subscriberSnippet&mySubscribers=true",
        "/subscriptions?part=id,subscriberSnippet&myRecentSubscribers=true",
        "/channels?part=id,statistics&mySubscribers=true",
        "/members?part=snippet",
        "/videos?part=id,snippet,statistics&chart=mostPopular",
        "/videos?part=id,snippet&myRating=like",
        "/playlistItems?part=id,snippet&playlistId=LL",
        "/playlistItems?part=id,snippet&playlistId=UUalice",
        "/search?part=id&order=date",
    ] {
        let (before, after) = (costs(&small, &few, list).await, costs(&large, &many, list).await);
        assert!(before.0 > 5, "{list} is read");
        assert!(after.0 <= before.0 + 5, "{list}: {after:?} rows of many, {before:?} of few");
        assert!(
            after.1 <= before.1 + 5,
            "{list}, page 2: {after:?} rows of many, {before:?} of few"
        );
    }
}

/// So many threads of Bob's about a private video of Alice's, and three before them that everyone sees.
fn hidden(size: usize) -> String {
    let comment = |at: usize| {
        let (video, text) = if at < 3 { ("open", "an ox") } else { ("private", "a buffalo") };
        let time = format!("2026-01-01T{:02}:{:02}:{:02}Z", at / 3600, at / 60 % 60, at % 60);
        json!({"id": format!("t{at}"), "author": "bob", "video": video, "textOriginal": text, "publishedAt": time})
    };
    json!({
        "projects": [{"id": "p", "apiKeys": ["KEY"], "quota": "off"}],
        "accounts": [
            {"id": "alice", "channel": {"id": "UCalice", "title": "Alice"}},
            {"id": "bob", "channel": {"id": "UCbob", "title": "Bob"}}],
        "videos": [
            {"id": "open", "owner": "alice", "snippet": {"title": "Open"}},
            {"id": "private", "owner": "alice", "snippet": {"title": "P"}, "status": {"privacyStatus": "private"}}],
        "comments": (0..size + 3).map(comment).collect::<Vec<_>>(),
    })
    .to_string()
}

#[tokio::test]
async fn a_page_looks_at_a_bounded_part_of_what_nobody_is_shown_and_the_next_goes_on_behind_it() {
    let mut costs = Vec::new();
    let most = LEFT_OUT_MAX as usize;
    for size in [most + 100, most + 900] {
        let store = Arc::new(Counting::default());
        let blobs = Arc::new(MemoryBlobs::new(SeededIds::from_number(1)));
        let service =
            Service::filled(Arc::<Counting>::clone(&store), blobs, 0, &hidden(size)).await;
        for list in [
            "/commentThreads?part=id&allThreadsRelatedToChannelId=UCalice",
            "/commentThreads?part=id&allThreadsRelatedToChannelId=UCalice&order=relevance",
            "/activities?part=id&channelId=UCbob",
        ] {
            let (mut token, mut found, mut pages) = (String::new(), 0, 0);
            loop {
                let before = store.rows.load(Ordering::Relaxed);
                let target = format!("/youtube/v3{list}&key=KEY{token}");
                let page = service.ask("GET", &target, "", "").await.json();
                if pages == 0 {
                    costs.push((list, store.rows.load(Ordering::Relaxed) - before));
                }
                pages += 1;
                found += page["items"].as_array().unwrap().len();
                let Some(next) = page["nextPageToken"].as_str() else { break };
                token = format!("&pageToken={next}");
            }
            assert_eq!((found, pages), (3, 2), "{list}");
        }
    }
    let (few, many) = costs.split_at(costs.len() / 2);
    assert_eq!(few, many);
}

#[tokio::test]
async fn a_cascade_goes_in_batches_of_bounded_size() {
    let (service, store) = service(250).await;
    store.largest.store(0, Ordering::Relaxed);
    let before = store.batches.load(Ordering::Relaxed);
    let told = service.ask("DELETE", "/youtube/v3/videos?id=v0", "ALICE", "").await;
    assert_eq!(told.status, 204);
    // The service sweeps as well.
    let mut ids = SeededIds::from_number(9);
    while run_blocking(&*store, &mut ids, 64, |tx, _| cascade::sweep(tx)).unwrap() {}
    let steps = store.batches.load(Ordering::Relaxed) - before;
    let largest = store.largest.load(Ordering::Relaxed);
    assert!(steps > 10 && largest <= 700, "{steps} steps, the largest of {largest} operations");
    let left = store.scan(&Span::of(vec![0x40]), 10_000).unwrap().rows;
    assert_eq!(left, [], "comments that are left");
}
