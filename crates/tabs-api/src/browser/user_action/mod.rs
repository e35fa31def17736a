//! The other side: what the user, the machine and the browser do, which extensions cannot.

#[cfg(feature = "replay")]
// Others say where a tab goes; the recorded keys alone ask what has them.
mod address_field;
mod carried;
mod drag;
#[cfg(feature = "replay")]
mod drag_steps;
mod new_window;
mod perform;
mod tab_menu;

use serde::Deserialize;
use serde_json::Value;
use triptych_core::time::Timestamp;

use crate::browser::Browser;
use crate::browser::devices::DevicePage;
use crate::error::Error;

/// One action of the control side, as `{"type": "activate", "tabId": 1000002}`.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum UserAction {
    /// The user begins to drag a tab: until it ends, tabs cannot be edited.
    DragBegin {},
    /// The user lets go, having moved a tab to an index.
    DragEnd {
        /// The tab, if it was moved.
        tab_id: Option<i64>,
        /// The index that it moved to.
        index: Option<usize>,
    },
    /// The user drags tabs to stand side by side from an index of a strip on; without a window it is that of their own.
    Drag {
        /// The tabs, the one that is held first.
        tab_ids: Vec<i64>,
        /// The window that they are dragged to.
        window_id: Option<i64>,
        /// The index.
        index: usize,
    },
    /// The user drags tabs out of their strip, into a window of their own.
    DragOut {
        /// The tabs, the one that is held first.
        tab_ids: Vec<i64>,
    },
    /// The user drags a group by its header to an index of its strip.
    DragGroup {
        /// The group.
        group_id: i64,
        /// The index.
        index: usize,
    },
    /// The user clicks the header of a group: it hides its tabs, or shows them.
    ToggleGroup {
        /// The group.
        group_id: i64,
    },
    /// The user chooses an entry of a tab's menu, for all highlighted tabs if it is one of them.
    ChooseFromMenu {
        /// The tab.
        tab_id: i64,
        /// The entry.
        entry: MenuEntry,
    },
    /// The user clicks a link of a page with the middle button, or with keys held.
    OpenLink {
        /// The tab of the page.
        tab_id: i64,
        /// The address of the link.
        url: String,
        /// The place where it opens.
        place: LinkPlace,
    },
    /// The user opens a new window.
    NewWindow {
        /// True if it keeps no traces.
        #[serde(default)]
        incognito: bool,
    },
    /// The user clicks a tab.
    Activate {
        /// The tab.
        tab_id: i64,
    },
    /// The user adds a tab to the highlighted ones and makes it active, or takes it out of them.
    Toggle {
        /// The tab.
        tab_id: i64,
    },
    /// The user highlights everything from the active tab to this one, which becomes active.
    Extend {
        /// The tab.
        tab_id: i64,
        /// True if what is highlighted already stays so.
        #[serde(default)]
        adds: bool,
    },
    /// The user moves a tab by one place; at the edge of a group it leaves or joins that first.
    MoveBy {
        /// The tab.
        tab_id: i64,
        /// To the right.
        forward: bool,
    },
    /// The user opens a new tab at the end of a window.
    NewTab {
        /// The window.
        window_id: i64,
    },
    /// The user brings the tab or the window back that was closed last; without one nothing happens.
    RestoreTab {
        /// The window for it, if its own is gone.
        window_id: i64,
    },
    /// The user takes away what the page of a tab tells by `alert`, or asks by `confirm` and `prompt`.
    DismissAlert {
        /// The tab.
        tab_id: i64,
        /// True if the user accepts.
        #[serde(default = "yes")]
        accepted: bool,
    },
    /// The user loads a page again.
    Reload {
        /// The tab.
        tab_id: i64,
    },
    /// The user goes to the previous or the next page; without one nothing happens.
    Traverse {
        /// The tab.
        tab_id: i64,
        /// To the next one.
        forward: bool,
    },
    /// The user closes a tab.
    Close {
        /// The tab.
        tab_id: i64,
    },
    /// The user pins or unpins a tab.
    Pin {
        /// The tab.
        tab_id: i64,
        /// Pinned or not.
        pinned: bool,
    },
    /// The user mutes a site: every tab of its host.
    MuteSite {
        /// A tab of the site.
        tab_id: i64,
        /// Muted or not.
        muted: bool,
    },
    /// The user zooms a tab.
    Zoom {
        /// The tab.
        tab_id: i64,
        /// The new factor.
        factor: f64,
    },
    /// The user zooms a tab by the steps that the browser offers; where zooming is off nothing happens.
    ZoomStep {
        /// The tab.
        tab_id: i64,
        /// 1 for the next larger, -1 for the next smaller, 0 for the default.
        step: i64,
    },
    /// The user opens a URL in a tab.
    Navigate {
        /// The tab.
        tab_id: i64,
        /// The URL.
        url: String,
    },
    /// The user does something on a tab's page, with a script to run as part of it.
    Gesture {
        /// The tab.
        tab_id: i64,
        /// The script of the page.
        script: Option<String>,
    },
    /// The user invokes an extension on a tab: `activeTab` is in effect until it leaves the site.
    Invoke {
        /// The tab.
        tab_id: i64,
        /// The extension.
        extension_id: String,
    },
    /// A capture of a tab's sound begins or ends; the tab is muted while it lasts.
    Capture {
        /// The tab.
        tab_id: i64,
        /// True if it is being captured.
        captured: bool,
    },
    /// A tab begins to sound, or stops.
    Audible {
        /// The tab.
        tab_id: i64,
        /// True if it is heard.
        audible: bool,
    },
    /// A tab is frozen, or may run again.
    Freeze {
        /// The tab.
        tab_id: i64,
        /// Frozen or not.
        frozen: bool,
    },
    /// Memory is short: the tab that is active longest ago and may be discarded is.
    MemoryPressure {},
    /// A prerendered page takes the place of a tab, under another id.
    Replace {
        /// The tab.
        tab_id: i64,
        /// The page.
        url: String,
    },
    /// A window of a type opens with a page: `normal`, `popup`, `panel`, `app` or `devtools`. Tabs of the last two have the id -1.
    OpenWindow {
        /// The type.
        kind: String,
        /// The page.
        url: String,
        /// True if it keeps no traces.
        #[serde(default)]
        incognito: bool,
    },
    /// Another device of the user tells which pages are open there; without any it is gone.
    SyncDevice {
        /// Its name.
        name: String,
        /// The pages.
        pages: Vec<DevicePage>,
    },
    /// The user focuses a window, or turns to something else than the browser.
    Focus {
        /// The window, or [`WINDOW_ID_NONE`](crate::id::WINDOW_ID_NONE).
        window_id: i64,
    },
    /// The user closes a window.
    CloseWindow {
        /// The window.
        window_id: i64,
    },
}

