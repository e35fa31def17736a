//! Tabs and windows that were closed, for `sessions.getRecentlyClosed` and `sessions.restore`.

use serde_json::{Value, json};
use triptych_core::time::Timestamp;

use crate::browser::Browser;
use crate::browser::event::Event;
use crate::browser::group::Group;
use crate::browser::strip::WindowPlacement;
use crate::browser::tab::{Status, Tab};
use crate::browser::window::{Bounds, WindowKind};
use crate::engine::NavigationKind;
use crate::error::Error;
use crate::extension::permission::Access;
use crate::id::{TabId, WindowId};

/// The number of closed tabs and windows that are remembered.
pub(crate) const CLOSED_MAX: usize = 25;

/// A tab that was closed.
#[derive(Debug, Clone)]
struct ClosedTab {
    /// The number of its session.
    session: u64,
    tab: Tab,
    /// The group that it was in, as it was.
    group: Option<Group>,
    index: usize,
    was_active: bool,
}

/// A window that was closed, with its tabs.
#[derive(Debug, Clone)]
struct ClosedWindow {
    session: u64,
    kind: WindowKind,
    bounds: Bounds,
    tabs: Vec<ClosedTab>,
}

#[derive(Debug, Clone)]
enum Closed {
    Tab(Box<ClosedTab>),
    Window(ClosedWindow),
}

/// Closed tabs and windows, the latest at the end, each with the time.
#[derive(Debug, Default)]
pub(super) struct ClosedTabs(Vec<(Timestamp, Closed)>);

impl ClosedTabs {
    fn push(&mut self, at: Timestamp, closed: Closed) {
        if self.0.len() == CLOSED_MAX {
            self.0.remove(0);
        }
        self.0.push((at, closed));
    }

    /// Takes out what a session names, and the last one without a name. A tab of a window leaves the others there.
    fn take(&mut self, session: Option<&str>) -> Result<(Timestamp, Closed), Error> {
        let Some(session) = session else {
            return self.0.pop().ok_or(Error::NothingToRestore);
        };
        let is_it = |number: u64| number.to_string() == session;
        for at in 0..self.0.len() {
            let Some((time, closed)) = self.0.get_mut(at) else { continue };
            match closed {
                Closed::Tab(tab) if is_it(tab.session) => return Ok(self.0.remove(at)),
                Closed::Window(window) if is_it(window.session) => return Ok(self.0.remove(at)),
                Closed::Window(window) => {
                    if let Some(place) = window.tabs.iter().position(|tab| is_it(tab.session)) {
                        let taken = (*time, Closed::Tab(Box::new(window.tabs.remove(place))));
                        if window.tabs.is_empty() {
                            self.0.remove(at);
                        }
                        return Ok(taken);
                    }
                }
                Closed::Tab(_) => {}
            }
        }
        Err(Error::NoSession(session.to_owned()))
    }
}

/// The tab or window that was restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Restored {
    Tab(TabId),
    Window(WindowId),
}

impl Browser {
    /// Remembers a tab that closes; of incognito windows nothing is.
    pub(in crate::browser) fn remember_tab(&mut self, id: TabId) -> Result<(), Error> {
        let window = self.tab(id)?.window;
        if !self.window(window)?.incognito {
            let closed = Closed::Tab(Box::new(self.closed_tab(id)?));
            self.closed_tabs.push(self.now, closed);
        }
        Ok(())
    }

    /// Remembers a window that closes, with its tabs.
    pub(in crate::browser) fn remember_window(&mut self, id: WindowId) -> Result<(), Error> {
        let window = self.window(id)?;
        if window.incognito || window.tabs.is_empty() {
            return Ok(());
        }
        let (kind, bounds, tabs) = (window.kind, window.bounds, window.tabs.clone());
        let session = self.next_number();
        let tabs = tabs.into_iter().map(|tab| self.closed_tab(tab)).collect::<Result<_, _>>()?;
        let closed = Closed::Window(ClosedWindow { session, kind, bounds, tabs });
        self.closed_tabs.push(self.now, closed);
        Ok(())
    }

