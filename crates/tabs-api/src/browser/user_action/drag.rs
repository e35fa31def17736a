//! Drags: tabs along their strip, out of it into a window of their own, and into the strip of another window; groups by their header.

use std::collections::BTreeSet;

use crate::browser::Browser;
use crate::browser::event::{Change, Event};
use crate::browser::group::Group;
use crate::browser::strip::WindowPlacement;
use crate::browser::tab::TabView;
use crate::browser::window::{Window, WindowKind};
use crate::error::Error;
#[cfg(feature = "replay")]
use crate::id::GROUP_ID_NONE;
use crate::id::{GroupId, TabId, WindowId};

/// Pins and groups that tabs keep on their way to another window.
struct Luggage {
    /// The pinned tabs among them, as they were.
    pinned: Vec<TabView>,
    /// The group that they are all of.
    group: Option<Group>,
}

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

    fn in_strip_order(&self, tabs: &[TabId]) -> Result<Vec<TabId>, Error> {
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
        let luggage = self.take_along(&ordered)?;
        let is_there = |tab: &TabId| {
            self.window(source)
                .is_ok_and(|window| window.active != Some(*tab) && window.tabs.contains(tab))
        };
        if let Some(replaced) = replaced.filter(is_there) {
            self.activate(replaced)?;
        }
        self.settle_in(&ordered, held, target, luggage)?;
        self.give_focus(target);
        Ok(target)
    }

    /// Takes tabs out of their strip. Pins go with them, and a group that they are all of, which leaves the window before them.
    fn take_along(&mut self, tabs: &[TabId]) -> Result<Luggage, Error> {
        let views = tabs.iter().filter_map(|tab| self.view(*tab));
        let pinned: Vec<_> = views.filter(|view| view.pinned).collect();
        let group = tabs.first().and_then(|tab| self.strips().tab(*tab)?.group);
        let group = group.filter(|group| self.strips().members(*group) == tabs);
        let group = group.and_then(|group| self.strips.remove_group(group));
        if let Some(group) = &group {
            self.emit(Event::GroupRemoved(group.clone()));
        }
        self.take_out_one_by_one(tabs)?;
        Ok(Luggage { pinned, group })
    }

    pub(super) fn take_out_one_by_one(&mut self, tabs: &[TabId]) -> Result<(), Error> {
        for tab in tabs {
            let left = self.take_out(*tab)?;
            self.settle_left_window(&[left])?;
        }
        Ok(())
    }

    /// Pins a tab that was pinned where it comes from, and tells so while it is still of that window, at the index that it comes to.
    pub(super) fn pin_again(&mut self, view: TabView, index: usize) -> Result<(), Error> {
        self.tab_mut(TabId(view.id))?.pinned = true;
        let change = Change { pinned: Some(true), ..Change::default() };
        let index = i64::try_from(index).unwrap_or(i64::MAX);
        let tab = TabView { index, active: false, highlighted: false, opener: None, ..view };
        self.emit(Event::TabUpdated { change, tab });
        Ok(())
    }

    /// Puts tabs back that were dragged out and given up, one by one to where they stood, and shows none of them.
    #[cfg(feature = "replay")] // Others drag to an end; the recorded pointer alone gives up on the way.
    pub(crate) fn drag_back(
        &mut self,
        tabs: &[TabId],
        home: WindowId,
        index: usize,
    ) -> Result<(), Error> {
        for (index, tab) in (index..).zip(self.in_strip_order(tabs)?) {
            let pinned = self.view(tab).filter(|view| view.pinned);
            self.take_out_one_by_one(&[tab])?;
            if let Some(view) = pinned {
                self.pin_again(view, index)?;
            }
            self.attach(tab, home, Some(index))?;
        }
        Ok(())
    }

    /// Drags tabs that have a window of their own into the strip of another one.
    pub(crate) fn drag_into(
        &mut self,
        tabs: &[TabId],
        target: WindowId,
        index: usize,
    ) -> Result<(), Error> {
        let Some(held) = tabs.first().copied() else { return Err(Error::NoTabsGiven) };
        let ordered = self.in_strip_order(tabs)?;
        let luggage = self.take_along(&ordered)?;
        self.settle_in(&ordered, held, target, luggage)?;
        // They come in at the start of the strip, and go to their place from there.
        match ordered.as_slice() {
            [tab] => self.move_within(*tab, Some(index))?,
            tabs => self.drag_together(tabs, index)?,
        }
        self.drop_emptied_windows();
        self.give_focus(target);
        Ok(())
    }

    /// Puts tabs that stand nowhere at the start of a strip, behind what is pinned there. The first of them is shown at once, and in the end the one
    /// that is held; each is highlighted with those before it.
    fn settle_in(
        &mut self,
        tabs: &[TabId],
        held: TabId,
        window: WindowId,
        luggage: Luggage,
    ) -> Result<(), Error> {
        let start = self.strips().pinned_count(self.window(window)?);
        let group = luggage.group.map(|group| Group { window, ..group });
        if let Some(group) = &group {
            self.strips.add_group(group.clone());
        }
        let (mut highlighted, mut shown) = (BTreeSet::new(), held);
        for (index, tab) in (start..).zip(tabs) {
            if let Some(view) = luggage.pinned.iter().find(|view| view.id == tab.0) {
                self.pin_again(view.clone(), index)?;
            }
            self.attach(*tab, window, Some(index))?;
            if let Some(group) = &group {
                self.join_as_shown(*tab, group.id)?;
            }
            if index == start || *tab == held {
                shown = *tab;
            }
            highlighted.insert(*tab);
            self.select(shown, highlighted.clone())?;
            if let Some(group) = group.clone().filter(|_| index == start) {
                self.emit(Event::GroupCreated(group.clone()));
                self.emit(Event::GroupUpdated(group));
            }
        }
        Ok(())
    }

    /// Makes a tab a member of a group that came with it, and tells so of it as the active one, which it is about to be.
    fn join_as_shown(&mut self, id: TabId, group: GroupId) -> Result<(), Error> {
        self.tab_mut(id)?.group = Some(group);
        let view = self.view(id).ok_or(Error::NoTab(id.0))?;
        let change = Change { group: Some(group.0), ..Change::default() };
        let tab = TabView { active: true, highlighted: true, ..view };
        self.emit(Event::TabUpdated { change, tab });
        Ok(())
    }

    /// Drags tabs that are held and stand side by side along their strip to an index, as members of a group or of none.
    #[cfg(feature = "replay")] // Others name where a tab ends; the recorded pointer alone goes there step by step.
    pub(crate) fn drag_within(
        &mut self,
        tabs: &[TabId],
        to: usize,
        group: Option<GroupId>,
    ) -> Result<(), Error> {
        let shown = Some(group.map_or(GROUP_ID_NONE, |group| group.0));
        let mut left = BTreeSet::new();
        for (to, id) in (to..).zip(tabs) {
            let own = std::mem::replace(&mut self.tab_mut(*id)?.group, group);
            if own != group {
                self.emit_updated_as_at(*id, to, Change { group: shown, ..Change::default() })?;
                left.extend(own);
            }
        }
        self.move_side_by_side(tabs, to)?;
        left.into_iter().for_each(|group| self.drop_group_if_empty(group));
        Ok(())
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
        for (tab, group) in others.iter().zip(groups) {
            if self.tab(*tab)?.group != group {
                self.change_group_in_place(*tab, group)?;
            }
        }
        self.move_side_by_side(&others, start)
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
            let is_whole = self.strips().members(*own).iter().all(|member| tabs.contains(member));
            is_whole || is_one && self.strips().is_beside_group(without, index, *own)
        };
        Ok(owns.into_iter().map(|own| around.or_else(|| own.filter(stays))).collect())
    }

    /// Drags a group by its header within its strip. It hides its tabs meanwhile, and one of them is in front.
    pub(super) fn drag_group(&mut self, id: GroupId, index: usize) -> Result<(), Error> {
        let group = self.group(id.0)?.clone();
        let members = self.strips().members(id);
        if let Some(first) = members.iter().find(|tab| !self.is_active(**tab)).copied()
            && !members.iter().any(|tab| self.is_active(*tab))
        {
            self.activate(first)?;
        }
        self.show_collapsed(id, true);
        let moved = self.move_group(&group, group.window, index);
        self.show_collapsed(id, group.collapsed);
        moved.map(drop)
    }

    /// Shows a group with its tabs hidden, or not, where that is another state than before.
    fn show_collapsed(&mut self, id: GroupId, collapsed: bool) {
        let Some(group) = self.strips.group_mut(id).filter(|group| group.collapsed != collapsed)
        else {
            return;
        };
        group.collapsed = collapsed;
        let shown = group.clone();
        self.emit(Event::GroupUpdated(shown));
    }
}
