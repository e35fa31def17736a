//! The schema of the service: operations from their rows, events and constants.

use serde_json::{Value, json};

use crate::browser::Compat;
use crate::browser::event::{EVENT_NAMES, NAMES_BY_WINDOW_TYPE};
use crate::operation::OPERATIONS;
use crate::operation::enumeration::{constant_name, enumerations};
use crate::version::BrowserVersion;

/// The operations, the events and the constants that a browser of this version has, and the version that each item came with, for clients
/// that look before they call; bounds are those of the authority that counts.
pub(super) fn schema(version: BrowserVersion, compat: Compat) -> Value {
    let operations = OPERATIONS.iter().filter(|row| version.has(row.name));
    let events: Vec<_> = EVENT_NAMES.iter().filter(|name| version.has(name)).collect();
    let filters =
        NAMES_BY_WINDOW_TYPE.iter().map(|name| ((*name).to_owned(), json!(["windowTypes"])));
    let mut schema = json!({
        "operations": operations.map(|row| row.describe(version, compat)).collect::<Vec<_>>(),
        "events": events,
        "filters": filters.collect::<serde_json::Map<_, _>>(),
        "version": version.0,
        "since": BrowserVersion::table(),
        "constants": {
            "tabs": {
                "MAX_CAPTURE_VISIBLE_TAB_CALLS_PER_SECOND": crate::browser::captures::MAX_CAPTURE_VISIBLE_TAB_CALLS_PER_SECOND,
                "SPLIT_VIEW_ID_NONE": crate::id::SPLIT_VIEW_ID_NONE,
                "TAB_ID_NONE": crate::id::TAB_ID_NONE,
                "TAB_INDEX_NONE": crate::id::TAB_INDEX_NONE,
            },
            "windows": {
                "WINDOW_ID_NONE": crate::id::WINDOW_ID_NONE,
                "WINDOW_ID_CURRENT": crate::id::WINDOW_ID_CURRENT,
            },
            "sessions": { "MAX_SESSION_RESULTS": crate::browser::closed::CLOSED_MAX },
            "tabGroups": { "TAB_GROUP_ID_NONE": crate::id::GROUP_ID_NONE },
        },
    });
    let spaces = schema.get_mut("constants").and_then(Value::as_object_mut);
    for (space, constants) in spaces.into_iter().flatten() {
        let Some(constants) = constants.as_object_mut() else { continue };
        constants.retain(|name, _| version.has_member(space, name));
        for (name, words) in enumerations() {
            // The table of versions names types without their namespace.
            let name = name.strip_prefix(space.as_str()).and_then(|name| name.strip_prefix('.'));
            if let Some(name) = name.filter(|name| version.has(name)) {
                let named = words.iter().map(|word| (constant_name(word), (*word).into()));
                constants.insert(name.to_owned(), Value::Object(named.collect()));
            }
        }
    }
    schema
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_browser_has_no_words_of_types_that_came_later() {
        let constants = schema(BrowserVersion::OLDEST, Compat::Spec)["constants"].clone();
        let windows = json!({ "WINDOW_ID_NONE": -1, "WINDOW_ID_CURRENT": -2 });
        let sessions = json!({ "MAX_SESSION_RESULTS": 25 });
        assert_eq!(
            constants,
            json!({ "sessions": sessions, "tabGroups": {}, "tabs": {}, "windows": windows })
        );
        let constants = &schema(BrowserVersion::LATEST, Compat::Spec)["constants"];
        assert_eq!(constants["tabGroups"]["Color"]["RED"], "red");
        assert_eq!(constants["windows"]["CreateType"]["POPUP"], "popup");
    }
}
