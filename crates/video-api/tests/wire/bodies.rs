//! Bodies with wrong types and ids of other resources: refused with a reason and a place, whatever the operation.

use serde_json::{Map, Value, json};
use video_api::api::operation::{Operation, Run};
use video_api::api::schema;
use video_api::resource::OPERATIONS;

use crate::service::{Answer, Service};

/// Members of bodies are looked at no deeper than this.
const DEPTH_MAX: usize = 6;

/// A body that the operation takes.
fn body(operation: &Operation) -> Value {
    let channel = json!({"kind": "youtube#channel", "channelId": "UCbob"});
    let video = json!({"kind": "youtube#video", "videoId": "v"});
    let text = json!({"snippet": {"textOriginal": "text"}});
    match operation.name {
        "captions.insert" => json!({"snippet": {"videoId": "v", "language": "de", "name": "n"}}),
        "captions.update" => json!({"id": "c", "snippet": {"isDraft": false}}),
        "channelBanners.insert" => json!({}),
        "channelSections.insert" => json!({"snippet": {"type": "popularUploads"}}),
        "channelSections.update" => json!({"id": "shelf", "snippet": {"type": "popularUploads"}}),
        "channels.update" => json!({"id": "UCx"}),
        "commentThreads.insert" => json!({"snippet": {"videoId": "v", "topLevelComment": text}}),
        "comments.insert" => json!({"snippet": {"parentId": "c", "textOriginal": "text"}}),
        "comments.update" => json!({"id": "c.r", "snippet": {"textOriginal": "text"}}),
        "playlistItems.insert" => json!({"snippet": {"playlistId": "PL", "resourceId": video}}),
        "playlistItems.update" => {
            json!({"id": "UEx4", "snippet": {"playlistId": "PLx", "resourceId": video}})
        }
        "playlists.insert" => json!({"snippet": {"title": "t"}}),
        "playlists.update" => json!({"id": "PL", "snippet": {"title": "t"}}),
        "subscriptions.insert" => json!({"snippet": {"resourceId": channel}}),
        "videos.insert" => json!({"snippet": {"title": "t", "categoryId": "22"}}),
        "videos.update" => json!({"id": "v", "snippet": {"title": "t", "categoryId": "22"}}),
        "videos.reportAbuse" => json!({"videoId": "v", "reasonId": "S"}),
        "watermarks.set" => {
            json!({"timing": {"type": "offsetFromStart", "offsetMs": "0", "durationMs": "1000"}})
        }
        other => panic!("{other} has a body"),
    }
}

/// Paths of all members of a type, each with values that are not of its type.
fn members(schema: &Value, path: &[String], out: &mut Vec<(Vec<String>, Vec<Value>)>) {
    if let Some(named) = schema["$ref"].as_str() {
        return members(&schema::all()[named], path, out);
    }
    let wrong = match schema["type"].as_str() {
        Some("object") => vec![json!("text"), json!([]), json!(7)],
        Some("array") => vec![json!("text"), json!({}), json!([[[]]])],
        Some("string") => vec![json!([]), json!({"a": 1}), json!(true)],
        Some("boolean") => vec![json!("perhaps"), json!(7), json!([])],
        Some("integer" | "number") => vec![json!("many"), json!(true), json!([])],
        _ => Vec::new(),
    };
    if !path.is_empty() {
        out.push((path.to_vec(), wrong));
    }
    if path.len() == DEPTH_MAX {
        return;
    }
    for (name, member) in schema["properties"].as_object().into_iter().flatten() {
        members(member, &[path, std::slice::from_ref(name)].concat(), out);
    }
    if schema["additionalProperties"].is_object() {
        let path = [path, &["de".to_owned()]].concat();
        members(&schema["additionalProperties"], &path, out);
    }
}

/// The body with another value at a path.
fn with(body: &Value, path: &[String], value: &Value) -> Value {
    let mut body = body.clone();
    let mut place = &mut body;
    for name in path {
        if !place.is_object() {
            *place = Value::Object(Map::new());
        }
        place = &mut place[name.as_str()];
    }
    *place = value.clone();
    body
}

