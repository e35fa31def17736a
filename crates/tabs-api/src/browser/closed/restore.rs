//! Closed tabs and windows come back: a tab to its group or the place where it stood, a window with its groups.

use std::collections::BTreeSet;

use triptych_core::time::Timestamp;

use super::{Closed, ClosedTab, ClosedWindow, Restored, names_none};
use crate::browser::Browser;
use crate::browser::event::Event;
use crate::browser::group::Group;
use crate::browser::strip::WindowPlacement;
use crate::browser::tab::{HistoryEntry, Status, Tab};
use crate::browser::window::WindowKind;
use crate::engine::NavigationKind;
use crate::error::Error;
use crate::id::{GroupId, TabId, WindowId};

impl Browser {
    /// Brings back what a session names, or what was closed last, and returns when that was.
    pub(crate) fn restore_closed(
        &mut self,
        session: Option<&str>,
    ) -> Result<(Restored, Timestamp), Error> {
        let (at, closed) = self.closed_tabs.take(session)?;
        let restored = match closed {
            Closed::Tab(tab) => Restored::Tab(self.restore_tab(&tab)?),
            Closed::Window(window) => {
                let id = self.restore_window(&window)?;
                let first = self.window(id)?.tabs.first().copied();
                let only = self.window(id)?.active.filter(|_| window.only_tab().is_some());
                match only {
                    Some(tab) => Restored::Tab(tab),
                    // As the browser took it by no number of its own, it tells of one of its tabs.
                    _ if names_none(session) => first.map_or(Restored::Window(id), Restored::Tab),
                    None if window.tabs.iter().all(|tab| tab.group.is_some()) => {
                        Restored::Groups(id)
                    }
                    None => Restored::Window(id),
                }
            }
        };
        // Once as it leaves the list, and once as the browser has it no longer; both are heard behind what came back.
        self.emit(Event::ClosedChanged);
        self.emit(Event::ClosedChanged);
        Ok((restored, at))
    }

