//! Groups: group, ungroup, and the `tabGroups` operations.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::browser::event::{Change, Event};
use crate::browser::group::{COLORS, GROUP_ID_NONE, Group, GroupId};
use crate::browser::tab::TabId;
use crate::browser::window::{Window, WindowId, WindowKind};
use crate::browser::{Answer, Browser};
use crate::error::Error;
use crate::operation::call::Call;

/// When the moves of tabs that join a group are told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moves {
    /// Before the group is announced.
    First,
    /// After it.
    Last,
}

impl Browser {
    pub(crate) fn group(&self, id: i64) -> Result<&Group, Error> {
        self.groups.get(&GroupId(id)).ok_or(Error::NoGroup(id))
    }

    pub(crate) fn tabs_of(&self, group: GroupId) -> Vec<TabId> {
        let window = self.groups.get(&group).and_then(|group| self.windows.get(&group.window));
        let strip = window.map(|window| window.tabs.as_slice()).unwrap_or_default();
        strip
            .iter()
            .filter(|id| self.tabs.get(id).is_some_and(|tab| tab.group == Some(group)))
            .copied()
            .collect()
    }

    /// `tabs.group`.
    pub(crate) fn group_tabs(&mut self, call: &Call<'_>) -> Result<Answer, Error> {
        let group = call.number(0, "groupId");
        let properties = call.property(0, "createProperties");
        if group.is_some() && properties.is_some() {
            return Err(Error::GroupAndProperties);
        }
        let group =
            group.map(|id| self.group(id).map(|group| (group.id, group.window))).transpose()?;
        let named = properties
            .and_then(|properties| properties.property("windowId"))
            .and_then(crate::js_value::Js::integer);
        let window = match group {
            Some((_, window)) => window,
            None => self.named_window(call, named)?,
        };
        let (ids, _) = call.ids(call.property(0, "tabIds"));
        let tabs: Vec<TabId> = ids
            .iter()
            .map(|id| self.tab(TabId(*id)).map(|tab| tab.id))
            .collect::<Result<_, _>>()?;
        self.check_not_dragging()?;
        if self.window(window)?.kind != WindowKind::Normal {
            return Err(Error::NotNormalWindow);
        }
        let mut left = BTreeSet::new();
        for id in &tabs {
            if self.tab(*id)?.window != window {
                left.insert(self.transplant(*id, window, None)?);
            }
        }
        let chosen: BTreeSet<TabId> = tabs.into_iter().collect();
        let strip = self.window(window)?.tabs.clone();
        let ordered: Vec<_> = strip.into_iter().filter(|id| chosen.contains(id)).collect();
        let group = match group {
            Some((group, _)) => self.join(group, &ordered)?,
            None => self.found(window, &ordered)?,
        };
        for window in left {
            self.drop_window_if_empty(window);
        }
        Ok(Answer::Value(group.0.into()))
    }

    /// Makes a new group of tabs in strip order, at the place of the first of them.
    fn found(&mut self, window: WindowId, tabs: &[TabId]) -> Result<GroupId, Error> {
        let id = GroupId(self.next_id());
        let used: Vec<_> = self
            .groups
            .values()
            .filter(|group| group.window == window)
            .map(|group| group.color.as_str())
            .collect();
        let uses = |color: &&&str| used.iter().filter(|used| *used == *color).count();
        let color = COLORS.iter().min_by_key(uses).unwrap_or(&"grey");
        let group =
            Group { id, window, color: (*color).into(), title: String::new(), collapsed: false };
        let state = self.window(window)?;
        let first = tabs.first().and_then(|tab| state.index_of(*tab)).unwrap_or_default();
        let has_pinned = tabs.iter().any(|tab| self.tabs.get(tab).is_some_and(|tab| tab.pinned));
        let (at, left) = if has_pinned {
            (self.place_without(state, tabs, first), 0)
        } else {
            self.place_for_new_group(state, tabs, first)
        };
        self.groups.insert(id, group.clone());
        let moves = if has_pinned { Moves::First } else { Moves::Last };
        let emptied = self.gather(id, tabs, (at, left), moves, |browser| {
            browser.emit(Event::GroupCreated(group.clone()));
            browser.emit(Event::GroupUpdated(group.clone()));
        })?;
        for group in emptied {
            self.drop_group_if_empty(group);
        }
        Ok(id)
    }

