//! Ends: of extensions, browsers, profiles and the service, and those who waited.

use super::*;

#[tokio::test]
async fn a_connection_ends_with_the_extension_that_it_speaks_for() {
    let server = spawn().await.unwrap();
    let manifest = json!({ "name": "x", "permissions": ["tabs"] });
    let (id, token) = install(&server, json!({ "manifest": manifest })).await;
    let mut socket = open(&server, &token, None).await;
    let mut other = open(&server, TOKEN, None).await;
    assert_eq!(next(&mut socket).await["type"], "hello");
    assert_eq!(next(&mut other).await["type"], "hello");
    let again = json!({ "manifest": { "name": "x" }, "id": id });
    let (_, second) = install(&server, again).await;
    let reason = "the extension was removed or installed anew";
    assert_eq!(end_of(&mut socket).await.1, reason);
    let mut socket = open(&server, &second, None).await;
    assert_eq!(next(&mut socket).await["type"], "hello");
    let (status, _) = control(&server, "DELETE", &format!("/extensions/{id}"), json!({})).await;
    assert_eq!((status, end_of(&mut socket).await.1.as_str()), (200, reason));
    say(&mut other, json!({ "id": 1, "method": "tabs.query", "params": [{}] })).await;
    assert_eq!(next(&mut other).await["type"], "result", "nobody else's ends");
}

/// A tab that is loaded in the background, whose language is waited for.
async fn waiting_tab(server: &Running, token: &str) -> Value {
    let since = call(server, "tabs.query", json!([{}])).await["seq"].as_u64();
    let bearer = format!("Bearer {token}");
    let fields = [("authorization", &*bearer)];
    let create = json!([{ "url": "http://a.test/", "active": false }]);
    let (_, made) = send(server, "POST", "/v1/tabs/create", &fields, &create).await;
    let mut socket = open(server, token, since.filter(|_| token == TOKEN).or(Some(0))).await;
    while next_event(&mut socket, "tabs.onUpdated").await["args"][1]["status"] != "complete" {}
    made["result"]["id"].clone()
}

#[tokio::test]
async fn nothing_waits_for_a_browser_that_was_reset() {
    let server = spawn().await.unwrap();
    let tab = waiting_tab(&server, TOKEN).await;
    let mut socket = open(&server, TOKEN, None).await;
    assert_eq!(next(&mut socket).await["type"], "hello");
    say(&mut socket, json!({ "id": "a", "type": "attach", "tabId": tab, "frameId": 0 })).await;
    let endpoint = next(&mut socket).await["result"]["endpoint"].clone();
    say(&mut socket, json!({ "type": "port.open", "port": "c1", "params": [tab] })).await;
    assert_eq!(next(&mut socket).await["type"], "port.open");
    let waits = json!({ "id": "w", "method": "tabs.detectLanguage", "params": [tab] });
    say(&mut socket, waits).await;
    let bearer = format!("Bearer {TOKEN}");
    let fields = [("authorization", &*bearer)];
    let arguments = json!([tab]);
    let posted = send(&server, "POST", "/v1/tabs/detectLanguage", &fields, &arguments);
    let reset = async {
        // Both calls have begun once one that came after them is answered.
        say(&mut socket, json!({ "id": "q", "method": "tabs.query", "params": [{}] })).await;
        while next(&mut socket).await["id"] != "q" {}
        let path = "/profiles/default/reset";
        let mut frames = Vec::new();
        // The call by POST may come behind a reset, and find no tab: then it was none that waited.
        assert_eq!(control(&server, "POST", path, json!({})).await.0, 200);
        while frames.last().is_none_or(|frame: &Value| frame["type"] != "reset") {
            frames.push(next(&mut socket).await);
        }
        frames
    };
    let ((_, posted), frames) = tokio::join!(posted, reset);
    let reason = "the browser was reset before it answered";
    let message = posted["error"]["message"].as_str().unwrap();
    assert!(message == reason || message.starts_with("No tab with id"), "{posted}");
    let called = frames.iter().find(|frame| frame["id"] == "w").unwrap();
    assert_eq!(called["error"]["message"], reason);
    let closed = frames.iter().find(|frame| frame["type"] == "port.close").unwrap();
    assert_eq!((&closed["port"], &closed["error"]), (&json!("c1"), &json!(reason)));
    let gone = frames.iter().find(|frame| frame["type"] == "script.gone").unwrap();
    assert_eq!(gone["endpoint"], endpoint);
}

#[tokio::test]
async fn a_call_that_waits_is_answered_as_its_profile_is_removed() {
    let server = spawn().await.unwrap();
    let manifest = json!({ "name": "o", "host_permissions": ["<all_urls>"] });
    let profile =
        json!({ "name": "other", "extensions": [{ "token": "other", "manifest": manifest }] });
    assert_eq!(control(&server, "POST", "/profiles", profile).await.0, 201);
    let tab = waiting_tab(&server, "other").await;
    let mut socket = open(&server, "other", None).await;
    assert_eq!(next(&mut socket).await["type"], "hello");
    say(&mut socket, json!({ "id": "w", "method": "tabs.detectLanguage", "params": [tab] })).await;
    say(&mut socket, json!({ "id": "q", "method": "tabs.query", "params": [{}] })).await;
    while next(&mut socket).await["id"] != "q" {}
    let fields = [("authorization", "Bearer other")];
    let arguments = json!([tab]);
    let posted = send(&server, "POST", "/v1/tabs/detectLanguage", &fields, &arguments);
    let removed = control(&server, "DELETE", "/profiles/other", json!({}));
    let ((_, posted), removed) = tokio::join!(posted, removed);
    assert_eq!(removed.0, 200);
    // One that came behind the removal has no token that is good.
    let message = posted["error"]["message"].as_str().unwrap();
    let reason = "the profile was removed before the browser answered";
    assert!(message == reason || posted["error"]["name"] == "Unauthorized", "{posted}");
    let answered = next(&mut socket).await;
    assert_eq!((&answered["id"], &answered["error"]["message"]), (&json!("w"), &json!(reason)));
}

#[tokio::test]
async fn a_stop_waits_for_no_call_that_waits_for_its_page() {
    let server = spawn().await.unwrap();
    let tab = waiting_tab(&server, TOKEN).await;
    let address = server.address;
    let posted = tokio::spawn(async move {
        let bearer = format!("Bearer {TOKEN}");
        let fields = [("authorization", &*bearer)];
        let asked = json!([tab]).to_string();
        send_text(address, "POST", "/v1/tabs/detectLanguage", &fields, asked).await
    });
    // It has begun once it is one of two that run; the other one asks.
    let runs = "\nhttp_requests_running 2\n";
    let metrics = || send(&server, "GET", "/_ops/metrics", &[], &Value::Null);
    while !metrics().await.1.as_str().is_some_and(|text| text.contains(runs)) {}
    let stopped = server.stop();
    let (status, reply) = posted.await.unwrap();
    assert_eq!((status, &reply["error"]["name"]), (503, &json!("Error")), "{reply}");
    assert!(stopped.await.unwrap().drained);
}
