//! Writing comments: what is shown of them, what cannot be one, changes and deletes.

use serde_json::{Value, json};

use super::{ask, count, location, open, reason, reply, threads};
use crate::service::Service;

#[tokio::test]
async fn a_thread_is_shown_with_its_comment_its_author_and_its_replies() {
    let service = Service::new().await;
    let id = open(&service, "BOB", "1 < 2\nsee https://example.com/a").await;
    for number in 0..7 {
        service.later(1);
        reply(&service, "ALICE", &id, &format!("reply {number}")).await;
    }
    let target = format!("/commentThreads?part=snippet,replies&id={id}");
    let (_, found) = ask(&service, "BOB", "GET", &target, Value::Null).await;
    let thread = &found["items"][0];
    let snippet = &thread["snippet"];
    assert_eq!((&snippet["channelId"], &snippet["videoId"]), (&json!("UCx"), &json!("w")));
    assert_eq!((&snippet["totalReplyCount"], &snippet["canReply"]), (&json!(7), &json!(true)));
    assert_eq!(snippet["isPublic"], true);
    let top = &snippet["topLevelComment"];
    assert_eq!((&top["id"], &top["kind"]), (&json!(id), &json!("youtube#comment")));
    let comment = &top["snippet"];
    let html = "1 &lt; 2<br>see <a href=\"https://example.com/a\">https://example.com/a</a>";
    assert_eq!(comment["textDisplay"], html);
    assert_eq!(comment["textOriginal"], "1 < 2\nsee https://example.com/a");
    assert_eq!(comment["authorDisplayName"], "Bob");
    assert_eq!(comment["authorChannelId"]["value"], "UCbob");
    let picture = comment["authorProfileImageUrl"].as_str().unwrap();
    assert_eq!(picture, "http://127.0.0.1:7801/ytc/UCbob/default.jpg");
    assert_eq!((&comment["canRate"], &comment["viewerRating"]), (&json!(true), &json!("none")));
    assert_eq!((&comment["likeCount"], comment.get("parentId")), (&json!(0), None));
    let replies = thread["replies"]["comments"].as_array().unwrap();
    let texts: Vec<_> = replies.iter().map(|one| &one["snippet"]["textDisplay"]).collect();
    assert_eq!(texts, ["reply 6", "reply 5", "reply 4", "reply 3", "reply 2"]);
    assert!(replies.iter().all(|one| one["snippet"]["parentId"] == json!(id)));
    assert!(replies.iter().all(|one| one["snippet"].get("textOriginal").is_none()));
    let target = format!("/comments?part=snippet&parentId={id}&textFormat=plainText");
    let (_, all) = ask(&service, "", "GET", &format!("{target}&key=KEY"), Value::Null).await;
    assert_eq!(all["items"].as_array().unwrap().len(), 7);
    let own = all["items"][0]["id"].as_str().unwrap();
    assert_eq!(own.rsplit_once('.').unwrap().0, id);
    assert!(all["items"][0]["snippet"].get("moderationStatus").is_none());
    let (_, plain) = ask(
        &service,
        "BOB",
        "GET",
        &format!("/comments?part=snippet&id={id}&textFormat=plainText"),
        Value::Null,
    )
    .await;
    assert_eq!(plain["items"][0]["snippet"]["textDisplay"], "1 < 2\nsee https://example.com/a");
}

