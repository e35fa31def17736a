//! A group moves: within its window tab by tab, and nothing is told where it stands there already; to another one as a group that goes and comes again.

use crate::browser::Browser;
use crate::browser::event::{Change, Event};
use crate::browser::group::Group;
use crate::error::Error;
use crate::id::{TabId, WindowId};

/// A group between two windows.
#[derive(Debug)]
pub(in crate::browser) struct TakenGroup {
    group: Group,
    members: Vec<TabId>,
    /// The one of them that was active.
    active: Option<TabId>,
}

impl TakenGroup {
    /// The number of its tabs.
    pub(in crate::browser) const fn len(&self) -> usize {
        self.members.len()
    }
}

impl Browser {
    /// Moves a group to an index of a window, which lies in no other group and behind the pinned tabs.
    pub(crate) fn move_group(
        &mut self,
        group: &Group,
        target: WindowId,
        index: usize,
    ) -> Result<Group, Error> {
        let at = self.place_of_group(group, target, index)?;
        let members = self.strips.members(group.id);
        if target == group.window {
            let first =
                members.first().and_then(|first| self.strips.window(target)?.index_of(*first));
            if first != Some(at) {
                self.move_side_by_side(&members, at)?;
                self.emit(Event::GroupMoved(self.group(group.id.0)?.clone()));
            }
            return Ok(self.group(group.id.0)?.clone());
        }
        let taken = self.take_out_group(group)?;
        self.settle_group(taken, target, at)
    }

    /// The index that the first tab of a group would come to in a window.
    ///
    /// # Errors
    /// In this order: the window is not there, pinned tabs stand behind the index, another group lies around it.
    pub(in crate::browser) fn place_of_group(
        &self,
        group: &Group,
        target: WindowId,
        index: usize,
    ) -> Result<usize, Error> {
        let without = self.window(target)?.without(&self.strips.members(group.id));
        let at = index.min(without.tabs.len());
        if self.strips.clamped(&without, false, at) != at {
            return Err(Error::GroupAmongPinned);
        }
        if self.strips.group_around(&without, at).is_some() {
            return Err(Error::GroupInGroup);
        }
        Ok(at)
    }

    /// Takes a group out of its window, as one: all leave before the source tells who is active there now.
    pub(in crate::browser) fn take_out_group(
        &mut self,
        group: &Group,
    ) -> Result<TakenGroup, Error> {
        let members = self.strips.members(group.id);
        self.strips.remove_group(group.id);
        self.emit(Event::GroupRemoved(group.clone()));
        let active = self.window(group.window)?.active.filter(|active| members.contains(active));
        let next = self.hand_over_before_leaving(group.window, &members)?;
        if let Some(next) = next {
            self.expand_around(next)?;
        } else if self.shifts_highlight_by_leaving(group.window, &members)? {
            self.expand_around_highlighted(group.window, &[])?;
        }
        let left = members.iter().rev().map(|id| self.take_out_with_group(*id));
        let left = left.map(|removal| Ok(removal?.handed_over_to(next)));
        let left = left.collect::<Result<Vec<_>, Error>>()?;
        self.settle_left_window(&left)?;
        Ok(TakenGroup { group: group.clone(), members, active })
    }

    /// Puts a group that was taken out at an index of a window, where the tab that was active stays so.
    pub(in crate::browser) fn settle_group(
        &mut self,
        taken: TakenGroup,
        target: WindowId,
        at: usize,
    ) -> Result<Group, Error> {
        let TakenGroup { group, members, active } = taken;
        // A window without tabs shows the first that comes.
        let is_empty = self.window(target)?.active.is_none();
        let active = active.or_else(|| members.first().copied().filter(|_| is_empty));
        let id = group.id;
        self.strips.add_group(Group { window: target, ..group });
        for (index, tab) in (at..).zip(members) {
            self.attach(tab, target, Some(index))?;
            self.tab_mut(tab)?.group = Some(id);
            if active == Some(tab) {
                self.note_hidden(target, tab);
                let state = self.window_mut(target)?;
                state.active = active;
                state.highlighted = active.into_iter().collect();
                // A copy that waited loads as it is shown, before its group is told.
                if self.focus.has(target) {
                    self.show_in_front(target);
                }
            }
            self.emit_updated(tab, Change { group: Some(id.0), ..Change::default() });
        }
        if let Some(active) = active {
            self.tell_shown(active)?;
            self.expand_around(active)?;
        }
        let moved = self.group(id.0)?.clone();
        self.emit(Event::GroupCreated(moved.clone()));
        self.emit(Event::GroupUpdated(moved.clone()));
        Ok(moved)
    }
}
