//! Whoever sees a thread and its reply: each state of either, each viewer, each way to ask, about a video and about a channel.

use serde_json::{Value, json};

use super::{ask, count, moderate, open, reply};
use crate::service::Service;

const STATES: [&str; 4] = ["published", "heldForReview", "likelySpam", "rejected"];
const PUBLISHED: usize = 0;
const REJECTED: usize = 3;

/// Whoever asks: with a token or a key, and whether they own the channel or wrote the comments.
#[derive(Clone, Copy)]
struct Viewer {
    token: &'static str,
    key: &'static str,
    is_owner: bool,
    is_author: bool,
}

const VIEWERS: [Viewer; 3] = [
    Viewer { token: "", key: "&key=KEY", is_owner: false, is_author: false },
    Viewer { token: "BOB", key: "", is_owner: false, is_author: true },
    Viewer { token: "ALICE", key: "", is_owner: true, is_author: false },
];

/// A thread with one reply of the same author, in their states.
struct Thread {
    top: String,
    reply: String,
    states: [usize; 2],
}

impl Thread {
    async fn moderate(&mut self, service: &Service, states: [usize; 2]) {
        for (id, state) in [&self.top, &self.reply].into_iter().zip(states) {
            let body = json!({"comment": id, "moderationStatus": STATES[state]});
            let told = service.control("POST", "/_ops/comments", &body.to_string()).await;
            assert_eq!(told.status, 200, "{}", told.json());
        }
        self.states = states;
    }

    /// Returns whether its first comment, or its reply, is found by the id.
    fn is_found(&self, viewer: Viewer) -> [bool; 2] {
        let [top, reply] = self.states.map(|state| state == PUBLISHED);
        let own = viewer.is_owner || viewer.is_author;
        [own || top, own || (top && reply)]
    }

    /// Returns whether it is listed under a state.
    fn is_listed(&self, state: usize) -> bool {
        let [top, reply] = self.states;
        top == state || (state != PUBLISHED && top != REJECTED && reply == state)
    }
}

async fn get(service: &Service, viewer: Viewer, target: &str) -> (u16, Value) {
    ask(service, viewer.token, "GET", &format!("{target}{}", viewer.key), Value::Null).await
}

fn ids(found: &Value) -> Vec<&str> {
    let items = found["items"].as_array().into_iter().flatten();
    items.filter_map(|item| item["id"].as_str()).collect()
}

async fn check_by_id(service: &Service, thread: &Thread, viewer: Viewer, what: &str) {
    let found = thread.is_found(viewer);
    for (id, found) in [&thread.top, &thread.reply].into_iter().zip(found) {
        let (status, told) = get(service, viewer, &format!("/comments?part=snippet&id={id}")).await;
        assert_eq!((status, ids(&told).len()), (200, usize::from(found)), "{what}: {told}");
    }
    let [is_found, _] = found;
    let target = format!("/commentThreads?part=id,snippet&id={}", thread.top);
    let (status, top) = get(service, viewer, &target).await;
    assert_eq!(status, if is_found { 200 } else { 404 }, "{what}: {target}");
    let target = format!("/comments?part=id&parentId={}", thread.top);
    let (status, told) = get(service, viewer, &target).await;
    assert_eq!(status, if is_found { 200 } else { 404 }, "{what}: {target}");
    if is_found {
        let is_seen = viewer.is_owner || thread.states == [PUBLISHED; 2];
        assert_eq!(ids(&told).len(), usize::from(is_seen), "{what}: {target}");
        assert_eq!(told["pageInfo"]["totalResults"], usize::from(is_seen), "{what}: {target}");
        let [_, reply] = thread.states;
        let counted = usize::from(is_seen && reply == PUBLISHED);
        assert_eq!(top["items"][0]["snippet"]["totalReplyCount"], counted, "{what}: {top}");
    }
}