    /// Adds tabs to a group: those that stand left of it at its left edge, the others at its right one.
    fn join(&mut self, group: GroupId, tabs: &[TabId]) -> Result<GroupId, Error> {
        let window = self.group(group.0)?.window;
        let members = self.tabs_of(group);
        let state = self.window(window)?;
        let edge = members.first().and_then(|tab| state.index_of(*tab)).unwrap_or_default();
        let joining: Vec<_> = tabs.iter().filter(|tab| !members.contains(tab)).copied().collect();
        let (left, right): (Vec<_>, Vec<_>) = joining
            .iter()
            .copied()
            .partition(|tab| state.index_of(*tab).is_some_and(|index| index < edge));
        let mut emptied = Vec::new();
        let place = |browser: &Self, side: &[TabId]| -> Result<usize, Error> {
            let strip = &browser.window(window)?.tabs;
            let others: Vec<_> = strip.iter().filter(|tab| !side.contains(tab)).collect();
            let start = others.iter().position(|tab| members.contains(tab)).unwrap_or_default();
            Ok(start)
        };
        if !left.is_empty() {
            let at = place(self, &left)?;
            emptied.extend(self.gather(group, &left, (at, left.len()), Moves::Last, |_| {})?);
        }
        if !right.is_empty() {
            let strip = &self.window(window)?.tabs;
            let others = strip.iter().filter(|tab| !right.contains(tab));
            let last = others
                .enumerate()
                .filter(|(_, tab)| self.tabs.get(tab).is_some_and(|tab| tab.group == Some(group)))
                .last();
            let at = last.map_or(0, |(index, _)| index + 1);
            emptied.extend(self.gather(group, &right, (at, 0), Moves::Last, |_| {})?);
        }
        for group in emptied {
            self.drop_group_if_empty(group);
        }
        Ok(group)
    }

    /// Where the first of some tabs stands in a strip without them, behind the group that is around it.
    fn place_without(&self, state: &Window, tabs: &[TabId], first: usize) -> usize {
        let mut without = state.clone();
        without.tabs.retain(|tab| !tabs.contains(tab));
        let before = state.tabs.iter().take(first);
        let at = before.filter(|tab| !tabs.contains(tab)).count();
        let mut at = self.clamped(&without, false, at);
        while self.group_around(&without, at).is_some() {
            at += 1;
        }
        at
    }

    /// Where a new group of tabs begins, and how many of them come to there from the left: right where the first one stands,
    /// behind the group that it leaves.
    fn place_for_new_group(&self, state: &Window, tabs: &[TabId], first: usize) -> (usize, usize) {
        let group = |place: usize| {
            let tab = state.tabs.get(place).and_then(|tab| self.tabs.get(tab));
            tab.and_then(|tab| tab.group)
        };
        let (own, border) = (group(first), self.clamped(state, true, usize::MAX));
        let is_free =
            |place: &usize| *place >= border && (group(*place).is_none() || group(*place) != own);
        let mut places = first + 1..state.tabs.len();
        let end = places.find(is_free).unwrap_or(state.tabs.len());
        let is_left = |tab: &&TabId| state.index_of(**tab).is_some_and(|index| index < end);
        let left = tabs.iter().filter(is_left).count();
        (end - left, left)
    }

