//! Comments and threads over the wire: who writes, sees, moderates and deletes them, and what is counted.

mod counters;
mod lists;
mod moderation;
mod sight;
mod writing;

use serde_json::{Value, json};

use crate::service::{Service, ask};

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

async fn like(service: &Service, comment: &str, account: &str, likes: bool) {
    let body = json!({"comment": comment, "account": account, "likes": likes});
    let told = service.control("POST", "/_ops/comments", &body.to_string()).await;
    assert_eq!(told.status, 200, "{}", told.json());
}
