//! Opening tabs: by a call, by the user, by a page. `tabs.onCreated` comes first, then what being active brings.

use crate::browser::Browser;
use crate::browser::event::{Change, Event};
use crate::browser::tab::{HistoryEntry, Tab};
use crate::browser::window::{Window, WindowKind};
use crate::engine::NavigationKind;
use crate::error::Error;
use crate::id::{TabId, WindowId};
use crate::url::NEW_TAB;

/// A tab to open, as `tabs.create` describes one.
#[derive(Debug, Clone)]
pub(crate) struct NewTab<'u> {
    pub(crate) window: WindowId,
    /// The page of a new tab unless given.
    pub(crate) url: Option<&'u str>,
    /// The end of the strip unless given.
    pub(crate) index: Option<usize>,
    pub(crate) active: bool,
    pub(crate) pinned: bool,
    pub(crate) opener: Option<TabId>,
}

impl Browser {
    /// Adds a window without tabs, and tells nothing.
    pub(in crate::browser) fn add_window(&mut self, kind: WindowKind) -> WindowId {
        let id = WindowId(self.next_id());
        self.strips.add_window(Window::new(id, kind));
        self.focus.add(id);
        id
    }

    /// Adds a tab that stands nowhere yet, and tells nothing.
    pub(in crate::browser) fn add_tab(&mut self, window: WindowId) -> TabId {
        let id = TabId(self.next_id());
        let stable_id = self.next_number();
        self.strips.add_tab(Tab::new(id, stable_id, window, self.now));
        id
    }

