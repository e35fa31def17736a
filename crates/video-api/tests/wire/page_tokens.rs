//! Page tokens: each belongs to one list, in one mode, of one viewer where viewers see different things, and is refused everywhere else.

use std::collections::BTreeSet;

use serde_json::{Value, json};
use video_api::resource::OPERATIONS;

use crate::service::{SEED, Service};

/// Channels that subscribe, are members, and write.
const MANY: usize = 4;

fn seed() -> String {
    let mut seed: Value = serde_json::from_str(SEED).unwrap();
    let mut add = |section: &str, things: Vec<Value>| match seed[section].as_array_mut() {
        Some(list) => list.extend(things),
        None => seed[section] = things.into(),
    };
    let each = |of: &dyn Fn(usize) -> Value| (0..MANY).map(of).collect::<Vec<_>>();
    add(
        "accounts",
        each(
            &|at| json!({"id": format!("m{at}"), "channel": {"id": format!("UCm{at}"), "title": "M"}}),
        ),
    );
    add(
        "subscriptions",
        each(
            &|at| json!({"id": format!("to{at}"), "subscriber": "alice", "channel": format!("m{at}")}),
        ),
    );
    add(
        "subscriptions",
        each(
            &|at| json!({"id": format!("from{at}"), "subscriber": format!("m{at}"), "channel": "alice"}),
        ),
    );
    add(
        "subscriptions",
        each(
            &|at| json!({"id": format!("bob{at}"), "subscriber": "bob", "channel": format!("m{at}")}),
        ),
    );
    add(
        "members",
        each(
            &|at| json!({"creator": "alice", "member": format!("m{at}"), "level": "tin", "since": "2026-01-01T00:00:00Z"}),
        ),
    );
    add(
        "videos",
        each(
            &|at| json!({"id": format!("m{at}"), "owner": format!("m{at}"), "snippet": {"title": "word"}}),
        ),
    );
    for owner in ["alice", "bob"] {
        add(
            "playlists",
            each(
                &|at| json!({"id": format!("PL{owner}{at}"), "owner": owner, "snippet": {"title": "t"}, "items": ["v", "v", "w"]}),
            ),
        );
        add(
            "videos",
            each(
                &|at| json!({"id": format!("{owner}{at}"), "owner": owner, "snippet": {"title": "word", "categoryId": "22"}}),
            ),
        );
        add(
            "ratings",
            each(&|at| json!({"account": owner, "video": format!("bob{at}"), "rating": "like"})),
        );
        add(
            "ratings",
            each(
                &|at| json!({"account": owner, "video": format!("alice{at}"), "rating": "dislike"}),
            ),
        );
        add("favorites", each(&|at| json!({"account": owner, "video": format!("bob{at}")})));
        add("plays", each(&|_| json!({"account": owner, "video": "v"})));
        for (name, place) in [("v", json!({"video": "v"})), ("c", json!({"channel": "alice"}))] {
            let replies = |at: usize| {
                (0..3).map(|reply| json!({"id": format!("r{reply}"), "author": "bob", "textOriginal": format!("{at}")})).collect::<Vec<_>>()
            };
            add(
                "comments",
                each(&|at| {
                    let mut comment = json!({"id": format!("{name}{owner}{at}"), "author": owner, "textOriginal": "word", "replies": replies(at)});
                    comment.as_object_mut().unwrap().extend(place.as_object().unwrap().clone());
                    comment
                }),
            );
        }
    }
    seed.to_string()
}

