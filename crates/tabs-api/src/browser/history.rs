//! Navigation: URLs that tabs are sent to, and the history of their pages.

use std::sync::Arc;
use std::time::Duration;

use crate::browser::content_scripts::UnloadReason;
use crate::browser::event::Change;
use crate::browser::history_entries::{end_first_blank, enter_history, may_keep};
use crate::browser::tab::{PendingNavigation, Status, Tab};
use crate::browser::timers::Timer;
use crate::browser::{Browser, Compat};
use crate::engine::{EngineCommand, NavigationKind, Realm};
use crate::error::Error;
use crate::id::TabId;
use crate::url::{BLANK, INCOGNITO_TITLE, NEW_TAB, title};

/// Addresses that no page leads to.
const CLOSED_TO_PAGES: [&str; 4] = ["chrome:", "devtools:", "file:", "view-source:"];

/// The time after which the icon of a page comes anew whose address has changed.
const ICON_AFTER: Duration = Duration::from_millis(18);

/// The document in which a page begins to arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrival {
    /// That which is there.
    SameDocument,
    /// That which is there, in which a frame alone goes elsewhere.
    Frame,
    /// Another one, in its place.
    NewDocument {
        /// True if the one that is left was found, and was there in full.
        leaves_whole: bool,
    },
}

/// True if the page of an address may not lead to another address: pages of the browser and of the machine are open to their own kind alone.
pub(super) fn is_closed_to_pages(page: &str, url: &str) -> bool {
    let mut closed = CLOSED_TO_PAGES.iter();
    closed.any(|scheme| url.starts_with(scheme) && !page.starts_with(scheme))
}

/// A navigation to a URL, which shows as the pending one.
fn shown_navigation(url: &str, kind: NavigationKind, is_refused: bool) -> PendingNavigation {
    PendingNavigation { is_shown: true, is_refused, ..PendingNavigation::new(url, kind) }
}

/// True if a navigation of a tab comes to its end though another one has overtaken it: that within the document, and that to a blank page, which
/// asks nobody for anything.
pub(super) fn comes_overtaken(tab: &Tab, former: &PendingNavigation) -> bool {
    let has_document = !tab.is_fresh && !tab.shows_error && !former.is_refused;
    let page = former.url.split(['#', '?']).next();
    page == Some(BLANK)
        || has_document && former.kind.within_document(&tab.url, &former.url).is_some()
}

impl Browser {
    /// Sends a tab to a URL. Nothing but the pending URL shows until the page commits.
    pub(crate) fn navigate(&mut self, id: TabId, url: &str, kind: NavigationKind) {
        self.begin_navigation(id, shown_navigation(url, kind, false));
    }

    /// Sends a tab to a URL for an extension or a page of this origin. What only the user may open begins as any other, and ends without a page,
    /// unless it is there already.
    pub(super) fn navigate_by_code(
        &mut self,
        id: TabId,
        url: &str,
        kind: NavigationKind,
        initiator: Option<Arc<str>>,
    ) {
        let tab = self.strips.tab(id).filter(|tab| !tab.discarded);
        let is_there = tab.is_some_and(|tab| kind.within_document(&tab.url, url).is_some());
        let navigation = shown_navigation(url, kind, url.starts_with("data:") && !is_there);
        self.begin_navigation(id, PendingNavigation { initiator, ..navigation });
    }

    /// Sends a tab to a URL for the page of a tab, which may not lead to pages of the browser or of the machine. To where the tab is already
    /// it leads without a new entry.
    pub(super) fn navigate_by_page(
        &mut self,
        id: TabId,
        url: &str,
        kind: NavigationKind,
        page: TabId,
    ) {
        if CLOSED_TO_PAGES.iter().any(|scheme| url.starts_with(scheme)) {
            return;
        }
        let is_there = self.strips.tab(id).is_some_and(|tab| *tab.url == *url);
        let initiator = self.strips.tab(page).map(Tab::origin);
        let kind = if is_there { NavigationKind::Replace } else { kind };
        self.navigate_by_code(id, url, kind, initiator);
    }

