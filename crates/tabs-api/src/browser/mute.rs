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
        let is_change = tab.muted.muted != muted;
        tab.muted = MutedInfo { muted, reason: Some(reason) };
        let info = tab.muted.clone();
        self.dirty.note_tab(id);
        if is_change {
            self.emit_updated(id, Change { muted: Some(info), ..Change::default() });
        }
        Ok(())
    }

    /// Refuses to mute a tab, or to let it sound, as long as it is being captured.
    pub(crate) fn check_not_captured(&self, id: TabId) -> Result<(), Error> {
        if self.tab(id)?.captured { Err(Error::Captured(id.0)) } else { Ok(()) }
    }

    /// A capture of a tab's sound begins or ends. As long as it lasts the tab is muted; one that was muted already stays so, by whom it was.
    pub(super) fn set_captured(&mut self, id: TabId, captured: bool) -> Result<(), Error> {
        let tab = self.tab_mut(id)?;
        if tab.captured == captured {
            return Ok(());
        }
        tab.captured = captured;
        let is_muted = tab.muted.muted;
        let is_by_capture = is_muted && tab.muted.reason == Some(MuteReason::Capture);
        if captured && !is_muted || !captured && is_by_capture {
            self.set_muted(id, captured, MuteReason::Capture)?;
        }
        Ok(())
    }

    /// Mutes every tab of the host that a tab shows, as the user does; those that are being captured stay as they are.
    pub(super) fn mute_site(&mut self, id: TabId, muted: bool) -> Result<(), Error> {
        let site = host(&self.tab(id)?.url);
        let tabs: Vec<_> = self.strips.windows().flat_map(|window| &window.tabs).copied().collect();
        for tab in tabs {
            if self.strips.tab(tab).is_some_and(|tab| !tab.captured && host(&tab.url) == site) {
                self.set_muted(tab, muted, MuteReason::User)?;
            }
        }
        Ok(())
    }
}
