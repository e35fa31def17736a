//! The frames that a client is sent, as bytes.

use hyper_tungstenite::tungstenite::Utf8Bytes;
use serde::Serialize;
use serde_json::{Value, json};

use crate::browser::Answer;
use crate::browser::event::ShownEvent;
use crate::browser::script_event::{ScriptEvent, ScriptLocation};
use crate::error::Error;
use crate::id::ScriptId;

/// The frame of an event.
#[derive(Serialize)]
pub(super) struct EventFrame<'e> {
    #[serde(rename = "type")]
    pub(super) kind: &'static str,
    pub(super) name: &'static str,
    pub(super) args: ShownEvent<'e>,
    /// For clients whose listeners say which types of windows they hear of.
    #[serde(rename = "windowType", skip_serializing_if = "Option::is_none")]
    pub(super) window_type: Option<&'static str>,
    pub(super) seq: u64,
}

/// The frame that answers a call with a value, or with the absence of one.
#[derive(Serialize)]
struct ResultFrame<'r> {
    #[serde(rename = "type")]
    kind: &'static str,
    id: &'r Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<&'r Answer>,
    seq: u64,
}

/// The bytes of a frame.
pub(super) fn written(frame: &impl Serialize) -> Utf8Bytes {
    // Texts, numbers and views of the browser always serialize.
    serde_json::to_string(frame).unwrap_or_default().into()
}

pub(super) fn closed(port: &str, error: Option<&str>) -> Utf8Bytes {
    written(&json!({ "type": "port.close", "port": port, "error": error }))
}

/// The frame of an event of a content script.
pub(super) fn script(extension: &str, script: ScriptId, event: &ScriptEvent) -> Utf8Bytes {
    let endpoint = endpoint(script);
    // The browser names no more of the sender where an extension's worker writes to a tab.
    let sender = json!({ "id": extension });
    written(&match event {
        ScriptEvent::Started { location, files } => {
            let mut frame = running(script, location);
            if let Some(members) = frame.as_object_mut() {
                members.insert("type".into(), "script.run".into());
                members.insert("files".into(), json!(files));
            }
            frame
        }
        ScriptEvent::Ended => json!({ "type": "script.gone", "endpoint": endpoint }),
        ScriptEvent::Message { request, message } => {
            json!({ "type": "message", "endpoint": endpoint, "request": request.0, "message": message, "sender": sender })
        }
        ScriptEvent::PortOpened { port, name } => {
            json!({ "type": "port.open", "endpoint": endpoint, "port": port, "name": name, "sender": sender })
        }
        ScriptEvent::PortMessage { port, message } => {
            json!({ "type": "port.message", "endpoint": endpoint, "port": port, "message": message })
        }
        ScriptEvent::PortClosed { port } => {
            json!({ "type": "port.close", "endpoint": endpoint, "port": port, "error": null })
        }
    })
}

/// A content script as a client knows it: its name, and where it runs.
pub(super) fn running(script: ScriptId, location: &ScriptLocation) -> Value {
    json!({
        "endpoint": endpoint(script),
        "tabId": location.tab.0,
        "frameId": location.frame,
        "documentId": location.document,
        "url": location.url,
    })
}

/// The client's name for a content script.
fn endpoint(script: ScriptId) -> String {
    format!("s{}", script.0)
}

/// The content script of a client's name for it.
pub(in crate::http) fn script_of(endpoint: &str) -> Option<ScriptId> {
    endpoint.strip_prefix('s')?.parse().ok().map(ScriptId)
}

/// The frame that answers a call.
pub(super) fn reply(id: &Value, seq: u64, answer: &Result<Answer, Error>) -> Utf8Bytes {
    match answer {
        Ok(answer) => written(&ResultFrame {
            kind: "result",
            id,
            result: answer.is_value().then_some(answer),
            seq,
        }),
        Err(error) => {
            let (kind, name) =
                if error.is_thrown() { ("throw", "TypeError") } else { ("reject", "Error") };
            let error = json!({ "kind": kind, "name": name, "message": error.to_string() });
            written(&json!({ "type": "error", "id": id, "error": error, "seq": seq }))
        }
    }
}
