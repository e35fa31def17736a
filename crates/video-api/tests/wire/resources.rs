//! The behaviour of each resource over the wire, where a unit test would not see it.

use serde_json::{Value, json};

use crate::service::Service;

async fn put(service: &Service, target: &str, body: &Value) -> (u16, Value) {
    let answer =
        service.ask("PUT", &format!("/youtube/v3{target}"), "ALICE", &body.to_string()).await;
    (answer.status, answer.json())
}

async fn post(service: &Service, target: &str, body: &Value) -> (u16, Value) {
    let answer =
        service.ask("POST", &format!("/youtube/v3{target}"), "ALICE", &body.to_string()).await;
    (answer.status, answer.json())
}

#[tokio::test]
async fn an_update_overwrites_the_named_parts_and_deletes_what_they_leave_out() {
    let service = Service::new().await;
    let body = json!({"id": "v", "snippet": {"title": "Changed", "categoryId": "10"}});
    let (status, video) = put(&service, "/videos?part=snippet", &body).await;
    assert_eq!((status, &video["snippet"]["title"]), (200, &json!("Changed")));
    assert_eq!(
        (&video["snippet"]["description"], &video["snippet"]["tags"]),
        (&json!(""), &Value::Null)
    );
    let status = json!({"id": "v", "status": {"privacyStatus": "unlisted", "embeddable": false}});
    put(&service, "/videos?part=status", &status).await;
    put(&service, "/videos?part=status", &json!({"id": "v", "status": {}})).await;
    let found = service.list("/videos?part=status,snippet&id=v").await;
    let status = &found["items"][0]["status"];
    assert_eq!((&status["privacyStatus"], &status["embeddable"]), (&json!("public"), &json!(true)));
    assert_eq!(found["items"][0]["snippet"]["title"], "Changed", "a part that is not named stays");
    for (snippet, reason) in [
        (json!({"title": "no category"}), "invalidVideoMetadata"),
        (json!({"title": "", "categoryId": "22"}), "invalidTitle"),
        (json!({"title": "a<b", "categoryId": "22"}), "invalidTitle"),
        (json!({"title": "a", "categoryId": "30"}), "invalidCategoryId"),
        (
            json!({"title": "a", "categoryId": "22", "description": "d".repeat(5001)}),
            "invalidDescription",
        ),
        (json!({"title": "a", "categoryId": "22", "tags": ["t".repeat(501)]}), "invalidTags"),
    ] {
        let (status, error) =
            put(&service, "/videos?part=snippet", &json!({"id": "v", "snippet": snippet})).await;
        assert_eq!((status, error["error"]["errors"][0]["reason"].as_str()), (400, Some(reason)));
    }
}

#[tokio::test]
async fn a_stale_etag_is_refused_with_412_and_a_fresh_one_saves_the_body() {
    let service = Service::new().await;
    let first = service.ask("GET", "/youtube/v3/videos?part=snippet&id=v&key=KEY", "", "").await;
    let etag = first.headers["etag"].to_str().unwrap().to_owned();
    assert_eq!(etag.trim_matches('"').len(), 27);
    let item = first.json()["items"][0]["etag"].as_str().unwrap().to_owned();
    let again = service
        .ask_with(
            "GET",
            "/youtube/v3/videos?part=snippet&id=v&key=KEY",
            "",
            &[("if-none-match", &etag)],
            b"",
        )
        .await;
    assert_eq!((again.status, again.body.len()), (304, 0));
    let body = json!({"id": "v", "snippet": {"title": "Mine", "categoryId": "22"}}).to_string();
    // A weak etag says that the bytes may be others, so it guards no write (RFC 9110, section 13.1.1).
    let (weak, strong) = (format!("W/\"{item}\""), format!("\"x\", \"{item}\""));
    for (expected, etag) in [(412, "stale"), (412, &*weak), (200, &*strong), (412, &*item)] {
        let headers = [("if-match", etag)];
        let answer = service
            .ask_with("PUT", "/youtube/v3/videos?part=snippet", "ALICE", &headers, body.as_bytes())
            .await;
        assert_eq!(answer.status, expected, "{etag}");
    }
    let changed = service
        .ask_with(
            "GET",
            "/youtube/v3/videos?part=snippet&id=v&key=KEY",
            "",
            &[("if-none-match", &etag)],
            b"",
        )
        .await;
    assert_eq!(changed.status, 200);
}

