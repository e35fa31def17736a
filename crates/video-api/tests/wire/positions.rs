//! Positions of items in lists that time orders: told where they are counted, and never part of what guards a change.

use serde_json::{Value, json};
use video_api::media::sample::Mp4;

use crate::service::{SEED, Service};

/// More items than are counted for the position of one.
const MANY: usize = 1_030;

/// A service whose Alice has as many uploads, likes and entries of her history.
async fn service() -> Service {
    let mut seed: Value = serde_json::from_str(SEED).unwrap();
    let time = |at: usize| format!("2026-01-01T{:02}:{:02}:00Z", at / 60, at % 60);
    let videos = (0..MANY).map(|at| json!({"id": format!("m{at}"), "owner": "alice", "publishedAt": time(at), "snippet": {"title": "t"}}));
    seed["videos"].as_array_mut().unwrap().extend(videos);
    seed["ratings"] = (0..MANY)
        .map(|at| json!({"account": "alice", "video": format!("m{at}"), "rating": "like"}))
        .collect();
    seed["plays"] = (0..MANY)
        .map(|at| json!({"account": "alice", "video": format!("m{at}"), "at": time(at)}))
        .collect();
    Service::seeded(&seed.to_string()).await
}

/// All items of a list.
async fn items(service: &Service, playlist: &str) -> Vec<Value> {
    let (mut all, mut token) = (Vec::new(), String::new());
    loop {
        let list =
            format!("/playlistItems?part=snippet&playlistId={playlist}&maxResults=50{token}");
        let page = service.list(&list).await;
        all.extend(page["items"].as_array().unwrap().iter().cloned());
        match page["nextPageToken"].as_str() {
            Some(next) => token = format!("&pageToken={next}"),
            None => return all,
        }
    }
}

#[tokio::test]
async fn an_item_far_down_has_no_wrong_position_and_its_listed_etag_guards_it() {
    let service = service().await;
    for playlist in ["UUx", "LL", "HL"] {
        let listed = items(&service, playlist).await;
        assert!(listed.len() >= MANY, "{playlist}: {}", listed.len());
        for (at, item) in listed.iter().enumerate() {
            assert_eq!(item["snippet"]["position"], at, "{playlist}: pages tell every position");
        }
        for at in [3, 999, 1_000, 1_020] {
            let item = &listed[at];
            let id = item["id"].as_str().unwrap();
            let found = service.list(&format!("/playlistItems?part=snippet&id={id}")).await;
            let position = found["items"][0]["snippet"].get("position");
            let expected = json!(at);
            assert_eq!(position, (at < 1_000).then_some(&expected), "{playlist} {at}");
            assert_eq!(found["items"][0]["etag"], item["etag"], "{playlist} {at}");
        }
        let (etag, id) =
            (listed[1_020]["etag"].as_str().unwrap(), listed[1_020]["id"].as_str().unwrap());
        let target = format!("/youtube/v3/playlistItems?id={id}");
        for (etag, status) in [("stale", 412), (etag, 204)] {
            let guard = [("if-match", etag)];
            let told = service.ask_with("DELETE", &target, "ALICE", &guard, b"").await;
            assert_eq!(told.status, status, "{playlist}: {}", told.json());
        }
    }
}

#[tokio::test]
async fn a_place_that_a_newer_upload_moves_is_told_anew_by_the_list_and_no_other_version_of_the_item()
 {
    let service = Service::new().await;
    let listed = service.list("/playlistItems?part=snippet&playlistId=UUx").await;
    let id = listed["items"][0]["id"].as_str().unwrap();
    let target = format!("/playlistItems?part=snippet&id={id}");
    let before = service.list(&target).await;
    service.later(1);
    let kind = [("content-type", "video/mp4")];
    let insert = "/upload/youtube/v3/videos?part=snippet&uploadType=media";
    let film = Mp4::new(640, 360, 1_000).bytes();
    let made = service.ask_with("POST", insert, "ALICE", &kind, &film).await;
    assert_eq!(made.status, 200, "{}", made.json());
    let after = service.list(&target).await;
    let place = |list: &Value| list["items"][0]["snippet"]["position"].clone();
    assert_eq!((place(&before), place(&after)), (json!(0), json!(1)));
    assert_eq!(before["items"][0]["etag"], after["items"][0]["etag"]);
    assert_ne!(before["etag"], after["etag"]);
    let guard = [("if-none-match", before["etag"].as_str().unwrap())];
    let path = format!("/youtube/v3{target}");
    assert_eq!(service.ask_with("GET", &path, "ALICE", &guard, b"").await.status, 200);
}

#[tokio::test]
async fn adding_an_item_tells_the_position_that_the_list_tells() {
    let service = Service::new().await;
    for playlist in ["LL", "HL", "UUx"] {
        for (at, video) in ["v", "w", "v"].iter().enumerate() {
            service.later(at as u64 + 1);
            let snippet = json!({"playlistId": playlist, "resourceId": {"kind": "youtube#video", "videoId": video}});
            let insert = "/youtube/v3/playlistItems?part=id,snippet";
            let body = json!({"snippet": snippet}).to_string();
            let made = service.ask("POST", insert, "ALICE", &body).await.json();
            let listed = items(&service, playlist).await;
            let item = listed.iter().find(|item| item["id"] == made["id"]).unwrap();
            assert_eq!(made["snippet"]["position"], item["snippet"]["position"], "{playlist} {at}");
        }
    }
}
