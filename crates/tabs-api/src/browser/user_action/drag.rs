//! Drags: tabs along their strip, out of it into a window of their own, and into the strip of another window; groups by their header.

use std::collections::BTreeSet;

use crate::browser::Browser;
use crate::browser::event::{Change, Event};
use crate::browser::strip::WindowPlacement;
use crate::browser::window::{Window, WindowKind};
use crate::error::Error;
use crate::id::{GROUP_ID_NONE, GroupId, TabId, WindowId};

impl Browser {
    /// Drags tabs, the one that is held first, to stand side by side from an index of a window's strip on.
    pub(super) fn drag(
        &mut self,
        tabs: &[i64],
        window: Option<WindowId>,
        index: usize,
    ) -> Result<(), Error> {
        let tabs = self.dragged(tabs)?;
        let Some(held) = tabs.first().copied() else { return Err(Error::NoTabsGiven) };
        let own = self.tab(held)?.window;
        let target = self.window(window.unwrap_or(own))?;
        if target.kind != WindowKind::Normal {
            return Err(Error::NotNormalWindow);
        }
        let target = target.id;
        self.check_same_profile(held, target)?;
        if target != own {
            self.drag_out(&tabs)?;
            return self.drag_into(&tabs, target, index);
        }
        self.hold(&tabs)?;
        match tabs.as_slice() {
            [tab] => self.move_within(*tab, Some(index)),
            tabs => self.drag_together(tabs, index),
        }
    }

    /// The tabs that are dragged: all of one window.
    pub(super) fn dragged(&self, tabs: &[i64]) -> Result<Vec<TabId>, Error> {
        let tabs = tabs.iter().map(|id| self.tab(TabId(*id)).map(|tab| (tab.id, tab.window)));
        let tabs = tabs.collect::<Result<Vec<_>, _>>()?;
        let home = tabs.first().map(|(_, window)| *window).ok_or(Error::NoTabsGiven)?;
        let mut seen = BTreeSet::new();
        if tabs.iter().any(|(_, window)| *window != home) {
            return Err(Error::BadAction("tabs of one window are dragged together"));
        }
        // Nobody holds a tab twice.
        Ok(tabs.into_iter().map(|(tab, _)| tab).filter(|tab| seen.insert(*tab)).collect())
    }

    /// Takes hold of tabs: the first one comes to the front, and the others are highlighted with it.
    fn hold(&mut self, tabs: &[TabId]) -> Result<(), Error> {
        let Some(held) = tabs.first() else { return Ok(()) };
        self.select(*held, tabs.iter().copied().collect())
    }

    pub(super) fn in_strip_order(&self, tabs: &[TabId]) -> Result<Vec<TabId>, Error> {
        let Some(first) = tabs.first() else { return Ok(Vec::new()) };
        let strip = &self.window(self.tab(*first)?.window)?.tabs;
        Ok(strip.iter().filter(|tab| tabs.contains(tab)).copied().collect())
    }

    /// Drags tabs out of their strip into a new window. Where one came to the front only as it was taken hold of, the tab that was
    /// there before is the active one again.
    pub(crate) fn drag_out(&mut self, tabs: &[TabId]) -> Result<WindowId, Error> {
        let Some(held) = tabs.first().copied() else { return Err(Error::NoTabsGiven) };
        let source = self.tab(held)?.window;
        let former = self.window(source)?.active.filter(|active| !tabs.contains(active));
        self.hold(tabs)?;
        self.drag_held_out(tabs, former, None)
    }

