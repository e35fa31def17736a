//! Events: what happened, before it is known who sees what of it.

use serde_json::{Map, Value, json};

use crate::group::Group;
use crate::permission::Access;
use crate::tab::{MutedInfo, Status, TabView, ZoomMode, ZoomState};

/// What changed in a tab: the members of `changeInfo` of `onUpdated` (Spec tabs-api §6).
#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "each field is the member of its name")]
pub struct Change {
    pub status: Option<Status>,
    pub url: Option<String>,
    pub title: Option<String>,
    pub icon: Option<String>,
    pub pinned: Option<bool>,
    pub audible: Option<bool>,
    pub muted: Option<MutedInfo>,
    pub discarded: Option<bool>,
    pub frozen: Option<bool>,
    pub auto_discardable: Option<bool>,
    pub group: Option<i64>,
}

impl Change {
    fn render(&self, tab: &TabView, access: &Access<'_>) -> Value {
        let mut out = Map::new();
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                out.insert(name.to_owned(), value);
            }
        };
        put("status", self.status.map(|status| status.word().into()));
        put("pinned", self.pinned.map(Value::from));
        put("audible", self.audible.map(Value::from));
        put("mutedInfo", self.muted.as_ref().map(MutedInfo::render));
        put("discarded", self.discarded.map(Value::from));
        put("frozen", self.frozen.map(Value::from));
        put("autoDiscardable", self.auto_discardable.map(Value::from));
        put("groupId", self.group.map(Value::from));
        if access.sees(tab.id, &tab.url) {
            put("url", self.url.clone().map(Value::from));
            put("title", self.title.clone().map(Value::from));
            put("favIconUrl", self.icon.clone().map(Value::from));
        }
        Value::Object(out)
    }
}

/// One event of the interface.
#[derive(Debug, Clone)]
#[expect(
    missing_docs,
    reason = "each variant is the event of its name, with its parameters (Spec tabs-api §6)"
)]
pub enum Event {
    TabCreated(TabView),
    TabUpdated {
        change: Change,
        tab: TabView,
    },
    TabMoved {
        tab: i64,
        window: i64,
        from: i64,
        to: i64,
    },
    TabActivated {
        tab: i64,
        window: i64,
    },
    TabHighlighted {
        tabs: Vec<i64>,
        window: i64,
    },
    TabDetached {
        tab: i64,
        window: i64,
        position: i64,
    },
    TabAttached {
        tab: i64,
        window: i64,
        position: i64,
    },
    TabRemoved {
        tab: i64,
        window: i64,
        is_window_closing: bool,
    },
    TabReplaced {
        added: i64,
        removed: i64,
    },
    TabZoomed {
        tab: i64,
        old: f64,
        new: f64,
        zoom: ZoomState,
    },
    WindowCreated(Value),
    WindowRemoved(i64),
    WindowFocused(i64),
    GroupCreated(Group),
    GroupUpdated(Group),
    GroupMoved(Group),
    GroupRemoved(Group),
    PortMessage {
        port: String,
        message: Value,
    },
    PortDisconnected {
        port: String,
        error: Option<String>,
    },
}

impl Event {
    /// The name that listeners register with.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::TabCreated(_) => "tabs.onCreated",
            Self::TabUpdated { .. } => "tabs.onUpdated",
            Self::TabMoved { .. } => "tabs.onMoved",
            Self::TabActivated { .. } => "tabs.onActivated",
            Self::TabHighlighted { .. } => "tabs.onHighlighted",
            Self::TabDetached { .. } => "tabs.onDetached",
            Self::TabAttached { .. } => "tabs.onAttached",
            Self::TabRemoved { .. } => "tabs.onRemoved",
            Self::TabReplaced { .. } => "tabs.onReplaced",
            Self::TabZoomed { .. } => "tabs.onZoomChange",
            Self::WindowCreated(_) => "windows.onCreated",
            Self::WindowRemoved(_) => "windows.onRemoved",
            Self::WindowFocused(_) => "windows.onFocusChanged",
            Self::GroupCreated(_) => "tabGroups.onCreated",
            Self::GroupUpdated(_) => "tabGroups.onUpdated",
            Self::GroupMoved(_) => "tabGroups.onMoved",
            Self::GroupRemoved(_) => "tabGroups.onRemoved",
            Self::PortMessage { .. } => "port.onMessage",
            Self::PortDisconnected { .. } => "port.onDisconnect",
        }
    }

    /// The arguments of the listener, as somebody with this access gets them.
    #[must_use]
    pub fn arguments(&self, access: &Access<'_>) -> Value {
        match self {
            Self::TabCreated(tab) => json!([tab.render(access)]),
            Self::TabUpdated { change, tab } => {
                json!([tab.id, change.render(tab, access), tab.render(access)])
            }
            Self::TabMoved {
                tab,
                window,
                from,
                to,
            } => {
                json!([tab, { "fromIndex": from, "toIndex": to, "windowId": window }])
            }
            Self::TabActivated { tab, window } => json!([{ "tabId": tab, "windowId": window }]),
            Self::TabHighlighted { tabs, window } => {
                json!([{ "tabIds": tabs, "windowId": window }])
            }
            Self::TabDetached {
                tab,
                window,
                position,
            } => {
                json!([tab, { "oldPosition": position, "oldWindowId": window }])
            }
            Self::TabAttached {
                tab,
                window,
                position,
            } => {
                json!([tab, { "newPosition": position, "newWindowId": window }])
            }
            Self::TabRemoved {
                tab,
                window,
                is_window_closing,
            } => {
                json!([tab, { "isWindowClosing": is_window_closing, "windowId": window }])
            }
            Self::TabReplaced { added, removed } => json!([added, removed]),
            Self::TabZoomed {
                tab,
                old,
                new,
                zoom,
            } => json!([{
                "newZoomFactor": number(*new),
                "oldZoomFactor": number(*old),
                "tabId": tab,
                "zoomSettings": zoom_settings(zoom),
            }]),
            Self::WindowCreated(window) => json!([window]),
            Self::WindowRemoved(window) | Self::WindowFocused(window) => json!([window]),
            Self::GroupCreated(group)
            | Self::GroupUpdated(group)
            | Self::GroupMoved(group)
            | Self::GroupRemoved(group) => {
                json!([group.render()])
            }
            Self::PortMessage { port, message } => json!([port, message]),
            Self::PortDisconnected { port, error } => json!([port, error]),
        }
    }
}

/// A number as JavaScript prints it: whole ones without a point.
#[must_use]
pub fn number(value: f64) -> Value {
    #[expect(clippy::cast_possible_truncation, reason = "it is whole and small")]
    if value.fract() == 0.0 && value.abs() < 1e15 {
        Value::from(value as i64)
    } else {
        Value::from(value)
    }
}

/// Zoom settings as events show them; `getZoomSettings` adds the default.
#[must_use]
pub fn zoom_settings(zoom: &ZoomState) -> Value {
    let mode = match zoom.mode {
        ZoomMode::Automatic => "automatic",
        ZoomMode::Manual => "manual",
        ZoomMode::Disabled => "disabled",
    };
    json!({ "mode": mode, "scope": if zoom.is_per_origin { "per-origin" } else { "per-tab" } })
}
