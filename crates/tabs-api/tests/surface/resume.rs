//! Events of before: who comes back, who falls behind, and who comes later.

use super::*;

#[tokio::test]
async fn a_client_that_comes_back_misses_nothing() {
    let server = spawn().await.unwrap();
    let mut socket = open(&server, TOKEN, None).await;
    let since = next(&mut socket).await["seq"].as_u64().unwrap();
    drop(socket);
    let tab = call(&server, "tabs.create", json!([{ "active": false }])).await;
    let mut socket = open(&server, TOKEN, Some(since)).await;
    next(&mut socket).await;
    let frame = next(&mut socket).await;
    assert_eq!(frame["name"], "tabs.onCreated");
    assert_eq!(frame["args"][0]["id"], tab["result"]["id"]);
}

#[tokio::test]
async fn a_listener_that_falls_behind_is_told_how_much_it_missed() {
    let server = spawn().await.unwrap();
    let tab = call(&server, "tabs.create", json!([{ "active": false }])).await;
    let id = tab["result"]["id"].clone();
    let mut writer = open(&server, TOKEN, None).await;
    next(&mut writer).await;
    // Ten thousand events are more than the log keeps.
    for round in 0..10_000 {
        let frame = json!({ "id": round, "method": "tabs.update", "params": [id, { "pinned": round % 2 == 0 }] });
        say(&mut writer, frame).await;
        while next(&mut writer).await["id"] != json!(round) {}
    }
    let mut late = open(&server, TOKEN, Some(0)).await;
    next(&mut late).await;
    let frame = next(&mut late).await;
    assert_eq!(frame["type"], "lagged");
    assert!(frame["missed"].as_u64().unwrap() > 0);
    let first = next(&mut late).await;
    assert_eq!(first["seq"].as_u64().unwrap(), frame["seq"].as_u64().unwrap() + 1);
}

#[tokio::test]
async fn an_extension_that_is_installed_anew_sees_no_more_of_the_past_than_it_may() {
    let server = spawn().await.unwrap();
    let of = |permissions: Value| json!({ "name": "x", "permissions": permissions });
    let (id, token) = install(&server, json!({ "manifest": of(json!(["tabs"])) })).await;
    let mut socket = open(&server, &token, None).await;
    assert_eq!(next(&mut socket).await["type"], "hello");
    call(&server, "tabs.create", json!([{ "url": "http://a.test/" }])).await;
    let is_created = |frame: &Value| frame["name"] == "tabs.onCreated";
    let created = next(&mut socket).await;
    assert!(is_created(&created) && created["args"][0]["pendingUrl"] == "http://a.test/");
    let (_, token) = install(&server, json!({ "manifest": of(json!([])), "id": id })).await;
    let mut socket = open(&server, &token, Some(0)).await;
    assert_eq!(next(&mut socket).await["type"], "hello");
    // What was told to the one before is not for it at all.
    let lagged = next(&mut socket).await;
    assert_eq!(
        (&lagged["type"], lagged["missed"].as_u64()),
        (&json!("lagged"), lagged["seq"].as_u64())
    );
    call(&server, "tabs.create", json!([{ "url": "http://b.test/" }])).await;
    let created = next_event(&mut socket, "tabs.onCreated").await;
    assert!(created["args"][0].get("pendingUrl").is_none(), "{created}");
}

#[tokio::test]
async fn who_comes_later_or_may_more_later_hears_no_more_of_what_was_before() {
    let server = spawn().await.unwrap();
    let manifest = json!({ "name": "a", "permissions": ["activeTab"], "action": {} });
    let (id, token) = install(&server, json!({ "manifest": manifest })).await;
    let since = call(&server, "tabs.query", json!([{}])).await["seq"].as_u64();
    let tab = call(&server, "tabs.create", json!([{ "url": "http://a.test/secret" }])).await;
    let tab = tab["result"]["id"].clone();
    let mut all = open(&server, TOKEN, since).await;
    while next_event(&mut all, "tabs.onUpdated").await["args"][1]["status"] != "complete" {}
    let invoke = json!({ "type": "invoke", "extensionId": id, "tabId": tab });
    assert_eq!(control(&server, "POST", "", invoke).await.0, 200);
    let bearer = format!("Bearer {token}");
    let fields = [("authorization", &*bearer)];
    let (_, got) = send(&server, "POST", "/v1/tabs/get", &fields, &json!([tab])).await;
    assert_eq!(got["result"]["url"], "http://a.test/secret", "it may see it by now");
    let manifest = json!({ "name": "late", "permissions": ["tabs"] });
    let (_, late) = install(&server, json!({ "manifest": manifest })).await;
    call(&server, "tabs.update", json!([tab, { "pinned": true }])).await;
    let mut socket = open(&server, &token, since).await;
    loop {
        let frame = next(&mut socket).await;
        let text = frame.to_string();
        if frame["args"][1]["pinned"] == true {
            assert!(text.contains("secret"), "{text}");
            break;
        }
        assert!(!text.contains("secret"), "{text}");
    }
    let mut socket = open(&server, &late, since).await;
    assert_eq!(next(&mut socket).await["type"], "hello");
    assert_eq!(next(&mut socket).await["type"], "lagged");
    assert_eq!(next(&mut socket).await["args"][1], json!({ "pinned": true }));
}

/// The beginning of the stream of events behind an id, up to a text.
async fn stream_until(server: &Running, last: &str, until: &str) -> String {
    let stream = TcpStream::connect(server.address).await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let request = Request::get(format!("/v1/events?token={TOKEN}&since=0"))
        .header("host", "localhost")
        .header("last-event-id", last)
        .body(Full::<bytes::Bytes>::default())
        .unwrap();
    let mut body = sender.send_request(request).await.unwrap().into_body();
    let mut text = String::new();
    while !text.contains(until) {
        let frame = tokio::time::timeout(std::time::Duration::from_secs(60), body.frame());
        let frame = frame.await.expect("a piece comes").unwrap().unwrap();
        text.push_str(std::str::from_utf8(frame.data_ref().unwrap()).unwrap());
    }
    text
}

#[tokio::test]
async fn an_event_source_goes_on_where_it_was_and_is_told_where_that_is_of_another_run() {
    let server = spawn().await.unwrap();
    call(&server, "tabs.create", json!([{ "active": false }])).await;
    call(&server, "tabs.create", json!([{ "active": false }])).await;
    // What the query says is where it began, and the header where it is.
    let text = stream_until(&server, "1", "tabs.onCreated").await;
    let id = text.strip_prefix("id: ").unwrap().lines().next().unwrap();
    let (session, seq) = id.split_once('-').unwrap();
    assert_eq!(seq, "1");
    assert!(!text.contains("\"seq\":1}"), "{text}");
    let text = stream_until(&server, id, "tabs.onCreated").await;
    assert!(text.starts_with(&format!("id: {id}\n")) && !text.contains("reset"), "{text}");
    let other = format!("{}-1", session.parse::<u64>().unwrap() - 1);
    let text = stream_until(&server, &other, "data: ").await;
    assert!(text.contains("\"type\":\"reset\""), "{text}");
}
