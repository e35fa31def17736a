//! Moves by one place, as the user makes them with keys.

use crate::browser::Browser;
use crate::browser::event::Change;
use crate::error::Error;
use crate::id::{GROUP_ID_NONE, GroupId, TabId};

impl Browser {
    /// Moves a tab by one place. Where its neighbour is of another group, it leaves its own or joins that one, and stays where it
    /// is; a group that is collapsed is passed as a whole.
    pub(in crate::browser) fn move_by_one(
        &mut self,
        id: TabId,
        forward: bool,
    ) -> Result<(), Error> {
        let tab = self.tab(id)?;
        let (group, window) = (tab.group, self.window(tab.window)?);
        let from = window.index_of(id).ok_or(Error::NoTab(id.0))?;
        let next = if forward { from.checked_add(1) } else { from.checked_sub(1) };
        // Pinned tabs and the others keep to their own part of the strip.
        let is_of_part = |to: &usize| {
            let beside = window.tabs.get(*to).and_then(|beside| self.strips.tab(*beside));
            beside.is_some_and(|beside| beside.pinned == tab.pinned)
        };
        let Some(to) = next.filter(is_of_part) else {
            // At the end of its part it leaves its group, but for the last tab of that.
            let has_mates = group.is_some_and(|group| self.strips.members(group).len() > 1);
            return if has_mates { self.change_group_in_place(id, None) } else { Ok(()) };
        };
        let beside = self.strips.group_at(window, to);
        match (group, beside) {
            (Some(_), beside) if beside != group => self.change_group_in_place(id, None),
            (None, Some(beside)) => {
                let is_collapsed = self.strips.group(beside).is_some_and(|group| group.collapsed);
                if !is_collapsed {
                    return self.change_group_in_place(id, Some(beside));
                }
                let members = self.strips.members(beside).len();
                let to = if forward { from + members } else { from - members.min(from) };
                self.move_within(id, Some(to))
            }
            _ => self.move_within(id, Some(to)),
        }
    }

    /// Makes a tab a member of another group, or of none, where it stands.
    pub(in crate::browser) fn change_group_in_place(
        &mut self,
        id: TabId,
        group: Option<GroupId>,
    ) -> Result<(), Error> {
        let left = std::mem::replace(&mut self.tab_mut(id)?.group, group);
        let shown = Some(group.map_or(GROUP_ID_NONE, |group| group.0));
        self.emit_updated(id, Change { group: shown, ..Change::default() });
        if let Some(left) = left {
            self.drop_group_if_empty(left);
        }
        Ok(())
    }
}
