//! The cache of pages by their addresses.

use std::collections::BTreeMap;

use triptych_core::time::Timestamp;

use crate::id::TabId;

/// Pages that may be shown again as they came, without asking for them.
#[derive(Debug, Default)]
pub(super) struct HttpCache(BTreeMap<String, CachedPage>);

#[derive(Debug)]
struct CachedPage {
    tab: TabId,
    /// The time at which all of it is there.
    from: Timestamp,
}

impl HttpCache {
    pub(super) fn has(&self, url: &str, now: Timestamp) -> bool {
        self.0.get(url).is_some_and(|page| page.from <= now)
    }

    pub(super) fn fill(&mut self, url: &str, tab: TabId, from: Timestamp) {
        let is_later = |page: &&CachedPage| page.from <= from;
        if self.0.get(url).filter(is_later).is_none() {
            self.0.insert(url.to_owned(), CachedPage { tab, from });
        }
    }

    /// Forgets what a tab was still getting.
    pub(super) fn interrupt(&mut self, tab: TabId, now: Timestamp) {
        self.0.retain(|_, page| page.tab != tab || page.from <= now);
    }
}
