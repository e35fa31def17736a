//! Things that go with one that is deleted, step by step, and what of them is seen meanwhile.

use std::sync::Arc;

use serde_json::{Value, json};
use triptych_core::blobs::MemoryBlobs;
use triptych_core::id::SeededIds;
use triptych_core::kv::{KeyValue, Memory, Span, StoreError, Tx, run_blocking};
use video_api::resource::cascade;
use video_api::resource::channels::record::Id;
use video_api::resource::playlists::record::PLAYLIST_GARBAGE;

use crate::service::{Service, ask};

/// A service on a store that is looked into.
async fn service() -> (Service, Arc<Memory>) {
    let store = Arc::new(Memory::new());
    (on(&store, 0).await, store)
}

async fn on(store: &Arc<Memory>, run: u64) -> Service {
    let blobs = MemoryBlobs::new(SeededIds::from_number(1));
    Service::on(Arc::<Memory>::clone(store), Arc::new(blobs), run).await
}

/// Carries out one step of a job; says whether there may be more.
fn step(store: &Memory) -> bool {
    let mut ids = SeededIds::from_number(9);
    run_blocking(store, &mut ids, 64, |tx, _| cascade::sweep(tx)).unwrap()
}

fn finish(store: &Memory) {
    while step(store) {}
}

/// Tables of the rows whose key or value names something.
fn tables_with(store: &Memory, name: &str) -> Vec<u8> {
    let rows = store.scan(&Span::default(), 1_000_000).unwrap().rows;
    let holds = |bytes: &[u8]| bytes.windows(name.len()).any(|window| window == name.as_bytes());
    let named = rows.iter().filter(|(key, value)| holds(key) || holds(value));
    let mut tables: Vec<_> = named.map(|(key, _)| key[0]).collect();
    tables.dedup();
    tables
}

async fn total(service: &Service, who: &str, target: &str) -> u64 {
    let (status, found) = ask(service, who, "GET", target, Value::Null).await;
    assert_eq!(status, 200, "{target}: {found}");
    found["pageInfo"]["totalResults"].as_u64().unwrap()
}

/// Two hundred threads with replies about a video of Alice's that is called `target-video`, liked by both and promoted.
async fn fill(service: &Service) {
    let branding = json!({"channel": {"unsubscribedTrailer": "target-video"}});
    let items = json!([{"id": {"type": "video", "videoId": "target-video"}}, {"id": {"type": "video", "videoId": "v"}}]);
    let body =
        json!({"id": "UCx", "brandingSettings": branding, "invideoPromotion": {"items": items}});
    let told =
        ask(service, "ALICE", "PUT", "/channels?part=brandingSettings,invideoPromotion", body)
            .await;
    assert_eq!(told.0, 200, "{}", told.1);
    for who in ["ALICE", "BOB"] {
        ask(service, who, "POST", "/videos/rate?id=target-video&rating=like", Value::Null).await;
    }
    for number in 0..60 {
        let who = ["ALICE", "BOB"][number % 2];
        let top = json!({"snippet": {"textOriginal": format!("thread number {number}")}});
        let body = json!({"snippet": {"videoId": "target-video", "topLevelComment": top}});
        let (_, thread) = ask(service, who, "POST", "/commentThreads?part=snippet", body).await;
        let body = json!({"snippet": {"parentId": thread["id"], "textOriginal": "reply"}});
        assert_eq!(ask(service, who, "POST", "/comments?part=snippet", body).await.0, 200);
    }
}

fn seed() -> String {
    let video = r#""videos": [
        {"id": "target-video", "owner": "alice", "snippet": {"title": "Target", "categoryId": "22"}},"#;
    crate::service::SEED.replacen("\"videos\": [", video, 1)
}

async fn filled() -> (Service, Arc<Memory>) {
    let store = Arc::new(Memory::new());
    let blobs = MemoryBlobs::new(SeededIds::from_number(1));
    let service = Service::filled(Arc::<Memory>::clone(&store), Arc::new(blobs), 0, &seed()).await;
    fill(&service).await;
    (service, store)
}

