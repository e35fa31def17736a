//! A tab leaves its strip, for another window or for good: what becomes of its pin and its group, and who is active then.

use crate::browser::Browser;
use crate::browser::event::{Change, Event};
use crate::browser::tab::Status;
use crate::error::Error;
use crate::id::{GROUP_ID_NONE, GroupId, TAB_INDEX_NONE, TabId, WindowId};

/// The place of a tab before it left, and what its leaving did to those that stay.
#[derive(Debug, Clone, Copy)]
pub(in crate::browser) struct Removal {
    pub(super) window: WindowId,
    pub(super) index: usize,
    /// The tab that is active now because the one that left was.
    next: Option<TabId>,
    /// True if the highlighted tabs stand elsewhere, or are others, though the active one is the same.
    shifts_highlight: bool,
}

impl Removal {
    /// The sum of several removals of one window, of which this tab is active now.
    pub(super) fn of_all(removals: &[Self], window: WindowId, active: Option<TabId>) -> Self {
        let has_next = removals.iter().any(|removal| removal.next.is_some());
        Self {
            window,
            index: removals.last().map_or(0, |removal| removal.index),
            next: active.filter(|_| has_next),
            shifts_highlight: removals.iter().any(|removal| removal.shifts_highlight),
        }
    }

    /// The same where the active tab had handed over to this one before.
    pub(in crate::browser) const fn handed_over_to(self, next: Option<TabId>) -> Self {
        Self { next, ..self }
    }
}

impl Browser {
    /// Takes a tab out of its strip and settles who is active there, and tells nothing.
    pub(super) fn remove_from_strip(
        &mut self,
        id: TabId,
        group: Option<GroupId>,
    ) -> Result<Removal, Error> {
        if self.focused_tab() == Some(id) {
            self.note_unfocused();
        }
        // What it opened counts from here on as opened by its own opener: as its siblings, when it comes to who is active next.
        self.pass_on_openers(id);
        let window = self.tab(id)?.window;
        let state = self.window(window)?;
        let index = state.index_of(id).ok_or(Error::NoTab(id.0))?;
        let was_active = state.active == Some(id);
        let places = state.selected_places();
        let successor =
            was_active.then(|| self.strips.successor(state, index..index + 1, group)).flatten();
        let state = self.window_mut(window)?;
        state.tabs.retain(|other| *other != id);
        state.highlighted.remove(&id);
        if was_active {
            state.hand_over(successor);
        }
        Ok(Removal {
            window,
            index,
            next: state.active.filter(|_| was_active),
            shifts_highlight: !was_active && state.selected_places() != places,
        })
    }

    /// Makes another tab active, if the active one is among tabs that stand side by side and are about to leave together. Nothing is told.
    pub(in crate::browser) fn hand_over_before_leaving(
        &mut self,
        window: WindowId,
        leaving: &[TabId],
    ) -> Result<Option<TabId>, Error> {
        let state = self.window(window)?;
        let first = leaving.first().and_then(|first| state.index_of(*first));
        let Some((active, first)) =
            state.active.filter(|active| leaving.contains(active)).zip(first)
        else {
            return Ok(None);
        };
        let successor = self.strips.successor(state, first..first + leaving.len(), None);
        if self.focused_tab() == Some(active) {
            self.note_unfocused();
        }
        let state = self.window_mut(window)?;
        state.highlighted.retain(|tab| !leaving.contains(tab));
        state.hand_over(successor);
        Ok(state.active)
    }

    /// True if highlighted tabs stand elsewhere, or are others, once these have left.
    pub(in crate::browser) fn shifts_highlight_by_leaving(
        &self,
        window: WindowId,
        leaving: &[TabId],
    ) -> Result<bool, Error> {
        let state = self.window(window)?;
        Ok(state.without(leaving).selected_places() != state.selected_places())
    }

    /// Shows the groups of the tabs that are highlighted after a removal, also where they were before, if it made others of them or brought them to
    /// other places: the browser selects them anew then.
    pub(super) fn show_groups_of_highlighted(&mut self, removal: &Removal) -> Result<(), Error> {
        if removal.next.is_some() || removal.shifts_highlight {
            self.expand_around_highlighted(removal.window, &[])?;
        }
        Ok(())
    }

    /// Tells what a tab's leaving did to those that stay.
    pub(super) fn emit_after_removal(&mut self, removal: &Removal) -> Result<(), Error> {
        if let Some(next) = removal.next {
            self.note_shown(next)?;
            self.emit_activated(next, removal.window);
            self.emit_highlighted(removal.window);
            self.run_shown_page(next)?;
        } else if removal.shifts_highlight {
            self.emit_highlighted(removal.window);
        }
        Ok(())
    }

    /// Takes pin and group from a tab that leaves its strip, and tells so of a tab that stands nowhere: of one whose process is gone
    /// already if it closes together with all that run in it, unless a page is on its way there.
    pub(super) fn clear_pin_and_group(
        &mut self,
        id: TabId,
        closing: &[TabId],
    ) -> Result<(), Error> {
        let is_told = self.tab(id)?.pinned || self.tab(id)?.group.is_some();
        if !is_told {
            return Ok(());
        }
        let is_unloaded = self.ends_process_first(id, closing);
        let view = self.view(id).ok_or(Error::NoTab(id.0))?;
        let tab = self.tab_mut(id)?;
        let (was_pinned, group) = (tab.pinned, tab.group.take());
        tab.pinned = false;
        let emit = |browser: &mut Self, change: Change| {
            let mut view = view.clone();
            view.index = TAB_INDEX_NONE;
            view.pinned = false;
            view.group = GROUP_ID_NONE;
            view.opener = None;
            view.active = false;
            view.highlighted = false;
            if is_unloaded && view.status != Status::Loading {
                view.status = Status::Unloaded;
            }
            browser.emit(Event::TabUpdated { change, tab: view });
        };
        if was_pinned {
            emit(self, Change { pinned: Some(false), ..Change::default() });
        }
        if let Some(group) = group {
            emit(self, Change { group: Some(GROUP_ID_NONE), ..Change::default() });
            self.drop_group_if_empty(group);
        }
        Ok(())
    }
}
