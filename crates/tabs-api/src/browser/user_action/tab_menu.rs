//! The menu of a tab, the header of a group, and links that open elsewhere.

use serde_json::{Value, json};

use super::perform::tab_id_json;
use super::{LinkPlace, MenuEntry};
use crate::browser::Browser;
use crate::browser::strip::WindowPlacement;
use crate::browser::tab_group::GroupChange;
use crate::browser::window::WindowKind;
use crate::engine::NavigationKind;
use crate::error::Error;
use crate::id::TabId;
use crate::url::linked;

impl Browser {
    /// Does what an entry of a tab's menu does: for all highlighted tabs where the tab is one of them.
    pub(super) fn choose_from_menu(&mut self, id: TabId, entry: MenuEntry) -> Result<Value, Error> {
        let tab = self.tab(id)?;
        let window = tab.window;
        let strip = self.window(window)?.tabs.clone();
        let chosen = self.chosen_in_menu(id);
        let is_other =
            |tab: &TabId| !chosen.contains(tab) && self.tab(*tab).is_ok_and(|tab| !tab.pinned);
        match entry {
            MenuEntry::NewTab => return Ok(tab_id_json(self.open_user_tab_behind(id)?)),
            MenuEntry::NewGroup => {
                let group = self.group_tabs(&chosen, window, None)?;
                return Ok(json!({ "groupId": group.0 }));
            }
            MenuEntry::NewWindow => return self.move_to_new_window(&chosen),
            MenuEntry::Reload => chosen.into_iter().try_for_each(|tab| self.reload_tab(tab))?,
            MenuEntry::Duplicate => {
                let copies = chosen.into_iter().map(|tab| self.duplicate_tab(tab));
                let copies = copies.collect::<Result<Vec<_>, _>>()?;
                return Ok(copies.last().map_or(Value::Null, |copy| tab_id_json(*copy)));
            }
            MenuEntry::RemoveFromGroup => {
                chosen.into_iter().try_for_each(|tab| self.leave_group(tab))?;
            }
            MenuEntry::Pin => {
                // All are unpinned, the last one first, where each is pinned.
                let is_pinned = |tab: &TabId| self.tab(*tab).is_ok_and(|tab| tab.pinned);
                if chosen.iter().all(is_pinned) {
                    chosen.iter().rev().try_for_each(|tab| self.set_pinned(*tab, false))?;
                } else {
                    chosen.iter().try_for_each(|tab| self.set_pinned(*tab, true))?;
                }
            }
            MenuEntry::MuteSite => {
                let is_muted = |id: &TabId| self.tab(*id).is_ok_and(|tab| self.is_site_muted(tab));
                let muted = chosen.iter().all(is_muted);
                self.mute_sites(&chosen, !muted)?;
            }
            MenuEntry::Close => self.close_at_once(&chosen)?,
            MenuEntry::CloseOthers => {
                let others: Vec<_> = strip.into_iter().filter(is_other).collect();
                self.close_groups_first(&others)?;
            }
            MenuEntry::CloseRight => {
                let behind = strip.into_iter().skip_while(|tab| *tab != id);
                let right: Vec<_> = behind.filter(is_other).collect();
                self.close_groups_first(&right)?;
            }
        }
        Ok(Value::Null)
    }

    /// The tabs that an entry of a tab's menu is for: all highlighted ones where it is one of them.
    pub(crate) fn chosen_in_menu(&self, id: TabId) -> Vec<TabId> {
        let window = self.tab(id).and_then(|tab| self.window(tab.window)).ok();
        let mates = window.filter(|window| window.highlighted.contains(&id));
        let mates = mates.map(|window| {
            window.tabs.iter().filter(|tab| window.highlighted.contains(tab)).copied().collect()
        });
        mates.unwrap_or_else(|| vec![id])
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
        let tab = self.tab(page)?;
        let url = linked(url, tab.base_url())?;
        let window = self.window(tab.window)?;
        if place == LinkPlace::Front {
            let id = self.open_beside_active(page, Some(&url))?;
            self.give_focus(self.tab(id)?.window);
            return Ok(tab_id_json(id));
        }
        if place == LinkPlace::Window || window.kind != WindowKind::Normal {
            let incognito = window.incognito;
            let window =
                self.open_window(WindowKind::Normal, incognito, WindowPlacement::default())?;
            let id = self.open_at_end(window, page, Some(&url))?;
            self.give_focus(window);
            return Ok(tab_id_json(id));
        }
        let index = window.index_of(page).ok_or(Error::NoTab(page.0))?;
        // In the background it comes behind those that the page opened before.
        let opened = |id: &&TabId| self.tab(**id).is_ok_and(|tab| tab.opener == Some(page));
        let before = window.tabs.iter().skip(index + 1).take_while(opened).count();
        let index = index + 1 + before;
        // Those that it opened before may have left its group, of which this one is, or have come into one, of which this one is as well.
        let (index, group) = self.place_within(window, index, tab.group);
        let window = window.id;
        let id = self.add_tab(window);
        let index = self.strips().clamped(self.window(window)?, false, index);
        let tab = self.tab_mut(id)?;
        (tab.opener, tab.group) = (Some(page), group);
        self.insert_into_strip(id, window, index)?;
        self.navigate(id, &url, NavigationKind::Push);
        self.emit_created(id);
        Ok(tab_id_json(id))
    }
}