    /// Brings tabs side by side to a place (counted without them), as members of a group, the first ones of them
    /// from the left; the groups they left are given.
    fn gather(
        &mut self,
        group: GroupId,
        tabs: &[TabId],
        (at, left): (usize, usize),
        moves: Moves,
        announce: impl FnOnce(&mut Self),
    ) -> Result<BTreeSet<GroupId>, Error> {
        let window = self.group(group.0)?.window;
        let before = self.window(window)?.tabs.clone();
        let mut after: Vec<_> = before.iter().filter(|tab| !tabs.contains(tab)).copied().collect();
        after.splice(at..at, tabs.iter().copied());
        let mut emptied = BTreeSet::new();
        self.window_mut(window)?.tabs = after;
        for id in tabs {
            if self.tab(*id)?.pinned {
                self.tab_mut(*id)?.pinned = false;
                self.updated(*id, Change { pinned: Some(false), ..Change::default() });
            }
        }
        for id in tabs {
            emptied.extend(self.tab_mut(*id)?.group.replace(group));
        }
        for (turn, id) in tabs.iter().enumerate() {
            if turn < left {
                // Each is told as it stands at the edge, before the next one pushes it on.
                let strip = &mut self.window_mut(window)?.tabs;
                strip.retain(|other| other != id);
                strip.insert(at + left - 1, *id);
            }
            self.updated(*id, Change { group: Some(group.0), ..Change::default() });
        }
        // What follows tells of each move from the order that the strip had until then.
        self.window_mut(window)?.tabs = before;
        if moves == Moves::First {
            self.shift_all(tabs, at)?;
            announce(self);
        } else {
            announce(self);
            self.shift_all(tabs, at)?;
        }
        emptied.remove(&group);
        Ok(emptied)
    }

    /// Moves tabs to stand side by side from `at` on, each told on its own.
    fn shift_all(&mut self, tabs: &[TabId], at: usize) -> Result<(), Error> {
        let Some(first) = tabs.first() else {
            return Ok(());
        };
        let window = self.tab(*first)?.window;
        let index = |browser: &Self, tab: TabId| {
            browser.windows.get(&window).and_then(|state| state.index_of(tab)).unwrap_or_default()
        };
        let goes_right = |browser: &Self, turn: usize, tab: TabId| index(browser, tab) < at + turn;
        let (mut rightward, mut leftward) = (Vec::new(), Vec::new());
        for (turn, tab) in tabs.iter().enumerate() {
            if goes_right(self, turn, *tab) {
                rightward.push((turn, *tab))
            } else {
                leftward.push((turn, *tab))
            }
        }
        // From the far end inwards, so that no tab pushes one that has its place already.
        for (turn, tab) in rightward.into_iter().rev() {
            self.shift(tab, at + turn)?;
        }
        for (turn, tab) in leftward {
            self.shift(tab, at + turn)?;
        }
        Ok(())
    }

    /// `tabs.ungroup`: the tabs that exist are taken out before an unknown one is named.
    pub(crate) fn ungroup(&mut self, call: &Call<'_>) -> Result<Answer, Error> {
        let (ids, _) = call.ids(call.arguments.at(0));
        for id in ids {
            let id = self.tab(TabId(id))?.id;
            self.check_not_dragging()?;
            self.leave_group(id)?;
        }
        Ok(Answer::Undefined)
    }

    /// Takes a tab out of its group; from the middle it goes behind the group.
    fn leave_group(&mut self, id: TabId) -> Result<(), Error> {
        let tab = self.tab(id)?;
        let (window, Some(group)) = (tab.window, tab.group) else {
            return Ok(());
        };
        let members = self.tabs_of(group);
        let state = self.window(window)?;
        let from = state.index_of(id).ok_or(Error::NoTab(id.0))?;
        // It goes to the edge that is nearer, to the right one from the very middle.
        let first = members.first().and_then(|tab| state.index_of(*tab));
        let first = first.unwrap_or(from);
        let to = if from < first + members.len() / 2 { first } else { first + members.len() - 1 };
        self.tab_mut(id)?.group = None;
        let strip = &mut self.window_mut(window)?.tabs;
        strip.remove(from);
        strip.insert(to, id);
        self.updated(id, Change { group: Some(GROUP_ID_NONE), ..Change::default() });
        let strip = &mut self.window_mut(window)?.tabs;
        strip.remove(to);
        strip.insert(from, id);
        self.shift(id, to)?;
        self.drop_group_if_empty(group);
        Ok(())
    }

    /// `tabGroups.get`.
    pub(crate) fn group_get(&self, call: &Call<'_>) -> Result<Answer, Error> {
        let id = call.arguments.integer(0).unwrap_or(GROUP_ID_NONE);
        Ok(Answer::Value(self.group(id)?.render()))
    }

