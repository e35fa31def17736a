//! Tabs and windows that were closed, for `sessions.getRecentlyClosed` and `sessions.restore`.

mod restore;

use std::collections::{BTreeMap, BTreeSet};

use serde_json::{Value, json};
use triptych_core::time::Timestamp;

use crate::browser::Browser;
use crate::browser::event::Event;
use crate::browser::group::Group;
use crate::browser::tab::Tab;
use crate::browser::window::{Bounds, WindowKind};
use crate::error::Error;
use crate::extension::permission::Access;
use crate::id::{GroupId, TabId, WindowId};

/// The number of closed tabs and windows that are remembered.
pub(crate) const CLOSED_MAX: usize = 25;

/// A tab that was closed.
#[derive(Debug, Clone)]
pub(crate) struct ClosedTab {
    /// The number of its session.
    pub(crate) session: u64,
    pub(crate) tab: Tab,
    /// The group that it was in, as it was.
    pub(crate) group: Option<Group>,
    /// Its place among the tabs of that group.
    pub(crate) place: usize,
    pub(crate) index: usize,
    pub(crate) was_active: bool,
}

/// A window that was closed, with its tabs.
#[derive(Debug, Clone)]
pub(crate) struct ClosedWindow {
    pub(crate) session: u64,
    /// The id that it had.
    pub(crate) id: WindowId,
    pub(crate) kind: WindowKind,
    /// True if it closed with its last tab, and not as a window.
    pub(crate) closed_with_tab: bool,
    pub(crate) bounds: Bounds,
    pub(crate) tabs: Vec<ClosedTab>,
}

impl ClosedWindow {
    /// The tab as which it is shown: the last one of a normal window, which closed with it.
    fn only_tab(&self) -> Option<&ClosedTab> {
        self.tabs.first().filter(|_| self.closed_with_tab && self.kind == WindowKind::Normal)
    }
}

/// An entry of the list.
#[derive(Debug, Clone)]
pub(crate) enum Closed {
    Tab(Box<ClosedTab>),
    Window(ClosedWindow),
}

impl Closed {
    /// The number of its session, which names it among all others: later ones have greater numbers.
    const fn session(&self) -> u64 {
        match self {
            Self::Tab(tab) => tab.session,
            Self::Window(window) => window.session,
        }
    }
}

/// A closed tab or window, and when it closed.
pub(crate) type ClosedEntry = (Timestamp, Closed);

/// Closed tabs and windows, the latest at the end, each with the time.
#[derive(Debug, Default)]
pub(crate) struct ClosedTabs {
    entries: Vec<ClosedEntry>,
    /// The sessions of entries whose rows are no longer true.
    changed: BTreeSet<u64>,
}

impl ClosedTabs {
    /// Those that were kept, by the numbers of their sessions.
    pub(super) fn of(kept: BTreeMap<u64, ClosedEntry>) -> Self {
        Self { entries: kept.into_values().collect(), changed: BTreeSet::new() }
    }

    /// The entry of a session, if it is there.
    pub(crate) fn entry(&self, session: u64) -> Option<&ClosedEntry> {
        self.entries.iter().find(|(_, closed)| closed.session() == session)
    }

    /// The sessions of entries that came, changed or went since the last look.
    pub(crate) fn take_changed(&mut self) -> BTreeSet<u64> {
        std::mem::take(&mut self.changed)
    }

    /// Takes every entry for one that changed.
    pub(super) fn touch_all(&mut self) {
        self.changed.extend(self.entries.iter().map(|(_, closed)| closed.session()));
    }

    fn push(&mut self, at: Timestamp, closed: Closed) {
        if self.entries.len() == CLOSED_MAX {
            self.remove(0);
        }
        self.changed.insert(closed.session());
        self.entries.push((at, closed));
    }

    fn remove(&mut self, at: usize) -> ClosedEntry {
        let entry = self.entries.remove(at);
        self.changed.insert(entry.1.session());
        entry
    }