/// Lists that have pages, each with who asks. No two of them are the same to the same audience.
fn lists() -> Vec<(&'static str, String)> {
    let named = |of: &str| (0..MANY).map(|at| format!("{of}{at}")).collect::<Vec<_>>().join(",");
    let (members, to) = (named("UCm"), named("to"));
    let mut lists = Vec::new();
    for who in ["ALICE", "BOB"] {
        let own = if who == "ALICE" { "alice" } else { "bob" };
        lists.extend([
            (who, "activities?part=id&mine=true".to_owned()),
            (who, "channels?part=id&mySubscribers=true".into()),
            (who, "commentThreads?part=id&videoId=v".into()),
            (who, "commentThreads?part=id&videoId=v&order=relevance".into()),
            (who, "commentThreads?part=id&videoId=v&searchTerms=word".into()),
            (who, "commentThreads?part=id&channelId=UCx".into()),
            (who, "commentThreads?part=id&allThreadsRelatedToChannelId=UCx".into()),
            (who, "comments?part=id&parentId=valice0".into()),
            (who, "comments?part=id&parentId=valice1".into()),
            (who, "playlistItems?part=id&playlistId=UUx".into()),
            (who, "playlistItems?part=id&playlistId=LL".into()),
            (who, "playlistItems?part=id&playlistId=HL".into()),
            (who, "playlistItems?part=id&playlistId=HL&videoId=v".into()),
            (who, "playlistItems?part=id&playlistId=FL".into()),
            (who, "playlists?part=id&mine=true".into()),
            (who, format!("playlists?part=id&id={}", named(&format!("PL{own}")))),
            (who, "search?part=id&type=video&forMine=true".into()),
            (who, "subscriptions?part=id&mine=true".into()),
            (who, "subscriptions?part=id&mine=true&order=alphabetical".into()),
            (who, "subscriptions?part=id&mine=true&order=unread".into()),
            (who, format!("subscriptions?part=id&mine=true&forChannelId={members}")),
            (who, format!("subscriptions?part=id&mine=true&forChannelId={members}&order=unread")),
            (who, "videos?part=id&myRating=like".into()),
            (who, "videos?part=id&myRating=dislike".into()),
        ]);
    }
    lists.retain(|(who, list)| *who == "ALICE" || !list.starts_with("channels"));
    let alike = [
        "activities?part=id&channelId=UCx",
        "activities?part=id&channelId=UCx&regionCode=DE",
        "activities?part=id&home=true",
        "members?part=snippet",
        "members?part=snippet&mode=updates",
        "members?part=snippet&hasAccessToLevel=tin",
        "playlistItems?part=id&playlistId=PLalice0",
        "playlistItems?part=id&playlistId=PLalice1",
        "playlistItems?part=id&playlistId=PLalice0&videoId=v",
        "playlists?part=id&channelId=UCx",
        "playlists?part=id&channelId=UCbob",
        "search?part=id&type=video",
        "search?part=id&type=video&order=title",
        "search?part=id&type=video&order=date&q=word",
        "subscriptions?part=id&channelId=UCx",
        "subscriptions?part=subscriberSnippet&mySubscribers=true",
        "subscriptions?part=subscriberSnippet&mySubscribers=true&order=alphabetical",
        "subscriptions?part=subscriberSnippet&myRecentSubscribers=true",
        "videos?part=id&chart=mostPopular",
        "videos?part=id&chart=mostPopular&videoCategoryId=22",
    ];
    lists.extend(alike.map(|list| ("ALICE", list.to_owned())));
    lists.extend([
        ("ALICE", format!("members?part=snippet&filterByMemberChannelId={members}")),
        ("ALICE", format!("subscriptions?part=id&id={to}")),
        ("ALICE", format!("subscriptions?part=id&id={to}&forChannelId={members}")),
        ("ALICE", "channels?part=id&id=UCx,UCbob,UCm0".into()),
        ("ALICE", format!("channels?part=id&id={members}")),
    ]);
    lists
}

#[test]
fn every_operation_that_has_pages_is_among_the_lists() {
    let named: BTreeSet<_> =
        lists().iter().map(|(_, list)| format!("/{}", list.split('?').next().unwrap())).collect();
    let has_pages =
        OPERATIONS.iter().filter(|row| row.params.iter().any(|param| param.name == "pageToken"));
    let missing: Vec<_> =
        has_pages.filter(|row| !named.contains(row.path)).map(|row| row.name).collect();
    assert_eq!(missing, [""; 0]);
}

#[tokio::test]
async fn a_page_token_of_another_list_mode_or_viewer_is_refused() {
    let service = Service::seeded(&seed()).await;
    let lists = lists();
    let mut tokens = Vec::new();
    for (who, list) in &lists {
        let target = format!("/youtube/v3/{list}&maxResults=1");
        let page = service.ask("GET", &target, who, "").await.json();
        let token = page["nextPageToken"].as_str().map(str::to_owned);
        tokens.push(token.unwrap_or_else(|| panic!("{list} of {who} has pages: {page}")));
    }
    for (at, (who, list)) in lists.iter().enumerate() {
        for (from, token) in tokens.iter().enumerate() {
            let target = format!("/youtube/v3/{list}&maxResults=1&pageToken={token}");
            let answer = service.ask("GET", &target, who, "").await;
            if from == at {
                assert_eq!(answer.status, 200, "{list}: {}", answer.json());
                continue;
            }
            let told = (answer.status, answer.reason());
            let expected = (400, "invalidPageToken".to_owned());
            assert_eq!(told, expected, "{list} of {who} with a token of {:?}", lists[from]);
            let detail = &answer.json()["error"]["errors"][0];
            let place = (&detail["locationType"], &detail["location"]);
            assert_eq!(place, (&json!("parameter"), &json!("pageToken")));
        }
    }
}

#[tokio::test]
async fn a_page_token_of_a_list_that_everybody_sees_alike_is_anybodys() {
    let service = Service::seeded(&seed()).await;
    for list in [
        "playlistItems?part=id&playlistId=PLalice0",
        "search?part=id&type=video",
        "videos?part=id&chart=mostPopular",
    ] {
        let target = format!("/youtube/v3/{list}&maxResults=1");
        let token = service.ask("GET", &target, "ALICE", "").await.json()["nextPageToken"].clone();
        let next = format!("{target}&pageToken={}", token.as_str().unwrap());
        let [own, others] = [
            service.ask("GET", &next, "ALICE", "").await,
            service.ask("GET", &next, "BOB", "").await,
        ];
        assert_eq!(
            (own.status, own.json()["items"].clone()),
            (200, others.json()["items"].clone()),
            "{list}"
        );
    }
}
