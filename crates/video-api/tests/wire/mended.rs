//! Rules of what a client is shown and told: sizes of pictures, languages, scripts, what a seed file alone can say, faults.

use serde_json::{Value, json};

use crate::service::{Answer, SEED, Service};

const GERMAN: &str = "/youtube/v3/videos?part=snippet,localizations";

fn header<'a>(answer: &'a Answer, name: &str) -> &'a str {
    answer.headers.get(name).map_or("", |value| value.to_str().unwrap())
}

/// Reason and place of a refusal.
fn refused(answer: &Answer) -> (u16, String, String) {
    let error = &answer.json()["error"]["errors"][0];
    let text = |name: &str| error[name].as_str().unwrap_or_default().to_owned();
    (answer.status, text("reason"), text("location"))
}

fn sizes(resource: &Value) -> Vec<String> {
    resource["snippet"]["thumbnails"].as_object().unwrap().keys().cloned().collect()
}

#[tokio::test]
async fn what_a_resource_does_not_name_is_no_picture() {
    let service = Service::new().await;
    let shown = service.list("/videos?part=snippet&id=v").await;
    assert_eq!(sizes(&shown["items"][0]), ["default", "high", "medium"]);
    for (path, status) in [
        ("/vi/v/default.jpg", 200),
        ("/vi/v/high.jpg", 200),
        ("/vi/v/hqdefault.jpg", 200),
        ("/vi/v/standard.jpg", 404),
        ("/vi/v/maxresdefault.jpg", 404),
        ("/vi/never/default.jpg", 404),
        ("/vi/none/default.jpg", 200),
        ("/vi/none/maxres.jpg", 404),
        ("/ytc/UCx/default.jpg", 200),
        ("/ytc/UCnever/default.jpg", 404),
        ("/ytc/none/high.jpg", 200),
        ("/ytc/none/maxres.jpg", 404),
        ("/vi/v/default.jpg/more", 404),
        ("/vi/v/default.jpg/", 404),
        ("/ytc/UCx/default.jpg/more", 404),
    ] {
        assert_eq!(service.ask("GET", path, "", "").await.status, status, "{path}");
    }
    let empty = service.list("/playlists?part=snippet&id=PL").await;
    let url = empty["items"][0]["snippet"]["thumbnails"]["default"]["url"].as_str().unwrap();
    assert!(url.ends_with("/vi/none/default.jpg"), "{url}");
}

#[tokio::test]
async fn channels_of_a_category_are_counted_as_they_come() {
    let accounts: Vec<_> = (0..40)
        .map(|at| json!({"id": format!("a{at}"), "channel": {"id": format!("UC{at}"), "title": "A"}}))
        .collect();
    let seed = json!({"projects": [{"id": "p", "apiKeys": ["KEY"]}], "accounts": accounts});
    let service = Service::seeded(&seed.to_string()).await;
    let mut total = 0;
    let categories = "/youtube/v3/guideCategories?part=id&regionCode=US&key=KEY";
    let categories = service.ask("GET", categories, "", "").await.json();
    for category in categories["items"].as_array().unwrap() {
        let id = category["id"].as_str().unwrap();
        let list = format!("/youtube/v3/channels?part=id&categoryId={id}&maxResults=50&key=KEY");
        let found = service.ask("GET", &list, "", "").await.json();
        let listed = found["items"].as_array().map_or(0, Vec::len) as u64;
        assert_eq!(found["pageInfo"]["totalResults"], listed);
        total += listed;
    }
    assert_eq!(total, 40);
}

