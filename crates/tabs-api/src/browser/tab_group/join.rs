//! Tabs join a group, a new one or one that exists: each is told of its group, and its move before or after that.

use std::collections::BTreeSet;

use crate::browser::Browser;
use crate::browser::event::{Change, Event};
use crate::browser::group::{COLORS, Group};
use crate::browser::window::{Window, WindowKind};
use crate::error::Error;
use crate::id::{GroupId, TabId, WindowId};

/// The time at which the moves of tabs that join a group are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MoveOrder {
    BeforeGroup,
    AfterGroup,
}

/// The index at which tabs that join a group come to stand, counted in a strip without them.
#[derive(Debug, Clone, Copy)]
struct Destination {
    at: usize,
    /// The number of them that come to there from the left.
    from_left: usize,
}

impl Browser {
    /// Puts tabs of any window into a group of a window, a new group unless one is named.
    pub(crate) fn group_tabs(
        &mut self,
        tabs: &[TabId],
        window: WindowId,
        group: Option<GroupId>,
    ) -> Result<GroupId, Error> {
        if self.window(window)?.kind != WindowKind::Normal {
            return Err(Error::NotNormalWindow);
        }
        let mut left = BTreeSet::new();
        for id in tabs {
            if self.tab(*id)?.window != window {
                left.insert(self.detach(*id)?);
                self.attach(*id, window, None)?;
            }
        }
        let chosen: BTreeSet<_> = tabs.iter().copied().collect();
        let strip = &self.window(window)?.tabs;
        let ordered: Vec<_> = strip.iter().filter(|id| chosen.contains(id)).copied().collect();
        let group = match group {
            Some(group) => self.join_group(group, &ordered)?,
            None => self.create_group(window, &ordered)?,
        };
        for window in left {
            self.drop_window_if_empty(window);
        }
        Ok(group)
    }

    /// Makes a new group of tabs in strip order, at the place of the first of them.
    fn create_group(&mut self, window: WindowId, tabs: &[TabId]) -> Result<GroupId, Error> {
        let id = GroupId(self.next_id());
        let color = self.least_used_color(window).to_owned();
        let group = Group { id, window, color, title: String::new(), collapsed: false };
        let state = self.window(window)?;
        let first = tabs.first().and_then(|tab| state.index_of(*tab)).unwrap_or_default();
        let is_pinned = |tab: &TabId| self.strips.tab(*tab).is_some_and(|tab| tab.pinned);
        let (to, moves) = if tabs.iter().any(is_pinned) {
            (self.destination_of_pinned(state, tabs, first), MoveOrder::BeforeGroup)
        } else {
            (self.destination_of_new_group(state, tabs, first), MoveOrder::AfterGroup)
        };
        self.strips.add_group(group.clone());
        let emptied = self.gather(id, tabs, to, moves, |browser| {
            browser.emit(Event::GroupCreated(group.clone()));
            browser.emit(Event::GroupUpdated(group.clone()));
        })?;
        for group in emptied {
            self.drop_group_if_empty(group);
        }
        Ok(id)
    }

