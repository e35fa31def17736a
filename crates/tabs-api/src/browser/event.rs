//! Events: what happened, before it is known who sees what of it.

use std::sync::Arc;

use serde::ser::{Serialize, SerializeMap, Serializer};
use serde_json::{Value, json};

use crate::browser::group::Group;
use crate::browser::script_event::ScriptEvent;
use crate::browser::tab::{MutedInfo, Status, TabView, ZoomMode, ZoomState};
use crate::browser::window::{WindowKind, WindowView};
use crate::extension::permission::Access;
use crate::id::{HostId, ScriptId, WINDOW_ID_NONE};
use crate::version::BrowserVersion;

/// A change of a tab: the members of `changeInfo` of `onUpdated` (Spec tabs-api §6).
#[derive(Debug, Clone, Default)]
#[expect(missing_docs, reason = "each field is the member of its name")]
pub struct Change {
    pub status: Option<Status>,
    pub url: Option<Arc<str>>,
    pub title: Option<Arc<str>>,
    pub icon: Option<Arc<str>>,
    pub pinned: Option<bool>,
    pub audible: Option<bool>,
    pub muted: Option<MutedInfo>,
    pub discarded: Option<bool>,
    pub frozen: Option<bool>,
    pub auto_discardable: Option<bool>,
    pub group: Option<i64>,
}

/// A change as somebody sees it who may or may not see the page.
struct ShownChange<'v> {
    change: &'v Change,
    shows_page: bool,
    version: BrowserVersion,
}

/// The members of a change that came with a version, each with that of its own.
const CHANGE: &str = "tabs.onUpdated.changeInfo";

impl Change {
    /// True if a browser of this version tells of it at all.
    pub(crate) fn is_known_to(&self, version: BrowserVersion) -> bool {
        let has = |is_there: bool, member: &str| is_there && version.has_member(CHANGE, member);
        version >= BrowserVersion::LATEST
            || self.status.is_some()
            || self.url.is_some()
            || self.icon.is_some()
            || self.pinned.is_some()
            || has(self.title.is_some(), "title")
            || has(self.audible.is_some(), "audible")
            || has(self.muted.is_some(), "mutedInfo")
            || has(self.discarded.is_some(), "discarded")
            || has(self.frozen.is_some(), "frozen")
            || has(self.auto_discardable.is_some(), "autoDiscardable")
            || has(self.group.is_some(), "groupId")
    }
}

impl Serialize for ShownChange<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        fn put<M: SerializeMap, T: Serialize>(
            out: &mut M,
            version: BrowserVersion,
            name: &'static str,
            value: Option<T>,
        ) -> Result<(), M::Error> {
            let value = value.filter(|_| version.has_member(CHANGE, name));
            value.map_or(Ok(()), |value| out.serialize_entry(name, &value))
        }
        let page = |text: &'_ Option<Arc<str>>| text.clone().filter(|_| self.shows_page);
        let (change, version) = (self.change, self.version);
        let mut out = serializer.serialize_map(None)?;
        put(&mut out, version, "audible", change.audible)?;
        put(&mut out, version, "autoDiscardable", change.auto_discardable)?;
        put(&mut out, version, "discarded", change.discarded)?;
        put(&mut out, version, "favIconUrl", page(&change.icon).as_deref())?;
        put(&mut out, version, "frozen", change.frozen)?;
        put(&mut out, version, "groupId", change.group)?;
        put(&mut out, version, "mutedInfo", change.muted.as_ref())?;
        put(&mut out, version, "pinned", change.pinned)?;
        put(&mut out, version, "status", change.status.map(Status::word))?;
        put(&mut out, version, "title", page(&change.title).as_deref())?;
        put(&mut out, version, "url", page(&change.url).as_deref())?;
        out.end()
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
        from: usize,
        to: usize,
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
        index: usize,
    },
    TabAttached {
        tab: i64,
        window: i64,
        index: usize,
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
    WindowCreated(WindowView),
    WindowRemoved {
        window: i64,
        kind: WindowKind,
    },
    WindowFocused {
        window: i64,
        kind: WindowKind,
    },
    WindowPlaced(WindowView),
    ClosedChanged,
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
    /// An event of one content script, which nobody else is told.
    Script {
        host: HostId,
        script: ScriptId,
        event: ScriptEvent,
    },
}

/// Names the events: those that extensions listen to, and those that only clients get.
macro_rules! event_names {
    (listened { $($pattern:pat => $name:literal,)* } internal { $($internal:pat => $internal_name:literal,)* }) => {
        /// Names of the events that extensions listen to.
        pub const EVENT_NAMES: &[&str] = &[$($name),*];

        impl Event {
            /// The name that listeners register with.
            #[must_use]
            pub const fn name(&self) -> &'static str {
                match self {
                    $($pattern => $name,)*
                    $($internal => $internal_name,)*
                }
            }
        }
    };
}

