//! The content script that the recorded extension had; its answers are written down in the fixtures.

use std::time::Duration;

use serde_json::{Value, json};
use url::Url;

use crate::engine::simulated::{PageScript, PortReaction};
use crate::engine::{Frame, Reply};

/// The time that its answers take, and that of the late ones.
const AT_ONCE: Duration = Duration::from_millis(1);
const LATE: Duration = Duration::from_millis(150);

/// The recorded extension's content script.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordedContentScript;

impl PageScript for RecordedContentScript {
    fn on_message(&self, frame: &Frame, message: &Value) -> Option<(Duration, Reply)> {
        let is_top = frame.number == 0;
        // The extension's own page listens, and answers nothing.
        if frame.url.starts_with("chrome-extension://") {
            return Some((AT_ONCE, Reply::NoResponse));
        }
        let reply = match message.get("cmd").and_then(Value::as_str) {
            Some("never") => return None,
            Some("async") => {
                let late = json!({ "late": true, "top": is_top });
                return Some((LATE, Reply::Value(late)));
            }
            Some("none") => Reply::NoResponse,
            Some("undefined" | "null") => Reply::Value(Value::Null),
            Some("throw") => Reply::Threw("boom".into()),
            Some("promise") => Reply::Value(json!({ "promised": true })),
            Some("toponly") if is_top => Reply::Value(json!({ "top": true })),
            Some("toponly") => Reply::NoResponse,
            Some("echo") => {
                let path =
                    Url::parse(&frame.url).map_or_else(|_| "/".into(), |url| url.path().to_owned());
                Reply::Value(
                    json!({ "echo": message, "path": path, "senderHasTab": false, "top": is_top }),
                )
            }
            _ => Reply::Value(json!({ "got": message, "top": is_top, "type": type_of(message) })),
        };
        Some((AT_ONCE, reply))
    }

    fn on_connect(&self, frame: &Frame, name: &str) -> Value {
        json!({ "hello": name, "top": frame.number == 0 })
    }

    fn on_port_message(&self, frame: &Frame, message: &Value) -> PortReaction {
        if message.get("cmd").and_then(Value::as_str) == Some("disconnect") {
            return PortReaction::Closes;
        }
        PortReaction::Posts(json!({ "echo": message, "top": frame.number == 0 }))
    }
}

const fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null | Value::Array(_) | Value::Object(_) => "object",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
    }
}
