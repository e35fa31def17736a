//! Browsing context groups: tabs whose pages opened one another, and copies of a tab. Their pages of one site run in one renderer process,
//! and as long as there are several, none of them freezes or is kept in memory for going back to it.

use std::sync::Arc;

use crate::browser::Browser;
use crate::browser::event::Change;
use crate::browser::tab::{Status, Tab};
use crate::engine::NavigationKind;
use crate::id::TabId;
use crate::url::{BLANK, NEW_TAB_PAGES, host};

/// Pages whose process never ends with a tab: those of extensions, whose workers run in it, and new tabs.
const LASTING: [&str; 2] = ["chrome-extension://", NEW_TAB_PAGES];

/// The address whose process a tab is in: that of its page, and before one came that which it was first sent to. What a page opens begins in
/// the process of that page, which is no address of its own.
fn process_url(tab: &Tab) -> &str {
    if tab.url.is_empty() && !tab.starts_empty { &tab.first_url } else { &tab.url }
}

/// The origin whose process a tab is in: a blank page runs in that of whoever led there.
fn process_origin(tab: &Tab) -> Arc<str> {
    if &*tab.url == BLANK { tab.origin() } else { Arc::clone(&tab.url) }
}

/// True if the pages of two tabs of one group run in one process: those of one site, and blank ones with any. Only a copy that has nothing to
/// load has no part in a blank page.
fn shares_process(one: &Tab, other: &Tab) -> bool {
    let is_any_blank = !one.is_empty_copy && !other.is_empty_copy;
    let is_blank = |url: &str| url.is_empty() || is_any_blank && url == "about:blank";
    let (one, other) = (process_url(one), process_url(other));
    is_blank(one) || is_blank(other) || host(one) == host(other)
}

/// True for a copy that has no page: one that waits to load, and one that has nothing to load.
const fn is_guest(tab: &Tab) -> bool {
    tab.waits_to_load || tab.is_empty_copy
}

impl Browser {
    /// True if the renderer process of a tab ends as these tabs close in one go: no other page runs in it.
    pub(super) fn ends_process(&self, id: TabId, closing: &[TabId]) -> bool {
        self.strips.tab(id).is_some_and(|tab| {
            let others = self.related_pages(id).filter_map(|other| self.strips.tab(other));
            // A copy without a page has no process of its own, and keeps none.
            let is_user = |other: &&Tab| !is_guest(other) && shares_process(tab, other);
            let mut users = others.filter(is_user).map(|user| user.id);
            closing.contains(&id)
                && !LASTING.iter().any(|page| process_origin(tab).starts_with(page))
                && users.all(|user| closing.contains(&user))
        })
    }

    /// True if the browser ends that process before the tabs close: no page in it does anything as it is left.
    pub(super) fn ends_process_first(&self, id: TabId, closing: &[TabId]) -> bool {
        let mut here = self.related_pages(id).filter(|other| self.share_process(id, *other));
        self.ends_process(id, closing)
            && !self.does_something_at_end(id)
            && !here.any(|other| self.does_something_at_end(other))
    }

    fn share_process(&self, one: TabId, other: TabId) -> bool {
        let (one, other) = (self.strips.tab(one), self.strips.tab(other));
        one.zip(other).is_some_and(|(one, other)| shares_process(one, other))
    }

    /// Ends what the pages of tabs still load that close in one go, where their processes end with them: a page that has come in part is in one, while one
    /// that is on its way is the browser's to wait for, and loads until its tab is gone.
    pub(super) fn end_loads_with_processes(&mut self, closing: &[TabId]) {
        for id in closing.iter().rev() {
            let is_ended = self.ends_process_first(*id, closing);
            let comes = |tab: &&mut Tab| is_ended && tab.loads_document && tab.pending.is_none();
            let Some(tab) = self.strips.tab_mut(*id).filter(comes) else { continue };
            (tab.loads_document, tab.status) = (false, Status::Unloaded);
            let status = Some(Status::Unloaded);
            self.emit_updated(*id, Change { status, ..Change::default() });
        }
    }

    /// The state of a tab's page as it is shown: a copy without a page is there as long as another page runs in its process.
    pub(crate) fn shown_status(&self, tab: &Tab) -> Status {
        if is_guest(tab) && self.ends_process(tab.id, &[tab.id]) {
            Status::Unloaded
        } else {
            tab.status
        }
    }

