//! Openers: the tab that opened another one, and when that is forgotten or handed on.

use crate::browser::Browser;
use crate::browser::tab::Tab;
use crate::error::Error;
use crate::id::{TabId, WindowId};

impl Browser {
    /// Names the opener of a tab, which stands in the same window.
    pub(crate) fn set_opener(&mut self, id: TabId, opener: TabId) -> Result<(), Error> {
        if opener == id {
            return Err(Error::OwnOpener);
        }
        let window = self.tab(opener)?.window;
        if window != self.tab(id)?.window {
            return Err(Error::OpenerInOtherWindow);
        }
        self.check_not_dragging()?;
        self.tab_mut(id)?.opener = Some(opener);
        self.dirty.note_tab(id);
        Ok(())
    }

    /// Forgets the openers of all tabs of a window.
    pub(in crate::browser) fn forget_openers(&mut self, window: WindowId) {
        let here = self.strips.tabs_mut().filter(|tab| tab.window == window);
        for tab in here.filter(|tab| tab.opener.is_some()) {
            tab.opener = None;
            self.dirty.note_tab(tab.id);
        }
    }

    /// Forgets the openers of a window as its user shows another tab, unless that one and the active one belong together: one opened the other, or
    /// both have the same opener, or none.
    pub(in crate::browser) fn forget_openers_on_show(&mut self, id: TabId) {
        let opener = |id: TabId| self.strips.tab(id).and_then(|tab| tab.opener);
        let Some(window) = self.strips.tab(id).map(|tab| tab.window) else { return };
        let former = self.strips.window(window).and_then(|window| window.active);
        let Some(former) = former.filter(|former| *former != id) else { return };
        let (of_shown, of_former) = (opener(id), opener(former));
        if of_shown != of_former && of_shown != Some(former) && of_former != Some(id) {
            self.forget_openers(window);
        }
    }

    /// Gives tabs that this one opened in its window its own opener instead, so that closing them leads back to there.
    pub(in crate::browser) fn pass_on_openers(&mut self, id: TabId) {
        let Some((window, grandparent)) = self.strips.tab(id).map(|tab| (tab.window, tab.opener))
        else {
            return;
        };
        let is_child = |tab: &&mut Tab| tab.opener == Some(id) && tab.window == window;
        for tab in self.strips.tabs_mut().filter(is_child) {
            tab.opener = grandparent.filter(|opener| *opener != tab.id);
            self.dirty.note_tab(tab.id);
        }
    }
}
