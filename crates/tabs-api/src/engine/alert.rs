//! Alerts of simulated pages: as long as one is there, its page does nothing; what was sent to its scripts waits.

use std::collections::BTreeMap;

use triptych_core::time::Timestamp;

use super::EngineCommand;
use super::script::Script;
use crate::id::TabId;

/// An alert, and what goes on once it is taken away.
#[derive(Debug)]
pub(super) struct Alert {
    /// The address of the page.
    pub(super) url: String,
    /// The script behind it: where the user accepts, and where not.
    pub(super) accepted: Option<Box<Script>>,
    pub(super) refused: Option<Box<Script>>,
    opens: Timestamp,
    /// Messages and ports for the content scripts of the page.
    pub(super) held: Vec<EngineCommand>,
}

/// The alerts of tabs.
#[derive(Debug, Default)]
pub(super) struct Alerts(BTreeMap<TabId, Alert>);

impl Alerts {
    /// Adds the alert that a page opens at this time.
    pub(super) fn add(
        &mut self,
        tab: TabId,
        opens: Timestamp,
        url: &str,
        (accepted, refused): (Option<Box<Script>>, Option<Box<Script>>),
    ) {
        let url = url.to_owned();
        self.0.insert(tab, Alert { url, accepted, refused, opens, held: Vec::new() });
    }

    /// Takes away the alert of a tab.
    pub(super) fn take(&mut self, tab: TabId) -> Option<Alert> {
        self.0.remove(&tab)
    }

    /// Holds back what is for the content scripts of a tab whose page has an alert; gives everything else on.
    pub(super) fn pass(
        &mut self,
        now: Timestamp,
        command: EngineCommand,
        tab: Option<TabId>,
    ) -> Option<EngineCommand> {
        let alert = tab.and_then(|tab| self.0.get_mut(&tab));
        match alert.filter(|alert| alert.opens <= now) {
            Some(alert) => {
                alert.held.push(command);
                None
            }
            None => Some(command),
        }
    }
}
