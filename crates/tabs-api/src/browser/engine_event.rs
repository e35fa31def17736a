//! Events of the engine, and what the browser makes of them.

use std::sync::Arc;
use std::time::Duration;

use triptych_core::time::Timestamp;

use crate::browser::Browser;
use crate::browser::event::{Change, Event};
use crate::browser::history::Arrival;
use crate::browser::history_entries::{mark_document, steps_in_frames};
use crate::browser::tab::{PendingNavigation, Status, Tab};
use crate::browser::user_action::LinkPlace;
use crate::engine::listener::Scope;
use crate::engine::title::canonical;
use crate::engine::{EngineCommand, EngineEvent, NavigationKind, Opening, PageEvent};
use crate::error::Error;
use crate::id::TabId;
use crate::url::origin;

/// The time for which the timers of a page that is hidden run as before.
const TIMERS_RUN_AFTER_HIDING: Duration = Duration::from_secs(10);

/// True for what a document does beside a navigation that began after its own.
fn goes_on(event: &PageEvent, tab: &Tab) -> bool {
    match event {
        PageEvent::Committed { .. } | PageEvent::Aborted | PageEvent::HandedOver => false,
        PageEvent::Icon(_)
        | PageEvent::Navigates(_)
        | PageEvent::Replaces(_)
        | PageEvent::Reloads
        | PageEvent::Traverses(_)
        | PageEvent::FrameGoes(_) => tab.pending.is_none(),
        _ => true,
    }
}

impl Browser {
    /// Takes an event of the engine. One of a navigation that another has overtaken is dropped; the script of a document goes on until
    /// the next one comes.
    pub fn on_engine_event(&mut self, now: Timestamp, event: EngineEvent) {
        self.now = self.now.max(now);
        match event {
            EngineEvent::Page { tab, load, event } => {
                let is_of_document = |state: &Tab| state.document_load == load;
                let is_current = |state: &Tab| {
                    state.load == load || is_of_document(state) && goes_on(&event, state)
                };
                if matches!(event, PageEvent::Complete)
                    && let Some(state) = self.strips.tab_mut(tab).filter(|tab| is_of_document(tab))
                {
                    state.loads_document = false;
                }
                if self.strips.tab(tab).is_some_and(is_current) {
                    self.on_page_event(tab, event);
                } else {
                    self.end_overtaken(tab, load, event);
                }
            }
            EngineEvent::Captured { request, picture } => self.on_captured(request, picture),
            EngineEvent::Received { request } => self.note_received(request),
            EngineEvent::Replied { request, reply } => self.on_engine_reply(request, reply),
            EngineEvent::Posted { port, message } if self.messaging.has_port(&port) => {
                self.emit(Event::PortMessage { port, message });
            }
            EngineEvent::Disconnected { port, error }
                if self.messaging.remove_port(&port).is_some() =>
            {
                self.emit(Event::PortDisconnected { port, error });
            }
            EngineEvent::Unheard { port } => self.on_unheard_by_engine(&port),
            EngineEvent::Posted { .. } | EngineEvent::Disconnected { .. } => {}
        }
        self.drop_emptied_windows();
        self.assert_invariants();
    }

    /// Lets what another navigation has overtaken come all the same, that one going on behind it, or forgets it where it ends without a page.
    fn end_overtaken(&mut self, id: TabId, load: u64, event: PageEvent) {
        let comes = matches!(event, PageEvent::Committed { .. });
        if !comes && !matches!(event, PageEvent::Aborted | PageEvent::HandedOver) {
            return;
        }
        let Some(tab) = self.strips.tab_mut(id) else { return };
        let Some(at) = tab.overtaken.iter().position(|(number, _)| *number == load) else { return };
        let (_, former) = tab.overtaken.swap_remove(at);
        if !comes {
            return;
        }
        let newer = tab.pending.replace(Box::new(former));
        self.on_page_event(id, event);
        if let Some(tab) = self.strips.tab_mut(id) {
            tab.pending = newer;
        }
    }

