//! The strip of a window: where tabs stand, which one is active, and what comes when they arrive, move and go.

use std::collections::BTreeSet;

use crate::browser::content_scripts::Departure;
use crate::browser::event::{Change, Event};
use crate::browser::group::{GROUP_ID_NONE, GroupId};
use crate::browser::tab::{Status, TAB_INDEX_NONE, Tab, TabId};
use crate::browser::window::{Window, WindowId, WindowKind};
use crate::browser::{Browser, Closed};
use crate::engine::EngineCommand;
use crate::error::Error;

/// How many closed tabs are remembered.
const CLOSED_MAX: usize = 25;

fn position(index: usize) -> i64 {
    i64::try_from(index).unwrap_or(i64::MAX)
}

impl Browser {
    pub(crate) fn add_window(&mut self, kind: WindowKind) -> WindowId {
        let id = WindowId(self.next_id());
        self.windows.insert(id, Window::new(id, kind));
        self.focus_order.push(id);
        id
    }

    /// A tab that stands nowhere yet.
    pub(crate) fn new_tab(&mut self, window: WindowId) -> TabId {
        let id = TabId(self.next_id());
        let stable_id = self.next_number();
        self.tabs.insert(id, Tab::new(id, stable_id, window, self.now));
        id
    }

    /// Gives a window the focus.
    pub(crate) fn focus(&mut self, window: WindowId) {
        if self.focus_order.first() == Some(&window) && self.has_focus {
            return;
        }
        self.focus_order.retain(|other| *other != window);
        self.focus_order.insert(0, window);
        self.has_focus = true;
        self.emit(Event::WindowFocused(window.0));
    }

    fn pinned_count(&self, window: &Window) -> usize {
        window.tabs.iter().take_while(|id| self.tabs.get(id).is_some_and(|tab| tab.pinned)).count()
    }

    /// The nearest place at which a tab may stand: pinned tabs in front of all others.
    pub(crate) fn clamped(&self, window: &Window, pinned: bool, index: usize) -> usize {
        let border = self.pinned_count(window);
        if pinned { index.min(border) } else { index.clamp(border, window.tabs.len()) }
    }

    /// The group that a place lies strictly inside of.
    pub(crate) fn group_around(&self, window: &Window, index: usize) -> Option<GroupId> {
        let group = |index: usize| {
            window.tabs.get(index).and_then(|id| self.tabs.get(id)).and_then(|tab| tab.group)
        };
        let left = group(index.checked_sub(1)?)?;
        (group(index) == Some(left)).then_some(left)
    }

    /// Puts a tab into a strip; nothing is told.
    pub(crate) fn place(
        &mut self,
        tab: TabId,
        window: WindowId,
        index: usize,
    ) -> Result<(), Error> {
        self.tab_mut(tab)?.window = window;
        let strip = &mut self.window_mut(window)?.tabs;
        strip.insert(index.min(strip.len()), tab);
        Ok(())
    }

    pub(crate) fn emit_activated(&mut self, tab: TabId, window: WindowId) {
        self.emit(Event::TabActivated { tab: tab.0, window: window.0 });
    }

    /// Tells which tabs of a window are highlighted, in the order of the strip.
    pub(crate) fn emit_highlighted(&mut self, window: WindowId) {
        let Some(state) = self.windows.get(&window) else {
            return;
        };
        let tabs =
            state.tabs.iter().filter(|id| state.highlighted.contains(id)).map(|id| id.0).collect();
        self.emit(Event::TabHighlighted { tabs, window: window.0 });
    }

    /// Makes a tab the active and only highlighted one of its window.
    pub(crate) fn activate(&mut self, tab: TabId) -> Result<(), Error> {
        self.select(tab, BTreeSet::from([tab]))
    }

