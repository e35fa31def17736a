//! The sentences of the specification's sections 2, 3, 5, 8 and 9, each as a test of its name. What other files prove by that name is not repeated
//! here; `tests/coverage.rs` lists all of them.

use serde_json::{Value, json};
use video_api::api::operation::{Access, Method, Run};
use video_api::resource::OPERATIONS;

use crate::service::{Service, ask};

async fn first(service: &Service, target: &str) -> Value {
    service.list(target).await["items"][0].clone()
}

#[tokio::test]
async fn an_activity_identifies_the_action_type_the_channel_and_the_related_resources() {
    let service = Service::new().await;
    let found =
        service.list("/activities?part=snippet,contentDetails&channelId=UCx&maxResults=50").await;
    assert_eq!(found["items"].as_array().unwrap().len(), 5);
    for item in found["items"].as_array().unwrap() {
        let kind = item["snippet"]["type"].as_str().unwrap();
        assert_eq!(item["snippet"]["channelId"], "UCx");
        let details = &item["contentDetails"][kind];
        assert!(
            details["videoId"].is_string() || details["resourceId"]["kind"].is_string(),
            "{item}"
        );
    }
}

#[tokio::test]
async fn a_caption_track_is_associated_with_exactly_one_video() {
    let service = Service::new().await;
    for (video, count) in [("v", 1), ("w", 0)] {
        let found = service.list(&format!("/captions?part=snippet&videoId={video}")).await;
        assert_eq!(found["items"].as_array().unwrap().len(), count);
        assert!(
            found["items"]
                .as_array()
                .unwrap()
                .iter()
                .all(|item| item["snippet"]["videoId"] == video)
        );
    }
}

#[tokio::test]
async fn a_thread_does_not_necessarily_contain_all_replies_and_comments_list_retrieves_them() {
    let service = Service::new().await;
    for number in 0..7 {
        let body = json!({"snippet": {"parentId": "c", "textOriginal": format!("reply {number}")}});
        assert_eq!(ask(&service, "BOB", "POST", "/comments?part=snippet", body).await.0, 200);
    }
    let thread = first(&service, "/commentThreads?part=snippet,replies&id=c").await;
    assert_eq!(thread["replies"]["comments"].as_array().unwrap().len(), 5);
    assert_eq!(thread["snippet"]["totalReplyCount"], 8);
    let all = service.list("/comments?part=id&parentId=c&maxResults=100").await;
    assert_eq!(all["items"].as_array().unwrap().len(), 8);
}

#[tokio::test]
async fn a_language_code_is_usable_as_hl_of_both_lists_of_categories() {
    let service = Service::new().await;
    let languages = service.list("/i18nLanguages?part=id").await;
    for language in languages["items"].as_array().unwrap() {
        let code = language["id"].as_str().unwrap();
        for list in ["/videoCategories", "/guideCategories"] {
            let target = format!("{list}?part=snippet&regionCode=US&hl={code}");
            assert_eq!(
                ask(&service, "ALICE", "GET", &target, Value::Null).await.0,
                200,
                "{target}"
            );
        }
    }
}

#[tokio::test]
async fn a_region_code_is_usable_as_region_code_of_four_lists() {
    let service = Service::new().await;
    let regions = service.list("/i18nRegions?part=id").await;
    for region in regions["items"].as_array().unwrap() {
        let code = region["id"].as_str().unwrap();
        for list in [
            "/search?part=id",
            "/videos?part=id&chart=mostPopular",
            "/activities?part=id&mine=true",
            "/videoCategories?part=id",
        ] {
            let target = format!("{list}&regionCode={code}");
            assert_eq!(
                ask(&service, "ALICE", "GET", &target, Value::Null).await.0,
                200,
                "{target}"
            );
        }
    }
}

#[tokio::test]
async fn a_search_result_points_to_a_resource_and_has_no_data_of_its_own() {
    let service = Service::new().await;
    let found = service.list("/search?part=snippet&maxResults=50").await;
    assert!(found["items"].as_array().unwrap().len() > 5, "{found}");
    for item in found["items"].as_array().unwrap() {
        assert_eq!(item.get("id").and_then(Value::as_str), None, "it has no id of its own");
        let kind = item["id"]["kind"].as_str().unwrap().trim_start_matches("youtube#");
        let id = item["id"][format!("{kind}Id")].as_str().unwrap();
        let resource = first(&service, &format!("/{kind}s?part=snippet&id={id}")).await;
        assert_eq!(resource["snippet"]["title"], item["snippet"]["title"]);
    }
}

