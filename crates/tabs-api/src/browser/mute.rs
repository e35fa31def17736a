//! Muting tabs, in somebody's name.

use crate::browser::Browser;
use crate::browser::event::Change;
use crate::browser::muted_sites::site_of;
use crate::browser::tab::{MuteReason, MutedInfo, Tab};
use crate::error::Error;
use crate::extension::permission::is_browser_page;
use crate::id::TabId;

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

    /// True if the user muted the site of a tab's page; a page of the browser's own is of none, and is muted alone.
    pub(super) fn is_site_muted(&self, tab: &Tab) -> bool {
        if is_browser_page(&tab.url) {
            return tab.muted.muted && tab.muted.reason == Some(MuteReason::BrowserPage);
        }
        site_of(&tab.url)
            .is_some_and(|site| self.muted_sites.contains(&site, self.is_incognito(tab)))
    }

    /// Mutes the sites of tabs' pages, or lets them sound, as the user does.
    pub(super) fn mute_sites(&mut self, tabs: &[TabId], muted: bool) -> Result<(), Error> {
        for id in tabs {
            let tab = self.tab(*id)?;
            if is_browser_page(&tab.url) {
                self.set_muted(*id, muted, MuteReason::BrowserPage)?;
                continue;
            }
            let Some(site) = site_of(&tab.url) else { continue };
            let is_incognito = self.is_incognito(tab);
            // A site that is muted already sounds for a moment: the browser takes its setting back before it sets it.
            if muted && self.muted_sites.contains(&site, is_incognito) {
                self.set_site_muted(&site, false, is_incognito);
            }
            self.set_site_muted(&site, muted, is_incognito);
        }
        Ok(())
    }

    /// Mutes a site, or lets it sound, and all tabs with it, the oldest first.
    fn set_site_muted(&mut self, site: &str, muted: bool, is_incognito: bool) {
        self.muted_sites.set(site.to_owned(), muted, is_incognito);
        if !is_incognito {
            self.dirty.note_site(site);
        }
        let mut tabs: Vec<_> = self.strips.tabs().map(|tab| tab.id).collect();
        tabs.sort();
        tabs.into_iter().for_each(|tab| self.follow_site(tab));
    }

    /// Mutes a tab whose page is of a muted site, and lets any other sound. What an extension said last stays, as does what the user said of
    /// pages of the browser's own while one is shown, and whatever is as long as the tab is being captured.
    pub(super) fn follow_site(&mut self, id: TabId) {
        let Some(tab) = self.strips.tab(id) else { return };
        let muted = site_of(&tab.url)
            .is_some_and(|site| self.muted_sites.contains(&site, self.is_incognito(tab)));
        let is_said_otherwise = match &tab.muted.reason {
            Some(MuteReason::Extension(_)) => true,
            Some(MuteReason::BrowserPage) => is_browser_page(&tab.url),
            _ => tab.captured,
        };
        if muted != tab.muted.muted && !is_said_otherwise {
            // The tab was just found.
            drop(self.set_muted(id, muted, MuteReason::User));
        }
    }
}