    /// Makes a tab active and a set of tabs highlighted, and tells what of it is new.
    pub(crate) fn select(
        &mut self,
        active: TabId,
        highlighted: BTreeSet<TabId>,
    ) -> Result<(), Error> {
        let now = self.now;
        let window = self.tab(active)?.window;
        let is_new_active = self.window(window)?.active != Some(active);
        if is_new_active {
            self.expand_around(active)?;
        }
        let state = self.window_mut(window)?;
        let is_new_set = state.highlighted != highlighted;
        state.active = Some(active);
        state.highlighted = highlighted;
        if is_new_active {
            let tab = self.tab_mut(active)?;
            tab.last_accessed = now;
            tab.was_shown = true;
            self.emit_activated(active, window);
        }
        if is_new_active || is_new_set {
            self.emit_highlighted(window);
        }
        if is_new_active {
            self.wake(active)?;
        }
        Ok(())
    }

    /// Loads a discarded tab that was activated, and lets a frozen one run.
    fn wake(&mut self, id: TabId) -> Result<(), Error> {
        let tab = self.tab(id)?;
        if tab.discarded {
            self.revive(id)?;
        } else {
            self.unfreeze_soon(id);
        }
        self.answer_languages(id);
        Ok(())
    }

    /// The tab that becomes active when the active one at `index` goes.
    fn successor(&self, window: &Window, index: usize, group: Option<GroupId>) -> Option<TabId> {
        let tab_at = |place: usize| window.tabs.get(place).and_then(|id| self.tabs.get(id));
        let is_open = |tab: &Tab| !self.is_hidden(tab);
        let going = tab_at(index)?;
        if let Some(opener) = going.opener {
            let mut outward = (index + 1..window.tabs.len()).chain((0..index).rev());
            let sibling =
                outward.find_map(|place| tab_at(place).filter(|tab| tab.opener == Some(opener)));
            if let Some(sibling) = sibling.filter(|tab| is_open(tab)) {
                return Some(sibling.id);
            }
            if let Some(parent) =
                self.tabs.get(&opener).filter(|tab| tab.window == window.id && is_open(tab))
            {
                return Some(parent.id);
            }
        }
        let mates = |tab: &&Tab| tab.group.is_some() && tab.group == group && is_open(tab);
        if let Some(mate) =
            tab_at(index + 1).filter(mates).or_else(|| tab_at(index.checked_sub(1)?).filter(mates))
        {
            return Some(mate.id);
        }
        let right = (index + 1..window.tabs.len()).filter_map(tab_at).find(|tab| is_open(tab));
        let left = (0..index).rev().filter_map(tab_at).find(|tab| is_open(tab));
        let any = tab_at(index + 1).or_else(|| tab_at(index.checked_sub(1)?));
        right.or(left).or(any).map(|tab| tab.id)
    }

    /// Takes a tab out of its strip and settles who is active there. What it was gives its old place and whether the window is now empty.
    fn take_out(&mut self, id: TabId, group: Option<GroupId>) -> Result<TakenOut, Error> {
        let window = self.tab(id)?.window;
        let state = self.window(window)?;
        let index = state.index_of(id).ok_or(Error::NoTab(id.0))?;
        let was_active = state.active == Some(id);
        let was_highlighted = state.highlighted.contains(&id);
        let active_index = state.active.and_then(|active| state.index_of(active));
        let next = if was_active { self.successor(state, index, group) } else { state.active };
        let state = self.window_mut(window)?;
        state.tabs.retain(|other| *other != id);
        state.highlighted.remove(&id);
        let next = if was_active {
            // Others that were highlighted with it go first: the leftmost of them becomes active.
            let mate = state.tabs.iter().find(|tab| state.highlighted.contains(tab)).copied();
            state.active = mate.or(next);
            if mate.is_none() {
                state.highlighted = next.into_iter().collect();
            }
            state.active
        } else {
            next
        };
        Ok(TakenOut {
            window,
            index,
            next: next.filter(|_| was_active),
            shifts_highlight: !was_active
                && (was_highlighted || active_index.is_some_and(|active| index < active)),
        })
    }