    fn pop(&mut self) -> Option<ClosedEntry> {
        let last = self.entries.len().checked_sub(1)?;
        Some(self.remove(last))
    }

    /// All tabs among them, those of windows too.
    fn tabs_mut(&mut self) -> impl Iterator<Item = &mut ClosedTab> {
        self.entries.iter_mut().flat_map(|(_, closed)| match closed {
            Closed::Tab(tab) => std::slice::from_mut(&mut **tab),
            Closed::Window(window) => window.tabs.as_mut_slice(),
        })
    }

    /// Notes that a window is back under another id: tabs that were closed in it before belong there.
    fn note_window(&mut self, former: WindowId, window: WindowId) {
        for closed in self.tabs_mut().filter(|closed| closed.tab.window == former) {
            closed.tab.window = window;
        }
        self.touch_all();
    }

    /// Notes that a group is back under another id: tabs that were closed in it before belong there.
    fn note_group(&mut self, former: GroupId, group: GroupId) {
        let groups = self.tabs_mut().filter_map(|closed| closed.group.as_mut());
        for closed in groups.filter(|closed| closed.id == former) {
            closed.id = group;
        }
        self.touch_all();
    }

    /// Takes out what a session names, and the last one without a name. A tab of a window leaves the others there.
    fn take(&mut self, session: Option<&str>) -> Result<(Timestamp, Closed), Error> {
        let Some(session) = session else {
            return self.pop().ok_or(Error::NothingToRestore);
        };
        let unknown = |session: String| Error::NoSession(session);
        let session = local_number(session).ok_or_else(|| unknown(session.to_owned()))?;
        let Some(wanted) = u64::try_from(session).ok().filter(|number| *number > 0) else {
            // No entry has such a number, and to the browser all are alike in that: it takes the last one.
            return self.pop().ok_or_else(|| unknown(session.to_string()));
        };
        let is_it = |number: u64| number == wanted;
        for at in 0..self.entries.len() {
            let Some((time, closed)) = self.entries.get_mut(at) else { continue };
            match closed {
                Closed::Tab(tab) if is_it(tab.session) => return Ok(self.remove(at)),
                Closed::Window(window)
                    if is_it(window.session)
                        || window.only_tab().is_some_and(|tab| is_it(tab.session)) =>
                {
                    return Ok(self.remove(at));
                }
                Closed::Window(window) => {
                    if let Some(place) = window.tabs.iter().position(|tab| is_it(tab.session)) {
                        let taken = (*time, Closed::Tab(Box::new(window.tabs.remove(place))));
                        self.changed.insert(window.session);
                        if window.tabs.is_empty() {
                            self.entries.remove(at);
                        }
                        return Ok(taken);
                    }
                }
                Closed::Tab(_) => {}
            }
        }
        Err(unknown(session.to_string()))
    }
}

/// The number of a session of this device, as the browser reads it: with noughts in front or with a sign as well.
fn local_number(session: &str) -> Option<i32> {
    session.parse().ok()
}

/// True for a number that no session has.
fn names_none(session: Option<&str>) -> bool {
    session.and_then(local_number).is_some_and(|number| number <= 0)
}

/// The device and the number of a session of another one.
pub(super) fn session_elsewhere(session: &str) -> Option<(&str, i32)> {
    let (device, number) = session.split_once('.')?;
    Some((device, local_number(number)?)).filter(|_| !device.is_empty())
}

/// The tab or window that was restored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Restored {
    Tab(TabId),
    Window(WindowId),
    /// A window whose tabs were all in groups.
    Groups(WindowId),
}

impl Browser {
    /// Remembers a tab that closes, the last one of a window as its window; of incognito windows and of popups nothing is, nor is a tab to which no page
    /// ever came.
    pub(in crate::browser) fn remember_tab(&mut self, id: TabId) -> Result<(), Error> {
        let window = self.window(self.tab(id)?.window)?;
        if window.incognito || window.kind != WindowKind::Normal {
            return Ok(());
        }
        if window.tabs.len() == 1 {
            return self.remember_closing(window.id, true);
        }
        if !self.has_come(id) {
            return Ok(());
        }
        let closed = Closed::Tab(Box::new(self.closed_tab(id)?));
        self.remember(closed);
        Ok(())
    }

