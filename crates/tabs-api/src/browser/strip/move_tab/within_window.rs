//! Moves within a window.

use crate::browser::Browser;
use crate::browser::event::{Change, Event};
use crate::browser::window::Window;
use crate::error::Error;
use crate::id::{GROUP_ID_NONE, GroupId, TabId};

impl Browser {
    /// Moves a tab within its window; pinned ones stay in front, and a group takes what comes between its tabs.
    pub(crate) fn move_within(&mut self, id: TabId, index: Option<usize>) -> Result<(), Error> {
        let tab = self.tab(id)?;
        let (pinned, group) = (tab.pinned, tab.group);
        let without = self.window(tab.window)?.without(&[id]);
        let to = self.strips.clamped(&without, pinned, index.unwrap_or(usize::MAX));
        let new_group = self.group_at(&without, to, group);
        if new_group != group {
            self.tab_mut(id)?.group = new_group;
            let group = Some(new_group.map_or(GROUP_ID_NONE, |group| group.0));
            self.emit_updated_as_at(id, to, Change { group, ..Change::default() })?;
        }
        self.move_to_index(id, to, &[(id, group)])?;
        if new_group != group && self.is_active(id) {
            self.expand_around(id)?;
        }
        if let Some(group) = group {
            self.drop_group_if_empty(group);
        }
        Ok(())
    }

    /// The group of a tab that comes to stand at `to` in a strip without it: the one around, or its own where that one is beside it.
    fn group_at(&self, without: &Window, to: usize, own: Option<GroupId>) -> Option<GroupId> {
        if let Some(around) = self.strips.group_around(without, to) {
            return Some(around);
        }
        let own = own?;
        let group = |index: usize| self.strips.group_at(without, index);
        let is_beside = group(to) == Some(own) || to.checked_sub(1).and_then(group) == Some(own);
        let is_alone = !(0..without.tabs.len()).any(|index| group(index) == Some(own));
        (is_beside || is_alone).then_some(own)
    }

    /// Tells a change of a tab as if it stood at an index of its strip already, to which it moves only after them.
    pub(in crate::browser) fn emit_updated_as_at(
        &mut self,
        id: TabId,
        index: usize,
        change: Change,
    ) -> Result<(), Error> {
        let window = self.tab(id)?.window;
        let from = self.window_mut(window)?.reposition(id, index).ok_or(Error::NoTab(id.0))?;
        self.emit_updated(id, change);
        self.window_mut(window)?.reposition(id, from);
        Ok(())
    }

    /// Moves a tab within its strip to the index that it would have without itself, and tells so; where that brings highlighted tabs to other places,
    /// their groups are shown before, of tabs that are `moving` those that they were in. What it opened gets its own opener instead.
    pub(in crate::browser) fn move_to_index(
        &mut self,
        id: TabId,
        to: usize,
        moving: &[(TabId, Option<GroupId>)],
    ) -> Result<(), Error> {
        let window = self.tab(id)?.window;
        let state = self.window_mut(window)?;
        let from = state.index_of(id).ok_or(Error::NoTab(id.0))?;
        if from == to {
            return Ok(());
        }
        let before = state.selected_places();
        state.reposition(id, to);
        let shifts_highlight = state.selected_places() != before;
        self.pass_on_openers(id);
        if shifts_highlight {
            self.expand_around_highlighted(window, moving)?;
        }
        self.emit(Event::TabMoved { tab: id.0, window: window.0, from, to });
        if shifts_highlight {
            self.emit_highlighted(window);
        }
        Ok(())
    }

    /// Moves tabs to stand side by side from `at` on, each told on its own.
    pub(crate) fn move_side_by_side(&mut self, tabs: &[TabId], at: usize) -> Result<(), Error> {
        let Some(first) = tabs.first() else {
            return Ok(());
        };
        let window = self.window(self.tab(*first)?.window)?;
        let goes_right =
            |(target, tab): &(usize, TabId)| window.index_of(*tab).unwrap_or_default() < *target;
        let (rightward, leftward): (Vec<_>, Vec<_>) =
            (at..).zip(tabs.iter().copied()).partition(goes_right);
        // From the far end inwards, so that no tab pushes one that has its place already.
        for (target, tab) in rightward.into_iter().rev().chain(leftward) {
            self.move_to_index(tab, target, &[])?;
        }
        Ok(())
    }
}
