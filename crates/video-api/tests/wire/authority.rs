//! Every operation with every kind of credentials, against one table.

use std::collections::BTreeSet;

use video_api::resource::OPERATIONS;

use crate::service::Service;

/// Operation, query, body, and the status with: nothing, a key, a foreign token, the owner's token, the owner's token without scope.
/// Rows that are not built yet answer 501 to whoever would be let in.
pub(crate) const ROWS: &[(&str, &str, &str, [u16; 5])] = &[
    ("activities.list", "part=id&mine=true", "", [403, 401, 200, 200, 403]),
    ("activities.insert", "part=snippet", "{}", [410, 410, 410, 410, 410]),
    ("captions.delete", "id=c", "", [401, 401, 403, 204, 403]),
    ("captions.download", "", "", [401, 401, 403, 200, 403]),
    ("captions.insert", "part=snippet", "{}", [401, 401, 400, 400, 403]),
    ("captions.list", "part=id&videoId=v", "", [401, 401, 200, 200, 403]),
    (
        "captions.update",
        "part=snippet",
        r#"{"id": "c", "snippet": {"isDraft": true}}"#,
        [401, 401, 403, 200, 403],
    ),
    ("channelBanners.insert", "", "{}", [401, 401, 400, 400, 403]),
    ("channelSections.delete", "id=shelf", "", [401, 401, 404, 204, 403]),
    (
        "channelSections.insert",
        "part=snippet",
        r#"{"snippet": {"type": "recentUploads"}}"#,
        [401, 401, 200, 200, 403],
    ),
    ("channelSections.list", "part=id&channelId=UCx", "", [403, 200, 200, 200, 403]),
    (
        "channelSections.update",
        "part=snippet",
        r#"{"id": "shelf", "snippet": {"type": "popularUploads"}}"#,
        [401, 401, 404, 200, 403],
    ),
    ("channels.list", "part=id&id=UCx", "", [403, 200, 200, 200, 403]),
    (
        "channels.update",
        "part=brandingSettings",
        r#"{"id": "UCx", "brandingSettings": {"channel": {"keywords": "a"}}}"#,
        [401, 401, 403, 200, 403],
    ),
    ("commentThreads.list", "part=id&videoId=v", "", [403, 200, 200, 200, 403]),
    (
        "commentThreads.insert",
        "part=snippet",
        r#"{"snippet": {"videoId": "v", "topLevelComment": {"snippet": {"textOriginal": "New"}}}}"#,
        [401, 401, 200, 200, 403],
    ),
    ("comments.list", "part=id&parentId=c", "", [403, 200, 200, 200, 403]),
    (
        "comments.setModerationStatus",
        "id=c&moderationStatus=rejected",
        "",
        [401, 401, 403, 204, 403],
    ),
    (
        "comments.insert",
        "part=snippet",
        r#"{"snippet": {"parentId": "c", "textOriginal": "New"}}"#,
        [401, 401, 200, 200, 403],
    ),
    ("comments.markAsSpam", "id=c", "", [410, 410, 410, 410, 410]),
    ("comments.delete", "id=c.r", "", [401, 401, 403, 204, 403]),
    (
        "comments.update",
        "part=snippet",
        r#"{"id": "c.r", "snippet": {"textOriginal": "New"}}"#,
        [401, 401, 403, 200, 403],
    ),
    ("guideCategories.list", "part=id&regionCode=US", "", [403, 200, 200, 200, 403]),
    ("i18nLanguages.list", "part=id", "", [403, 200, 200, 200, 403]),
    ("i18nRegions.list", "part=id", "", [403, 200, 200, 200, 403]),
    ("members.list", "part=snippet", "", [401, 401, 400, 200, 403]),
    ("membershipsLevels.list", "part=id", "", [401, 401, 400, 200, 403]),
    ("playlistItems.delete", "id=ITEM", "", [401, 401, 403, 204, 403]),
    (
        "playlistItems.insert",
        "part=snippet",
        r#"{"snippet": {"playlistId": "PLx", "resourceId": {"kind": "youtube#video", "videoId": "v"}}}"#,
        [401, 401, 403, 200, 403],
    ),
    ("playlistItems.list", "part=id&playlistId=PLx", "", [403, 200, 200, 200, 403]),
    (
        "playlistItems.update",
        "part=snippet",
        r#"{"id": "ITEM", "snippet": {"playlistId": "PLx", "resourceId": {"kind": "youtube#video", "videoId": "v"}, "position": 1}}"#,
        [401, 401, 403, 200, 403],
    ),
    ("playlists.delete", "id=PLx", "", [401, 401, 403, 204, 403]),
    ("playlists.list", "part=id&mine=true", "", [403, 401, 200, 200, 403]),
    (
        "playlists.insert",
        "part=snippet",
        r#"{"snippet": {"title": "New"}}"#,
        [401, 401, 200, 200, 403],
    ),
    (
        "playlists.update",
        "part=snippet",
        r#"{"id": "PLx", "snippet": {"title": "New"}}"#,
        [401, 401, 403, 200, 403],
    ),
    ("search.list", "part=id&q=first", "", [403, 200, 200, 200, 403]),
    ("subscriptions.delete", "id=s", "", [401, 401, 204, 403, 403]),
    (
        "subscriptions.insert",
        "part=snippet",
        r#"{"snippet": {"resourceId": {"kind": "youtube#channel", "channelId": "UCbob"}}}"#,
        [401, 401, 400, 200, 403],
    ),
    ("subscriptions.list", "part=id&mine=true", "", [403, 401, 200, 200, 403]),
    ("thumbnails.set", "videoId=v", "", [401, 401, 403, 400, 403]),
    ("videoAbuseReportReasons.list", "part=id", "", [403, 200, 200, 200, 403]),
    ("videoCategories.list", "part=id&regionCode=US", "", [403, 200, 200, 200, 403]),
    ("videos.insert", "part=id", "{}", [401, 401, 400, 400, 403]),
    ("videos.list", "part=id&myRating=like", "", [403, 401, 200, 200, 403]),
    ("videos.delete", "id=v", "", [401, 401, 403, 204, 403]),
    (
        "videos.update",
        "part=snippet",
        r#"{"id": "v", "snippet": {"title": "New", "categoryId": "22"}}"#,
        [401, 401, 403, 200, 403],
    ),
    ("videos.rate", "id=v&rating=like", "", [401, 401, 204, 204, 403]),
    ("videos.getRating", "id=v", "", [401, 401, 200, 200, 403]),
    ("videos.reportAbuse", "", "{}", [401, 401, 400, 400, 403]),
    ("watermarks.set", "channelId=UCx", "{}", [401, 401, 403, 400, 403]),
    ("watermarks.unset", "channelId=UCx", "", [401, 401, 403, 204, 403]),
];

