//! Subscriptions over the wire: made and ended by who subscribes, and listed from both sides.

use serde_json::{Value, json};

use crate::service::{Answer, Service};

/// Alice subscribes to nobody; the others are subscribers, and Dora keeps to herself whom she subscribes to.
fn seed(subscriptions: Value) -> String {
    let account = |id: &str, title: &str, hides: bool| {
        let tokens =
            json!([{"token": id.to_uppercase(), "scopes": ["youtube", "youtube.force-ssl"]}]);
        json!({"id": id, "tokens": tokens,
            "channel": {"id": format!("UC{id}"), "title": title, "description": format!("About {id}"), "hidesSubscriptions": hides}})
    };
    json!({
        "projects": [{"id": "p", "apiKeys": ["KEY"]}],
        "accounts": [account("alice", "Zebra", false), account("bob", "apple", false), account("carl", "Melon", false),
            account("dora", "banana", true)],
        "videos": [
            {"id": "a1", "owner": "alice", "publishedAt": "2026-01-03T00:00:00Z", "snippet": {"title": "A", "categoryId": "22"}},
            {"id": "b1", "owner": "bob", "publishedAt": "2026-01-05T00:00:00Z", "snippet": {"title": "B", "categoryId": "22"}},
            {"id": "c1", "owner": "carl", "publishedAt": "2026-01-01T00:00:00Z", "snippet": {"title": "C", "categoryId": "22"}}],
        "subscriptions": subscriptions,
    })
    .to_string()
}

fn follow(subscriber: &str, channel: &str, at: &str) -> Value {
    json!({"subscriber": subscriber, "channel": channel, "publishedAt": format!("2026-01-{at}T00:00:00Z")})
}

async fn subscribe(service: &Service, token: &str, channel: &str) -> Answer {
    let body =
        json!({"snippet": {"resourceId": {"kind": "youtube#channel", "channelId": channel}}});
    let target = "/youtube/v3/subscriptions?part=snippet,contentDetails,subscriberSnippet";
    service.ask("POST", target, token, &body.to_string()).await
}

async fn get(service: &Service, token: &str, query: &str) -> Value {
    let target = format!("/youtube/v3{query}");
    let answer = service.ask("GET", &target, token, "").await;
    assert_eq!(answer.status, 200, "{query}: {}", answer.json());
    answer.json()
}

/// Members of the items of all pages, one item a page.
async fn pages(service: &Service, token: &str, query: &str, pointer: &str) -> Vec<String> {
    let (mut all, mut more) = (Vec::new(), String::new());
    loop {
        let page = get(service, token, &format!("{query}&maxResults=1{more}")).await;
        let items = page["items"].as_array().unwrap();
        all.extend(
            items.iter().map(|item| item.pointer(pointer).unwrap().as_str().unwrap().to_owned()),
        );
        match page["nextPageToken"].as_str() {
            Some(token) => more = format!("&pageToken={token}"),
            None => {
                assert_eq!(page["pageInfo"]["totalResults"], all.len(), "{query}");
                return all;
            }
        }
    }
}

const PUBLISHER: &str = "/snippet/resourceId/channelId";
const SUBSCRIBER: &str = "/subscriberSnippet/channelId";

#[tokio::test]
async fn subscriptions_insert_adds_a_subscription_for_the_authenticated_users_channel() {
    let service = Service::seeded(&seed(json!([]))).await;
    let answer = subscribe(&service, "ALICE", "UCbob").await;
    assert_eq!(answer.status, 200, "{}", answer.json());
    let made = answer.json();
    let snippet = &made["snippet"];
    assert_eq!(
        (&snippet["title"], &snippet["description"], &snippet["channelId"]),
        (&json!("apple"), &json!("About bob"), &json!("UCalice"))
    );
    assert_eq!(snippet["resourceId"], json!({"kind": "youtube#channel", "channelId": "UCbob"}));
    assert_eq!(made["subscriberSnippet"]["title"], "Zebra");
    assert_eq!(
        made["contentDetails"],
        json!({"totalItemCount": 1, "newItemCount": 0, "activityType": "all"})
    );
    for (token, channel, status, reason) in [
        ("ALICE", "UCbob", 400, "subscriptionDuplicate"),
        ("ALICE", "UCalice", 400, "subscriptionForbidden"),
        ("ALICE", "UCnone", 404, "publisherNotFound"),
        ("ALICE", "", 400, "publisherRequired"),
    ] {
        let answer = subscribe(&service, token, channel).await;
        assert_eq!((answer.status, answer.reason().as_str()), (status, reason), "{channel}");
    }
    for (body, reason) in [
        (json!({}), "publisherRequired"),
        (json!({"snippet": {}}), "publisherRequired"),
        (
            json!({"snippet": {"resourceId": {"kind": "youtube#video", "videoId": "a1"}}}),
            "publisherRequired",
        ),
        (json!({"snippet": {"resourceId": "UCbob"}}), "invalid"),
        (json!({"snippet": {"resourceId": {"channelId": ["UCbob"]}}}), "invalid"),
    ] {
        let target = "/youtube/v3/subscriptions?part=snippet";
        let answer = service.ask("POST", target, "CARL", &body.to_string()).await;
        assert_eq!((answer.status, answer.reason().as_str()), (400, reason), "{body}");
    }
}

