//! The order in which windows had the focus.

use crate::browser::Browser;
use crate::browser::event::Event;
use crate::browser::window::Window;
use crate::engine::NavigationKind;
use crate::error::Error;
use crate::id::{TabId, WindowId};

/// Windows by their last focus, and as they lie on one another.
#[derive(Debug)]
pub(crate) struct Focus {
    /// The window that had the focus last is first; those that never had it are last.
    order: Vec<WindowId>,
    /// The window in front is first. One that was opened behind it comes next once that is gone.
    stack: Vec<WindowId>,
    /// Windows that the call or event that goes on opened: they are not on the screen before it ends.
    unshown: Vec<WindowId>,
    /// True while no window has it.
    is_lost: bool,
}

impl Focus {
    /// Windows in this order, the first of them in front.
    pub(crate) fn of(order: Vec<WindowId>) -> Self {
        Self { stack: order.clone(), order, unshown: Vec::new(), is_lost: false }
    }

    /// Windows, the one that had the focus last first.
    pub(crate) fn order(&self) -> &[WindowId] {
        &self.order
    }

    /// The window that has, or had last, the focus.
    pub(super) fn last(&self) -> Option<WindowId> {
        self.order.first().copied()
    }

    /// The window in front of all others: the one that had the focus last, unless that was put behind them.
    pub(super) fn front(&self) -> Option<WindowId> {
        self.stack.first().copied()
    }

    /// Puts a window behind all others.
    fn lower(&mut self, window: WindowId) {
        self.stack.retain(|other| *other != window);
        self.stack.push(window);
    }

    /// True if a window has it.
    pub(crate) fn has(&self, window: WindowId) -> bool {
        !self.is_lost && self.last() == Some(window)
    }

    /// Adds a window that never had the focus. It opens behind the one that has it.
    pub(super) fn add(&mut self, window: WindowId) {
        self.order.push(window);
        let place = if self.is_lost { 0 } else { self.stack.len().min(1) };
        self.stack.insert(place, window);
        self.unshown.push(window);
    }

    /// Shows the windows that a call or event opened, as it ends.
    pub(super) fn show_opened(&mut self) {
        self.unshown.clear();
    }

    /// Gives a window the focus; `false` where it has it already.
    pub(super) fn give(&mut self, window: WindowId) -> bool {
        if self.has(window) {
            return false;
        }
        self.is_lost = false;
        for windows in [&mut self.order, &mut self.stack] {
            windows.retain(|other| *other != window);
            windows.insert(0, window);
        }
        true
    }

    /// Takes the focus from a window; `false` where it has it not. No other one gets it, and it counts still as the last that had it.
    pub(super) fn take(&mut self, window: WindowId) -> bool {
        let had_focus = self.has(window);
        self.is_lost |= had_focus;
        had_focus
    }

    /// Forgets a window; the window that gets its focus, if it has or had last: the next one that is to be seen.
    pub(super) fn remove(
        &mut self,
        window: WindowId,
        is_seen: impl Fn(WindowId) -> bool,
    ) -> Option<WindowId> {
        let was_last = self.last() == Some(window);
        for windows in [&mut self.order, &mut self.stack] {
            windows.retain(|other| *other != window);
        }
        if was_last { self.pass_on(is_seen) } else { None }
    }

    /// Gives the focus to the first window that is to be seen, to one that is only being opened where there is no other; else nobody has it.
    fn pass_on(&mut self, is_seen: impl Fn(WindowId) -> bool) -> Option<WindowId> {
        let seen = self.stack.iter().copied().filter(|window| is_seen(*window));
        let next = seen.min_by_key(|window| self.unshown.contains(window));
        self.is_lost = true;
        next.filter(|window| self.give(*window))
    }
}

impl Browser {
    /// The tab that is shown by the window in front of all others, which is the one with the focus where one has it.
    pub(crate) fn focused_tab(&self) -> Option<TabId> {
        self.strips.window(self.focus.front()?)?.active
    }

