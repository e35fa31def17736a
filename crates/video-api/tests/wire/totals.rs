//! Totals of lists with rows that somebody is not shown: exact however many there are, right after whatever hid or showed them.

use serde_json::{Value, json};

use crate::service::{Service, ask};

/// More rows than anything counts one by one.
const MANY: usize = 215;

/// A service with as many videos of Alice's.
async fn with_videos() -> Service {
    let video = |number: usize| json!({"id": format!("v{number}"), "owner": "alice", "snippet": {"title": "V", "categoryId": "22"}});
    let seed = json!({
        "projects": [{"id": "demo", "apiKeys": ["KEY"], "quota": "off"}],
        "accounts": [
            {"id": "alice", "tokens": [{"token": "ALICE", "scopes": ["youtube", "youtube.force-ssl"]}],
             "channel": {"id": "UCx", "title": "Alice"}},
            {"id": "bob", "tokens": [{"token": "BOB", "scopes": ["youtube", "youtube.force-ssl"]}],
             "channel": {"id": "UCbob", "title": "Bob"}}],
        "videos": (0..MANY).map(video).collect::<Vec<_>>(),
    });
    Service::seeded(&seed.to_string()).await
}

async fn hide(service: &Service, video: usize, status: Value) {
    let body = json!({"id": format!("v{video}"), "status": status});
    let (told, answer) = ask(service, "ALICE", "PUT", "/videos?part=status", body).await;
    assert_eq!(told, 200, "{answer}");
}

/// The number of items that all pages of a list have together, which the total of each page tells.
async fn count(service: &Service, who: &str, target: &str) -> usize {
    let (mut items, mut token) = (0, String::new());
    loop {
        let (status, page) =
            ask(service, who, "GET", &format!("{target}&maxResults=50{token}"), Value::Null).await;
        assert_eq!(status, 200, "{page}");
        items += page["items"].as_array().unwrap().len();
        let total = page["pageInfo"]["totalResults"].as_u64().unwrap();
        match page["nextPageToken"].as_str() {
            Some(next) => {
                assert!(total > items as u64, "{target}: a page follows");
                token = format!("&pageToken={next}");
            }
            None => {
                assert_eq!(total, items as u64, "{target} of {who}");
                return items;
            }
        }
    }
}

#[tokio::test]
async fn the_total_of_rated_videos_is_exact_however_many_are_hidden_from_who_rated_them() {
    let service = with_videos().await;
    for video in 0..MANY {
        for (who, rating) in [("BOB", "like"), ("ALICE", "dislike")] {
            let target = format!("/videos/rate?id=v{video}&rating={rating}");
            assert_eq!(ask(&service, who, "POST", &target, Value::Null).await.0, 204);
        }
    }
    let (liked, disliked) = ("/videos?part=id&myRating=like", "/videos?part=id&myRating=dislike");
    let likes = "/playlistItems?part=id&playlistId=LL";
    assert_eq!(count(&service, "BOB", liked).await, MANY);
    for (video, privacy) in [(3, "private"), (4, "private"), (5, "unlisted"), (200, "private")] {
        hide(&service, video, json!({"privacyStatus": privacy})).await;
    }
    assert_eq!(count(&service, "BOB", liked).await, MANY - 3);
    // The owner sees what she hid, and the playlist of likes tells what is private.
    assert_eq!(count(&service, "ALICE", disliked).await, MANY);
    assert_eq!(count(&service, "BOB", likes).await, MANY);
    hide(&service, 3, json!({"privacyStatus": "public"})).await;
    assert_eq!(count(&service, "BOB", liked).await, MANY - 2);
    let target = "/videos?id=v4";
    assert_eq!(ask(&service, "ALICE", "DELETE", target, Value::Null).await.0, 204);
    assert_eq!(count(&service, "BOB", liked).await, MANY - 2);
    assert_eq!(count(&service, "BOB", likes).await, MANY - 1);
    assert_eq!(count(&service, "ALICE", disliked).await, MANY - 1);
    let target = "/videos/rate?id=v9&rating=none";
    assert_eq!(ask(&service, "BOB", "POST", target, Value::Null).await.0, 204);
    assert_eq!(count(&service, "BOB", liked).await, MANY - 3);
}

#[tokio::test]
async fn the_total_of_threads_about_a_channel_is_exact_for_its_owner_and_for_everyone() {
    let service = with_videos().await;
    for number in 0..MANY {
        // Three videos and the channel itself.
        let mut snippet =
            json!({"topLevelComment": {"snippet": {"textOriginal": format!("otter {number}")}}});
        match number % 4 {
            0 => snippet["channelId"] = "UCx".into(),
            video => snippet["videoId"] = format!("v{video}").into(),
        }
        let body = json!({"snippet": snippet});
        let (status, made) =
            ask(&service, "BOB", "POST", "/commentThreads?part=snippet", body).await;
        assert_eq!(status, 200, "{made}");
    }
    let of = |video: usize| (0..MANY).filter(|number| number % 4 == video).count();
    let all = "/commentThreads?part=id&allThreadsRelatedToChannelId=UCx";
    let expect = async |everyone: usize, owner: usize, what: &str| {
        for order in ["time", "relevance"] {
            let target = format!("{all}&order={order}");
            assert_eq!(count(&service, "BOB", &target).await, everyone, "{what}");
            assert_eq!(count(&service, "ALICE", &target).await, owner, "{what}, for the owner");
        }
    };
    expect(MANY, MANY, "all of them").await;
    hide(&service, 1, json!({"privacyStatus": "private"})).await;
    expect(MANY - of(1), MANY, "one is private").await;
    hide(&service, 2, json!({"selfDeclaredMadeForKids": true})).await;
    expect(MANY - of(1) - of(2), MANY - of(2), "one has no comments").await;
    hide(&service, 1, json!({"privacyStatus": "private", "selfDeclaredMadeForKids": true})).await;
    expect(MANY - of(1) - of(2), MANY - of(1) - of(2), "one is private and has none").await;
    assert_eq!(ask(&service, "ALICE", "DELETE", "/videos?id=v1", Value::Null).await.0, 204);
    expect(MANY - of(1) - of(2), MANY - of(1) - of(2), "one is gone").await;
    hide(&service, 2, json!({"selfDeclaredMadeForKids": false})).await;
    expect(MANY - of(1), MANY - of(1), "one has them again").await;
    hide(&service, 3, json!({"privacyStatus": "unlisted"})).await;
    expect(MANY - of(1) - of(3), MANY - of(1), "one is unlisted").await;
    hide(&service, 3, json!({"privacyStatus": "public"})).await;
    expect(MANY - of(1), MANY - of(1), "it is public again").await;
}

#[tokio::test]
async fn the_total_of_a_chart_is_told_on_each_page_and_counts_to_two_hundred() {
    let service = with_videos().await;
    let (mut token, mut items) = (String::new(), 0);
    loop {
        let target = format!("/videos?part=id&chart=mostPopular&maxResults=50{token}");
        let (_, page) = ask(&service, "BOB", "GET", &target, Value::Null).await;
        assert_eq!(page["pageInfo"]["totalResults"], 200);
        items += page["items"].as_array().unwrap().len();
        let Some(next) = page["nextPageToken"].as_str() else { break };
        token = format!("&pageToken={next}");
    }
    assert_eq!(items, MANY);
}