    /// Tells what taking a tab out did to those that stay.
    fn emit_rest(&mut self, taken: &TakenOut) -> Result<(), Error> {
        if let Some(next) = taken.next {
            self.expand_around(next)?;
            let now = self.now;
            let tab = self.tab_mut(next)?;
            tab.last_accessed = now;
            tab.was_shown = true;
            self.emit_activated(next, taken.window);
            self.emit_highlighted(taken.window);
            self.wake(next)?;
        } else if taken.shifts_highlight {
            self.emit_highlighted(taken.window);
        }
        Ok(())
    }

    /// Tells that a tab lost its pin or its group because it left its strip: it stands nowhere then.
    fn emit_uprooted(&mut self, id: TabId, is_leaving_for_good: bool) -> Result<(), Error> {
        let view = self.view(id).ok_or(Error::NoTab(id.0))?;
        let tab = self.tab_mut(id)?;
        let (was_pinned, group) = (tab.pinned, tab.group.take());
        tab.pinned = false;
        let tell = |browser: &mut Self, change: Change| {
            let mut view = view.clone();
            view.index = TAB_INDEX_NONE;
            view.pinned = false;
            view.group = GROUP_ID_NONE;
            view.active = false;
            view.highlighted = false;
            if is_leaving_for_good {
                view.status = Status::Unloaded;
            }
            browser.emit(Event::TabUpdated { change, tab: view });
        };
        if was_pinned {
            tell(self, Change { pinned: Some(false), ..Change::default() });
        }
        if let Some(group) = group {
            tell(self, Change { group: Some(GROUP_ID_NONE), ..Change::default() });
            self.drop_group_if_empty(group);
        }
        Ok(())
    }

    /// Deletes a group that has no tabs left, and tells so.
    pub(crate) fn drop_group_if_empty(&mut self, id: GroupId) {
        if self.tabs.values().any(|tab| tab.group == Some(id)) {
            return;
        }
        if let Some(group) = self.groups.remove(&id) {
            self.emit(Event::GroupRemoved(group));
        }
    }

    /// Closes one tab; the last one takes its window with it.
    pub(crate) fn close_tab(&mut self, id: TabId) -> Result<(), Error> {
        let (window, tab) = (self.tab(id)?.window, self.tab(id)?.clone());
        let index = self.window(window)?.index_of(id).unwrap_or_default();
        self.remember_closed(tab, index);
        self.end_document(id, Departure::Gone);
        let group = self.tab(id)?.group;
        self.emit_uprooted(id, true)?;
        let taken = self.take_out(id, group)?;
        self.forget_tab(id);
        self.emit(Event::TabRemoved { tab: id.0, window: window.0, is_window_closing: false });
        if self.window(window)?.tabs.is_empty() {
            self.drop_window(window);
        } else {
            self.emit_rest(&taken)?;
        }
        Ok(())
    }

    /// Closes a window and all its tabs, the last one first.
    pub(crate) fn close_window(&mut self, window: WindowId) -> Result<(), Error> {
        let tabs = self.window(window)?.tabs.clone();
        for id in tabs.into_iter().rev() {
            self.end_document(id, Departure::Gone);
            self.emit_uprooted(id, true)?;
            self.window_mut(window)?.tabs.retain(|other| *other != id);
            self.forget_tab(id);
            self.emit(Event::TabRemoved { tab: id.0, window: window.0, is_window_closing: true });
        }
        self.drop_window(window);
        Ok(())
    }

    fn drop_window(&mut self, window: WindowId) {
        self.windows.remove(&window);
        let had_focus = self.focus_order.first() == Some(&window);
        self.focus_order.retain(|other| *other != window);
        self.emit(Event::WindowRemoved(window.0));
        if had_focus && let Some(next) = self.focus_order.first().copied() {
            self.emit(Event::WindowFocused(next.0));
        }
    }

    fn remember_closed(&mut self, tab: Tab, index: usize) {
        if self.closed.len() == CLOSED_MAX {
            self.closed.remove(0);
        }
        self.closed.push(Closed { tab, index, at: self.now });
    }

