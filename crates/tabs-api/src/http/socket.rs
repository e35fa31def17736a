//! One WebSocket: calls in; answers, events and port messages out, in the order in which they happened.

use std::time::Duration;

use futures_util::{FutureExt, SinkExt, StreamExt};
use hyper_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use hyper_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use hyper_tungstenite::tungstenite::{Error, Message};
use hyper_tungstenite::{HyperWebsocket, HyperWebsocketStream};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::AsyncReadExt;
use triptych_core::host::Stopping;

use super::profile::{Listener, ScriptAction, script_of};
use super::refusal::Refusal;
use super::request::{PORT_OPENER, opens_port};
use crate::browser::messaging::ScriptReply;
use crate::id::{RequestId, TabId, WindowId};
use crate::js_value::JsValue;
use crate::json_text;
use crate::operation::{Asked, Caller, Context, Style};

/// Frames that are written before the next look at what arrives.
const FRAMES_AT_ONCE: usize = 256;
/// The interval at which a silent client is asked whether it is there, and the time that it may take to read.
const PING: Duration = Duration::from_secs(30);

/// The bounds of a connection: a message of a page may be large, but not endless.
pub(super) fn config() -> WebSocketConfig {
    WebSocketConfig::default()
        .read_buffer_size(8 * 1024)
        .write_buffer_size(16 * 1024)
        .max_message_size(Some(super::BODY_BYTES_MAX))
        .max_frame_size(Some(super::BODY_BYTES_MAX))
}

/// A frame of a client.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Frame {
    #[serde(default)]
    id: Value,
    #[serde(rename = "type")]
    kind: Option<String>,
    method: Option<String>,
    #[serde(default)]
    params: Option<JsValue>,
    context: Option<CallerContext>,
    #[serde(default)]
    style: Option<String>,
    port: Option<String>,
    message: Option<JsValue>,
    /// The content script that does something.
    endpoint: Option<String>,
    /// The message that it answers.
    request: Option<u64>,
    value: Option<JsValue>,
    error: Option<String>,
    tab_id: Option<i64>,
    frame_id: Option<u32>,
}

/// The origin of a call: an extension page in a tab, the popup of a window, or neither.
#[derive(Deserialize, Default, Clone, Copy)]
#[serde(rename_all = "camelCase")]
struct CallerContext {
    tab_id: Option<i64>,
    window_id: Option<i64>,
}

impl From<CallerContext> for Context {
    fn from(context: CallerContext) -> Self {
        match (context.tab_id, context.window_id) {
            (Some(tab), _) => Self::Page(TabId(tab)),
            (None, Some(window)) => Self::Popup(WindowId(window)),
            (None, None) => Self::Worker,
        }
    }
}

