//! Writers that meet: what only one may have, what is counted, and what goes while somebody names it.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use triptych_core::blobs::MemoryBlobs;
use triptych_core::id::SeededIds;
use triptych_core::kv::{KeyValue, Memory, Span, run_blocking};
use video_api::resource::cascade;

use crate::model::derived;
use crate::service::{Service, ask};

/// Writers at once.
const WRITERS: usize = 12;

async fn service() -> (Arc<Service>, Arc<Memory>) {
    let store = Arc::new(Memory::new());
    let blobs = MemoryBlobs::new(SeededIds::from_number(1));
    (Arc::new(Service::on(Arc::<Memory>::clone(&store), Arc::new(blobs), 0).await), store)
}

/// Status and reason of each of many requests that are sent at once.
async fn at_once(
    service: &Arc<Service>,
    requests: Vec<(&'static str, &'static str, String, Value)>,
) -> Vec<(u16, String)> {
    let tasks: Vec<_> = requests
        .into_iter()
        .map(|(who, method, target, body)| {
            let service = Arc::clone(service);
            tokio::spawn(async move {
                let (status, answer) = ask(&service, who, method, &target, body).await;
                let reason = answer["error"]["errors"][0]["reason"].as_str().unwrap_or_default();
                (status, reason.to_owned())
            })
        })
        .collect();
    let mut told = Vec::new();
    for task in tasks {
        told.push(task.await.unwrap());
    }
    told
}

/// The number of times that each outcome was told.
fn tally(told: Vec<(u16, String)>) -> BTreeMap<(u16, String), usize> {
    let mut counts = BTreeMap::new();
    told.into_iter().for_each(|one| *counts.entry(one).or_default() += 1);
    counts
}

/// Carries out what is left to do, and looks for rows that no rebuild would make.
fn settle(store: &Memory) {
    let mut ids = SeededIds::from_number(9);
    while run_blocking(store, &mut ids, 64, |tx, _| cascade::sweep(tx)).unwrap() {}
    derived::check(store);
}