#[tokio::test]
async fn what_cannot_be_a_comment_is_refused_with_its_reason_and_place() {
    let service = Service::new().await;
    let thread = |snippet: Value| json!({"snippet": snippet});
    let top = |text: &str| json!({"snippet": {"textOriginal": text}});
    let long = "ä".repeat(10_001);
    let text = "snippet.textOriginal";
    let first = "snippet.topLevelComment.snippet.textOriginal";
    for (target, body, status, expected, place) in [
        ("/commentThreads", json!({}), 400, "channelOrVideoIdMissing", "snippet.channelId"),
        (
            "/commentThreads",
            thread(json!({"topLevelComment": top("a")})),
            400,
            "channelOrVideoIdMissing",
            "snippet.channelId",
        ),
        ("/commentThreads", thread(json!({"videoId": "v"})), 400, "commentTextRequired", first),
        (
            "/commentThreads",
            thread(json!({"videoId": "v", "topLevelComment": top(" \n")})),
            400,
            "commentTextRequired",
            first,
        ),
        (
            "/commentThreads",
            thread(json!({"videoId": "v", "topLevelComment": top(&long)})),
            400,
            "commentTextTooLong",
            first,
        ),
        (
            "/commentThreads",
            thread(json!({"videoId": "v", "topLevelComment": top("a\u{0}")})),
            400,
            "invalidCommentThreadMetadata",
            first,
        ),
        (
            "/commentThreads",
            thread(json!({"videoId": "v", "channelId": "UCbob", "topLevelComment": top("a")})),
            400,
            "invalidCommentThreadMetadata",
            "snippet.channelId",
        ),
        (
            "/commentThreads",
            thread(json!({"videoId": "p", "topLevelComment": top("a")})),
            404,
            "videoNotFound",
            "snippet.videoId",
        ),
        (
            "/commentThreads",
            thread(json!({"channelId": "UCnone", "topLevelComment": top("a")})),
            404,
            "channelNotFound",
            "snippet.channelId",
        ),
        (
            "/commentThreads",
            thread(json!({"videoId": 7.5, "topLevelComment": 1})),
            400,
            "invalid",
            "snippet.topLevelComment",
        ),
        (
            "/commentThreads",
            thread(json!({"videoId": {}, "topLevelComment": top("a")})),
            400,
            "invalid",
            "snippet.videoId",
        ),
        ("/comments", json!({}), 400, "parentIdMissing", "snippet.parentId"),
        ("/comments", thread(json!({"parentId": "c"})), 400, "commentTextRequired", text),
        (
            "/comments",
            thread(json!({"parentId": "c", "textOriginal": long})),
            400,
            "commentTextTooLong",
            text,
        ),
        (
            "/comments",
            thread(json!({"parentId": "c", "textOriginal": "\u{7}"})),
            400,
            "invalidCommentMetadata",
            text,
        ),
        ("/comments", thread(json!({"parentId": "c", "textOriginal": []})), 400, "invalid", text),
        (
            "/comments",
            thread(json!({"parentId": "none", "textOriginal": "a"})),
            404,
            "parentCommentNotFound",
            "snippet.parentId",
        ),
        (
            "/comments",
            thread(json!({"parentId": "c.none", "textOriginal": "a"})),
            404,
            "parentCommentNotFound",
            "snippet.parentId",
        ),
        (
            "/comments",
            thread(json!({"parentId": "c.r", "textOriginal": "a"})),
            400,
            "operationNotSupported",
            "snippet.parentId",
        ),
        (
            "/comments",
            thread(json!({"parentId": "v", "textOriginal": "a"})),
            404,
            "parentCommentNotFound",
            "snippet.parentId",
        ),
    ] {
        let (told, error) =
            ask(&service, "BOB", "POST", &format!("{target}?part=snippet"), body.clone()).await;
        assert_eq!(
            (told, reason(&error), location(&error)),
            (status, expected, format!("body.{place}").as_str()),
            "{target} {body}"
        );
    }
    for (body, status, expected, place) in [
        (json!({"snippet": {"textOriginal": "a"}}), 400, "required", "id"),
        (json!({"id": "c"}), 400, "commentTextRequired", text),
        (json!({"id": "none", "snippet": {"textOriginal": "a"}}), 404, "commentNotFound", "id"),
        (json!({"id": "c.r", "snippet": {"textOriginal": "a"}}), 403, "forbidden", "id"),
        (
            json!({"id": "c", "snippet": {"textOriginal": "a\u{1b}"}}),
            400,
            "invalidCommentMetadata",
            text,
        ),
    ] {
        let (told, error) =
            ask(&service, "BOB", "PUT", "/comments?part=snippet", body.clone()).await;
        let place = format!("body.{place}");
        let expected = (status, expected, place.as_str());
        assert_eq!((told, reason(&error), location(&error)), expected, "{body}");
    }
    let fits = "ä".repeat(10_000);
    reply(&service, "BOB", "c", &fits).await;
    assert_eq!(count(&service, "v").await, "3", "what was refused left nothing");
}

#[tokio::test]
async fn an_account_without_a_channel_writes_no_comments() {
    let seed = r#"{"accounts": [{"id": "a", "channel": {"id": "UCx", "title": "A"}},
        {"id": "n", "tokens": [{"token": "N", "scopes": ["youtube.force-ssl"]}]}],
        "videos": [{"id": "v", "owner": "a", "snippet": {"title": "V", "categoryId": "22"}}],
        "comments": [{"id": "c", "author": "a", "video": "v", "textOriginal": "t"}]}"#;
    let service = Service::seeded(seed).await;
    let top = json!({"snippet": {"textOriginal": "a"}});
    for (method, target, body) in [
        ("POST", "/commentThreads", json!({"snippet": {"videoId": "v", "topLevelComment": top}})),
        ("POST", "/comments", json!({"snippet": {"parentId": "c", "textOriginal": "a"}})),
        ("PUT", "/comments", json!({"id": "c", "snippet": {"textOriginal": "a"}})),
    ] {
        let (status, error) =
            ask(&service, "N", method, &format!("{target}?part=snippet"), body).await;
        assert_eq!((status, reason(&error)), (403, "ineligibleAccount"), "{target}");
    }
}

