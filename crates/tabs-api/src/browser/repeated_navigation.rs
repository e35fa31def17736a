//! Navigations that calls of extensions begin: the same one again is refused while the first is young.

use std::sync::Arc;
use std::time::Duration;

use triptych_core::time::Timestamp;

use crate::browser::Browser;
use crate::browser::history::comes_overtaken;
use crate::browser::tab::Tab;
use crate::engine::NavigationKind;
use crate::error::Error;
use crate::id::TabId;

/// The time within which a navigation is the same as the one that is on its way: one after 2.4 s was refused, one after 3.3 s was done.
const REPEATED_WITHIN: Duration = Duration::from_secs(3);

/// True if a tab is on its way to this address already, sent there by a call of the same extension just now. A tab that has no page takes every
/// navigation, and what asks nobody for anything is there before it could be repeated.
fn repeats(tab: &Tab, url: &str, initiator: &Arc<str>, now: Timestamp) -> bool {
    let is_young = |at: Timestamp| now.since(at) < REPEATED_WITHIN;
    let pending = tab.pending.as_ref().filter(|_| !tab.is_fresh);
    pending.is_some_and(|pending| {
        pending.called_at.is_some_and(is_young)
            && *pending.url == *url
            && pending.initiator.as_ref() == Some(initiator)
            && !comes_overtaken(tab, pending)
    })
}

impl Browser {
    /// Sends a tab to a URL for a call of an extension.
    ///
    /// # Errors
    /// `NavigationRejected` where another call of the extension has just sent it there. That navigation goes on, and no longer shows.
    pub(crate) fn navigate_by_call(
        &mut self,
        id: TabId,
        url: &str,
        extension: &str,
    ) -> Result<(), Error> {
        let now = self.now;
        let initiator = Arc::from(format!("chrome-extension://{extension}/"));
        let tab = self.tab_mut(id)?;
        let is_repeated = repeats(tab, url, &initiator, now);
        if is_repeated {
            if let Some(pending) = &mut tab.pending {
                pending.is_shown = false;
            }
            self.dirty.note_tab(id);
            return Err(Error::NavigationRejected);
        }
        self.navigate_by_code(id, url, NavigationKind::Push, Some(initiator));
        if let Some(pending) = &mut self.tab_mut(id)?.pending {
            pending.called_at = Some(now);
        }
        Ok(())
    }
}
