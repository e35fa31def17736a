//! Closing an account: nothing of it is found from that moment on, whatever of it the store still holds.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::{Value, json};
use triptych_core::blobs::MemoryBlobs;
use triptych_core::id::SeededIds;
use triptych_core::kv::{KeyValue, Memory, Span, run_blocking};
use video_api::resource::cascade;
use video_api::resource::channels::closing::{self, Closing};

use crate::service::Service;

/// Lists in which Bob has a part.
pub(crate) const TARGETS: &[&str] = &[
    "/videos?part=snippet&id=bob-1,v",
    "/videos?part=statistics&id=v",
    "/videos?part=id&chart=mostPopular&maxResults=50",
    "/videos?part=id&myRating=like",
    "/channels?part=snippet&id=UCbob",
    "/channels?part=snippet&forHandle=bob",
    "/channels?part=statistics&id=UCalice",
    "/channels?part=id&mySubscribers=true",
    "/search?part=id&q=otter&maxResults=50",
    "/search?part=id&type=video&order=title&maxResults=50",
    "/search?part=id&type=channel,playlist&maxResults=50",
    "/search?part=id&channelId=UCbob",
    "/playlists?part=snippet,contentDetails&id=PLbob,UUbob,FLbob,PLalice",
    "/playlists?part=id&channelId=UCbob",
    "/playlistItems?part=snippet,status&playlistId=PLbob",
    "/playlistItems?part=snippet,status&playlistId=UUbob",
    "/playlistItems?part=snippet,status&playlistId=PLalice",
    "/playlistItems?part=snippet&playlistId=LL",
    "/playlistItems?part=snippet&playlistId=FL",
    "/playlistItems?part=snippet&playlistId=HL",
    "/channelSections?part=snippet,contentDetails&channelId=UCalice",
    "/channelSections?part=snippet&channelId=UCbob",
    "/channelSections?part=snippet&id=own",
    "/subscriptions?part=snippet&mine=true",
    "/subscriptions?part=snippet&mine=true&order=unread",
    "/subscriptions?part=snippet&mine=true&order=alphabetical",
    "/subscriptions?part=snippet&mine=true&forChannelId=UCbob",
    "/subscriptions?part=snippet&mySubscribers=true",
    "/subscriptions?part=snippet&channelId=UCbob",
    "/subscriptions?part=snippet&id=1,2",
    "/captions?part=snippet&videoId=bob-1",
    "/captions/track",
    "/commentThreads?part=snippet,replies&videoId=v",
    "/commentThreads?part=snippet&videoId=bob-1",
    "/commentThreads?part=snippet&channelId=UCbob",
    "/commentThreads?part=snippet&allThreadsRelatedToChannelId=UCbob",
    "/commentThreads?part=snippet&allThreadsRelatedToChannelId=UCalice",
    "/commentThreads?part=snippet&id=a",
    "/comments?part=snippet&id=a,b,c,d,a.ar,b.br",
    "/comments?part=snippet&parentId=b",
    "/activities?part=snippet,contentDetails&mine=true&maxResults=50",
    "/activities?part=snippet,contentDetails&home=true&maxResults=50",
    "/activities?part=snippet&channelId=UCbob",
    "/activities?part=snippet&channelId=UCalice&maxResults=50",
    "/members?part=snippet",
];