    /// Drags tabs that are held out of their strip; `former` was the active one before, and `replaced` the one of a window that they were
    /// dragged into on the way.
    pub(crate) fn drag_held_out(
        &mut self,
        tabs: &[TabId],
        former: Option<TabId>,
        replaced: Option<TabId>,
    ) -> Result<WindowId, Error> {
        let Some(held) = tabs.first().copied() else { return Err(Error::NoTabsGiven) };
        let source = self.tab(held)?.window;
        let incognito = self.window(source)?.incognito;
        let target = self.open_window(WindowKind::Normal, incognito, WindowPlacement::default())?;
        let former = former
            .filter(|former| self.window(source).is_ok_and(|window| window.tabs.contains(former)));
        if let Some(former) = former {
            self.window_mut(source)?.highlighted.insert(former);
            self.emit_highlighted(source);
        }
        let ordered = self.in_strip_order(tabs)?;
        let carried = self.take_along(&ordered)?;
        let is_there = |tab: &TabId| {
            self.window(source)
                .is_ok_and(|window| window.active != Some(*tab) && window.tabs.contains(tab))
        };
        if let Some(replaced) = replaced.filter(is_there) {
            self.activate(replaced)?;
        }
        self.settle_in(carried, target)?;
        self.select(held, ordered.into_iter().collect())?;
        self.give_focus(target);
        Ok(target)
    }

    /// Drags tabs that have a window of their own into the strip of another one.
    fn drag_into(&mut self, tabs: &[TabId], target: WindowId, index: usize) -> Result<(), Error> {
        // They come in at the start of the strip, and go to their place from there.
        let ordered = self.bring_in(tabs, target)?;
        match ordered.as_slice() {
            [tab] => self.move_within(*tab, Some(index))?,
            tabs => self.drag_together(tabs, index)?,
        }
        self.drop_emptied_windows();
        self.give_focus(target);
        Ok(())
    }

    /// Brings tabs, the one that is held first, to the start of the strip of another window; these in the order of the strip.
    pub(crate) fn bring_in(
        &mut self,
        tabs: &[TabId],
        target: WindowId,
    ) -> Result<Vec<TabId>, Error> {
        let Some(held) = tabs.first().copied() else { return Err(Error::NoTabsGiven) };
        let ordered = self.in_strip_order(tabs)?;
        let carried = self.take_along(&ordered)?;
        self.settle_in(carried, target)?;
        self.select(held, ordered.iter().copied().collect())?;
        Ok(ordered)
    }

    /// Drags several tabs that are held along their strip, to stand side by side from an index on: pinned ones as far as the pinned block
    /// goes. The group that they come to stand in takes them, and one that they left in part loses them.
    pub(crate) fn drag_together(&mut self, tabs: &[TabId], index: usize) -> Result<(), Error> {
        let Some(first) = tabs.first() else { return Ok(()) };
        let window = self.window(self.tab(*first)?.window)?;
        let pinned_count = self.strips().pinned_count(window);
        let is_pinned = |tab: &TabId| self.tab(*tab).is_ok_and(|tab| tab.pinned);
        let (pinned, others): (Vec<_>, Vec<_>) =
            self.in_strip_order(tabs)?.into_iter().partition(is_pinned);
        let room = pinned_count.saturating_sub(pinned.len());
        // The others end where they would if the pinned ones could go there too.
        let start = if index > room { index.saturating_add(pinned.len()) } else { index };
        let start = start.max(pinned_count).min(window.tabs.len().saturating_sub(others.len()));
        let groups = self.groups_where_dragged(&others, &window.without(&others), start)?;
        self.move_side_by_side(&pinned, index.min(room))?;
        self.move_into_groups(&others, start, groups)
    }

    /// Moves tabs to stand side by side from an index on, each as a member of its group, which is told as if it stood there already.
    pub(super) fn move_into_groups(
        &mut self,
        tabs: &[TabId],
        to: usize,
        groups: Vec<Option<GroupId>>,
    ) -> Result<(), Error> {
        let mut changes = Vec::new();
        for ((to, tab), group) in (to..).zip(tabs).zip(groups) {
            if self.tab(*tab)?.group != group {
                changes.push((to, *tab, group));
            }
        }
        // To the right each goes to where the last one ends, and is pushed back by those behind it.
        let last = changes.last().map(|(to, ..)| *to);
        let end = if self.goes_right(tabs, to, changes.first())? { last } else { None };
        let mut left = BTreeSet::new();
        for (to, tab, group) in changes {
            left.extend(std::mem::replace(&mut self.tab_mut(tab)?.group, group));
            let group = Some(group.map_or(GROUP_ID_NONE, |group| group.0));
            let change = Change { group, ..Change::default() };
            self.emit_updated_as_at(tab, end.unwrap_or(to), change)?;
        }
        self.move_side_by_side(tabs, to)?;
        left.into_iter().for_each(|group| self.drop_group_if_empty(group));
        Ok(())
    }