    fn closed_tab(&mut self, id: TabId) -> Result<ClosedTab, Error> {
        let session = self.next_number();
        let tab = self.tab(id)?.clone();
        let window = self.window(tab.window)?;
        let index = window.index_of(id).unwrap_or_default();
        let was_active = window.active == Some(id);
        let group = tab.group.and_then(|group| self.strips.group(group)).cloned();
        Ok(ClosedTab { session, tab, group, index, was_active })
    }

    /// Tabs and windows that were closed last, the latest first, as somebody with this access sees it.
    pub(crate) fn recently_closed(&self, count: usize, access: &Access<'_>) -> Vec<Value> {
        let latest = self.closed_tabs.0.iter().rev().take(count);
        let shown = latest.map(|(at, closed)| match closed {
            Closed::Tab(tab) => {
                json!({ "lastModified": at.seconds(), "tab": shown(tab, tab.index, access) })
            }
            Closed::Window(window) => {
                let tabs = window.tabs.iter().enumerate();
                let tabs: Vec<_> = tabs.map(|(index, tab)| shown(tab, index, access)).collect();
                json!({ "lastModified": at.seconds(), "window": {
                    "alwaysOnTop": false,
                    "focused": false,
                    "incognito": false,
                    "sessionId": window.session.to_string(),
                    "state": "normal",
                    "tabs": tabs,
                    "type": window.kind.word(),
                } })
            }
        });
        shown.collect()
    }

    /// Brings back what a session names, or what was closed last, and returns when that was. A tab opens in `fallback` where its window
    /// is gone.
    pub(crate) fn restore_closed(
        &mut self,
        session: Option<&str>,
        fallback: WindowId,
    ) -> Result<(Restored, Timestamp), Error> {
        let (at, closed) = self.closed_tabs.take(session)?;
        let restored = match closed {
            Closed::Tab(tab) => Restored::Tab(self.restore_tab(&tab, fallback)?),
            Closed::Window(window) => Restored::Window(self.restore_window(&window)?),
        };
        Ok((restored, at))
    }

    /// Opens a tab where it stood: in its group, wherever that is by now. One that is gone comes back with it.
    fn restore_tab(&mut self, closed: &ClosedTab, fallback: WindowId) -> Result<TabId, Error> {
        let group = closed.group.as_ref().and_then(|group| self.strips.group(group.id));
        let home = group.map_or(closed.tab.window, |group| group.window);
        let group = group.map(|group| group.id);
        let window = self.strips.window(home).map_or(fallback, |window| window.id);
        let id = self.add_restored(window, &closed.tab)?;
        // In a window that its group moved to it loads once that is in front.
        let is_elsewhere = group.is_some() && home != closed.tab.window;
        if is_elsewhere {
            self.tab_mut(id)?.status = Status::Unloaded;
        } else {
            self.navigate(id, &closed.tab.url, NavigationKind::Restore);
        }
        let state = self.window(window)?;
        let index = self.strips.clamped(state, closed.tab.pinned, closed.index);
        let index = match group {
            Some(_) => self.place_within(state, index, group).0,
            None => self.strips.behind_group(state, index),
        };
        self.insert_into_strip(id, window, index)?;
        self.tab_mut(id)?.group = group;
        self.create_and_activate(id)?;
        self.expand_around(id)?;
        if let Some(gone) = closed.group.as_ref().filter(|_| group.is_none()) {
            self.restore_group(id, gone)?;
        }
        self.give_focus(window);
        if is_elsewhere {
            self.navigate(id, &closed.tab.url, NavigationKind::Restore);
        }
        Ok(id)
    }

