//! Collapsing: the tabs of a collapsed group are hidden and freeze, but for the active one; one that becomes active shows them all.

use crate::browser::Browser;
use crate::browser::event::Event;
use crate::error::Error;
use crate::id::{GroupId, TabId, WindowId};

impl Browser {
    /// Lets the tabs of a group freeze as it hides them, or run as it shows them. The active tab stays active.
    pub(in crate::browser) fn set_collapsed(&mut self, group: GroupId, collapsed: bool) {
        let members = self.strips.members(group);
        for id in &members {
            if let Some(tab) = self.strips.tab_mut(*id) {
                tab.is_to_freeze = collapsed;
            }
        }
        if collapsed {
            members.iter().for_each(|id| self.freeze_later(*id));
        } else {
            // The order in which they wake is the browser's own.
            members.into_iter().rev().for_each(|id| self.unfreeze_soon(id));
        }
    }

    /// Shows every group of a window that hides one of its highlighted tabs, in the order of the strip. Whatever changes which tabs these are, or where they
    /// stand, does so first. A tab that moves into another group or out of one counts for the group given here, which it was in: the strip learns of the
    /// new one once the tab has moved.
    pub(in crate::browser) fn expand_around_highlighted(
        &mut self,
        window: WindowId,
        moving: &[(TabId, Option<GroupId>)],
    ) -> Result<(), Error> {
        let state = self.window(window)?;
        let is_highlighted = |id: &&TabId| state.highlighted.contains(id);
        let group_of = |id: &TabId| {
            let left = moving.iter().find(|(tab, _)| tab == id).map(|(_, left)| *left);
            left.unwrap_or_else(|| self.strips.tab(*id)?.group)
        };
        let shown: Vec<_> = state.tabs.iter().filter(is_highlighted).filter_map(group_of).collect();
        shown.into_iter().for_each(|group| self.expand(group));
        Ok(())
    }

    /// Shows the group of a tab that becomes active.
    pub(in crate::browser) fn expand_around(&mut self, id: TabId) -> Result<(), Error> {
        if let Some(group) = self.tab(id)?.group {
            self.expand(group);
        }
        Ok(())
    }

    fn expand(&mut self, id: GroupId) {
        if self.held_group == Some(id) {
            return;
        }
        let Some(group) = self.strips.group_mut(id).filter(|group| group.collapsed) else {
            return;
        };
        group.collapsed = false;
        let group = group.clone();
        self.emit(Event::GroupUpdated(group));
        self.set_collapsed(id, false);
    }
}