    /// The other tabs of the browsing context group of a tab that have pages.
    pub(super) fn related_pages(&self, id: TabId) -> impl Iterator<Item = TabId> {
        let related = self.strips.tab(id).filter(|tab| tab.is_related);
        let others = related.into_iter().flat_map(|tab| {
            let is_other = |other: &&Tab| other.context_group == tab.context_group;
            self.strips.tabs().filter(is_other)
        });
        others.filter(move |other| other.id != id && !other.discarded).map(|other| other.id)
    }

    /// True if there is another page in the browsing context group of a tab.
    pub(super) fn has_related_page(&self, id: TabId) -> bool {
        self.related_pages(id).next().is_some()
    }

    /// Puts a tab into the browsing context group of the page that comes: that of an entry of its history, and one of its own where it comes to pages of the
    /// browser or leaves them.
    pub(super) fn choose_context_group(&mut self, id: TabId, url: &str, kind: NavigationKind) {
        let Some(tab) = self.strips.tab(id).filter(|tab| tab.is_related) else { return };
        let entry = kind.place().and_then(|place| tab.history.get(place));
        let is_of_browser = |url: &str| url.starts_with("chrome:");
        let group = match entry {
            Some(entry) => entry.context_group,
            None if is_of_browser(&tab.url) == is_of_browser(url) => return,
            None => TabId(self.next_id()),
        };
        let Some(tab) = self.strips.tab_mut(id).filter(|tab| tab.context_group != group) else {
            return;
        };
        tab.context_group = group;
        self.dirty.note_tab(id);
    }

    /// True if the page of a tab may lead that of another one elsewhere or close it: between groups pages only know that there are others.
    pub(super) fn shares_group(&self, one: TabId, other: TabId) -> bool {
        let group = |id| self.strips.tab(id).map(|tab| tab.context_group);
        group(one) == group(other)
    }

    /// Puts a new tab into the browsing context group of another one.
    pub(super) fn relate(&mut self, new: TabId, to: TabId) {
        let Some(source) = self.strips.tab_mut(to) else { return };
        source.is_related = true;
        let group = source.context_group;
        self.dirty.note_tab(to);
        if let Some(tab) = self.strips.tab_mut(new) {
            (tab.context_group, tab.is_related) = (group, true);
        }
    }
}

#[cfg(test)]
mod tests {
    use triptych_core::time::Timestamp;

    use super::*;
    use crate::browser::Compat;
    use crate::browser::event::Event;
    use crate::engine::{EngineEvent, PageEvent};

    const NOW: Timestamp = Timestamp::from_seconds(1_790_000_000);

    /// A pinned tab of which a page has come in part, on its way to another one or not, that closes alone or with its window: the states that its events tell.
    fn told(is_on_its_way: bool, closes_window: bool) -> Vec<(Option<bool>, Status)> {
        let mut browser = Browser::with_blank_window(NOW, Compat::Browser);
        let window = browser.tab(browser.focused_tab().unwrap()).unwrap().window;
        let tab = browser.add_tab(window);
        browser.load_first_page(tab, "http://a.test/");
        browser.insert_into_strip(tab, window, 1).unwrap();
        browser.set_pinned(tab, true).unwrap();
        let event = PageEvent::Committed {
            url: "http://a.test/".into(),
            is_same_document: false,
            language: None,
            is_error: false,
            is_ok: true,
            frames: Vec::new(),
        };
        browser.on_engine_event(NOW, EngineEvent::Page { tab, load: 1, event });
        if is_on_its_way {
            browser.navigate(tab, "http://b.test/", NavigationKind::Push);
        }
        while browser.poll_event().is_some() {}
        if closes_window { browser.close_window(window) } else { browser.close_tab(tab) }.unwrap();
        let told = std::iter::from_fn(|| browser.poll_event()).filter_map(|event| match event {
            Event::TabUpdated { change, tab } => Some((change.pinned, tab.status)),
            _ => None,
        });
        told.collect()
    }

    #[test]
    fn what_a_closing_tab_loads_ends_with_its_process_and_what_it_is_on_its_way_to_does_not() {
        for closes_window in [false, true] {
            let ended = [(None, Status::Unloaded), (Some(false), Status::Unloaded)];
            assert_eq!(told(false, closes_window), ended);
            assert_eq!(told(true, closes_window), [(Some(false), Status::Loading)]);
        }
    }
}
