//! Moderation and bans: who sees, sets and is refused what.

use serde_json::{Value, json};

use super::{ask, count, moderate, open, reason, reply, threads};
use crate::service::Service;

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