    fn on_page_event(&mut self, id: TabId, event: PageEvent) {
        match event {
            PageEvent::Committed { url, is_same_document, language, is_error, is_ok, frames } => {
                let mut arrival = Arrival::SameDocument;
                if let Some(tab) = self.strips.tab_mut(id) {
                    tab.language = language
                        .map(Into::into)
                        .or_else(|| tab.language.take().filter(|_| is_same_document));
                    if is_same_document && steps_in_frames(tab) {
                        arrival = Arrival::Frame;
                    }
                    if !is_same_document {
                        let leaves_whole = tab.is_ok && !tab.shows_error && !tab.loads_document;
                        (tab.is_ok, tab.shows_error) = (is_ok, is_error);
                        arrival = Arrival::NewDocument { leaves_whole };
                        tab.frames = frames.into_iter().map(Into::into).collect();
                    }
                }
                self.commit(id, &url, arrival);
            }
            PageEvent::Aborted => self.abort_navigation(id),
            PageEvent::HandedOver => {
                let is_needless = |tab: &Tab| tab.history.is_empty() && !self.is_alone(tab);
                let is_needless = self.strips.tab(id).is_some_and(is_needless);
                // It is on its way to nowhere from here on.
                if let Some(tab) = self.strips.tab_mut(id).filter(|_| is_needless) {
                    tab.status = tab.document_status();
                    // A tab that was only made for it goes, where its window does not go with it; it was just found, so that closing it cannot fail.
                    let _ = self.close_tab(id);
                } else {
                    self.abort_navigation(id);
                }
            }
            PageEvent::Title(title) => {
                if self.strips.tab(id).is_some_and(|tab| !tab.keeps_title) {
                    self.set_title(id, &title);
                }
            }
            PageEvent::Icon(url) => {
                let url = Arc::<str>::from(url);
                if let Some(tab) = self.strips.tab_mut(id) {
                    tab.icon = Some(Arc::clone(&url));
                }
                self.store_in_history(id);
                self.emit_updated(id, Change { icon: Some(url), ..Change::default() });
            }
            PageEvent::Complete => self.complete_unless_loading(id),
            PageEvent::Sounds(sounds) => self.set_sounding(id, sounds),
            PageEvent::Navigates(url) => self.navigate_by_page(id, &url, NavigationKind::Push, id),
            PageEvent::Replaces(url) => {
                self.navigate_by_page(id, &url, NavigationKind::Replace, id);
            }
            // The tab was just found, and an entry that is not there is nothing to go to.
            PageEvent::Reloads => drop(self.reload_tab(id)),
            PageEvent::Traverses(steps) => self.traverse_by(id, steps),
            PageEvent::PushesState(url) => {
                self.change_url_in_document(id, &url, NavigationKind::Append)
            }
            PageEvent::ReplacesState(url) => {
                self.change_url_in_document(id, &url, NavigationKind::Replace)
            }
            PageEvent::FrameGoes(url) => self.send_frame(id, &url),
            // A fragment that is there already is no navigation, and an empty one is as none.
            PageEvent::SetsFragment(url) => {
                let fragment = |url: &str| url.split_once('#').map(|(_, name)| name.to_owned());
                let fragment = |url: &str| fragment(url).unwrap_or_default();
                if self.strips.tab(id).is_some_and(|tab| fragment(&tab.url) != fragment(&url)) {
                    self.change_url_in_document(id, &url, NavigationKind::Push);
                }
            }
            // The tab was just found: opening beside it and closing it cannot fail.
            PageEvent::Opens(opening) => drop(self.open_from_page(id, opening)),
            PageEvent::OpensLink { url, is_in_window } => {
                let place = if is_in_window { LinkPlace::Window } else { LinkPlace::Front };
                drop(self.open_link(id, &url, place));
            }
            PageEvent::OpensAndCloses { opening, is_blocked } => {
                self.open_and_close(id, opening, is_blocked);
            }
            PageEvent::Names(name) => {
                if let Some(tab) = self.strips.tab_mut(id) {
                    tab.name = Some(name).filter(|name| !name.is_empty()).map(Into::into);
                }
            }
            PageEvent::SendsOpener { url, replaces } => {
                let kind = if replaces { NavigationKind::Replace } else { NavigationKind::Push };
                if let Some(opener) = self.opener_of_page(id) {
                    self.navigate_by_page(opener, &url, kind, id);
                }
            }
            PageEvent::ClosesOpener => {
                let opener = self.opener_of_page(id).and_then(|opener| self.strips.tab(opener));
                if let Some(opener) = opener.filter(|tab| tab.may_close_itself()) {
                    drop(self.close_tab(opener.id));
                }
            }
            PageEvent::RunsInOpener(code) => {
                let url = self.strips.tab(id).map(|tab| Arc::clone(&tab.url)).unwrap_or_default();
                let is_of_origin =
                    |tab: &TabId| self.tab(*tab).is_ok_and(|tab| origin(&tab.url) == origin(&url));
                if let Some(opener) = self.opener_of_page(id).filter(is_of_origin) {
                    drop(self.run_script(opener, Some(code)));
                }
            }
            PageEvent::Alerts => self.begin_alert(id),
            PageEvent::Listens(changes) => self.note_listeners(id, changes),
            PageEvent::Closes => {
                if self.strips.tab(id).is_some_and(Tab::may_close_itself) {
                    drop(self.close_tab(id));
                }
            }
        }
    }

