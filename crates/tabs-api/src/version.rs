//! Versions of the browser: which item of the interface came with which (Spec tabs-api §9), in one table.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// A version of the browser. A profile of an older one has what that had, and nothing later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "u16", into = "u16")]
pub struct BrowserVersion(pub u16);

/// A number that is no version of which it is told what the browser had.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("browser version {0} is not known: those from {oldest} to {latest} are", oldest = BrowserVersion::OLDEST.0, latest = BrowserVersion::LATEST.0)]
pub struct UnknownVersion(pub u16);

impl TryFrom<u16> for BrowserVersion {
    type Error = UnknownVersion;

    fn try_from(number: u16) -> Result<Self, UnknownVersion> {
        let is_known = (Self::OLDEST.0..=Self::LATEST.0).contains(&number);
        if is_known { Ok(Self(number)) } else { Err(UnknownVersion(number)) }
    }
}

impl From<BrowserVersion> for u16 {
    fn from(version: BrowserVersion) -> Self {
        version.0
    }
}

/// The version in which an item came; what is not listed was there before versions were counted. Members stand behind the type,
/// parameter or event that they belong to.
const SINCE: &[(&str, u16)] = &[
    ("Color", 89),
    ("CreateType", 44),
    ("MutedInfo", 46),
    ("MutedInfoReason", 46),
    ("Tab.audible", 45),
    ("Tab.autoDiscardable", 54),
    ("Tab.discarded", 54),
    ("Tab.frozen", 132),
    ("Tab.groupId", 88),
    ("Tab.lastAccessed", 121),
    ("Tab.mutedInfo", 46),
    ("Tab.pendingUrl", 79),
    ("Tab.splitViewId", 140),
    ("TabStatus", 44),
    ("WindowState", 44),
    ("WindowType", 44),
    ("ZoomSettings.defaultZoomFactor", 43),
    ("ZoomSettingsMode", 44),
    ("ZoomSettingsScope", 44),
    ("scripting.executeScript", 88),
    ("scripting.insertCSS", 88),
    ("scripting.removeCSS", 88),
    ("tabGroups.TAB_GROUP_ID_NONE", 89),
    ("tabGroups.get", 89),
    ("tabGroups.move", 89),
    ("tabGroups.onCreated", 89),
    ("tabGroups.onMoved", 89),
    ("tabGroups.onRemoved", 89),
    ("tabGroups.onUpdated", 89),
    ("tabGroups.query", 89),
    ("tabGroups.update", 89),
    ("tabs.MAX_CAPTURE_VISIBLE_TAB_CALLS_PER_SECOND", 92),
    ("tabs.SPLIT_VIEW_ID_NONE", 140),
    ("tabs.TAB_ID_NONE", 46),
    ("tabs.TAB_INDEX_NONE", 123),
    // The recorded version has them, and those whose schemas were looked up have not.
    ("tabs.captureVisibleTab.options.rect", 156),
    ("tabs.captureVisibleTab.options.scale", 156),
    ("tabs.connect.connectInfo.documentId", 106),
    ("tabs.discard", 54),
    ("tabs.goBack", 72),
    ("tabs.goForward", 72),
    ("tabs.group", 88),
    ("tabs.onUpdated.changeInfo.audible", 45),
    ("tabs.onUpdated.changeInfo.autoDiscardable", 54),
    ("tabs.onUpdated.changeInfo.discarded", 54),
    ("tabs.onUpdated.changeInfo.frozen", 132),
    ("tabs.onUpdated.changeInfo.groupId", 88),
    ("tabs.onUpdated.changeInfo.mutedInfo", 46),
    ("tabs.onUpdated.changeInfo.title", 48),
    ("tabs.query.queryInfo.audible", 45),
    ("tabs.query.queryInfo.autoDiscardable", 54),
    ("tabs.query.queryInfo.discarded", 54),
    ("tabs.query.queryInfo.frozen", 132),
    ("tabs.query.queryInfo.groupId", 88),
    ("tabs.query.queryInfo.muted", 45),
    ("tabs.query.queryInfo.splitViewId", 140),
    ("tabs.sendMessage.options.documentId", 106),
    ("tabs.ungroup", 88),
    ("tabs.update.updateProperties.autoDiscardable", 54),
    ("tabs.update.updateProperties.muted", 45),
    ("windows.onBoundsChanged", 86),
];