#[tokio::test]
async fn thumbnails_are_an_object_whose_members_name_sizes_with_width_and_height() {
    let service = Service::new().await;
    for (target, width, height) in
        [("/videos?part=snippet&id=v", 120, 90), ("/channels?part=snippet&id=UCx", 88, 88)]
    {
        let item = first(&service, target).await;
        let sizes = item["snippet"]["thumbnails"].as_object().unwrap();
        for name in ["default", "medium", "high"] {
            assert!(sizes[name]["url"].is_string(), "{target} {name}");
        }
        assert_eq!(
            (&sizes["default"]["width"], &sizes["default"]["height"]),
            (&json!(width), &json!(height))
        );
    }
}

#[tokio::test]
async fn a_channel_has_branding_settings_and_promotions() {
    let service = Service::new().await;
    let timing = json!({"type": "offsetFromStart", "offsetMs": "1000"});
    let promotion =
        json!({"items": [{"id": {"type": "video", "videoId": "v"}}], "defaultTiming": timing});
    let body = json!({"id": "UCx", "brandingSettings": {"channel": {"showBrowseView": true}}, "invideoPromotion": promotion});
    let target = "/channels?part=brandingSettings,invideoPromotion";
    let (status, told) = ask(&service, "ALICE", "PUT", target, body).await;
    assert_eq!(status, 200, "{told}");
    let channel = first(&service, &format!("{target}&id=UCx")).await;
    assert_eq!(channel["brandingSettings"]["channel"]["showBrowseView"], true);
    assert_eq!(channel["invideoPromotion"]["items"][0]["id"]["videoId"], "v");
}

#[tokio::test]
async fn items_of_the_special_playlists_are_read_added_and_removed() {
    let service = Service::new().await;
    let channel = first(&service, "/channels?part=contentDetails&mine=true").await;
    let related = channel["contentDetails"]["relatedPlaylists"].as_object().unwrap();
    for name in ["uploads", "likes", "watchHistory", "watchLater", "favorites"] {
        let list = related[name].as_str().unwrap();
        let resource = json!({"kind": "youtube#video", "videoId": "w"});
        let target = format!("/playlistItems?part=contentDetails&playlistId={list}");
        let ids = async || {
            let found = service.list(&target).await;
            let items = found["items"].as_array().unwrap().clone();
            items
                .into_iter()
                .filter(|item| item["contentDetails"]["videoId"] == "w")
                .collect::<Vec<_>>()
        };
        if name == "uploads" {
            let id = ids().await[0]["id"].as_str().unwrap().to_owned();
            let told =
                ask(&service, "ALICE", "DELETE", &format!("/playlistItems?id={id}"), Value::Null)
                    .await;
            assert_eq!(told.0, 204, "{}", told.1);
        }
        assert!(ids().await.is_empty(), "{name}");
        let body = json!({"snippet": {"playlistId": list, "resourceId": resource}});
        let (status, made) =
            ask(&service, "ALICE", "POST", "/playlistItems?part=snippet", body).await;
        assert_eq!(status, 200, "{name}: {made}");
        assert_eq!(ids().await.len(), 1, "{name}");
        let target = format!("/playlistItems?id={}", made["id"].as_str().unwrap());
        assert_eq!(ask(&service, "ALICE", "DELETE", &target, Value::Null).await.0, 204, "{name}");
        assert!(ids().await.is_empty(), "{name}");
    }
}

#[tokio::test]
async fn playlists_are_publicly_visible_by_default_and_can_be_public_or_private() {
    let service = Service::new().await;
    let body = json!({"snippet": {"title": "t"}});
    let (_, made) = ask(&service, "ALICE", "POST", "/playlists?part=snippet,status", body).await;
    assert_eq!(made["status"]["privacyStatus"], "public");
    let target = format!("/playlists?part=status&id={}", made["id"].as_str().unwrap());
    for privacy in ["private", "public", "private"] {
        let body = json!({"id": made["id"], "snippet": {"title": "t"}, "status": {"privacyStatus": privacy}});
        assert_eq!(
            ask(&service, "ALICE", "PUT", "/playlists?part=snippet,status", body).await.0,
            200
        );
        let (_, seen) = ask(&service, "BOB", "GET", &target, Value::Null).await;
        assert_eq!(seen["items"].as_array().unwrap().len(), usize::from(privacy == "public"));
    }
}