#[tokio::test]
async fn every_operation_answers_every_kind_of_credentials_as_the_table_says() {
    let listed: BTreeSet<_> = ROWS.iter().map(|row| row.0).collect();
    let known: BTreeSet<_> = OPERATIONS.iter().map(|operation| operation.name).collect();
    assert_eq!(listed, known, "an operation without a row");
    for (name, query, body, expected) in ROWS {
        let operation = OPERATIONS.iter().find(|operation| operation.name == *name).unwrap();
        let credentials = [("", ""), ("", "&key=KEY"), ("BOB", ""), ("ALICE", ""), ("NOTHING", "")];
        for ((token, key), expected) in credentials.into_iter().zip(expected) {
            let service = Service::new().await;
            let items = service.list("/playlistItems?part=id&playlistId=PLx").await;
            let item = items["items"][0]["id"].as_str().unwrap();
            let path = operation.path.replace("{id}", "c");
            let target = format!("/youtube/v3{path}?{query}{key}").replace("ITEM", item);
            let answer = service
                .ask(operation.method.name(), &target, token, &body.replace("ITEM", item))
                .await;
            assert_eq!(answer.status, *expected, "{name} with '{token}{key}': {}", answer.json());
        }
    }
}

#[tokio::test]
async fn private_things_are_their_owners_alone() {
    let service = Service::new().await;
    for (target, foreign, owner) in [
        ("/videos?part=id&id=p", 0, 1),
        ("/playlistItems?part=id&playlistId=UUx", 2, 3),
        ("/playlists?part=id&id=WLx", 0, 1),
        ("/search?part=id&q=private&type=video", 0, 0),
    ] {
        for (token, expected) in [("BOB", foreign), ("ALICE", owner)] {
            let answer = service.ask("GET", &format!("/youtube/v3{target}"), token, "").await;
            let found = answer.json()["items"].as_array().map(Vec::len);
            assert_eq!(found, Some(expected), "{target} {token}: {}", answer.json());
        }
    }
    let parts = service.ask("GET", "/youtube/v3/videos?part=fileDetails&id=v", "BOB", "").await;
    assert_eq!((parts.status, parts.reason().as_str()), (403, "forbidden"));
    let likes =
        service.ask("GET", "/youtube/v3/playlistItems?part=id&playlistId=LLx", "BOB", "").await;
    assert_eq!((likes.status, likes.reason().as_str()), (403, "playlistItemsNotAccessible"));
}

#[tokio::test]
async fn wrong_credentials_have_their_own_answers() {
    let service = Service::new().await;
    let answer = service.ask("GET", "/youtube/v3/videos?part=id&id=v&key=WRONG", "", "").await;
    assert_eq!((answer.status, answer.reason().as_str()), (400, "keyInvalid"));
    let answer = service.ask("GET", "/youtube/v3/videos?part=id&id=v", "WRONG", "").await;
    assert_eq!((answer.status, answer.reason().as_str()), (401, "authError"));
    assert!(answer.headers.contains_key("www-authenticate"));
    // The real service names the header wherever the token came from.
    for name in ["access_token", "oauth_token"] {
        let target = format!("/youtube/v3/videos?part=id&id=v&{name}=WRONG");
        let answer = service.ask("GET", &target, "", "").await;
        let told = answer.json()["error"]["errors"][0].clone();
        assert_eq!((answer.status, answer.reason().as_str()), (401, "authError"), "{name}");
        assert_eq!(
            (&told["locationType"], &told["location"]),
            (&"header".into(), &"Authorization".into())
        );
    }
    let answer = service.ask("GET", "/youtube/v3/channels?part=id&mine=true&key=KEY", "", "").await;
    assert_eq!((answer.status, answer.reason().as_str()), (401, "authorizationRequired"));
}

#[tokio::test]
async fn a_project_without_units_is_refused_until_midnight_pacific_time() {
    let service = Service::new().await;
    let search = "/youtube/v3/search?part=id&q=a&key=POOR";
    for _ in 0..100 {
        assert_eq!(service.ask("GET", search, "", "").await.status, 200);
    }
    let answer = service.ask("GET", search, "", "").await;
    assert_eq!((answer.status, answer.reason().as_str()), (403, "quotaExceeded"));
    assert_eq!(
        service.ask("GET", "/youtube/v3/videos?part=id&id=v&key=POOR", "", "").await.status,
        200
    );
    // It is noon UTC, five o'clock in the morning there; nineteen hours later the day is over.
    service.later(19 * 3_600 - 1);
    assert_eq!(service.ask("GET", search, "", "").await.status, 403);
    service.later(1);
    assert_eq!(service.ask("GET", search, "", "").await.status, 200);
}