/// Bob has something of every kind, and is named wherever a channel can be. Dora keeps to herself whom she subscribes to.
pub(crate) fn seed() -> String {
    let account = |id: &str, hides: bool| {
        json!({"id": id, "tokens": [{"token": id.to_uppercase(), "scopes":
                ["youtube", "youtube.force-ssl", "youtube.channel-memberships.creator"]}],
            "channel": {"id": format!("UC{id}"), "title": id, "handle": format!("@{id}"), "showBrowseView": true, "hidesSubscriptions": hides}})
    };
    let video = |id: String, owner: &str| json!({"id": id, "owner": owner, "snippet": {"title": format!("otter {id}"), "categoryId": "22"}});
    let videos: Vec<_> = (0..9).map(|at| video(format!("bob-{at}"), "bob")).collect();
    let rating =
        |account: &str, video: &str| json!({"account": account, "video": video, "rating": "like"});
    let comment = |id: &str, author: &str, place: Value| {
        let mut comment = json!({"id": id, "author": author, "textOriginal": format!("words {id}"), "replies":
            [{"id": format!("{id}r"), "author": if author == "bob" { "alice" } else { "bob" }, "textOriginal": "reply"}]});
        comment.as_object_mut().unwrap().extend(place.as_object().unwrap().clone());
        comment
    };
    json!({
        "projects": [{"id": "p", "apiKeys": ["KEY"]}],
        "accounts": [account("alice", false), account("bob", false), account("dora", true)],
        "videos": videos.into_iter().chain([video("v".into(), "alice")]).collect::<Vec<_>>(),
        "playlists": [
            {"id": "PLbob", "owner": "bob", "snippet": {"title": "otters"}, "items": ["v", "bob-1"]},
            {"id": "PLalice", "owner": "alice", "snippet": {"title": "List"}, "items": ["v", "bob-1", "bob-2"]}],
        "channelSections": [
            {"id": "own", "owner": "bob", "snippet": {"type": "popularUploads"}},
            {"id": "lists", "owner": "alice", "snippet": {"type": "multiplePlaylists", "title": "Lists"},
                "contentDetails": {"playlists": ["PLbob", "PLalice", "UUbob"]}},
            {"id": "friends", "owner": "alice", "snippet": {"type": "multipleChannels", "title": "Friends"},
                "contentDetails": {"channels": ["UCbob", "UCdora"]}}],
        "subscriptions": [
            {"id": "1", "subscriber": "alice", "channel": "bob"}, {"id": "2", "subscriber": "bob", "channel": "alice"},
            {"id": "3", "subscriber": "dora", "channel": "bob"}, {"id": "4", "subscriber": "dora", "channel": "alice"}],
        "ratings": [rating("bob", "v"), rating("alice", "bob-1"), rating("alice", "v"), rating("bob", "bob-2")],
        "favorites": [{"account": "bob", "video": "v"}, {"account": "alice", "video": "bob-3"}],
        "plays": [{"video": "bob-1", "account": "alice"}, {"video": "v", "account": "bob"}],
        "membershipsLevels": [
            {"id": "tin", "channel": "bob", "displayName": "Tin", "priceMicros": 1_000_000},
            {"id": "iron", "channel": "alice", "displayName": "Iron", "priceMicros": 1_000_000}],
        "members": [
            {"creator": "bob", "member": "alice", "level": "tin", "since": "2026-01-01T00:00:00Z"},
            {"creator": "alice", "member": "bob", "level": "iron", "since": "2026-01-01T00:00:00Z"}],
        "captions": [{"id": "track", "video": "bob-1", "language": "en", "text": "WEBVTT\n\n00:01.000 --> 00:02.000\nHello\n"}],
        "comments": [comment("a", "alice", json!({"video": "bob-1"})), comment("b", "bob", json!({"video": "v"})),
            comment("c", "alice", json!({"channel": "bob"})), comment("d", "bob", json!({"video": "bob-1"}))],
    })
    .to_string()
}

pub(crate) async fn service() -> (Service, Arc<Memory>) {
    let store = Arc::new(Memory::new());
    let blobs = MemoryBlobs::new(SeededIds::from_number(1));
    (Service::filled(Arc::<Memory>::clone(&store), Arc::new(blobs), 0, &seed()).await, store)
}

/// Everything that Alice and a stranger can ask for in which Bob has a part, as it is answered.
async fn seen(service: &Service) -> BTreeMap<String, Value> {
    let mut seen = BTreeMap::new();
    for target in TARGETS {
        let path = format!("/youtube/v3{target}");
        let alice = service.ask("GET", &path, "ALICE", "").await;
        seen.insert(format!("alice {target}"), json!([alice.status, alice.json()]));
        let stranger = service.ask("GET", &format!("{path}&key=KEY"), "", "").await;
        seen.insert(format!("stranger {target}"), json!([stranger.status, stranger.json()]));
    }
    for target in ["/vi/bob-1/default.jpg", "/ytc/UCbob/default.jpg", "/embed/bob-1"] {
        seen.insert(target.into(), json!(service.ask("GET", target, "", "").await.status));
    }
    let target = "/youtube/v3/playlists?part=id&mine=true";
    let own = service.ask("GET", target, "BOB", "").await;
    seen.insert("bob".into(), json!([own.status, own.reason()]));
    seen
}

