//! Alerts: what a page tells the user stands in front of it until the user takes it away, or the tab is hidden, moves or goes elsewhere.
//! Meanwhile the page does nothing; the browser around it does everything as ever.

use crate::browser::Browser;
use crate::engine::EngineCommand;
use crate::error::Error;
use crate::id::TabId;

impl Browser {
    /// A page tells the user something. One that is not in front goes on at once, and what it asks is refused.
    pub(super) fn begin_alert(&mut self, id: TabId) {
        let front = self.focused_window().and_then(|window| window.active);
        if let Some(tab) = self.strips.tab_mut(id) {
            tab.has_alert = true;
        }
        if front != Some(id) {
            self.end_alert(id);
        }
    }

    /// Takes away what a page tells or asks, if it does: its script goes on, as if the user had refused.
    pub(in crate::browser) fn end_alert(&mut self, id: TabId) {
        self.answer_alert(id, false);
    }

    fn answer_alert(&mut self, id: TabId, accepted: bool) {
        let Some(tab) = self.strips.tab_mut(id).filter(|tab| tab.has_alert) else { return };
        tab.has_alert = false;
        let load = tab.load;
        self.command(EngineCommand::EndAlert { tab: id, load, accepted });
        self.do_waiting_tasks(id);
    }

    /// Takes away what the page of a tab tells or asks, as the user does; one that is hidden shows nothing.
    pub(in crate::browser) fn dismiss_alert(
        &mut self,
        id: TabId,
        accepted: bool,
    ) -> Result<(), Error> {
        if self.tab(id)?.has_alert && self.is_active(id) {
            self.answer_alert(id, accepted);
        }
        Ok(())
    }
}
