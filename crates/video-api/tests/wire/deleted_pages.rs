//! Pages of lists whose client deletes what it was shown and goes on: everything that was there is shown once.

use serde_json::{Value, json};

use crate::service::{Service, ask};

/// Things of each kind.
const MANY: usize = 7;
/// Things on a page.
const PAGE: usize = 2;

fn seed() -> String {
    let scopes = ["youtube", "youtube.force-ssl", "youtube.channel-memberships.creator"];
    let account = |id: String| {
        json!({"id": id, "tokens": [{"token": id.to_uppercase(), "scopes": scopes}],
            "channel": {"id": format!("UC{id}"), "title": format!("Title of {id}")}})
    };
    let each = |of: &dyn Fn(usize) -> Value| (0..MANY).map(of).collect::<Vec<_>>();
    let mut accounts = each(&|at| account(format!("a{at}")));
    accounts.push(account("alice".into()));
    let time = |at: usize| format!("2026-01-02T00:{at:02}:00Z");
    let subscribe = |subscriber: String, channel: String, at: usize| json!({"subscriber": subscriber, "channel": channel, "publishedAt": time(at)});
    let mut subscriptions = each(&|at| subscribe("alice".into(), format!("a{at}"), at));
    subscriptions.extend(each(&|at| subscribe(format!("a{at}"), "alice".into(), at)));
    let mut videos = each(
        &|at| json!({"id": format!("v{at}"), "owner": "alice", "publishedAt": time(at), "snippet": {"title": "Film"}}),
    );
    videos.extend(each(&|at| json!({"id": format!("of-a{at}"), "owner": format!("a{at}"), "publishedAt": time(20 + at * 5 % MANY), "snippet": {"title": "Film"}})));
    json!({
        "accounts": accounts, "videos": videos, "subscriptions": subscriptions,
        "playlists": each(&|at| json!({"id": format!("PL{at}"), "owner": "alice", "publishedAt": time(at),
            "snippet": {"title": "List"}, "items": if at == 0 { each(&|_| json!("v0")) } else { Vec::new() }})),
        "ratings": each(&|at| json!({"account": "alice", "video": format!("v{at}"), "rating": "like"})),
        "favorites": each(&|at| json!({"account": "alice", "video": format!("v{at}")})),
        "plays": (0..2 * MANY).map(|at| json!({"account": "alice", "video": format!("v{}", at % 2), "at": time(at)})).collect::<Vec<_>>(),
        "comments": each(&|at| json!({"id": format!("t{at}"), "author": format!("a{at}"), "video": "v0", "textOriginal": "otter",
            "replies": if at == 0 { each(&|at| json!({"id": format!("r{at}"), "author": "alice", "textOriginal": "otter"})) } else { Vec::new() }})),
        "membershipsLevels": [{"id": "tin", "channel": "alice", "displayName": "Tin", "priceMicros": 1}],
        "members": each(&|at| json!({"creator": "alice", "member": format!("a{at}"), "level": "tin", "since": time(at)})),
    })
    .to_string()
}

/// The names of all things of a kind.
fn all(of: impl Fn(usize) -> String) -> String {
    (0..MANY).map(of).collect::<Vec<_>>().join(",")
}

/// The name of an item: its id, or the member that it is.
fn name(item: &Value) -> String {
    let member = item.pointer("/snippet/memberDetails/channelId");
    member.or(item.get("id")).and_then(Value::as_str).unwrap().to_owned()
}

async fn page(service: &Service, list: &str, token: &str) -> (Vec<String>, Option<String>) {
    let page = service.list(&format!("/{list}&maxResults={PAGE}{token}")).await;
    let next = page["nextPageToken"].as_str().map(|next| format!("&pageToken={next}"));
    (page["items"].as_array().unwrap().iter().map(name).collect(), next)
}

/// The names on all pages, of which each is taken away by `take` before the next page is asked for.
async fn walk(service: &Service, list: &str, take: impl AsyncFn(&str)) -> Vec<String> {
    let (mut shown, mut token) = (Vec::new(), String::new());
    loop {
        let (names, next) = page(service, list, &token).await;
        for name in &names {
            take(name).await;
        }
        shown.extend(names);
        match next {
            Some(next) => token = next,
            None => return shown,
        }
    }
}

async fn check(service: &Service, list: &str, count: usize, take: impl AsyncFn(&str)) {
    let before = walk(service, list, async |_| {}).await;
    assert_eq!(before.len(), count, "{list}: {before:?}");
    assert_eq!(walk(service, list, take).await, before, "{list}");
    assert!(page(service, list, "").await.0.is_empty(), "{list}: nothing is left");
}

