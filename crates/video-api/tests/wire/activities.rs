//! Activities and favourites over the wire: what happened is listed, and what was undone, deleted or hidden is not.

use serde_json::{Value, json};

use crate::service::{Service, ask};

/// Types of the activities of a list, in its order, with the resources that they are about.
async fn listed(service: &Service, who: &str, query: &str) -> Vec<String> {
    let target = format!("/activities?part=snippet,contentDetails&maxResults=50&{query}");
    let (status, found) = ask(service, who, "GET", &target, Value::Null).await;
    assert_eq!(status, 200, "{query}: {found}");
    let name = |item: &Value| {
        let kind = item["snippet"]["type"].as_str().unwrap();
        let details = &item["contentDetails"][kind];
        let resource = details.get("resourceId").unwrap_or(details);
        let id = ["videoId", "channelId", "playlistId"]
            .into_iter()
            .find_map(|name| resource[name].as_str());
        format!("{kind} {}", id.unwrap_or_default())
    };
    found["items"].as_array().unwrap().iter().map(name).collect()
}

async fn add(service: &Service, who: &str, playlist: &str, video: &str) -> (u16, Value) {
    let resource = json!({"kind": "youtube#video", "videoId": video});
    let body = json!({"snippet": {"playlistId": playlist, "resourceId": resource}});
    ask(service, who, "POST", "/playlistItems?part=snippet", body).await
}

const FIRST: [&str; 5] = ["playlistItem w", "playlistItem v", "comment v", "upload w", "upload v"];

/// The same lines, whatever the order of what happened at one moment.
fn sorted(mut lines: Vec<String>) -> Vec<String> {
    lines.sort();
    lines
}

#[tokio::test]
async fn what_a_channel_does_is_listed_latest_first_and_what_it_undoes_is_not() {
    let service = Service::new().await;
    let mut seeded: Vec<_> = FIRST.iter().map(|line| (*line).to_owned()).collect();
    seeded.sort();
    assert_eq!(sorted(listed(&service, "ALICE", "mine=true").await), seeded);
    service.later(1);
    ask(&service, "ALICE", "POST", "/videos/rate?id=v&rating=like", Value::Null).await;
    service.later(1);
    let (_, favorite) = add(&service, "ALICE", "FL", "w").await;
    service.later(1);
    let (_, item) = add(&service, "ALICE", "PL", "v").await;
    service.later(1);
    let body = json!({"snippet": {"channelId": "UCbob", "topLevelComment": {"snippet": {"textOriginal": "t"}}}});
    let (_, thread) = ask(&service, "ALICE", "POST", "/commentThreads?part=id,snippet", body).await;
    let told = listed(&service, "ALICE", "mine=true").await;
    assert_eq!(told[..4], ["comment UCbob", "playlistItem v", "favorite w", "like v"]);
    let told = listed(&service, "BOB", "channelId=UCx").await;
    assert_eq!(told[..3], ["comment UCbob", "playlistItem v", "favorite w"]);
    assert!(!told.iter().any(|line| line.starts_with("like")), "likes are the owner's alone");
    for (method, target) in [
        ("POST", "/videos/rate?id=v&rating=none".to_owned()),
        ("DELETE", format!("/playlistItems?id={}", favorite["id"].as_str().unwrap())),
        ("DELETE", format!("/playlistItems?id={}", item["id"].as_str().unwrap())),
        ("DELETE", format!("/comments?id={}", thread["id"].as_str().unwrap())),
    ] {
        assert_eq!(ask(&service, "ALICE", method, &target, Value::Null).await.0, 204, "{target}");
    }
    assert_eq!(sorted(listed(&service, "ALICE", "mine=true").await), seeded);
}

#[tokio::test]
async fn what_is_hidden_or_deleted_is_not_shown_to_those_who_do_not_see_it() {
    let service = Service::new().await;
    let hide = json!({"id": "w", "status": {"privacyStatus": "private"}});
    ask(&service, "ALICE", "PUT", "/videos?part=status", hide).await;
    let told = sorted(listed(&service, "BOB", "channelId=UCx").await);
    assert_eq!(told, ["comment v", "playlistItem v", "upload v"]);
    let told = sorted(listed(&service, "ALICE", "mine=true").await);
    assert_eq!(told, ["comment v", "playlistItem v", "playlistItem w", "upload v"]);
    let target = "/comments/setModerationStatus?id=c&moderationStatus=rejected";
    ask(&service, "ALICE", "POST", target, Value::Null).await;
    assert_eq!(listed(&service, "ALICE", "channelId=UCbob").await, ["subscription UCx"]);
    let hide =
        json!({"id": "PLx", "snippet": {"title": "t"}, "status": {"privacyStatus": "private"}});
    ask(&service, "ALICE", "PUT", "/playlists?part=snippet,status", hide).await;
    assert_eq!(listed(&service, "BOB", "channelId=UCx").await, ["upload v"]);
    ask(&service, "ALICE", "DELETE", "/videos?id=v", Value::Null).await;
    assert_eq!(listed(&service, "BOB", "channelId=UCx").await, [""; 0]);
    assert_eq!(listed(&service, "ALICE", "mine=true").await, ["playlistItem w"]);
}