/// Speaks with one client until it goes or the server stops.
pub(super) async fn serve(
    socket: HyperWebsocket,
    mut listener: Listener,
    extension: String,
    hello: Value,
    stopping: Stopping,
) {
    let Ok(mut socket) = socket.await else { return };
    if socket.send(Message::text(hello.to_string())).await.is_err() {
        return;
    }
    let mut alive = true;
    let mut ping = tokio::time::interval(PING);
    ping.reset();
    loop {
        let frames = listener.take(FRAMES_AT_ONCE);
        let is_full = frames.len() == FRAMES_AT_ONCE;
        if !frames.is_empty() {
            let write = async {
                for frame in frames {
                    socket.feed(Message::Text(frame)).await?;
                }
                socket.flush().await
            };
            match tokio::time::timeout(PING, write).await {
                Ok(Ok(())) => {}
                // It is gone, or does not read.
                _ => return,
            }
        }
        if is_full {
            continue;
        }
        if let Some(reason) = listener.end() {
            return end(&mut socket, CloseCode::Away, reason).await;
        }
        tokio::select! {
            received = socket.next() => {
                alive = true;
                let mut received = received;
                // What a client sent in one go is answered in one go.
                for _ in 0..FRAMES_AT_ONCE {
                    match received {
                        Some(Ok(Message::Text(text))) => on_frame(&listener, &extension, text.as_str()),
                        Some(Ok(Message::Close(_))) | None => return,
                        Some(Ok(Message::Binary(_))) => {
                            let reason = "frames are texts of JSON";
                            return end(&mut socket, CloseCode::Unsupported, reason).await;
                        }
                        Some(Err(error)) => {
                            drop(listener);
                            return end_unreadable(&mut socket, &error, &stopping).await;
                        }
                        Some(Ok(_)) => {}
                    }
                    match socket.next().now_or_never() {
                        Some(next) => received = next,
                        None => break,
                    }
                }
            }
            () = listener.changed() => {}
            () = stopping.stopped() => {
                return end(&mut socket, CloseCode::Away, "the server stops").await;
            }
            _ = ping.tick() => {
                if !std::mem::take(&mut alive) || socket.send(Message::Ping(bytes::Bytes::new())).await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Ends a conversation. Whether the client still hears why does not matter.
async fn end(socket: &mut HyperWebsocketStream, code: CloseCode, reason: &'static str) {
    let reason = CloseFrame { code, reason: reason.into() };
    let _ = socket.close(Some(reason)).await;
}

/// Ends a conversation in which something came that is no frame to be read, and says what it was.
async fn end_unreadable(socket: &mut HyperWebsocketStream, error: &Error, stopping: &Stopping) {
    match error {
        Error::Capacity(_) => {
            end(socket, CloseCode::Size, "a frame is longer than 16 MiB").await;
            // What the client still writes is taken: a connection that ends with unread bytes is reset, and the reason is lost with it.
            let rest = async {
                let mut piece = [0; 8 * 1024];
                while socket.get_mut().read(&mut piece).await.is_ok_and(|count| count > 0) {}
            };
            tokio::select! {
                _ = tokio::time::timeout(PING, rest) => {}
                () = stopping.stopped() => {}
            }
        }
        Error::Utf8(_) => end(socket, CloseCode::Invalid, "a text is not UTF-8").await,
        Error::Protocol(_) => {
            end(socket, CloseCode::Protocol, "a frame is none of a WebSocket client's").await;
        }
        // It is gone.
        _ => {}
    }
}

fn on_frame(listener: &Listener, extension: &str, text: &str) {
    if listener.end().is_some() {
        // Whoever holds its token by now, this client does not speak for it.
        return;
    }
    let frame: Frame = match json_text::read(text.as_bytes()) {
        Ok(frame) => frame,
        Err(error) => {
            let reason = format!("the frame cannot be read: {error}");
            return listener.refuse(&json_text::id_of(text.as_bytes()), "BadFrame", &reason);
        }
    };
    if frame.endpoint.is_some() {
        return on_script_frame(listener, frame);
    }
    let caller = Caller {
        extension: extension.to_owned(),
        context: frame.context.unwrap_or_default().into(),
    };
    let Some(style) = Style::named(frame.style.as_deref()) else {
        return listener.refuse(&frame.id, "BadFrame", "style is callback or promise");
    };
    let given = match frame.params.map(JsValue::with_special_values) {
        Some(JsValue::Array(given)) => given,
        None => Vec::new(),
        Some(_) => return listener.refuse(&frame.id, "BadFrame", "params is a list"),
    };
    match (frame.kind.as_deref(), frame.method, frame.port) {
        (None | Some("call"), Some(method), _) => {
            if opens_port(&method, &given, style) {
                let reason = Refusal::NeedsPortOpen.to_string();
                return listener.refuse(&frame.id, "BadFrame", &reason);
            }
            listener.call(&frame.id, &caller, Asked { name: &method, given: &given, style });
        }
        (Some("port.open"), _, Some(port)) => {
            let asked = Asked { name: PORT_OPENER, given: &given, style };
            listener.open_port(&frame.id, &port, &caller, asked);
        }
        (Some("port.message"), _, Some(port)) => {
            let message = frame.message.unwrap_or(JsValue::Null).with_special_values();
            listener.post(&port, &message);
        }
        (Some("port.close"), _, Some(port)) => listener.close_port(&port),
        (Some("scripts"), ..) => listener.host_scripts(&frame.id),
        (Some("attach"), ..) => match frame.tab_id {
            Some(tab) => listener.attach(&frame.id, tab, frame.frame_id.unwrap_or_default()),
            None => listener.refuse(&frame.id, "BadFrame", "attach names a tabId"),
        },
        _ => listener.refuse(
            &frame.id,
            "BadFrame",
            "a frame names a method, or a type that is known",
        ),
    }
}

/// A frame of a content script.
fn on_script_frame(listener: &Listener, frame: Frame) {
    let Some(script) = frame.endpoint.as_deref().and_then(script_of) else {
        return listener.refuse(&frame.id, "BadFrame", "there is no such endpoint");
    };
    let value = |value: Option<JsValue>| value.unwrap_or(JsValue::Null).with_special_values();
    let reply = match frame.kind.as_deref() {
        Some("message.reply") => Some(ScriptReply::Value(value(frame.value).to_json())),
        Some("message.error") => Some(ScriptReply::Threw(frame.error.unwrap_or_default())),
        Some("message.none") => Some(ScriptReply::None),
        Some("message.later") => Some(ScriptReply::Later),
        _ => None,
    };
    let act = match (frame.kind.as_deref(), reply, frame.request, frame.port) {
        (_, Some(reply), Some(request), _) => ScriptAction::Reply(RequestId(request), reply),
        (Some("port.message"), _, _, Some(port)) => ScriptAction::Post(port, value(frame.message)),
        (Some("port.close"), _, _, Some(port)) => ScriptAction::Disconnect(port),
        (Some("detach"), ..) => return listener.detach(&frame.id, script),
        _ => {
            let reason = "a content script answers a request, uses a port, or detaches";
            return listener.refuse(&frame.id, "BadFrame", reason);
        }
    };
    listener.act(script, act);
}

/// The first frame of a connection.
pub(super) fn hello(listener: &Listener, id: &str, manifest: &Value) -> Value {
    json!({
        "type": "hello",
        "extension": { "id": id, "manifest": manifest },
        "session": listener.session.to_string(),
        "seq": listener.position(),
    })
}