    /// Begins a navigation, for the first time or again after the browser ended while it was on its way.
    pub(super) fn begin_navigation(&mut self, id: TabId, pending: PendingNavigation) {
        let url = Arc::clone(&pending.url);
        let (url, kind, is_refused) = (&*url, pending.kind, pending.is_refused);
        let realm = match self.strips.tab(id) {
            Some(tab) if self.bars_extension_page(tab, url) => Realm::Barred,
            Some(tab) if self.is_incognito(tab) => Realm::Incognito,
            _ => Realm::Normal,
        };
        let Some(tab) = self.strips.tab_mut(id) else {
            return;
        };
        // That page has its title before it is there, in every tab.
        if realm == Realm::Incognito && url == NEW_TAB {
            tab.title = INCOGNITO_TITLE.into();
        }
        let was_discarded = std::mem::replace(&mut tab.discarded, false);
        (tab.waits_to_load, tab.is_empty_copy) = (false, false);
        if tab.first_url.is_empty() {
            tab.first_url = Arc::clone(&pending.url);
        }
        // A tab whose page is not there, or did not come, has no document that a fragment could lie in.
        let has_document = !was_discarded && !tab.is_fresh && !tab.shows_error;
        let from = if has_document { tab.url.to_string() } else { String::new() };
        let is_first = tab.url.is_empty() || was_discarded || tab.is_fresh;
        if let Some(former) = tab.pending.take().filter(|former| comes_overtaken(tab, former)) {
            tab.overtaken.push((tab.load, *former));
        }
        tab.load += 1;
        tab.pending = Some(Box::new(pending));
        tab.status = Status::Loading;
        // The browser looks at the title anew, as a page of a new tab has one before it comes, and finds that of the page which is there.
        let is_new_tab = url == NEW_TAB && kind == NavigationKind::Push;
        let told = (is_new_tab && realm == Realm::Normal && has_document && !tab.url.is_empty())
            .then(|| Arc::clone(&tab.title));
        let stays_in_document = !is_refused && kind.within_document(&from, url).is_some();
        let command = if is_refused {
            EngineCommand::Refuse { tab: id, load: tab.load }
        } else {
            EngineCommand::Navigate {
                tab: id,
                load: tab.load,
                url: url.to_owned(),
                from,
                kind,
                realm,
                is_first,
            }
        };
        self.end_alert(id);
        let Some(tab) = self.strips.tab_mut(id) else { return };
        if was_discarded && let NavigationKind::Traverse(index) = kind {
            // It has no page whose title and icon could still be shown.
            let entry = tab.history.get(index);
            if let Some((title, icon)) =
                entry.map(|entry| (entry.title.clone(), entry.icon.clone()))
            {
                (tab.title, tab.icon) = (title, icon);
            }
        }
        if was_discarded {
            self.emit_updated(
                id,
                Change {
                    discarded: Some(false),
                    status: Some(Status::Loading),
                    ..Change::default()
                },
            );
        }
        if told.is_some() {
            self.emit_updated(id, Change { title: told, ..Change::default() });
        }
        self.dirty.note_tab(id);
        if !stays_in_document {
            self.unfreeze_soon(id);
        }
        self.command(command);
    }

    /// Loads a tab's page again, or goes on to where it has not arrived yet.
    pub(crate) fn reload_tab(&mut self, id: TabId) -> Result<(), Error> {
        let tab = self.tab(id)?;
        if tab.is_empty_copy {
            return Ok(());
        }
        let url = match &tab.pending {
            Some(pending) if tab.url.is_empty() => pending.url.clone(),
            _ => tab.url.clone(),
        };
        // A tab whose page never came, and which has forgotten where it was to go, has nothing to load.
        if url.is_empty() {
            return Ok(());
        }
        // Its first page becomes its first entry, however often it was asked for.
        let is_first = tab.history.is_empty();
        let kind = if is_first { NavigationKind::Push } else { NavigationKind::Reload };
        self.navigate(id, &url, kind);
        Ok(())
    }

    /// The page before or after the one that a tab shows or is on its way to; the browser skips those on which the user did nothing.
    pub(crate) fn history_target(&self, tab: &Tab, is_forward: bool) -> Option<usize> {
        let at = tab.pending.as_ref().and_then(|pending| pending.kind.place());
        let (at, count) = (at.unwrap_or(tab.history_at), tab.history.len());
        let skips = self.compat == Compat::Browser;
        let was_used = |index: &usize| tab.history.get(*index).is_some_and(|entry| entry.was_used);
        if is_forward {
            let is_next = |index: &usize| !skips || *index + 1 == count || was_used(index);
            (at + 1..count).find(is_next)
        } else {
            (0..at).rev().find(|index| !skips || was_used(index))
        }
    }

