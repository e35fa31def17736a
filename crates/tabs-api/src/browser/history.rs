//! Navigation: URLs that tabs are sent to, and the history of their pages.

use std::sync::Arc;
use std::time::Duration;

use crate::browser::content_scripts::UnloadReason;
use crate::browser::event::Change;
use crate::browser::tab::{Document, HistoryEntry, PendingNavigation, Status, Tab};
use crate::browser::timers::Timer;
use crate::browser::{Browser, Compat};
use crate::engine::{EngineCommand, NavigationKind, Realm};
use crate::error::Error;
use crate::id::TabId;
use crate::url::{BLANK, INCOGNITO_TITLE, NEW_TAB, host, title};

/// Addresses that no page leads to.
const CLOSED_TO_PAGES: [&str; 4] = ["chrome:", "devtools:", "file:", "view-source:"];

/// The time after which the icon of a page comes anew whose address has changed.
const ICON_AFTER: Duration = Duration::from_millis(18);

/// The part that the cache of pages had in a commit.
#[derive(Debug)]
struct PageCacheUse {
    /// The document of the page that came back from it.
    came_back: Option<Document>,
    /// True if the page that was left went into it.
    keeps_left: bool,
    /// The factor that the page has of its own which came back.
    own_factor: Option<f64>,
}

/// The document in which a page begins to arrive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Arrival {
    /// That which is there.
    SameDocument,
    /// Another one, in its place.
    NewDocument {
        /// True if the one that is left showed an error.
        leaves_error: bool,
    },
}

/// A navigation to a URL, which shows as the pending one.
fn shown_navigation(url: &str, kind: NavigationKind, is_refused: bool) -> PendingNavigation {
    PendingNavigation { url: url.into(), is_shown: true, kind, is_refused, initiator: None }
}

/// Marks every entry of a tab's document as used or not: the user's use of one counts for all.
pub(super) fn mark_document(tab: &mut Tab, was_used: bool) {
    let document = tab.history.get(tab.history_at).map(|entry| entry.document);
    let entries = tab.history.iter_mut().filter(|entry| Some(entry.document) == document);
    entries.for_each(|entry| entry.was_used = was_used);
}

/// True if a tab may keep the page that it leaves for an address: only pages of the web are kept, and not where the same one comes with another fragment.
/// A page shares its process with the one without a site that it came from, so that going back there keeps nothing.
fn may_keep(tab: &Tab, url: &str, kind: NavigationKind) -> bool {
    let without_fragment = |url: &str| url.split('#').next().map(str::to_owned);
    let has_site = !["about:", "data:"].iter().any(|scheme| url.starts_with(scheme));
    let goes_back_by_one =
        matches!(kind, NavigationKind::Traverse(index) if index + 1 == tab.history_at);
    tab.url.starts_with("http")
        && (has_site || !goes_back_by_one)
        && without_fragment(&tab.url) != without_fragment(url)
}

/// Enters a committed page into the history.
fn enter_history(
    tab: &mut Tab,
    url: &str,
    PendingNavigation { kind, initiator, .. }: PendingNavigation,
    is_same_document: bool,
    may_keep_left: bool,
) -> PageCacheUse {
    let stays = is_same_document
        || matches!(
            kind,
            NavigationKind::Reload | NavigationKind::Restore | NavigationKind::Replace
        );
    let keeps_left = !stays && may_keep_left;
    if !stays && let Some(left) = tab.history.get_mut(tab.history_at) {
        left.kept = keeps_left.then(|| std::mem::take(&mut tab.document));
        left.knows_language = tab.knows_language;
        left.own_factor = tab.zoom.own_factor.filter(|_| keeps_left);
    }
    let documents = tab.history.iter().map(|entry| entry.document);
    let (document, origin) = match tab.history.get(tab.history_at) {
        Some(entry) if is_same_document => (entry.document, entry.origin.clone()),
        _ => (
            documents.max().unwrap_or_default() + 1,
            initiator.filter(|_| url.starts_with("about:")),
        ),
    };
    let came_back = match kind {
        NavigationKind::Reload | NavigationKind::Restore => {
            // The document is another one, though its address is the same.
            tab.is_used = false;
            None
        }
        NavigationKind::Replace if !tab.history.is_empty() => {
            if let Some(entry) = tab.history.get_mut(tab.history_at) {
                entry.url = url.into();
                (entry.document, entry.origin) = (document, origin);
            }
            None
        }
        NavigationKind::Push | NavigationKind::Append | NavigationKind::Replace => {
            tab.history.truncate(tab.history_at + 1);
            // What counts of a page is this visit: one that came again and was not touched is passed over.
            mark_document(tab, tab.is_used);
            // The user's use of a page goes on in the next one of the same host.
            let is_same_host = host(&tab.url) == host(url);
            tab.is_used &= is_same_document || is_same_host;
            tab.history.push(HistoryEntry {
                url: url.into(),
                title: "".into(),
                icon: tab.icon.clone().filter(|_| is_same_document),
                document,
                was_used: tab.is_used,
                origin,
                kept: None,
                knows_language: false,
                own_factor: None,
            });
            tab.history_at = tab.history.len() - 1;
            None
        }
        NavigationKind::Traverse(index) | NavigationKind::Step(index) => {
            tab.history_at = index;
            tab.is_used &= is_same_document;
            let kept = tab.history.get_mut(index).and_then(|entry| entry.kept.take());
            kept.filter(|_| !is_same_document)
        }
    };
    let entry = tab.history.get(tab.history_at).filter(|_| came_back.is_some());
    let own_factor = entry.and_then(|entry| entry.own_factor);
    PageCacheUse { came_back, keeps_left, own_factor }
}

