//! Likes and counters, after one wrote and after many did at once.

use serde_json::{Value, json};

use super::{ask, count, like, moderate, open, reply, threads};
use crate::service::Service;

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

#[tokio::test]
async fn a_video_whose_comments_are_disabled_says_no_number_of_them() {
    let service = Service::new().await;
    open(&service, "BOB", "early").await;
    assert_eq!(count(&service, "w").await, "1");
    for (is_for_kids, expected) in [(true, "none"), (false, "1")] {
        let status = json!({"privacyStatus": "public", "selfDeclaredMadeForKids": is_for_kids});
        let body = json!({"id": "w", "status": status});
        let (status, told) = ask(&service, "ALICE", "PUT", "/videos?part=status", body).await;
        assert_eq!(status, 200, "{told}");
        assert_eq!(count(&service, "w").await, expected);
    }
}
