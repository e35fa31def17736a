//! Closing tabs and windows: `tabs.onRemoved`, then what it does to those that stay, and at last `windows.onRemoved`.

use crate::browser::Browser;
use crate::browser::content_scripts::UnloadReason;
use crate::browser::event::Event;
use crate::engine::EngineCommand;
use crate::error::Error;
use crate::id::{TabId, WindowId};

impl Browser {
    /// Closes one tab; the last one takes its window with it.
    pub(crate) fn close_tab(&mut self, id: TabId) -> Result<(), Error> {
        let (window, tab) = (self.tab(id)?.window, self.tab(id)?.clone());
        let index = self.window(window)?.index_of(id).unwrap_or_default();
        self.closed_tabs.push(tab, index, self.now);
        self.end_document(id, UnloadReason::Gone);
        let group = self.tab(id)?.group;
        self.clear_pin_and_group(id, true)?;
        let removal = self.remove_from_strip(id, group)?;
        self.forget_tab(id);
        self.emit(Event::TabRemoved { tab: id.0, window: window.0, is_window_closing: false });
        if self.window(window)?.tabs.is_empty() {
            self.drop_window(window);
        } else {
            self.emit_after_removal(&removal)?;
        }
        Ok(())
    }

    /// Closes a window and all its tabs, the last one first.
    pub(crate) fn close_window(&mut self, window: WindowId) -> Result<(), Error> {
        let tabs = self.window(window)?.tabs.clone();
        for id in tabs.into_iter().rev() {
            self.end_document(id, UnloadReason::Gone);
            self.clear_pin_and_group(id, true)?;
            self.window_mut(window)?.tabs.retain(|other| *other != id);
            self.forget_tab(id);
            self.emit(Event::TabRemoved { tab: id.0, window: window.0, is_window_closing: true });
        }
        self.drop_window(window);
        Ok(())
    }

    fn drop_window(&mut self, window: WindowId) {
        self.strips.remove_window(window);
        let next = self.focus.remove(window);
        self.emit(Event::WindowRemoved(window.0));
        if let Some(next) = next {
            self.emit(Event::WindowFocused(next.0));
        }
    }

    pub(in crate::browser) fn drop_window_if_empty(&mut self, window: WindowId) {
        if self.strips.window(window).is_some_and(|state| state.tabs.is_empty()) {
            self.drop_window(window);
        }
    }

    /// Forgets a tab that stands nowhere any more.
    fn forget_tab(&mut self, id: TabId) {
        self.pass_on_openers(id);
        self.strips.remove_tab(id);
        self.extensions.end_grants(id, None);
        self.command(EngineCommand::Close { tab: id });
    }
}
