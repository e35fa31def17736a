//! Where tabs go: navigation, reload, history, and what the engine tells of it.

use std::sync::Arc;
use std::time::Duration;

use crate::browser::content_scripts::Departure;
use crate::browser::event::{Change, Event};
use crate::browser::tab::{Entry, Kind, Pending, Status, Tab, TabId, ZoomMode, ZoomState};
use crate::browser::{Answer, Browser, Compat, Timer};
use crate::engine::{EngineCommand, EngineNews};
use crate::error::Error;
use crate::operation::call::Call;
use crate::url::{host, is_same_document, title};

/// Enters a committed page into the history; whether it came back from the cache.
fn enter(tab: &mut Tab, url: &str, kind: Kind, is_same_document: bool) -> bool {
    let was_used = tab.history.get(tab.history_at).is_some_and(|entry| entry.was_used);
    let is_same_url = *tab.url == *url;
    let stays = is_same_document
        || kind == Kind::Reload
        || kind == Kind::Push && is_same_url && !tab.history.is_empty();
    if !stays && let Some(left) = tab.history.get_mut(tab.history_at) {
        left.is_cached = tab.keeps_pages;
    }
    match kind {
        Kind::Reload => false,
        Kind::Push if is_same_url && !tab.history.is_empty() => false,
        Kind::Push => {
            tab.history.truncate(tab.history_at + 1);
            // The user's use of a page goes on in the next one of the same host.
            let is_same_host = host(&tab.url) == host(url);
            let was_used = was_used && (is_same_document || is_same_host);
            tab.history.push(Entry {
                url: url.into(),
                title: "".into(),
                was_used,
                is_cached: false,
            });
            tab.history_at = tab.history.len() - 1;
            false
        }
        Kind::Traverse(place) => {
            tab.history_at = place;
            let cached = tab
                .history
                .get_mut(place)
                .map(|entry| std::mem::replace(&mut entry.is_cached, false));
            !is_same_document && cached == Some(true)
        }
    }
}

impl Browser {
    /// Sends a tab to a URL. Nothing but the pending URL shows until the page commits.
    pub(crate) fn navigate(&mut self, id: TabId, url: &str, kind: Kind) {
        let Some(tab) = self.tabs.get_mut(&id) else {
            return;
        };
        let was_discarded = std::mem::replace(&mut tab.discarded, false);
        tab.load += 1;
        tab.pending = Some(Pending { url: url.into(), is_shown: true, kind });
        tab.status = Status::Loading;
        let command = EngineCommand::Navigate {
            tab: id,
            load: tab.load,
            url: url.to_owned(),
            from: tab.url.to_string(),
            kind,
        };
        if was_discarded {
            self.updated(
                id,
                Change {
                    discarded: Some(false),
                    status: Some(Status::Loading),
                    ..Change::default()
                },
            );
        }
        self.dirty.note_tab(id);
        self.unfreeze_soon(id);
        self.command(command);
    }

    /// `tabs.reload`.
    pub(crate) fn reload(&mut self, call: &Call<'_>) -> Result<Answer, Error> {
        let id = self.named_tab(call, 0)?;
        self.reload_tab(id)?;
        Ok(Answer::Undefined)
    }

    /// Loads a tab's page again, or goes on to where it has not arrived yet.
    pub(crate) fn reload_tab(&mut self, id: TabId) -> Result<(), Error> {
        let tab = self.tab(id)?;
        let url = match &tab.pending {
            Some(pending) if tab.url.is_empty() => pending.url.clone(),
            _ => tab.url.clone(),
        };
        self.navigate(id, &url, Kind::Reload);
        if let Some(tab) = self.tabs.get_mut(&id)
            && let Some(pending) = &mut tab.pending
        {
            pending.is_shown = tab.url.is_empty();
        }
        Ok(())
    }

    /// `tabs.goBack` and `tabs.goForward`.
    pub(crate) fn traverse(&mut self, call: &Call<'_>, is_forward: bool) -> Result<Answer, Error> {
        let id = self.named_tab(call, 0)?;
        match self.history_target(self.tab(id)?, is_forward) {
            Some(target) => self.go_to_entry(id, target)?,
            None if self.compat == Compat::Browser => return Err(Error::NoHistory),
            // Spec tabs-api §4: it goes there "if one exists".
            None => {}
        }
        Ok(Answer::Undefined)
    }

    /// The page before or after the current one; the browser skips those on which the user did nothing.
    pub(crate) fn history_target(&self, tab: &Tab, is_forward: bool) -> Option<usize> {
        let (at, count) = (tab.history_at, tab.history.len());
        let skips = self.compat == Compat::Browser;
        let was_used = |place: &usize| tab.history.get(*place).is_some_and(|entry| entry.was_used);
        if is_forward {
            let is_next = |place: &usize| !skips || *place + 1 == count || was_used(place);
            (at + 1..count).find(is_next)
        } else {
            (0..at).rev().find(|place| !skips || was_used(place))
        }
    }

