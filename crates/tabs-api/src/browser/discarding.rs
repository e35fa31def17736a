//! Taking a tab's page out of memory, and bringing it back.

use crate::browser::content_scripts::Departure;
use crate::browser::event::{Change, Event};
use crate::browser::group::GROUP_ID_NONE;
use crate::browser::tab::{
    Kind, MutedInfo, Status, TAB_ID_NONE, TAB_INDEX_NONE, Tab, TabId, ZoomState,
};
use crate::browser::{Answer, Browser, Compat};
use crate::engine::EngineCommand;
use crate::error::Error;
use crate::operation::call::Call;

impl Browser {
    /// `tabs.discard`: this tab, or the one that is missed least.
    pub(crate) fn discard(&mut self, call: &Call<'_>) -> Result<Answer, Error> {
        let id = match call.arguments.integer(0) {
            Some(id) => {
                let tab = self.tab(TabId(id))?;
                if self.compat == Compat::Spec && (tab.discarded || self.is_active(tab.id)) {
                    // Spec tabs-api §3: what cannot be discarded gives nothing.
                    return Ok(Answer::Undefined);
                }
                if tab.discarded {
                    return Err(Error::CannotDiscard(id));
                }
                tab.id
            }
            None => self.least_important().ok_or(Error::NothingToDiscard)?,
        };
        let new = self.put_away(id)?;
        self.shown(call, new)
    }

    fn is_active(&self, id: TabId) -> bool {
        self.windows.values().any(|window| window.active == Some(id))
    }

    /// The tab that was active longest ago; active ones last, and under the specification never.
    fn least_important(&self) -> Option<TabId> {
        let left = self.tabs.values().filter(|tab| !tab.discarded);
        let allowed = left.filter(|tab| self.compat == Compat::Browser || !self.is_active(tab.id));
        allowed
            .min_by_key(|tab| (self.is_active(tab.id), tab.last_accessed, tab.id))
            .map(|tab| tab.id)
    }

    /// Replaces a tab by one without a page, under another id.
    pub(crate) fn put_away(&mut self, old: TabId) -> Result<TabId, Error> {
        let view = self.view(old);
        let mut tab = self.tab(old)?.clone();
        let new = TabId(self.next_id());
        if let Some(mut view) = view.filter(|view| !view.auto_discardable) {
            // The page's own wish ends with it, and is told of a tab that stands nowhere.
            (view.id, view.window, view.index) = (TAB_ID_NONE, -1, TAB_INDEX_NONE);
            (view.active, view.highlighted, view.auto_discardable, view.group) =
                (false, false, true, GROUP_ID_NONE);
            view.pinned = false;
            view.opener = None;
            view.status = Status::Unloaded;
            (view.url, view.title) = (Some("".into()), Some("".into()));
            self.emit(Event::TabUpdated {
                change: Change { auto_discardable: Some(true), ..Change::default() },
                tab: view,
            });
        }
        self.end_document(old, Departure::Gone);
        tab.id = new;
        tab.discarded = true;
        tab.is_fresh = true;
        for entry in &mut tab.history {
            entry.is_cached = false;
        }
        tab.frozen = false;
        tab.audible = false;
        tab.status = Status::Unloaded;
        tab.pending = None;
        tab.load += 1;
        tab.muted = MutedInfo::default();
        tab.zoom = ZoomState::default();
        let window = tab.window;
        let was_active = self.swap(old, tab)?;
        self.command(EngineCommand::Replace { old, new });
        self.emit(Event::TabReplaced { added: new.0, removed: old.0 });
        if was_active {
            self.emit_activated(new, window);
        }
        self.updated(
            new,
            Change { discarded: Some(true), status: Some(Status::Unloaded), ..Change::default() },
        );
        Ok(new)
    }

    /// A prerendered page takes the place of a tab, under another id (Spec tabs-api §6, onReplaced).
    pub(crate) fn prerendered(
        &mut self,
        old: TabId,
        url: &str,
    ) -> Result<serde_json::Value, Error> {
        let url = crate::url::resolve(url, "")?;
        let mut tab = self.tab(old)?.clone();
        let new = TabId(self.next_id());
        tab.id = new;
        tab.is_fresh = true;
        self.end_document(old, Departure::Gone);
        self.swap(old, tab)?;
        self.command(EngineCommand::Replace { old, new });
        self.emit(Event::TabReplaced { added: new.0, removed: old.0 });
        self.navigate(new, &url, Kind::Push);
        Ok(serde_json::json!({ "tabId": new.0 }))
    }

    /// Puts a tab where another one stands; whether that was the active one of its window.
    fn swap(&mut self, old: TabId, tab: Tab) -> Result<bool, Error> {
        let (new, window) = (tab.id, tab.window);
        self.pass_on_openers(old);
        self.tabs.remove(&old);
        self.tabs.insert(new, tab);
        self.dirty.note_window(window);
        let state = self.window_mut(window)?;
        for place in state.tabs.iter_mut().filter(|place| **place == old) {
            *place = new;
        }
        if state.highlighted.remove(&old) {
            state.highlighted.insert(new);
        }
        let was_active = state.active == Some(old);
        if was_active {
            state.active = Some(new);
        }
        Ok(was_active)
    }

    /// Loads the page of a discarded tab again.
    pub(crate) fn revive(&mut self, id: TabId) -> Result<(), Error> {
        let tab = self.tab_mut(id)?;
        tab.discarded = false;
        let url = tab.url.clone();
        self.updated(
            id,
            Change { discarded: Some(false), status: Some(Status::Unloaded), ..Change::default() },
        );
        // One that was put away before its first page came has nothing to load.
        if !url.is_empty() {
            self.navigate(id, &url, Kind::Reload);
        }
        Ok(())
    }
}
