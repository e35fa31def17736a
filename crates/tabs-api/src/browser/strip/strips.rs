//! Windows, tabs and groups, and where each tab stands. Nothing here tells of a change.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use foldhash::fast::FixedState;

use crate::browser::group::Group;
use crate::browser::tab::Tab;
use crate::browser::window::Window;
use crate::id::{GroupId, TabId, WindowId};

/// Every window with its strip of tabs, and every group.
#[derive(Debug, Default)]
pub(crate) struct Strips {
    windows: BTreeMap<WindowId, Window>,
    /// Boxed, as a table has room for half as many again; and the ids are counted here, so that nobody could choose ones that collide.
    tabs: HashMap<TabId, Box<Tab>, FixedState>,
    groups: BTreeMap<GroupId, Group>,
    /// Their order: one that comes into a window is the last.
    group_order: Vec<GroupId>,
}

impl Strips {
    /// Strips of these windows, tabs and groups, as far as they fit together: tabs without a window, windows without tabs and
    /// groups without members are left out.
    pub(crate) fn assemble(
        mut windows: BTreeMap<WindowId, Window>,
        mut tabs: HashMap<TabId, Tab>,
        mut groups: BTreeMap<GroupId, Group>,
    ) -> Self {
        for window in windows.values_mut() {
            window.tabs.retain(|id| tabs.get(id).is_some_and(|tab| tab.window == window.id));
            window.highlighted.retain(|id| window.tabs.contains(id));
            let active = window.active.filter(|active| window.tabs.contains(active));
            window.active = active.or_else(|| window.tabs.first().copied());
            window.highlighted.extend(window.active);
        }
        windows.retain(|_, window| !window.tabs.is_empty());
        let held: BTreeSet<_> =
            windows.values().flat_map(|window| window.tabs.iter().copied()).collect();
        tabs.retain(|id, _| held.contains(id));
        let used: BTreeSet<_> = tabs.values().filter_map(|tab| tab.group).collect();
        groups.retain(|id, _| used.contains(id));
        for tab in tabs.values_mut() {
            let group = tab.group.and_then(|group| groups.get(&group));
            tab.group = group.map(|group| group.id);
            // A group that comes back collapsed hides all its tabs anew.
            tab.is_to_freeze = group.is_some_and(|group| group.collapsed);
        }
        let group_order = groups.keys().copied().collect();
        let tabs = tabs.into_iter().map(|(id, tab)| (id, Box::new(tab))).collect();
        Self { windows, tabs, groups, group_order }
    }

    pub(crate) fn tab(&self, id: TabId) -> Option<&Tab> {
        self.tabs.get(&id).map(Box::as_ref)
    }

    pub(in crate::browser) fn tab_mut(&mut self, id: TabId) -> Option<&mut Tab> {
        self.tabs.get_mut(&id).map(Box::as_mut)
    }

    /// Tabs in no order.
    pub(crate) fn tabs(&self) -> impl Iterator<Item = &Tab> {
        self.tabs.values().map(Box::as_ref)
    }

    pub(in crate::browser) fn tabs_mut(&mut self) -> impl Iterator<Item = &mut Tab> {
        self.tabs.values_mut().map(Box::as_mut)
    }

    /// Adds a tab that stands in no strip yet.
    pub(in crate::browser) fn add_tab(&mut self, tab: Tab) {
        self.tabs.insert(tab.id, Box::new(tab));
    }

    pub(in crate::browser) fn remove_tab(&mut self, id: TabId) {
        self.tabs.remove(&id);
    }

    pub(crate) fn window(&self, id: WindowId) -> Option<&Window> {
        self.windows.get(&id)
    }

    pub(in crate::browser) fn window_mut(&mut self, id: WindowId) -> Option<&mut Window> {
        self.windows.get_mut(&id)
    }

    /// Windows in the order of their creation.
    pub(crate) fn windows(&self) -> impl Iterator<Item = &Window> {
        self.windows.values()
    }

    pub(in crate::browser) fn windows_mut(&mut self) -> impl Iterator<Item = &mut Window> {
        self.windows.values_mut()
    }

