//! Steps of a drag that the recorded pointer goes one by one, and may give up on its way; others name where a drag ends.

use crate::browser::Browser;
use crate::browser::event::{Change, Event};
use crate::browser::strip::WindowPlacement;
use crate::browser::tab::TabView;
use crate::browser::user_action::carried::Carried;
use crate::browser::window::WindowKind;
use crate::error::Error;
use crate::id::{GroupId, TabId, WindowId};

impl Browser {
    /// Puts tabs back that were dragged out and given up, one by one to where they stood and into their groups, and shows none of them.
    pub(crate) fn drag_back(
        &mut self,
        homes: &[(TabId, usize, Option<GroupId>)],
        home: WindowId,
    ) -> Result<(), Error> {
        for (tab, index, group) in homes {
            let state = self.tab(*tab)?;
            // It came back with its group.
            if state.window == home {
                continue;
            }
            let own = state.group.filter(|own| *group == Some(*own));
            if let Some(group) = own.and_then(|own| self.strips().group(own)) {
                self.give_group_back(group.id, (home, *index), group.collapsed)?;
                continue;
            }
            let view = self.view(*tab).ok_or(Error::NoTab(tab.0))?;
            let group = group.filter(|group| {
                self.strips().group(*group).is_some_and(|group| group.window == home)
            });
            self.take_out_one_by_one(&[*tab])?;
            if view.pinned {
                self.pin_again(view.clone(), *index)?;
            }
            if let Some(group) = group {
                self.join_again(view, *index, group)?;
            }
            self.attach(*tab, home, Some(*index))?;
            if let Some(group) = group {
                self.emit_updated(*tab, Change { group: Some(group.0), ..Change::default() });
            }
        }
        Ok(())
    }

    /// Makes a tab a member of the group that it was of where it comes to, and tells so while it is still of its window, at the index that it comes to.
    fn join_again(&mut self, view: TabView, index: usize, group: GroupId) -> Result<(), Error> {
        self.tab_mut(TabId(view.id))?.group = Some(group);
        let change = Change { group: Some(group.0), ..Change::default() };
        let index = i64::try_from(index).unwrap_or(i64::MAX);
        let (active, highlighted, opener) = (false, false, None);
        let tab = TabView { index, group: group.0, active, highlighted, opener, ..view };
        self.emit(Event::TabUpdated { change, tab });
        Ok(())
    }

    /// Drags tabs that are held and stand side by side along their strip to an index, as members of a group; without one, a group that they are all tabs
    /// of goes with them.
    pub(crate) fn drag_within(
        &mut self,
        tabs: &[TabId],
        to: usize,
        group: Option<GroupId>,
    ) -> Result<(), Error> {
        let is_whole = |group: &GroupId| self.strips().all_among(*group, tabs);
        let kept = |tab: &TabId| Ok(group.or(self.tab(*tab)?.group.filter(is_whole)));
        let groups = tabs.iter().map(kept).collect::<Result<Vec<_>, Error>>()?;
        self.move_into_groups(tabs, to, groups)
    }

    /// Drags a group that is held out of its strip, into a window of its own. Where taking hold of it changed what was highlighted, `former` is the tab that
    /// was active, and its index: the one that stands there now is active at first, then that one, and then the one that takes the place of the group.
    pub(crate) fn drag_group_out(
        &mut self,
        id: GroupId,
        former: Option<(TabId, usize)>,
    ) -> Result<WindowId, Error> {
        let source = self.group(id.0)?.window;
        let incognito = self.window(source)?.incognito;
        let target = self.open_window(WindowKind::Normal, incognito, WindowPlacement::default())?;
        self.held_group = None;
        let members = self.strips().members(id);
        let window = self.window(source)?;
        let first = members.first().and_then(|first| window.index_of(*first)).unwrap_or_default();
        let next = self.strips().successor(window, first..first + members.len(), None);
        let is_other = |tab: &TabId| !members.contains(tab);
        let shown = former.and_then(|(_, index)| window.tabs.get(index)).copied().filter(is_other);
        let former = former.map(|(tab, _)| tab).filter(is_other);
        if let Some(shown) = shown {
            self.window_mut(source)?.highlighted.insert(shown);
            self.expand_around_highlighted(source, &[])?;
            self.emit_highlighted(source);
        }
        let carried = self.take_along(&members)?;
        for tab in former.into_iter().chain(next) {
            self.activate(tab)?;
        }
        self.settle_in(carried, target)?;
        self.hold_group(id)?;
        self.give_focus(target);
        Ok(target)
    }

    /// Brings a group that is held to the start of the strip of another window.
    pub(crate) fn bring_group_in(&mut self, id: GroupId, target: WindowId) -> Result<(), Error> {
        self.held_group = None;
        let carried = self.take_along(&self.strips().members(id))?;
        self.settle_in(carried, target)?;
        self.hold_group(id)
    }

    /// Gives a group that is held back to where it stood, which is told once more at its end.
    pub(crate) fn give_group_back(
        &mut self,
        id: GroupId,
        (home, index): (WindowId, usize),
        collapsed: bool,
    ) -> Result<(), Error> {
        self.held_group = None;
        for carried in self.take_along(&self.strips().members(id))? {
            if let Carried::Group(group) = carried {
                self.settle_group(group, home, index)?;
            }
        }
        if let Some(group) = self.strips.group_mut(id) {
            group.collapsed = collapsed;
            let shown = group.clone();
            self.emit(Event::GroupUpdated(shown));
        }
        Ok(())
    }

    /// Shows the tabs of a group that is held no longer, unless it hid them before.
    pub(crate) fn put_group_down(&mut self, id: GroupId, collapsed: bool) {
        self.held_group = None;
        self.show_collapsed(id, collapsed);
    }
}