#[tokio::test]
async fn an_answer_to_a_get_may_be_a_script_and_its_function_has_a_name() {
    let service = Service::new().await;
    let ask = async |method: &str, query: &str| {
        service.ask(method, &format!("/youtube/v3/videos?part=id{query}"), "ALICE", "").await
    };
    for (query, inside) in
        [("&id=v", "youtube#videoListResponse"), ("&chart=no", "invalidParameter")]
    {
        let script = ask("GET", &format!("{query}&callback=page.show")).await;
        let text = String::from_utf8(script.body.to_vec()).unwrap();
        assert_eq!((script.status, header(&script, "x-content-type-options")), (200, "nosniff"));
        assert_eq!(header(&script, "content-type"), "text/javascript; charset=UTF-8");
        assert!(text.starts_with("// API callback\npage.show({") && text.ends_with(");"), "{text}");
        assert!(text.contains(inside), "{text}");
    }
    for name in ["alert(1)", "a+b", "if", "x%3Cscript%3E"] {
        let answer = ask("GET", &format!("&id=v&callback={name}")).await;
        let expected = (400, "invalidParameter".to_owned(), "callback".to_owned());
        assert_eq!(refused(&answer), expected, "{name}");
        assert!(header(&answer, "content-type").starts_with("application/json"));
    }
    let page = service.ask("GET", "/embed/v?callback=show", "", "").await;
    assert!(page.body.starts_with(b"<!"), "what is no JSON stays what it is");
    assert!(header(&page, "content-type").starts_with("text/html"));
    let plain = ask("GET", "&id=v&callback=").await;
    assert!(header(&plain, "content-type").starts_with("application/json"));
    let rate = "/youtube/v3/videos/rate?id=v&rating=dance&callback=show";
    let write = service.ask("POST", rate, "ALICE", "").await;
    assert_eq!(refused(&write).0, 400);
}

#[tokio::test]
async fn languages_of_a_body_are_checked_as_hl_is_with_their_path() {
    let service = Service::new().await;
    let write = async |snippet: Value, localizations: Value| {
        let mut full = json!({"title": "t", "categoryId": "22"});
        full.as_object_mut().unwrap().extend(snippet.as_object().unwrap().clone());
        let body = json!({"id": "v", "snippet": full, "localizations": localizations});
        service.ask("PUT", GERMAN, "ALICE", &body.to_string()).await
    };
    let title = json!({"title": "x"});
    for (snippet, localizations, reason, path) in [
        (
            json!({"defaultLanguage": "zz"}),
            json!({}),
            "unsupportedLanguageCode",
            "snippet.defaultLanguage",
        ),
        (
            json!({"defaultLanguage": "xx-nope"}),
            json!({}),
            "unsupportedLanguageCode",
            "snippet.defaultLanguage",
        ),
        (json!({"defaultLanguage": 5}), json!({}), "invalidLanguage", "snippet.defaultLanguage"),
        (
            json!({"defaultAudioLanguage": "x"}),
            json!({}),
            "invalidLanguage",
            "snippet.defaultAudioLanguage",
        ),
        (
            json!({"defaultLanguage": "en"}),
            json!({"zz": title}),
            "unsupportedLanguageCode",
            "localizations.zz",
        ),
        (
            json!({"defaultLanguage": "en"}),
            json!({"no tag": title}),
            "invalidLanguage",
            "localizations.no tag",
        ),
        (json!({}), json!({"de": title}), "defaultLanguageNotSet", "snippet.defaultLanguage"),
        (
            json!({"defaultLanguage": "", "defaultAudioLanguage": ""}),
            json!({"de": title}),
            "defaultLanguageNotSet",
            "snippet.defaultLanguage",
        ),
    ] {
        let answer = write(snippet, localizations).await;
        assert_eq!(refused(&answer), (400, reason.to_owned(), format!("body.{path}")));
    }
    assert_eq!(write(json!({"defaultLanguage": "en_US"}), json!({"de": title})).await.status, 200);
    // The localizations stay, so their language does.
    let body = json!({"id": "v", "snippet": {"title": "t", "categoryId": "22"}}).to_string();
    let bare = service.ask("PUT", "/youtube/v3/videos?part=snippet", "ALICE", &body).await;
    assert_eq!(refused(&bare).1, "defaultLanguageNotSet");
    assert_eq!(write(json!({}), json!({})).await.status, 200);
    let list = json!({"id": "PLx", "snippet": {"title": "t", "defaultLanguage": "zz"}}).to_string();
    let list = service.ask("PUT", "/youtube/v3/playlists?part=snippet", "ALICE", &list).await;
    assert_eq!(
        refused(&list),
        (400, "unsupportedLanguageCode".into(), "body.snippet.defaultLanguage".into())
    );
    let branding = json!({"id": "UCx", "brandingSettings": {"channel": {"defaultLanguage": "zz"}}});
    let update = "/youtube/v3/channels?part=brandingSettings";
    let channel = service.ask("PUT", update, "ALICE", &branding.to_string()).await;
    assert_eq!(refused(&channel).2, "body.brandingSettings.channel.defaultLanguage");
}