pub(crate) fn close(store: &Memory) {
    let closing = Closing { account: "bob".to_owned() };
    let mut ids = SeededIds::from_number(8);
    run_blocking(store, &mut ids, 64, |tx, _| closing::close(tx, &closing)).unwrap();
}

/// One step of what is removed afterwards; says whether there may be more.
pub(crate) fn step(store: &Memory, at: u64) -> bool {
    let mut ids = SeededIds::from_number(100 + at);
    run_blocking(store, &mut ids, 64, |tx, _| cascade::sweep(tx)).unwrap()
}

pub(crate) fn tables_with(store: &Memory, name: &str) -> Vec<u8> {
    let rows = store.scan(&Span::default(), 1_000_000).unwrap().rows;
    let holds = |bytes: &[u8]| bytes.windows(name.len()).any(|window| window == name.as_bytes());
    let named = rows.iter().filter(|(key, value)| holds(key) || holds(value));
    let mut tables: Vec<_> = named
        .map(|(key, _)| key[0])
        .filter(|table| *table < 0x80 || (0xA0..0xB0).contains(table))
        .collect();
    tables.dedup();
    tables
}

fn total(seen: &BTreeMap<String, Value>, target: &str) -> Value {
    seen[&format!("alice {target}")][1]["pageInfo"]["totalResults"].clone()
}

#[tokio::test]
async fn no_request_sees_half_of_an_account_that_is_closed() {
    let (service, store) = service().await;
    let before = seen(&service).await;
    assert_eq!(total(&before, "/search?part=id&q=otter&maxResults=50"), 10);
    close(&store);
    let closed = seen(&service).await;
    assert_eq!(closed["bob"], json!([403, "authenticatedUserAccountClosed"]));
    let about = service.ask("GET", "/tokeninfo?access_token=BOB", "", "").await;
    assert_eq!(about.status, 400, "a token of a closed account tells nobody anything");
    for (target, expected) in [
        ("/search?part=id&q=otter&maxResults=50", 1),
        ("/videos?part=id&chart=mostPopular&maxResults=50", 1),
        ("/videos?part=id&myRating=like", 1),
        ("/subscriptions?part=snippet&mine=true", 0),
        ("/subscriptions?part=snippet&mySubscribers=true", 0),
        ("/playlistItems?part=snippet&playlistId=LL", 1),
        ("/playlistItems?part=snippet,status&playlistId=PLalice", 3),
        ("/comments?part=snippet&id=a,b,c,d,a.ar,b.br", 2),
    ] {
        assert_eq!(total(&closed, target), expected, "{target}");
    }
    let statistics = &closed["alice /videos?part=statistics&id=v"][1]["items"][0]["statistics"];
    assert_eq!(
        (&statistics["likeCount"], &statistics["favoriteCount"]),
        (&json!("1"), &json!("0"))
    );
    for target in ["/vi/bob-1/default.jpg", "/ytc/UCbob/default.jpg", "/embed/bob-1"] {
        assert_eq!((&before[target], &closed[target]), (&json!(200), &json!(404)), "{target}");
    }
    let mut at = 0;
    while step(&store, at) {
        at += 1;
        let now = seen(&service).await;
        for (target, expected) in &closed {
            assert_eq!(&now[target], expected, "{target} after step {at}");
        }
    }
    assert!(at > 5, "the account is removed in steps");
    let left = tables_with(&store, "bob");
    // The account itself and its tokens, that the channel was closed, playlists of others with a gap, its comments elsewhere,
    // its membership with its place by level and its update.
    let kept =
        [0x01, 0x02, 0x18, 0x31, 0x32, 0x33, 0x34, 0x28, 0x35, 0x36, 0x40, 0x4A, 0xA4, 0xA5, 0xA7];
    let kept: Vec<_> = left.iter().filter(|table| !kept.contains(table)).collect();
    assert_eq!(kept, [0_u8; 0].iter().collect::<Vec<_>>(), "tables that name it still");
}

/// Carries out every step of what is removed.
pub(crate) fn finish(store: &Memory) {
    let mut at = 0;
    while step(store, at) {
        at += 1;
    }
}

