//! The surface against real sockets: one order, resume, the control side, and pages that get nowhere.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::indexing_slicing,
    reason = "the helpers of a test may fail it"
)]

use std::net::SocketAddr;

use futures_util::{SinkExt, StreamExt};
use http_body_util::{BodyExt, Full};
use hyper::Request;
use hyper_tungstenite::WebSocketStream;
use hyper_tungstenite::tungstenite::Message;
use hyper_tungstenite::tungstenite::protocol::Role;
use hyper_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use hyper_tungstenite::tungstenite::protocol::frame::{Frame, FrameHeader};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tabs_api::http::testing::{CONTROL_TOKEN, TOKEN, spawn};
use tokio::net::TcpStream;
use triptych_core::host::testing::Running;

type Socket = WebSocketStream<TokioIo<hyper::upgrade::Upgraded>>;

/// Sends one request and gives status and JSON.
async fn send(
    server: &Running,
    method: &str,
    path: &str,
    fields: &[(&str, &str)],
    body: &Value,
) -> (u16, Value) {
    send_text(server.address, method, path, fields, body.to_string()).await
}

async fn send_text(
    address: SocketAddr,
    method: &str,
    path: &str,
    fields: &[(&str, &str)],
    body: String,
) -> (u16, Value) {
    let stream = TcpStream::connect(address).await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection);
    let mut request = Request::builder().method(method).uri(path);
    if !fields.iter().any(|(name, _)| *name == "host") {
        request = request.header("host", "localhost");
    }
    for (name, value) in fields {
        request = request.header(*name, *value);
    }
    let request = request.body(Full::<bytes::Bytes>::from(body)).unwrap();
    let response = sender.send_request(request).await.unwrap();
    let status = response.status().as_u16();
    let bytes = response.into_body().collect().await.unwrap().to_bytes();
    let text = || String::from_utf8_lossy(&bytes).into_owned().into();
    (status, serde_json::from_slice(&bytes).unwrap_or_else(|_| text()))
}

async fn call(server: &Running, operation: &str, arguments: Value) -> Value {
    let token = format!("Bearer {TOKEN}");
    let path = format!("/v1/{}", operation.replace('.', "/"));
    let fields = [("authorization", token.as_str())];
    let (status, reply) = send(server, "POST", &path, &fields, &arguments).await;
    assert_eq!(status, 200, "{reply}");
    reply
}

async fn control(server: &Running, method: &str, path: &str, body: Value) -> (u16, Value) {
    let token = format!("Bearer {CONTROL_TOKEN}");
    let path = format!("/v1/control{path}");
    send(server, method, &path, &[("authorization", &token)], &body).await
}

/// Opens the WebSocket of a token, after the event of `since`.
async fn open(server: &Running, token: &str, since: Option<u64>) -> Socket {
    let stream = TcpStream::connect(server.address).await.unwrap();
    let (mut sender, connection) =
        hyper::client::conn::http1::handshake(TokioIo::new(stream)).await.unwrap();
    tokio::spawn(connection.with_upgrades());
    let since = since.map_or(String::new(), |since| format!("&since={since}"));
    let request = Request::get(format!("/v1/ws?token={token}{since}"))
        .header("host", "localhost")
        .header("connection", "Upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", "dGhlIHNhbXBsZSBub25jZQ==")
        .body(Full::<bytes::Bytes>::default())
        .unwrap();
    let response = sender.send_request(request).await.unwrap();
    assert_eq!(response.status(), 101);
    let upgraded = hyper::upgrade::on(response).await.unwrap();
    WebSocketStream::from_raw_socket(TokioIo::new(upgraded), Role::Client, None).await
}

/// The next frame; on a slow machine there are pings between them.
async fn next(socket: &mut Socket) -> Value {
    loop {
        // Long, so that a machine with much else to do is no failure.
        let wait = tokio::time::timeout(std::time::Duration::from_secs(60), socket.next());
        let message = wait.await.expect("a frame comes").unwrap().unwrap();
        if !message.is_ping() {
            return serde_json::from_str(message.to_text().unwrap()).unwrap();
        }
    }
}

async fn say(socket: &mut Socket, frame: Value) {
    socket.send(Message::text(frame.to_string())).await.unwrap();
}

