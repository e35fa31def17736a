//! Views: tabs and windows as they are at one moment, for answers and events.

use std::sync::Arc;

use crate::browser::Browser;
use crate::browser::event::{Change, Event};
use crate::browser::tab::{Tab, TabView};
use crate::browser::window::{Window, WindowView};
use crate::extension::permission::Access;
use crate::id::{GROUP_ID_NONE, TAB_ID_NONE, TabId};

impl Browser {
    /// The state of a tab at this moment.
    pub(crate) fn view(&self, id: TabId) -> Option<TabView> {
        let tab = self.strips.tab(id)?;
        let window = self.strips.window(tab.window)?;
        let index = window.index_of(id)?;
        Some(self.view_at(tab, window, index))
    }

    /// The state of a tab that stands at this index of its window.
    pub(crate) fn view_at(&self, tab: &Tab, window: &Window, index: usize) -> TabView {
        let shows_pixels = !tab.discarded;
        let opener = tab.opener.filter(|opener| self.strips.tab(*opener).is_some());
        TabView {
            version: self.version(),
            id: if window.kind.lists_tabs() { tab.id.0 } else { TAB_ID_NONE },
            window: tab.window.0,
            index: i64::try_from(index).unwrap_or(i64::MAX),
            group: tab.group.map_or(GROUP_ID_NONE, |group| group.0),
            opener: opener.map(|opener| opener.0),
            active: window.active == Some(tab.id),
            highlighted: window.highlighted.contains(&tab.id),
            pinned: tab.pinned,
            audible: tab.audible,
            auto_discardable: tab.auto_discardable,
            discarded: tab.discarded,
            frozen: tab.frozen,
            incognito: window.incognito,
            muted: tab.muted.clone(),
            last_accessed: tab.last_accessed,
            status: self.shown_status(tab),
            url: Some(Arc::clone(&tab.url)),
            pending_url: tab.shown_pending().cloned(),
            title: Some(Arc::clone(&tab.title)),
            icon: tab.icon.clone(),
            width: if shows_pixels { window.bounds.width } else { 0 },
            height: if shows_pixels { window.bounds.height - 88 } else { 0 },
        }
    }

    /// A window as somebody with this access sees it, with its tabs if they are asked for.
    pub(crate) fn window_view(
        &self,
        window: &Window,
        populate: bool,
        access: &Access<'_>,
    ) -> WindowView {
        let tabs = window.tabs.iter().enumerate().filter_map(|(index, id)| {
            let tab = self.strips.tab(*id)?;
            Some(self.view_at(tab, window, index).seen_by(access))
        });
        window.view(self.focus.has(window.id), populate.then(|| tabs.collect()))
    }

    /// The windows and their tabs, as `windows.getAll({populate: true})` shows them to somebody with this access.
    #[must_use]
    pub fn all_windows(&self, access: &Access<'_>) -> Vec<WindowView> {
        self.strips.windows().map(|window| self.window_view(window, true, access)).collect()
    }

    /// Tells that a tab changed, as it is now.
    pub(super) fn emit_updated(&mut self, id: TabId, change: Change) {
        if let Some(tab) = self.view(id) {
            if change.is_known_to(self.version()) {
                self.emit(Event::TabUpdated { change, tab });
            } else {
                self.dirty.note_tab(id);
            }
        }
    }
}