#[tokio::test]
async fn a_draft_status_changes_with_captions_update_and_a_new_file_may_come_in_the_same_call() {
    let service = Service::new().await;
    let file = "WEBVTT\n\n00:01.000 --> 00:02.000\nNew\n";
    for (is_draft, with_file) in [(true, false), (false, true), (true, true)] {
        let metadata = json!({"id": "c", "snippet": {"isDraft": is_draft}}).to_string();
        let told = if with_file {
            let body = format!(
                "--b\r\n\r\n{metadata}\r\n--b\r\nContent-Type: text/vtt\r\n\r\n{file}\r\n--b--"
            );
            let headers = [("content-type", "multipart/related; boundary=b")];
            let target = "/upload/youtube/v3/captions?part=snippet&uploadType=multipart";
            service.ask_with("PUT", target, "ALICE", &headers, body.as_bytes()).await
        } else {
            service.ask("PUT", "/youtube/v3/captions?part=snippet", "ALICE", &metadata).await
        };
        assert_eq!(told.status, 200, "{}", told.json());
        let found = service.list("/captions?part=snippet&videoId=v").await;
        assert_eq!(found["items"][0]["snippet"]["isDraft"], is_draft);
        let bytes = service.ask("GET", "/youtube/v3/captions/c", "ALICE", "").await.body;
        assert_eq!(bytes.windows(3).any(|text| text == b"New"), with_file);
    }
}

#[tokio::test]
async fn a_moderation_status_is_set_on_one_or_more_comments_by_the_owner() {
    let service = Service::new().await;
    let target = "/comments/setModerationStatus?id=c,c.r&moderationStatus=heldForReview";
    assert_eq!(ask(&service, "BOB", "POST", target, Value::Null).await.0, 403);
    assert_eq!(ask(&service, "ALICE", "POST", target, Value::Null).await.0, 204);
    let held =
        first(&service, "/commentThreads?part=snippet&videoId=v&moderationStatus=heldForReview")
            .await;
    assert_eq!(held["snippet"]["topLevelComment"]["snippet"]["moderationStatus"], "heldForReview");
    let (_, seen) =
        ask(&service, "BOB", "GET", "/commentThreads?part=id&videoId=v", Value::Null).await;
    assert_eq!(seen["items"], json!([]));
}

#[tokio::test]
async fn a_video_rating_is_like_dislike_or_none_as_videos_rate_requests() {
    let service = Service::new().await;
    for rating in ["like", "dislike", "none", "like"] {
        let target = format!("/videos/rate?id=v&rating={rating}");
        assert_eq!(ask(&service, "BOB", "POST", &target, Value::Null).await.0, 204);
        let (_, found) = ask(&service, "BOB", "GET", "/videos/getRating?id=v", Value::Null).await;
        assert_eq!(found["items"][0]["rating"], rating);
    }
}

#[tokio::test]
async fn every_request_carries_an_api_key_or_a_token() {
    let service = Service::new().await;
    for (target, token, status) in [
        ("/i18nRegions?part=id", "", 403),
        ("/i18nRegions?part=id&key=KEY", "", 200),
        ("/i18nRegions?part=id", "ALICE", 200),
    ] {
        assert_eq!(ask(&service, token, "GET", target, Value::Null).await.0, status, "{target}");
    }
}

#[tokio::test]
async fn every_insert_update_and_delete_request_must_carry_a_token() {
    let service = Service::new().await;
    for operation in
        OPERATIONS.iter().filter(|row| row.method != Method::Get && matches!(row.run, Run::Call(_)))
    {
        assert_eq!(operation.access, Access::Token, "{}", operation.name);
        let target = format!("{}?part=id&id=v&key=KEY", operation.path);
        let (status, told) = ask(&service, "", operation.method.name(), &target, json!({})).await;
        assert_eq!(status, 401, "{}: {told}", operation.name);
    }
}

#[tokio::test]
async fn every_request_for_private_data_must_carry_a_token() {
    let service = Service::new().await;
    for target in [
        "/activities?part=id&mine=true",
        "/channels?part=id&mine=true",
        "/channelSections?part=id&mine=true",
        "/playlists?part=id&mine=true",
        "/subscriptions?part=id&mySubscribers=true",
        "/videos?part=id&myRating=like",
        "/search?part=id&forMine=true&type=video",
    ] {
        let (status, told) =
            ask(&service, "", "GET", &format!("{target}&key=KEY"), Value::Null).await;
        assert_eq!(status, 401, "{target}: {told}");
        assert_eq!(ask(&service, "ALICE", "GET", target, Value::Null).await.0, 200, "{target}");
    }
}