async fn send(service: &Service, operation: &Operation, body: &Value) -> Answer {
    let mut parts: Vec<_> =
        operation.parts.iter().filter(|part| part.writable).map(|part| part.name).collect();
    parts.retain(|part| body.get(*part).is_some() || *part == "id");
    let parts = if operation.parts.is_empty() {
        String::new()
    } else {
        format!("part={}", parts.join(","))
    };
    let channel = if operation.name == "watermarks.set" { "&channelId=UCx" } else { "" };
    let path = format!("/youtube/v3{}?{parts}{channel}", operation.path);
    let method = operation.method.name();
    let Some(upload) = operation.upload.filter(|upload| upload.required) else {
        return service.ask(method, &path, "ALICE", &body.to_string()).await;
    };
    let kind =
        if upload.accept.contains(&"image/png") { "image/png" } else { "application/octet-stream" };
    let text = format!("--b\r\n\r\n{body}\r\n--b\r\nContent-Type: {kind}\r\n\r\nWEBVTT\r\n--b--");
    let target = format!("/upload{path}&uploadType=multipart");
    let headers = [("content-type", "multipart/related; boundary=b")];
    service.ask_with(method, &target, "ALICE", &headers, text.as_bytes()).await
}

#[tokio::test]
async fn a_wrong_type_at_any_member_of_any_body_is_refused_with_its_place() {
    let service = Service::new().await;
    let mut count = 0;
    for operation in OPERATIONS.iter().filter(|row| matches!(row.run, Run::Call(_))) {
        let Some(name) = operation.request else {
            continue;
        };
        let valid = body(operation);
        let mut all = Vec::new();
        members(&json!({"$ref": name}), &[], &mut all);
        assert!(!all.is_empty(), "{name} has members");
        for (path, wrong) in all {
            for value in wrong {
                let body = with(&valid, &path, &value);
                let answer = send(&service, operation, &body).await;
                let (name, path) = (operation.name, path.join("."));
                let told = answer.json();
                assert!(
                    (400..500).contains(&answer.status),
                    "{name} {path} = {value}: {} {told}",
                    answer.status
                );
                assert_ne!(answer.reason(), "", "{name} {path} = {value}: {told}");
                let detail = &told["error"]["errors"][0];
                assert!(
                    detail["message"].as_str().is_some_and(|text| text.len() > 5),
                    "{name} {path}: {told}"
                );
                count += 1;
            }
        }
    }
    assert!(count > 1_000, "{count} bodies were sent");
    // The service is alive, and nothing of it was written.
    let told = service.ask("GET", "/youtube/v3/channels?part=id&mine=true", "ALICE", "").await;
    assert_eq!(told.status, 200);
}

#[tokio::test]
async fn a_long_text_at_any_member_of_any_body_is_no_fault_of_the_service() {
    let service = Service::new().await;
    // Longer than any record, and a language tag as far as its form goes.
    let (long, tag) = ("x".repeat(70_000), format!("en{}", "-abcdefgh".repeat(8_000)));
    let url = format!("http://{long}");
    let mut unbounded = Vec::new();
    for operation in OPERATIONS.iter().filter(|row| matches!(row.run, Run::Call(_))) {
        let Some(name) = operation.request else {
            continue;
        };
        let valid = body(operation);
        let mut all = Vec::new();
        members(&json!({"$ref": name}), &[], &mut all);
        // What is only read is kept nowhere.
        let is_read =
            |name: &str| operation.parts.iter().any(|part| part.name == name && !part.writable);
        for (path, _) in all.iter().filter(|(path, _)| !is_read(&path[0])) {
            for value in [json!(long), json!(tag), json!(url), json!([long]), json!([tag])] {
                let answer = send(&service, operation, &with(&valid, path, &value)).await;
                if answer.status >= 500 || answer.reason() == "backendRequestTooLarge" {
                    let (name, path) = (operation.name, path.join("."));
                    unbounded.push(format!("{name} {path}: {}", answer.status));
                }
            }
        }
    }
    assert!(unbounded.is_empty(), "{unbounded:#?}");
}

