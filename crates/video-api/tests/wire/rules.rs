//! Rules of single resources that their documentation states, each by a request that breaks or shows it.

use serde_json::{Value, json};

use crate::service::{Service, ask};

/// Status and reason of a refusal.
async fn refusal(service: &Service, method: &str, target: &str, body: &Value) -> (u16, String) {
    let (status, answer) = ask(service, "ALICE", method, target, body.clone()).await;
    (status, answer["error"]["errors"][0]["reason"].as_str().unwrap_or_default().to_owned())
}

async fn assert_refused(service: &Service, method: &str, rows: &[(&str, Value, u16, &str)]) {
    for (target, body, status, reason) in rows {
        let told = refusal(service, method, target, body).await;
        assert_eq!(told, (*status, (*reason).to_owned()), "{target} {body}");
    }
}

#[tokio::test]
async fn a_schedule_that_is_over_publishes_right_away() {
    let service = Service::new().await;
    let body = json!({"id": "p", "status": {"privacyStatus": "private", "publishAt": "2026-05-01T11:00:00Z"}});
    let answer =
        service.ask("PUT", "/youtube/v3/videos?part=status", "ALICE", &body.to_string()).await;
    let status = &answer.json()["status"];
    assert_eq!((&status["privacyStatus"], &status["publishAt"]), (&json!("public"), &Value::Null));
    let everyone = service.ask("GET", "/youtube/v3/videos?part=id&id=p&key=KEY", "", "").await;
    assert_eq!(everyone.json()["items"][0]["id"], "p");
}

#[tokio::test]
async fn what_only_the_owner_sees_of_a_video_is_not_in_the_answer_of_others() {
    let service = Service::new().await;
    let body = json!({"id": "v", "status": {"selfDeclaredMadeForKids": true}});
    let update = "/youtube/v3/videos?part=status";
    service.ask("PUT", update, "ALICE", &body.to_string()).await;
    let list = "/youtube/v3/videos?part=status,contentDetails,statistics&id=v";
    for (token, sees) in [("ALICE", true), ("BOB", false)] {
        let item = service.ask("GET", list, token, "").await.json()["items"][0].clone();
        for (part, name) in [
            ("status", "selfDeclaredMadeForKids"),
            ("contentDetails", "hasCustomThumbnail"),
            ("statistics", "dislikeCount"),
        ] {
            assert_eq!(item[part].get(name).is_some(), sees, "{token} {name}: {item}");
        }
        assert_eq!(item["status"]["madeForKids"], true, "{token}");
    }
}

