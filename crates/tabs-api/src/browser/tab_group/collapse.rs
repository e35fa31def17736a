//! Collapsing: the tabs of a collapsed group are hidden and freeze, and an active one among them gives way.

use crate::browser::Browser;
use crate::browser::event::Event;
use crate::error::Error;
use crate::id::{GroupId, TabId};

impl Browser {
    /// Hides the tabs of a group, or shows them. An active one among them gives way to one that is still shown.
    pub(in crate::browser) fn set_collapsed(
        &mut self,
        group: GroupId,
        collapsed: bool,
    ) -> Result<(), Error> {
        let members = self.strips.members(group);
        if !collapsed {
            // The order in which they wake is the browser's own.
            for id in members.into_iter().rev() {
                self.unfreeze_soon(id);
            }
            return Ok(());
        }
        members.iter().for_each(|id| self.freeze_later(*id));
        let window = self.window(self.group(group.0)?.window)?;
        let Some(active) = window.active.filter(|active| members.contains(active)) else {
            return Ok(());
        };
        let is_shown =
            |id: &&TabId| self.strips.tab(**id).is_some_and(|tab| !self.strips.is_hidden(tab));
        let at = window.index_of(active).unwrap_or_default();
        let right = window.tabs.iter().skip(at).find(is_shown);
        let next = right.or_else(|| window.tabs.iter().take(at).rev().find(is_shown));
        match next.copied() {
            Some(next) => self.activate(next),
            None => Ok(()),
        }
    }

    /// Shows the group of a tab that becomes active.
    pub(in crate::browser) fn expand_around(&mut self, id: TabId) -> Result<(), Error> {
        let Some(id) = self.tab(id)?.group else {
            return Ok(());
        };
        let Some(group) = self.strips.group_mut(id).filter(|group| group.collapsed) else {
            return Ok(());
        };
        group.collapsed = false;
        let group = group.clone();
        self.emit(Event::GroupUpdated(group));
        self.set_collapsed(id, false)
    }
}
