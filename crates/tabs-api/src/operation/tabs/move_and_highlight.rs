//! Where tabs stand and which are highlighted: move and highlight.

use std::collections::BTreeSet;

use crate::browser::event::Change;
use crate::browser::group::{GROUP_ID_NONE, GroupId};
use crate::browser::tab::TabId;
use crate::browser::window::{WindowId, WindowKind};
use crate::browser::{Answer, Browser};
use crate::error::Error;
use crate::operation::call::Call;

impl Browser {
    /// `tabs.move`: one tab after the other, the k-th to `index + k`; -1 is the end each time.
    pub(crate) fn move_tabs(&mut self, call: &Call<'_>) -> Result<Answer, Error> {
        let (ids, _) = call.ids(call.arguments.at(0));
        if ids.is_empty() {
            return Err(Error::NoTabsGiven);
        }
        let first = call.number(1, "index").unwrap_or(-1);
        let window = call.number(1, "windowId");
        let mut moved = Vec::new();
        for (turn, id) in ids.iter().enumerate() {
            let id = self.tab(TabId(*id))?.id;
            let target = window.map(|_| self.named_window(call, window)).transpose()?;
            self.check_not_dragging()?;
            let index = usize::try_from(first).ok().map(|index| index + turn);
            // The current window as -2 counts as another one, even where it is the tab's own.
            let is_named_current = window == Some(crate::browser::window::WINDOW_ID_CURRENT);
            match target {
                Some(target) if target != self.tab(id)?.window || is_named_current => {
                    self.move_to_window(id, target, index)?
                }
                _ => self.move_within(id, index)?,
            }
            if let Some(view) = self.view(id) {
                moved.push(view.seen_by(&self.access_of(call)));
            }
        }
        match moved.len() {
            1 => Ok(Answer::Tab(Box::new(moved.remove(0)))),
            _ => Ok(Answer::Tabs(moved)),
        }
    }

    /// Moves a tab within its window; pinned ones stay in front, and a group takes what comes between its tabs.
    pub(crate) fn move_within(&mut self, id: TabId, index: Option<usize>) -> Result<(), Error> {
        let tab = self.tab(id)?;
        let (window, pinned, group) = (tab.window, tab.pinned, tab.group);
        let state = self.window(window)?;
        let from = state.index_of(id).ok_or(Error::NoTab(id.0))?;
        let mut without = state.clone();
        without.tabs.remove(from);
        let to = self.clamped(&without, pinned, index.unwrap_or(usize::MAX));
        let new_group = self.group_at(&without, to, group);
        if new_group != group {
            // Membership is told first, when the tab stands where it will.
            self.tab_mut(id)?.group = new_group;
            let strip = &mut self.window_mut(window)?.tabs;
            strip.remove(from);
            strip.insert(to, id);
            self.updated(
                id,
                Change {
                    group: Some(new_group.map_or(GROUP_ID_NONE, |group| group.0)),
                    ..Change::default()
                },
            );
            let strip = &mut self.window_mut(window)?.tabs;
            strip.remove(to);
            strip.insert(from, id);
        }
        self.shift(id, to)?;
        if let Some(group) = group {
            self.drop_group_if_empty(group);
        }
        Ok(())
    }

    /// The group of a tab that comes to stand at `to` in a strip without it: the one around, or its own where that one is beside it.
    fn group_at(
        &self,
        without: &crate::browser::window::Window,
        to: usize,
        own: Option<GroupId>,
    ) -> Option<GroupId> {
        if let Some(around) = self.group_around(without, to) {
            return Some(around);
        }
        let own = own?;
        let group = |index: usize| {
            without.tabs.get(index).and_then(|id| self.tabs.get(id)).and_then(|tab| tab.group)
        };
        let is_beside = group(to) == Some(own) || to.checked_sub(1).and_then(group) == Some(own);
        let is_alone = !without
            .tabs
            .iter()
            .any(|id| self.tabs.get(id).is_some_and(|tab| tab.group == Some(own)));
        (is_beside || is_alone).then_some(own)
    }

    fn move_to_window(
        &mut self,
        id: TabId,
        target: WindowId,
        index: Option<usize>,
    ) -> Result<(), Error> {
        let state = self.window(target)?;
        if state.kind != WindowKind::Normal {
            return Err(Error::NotNormalWindow);
        }
        let own = self.tab(id)?.window;
        let mut without = state.clone();
        without.tabs.retain(|other| *other != id);
        let place = self.clamped(&without, false, index.unwrap_or(usize::MAX));
        if self.group_around(&without, place).is_some() {
            return Err(Error::GroupContinuity);
        }
        if own == target && without.tabs.is_empty() {
            return Ok(());
        }
        self.carry(id, target, Some(place))
    }

    /// `tabs.highlight`: the first index becomes active, the others highlighted with it.
    pub(crate) fn highlight(&mut self, call: &Call<'_>) -> Result<Answer, Error> {
        let window = self.named_window(call, call.number(0, "windowId"))?;
        let (indices, _) = call.ids(call.property(0, "tabs"));
        self.check_not_dragging()?;
        let strip = self.window(window)?.tabs.clone();
        let at =
            |index: i64| usize::try_from(index).ok().and_then(|index| strip.get(index)).copied();
        // The browser reads the list from its end, so that the last bad index is the one it names.
        if let Some(bad) = indices.iter().rev().find(|index| at(**index).is_none()) {
            return Err(Error::NoTabAtIndex(*bad));
        }
        let tabs: Vec<_> = indices.iter().filter_map(|index| at(*index)).collect();
        let active = *tabs.first().ok_or(Error::NoHighlightedTab)?;
        self.select(active, tabs.into_iter().collect::<BTreeSet<_>>())?;
        let view = self.window_view(self.window(window)?, true, &self.access_of(call));
        Ok(Answer::Window(Box::new(view)))
    }
}
