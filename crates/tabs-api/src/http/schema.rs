//! The schema of the service: operations from their rows, events and constants.

use serde_json::{Value, json};

use crate::browser::event::EVENT_NAMES;
use crate::operation::{OPERATIONS, Operation};

/// The operations, the events and the constants, for clients that look before they call.
pub(super) fn schema() -> Value {
    json!({
        "operations": OPERATIONS.iter().map(Operation::describe).collect::<Vec<_>>(),
        "events": EVENT_NAMES,
        "constants": {
            "tabs": {
                "MAX_CAPTURE_VISIBLE_TAB_CALLS_PER_SECOND": crate::browser::captures::MAX_CAPTURE_VISIBLE_TAB_CALLS_PER_SECOND,
                "TAB_ID_NONE": crate::id::TAB_ID_NONE,
                "TAB_INDEX_NONE": crate::id::TAB_INDEX_NONE,
            },
            "windows": {
                "WINDOW_ID_NONE": crate::id::WINDOW_ID_NONE,
                "WINDOW_ID_CURRENT": crate::id::WINDOW_ID_CURRENT,
            },
            "tabGroups": { "TAB_GROUP_ID_NONE": crate::id::GROUP_ID_NONE },
        },
    })
}