#[tokio::test]
async fn nothing_of_a_deleted_video_is_found_at_once_and_nothing_is_left_in_the_end() {
    let (service, store) = filled().await;
    let all = "/commentThreads?part=id&allThreadsRelatedToChannelId=UCx&maxResults=1";
    assert_eq!(total(&service, "BOB", all).await, 61);
    let (_, found) = ask(
        &service,
        "BOB",
        "GET",
        "/commentThreads?part=id&videoId=target-video&maxResults=1",
        Value::Null,
    )
    .await;
    let thread = found["items"][0]["id"].as_str().unwrap().to_owned();
    let told = ask(&service, "ALICE", "DELETE", "/videos?id=target-video", Value::Null).await;
    assert_eq!(told.0, 204);
    let look = async || {
        let gone = ask(
            &service,
            "BOB",
            "GET",
            "/commentThreads?part=id&videoId=target-video",
            Value::Null,
        )
        .await;
        assert_eq!(gone.0, 404);
        let by_id =
            ask(&service, "BOB", "GET", &format!("/comments?part=id&id={thread}"), Value::Null)
                .await;
        assert_eq!(by_id.1["items"], json!([]));
        assert_eq!(total(&service, "BOB", all).await, 1, "the total is right at once");
        let (_, listed) = ask(&service, "BOB", "GET", all, Value::Null).await;
        assert_eq!(listed["items"][0]["id"], "c");
        let (_, channel) = ask(
            &service,
            "ALICE",
            "GET",
            "/channels?part=brandingSettings,invideoPromotion&id=UCx",
            Value::Null,
        )
        .await;
        let channel = &channel["items"][0];
        assert_eq!(channel["brandingSettings"]["channel"].get("unsubscribedTrailer"), None);
        assert_eq!(channel["invideoPromotion"]["items"].as_array().unwrap().len(), 1);
    };
    look().await;
    while step(&store) {
        look().await;
    }
    assert_eq!(total(&service, "BOB", "/playlistItems?part=id&playlistId=LL").await, 0);
    assert_eq!(total(&service, "ALICE", "/videos?part=id&myRating=like").await, 0);
    // What the index still has to follow is the note of the deleted document.
    let left: Vec<_> =
        tables_with(&store, "target-video").into_iter().filter(|table| *table < 0x80).collect();
    assert_eq!(left, [0_u8; 0], "tables that name it still");
}

#[tokio::test]
async fn a_job_that_was_interrupted_anywhere_ends_as_one_that_was_not() {
    let rows = |store: &Memory| {
        let rows = store.scan(&Span::default(), 1_000_000).unwrap().rows.into_iter();
        rows.filter(|(key, _)| key[0] < 0x80).collect::<Vec<_>>()
    };
    let mut whole = None;
    for cut in 0..20 {
        let (service, store) = filled().await;
        // The task of the service itself ends the job as well: both may.
        ask(&service, "ALICE", "DELETE", "/videos?id=target-video", Value::Null).await;
        for _ in 0..cut {
            step(&store);
        }
        drop(service);
        let service = on(&store, 1).await;
        finish(&store);
        assert_eq!(
            total(&service, "BOB", "/commentThreads?part=id&allThreadsRelatedToChannelId=UCx")
                .await,
            1
        );
        let left = rows(&store);
        assert!(*whole.get_or_insert_with(|| left.clone()) == left, "cut after {cut} steps");
    }
}

