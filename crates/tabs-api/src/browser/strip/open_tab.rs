//! Opening tabs: by a call, by the user, by a page. `tabs.onCreated` comes first, then what being active brings.

use std::sync::Arc;

use crate::browser::Browser;
use crate::browser::event::Event;
use crate::browser::history::is_closed_to_pages;
use crate::browser::strip::WindowPlacement;
use crate::browser::tab::{HistoryEntry, Tab};
use crate::browser::window::{Window, WindowKind};
use crate::engine::{NavigationKind, Opening};
use crate::error::Error;
use crate::id::{GroupId, TabId, WindowId};
use crate::url::{BLANK, INCOGNITO_TITLE, NEW_TAB, leads_nowhere};

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
    pub(in crate::browser) fn add_window(&mut self, kind: WindowKind, incognito: bool) -> WindowId {
        let id = WindowId(self.next_id());
        if incognito {
            self.incognito.add_window(id);
            self.zoom_levels.begin_incognito(id);
        }
        if !kind.lists_tabs() {
            self.incognito.add_untold(id);
        }
        let bounds = self.screen.opens_at;
        self.strips.add_window(Window { incognito, bounds, ..Window::new(id, kind) });
        self.focus.add(id);
        id
    }

    /// Adds a tab that stands nowhere yet, and tells nothing.
    pub(in crate::browser) fn add_tab(&mut self, window: WindowId) -> TabId {
        let id = TabId(self.next_id());
        let stable_id = self.next_number();
        self.incognito.add_tab(id, window);
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
        let id = self.add_user_tab(window)?;
        self.insert_opened(id, window, None, true)?;
        Ok(id)
    }

    /// The same right behind another tab, as a member of its group.
    pub(in crate::browser) fn open_user_tab_behind(&mut self, tab: TabId) -> Result<TabId, Error> {
        let beside = self.tab(tab)?;
        let (window, group) = (beside.window, beside.group);
        let state = self.window(window)?;
        let index = state.index_of(tab).ok_or(Error::NoTab(tab.0))? + 1;
        let index = self.strips.clamped(state, false, index);
        let id = self.add_user_tab(window)?;
        self.tab_mut(id)?.group = group;
        self.insert_into_strip(id, window, index)?;
        self.create_and_activate(id)?;
        Ok(id)
    }

    /// Adds a tab that the user opens, on its way to the page of a new tab, and tells nothing.
    fn add_user_tab(&mut self, window: WindowId) -> Result<TabId, Error> {
        let active = self.window(window)?.active;
        let id = self.add_tab(window);
        let tab = self.tab_mut(id)?;
        tab.opener = active;
        (tab.forgets_openers, tab.is_typed) = (true, true);
        self.load_first_page(id, NEW_TAB);
        Ok(id)
    }

    /// Opens a tab for a page of another one: behind the active tab of that window, which counts as its opener, whichever tab
    /// the page is in. It goes to its page at once if that is known.
    pub(in crate::browser) fn open_beside_active(
        &mut self,
        page: TabId,
        url: Option<&str>,
    ) -> Result<TabId, Error> {
        let window = self.tab(page)?.window;
        let normal = self.normal_window(window)?;
        if normal != window {
            return self.open_at_end(normal, page, url);
        }
        let state = self.window(window)?;
        let active = state.active;
        let behind = active.and_then(|active| state.index_of(active)).map_or(0, |index| index + 1);
        let index = self.strips.clamped(state, false, behind);
        let group_of = |tab: TabId| self.strips.tab(tab).and_then(|tab| tab.group);
        let of_page = group_of(page);
        let (index, group) = self.place_within(state, index, of_page);
        let group = match active.and_then(group_of) {
            Some(of_active)
                if of_page.is_none() && self.strips.is_beside_group(state, index, of_active) =>
            {
                Some(of_active)
            }
            _ => group,
        };
        let id = self.add_tab(window);
        self.forget_openers(window);
        let tab = self.tab_mut(id)?;
        tab.opener = active;
        tab.group = group;
        if let Some(url) = url {
            self.load_first_page(id, url);
        }
        self.insert_into_strip(id, window, index)?;
        self.create_and_activate(id)?;
        Ok(id)
    }

    /// The place and the group of what a page opens: of its group, at the place in it that is nearest to an index; else there, in whichever
    /// group is around it.
    pub(in crate::browser) fn place_within(
        &self,
        state: &Window,
        index: usize,
        of_page: Option<GroupId>,
    ) -> (usize, Option<GroupId>) {
        let Some(group) = of_page else {
            return (index, self.strips.group_around(state, index));
        };
        let members = self.strips.members(group);
        let mut places = members.iter().filter_map(|tab| state.index_of(*tab));
        let first = places.next();
        let end = places.next_back().or(first).map(|last| last + 1);
        (first.zip(end).map_or(index, |(first, end)| index.clamp(first, end)), of_page)
    }

    /// Opens an active tab at the end of a window, which goes to its page at once if that is known.
    pub(in crate::browser) fn open_at_end(
        &mut self,
        window: WindowId,
        opener: TabId,
        url: Option<&str>,
    ) -> Result<TabId, Error> {
        let id = self.add_tab(window);
        self.tab_mut(id)?.opener = Some(opener);
        if let Some(url) = url {
            self.load_first_page(id, url);
        }
        let end = self.window(window)?.tabs.len();
        self.insert_into_strip(id, window, end)?;
        self.create_and_activate(id)?;
        Ok(id)
    }

    /// Opens what a page asks for: in the tab of that name, in a window of its own, or in a tab. It comes to the front.
    pub(in crate::browser) fn open_from_page(
        &mut self,
        page: TabId,
        opening: Opening,
    ) -> Result<(), Error> {
        let opener = self.tab(page)?;
        let is_named = !opening.url.is_empty();
        let url = if is_named { opening.url } else { BLANK.to_owned() };
        if is_closed_to_pages(&opener.url, &url) {
            return Ok(());
        }
        let (name, family) = (opening.name, opener.family);
        let base = Arc::<str>::from(opener.base_url());
        let known = name.as_deref().and_then(|name| self.tab_named(name, family));
        let id = match known {
            Some(known) => {
                self.activate_unless_active(known)?;
                known
            }
            None if opening.is_popup => {
                let of = self.window(self.tab(page)?.window)?;
                let (incognito, takes_groups) = (of.incognito, of.takes_groups);
                let placement = WindowPlacement::default();
                let window = self.open_window(WindowKind::Popup, incognito, placement)?;
                self.window_mut(window)?.takes_groups = takes_groups;
                self.open_at_end(window, page, None)?
            }
            None => self.open_beside_active(page, None)?,
        };
        if known.is_none() && !opening.is_noopener {
            let tab = self.tab_mut(id)?;
            (tab.name, tab.family) = (name.map(Into::into), family);
            (tab.page_opener, tab.blank_base) = (Some(page), Some(base));
            self.relate(id, page);
        }
        self.tab_mut(id)?.starts_empty |= known.is_none();
        // A page that goes elsewhere itself stays behind if it is there.
        if id != page {
            self.give_focus(self.tab(id)?.window);
        }
        // Without an address a page that is there is shown as it is.
        if known.is_some() && !(is_named && self.shares_group(page, id)) {
            return Ok(());
        }
        let is_script = url.starts_with("javascript:");
        if is_script && !opening.is_noopener {
            self.run_script(id, Some(url))?;
        } else if !is_script {
            self.navigate_by_page(id, &url, NavigationKind::Push, page);
        }
        Ok(())
    }

    /// The tab that a page of this family opened under a name.
    pub(in crate::browser) fn tab_named(&self, name: &str, family: TabId) -> Option<TabId> {
        let is_it = |tab: &&Tab| {
            tab.name.as_deref().is_some_and(|known| known == name) && tab.family == family
        };
        self.strips.tabs().filter(is_it).map(|tab| tab.id).min()
    }

    /// Opens a copy of a tab right behind it. The copy is active, and the formerly active tab is its opener.
    pub(crate) fn duplicate_tab(&mut self, id: TabId) -> Result<TabId, Error> {
        let source = self.tab(id)?.clone();
        let window = source.window;
        let state = self.window(window)?;
        let index = state.index_of(id).ok_or(Error::NoTab(id.0))?;
        let former = state.active;
        let is_in_front = self.focus.front() == Some(window);
        let copy = self.add_tab(window);
        self.relate(copy, id);
        // Two openers at once would confuse which tab comes next.
        self.forget_openers(window);
        let tab = self.tab_mut(copy)?;
        tab.pinned = source.pinned;
        tab.group = source.group;
        tab.opener = former;
        tab.url.clone_from(&source.url);
        tab.focuses_address = *source.url == *BLANK;
        tab.title.clone_from(&source.title);
        tab.icon.clone_from(&source.icon);
        let uncached = |entry| HistoryEntry { kept: None, ..entry };
        tab.history = source.history.into_iter().map(uncached).collect();
        tab.history_at = source.history_at;
        tab.language.clone_from(&source.language);
        // A window in the background loads nothing by itself, and a page that never came has nothing to copy.
        if source.url.is_empty() {
            tab.is_empty_copy = true;
            tab.first_url = source.first_url;
        } else if is_in_front {
            self.navigate(copy, &source.url, NavigationKind::Restore);
        } else {
            tab.waits_to_load = true;
        }
        self.insert_into_strip(copy, window, index + 1)?;
        self.create_and_activate(copy)?;
        Ok(copy)
    }

    /// Opens pages in a new window, the first of which is active in the end.
    pub(crate) fn fill_window(&mut self, window: WindowId, urls: &[String]) -> Result<(), Error> {
        let first = self.open_pages(window, urls)?;
        self.activate_unless_active(first)
    }

    /// Opens pages in a new window, the opener of each being the one before it, and tells the first of their tabs. A popup has no strip: it shows the
    /// first page alone, and the others become tabs of a normal window.
    pub(super) fn open_pages(&mut self, window: WindowId, urls: &[String]) -> Result<TabId, Error> {
        let Some((url, others)) = urls.split_first() else {
            let first = self.open_pages(window, &[NEW_TAB.to_owned()])?;
            self.tab_mut(first)?.is_typed = true;
            return Ok(first);
        };
        let first = self.add_tab(window);
        self.load_first_page(first, url);
        self.insert_into_strip(first, window, 0)?;
        self.create_and_activate(first)?;
        if self.window(window)?.kind == WindowKind::Popup {
            for url in others {
                let normal = self.normal_window(window)?;
                let is_new = self.window(normal)?.tabs.is_empty();
                self.open_at_end(normal, first, Some(url))?;
                if is_new {
                    // A window that opens for a tab comes to the front.
                    self.give_focus(normal);
                }
            }
            return Ok(first);
        }
        let mut opener = first;
        for url in others {
            self.forget_openers(window);
            opener = self.open_at_end(window, opener, Some(url))?;
        }
        Ok(first)
    }

    /// Sends a new tab to its first page; its URL is pending and nothing else is known.
    pub(in crate::browser) fn load_first_page(&mut self, id: TabId, url: &str) {
        if leads_nowhere(url) {
            return;
        }
        self.navigate(id, url, NavigationKind::Push);
        if let Some(tab) = self.strips.tab_mut(id) {
            tab.focuses_address = [BLANK, NEW_TAB].contains(&url);
        }
        let window = self.strips.tab(id).map(|tab| tab.window);
        if url == NEW_TAB
            && let Some(window) = window
        {
            // The browser's own page has its title before it is loaded.
            let is_incognito = self.strips.window(window).is_some_and(|window| window.incognito);
            let title = if is_incognito { INCOGNITO_TITLE } else { "New Tab" };
            if let Some(tab) = self.strips.tab_mut(id) {
                tab.title = title.into();
            }
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
        Ok(())
    }

    /// Tells of a new tab that another one is active beside.
    pub(in crate::browser) fn emit_created(&mut self, id: TabId) {
        if let Some(view) = self.view(id) {
            self.emit(Event::TabCreated(view));
        }
    }

    /// Tells of a new tab that is active from the start; a group that hides it shows its tabs.
    pub(in crate::browser) fn create_and_activate(&mut self, id: TabId) -> Result<(), Error> {
        let window = self.tab(id)?.window;
        self.note_hidden(window, id);
        let state = self.window_mut(window)?;
        state.active = Some(id);
        state.highlighted = std::iter::once(id).collect();
        state.anchor = None;
        self.note_seen(id);
        self.emit_created(id);
        self.emit_activated(id, window);
        self.emit_highlighted(window);
        self.expand_around(id)
    }
}
