//! Frames and bodies: what cannot be read, what ends a connection, and ports.

use hyper_tungstenite::tungstenite::protocol::frame::coding::{Data, OpCode};
use hyper_tungstenite::tungstenite::protocol::frame::{Frame, FrameHeader};

use super::*;

/// The code and the reason with which the service ends a connection after this was written to it.
async fn ended_by(server: &Running, message: Message) -> (u16, String) {
    let mut socket = open(server, TOKEN, None).await;
    next(&mut socket).await;
    // Where it refuses a long frame by its length the rest of it may find nobody.
    let _ = socket.send(message).await;
    end_of(&mut socket).await
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