    /// Remembers a window that closes, with its tabs.
    pub(in crate::browser) fn remember_window(&mut self, id: WindowId) -> Result<(), Error> {
        self.remember_closing(id, false)
    }

    fn remember_closing(&mut self, id: WindowId, closed_with_tab: bool) -> Result<(), Error> {
        let window = self.window(id)?;
        let come = window.tabs.iter().copied().filter(|tab| self.has_come(*tab));
        let come: Vec<_> = come.collect();
        if window.incognito || come.is_empty() {
            return Ok(());
        }
        let (kind, bounds) = (window.kind, window.bounds);
        // The place of the active tab is kept, whichever tabs are left out.
        let active = window.active.and_then(|active| window.index_of(active));
        let active = active.map(|active| active.min(come.len() - 1));
        let session = self.next_number();
        let closed = come.into_iter().map(|tab| self.closed_tab(tab));
        let mut tabs = closed.collect::<Result<Vec<_>, _>>()?;
        for (index, tab) in tabs.iter_mut().enumerate() {
            tab.was_active = active == Some(index);
        }
        let window = ClosedWindow { session, id, kind, closed_with_tab, bounds, tabs };
        self.remember(Closed::Window(window));
        Ok(())
    }

    fn remember(&mut self, closed: Closed) {
        self.closed_tabs.push(self.now, closed);
        self.emit(Event::ClosedChanged);
    }

    /// True if a page came to a tab.
    fn has_come(&self, id: TabId) -> bool {
        self.tab(id).is_ok_and(|tab| !tab.history.is_empty())
    }

    fn closed_tab(&mut self, id: TabId) -> Result<ClosedTab, Error> {
        let session = self.next_number();
        let tab = self.tab(id)?.clone();
        let window = self.window(tab.window)?;
        let index = window.index_of(id).unwrap_or_default();
        let was_active = window.active == Some(id);
        let group = tab.group.and_then(|group| self.strips.group(group)).cloned();
        let members = group.as_ref().map(|group| self.strips.members(group.id));
        let place = members.and_then(|members| members.iter().position(|member| *member == id));
        let place = place.unwrap_or_default();
        Ok(ClosedTab { session, tab, group, place, index, was_active })
    }

    /// Tabs and windows that were closed last, the latest first, as somebody with this access sees it.
    pub(crate) fn recently_closed(&self, count: usize, access: &Access<'_>) -> Vec<Value> {
        let latest = self.closed_tabs.entries.iter().rev().take(count);
        let of_tab = |at: &Timestamp, tab: &ClosedTab| json!({ "lastModified": at.seconds(), "tab": shown(tab, tab.index, false, access) });
        let shown = latest.map(|(at, closed)| match closed {
            Closed::Tab(tab) => of_tab(at, tab),
            Closed::Window(window) => {
                if let Some(tab) = window.only_tab() {
                    return of_tab(at, tab);
                }
                let tabs = window.tabs.iter().enumerate();
                let tabs: Vec<_> =
                    tabs.map(|(index, tab)| shown(tab, index, tab.was_active, access)).collect();
                json!({ "lastModified": at.seconds(), "window": {
                    "alwaysOnTop": false,
                    "focused": false,
                    "incognito": false,
                    "sessionId": window.session.to_string(),
                    "state": "normal",
                    "tabs": tabs,
                    // That it was a popup is not told.
                    "type": WindowKind::Normal.word(),
                } })
            }
        });
        shown.collect()
    }
}

/// A closed tab as the interface shows it; in no window it is not the active one.
fn shown(closed: &ClosedTab, index: usize, is_active: bool, access: &Access<'_>) -> Value {
    let tab = &closed.tab;
    let shown = SessionTab {
        session: closed.session.to_string(),
        index,
        url: &tab.url,
        title: &tab.title,
        pinned: tab.pinned,
        is_active,
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
