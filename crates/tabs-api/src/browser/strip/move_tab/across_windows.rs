//! Moves from one window to another.

use std::collections::BTreeSet;

use crate::browser::Browser;
use crate::browser::event::Event;
use crate::browser::strip::removal::Removal;
use crate::browser::window::WindowKind;
use crate::error::Error;
use crate::id::{TabId, WindowId};

impl Browser {
    /// Moves a tab to a normal window, where it splits no group.
    pub(crate) fn move_across(
        &mut self,
        id: TabId,
        target: WindowId,
        index: Option<usize>,
    ) -> Result<(), Error> {
        let state = self.window(target)?;
        if state.kind != WindowKind::Normal {
            return Err(Error::NotNormalWindow);
        }
        // It is judged by the strip as it is, where it is this tab's own; where the pinned ones end is asked once the tab is out of it.
        let index = index.unwrap_or(usize::MAX).min(state.tabs.len());
        if self.strips.group_around(state, index).is_some() {
            return Err(Error::GroupContinuity);
        }
        if self.tab(id)?.window == target && state.tabs.len() == 1 {
            return Ok(());
        }
        self.transfer(id, target, Some(index))
    }

    /// Detaches a tab from its window and attaches it to another, inactive.
    pub(in crate::browser) fn transfer(
        &mut self,
        id: TabId,
        window: WindowId,
        index: Option<usize>,
    ) -> Result<(), Error> {
        self.detach(id)?;
        self.attach(id, window, index)
    }

    /// Makes a tab of another window the one tab of a new window.
    pub(crate) fn fill_window_with(&mut self, window: WindowId, tab: TabId) -> Result<(), Error> {
        self.transfer(tab, window, Some(0))?;
        // The page of a discarded one comes only as the window does.
        let is_new = self.mark_selected(tab, tab, BTreeSet::from([tab]))?;
        if is_new && !self.tab(tab)?.discarded {
            self.run_shown_page(tab)?;
        }
        // A copy that waited in the background is to be seen there.
        self.show_in_front(window);
        Ok(())
    }

    /// Opens pages in a new window, and brings a tab of another one behind them; the first page is active in the end.
    pub(crate) fn fill_window_in_front_of(
        &mut self,
        window: WindowId,
        urls: &[String],
        tab: TabId,
    ) -> Result<(), Error> {
        let first = self.open_pages(window, urls)?;
        self.transfer(tab, window, None)?;
        self.activate_unless_active(first)
    }

    /// Takes a tab out of its window, for another one.
    fn detach(&mut self, id: TabId) -> Result<(), Error> {
        let removal = self.take_out(id)?;
        self.settle_left_window(&[removal])
    }

    /// Takes a tab out of its window and tells that, but nothing of those that stay: the active one shows its group.
    pub(in crate::browser) fn take_out(&mut self, id: TabId) -> Result<Removal, Error> {
        let removal = self.lift_out(id)?;
        self.show_groups_of_highlighted(&removal)?;
        self.emit_detached(id, &removal);
        Ok(removal)
    }

    /// The same with a tab whose group goes along, to which the active one shows nothing.
    pub(in crate::browser) fn take_out_with_group(&mut self, id: TabId) -> Result<Removal, Error> {
        let removal = self.lift_out(id)?;
        self.emit_detached(id, &removal);
        Ok(removal)
    }

    fn emit_detached(&mut self, id: TabId, removal: &Removal) {
        let (window, index) = (removal.window, removal.index);
        self.emit(Event::TabDetached { tab: id.0, window: window.0, index });
    }

    fn lift_out(&mut self, id: TabId) -> Result<Removal, Error> {
        self.end_alert(id);
        let group = self.tab(id)?.group;
        self.clear_pin_and_group(id, &[])?;
        let removal = self.remove_from_strip(id, group)?;
        // What opened it stays behind.
        let tab = self.tab_mut(id)?;
        (tab.opener, tab.is_typed) = (None, false);
        Ok(removal)
    }

    /// Tells once what the leaving of tabs of one window did to those that stay; an empty window goes at the end of the call.
    pub(in crate::browser) fn settle_left_window(
        &mut self,
        removals: &[Removal],
    ) -> Result<(), Error> {
        let Some(window) = removals.last().map(|removal| removal.window) else {
            return Ok(());
        };
        if self.window(window)?.tabs.is_empty() {
            self.emptied_windows.push(window);
            return Ok(());
        }
        let active = self.window(window)?.active;
        self.emit_after_removal(&Removal::of_all(removals, window, active))
    }

    /// Puts a tab that stands nowhere into a window, inactive.
    pub(in crate::browser) fn attach(
        &mut self,
        id: TabId,
        window: WindowId,
        index: Option<usize>,
    ) -> Result<(), Error> {
        let target = self.window(window)?;
        let (pinned, end) = (self.tab(id)?.pinned, target.tabs.len());
        let index = self.strips.clamped(target, pinned, index.unwrap_or(end));
        self.insert_into_strip(id, window, index)?;
        self.emit(Event::TabAttached { tab: id.0, window: window.0, index });
        // Whatever froze it is left behind.
        self.tab_mut(id)?.is_to_freeze = false;
        self.unfreeze_soon(id);
        Ok(())
    }
}