#[tokio::test]
async fn a_list_of_a_closed_channel_says_that_it_was_closed() {
    let (service, store) = service().await;
    let lists = [
        ("/playlists?part=id&channelId=UCbob", "channelClosed"),
        ("/activities?part=id&channelId=UCbob", "channelClosed"),
        ("/search?part=id&channelId=UCbob", "channelClosed"),
        ("/channelSections?part=id&channelId=UCbob", "channelClosed"),
        ("/commentThreads?part=id&channelId=UCbob", "channelClosed"),
        ("/commentThreads?part=id&allThreadsRelatedToChannelId=UCbob", "channelClosed"),
        ("/subscriptions?part=id&channelId=UCbob", "accountClosed"),
    ];
    let ask = async |name: &str| {
        let mut told = Vec::new();
        for (target, _) in lists {
            let target = format!("/youtube/v3{}", target.replace("UCbob", name));
            let answer = service.ask("GET", &target, "ALICE", "").await;
            told.push((answer.status, answer.reason()));
        }
        told
    };
    let expected: Vec<_> = lists.iter().map(|(_, reason)| (403, (*reason).to_owned())).collect();
    close(&store);
    assert_eq!(ask("UCbob").await, expected);
    finish(&store);
    assert_eq!(ask("UCbob").await, expected, "when nothing is left of it");
    for (status, reason) in ask("UCnone").await {
        assert!([200, 404].contains(&status) && !reason.ends_with("Closed"), "{reason}");
    }
    let list = service.ask("GET", "/youtube/v3/channels?part=id&id=UCbob", "ALICE", "").await;
    assert_eq!(list.json()["pageInfo"]["totalResults"], 0);
}

#[tokio::test]
async fn what_is_written_to_a_closed_channel_is_told_that_it_was_closed() {
    let (service, store) = service().await;
    let thread = json!({"snippet": {"channelId": "UCbob", "topLevelComment": {"snippet": {"textOriginal": "t"}}}});
    let resource = json!({"kind": "youtube#channel", "channelId": "UCbob"});
    let branding = json!({"id": "UCbob", "brandingSettings": {"channel": {}}});
    let writes = [
        ("POST", "/commentThreads?part=snippet", thread),
        ("POST", "/subscriptions?part=snippet", json!({"snippet": {"resourceId": resource}})),
        ("PUT", "/channels?part=brandingSettings", branding),
    ];
    close(&store);
    finish(&store);
    for (method, target, body) in writes {
        let (target, body) = (format!("/youtube/v3{target}"), body.to_string());
        let answer = service.ask(method, &target, "ALICE", &body).await;
        assert_eq!((answer.status, answer.reason().as_str()), (403, "channelClosed"), "{target}");
        let other = service.ask(method, &target, "ALICE", &body.replace("UCbob", "UCnone")).await;
        assert_eq!(other.status, 404, "{target}");
    }
}

#[tokio::test]
async fn the_picture_that_a_comment_of_a_closed_account_names_is_there() {
    let (service, store) = service().await;
    let pictures = async || {
        let target = "/youtube/v3/comments?part=snippet&id=b";
        let found = service.ask("GET", target, "ALICE", "").await.json();
        let mut told = Vec::new();
        for item in found["items"].as_array().unwrap() {
            let url = item["snippet"]["authorProfileImageUrl"].as_str().unwrap();
            let path = url.strip_prefix("http://127.0.0.1:7801").unwrap();
            let answer = service.ask("GET", path, "", "").await;
            assert_eq!(answer.headers["content-type"], "image/jpeg", "{path}");
            told.push((path.to_owned(), answer.status));
        }
        told
    };
    let of = |name: &str| [(format!("/ytc/{name}/default.jpg"), 200)];
    assert_eq!(pictures().await, of("UCbob"));
    close(&store);
    assert_eq!(pictures().await, of("none"));
    finish(&store);
    assert_eq!(pictures().await, of("none"));
}

#[tokio::test]
async fn nobody_promotes_a_closed_channel() {
    let (service, store) = service().await;
    let item = |by: &str| json!({"id": {"type": "recentUpload", "recentlyUploadedBy": by}});
    let promotion =
        json!({"id": "UCalice", "invideoPromotion": {"items": [item("UCbob"), item("UCdora")]}});
    let target = "/youtube/v3/channels?part=invideoPromotion";
    let told = service.ask("PUT", target, "ALICE", &promotion.to_string()).await;
    assert_eq!(told.status, 200, "{}", told.json());
    close(&store);
    finish(&store);
    let target = "/youtube/v3/channels?part=invideoPromotion&id=UCalice";
    let left = service.ask("GET", target, "ALICE", "").await.json();
    let items = &left["items"][0]["invideoPromotion"]["items"];
    assert_eq!(items, &json!([item("UCdora")]));
    assert!(!tables_with(&store, "UCbob").contains(&0x10), "no channel names it");
}

