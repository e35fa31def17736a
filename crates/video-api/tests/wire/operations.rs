//! The sentences of the specification's section 4 about single operations, each as a test of its name, where no test of a resource holds them.

use serde_json::{Value, json};

use crate::service::{Service, ask};

async fn ids(service: &Service, who: &str, target: &str) -> Vec<String> {
    let (status, found) = ask(service, who, "GET", target, Value::Null).await;
    assert_eq!(status, 200, "{target}: {found}");
    let items = found["items"].as_array().unwrap().iter();
    items.map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

async fn done(service: &Service, who: &str, method: &str, target: &str, body: Value) -> Value {
    let (status, told) = ask(service, who, method, target, body).await;
    assert!(status < 300, "{method} {target}: {status} {told}");
    told
}

#[tokio::test]
async fn channels_list_gives_zero_or_more_channels_matching_criteria() {
    let service = Service::new().await;
    for (criteria, expected) in [
        ("id=UCx", vec!["UCx"]),
        ("id=UCbob,UCnone,UCx", vec!["UCbob", "UCx"]),
        ("id=UCnone", vec![]),
        ("forUsername=alice", vec!["UCx"]),
        ("forUsername=nobody", vec![]),
        ("forHandle=@alice", vec!["UCx"]),
        ("forHandle=alice", vec!["UCx"]),
        ("forHandle=@nobody", vec![]),
        ("mine=true", vec!["UCx"]),
        ("mySubscribers=true", vec!["UCbob"]),
    ] {
        let found = ids(&service, "ALICE", &format!("/channels?part=id&{criteria}")).await;
        assert_eq!(found, expected, "{criteria}");
    }
    // Carol has no channel.
    assert!(ids(&service, "CAROL", "/channels?part=id&mine=true").await.is_empty());
}

#[tokio::test]
async fn channel_sections_insert_adds_a_section_to_the_authenticated_users_channel() {
    let service = Service::new().await;
    let target = "/channelSections?part=snippet";
    let body = json!({"snippet": {"type": "recentUploads", "channelId": "UCx"}});
    let made = done(&service, "BOB", "POST", target, body).await;
    assert_eq!(made["snippet"]["channelId"], "UCbob");
    assert_eq!(
        ids(&service, "BOB", "/channelSections?part=id&mine=true").await,
        [made["id"].as_str().unwrap()]
    );
    assert_eq!(ids(&service, "ALICE", "/channelSections?part=id&mine=true").await, ["shelf"]);
}

#[tokio::test]
async fn channel_sections_update_changes_a_section_and_delete_takes_it_away() {
    let service = Service::new().await;
    let body = json!({
        "id": "shelf",
        "snippet": {"type": "multiplePlaylists", "title": "Two"},
        "contentDetails": {"playlists": ["PL", "PLx"]},
    });
    done(&service, "ALICE", "PUT", "/channelSections?part=snippet,contentDetails", body).await;
    let found = service.list("/channelSections?part=snippet,contentDetails&id=shelf").await;
    let section = &found["items"][0];
    assert_eq!(section["snippet"]["type"], "multiplePlaylists");
    assert_eq!(section["snippet"]["title"], "Two");
    assert_eq!(section["contentDetails"]["playlists"], json!(["PL", "PLx"]));
    done(&service, "ALICE", "DELETE", "/channelSections?id=shelf", Value::Null).await;
    for criteria in ["id=shelf", "mine=true", "channelId=UCx"] {
        let target = format!("/channelSections?part=id&{criteria}");
        assert!(ids(&service, "ALICE", &target).await.is_empty(), "{criteria}");
    }
}

#[tokio::test]
async fn comments_update_modifies_a_comment() {
    let service = Service::new().await;
    service.later(60);
    for (who, id) in [("BOB", "c"), ("ALICE", "c.r")] {
        let before =
            done(&service, who, "GET", &format!("/comments?part=snippet&id={id}"), Value::Null)
                .await["items"][0]["snippet"]
                .clone();
        let body = json!({"id": id, "snippet": {"textOriginal": "Other & new"}});
        done(&service, who, "PUT", "/comments?part=snippet", body).await;
        let after =
            service.list(&format!("/comments?part=snippet&id={id}")).await["items"][0]["snippet"]
                .clone();
        assert_eq!(after["textDisplay"], "Other &amp; new", "{id}");
        assert_eq!(after["publishedAt"], before["publishedAt"], "{id}");
        assert_eq!(after["updatedAt"], "2026-05-01T12:01:00Z", "{id}");
        for member in ["parentId", "videoId", "authorChannelId", "likeCount"] {
            assert_eq!(after[member], before[member], "{id} {member}");
        }
    }
}

#[tokio::test]
async fn i18n_languages_list_and_i18n_regions_list_give_each_code_with_its_name() {
    let service = Service::new().await;
    for (list, code, common, name) in
        [("i18nLanguages", "hl", "de", "German"), ("i18nRegions", "gl", "DE", "Germany")]
    {
        let found = service.list(&format!("/{list}?part=id,snippet")).await;
        let items = found["items"].as_array().unwrap();
        assert!(items.len() > 50, "{list}");
        let one = items.iter().find(|item| item["snippet"][code] == common).unwrap();
        assert_eq!((&one["id"], &one["snippet"]["name"]), (&json!(common), &json!(name)));
        for item in items {
            assert_eq!(item["id"], item["snippet"][code], "{list}");
            assert!(!item["snippet"]["name"].as_str().unwrap().is_empty(), "{item}");
        }
    }
}

#[tokio::test]
async fn playlist_items_delete_deletes_an_item() {
    let service = Service::new().await;
    let items = ids(&service, "ALICE", "/playlistItems?part=id&playlistId=PLx").await;
    let target = format!("/playlistItems?id={}", items[0]);
    assert_eq!(ask(&service, "BOB", "DELETE", &target, Value::Null).await.0, 403);
    done(&service, "ALICE", "DELETE", &target, Value::Null).await;
    let left = service.list("/playlistItems?part=id,snippet&playlistId=PLx").await;
    assert_eq!(left["items"].as_array().unwrap().len(), 1);
    assert_eq!(
        (&left["items"][0]["id"], &left["items"][0]["snippet"]["position"]),
        (&json!(items[1]), &json!(0))
    );
    let found = ids(&service, "ALICE", &format!("/playlistItems?part=id&id={}", items[0])).await;
    assert!(found.is_empty());
    assert_eq!(ask(&service, "ALICE", "DELETE", &target, Value::Null).await.0, 404);
    // The video itself is there as before.
    assert_eq!(ids(&service, "ALICE", "/videos?part=id&id=v").await, ["v"]);
}

#[tokio::test]
async fn playlists_delete_deletes_a_playlist_with_its_items() {
    let service = Service::new().await;
    let items = ids(&service, "ALICE", "/playlistItems?part=id&playlistId=PLx").await;
    assert_eq!(ask(&service, "BOB", "DELETE", "/playlists?id=PLx", Value::Null).await.0, 403);
    done(&service, "ALICE", "DELETE", "/playlists?id=PLx", Value::Null).await;
    assert_eq!(ids(&service, "ALICE", "/playlists?part=id&mine=true").await, ["PL"]);
    assert!(ids(&service, "ALICE", "/playlists?part=id&id=PLx").await.is_empty());
    let target = "/playlistItems?part=id&playlistId=PLx";
    assert_eq!(ask(&service, "ALICE", "GET", target, Value::Null).await.0, 404);
    let target = format!("/playlistItems?part=id&id={}", items.join(","));
    assert!(ids(&service, "ALICE", &target).await.is_empty());
    assert_eq!(ask(&service, "ALICE", "DELETE", "/playlists?id=PLx", Value::Null).await.0, 404);
}

#[tokio::test]
async fn playlists_list_gives_those_of_the_authenticated_user_or_of_unique_ids() {
    let service = Service::new().await;
    let body = json!({"snippet": {"title": "Bob's"}});
    let own = done(&service, "BOB", "POST", "/playlists?part=id,snippet", body).await;
    let own = own["id"].as_str().unwrap();
    let mut mine = ids(&service, "ALICE", "/playlists?part=id&mine=true").await;
    mine.sort();
    assert_eq!(mine, ["PL", "PLx"]);
    assert_eq!(ids(&service, "BOB", "/playlists?part=id&mine=true").await, [own]);
    let target = format!("/playlists?part=id&id={own},PLnone,PLx");
    for who in ["ALICE", "BOB"] {
        assert_eq!(ids(&service, who, &target).await, [own, "PLx"], "{who}");
    }
}

#[tokio::test]
async fn playlists_update_modifies_title_description_and_privacy_status() {
    let service = Service::new().await;
    let parts = "/playlists?part=snippet,status";
    for (title, description, privacy) in [
        ("One", "First words", "private"),
        ("Two", "Others", "public"),
        ("Three", "", "private"),
        ("Four", "", "public"),
    ] {
        let snippet = json!({"title": title, "description": description});
        let body = json!({"id": "PLx", "snippet": snippet, "status": {"privacyStatus": privacy}});
        done(&service, "ALICE", "PUT", parts, body).await;
        let found = service.list(&format!("{parts}&id=PLx")).await["items"][0].clone();
        assert_eq!(found["snippet"]["title"], title);
        assert_eq!(found["snippet"]["description"], description);
        assert_eq!(found["status"]["privacyStatus"], privacy);
    }
    let body = json!({"id": "PLx", "snippet": {"title": "Bob's"}});
    assert_eq!(ask(&service, "BOB", "PUT", "/playlists?part=snippet", body).await.0, 403);
}

#[tokio::test]
async fn every_reason_of_the_list_is_usable_to_report_abuse() {
    let service = Service::new().await;
    let found = service.list("/videoAbuseReportReasons?part=id,snippet").await;
    let reasons = found["items"].as_array().unwrap();
    assert!(!reasons.is_empty());
    for reason in reasons {
        let mut bodies = vec![json!({"videoId": "v", "reasonId": reason["id"]})];
        for secondary in reason["snippet"]["secondaryReasons"].as_array().into_iter().flatten() {
            let mut body = bodies[0].clone();
            body["secondaryReasonId"] = secondary["id"].clone();
            bodies.push(body);
        }
        for body in bodies {
            done(&service, "BOB", "POST", "/videos/reportAbuse", body).await;
        }
    }
}

#[tokio::test]
async fn videos_get_rating_gives_the_ratings_that_the_user_gave_to_a_list_of_videos() {
    let service = Service::new().await;
    for (who, video, rating) in
        [("BOB", "v", "like"), ("BOB", "w", "dislike"), ("ALICE", "w", "like")]
    {
        let target = format!("/videos/rate?id={video}&rating={rating}");
        done(&service, who, "POST", &target, Value::Null).await;
    }
    for (who, expected) in
        [("BOB", [("w", "dislike"), ("v", "like")]), ("ALICE", [("w", "like"), ("v", "none")])]
    {
        let found = done(&service, who, "GET", "/videos/getRating?id=w,v", Value::Null).await;
        let expected = expected.map(|(video, rating)| json!({"videoId": video, "rating": rating}));
        assert_eq!(found["items"], json!(expected), "{who}");
    }
}
