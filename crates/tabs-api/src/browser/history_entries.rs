//! The entries of a tab's history, and what a page that comes does to them. The pages of some are kept in memory for going back to them.

use std::sync::Arc;

use crate::browser::tab::{Document, HistoryEntry, PendingNavigation, Tab};
use crate::engine::NavigationKind;
use crate::url::{BLANK, host};

/// The number of pages that a tab keeps in memory for going back to them.
const KEPT_PAGES: usize = 6;

/// The part that the cache of pages had in a commit.
#[derive(Debug)]
pub(super) struct PageCacheUse {
    /// The document of the page that came back from it.
    pub(super) came_back: Option<Document>,
    /// True if the page that was left went into it.
    pub(super) keeps_left: bool,
    /// The factor that the page has of its own which came back.
    pub(super) own_factor: Option<f64>,
}

/// Marks every entry of a tab's document as used or not: the user's use of one counts for all.
pub(super) fn mark_document(tab: &mut Tab, was_used: bool) {
    let document = tab.history.get(tab.history_at).map(|entry| entry.document);
    let entries = tab.history.iter_mut().filter(|entry| Some(entry.document) == document);
    entries.for_each(|entry| entry.was_used = was_used);
}

/// True if a tab may keep the page that it leaves for an address: only pages of the web are kept, and not where the same one comes with another fragment.
/// A page shares its process with the one without a site that it came from, so that going back there keeps nothing.
pub(super) fn may_keep(tab: &Tab, url: &str, kind: NavigationKind) -> bool {
    let without_fragment = |url: &str| url.split('#').next().map(str::to_owned);
    let has_site = !["about:", "data:"].iter().any(|scheme| url.starts_with(scheme));
    let goes_back_by_one =
        matches!(kind, NavigationKind::Traverse(index) if index + 1 == tab.history_at);
    tab.url.starts_with("http")
        && (has_site || !goes_back_by_one)
        && without_fragment(&tab.url) != without_fragment(url)
}

/// Ends the blank page that a page opened a tab with, unless that is what comes; true if it was there. It came without a navigation, and the first
/// one takes its place.
pub(super) fn end_first_blank(tab: &mut Tab, url: &str) -> bool {
    let was_there = tab.blank_base.is_some() && !tab.url.is_empty();
    if was_there || url != BLANK {
        tab.blank_base = None;
    }
    was_there
}

/// True if nothing but frames of a page goes elsewhere on the way that a tab takes in its history.
pub(super) fn steps_in_frames(tab: &Tab) -> bool {
    let kind = tab.pending.as_ref().map(|pending| pending.kind);
    let Some(NavigationKind::Step(to)) = kind else { return false };
    let (first, last) = (tab.history_at.min(to) + 1, tab.history_at.max(to));
    let entries = tab.history.get(first..=last).unwrap_or_default();
    !entries.is_empty() && entries.iter().all(|entry| entry.is_of_frame)
}

/// Lets the pages go that were left before the last six that are kept.
fn keep_six(history: &mut [HistoryEntry]) {
    let mut kept: Vec<_> = history.iter_mut().filter(|entry| entry.kept.is_some()).collect();
    kept.sort_by_key(|entry| std::cmp::Reverse(entry.left_with));
    kept.into_iter().skip(KEPT_PAGES).for_each(|entry| entry.kept = None);
}

/// Enters a committed page into the history.
pub(super) fn enter_history(
    tab: &mut Tab,
    url: &Arc<str>,
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
        left.kept = keeps_left.then(|| Box::new(std::mem::take(&mut tab.document)));
        left.left_with = tab.load;
        left.knows_language = tab.knows_language;
        left.own_factor = tab.zoom.own_factor.filter(|_| keeps_left);
    }
    let is_by_page = initiator.is_some();
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
                (entry.url, entry.document) = (Arc::clone(url), document);
                (entry.origin, entry.context_group) = (origin, tab.context_group);
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
            // Most tabs have one page: room for more would be the largest part of what they take.
            tab.history.reserve_exact(usize::from(tab.history.is_empty()));
            tab.history.push(HistoryEntry {
                context_group: tab.context_group,
                url: Arc::clone(url),
                title: Arc::default(),
                icon: tab.icon.clone().filter(|_| is_same_document),
                document,
                was_used: tab.is_used,
                origin,
                kept: None,
                is_of_frame: false,
                left_with: 0,
                knows_language: false,
                own_factor: None,
            });
            tab.history_at = tab.history.len() - 1;
            None
        }
        NavigationKind::Traverse(index) | NavigationKind::Step(index) => {
            tab.history_at = index;
            // What the user did there ends with a step within the document too, unless the page took it, which the user made it do.
            tab.is_used &= is_same_document && is_by_page;
            let kept = tab.history.get_mut(index).and_then(|entry| entry.kept.take());
            kept.filter(|_| !is_same_document).map(|document| *document)
        }
    };
    keep_six(&mut tab.history);
    let entry = tab.history.get(tab.history_at).filter(|_| came_back.is_some());
    let own_factor = entry.and_then(|entry| entry.own_factor);
    PageCacheUse { came_back, keeps_left, own_factor }
}