    pub(crate) fn go_to_entry(&mut self, id: TabId, target: usize) -> Result<(), Error> {
        let entry = self.tab(id)?.history.get(target).ok_or(Error::NoHistory)?;
        let url = Arc::clone(&entry.url);
        self.navigate(id, &url, Kind::Traverse(target));
        Ok(())
    }

    /// Takes what the engine tells. News of a navigation that another one has overtaken is dropped.
    pub fn hear(&mut self, now: triptych_core::time::Timestamp, news: EngineNews) {
        self.now = self.now.max(now);
        let is_current =
            |tab: &TabId, load: &u64| self.tabs.get(tab).is_some_and(|state| state.load == *load);
        match news {
            EngineNews::Committed { tab, load, url, is_same_document, language, frames }
                if is_current(&tab, &load) =>
            {
                if let Some(state) = self.tabs.get_mut(&tab) {
                    state.language =
                        language.or_else(|| state.language.take().filter(|_| is_same_document));
                    if !is_same_document {
                        state.frames = frames.into_iter().map(Into::into).collect();
                    }
                }
                self.commit(tab, &url, is_same_document);
            }
            EngineNews::Ended { tab, load } if is_current(&tab, &load) => self.end(tab),
            EngineNews::HandedOver { tab, load } if is_current(&tab, &load) => {
                if self.tabs.get(&tab).is_some_and(|tab| tab.history.is_empty()) {
                    // A tab that was only made for it goes; it was just found, so that closing it cannot fail.
                    let _ = self.close_tab(tab);
                } else {
                    self.end(tab);
                }
            }
            EngineNews::Title { tab, load, title } if is_current(&tab, &load) => {
                self.set_title(tab, &title)
            }
            EngineNews::Icon { tab, load, url } if is_current(&tab, &load) => {
                let url = Arc::<str>::from(url);
                if let Some(state) = self.tabs.get_mut(&tab) {
                    state.icon = Some(Arc::clone(&url));
                }
                self.updated(tab, Change { icon: Some(url), ..Change::default() });
            }
            EngineNews::Complete { tab, load } if is_current(&tab, &load) => self.complete(tab),
            EngineNews::Audible { tab, load, audible } if is_current(&tab, &load) => {
                self.set_audible(tab, audible)
            }
            EngineNews::Goes { tab, load, url } if is_current(&tab, &load) => {
                self.navigate(tab, &url, Kind::Push)
            }
            EngineNews::Pushed { tab, load, url } if is_current(&tab, &load) => {
                if let Some(state) = self.tabs.get_mut(&tab) {
                    state.pending = Some(Pending {
                        url: url.as_str().into(),
                        is_shown: false,
                        kind: Kind::Push,
                    });
                }
                self.commit(tab, &url, true);
                self.complete(tab);
            }
            EngineNews::Opens { tab, load, url } if is_current(&tab, &load) => {
                // The tab was just found; opening beside it cannot fail.
                let _ = self.open_from_page(tab, &url);
            }
            EngineNews::Closes { tab, load } if is_current(&tab, &load) => {
                let _ = self.close_tab(tab);
            }
            EngineNews::Captured { request, picture } => self.captured(request, picture),
            EngineNews::Replied { request, reply } => self.replied(request, reply),
            EngineNews::Posted { port, message } if self.ports.contains_key(&port) => {
                self.emit(Event::PortMessage { port, message });
            }
            EngineNews::Disconnected { port, error } if self.ports.remove(&port).is_some() => {
                self.emit(Event::PortDisconnected { port, error });
            }
            EngineNews::Unheard { port } => self.unheard_by_engine(&port),
            _ => {}
        }
        self.assert_invariants();
    }