#[tokio::test]
async fn control_characters_have_no_place_in_titles_and_tags() {
    let service = Service::new().await;
    for letter in ["\\u0000", "\\u0001", "\\u0007", "\\n", "\\u007f", "\\u0085"] {
        let ask = async |target: &str, body: String| {
            let answer = service.ask("PUT", target, "ALICE", &body).await;
            assert_eq!(answer.status, 400, "{target} {body}: {}", answer.json());
        };
        let video = |members: String| {
            format!("{{\"id\": \"v\", \"snippet\": {{\"categoryId\": \"22\", {members}}}}}")
        };
        let videos = "/youtube/v3/videos?part=snippet";
        ask(videos, video(format!("\"title\": \"a{letter}b\""))).await;
        ask(videos, video(format!("\"title\": \"t\", \"tags\": [\"a{letter}b\"]"))).await;
        let list = format!("{{\"id\": \"PLx\", \"snippet\": {{\"title\": \"a{letter}b\"}}}}");
        ask("/youtube/v3/playlists?part=snippet", list).await;
    }
    let lines =
        json!({"id": "v", "snippet": {"categoryId": "22", "title": "t", "description": "a\nb\tc"}});
    let update = "/youtube/v3/videos?part=snippet";
    let answer = service.ask("PUT", update, "ALICE", &lines.to_string()).await;
    assert_eq!((answer.status, &answer.json()["snippet"]["description"]), (200, &json!("a\nb\tc")));
}

#[tokio::test]
async fn what_a_seed_file_alone_can_say_is_shown_and_found() {
    let snippet = |title: &str| json!({"title": title, "categoryId": "22"});
    let mut live = snippet("live");
    live["liveBroadcastContent"] = json!("live");
    let mut soon = snippet("soon");
    soon["liveBroadcastContent"] = json!("upcoming");
    let seed = json!({
        "projects": [{"id": "p", "apiKeys": ["KEY"]}],
        "accounts": [{"id": "a", "tokens": [{"token": "ALICE", "scopes": ["youtube"]}], "channel": {"id": "UCx", "title": "A"}}],
        "videos": [
            {"id": "plain", "owner": "a", "snippet": snippet("plain")},
            {"id": "cube", "owner": "a", "snippet": snippet("cube"), "contentDetails": {"dimension": "3d"}},
            {"id": "live", "owner": "a", "snippet": live, "liveStreamingDetails": {"actualStartTime": "2026-05-01T11:00:00Z", "concurrentViewers": "7"}},
            {"id": "soon", "owner": "a", "snippet": soon, "liveStreamingDetails": {"scheduledStartTime": "2026-06-01T11:00:00Z"}},
            {"id": "over", "owner": "a", "snippet": snippet("over"), "liveStreamingDetails": {"actualEndTime": "2026-04-01T11:00:00Z"}},
            {"id": "film", "owner": "a", "snippet": snippet("film"), "videoType": "movie"},
            {"id": "part", "owner": "a", "snippet": snippet("part"), "videoType": "episode"},
            {"id": "topic", "owner": "a", "snippet": snippet("topic"), "topicDetails": {"topicIds": ["/m/04rlf"], "topicCategories": ["https://en.wikipedia.org/wiki/Music"]}},
        ],
    });
    let service = Service::seeded(&seed.to_string()).await;
    for (filter, expected) in [
        ("videoDimension=3d", vec!["cube"]),
        ("eventType=live", vec!["live"]),
        ("eventType=upcoming", vec!["soon"]),
        ("eventType=completed", vec!["over"]),
        ("videoType=movie", vec!["film"]),
        ("videoType=episode", vec!["part"]),
        ("topicId=/m/04rlf", vec!["topic"]),
        ("topicId=/m/nothing", vec![]),
        ("videoType=movie&videoDimension=3d", vec![]),
    ] {
        for words in ["", "&q=cube|live|soon|over|film|part|topic"] {
            let found =
                service.list(&format!("/search?part=snippet&type=video&{filter}{words}")).await;
            let ids: Vec<_> = found["items"]
                .as_array()
                .unwrap()
                .iter()
                .map(|item| item["id"]["videoId"].as_str().unwrap())
                .collect();
            assert_eq!(ids, expected, "{filter}{words}");
            assert_eq!(found["pageInfo"]["totalResults"], expected.len());
        }
    }
    let flat = service.list("/search?part=id&type=video&videoDimension=2d&maxResults=50").await;
    assert_eq!(flat["pageInfo"]["totalResults"], 7);
    let parts = "/videos?part=snippet,contentDetails,liveStreamingDetails,topicDetails&id=";
    let shown = async |id: &str| service.list(&format!("{parts}{id}")).await["items"][0].clone();
    assert_eq!(shown("cube").await["contentDetails"]["dimension"], "3d");
    let live = shown("live").await;
    assert_eq!(live["snippet"]["liveBroadcastContent"], "live");
    assert_eq!(live["liveStreamingDetails"]["concurrentViewers"], "7");
    assert_eq!(shown("over").await["snippet"]["liveBroadcastContent"], "none");
    assert_eq!(shown("topic").await["topicDetails"]["topicIds"], json!(["/m/04rlf"]));
    assert_eq!(shown("plain").await["liveStreamingDetails"], Value::Null);
    // An update of the texts leaves what they cannot say.
    let body = json!({"id": "live", "snippet": snippet("renamed")}).to_string();
    let update = "/youtube/v3/videos?part=snippet";
    let renamed = service.ask("PUT", update, "ALICE", &body).await.json();
    assert_eq!(renamed["snippet"]["liveBroadcastContent"], "live");
}

