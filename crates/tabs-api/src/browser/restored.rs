//! A browser made again of what was kept of it.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use triptych_core::time::Timestamp;

use crate::browser::closed::{ClosedEntry, ClosedTabs};
use crate::browser::counters::Counters;
use crate::browser::focus::Focus;
use crate::browser::group::Group;
use crate::browser::muted_sites::MutedSites;
use crate::browser::strip::Strips;
use crate::browser::tab::{PendingNavigation, Tab};
use crate::browser::window::Window;
use crate::browser::zoom_levels::ZoomLevels;
use crate::browser::{Browser, Compat, KeptStrip, PieceCounts};
use crate::id::{GroupId, TabId, WindowId};

/// The parts of a browser that survive a restart.
#[derive(Debug, Default)]
pub(crate) struct RestoredState {
    pub(crate) windows: BTreeMap<WindowId, Window>,
    pub(crate) tabs: HashMap<TabId, Tab>,
    pub(crate) groups: BTreeMap<GroupId, Group>,
    pub(crate) zoom_levels: BTreeMap<String, f64>,
    pub(crate) muted_sites: BTreeSet<String>,
    /// Sessions that were closed, by their numbers.
    pub(crate) closed: BTreeMap<u64, ClosedEntry>,
    /// Windows by their last focus.
    pub(crate) focus: Vec<WindowId>,
    /// The id and the number that were given last.
    pub(crate) counters: (i64, u64),
    /// Navigations that were on their way: they begin again.
    pub(crate) pending: Vec<(TabId, PendingNavigation)>,
    /// The number of rows that each strip had, of which all are to be taken anew.
    pub(crate) kept_strips: BTreeMap<WindowId, KeptStrip>,
    /// The number of pieces that each long row had.
    pub(crate) piece_counts: PieceCounts,
}

impl Browser {
    /// The browser of a state, as far as its parts fit together; `None` if it has no windows.
    pub(crate) fn of_restored(
        now: Timestamp,
        compat: Compat,
        state: RestoredState,
    ) -> Option<Self> {
        let mut browser = Self::new(now, compat);
        browser.strips = Strips::assemble(state.windows, state.tabs, state.groups);
        browser.strips.windows().next()?;
        let is_there = |id: &WindowId| browser.strips.window(*id).is_some();
        let mut order: Vec<_> = state.focus.into_iter().filter(is_there).collect();
        for window in browser.strips.windows() {
            if !order.contains(&window.id) {
                order.push(window.id);
            }
        }
        browser.focus = Focus::of(order);
        browser.zoom_levels = ZoomLevels::of(state.zoom_levels);
        browser.muted_sites = MutedSites::of(state.muted_sites);
        browser.closed_tabs = ClosedTabs::of(state.closed);
        browser.counters = Counters::resume(state.counters.0, state.counters.1);
        browser.dirty.kept_strips = state.kept_strips;
        browser.dirty.piece_counts = state.piece_counts;
        for (tab, navigation) in state.pending {
            browser.begin_navigation(tab, navigation);
        }
        browser.load_waiting();
        Some(browser)
    }

    /// Lets pages take their turns anew that waited for them when the browser ended.
    fn load_waiting(&mut self) {
        let order = self.strips.windows().flat_map(|window| &window.tabs).copied();
        let waits = |id: &TabId| self.strips.tab(*id).is_some_and(|tab| tab.waits_for_turn());
        let waiting: Vec<_> = order.filter(waits).collect();
        self.load_in_background(waiting);
    }
}