    /// A page has begun to arrive.
    fn commit(&mut self, id: TabId, url: &str, is_same_document: bool) {
        let Some(tab) = self.tabs.get_mut(&id) else {
            return;
        };
        let Some(pending) = tab.pending.take() else {
            return;
        };
        let is_same_url = *tab.url == *url;
        let committed = Arc::<str>::from(url);
        let change_url = (!is_same_url || tab.is_fresh).then(|| Arc::clone(&committed));
        let is_traversal = matches!(pending.kind, Kind::Traverse(_));
        let was_cached = enter(tab, url, pending.kind, is_same_document);
        let restored = tab
            .history
            .get(tab.history_at)
            .map(|entry| entry.title.clone())
            .filter(|_| is_traversal);
        if !is_same_document && pending.kind != Kind::Reload {
            tab.title_is_address = restored.is_none();
            tab.title = restored.unwrap_or_else(|| title(url).into());
            tab.icon = None;
        }
        tab.is_fresh = false;
        tab.url = committed;
        tab.status = Status::Loading;
        // The browser keeps a tab unzoomable where it goes; the specification restores the defaults.
        let stays_disabled = self.compat == Compat::Browser && tab.zoom.mode == ZoomMode::Disabled;
        if !is_same_document && !stays_disabled {
            tab.zoom = ZoomState::default();
        }
        let forgetting = std::mem::take(&mut tab.forgets_openers).then_some(tab.window);
        if let Some(window) = forgetting {
            self.forget_openers(window);
        }
        self.forget_grants(id, url);
        self.updated(
            id,
            Change { status: Some(Status::Loading), url: change_url, ..Change::default() },
        );
        self.emit_zoom_unchanged(id);
        if !is_same_document {
            self.end_document(id, Departure::Navigated);
            self.begin_document(id);
        }
        self.keep_title(id);
        if was_cached {
            self.thaw_later(id);
        }
    }

    /// Remembers the title that is shown for the page in the history.
    fn keep_title(&mut self, id: TabId) {
        if let Some(tab) = self.tabs.get_mut(&id) {
            let (at, title) = (tab.history_at, tab.title.clone());
            if let Some(entry) = tab.history.get_mut(at) {
                entry.title = title;
            }
        }
    }

    /// A page that comes back from the cache shows that it was frozen there.
    fn thaw_later(&mut self, id: TabId) {
        let Some(load) = self.tabs.get(&id).map(|tab| tab.load) else {
            return;
        };
        self.set_timer(Duration::from_millis(30), Timer::Thaw { tab: id, load, frozen: true });
        self.set_timer(Duration::from_millis(40), Timer::Thaw { tab: id, load, frozen: false });
    }

    /// A navigation ended without a page: the old one stays.
    fn end(&mut self, id: TabId) {
        let Some(tab) = self.tabs.get_mut(&id) else {
            return;
        };
        self.dirty.note_tab(id);
        tab.status = Status::Complete;
        if !tab.url.is_empty() {
            tab.pending = None;
        }
        self.answer_languages(id);
    }

    fn set_title(&mut self, id: TabId, title: &str) {
        let is_news = |tab: &&mut Tab| *tab.title != *title || tab.title_is_address;
        let Some(tab) = self.tabs.get_mut(&id).filter(is_news) else {
            return;
        };
        tab.title_is_address = false;
        let title = Arc::<str>::from(title);
        tab.title = Arc::clone(&title);
        self.keep_title(id);
        self.updated(id, Change { title: Some(title), ..Change::default() });
    }

    fn complete(&mut self, id: TabId) {
        let now = self.now;
        let Some(tab) = self.tabs.get_mut(&id) else {
            return;
        };
        tab.status = Status::Complete;
        tab.loaded_at = now;
        self.updated(id, Change { status: Some(Status::Complete), ..Change::default() });
        self.freeze_later(id);
        self.answer_languages(id);
    }

    pub(crate) fn set_audible(&mut self, id: TabId, audible: bool) {
        let Some(tab) = self.tabs.get_mut(&id).filter(|tab| tab.audible != audible) else {
            return;
        };
        tab.audible = audible;
        self.updated(id, Change { audible: Some(audible), ..Change::default() });
    }

    fn forget_grants(&mut self, id: TabId, url: &str) {
        for extension in self.extensions.values_mut() {
            extension.forget(id.0, Some(url));
        }
    }

    /// The user did something on a tab's page, with a script to run as part of it.
    ///
    /// # Errors
    /// `NoTab`.
    pub fn gesture(
        &mut self,
        now: triptych_core::time::Timestamp,
        id: TabId,
        script: Option<String>,
    ) -> Result<(), Error> {
        self.now = self.now.max(now);
        let tab = self.tab_mut(id)?;
        let at = tab.history_at;
        if let Some(entry) = tab.history.get_mut(at) {
            entry.was_used = true;
        }
        let command =
            EngineCommand::Gesture { tab: id, load: tab.load, url: tab.url.to_string(), script };
        self.command(command);
        Ok(())
    }

    /// Whether a URL given to a tab stays in its document.
    #[must_use]
    pub fn stays_in_document(from: &str, to: &str) -> bool {
        is_same_document(from, to)
    }

    pub(crate) fn emit_zoom_unchanged(&mut self, id: TabId) {
        let Some(tab) = self.tabs.get(&id) else {
            return;
        };
        let (zoom, factor) = (tab.zoom, self.factor_of(tab));
        debug_assert!(
            zoom.mode != ZoomMode::Disabled || (factor - 1.0).abs() < f64::EPSILON,
            "a tab that does not zoom shows 1"
        );
        self.emit(Event::TabZoomed { tab: id.0, old: factor, new: factor, zoom });
    }
}