async fn items(service: &Service, who: &str, target: &str) -> Vec<Value> {
    let (status, found) = ask(service, who, "GET", target, Value::Null).await;
    assert_eq!(status, 200, "{target}: {found}");
    found["items"].as_array().unwrap().clone()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_more_sections_at_once_than_a_channel_may_have_ten_are_made() {
    let (service, store) = service().await;
    let insert = |at: usize| {
        let position = at.is_multiple_of(2).then_some(0);
        let body = json!({"snippet": {"type": "recentUploads", "position": position}});
        ("ALICE", "POST", "/channelSections?part=snippet".to_owned(), body)
    };
    let told = tally(at_once(&service, (0..16).map(insert).collect()).await);
    let full = (400, "maxChannelSectionExceeded".to_owned());
    assert_eq!(told, BTreeMap::from([((200, String::new()), 9), (full, 7)]));
    let order = async || {
        let found = items(&service, "ALICE", "/channelSections?part=snippet&mine=true").await;
        let positions: Vec<_> =
            found.iter().map(|item| item["snippet"]["position"].as_u64().unwrap()).collect();
        assert_eq!(positions, (0..found.len() as u64).collect::<Vec<_>>(), "positions are dense");
        found.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    let ids = order().await;
    assert_eq!(ids.len(), 10);
    let change = |(at, id): (usize, &String)| match at % 2 {
        0 => ("ALICE", "DELETE", format!("/channelSections?id={id}"), Value::Null),
        _ => {
            let body = json!({"id": id, "snippet": {"type": "likes", "position": 0}});
            ("ALICE", "PUT", "/channelSections?part=snippet".to_owned(), body)
        }
    };
    let told = at_once(&service, ids.iter().enumerate().map(change).collect()).await;
    assert!(told.iter().all(|(status, _)| [200, 204].contains(status)), "{told:?}");
    assert_eq!(order().await.len(), 5);
    settle(&store);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_equal_tracks_one_is_made() {
    let (service, store) = service().await;
    let tasks: Vec<_> = (0..WRITERS)
        .map(|_| {
            let service = Arc::clone(&service);
            tokio::spawn(async move {
                let text = "--b\r\n\r\n{\"snippet\": {\"videoId\": \"w\", \"language\": \"de\", \"name\": \"n\"}}\r\n--b\r\n\
                    Content-Type: text/vtt\r\n\r\nWEBVTT\n\n00:01.000 --> 00:02.000\nHello\n\r\n--b--";
                let headers = [("content-type", "multipart/related; boundary=b")];
                let target = "/upload/youtube/v3/captions?part=snippet&uploadType=multipart";
                let answer =
                    service.ask_with("POST", target, "ALICE", &headers, text.as_bytes()).await;
                (answer.status, answer.reason())
            })
        })
        .collect();
    let mut told = Vec::new();
    for task in tasks {
        told.push(task.await.unwrap());
    }
    let exists = (409, "captionExists".to_owned());
    assert_eq!(tally(told), BTreeMap::from([((200, String::new()), 1), (exists, WRITERS - 1)]));
    assert_eq!(items(&service, "ALICE", "/captions?part=id&videoId=w").await.len(), 1);
    settle(&store);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_equal_subscriptions_one_is_made_and_counted() {
    let (service, store) = service().await;
    let resource = json!({"kind": "youtube#channel", "channelId": "UCbob"});
    let subscribe = || {
        let body = json!({"snippet": {"resourceId": resource}});
        ("ALICE", "POST", "/subscriptions?part=snippet".to_owned(), body)
    };
    let told = tally(at_once(&service, (0..WRITERS).map(|_| subscribe()).collect()).await);
    let duplicate = (400, "subscriptionDuplicate".to_owned());
    assert_eq!(told, BTreeMap::from([((200, String::new()), 1), (duplicate, WRITERS - 1)]));
    let subscribers = async || {
        let found = items(&service, "ALICE", "/channels?part=statistics&id=UCbob").await;
        found[0]["statistics"]["subscriberCount"].as_str().unwrap().to_owned()
    };
    assert_eq!(subscribers().await, "1");
    let own = items(&service, "ALICE", "/subscriptions?part=id&mine=true").await;
    let target = format!("/subscriptions?id={}", own[0]["id"].as_str().unwrap());
    let end = || ("ALICE", "DELETE", target.clone(), Value::Null);
    let told = at_once(&service, (0..WRITERS).map(|_| end()).collect()).await;
    assert_eq!(told.iter().filter(|(status, _)| *status == 204).count(), 1, "{told:?}");
    assert_eq!(subscribers().await, "0");
    settle(&store);
}

/// Threads about `w`, each with two replies: ids of the thread and of the replies.
async fn threads(service: &Service, count: usize) -> Vec<[String; 3]> {
    let mut made = Vec::new();
    for number in 0..count {
        let top = json!({"snippet": {"textOriginal": format!("thread {number}")}});
        let body = json!({"snippet": {"videoId": "w", "topLevelComment": top}});
        let (_, thread) = ask(service, "BOB", "POST", "/commentThreads?part=snippet", body).await;
        let thread = thread["id"].as_str().unwrap().to_owned();
        let reply = async |text: &str| {
            let body = json!({"snippet": {"parentId": thread, "textOriginal": text}});
            let (_, reply) = ask(service, "ALICE", "POST", "/comments?part=snippet", body).await;
            reply["id"].as_str().unwrap().to_owned()
        };
        let replies = [reply("one").await, reply("two").await];
        let [one, two] = replies;
        made.push([thread, one, two]);
    }
    made
}

/// Checks that what is counted of `w` is what a reader of all its lists finds.
async fn check_count(service: &Service) {
    let target = "/commentThreads?part=snippet&videoId=w&maxResults=100";
    let (_, found) = ask(service, "BOB", "GET", target, Value::Null).await;
    let listed = found["items"].as_array().unwrap();
    assert_eq!(found["pageInfo"]["totalResults"], listed.len());
    let mut seen = 0;
    for thread in listed {
        let id = thread["id"].as_str().unwrap();
        let target = format!("/comments?part=id&parentId={id}&maxResults=100");
        let replies = items(service, "BOB", &target).await.len();
        assert_eq!(thread["snippet"]["totalReplyCount"], replies);
        seen += 1 + replies;
    }
    let video = items(service, "BOB", "/videos?part=statistics&id=w").await;
    assert_eq!(video[0]["statistics"]["commentCount"], seen.to_string());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn moderation_against_delete_leaves_every_counter_right() {
    let (service, store) = service().await;
    let made = threads(&service, WRITERS).await;
    check_count(&service).await;
    let mut requests = Vec::new();
    for [thread, reply, other] in &made {
        let moderate = |id: &str, state: &str| {
            let target = format!("/comments/setModerationStatus?id={id}&moderationStatus={state}");
            ("ALICE", "POST", target, Value::Null)
        };
        let delete = |id: &str| ("ALICE", "DELETE", format!("/comments?id={id}"), Value::Null);
        requests.extend([
            moderate(thread, "rejected"),
            delete(reply),
            moderate(reply, "heldForReview"),
            moderate(&format!("{thread},{other}"), "published"),
            delete(thread),
        ]);
    }
    let told = at_once(&service, requests).await;
    assert!(told.iter().all(|(status, _)| [204, 404].contains(status)), "{told:?}");
    check_count(&service).await;
    settle(&store);
    check_count(&service).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn a_reply_against_the_delete_of_its_thread_leaves_every_counter_right() {
    let (service, store) = service().await;
    let made = threads(&service, WRITERS).await;
    let mut requests = Vec::new();
    for [thread, reply, _] in &made {
        let body = json!({"snippet": {"parentId": thread, "textOriginal": "late"}});
        let edit = json!({"id": reply, "snippet": {"textOriginal": "edited"}});
        requests.extend([
            ("BOB", "POST", "/comments?part=snippet".to_owned(), body.clone()),
            ("BOB", "DELETE", format!("/comments?id={thread}"), Value::Null),
            ("ALICE", "PUT", "/comments?part=snippet".to_owned(), edit),
            ("ALICE", "POST", "/comments?part=snippet".to_owned(), body),
        ]);
    }
    let told = at_once(&service, requests).await;
    assert!(told.iter().all(|(status, _)| [200, 204, 404].contains(status)), "{told:?}");
    assert_eq!(told.iter().filter(|(status, _)| *status == 204).count(), WRITERS);
    check_count(&service).await;
    settle(&store);
    check_count(&service).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn what_names_a_thing_while_it_goes_leaves_nothing_of_it_behind() {
    let (service, store) = service().await;
    let mut requests = vec![
        ("ALICE", "DELETE", "/videos?id=w".to_owned(), Value::Null),
        ("ALICE", "DELETE", "/playlists?id=PL".to_owned(), Value::Null),
    ];
    for number in 0..8 {
        let top = json!({"snippet": {"textOriginal": format!("thread {number}")}});
        let body = json!({"snippet": {"videoId": "w", "topLevelComment": top}});
        let section =
            json!({"snippet": {"type": "singlePlaylist"}, "contentDetails": {"playlists": ["PL"]}});
        let parts = "/channelSections?part=snippet,contentDetails".to_owned();
        requests.extend([
            ("BOB", "POST", "/commentThreads?part=snippet".to_owned(), body),
            (
                "BOB",
                "POST",
                format!("/videos/rate?id=w&rating={}", ["like", "none"][number % 2]),
                Value::Null,
            ),
            ("ALICE", "POST", parts, section),
        ]);
    }
    let told = at_once(&service, requests).await;
    assert!(told.iter().all(|(status, _)| [200, 204, 404].contains(status)), "{told:?}");
    settle(&store);
    let rows = store.scan(&Span::default(), 1_000_000).unwrap().rows;
    let holds = |bytes: &[u8], name: &str| {
        bytes.windows(name.len()).any(|window| window == name.as_bytes())
    };
    // The playlist of the seed keeps a gap; the index has noted what is gone.
    let named: Vec<_> = rows
        .iter()
        .filter(|(key, _)| {
            key[0] < 0x80 && ![0x31, 0x32, 0x33, 0x34, 0x35, 0x36, 0x4A].contains(&key[0])
        })
        .filter(|(key, value)| {
            // A counter has a member of this name, which names no video.
            let value = String::from_utf8_lossy(value).replace("\"w\":", "");
            value.contains("\"PL\"") || holds(key, "Vw") || value.contains("\"w\"")
        })
        .map(|(key, value)| (key.clone(), value.clone()))
        .collect();
    assert_eq!(named, [], "rows that name what is gone");
    let sections = items(&service, "ALICE", "/channelSections?part=contentDetails&mine=true").await;
    let lists =
        sections.iter().filter_map(|section| section["contentDetails"]["playlists"].as_array());
    assert!(lists.into_iter().all(Vec::is_empty), "{sections:?}");
}
