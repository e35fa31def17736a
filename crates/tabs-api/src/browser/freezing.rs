//! Collapsed groups and frozen tabs: what is hidden freezes once its page has been quiet for a while, and what is shown runs again.

use std::time::Duration;

use crate::browser::event::{Change, Event};
use crate::browser::group::{GROUP_ID_NONE, GroupId};
use crate::browser::tab::{Status, Tab, TabId};
use crate::browser::{Browser, Timer};
use crate::error::Error;

/// How long a page must have been there before its tab freezes.
const QUIET_FOR: Duration = Duration::from_secs(3);
/// How soon the browser gets round to it: after the answer of the call that is the cause.
const SOON: Duration = Duration::from_millis(5);

impl Browser {
    /// Whether a tab stands in a group whose tabs are hidden.
    pub(crate) fn is_hidden(&self, tab: &Tab) -> bool {
        let group = tab.group.and_then(|group| self.groups.get(&group));
        group.is_some_and(|group| group.collapsed)
    }

    /// Hides the tabs of a group, or shows them. An active one among them gives way to one that is still shown.
    pub(crate) fn set_collapsed(&mut self, group: GroupId, collapsed: bool) -> Result<(), Error> {
        let members = self.tabs_of(group);
        if !collapsed {
            // The order in which they wake is the browser's own.
            for id in members.into_iter().rev() {
                self.unfreeze_soon(id);
            }
            return Ok(());
        }
        members.iter().for_each(|id| self.freeze_later(*id));
        let window = self.window(self.group(group.0)?.window)?;
        let Some(active) = window.active.filter(|active| members.contains(active)) else {
            return Ok(());
        };
        let is_shown = |id: &&TabId| self.tabs.get(id).is_some_and(|tab| !self.is_hidden(tab));
        let at = window.index_of(active).unwrap_or_default();
        let right = window.tabs.iter().skip(at).find(is_shown);
        let next = right.or_else(|| window.tabs.iter().take(at).rev().find(is_shown));
        match next.copied() {
            Some(next) => self.activate(next),
            None => Ok(()),
        }
    }

    /// Shows the group of a tab that becomes active.
    pub(crate) fn expand_around(&mut self, id: TabId) -> Result<(), Error> {
        let Some(id) = self.tab(id)?.group else {
            return Ok(());
        };
        let Some(group) = self.groups.get_mut(&id).filter(|group| group.collapsed) else {
            return Ok(());
        };
        group.collapsed = false;
        let group = group.clone();
        self.emit(Event::GroupUpdated(group));
        self.set_collapsed(id, false)
    }

    /// A tab that came into a collapsed group is to freeze, and one that left it runs again.
    pub(crate) fn freeze_by_group(&mut self, id: TabId, group: i64) {
        if group == GROUP_ID_NONE {
            self.unfreeze_soon(id);
        } else {
            self.freeze_later(id);
        }
    }

    /// Freezes a hidden tab as soon as its page has been quiet for long enough.
    pub(crate) fn freeze_later(&mut self, id: TabId) {
        let Some(tab) = self.tabs.get(&id).filter(|tab| self.is_hidden(tab)) else {
            return;
        };
        let wait = tab.loaded_at.plus(QUIET_FOR).since(self.now).max(SOON);
        self.set_timer(wait, Timer::Freeze(id));
    }

    /// Lets a frozen tab run.
    pub(crate) fn unfreeze_soon(&mut self, id: TabId) {
        if self.tabs.get(&id).is_some_and(|tab| tab.frozen) {
            self.set_timer(SOON, Timer::Unfreeze(id));
        }
    }

    /// Does what a timer was set for.
    pub(crate) fn ring(&mut self, timer: &Timer) {
        match timer {
            Timer::Freeze(id) => {
                let may = |tab: &Tab| {
                    let quiet_at = tab.loaded_at.plus(QUIET_FOR);
                    tab.status == Status::Complete && self.is_hidden(tab) && quiet_at <= self.now
                };
                if self.tabs.get(id).is_some_and(may) {
                    self.set_frozen(*id, true);
                }
            }
            Timer::Unfreeze(id) => self.set_frozen(*id, false),
            Timer::Thaw { tab, load, frozen } => {
                if self.tabs.get(tab).is_some_and(|state| state.load == *load) {
                    self.set_frozen(*tab, *frozen);
                }
            }
        }
    }

    /// Freezes a tab or lets it run, and tells so.
    pub(crate) fn set_frozen(&mut self, id: TabId, frozen: bool) {
        let Some(tab) = self.tabs.get_mut(&id).filter(|tab| tab.frozen != frozen && !tab.discarded)
        else {
            return;
        };
        tab.frozen = frozen;
        self.updated(id, Change { frozen: Some(frozen), ..Change::default() });
    }
}