#[tokio::test]
async fn an_upload_is_an_activity_once_it_is_public() {
    let service = Service::new().await;
    let at = json!({"privacyStatus": "private", "publishAt": "2026-05-01T13:00:00Z"});
    ask(&service, "ALICE", "PUT", "/videos?part=status", json!({"id": "p", "status": at})).await;
    assert!(!listed(&service, "BOB", "channelId=UCx").await.contains(&"upload p".to_owned()));
    service.later(3_600);
    assert_eq!(listed(&service, "BOB", "channelId=UCx").await[0], "upload p");
    let target = "/activities?part=snippet,contentDetails&channelId=UCx&maxResults=1";
    let (_, found) = ask(&service, "BOB", "GET", target, Value::Null).await;
    let (item, snippet) = (&found["items"][0], &found["items"][0]["snippet"]);
    assert_eq!(item["contentDetails"]["upload"]["videoId"], "p");
    assert_eq!(snippet["publishedAt"], "2026-05-01T13:00:00Z");
    assert_eq!((&snippet["title"], &snippet["channelTitle"]), (&json!("Private"), &json!("Alice")));
    let picture = snippet["thumbnails"]["default"]["url"].as_str().unwrap();
    assert!(picture.ends_with("/vi/p/default.jpg"), "{picture}");
}

#[tokio::test]
async fn lists_are_narrowed_by_time_and_region_and_come_in_pages() {
    let seed = r#"{"accounts": [{"id": "a", "tokens": [{"token": "A", "scopes": ["youtube"]}], "channel": {"id": "UCx", "title": "A"}}],
        "videos": [
            {"id": "one", "owner": "a", "publishedAt": "2026-01-01T00:00:00Z", "snippet": {"title": "V", "categoryId": "22"}},
            {"id": "two", "owner": "a", "publishedAt": "2026-01-02T00:00:00Z", "snippet": {"title": "V", "categoryId": "22"},
             "contentDetails": {"regionRestriction": {"blocked": ["DE"]}}},
            {"id": "three", "owner": "a", "publishedAt": "2026-01-03T00:00:00Z", "snippet": {"title": "V", "categoryId": "22"}}],
        "favorites": [{"account": "a", "video": "one", "at": "2026-01-02T12:00:00Z"}]}"#;
    let service = Service::seeded(seed).await;
    for (query, expected) in [
        ("", vec!["upload three", "favorite one", "upload two", "upload one"]),
        ("&regionCode=DE", vec!["upload three", "favorite one", "upload one"]),
        (
            "&publishedAfter=2026-01-02T00:00:00Z",
            vec!["upload three", "favorite one", "upload two"],
        ),
        ("&publishedBefore=2026-01-02T00:00:00Z", vec!["upload one"]),
        (
            "&publishedAfter=2026-01-02T00:00:00Z&publishedBefore=2026-01-03T00:00:00Z",
            vec!["favorite one", "upload two"],
        ),
        ("&publishedAfter=2027-01-01T00:00:00Z", vec![]),
        ("&publishedAfter=2026-01-02", vec!["upload three", "favorite one", "upload two"]),
        ("&publishedBefore=2026-01-02", vec!["upload one"]),
        (
            "&publishedAfter=2026-01-02&publishedBefore=2026-01-03",
            vec!["favorite one", "upload two"],
        ),
    ] {
        assert_eq!(
            listed(&service, "A", &format!("channelId=UCx{query}")).await,
            expected,
            "{query}"
        );
        let target = format!("/activities?part=id&mine=true&maxResults=1{query}");
        let mut ids = std::collections::BTreeSet::new();
        let mut page = ask(&service, "A", "GET", &target, Value::Null).await.1;
        loop {
            ids.extend(page["items"].as_array().unwrap().iter().map(|item| item["id"].to_string()));
            assert_eq!(page["pageInfo"]["totalResults"], expected.len(), "{query}");
            let Some(token) = page["nextPageToken"].as_str() else { break };
            page = ask(&service, "A", "GET", &format!("{target}&pageToken={token}"), Value::Null)
                .await
                .1;
        }
        assert_eq!(ids.len(), expected.len(), "{query}");
    }
    let found =
        ask(&service, "A", "GET", "/activities?part=id&mine=true&maxResults=1", Value::Null)
            .await
            .1;
    let token = found["nextPageToken"].as_str().unwrap();
    for other in ["channelId=UCx", "home=true", "mine=true&regionCode=DE"] {
        let target = format!("/activities?part=id&{other}&pageToken={token}");
        let (status, error) = ask(&service, "A", "GET", &target, Value::Null).await;
        assert_eq!(
            (status, &error["error"]["errors"][0]["reason"]),
            (400, &json!("invalidPageToken"))
        );
    }
    let (status, error) =
        ask(&service, "A", "GET", "/activities?part=id&channelId=none", Value::Null).await;
    assert_eq!((status, &error["error"]["errors"][0]["reason"]), (404, &json!("channelNotFound")));
}

