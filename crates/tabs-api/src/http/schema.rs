//! What the service says of itself: operations from the one table, events and constants.

use serde_json::{Value, json};

use crate::operation::{OPERATIONS, Operation};

/// The events that a client can listen to.
const EVENTS: &[&str] = &[
    "tabs.onActivated",
    "tabs.onAttached",
    "tabs.onCreated",
    "tabs.onDetached",
    "tabs.onHighlighted",
    "tabs.onMoved",
    "tabs.onRemoved",
    "tabs.onReplaced",
    "tabs.onUpdated",
    "tabs.onZoomChange",
    "windows.onCreated",
    "windows.onRemoved",
    "windows.onFocusChanged",
    "tabGroups.onCreated",
    "tabGroups.onUpdated",
    "tabGroups.onMoved",
    "tabGroups.onRemoved",
];

/// What a client may know before it calls: the one table, the events and the constants.
pub(super) fn schema() -> Value {
    json!({
        "operations": OPERATIONS.iter().map(Operation::describe).collect::<Vec<_>>(),
        "events": EVENTS,
        "constants": {
            "tabs": {
                "MAX_CAPTURE_VISIBLE_TAB_CALLS_PER_SECOND": crate::browser::captures::MAX_CAPTURE_VISIBLE_TAB_CALLS_PER_SECOND,
                "TAB_ID_NONE": crate::browser::tab::TAB_ID_NONE,
                "TAB_INDEX_NONE": crate::browser::tab::TAB_INDEX_NONE,
            },
            "windows": {
                "WINDOW_ID_NONE": -1,
                "WINDOW_ID_CURRENT": crate::browser::window::WINDOW_ID_CURRENT,
            },
            "tabGroups": { "TAB_GROUP_ID_NONE": crate::browser::group::GROUP_ID_NONE },
        },
    })
}