#[tokio::test]
async fn a_closed_account_stays_a_member_without_a_profile_until_it_is_ended() {
    let (service, store) = service().await;
    close(&store);
    let list = "/youtube/v3/members?part=snippet";
    let details = |answer: Value| answer["items"][0]["snippet"]["memberDetails"].clone();
    let told = details(service.ask("GET", list, "ALICE", "").await.json());
    assert_eq!(told, json!({"channelId": "UCbob"}));
    for (body, status) in [
        (r#"{"creator": "alice", "member": "bob"}"#, 400),
        (r#"{"creator": "alice", "member": "UCnone"}"#, 404),
        (r#"{"creator": "alice", "member": "UCbob"}"#, 200),
    ] {
        let answer = service.control("POST", "/_ops/members", body).await;
        assert_eq!(answer.status, status, "{body}: {}", answer.json());
    }
    let left = service.ask("GET", list, "ALICE", "").await.json();
    assert_eq!(left["pageInfo"]["totalResults"], 0);
}

#[tokio::test]
async fn what_was_begun_by_an_account_that_is_closed_meanwhile_is_refused() {
    let (service, store) = service().await;
    let target = "/upload/youtube/v3/videos?part=snippet&uploadType=resumable";
    let metadata = r#"{"snippet": {"title": "t", "categoryId": "22"}}"#;
    let headers = [("x-upload-content-type", "video/mp4")];
    let opened = service.ask_with("POST", target, "BOB", &headers, metadata.as_bytes()).await;
    assert_eq!(opened.status, 200, "{}", opened.json());
    let session = opened.headers["location"].to_str().unwrap();
    let session = session.split_once("7801").unwrap().1.to_owned();
    close(&store);
    let mut at = 0;
    while step(&store, at) {
        at += 1;
    }
    let movie = include_bytes!("../../../../fuzz/corpus/video_media/film.mp4");
    let sent = service.ask_with("PUT", &session, "", &[("content-type", "video/mp4")], movie).await;
    assert_eq!((sent.status, sent.reason().as_str()), (403, "authenticatedUserAccountClosed"));
    assert!(!tables_with(&store, "UCbob").contains(&0x20), "no video was stored");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn requests_beside_a_closing_see_all_of_an_account_or_nothing() {
    let (service, store) = service().await;
    let service = Arc::new(service);
    let whole = seen(&service).await;
    let ask = async |service: &Service| {
        let target = "/youtube/v3/videos?part=id&id=bob-0,bob-1,bob-7,bob-8&key=KEY";
        let videos = service.ask("GET", target, "", "").await.json();
        let target = "/youtube/v3/search?part=id&q=otter&type=video&maxResults=50&key=KEY";
        let found = service.ask("GET", target, "", "").await.json();
        let target = "/youtube/v3/videos?part=id&chart=mostPopular&maxResults=50&key=KEY";
        let chart = service.ask("GET", target, "", "").await.json();
        let count = |list: Value| list["items"].as_array().map(Vec::len);
        (count(videos), found["pageInfo"]["totalResults"].as_u64(), count(chart))
    };
    let askers: Vec<_> = (0..3)
        .map(|_| {
            let service = Arc::clone(&service);
            tokio::spawn(async move {
                let mut seen = Vec::new();
                for _ in 0..60 {
                    seen.push(ask(&service).await);
                }
                seen
            })
        })
        .collect();
    let sweeper = tokio::task::spawn_blocking(move || {
        close(&store);
        let mut at = 0;
        while step(&store, at) {
            at += 1;
        }
    });
    for asker in askers {
        for (videos, found, chart) in asker.await.unwrap() {
            assert!([Some(4), Some(0)].contains(&videos), "a list of ids had {videos:?}");
            assert!([Some(10), Some(1)].contains(&found), "a search found {found:?}");
            assert!([Some(10), Some(1)].contains(&chart), "a chart had {chart:?}");
        }
    }
    sweeper.await.unwrap();
    assert_ne!(seen(&service).await, whole);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn lists_and_counters_beside_a_closing_are_those_of_one_moment() {
    const TARGETS: [&str; 7] = [
        "/subscriptions?part=snippet&mine=true",
        "/subscriptions?part=snippet&mine=true&order=unread",
        "/subscriptions?part=snippet&mySubscribers=true",
        "/channels?part=statistics&id=UCalice",
        "/channels?part=id&mySubscribers=true",
        "/videos?part=statistics&id=v",
        "/videos?part=id&myRating=like",
    ];
    let (service, store) = service().await;
    let service = Arc::new(service);
    let whole = seen(&service).await;
    let askers: Vec<_> = TARGETS
        .into_iter()
        .map(|target| {
            let service = Arc::clone(&service);
            tokio::spawn(async move {
                let mut seen = Vec::new();
                for _ in 0..200 {
                    let path = format!("/youtube/v3{target}");
                    let alice = service.ask("GET", &path, "ALICE", "").await;
                    seen.push(json!([alice.status, alice.json()]));
                }
                seen
            })
        })
        .collect();
    let sweeper = tokio::task::spawn_blocking(move || {
        close(&store);
        let mut at = 0;
        while step(&store, at) {
            at += 1;
        }
    });
    let mut answers = Vec::new();
    for asker in askers {
        answers.push(asker.await.unwrap());
    }
    sweeper.await.unwrap();
    let closed = seen(&service).await;
    for (target, answers) in TARGETS.into_iter().zip(answers) {
        let (whole, closed) =
            (&whole[&format!("alice {target}")], &closed[&format!("alice {target}")]);
        assert_ne!(whole, closed, "{target}");
        for answer in answers {
            assert!([whole, closed].contains(&&answer), "{target}: {answer}");
        }
    }
}

#[tokio::test]
async fn steps_stay_small_however_much_a_section_names_and_a_comment_says() {
    let playlists: Vec<_> = (0..50)
        .map(|at| json!({"id": format!("PL{at}"), "owner": "bob", "snippet": {"title": "t"}}))
        .collect();
    let ids: Vec<_> = (0..50).map(|at| format!("PL{at}")).collect();
    let section = |at: usize| {
        json!({"id": format!("s{at}"), "owner": if at < 10 { "bob" } else { "alice" },
            "snippet": {"type": "multiplePlaylists", "title": "t"}, "contentDetails": {"playlists": ids}})
    };
    let long: Vec<_> = (0..400).map(|at| format!("word{at}")).collect();
    let replies: Vec<_> = (0..40)
        .map(
            |at| json!({"id": format!("r{at}"), "author": "alice", "textOriginal": long.join(" ")}),
        )
        .collect();
    let mut seed: Value = serde_json::from_str(&seed()).unwrap();
    seed["playlists"] = json!(playlists);
    seed["channelSections"] = json!((0..20).map(section).collect::<Vec<_>>());
    seed["comments"] = json!([{"id": "t", "author": "alice", "video": "bob-1", "textOriginal": long.join(" "), "replies": replies}]);
    let store = Arc::new(Memory::new());
    let blobs = MemoryBlobs::new(SeededIds::from_number(1));
    let service =
        Service::filled(Arc::<Memory>::clone(&store), Arc::new(blobs), 0, &seed.to_string()).await;
    close(&store);
    let target = "/youtube/v3/channelSections?part=contentDetails&mine=true";
    let sections = async || service.ask("GET", target, "ALICE", "").await.json();
    let closed = sections().await;
    let (mut at, empty) = (0, json!({"playlists": []}));
    while step(&store, at) {
        at += 1;
    }
    let items = closed["items"].as_array().unwrap();
    assert!(items.len() == 10 && items.iter().all(|item| item["contentDetails"] == empty));
    assert_eq!(sections().await, closed);
    // Nothing is left that names the lists, or holds a word of what was said.
    let rows = store.scan(&Span::default(), 1_000_000).unwrap().rows;
    let left = rows.iter().filter(|(key, _)| [0x48, 0x68, 0x6A].contains(&key[0]));
    assert_eq!(left.filter(|(key, _)| key[0] != 0x68).count(), 0);
}
