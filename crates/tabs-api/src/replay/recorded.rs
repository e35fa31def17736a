//! The content script that the recorded extension had; its answers are written down in the fixtures.

use std::time::Duration;

use serde_json::{Value, json};
use url::Url;

use crate::engine::simulated::{PageScript, PortReaction};
use crate::engine::{Frame, Reply};

/// The file of the recorded extension that listens; the others are modules, of which none runs in a page.
pub(super) const CONTENT_SCRIPT: &str = "content.js";
/// The time that its answers take, and that of the late ones.
const AT_ONCE: Duration = Duration::from_millis(1);
const LATE: Duration = Duration::from_millis(150);

/// The recorded extension's content script.
#[derive(Debug, Clone, Copy)]
pub(super) struct RecordedContentScript;

impl PageScript for RecordedContentScript {
    fn listens(&self, frame: &Frame) -> bool {
        is_own_page(frame) || frame.files.iter().any(|file| file == CONTENT_SCRIPT)
    }

    fn on_message(&self, frame: &Frame, message: &Value) -> Option<(Duration, Reply)> {
        let is_top = frame.number == 0;
        // The extension's own page listens, and answers nothing.
        if is_own_page(frame) {
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

fn is_own_page(frame: &Frame) -> bool {
    frame.url.starts_with("chrome-extension://")
}

const fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null | Value::Array(_) | Value::Object(_) => "object",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
    }
}

/// The icon of new tabs in the incognito windows of the recorded browser.
pub(super) const INCOGNITO_ICON: &str = "data:image/svg+xml;base64,PHN2ZyB4bWxucz0iaHR0cDovL3d3dy53My5vcmcvMjAwMC9zdmciIGhlaWdodD0iMjQiIHZpZXdCb3g9IjAgMCAyNCAyNCIgd2lkdGg9IjI0IiBmaWxsPSIjNDU1QTY0Ij48cGF0aCBmaWxsPSJub25lIiBkPSJNMCAwaDI0djI0SDB6Ii8+PHBhdGggZD0iTTMgMTFoMTh2MUgzem0xNC42Mi0xLTIuMjktNi4xYy0uMTktLjUtLjc0LS43Ny0xLjI1LS42TDEyIDRsLTIuMDktLjdjLS41MS0uMTctMS4wNi4xLTEuMjUuNkw2LjM4IDEwaDExLjI0em0tMS4xMiAzYy0xLjY2IDAtMy4wNCAxLjE2LTMuNCAyLjcxLS44NC0uMzYtMS42Mi0uMjYtMi4yLS4wMUEzLjUwMyAzLjUwMyAwIDAgMCA3LjUgMTNDNS41NyAxMyA0IDE0LjU3IDQgMTYuNVM1LjU3IDIwIDcuNSAyMGMxLjg0IDAgMy4zMy0xLjQyIDMuNDctMy4yMi4zLS4yMSAxLjA5LS42IDIuMDYuMDIuMTYgMS43OSAxLjY0IDMuMiAzLjQ3IDMuMiAxLjkzIDAgMy41LTEuNTcgMy41LTMuNVMxOC40MyAxMyAxNi41IDEzem0tOSA2YTIuNSAyLjUgMCAwIDEgMC01IDIuNSAyLjUgMCAwIDEgMCA1em05IDBhMi41IDIuNSAwIDAgMSAwLTUgMi41IDIuNSAwIDAgMSAwIDV6Ii8+PC9zdmc+";
