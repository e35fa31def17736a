//! The other side: what the user, the machine and the browser do, which extensions cannot.

use serde::Deserialize;
use serde_json::{Value, json};
use triptych_core::time::Timestamp;

use crate::browser::Browser;
use crate::browser::tab::{Kind, MuteReason, TabId};
use crate::browser::window::WindowId;
use crate::error::Error;
use crate::url::{NEW_TAB, host, resolve};

/// One action of the control side, as `{"type": "activate", "tabId": 1000002}`.
#[derive(Debug, Clone, Deserialize)]
#[serde(
    tag = "type",
    rename_all = "camelCase",
    rename_all_fields = "camelCase",
    deny_unknown_fields
)]
pub enum Control {
    /// The user begins to drag a tab: until it ends, tabs cannot be edited.
    DragBegin {},
    /// The user lets go, having moved a tab to an index.
    DragEnd {
        /// Which tab, if it was moved.
        tab_id: Option<i64>,
        /// Where to.
        index: Option<usize>,
    },
    /// The user clicks a tab.
    Activate {
        /// Which.
        tab_id: i64,
    },
    /// The user adds a tab to the highlighted ones and makes it active, or takes it out of them.
    Toggle {
        /// Which.
        tab_id: i64,
    },
    /// The user highlights everything from the active tab to this one, which becomes active.
    Extend {
        /// Which.
        tab_id: i64,
    },
    /// The user opens a new tab at the end of a window.
    NewTab {
        /// Which window.
        window_id: i64,
    },
    /// The user brings the tab back that was closed last.
    RestoreTab {
        /// The window for it, if its own is gone.
        window_id: i64,
    },
    /// The user loads a page again.
    Reload {
        /// Which tab's.
        tab_id: i64,
    },
    /// The user goes to the previous or the next page; without one nothing happens.
    Traverse {
        /// Which tab.
        tab_id: i64,
        /// To the next one.
        forward: bool,
    },
    /// The user closes a tab.
    Close {
        /// Which.
        tab_id: i64,
    },
    /// The user pins or unpins a tab.
    Pin {
        /// Which.
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
        /// Which.
        tab_id: i64,
        /// The new factor.
        factor: f64,
    },
    /// The user zooms a tab by the steps that the browser offers; where zooming is off nothing happens.
    ZoomStep {
        /// Which.
        tab_id: i64,
        /// 1 for the next larger, -1 for the next smaller, 0 for the default.
        step: i64,
    },
    /// The user opens a URL in a tab.
    Navigate {
        /// Which.
        tab_id: i64,
        /// Where to.
        url: String,
    },
    /// The user does something on a tab's page, with a script to run as part of it.
    Gesture {
        /// Which.
        tab_id: i64,
        /// What the page does.
        script: Option<String>,
    },
    /// The user invokes an extension on a tab: `activeTab` is in effect until it leaves the site.
    Invoke {
        /// On which.
        tab_id: i64,
        /// The extension.
        extension_id: String,
    },
    /// A capture of a tab's sound begins or ends; the tab is muted while it lasts.
    Capture {
        /// Which.
        tab_id: i64,
        /// Whether it is being captured.
        captured: bool,
    },
    /// A tab begins to sound, or stops.
    Audible {
        /// Which.
        tab_id: i64,
        /// Whether it is heard.
        audible: bool,
    },
    /// A tab is frozen, or may run again.
    Freeze {
        /// Which.
        tab_id: i64,
        /// Frozen or not.
        frozen: bool,
    },
    /// Memory is short: the tab that is missed least and may be discarded is.
    MemoryPressure {},
    /// A prerendered page takes the place of a tab, under another id.
    Replace {
        /// Which.
        tab_id: i64,
        /// The page.
        url: String,
    },
    /// The user focuses a window.
    Focus {
        /// Which.
        window_id: i64,
    },
    /// The user closes a window.
    CloseWindow {
        /// Which.
        window_id: i64,
    },
}

impl Browser {
    /// Does an action of the control side; the drag lock does not hold for the user.
    ///
    /// # Errors
    /// `NoTab`, `NoWindow`, then what the action itself refuses.
    pub fn control(&mut self, now: Timestamp, control: Control) -> Result<Value, Error> {
        self.now = self.now.max(now);
        let outcome = self.act(control);
        self.assert_invariants();
        outcome
    }