    /// Closes the tab that has the name of what a page opens; without one it comes, and closes at once.
    fn open_and_close(&mut self, id: TabId, opening: Opening, is_blocked: bool) {
        let family = self.strips.tab(id).map(|tab| tab.family);
        let known = opening.name.as_deref().zip(family);
        let known = known.and_then(|(name, family)| self.tab_named(name, family));
        if let Some(known) = known {
            // The tab was just found, as is the one below.
            if self.shares_group(id, known) {
                drop(self.close_tab(known));
            }
            return;
        }
        if is_blocked || self.open_from_page(id, opening).is_err() {
            return;
        }
        let opened = self.strips.tabs().filter(|tab| tab.page_opener == Some(id));
        if let Some(last) = opened.map(|tab| tab.id).max() {
            drop(self.close_tab(last));
        }
    }

    /// The tab whose page opened the one of this tab, as long as that can reach it.
    fn opener_of_page(&self, id: TabId) -> Option<TabId> {
        let opener = self.strips.tab(id).and_then(|tab| tab.page_opener);
        opener.filter(|opener| self.shares_group(id, *opener))
    }

    /// True if a tab is the only one of its window.
    fn is_alone(&self, tab: &Tab) -> bool {
        self.strips.window(tab.window).is_some_and(|window| window.tabs.len() <= 1)
    }

    /// Sends the first frame of a page elsewhere, which is an entry of the tab's history, though the address of the page stays.
    fn send_frame(&mut self, id: TabId, url: &str) {
        let Some(tab) = self.strips.tab_mut(id) else { return };
        let Some(frame) = tab.frames.first_mut() else { return };
        *frame = url.into();
        tab.document.listeners.retain(|listener| listener.scope != Scope::Frame(0));
        let page = Arc::clone(&tab.url);
        self.change_within_document(id, &page, NavigationKind::Append, Arrival::Frame);
    }

    /// The script of a page gives it another URL. A navigation that is on its way goes on behind it, and no longer shows.
    fn change_url_in_document(&mut self, id: TabId, url: &str, kind: NavigationKind) {
        self.change_within_document(id, url, kind, Arrival::SameDocument);
    }

    fn change_within_document(
        &mut self,
        id: TabId,
        url: &str,
        kind: NavigationKind,
        arrival: Arrival,
    ) {
        // The empty page of a tab without a first one has no address that could change.
        let Some(tab) = self.strips.tab_mut(id).filter(|tab| !tab.url.is_empty()) else { return };
        let change = PendingNavigation::new(url, kind);
        let newer = tab.pending.replace(Box::new(change));
        self.commit(id, url, arrival);
        if let Some(tab) = self.strips.tab_mut(id) {
            let pages = tab.history.len();
            tab.pending = newer.map(|newer| {
                let kind = newer.kind.within(pages);
                Box::new(PendingNavigation { is_shown: false, kind, ..*newer })
            });
        }
        self.complete_unless_loading(id);
    }