#[tokio::test]
async fn a_token_is_sent_as_access_token_or_in_the_authorization_header() {
    let service = Service::new().await;
    let target = "/youtube/v3/channels?part=id&mine=true";
    for (target, headers) in [
        (format!("{target}&access_token=ALICE"), vec![]),
        (target.to_owned(), vec![("authorization", "Bearer ALICE")]),
        (target.to_owned(), vec![("authorization", "bearer ALICE")]),
    ] {
        let told = service.ask_with("GET", &target, "", &headers, b"").await;
        assert_eq!(
            (told.status, &told.json()["items"][0]["id"]),
            (200, &json!("UCx")),
            "{headers:?}"
        );
    }
}

#[tokio::test]
async fn some_lists_return_extra_data_when_authorized() {
    let service = Service::new().await;
    for (target, own) in [
        ("/playlistItems?part=id&playlistId=UUx", 3),
        ("/videos?part=id&id=v,w,p", 3),
        ("/channelSections?part=id&channelId=UCx", 1),
    ] {
        let (_, seen) = ask(&service, "ALICE", "GET", target, Value::Null).await;
        assert_eq!(seen["items"].as_array().unwrap().len(), own, "{target}");
        let (_, seen) = ask(&service, "", "GET", &format!("{target}&key=KEY"), Value::Null).await;
        assert_eq!(seen["items"].as_array().unwrap().len(), own - 1, "{target}");
    }
}

#[tokio::test]
async fn members_and_levels_are_those_of_the_authorizing_channel() {
    let service = Service::new().await;
    let member = first(&service, "/members?part=snippet").await;
    assert_eq!(member["snippet"]["creatorChannelId"], "UCx");
    assert_eq!(
        first(&service, "/membershipsLevels?part=snippet").await["snippet"]["creatorChannelId"],
        "UCx"
    );
    for target in ["/members?part=snippet", "/membershipsLevels?part=id"] {
        assert_eq!(ask(&service, "BOB", "GET", target, Value::Null).await.0, 400, "{target}");
        assert_eq!(ask(&service, "TOKEN", "GET", target, Value::Null).await.0, 403, "{target}");
    }
}

#[tokio::test]
async fn the_version_is_the_last_segment_of_the_base() {
    let service = Service::new().await;
    for (path, status) in [
        ("/youtube/v3/i18nRegions", 200),
        ("/youtube/v2/i18nRegions", 404),
        ("/youtube/i18nRegions", 404),
    ] {
        let told = service.ask("GET", &format!("{path}?part=id"), "ALICE", "").await;
        assert_eq!(told.status, status, "{path}");
    }
}

