//! The field of a tab's address: the user's keys go there in a tab that began with a blank page, until they have gone to a page from it.

use crate::browser::Browser;
use crate::engine::NavigationKind;
use crate::id::TabId;
use crate::url::NEW_TAB;

impl Browser {
    /// Does what Return does, or Escape: takes away what the page of a tab tells or asks; else, where the field of the address has the keys, goes again to
    /// the address that stands there, or leaves the field.
    pub(crate) fn answer_key(&mut self, id: TabId, is_return: bool) {
        let Some(tab) = self.strips.tab_mut(id) else { return };
        if tab.has_alert {
            // The tab was just found, so that this cannot fail.
            return drop(self.dismiss_alert(id, is_return));
        }
        // The field is empty beside the page of a new tab.
        let is_empty = tab.url.is_empty() || *tab.first_url == *NEW_TAB && tab.history.len() <= 1;
        if !tab.focuses_address || is_return && is_empty {
            return;
        }
        tab.focuses_address = false;
        if is_return {
            tab.forgets_openers = true;
            let url = tab.url.to_string();
            self.navigate(id, &url, NavigationKind::Replace);
        }
    }
}
