//! A group moves: within its window tab by tab, and nothing is told where it stands there already; to another one as a group that goes and comes again.

use crate::browser::Browser;
use crate::browser::event::{Change, Event};
use crate::browser::group::Group;
use crate::error::Error;
use crate::id::{TabId, WindowId};

impl Browser {
    /// Moves a group to an index of a window, which lies in no other group and behind the pinned tabs.
    pub(crate) fn move_group(
        &mut self,
        group: &Group,
        target: WindowId,
        index: usize,
    ) -> Result<Group, Error> {
        let members = self.strips.members(group.id);
        let without = self.window(target)?.without(&members);
        let at = index.min(without.tabs.len());
        if self.strips.clamped(&without, false, at) != at {
            return Err(Error::GroupAmongPinned);
        }
        if self.strips.group_around(&without, at).is_some() {
            return Err(Error::GroupInGroup);
        }
        if target == group.window {
            let first =
                members.first().and_then(|first| self.strips.window(target)?.index_of(*first));
            if first != Some(at) {
                self.move_side_by_side(&members, at)?;
                self.emit(Event::GroupMoved(self.group(group.id.0)?.clone()));
            }
            return Ok(self.group(group.id.0)?.clone());
        }
        self.move_group_across(group, &members, target, at)
    }

    fn move_group_across(
        &mut self,
        group: &Group,
        members: &[TabId],
        target: WindowId,
        at: usize,
    ) -> Result<Group, Error> {
        self.strips.remove_group(group.id);
        self.emit(Event::GroupRemoved(group.clone()));
        let moved = Group { window: target, ..group.clone() };
        // All leave before the source tells who is active there now, and the one that was stays so where they arrive.
        let active = self.window(group.window)?.active.filter(|active| members.contains(active));
        let next = self.hand_over_before_leaving(group.window, members)?;
        if let Some(next) = next {
            self.expand_around(next)?;
        } else if self.shifts_highlight_by_leaving(group.window, members)? {
            self.expand_around_highlighted(group.window, &[])?;
        }
        let left = members.iter().rev().map(|id| self.take_out_with_group(*id));
        let left = left.map(|removal| Ok(removal?.handed_over_to(next)));
        let left = left.collect::<Result<Vec<_>, Error>>()?;
        self.settle_left_window(&left)?;
        self.strips.add_group(moved.clone());
        for (index, id) in (at..).zip(members) {
            self.attach(*id, target, Some(index))?;
            self.tab_mut(*id)?.group = Some(group.id);
            if active == Some(*id) {
                self.note_hidden(target, *id);
                let state = self.window_mut(target)?;
                state.active = active;
                state.highlighted = active.into_iter().collect();
                // A copy that waited loads as it is shown, before its group is told.
                if self.focus.has(target) {
                    self.show_in_front(target);
                }
            }
            self.emit_updated(*id, Change { group: Some(group.id.0), ..Change::default() });
        }
        if let Some(active) = active {
            self.tell_shown(active)?;
            self.expand_around(active)?;
        }
        let moved = self.group(group.id.0)?.clone();
        self.emit(Event::GroupCreated(moved.clone()));
        self.emit(Event::GroupUpdated(moved.clone()));
        Ok(moved)
    }
}