    pub(crate) fn go_to_entry(&mut self, id: TabId, target: usize) -> Result<(), Error> {
        let entry = self.tab(id)?.history.get(target).ok_or(Error::NoHistory)?;
        let (url, document) = (Arc::clone(&entry.url), entry.document);
        let tab = self.tab(id)?;
        let is_leaving = tab.pending.as_ref().is_some_and(|pending| pending.kind.place().is_some());
        if is_leaving && target == tab.history_at && !tab.is_fresh {
            // The page that is left is there still.
            self.stop_navigation(id);
            return Ok(());
        }
        let current = tab.history.get(tab.history_at).map(|entry| entry.document);
        let has_document = !tab.is_fresh && !tab.shows_error && !tab.discarded;
        let is_step = current == Some(document) && target != tab.history_at && has_document;
        let kind = if is_step { NavigationKind::Step } else { NavigationKind::Traverse };
        self.navigate(id, &url, kind(target));
        Ok(())
    }

    /// Ends what a tab is on its way to: its page stays.
    fn stop_navigation(&mut self, id: TabId) {
        let Some(tab) = self.strips.tab_mut(id) else { return };
        tab.pending = None;
        tab.load += 1;
        tab.status = tab.document_status();
        self.dirty.note_tab(id);
        self.answer_languages(id);
    }