#[tokio::test]
async fn a_closed_account_takes_its_channel_along_and_leaves_its_words_without_a_name() {
    let (service, store) = service().await;
    for (target, body) in [
        (
            "/playlistItems?part=snippet",
            json!({"snippet": {"playlistId": "FL", "resourceId": {"kind": "youtube#video", "videoId": "v"}}}),
        ),
        (
            "/playlistItems?part=snippet",
            json!({"snippet": {"playlistId": "HL", "resourceId": {"kind": "youtube#video", "videoId": "v"}}}),
        ),
        ("/playlists?part=snippet", json!({"snippet": {"title": "Bob's"}})),
        (
            "/commentThreads?part=snippet",
            json!({"snippet": {"channelId": "UCbob", "topLevelComment": {"snippet": {"textOriginal": "own"}}}}),
        ),
    ] {
        let told = ask(&service, "BOB", "POST", target, body).await;
        assert_eq!(told.0, 200, "{target}: {}", told.1);
    }
    ask(&service, "BOB", "POST", "/videos/rate?id=v&rating=like", Value::Null).await;
    let body =
        json!({"snippet": {"resourceId": {"kind": "youtube#channel", "channelId": "UCbob"}}});
    ask(&service, "ALICE", "POST", "/subscriptions?part=snippet", body).await;
    for (body, status) in
        [(r#"{"account": "none"}"#, 404), (r#"{}"#, 400), (r#"{"account": "bob"}"#, 200)]
    {
        assert_eq!(service.control("POST", "/_ops/accounts/close", body).await.status, status);
    }
    let (status, error) =
        ask(&service, "BOB", "GET", "/playlists?part=id&mine=true", Value::Null).await;
    assert_eq!(
        (status, &error["error"]["errors"][0]["reason"]),
        (403, &json!("authenticatedUserAccountClosed"))
    );
    assert_eq!(total(&service, "ALICE", "/channels?part=id&id=UCbob").await, 0);
    finish(&store);
    let (_, video) =
        ask(&service, "ALICE", "GET", "/videos?part=statistics&id=v", Value::Null).await;
    let statistics = &video["items"][0]["statistics"];
    assert_eq!(
        (&statistics["likeCount"], &statistics["favoriteCount"]),
        (&json!("0"), &json!("0"))
    );
    let (_, channel) =
        ask(&service, "ALICE", "GET", "/channels?part=statistics&id=UCx", Value::Null).await;
    assert_eq!(channel["items"][0]["statistics"]["subscriberCount"], "0");
    assert_eq!(total(&service, "ALICE", "/subscriptions?part=id&mine=true").await, 0);
    let (_, comment) =
        ask(&service, "ALICE", "GET", "/comments?part=snippet&id=c", Value::Null).await;
    let snippet = &comment["items"][0]["snippet"];
    assert_eq!(
        (&snippet["authorDisplayName"], &snippet["textDisplay"]),
        (&json!(""), &json!("Hello &lt;b&gt;"))
    );
    assert_eq!(snippet.get("authorChannelId"), None);
    // A request that names it is told that it was closed, and its comment on a video of Alice's names it as its author.
    let left: Vec<_> =
        tables_with(&store, "UCbob").into_iter().filter(|table| *table < 0x80).collect();
    assert_eq!(left, [0x18, 0x40], "tables that name the channel still");
}

#[tokio::test]
async fn a_deleted_playlist_takes_the_activities_of_its_items_along() {
    let (service, store) = service().await;
    assert_eq!(ask(&service, "ALICE", "DELETE", "/playlists?id=PLx", Value::Null).await.0, 204);
    finish(&store);
    let left: Vec<_> =
        tables_with(&store, "PLx").into_iter().filter(|table| *table < 0x80).collect();
    assert_eq!(left, [0_u8; 0]);
}

#[tokio::test]
async fn playlists_whose_items_are_still_to_be_removed_are_told_as_other_removals_are() {
    let (_, store) = service().await;
    let removals = || cascade::removals(&mut Tx::new(&*store)).unwrap();
    assert_eq!(removals(), 0);
    run_blocking(&*store, &mut SeededIds::from_number(9), 1, |tx, _| {
        for playlist in ["PLa", "PLb"] {
            PLAYLIST_GARBAGE.put(tx, &playlist.to_owned(), &Id("UCx".to_owned()));
        }
        Ok::<_, StoreError>(())
    })
    .unwrap();
    assert_eq!(removals(), 2);
    assert!(step(&store));
    assert_eq!(removals(), 1);
    finish(&store);
    assert_eq!(removals(), 0);
}