#[tokio::test]
async fn an_item_keeps_its_video_and_says_so() {
    let service = Service::new().await;
    let items = service.list("/playlistItems?part=snippet&playlistId=PLx").await;
    let id = &items["items"][0]["id"];
    let body = |playlist: &str, video: &str| {
        json!({"id": id, "snippet": {"playlistId": playlist, "resourceId": {"kind": "youtube#video", "videoId": video}}}).to_string()
    };
    let update = "/youtube/v3/playlistItems?part=snippet";
    for (playlist, video, place) in
        [("PLx", "w", "body.snippet.resourceId.videoId"), ("PL", "v", "body.snippet.playlistId")]
    {
        let answer = service.ask("PUT", update, "ALICE", &body(playlist, video)).await;
        assert_eq!(refused(&answer), (400, "invalidSnippet".into(), place.into()));
    }
}

#[tokio::test]
async fn an_own_video_leaves_the_list_of_uploads_and_comes_back() {
    let bobs = r#"{"id": "bobs", "owner": "bob", "snippet": {"title": "B", "categoryId": "22"}}"#;
    let seed = SEED.replace("\"videos\": [", &format!("\"videos\": [{bobs},"));
    let service = Service::seeded(&seed).await;
    let uploads = async |key: &str| {
        let list = format!(
            "/youtube/v3/playlistItems?part=contentDetails&playlistId=UUx&maxResults=50{key}"
        );
        let token = if key.is_empty() { "ALICE" } else { "" };
        let found = service.ask("GET", &list, token, "").await.json();
        let ids = found["items"].as_array().unwrap().iter();
        let ids: Vec<_> = ids
            .map(|item| {
                (
                    item["contentDetails"]["videoId"].as_str().unwrap().to_owned(),
                    item["id"].as_str().unwrap().to_owned(),
                )
            })
            .collect();
        assert_eq!(found["pageInfo"]["totalResults"], ids.len());
        ids
    };
    let names = |list: &[(String, String)]| {
        let mut names: Vec<_> = list.iter().map(|(video, _)| video.clone()).collect();
        names.sort_unstable();
        names
    };
    let all = uploads("").await;
    assert_eq!(names(&all), ["p", "v", "w"]);
    let entry = &all.iter().find(|(video, _)| video == "v").unwrap().1;
    let target = format!("/youtube/v3/playlistItems?id={entry}");
    assert_eq!(service.ask("DELETE", &target, "BOB", "").await.status, 403);
    assert_eq!(service.ask("DELETE", &target, "ALICE", "").await.status, 204);
    assert_eq!(service.ask("DELETE", &target, "ALICE", "").await.status, 404);
    assert_eq!(names(&uploads("").await), ["p", "w"]);
    assert_eq!(names(&uploads("&key=KEY").await), ["w"]);
    // The video itself is where it was.
    let channel = service.list("/channels?part=statistics&id=UCx").await;
    assert_eq!(channel["items"][0]["statistics"]["videoCount"], "2");
    assert_eq!(service.list("/videos?part=id&id=v").await["items"][0]["id"], "v");
    let insert = "/youtube/v3/playlistItems?part=snippet";
    let item = |video: &str| {
        json!({"snippet": {"playlistId": "UUx", "resourceId": {"kind": "youtube#video", "videoId": video}}}).to_string()
    };
    for _ in 0..2 {
        let added = service.ask("POST", insert, "ALICE", &item("v")).await;
        assert_eq!((added.status, &added.json()["id"]), (200, &json!(entry)));
        assert_eq!(names(&uploads("").await), ["p", "v", "w"]);
    }
    let answer = service.ask("POST", insert, "ALICE", &item("bobs")).await;
    assert_eq!(refused(&answer).1, "playlistOperationUnsupported");
    let removed = service.ask("DELETE", "/youtube/v3/videos?id=v", "ALICE", "").await;
    assert_eq!(
        (removed.status, names(&uploads("").await)),
        (204, vec!["p".to_owned(), "w".to_owned()])
    );
}

