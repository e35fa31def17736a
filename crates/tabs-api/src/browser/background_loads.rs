//! Pages of a window that was brought back: those that nobody sees load by themselves, one after the other.

use std::collections::VecDeque;
use std::time::Duration;

use crate::browser::Browser;
use crate::browser::timers::Timer;
use crate::engine::NavigationKind;
use crate::id::TabId;

/// The time after which the first of them loads: the page in front comes first, and gets quiet.
const FIRST_AFTER: Duration = Duration::from_millis(4_500);
/// The time from one to the next.
const NEXT_AFTER: Duration = Duration::from_millis(3_200);

/// Tabs whose pages are to load, in their order.
#[derive(Debug, Default)]
pub(super) struct BackgroundLoads(VecDeque<TabId>);

impl Browser {
    /// Lets the pages of tabs load later, behind those that wait for that already.
    pub(super) fn load_in_background(&mut self, tabs: impl IntoIterator<Item = TabId>) {
        let waits = !self.background_loads.0.is_empty();
        self.background_loads.0.extend(tabs);
        if !waits && !self.background_loads.0.is_empty() {
            self.set_timer(FIRST_AFTER, Timer::BackgroundLoad);
        }
    }

    /// Loads the next page that still waits: one that was shown meanwhile is there already.
    pub(super) fn load_next_in_background(&mut self) {
        while let Some(id) = self.background_loads.0.pop_front() {
            let waiting = self.strips.tab(id).filter(|tab| tab.waits_for_turn());
            let Some(url) = waiting.map(|tab| tab.url.clone()) else {
                continue;
            };
            self.navigate(id, &url, NavigationKind::Restore);
            break;
        }
        if !self.background_loads.0.is_empty() {
            self.set_timer(NEXT_AFTER, Timer::BackgroundLoad);
        }
    }
}