    fn act(&mut self, control: Control) -> Result<Value, Error> {
        match control {
            Control::DragBegin {} => self.dragging = true,
            Control::DragEnd { tab_id, index } => {
                self.dragging = false;
                if let (Some(tab), Some(index)) = (tab_id, index) {
                    self.move_within(self.tab(TabId(tab))?.id, Some(index))?;
                }
            }
            Control::Activate { tab_id } => {
                let tab = self.tab(TabId(tab_id))?;
                let (tab, window) = (tab.id, tab.window);
                self.focus(window);
                self.activate(tab)?;
            }
            Control::Toggle { tab_id } => self.toggle(TabId(tab_id))?,
            Control::Extend { tab_id } => self.extend(TabId(tab_id))?,
            Control::NewTab { window_id } => return self.user_tab(WindowId(window_id)),
            Control::RestoreTab { window_id } => {
                let fallback = self.window(WindowId(window_id))?.id;
                let (tab, _) = self.restore_closed(fallback)?;
                return Ok(json!({ "tabId": tab.0 }));
            }
            Control::Reload { tab_id } => self.reload_tab(TabId(tab_id))?,
            Control::Traverse { tab_id, forward } => {
                let tab = self.tab(TabId(tab_id))?;
                if let Some(target) = self.history_target(tab, forward) {
                    self.go_to_entry(TabId(tab_id), target)?;
                }
            }
            Control::ZoomStep { tab_id, step } => self.zoom_step(TabId(tab_id), step)?,
            Control::Close { tab_id } => self.close_tab(TabId(tab_id))?,
            Control::Pin { tab_id, pinned } => self.set_pinned(TabId(tab_id), pinned)?,
            Control::MuteSite { tab_id, muted } => self.mute_site(TabId(tab_id), muted)?,
            Control::Zoom { tab_id, factor } if factor.is_finite() && factor > 0.0 => {
                self.zoom_to(TabId(tab_id), factor)?
            }
            Control::Zoom { .. } => {
                return Err(Error::Unsupported("a zoom factor is a number above 0".into()));
            }
            Control::Navigate { tab_id, url } => {
                let url = resolve(&url, "")?;
                let tab = self.tab_mut(TabId(tab_id))?;
                tab.forgets_openers = true;
                let tab = tab.id;
                self.navigate(tab, &url, Kind::Push);
            }
            Control::Gesture { tab_id, script } => self.gesture(self.now, TabId(tab_id), script)?,
            Control::Invoke { tab_id, extension_id } => {
                self.invoke(TabId(tab_id), &extension_id)?
            }
            Control::Capture { tab_id, captured } => {
                self.tab_mut(TabId(tab_id))?.captured = captured;
                self.set_muted(TabId(tab_id), captured, MuteReason::Capture)?;
            }
            Control::Audible { tab_id, audible } => {
                let tab = self.tab(TabId(tab_id))?.id;
                self.set_audible(tab, audible);
            }
            Control::Freeze { tab_id, frozen } => {
                let tab = self.tab(TabId(tab_id))?.id;
                self.set_frozen(tab, frozen);
            }
            Control::MemoryPressure {} => return self.relieve(),
            Control::Replace { tab_id, url } => return self.prerendered(TabId(tab_id), &url),
            Control::Focus { window_id } => self.focus(self.window(WindowId(window_id))?.id),
            Control::CloseWindow { window_id } => self.close_window(WindowId(window_id))?,
        }
        Ok(Value::Null)
    }

    fn toggle(&mut self, id: TabId) -> Result<(), Error> {
        let window = self.window(self.tab(id)?.window)?;
        let (mut set, active) = (window.highlighted.clone(), window.active);
        if set.insert(id) {
            return self.select(id, set);
        }
        set.remove(&id);
        let next = active.filter(|active| *active != id);
        match next.or_else(|| set.first().copied()) {
            Some(next) => self.select(next, set),
            // The only one stays.
            None => Ok(()),
        }
    }

    fn extend(&mut self, id: TabId) -> Result<(), Error> {
        let window = self.window(self.tab(id)?.window)?;
        let to = window.index_of(id).ok_or(Error::NoTab(id.0))?;
        let from = window.active.and_then(|active| window.index_of(active));
        let from = from.unwrap_or(to);
        let between = from.min(to)..=from.max(to);
        let tabs = window.tabs.iter().enumerate();
        let set = tabs.filter(|(index, _)| between.contains(index));
        let set = set.map(|(_, tab)| *tab).collect();
        self.select(id, set)
    }

    /// A new tab of the user's. Once its page comes, who opened whom no longer counts.
    fn user_tab(&mut self, window: WindowId) -> Result<Value, Error> {
        let active = self.window(window)?.active;
        let id = self.new_tab(window);
        let tab = self.tab_mut(id)?;
        tab.opener = active;
        tab.forgets_openers = true;
        self.start(id, NEW_TAB);
        self.insert_new(id, window, None, true)?;
        Ok(json!({ "tabId": id.0 }))
    }

    fn mute_site(&mut self, id: TabId, muted: bool) -> Result<(), Error> {
        let site = host(&self.tab(id)?.url);
        let tabs: Vec<_> =
            self.windows.values().flat_map(|window| window.tabs.iter().copied()).collect();
        for tab in tabs {
            if self.tabs.get(&tab).is_some_and(|tab| host(&tab.url) == site) {
                self.set_muted(tab, muted, MuteReason::User)?;
            }
        }
        Ok(())
    }

    fn invoke(&mut self, id: TabId, extension: &str) -> Result<(), Error> {
        let url = self.tab(id)?.url.clone();
        let known = self.extensions.get_mut(extension);
        known
            .ok_or_else(|| Error::Unsupported("this extension is not installed".into()))?
            .invoke(id.0, &url);
        Ok(())
    }

    /// Discards what is missed least among the tabs that are neither active, pinned, audible nor kept by an extension.
    fn relieve(&mut self) -> Result<Value, Error> {
        let active: Vec<_> = self.windows.values().filter_map(|window| window.active).collect();
        let spared = |tab: &&crate::browser::tab::Tab| {
            tab.discarded
                || !tab.auto_discardable
                || tab.pinned
                || tab.audible
                || active.contains(&tab.id)
        };
        let least = self
            .tabs
            .values()
            .filter(|tab| !spared(tab))
            .min_by_key(|tab| (tab.last_accessed, tab.id))
            .map(|tab| tab.id);
        match least {
            Some(tab) => Ok(json!({ "tabId": self.put_away(tab)?.0 })),
            None => Ok(Value::Null),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::browser::Compat;

    const NOW: Timestamp = Timestamp::from_seconds(1_790_000_000);

    fn first_tab(browser: &Browser) -> i64 {
        browser.tabs.keys().next().unwrap().0
    }

    fn act(browser: &mut Browser, action: Value) -> Result<Value, Error> {
        browser.control(NOW, serde_json::from_value(action).unwrap())
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
        assert!(serde_json::from_value::<Control>(json!({ "type": "explode" })).is_err());
        assert!(
            serde_json::from_value::<Control>(json!({ "type": "close", "tabId": 1, "x": 1 }))
                .is_err()
        );
    }
}
