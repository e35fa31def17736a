//! Closing tabs and windows: `tabs.onRemoved`, then what it does to those that stay; `windows.onRemoved` at the
//! end of the whole call.

use crate::browser::Browser;
use crate::browser::content_scripts::UnloadReason;
use crate::browser::event::Event;
use crate::browser::strip::removal::Removal;
use crate::engine::EngineCommand;
use crate::error::Error;
use crate::id::{TabId, WindowId};

impl Browser {
    /// Closes one tab; the last one takes its window with it.
    pub(crate) fn close_tab(&mut self, id: TabId) -> Result<(), Error> {
        self.remember_tab(id)?;
        self.close_for_good(id)
    }

    /// The same of a tab that nobody can bring back.
    pub(in crate::browser) fn close_for_good(&mut self, id: TabId) -> Result<(), Error> {
        let window = self.tab(id)?.window;
        // Where its process ends with it nobody waits for the page; where another page goes on in it, that goes in its own time.
        let ends_process = self.ends_process_first(id, &[id]);
        if ends_process {
            self.end_document(id, UnloadReason::Closed);
        }
        self.end_loads_with_processes(&[id]);
        let group = self.tab(id)?.group;
        self.clear_pin_and_group(id, &[id])?;
        let removal = self.remove_from_strip(id, group)?;
        self.forget_tab(id);
        self.show_groups_of_highlighted(&removal)?;
        self.emit(Event::TabRemoved { tab: id.0, window: window.0, is_window_closing: false });
        if self.window(window)?.tabs.is_empty() {
            self.emptied_windows.push(window);
        } else {
            self.emit_after_removal(&removal)?;
        }
        if !ends_process {
            self.end_document(id, UnloadReason::Closed);
        }
        Ok(())
    }

    /// Closes tabs of one window beside others: groups that go as a whole one by one, the last one first, then the others. Of each the last tab is the
    /// first that is brought back.
    pub(in crate::browser) fn close_groups_first(&mut self, tabs: &[TabId]) -> Result<(), Error> {
        let tabs = self.leave_those_with_listeners(tabs)?;
        let mut left = tabs.clone();
        for id in tabs.iter().rev() {
            let group = self.strips.tab(*id).and_then(|tab| tab.group);
            if let Some(group) = group.filter(|group| self.strips.all_among(*group, &tabs)) {
                let members = self.strips.members(group);
                left.retain(|tab| !members.contains(tab));
                members.iter().try_for_each(|tab| self.remember_tab(*tab))?;
                self.close_remembered(&members)?;
            }
        }
        left.iter().try_for_each(|tab| self.remember_tab(*tab))?;
        self.close_remembered(&left)
    }

    /// Closes tabs of one window in one go, of which the first is the first that is brought back.
    pub(crate) fn close_at_once(&mut self, tabs: &[TabId]) -> Result<(), Error> {
        let tabs = self.leave_those_with_listeners(tabs)?;
        let Some(first) = tabs.first() else { return Ok(()) };
        // The last one of a window is remembered as that.
        let window = self.tab(*first)?.window;
        let closes_window = self.window(window)?.tabs.len() == tabs.len();
        for id in tabs.iter().skip(usize::from(closes_window)).rev() {
            self.remember_tab(*id)?;
        }
        self.close_remembered(&tabs)
    }

    /// Closes tabs of one window in one go, the last one first: all leave before the first is told to be gone, and what it does to those that stay
    /// is told once, at the end.
    fn close_remembered(&mut self, tabs: &[TabId]) -> Result<(), Error> {
        let Some(last) = tabs.first() else { return Ok(()) };
        let window = self.tab(*last)?.window;
        self.end_loads_with_processes(tabs);
        let mut removals = Vec::new();
        for id in tabs.iter().rev() {
            if self.window(window)?.tabs.len() == 1 {
                self.remember_tab(*id)?;
            }
            self.end_document(*id, UnloadReason::Closed);
            let group = self.tab(*id)?.group;
            self.clear_pin_and_group(*id, tabs)?;
            removals.push(self.remove_from_strip(*id, group)?);
            self.forget_tab(*id);
        }
        let active = self.window(window)?.active;
        self.show_groups_of_highlighted(&Removal::of_all(&removals, window, active))?;
        for id in tabs.iter().rev() {
            self.emit(Event::TabRemoved { tab: id.0, window: window.0, is_window_closing: false });
        }
        self.settle_left_window(&removals)
    }

    /// Closes a window and all its tabs, the last one first.
    pub(crate) fn close_window(&mut self, window: WindowId) -> Result<(), Error> {
        let tabs = self.window(window)?.tabs.clone();
        self.remember_window(window)?;
        self.end_loads_with_processes(&tabs);
        // All leave their groups before the first is gone.
        for id in tabs.iter().rev() {
            self.clear_pin_and_group(*id, &tabs)?;
        }
        for id in tabs.into_iter().rev() {
            self.end_document(id, UnloadReason::Closed);
            self.window_mut(window)?.tabs.retain(|other| *other != id);
            self.forget_tab(id);
            self.emit(Event::TabRemoved { tab: id.0, window: window.0, is_window_closing: true });
        }
        self.drop_window(window);
        Ok(())
    }

    fn drop_window(&mut self, window: WindowId) {
        let Some(kind) = self.strips.window(window).map(|window| window.kind) else { return };
        self.strips.remove_window(window);
        if !self.strips.windows().any(|window| window.incognito) {
            self.zoom_levels.end_incognito();
            self.muted_sites.end_incognito();
        }
        let strips = &self.strips;
        let is_seen = |id| strips.window(id).is_some_and(|window| !window.is_minimized());
        let was_in_front = self.focus.front() == Some(window);
        let next = self.focus.remove(window, is_seen);
        // The one behind it is in front before it is gone.
        next.into_iter().for_each(|next| self.load_discarded(next));
        self.emit(Event::WindowRemoved { window: window.0, kind });
        if let Some(next) = next {
            self.emit_focused(Some(next));
            self.show_in_front(next);
        } else if let Some(front) = self.focus.front().filter(|_| was_in_front) {
            self.show_in_front(front);
        }
    }

    /// Closes the windows that a call or event left without tabs, once all else of it is told, and shows those that it opened.
    pub(crate) fn drop_emptied_windows(&mut self) {
        for window in std::mem::take(&mut self.emptied_windows) {
            if self.strips.window(window).is_some_and(|state| state.tabs.is_empty()) {
                self.drop_window(window);
            }
        }
        self.focus.show_opened();
        self.take_pictures();
    }

    /// Forgets a tab that stands nowhere any more.
    fn forget_tab(&mut self, id: TabId) {
        self.end_languages(id);
        self.end_leaving(id);
        let related: Vec<_> = self.related_pages(id).collect();
        self.strips.remove_tab(id);
        // It may have been the one that kept another from freezing.
        related.into_iter().for_each(|tab| self.freeze_later(tab));
        self.extensions.end_grants(id, None);
        self.command(EngineCommand::Close { tab: id });
    }
}