#[tokio::test]
async fn deprecated_operations_are_no_longer_supported_and_leave_nothing() {
    let service = Service::new().await;
    let before = service.list("/activities?part=id,snippet&mine=true&maxResults=50").await;
    let bulletin = json!({"snippet": {"type": "bulletin", "description": "d"}});
    for (target, body) in
        [("/activities?part=snippet", bulletin), ("/comments/markAsSpam?id=c", Value::Null)]
    {
        let (status, told) = ask(&service, "ALICE", "POST", target, body).await;
        assert_eq!(
            (status, &told["error"]["errors"][0]["reason"]),
            (410, &json!("deleted")),
            "{target}"
        );
    }
    assert_eq!(service.list("/activities?part=id,snippet&mine=true&maxResults=50").await, before);
    let (_, seen) = ask(&service, "BOB", "GET", "/comments?part=id&id=c", Value::Null).await;
    assert_eq!(seen["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_comment_is_about_a_video_or_a_channel_and_either_top_level_or_a_reply() {
    let service = Service::new().await;
    let body = json!({"snippet": {"channelId": "UCx", "topLevelComment": {"snippet": {"textOriginal": "you"}}}});
    let (status, made) = ask(&service, "BOB", "POST", "/commentThreads?part=snippet", body).await;
    assert_eq!(status, 200, "{made}");
    let on_channel = made["id"].as_str().unwrap();
    for (id, video, parent) in
        [("c", Some("v"), None), ("c.r", Some("v"), Some("c")), (on_channel, None, None)]
    {
        let comment = first(&service, &format!("/comments?part=snippet&id={id}")).await;
        let snippet = &comment["snippet"];
        let told = [&snippet["videoId"], &snippet["parentId"]].map(Value::as_str);
        assert_eq!((told, snippet["channelId"].as_str()), ([video, parent], Some("UCx")), "{id}");
    }
}

#[tokio::test]
async fn categories_languages_and_regions_are_assigned_by_the_platform_alone() {
    for resource in ["guideCategories", "videoCategories", "i18nLanguages", "i18nRegions"] {
        let of = OPERATIONS.iter().filter(|operation| operation.name.starts_with(resource));
        let names: Vec<_> = of.map(|operation| operation.name).collect();
        assert_eq!(names, [format!("{resource}.list")]);
    }
}

#[tokio::test]
async fn the_typical_default_size_is_120_by_90_of_a_video_and_88_by_88_of_a_channel() {
    let service = Service::new().await;
    for (target, width, height) in
        [("/videos?part=snippet&id=v", 120, 90), ("/channels?part=snippet&id=UCx", 88, 88)]
    {
        let found = first(&service, target).await;
        let size = &found["snippet"]["thumbnails"]["default"];
        assert_eq!((&size["width"], &size["height"]), (&json!(width), &json!(height)), "{target}");
    }
}

#[tokio::test]
async fn of_a_channel_branding_settings_and_promotions_are_updatable_and_no_other_part() {
    let service = Service::new().await;
    let before = service.list("/channels?part=snippet,contentDetails,statistics&id=UCx").await;
    for part in ["snippet", "contentDetails", "statistics", "topicDetails", "id"] {
        let body = json!({"id": "UCx", part: {"title": "Other"}, "brandingSettings": {"channel": {"description": "d"}}});
        let target = format!("/channels?part={part}");
        let (status, error) = ask(&service, "ALICE", "PUT", &target, body).await;
        assert_eq!(status, 400, "{part}: {error}");
    }
    let after = service.list("/channels?part=snippet,contentDetails,statistics&id=UCx").await;
    assert_eq!(after["items"], before["items"]);
}

#[tokio::test]
async fn a_search_gives_videos_channels_and_playlists_by_default_and_can_be_restricted_to_one_type()
{
    let service = Service::new().await;
    let kinds = async |query: &str| {
        let found = service.list(&format!("/search?part=id&maxResults=50{query}")).await;
        let items = found["items"].as_array().unwrap().clone();
        let kinds = items.iter().map(|item| item["id"]["kind"].as_str().unwrap().to_owned());
        kinds.collect::<std::collections::BTreeSet<_>>()
    };
    let all = ["youtube#channel", "youtube#playlist", "youtube#video"];
    assert!(kinds("").await.iter().eq(all.iter()));
    for kind in all {
        let (_, name) = kind.split_once('#').unwrap();
        assert!(kinds(&format!("&type={name}")).await.iter().eq([kind].iter()));
    }
}

#[tokio::test]
async fn a_playlist_is_an_ordered_collection_and_an_item_says_how_its_video_is_used_in_it() {
    let service = Service::new().await;
    let found = service.list("/playlistItems?part=id,snippet&playlistId=PLx").await;
    let items = found["items"].as_array().unwrap();
    for (at, (item, video)) in items.iter().zip(["v", "w"]).enumerate() {
        let snippet = &item["snippet"];
        assert_eq!((&snippet["position"], &snippet["playlistId"]), (&json!(at), &json!("PLx")));
        assert_eq!(snippet["resourceId"], json!({"kind": "youtube#video", "videoId": video}));
        let id = item["id"].as_str().unwrap();
        assert_eq!(
            first(&service, &format!("/playlistItems?part=id,snippet&id={id}")).await,
            *item
        );
    }
    assert_eq!(items.len(), 2);
}

#[tokio::test]
async fn a_list_of_captions_has_no_caption_content() {
    let service = Service::new().await;
    let found = service.list("/captions?part=id,snippet&videoId=v").await;
    assert_eq!(found["items"].as_array().unwrap().len(), 1);
    assert!(!found.to_string().contains("Hello"), "{found}");
    let whole = service.ask("GET", "/youtube/v3/captions/c", "ALICE", "").await;
    assert!(String::from_utf8_lossy(&whole.body).contains("Hello"));
}
