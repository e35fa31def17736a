//! Collapsed groups and frozen tabs: what is hidden freezes once its page has been quiet for a while, and what is shown runs again.

use std::time::Duration;

use triptych_core::time::Timestamp;

use crate::browser::Browser;
use crate::browser::event::Change;
use crate::browser::tab::{Status, Tab};
use crate::browser::timers::Timer;
use crate::id::TabId;

/// The time for which a page must have been there, unseen, before its tab freezes.
const QUIET_FOR: Duration = Duration::from_secs(3);
/// The same where it was seen before: a page that somebody looked at stays ready for a while.
const SEEN_FOR: Duration = Duration::from_secs(300);
/// The time after which the browser gets round to it: after the answer of the call that is the cause.
const SOON: Duration = Duration::from_millis(5);
/// The time after which a frozen page runs again: it does what waited for it before its tab shows that it runs.
const RUNS: Duration = Duration::from_millis(2);

/// The time from which a tab may freeze: its page was there, and nobody saw it, for long enough.
fn quiet_at(tab: &Tab) -> Timestamp {
    let ready = tab.hidden_at.plus(if tab.was_active { SEEN_FOR } else { QUIET_FOR });
    tab.loaded_at.plus(QUIET_FOR).max(ready)
}

impl Browser {
    /// Freezes a tab that its group hid by collapsing as soon as its page has been quiet for long enough. One that leaves the group stays frozen until
    /// it is shown.
    pub(in crate::browser) fn freeze_later(&mut self, id: TabId) {
        let Some(tab) = self.strips.tab(id).filter(|tab| self.may_freeze(tab)) else {
            return;
        };
        let wait = quiet_at(tab).since(self.now).max(SOON);
        self.set_timer(wait, Timer::Freeze(id));
    }

    /// True if a tab is hidden, and was so as its group collapsed.
    fn may_freeze(&self, tab: &Tab) -> bool {
        tab.is_to_freeze && self.strips.is_hidden(tab)
    }

    /// Lets a frozen tab run.
    pub(in crate::browser) fn unfreeze_soon(&mut self, id: TabId) {
        if self.strips.tab(id).is_some_and(|tab| tab.frozen) {
            self.set_timer(RUNS, Timer::Run(id));
            self.set_timer(SOON, Timer::Unfreeze(id));
        }
    }

    /// Does what a timer was set for.
    pub(super) fn fire_timer(&mut self, timer: &Timer) {
        match timer {
            Timer::Freeze(id) => {
                let may = |tab: &Tab| {
                    tab.status == Status::Complete
                        && self.may_freeze(tab)
                        && !self.is_active(tab.id)
                        && quiet_at(tab) <= self.now
                };
                if self.strips.tab(*id).is_some_and(may) && !self.has_related_page(*id) {
                    self.set_frozen(*id, true);
                }
            }
            Timer::Awaited(id) => self.do_awaiting_tasks(*id),
            Timer::Run(id) => self.do_waiting_tasks(*id),
            Timer::Unfreeze(id) => self.set_frozen(*id, false),
            Timer::Left(id) => self.close_left_tab(*id),
            Timer::WindowLeft(id) => self.close_left_window(*id),
            Timer::BackgroundLoad => self.load_next_in_background(),
            Timer::Sound { tab, sound } => self.tell_sound(*tab, *sound),
            Timer::IconFetched { tab, load } => {
                let same = self.strips.tab(*tab).filter(|state| state.load == *load);
                if let Some(icon) = same.and_then(|state| state.icon.clone()) {
                    self.emit_updated(*tab, Change { icon: Some(icon), ..Change::default() });
                }
            }
            Timer::PageRestored { tab, load, frozen } => {
                if self.strips.tab(*tab).is_some_and(|state| state.load == *load) {
                    self.set_frozen(*tab, *frozen);
                }
            }
        }
    }

    /// Freezes a tab or lets it run, and tells so.
    pub(in crate::browser) fn set_frozen(&mut self, id: TabId, frozen: bool) {
        let Some(tab) =
            self.strips.tab_mut(id).filter(|tab| tab.frozen != frozen && !tab.discarded)
        else {
            return;
        };
        tab.frozen = frozen;
        if !frozen {
            self.do_waiting_tasks(id);
        }
        self.emit_updated(id, Change { frozen: Some(frozen), ..Change::default() });
    }
}