    /// Makes a group again that is gone, around a tab of it: first as any new one, then with the title and the colour that it had.
    fn restore_group(&mut self, tab: TabId, gone: &Group) -> Result<(), Error> {
        let window = self.tab(tab)?.window;
        let color = self.least_used_color(window).to_owned();
        let title = String::new();
        let new = Group { window, color, title, collapsed: false, ..gone.clone() };
        let restored = Group { window, collapsed: false, ..gone.clone() };
        self.strips.add_group(new.clone());
        self.change_group_in_place(tab, Some(gone.id))?;
        self.emit(Event::GroupCreated(new.clone()));
        self.emit(Event::GroupUpdated(new));
        self.strips.add_group(restored.clone());
        self.emit(Event::GroupUpdated(restored.clone()));
        self.emit(Event::GroupUpdated(restored));
        Ok(())
    }

    /// Opens a window with the tabs that it had. The page of its active tab loads; those of the others wait until they are shown.
    fn restore_window(&mut self, closed: &ClosedWindow) -> Result<WindowId, Error> {
        let placement = WindowPlacement {
            left: Some(closed.bounds.left),
            top: Some(closed.bounds.top),
            width: Some(closed.bounds.width),
            height: Some(closed.bounds.height),
            state: None,
        };
        let window = self.open_window(closed.kind, false, placement)?;
        let mut shown = None;
        for (index, tab) in closed.tabs.iter().enumerate() {
            let id = self.add_restored(window, &tab.tab)?;
            self.tab_mut(id)?.status = Status::Unloaded;
            self.insert_into_strip(id, window, index)?;
            // A window shows its first tab until the one comes that was active.
            if index == 0 || tab.was_active {
                self.create_and_activate(id)?;
            } else {
                self.emit_created(id);
            }
            if tab.was_active {
                shown = Some(id);
            }
        }
        if let Some(id) = shown.or(self.window(window)?.active) {
            if self.window(window)?.active != Some(id) {
                self.activate(id)?;
            }
            let url = self.tab(id)?.url.clone();
            self.navigate(id, &url, NavigationKind::Restore);
        }
        self.give_focus(window);
        Ok(window)
    }

    /// Adds a tab with the address and the history of one that was closed.
    fn add_restored(&mut self, window: WindowId, closed: &Tab) -> Result<TabId, Error> {
        let id = self.add_tab(window);
        let tab = self.tab_mut(id)?;
        tab.pinned = closed.pinned;
        tab.url.clone_from(&closed.url);
        tab.title.clone_from(&closed.title);
        tab.history.clone_from(&closed.history);
        tab.history_at = closed.history_at;
        Ok(id)
    }
}

/// A closed tab as the interface shows it.
fn shown(closed: &ClosedTab, index: usize, access: &Access<'_>) -> Value {
    let tab = &closed.tab;
    let shown = SessionTab {
        session: closed.session.to_string(),
        index,
        url: &tab.url,
        title: &tab.title,
        pinned: tab.pinned,
        is_active: closed.was_active,
        last_accessed: tab.last_accessed,
    };
    shown.shown(tab.id.0, access)
}

/// A tab that is not open here: it has a session and no id.
#[derive(Debug)]
pub(super) struct SessionTab<'s> {
    pub(super) session: String,
    pub(super) index: usize,
    pub(super) url: &'s str,
    pub(super) title: &'s str,
    pub(super) pinned: bool,
    pub(super) is_active: bool,
    pub(super) last_accessed: Timestamp,
}

impl SessionTab<'_> {
    /// The tab as the interface shows it to somebody with this access; `id` is the one that it had.
    pub(super) fn shown(&self, id: i64, access: &Access<'_>) -> Value {
        let mut members = json!({
            "active": self.is_active,
            "autoDiscardable": false,
            "discarded": false,
            "frozen": false,
            "groupId": 0,
            "highlighted": false,
            "incognito": false,
            "index": self.index,
            "lastAccessed": self.last_accessed.micros() / 1_000,
            "pinned": self.pinned,
            "selected": false,
            "sessionId": self.session,
            "windowId": 0,
        });
        if let Some(members) = members.as_object_mut().filter(|_| access.sees(id, self.url)) {
            members.insert("title".into(), self.title.into());
            members.insert("url".into(), self.url.into());
        }
        members
    }
}
