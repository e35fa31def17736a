//! Selection: the active tab of a window and the highlighted ones. `tabs.onActivated` comes before `tabs.onHighlighted`.

use std::collections::BTreeSet;

use crate::browser::Browser;
use crate::browser::event::Event;
use crate::browser::tab::Status;
use crate::browser::window::Window;
use crate::engine::{EngineCommand, NavigationKind};
use crate::error::Error;
use crate::id::{TabId, WindowId};

impl Browser {
    pub(in crate::browser) fn emit_activated(&mut self, tab: TabId, window: WindowId) {
        self.emit(Event::TabActivated { tab: tab.0, window: window.0 });
    }

    /// Tells which tabs of a window are highlighted, in the order of the strip.
    pub(in crate::browser) fn emit_highlighted(&mut self, window: WindowId) {
        let Some(state) = self.strips.window(window) else {
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

    /// Makes a tab the active and only highlighted one of its window, unless it is the active one.
    pub(crate) fn activate_unless_active(&mut self, tab: TabId) -> Result<(), Error> {
        if self.is_active(tab) { Ok(()) } else { self.activate(tab) }
    }

    /// Makes a tab active and a set of tabs highlighted, tells what of it is new, and lets the page of a new active one run.
    pub(crate) fn select(
        &mut self,
        active: TabId,
        highlighted: BTreeSet<TabId>,
    ) -> Result<(), Error> {
        self.select_from(active, active, highlighted)
    }

    /// Does the same where the next extension of the selection begins at the tab `anchor`.
    pub(in crate::browser) fn select_from(
        &mut self,
        anchor: TabId,
        active: TabId,
        highlighted: BTreeSet<TabId>,
    ) -> Result<(), Error> {
        if self.mark_selected(anchor, active, highlighted)? {
            self.run_shown_page(active)?;
        }
        Ok(())
    }

    /// Makes a tab active and a set of tabs highlighted, and tells what of it is new; `true` if the active one is.
    pub(super) fn mark_selected(
        &mut self,
        anchor: TabId,
        active: TabId,
        highlighted: BTreeSet<TabId>,
    ) -> Result<bool, Error> {
        let window = self.tab(active)?.window;
        let state = self.window_mut(window)?;
        let is_new_active = state.active != Some(active);
        let is_new_anchor = state.anchor.or(state.active) != Some(anchor);
        let is_new_set = state.highlighted != highlighted || is_new_anchor;
        state.highlighted = highlighted;
        state.anchor = Some(anchor).filter(|anchor| *anchor != active);
        if is_new_active || is_new_set {
            self.expand_around_highlighted(window, &[])?;
        }
        self.note_hidden(window, active);
        self.window_mut(window)?.active = Some(active);
        if is_new_active {
            self.note_shown(active)?;
            self.emit_activated(active, window);
        }
        if is_new_active || is_new_set {
            self.emit_highlighted(window);
        }
        Ok(is_new_active)
    }

    /// Makes a tab the active one and highlights it beside those that are.
    pub(crate) fn highlight(&mut self, id: TabId) -> Result<(), Error> {
        let mut set = self.window(self.tab(id)?.window)?.highlighted.clone();
        set.insert(id);
        self.select(id, set)
    }

    /// Takes a tab out of the highlighted ones. The active one hands over to the oldest of the others; the only one stays.
    pub(crate) fn unhighlight(&mut self, id: TabId) -> Result<(), Error> {
        let window = self.window(self.tab(id)?.window)?;
        let (mut set, active) = (window.highlighted.clone(), window.active);
        set.remove(&id);
        // A tab that was discarded has another id, and is as old as before.
        let oldest = set.iter().min_by_key(|id| self.strips.tab(**id).map(|tab| tab.stable_id));
        let next = active.filter(|active| *active != id).or_else(|| oldest.copied());
        self.select(next.ok_or(Error::UnhighlightAll)?, set)
    }

    /// Takes tabs out of the highlighted ones of their window, all but the active one, each told on its own.
    pub(in crate::browser) fn unhighlight_inactive(
        &mut self,
        window: WindowId,
        tabs: &[TabId],
    ) -> Result<(), Error> {
        for id in tabs {
            let state = self.window_mut(window)?;
            if state.active != Some(*id) && state.highlighted.remove(id) {
                // A range begins at the active one again where that was its beginning.
                state.anchor = state.anchor.filter(|anchor| anchor != id);
                self.expand_around_highlighted(window, &[])?;
                self.emit_highlighted(window);
            }
        }
        Ok(())
    }

    /// Tells that a tab is the active one now, and lets its page run.
    pub(in crate::browser) fn tell_shown(&mut self, id: TabId) -> Result<(), Error> {
        let window = self.tab(id)?.window;
        self.note_shown(id)?;
        self.emit_activated(id, window);
        self.emit_highlighted(window);
        self.run_shown_page(id)
    }

    /// Notes that the active tab of a window is hidden from now on, where another one takes its place. One that was opened as if its address had been
    /// typed forgets its opener.
    pub(in crate::browser) fn note_hidden(&mut self, window: WindowId, next: TabId) {
        let now = self.now;
        let former = self.strips.window(window).and_then(|window| window.active);
        let Some(former) = former.filter(|tab| *tab != next) else { return };
        if self.focused_tab() == Some(former) {
            self.note_unfocused();
        }
        if let Some(tab) = self.strips.tab_mut(former) {
            (tab.hidden_at, tab.was_active) = (now, true);
            if tab.is_typed && tab.opener.take().is_some() {
                self.dirty.note_tab(former);
            }
        }
        self.end_alert(former);
    }

    /// Notes that a tab is shown from now on.
    pub(super) fn note_shown(&mut self, id: TabId) -> Result<(), Error> {
        let now = self.now;
        self.tab_mut(id)?.last_accessed = now;
        self.command(EngineCommand::Shown { tab: id });
        self.note_seen(id);
        Ok(())
    }

    pub(in crate::browser) fn is_minimized(&self, id: TabId) -> bool {
        let window = self.strips.tab(id).and_then(|tab| self.strips.window(tab.window));
        window.is_some_and(Window::is_minimized)
    }

    /// Tells whether the page of a tab is on the screen: the tab is active, and its window in front and not minimized.
    pub(crate) fn is_on_screen(&self, id: TabId) -> bool {
        self.is_active(id) && !self.is_behind(id) && !self.is_minimized(id)
    }

    /// Tells whether another window is in front of that of a tab.
    fn is_behind(&self, id: TabId) -> bool {
        self.strips.tab(id).is_none_or(|tab| self.focus.front() != Some(tab.window))
    }

    /// Loads a tab that is shown now and has no page, and lets a frozen one run.
    pub(super) fn run_shown_page(&mut self, id: TabId) -> Result<(), Error> {
        let tab = self.tab(id)?;
        let (url, status, is_discarded) = (tab.url.clone(), tab.status, tab.discarded);
        let waits_no_more = tab.waits_to_load && self.focus.front() == Some(tab.window);
        if is_discarded && (!self.focus.has(tab.window) || self.is_minimized(id)) {
            // Its page comes once the window has the focus, and not where it is in front of all without it.
            return Ok(());
        }
        if is_discarded {
            self.reload_discarded(id)?;
        } else if waits_no_more || status == Status::Unloaded && !url.is_empty() {
            self.navigate(id, &url, NavigationKind::Restore);
        } else {
            self.unfreeze_soon(id);
        }
        self.answer_languages(id);
        Ok(())
    }
}