event_names! {
    listened {
        Self::TabActivated { .. } => "tabs.onActivated",
        Self::TabAttached { .. } => "tabs.onAttached",
        Self::TabCreated(_) => "tabs.onCreated",
        Self::TabDetached { .. } => "tabs.onDetached",
        Self::TabHighlighted { .. } => "tabs.onHighlighted",
        Self::TabMoved { .. } => "tabs.onMoved",
        Self::TabRemoved { .. } => "tabs.onRemoved",
        Self::TabReplaced { .. } => "tabs.onReplaced",
        Self::TabUpdated { .. } => "tabs.onUpdated",
        Self::TabZoomed { .. } => "tabs.onZoomChange",
        Self::WindowCreated(_) => "windows.onCreated",
        Self::WindowRemoved { .. } => "windows.onRemoved",
        Self::WindowFocused { .. } => "windows.onFocusChanged",
        Self::WindowPlaced(_) => "windows.onBoundsChanged",
        Self::ClosedChanged => "sessions.onChanged",
        Self::GroupCreated(_) => "tabGroups.onCreated",
        Self::GroupUpdated(_) => "tabGroups.onUpdated",
        Self::GroupMoved(_) => "tabGroups.onMoved",
        Self::GroupRemoved(_) => "tabGroups.onRemoved",
    }
    internal {
        Self::PortMessage { .. } => "port.onMessage",
        Self::PortDisconnected { .. } => "port.onDisconnect",
        Self::Script { .. } => "script.onNews",
    }
}

/// Names of the events whose listeners may say which types of windows they hear of.
pub const NAMES_BY_WINDOW_TYPE: &[&str] =
    &["windows.onCreated", "windows.onFocusChanged", "windows.onRemoved"];

impl Event {
    /// That no window has the focus any more; it counts as an event of a normal one.
    pub(super) const NOBODY_FOCUSED: Self =
        Self::WindowFocused { window: WINDOW_ID_NONE, kind: WindowKind::Normal };

    /// The type of the window, of an event whose listeners may say which types they hear of.
    #[must_use]
    pub const fn window_type(&self) -> Option<&'static str> {
        match self {
            Self::WindowCreated(window) => Some(window.kind),
            Self::WindowRemoved { kind, .. } | Self::WindowFocused { kind, .. } => {
                Some(kind.word())
            }
            _ => None,
        }
    }

    /// The bytes of the texts and lists in it, about.
    #[must_use]
    pub fn text_bytes(&self) -> usize {
        let texts = |texts: [&Option<Arc<str>>; 4]| {
            texts.into_iter().flatten().map(|text| text.len()).sum::<usize>()
        };
        let view = |tab: &TabView| texts([&tab.url, &tab.title, &tab.icon, &tab.pending_url]);
        match self {
            Self::TabCreated(tab) => view(tab),
            Self::TabUpdated { change, tab } => {
                view(tab) + texts([&change.url, &change.title, &change.icon, &None])
            }
            Self::TabHighlighted { tabs, .. } => size_of_val(tabs.as_slice()),
            Self::WindowCreated(window) => window.tabs.iter().flatten().map(view).sum(),
            Self::GroupCreated(group)
            | Self::GroupUpdated(group)
            | Self::GroupMoved(group)
            | Self::GroupRemoved(group) => group.title.len(),
            _ => 0,
        }
    }

    /// The arguments of the listener, as somebody with this access gets them.
    #[must_use]
    pub const fn shown<'v>(&'v self, access: &'v Access<'v>) -> ShownEvent<'v> {
        ShownEvent { event: self, access }
    }
}

/// The arguments of an event as somebody sees them; serializes to their list.
#[derive(Debug, Clone, Copy)]
pub struct ShownEvent<'v> {
    event: &'v Event,
    access: &'v Access<'v>,
}

impl Serialize for ShownEvent<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let arguments = match self.event {
            Event::TabCreated(tab) => return [tab.shown(self.access)].serialize(serializer),
            Event::TabUpdated { change, tab } => {
                let change = ShownChange {
                    change,
                    shows_page: tab.shows_page(self.access),
                    version: tab.version,
                };
                return (tab.id, change, tab.shown(self.access)).serialize(serializer);
            }
            Event::TabMoved { tab, window, from, to } => {
                json!([tab, { "fromIndex": from, "toIndex": to, "windowId": window }])
            }
            Event::TabActivated { tab, window } => json!([{ "tabId": tab, "windowId": window }]),
            Event::TabHighlighted { tabs, window } => {
                json!([{ "tabIds": tabs, "windowId": window }])
            }
            Event::TabDetached { tab, window, index } => {
                json!([tab, { "oldPosition": index, "oldWindowId": window }])
            }
            Event::TabAttached { tab, window, index } => {
                json!([tab, { "newPosition": index, "newWindowId": window }])
            }
            Event::TabRemoved { tab, window, is_window_closing } => {
                json!([tab, { "isWindowClosing": is_window_closing, "windowId": window }])
            }
            Event::TabReplaced { added, removed } => json!([added, removed]),
            Event::TabZoomed { tab, old, new, zoom } => json!([{
                "newZoomFactor": number(*new),
                "oldZoomFactor": number(*old),
                "tabId": tab,
                "zoomSettings": zoom_settings(zoom),
            }]),
            Event::WindowCreated(window) | Event::WindowPlaced(window) => json!([window]),
            Event::WindowRemoved { window, .. } | Event::WindowFocused { window, .. } => {
                json!([window])
            }
            Event::ClosedChanged => json!([]),
            Event::GroupCreated(group)
            | Event::GroupUpdated(group)
            | Event::GroupMoved(group)
            | Event::GroupRemoved(group) => json!([group.render()]),
            Event::PortMessage { port, message } => json!([port, message]),
            Event::PortDisconnected { port, error } => json!([port, error]),
            Event::Script { script, .. } => json!([script.0]),
        };
        arguments.serialize(serializer)
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