#[tokio::test]
async fn a_client_that_deletes_what_it_was_shown_is_shown_everything_once() {
    let channels = all(|at| format!("UCa{at}"));
    let lists = [
        ("playlistItems", "playlistId=PL0".to_owned(), MANY),
        ("playlistItems", "playlistId=PL0&videoId=v0".into(), MANY),
        ("playlistItems", "playlistId=UUalice".into(), MANY),
        ("playlistItems", "playlistId=LL".into(), MANY),
        ("playlistItems", "playlistId=FL".into(), MANY),
        ("playlistItems", "playlistId=HL".into(), 2 * MANY),
        ("playlistItems", "playlistId=HL&videoId=v0".into(), MANY),
        ("playlistItems", "ids of playlistId=HL".into(), 2 * MANY),
        ("playlists", "mine=true".into(), MANY),
        ("playlists", "ids of mine=true".into(), MANY),
        ("subscriptions", "mine=true".into(), MANY),
        ("subscriptions", "mine=true&order=alphabetical".into(), MANY),
        ("subscriptions", "mine=true&order=unread".into(), MANY),
        ("subscriptions", format!("mine=true&forChannelId={channels}"), MANY),
        ("subscriptions", format!("mine=true&forChannelId={channels}&order=alphabetical"), MANY),
        ("subscriptions", format!("mine=true&forChannelId={channels}&order=unread"), MANY),
        ("subscriptions", "ids of mine=true".into(), MANY),
        ("comments", "parentId=t0".into(), MANY),
    ];
    for (resource, filter, count) in lists {
        let service = Service::seeded(&seed()).await;
        let mut list = format!("{resource}?part=id&{filter}");
        if let Some(source) = filter.strip_prefix("ids of ") {
            let source = format!("{resource}?part=id&{source}");
            let mut ids = walk(&service, &source, async |_| {}).await;
            ids.rotate_left(3);
            list = format!("{resource}?part=id&id={}", ids.join(","));
        }
        check(&service, &list, count, async |id| {
            let target = format!("/{resource}?id={id}");
            let told = ask(&service, "ALICE", "DELETE", &target, Value::Null).await;
            assert_eq!(told.0, 204, "{target}: {}", told.1);
        })
        .await;
    }
}

#[tokio::test]
async fn members_who_leave_between_pages_leave_nobody_out() {
    let service = Service::seeded(&seed()).await;
    let named = all(|at| format!("UCa{at}"));
    for list in [
        "members?part=snippet".to_owned(),
        format!("members?part=snippet&filterByMemberChannelId={named}"),
    ] {
        check(&service, &list, MANY, async |channel| {
            let member = channel.trim_start_matches("UC");
            let body = json!({"creator": "alice", "member": member}).to_string();
            assert_eq!(service.control("POST", "/_ops/members", &body).await.status, 200);
        })
        .await;
        for at in 0..MANY {
            let body = json!({"creator": "alice", "member": format!("a{at}"), "level": "tin"});
            service.control("POST", "/_ops/members", &body.to_string()).await;
        }
    }
}

#[tokio::test]
async fn the_order_unread_goes_on_behind_what_it_ranks_in_both_directions() {
    let (ranked, more) = (1_000, 60);
    let accounts: Vec<_> = (0..ranked + more)
        .map(|at| json!({"id": format!("a{at}"), "channel": {"id": format!("UCa{at}"), "title": "t"}}))
        .chain([json!({"id": "alice", "tokens": [{"token": "ALICE", "scopes": ["youtube"]}], "channel": {"id": "UCalice", "title": "t"}})])
        .collect();
    let time = |at: usize| format!("2026-01-02T{:02}:{:02}:00Z", at / 60, at % 60);
    let subscriptions: Vec<_> = (0..ranked + more)
        .map(|at| json!({"id": format!("s{at}"), "subscriber": "alice", "channel": format!("a{at}"), "publishedAt": time(at)}))
        .collect();
    // One of the latest has news, and one of the others, which is not looked at.
    let videos = [700, 3].map(
        |at| json!({"id": format!("v{at}"), "owner": format!("a{at}"), "snippet": {"title": "t"}}),
    );
    let file =
        json!({"accounts": accounts, "subscriptions": subscriptions, "videos": videos}).to_string();
    let service = Service::seeded(&file).await;
    let list = "subscriptions?part=id&mine=true&order=unread";
    let read = async |size: usize, token: &str| {
        let page = service.list(&format!("/{list}&maxResults={size}{token}")).await;
        assert_eq!(page["pageInfo"]["totalResults"], ranked + more);
        let names: Vec<_> = page["items"].as_array().unwrap().iter().map(name).collect();
        let token = |name: &str| page[name].as_str().map(|token| format!("&pageToken={token}"));
        (names, token("nextPageToken"), token("prevPageToken"))
    };
    let (mut forwards, mut token) = (Vec::new(), String::new());
    let mut last = loop {
        let (names, next, previous) = read(50, &token).await;
        assert_eq!(previous.is_some(), !forwards.is_empty());
        forwards.extend(names);
        match next {
            Some(next) => token = next,
            None => break previous,
        }
    };
    assert_eq!(forwards.len(), ranked + more, "every subscription is shown");
    assert_eq!(forwards[0], "s700", "news come first");
    let others: Vec<_> = (0..more).rev().map(|at| format!("s{at}")).collect();
    assert_eq!(forwards[ranked..], others, "the others are by time");
    let mut backwards = Vec::new();
    // Pages of another size, whose borders lie elsewhere.
    while let Some(previous) = last {
        let (names, next, before) = read(7, &previous).await;
        assert!(next.is_some());
        backwards.splice(0..0, names);
        last = before;
    }
    assert_eq!(backwards, forwards[..backwards.len()]);
    assert_eq!(backwards.len(), 1_050, "the last page began behind these");
    // One that ends brings no other one to a place that was passed over.
    let (names, next, _) = read(2, "").await;
    for id in names.iter().chain([&forwards[500]]) {
        let told =
            ask(&service, "ALICE", "DELETE", &format!("/subscriptions?id={id}"), Value::Null).await;
        assert_eq!(told.0, 204);
    }
    let mut left: Vec<String> = Vec::new();
    let mut token = next.unwrap();
    loop {
        let page = service.list(&format!("/{list}&maxResults=50{token}")).await;
        left.extend(page["items"].as_array().unwrap().iter().map(name));
        match page["nextPageToken"].as_str() {
            Some(next) => token = format!("&pageToken={next}"),
            None => break,
        }
    }
    let expected: Vec<_> = [&forwards[2..500], &forwards[501..]].concat();
    assert_eq!(left, expected);
}
