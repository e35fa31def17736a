//! The other side: what the user, the machine and the browser do, which extensions cannot.

use serde::Deserialize;
use serde_json::{Value, json};
use triptych_core::time::Timestamp;

use crate::browser::Browser;
use crate::browser::closed::Restored;
use crate::browser::strip::WindowPlacement;
use crate::browser::tab::MuteReason;
use crate::browser::window::WindowKind;
use crate::engine::NavigationKind;
use crate::error::Error;
use crate::id::{TabId, WindowId};
use crate::url::resolve;

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
    /// The user brings the tab or the window back that was closed last.
    RestoreTab {
        /// The window for it, if its own is gone.
        window_id: i64,
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
    /// The user focuses a window.
    Focus {
        /// The window.
        window_id: i64,
    },
    /// The user closes a window.
    CloseWindow {
        /// The window.
        window_id: i64,
    },
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

    fn perform(&mut self, action: UserAction) -> Result<Value, Error> {
        match action {
            UserAction::DragBegin {} => self.is_dragging = true,
            UserAction::DragEnd { tab_id, index } => {
                self.is_dragging = false;
                if let (Some(tab), Some(index)) = (tab_id, index) {
                    self.move_within(self.tab(TabId(tab))?.id, Some(index))?;
                }
            }
            UserAction::Activate { tab_id } => {
                let tab = self.tab(TabId(tab_id))?;
                let (tab, window) = (tab.id, tab.window);
                self.give_focus(window);
                self.activate(tab)?;
            }
            UserAction::Toggle { tab_id } => self.toggle(TabId(tab_id))?,
            UserAction::Extend { tab_id } => self.extend(TabId(tab_id))?,
            UserAction::MoveBy { tab_id, forward } => self.move_by_one(TabId(tab_id), forward)?,
            UserAction::NewTab { window_id } => {
                return Ok(tab_id_json(self.open_user_tab(WindowId(window_id))?));
            }
            UserAction::RestoreTab { window_id } => {
                let fallback = self.window(WindowId(window_id))?.id;
                return Ok(match self.restore_closed(None, fallback)? {
                    (Restored::Tab(tab), _) => tab_id_json(tab),
                    (Restored::Window(window), _) => json!({ "windowId": window.0 }),
                });
            }
            UserAction::Reload { tab_id } => self.reload_tab(TabId(tab_id))?,
            UserAction::Traverse { tab_id, forward } => {
                let tab = self.tab(TabId(tab_id))?;
                if let Some(target) = self.history_target(tab, forward) {
                    self.go_to_entry(TabId(tab_id), target)?;
                }
            }
            UserAction::ZoomStep { tab_id, step } => self.zoom_step(TabId(tab_id), step)?,
            UserAction::Close { tab_id } => self.close_tab(TabId(tab_id))?,
            UserAction::Pin { tab_id, pinned } => self.set_pinned(TabId(tab_id), pinned)?,
            UserAction::MuteSite { tab_id, muted } => self.mute_site(TabId(tab_id), muted)?,
            UserAction::Zoom { tab_id, factor } if factor.is_finite() && factor > 0.0 => {
                self.zoom_to(TabId(tab_id), factor)?
            }
            UserAction::Zoom { .. } => {
                return Err(Error::Unsupported("a zoom factor is a number above 0".into()));
            }
            UserAction::Navigate { tab_id, url } => {
                let url = resolve(&url, "")?;
                let tab = self.tab_mut(TabId(tab_id))?;
                tab.forgets_openers = true;
                let tab = tab.id;
                self.navigate(tab, &url, NavigationKind::Push);
            }
            UserAction::Gesture { tab_id, script } => {
                self.gesture(self.now, TabId(tab_id), script)?
            }
            UserAction::Invoke { tab_id, extension_id } => {
                self.invoke(TabId(tab_id), &extension_id)?
            }
            UserAction::Capture { tab_id, captured } => {
                self.tab_mut(TabId(tab_id))?.captured = captured;
                self.set_muted(TabId(tab_id), captured, MuteReason::Capture)?;
            }
            UserAction::Audible { tab_id, audible } => {
                let tab = self.tab(TabId(tab_id))?.id;
                self.set_audible(tab, audible);
            }
            UserAction::Freeze { tab_id, frozen } => {
                let tab = self.tab(TabId(tab_id))?.id;
                self.set_frozen(tab, frozen);
            }
            UserAction::MemoryPressure {} => {
                return Ok(self.discard_least_recent()?.map_or(Value::Null, tab_id_json));
            }
            UserAction::Replace { tab_id, url } => {
                return Ok(tab_id_json(self.replace_with_prerendered(TabId(tab_id), &url)?));
            }
            UserAction::OpenWindow { kind, url, incognito } => {
                return self.open_window_of_kind(&kind, &url, incognito);
            }
            UserAction::Focus { window_id } => {
                self.give_focus(self.window(WindowId(window_id))?.id)
            }
            UserAction::CloseWindow { window_id } => self.close_window(WindowId(window_id))?,
        }
        Ok(Value::Null)
    }

    /// Opens a window of a type with a page.
    fn open_window_of_kind(
        &mut self,
        kind: &str,
        url: &str,
        incognito: bool,
    ) -> Result<Value, Error> {
        let kind = WindowKind::named(kind).ok_or_else(|| {
            Error::Unsupported("a window is normal, popup, panel, app or devtools".into())
        })?;
        let url = resolve(url, "")?;
        let window = self.open_window(kind, incognito, WindowPlacement::default())?;
        self.fill_window(window, &[url])?;
        if kind.lists_tabs() {
            self.give_focus(window);
        }
        Ok(json!({ "windowId": window.0 }))
    }

    /// Adds a tab to the highlighted ones, or takes it out of them; the only one stays.
    fn toggle(&mut self, id: TabId) -> Result<(), Error> {
        let is_highlighted = self.window(self.tab(id)?.window)?.highlighted.contains(&id);
        self.set_highlighted(id, !is_highlighted).map(drop)
    }

    /// Highlights everything from the active tab to this one.
    fn extend(&mut self, id: TabId) -> Result<(), Error> {
        let window = self.window(self.tab(id)?.window)?;
        let to = window.index_of(id).ok_or(Error::NoTab(id.0))?;
        let start = window.anchor.filter(|anchor| window.tabs.contains(anchor)).or(window.active);
        let from = start.and_then(|start| window.index_of(start)).unwrap_or(to);
        let between = from.min(to)..=from.max(to);
        let tabs = window.tabs.iter().enumerate();
        let set = tabs.filter(|(index, _)| between.contains(index));
        let set = set.map(|(_, tab)| *tab).collect();
        let window = window.id;
        self.select(id, set)?;
        self.window_mut(window)?.anchor = start;
        Ok(())
    }
}

fn tab_id_json(id: TabId) -> Value {
    json!({ "tabId": id.0 })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::browser::Compat;

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
    fn an_unknown_action_or_property_is_refused() {
        assert!(serde_json::from_value::<UserAction>(json!({ "type": "explode" })).is_err());
        assert!(
            serde_json::from_value::<UserAction>(json!({ "type": "close", "tabId": 1, "x": 1 }))
                .is_err()
        );
    }
}