impl Browser {
    /// Sends a tab to a URL. Nothing but the pending URL shows until the page commits.
    pub(crate) fn navigate(&mut self, id: TabId, url: &str, kind: NavigationKind) {
        self.begin_navigation(id, shown_navigation(url, kind, false));
    }

    /// Sends a tab to a URL for an extension or a page of this origin. What only the user may open begins as any other, and ends without a page.
    pub(crate) fn navigate_by_code(
        &mut self,
        id: TabId,
        url: &str,
        kind: NavigationKind,
        initiator: Option<Arc<str>>,
    ) {
        let navigation = shown_navigation(url, kind, url.starts_with("data:"));
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
            tab.first_url = url.into();
        }
        // A discarded tab has no document that a fragment could lie in.
        let from = if was_discarded { String::new() } else { tab.url.to_string() };
        let former = tab.pending.take().filter(|former| *former.url == *BLANK);
        tab.overtaken = former.map(|former| (tab.load, former));
        tab.load += 1;
        tab.pending = Some(pending);
        tab.status = Status::Loading;
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
        self.navigate(id, &url, NavigationKind::Reload);
        Ok(())
    }

    /// The page before or after the current one; the browser skips those on which the user did nothing.
    pub(crate) fn history_target(&self, tab: &Tab, is_forward: bool) -> Option<usize> {
        let (at, count) = (tab.history_at, tab.history.len());
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
        let current = tab.history.get(tab.history_at).map(|entry| entry.document);
        let is_step = current == Some(document) && target != tab.history_at && !tab.discarded;
        let kind = if is_step { NavigationKind::Step } else { NavigationKind::Traverse };
        self.navigate(id, &url, kind(target));
        Ok(())
    }

    /// A page has begun to arrive.
    pub(super) fn commit(&mut self, id: TabId, url: &str, arrival: Arrival) {
        let is_same_document = arrival == Arrival::SameDocument;
        let leaves_error = arrival == Arrival::NewDocument { leaves_error: true };
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
        let committed = Arc::<str>::from(url);
        let change_url = (!is_same_url || tab.is_fresh).then(|| Arc::clone(&committed));
        let is_traversal =
            matches!(pending.kind, NavigationKind::Traverse(_) | NavigationKind::Step(_));
        // A discarded tab has no page that could be kept.
        let has_page = !tab.is_fresh && !leaves_error;
        let may_keep_left = !is_related && has_page && may_keep(tab, url, pending.kind);
        let kind = pending.kind;
        let cache = enter_history(tab, url, pending, is_same_document, may_keep_left);
        let entry = tab.history.get(tab.history_at).filter(|_| is_traversal);
        let restored = entry.map(|entry| entry.title.clone());
        let known_icon = entry.and_then(|entry| entry.icon.clone());
        let is_reload = matches!(kind, NavigationKind::Reload);
        let is_again = matches!(kind, NavigationKind::Reload | NavigationKind::Restore);
        if is_same_document && let Some(title) = &restored {
            tab.title = Arc::clone(title);
        } else if is_same_document && tab.title_is_address {
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
        let forgetting = std::mem::take(&mut tab.forgets_openers).then_some(tab.window);
        if let Some(window) = forgetting {
            self.forget_openers(window);
        }
        self.extensions.end_grants(id, Some(url));
        let awaiting = if is_first { self.page_tasks.take_awaiting_page(id) } else { Vec::new() };
        if !is_same_document && !cache.keeps_left {
            self.end_document(id, UnloadReason::Gone);
        }
        self.emit_updated(
            id,
            Change { status: Some(Status::Loading), url: change_url, ..Change::default() },
        );
        let renewed = (!is_same_document).then(|| self.renew_zoom(id, cache.own_factor));
        self.emit_zoom_of_page(id, renewed.flatten());
        if !is_same_document {
            self.set_sounding(id, false);
            // The browser tells of a page that it keeps only once the new one is there.
            if cache.keeps_left {
                self.end_document(id, UnloadReason::Navigated);
            }
            self.begin_document(id, cache.came_back);
            self.give_awaited(id, awaiting);
            let is_shown = self.is_active(id);
            let Some(tab) = self.strips.tab_mut(id) else {
                return;
            };
            tab.was_shown = false;
            // What is known of a page's language outlives its reload, and comes back with a page that was kept.
            let entry = tab.history.get(tab.history_at).filter(|_| came_back);
            tab.knows_language =
                entry.map_or(is_reload && tab.knows_language, |entry| entry.knows_language);
            tab.document_load = tab.load;
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
        if is_same_document {
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
