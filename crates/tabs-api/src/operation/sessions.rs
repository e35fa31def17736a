//! The operations of `sessions`: what was closed, and its return.

use serde_json::{Value, json};

use crate::browser::closed::{CLOSED_MAX, Restored};
use crate::browser::{Answer, Browser};
use crate::error::Error;
use crate::operation::call::Call;
use crate::operation::row::Operation;
use crate::operation::schema::{Parameter, Property, Schema};

const FILTER: Parameter = Parameter::optional(
    "filter",
    Schema::Named(
        "sessions.Filter",
        &Schema::Object(&[Property::optional(
            "maxResults",
            Schema::Integer { min: Some(0), max: Some(25) },
        )]),
    ),
);

pub(super) const GET_RECENTLY_CLOSED: Operation = Operation::new(
    "sessions.getRecentlyClosed",
    &[FILTER],
    get_recently_closed,
    "The tabs and windows that were closed last, the latest first.",
)
.question();

/// The number of entries that a call asks for.
fn count(call: &Call<'_>) -> usize {
    let count = call.number(0, "maxResults").and_then(|count| usize::try_from(count).ok());
    count.unwrap_or(CLOSED_MAX)
}

fn get_recently_closed(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let closed = browser.recently_closed(count(call), &call.access(browser));
    Ok(Answer::Value(closed.into()))
}

pub(super) const GET_DEVICES: Operation = Operation::new(
    "sessions.getDevices",
    &[FILTER],
    get_devices,
    "The other devices of the user, with the pages that are open there.",
)
.question();

fn get_devices(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    Ok(Answer::Value(Value::Array(browser.devices(count(call), &call.access(browser)))))
}

pub(super) const RESTORE: Operation = Operation::new(
    "sessions.restore",
    &[Parameter::optional("sessionId", Schema::String)],
    restore,
    "Opens a tab or a window again: that of the session, or the one that was closed last.",
);

fn restore(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    browser.check_not_dragging()?;
    let current = call.current_window(browser)?;
    let session = call.arguments.at(0).and_then(crate::js_value::JsValue::text);
    let elsewhere = match session {
        Some(session) => browser.open_from_device(session, current)?,
        None => None,
    };
    let (restored, closed_at) = match elsewhere {
        Some(opened) => opened,
        None => browser.restore_closed(session)?,
    };
    let access = call.access(browser);
    let (name, shown) = match restored {
        Restored::Tab(id) => {
            let view = browser.view(id).ok_or(Error::NoTab(id.0))?;
            ("tab", json!(view.seen_by(&access)))
        }
        Restored::Window(id) => {
            let mut view = browser.window_view(browser.window(id)?, true, &access);
            // As with every new window: it has not got the focus yet.
            view.focused = false;
            ("window", json!(view))
        }
        // It is there, and the call fails all the same (measured): the browser finds none of the tabs that their groups bring back.
        Restored::Groups(_) => return Err(Error::NoActiveTab),
    };
    Ok(Answer::Value(json!({ "lastModified": closed_at.seconds(), name: shown })))
}