#[tokio::test]
async fn a_large_picture_has_all_sizes_and_a_small_one_those_that_it_fills() {
    let service = Service::new().await;
    let set = async |width: u32, height: u32| {
        let mut png = std::io::Cursor::new(Vec::new());
        image::RgbImage::new(width, height).write_to(&mut png, image::ImageFormat::Png).unwrap();
        let target = "/upload/youtube/v3/thumbnails/set?videoId=v&uploadType=media";
        let kind = [("content-type", "image/png")];
        let answer = service.ask_with("POST", target, "ALICE", &kind, png.get_ref()).await;
        assert_eq!(answer.status, 200, "{}", answer.json());
        let shown = service.list("/videos?part=snippet&id=v").await;
        assert_eq!(answer.json()["items"][0], shown["items"][0]["snippet"]["thumbnails"]);
        sizes(&shown["items"][0]).len()
    };
    assert_eq!(set(320, 180).await, 3);
    assert_eq!(service.ask("GET", "/vi/v/maxres.jpg", "", "").await.status, 404);
    assert_eq!(set(640, 360).await, 4);
    assert_eq!(set(1280, 720).await, 5);
    assert_eq!(service.ask("GET", "/vi/v/maxres.jpg", "", "").await.status, 200);
}

#[cfg(feature = "testing")]
#[tokio::test]
async fn a_video_in_hd_has_all_sizes_without_a_picture_of_its_own() {
    let service = Service::new().await;
    let upload = "/upload/youtube/v3/videos?part=snippet&uploadType=media";
    let film = video_api::media::sample::Mp4::new(1280, 720, 2_000).bytes();
    let kind = [("content-type", "video/mp4")];
    let film = service.ask_with("POST", upload, "ALICE", &kind, &film).await.json();
    let shown =
        service.list(&format!("/videos?part=snippet&id={}", film["id"].as_str().unwrap())).await;
    assert_eq!(sizes(&shown["items"][0]).len(), 5);
}

#[tokio::test]
async fn every_parameter_says_what_it_does() {
    let service = Service::new().await;
    let document = service.ask("GET", "/$discovery/rest?version=v3", "", "").await.json();
    assert!(!document.to_string().contains("Narrows the answer"));
}

#[tokio::test]
async fn a_boolean_is_read_in_one_way_wherever_it_stands() {
    let service = Service::new().await;
    for (value, is_pretty) in
        [("true", true), ("1", true), ("False", false), ("FALSE", false), ("0", false)]
    {
        let target = format!("/youtube/v3/videos?part=id&id=v&prettyPrint={value}");
        let text = service.ask("GET", &target, "ALICE", "").await.body;
        assert_eq!(text.starts_with(b"{\n"), is_pretty, "{value}");
    }
    // What is not asked for needs no token.
    for value in ["false", "False", "0"] {
        let target = format!("/youtube/v3/channels?part=id&id=UCx&mine={value}&key=KEY");
        assert_eq!(service.ask("GET", &target, "", "").await.status, 200, "{value}");
    }
    let update = "/youtube/v3/videos?part=status";
    for (value, read) in [(json!("false"), false), (json!(false), false), (json!("true"), true)] {
        let body = json!({"id": "v", "status": {"embeddable": value}}).to_string();
        let answer = service.ask("PUT", update, "ALICE", &body).await;
        assert_eq!(answer.json()["status"]["embeddable"], read, "{value}: {}", answer.json());
    }
    let body = json!({"id": "v", "status": {"embeddable": "yes"}}).to_string();
    let answer = service.ask("PUT", update, "ALICE", &body).await;
    assert_eq!(refused(&answer), (400, "invalid".into(), "body.status.embeddable".into()));
}

