//! The user's actions, each handed on to what keeps its rules.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::UserAction;
use crate::browser::Browser;
use crate::browser::closed::Restored;
use crate::browser::strip::WindowPlacement;
use crate::browser::window::WindowKind;
use crate::engine::NavigationKind;
use crate::error::Error;
use crate::id::{GroupId, TabId, WINDOW_ID_NONE, WindowId};
use crate::url::typed;

impl Browser {
    pub(super) fn perform(&mut self, action: UserAction) -> Result<Value, Error> {
        match action {
            UserAction::DragBegin {} => self.is_dragging = true,
            UserAction::DragEnd { tab_id, index } => {
                self.is_dragging = false;
                if let (Some(tab), Some(index)) = (tab_id, index) {
                    self.move_within(self.tab(TabId(tab))?.id, Some(index))?;
                }
            }
            UserAction::Drag { tab_ids, window_id, index } => {
                self.drag(&tab_ids, window_id.map(WindowId), index)?
            }
            UserAction::DragOut { tab_ids } => {
                let tabs = self.dragged(&tab_ids)?;
                return Ok(json!({ "windowId": self.drag_out(&tabs)?.0 }));
            }
            UserAction::DragGroup { group_id, index } => {
                self.drag_group(GroupId(group_id), index)?
            }
            UserAction::ToggleGroup { group_id } => self.toggle_group(group_id)?,
            UserAction::ChooseFromMenu { tab_id, entry } => {
                return self.choose_from_menu(TabId(tab_id), entry);
            }
            UserAction::OpenLink { tab_id, url, place } => {
                return self.open_link(TabId(tab_id), &url, place);
            }
            UserAction::NewWindow { incognito } => {
                let window =
                    self.open_window(WindowKind::Normal, incognito, WindowPlacement::default())?;
                self.fill_window(window, &[])?;
                self.give_focus(window);
                return Ok(json!({ "windowId": window.0 }));
            }
            UserAction::Activate { tab_id } => {
                let tab = self.tab(TabId(tab_id))?;
                let (tab, window) = (tab.id, tab.window);
                self.give_focus(window);
                self.forget_openers_on_show(tab);
                self.activate(tab)?;
            }
            UserAction::Toggle { tab_id } => self.toggle(TabId(tab_id))?,
            UserAction::Extend { tab_id, adds } => self.extend(TabId(tab_id), adds)?,
            UserAction::MoveBy { tab_id, forward } => self.move_by_one(TabId(tab_id), forward)?,
            UserAction::NewTab { window_id } => {
                let window = self.window(WindowId(window_id))?.id;
                let normal = self.normal_window(window)?;
                let tab = self.open_user_tab(normal)?;
                if normal != window {
                    self.give_focus(normal);
                }
                return Ok(tab_id_json(tab));
            }
            UserAction::RestoreTab { window_id } => {
                self.window(WindowId(window_id))?;
                return Ok(match self.restore_closed(None) {
                    Ok((Restored::Tab(tab), _)) => tab_id_json(tab),
                    Ok((Restored::Window(window) | Restored::Groups(window), _)) => {
                        json!({ "windowId": window.0 })
                    }
                    Err(Error::NothingToRestore) => Value::Null,
                    Err(error) => return Err(error),
                });
            }
            UserAction::DismissAlert { tab_id, accepted } => {
                self.dismiss_alert(TabId(tab_id), accepted)?
            }
            UserAction::Reload { tab_id } => self.reload_tab(TabId(tab_id))?,
            UserAction::Traverse { tab_id, forward } => {
                let tab = self.tab(TabId(tab_id))?;
                if let Some(target) = self.history_target(tab, forward) {
                    self.go_to_entry(TabId(tab_id), target)?;
                }
            }
            UserAction::ZoomStep { tab_id, step } => self.zoom_step(TabId(tab_id), step)?,
            UserAction::Close { tab_id } => self.leave_tab(TabId(tab_id))?,
            UserAction::Pin { tab_id, pinned } => self.set_pinned(TabId(tab_id), pinned)?,
            UserAction::MuteSite { tab_id, muted } => self.mute_sites(&[TabId(tab_id)], muted)?,
            UserAction::Zoom { tab_id, factor } if factor.is_finite() && factor > 0.0 => {
                self.zoom_to(TabId(tab_id), factor)?
            }
            UserAction::Zoom { .. } => {
                return Err(Error::BadAction("a zoom factor is a number above 0"));
            }
            UserAction::Navigate { tab_id, url } => {
                let url = typed(&url)?;
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
                self.set_captured(TabId(tab_id), captured)?
            }
            UserAction::Audible { tab_id, audible } => {
                let tab = self.tab(TabId(tab_id))?.id;
                self.set_sounding(tab, audible);
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
            UserAction::SyncDevice { name, pages } => self.sync_device(name, pages)?,
            UserAction::OpenWindow { kind, url, incognito } => {
                return self.open_window_of_kind(&kind, &url, incognito);
            }
            UserAction::Focus { window_id: WINDOW_ID_NONE } => {
                if let Some(window) = self.focus.last() {
                    self.take_focus(window);
                }
            }
            UserAction::Focus { window_id } => {
                self.give_focus(self.window(WindowId(window_id))?.id)
            }
            UserAction::CloseWindow { window_id } => self.leave_window(WindowId(window_id))?,
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
        let kind = WindowKind::named(kind)
            .ok_or(Error::BadAction("a window is normal, popup, panel, app or devtools"))?;
        let url = typed(url)?;
        let window = self.open_window(kind, incognito, WindowPlacement::default())?;
        self.fill_window(window, &[url])?;
        if kind.lists_tabs() {
            self.give_focus(window);
        }
        Ok(json!({ "windowId": window.0 }))
    }

    /// Adds a tab to the highlighted ones, or takes it out of them; the only one stays. An active one hands over to the first of the others.
    fn toggle(&mut self, id: TabId) -> Result<(), Error> {
        let window = self.window(self.tab(id)?.window)?;
        if !window.highlighted.contains(&id) {
            return self.highlight(id);
        }
        let others: BTreeSet<_> =
            window.highlighted.iter().filter(|tab| **tab != id).copied().collect();
        let first = window.tabs.iter().find(|tab| others.contains(tab)).copied();
        let next = window.active.filter(|active| *active != id).or(first);
        next.map_or(Ok(()), |next| self.select(next, others))
    }

    /// Highlights everything from the active tab to this one, beside what is highlighted already or in place of it.
    fn extend(&mut self, id: TabId, adds: bool) -> Result<(), Error> {
        let window = self.window(self.tab(id)?.window)?;
        let to = window.index_of(id).ok_or(Error::NoTab(id.0))?;
        let start = window.anchor.filter(|anchor| window.tabs.contains(anchor)).or(window.active);
        let start = start.unwrap_or(id);
        let from = window.index_of(start).unwrap_or(to);
        let between = from.min(to)..=from.max(to);
        let tabs = window.tabs.iter().enumerate();
        let set = tabs.filter(|(index, _)| between.contains(index)).map(|(_, tab)| *tab);
        let kept = window.highlighted.iter().filter(|_| adds).copied();
        let set = set.chain(kept).collect();
        self.select_from(start, id, set)
    }
}

pub(super) fn tab_id_json(id: TabId) -> Value {
    json!({ "tabId": id.0 })
}