#[tokio::test]
async fn a_scheduled_video_is_public_when_its_time_comes() {
    let service = Service::new().await;
    let body = json!({"id": "p", "status": {"privacyStatus": "private", "publishAt": "2026-05-01T13:00:00Z"}});
    assert_eq!(put(&service, "/videos?part=status", &body).await.0, 200);
    let seen = |service: Service| async move {
        let answer = service
            .ask("GET", "/youtube/v3/playlistItems?part=id&playlistId=UUx&maxResults=50", "BOB", "")
            .await;
        (answer.json()["pageInfo"]["totalResults"].as_u64().unwrap(), service)
    };
    let (before, service) = seen(service).await;
    service.later(3_600);
    let (after, service) = seen(service).await;
    assert_eq!((before, after), (2, 3));
    let found = service.list("/videos?part=status,snippet&id=p").await;
    assert_eq!(found["items"][0]["status"]["privacyStatus"], "public");
    assert_eq!(found["items"][0]["snippet"]["publishedAt"], "2026-05-01T13:00:00Z");
    let channel = service.list("/channels?part=statistics&mine=true").await;
    assert_eq!(channel["items"][0]["statistics"]["videoCount"], "3");
}

#[tokio::test]
async fn a_like_is_an_item_of_the_likes_and_the_other_way_round() {
    let service = Service::new().await;
    let likes = |found: &Value| found["pageInfo"]["totalResults"].as_u64().unwrap();
    let answer = service.ask("POST", "/youtube/v3/videos/rate?id=v&rating=like", "ALICE", "").await;
    assert_eq!(answer.status, 204);
    let list = service.list("/playlistItems?part=id,snippet&playlistId=LL").await;
    assert_eq!(
        (likes(&list), &list["items"][0]["snippet"]["resourceId"]["videoId"]),
        (1, &json!("v"))
    );
    let body = json!({"snippet": {"playlistId": "LLx", "resourceId": {"kind": "youtube#video", "videoId": "w"}}});
    assert_eq!(post(&service, "/playlistItems?part=snippet", &body).await.0, 200);
    let rating = service.list("/videos/getRating?id=v,w,p").await;
    let given: Vec<_> = rating["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["rating"].as_str().unwrap())
        .collect();
    assert_eq!(given, ["like", "like", "none"]);
    let statistics = service.list("/videos?part=statistics&id=v").await;
    assert_eq!(statistics["items"][0]["statistics"]["likeCount"], "1");
    let id = list["items"][0]["id"].as_str().unwrap();
    let answer =
        service.ask("DELETE", &format!("/youtube/v3/playlistItems?id={id}"), "ALICE", "").await;
    assert_eq!(answer.status, 204);
    assert_eq!(likes(&service.list("/playlistItems?part=id&playlistId=LL").await), 1);
    let rating = service.list("/videos/getRating?id=v").await;
    assert_eq!(rating["items"][0]["rating"], "none");
}

#[tokio::test]
async fn what_is_to_be_watched_is_a_playlist_of_the_owner() {
    let service = Service::new().await;
    let body = json!({"snippet": {"playlistId": "WL", "resourceId": {"kind": "youtube#video", "videoId": "v"}}});
    let (status, item) = post(&service, "/playlistItems?part=snippet", &body).await;
    assert_eq!((status, &item["snippet"]["playlistId"]), (200, &json!("WLx")), "{item}");
    let list = service.list("/playlistItems?part=snippet&playlistId=WLx").await;
    assert_eq!(list["items"][0]["id"], item["id"]);
}

#[tokio::test]
async fn a_batch_is_answered_part_by_part() {
    let service = Service::new().await;
    let body = "--b\nContent-Type: application/http\nContent-ID: <u + 1>\n\nGET /youtube/v3/videos?part=id&id=v HTTP/1.1\n\n\n\
        --b\nContent-Type: application/http\nContent-ID: <u + 2>\n\nGET /youtube/v3/nothing HTTP/1.1\n\n\n\
        --b\nContent-Type: application/http\n\nPOST /youtube/v3/playlists?part=snippet HTTP/1.1\nContent-Type: application/json\n\n{\"snippet\": {\"title\": \"B\"}}\n--b--";
    for path in ["/batch", "/batch/youtube/v3"] {
        let headers = [("content-type", "multipart/mixed; boundary=b")];
        let answer = service.ask_with("POST", path, "ALICE", &headers, body.as_bytes()).await;
        let text = String::from_utf8(answer.body.to_vec()).unwrap();
        let places: Vec<_> = [
            "<response-u + 1>",
            "HTTP/1.1 200 OK",
            "<response-u + 2>",
            "HTTP/1.1 404 Not Found",
            "HTTP/1.1 200 OK",
        ]
        .iter()
        .scan(0, |from, wanted| {
            *from += text[*from..].find(wanted).unwrap_or_else(|| panic!("{wanted} in {text}")) + 1;
            Some(*from)
        })
        .collect();
        assert_eq!((answer.status, places.len()), (200, 5));
    }
}

#[tokio::test]
async fn answers_have_the_form_that_is_asked_for() {
    let service = Service::new().await;
    let compact = service
        .ask(
            "GET",
            "/youtube/v3/videos?part=id&id=v&prettyPrint=false&fields=items(id)",
            "ALICE",
            "",
        )
        .await;
    assert_eq!(compact.body, br#"{"items":[{"id":"v"}]}"#.as_slice());
    let pretty =
        service.ask("GET", "/youtube/v3/videos?part=id&id=v&fields=items/id", "ALICE", "").await;
    assert_eq!(
        pretty.body,
        b"{\n  \"items\": [\n    {\n      \"id\": \"v\"\n    }\n  ]\n}\n".as_slice()
    );
    let headers = [("accept-encoding", "gzip"), ("user-agent", "x (gzip)")];
    let packed = service
        .ask_with("GET", "/youtube/v3/i18nRegions?part=snippet", "ALICE", &headers, b"")
        .await;
    assert_eq!(packed.headers["content-encoding"], "gzip");
    let plain = service.ask("GET", "/youtube/v3/i18nRegions?part=snippet", "ALICE", "").await;
    assert!(packed.body.len() * 3 < plain.body.len());
}

#[tokio::test]
async fn a_reset_brings_the_seed_back() {
    use triptych_core::host::Hosted;
    let service = Service::new().await;
    service.ask("DELETE", "/youtube/v3/videos?id=v", "ALICE", "").await;
    assert_eq!(service.list("/videos?part=id&id=v").await["items"], json!([]));
    service.api.reset().await.unwrap();
    assert_eq!(service.list("/videos?part=id&id=v").await["items"][0]["id"], "v");
}

#[tokio::test]
async fn a_channel_keeps_its_title_and_shows_what_was_written() {
    let service = Service::new().await;
    let settings = json!({"description": "About", "country": "DE", "showBrowseView": true, "defaultLanguage": "en"});
    let body = json!({"id": "UCx", "brandingSettings": {"channel": settings}, "invideoPromotion": {
        "defaultTiming": {"type": "offsetFromEnd", "offsetMs": 15000}, "items": [{"id": {"type": "video", "videoId": "v"}}]}});
    let (status, channel) =
        put(&service, "/channels?part=brandingSettings,invideoPromotion", &body).await;
    assert_eq!(status, 200, "{channel}");
    assert_eq!(channel["brandingSettings"]["channel"]["title"], "Alice");
    assert_eq!(channel["invideoPromotion"]["defaultTiming"]["offsetMs"], "15000");
    let found = service.list("/channels?part=snippet&forHandle=alice").await;
    assert_eq!(found["items"][0]["snippet"]["description"], "About");
    let body = json!({"id": "UCx", "brandingSettings": {"channel": {"title": "Other"}}});
    let (_, error) = put(&service, "/channels?part=brandingSettings", &body).await;
    assert_eq!(error["error"]["errors"][0]["reason"], "channelTitleUpdateForbidden");
    let (_, error) = put(&service, "/channels?part=snippet", &body).await;
    assert_eq!(error["error"]["errors"][0]["reason"], "unexpectedPart");
}