    /// Forgets a tab that stands nowhere any more.
    fn forget_tab(&mut self, id: TabId) {
        self.pass_on_openers(id);
        self.tabs.remove(&id);
        for extension in self.extensions.values_mut() {
            extension.forget(id.0, None);
        }
        self.command(EngineCommand::Close { tab: id });
    }

    /// Tabs that this one opened get its own opener instead, so that closing it leads back to there.
    pub(crate) fn pass_on_openers(&mut self, id: TabId) {
        let grandparent = self.tabs.get(&id).and_then(|tab| tab.opener);
        for tab in self.tabs.values_mut().filter(|tab| tab.opener == Some(id)) {
            tab.opener = grandparent.filter(|opener| *opener != tab.id);
            self.dirty.note_tab(tab.id);
        }
    }

    /// Moves a tab within its strip to the place that it would have without itself, and tells so.
    pub(crate) fn shift(&mut self, id: TabId, to: usize) -> Result<(), Error> {
        let window = self.tab(id)?.window;
        let state = self.window_mut(window)?;
        let from = state.index_of(id).ok_or(Error::NoTab(id.0))?;
        if from == to {
            return Ok(());
        }
        let before = state.highlighted_indices();
        state.tabs.remove(from);
        state.tabs.insert(to.min(state.tabs.len()), id);
        let moved_active = state.highlighted_indices() != before;
        self.emit(Event::TabMoved {
            tab: id.0,
            window: window.0,
            from: position(from),
            to: position(to),
        });
        if moved_active {
            self.emit_highlighted(window);
        }
        Ok(())
    }

    /// Takes a tab from its window to another, where it arrives inactive; the window that it left empty goes last.
    pub(crate) fn carry(
        &mut self,
        id: TabId,
        window: WindowId,
        index: Option<usize>,
    ) -> Result<(), Error> {
        let left = self.transplant(id, window, index)?;
        self.drop_window_if_empty(left);
        Ok(())
    }

    /// [`Browser::carry`] that leaves an emptied window to its caller, which drops it once all else is told.
    pub(crate) fn transplant(
        &mut self,
        id: TabId,
        window: WindowId,
        index: Option<usize>,
    ) -> Result<WindowId, Error> {
        let left = self.detach(id)?;
        self.attach(id, window, index)?;
        Ok(left)
    }

    /// Takes a tab out of its window, for another one.
    pub(crate) fn detach(&mut self, id: TabId) -> Result<WindowId, Error> {
        let group = self.tab(id)?.group;
        self.emit_uprooted(id, false)?;
        let taken = self.take_out(id, group)?;
        // What it opened stays behind, and what opened it does.
        self.pass_on_openers(id);
        self.tab_mut(id)?.opener = None;
        self.emit(Event::TabDetached {
            tab: id.0,
            window: taken.window.0,
            position: position(taken.index),
        });
        if !self.window(taken.window)?.tabs.is_empty() {
            self.emit_rest(&taken)?;
        }
        Ok(taken.window)
    }

    /// Puts a tab that stands nowhere into a window, inactive.
    pub(crate) fn attach(
        &mut self,
        id: TabId,
        window: WindowId,
        index: Option<usize>,
    ) -> Result<(), Error> {
        let target = self.window(window)?;
        let index = self.clamped(target, false, index.unwrap_or(target.tabs.len()));
        self.place(id, window, index)?;
        self.emit(Event::TabAttached { tab: id.0, window: window.0, position: position(index) });
        Ok(())
    }

    pub(crate) fn drop_window_if_empty(&mut self, window: WindowId) {
        if self.windows.get(&window).is_some_and(|state| state.tabs.is_empty()) {
            self.drop_window(window);
        }
    }
}

/// What was where before a tab left.
struct TakenOut {
    window: WindowId,
    index: usize,
    /// The tab that is active now because the one that left was.
    next: Option<TabId>,
    /// Whether the highlighted tabs stand elsewhere, or are others, though the active one is the same.
    shifts_highlight: bool,
}