    /// A page has begun to arrive.
    pub(super) fn commit(&mut self, id: TabId, url: &str, arrival: Arrival) {
        let is_same_document = !matches!(arrival, Arrival::NewDocument { .. });
        let is_of_frame = arrival == Arrival::Frame;
        let leaves_whole = arrival == Arrival::NewDocument { leaves_whole: true };
        let is_incognito = self.strips.tab(id).is_some_and(|tab| self.is_incognito(tab));
        let is_related = self.has_related_page(id);
        let Some(tab) = self.strips.tab_mut(id) else {
            return;
        };
        let Some(pending) = tab.pending.take() else {
            return;
        };
        self.leave_languages(id);
        let Some(tab) = self.strips.tab_mut(id) else {
            return;
        };
        let is_same_url = *tab.url == *url;
        let replaces = !is_same_document && end_first_blank(tab, url);
        let pending = if replaces && pending.kind == NavigationKind::Push {
            PendingNavigation { kind: NavigationKind::Replace, ..*pending }
        } else {
            *pending
        };
        let committed = match &pending.url {
            asked if **asked == *url => Arc::clone(asked),
            _ => url.into(),
        };
        let change_url = (!is_same_url || tab.is_fresh).then(|| Arc::clone(&committed));
        let is_traversal =
            matches!(pending.kind, NavigationKind::Traverse(_) | NavigationKind::Step(_));
        // A discarded tab has no page that could be kept.
        let has_page = !tab.is_fresh && leaves_whole && !tab.document.listens_for_unload();
        let may_keep_left = !is_related && has_page && may_keep(tab, url, pending.kind);
        if !is_same_document {
            self.choose_context_group(id, url, pending.kind);
        }
        let Some(tab) = self.strips.tab_mut(id) else {
            return;
        };
        let kind = pending.kind;
        let cache = enter_history(tab, &committed, pending, is_same_document, may_keep_left);
        if let Some(entry) = tab.history.get_mut(tab.history_at) {
            entry.is_of_frame |= is_of_frame && kind == NavigationKind::Append;
        }
        let entry = tab.history.get(tab.history_at).filter(|_| is_traversal);
        let restored = entry.map(|entry| entry.title.clone());
        let known_icon = entry.and_then(|entry| entry.icon.clone());
        let is_new_entry = matches!(kind, NavigationKind::Push | NavigationKind::Append);
        let is_reload = matches!(kind, NavigationKind::Reload);
        let is_again = matches!(kind, NavigationKind::Reload | NavigationKind::Restore);
        if is_same_document && let Some(title) = &restored {
            tab.title = Arc::clone(title);
        } else if is_same_document && tab.title_is_address && is_new_entry {
            // An entry whose address is replaced keeps the title that was made of the former one.
            tab.title = title(url).into();
        }
        if !is_same_document && !is_again {
            tab.title_is_address = restored.is_none();
            let shown =
                if is_incognito && url == NEW_TAB { INCOGNITO_TITLE.into() } else { title(url) };
            tab.title = restored.unwrap_or_else(|| shown.into());
            // A page of the history has its icon at once.
            tab.icon = known_icon;
        }
        let is_first = std::mem::replace(&mut tab.is_fresh, false);
        let came_back = cache.came_back.is_some();
        tab.url = committed;
        tab.status = Status::Loading;
        let shows_error = tab.shows_error;
        let forgetting = std::mem::take(&mut tab.forgets_openers).then_some(tab.window);
        let is_first_page = tab.history.len() <= 1;
        if let Some(window) = forgetting
            && !(is_first_page && url == NEW_TAB)
        {
            // From a new tab the user is given one navigation, as for a look at something.
            self.forget_openers(window);
        }
        // A page of an error is of nobody's origin.
        self.extensions.end_grants(id, Some(url).filter(|_| !shows_error));
        let awaiting = if is_first { self.page_tasks.take_awaiting_page(id) } else { Vec::new() };
        if !is_same_document && !cache.keeps_left {
            self.end_document(id, UnloadReason::Gone);
        }
        self.emit_updated(
            id,
            Change { status: Some(Status::Loading), url: change_url, ..Change::default() },
        );
        if !is_same_document {
            self.follow_site(id);
        }
        let renewed = (!is_same_document).then(|| self.renew_zoom(id, cache.own_factor));
        if !is_of_frame {
            self.emit_zoom_of_page(id, renewed.flatten());
        }
        if !is_same_document {
            self.set_sounding(id, false);
            // The browser tells of a page that it keeps only once the new one is there.
            if cache.keeps_left {
                self.end_document(id, UnloadReason::Navigated);
            }
            self.begin_document(id, cache.came_back);
            self.give_awaited(id, awaiting);
            let is_shown = self.is_active(id);
            let is_laid_out = is_shown && !self.is_minimized(id);
            let Some(tab) = self.strips.tab_mut(id) else {
                return;
            };
            tab.was_shown = false;
            tab.is_laid_out = is_laid_out && tab.document_load == 0;
            // What is known of a page's language outlives its reload, and comes back with a page that was kept.
            let entry = tab.history.get(tab.history_at).filter(|_| came_back);
            tab.knows_language =
                entry.map_or(is_reload && tab.knows_language, |entry| entry.knows_language);
            (tab.document_load, tab.loads_document) = (tab.load, true);
            // A page that comes back from the cache has its title, and has run its script.
            tab.keeps_title = came_back;
            let load = tab.load;
            if is_shown {
                self.note_seen(id);
            }
            if !came_back {
                self.command(EngineCommand::Begin { tab: id, load, is_shown });
            }
        }
        self.store_in_history(id);
        if is_same_document && !is_of_frame {
            let load = self.strips.tab(id).map_or(0, |tab| tab.load);
            self.set_timer(ICON_AFTER, Timer::IconFetched { tab: id, load });
        }
        if came_back {
            self.set_page_restored_timers(id);
        }
    }

    /// Remembers the title and the icon that are shown for the page in the history.
    pub(super) fn store_in_history(&mut self, id: TabId) {
        if let Some(tab) = self.strips.tab_mut(id)
            && let Some(entry) = tab.history.get_mut(tab.history_at)
        {
            entry.title.clone_from(&tab.title);
            entry.icon.clone_from(&tab.icon);
        }
    }

    /// A page that comes back from the cache shows that it was frozen there.
    fn set_page_restored_timers(&mut self, id: TabId) {
        let Some(load) = self.strips.tab(id).map(|tab| tab.load) else {
            return;
        };
        self.set_timer(
            Duration::from_millis(30),
            Timer::PageRestored { tab: id, load, frozen: true },
        );
        self.set_timer(
            Duration::from_millis(40),
            Timer::PageRestored { tab: id, load, frozen: false },
        );
    }
}
