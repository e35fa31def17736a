//! Searches by the moments at which things were published, by place, by channel and in a region.

use serde_json::{Value, json};

use crate::service::Service;

/// The titles of the videos that were published between the moments of this query.
async fn found(service: &Service, query: &str) -> Vec<String> {
    let list = service.list(&format!("/search?part=snippet&type=video&order=title&{query}")).await;
    let titles = list["items"].as_array().unwrap().iter();
    titles.map(|item| item["snippet"]["title"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn a_search_takes_both_moments_as_a_result_tells_them() {
    let video = |title: &str, at: &str| json!({"id": title, "owner": "alice", "snippet": {"title": title, "categoryId": "22", "publishedAt": at}});
    let seed = json!({
        "accounts": [{"id": "alice", "tokens": [{"token": "ALICE", "scopes": ["youtube"]}], "channel": {"id": "UCx", "title": "A"}}],
        "videos": [
            video("early", "2026-01-01T10:00:00Z"),
            video("late", "2026-01-01T10:00:00.700Z"),
            video("next", "2026-01-01T10:00:01Z")],
    });
    let service = Service::seeded(&seed.to_string()).await;
    let shown = service.list("/videos?part=snippet&id=late").await;
    assert_eq!(shown["items"][0]["snippet"]["publishedAt"], "2026-01-01T10:00:00Z");
    for (query, titles) in [
        ("publishedBefore=2026-01-01T09:59:59Z", &[][..]),
        ("publishedBefore=2026-01-01T10:00:00Z", &["early", "late"]),
        ("publishedBefore=2026-01-01T10:00:01Z", &["early", "late", "next"]),
        ("publishedAfter=2026-01-01T10:00:01Z", &["next"]),
        (
            "publishedAfter=2026-01-01T10:00:00Z&publishedBefore=2026-01-01T10:00:00Z",
            &["early", "late"],
        ),
        ("q=late&publishedBefore=2026-01-01T10:00:00Z", &["late"]),
        ("q=next&publishedBefore=2026-01-01T10:00:00.900Z", &[]),
    ] {
        assert_eq!(found(&service, query).await, titles, "{query}");
    }
}

#[tokio::test]
async fn a_place_that_cannot_be_read_is_refused_as_such_whatever_stands_beside_it() {
    let service = Service::new().await;
    for beside in ["", "&type=video", "&type=channel", "&type=video,channel"] {
        for place in [
            "location=1,2",
            "locationRadius=5km",
            "location=91,2&locationRadius=5km",
            "location=1,2&locationRadius=5",
            "location=1,2&locationRadius=1001km",
        ] {
            let target = format!("/youtube/v3/search?part=id&key=KEY&{place}{beside}");
            let answer = service.ask("GET", &target, "", "").await;
            let told = (answer.status, answer.reason());
            assert_eq!(told, (400, "invalidLocation".to_owned()), "{target}");
        }
        let target =
            format!("/youtube/v3/search?part=id&key=KEY&location=1,2&locationRadius=5km{beside}");
        let answer = service.ask("GET", &target, "", "").await;
        assert_eq!(answer.status, if beside == "&type=video" { 200 } else { 400 }, "{target}");
    }
}

#[tokio::test]
async fn an_id_of_a_channel_that_is_nobodys_finds_nothing_and_what_is_no_id_is_refused() {
    let service = Service::new().await;
    for (id, total) in [("UCx", 4), ("UC-not-a-channel-id", 0), ("UCnever", 0)] {
        let target = format!("/search?part=id&type=video,playlist&channelId={id}");
        let found = service.list(&target).await;
        assert_eq!(found["pageInfo"]["totalResults"], total, "{id}");
        assert_eq!(found["items"].as_array().map(Vec::len), Some(total), "{id}");
    }
    for id in ["alice", "PLx", "UC/x", "UC.x", "uCx"] {
        let target = format!("/youtube/v3/search?part=id&key=KEY&channelId={id}");
        let answer = service.ask("GET", &target, "", "").await;
        assert_eq!((answer.status, answer.reason().as_str()), (400, "invalidChannelId"), "{id}");
    }
}

#[tokio::test]
async fn a_search_for_ones_own_videos_names_a_region_only_where_the_request_does() {
    let service = Service::new().await;
    for (query, region) in [
        ("q=First", json!("US")),
        ("type=video&forMine=true", Value::Null),
        ("type=video&forMine=true&regionCode=de", json!("DE")),
    ] {
        let found = service.list(&format!("/search?part=id&{query}")).await;
        assert_eq!(found["regionCode"], region, "{query}");
    }
}