const fn yes() -> bool {
    true
}

/// An entry of a tab's menu.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum MenuEntry {
    /// A new tab behind it.
    NewTab,
    /// A new group.
    NewGroup,
    /// Of no group any more.
    RemoveFromGroup,
    /// A window of its own.
    NewWindow,
    /// Its page again.
    Reload,
    /// A copy behind it.
    Duplicate,
    /// Pinned, or no longer.
    Pin,
    /// All tabs of its site muted, or no longer.
    MuteSite,
    /// The tab closes.
    Close,
    /// All others that are not pinned close.
    CloseOthers,
    /// All behind it that are not pinned close.
    CloseRight,
}

/// The place where a link opens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LinkPlace {
    /// A tab in the background: the middle button.
    Background,
    /// A tab in front: the middle button with shift.
    Front,
    /// A window: shift.
    Window,
}

impl Browser {
    /// Does what the user, the machine or the browser does; the drag lock does not hold for them.
    ///
    /// # Errors
    /// `NoTab`, `NoWindow`, then what the action itself refuses.
    pub fn user_action(&mut self, now: Timestamp, action: UserAction) -> Result<Value, Error> {
        self.now = self.now.max(now);
        let outcome = self.perform(action);
        self.drop_emptied_windows();
        self.assert_invariants();
        outcome
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::browser::Compat;
    use crate::browser::tab::MuteReason;
    use crate::id::TabId;

    const NOW: Timestamp = Timestamp::from_seconds(1_790_000_000);

    fn first_tab(browser: &Browser) -> i64 {
        browser.strips.tabs().next().unwrap().id.0
    }

    fn act(browser: &mut Browser, action: Value) -> Result<Value, Error> {
        browser.user_action(NOW, serde_json::from_value(action).unwrap())
    }

    #[test]
    fn a_capture_mutes_a_tab_and_its_end_lets_it_sound() {
        let mut browser = Browser::with_blank_window(NOW, Compat::Spec);
        let tab = first_tab(&browser);
        act(&mut browser, json!({ "type": "capture", "tabId": tab, "captured": true })).unwrap();
        let muted = browser.tab(TabId(tab)).unwrap().muted.clone();
        assert_eq!((muted.muted, muted.reason), (true, Some(MuteReason::Capture)));
        act(&mut browser, json!({ "type": "capture", "tabId": tab, "captured": false })).unwrap();
        assert!(!browser.tab(TabId(tab)).unwrap().muted.muted);
    }

    #[test]
    fn a_prerendered_page_replaces_a_tab_and_says_so() {
        let mut browser = Browser::with_blank_window(NOW, Compat::Spec);
        let tab = first_tab(&browser);
        let answer =
            act(&mut browser, json!({ "type": "replace", "tabId": tab, "url": "http://a.test/" }))
                .unwrap();
        assert!(
            matches!(browser.poll_event(), Some(crate::browser::event::Event::TabReplaced { removed, .. }) if removed == tab)
        );
        assert_eq!(first_tab(&browser), answer["tabId"].as_i64().unwrap());
    }

    #[test]
    fn memory_pressure_spares_the_active_tab() {
        let mut browser = Browser::with_blank_window(NOW, Compat::Browser);
        assert_eq!(act(&mut browser, json!({ "type": "memoryPressure" })).unwrap(), Value::Null);
    }

    #[test]
    fn a_group_that_cannot_go_where_it_is_dragged_to_stays_as_it_is_and_tells_nothing() {
        let mut browser = Browser::with_blank_window(NOW, Compat::Browser);
        let window = browser.strips.windows().next().unwrap().id;
        let pinned = TabId(first_tab(&browser));
        act(&mut browser, json!({ "type": "pin", "tabId": pinned.0, "pinned": true })).unwrap();
        act(&mut browser, json!({ "type": "newTab", "windowId": window.0 })).unwrap();
        let other = browser.window(window).unwrap().tabs.last().copied().unwrap();
        let group = browser.group_tabs(&[other], window, None).unwrap();
        act(&mut browser, json!({ "type": "activate", "tabId": pinned.0 })).unwrap();
        while browser.poll_event().is_some() {}
        let drag = json!({ "type": "dragGroup", "groupId": group.0, "index": 0 });
        assert_eq!(act(&mut browser, drag), Err(Error::GroupAmongPinned));
        assert!(browser.poll_event().is_none());
        assert!(browser.is_active(pinned));
    }

    #[test]
    fn an_unknown_action_or_property_is_refused() {
        assert!(serde_json::from_value::<UserAction>(json!({ "type": "explode" })).is_err());
        assert!(
            serde_json::from_value::<UserAction>(json!({ "type": "close", "tabId": 1, "x": 1 }))
                .is_err()
        );
    }
}