    /// The script of a page goes so many pages forward, or back.
    fn traverse_by(&mut self, id: TabId, steps: i64) {
        let at = self.strips.tab(id).and_then(|tab| i64::try_from(tab.history_at).ok());
        let target = at.and_then(|at| usize::try_from(at.saturating_add(steps)).ok());
        if target.is_some_and(|target| self.go_to_entry(id, target).is_ok())
            && let Some(tab) = self.strips.tab_mut(id)
        {
            let origin = tab.origin();
            if let Some(pending) = &mut tab.pending {
                pending.initiator = Some(origin);
            }
        }
    }

    /// Ends a navigation without a page: the old one stays.
    fn abort_navigation(&mut self, id: TabId) {
        let Some(tab) = self.strips.tab_mut(id) else {
            return;
        };
        self.dirty.note_tab(id);
        tab.status = tab.document_status();
        if !tab.url.is_empty() || tab.starts_empty {
            tab.pending = None;
        }
        self.answer_languages(id);
    }

    /// Gives a tab the title of its page; without one it is the address.
    fn set_title(&mut self, id: TabId, title: &str) {
        let title = canonical(title);
        let is_address = title.is_empty();
        let title = match self.strips.tab(id).filter(|_| is_address) {
            Some(tab) => crate::url::title(&tab.url),
            None => title,
        };
        let is_new = |tab: &&mut Tab| *tab.title != *title || tab.title_is_address && !is_address;
        let Some(tab) = self.strips.tab_mut(id).filter(is_new) else {
            return;
        };
        tab.title_is_address = is_address;
        let title = Arc::<str>::from(title);
        tab.title = Arc::clone(&title);
        self.store_in_history(id);
        self.emit_updated(id, Change { title: Some(title), ..Change::default() });
    }

    /// Tells that a tab's page is there, unless its document is on its way still or another one is.
    fn complete_unless_loading(&mut self, id: TabId) {
        let now = self.now;
        let is_there = |tab: &&mut Tab| !tab.loads_document && tab.pending.is_none();
        let Some(tab) = self.strips.tab_mut(id).filter(is_there) else {
            return;
        };
        tab.status = Status::Complete;
        // A new page of the browser's own has no icon before it gives it, also where the one before it had the same.
        let is_new = tab.document_load == tab.load;
        tab.icon.take_if(|_| is_new && tab.url.starts_with("chrome:"));
        tab.keeps_title = false;
        tab.loaded_at = now;
        self.emit_updated(id, Change { status: Some(Status::Complete), ..Change::default() });
        self.freeze_later(id);
        self.answer_languages(id);
    }

    /// True if the timers of a tab's page run at once: it is in front, or was so a moment ago.
    fn runs_timers(&self, id: TabId) -> bool {
        let front = self.focused_window().and_then(|window| window.active);
        let was_front = |tab: &Tab| {
            tab.was_shown && self.now.since(tab.focused_until) < TIMERS_RUN_AFTER_HIDING
        };
        front == Some(id) || self.strips.tab(id).is_some_and(was_front)
    }

    /// Does on a tab's page what the user did there, with a script to run as part of it.
    ///
    /// # Errors
    /// `NoTab`.
    pub fn gesture(
        &mut self,
        now: Timestamp,
        id: TabId,
        script: Option<String>,
    ) -> Result<(), Error> {
        self.now = self.now.max(now);
        let tab = self.tab_mut(id)?;
        tab.is_used = true;
        mark_document(tab, true);
        // What stands in an empty page must not seem to come from an address that led nowhere.
        tab.pending
            .take_if(|_| script.is_some() && tab.url.is_empty() && tab.status == Status::Complete);
        self.run_script(id, script)
    }

    /// Runs a script on a tab's page as part of a gesture of the user.
    pub(super) fn run_script(&mut self, id: TabId, script: Option<String>) -> Result<(), Error> {
        let tab = self.tab(id)?;
        let (load, url, base) = (tab.load, tab.url.to_string(), tab.base_url().to_owned());
        self.dirty.note_tab(id);
        let is_shown = self.runs_timers(id);
        self.command(EngineCommand::Gesture { tab: id, load, url, base, is_shown, script });
        Ok(())
    }
}