#[tokio::test]
async fn what_no_operation_makes_comes_from_a_control_call() {
    let service = Service::new().await;
    let make = async |kind: &str, details: Value| {
        let body = json!({"account": "alice", "type": kind, "contentDetails": details});
        let told = service.control("POST", "/_ops/activities", &body.to_string()).await;
        let place =
            told.json()["error"]["errors"][0]["location"].as_str().unwrap_or_default().to_owned();
        (told.status, place)
    };
    let video = json!({"kind": "youtube#video", "videoId": "v"});
    for (kind, details) in [
        (
            "social",
            json!({"type": "facebook", "resourceId": video, "author": "x", "referenceUrl": "http://a"}),
        ),
        (
            "recommendation",
            json!({"reason": "videoWatched", "resourceId": video, "seedResourceId": video}),
        ),
        ("bulletin", json!({"resourceId": video})),
        ("promotedItem", json!({"videoId": "v", "adTag": "x", "impressionUrl": ["http://a"]})),
    ] {
        service.later(1);
        assert_eq!(make(kind, json!({kind: details})).await.0, 200, "{kind}");
        assert_eq!(listed(&service, "BOB", "channelId=UCx").await[0], format!("{kind} v"));
    }
    for (kind, details, place) in [
        ("upload", json!({"upload": {"videoId": "v"}}), "type"),
        ("bulletin", json!({}), "contentDetails.bulletin"),
        ("bulletin", json!({"bulletin": {}, "social": {}}), "contentDetails.bulletin"),
        ("bulletin", json!({"bulletin": {"resourceId": 7}}), "contentDetails.bulletin.resourceId"),
        ("bulletin", json!({"bulletin": {}}), "contentDetails.bulletin.resourceId"),
        (
            "bulletin",
            json!({"bulletin": {"resourceId": {"kind": "youtube#video"}}}),
            "contentDetails.bulletin.resourceId",
        ),
        ("social", json!({"social": {"type": "facebook"}}), "contentDetails.social.resourceId"),
        ("promotedItem", json!({"promotedItem": {}}), "contentDetails.promotedItem.videoId"),
        ("social", json!({"social": {"type": "none"}}), "contentDetails.social.type"),
        (
            "promotedItem",
            json!({"promotedItem": {"videoId": "none"}}),
            "contentDetails.promotedItem.videoId",
        ),
        (
            "bulletin",
            json!({"bulletin": {"resourceId": {"videoId": "none"}}}),
            "contentDetails.bulletin.resourceId",
        ),
        (
            "recommendation",
            json!({"recommendation": {"resourceId": video, "seedResourceId": {"channelId": "none"}}}),
            "contentDetails.recommendation.seedResourceId",
        ),
    ] {
        assert_eq!(make(kind, details).await, (400, format!("body.{place}")));
    }
    let target = "/youtube/v3/activities?part=snippet";
    assert_eq!(service.ask("POST", target, "ALICE", "{}").await.status, 410);
}

#[tokio::test]
async fn what_one_does_with_one_video_is_one_group() {
    let service = Service::new().await;
    add(&service, "ALICE", "FL", "v").await;
    let target = "/activities?part=snippet,contentDetails&mine=true&maxResults=50";
    let (_, found) = ask(&service, "ALICE", "GET", target, Value::Null).await;
    let mut groups = std::collections::BTreeMap::<String, Vec<String>>::new();
    for item in found["items"].as_array().unwrap() {
        let text = |name: &str| item["snippet"][name].as_str().unwrap().to_owned();
        groups.entry(text("groupId")).or_default().push(text("type"));
    }
    let mut sizes: Vec<_> = groups.values().map(Vec::len).collect();
    sizes.sort_unstable();
    assert_eq!(sizes, [2, 4], "{groups:?}");
}