    /// The colour that the fewest groups of a window have, the first of several.
    fn least_used_color(&self, window: WindowId) -> &'static str {
        let here = |group: &&Group| group.window == window;
        let uses = |color: &&&str| {
            self.strips.groups().filter(here).filter(|group| group.color == **color).count()
        };
        COLORS.iter().min_by_key(uses).copied().unwrap_or("grey")
    }

    /// Adds tabs to a group: those that stand left of it at its left edge, the others at its right one.
    fn join_group(&mut self, group: GroupId, tabs: &[TabId]) -> Result<GroupId, Error> {
        let window = self.group(group.0)?.window;
        let members = self.strips.members(group);
        let state = self.window(window)?;
        let edge = members.first().and_then(|tab| state.index_of(*tab)).unwrap_or_default();
        let joining = tabs.iter().filter(|tab| !members.contains(tab)).copied();
        let (left, right): (Vec<_>, Vec<_>) =
            joining.partition(|tab| state.index_of(*tab).is_some_and(|index| index < edge));
        let mut emptied = Vec::new();
        if !left.is_empty() {
            let without = self.window(window)?.without(&left);
            let at = without.tabs.iter().position(|tab| members.contains(tab)).unwrap_or_default();
            let to = Destination { at, from_left: left.len() };
            emptied.extend(self.gather(group, &left, to, MoveOrder::AfterGroup, |_| {})?);
        }
        if !right.is_empty() {
            let without = self.window(window)?.without(&right);
            let is_member = |index: &usize| self.strips.group_at(&without, *index) == Some(group);
            let last = (0..without.tabs.len()).rev().find(is_member);
            let to = Destination { at: last.map_or(0, |index| index + 1), from_left: 0 };
            emptied.extend(self.gather(group, &right, to, MoveOrder::AfterGroup, |_| {})?);
        }
        for group in emptied {
            self.drop_group_if_empty(group);
        }
        Ok(group)
    }

    /// The place of a new group of tabs of which some are pinned: where the first one stands, behind the group that is around it.
    fn destination_of_pinned(&self, state: &Window, tabs: &[TabId], first: usize) -> Destination {
        let without = state.without(tabs);
        let before = state.tabs.iter().take(first);
        let at = before.filter(|tab| !tabs.contains(tab)).count();
        let at = self.strips.clamped(&without, false, at);
        Destination { at: self.strips.behind_group(&without, at), from_left: 0 }
    }

    /// The place of a new group of tabs: right where the first one stands, behind the group that it leaves.
    fn destination_of_new_group(
        &self,
        state: &Window,
        tabs: &[TabId],
        first: usize,
    ) -> Destination {
        let group = |index: usize| self.strips.group_at(state, index);
        let (own, border) = (group(first), self.strips.clamped(state, true, usize::MAX));
        let is_free =
            |index: &usize| *index >= border && (group(*index).is_none() || group(*index) != own);
        let mut indices = first + 1..state.tabs.len();
        let end = indices.find(is_free).unwrap_or(state.tabs.len());
        let is_left = |tab: &&TabId| state.index_of(**tab).is_some_and(|index| index < end);
        let from_left = tabs.iter().filter(is_left).count();
        Destination { at: end - from_left, from_left }
    }

    /// Brings tabs side by side to a place as members of a group, which is announced meanwhile; returns the groups they left.
    fn gather(
        &mut self,
        group: GroupId,
        tabs: &[TabId],
        to: Destination,
        moves: MoveOrder,
        announce: impl FnOnce(&mut Self),
    ) -> Result<BTreeSet<GroupId>, Error> {
        let left = self.tell_members(group, tabs, to)?;
        if moves == MoveOrder::BeforeGroup {
            self.move_side_by_side(tabs, to.at)?;
            announce(self);
        } else {
            announce(self);
            self.move_side_by_side(tabs, to.at)?;
        }
        Ok(left)
    }

    /// Makes tabs members of a group and tells so, each as it will stand; returns the groups they left.
    fn tell_members(
        &mut self,
        group: GroupId,
        tabs: &[TabId],
        to: Destination,
    ) -> Result<BTreeSet<GroupId>, Error> {
        let window = self.group(group.0)?.window;
        let before = self.window(window)?.tabs.clone();
        let mut after = self.window(window)?.without(tabs).tabs;
        after.splice(to.at..to.at, tabs.iter().copied());
        self.window_mut(window)?.tabs = after;
        for id in tabs {
            if self.tab(*id)?.pinned {
                self.tab_mut(*id)?.pinned = false;
                self.emit_updated(*id, Change { pinned: Some(false), ..Change::default() });
            }
        }
        let mut left = BTreeSet::new();
        for id in tabs {
            left.extend(self.tab_mut(*id)?.group.replace(group));
        }
        for (position, id) in tabs.iter().enumerate() {
            if position < to.from_left {
                // Each is told as it stands at the edge, before the next one pushes it on.
                self.window_mut(window)?.reposition(*id, to.at + to.from_left - 1);
            }
            self.emit_updated(*id, Change { group: Some(group.0), ..Change::default() });
        }
        // What follows tells of each move from the order that the strip had until then.
        self.window_mut(window)?.tabs = before;
        left.remove(&group);
        Ok(left)
    }
}