#[tokio::test]
async fn subscriptions_delete_is_the_subscribers_alone() {
    let service = Service::seeded(&seed(json!([]))).await;
    let made = subscribe(&service, "ALICE", "UCbob").await.json();
    let target = format!("/youtube/v3/subscriptions?id={}", made["id"].as_str().unwrap());
    for (token, status, reason) in [
        ("BOB", 403, "subscriptionForbidden"),
        ("ALICE", 204, ""),
        ("ALICE", 404, "subscriptionNotFound"),
    ] {
        let answer = service.ask("DELETE", &target, token, "").await;
        assert_eq!((answer.status, answer.reason().as_str()), (status, reason), "{token}");
    }
    assert_eq!(subscribe(&service, "ALICE", "UCbob").await.status, 200, "it can be made again");
}

#[tokio::test]
async fn subscriptions_list_gives_both_sides_in_every_order_and_page_by_page() {
    let service = Service::seeded(&seed(json!([
        follow("alice", "bob", "01"),
        follow("alice", "carl", "02"),
        follow("alice", "dora", "03"),
        follow("bob", "alice", "04"),
        follow("carl", "alice", "05"),
        follow("dora", "alice", "06"),
    ])))
    .await;
    let list = "/subscriptions?part=id,snippet,subscriberSnippet";
    for (order, expected) in [
        ("", ["UCdora", "UCcarl", "UCbob"]),
        ("&order=relevance", ["UCdora", "UCcarl", "UCbob"]),
        ("&order=alphabetical", ["UCbob", "UCdora", "UCcarl"]),
        // Bob alone has published since; Carl has a video and Dora none.
        ("&order=unread", ["UCbob", "UCcarl", "UCdora"]),
    ] {
        for filter in ["mine=true", "channelId=UCalice"] {
            let query = format!("{list}&{filter}{order}");
            assert_eq!(pages(&service, "ALICE", &query, PUBLISHER).await, expected, "{query}");
        }
        let query = format!("{list}&mine=true{order}&forChannelId=UCcarl,UCnone,UCbob");
        let mut told = pages(&service, "ALICE", &query, PUBLISHER).await;
        let both: Vec<_> = expected.into_iter().filter(|id| *id != "UCdora").collect();
        assert_eq!(told, both, "{query}");
        told.clear();
    }
    // Dora keeps it private.
    for filter in ["mySubscribers=true", "myRecentSubscribers=true"] {
        let query = format!("{list}&{filter}");
        assert_eq!(pages(&service, "ALICE", &query, SUBSCRIBER).await, ["UCcarl", "UCbob"]);
    }
    let query = format!("{list}&mySubscribers=true&order=alphabetical");
    assert_eq!(pages(&service, "ALICE", &query, SUBSCRIBER).await, ["UCbob", "UCcarl"]);
    let query = "/channels?part=id,snippet&mySubscribers=true";
    assert_eq!(pages(&service, "ALICE", query, "/id").await, ["UCcarl", "UCbob"]);
    let query = format!("{list}&channelId=UCdora");
    assert_eq!(pages(&service, "DORA", &query, PUBLISHER).await, ["UCalice"]);
    for (token, query, status, reason) in [
        ("ALICE", "channelId=UCdora", 403, "subscriptionForbidden"),
        ("ALICE", "channelId=UCnone", 404, "subscriberNotFound"),
        ("", "channelId=UCdora&key=KEY", 403, "subscriptionForbidden"),
        ("", "mySubscribers=true&key=KEY", 401, "authorizationRequired"),
    ] {
        let target = format!("/youtube/v3/subscriptions?part=id&{query}");
        let answer = service.ask("GET", &target, token, "").await;
        assert_eq!((answer.status, answer.reason().as_str()), (status, reason), "{query}");
    }
    let first = get(&service, "ALICE", "/subscriptions?part=id&mine=true&maxResults=1").await;
    let token = first["nextPageToken"].as_str().unwrap();
    for other in ["mySubscribers=true", "mine=true&order=alphabetical", "channelId=UCbob"] {
        let target = format!("/youtube/v3/subscriptions?part=id&{other}&pageToken={token}");
        let answer = service.ask("GET", &target, "ALICE", "").await;
        assert_eq!(answer.reason(), "invalidPageToken", "{other}");
    }
}

