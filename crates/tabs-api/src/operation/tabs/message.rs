//! Messages to content scripts: sendMessage and connect.

use serde_json::{Value, json};

use crate::browser::messaging::{FrameFilter, MessageSender};
use crate::browser::{Answer, Browser};
use crate::error::Error;
use crate::id::{TAB_ID_NONE, TabId};
use crate::js_value::JsValue;
use crate::operation::call::{Call, Context, Style};
use crate::operation::row::Operation;
use crate::operation::schema::shared::{ID, RECEIVER};
use crate::operation::schema::{Parameter, Property, Schema};

pub(in crate::operation) const SEND_MESSAGE: Operation = Operation::new(
    "tabs.sendMessage",
    &[
        Parameter::required("tabId", ID),
        Parameter::required("message", Schema::Message),
        Parameter::optional("options", Schema::Object(RECEIVER)),
    ],
    send_message,
    "Sends a message to the content scripts of a tab; the first answer is the result.",
)
.changing_nothing();

/// Sends a message: the first answer of any frame is the result.
fn send_message(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let message = call.arguments.at(1).map_or(Value::Null, JsValue::to_json);
    let sender = MessageSender {
        page: match call.caller.context {
            Context::Page(tab) => Some(tab),
            Context::Worker | Context::Popup(_) => None,
        },
        needs_answer: call.style == Style::Callback,
    };
    let (extension, filter) = (&call.caller.extension, frame_filter(call, 2));
    let request = browser.send_message(extension, tab(browser, call), filter, message, sender)?;
    Ok(Answer::Later(request))
}

pub(in crate::operation) const CONNECT: Operation = Operation::without_callback(
    "tabs.connect",
    &[
        Parameter::required("tabId", ID),
        Parameter::optional(
            "connectInfo",
            Schema::Object(&[
                Property::optional("name", Schema::String),
                Property::optional("frameId", Schema::at_least(0)),
                Property::optional("documentId", Schema::String),
            ]),
        ),
    ],
    connect,
    "A port to the content scripts of a tab.",
)
.changing_nothing();

/// Opens a port, which is there at once.
fn connect(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let name = call.text(1, "name").unwrap_or_default();
    let (tab, filter) = (tab(browser, call), frame_filter(call, 1));
    let port = browser.connect(&call.caller.extension, tab, filter, name);
    Ok(Answer::Value(json!({ "name": name, "sender": null, "port": port })))
}

/// The tab that a call names. One that the caller does not see is none.
fn tab(browser: &Browser, call: &Call<'_>) -> TabId {
    let id = call.arguments.integer(0).unwrap_or(TAB_ID_NONE);
    call.tab(browser, id).map_or(TabId(TAB_ID_NONE), |tab| tab.id)
}

fn frame_filter<'c>(call: &'c Call<'_>, options: usize) -> FrameFilter<'c> {
    FrameFilter {
        frame: call.number(options, "frameId"),
        document: call.text(options, "documentId"),
    }
}
