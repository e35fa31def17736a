//! Muting tabs, in somebody's name.

use crate::browser::Browser;
use crate::browser::event::Change;
use crate::browser::tab::{MuteReason, MutedInfo};
use crate::error::Error;
use crate::id::TabId;
use crate::url::host;

impl Browser {
    /// Mutes a tab, or lets it sound, in somebody's name.
    pub(crate) fn set_muted(
        &mut self,
        id: TabId,
        muted: bool,
        reason: MuteReason,
    ) -> Result<(), Error> {
        let tab = self.tab_mut(id)?;
        if tab.captured && !matches!(reason, MuteReason::Capture) {
            return Err(Error::Unsupported(format!(
                "Cannot update mute state for tab {}, tab has audio or video currently being captured",
                id.0
            )));
        }
        let is_change = tab.muted.muted != muted;
        tab.muted = MutedInfo { muted, reason: Some(reason) };
        let info = tab.muted.clone();
        self.dirty.note_tab(id);
        if is_change {
            self.emit_updated(id, Change { muted: Some(info), ..Change::default() });
        }
        Ok(())
    }

    /// Mutes every tab of the host that a tab shows, as the user does.
    pub(super) fn mute_site(&mut self, id: TabId, muted: bool) -> Result<(), Error> {
        let site = host(&self.tab(id)?.url);
        let tabs: Vec<_> = self.strips.windows().flat_map(|window| &window.tabs).copied().collect();
        for tab in tabs {
            if self.strips.tab(tab).is_some_and(|tab| host(&tab.url) == site) {
                self.set_muted(tab, muted, MuteReason::User)?;
            }
        }
        Ok(())
    }
}