/// The version with which promises came (Spec tabs-api §1), and that of `tabs.sendMessage` (§9.2).
const PROMISES: u16 = 88;
const PROMISE_OF_SEND_MESSAGE: u16 = 99;

impl BrowserVersion {
    /// The recorded one, which has everything.
    pub const LATEST: Self = Self(156);
    /// The first whose version of an item is told.
    pub const OLDEST: Self = Self(43);

    /// The version in which an item came, if that is told.
    #[must_use]
    pub fn since(item: &str) -> Option<u16> {
        let row = SINCE.binary_search_by(|(name, _)| (*name).cmp(item)).ok()?;
        SINCE.get(row).map(|(_, version)| *version)
    }

    /// True if this version has an item.
    #[must_use]
    pub fn has(self, item: &str) -> bool {
        self >= Self::LATEST || Self::since(item).is_none_or(|since| since <= self.0)
    }

    /// True if this version has a member of a type, parameter or event.
    #[must_use]
    pub fn has_member(self, of: &str, member: &str) -> bool {
        self >= Self::LATEST || self.has(&format!("{of}.{member}"))
    }

    /// The version from which on a call of an operation gives a promise, to extensions with manifest version 3.
    #[must_use]
    pub fn of_promise(operation: &str) -> Self {
        Self(if operation == "tabs.sendMessage" { PROMISE_OF_SEND_MESSAGE } else { PROMISES })
    }

    /// True if a call of an extension with this version of the manifest gives a promise.
    #[must_use]
    pub fn gives_promise(self, manifest_version: u8, operation: &str) -> bool {
        manifest_version >= 3 && self >= Self::of_promise(operation)
    }

    /// The whole table, for whoever looks it up.
    #[must_use]
    pub fn table() -> Map<String, Value> {
        SINCE.iter().map(|(item, version)| ((*item).to_owned(), (*version).into())).collect()
    }
}

impl Default for BrowserVersion {
    fn default() -> Self {
        Self::LATEST
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_sorted_and_names_no_item_twice() {
        assert!(SINCE.is_sorted_by(|(one, _), (other, _)| one < other));
    }

    #[test]
    fn every_operation_property_and_event_of_the_table_exists() {
        let properties = crate::operation::OPERATIONS.iter().flat_map(|row| {
            let of = move |parameter: &crate::operation::schema::Parameter| {
                let path = format!("{}.{}", row.name, parameter.name);
                parameter
                    .schema
                    .members()
                    .map(move |member| format!("{path}.{member}"))
                    .collect::<Vec<_>>()
            };
            row.parameters.iter().flat_map(of).chain([row.name.to_owned()])
        });
        let events = crate::browser::event::EVENT_NAMES.iter().map(|name| (*name).to_owned());
        let known: std::collections::BTreeSet<_> = properties.chain(events).collect();
        for (item, _) in SINCE {
            let is_called = item.starts_with("tabs.")
                || item.starts_with("tabGroups.")
                || item.starts_with("scripting.");
            let (_, constant) = item.rsplit_once('.').unwrap_or(("", item));
            let is_constant =
                constant.chars().all(|letter| letter.is_ascii_uppercase() || letter == '_');
            let is_event_member = item.contains(".changeInfo.");
            assert!(
                !is_called || is_constant || is_event_member || known.contains(*item),
                "{item}"
            );
        }
    }

    #[test]
    fn a_version_is_one_that_is_known() {
        let read = |text: &str| serde_json::from_str::<BrowserVersion>(text);
        assert_eq!(read("43").unwrap(), BrowserVersion::OLDEST);
        assert_eq!(read("156").unwrap(), BrowserVersion::LATEST);
        for unknown in ["42", "157", "0"] {
            let refused = read(unknown).unwrap_err().to_string();
            let wanted =
                format!("browser version {unknown} is not known: those from 43 to 156 are");
            assert!(refused.starts_with(&wanted), "{refused}");
        }
        assert_eq!(serde_json::to_string(&BrowserVersion(60)).unwrap(), "60");
    }

    #[test]
    fn promises_came_with_manifest_3_and_later_for_messages() {
        assert!(BrowserVersion(88).gives_promise(3, "tabs.get"));
        assert!(!BrowserVersion(87).gives_promise(3, "tabs.get"));
        assert!(!BrowserVersion(98).gives_promise(3, "tabs.sendMessage"));
        assert!(BrowserVersion(99).gives_promise(3, "tabs.sendMessage"));
        assert!(!BrowserVersion::LATEST.gives_promise(2, "tabs.get"));
    }
}