#[tokio::test]
async fn special_playlists_count_what_they_hold_for_whoever_asks() {
    let service = Service::new().await;
    let add = |list: &str| {
        json!({"snippet": {"playlistId": list, "resourceId": {"kind": "youtube#video", "videoId": "w"}}}).to_string()
    };
    for list in ["LL", "HL", "HL", "WL"] {
        let target = "/youtube/v3/playlistItems?part=snippet";
        assert_eq!(service.ask("POST", target, "ALICE", &add(list)).await.status, 200);
    }
    let found = service.list("/playlists?part=contentDetails,snippet&id=UUx,LL,HL,WL").await;
    let counts: Vec<_> = found["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|item| item["contentDetails"]["itemCount"].as_u64().unwrap())
        .collect();
    assert_eq!(counts, [3, 1, 2, 1]);
    let picture = found["items"][1]["snippet"]["thumbnails"]["default"]["url"].as_str();
    assert!(picture.unwrap().ends_with("/vi/w/default.jpg"), "{picture:?}");
    let target = "/youtube/v3/playlists?part=contentDetails&id=UUx,LLx,HLx,WLx";
    let others = service.ask("GET", target, "BOB", "").await.json();
    assert_eq!(others["items"].as_array().unwrap().len(), 1);
    assert_eq!(others["items"][0]["contentDetails"]["itemCount"], 2);
}

#[tokio::test]
async fn items_of_one_video_come_in_pages_too() {
    let service = Service::new().await;
    let body = json!({"snippet": {"playlistId": "PLx", "resourceId": {"kind": "youtube#video", "videoId": "w"}, "position": 0}});
    for _ in 0..4 {
        let target = "/youtube/v3/playlistItems?part=snippet";
        service.ask("POST", target, "ALICE", &body.to_string()).await;
    }
    let target = "/playlistItems?part=snippet&playlistId=PLx&videoId=w&maxResults=2";
    let (mut positions, mut page) = (Vec::new(), service.list(target).await);
    loop {
        assert_eq!(page["pageInfo"], json!({"totalResults": 5, "resultsPerPage": 2}));
        let items = page["items"].as_array().unwrap();
        positions.extend(items.iter().map(|item| item["snippet"]["position"].as_u64()));
        let Some(token) = page["nextPageToken"].as_str() else {
            break;
        };
        page = service.list(&format!("{target}&pageToken={token}")).await;
    }
    assert_eq!(positions, [0, 1, 2, 3, 5].map(Some));
    let back = page["prevPageToken"].as_str().unwrap();
    let back = service.list(&format!("{target}&pageToken={back}")).await;
    assert_eq!(back["items"][0]["snippet"]["position"], 2);
}

#[tokio::test]
async fn a_search_for_ones_own_videos_takes_no_filter_of_their_form() {
    let service = Service::new().await;
    let refused = (400, "invalidSearchFilter".to_owned());
    for query in [
        "forMine=true",
        "forMine=true&type=channel",
        "forMine=true&type=video&videoDuration=short",
        "forMine=true&type=video&videoLicense=any",
        "forContentOwner=true&type=video&videoSyndicated=true",
        "videoDefinition=high",
        "videoCaption=any",
        "type=video,channel&videoEmbeddable=true",
        "location=1,2&locationRadius=5km",
        "eventType=live",
    ] {
        let target = format!("/search?part=id&{query}");
        let told = refusal(&service, "GET", &target, &Value::Null).await;
        assert_eq!(told, refused, "{query}");
    }
    let own = service.list("/search?part=id&forMine=true&type=video").await;
    assert_eq!(own["pageInfo"]["totalResults"], 3);
    let developer = service.list("/search?part=id&forDeveloper=true").await;
    assert_eq!(developer["pageInfo"]["totalResults"], 3);
}

#[tokio::test]
async fn a_search_knows_sponsored_videos_and_words_that_follow_one_another() {
    let service = Service::new().await;
    let body = json!({"id": "w", "paidProductPlacementDetails": {"hasPaidProductPlacement": true},
        "snippet": {"title": "Wi-Fi at the blue sea", "categoryId": "22", "tags": ["deep water"]}});
    let target = "/youtube/v3/videos?part=snippet,paidProductPlacementDetails";
    assert_eq!(service.ask("PUT", target, "ALICE", &body.to_string()).await.status, 200);
    for (query, total) in [
        ("videoPaidProductPlacement=true", 1),
        ("videoPaidProductPlacement=any", 2),
        ("q=%22blue+sea%22", 1),
        ("q=%22sea+blue%22", 0),
        ("q=sea+blue", 1),
        ("q=%22deep+water%22+wi-fi", 1),
        ("q=%22blue+water%22%7C%22deep+water%22", 1),
        ("q=-%22blue+sea%22", 1),
        ("q=-%22sea+blue%22", 2),
        ("q=WIFI", 0),
    ] {
        let found = service.list(&format!("/search?part=id&type=video&{query}")).await;
        assert_eq!(found["pageInfo"]["totalResults"], total, "{query}: {found}");
    }
}

#[tokio::test]
async fn languages_regions_and_categories_that_are_none_are_told_apart() {
    let service = Service::new().await;
    let rows = [
        ("/videos?part=id&id=v&hl=x", Value::Null, 400, "invalidLanguage"),
        ("/videos?part=id&id=v&hl=tlh", Value::Null, 400, "unsupportedLanguageCode"),
        ("/videoCategories?part=id&regionCode=usa", Value::Null, 400, "invalidRegionCode"),
        ("/search?part=id&regionCode=ZZ", Value::Null, 400, "unsupportedRegionCode"),
        ("/videoCategories?part=id&id=999", Value::Null, 404, "videoCategoryNotFound"),
        ("/guideCategories?part=id&id=none", Value::Null, 404, "notFound"),
        ("/channels?part=id&categoryId=none", Value::Null, 404, "categoryNotFound"),
    ];
    assert_refused(&service, "GET", &rows).await;
    let found = service.list("/search?part=id&regionCode=de").await;
    assert_eq!(found["regionCode"], "DE");
    let found = service.list("/videos?part=id&id=v&hl=en_US&regionCode=gb").await;
    assert_eq!(found["pageInfo"]["totalResults"], 1);
}

#[tokio::test]
async fn a_promotion_is_refused_with_the_reason_of_what_is_wrong_in_it() {
    let service = Service::new().await;
    let promotion = |inner: Value| json!({"id": "UCx", "invideoPromotion": inner});
    let item = |inner: Value| promotion(json!({"items": [inner]}));
    let target = "/channels?part=invideoPromotion";
    let rows = [
        (
            promotion(json!({"defaultTiming": {"type": "never", "offsetMs": 1}})),
            400,
            "invalidTimingType",
        ),
        (
            promotion(json!({"defaultTiming": {"type": "offsetFromEnd"}})),
            400,
            "requiredTimingOffset",
        ),
        (
            promotion(json!({"defaultTiming": {"type": "offsetFromEnd", "offsetMs": -1}})),
            400,
            "invalidTimingOffset",
        ),
        (
            promotion(
                json!({"defaultTiming": {"type": "offsetFromEnd", "offsetMs": 1, "durationMs": "x"}}),
            ),
            400,
            "invalidDuration",
        ),
        (
            promotion(json!({"position": {"type": "corner", "cornerPosition": "middle"}})),
            400,
            "invalidBrandingOption",
        ),
        (item(json!({})), 400, "requiredItemIdType"),
        (item(json!({"id": {"type": "song"}})), 400, "requiredItemIdType"),
        (item(json!({"id": {"type": "video", "videoId": "none"}})), 403, "promotedVideoNotAllowed"),
        (
            item(json!({"id": {"type": "website", "websiteUrl": "ftp://x"}})),
            403,
            "websiteLinkNotAllowed",
        ),
        (
            item(json!({"id": {"type": "website", "websiteUrl": "http://x/\ty"}})),
            403,
            "websiteLinkNotAllowed",
        ),
        (
            item(json!({"id": {"type": "recentUpload"}, "customMessage": "<b>"})),
            400,
            "invalidCustomMessage",
        ),
    ];
    for (body, status, reason) in rows {
        assert_refused(&service, "PUT", &[(target, body, status, reason)]).await;
    }
    let rows = [
        (
            "/channels?part=localizations",
            json!({"id": "UCx", "localizations": {"de": {"title": "T"}}}),
            400,
            "defaultLanguageNotSetError",
        ),
        (
            "/channels?part=brandingSettings",
            json!({"id": "UCx", "brandingSettings": {"image": {"bannerExternalUrl": "http://x/banner/y"}}}),
            400,
            "brandingValidationError",
        ),
        (
            "/channels?part=brandingSettings",
            json!({"id": "UCbob", "brandingSettings": {}}),
            403,
            "channelForbidden",
        ),
        (
            "/channels?part=brandingSettings",
            json!({"id": "none", "brandingSettings": {}}),
            404,
            "channelNotFound",
        ),
    ];
    assert_refused(&service, "PUT", &rows).await;
}

#[tokio::test]
async fn an_upload_goes_to_the_path_of_uploads_and_nothing_else_does() {
    let service = Service::new().await;
    let body = json!({"snippet": {"title": "A", "categoryId": "22"}});
    let rows = [
        ("/videos?part=snippet&uploadType=multipart", body.clone(), 400, "wrongUrlForUpload"),
        ("/videos?part=snippet", body.clone(), 400, "mediaBodyRequired"),
    ];
    assert_refused(&service, "POST", &rows).await;
    let target = "/upload/youtube/v3/playlists?part=snippet&uploadType=media";
    let answer = service.ask("POST", target, "ALICE", &body.to_string()).await;
    assert_eq!((answer.status, answer.reason().as_str()), (400, "notUpload"));
}

#[tokio::test]
async fn texts_are_localized_by_hl_and_else_by_what_the_client_reads_best() {
    let service = Service::new().await;
    let localizations =
        json!({"de": {"title": "Erstes", "description": ""}, "fr": {"title": "Premier"}});
    let snippet = json!({"title": "First", "categoryId": "22", "defaultLanguage": "en"});
    let body = json!({"id": "v", "snippet": snippet, "localizations": localizations});
    let target = "/youtube/v3/videos?part=snippet,localizations";
    service.ask("PUT", target, "ALICE", &body.to_string()).await;
    let body = json!({"id": "PLx", "snippet": {"title": "List", "defaultLanguage": "en"}, "localizations": localizations});
    let target = "/youtube/v3/playlists?part=snippet,localizations";
    service.ask("PUT", target, "ALICE", &body.to_string()).await;
    for (hl, header, video, playlist) in [
        ("", "", "First", "List"),
        ("&hl=de_AT", "", "Erstes", "Erstes"),
        ("&hl=fr", "de", "Premier", "Premier"),
        ("&hl=en", "de", "First", "List"),
        ("", "de-CH;q=0.8, tlh", "Erstes", "Erstes"),
        ("", "en, de;q=0.9", "First", "List"),
    ] {
        for (target, expected) in [("/videos?id=v", video), ("/playlists?id=PLx", playlist)] {
            let target = format!("/youtube/v3{target}&part=snippet{hl}");
            let headers = [("accept-language", header)];
            let answer = service.ask_with("GET", &target, "BOB", &headers, b"").await;
            let snippet = answer.json()["items"][0]["snippet"].clone();
            assert_eq!(snippet["localized"]["title"], expected, "{target} {header}");
            assert_ne!(snippet["title"], "Erstes");
        }
    }
}

#[tokio::test]
async fn a_bomb_of_json_or_of_fields_is_refused_and_the_service_goes_on() {
    let service = Service::new().await;
    let deep = format!("{{\"id\": {}1{}}}", "[".repeat(200_000), "]".repeat(200_000));
    let wide = format!("{{\"snippet\": {{\"title\": \"{}\"}}}}", "t".repeat(3 << 20));
    let fields = format!("/youtube/v3/videos?part=id&id=v&fields={}", "a(".repeat(9_000));
    let target = "/youtube/v3/playlists?part=snippet";
    for (method, target, body, status, reason) in [
        ("POST", target, deep.as_str(), 400, "parseError"),
        ("POST", target, wide.as_str(), 413, "uploadTooLarge"),
        ("GET", fields.as_str(), "", 400, "invalidParameter"),
    ] {
        let answer = service.ask(method, target, "ALICE", body).await;
        assert_eq!((answer.status, answer.reason().as_str()), (status, reason));
    }
    assert_eq!(service.list("/videos?part=id&id=v").await["items"][0]["id"], "v");
}

#[tokio::test]
async fn an_account_without_a_channel_owns_none_and_can_make_nothing() {
    let service = Service::new().await;
    let channels = service.ask("GET", "/youtube/v3/channels?part=id&mine=true", "CAROL", "").await;
    assert_eq!((channels.status, &channels.json()["items"]), (200, &json!([])));
    let body = r#"{"snippet": {"title": "New"}}"#;
    let target = "/youtube/v3/playlists?part=snippet";
    let made = service.ask("POST", target, "CAROL", body).await;
    assert_eq!((made.status, made.reason().as_str()), (401, "youtubeSignupRequired"));
}

#[tokio::test]
async fn a_place_that_is_none_and_an_empty_id_are_refused() {
    let service = Service::new().await;
    let recorded = |location: Value| json!({"id": "v", "recordingDetails": {"location": location}});
    let nobody = json!({"id": "", "snippet": {"title": "t", "categoryId": "22"}});
    assert_refused(
        &service,
        "PUT",
        &[
            (
                "/videos?part=recordingDetails",
                recorded(json!("here")),
                400,
                "invalidRecordingDetails",
            ),
            (
                "/videos?part=recordingDetails",
                recorded(json!([1, 2])),
                400,
                "invalidRecordingDetails",
            ),
            ("/videos?part=snippet", nobody.clone(), 404, "videoNotFound"),
            ("/playlists?part=snippet", nobody.clone(), 400, "required"),
            ("/channels?part=brandingSettings", json!({"id": ""}), 400, "required"),
            (
                "/playlistItems?part=snippet",
                json!({"id": "", "snippet": {"playlistId": "PL", "resourceId": {"videoId": "v"}}}),
                400,
                "playlistItemIdRequired",
            ),
        ],
    )
    .await;
}

#[tokio::test]
async fn a_name_that_is_longer_than_any_is_not_there() {
    let service = Service::new().await;
    let long = "a".repeat(3_000);
    for (method, target, body, status) in [
        ("GET", "/youtube/v3/videos?part=id&id=LONG", "", 200),
        ("GET", "/youtube/v3/channels?part=id&id=LONG", "", 200),
        ("GET", "/youtube/v3/channels?part=id&forHandle=LONG", "", 200),
        ("GET", "/youtube/v3/channels?part=id&forUsername=LONG", "", 200),
        ("GET", "/youtube/v3/playlists?part=id&id=LONG", "", 200),
        ("GET", "/youtube/v3/playlists?part=id&channelId=LONG", "", 404),
        ("GET", "/youtube/v3/playlistItems?part=id&playlistId=LONG", "", 404),
        ("GET", "/youtube/v3/playlistItems?part=id&playlistId=PLx&videoId=LONG", "", 404),
        ("GET", "/youtube/v3/playlistItems?part=id&playlistId=UUx&videoId=LONG", "", 404),
        ("GET", "/youtube/v3/search?part=id&channelId=LONG", "", 400),
        ("GET", "/youtube/v3/search?part=id&q=LONG", "", 200),
        ("GET", "/youtube/v3/videos/getRating?id=LONG", "", 200),
        ("DELETE", "/youtube/v3/videos?id=LONG", "", 404),
        ("POST", "/youtube/v3/videos/rate?id=LONG&rating=like", "", 404),
        (
            "PUT",
            "/youtube/v3/playlists?part=snippet",
            r#"{"id": "LONG", "snippet": {"title": "t"}}"#,
            404,
        ),
        (
            "POST",
            "/youtube/v3/playlistItems?part=snippet",
            r#"{"snippet": {"playlistId": "LONG", "resourceId": {"videoId": "v"}}}"#,
            404,
        ),
        (
            "POST",
            "/youtube/v3/playlistItems?part=snippet",
            r#"{"snippet": {"playlistId": "PLx", "resourceId": {"videoId": "LONG"}}}"#,
            404,
        ),
        ("PUT", "/upload/youtube/v3/videos?upload_id=LONG", "", 404),
        ("GET", "/banner/LONG", "", 404),
        ("GET", "/o/oauth2/v2/auth?client_id=LONG&redirect_uri=x", "", 401),
    ] {
        let (target, body) = (target.replace("LONG", &long), body.replace("LONG", &long));
        let answer = service.ask(method, &target, "ALICE", &body).await;
        assert_eq!(answer.status, status, "{method} {}", &target[..60.min(target.len())]);
    }
}

#[tokio::test]
async fn an_empty_text_that_a_typed_client_writes_is_none() {
    let service = Service::new().await;
    let video = |id: &str| json!({"kind": "", "videoId": id});
    let item =
        |list: &str, id: &str| json!({"snippet": {"playlistId": list, "resourceId": video(id)}});
    assert_refused(
        &service,
        "POST",
        &[
            ("/playlistItems?part=snippet", item("", "v"), 400, "playlistIdRequired"),
            ("/playlistItems?part=snippet", item("PLx", ""), 400, "resourceIdRequired"),
        ],
    )
    .await;
    let (status, _) =
        ask(&service, "ALICE", "POST", "/playlistItems?part=snippet", item("PLx", "v")).await;
    assert_eq!(status, 200);
    let list = json!({"snippet": {"title": "t"}, "status": {"podcastStatus": ""}});
    let (status, made) =
        ask(&service, "ALICE", "POST", "/playlists?part=snippet,status", list).await;
    assert_eq!((status, made["status"].get("podcastStatus")), (200, None), "{made}");
    let text = json!({"videoId": "", "textOriginal": "t"});
    for (target, snippet) in [
        ("subscriptions", json!({"resourceId": {"kind": "", "channelId": "UCbob"}})),
        ("comments", json!({"parentId": "c", "videoId": "", "textOriginal": "t"})),
        ("commentThreads", json!({"videoId": "v", "topLevelComment": {"snippet": text}})),
        (
            "commentThreads",
            json!({"channelId": "", "videoId": "v", "topLevelComment": {"snippet": text}}),
        ),
    ] {
        let target = format!("/{target}?part=snippet");
        let (status, made) =
            ask(&service, "ALICE", "POST", &target, json!({"snippet": snippet})).await;
        assert_eq!(status, 200, "{target}: {made}");
    }
}

#[tokio::test]
async fn a_null_is_what_was_not_sent_wherever_it_stands() {
    let service = Service::new().await;
    let texts = json!({"de": {"title": "D", "description": null}});
    let list = json!({"title": "t", "defaultLanguage": "en"});
    let hints = json!({"channel": {}, "hints": [{"property": "a", "value": null}]});
    for (method, target, body) in [
        (
            "POST",
            "/playlists?part=snippet,localizations",
            json!({"snippet": list, "localizations": texts}),
        ),
        ("PUT", "/channels?part=brandingSettings", json!({"id": "UCx", "brandingSettings": hints})),
    ] {
        let (status, answer) = ask(&service, "ALICE", method, target, body).await;
        assert_eq!(status, 200, "{target}: {answer}");
    }
    let kind = [("content-type", "multipart/related; boundary=B")];
    let body = "--B\r\nContent-Type: application/json\r\n\r\n{\"snippet\": null}\r\n--B\r\n\r\nfilm\r\n--B--";
    let target = "/upload/youtube/v3/videos?part=snippet,status&uploadType=multipart";
    let made = service.ask_with("POST", target, "ALICE", &kind, body.as_bytes()).await;
    assert_eq!(made.status, 200, "{}", made.json());
}

#[tokio::test]
async fn who_writes_back_what_was_read_changes_no_version() {
    let service = Service::new().await;
    let target = "/videos?part=paidProductPlacementDetails&id=v";
    let read = service.list(target).await["items"][0].clone();
    let target = "/videos?part=paidProductPlacementDetails";
    let (status, written) = ask(&service, "ALICE", "PUT", target, read.clone()).await;
    assert_eq!((status, written), (200, read));
}

#[tokio::test]
async fn a_reply_names_no_other_channel_than_its_threads() {
    let service = Service::new().await;
    for (channel, expected) in [("UCx", 200), ("UCbob", 400)] {
        let body = json!({"snippet": {"parentId": "c", "channelId": channel, "textOriginal": "t"}});
        let (status, answer) = ask(&service, "ALICE", "POST", "/comments?part=snippet", body).await;
        assert_eq!(status, expected, "{channel}: {answer}");
    }
}

#[tokio::test]
async fn a_podcast_status_that_is_none_is_refused_with_its_own_place() {
    let service = Service::new().await;
    let list = json!({"snippet": {"title": "t"}, "status": {"podcastStatus": "perhaps"}});
    let (status, error) =
        ask(&service, "ALICE", "POST", "/playlists?part=snippet,status", list).await;
    let told = &error["error"]["errors"][0];
    assert_eq!((status, &told["location"]), (400, &json!("body.status.podcastStatus")), "{error}");
}

#[tokio::test]
async fn a_timing_of_a_promotion_that_is_none_is_refused_with_its_path() {
    let service = Service::new().await;
    let good = json!({"type": "offsetFromStart", "offsetMs": "1"});
    for (name, value, reason) in [
        ("type", json!("never"), "invalidTimingType"),
        ("offsetMs", json!("-1"), "invalidTimingOffset"),
        ("offsetMs", Value::Null, "requiredTimingOffset"),
        ("durationMs", json!("x"), "invalidDuration"),
    ] {
        let mut timing = good.clone();
        timing[name] = value;
        let item = json!({"id": {"type": "recentUpload"}, "timing": timing});
        for (promotion, place) in [
            (json!({"items": [item]}), "items.timing"),
            (json!({"defaultTiming": timing}), "defaultTiming"),
        ] {
            let body = json!({"id": "UCx", "invideoPromotion": promotion});
            let target = "/channels?part=invideoPromotion";
            let (status, error) = ask(&service, "ALICE", "PUT", target, body).await;
            let told = &error["error"]["errors"][0];
            let location = format!("body.invideoPromotion.{place}.{name}");
            assert_eq!(
                (status, &told["reason"], &told["location"]),
                (400, &json!(reason), &json!(location)),
                "{error}"
            );
        }
    }
}

#[tokio::test]
async fn ratings_are_counted_in_public_whatever_the_watch_page_shows() {
    let service = Service::new().await;
    let body = json!({"id": "v", "status": {"publicStatsViewable": false}});
    let update = "/youtube/v3/videos?part=status";
    assert_eq!(service.ask("PUT", update, "ALICE", &body.to_string()).await.status, 200);
    service.ask("POST", "/youtube/v3/videos/rate?id=v&rating=like", "BOB", "").await;
    let list = "/youtube/v3/videos?part=status,statistics&id=v";
    for token in ["ALICE", "BOB"] {
        let item = service.ask("GET", list, token, "").await.json()["items"][0].clone();
        assert_eq!(item["status"]["publicStatsViewable"], false);
        let counts = [&item["statistics"]["viewCount"], &item["statistics"]["likeCount"]];
        assert_eq!(counts, [&json!("0"), &json!("1")], "{token}");
    }
}

#[tokio::test]
async fn a_private_video_of_somebody_else_is_no_item_and_one_that_is_not_there_is_not_found() {
    let service = Service::new().await;
    let add = "/youtube/v3/playlistItems?part=snippet";
    for (video, status, reason) in
        [("p", 400, "failedPrecondition"), ("none", 404, "videoNotFound")]
    {
        let resource = json!({"kind": "youtube#video", "videoId": video});
        for list in ["WL", "LL", "HL", "FL"] {
            let body = json!({"snippet": {"playlistId": list, "resourceId": resource}});
            let answer = service.ask("POST", add, "BOB", &body.to_string()).await;
            assert_eq!((answer.status, answer.reason().as_str()), (status, reason), "{list}");
        }
    }
}
