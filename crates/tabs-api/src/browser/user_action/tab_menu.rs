//! The menu of a tab, the header of a group, and links that open elsewhere.

use serde_json::{Value, json};

use super::perform::tab_id_json;
use super::{LinkPlace, MenuEntry};
use crate::browser::Browser;
use crate::browser::strip::{NewTab, WindowPlacement};
use crate::browser::tab_group::GroupChange;
use crate::browser::window::WindowKind;
use crate::engine::NavigationKind;
use crate::error::Error;
use crate::id::TabId;
use crate::url::resolve;

impl Browser {
    /// Does what an entry of a tab's menu does: for all highlighted tabs where the tab is one of them.
    pub(super) fn choose_from_menu(&mut self, id: TabId, entry: MenuEntry) -> Result<Value, Error> {
        let tab = self.tab(id)?;
        let (window, pinned) = (tab.window, tab.pinned);
        let state = self.window(window)?;
        let index = state.index_of(id).ok_or(Error::NoTab(id.0))?;
        let strip = state.tabs.clone();
        let is_mate = |tab: &&TabId| state.highlighted.contains(tab);
        let chosen: Vec<_> = match state.highlighted.contains(&id) {
            true => strip.iter().filter(is_mate).copied().collect(),
            false => vec![id],
        };
        match entry {
            MenuEntry::NewTab => {
                let opener = state.active;
                let new = NewTab {
                    window,
                    url: None,
                    index: Some(index + 1),
                    active: true,
                    pinned: false,
                    opener,
                };
                return Ok(tab_id_json(self.open_tab(&new)?));
            }
            MenuEntry::NewGroup => {
                let group = self.group_tabs(&chosen, window, None)?;
                return Ok(json!({ "groupId": group.0 }));
            }
            MenuEntry::NewWindow => return self.move_to_new_window(&chosen),
            MenuEntry::Reload => chosen.into_iter().try_for_each(|tab| self.reload_tab(tab))?,
            MenuEntry::Duplicate => return Ok(tab_id_json(self.duplicate_tab(id)?)),
            MenuEntry::Pin => {
                chosen.into_iter().try_for_each(|tab| self.set_pinned(tab, !pinned))?;
            }
            MenuEntry::MuteSite => {
                let is_muted = |id: &TabId| self.tab(*id).is_ok_and(|tab| self.is_site_muted(tab));
                let muted = chosen.iter().all(is_muted);
                self.mute_sites(&chosen, !muted)?;
            }
            MenuEntry::Close => self.close_at_once(&chosen)?,
            MenuEntry::CloseOthers => {
                let is_other = |tab: &TabId| {
                    !chosen.contains(tab) && self.tab(*tab).is_ok_and(|tab| !tab.pinned)
                };
                let others: Vec<_> = strip.into_iter().filter(is_other).collect();
                self.close_at_once(&others)?;
            }
            MenuEntry::CloseRight => {
                let right: Vec<_> = strip.into_iter().skip(index + 1).collect();
                self.close_at_once(&right)?;
            }
        }
        Ok(Value::Null)
    }

    /// Moves tabs into a window of their own, which comes to the front with the first of them.
    fn move_to_new_window(&mut self, tabs: &[TabId]) -> Result<Value, Error> {
        let Some(first) = tabs.first().copied() else { return Err(Error::NoTabsGiven) };
        let incognito = self.window(self.tab(first)?.window)?.incognito;
        let window = self.open_window(WindowKind::Normal, incognito, WindowPlacement::default())?;
        for (index, tab) in tabs.iter().enumerate() {
            self.transfer(*tab, window, Some(index))?;
            if index == 0 {
                self.activate(*tab)?;
            }
        }
        self.give_focus(window);
        Ok(json!({ "windowId": window.0 }))
    }

    /// A click on the header of a group.
    pub(super) fn toggle_group(&mut self, id: i64) -> Result<(), Error> {
        let group = self.group(id)?;
        let (collapsed, window) = (!group.collapsed, group.window);
        let members = self.strips().members(group.id);
        if collapsed && members.iter().any(|tab| self.is_active(*tab)) {
            // The tab in front is one that can be seen: the nearest outside of the group, or a new one.
            let strip = self.window(window)?.tabs.clone();
            let is_seen = |tab: &&TabId| {
                !members.contains(tab)
                    && self.tab(**tab).is_ok_and(|tab| !self.strips().is_hidden(tab))
            };
            let behind = strip.iter().skip_while(|tab| !members.contains(tab)).find(is_seen);
            match behind.or_else(|| strip.iter().rev().find(is_seen)).copied() {
                Some(next) => self.activate(next)?,
                None => drop(self.open_user_tab(window)?),
            }
        }
        let change = GroupChange { collapsed: Some(collapsed), ..GroupChange::default() };
        self.update_group(id, change).map(drop)
    }

    /// Opens a link of a page in the background, in front, or in a window.
    pub(in crate::browser) fn open_link(
        &mut self,
        page: TabId,
        url: &str,
        place: LinkPlace,
    ) -> Result<Value, Error> {
        let url = resolve(url, "")?;
        let tab = self.tab(page)?;
        let window = self.window(tab.window)?;
        if place == LinkPlace::Window || window.kind != WindowKind::Normal {
            let incognito = window.incognito;
            let window =
                self.open_window(WindowKind::Normal, incognito, WindowPlacement::default())?;
            let id = self.open_at_end(window, page, Some(&url))?;
            self.give_focus(window);
            return Ok(tab_id_json(id));
        }
        let index = window.index_of(page).ok_or(Error::NoTab(page.0))?;
        let is_active = place == LinkPlace::Front;
        // In the background it comes behind those that the page opened before.
        let opened = |id: &&TabId| self.tab(**id).is_ok_and(|tab| tab.opener == Some(page));
        let before = window.tabs.iter().skip(index + 1).take_while(opened).count();
        let index = if is_active { index + 1 } else { index + 1 + before };
        // Those that it opened before may have left its group, of which this one is, or have come into one, of which this one is as well.
        let (index, group) = self.place_within(window, index, tab.group);
        let window = window.id;
        if is_active {
            self.forget_openers(window);
        }
        let id = self.add_tab(window);
        let index = self.strips().clamped(self.window(window)?, false, index);
        let tab = self.tab_mut(id)?;
        (tab.opener, tab.group) = (Some(page), group);
        self.insert_into_strip(id, window, index)?;
        self.navigate(id, &url, NavigationKind::Push);
        if is_active {
            self.create_and_activate(id)?;
        } else {
            self.emit_created(id);
        }
        Ok(tab_id_json(id))
    }
}
