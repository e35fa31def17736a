//! Pauses of pages: the reasons for which one does nothing.

use crate::browser::Browser;
use crate::id::TabId;
use crate::url::SOURCE;

/// The reason for which a page does nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Pause {
    /// Its tab is frozen.
    Frozen,
    /// It tells or asks the user something.
    Alert,
    /// It has not come yet.
    Coming,
    /// It shows the source of another, and runs nothing.
    Source,
}

impl Browser {
    /// The first of these that pauses the page of a tab.
    pub(super) fn pause(&self, tab: TabId, pauses: &[Pause]) -> Option<Pause> {
        let tab = self.strips.tab(tab)?;
        let is_so = |pause: &Pause| match pause {
            Pause::Alert => tab.has_alert,
            Pause::Frozen => tab.frozen,
            Pause::Coming => tab.is_fresh,
            Pause::Source => tab.url.starts_with(SOURCE),
        };
        pauses.iter().copied().find(is_so)
    }
}
