//! Tabs that were closed, for `sessions.restore`.

use triptych_core::time::Timestamp;

use crate::browser::Browser;
use crate::browser::tab::Tab;
use crate::engine::NavigationKind;
use crate::error::Error;
use crate::id::{TabId, WindowId};

/// The number of closed tabs that are remembered.
const CLOSED_MAX: usize = 25;

/// A tab that was closed.
#[derive(Debug, Clone)]
struct ClosedTab {
    tab: Tab,
    index: usize,
    at: Timestamp,
}

/// The tabs that were closed last, the latest at the end.
#[derive(Debug, Default)]
pub(super) struct ClosedTabs(Vec<ClosedTab>);

impl ClosedTabs {
    pub(super) fn push(&mut self, tab: Tab, index: usize, at: Timestamp) {
        if self.0.len() == CLOSED_MAX {
            self.0.remove(0);
        }
        self.0.push(ClosedTab { tab, index, at });
    }
}

impl Browser {
    /// Brings the tab back that was closed last, and returns when that was. It opens in `fallback` where its window is gone.
    pub(crate) fn restore_closed(
        &mut self,
        fallback: WindowId,
    ) -> Result<(TabId, Timestamp), Error> {
        let closed = self.closed_tabs.0.pop().ok_or(Error::NothingToRestore)?;
        let window = self.strips.window(closed.tab.window).map_or(fallback, |window| window.id);
        let id = self.add_tab(window);
        let tab = self.tab_mut(id)?;
        tab.pinned = closed.tab.pinned;
        tab.url.clone_from(&closed.tab.url);
        tab.title.clone_from(&closed.tab.title);
        tab.history.clone_from(&closed.tab.history);
        tab.history_at = closed.tab.history_at;
        self.navigate(id, &closed.tab.url, NavigationKind::Restore);
        let state = self.window(window)?;
        let index = self.strips.clamped(state, closed.tab.pinned, closed.index);
        // Its group may be gone or another: it comes back beside the one that stands there now.
        let index = self.strips.behind_group(state, index);
        self.insert_into_strip(id, window, index)?;
        self.create_and_activate(id)?;
        Ok((id, closed.at))
    }
}