async fn check_lists(service: &Service, thread: &Thread, viewer: Viewer, place: &str, what: &str) {
    let lists = [place, "allThreadsRelatedToChannelId=UCx"];
    for (list, (state, name)) in
        lists.into_iter().flat_map(|list| STATES.iter().enumerate().map(move |state| (list, state)))
    {
        let target = format!("/commentThreads?part=snippet,replies&{list}&moderationStatus={name}");
        let (status, told) = get(service, viewer, &target).await;
        if state != PUBLISHED && !viewer.is_owner {
            assert_eq!(status, 403, "{what}: {target}");
            continue;
        }
        let listed = ids(&told);
        assert_eq!(told["pageInfo"]["totalResults"], listed.len(), "{what}: {target}");
        let item = told["items"].as_array().into_iter().flatten();
        let item = item.into_iter().find(|item| item["id"] == thread.top.as_str());
        assert_eq!(item.is_some(), thread.is_listed(state), "{what}: {target}");
        let Some(item) = item else { continue };
        let [_, reply] = thread.states;
        let replies = item["replies"]["comments"].as_array().map_or(0, Vec::len);
        assert_eq!(replies, usize::from(reply == state), "{what}: {target}");
        let snippet = &item["snippet"];
        assert_eq!(snippet["totalReplyCount"], usize::from(reply == PUBLISHED), "{what}: {target}");
        let told = snippet["topLevelComment"]["snippet"].get("moderationStatus");
        let expected = viewer.is_owner.then(|| json!(STATES[thread.states[0]]));
        assert_eq!(told, expected.as_ref(), "{what}: {target}");
    }
}

#[tokio::test]
async fn every_state_of_a_thread_and_of_its_reply_is_seen_in_every_list_as_the_rule_says() {
    let service = Service::new().await;
    let on_video = open(&service, "BOB", "about the video").await;
    let body = json!({"snippet": {"channelId": "UCx", "topLevelComment": {"snippet": {"textOriginal": "about her"}}}});
    let (_, made) = ask(&service, "BOB", "POST", "/commentThreads?part=snippet", body).await;
    let on_channel = made["id"].as_str().unwrap().to_owned();
    for (top, place) in [(on_video, "videoId=w"), (on_channel, "channelId=UCx")] {
        let reply = reply(&service, "BOB", &top, "reply").await;
        let mut thread = Thread { top, reply, states: [PUBLISHED; 2] };
        let all = (0..4).flat_map(|top| (0..4).map(move |reply| [top, reply]));
        // There and back, so that each state follows on others.
        for states in all.clone().chain(all.rev()) {
            thread.moderate(&service, states).await;
            let [top, reply] = states.map(|state| STATES[state]);
            for viewer in VIEWERS {
                let what = format!("{top} with a reply {reply}, {place}, for '{}'", viewer.token);
                check_by_id(&service, &thread, viewer, &what).await;
                check_lists(&service, &thread, viewer, place, &what).await;
            }
            if place == "videoId=w" {
                let seen = match states {
                    [PUBLISHED, PUBLISHED] => "2",
                    [PUBLISHED, _] => "1",
                    _ => "0",
                };
                assert_eq!(count(&service, "w").await, seen, "{top} with a reply {reply}");
            }
        }
        thread.moderate(&service, [REJECTED; 2]).await;
    }
}

#[tokio::test]
async fn the_author_of_a_thread_finds_no_replies_of_others_where_nobody_else_finds_any() {
    let service = Service::new().await;
    let top = open(&service, "BOB", "a question").await;
    let answer = reply(&service, "ALICE", &top, "an answer").await;
    let seen = async |token: &str| {
        let list = format!("/comments?part=id&parentId={top}");
        let (_, found) = ask(&service, token, "GET", &list, Value::Null).await;
        let thread = format!("/commentThreads?part=snippet,replies&id={top}");
        let (_, thread) = ask(&service, token, "GET", &thread, Value::Null).await;
        let replies = thread["items"][0]["replies"]["comments"].as_array().map_or(0, Vec::len);
        (found["pageInfo"]["totalResults"].clone(), ids(&found).len(), replies)
    };
    let (both, none) = ((json!(1), 1, 1), (json!(0), 0, 0));
    assert_eq!((seen("BOB").await, seen("ALICE").await), (both.clone(), both.clone()));
    let kids = |is: bool| json!({"id": "w", "status": {"privacyStatus": "public", "selfDeclaredMadeForKids": is}});
    ask(&service, "ALICE", "PUT", "/videos?part=status", kids(true)).await;
    assert_eq!((seen("BOB").await, seen("ALICE").await), (none.clone(), both.clone()));
    let (_, found) =
        ask(&service, "BOB", "GET", &format!("/comments?part=id&id={top},{answer}"), Value::Null)
            .await;
    assert_eq!(ids(&found), [top.as_str()], "her own is found by its id");
    ask(&service, "ALICE", "PUT", "/videos?part=status", kids(false)).await;
    moderate(&service, &[&top], "moderationStatus=heldForReview").await;
    assert_eq!(seen("BOB").await, none, "a thread that is held");
}