    /// Notes that the tab with the focus has it no longer.
    pub(in crate::browser) fn note_unfocused(&mut self) {
        let now = self.now;
        let tab = self.focused_tab().and_then(|tab| self.strips.tab_mut(tab));
        if let Some(tab) = tab {
            tab.focused_until = now;
        }
    }

    /// Tells which window has the focus now, if any.
    pub(in crate::browser) fn emit_focused(&mut self, window: Option<WindowId>) {
        let focused = window.and_then(|window| self.strips.window(window));
        self.emit(focused.map_or(Event::NOBODY_FOCUSED, |window| Event::WindowFocused {
            window: window.id.0,
            kind: window.kind,
        }));
    }

    /// Gives a window the focus.
    pub(crate) fn give_focus(&mut self, window: WindowId) {
        let former = self.focus.last().filter(|former| *former != window);
        if !self.focus.has(window) {
            self.note_unfocused();
        }
        if self.focus.give(window) {
            let hidden = former.and_then(|former| self.strips.window(former)?.active);
            if let Some(hidden) = hidden {
                self.end_alert(hidden);
            }
            self.emit_focused(Some(window));
            self.show_minimized(window);
            self.load_discarded(window);
            self.show_in_front(window);
        }
    }

    /// Brings the page of a discarded tab back that is the active one of a window which comes to the front.
    pub(in crate::browser) fn load_discarded(&mut self, window: WindowId) {
        let active = self.strips.window(window).and_then(|window| window.active);
        let is_discarded = |tab: &TabId| self.strips.tab(*tab).is_some_and(|tab| tab.discarded);
        if let Some(tab) = active.filter(is_discarded) {
            // The tab was just found, so that this cannot fail.
            drop(self.reload_discarded(tab));
        }
    }

    /// Shows the page of a window that came to the front: its active tab loads if it waited for that.
    pub(crate) fn show_in_front(&mut self, window: WindowId) {
        let active = self.strips.window(window).and_then(|window| window.active);
        if let Some(id) = active {
            self.note_seen(id);
            self.answer_languages(id);
        }
        let waiting = active.and_then(|tab| self.strips.tab(tab)).filter(|tab| tab.waits_to_load);
        if let Some((id, url)) = waiting.map(|tab| (tab.id, tab.url.clone())) {
            self.navigate(id, &url, NavigationKind::Restore);
        }
    }

    fn show_minimized(&mut self, window: WindowId) {
        if let Some(state) = self.strips.window_mut(window).filter(|state| state.is_minimized()) {
            state.state.minimized = false;
            self.dirty.note_window(window);
        }
    }

    /// Minimizes a window, which keeps the focus.
    pub(crate) fn hide_window(&mut self, window: WindowId) -> Result<(), Error> {
        self.window_mut(window)?.state.minimized = true;
        self.dirty.note_window(window);
        Ok(())
    }

    /// Passes the focus of a window that is not to be seen any more on to the next one that is.
    pub(crate) fn pass_on_focus(&mut self, window: WindowId) {
        if !self.focus.has(window) {
            return;
        }
        self.note_unfocused();
        let strips = &self.strips;
        let is_seen = |id| strips.window(id).is_some_and(|window| !window.is_minimized());
        let next = self.focus.pass_on(is_seen);
        self.emit_focused(next);
        if let Some(next) = next {
            self.show_in_front(next);
        }
    }

    /// Takes the focus from a window that has it.
    pub(crate) fn take_focus(&mut self, window: WindowId) {
        if self.focus.has(window) {
            self.note_unfocused();
        }
        if self.focus.take(window) {
            self.emit_focused(None);
        }
    }

    /// Takes the focus from a window and puts it behind all others, where the next one is to be seen.
    pub(crate) fn lower_window(&mut self, window: WindowId) {
        self.take_focus(window);
        self.focus.lower(window);
        if let Some(front) = self.focus.front().filter(|front| *front != window) {
            self.show_in_front(front);
        }
    }

    /// The window that has, or had last, the focus.
    #[must_use]
    pub fn focused_window(&self) -> Option<&Window> {
        self.strips.window(self.focus.last()?)
    }
}