#[tokio::test]
async fn events_of_a_call_come_before_its_answer_and_in_one_order() {
    let server = spawn().await.unwrap();
    let mut socket = open(&server, TOKEN, None).await;
    assert_eq!(next(&mut socket).await["type"], "hello");
    for id in 0..50 {
        say(
            &mut socket,
            json!({ "id": id, "method": "tabs.create", "params": [{ "active": false }] }),
        )
        .await;
    }
    let (mut answered, mut seq) = (0, 0);
    let mut created = Vec::new();
    while answered < 50 {
        let frame = next(&mut socket).await;
        let now = frame["seq"].as_u64().unwrap();
        assert!(now >= seq, "{frame}");
        seq = now;
        match frame["type"].as_str().unwrap() {
            "event" if frame["name"] == "tabs.onCreated" => {
                created.push(frame["args"][0]["id"].clone());
            }
            "result" => {
                assert_eq!(frame["id"], answered);
                assert!(created.contains(&frame["result"]["id"]), "{frame}");
                answered += 1;
            }
            "event" => {}
            other => panic!("{other}"),
        }
    }
}

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
async fn a_hostile_page_gets_nowhere() {
    let server = spawn().await.unwrap();
    let bearer = format!("Bearer {TOKEN}");
    let good = ("authorization", bearer.as_str());
    for (fields, wanted) in [
        (&[good, ("origin", "https://evil.example")][..], 403),
        (&[good, ("origin", "null")], 403),
        (&[good, ("host", "evil.example")], 403),
        (&[][..], 401),
        (&[("authorization", "Bearer wrong")], 401),
        (&[("content-type", "text/plain")], 401),
        (&[good], 200),
    ] {
        for path in ["/v1/tabs/create", "/v1/windows/getAll"] {
            let (status, _) = send(&server, "POST", path, fields, &json!([])).await;
            let wanted = if wanted == 200 && path.ends_with("create") {
                // An argument is missing: the check of the call has been reached.
                400
            } else {
                wanted
            };
            assert_eq!(status, wanted, "{path} {fields:?}");
        }
    }
    let (status, _) = send(&server, "POST", "/v1/control", &[good], &json!({})).await;
    assert_eq!(status, 401, "an extension's token opens the control side");
    let windows = call(&server, "windows.getAll", json!([])).await;
    assert_eq!(windows["result"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn profiles_are_apart_and_a_reset_puts_one_back() {
    let server = spawn().await.unwrap();
    let profile = json!({ "name": "test", "extensions": [{ "token": "other", "manifest": { "name": "Other" } }] });
    let (status, made) = control(&server, "POST", "/profiles", profile.clone()).await;
    assert_eq!((status, &made["extensions"][0]["token"]), (201, &json!("other")));
    assert_eq!(control(&server, "POST", "/profiles", profile).await.0, 409);
    let other = [("authorization", "Bearer other")];
    let create = json!([{ "url": "https://a.test/" }]);
    assert_eq!(send(&server, "POST", "/v1/tabs/create", &other, &create).await.0, 200);
    let (_, reply) = send(&server, "POST", "/v1/tabs/query", &other, &json!([{}])).await;
    assert_eq!(reply["result"].as_array().unwrap().len(), 2);
    let first = call(&server, "tabs.query", json!([{}])).await;
    assert_eq!(first["result"].as_array().unwrap().len(), 1);
    let reset = control(&server, "POST", "/profiles/test/reset", json!({})).await;
    assert_eq!(reset.0, 200);
    let (_, reply) = send(&server, "POST", "/v1/tabs/query", &other, &json!([{}])).await;
    assert_eq!(reply["result"].as_array().unwrap().len(), 1);
    assert_eq!(control(&server, "DELETE", "/profiles/test", json!({})).await.0, 200);
    let (status, _) = send(&server, "POST", "/v1/tabs/query", &other, &json!([{}])).await;
    assert_eq!(status, 401);
}

#[tokio::test]
async fn events_of_groups_are_for_those_who_have_the_permission() {
    let server = spawn().await.unwrap();
    let install = json!({ "token": "plain", "manifest": { "name": "Plain" } });
    assert_eq!(control(&server, "POST", "/extensions", install).await.0, 201);
    let mut with = open(&server, TOKEN, None).await;
    let mut without = open(&server, "plain", None).await;
    let tab = call(&server, "tabs.query", json!([{}])).await["result"][0]["id"].clone();
    call(&server, "tabs.group", json!([{ "tabIds": [tab] }])).await;
    call(&server, "tabs.create", json!([{ "active": false }])).await;
    for (socket, wanted) in [(&mut with, true), (&mut without, false)] {
        let mut heard = false;
        loop {
            let frame = next(socket).await;
            heard |= frame["name"] == "tabGroups.onCreated";
            if frame["name"] == "tabs.onCreated" {
                break;
            }
        }
        assert_eq!(heard, wanted);
    }
}

#[tokio::test]
async fn arguments_go_by_place_or_by_name() {
    let server = spawn().await.unwrap();
    let by_name = json!({ "createProperties": { "url": "https://a.test/" } });
    let tab = call(&server, "tabs.create", by_name).await;
    let id = tab["result"]["id"].clone();
    loop {
        let by_place = call(&server, "tabs.get", json!([id])).await;
        let by_name = call(&server, "tabs.get", json!({ "tabId": id })).await;
        if by_place["result"] == by_name["result"] {
            break;
        }
        // Its page came between the two calls.
        assert_eq!(by_place["result"]["status"], "loading", "{by_place} and {by_name}");
    }
    let bearer = format!("Bearer {TOKEN}");
    let fields = [("authorization", bearer.as_str())];
    let (status, _) = send(&server, "POST", "/v1/tabs/get", &fields, &json!({ "tab": 1 })).await;
    assert_eq!(status, 400);
}

#[tokio::test]
async fn a_parameter_that_cannot_be_read_is_refused_and_nothing_is_done() {
    let server = spawn().await.unwrap();
    let token = format!("Bearer {TOKEN}");
    let fields = [("authorization", token.as_str())];
    for query in ["style=foo", "style=", "contextTabId=abc", "contextTabId=", "contextTabId=1.5"] {
        let path = format!("/v1/tabs/create?{query}");
        let (status, reply) = send(&server, "POST", &path, &fields, &json!([{}])).await;
        assert_eq!((status, &reply["error"]["name"]), (400, &json!("BadParameter")), "{query}");
    }
    for query in ["since=soon", "since=-1", "session=x", "contextTabId=x"] {
        let path = format!("/v1/events?{query}");
        let (status, reply) = send(&server, "GET", &path, &fields, &Value::Null).await;
        assert_eq!((status, &reply["error"]["name"]), (400, &json!("BadParameter")), "{query}");
    }
    assert_eq!(
        call(&server, "tabs.query", json!([{}])).await["result"].as_array().unwrap().len(),
        1
    );
    let mut socket = open(&server, TOKEN, None).await;
    assert_eq!(next(&mut socket).await["type"], "hello");
    say(&mut socket, json!({ "id": 7, "method": "tabs.create", "params": [], "style": "later" }))
        .await;
    let refused = next(&mut socket).await;
    assert_eq!((&refused["id"], &refused["error"]["name"]), (&json!(7), &json!("BadFrame")));
}

/// The code and the reason with which the service ends a connection after this was written to it.
async fn ended_by(server: &Running, message: Message) -> (u16, String) {
    let mut socket = open(server, TOKEN, None).await;
    next(&mut socket).await;
    // Where it refuses a long frame by its length the rest of it may find nobody.
    let _ = socket.send(message).await;
    loop {
        let wait = tokio::time::timeout(std::time::Duration::from_secs(60), socket.next());
        if let Message::Close(frame) = wait.await.expect("it ends").unwrap().unwrap() {
            let frame = frame.unwrap();
            return (frame.code.into(), frame.reason.as_str().to_owned());
        }
    }
}

#[tokio::test]
async fn a_connection_that_cannot_go_on_ends_with_its_reason() {
    let server = spawn().await.unwrap();
    let long = Message::text("x".repeat(16 * 1024 * 1024 + 1));
    assert_eq!(ended_by(&server, long).await, (1009, "a frame is longer than 16 MiB".into()));
    let binary = Message::binary("{}");
    assert_eq!(ended_by(&server, binary).await, (1003, "frames are texts of JSON".into()));
    let header = FrameHeader { opcode: OpCode::Data(Data::Text), ..FrameHeader::default() };
    let no_text = Message::Frame(Frame::from_payload(header, bytes::Bytes::from_static(b"\xff")));
    assert_eq!(ended_by(&server, no_text).await, (1007, "a text is not UTF-8".into()));
}

/// Sends a text and gives the answer to it.
async fn answer_to(socket: &mut Socket, text: &str) -> Value {
    socket.send(Message::text(text)).await.unwrap();
    loop {
        let frame = next(socket).await;
        if frame.get("type").is_none_or(|kind| kind != "event") {
            return frame;
        }
    }
}

#[tokio::test]
async fn a_frame_that_cannot_be_read_is_answered_with_its_id() {
    let server = spawn().await.unwrap();
    let mut socket = open(&server, TOKEN, None).await;
    assert_eq!(next(&mut socket).await["type"], "hello");
    let deep = "[".repeat(600) + &"]".repeat(600);
    for text in [
        r#"{"id": 7, "type": "attach", "tabId": 1, "frameId": -1}"#.to_owned(),
        r#"{"id": 7, "method": 1}"#.to_owned(),
        r#"{"id": 7, "method": "tabs.query""#.to_owned(),
        format!(r#"{{"method": "tabs.query", "params": {deep}, "id": 7}}"#),
    ] {
        let answer = answer_to(&mut socket, &text).await;
        assert_eq!((&answer["id"], &answer["error"]["name"]), (&json!(7), &json!("BadFrame")));
    }
    assert_eq!(answer_to(&mut socket, "no JSON").await["id"], Value::Null);
    for text in [
        r#"{"id": 8, "method": "tabs.query", "params": [{}], "context": null, "style": null}"#,
        r#"{"id": 8, "method": "tabs.query", "params": [{"title": "\ud800"}]}"#,
    ] {
        let answer = answer_to(&mut socket, text).await;
        assert_eq!((&answer["id"], &answer["type"]), (&json!(8), &json!("result")), "{answer}");
    }
}

/// Sends a body as it is, and gives status and answer.
async fn post(server: &Running, operation: &str, body: String) -> (u16, Value) {
    let token = format!("Bearer {TOKEN}");
    let path = format!("/v1/{}", operation.replace('.', "/"));
    let fields = [("authorization", token.as_str())];
    send_text(server.address, "POST", &path, &fields, body).await
}

#[tokio::test]
async fn a_body_is_read_as_a_frame_is() {
    let server = spawn().await.unwrap();
    let nested = |depth: usize| {
        let (start, end) = ("[".repeat(depth), "]".repeat(depth));
        format!(r#"{{"tabId": 1, "message": {start}{end}}}"#)
    };
    let no_receiver = "Could not establish connection. Receiving end does not exist.";
    let (status, reply) = post(&server, "tabs.sendMessage", nested(400)).await;
    assert_eq!((status, &reply["error"]["message"]), (422, &json!(no_receiver)));
    let (status, reply) = post(&server, "tabs.sendMessage", nested(600)).await;
    assert_eq!((status, &reply["error"]["name"]), (400, &json!("BadBody")));
    let (status, reply) = post(&server, "tabs.query", r#"[{"title": "\udc00"}]"#.into()).await;
    assert_eq!((status, &reply["result"]), (200, &json!([])));
    let twice = r#"[{"url": "https://a.test/", "url": "https://b.test/"}]"#;
    let (_, reply) = post(&server, "tabs.create", twice.into()).await;
    assert_eq!(reply["result"]["pendingUrl"], "https://b.test/");
}

#[tokio::test]
async fn a_port_is_opened_by_its_own_frame_alone_and_has_a_name_of_its_own() {
    let server = spawn().await.unwrap();
    let tab = call(&server, "tabs.query", json!([{}])).await["result"][0]["id"].clone();
    let (status, reply) = post(&server, "tabs.connect", json!([tab]).to_string()).await;
    assert_eq!((status, &reply["error"]["name"]), (400, &json!("NeedsPortOpen")));
    assert!(reply["error"]["message"].as_str().unwrap().contains("port.open"), "{reply}");
    let mut socket = open(&server, TOKEN, None).await;
    assert_eq!(next(&mut socket).await["type"], "hello");
    let by_method = json!({ "id": 1, "method": "tabs.connect", "params": [tab] });
    let answer = answer_to(&mut socket, &by_method.to_string()).await;
    assert!(answer["error"]["message"].as_str().unwrap().contains("port.open"), "{answer}");
    let complete =
        json!({ "id": 2, "method": "tabs.create", "params": [{ "url": "https://a.test/" }] });
    say(&mut socket, complete).await;
    let loaded = loop {
        let frame = next(&mut socket).await;
        if frame["name"] == "tabs.onUpdated" && frame["args"][1]["status"] == "complete" {
            break frame["args"][0].clone();
        }
    };
    let attach = json!({ "id": 3, "type": "attach", "tabId": loaded }).to_string();
    assert_eq!(answer_to(&mut socket, &attach).await["type"], "result");
    let first = json!({ "id": 4, "type": "port.open", "port": "p", "params": [loaded, { "name": "first" }] });
    assert_eq!(answer_to(&mut socket, &first.to_string()).await["name"], "first");
    let answer = answer_to(&mut socket, &first.to_string()).await;
    assert_eq!((&answer["id"], &answer["error"]["name"]), (&json!(4), &json!("BadFrame")));
}

#[tokio::test]
async fn the_schema_can_be_asked_for_without_its_body() {
    let server = spawn().await.unwrap();
    let asked = |method| send(&server, method, "/v1/schema", &[], &Value::Null);
    assert_eq!(asked("HEAD").await, (200, json!("")));
    assert_eq!(asked("POST").await.0, 405);
}

/// Installs an extension, and gives its id and token.
async fn install(server: &Running, body: Value) -> (String, String) {
    let (status, made) = control(server, "POST", "/extensions", body).await;
    assert_eq!(status, 201, "{made}");
    let text = |name: &str| made.get(name).and_then(Value::as_str).unwrap().to_owned();
    (text("id"), text("token"))
}

/// The reason with which the service ends a connection.
async fn end_of(socket: &mut Socket) -> String {
    loop {
        let wait = tokio::time::timeout(std::time::Duration::from_secs(60), socket.next());
        if let Message::Close(frame) = wait.await.expect("it ends").unwrap().unwrap() {
            return frame.unwrap().reason.as_str().to_owned();
        }
    }
}

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
    assert_eq!(end_of(&mut socket).await, reason);
    let mut socket = open(&server, &second, None).await;
    assert_eq!(next(&mut socket).await["type"], "hello");
    let (status, _) = control(&server, "DELETE", &format!("/extensions/{id}"), json!({})).await;
    assert_eq!((status, end_of(&mut socket).await.as_str()), (200, reason));
    say(&mut other, json!({ "id": 1, "method": "tabs.query", "params": [{}] })).await;
    assert_eq!(next(&mut other).await["type"], "result", "nobody else's ends");
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

/// The next event of a name.
async fn next_event(socket: &mut Socket, name: &str) -> Value {
    loop {
        let frame = next(socket).await;
        if frame["name"] == name {
            return frame;
        }
    }
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

#[tokio::test]
async fn pages_load_though_the_clock_was_put_back() {
    let server = spawn().await.unwrap();
    let day = 86_400_000;
    server.clock.advance_millis(day);
    let since = call(&server, "tabs.query", json!([{}])).await["seq"].as_u64();
    let before = call(&server, "tabs.create", json!([{ "url": "http://a.test/" }])).await;
    server.clock.advance_millis(-day);
    call(&server, "tabs.create", json!([{ "url": "http://b.test/" }])).await;
    server.clock.set(triptych_core::time::Timestamp::from_seconds(1_000_000_000));
    let after = call(&server, "tabs.create", json!([{ "url": "http://c.test/" }])).await;
    let accessed = |tab: &Value| tab["result"]["lastAccessed"].as_f64().unwrap();
    assert!(accessed(&before) <= accessed(&after), "{before} and {after}");
    let mut socket = open(&server, TOKEN, since).await;
    for _ in 0..3 {
        while next_event(&mut socket, "tabs.onUpdated").await["args"][1]["status"] != "complete" {}
    }
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