#[tokio::test]
async fn a_place_may_be_numbers_in_texts_and_a_tag_is_not_blank() {
    let service = Service::new().await;
    let update = "/youtube/v3/videos?part=recordingDetails";
    for (location, kept) in [
        (
            json!({"latitude": "1.5", "longitude": -2}),
            json!({"latitude": 1.5, "longitude": -2.0, "altitude": 0.0}),
        ),
        (json!({"latitude": null}), json!({"latitude": 0.0, "longitude": 0.0, "altitude": 0.0})),
    ] {
        let body = json!({"id": "v", "recordingDetails": {"location": location}}).to_string();
        let answer = service.ask("PUT", update, "ALICE", &body).await.json();
        assert_eq!(answer["recordingDetails"]["location"], kept, "{answer}");
    }
    let body = json!({"id": "v", "snippet": {"title": "t", "categoryId": "22", "tags": ["  "]}});
    let update = "/youtube/v3/videos?part=snippet";
    let answer = service.ask("PUT", update, "ALICE", &body.to_string()).await;
    assert_eq!(refused(&answer).1, "invalidTags");
}

#[tokio::test]
async fn an_item_is_updated_under_the_short_name_of_its_playlist() {
    let service = Service::new().await;
    let item = |playlist: &str, video: &str| json!({"snippet": {"playlistId": playlist, "resourceId": {"kind": "youtube#video", "videoId": video}}});
    let target = "/youtube/v3/playlistItems?part=snippet";
    for list in ["WL", "FL"] {
        for video in ["v", "w"] {
            let body = item(list, video).to_string();
            assert_eq!(service.ask("POST", target, "ALICE", &body).await.status, 200, "{list}");
        }
        let items = service.list(&format!("/playlistItems?part=snippet&playlistId={list}")).await;
        let second = items["items"][1].clone();
        for (named, status) in
            [(list.to_owned(), 200), (format!("{list}x"), 200), ("PLx".into(), 400)]
        {
            let video = second["snippet"]["resourceId"]["videoId"].as_str().unwrap();
            let mut body = item(&named, video);
            body["id"] = second["id"].clone();
            body["snippet"]["position"] = 0.into();
            let answer = service.ask("PUT", target, "ALICE", &body.to_string()).await;
            assert_eq!(answer.status, status, "{named}: {}", answer.json());
        }
    }
}

#[tokio::test]
async fn a_session_whose_end_failed_says_so_again_whatever_is_sent_to_it() {
    let service = Service::new().await;
    let open = "/upload/youtube/v3/thumbnails/set?videoId=v&uploadType=resumable";
    let headers = [("x-upload-content-type", "image/png"), ("x-upload-content-length", "5")];
    let opened = service.ask_with("POST", open, "ALICE", &headers, b"").await;
    let location = opened.headers["location"].to_str().unwrap().to_owned();
    let target = location.split_once("7801").unwrap().1;
    for (range, body) in [
        (None, b"abcde".as_slice()),
        (None, b"abcde"),
        (Some("bytes 0-4/5"), b"abcde"),
        (Some("bytes */5"), b""),
        (Some("bytes */*"), b""),
    ] {
        let headers: Vec<_> = range.map(|range| ("content-range", range)).into_iter().collect();
        let answer = service.ask_with("PUT", target, "", &headers, body).await;
        assert_eq!((answer.status, answer.reason().as_str()), (400, "invalidImage"), "{range:?}");
    }
}

#[tokio::test]
async fn the_last_moment_of_all_is_one() {
    let service = Service::new().await;
    let end = "9999-12-31T23:59:59Z";
    for target in [
        format!("/search?part=id&type=video&publishedBefore={end}"),
        format!("/activities?part=id&mine=true&publishedBefore={end}"),
    ] {
        assert!(service.list(&target).await["pageInfo"]["totalResults"].as_u64() > Some(0));
    }
    let body = json!({"id": "v", "recordingDetails": {"recordingDate": end}}).to_string();
    let update = "/youtube/v3/videos?part=recordingDetails";
    let answer = service.ask("PUT", update, "ALICE", &body).await.json();
    assert_eq!(answer["recordingDetails"]["recordingDate"], end);
    let body = json!({"id": "p", "status": {"privacyStatus": "private", "publishAt": end}});
    let update = "/youtube/v3/videos?part=status";
    let answer = service.ask("PUT", update, "ALICE", &body.to_string()).await.json();
    assert_eq!(answer["status"]["publishAt"], end, "{answer}");
}
