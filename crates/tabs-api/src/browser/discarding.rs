//! Taking a tab's page out of memory, and bringing it back.

use crate::browser::content_scripts::UnloadReason;
use crate::browser::event::{Change, Event};
use crate::browser::tab::{MutedInfo, Status, Tab, ZoomState};
use crate::browser::{Browser, Compat};
use crate::engine::{EngineCommand, NavigationKind};
use crate::error::Error;
use crate::id::{GROUP_ID_NONE, TAB_ID_NONE, TAB_INDEX_NONE, TabId};

impl Browser {
    /// Discards the tab that was active longest ago among those that are neither active, pinned, audible nor kept by an extension.
    pub(in crate::browser) fn discard_least_recent(&mut self) -> Result<Option<TabId>, Error> {
        let is_spared = |tab: &&Tab| {
            !self.is_listed(tab)
                || tab.discarded
                || !tab.auto_discardable
                || tab.pinned
                || tab.audible
                || self.is_active(tab.id)
        };
        let tabs = self.strips.tabs().filter(|tab| !is_spared(tab));
        let least = tabs.min_by_key(|tab| (tab.focused_until, tab.id)).map(|tab| tab.id);
        least.map(|tab| self.replace_with_discarded(tab)).transpose()
    }

    /// True if a tab stands in a window whose tabs have ids.
    fn is_listed(&self, tab: &Tab) -> bool {
        self.strips.window(tab.window).is_some_and(|window| window.kind.lists_tabs())
    }

    /// True if a tab is the active one of its window.
    pub(crate) fn is_active(&self, id: TabId) -> bool {
        self.strips.windows().any(|window| window.active == Some(id))
    }

    /// The tab that had the focus longest ago, be it active in a window behind; the one that has it last. Under the specification active ones are
    /// spared.
    pub(crate) fn least_recent_tab(&self) -> Option<TabId> {
        let left = self.strips.tabs().filter(|tab| !tab.discarded && self.is_listed(tab));
        let allowed = left.filter(|tab| self.compat == Compat::Browser || !self.is_active(tab.id));
        let focused = self.focused_tab();
        let key = |tab: &&Tab| (focused == Some(tab.id), tab.focused_until, tab.id);
        allowed.min_by_key(key).map(|tab| tab.id)
    }

    /// Replaces a tab by one without a page, under another id.
    pub(crate) fn replace_with_discarded(&mut self, old: TabId) -> Result<TabId, Error> {
        let ends_process = self.ends_process(old, &[old]);
        if ends_process {
            self.end_document(old, UnloadReason::Closed);
        }
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
            (view.audible, view.frozen, view.muted) = (false, false, MutedInfo::default());
            (view.icon, view.pending_url) = (None, None);
            (view.url, view.title) = (Some("".into()), Some("".into()));
            self.emit(Event::TabUpdated {
                change: Change { auto_discardable: Some(true), ..Change::default() },
                tab: view,
            });
        }
        tab.id = new;
        tab.discarded = true;
        tab.is_fresh = true;
        tab.starts_empty = false;
        // What has a page no longer is not found by its name.
        tab.name = None;
        for entry in &mut tab.history {
            entry.kept = None;
        }
        // A frozen tab is told of as one that runs again.
        let thawed = std::mem::take(&mut tab.frozen).then_some(false);
        tab.has_alert = false;
        tab.knows_language = false;
        (tab.audible, tab.sounds, tab.captured) = (false, false, false);
        tab.status = Status::Unloaded;
        (tab.pending, tab.overtaken) = (None, Vec::new());
        tab.load += 1;
        (tab.document_load, tab.loads_document) = (tab.load, false);
        tab.muted = MutedInfo::default();
        tab.zoom = ZoomState::default();
        let window = tab.window;
        let was_active = self.replace_tab(old, tab)?;
        self.command(EngineCommand::Replace { old, new });
        self.emit(Event::TabReplaced { added: new.0, removed: old.0 });
        if was_active {
            self.emit_activated(new, window);
        }
        if !ends_process {
            self.end_document(old, UnloadReason::Closed);
        }
        self.emit_updated(
            new,
            Change {
                discarded: Some(true),
                status: Some(Status::Unloaded),
                frozen: thawed,
                ..Change::default()
            },
        );
        Ok(new)
    }

    /// A prerendered page takes the place of a tab, under another id (Spec tabs-api §6, onReplaced).
    pub(in crate::browser) fn replace_with_prerendered(
        &mut self,
        old: TabId,
        url: &str,
    ) -> Result<TabId, Error> {
        let url = crate::url::typed(url)?;
        let mut tab = self.tab(old)?.clone();
        let new = TabId(self.next_id());
        tab.id = new;
        tab.is_fresh = true;
        self.end_document(old, UnloadReason::Closed);
        self.replace_tab(old, tab)?;
        self.command(EngineCommand::Replace { old, new });
        self.emit(Event::TabReplaced { added: new.0, removed: old.0 });
        self.navigate(new, &url, NavigationKind::Push);
        Ok(new)
    }

    /// Puts a tab where another one stands; whether that was the active one of its window.
    fn replace_tab(&mut self, old: TabId, mut tab: Tab) -> Result<bool, Error> {
        let (new, window) = (tab.id, tab.window);
        self.incognito.add_tab(new, window);
        self.end_languages(old);
        self.pass_on_openers(old);
        // What it opened in another window stays what it opened.
        for child in self.strips.tabs_mut().filter(|tab| tab.opener == Some(old)) {
            child.opener = Some(new);
        }
        tab.document.listeners.clear();
        self.end_leaving(old);
        self.strips.remove_tab(old);
        self.strips.add_tab(tab);
        self.dirty.note_window(window);
        let state = self.window_mut(window)?;
        for id in state.tabs.iter_mut().filter(|id| **id == old) {
            *id = new;
        }
        if state.highlighted.remove(&old) {
            state.highlighted.insert(new);
        }
        if state.anchor == Some(old) {
            state.anchor = Some(new);
        }
        let was_active = state.active == Some(old);
        if was_active {
            state.active = Some(new);
        }
        Ok(was_active)
    }

    /// Loads the page of a discarded tab again.
    pub(in crate::browser) fn reload_discarded(&mut self, id: TabId) -> Result<(), Error> {
        let tab = self.tab_mut(id)?;
        tab.discarded = false;
        let url = tab.url.clone();
        self.emit_updated(
            id,
            Change { discarded: Some(false), status: Some(Status::Unloaded), ..Change::default() },
        );
        // One that was discarded before its first page came has nothing to load.
        if !url.is_empty() {
            self.navigate(id, &url, NavigationKind::Restore);
        }
        Ok(())
    }

    /// Sets whether a tab may be discarded without being asked for.
    pub(crate) fn set_auto_discardable(&mut self, id: TabId, value: bool) -> Result<(), Error> {
        let tab = self.tab_mut(id)?;
        if tab.auto_discardable != value {
            tab.auto_discardable = value;
            self.emit_updated(id, Change { auto_discardable: Some(value), ..Change::default() });
        }
        Ok(())
    }
}