    /// Opens a tab where it stood: in its group, wherever that is by now. A group that is gone comes back with it, and a window that is gone as a new
    /// one, which stands for that from then on.
    fn restore_tab(&mut self, closed: &ClosedTab) -> Result<TabId, Error> {
        let group = closed.group.as_ref().and_then(|group| self.strips.group(group.id));
        let home = group.map_or(closed.tab.window, |group| group.window);
        let group = group.map(|group| group.id);
        let window = match self.strips.window(home) {
            Some(window) => window.id,
            None => {
                let placement = WindowPlacement::default();
                let window = self.open_window(WindowKind::Normal, false, placement)?;
                self.closed_tabs.note_window(home, window);
                window
            }
        };
        let id = self.add_restored(window, &closed.tab)?;
        // In a window behind it loads once that is in front.
        let is_behind = self.focus.front() != Some(window);
        if is_behind {
            self.tab_mut(id)?.status = Status::Unloaded;
        } else {
            self.navigate(id, &closed.tab.url, NavigationKind::Restore);
        }
        let state = self.window(window)?;
        let index = self.strips.clamped(state, closed.tab.pinned, closed.index);
        let index = match group {
            Some(group) => {
                let members = self.strips.members(group);
                let first = members.first().and_then(|member| state.index_of(*member));
                first.unwrap_or(index) + closed.place.min(members.len())
            }
            None => self.strips.behind_group(state, index),
        };
        self.insert_into_strip(id, window, index)?;
        self.tab_mut(id)?.group = group;
        self.create_and_activate(id)?;
        if let Some(gone) = closed.group.as_ref().filter(|_| group.is_none()) {
            self.restore_group(id, gone)?;
        }
        self.give_focus(window);
        if is_behind {
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
        let restored = Group { window, ..gone.clone() };
        self.strips.add_group(new.clone());
        self.change_group_in_place(tab, Some(gone.id))?;
        self.emit(Event::GroupCreated(new.clone()));
        self.emit(Event::GroupUpdated(new));
        self.strips.add_group(restored.clone());
        self.emit(Event::GroupUpdated(restored.clone()));
        self.emit(Event::GroupUpdated(restored));
        Ok(())
    }

    /// Opens a window with the tabs that it had. The page of its active tab loads at once; those of the others come one after the other, or as they are
    /// shown. Its groups open as new ones, and their pages are loaded anew.
    fn restore_window(&mut self, closed: &ClosedWindow) -> Result<WindowId, Error> {
        let placement = WindowPlacement {
            left: Some(closed.bounds.left),
            top: Some(closed.bounds.top),
            width: Some(closed.bounds.width),
            height: Some(closed.bounds.height),
            state: None,
        };
        let window = self.open_window(closed.kind, false, placement)?;
        self.closed_tabs.note_window(closed.id, window);
        let mut shown = None;
        let mut reopened: Vec<Group> = Vec::new();
        let mut seen = BTreeSet::new();
        let mut hidden = Vec::new();
        for tab in &closed.tabs {
            if let Some(group) = &tab.group {
                if seen.insert(group.id) {
                    let is_mate = |other: &&ClosedTab| {
                        other.group.as_ref().is_some_and(|of| of.id == group.id)
                    };
                    let members: Vec<_> = closed.tabs.iter().filter(is_mate).collect();
                    reopened.push(self.reopen_group(window, group, &members)?);
                }
                continue;
            }
            let id = self.add_restored(window, &tab.tab)?;
            self.tab_mut(id)?.status = Status::Unloaded;
            hidden.push(id);
            let state = self.window(window)?;
            let (end, is_first) = (state.tabs.len(), state.active.is_none());
            self.insert_into_strip(id, window, end)?;
            // A window shows its first tab until the one comes that was active.
            if is_first || tab.was_active {
                self.create_and_activate(id)?;
            } else {
                self.emit_created(id);
            }
            if tab.was_active {
                shown = Some(id);
                self.give_focus(window);
            }
        }
        for group in reopened {
            self.dress_group(&group);
        }
        if let Some(id) = shown.or(self.window(window)?.active) {
            self.activate_unless_active(id)?;
            let tab = self.tab(id)?;
            if tab.status == Status::Unloaded {
                let url = tab.url.clone();
                self.navigate(id, &url, NavigationKind::Restore);
            }
        }
        self.give_focus(window);
        self.load_in_background(hidden);
        Ok(window)
    }

    /// Opens the tabs of a group at the end of a window, and makes them a new group: first as any other, then with its title and its colour.
    /// Gives it as it was, under its new id.
    fn reopen_group(
        &mut self,
        window: WindowId,
        closed: &Group,
        members: &[&ClosedTab],
    ) -> Result<Group, Error> {
        let mut tabs = Vec::new();
        for member in members {
            let opener = self.window(window)?.active;
            let id = self.add_tab(window);
            self.tab_mut(id)?.opener = opener;
            self.load_first_page(id, &member.tab.url);
            let end = self.window(window)?.tabs.len();
            self.insert_into_strip(id, window, end)?;
            match opener {
                None => self.create_and_activate(id)?,
                Some(_) => self.emit_created(id),
            }
            tabs.push(id);
        }
        let id = GroupId(self.next_id());
        let color = self.least_used_color(window).to_owned();
        let new = Group { id, window, color, title: String::new(), collapsed: false };
        self.strips.add_group(new.clone());
        for tab in tabs {
            self.change_group_in_place(tab, Some(id))?;
        }
        self.emit(Event::GroupCreated(new.clone()));
        self.emit(Event::GroupUpdated(new));
        self.closed_tabs.note_group(closed.id, id);
        let former = Group { id, window, ..closed.clone() };
        self.dress_group(&Group { collapsed: false, ..former.clone() });
        Ok(former)
    }

    /// Gives a group the title and the colour that it had, and collapses it if it was.
    fn dress_group(&mut self, group: &Group) {
        self.strips.add_group(group.clone());
        self.emit(Event::GroupUpdated(group.clone()));
        if group.collapsed {
            self.set_collapsed(group.id, true);
        }
    }

    /// Adds a tab with the address and the history of one that was closed.
    fn add_restored(&mut self, window: WindowId, closed: &Tab) -> Result<TabId, Error> {
        let id = self.add_tab(window);
        let tab = self.tab_mut(id)?;
        tab.pinned = closed.pinned;
        tab.url.clone_from(&closed.url);
        tab.title.clone_from(&closed.title);
        // The pages that were kept for going back are gone with the tab, and so are the icons of all of them.
        let bare = |entry: &HistoryEntry| HistoryEntry {
            kept: None,
            icon: None,
            context_group: id,
            ..entry.clone()
        };
        tab.history = closed.history.iter().map(bare).collect();
        tab.history_at = closed.history_at;
        Ok(id)
    }
}
