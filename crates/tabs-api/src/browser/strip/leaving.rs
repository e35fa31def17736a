//! Pages that do something as they are left: their tabs close once that is done, and are there until then for whoever calls.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::browser::tab::Tab;
use crate::browser::timers::Timer;
use crate::browser::{Answer, Browser};
use crate::engine::listener::Moment;
use crate::engine::script::ListenerChange;
use crate::error::Error;
use crate::id::{RequestId, TabId, WindowId};

/// The time that pages take for what they do as they are left.
const LEAVING: Duration = Duration::from_millis(10);

/// Tabs and windows that close and are not gone yet, and the calls that wait for them.
#[derive(Debug, Default)]
pub(in crate::browser) struct Leavings {
    tabs: BTreeSet<TabId>,
    /// Windows, each with the tabs whose pages it waits for.
    windows: BTreeMap<WindowId, Vec<TabId>>,
    /// Calls that are answered once all these tabs are gone.
    calls: BTreeMap<RequestId, BTreeSet<TabId>>,
}

impl Browser {
    /// Notes what the page of a tab listens for.
    pub(in crate::browser) fn note_listeners(&mut self, id: TabId, changes: Vec<ListenerChange>) {
        if let Some(tab) = self.strips.tab_mut(id) {
            changes.into_iter().for_each(|change| change.apply(&mut tab.document.listeners));
        }
    }

    /// True if the page of a tab does something as it is left: of being hidden only one is told that is seen.
    pub(in crate::browser) fn does_something_at_end(&self, id: TabId) -> bool {
        let is_seen = self.is_on_screen(id);
        let does = |tab: &Tab| {
            let mut moments = tab.document.listeners.iter().map(|listener| listener.moment);
            moments.any(|moment| moment != Moment::Hide || is_seen)
        };
        self.strips.tab(id).is_some_and(does)
    }

    /// Closes a tab, at once or when its page has done what it does as it is left.
    pub(crate) fn leave_tab(&mut self, id: TabId) -> Result<(), Error> {
        if !self.does_something_at_end(id) {
            return self.close_tab(id);
        }
        if self.leavings.tabs.insert(id) {
            self.set_timer(LEAVING, Timer::Left(id));
        }
        Ok(())
    }

    /// Closes those of some tabs later whose pages do something as they are left, and gives the others.
    pub(super) fn leave_those_with_listeners(
        &mut self,
        tabs: &[TabId],
    ) -> Result<Vec<TabId>, Error> {
        let (later, others): (Vec<_>, Vec<_>) =
            tabs.iter().partition(|tab| self.does_something_at_end(**tab));
        later.into_iter().try_for_each(|tab| self.leave_tab(tab))?;
        Ok(others)
    }

    /// Closes a window, at once or when all its pages have done what they do as they are left.
    pub(crate) fn leave_window(&mut self, window: WindowId) -> Result<(), Error> {
        let tabs = self.window(window)?.tabs.iter().copied();
        let waited_for: Vec<_> = tabs.filter(|tab| self.does_something_at_end(*tab)).collect();
        if waited_for.is_empty() {
            return self.close_window(window);
        }
        if self.leavings.windows.insert(window, waited_for).is_none() {
            self.set_timer(LEAVING, Timer::WindowLeft(window));
        }
        Ok(())
    }

    /// Closes a tab whose page has done all that it does as it is left.
    pub(in crate::browser) fn close_left_tab(&mut self, id: TabId) {
        if self.leavings.tabs.remove(&id) && self.tab(id).is_ok() {
            // The tab was just found.
            drop(self.close_tab(id));
            self.drop_emptied_windows();
        }
    }

    /// Closes a window whose pages have done all that they do as they are left. One of them whose tab went to another window meanwhile closes there.
    pub(in crate::browser) fn close_left_window(&mut self, window: WindowId) {
        for id in self.leavings.windows.remove(&window).unwrap_or_default() {
            if self.tab(id).is_ok_and(|tab| tab.window != window) {
                // It was just found, as is the window below.
                drop(self.close_tab(id));
            }
        }
        if self.window(window).is_ok() {
            drop(self.close_window(window));
        }
        self.drop_emptied_windows();
    }

    /// The answer to a call that closed tabs, which comes once all of them are gone.
    pub(crate) fn answer_once_gone(&mut self, tabs: impl Iterator<Item = TabId>) -> Answer {
        let here: BTreeSet<_> = tabs.filter(|tab| self.tab(*tab).is_ok()).collect();
        if here.is_empty() {
            return Answer::Undefined;
        }
        let request = self.next_request();
        self.leavings.calls.insert(request, here);
        Answer::Later(request)
    }

    /// Answers the calls that waited for a tab, which is gone, and for no others.
    pub(in crate::browser) fn end_leaving(&mut self, id: TabId) {
        let is_over = |tabs: &mut BTreeSet<TabId>| tabs.remove(&id) && tabs.is_empty();
        let over: Vec<_> = self.leavings.calls.extract_if(.., |_, tabs| is_over(tabs)).collect();
        for (request, _) in over {
            self.answer(request, Ok(Answer::Undefined));
        }
    }
}
