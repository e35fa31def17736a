//! Events of the engine, and what the browser makes of them.

use std::sync::Arc;
use std::time::Duration;

use triptych_core::time::Timestamp;

use crate::browser::Browser;
use crate::browser::event::{Change, Event};
use crate::browser::history::{Arrival, mark_document};
use crate::browser::tab::{PendingNavigation, Status, Tab};
use crate::engine::{EngineCommand, EngineEvent, NavigationKind, PageEvent};
use crate::error::Error;
use crate::id::TabId;

/// The time for which the timers of a page that is hidden run as before.
const TIMERS_RUN_AFTER_HIDING: Duration = Duration::from_secs(10);

/// True for what the script of a document does beside a navigation that began after the document's own.
fn goes_on(event: &PageEvent, tab: &Tab) -> bool {
    match event {
        PageEvent::Committed { .. }
        | PageEvent::Aborted
        | PageEvent::HandedOver
        | PageEvent::Complete
        | PageEvent::Icon(_) => false,
        PageEvent::Navigates(_)
        | PageEvent::Replaces(_)
        | PageEvent::Reloads
        | PageEvent::Traverses(_)
        | PageEvent::PushesState(_)
        | PageEvent::ReplacesState(_)
        | PageEvent::SetsFragment(_) => tab.pending.is_none(),
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
                let is_current = |state: &Tab| {
                    state.load == load || state.document_load == load && goes_on(&event, state)
                };
                if self.strips.tab(tab).is_some_and(is_current) {
                    self.on_page_event(tab, event);
                } else if matches!(event, PageEvent::Committed { .. }) {
                    self.commit_overtaken(tab, load, event);
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

    /// Lets a blank page come that another navigation has overtaken: that one goes on behind it.
    fn commit_overtaken(&mut self, id: TabId, load: u64, event: PageEvent) {
        let Some(tab) = self.strips.tab_mut(id) else { return };
        let Some((_, blank)) = tab.overtaken.take_if(|(number, _)| *number == load) else { return };
        let newer = tab.pending.replace(blank);
        self.on_page_event(id, event);
        if let Some(tab) = self.strips.tab_mut(id) {
            tab.pending = newer;
        }
    }

    fn on_page_event(&mut self, id: TabId, event: PageEvent) {
        match event {
            PageEvent::Committed { url, is_same_document, language, is_error, frames } => {
                let mut arrival = Arrival::SameDocument;
                if let Some(tab) = self.strips.tab_mut(id) {
                    tab.language =
                        language.or_else(|| tab.language.take().filter(|_| is_same_document));
                    if !is_same_document {
                        let leaves_error = std::mem::replace(&mut tab.shows_error, is_error);
                        arrival = Arrival::NewDocument { leaves_error };
                        tab.frames = frames.into_iter().map(Into::into).collect();
                    }
                }
                self.commit(id, &url, arrival);
            }
            PageEvent::Aborted => self.abort_navigation(id),
            PageEvent::HandedOver => {
                if self.strips.tab(id).is_some_and(|tab| tab.history.is_empty()) {
                    // A tab that was only made for it goes; it was just found, so that closing it cannot fail.
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
            PageEvent::Complete => self.complete(id),
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
            // A fragment that is there already is no navigation.
            PageEvent::SetsFragment(url) => {
                if self.strips.tab(id).is_some_and(|tab| *tab.url != *url) {
                    self.change_url_in_document(id, &url, NavigationKind::Push);
                }
            }
            // The tab was just found: opening beside it and closing it cannot fail.
            PageEvent::Opens(opening) => drop(self.open_from_page(id, opening)),
            PageEvent::SendsOpener(url) => {
                let opener = self.strips.tab(id).and_then(|tab| tab.page_opener);
                if let Some(opener) = opener.filter(|opener| self.strips.tab(*opener).is_some()) {
                    self.navigate_by_page(opener, &url, NavigationKind::Push, id);
                }
            }
            PageEvent::ClosesNamed(name) => {
                let family = self.strips.tab(id).map(|tab| tab.family);
                if let Some(named) = family.and_then(|family| self.tab_named(&name, family)) {
                    drop(self.close_tab(named));
                }
            }
            PageEvent::Alerts => self.begin_alert(id),
            PageEvent::Closes => {
                if self.strips.tab(id).is_some_and(Tab::may_close_itself) {
                    drop(self.close_tab(id));
                }
            }
        }
    }

    /// The script of a page gives it another URL.
    fn change_url_in_document(&mut self, id: TabId, url: &str, kind: NavigationKind) {
        if let Some(tab) = self.strips.tab_mut(id) {
            let url = url.into();
            let (is_shown, is_refused, initiator) = (false, false, None);
            tab.pending = Some(PendingNavigation { url, is_shown, kind, is_refused, initiator });
        }
        self.commit(id, url, Arrival::SameDocument);
        self.complete(id);
    }

    /// The script of a page goes so many pages forward, or back.
    fn traverse_by(&mut self, id: TabId, steps: i64) {
        let at = self.strips.tab(id).and_then(|tab| i64::try_from(tab.history_at).ok());
        let target = at.and_then(|at| usize::try_from(at.saturating_add(steps)).ok());
        if let Some(target) = target {
            drop(self.go_to_entry(id, target));
        }
    }

    /// Ends a navigation without a page: the old one stays.
    fn abort_navigation(&mut self, id: TabId) {
        let Some(tab) = self.strips.tab_mut(id) else {
            return;
        };
        self.dirty.note_tab(id);
        tab.status = Status::Complete;
        if !tab.url.is_empty() || tab.starts_empty {
            tab.pending = None;
        }
        self.answer_languages(id);
    }

    /// Gives a tab the title of its page; without one it is the address.
    fn set_title(&mut self, id: TabId, title: &str) {
        let title = title.split_whitespace().collect::<Vec<_>>().join(" ");
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

    fn complete(&mut self, id: TabId) {
        let now = self.now;
        let Some(tab) = self.strips.tab_mut(id) else {
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
        let (load, url) = (tab.load, tab.url.to_string());
        self.dirty.note_tab(id);
        let is_shown = self.runs_timers(id);
        self.command(EngineCommand::Gesture { tab: id, load, url, is_shown, script });
        Ok(())
    }
}
