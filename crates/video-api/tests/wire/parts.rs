//! The meaning of `part` in a write: what is written, and what is answered.

use serde_json::{Value, json};
use video_api::api::operation::{Method, NamedParts, Run};
use video_api::resource::OPERATIONS;

use crate::service::Service;

/// Operations that write a resource, each with the body of one that is there and as much of it as a part holds.
const WRITES: &[(&str, &str, &str)] = &[
    ("captions.update", "snippet", r#"{"id": "c", "snippet": {"isDraft": true}}"#),
    ("channelSections.insert", "snippet", r#"{"snippet": {"type": "recentUploads"}}"#),
    (
        "channelSections.update",
        "snippet",
        r#"{"id": "shelf", "snippet": {"type": "recentUploads"}}"#,
    ),
    (
        "subscriptions.insert",
        "snippet",
        r#"{"snippet": {"resourceId": {"kind": "youtube#channel", "channelId": "UCbob"}}}"#,
    ),
    ("videos.update", "snippet", r#"{"id": "v", "snippet": {"title": "New", "categoryId": "22"}}"#),
    ("playlists.update", "snippet", r#"{"id": "PLx", "snippet": {"title": "New"}}"#),
    ("playlists.insert", "snippet", r#"{"snippet": {"title": "New"}}"#),
    (
        "playlistItems.insert",
        "snippet",
        r#"{"snippet": {"playlistId": "PLx", "resourceId": {"videoId": "v"}}}"#,
    ),
    (
        "playlistItems.update",
        "snippet",
        r#"{"id": "ITEM", "snippet": {"playlistId": "PLx", "resourceId": {"videoId": "v"}}}"#,
    ),
    (
        "commentThreads.insert",
        "snippet",
        r#"{"snippet": {"channelId": "UCx", "topLevelComment": {"snippet": {"textOriginal": "New"}}}}"#,
    ),
    ("comments.insert", "snippet", r#"{"snippet": {"parentId": "c", "textOriginal": "New"}}"#),
    ("comments.update", "snippet", r#"{"id": "c.r", "snippet": {"textOriginal": "New"}}"#),
    (
        "channels.update",
        "brandingSettings",
        r#"{"id": "UCx", "brandingSettings": {"channel": {"keywords": "k"}}}"#,
    ),
];

/// Sends the write `name` with this `part`; `more` is merged into its body.
async fn write(service: &Service, name: &str, part: &str, more: &Value) -> (u16, Value) {
    let operation = OPERATIONS.iter().find(|operation| operation.name == name).unwrap();
    let (_, _, body) = WRITES.iter().find(|row| row.0 == name).unwrap();
    let items = service.list("/playlistItems?part=id&playlistId=PLx").await;
    let item = items["items"][0]["id"].as_str().unwrap();
    let mut body: Value = serde_json::from_str(&body.replace("ITEM", item)).unwrap();
    for (member, value) in more.as_object().unwrap() {
        body[member] = value.clone();
    }
    let target = format!("/youtube/v3{}?part={part}", operation.path);
    let answer = service.ask(operation.method.name(), &target, "ALICE", &body.to_string()).await;
    (answer.status, answer.json())
}

#[tokio::test]
async fn a_part_that_cannot_be_written_is_returned_beside_those_that_are() {
    for (name, part, _) in WRITES {
        let operation = OPERATIONS.iter().find(|operation| operation.name == *name).unwrap();
        let read_only = operation.parts.iter().filter(|part| !part.writable);
        for other in read_only {
            let service = Service::new().await;
            let both = format!("{part},{}", other.name);
            let (status, answer) = write(&service, name, &both, &json!({})).await;
            if operation.named_parts == NamedParts::Written {
                let reason = &answer["error"]["errors"][0]["reason"];
                assert_eq!((status, reason), (400, &json!("unexpectedPart")), "{both}");
                continue;
            }
            assert_eq!(status, 200, "{name} {both}: {answer}");
            assert!(answer[part].is_object(), "{name} {both}: {answer}");
        }
    }
    let service = Service::new().await;
    let parts = "snippet,statistics,contentDetails,processingDetails,fileDetails";
    let (_, video) = write(&service, "videos.update", parts, &json!({})).await;
    assert_eq!(video["statistics"]["viewCount"], "0");
    assert_eq!(video["contentDetails"]["dimension"], "2d");
    assert_eq!(video["processingDetails"]["fileDetailsAvailability"], "available");
}

#[tokio::test]
async fn a_body_that_holds_a_part_which_is_not_named_is_refused_and_writes_nothing() {
    for (name, part, _) in WRITES {
        let operation = OPERATIONS.iter().find(|operation| operation.name == *name).unwrap();
        let others =
            operation.parts.iter().filter(|other| other.name != *part && other.name != "id");
        for other in others {
            let service = Service::new().await;
            let more = json!({other.name: {"privacyStatus": "private"}});
            let (status, answer) = write(&service, name, part, &more).await;
            let error = &answer["error"]["errors"][0];
            if other.writable {
                let told = (status, &error["reason"], &error["message"], &error["location"]);
                let message = json!(format!("'{}'", other.name));
                let expected = (400, &json!("unexpectedPart"), &message, &json!("part"));
                assert_eq!(told, expected, "{name} {}", other.name);
            } else {
                assert_eq!(status, 200, "{name}: what nobody can write does no harm: {answer}");
            }
        }
    }
    let service = Service::new().await;
    let more = json!({"status": {"privacyStatus": "private"}});
    write(&service, "videos.update", "snippet", &more).await;
    let video = service.list("/videos?part=snippet,status&id=v").await;
    assert_eq!(video["items"][0]["snippet"]["title"], "First");
    assert_eq!(video["items"][0]["status"]["privacyStatus"], "public");
}

#[tokio::test]
async fn a_part_that_names_the_answer_alone_lets_the_whole_body_be_written() {
    let service = Service::new().await;
    let by_answer =
        OPERATIONS.iter().filter(|operation| operation.named_parts == NamedParts::Returned);
    let names: Vec<_> = by_answer.map(|operation| operation.name).collect();
    assert_eq!(names, ["captions.insert", "commentThreads.insert", "comments.insert"]);
    let text = json!({"snippet": {"textOriginal": "New"}});
    let about = json!({"snippet": {"videoId": "v", "topLevelComment": text}});
    let (status, thread) = write(&service, "commentThreads.insert", "id", &about).await;
    assert_eq!((status, thread.get("snippet")), (200, None), "{thread}");
    let id = thread["id"].as_str().unwrap();
    let (status, reply) = write(&service, "comments.insert", "id", &json!({})).await;
    assert_eq!((status, reply.get("snippet")), (200, None), "{reply}");
    for id in [id, reply["id"].as_str().unwrap()] {
        let found = service.list(&format!("/comments?part=snippet&id={id}")).await;
        assert_eq!(found["items"][0]["snippet"]["textDisplay"], "New");
    }
    let (status, refused) = write(&service, "comments.update", "id", &json!({})).await;
    let reason = &refused["error"]["errors"][0]["reason"];
    assert_eq!((status, reason), (400, &json!("unexpectedPart")));
}

#[tokio::test]
async fn every_write_with_parts_is_in_the_table_above() {
    let built = OPERATIONS.iter().filter(|operation| {
        operation.method != Method::Get
            && !operation.parts.is_empty()
            && matches!(operation.run, Run::Call(_))
    });
    for operation in built {
        let is_upload = operation.upload.is_some();
        assert!(
            is_upload || WRITES.iter().any(|row| row.0 == operation.name),
            "{}",
            operation.name
        );
    }
}