    /// Puts a tab into a strip, and tells nothing.
    pub(in crate::browser) fn insert_into_strip(
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

    /// Opens a tab. An active one gives its window the focus.
    pub(crate) fn open_tab(&mut self, new: &NewTab<'_>) -> Result<TabId, Error> {
        let id = self.add_tab(new.window);
        self.tab_mut(id)?.pinned = new.pinned;
        self.load_first_page(id, new.url.unwrap_or(NEW_TAB));
        self.insert_opened(id, new.window, new.index, new.active)?;
        if new.active {
            self.give_focus(new.window);
        }
        self.tab_mut(id)?.opener = new.opener;
        self.dirty.note_tab(id);
        Ok(id)
    }

    /// Opens a tab at the end of a window, as the user does. Once its page comes, the window's openers are forgotten.
    pub(in crate::browser) fn open_user_tab(&mut self, window: WindowId) -> Result<TabId, Error> {
        let active = self.window(window)?.active;
        let id = self.add_tab(window);
        let tab = self.tab_mut(id)?;
        tab.opener = active;
        tab.forgets_openers = true;
        self.load_first_page(id, NEW_TAB);
        self.insert_opened(id, window, None, true)?;
        Ok(id)
    }

    /// Opens a tab for a page that another page opened: right behind that one, in its group.
    pub(in crate::browser) fn open_from_page(
        &mut self,
        opener: TabId,
        url: &str,
    ) -> Result<(), Error> {
        let (window, group) = (self.tab(opener)?.window, self.tab(opener)?.group);
        let state = self.window(window)?;
        let behind = state.index_of(opener).map_or(usize::MAX, |index| index + 1);
        let index = self.strips.clamped(state, false, behind);
        let id = self.add_tab(window);
        self.forget_openers(window);
        let tab = self.tab_mut(id)?;
        tab.opener = Some(opener);
        tab.group = group;
        self.insert_into_strip(id, window, index)?;
        self.create_and_activate(id)?;
        self.navigate(id, url, NavigationKind::Push);
        Ok(())
    }

    /// Opens a copy of a tab right behind it. The copy is active, and the formerly active tab is its opener.
    pub(crate) fn duplicate_tab(&mut self, id: TabId) -> Result<TabId, Error> {
        let source = self.tab(id)?.clone();
        let window = source.window;
        let state = self.window(window)?;
        let index = state.index_of(id).ok_or(Error::NoTab(id.0))?;
        let former = state.active;
        let copy = self.add_tab(window);
        // Two openers at once would confuse which tab comes next.
        self.forget_openers(window);
        let tab = self.tab_mut(copy)?;
        tab.pinned = source.pinned;
        tab.group = source.group;
        tab.opener = former;
        tab.url.clone_from(&source.url);
        tab.title.clone_from(&source.title);
        tab.icon.clone_from(&source.icon);
        let uncached = |entry| HistoryEntry { is_cached: false, ..entry };
        tab.history = source.history.into_iter().map(uncached).collect();
        tab.history_at = source.history_at;
        tab.keeps_pages = false;
        tab.language.clone_from(&source.language);
        // A window in the background loads nothing by itself, and a page that never came has nothing to copy.
        if !source.url.is_empty() && self.focus.last() == Some(window) {
            self.navigate(copy, &source.url, NavigationKind::Reload);
        }
        self.insert_into_strip(copy, window, index + 1)?;
        self.create_and_activate(copy)?;
        Ok(copy)
    }

    /// Opens pages in a new window; the first stays active, and is the opener of the others. A popup has no strip: it shows
    /// the first page alone.
    pub(crate) fn fill_window(&mut self, window: WindowId, urls: &[String]) -> Result<(), Error> {
        let blank = [NEW_TAB.to_owned()];
        let urls = if urls.is_empty() { &blank[..] } else { urls };
        let is_popup = self.window(window)?.kind == WindowKind::Popup;
        let mut first = None;
        for url in urls.iter().take(if is_popup { 1 } else { urls.len() }) {
            let id = self.add_tab(window);
            self.load_first_page(id, url);
            let end = self.window(window)?.tabs.len();
            self.insert_into_strip(id, window, end)?;
            self.tab_mut(id)?.opener = first;
            self.create_and_activate(id)?;
            first.get_or_insert(id);
        }
        match first {
            Some(first) if urls.len() > 1 && !is_popup => self.activate(first),
            _ => Ok(()),
        }
    }

    /// Sends a new tab to its first page; its URL is pending and nothing else is known.
    fn load_first_page(&mut self, id: TabId, url: &str) {
        self.navigate(id, url, NavigationKind::Push);
        if url == NEW_TAB
            && let Some(tab) = self.strips.tab_mut(id)
        {
            // The browser's own page has its title before it is loaded.
            tab.title = "New Tab".into();
        }
    }

    /// Puts a new tab into a strip and tells so. Inside a group it joins it; in an empty window it is active.
    fn insert_opened(
        &mut self,
        id: TabId,
        window: WindowId,
        index: Option<usize>,
        active: bool,
    ) -> Result<(), Error> {
        let state = self.window(window)?;
        let index = self.strips.clamped(state, self.tab(id)?.pinned, index.unwrap_or(usize::MAX));
        let group = self.strips.group_around(state, index);
        let active = active || state.active.is_none();
        self.insert_into_strip(id, window, index)?;
        self.tab_mut(id)?.group = group;
        if active {
            self.create_and_activate(id)?;
        } else {
            self.emit_created(id);
        }
        if let Some(group) = group {
            self.emit_updated(id, Change { group: Some(group.0), ..Change::default() });
        }
        Ok(())
    }

    fn emit_created(&mut self, id: TabId) {
        if let Some(view) = self.view(id) {
            self.emit(Event::TabCreated(view));
        }
    }

    /// Tells of a new tab that is active from the start.
    pub(in crate::browser) fn create_and_activate(&mut self, id: TabId) -> Result<(), Error> {
        let window = self.tab(id)?.window;
        let state = self.window_mut(window)?;
        state.active = Some(id);
        state.highlighted = std::iter::once(id).collect();
        self.tab_mut(id)?.was_shown = true;
        self.emit_created(id);
        self.emit_activated(id, window);
        self.emit_highlighted(window);
        Ok(())
    }
}