    /// `tabGroups.query`.
    pub(crate) fn group_query(&self, call: &Call<'_>) -> Result<Answer, Error> {
        let window =
            call.number(0, "windowId").filter(|id| *id != crate::browser::window::WINDOW_ID_NONE);
        let window = match window {
            Some(crate::browser::window::WINDOW_ID_CURRENT) => Some(self.current_window(call)?.0),
            other => other,
        };
        let found = self.groups.values().filter(|group| {
            call.boolean(0, "collapsed").is_none_or(|wanted| wanted == group.collapsed)
                && call.boolean(0, "shared").is_none_or(|wanted| !wanted)
                && call.text(0, "color").is_none_or(|wanted| wanted == group.color)
                && call.text(0, "title").is_none_or(|wanted| {
                    crate::extension::match_pattern::glob(wanted, &group.title, true)
                })
                && window.is_none_or(|wanted| wanted == group.window.0)
        });
        Ok(Answer::Value(Value::Array(found.map(Group::render).collect())))
    }

    /// `tabGroups.update`.
    pub(crate) fn group_update(&mut self, call: &Call<'_>) -> Result<Answer, Error> {
        let id = self.group(call.arguments.integer(0).unwrap_or(GROUP_ID_NONE))?.id;
        let collapsed = call.boolean(1, "collapsed");
        let (color, title) =
            (call.text(1, "color").map(str::to_owned), call.text(1, "title").map(str::to_owned));
        let group = self.groups.get_mut(&id).ok_or(Error::NoGroup(id.0))?;
        let before = group.clone();
        group.collapsed = collapsed.unwrap_or(group.collapsed);
        group.color = color.unwrap_or_else(|| group.color.clone());
        group.title = title.unwrap_or_else(|| group.title.clone());
        let after = group.clone();
        if before != after {
            self.emit(Event::GroupUpdated(after.clone()));
        }
        if before.collapsed != after.collapsed {
            self.set_collapsed(id, after.collapsed)?;
        }
        Ok(Answer::Value(after.render()))
    }

    /// `tabGroups.move`.
    pub(crate) fn group_move(&mut self, call: &Call<'_>) -> Result<Answer, Error> {
        let group = self.group(call.arguments.integer(0).unwrap_or(GROUP_ID_NONE))?.clone();
        let named = call.number(1, "windowId");
        let target =
            named.map(|_| self.named_window(call, named)).transpose()?.unwrap_or(group.window);
        if self.window(target)?.kind != WindowKind::Normal {
            return Err(Error::NotNormalWindow);
        }
        self.check_not_dragging()?;
        let members = self.tabs_of(group.id);
        let mut without = self.window(target)?.clone();
        without.tabs.retain(|tab| !members.contains(tab));
        let index = usize::try_from(call.number(1, "index").unwrap_or(-1)).unwrap_or(usize::MAX);
        let at = index.min(without.tabs.len());
        if self.clamped(&without, false, at) != at {
            return Err(Error::GroupAmongPinned);
        }
        if self.group_around(&without, at).is_some() {
            return Err(Error::GroupInGroup);
        }
        if target == group.window {
            self.shift_all(&members, at)?;
            self.emit(Event::GroupMoved(group.clone()));
            return Ok(Answer::Value(group.render()));
        }
        self.move_group_to_window(&group, &members, target, at)
    }

    fn move_group_to_window(
        &mut self,
        group: &Group,
        members: &[TabId],
        target: WindowId,
        at: usize,
    ) -> Result<Answer, Error> {
        self.groups.remove(&group.id);
        self.emit(Event::GroupRemoved(group.clone()));
        let moved = Group { window: target, ..group.clone() };
        for id in members.iter().rev() {
            self.detach(*id)?;
        }
        self.groups.insert(group.id, moved.clone());
        for (turn, id) in members.iter().enumerate() {
            self.attach(*id, target, Some(at + turn))?;
            self.tab_mut(*id)?.group = Some(group.id);
            self.updated(*id, Change { group: Some(group.id.0), ..Change::default() });
        }
        self.emit(Event::GroupCreated(moved.clone()));
        self.emit(Event::GroupUpdated(moved.clone()));
        self.drop_window_if_empty(group.window);
        Ok(Answer::Value(moved.render()))
    }
}
