//! The order in which windows had the focus.

use crate::browser::Browser;
use crate::browser::event::Event;
use crate::browser::window::Window;
use crate::id::WindowId;

/// Windows by their last focus; the first one has it.
#[derive(Debug)]
pub(crate) struct Focus {
    /// The window that had the focus last is in front.
    order: Vec<WindowId>,
}

impl Focus {
    /// Windows in this order, the first of them in front.
    pub(crate) const fn of(order: Vec<WindowId>) -> Self {
        Self { order }
    }

    /// Windows, the one that had the focus last in front.
    pub(crate) fn order(&self) -> &[WindowId] {
        &self.order
    }

    /// The window that has, or had last, the focus.
    pub(super) fn last(&self) -> Option<WindowId> {
        self.order.first().copied()
    }

    pub(super) fn has(&self, window: WindowId) -> bool {
        self.last() == Some(window)
    }

    /// Adds a window that never had the focus.
    pub(super) fn add(&mut self, window: WindowId) {
        self.order.push(window);
    }

    /// Gives a window the focus; `false` where it has it already.
    pub(super) fn give(&mut self, window: WindowId) -> bool {
        if self.has(window) {
            return false;
        }
        self.order.retain(|other| *other != window);
        self.order.insert(0, window);
        true
    }

    /// Takes the focus from a window that has it; the window that gets it.
    pub(super) fn take(&mut self, window: WindowId) -> Option<WindowId> {
        if !self.has(window) {
            return None;
        }
        self.order.rotate_left(1);
        self.last()
    }

    /// Forgets a window; the window that gets its focus, if it had it.
    pub(super) fn remove(&mut self, window: WindowId) -> Option<WindowId> {
        let had_focus = self.has(window);
        self.order.retain(|other| *other != window);
        if had_focus { self.last() } else { None }
    }
}

impl Browser {
    /// Gives a window the focus.
    pub(crate) fn give_focus(&mut self, window: WindowId) {
        if self.focus.give(window) {
            self.emit(Event::WindowFocused(window.0));
            // The page of a discarded tab comes back as its window comes to the front.
            let active = self.strips.window(window).and_then(|window| window.active);
            let discarded =
                active.filter(|tab| self.strips.tab(*tab).is_some_and(|tab| tab.discarded));
            if let Some(tab) = discarded {
                // The tab was just found, so that this cannot fail.
                drop(self.reload_discarded(tab));
            }
        }
    }

    /// Takes the focus from a window that has it, for the one that had it before.
    pub(crate) fn take_focus(&mut self, window: WindowId) {
        if let Some(next) = self.focus.take(window) {
            self.emit(Event::WindowFocused(next.0));
        }
    }

    /// The window that has, or had last, the focus.
    #[must_use]
    pub fn focused_window(&self) -> Option<&Window> {
        self.strips.window(self.focus.last()?)
    }
}