    pub(in crate::browser) fn add_window(&mut self, window: Window) {
        self.windows.insert(window.id, window);
    }

    pub(in crate::browser) fn remove_window(&mut self, id: WindowId) {
        self.windows.remove(&id);
    }

    pub(crate) fn group(&self, id: GroupId) -> Option<&Group> {
        self.groups.get(&id)
    }

    pub(in crate::browser) fn group_mut(&mut self, id: GroupId) -> Option<&mut Group> {
        self.groups.get_mut(&id)
    }

    /// Groups in the order in which they came into their windows.
    pub(crate) fn groups(&self) -> impl Iterator<Item = &Group> {
        self.group_order.iter().filter_map(|id| self.groups.get(id))
    }

    pub(in crate::browser) fn add_group(&mut self, group: Group) {
        let id = group.id;
        if self.groups.insert(id, group).is_none() {
            self.group_order.push(id);
        }
    }

    pub(in crate::browser) fn remove_group(&mut self, id: GroupId) -> Option<Group> {
        self.group_order.retain(|group| *group != id);
        self.groups.remove(&id)
    }

    /// The tab at an index of a strip.
    pub(in crate::browser) fn tab_at(&self, window: &Window, index: usize) -> Option<&Tab> {
        window.tabs.get(index).and_then(|id| self.tab(*id))
    }

    /// The group of the tab at an index of a strip.
    pub(crate) fn group_at(&self, window: &Window, index: usize) -> Option<GroupId> {
        self.tab_at(window, index).and_then(|tab| tab.group)
    }

    /// The members of a group, in the order of their strip.
    pub(crate) fn members(&self, group: GroupId) -> Vec<TabId> {
        let window = self.group(group).and_then(|group| self.window(group.window));
        let strip = window.map(|window| window.tabs.as_slice()).unwrap_or_default();
        let is_member = |id: &&TabId| self.tab(**id).is_some_and(|tab| tab.group == Some(group));
        strip.iter().filter(is_member).copied().collect()
    }

    /// True if all tabs of a group are among these.
    pub(crate) fn all_among(&self, group: GroupId, tabs: &[TabId]) -> bool {
        let members = self.members(group);
        !members.is_empty() && members.iter().all(|member| tabs.contains(member))
    }

    /// True if a tab stands in a group whose tabs are hidden.
    pub(crate) fn is_hidden(&self, tab: &Tab) -> bool {
        let group = tab.group.and_then(|group| self.group(group));
        group.is_some_and(|group| group.collapsed)
    }

    pub(in crate::browser) fn pinned_count(&self, window: &Window) -> usize {
        let is_pinned = |id: &&TabId| self.tab(**id).is_some_and(|tab| tab.pinned);
        window.tabs.iter().take_while(is_pinned).count()
    }

    /// The nearest index at which a tab may stand: pinned tabs in front of all others.
    pub(crate) fn clamped(&self, window: &Window, pinned: bool, index: usize) -> usize {
        let border = self.pinned_count(window);
        if pinned { index.min(border) } else { index.clamp(border, window.tabs.len()) }
    }

    /// The group that an index lies strictly inside of.
    pub(crate) fn group_around(&self, window: &Window, index: usize) -> Option<GroupId> {
        let left = self.group_at(window, index.checked_sub(1)?)?;
        (self.group_at(window, index) == Some(left)).then_some(left)
    }

    /// True if an index lies inside of a group or at one of its edges.
    pub(in crate::browser) fn is_beside_group(
        &self,
        window: &Window,
        index: usize,
        group: GroupId,
    ) -> bool {
        let left = index.checked_sub(1).and_then(|left| self.group_at(window, left));
        left == Some(group) || self.group_at(window, index) == Some(group)
    }

    /// The first index from `index` on that lies inside of no group.
    pub(in crate::browser) fn behind_group(&self, window: &Window, index: usize) -> usize {
        let is_free = |index: &usize| self.group_around(window, *index).is_none();
        (index..).find(is_free).unwrap_or(index)
    }
}