#[tokio::test]
async fn a_favourite_counts_once_and_everybody_sees_the_list() {
    let service = Service::new().await;
    let count = async || {
        let found = service.list("/videos?part=statistics&id=v").await;
        found["items"][0]["statistics"]["favoriteCount"].as_str().unwrap().to_owned()
    };
    let (status, item) = add(&service, "BOB", "FL", "v").await;
    assert_eq!((status, &item["snippet"]["playlistId"]), (200, &json!("FLbob")));
    let (status, error) = add(&service, "BOB", "FLbob", "v").await;
    assert_eq!(
        (status, &error["error"]["errors"][0]["reason"]),
        (409, &json!("videoAlreadyInPlaylist"))
    );
    assert_eq!(add(&service, "ALICE", "FLbob", "w").await.0, 403);
    assert_eq!(add(&service, "ALICE", "FL", "v").await.0, 200);
    assert_eq!(count().await, "2");
    let channel = service.list("/channels?part=contentDetails&id=UCbob").await;
    assert_eq!(channel["items"][0]["contentDetails"]["relatedPlaylists"]["favorites"], "FLbob");
    let list = service.list("/playlistItems?part=contentDetails&playlistId=FLbob").await;
    assert_eq!(list["items"][0]["contentDetails"]["videoId"], "v");
    let list = service.list("/playlists?part=snippet,contentDetails,status&id=FLbob").await;
    assert_eq!(list["items"][0]["contentDetails"]["itemCount"], 1);
    assert_eq!(list["items"][0]["status"]["privacyStatus"], "public");
    let target = format!("/playlistItems?id={}", item["id"].as_str().unwrap());
    assert_eq!(ask(&service, "BOB", "DELETE", &target, Value::Null).await.0, 204);
    assert_eq!(count().await, "1");
}

#[tokio::test]
async fn home_shows_the_uploads_of_the_channels_that_one_subscribes_to() {
    let service = Service::new().await;
    let uploads = ["upload v", "upload w"];
    assert_eq!(sorted(listed(&service, "BOB", "home=true").await), uploads);
    assert_eq!(listed(&service, "ALICE", "home=true").await, [""; 0]);
    let mine = "/subscriptions?part=id&mine=true";
    let (_, subscriptions) = ask(&service, "BOB", "GET", mine, Value::Null).await;
    let target = format!("/subscriptions?id={}", subscriptions["items"][0]["id"].as_str().unwrap());
    assert_eq!(ask(&service, "BOB", "DELETE", &target, Value::Null).await.0, 204);
    assert_eq!(listed(&service, "BOB", "home=true").await, [""; 0]);
    assert_eq!(listed(&service, "ALICE", "channelId=UCbob").await, ["comment v"]);
    service.later(1);
    let body = json!({"snippet": {"resourceId": {"kind": "youtube#channel", "channelId": "UCx"}}});
    let (status, made) = ask(&service, "BOB", "POST", "/subscriptions?part=snippet", body).await;
    assert_eq!(status, 200, "{made}");
    assert_eq!(sorted(listed(&service, "BOB", "home=true").await), uploads);
    assert_eq!(listed(&service, "ALICE", "channelId=UCbob").await[0], "subscription UCx");
}

#[tokio::test]
async fn an_activity_about_a_playlist_shows_the_picture_of_its_first_video() {
    let service = Service::new().await;
    for list in ["PLx", "PL"] {
        let resource = json!({"kind": "youtube#playlist", "playlistId": list});
        let body = json!({"account": "alice", "type": "bulletin", "contentDetails": {"bulletin": {"resourceId": resource}}});
        let told = service.control("POST", "/_ops/activities", &body.to_string()).await;
        assert_eq!(told.status, 200, "{}", told.json());
        service.later(1);
    }
    let shown = async |who: &str| {
        let target = "/activities?part=snippet&channelId=UCx&maxResults=50";
        let (_, found) = ask(&service, who, "GET", target, Value::Null).await;
        let picture = |item: &Value| {
            let url = item["snippet"]["thumbnails"]["default"]["url"].as_str().unwrap().to_owned();
            url.split('?').next().unwrap().rsplit('/').nth(1).unwrap().to_owned()
        };
        let items = found["items"].as_array().unwrap().iter();
        let about = items.filter(|item| item["snippet"]["type"] == "bulletin");
        about.map(picture).collect::<Vec<_>>()
    };
    assert_eq!(shown("BOB").await, ["none", "v"]);
    add(&service, "ALICE", "PL", "w").await;
    assert_eq!(shown("BOB").await, ["w", "v"]);
    let hide = json!({"id": "v", "status": {"privacyStatus": "private"}});
    ask(&service, "ALICE", "PUT", "/videos?part=status", hide).await;
    assert_eq!(
        (shown("BOB").await, shown("ALICE").await),
        (vec!["w".into(), "none".into()], vec!["w".into(), "v".into()])
    );
}
