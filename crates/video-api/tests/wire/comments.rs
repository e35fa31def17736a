//! Comments and threads over the wire: who writes, sees, moderates and deletes them, and what is counted.

use serde_json::{Value, json};

use crate::service::Service;

/// Status and body of a request to the interface.
async fn ask(
    service: &Service,
    who: &str,
    method: &str,
    target: &str,
    body: Value,
) -> (u16, Value) {
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let answer = service.ask(method, &format!("/youtube/v3{target}"), who, &body).await;
    (answer.status, answer.json())
}

fn reason(error: &Value) -> &str {
    error["error"]["errors"][0]["reason"].as_str().unwrap_or_default()
}

fn location(error: &Value) -> &str {
    error["error"]["errors"][0]["location"].as_str().unwrap_or_default()
}

/// Opens a thread about the video `w`, and gives its id.
async fn open(service: &Service, who: &str, text: &str) -> String {
    let snippet = json!({"videoId": "w", "topLevelComment": {"snippet": {"textOriginal": text}}});
    let body = json!({"snippet": snippet});
    let (status, made) = ask(service, who, "POST", "/commentThreads?part=snippet", body).await;
    assert_eq!(status, 200, "{made}");
    made["id"].as_str().unwrap().to_owned()
}

async fn reply(service: &Service, who: &str, thread: &str, text: &str) -> String {
    let body = json!({"snippet": {"parentId": thread, "textOriginal": text}});
    let (status, made) = ask(service, who, "POST", "/comments?part=snippet", body).await;
    assert_eq!(status, 200, "{made}");
    made["id"].as_str().unwrap().to_owned()
}

async fn moderate(service: &Service, ids: &[&str], query: &str) -> (u16, Value) {
    let target = format!("/comments/setModerationStatus?id={}&{query}", ids.join(","));
    ask(service, "ALICE", "POST", &target, Value::Null).await
}

async fn threads(service: &Service, who: &str, query: &str) -> Vec<String> {
    let target = format!("/commentThreads?part=id&{query}");
    let (status, found) = ask(service, who, "GET", &target, Value::Null).await;
    assert_eq!(status, 200, "{query}: {found}");
    let items = found["items"].as_array().unwrap();
    assert_eq!(found["pageInfo"]["totalResults"], items.len(), "{query}: {found}");
    items.iter().map(|item| item["id"].as_str().unwrap().to_owned()).collect()
}