#[tokio::test]
async fn new_items_are_those_since_the_subscriber_watched_the_channel_last() {
    let service = Service::seeded(&seed(json!([follow("alice", "bob", "01")]))).await;
    let new = async || {
        let query = "/subscriptions?part=contentDetails&mine=true";
        get(&service, "ALICE", query).await["items"][0]["contentDetails"]["newItemCount"].clone()
    };
    assert_eq!(new().await, 1);
    let body = json!({"snippet": {"playlistId": "HL", "resourceId": {"kind": "youtube#video", "videoId": "b1"}}});
    let target = "/youtube/v3/playlistItems?part=snippet";
    assert_eq!(service.ask("POST", target, "ALICE", &body.to_string()).await.status, 200);
    assert_eq!(new().await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn subscriber_count_is_exact_after_equal_subscriptions_at_once() {
    let service = std::sync::Arc::new(Service::seeded(&seed(json!([]))).await);
    let count = async || {
        let query = "/channels?part=statistics&id=UCalice&key=KEY";
        get(&service, "", query).await["items"][0]["statistics"]["subscriberCount"].clone()
    };
    let tasks: Vec<_> = ["BOB", "CARL", "DORA"]
        .into_iter()
        .cycle()
        .take(12)
        .map(|token| {
            let service = service.clone();
            tokio::spawn(async move { subscribe(&service, token, "UCalice").await.status })
        })
        .collect();
    let mut told = Vec::new();
    for task in tasks {
        told.push(task.await.unwrap());
    }
    assert_eq!(told.iter().filter(|status| **status == 200).count(), 3, "{told:?}");
    assert_eq!(count().await, "3");
    let mine = get(&service, "BOB", "/subscriptions?part=id&mine=true").await;
    let id = mine["items"][0]["id"].as_str().unwrap();
    service.ask("DELETE", &format!("/youtube/v3/subscriptions?id={id}"), "BOB", "").await;
    assert_eq!(count().await, "2");
}

#[tokio::test]
async fn a_hidden_subscriber_count_is_left_out_for_everybody() {
    let channel =
        |hides: bool| json!({"id": format!("UC{hides}"), "title": "C", "hidesSubscribers": hides});
    let token = json!([{"token": "OWNER", "scopes": ["youtube"]}]);
    let seed = json!({
        "projects": [{"id": "p", "apiKeys": ["KEY"]}],
        "accounts": [{"id": "hidden", "channel": channel(true), "tokens": token}, {"id": "shown", "channel": channel(false)}],
        "subscriptions": [follow("shown", "hidden", "01"), follow("hidden", "shown", "02")],
    });
    let service = Service::seeded(&seed.to_string()).await;
    for token in ["", "OWNER"] {
        let key = if token.is_empty() { "&key=KEY" } else { "" };
        let target = format!("/youtube/v3/channels?part=statistics&id=UCtrue,UCfalse{key}");
        let list = service.ask("GET", &target, token, "").await.json();
        let told = |at: usize| {
            let statistics = &list["items"][at]["statistics"];
            (
                statistics["hiddenSubscriberCount"].clone(),
                statistics.get("subscriberCount").cloned(),
            )
        };
        assert_eq!(told(0), (json!(true), None));
        assert_eq!(told(1), (json!(false), Some(json!("1"))));
    }
}

#[tokio::test]
async fn a_seed_file_with_a_wrong_subscription_is_refused_with_its_place() {
    use triptych_core::kv::{Memory, Tx};
    use triptych_core::time::Timestamp;
    use video_api::seed::Seed;
    let refusal = |subscription: Value| {
        let text = json!({"accounts": [{"id": "a", "channel": {"id": "UCa", "title": "A"}}, {"id": "b"}], "subscriptions": [subscription]});
        let seed = Seed::parse(&text.to_string()).map_err(|error| error.to_string())?;
        let store = Memory::new();
        let mut tx = Tx::new(&store);
        (0..seed.len())
            .try_for_each(|at| seed.apply(at, &mut tx, Timestamp::EPOCH, true).map(drop))
            .map_err(|error| error.to_string())
    };
    for (subscription, told) in [
        (
            json!({"subscriber": "a", "channel": "none"}),
            "subscriptions[0]: Invalid value at 'channel'",
        ),
        (
            json!({"subscriber": "b", "channel": "a"}),
            "subscriptions[0]: Invalid value at 'subscriber'",
        ),
        (
            json!({"subscriber": "a", "channel": "UCa"}),
            "subscriptions[0]: Invalid value at 'channel'",
        ),
        (json!({"subscriber": "a", "to": "UCa"}), "subscriptions[0]: unknown field"),
    ] {
        let error = refusal(subscription).unwrap_err();
        assert!(error.starts_with(told), "{error}");
    }
}
