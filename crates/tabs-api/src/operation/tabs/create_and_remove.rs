//! How tabs begin and end: create, duplicate, remove, restore.

use triptych_core::time::Timestamp;

use crate::browser::event::{Change, Event};
use crate::browser::tab::{Entry, Kind, TabId};
use crate::browser::window::{WINDOW_ID_CURRENT, WindowId, WindowKind};
use crate::browser::{Answer, Browser};
use crate::error::Error;
use crate::operation::call::Call;
use crate::url::{NEW_TAB, resolve};

impl Browser {
    /// `tabs.create`: the URL is checked before the opener, the opener before the window.
    pub(crate) fn create(&mut self, call: &Call<'_>) -> Result<Answer, Error> {
        let url =
            call.text(0, "url").map(|text| resolve(text, &call.caller.extension)).transpose()?;
        let opener = call
            .number(0, "openerTabId")
            .map(|id| self.tab(TabId(id)).map(|tab| tab.id))
            .transpose()?;
        let named = call.number(0, "windowId");
        let window = self.named_window(call, named)?;
        let window = self.normal_window(window, named.is_none_or(|id| id == WINDOW_ID_CURRENT))?;
        if opener
            .is_some_and(|opener| self.tabs.get(&opener).is_none_or(|tab| tab.window != window))
        {
            return Err(Error::OpenerInOtherWindow);
        }
        self.check_not_dragging()?;
        let pinned = call.boolean(0, "pinned").unwrap_or(false);
        let active =
            call.boolean(0, "active").or_else(|| call.boolean(0, "selected")).unwrap_or(true);
        let index = call.number(0, "index").and_then(|index| usize::try_from(index).ok());
        let id = self.new_tab(window);
        let tab = self.tab_mut(id)?;
        tab.pinned = pinned;
        self.start(id, url.as_deref().unwrap_or(NEW_TAB));
        self.insert_new(id, window, index, active)?;
        if active {
            self.focus(window);
        }
        self.tab_mut(id)?.opener = opener;
        self.dirty.note_tab(id);
        self.shown(call, id)
    }

    /// The window itself, or, where it holds no strip of tabs, a normal one: the last that had the focus.
    fn normal_window(&mut self, window: WindowId, _is_current: bool) -> Result<WindowId, Error> {
        if self.window(window)?.kind == WindowKind::Normal {
            return Ok(window);
        }
        let normal = |id: &&WindowId| {
            self.windows.get(id).is_some_and(|window| window.kind == WindowKind::Normal)
        };
        match self.focus_order.iter().find(normal) {
            Some(normal) => Ok(*normal),
            None => {
                let window = self.add_window(WindowKind::Normal);
                let view = self.window(window)?.view(false, None);
                self.emit(Event::WindowCreated(view));
                Ok(window)
            }
        }
    }

    /// Sends a new tab to its first page; its URL is pending and nothing else is known.
    pub(crate) fn start(&mut self, id: TabId, url: &str) {
        self.navigate(id, url, Kind::Push);
        if url == NEW_TAB
            && let Some(tab) = self.tabs.get_mut(&id)
        {
            // The browser's own page has its title before it is loaded.
            tab.title = "New Tab".into();
        }
    }

    /// Puts a new tab into a strip and tells so. Inside a group it joins it; in an empty window it is active.
    pub(crate) fn insert_new(
        &mut self,
        id: TabId,
        window: WindowId,
        index: Option<usize>,
        active: bool,
    ) -> Result<(), Error> {
        let state = self.window(window)?;
        let index = self.clamped(state, self.tab(id)?.pinned, index.unwrap_or(usize::MAX));
        let group = self.group_around(state, index);
        let active = active || state.active.is_none();
        self.place(id, window, index)?;
        self.tab_mut(id)?.group = group;
        if active {
            self.create_and_activate(id)?;
        } else {
            self.emit_created(id);
        }
        if let Some(group) = group {
            self.updated(id, Change { group: Some(group.0), ..Change::default() });
        }
        Ok(())
    }

    /// Tells that a tab was created.
    fn emit_created(&mut self, id: TabId) {
        if let Some(view) = self.view(id) {
            self.emit(Event::TabCreated(view));
        }
    }

