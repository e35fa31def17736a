//! Parts that are their owner's alone to see, and those that there is nothing in.

use serde_json::{Value, json};

use crate::service::{Service, ask};

#[tokio::test]
async fn a_campaign_is_shown_to_its_owner_alone() {
    let service = Service::new().await;
    let items = json!([{"id": {"type": "video", "videoId": "v"}}]);
    let body = json!({"id": "UCx", "invideoPromotion": {"items": items}});
    let update = "/channels?part=invideoPromotion";
    let (_, written) = ask(&service, "ALICE", "PUT", update, body).await;
    let list = "/channels?part=invideoPromotion,statistics&id=UCx";
    for (who, shown) in
        [("ALICE", written["invideoPromotion"].clone()), ("BOB", Value::Null), ("", Value::Null)]
    {
        let key = if who.is_empty() { "&key=KEY" } else { "" };
        let (status, found) = ask(&service, who, "GET", &format!("{list}{key}"), json!({})).await;
        let channel = &found["items"][0];
        assert_eq!((status, &channel["invideoPromotion"]), (200, &shown), "{who}");
        assert_ne!(channel["statistics"], Value::Null, "{who}");
    }
    assert_eq!(written["invideoPromotion"]["items"][0]["id"]["videoId"], "v");
}

#[tokio::test]
async fn suggestions_are_there_while_the_processing_says_so() {
    let service = Service::new().await;
    let upload = "/upload/youtube/v3/videos?part=id&uploadType=media";
    let picture = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01";
    let kind = [("content-type", "video/mp4")];
    let made = service.ask_with("POST", upload, "ALICE", &kind, picture).await.json();
    let id = made["id"].as_str().unwrap();
    // Until then it is being processed.
    service.later(60);
    for (id, suggestions, availability, thumbnails) in [
        (id, json!({"processingErrors": ["imageFile"]}), "available", "unavailable"),
        ("v", Value::Null, "unavailable", "available"),
    ] {
        let list = format!("/videos?part=suggestions,processingDetails&id={id}");
        let found = service.list(&list).await;
        let video = &found["items"][0];
        assert_eq!(video["suggestions"], suggestions, "{video}");
        assert_eq!(video["processingDetails"]["processingIssuesAvailability"], availability);
        assert_eq!(video["processingDetails"]["thumbnailsAvailability"], thumbnails);
    }
}
