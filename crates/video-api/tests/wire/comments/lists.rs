//! Lists of threads and replies: their orders, their pages, and what is searched for in them.

use serde_json::{Value, json};

use super::{ask, like, location, moderate, open, reason, reply, threads};
use crate::service::Service;

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
        ("BOB", "/commentThreads?part=id&id=c.r", 400, "operationNotSupported"),
        ("BOB", "/commentThreads?part=id&id=c.none", 404, "commentThreadNotFound"),
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
        if expected == "channelNotFound" {
            let filter =
                if target.contains("all") { "allThreadsRelatedToChannelId" } else { "channelId" };
            assert_eq!(location(&error), filter, "{target}");
        }
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

#[tokio::test]
async fn words_are_found_in_the_replies_that_the_caller_sees() {
    let service = Service::new().await;
    let one = open(&service, "BOB", "an otter").await;
    service.later(1);
    let two = open(&service, "BOB", "a heron").await;
    let held = reply(&service, "BOB", &two, "with an otter and a beaver").await;
    let search = async |who: &str, terms: &str, more: &str| {
        threads(&service, who, &format!("videoId=w&searchTerms={terms}{more}")).await
    };
    assert_eq!(search("BOB", "otter", "").await, [two.clone(), one.clone()]);
    assert_eq!(search("BOB", "beaver%20otter", "").await, std::slice::from_ref(&two));
    assert_eq!(search("BOB", "heron%20beaver", "").await, [""; 0], "one comment holds all of them");
    assert_eq!(moderate(&service, &[&held], "moderationStatus=heldForReview").await.0, 204);
    assert_eq!(search("BOB", "otter", "").await, std::slice::from_ref(&one));
    let waiting = "&moderationStatus=heldForReview";
    assert_eq!(search("ALICE", "beaver", waiting).await, std::slice::from_ref(&two));
    assert_eq!(moderate(&service, &[&held], "moderationStatus=published").await.0, 204);
    let body = json!({"id": held, "snippet": {"textOriginal": "with a beaver"}});
    assert_eq!(ask(&service, "BOB", "PUT", "/comments?part=snippet", body).await.0, 200);
    assert_eq!(search("BOB", "otter", "").await, std::slice::from_ref(&one));
    let target = format!("/comments?id={held}");
    assert_eq!(ask(&service, "BOB", "DELETE", &target, Value::Null).await.0, 204);
    assert_eq!(search("BOB", "beaver", "").await, [""; 0]);
}

#[tokio::test]
async fn totals_count_what_the_caller_is_shown() {
    let service = Service::new().await;
    let all = "allThreadsRelatedToChannelId=UCx&maxResults=100";
    for number in 0..4 {
        open(&service, "BOB", &format!("number {number}")).await;
    }
    // The helper compares the total with the items.
    assert_eq!(threads(&service, "BOB", all).await.len(), 5);
    let hide = json!({"id": "w", "status": {"privacyStatus": "private"}});
    assert_eq!(ask(&service, "ALICE", "PUT", "/videos?part=status", hide).await.0, 200);
    for more in ["", "&order=relevance", "&searchTerms=hello"] {
        assert_eq!(threads(&service, "BOB", &format!("{all}{more}")).await, ["c"], "{more}");
    }
    assert_eq!(threads(&service, "ALICE", all).await.len(), 5);
    ask(&service, "BOB", "POST", "/videos/rate?id=v&rating=like", Value::Null).await;
    for target in ["/videos?part=id&myRating=like", "/activities?part=id&mine=true&maxResults=50"] {
        let (_, found) = ask(&service, "BOB", "GET", target, Value::Null).await;
        let items = found["items"].as_array().unwrap().len();
        assert_eq!(found["pageInfo"]["totalResults"], items, "{target}: {found}");
    }
}