    /// True if tabs that stand side by side go to the right as they come to an index: also in place, out of a group before them, or into one behind.
    fn goes_right(
        &self,
        tabs: &[TabId],
        to: usize,
        change: Option<&(usize, TabId, Option<GroupId>)>,
    ) -> Result<bool, Error> {
        let Some((first, (_, tab, group))) = tabs.first().zip(change) else { return Ok(false) };
        let window = self.window(self.tab(*first)?.window)?;
        let from = window.index_of(*first).ok_or(Error::NoTab(first.0))?;
        let group_at = |index: usize| self.strips().group_at(window, index);
        let leaves = self.tab(*tab)?.group;
        let is_before = leaves.is_some() && from.checked_sub(1).and_then(group_at) == leaves;
        let is_behind = group.is_some() && group_at(from + tabs.len()) == *group;
        Ok(from < to || from == to && (is_before || is_behind))
    }

    /// The groups of tabs that are dragged to an index of a strip without them.
    fn groups_where_dragged(
        &self,
        tabs: &[TabId],
        without: &Window,
        index: usize,
    ) -> Result<Vec<Option<GroupId>>, Error> {
        let around = self.strips().group_around(without, index);
        let owns =
            tabs.iter().map(|tab| Ok(self.tab(*tab)?.group)).collect::<Result<Vec<_>, Error>>()?;
        let is_one = owns.windows(2).all(|pair| matches!(pair, [one, other] if one == other));
        let stays = |own: &GroupId| {
            let is_whole = self.strips().all_among(*own, tabs);
            is_whole || is_one && self.strips().is_beside_group(without, index, *own)
        };
        Ok(owns.into_iter().map(|own| around.or_else(|| own.filter(stays))).collect())
    }

    /// Drags a group by its header within its strip, from where it is taken hold of to where it is let go.
    pub(super) fn drag_group(&mut self, id: GroupId, index: usize) -> Result<(), Error> {
        let group = self.group(id.0)?.clone();
        self.place_of_group(&group, group.window, index)?;
        self.hold_group(id)?;
        self.move_group(&group, group.window, index)?;
        self.let_go_of_group(id, group.collapsed)
    }

    /// Takes hold of a group by its header: its tabs are highlighted, one of them is in front, and it hides them.
    pub(crate) fn hold_group(&mut self, id: GroupId) -> Result<(), Error> {
        let members = self.strips().members(id);
        let active = members.iter().find(|tab| self.is_active(**tab)).or(members.first());
        let active = *active.ok_or(Error::NoGroup(id.0))?;
        self.held_group = Some(id);
        self.select(active, members.into_iter().collect())?;
        self.show_collapsed(id, true);
        Ok(())
    }

    /// Lets go of a group, which shows its tabs again unless it hid them before; the one in front alone stays highlighted.
    pub(crate) fn let_go_of_group(&mut self, id: GroupId, collapsed: bool) -> Result<(), Error> {
        self.show_collapsed(id, collapsed);
        let window = self.group(id.0).and_then(|group| self.window(group.window));
        let active = window.ok().and_then(|window| window.active);
        let told = active.map_or(Ok(()), |active| self.select(active, BTreeSet::from([active])));
        self.held_group = None;
        told
    }

    /// Shows a group with its tabs hidden, or not, where that is another state than before.
    pub(super) fn show_collapsed(&mut self, id: GroupId, collapsed: bool) {
        let Some(group) = self.strips.group_mut(id).filter(|group| group.collapsed != collapsed)
        else {
            return;
        };
        group.collapsed = collapsed;
        let shown = group.clone();
        self.emit(Event::GroupUpdated(shown));
        self.set_collapsed(id, collapsed);
    }
}
