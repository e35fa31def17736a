//! Steps of a drag that the recorded pointer goes one by one, and may give up on its way; others name where a drag ends.

use std::collections::BTreeSet;

use crate::browser::Browser;
use crate::browser::event::Change;
use crate::browser::strip::WindowPlacement;
use crate::browser::window::WindowKind;
use crate::error::Error;
use crate::id::{GROUP_ID_NONE, GroupId, TabId, WindowId};

impl Browser {
    /// Puts tabs back that were dragged out and given up, one by one to where they stood, and shows none of them.
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

    /// Drags tabs that are held and stand side by side along their strip to an index, as members of a group; without one, a group that they are all tabs
    /// of goes with them.
    pub(crate) fn drag_within(
        &mut self,
        tabs: &[TabId],
        to: usize,
        group: Option<GroupId>,
    ) -> Result<(), Error> {
        let is_whole =
            |group: &GroupId| self.strips().members(*group).iter().all(|tab| tabs.contains(tab));
        let kept = |tab: &TabId| Ok(group.or(self.tab(*tab)?.group.filter(is_whole)));
        let groups = tabs.iter().map(kept).collect::<Result<Vec<_>, Error>>()?;
        let from = tabs
            .first()
            .and_then(|first| self.window(self.tab(*first).ok()?.window).ok()?.index_of(*first));
        // To the right each of them goes to where the last one ends, and is pushed back by those behind it.
        let end = from.filter(|from| *from < to).map(|_| to + tabs.len().saturating_sub(1));
        let mut left = BTreeSet::new();
        for ((to, id), group) in (to..).zip(tabs).zip(groups) {
            let to = end.unwrap_or(to);
            let own = std::mem::replace(&mut self.tab_mut(*id)?.group, group);
            if own != group {
                let shown = Some(group.map_or(GROUP_ID_NONE, |group| group.0));
                self.emit_updated_as_at(*id, to, Change { group: shown, ..Change::default() })?;
                left.extend(own);
            }
        }
        self.move_side_by_side(tabs, to)?;
        left.into_iter().for_each(|group| self.drop_group_if_empty(group));
        Ok(())
    }

    /// Drags a group that is held out of its strip, into a window of its own. The tab that was active before it was taken hold of is so again at first, and
    /// then the one that takes the place of its own.
    pub(crate) fn drag_group_out(
        &mut self,
        id: GroupId,
        former: TabId,
        collapsed: bool,
    ) -> Result<WindowId, Error> {
        let source = self.group(id.0)?.window;
        let incognito = self.window(source)?.incognito;
        let target = self.open_window(WindowKind::Normal, incognito, WindowPlacement::default())?;
        self.put_group_down(id, collapsed);
        let members = self.strips().members(id);
        let window = self.window(source)?;
        let first = members.first().and_then(|first| window.index_of(*first)).unwrap_or_default();
        let next = self.strips().successor(window, first..first + members.len(), None);
        if !members.contains(&former) {
            self.window_mut(source)?.highlighted.insert(former);
            self.emit_highlighted(source);
        }
        let carried = self.take_along(&members)?;
        if let Some(next) = next {
            self.activate(next)?;
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

    /// Shows the tabs of a group that is held no longer, unless it hid them before.
    pub(crate) fn put_group_down(&mut self, id: GroupId, collapsed: bool) {
        self.held_group = None;
        self.show_collapsed(id, collapsed);
    }
}