#[tokio::test]
async fn ids_of_other_resources_are_refused_in_place_of_the_right_ones() {
    let service = Service::new().await;
    // Ids of everything that the seed has, in place of each other.
    let ids = [
        "v", "UCx", "PLx", "c", "c.r", "shelf", "s", "tin", "UUx", "UEx4LjA", "%00", "..%2F..", "é",
    ];
    for operation in OPERATIONS.iter().filter(|row| matches!(row.run, Run::Call(_))) {
        let required: Vec<_> = operation
            .params
            .iter()
            .filter(|param| param.required && param.name != "part")
            .collect();
        if operation.method.name() != "DELETE"
            && !required.iter().any(|param| param.name.to_lowercase().ends_with("id"))
        {
            continue;
        }
        for id in ids {
            let mut query: Vec<_> = required
                .iter()
                .map(|param| match param.name {
                    "moderationStatus" => "moderationStatus=rejected".to_owned(),
                    "rating" => "rating=none".to_owned(),
                    name => format!("{name}={id}"),
                })
                .collect();
            if !operation.parts.is_empty() {
                query.push("part=id".into());
            }
            let path = operation.path.replace("{id}", id);
            let target = format!("/youtube/v3{path}?{}", query.join("&"));
            // Carol has neither a channel nor anything else.
            let answer = service.ask(operation.method.name(), &target, "BOB", "").await;
            assert!(answer.status < 500, "{} {id}: {}", operation.name, answer.json());
            if answer.status >= 400 {
                assert_ne!(answer.reason(), "", "{} {id}: {}", operation.name, answer.json());
            }
        }
    }
    for (target, reason, place) in [
        ("/comments?part=id&parentId=v", "commentNotFound", "parentId"),
        ("/commentThreads?part=id&videoId=c", "videoNotFound", "videoId"),
        ("/commentThreads?part=id&channelId=v", "channelNotFound", "channelId"),
        ("/commentThreads?part=id&id=shelf", "commentThreadNotFound", "id"),
        ("/captions?part=id&videoId=PLx", "videoNotFound", "videoId"),
        ("/captions?part=id&videoId=v&id=s", "captionNotFound", "id"),
        ("/captions/v", "captionNotFound", "id"),
        ("/channelSections?part=id&channelId=shelf", "channelNotFound", "channelId"),
        ("/subscriptions?part=id&channelId=s", "subscriberNotFound", "channelId"),
        ("/activities?part=id&channelId=v", "channelNotFound", "channelId"),
        ("/playlistItems?part=id&playlistId=v", "playlistNotFound", "playlistId"),
        (
            "/members?part=snippet&hasAccessToLevel=UCx",
            "invalidHasAccessToLevel",
            "hasAccessToLevel",
        ),
    ] {
        let answer = service.ask("GET", &format!("/youtube/v3{target}"), "ALICE", "").await;
        assert_eq!(answer.reason(), reason, "{target}: {}", answer.json());
        assert_eq!(answer.json()["error"]["errors"][0]["location"], place, "{target}");
    }
}

#[tokio::test]
async fn the_mark_of_utf_8_before_a_body_is_passed_over() {
    let service = Service::new().await;
    let target = "/youtube/v3/playlists?part=snippet";
    let made =
        service.ask("POST", target, "ALICE", "\u{FEFF}{\"snippet\":{\"title\":\"marked\"}}").await;
    assert_eq!(made.json()["snippet"]["title"], "marked");
    let twice = service.ask("POST", target, "ALICE", "\u{FEFF}\u{FEFF}{}").await;
    assert_eq!((twice.status, twice.reason()), (400, "parseError".to_owned()));
}

#[tokio::test]
async fn a_resource_says_to_be_json_or_nothing_and_what_says_something_else_is_refused() {
    let service = Service::new().await;
    let mut checked = 0;
    for operation in OPERATIONS.iter().filter(|operation| {
        operation.takes_json()
            && operation.upload.is_none()
            && matches!(operation.run, Run::Call(_))
    }) {
        let part = operation.parts.iter().find(|part| part.writable && part.name != "id");
        let part = part.map_or_else(String::new, |part| format!("part={}", part.name));
        let target = format!("/youtube/v3{}?{part}", operation.path);
        let told = async |kind: &str, body: &str| {
            let headers = [("content-type", kind)];
            let method = operation.method.name();
            service.ask_with(method, &target, "ALICE", &headers, body.as_bytes()).await
        };
        let plain = told("application/json", "{}").await;
        for kind in ["", "APPLICATION/JSON; charset=UTF-8", "text/json", "application/vnd.api+json"]
        {
            let answer = told(kind, "{}").await;
            assert_eq!((answer.status, answer.reason()), (plain.status, plain.reason()), "{kind}");
        }
        for (kind, reason) in [
            ("text/plain", "badContent"),
            ("application/xml", "badContent"),
            ("multipart/form-data; boundary=B", "badContent"),
            ("json-or-so", "badContent"),
            ("application/x-www-form-urlencoded", "parseError"),
        ] {
            let answer = told(kind, "{}").await;
            assert_eq!((answer.status, answer.reason().as_str()), (400, reason), "{kind}");
            let empty = told(kind, " ").await;
            assert_eq!((empty.status, empty.reason()), (plain.status, plain.reason()), "{kind}");
            checked += 1;
        }
    }
    assert!(checked > 50, "{checked}");
}