async fn count(service: &Service, video: &str) -> String {
    let found = service.list(&format!("/videos?part=statistics&id={video}")).await;
    found["items"][0]["statistics"]["commentCount"].as_str().unwrap_or("none").to_owned()
}

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
    for (target, body, status, expected, place) in [
        ("/commentThreads", json!({}), 400, "channelOrVideoIdMissing", "snippet.channelId"),
        (
            "/commentThreads",
            thread(json!({"topLevelComment": top("a")})),
            400,
            "channelOrVideoIdMissing",
            "snippet.channelId",
        ),
        ("/commentThreads", thread(json!({"videoId": "v"})), 400, "commentTextRequired", text),
        (
            "/commentThreads",
            thread(json!({"videoId": "v", "topLevelComment": top(" \n")})),
            400,
            "commentTextRequired",
            text,
        ),
        (
            "/commentThreads",
            thread(json!({"videoId": "v", "topLevelComment": top(&long)})),
            400,
            "commentTextTooLong",
            text,
        ),
        (
            "/commentThreads",
            thread(json!({"videoId": "v", "topLevelComment": top("a\u{0}")})),
            400,
            "invalidCommentThreadMetadata",
            "snippet.topLevelComment.snippet.textOriginal",
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
            (status, expected, place),
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
        assert_eq!((told, reason(&error), location(&error)), (status, expected, place), "{body}");
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
async fn lists_are_refused_with_their_reasons() {
    let service = Service::new().await;
    let kids = json!({"id": "w", "status": {"selfDeclaredMadeForKids": true}});
    ask(&service, "ALICE", "PUT", "/videos?part=status", kids).await;
    for (who, target, status, expected) in [
        ("BOB", "/commentThreads?part=id&videoId=none", 404, "videoNotFound"),
        ("BOB", "/commentThreads?part=id&videoId=p", 404, "videoNotFound"),
        ("BOB", "/commentThreads?part=id&videoId=c", 404, "videoNotFound"),
        ("BOB", "/commentThreads?part=id&videoId=w", 403, "commentsDisabled"),
        ("BOB", "/commentThreads?part=id&channelId=none", 404, "channelNotFound"),
        (
            "BOB",
            "/commentThreads?part=id&allThreadsRelatedToChannelId=none",
            404,
            "channelNotFound",
        ),
        ("BOB", "/commentThreads?part=id&id=c,none", 404, "commentThreadNotFound"),
        ("BOB", "/commentThreads?part=id&id=c.r", 404, "commentThreadNotFound"),
        (
            "BOB",
            "/commentThreads?part=id&videoId=v&moderationStatus=heldForReview",
            403,
            "forbidden",
        ),
        (
            "ALICE",
            "/commentThreads?part=id&id=c&moderationStatus=published",
            400,
            "incompatibleParameters",
        ),
        ("ALICE", "/commentThreads?part=id&id=c&order=time", 400, "incompatibleParameters"),
        ("ALICE", "/commentThreads?part=id&id=c&searchTerms=a", 400, "incompatibleParameters"),
        ("ALICE", "/commentThreads?part=id&videoId=v&pageToken=CAUQAA", 400, "invalidPageToken"),
        ("BOB", "/comments?part=id&parentId=none", 404, "commentNotFound"),
        ("BOB", "/comments?part=id", 400, "missingRequiredParameter"),
    ] {
        let (told, error) = ask(&service, who, "GET", target, Value::Null).await;
        assert_eq!((told, reason(&error)), (status, expected), "{target}");
    }
    let body =
        json!({"snippet": {"videoId": "w", "topLevelComment": {"snippet": {"textOriginal": "a"}}}});
    let (status, error) = ask(&service, "BOB", "POST", "/commentThreads?part=snippet", body).await;
    assert_eq!((status, reason(&error)), (403, "forbidden"));
    assert_eq!(threads(&service, "BOB", "id=c&maxResults=20").await, ["c"]);
    let (_, none) = ask(&service, "BOB", "GET", "/comments?part=id&id=none,c.r", Value::Null).await;
    assert_eq!(none["items"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn threads_come_newest_first_or_most_liked_first_in_pages_of_their_own_list() {
    let service = Service::new().await;
    let mut made = Vec::new();
    for number in 0..5 {
        service.later(1);
        made.push(open(&service, "BOB", &format!("number {number}")).await);
    }
    for (thread, likes) in [(1, 2), (3, 1)] {
        for account in ["alice", "bob"].iter().take(likes) {
            like(&service, &made[thread], account, true).await;
        }
    }
    let newest: Vec<_> = made.iter().rev().cloned().collect();
    assert_eq!(threads(&service, "BOB", "videoId=w").await, newest);
    let relevant = [1, 3, 4, 2, 0].map(|at| made[at].clone());
    assert_eq!(threads(&service, "BOB", "videoId=w&order=relevance").await, relevant);
    like(&service, &made[1], "alice", false).await;
    like(&service, &made[1], "bob", false).await;
    let relevant = [3, 4, 2, 1, 0].map(|at| made[at].clone());
    assert_eq!(threads(&service, "BOB", "videoId=w&order=relevance").await, relevant);
    let page = "/commentThreads?part=id&videoId=w&maxResults=2";
    let (_, first) = ask(&service, "BOB", "GET", page, Value::Null).await;
    assert_eq!(first["pageInfo"], json!({"totalResults": 5, "resultsPerPage": 2}));
    let token = first["nextPageToken"].as_str().unwrap();
    let (_, second) =
        ask(&service, "BOB", "GET", &format!("{page}&pageToken={token}"), Value::Null).await;
    assert_eq!(second["items"][0]["id"], json!(made[2]));
    for (who, other) in [
        ("BOB", "videoId=v"),
        ("BOB", "videoId=w&order=relevance"),
        ("BOB", "videoId=w&searchTerms=number"),
        ("ALICE", "videoId=w"),
        ("ALICE", "videoId=w&moderationStatus=rejected"),
        ("BOB", "allThreadsRelatedToChannelId=UCx"),
    ] {
        let target = format!("/commentThreads?part=id&{other}&pageToken={token}");
        let (status, error) = ask(&service, who, "GET", &target, Value::Null).await;
        assert_eq!((status, reason(&error)), (400, "invalidPageToken"), "{other}");
    }
}

async fn like(service: &Service, comment: &str, account: &str, likes: bool) {
    let body = json!({"comment": comment, "account": account, "likes": likes});
    let told = service.control("POST", "/_ops/comments", &body.to_string()).await;
    assert_eq!(told.status, 200, "{}", told.json());
}

#[tokio::test]
async fn a_channel_has_threads_of_its_own_and_those_of_its_videos() {
    let service = Service::new().await;
    let body = json!({"snippet": {"channelId": "UCx", "topLevelComment": {"snippet": {"textOriginal": "about"}}}});
    let (_, own) = ask(&service, "BOB", "POST", "/commentThreads?part=snippet", body).await;
    let own = own["id"].as_str().unwrap().to_owned();
    service.later(1);
    let of_video = open(&service, "BOB", "video").await;
    assert_eq!(threads(&service, "BOB", "channelId=UCx").await, std::slice::from_ref(&own));
    let all = threads(&service, "BOB", "allThreadsRelatedToChannelId=UCx").await;
    assert_eq!((all.len(), &all[0]), (3, &of_video));
    assert_eq!(threads(&service, "BOB", "channelId=UCbob").await, [""; 0]);
    assert_eq!(threads(&service, "BOB", "videoId=w&searchTerms=VIDEO").await, [of_video]);
    assert_eq!(threads(&service, "BOB", "channelId=UCx&searchTerms=about").await, [own]);
    assert_eq!(threads(&service, "BOB", "videoId=v&searchTerms=about").await, [""; 0]);
}

#[tokio::test]
async fn words_are_found_in_the_text_as_it_is_now() {
    let service = Service::new().await;
    let many: Vec<_> = (0..400).map(|number| format!("word{number}")).collect();
    let long = open(&service, "BOB", &many.join(" ")).await;
    service.later(1);
    let short = open(&service, "BOB", "Word7 and naïve").await;
    for (terms, expected) in [
        ("word7", vec![&short, &long]),
        ("word7%20NAÏVE", vec![&short]),
        ("word399", vec![&long]),
        ("word399%20word0", vec![&long]),
        ("word400", vec![]),
        ("word7%20word400", vec![]),
    ] {
        let found = threads(&service, "BOB", &format!("videoId=w&searchTerms={terms}")).await;
        assert_eq!(found.iter().collect::<Vec<_>>(), expected, "{terms}");
    }
    let body = json!({"id": short, "snippet": {"textOriginal": "something else"}});
    assert_eq!(ask(&service, "BOB", "PUT", "/comments?part=snippet", body).await.0, 200);
    assert_eq!(
        threads(&service, "BOB", "videoId=w&searchTerms=word7").await,
        std::slice::from_ref(&long)
    );
    assert_eq!(threads(&service, "BOB", "videoId=w&searchTerms=else").await, [short]);
    assert_eq!(
        ask(&service, "BOB", "DELETE", &format!("/comments?id={long}"), Value::Null).await.0,
        204
    );
    assert_eq!(threads(&service, "BOB", "videoId=w&searchTerms=word7").await, [""; 0]);
}

/// Each state, and whether anybody, the author and the owner find a comment by its id, by default in a list, and asking for its state.
#[tokio::test]
async fn a_comment_is_found_by_state_and_viewer_as_the_table_says() {
    for (state, by_id, listed, on_request) in [
        ("published", [true, true, true], [true, true, true], [true, true, true]),
        ("heldForReview", [false, true, true], [false; 3], [false, false, true]),
        ("rejected", [false, true, true], [false; 3], [false, false, true]),
        ("likelySpam", [false, true, true], [false; 3], [false, false, true]),
    ] {
        let service = Service::new().await;
        let id = open(&service, "BOB", "text").await;
        let body = json!({"comment": id, "moderationStatus": state});
        service.control("POST", "/_ops/comments", &body.to_string()).await;
        for (at, (who, key)) in
            [("", "&key=KEY"), ("BOB", ""), ("ALICE", "")].into_iter().enumerate()
        {
            let found = async |target: String| {
                let (status, found) =
                    ask(&service, who, "GET", &format!("{target}{key}"), Value::Null).await;
                (status == 200 && found["items"] != json!([])).then_some(found)
            };
            let told = found(format!("/comments?part=snippet&id={id}")).await;
            assert_eq!(told.is_some(), by_id[at], "{state} {who} by id");
            let shown =
                told.map(|told| told["items"][0]["snippet"].get("moderationStatus").cloned());
            assert_eq!(shown.flatten(), None, "a status is not told by id");
            let told = found(format!("/commentThreads?part=id&id={id}")).await;
            assert_eq!(told.is_some(), by_id[at], "{state} {who} by id");
            let told = found("/commentThreads?part=id&videoId=w".to_owned()).await;
            assert_eq!(told.is_some(), listed[at], "{state} {who} listed");
            let target = format!("/commentThreads?part=snippet&videoId=w&moderationStatus={state}");
            let told = found(target).await;
            assert_eq!(told.is_some(), on_request[at], "{state} {who} on request");
            if let Some(told) = told {
                let top = &told["items"][0]["snippet"]["topLevelComment"]["snippet"];
                let expected = (who == "ALICE").then(|| json!(state));
                assert_eq!(top.get("moderationStatus"), expected.as_ref(), "{state} {who}");
            }
        }
        let expected = if state == "published" { "1" } else { "0" };
        assert_eq!(count(&service, "w").await, expected, "{state}");
    }
}

#[tokio::test]
async fn the_owner_alone_sets_the_status_of_comments_all_or_none() {
    let service = Service::new().await;
    let (one, two) = (open(&service, "BOB", "a").await, open(&service, "BOB", "b").await);
    for (ids, query, status, expected) in [
        (vec!["none"], "moderationStatus=rejected", 404, "commentNotFound"),
        (vec![one.as_str(), "none"], "moderationStatus=rejected", 404, "commentNotFound"),
        (vec![&one], "moderationStatus=likelySpam", 400, "operationNotSupported"),
        (vec![&one], "moderationStatus=published&banAuthor=true", 400, "banWithoutReject"),
        (vec![&one], "moderationStatus=heldForReview&banAuthor=true", 400, "banWithoutReject"),
    ] {
        let (told, error) = moderate(&service, &ids, query).await;
        assert_eq!((told, reason(&error)), (status, expected), "{query}");
    }
    let target = format!("/comments/setModerationStatus?id={one}&moderationStatus=rejected");
    let (status, error) = ask(&service, "BOB", "POST", &target, Value::Null).await;
    assert_eq!((status, reason(&error)), (403, "forbidden"));
    assert_eq!(count(&service, "w").await, "2", "a refusal leaves all as they were");
    assert_eq!(moderate(&service, &[&one, &two], "moderationStatus=heldForReview").await.0, 204);
    assert_eq!(count(&service, "w").await, "0");
    let held = threads(&service, "ALICE", "videoId=w&moderationStatus=heldForReview").await;
    assert_eq!(held.len(), 2);
    assert_eq!(moderate(&service, &[&two], "moderationStatus=published").await.0, 204);
    assert_eq!(threads(&service, "BOB", "videoId=w").await, [two]);
    assert_eq!(count(&service, "w").await, "1");
}

#[tokio::test]
async fn fifty_comments_are_moderated_at_once_with_their_replies() {
    let service = Service::new().await;
    let mut ids = Vec::new();
    for number in 0..25 {
        let thread = open(&service, "BOB", &format!("thread {number}")).await;
        let reply = reply(&service, "BOB", &thread, "reply").await;
        ids.extend([thread, reply]);
    }
    assert_eq!(count(&service, "w").await, "50");
    let all: Vec<_> = ids.iter().map(String::as_str).collect();
    for (state, left) in [("heldForReview", "0"), ("rejected", "0"), ("published", "50")] {
        let told = moderate(&service, &all, &format!("moderationStatus={state}")).await;
        assert_eq!(told.0, 204, "{state}: {}", told.1);
        assert_eq!(count(&service, "w").await, left);
    }
    let told = moderate(&service, &all, "moderationStatus=rejected&banAuthor=true").await;
    assert_eq!((told.0, count(&service, "w").await.as_str()), (204, "0"));
}

#[tokio::test]
async fn a_rejected_comment_hides_its_replies_and_a_held_reply_lists_its_thread() {
    let service = Service::new().await;
    let thread = open(&service, "BOB", "top").await;
    let answer = reply(&service, "BOB", &thread, "reply").await;
    assert_eq!(count(&service, "w").await, "2");
    moderate(&service, &[&thread], "moderationStatus=rejected").await;
    assert_eq!(count(&service, "w").await, "0");
    let by_id = format!("/comments?part=id&id={answer}&key=KEY");
    let (_, found) = ask(&service, "", "GET", &by_id, Value::Null).await;
    assert_eq!(found["items"], json!([]));
    let body = json!({"snippet": {"parentId": thread, "textOriginal": "more"}});
    let (status, error) = ask(&service, "BOB", "POST", "/comments?part=snippet", body).await;
    assert_eq!((status, reason(&error)), (400, "parentCommentIsPrivate"));
    moderate(&service, &[&thread], "moderationStatus=published").await;
    assert_eq!(count(&service, "w").await, "2");
    moderate(&service, &[&answer], "moderationStatus=heldForReview").await;
    assert_eq!(count(&service, "w").await, "1");
    let held = "/commentThreads?part=snippet,replies&videoId=w&moderationStatus=heldForReview";
    let (_, found) = ask(&service, "ALICE", "GET", held, Value::Null).await;
    let item = &found["items"][0];
    assert_eq!((&item["id"], &item["snippet"]["totalReplyCount"]), (&json!(thread), &json!(0)));
    assert_eq!(item["replies"]["comments"][0]["snippet"]["moderationStatus"], "heldForReview");
    let list = format!("/comments?part=snippet&parentId={thread}");
    for (who, expected) in [("BOB", 0), ("ALICE", 1)] {
        let (_, found) = ask(&service, who, "GET", &list, Value::Null).await;
        assert_eq!(found["items"].as_array().unwrap().len(), expected, "{who}");
        assert_eq!(found["pageInfo"]["totalResults"], expected, "{who}");
    }
}

#[tokio::test]
async fn a_banned_author_is_rejected_on_that_channel_from_then_on_and_nowhere_else() {
    let service = Service::new().await;
    let before = open(&service, "BOB", "before").await;
    let bad = open(&service, "BOB", "bad").await;
    let told = moderate(&service, &[&bad], "moderationStatus=rejected&banAuthor=true").await;
    assert_eq!(told.0, 204);
    service.later(1);
    open(&service, "BOB", "after").await;
    let body = json!({"snippet": {"channelId": "UCx", "topLevelComment": {"snippet": {"textOriginal": "after"}}}});
    ask(&service, "BOB", "POST", "/commentThreads?part=snippet", body).await;
    assert_eq!(threads(&service, "ALICE", "videoId=w").await, std::slice::from_ref(&before));
    assert_eq!(threads(&service, "ALICE", "channelId=UCx").await, [""; 0]);
    let rejected = "allThreadsRelatedToChannelId=UCx&moderationStatus=rejected";
    assert_eq!(threads(&service, "ALICE", rejected).await.len(), 3);
    let own = json!({"snippet": {"channelId": "UCbob", "topLevelComment": {"snippet": {"textOriginal": "mine"}}}});
    ask(&service, "BOB", "POST", "/commentThreads?part=snippet", own).await;
    assert_eq!(threads(&service, "ALICE", "channelId=UCbob").await.len(), 1);
    let body = json!({"id": before, "snippet": {"textOriginal": "changed"}});
    ask(&service, "BOB", "PUT", "/comments?part=snippet", body).await;
    assert_eq!(threads(&service, "ALICE", "videoId=w").await, [""; 0]);
}

#[tokio::test]
async fn a_moderated_channel_holds_new_comments_of_others_for_review() {
    let service = Service::new().await;
    let body = json!({"id": "UCx", "brandingSettings": {"channel": {"moderateComments": true}}});
    ask(&service, "ALICE", "PUT", "/channels?part=brandingSettings", body).await;
    let held = open(&service, "BOB", "held").await;
    let own = open(&service, "ALICE", "own").await;
    assert_eq!(threads(&service, "BOB", "videoId=w").await, [own]);
    let listed = threads(&service, "ALICE", "videoId=w&moderationStatus=heldForReview").await;
    assert_eq!(listed, [held]);
    reply(&service, "BOB", "c", "held as well").await;
    assert_eq!(count(&service, "v").await, "2");
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
async fn what_is_liked_is_counted_and_shown_to_whoever_likes_it() {
    let service = Service::new().await;
    for (who, rating) in [("ALICE", "like"), ("BOB", "none")] {
        let (_, found) =
            ask(&service, who, "GET", "/comments?part=snippet&id=c", Value::Null).await;
        let snippet = &found["items"][0]["snippet"];
        assert_eq!((&snippet["likeCount"], &snippet["viewerRating"]), (&json!(1), &json!(rating)));
    }
    like(&service, "c", "alice", true).await;
    like(&service, "c", "bob", true).await;
    let (_, found) = ask(&service, "BOB", "GET", "/comments?part=snippet&id=c", Value::Null).await;
    assert_eq!(found["items"][0]["snippet"]["likeCount"], 2);
    for (body, status) in [
        (r#"{"comment": "none", "account": "bob"}"#, 404),
        (r#"{"comment": "c", "account": "none"}"#, 404),
        (r#"{"comment": "c", "moderationStatus": "x"}"#, 400),
        (r#"{"comment": "c", "other": 1}"#, 400),
    ] {
        assert_eq!(service.control("POST", "/_ops/comments", body).await.status, status, "{body}");
    }
}

#[tokio::test]
async fn a_list_that_was_read_before_shows_what_was_written_since() {
    let service = Service::new().await;
    let list = "/commentThreads?part=snippet,replies&videoId=w";
    let read = async || ask(&service, "BOB", "GET", list, Value::Null).await.1;
    assert_eq!(
        (read().await["items"].clone(), read().await["items"].clone()),
        (json!([]), json!([]))
    );
    let thread = open(&service, "BOB", "top").await;
    assert_eq!(read().await["items"][0]["snippet"]["topLevelComment"]["id"], json!(thread));
    let answer = reply(&service, "ALICE", &thread, "reply").await;
    assert_eq!(read().await["items"][0]["replies"]["comments"][0]["id"], json!(answer));
    let body = json!({"id": answer, "snippet": {"textOriginal": "changed"}});
    ask(&service, "ALICE", "PUT", "/comments?part=snippet", body).await;
    let shown = read().await;
    assert_eq!(shown["items"][0]["replies"]["comments"][0]["snippet"]["textDisplay"], "changed");
    like(&service, &thread, "alice", true).await;
    let top = &read().await["items"][0]["snippet"]["topLevelComment"];
    assert_eq!(top["snippet"]["likeCount"], 1);
    moderate(&service, &[&thread], "moderationStatus=rejected").await;
    assert_eq!(read().await["items"], json!([]));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn counters_are_right_after_many_wrote_moderated_and_deleted_at_once() {
    let service = std::sync::Arc::new(Service::new().await);
    let tasks: Vec<_> = (0..8)
        .map(|task| {
            let service = std::sync::Arc::clone(&service);
            tokio::spawn(async move {
                let who = ["ALICE", "BOB"][task % 2];
                for number in 0..12 {
                    let thread = open(&service, who, "text").await;
                    let answer = reply(&service, who, &thread, "reply").await;
                    match number % 4 {
                        0 => {
                            drop(moderate(&service, &[&answer], "moderationStatus=rejected").await)
                        }
                        1 => drop(
                            moderate(&service, &[&thread], "moderationStatus=heldForReview").await,
                        ),
                        2 => drop(
                            ask(
                                &service,
                                "ALICE",
                                "DELETE",
                                &format!("/comments?id={thread}"),
                                Value::Null,
                            )
                            .await,
                        ),
                        _ => {}
                    }
                }
            })
        })
        .collect();
    for task in tasks {
        task.await.unwrap();
    }
    // Of four threads one is whole, one has lost its reply, and two are not seen.
    assert_eq!(count(&service, "w").await, (8 * 3 * 3).to_string());
    assert_eq!(threads(&service, "BOB", "videoId=w&maxResults=100").await.len(), 8 * 6);
    let held = "videoId=w&maxResults=100&moderationStatus=heldForReview";
    assert_eq!(threads(&service, "ALICE", held).await.len(), 8 * 3);
}