#[tokio::test]
async fn authors_and_the_owner_delete_and_a_thread_goes_with_its_replies() {
    let service = Service::new().await;
    let thread = open(&service, "BOB", "top").await;
    let (one, two) = (
        reply(&service, "ALICE", &thread, "one").await,
        reply(&service, "BOB", &thread, "two").await,
    );
    let remove = async |who: &str, id: &str| {
        let (status, error) =
            ask(&service, who, "DELETE", &format!("/comments?id={id}"), Value::Null).await;
        (status, reason(&error).to_owned())
    };
    assert_eq!(remove("BOB", &one).await, (403, "forbidden".into()));
    assert_eq!(remove("BOB", "none").await, (404, "commentNotFound".into()));
    assert_eq!(remove("ALICE", &two).await.0, 204);
    assert_eq!((remove("ALICE", &two).await.0, count(&service, "w").await.as_str()), (404, "2"));
    assert_eq!(remove("BOB", &thread).await.0, 204);
    assert_eq!(count(&service, "w").await, "0");
    let (_, found) =
        ask(&service, "ALICE", "GET", &format!("/comments?part=id&id={one}"), Value::Null).await;
    assert_eq!(found["items"], json!([]));
    assert_eq!(threads(&service, "ALICE", "allThreadsRelatedToChannelId=UCx").await, ["c"]);
}

#[tokio::test]
async fn a_change_of_a_stale_comment_is_refused_with_412() {
    let service = Service::new().await;
    let found = service.list("/comments?part=snippet&id=c.r").await;
    let etag = found["items"][0]["etag"].as_str().unwrap().to_owned();
    let body = json!({"id": "c.r", "snippet": {"textOriginal": "changed"}}).to_string();
    for (expected, etag) in [(412, "stale"), (200, etag.as_str()), (412, etag.as_str())] {
        let headers = [("if-match", etag)];
        let target = "/youtube/v3/comments?part=snippet";
        let answer = service.ask_with("PUT", target, "ALICE", &headers, body.as_bytes()).await;
        assert_eq!(answer.status, expected, "{etag}");
        service.later(1);
    }
    let found = service.list("/comments?part=snippet&id=c.r").await;
    let snippet = &found["items"][0]["snippet"];
    assert_eq!(snippet["publishedAt"], "2026-05-01T12:00:00Z");
    assert_eq!(snippet["updatedAt"], "2026-05-01T12:00:01Z");
}

#[tokio::test]
async fn a_thread_is_about_the_video_that_its_comment_names_where_it_names_none_itself() {
    let service = Service::new().await;
    let insert = async |snippet: Value, top: Value| {
        let mut comment = json!({"textOriginal": "x"});
        comment.as_object_mut().unwrap().extend(top.as_object().unwrap().clone());
        let mut body = json!({"snippet": snippet});
        body["snippet"]["topLevelComment"] = json!({"snippet": comment});
        let target = "/youtube/v3/commentThreads?part=snippet";
        service.ask("POST", target, "BOB", &body.to_string()).await
    };
    for (thread, top) in [
        (json!({"channelId": "UCx"}), json!({"channelId": "UCx", "videoId": "w"})),
        (json!({}), json!({"videoId": "w"})),
        (json!({"videoId": "w"}), json!({"videoId": "w"})),
    ] {
        let answer = insert(thread.clone(), top).await;
        assert_eq!(answer.status, 200, "{thread}: {}", answer.json());
        assert_eq!(answer.json()["snippet"]["videoId"], "w", "{thread}");
    }
    for (thread, top, status, reason) in [
        (json!({"videoId": "v"}), json!({"videoId": "w"}), 400, "processingFailure"),
        (
            json!({"channelId": "UCbob"}),
            json!({"videoId": "w"}),
            400,
            "invalidCommentThreadMetadata",
        ),
        (json!({}), json!({"videoId": "none"}), 404, "videoNotFound"),
        (json!({}), json!({"channelId": "UCx"}), 400, "channelOrVideoIdMissing"),
    ] {
        let answer = insert(thread.clone(), top).await;
        assert_eq!((answer.status, answer.reason().as_str()), (status, reason), "{thread}");
    }
}