    /// `tabs.duplicate`: the copy stands right behind, is active, and has the formerly active tab as its opener.
    pub(crate) fn duplicate(&mut self, call: &Call<'_>) -> Result<Answer, Error> {
        let id = self.named_tab(call, 0)?;
        let window = self.tab(id)?.window;
        if self.window(window)?.kind != WindowKind::Normal {
            return Err(Error::CannotDuplicate(id.0));
        }
        self.check_not_dragging()?;
        let source = self.tab(id)?.clone();
        let state = self.window(window)?;
        let index = state.index_of(id).ok_or(Error::NoTab(id.0))?;
        let former = state.active;
        let copy = self.new_tab(window);
        // Two openers at once would confuse which tab comes next.
        self.forget_openers(window);
        let tab = self.tab_mut(copy)?;
        tab.pinned = source.pinned;
        tab.group = source.group;
        tab.opener = former;
        tab.url.clone_from(&source.url);
        tab.title.clone_from(&source.title);
        tab.icon.clone_from(&source.icon);
        tab.history =
            source.history.into_iter().map(|entry| Entry { is_cached: false, ..entry }).collect();
        tab.history_at = source.history_at;
        tab.keeps_pages = false;
        tab.language.clone_from(&source.language);
        // A window in the background loads nothing by itself, and a page that never came has nothing to copy.
        if !source.url.is_empty() && self.focus_order.first() == Some(&window) {
            self.navigate(copy, &source.url, Kind::Reload);
        }
        self.place(copy, window, index + 1)?;
        self.create_and_activate(copy)?;
        self.shown(call, copy)
    }

    pub(crate) fn forget_openers(&mut self, window: WindowId) {
        for tab in self.tabs.values_mut().filter(|tab| tab.window == window && tab.opener.is_some())
        {
            tab.opener = None;
            self.dirty.note_tab(tab.id);
        }
    }

    /// Tells of a new tab that is active from the start.
    pub(crate) fn create_and_activate(&mut self, id: TabId) -> Result<(), Error> {
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

    /// `tabs.remove`: one after the other; what comes before an unknown id is gone.
    pub(crate) fn remove(&mut self, call: &Call<'_>) -> Result<Answer, Error> {
        let (ids, _) = call.ids(call.arguments.at(0));
        for id in ids {
            let id = self.tab(TabId(id))?.id;
            self.check_not_dragging()?;
            self.close_tab(id)?;
        }
        Ok(Answer::Undefined)
    }

    /// `sessions.restore` without an id: the tab that was closed last, where it was.
    pub(crate) fn session_restore(&mut self, call: &Call<'_>) -> Result<Answer, Error> {
        self.check_not_dragging()?;
        let fallback = self.current_window(call)?;
        let (id, closed_at) = self.restore_closed(fallback)?;
        let view = self.view(id).ok_or(Error::NoTab(id.0))?;
        let tab = view.seen_by(&self.access_of(call));
        Ok(Answer::Value(serde_json::json!({ "lastModified": closed_at.seconds(), "tab": tab })))
    }

    /// Brings the tab back that was closed last, and says when that was.
    pub(crate) fn restore_closed(
        &mut self,
        fallback: WindowId,
    ) -> Result<(TabId, Timestamp), Error> {
        let closed = self.closed.pop().ok_or(Error::NothingToRestore)?;
        let window = if self.windows.contains_key(&closed.tab.window) {
            closed.tab.window
        } else {
            fallback
        };
        let id = self.new_tab(window);
        let tab = self.tab_mut(id)?;
        tab.pinned = closed.tab.pinned;
        tab.url.clone_from(&closed.tab.url);
        tab.title.clone_from(&closed.tab.title);
        tab.history.clone_from(&closed.tab.history);
        tab.history_at = closed.tab.history_at;
        self.navigate(id, &closed.tab.url, Kind::Reload);
        let state = self.window(window)?;
        let mut index = self.clamped(state, closed.tab.pinned, closed.index);
        // Its group may be gone or another: it comes back beside the one that stands there now.
        while self.group_around(state, index).is_some() {
            index += 1;
        }
        self.place(id, window, index)?;
        self.create_and_activate(id)?;
        Ok((id, closed.at))
    }

    /// A page opened another one: right behind it, in its group.
    pub(crate) fn open_from_page(&mut self, opener: TabId, url: &str) -> Result<(), Error> {
        let (window, group) = (self.tab(opener)?.window, self.tab(opener)?.group);
        let state = self.window(window)?;
        let behind = state.index_of(opener).map_or(usize::MAX, |index| index + 1);
        let index = self.clamped(state, false, behind);
        let id = self.new_tab(window);
        self.forget_openers(window);
        let tab = self.tab_mut(id)?;
        tab.opener = Some(opener);
        tab.group = group;
        self.place(id, window, index)?;
        self.create_and_activate(id)?;
        self.navigate(id, url, Kind::Push);
        Ok(())
    }
}
