//! A source of pages beside the fixtures, and what it is asked for and gives.

use triptych_core::time::Timestamp;
use url::Url;

use crate::engine::NavigationKind;
use crate::engine::fixtures::Outcome;
use crate::id::TabId;

/// A source of pages that no fixtures describe. Nothing in it waits.
pub trait PageSource: Send {
    /// True if it has the page of an address.
    fn allows(&self, url: &Url) -> bool;

    /// Begins to get a page, and forgets what it was getting for that tab.
    fn fetch(&mut self, load: PageLoad, url: Url);

    /// The tab no longer wants a page.
    fn cancel(&mut self, tab: TabId);

    /// The next page that has arrived at `now`.
    fn poll_arrival(&mut self, now: Timestamp) -> Option<FetchedPage>;

    /// The time at which the next has arrived, if one has.
    fn next_due(&self) -> Option<Timestamp>;
}

/// A load of a tab.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(missing_docs, reason = "the fields are those of the command")]
pub struct PageLoad {
    pub tab: TabId,
    pub load: u64,
    pub kind: NavigationKind,
    /// True for the first page of a tab, of a copy too.
    pub is_first: bool,
}

/// The outcome of fetching a page.
#[derive(Debug, Clone, PartialEq)]
pub struct FetchedPage {
    /// The time of its arrival.
    pub at: Timestamp,
    /// The load that it is for.
    pub load: PageLoad,
    /// The outcome.
    pub outcome: Outcome,
}
