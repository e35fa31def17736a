//! Extensions that are installed in the browser.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::browser::Browser;
use crate::browser::tab::{Document, MuteReason};
use crate::engine::NavigationKind;
use crate::error::Error;
use crate::extension::permission::{Access, Extension};
use crate::id::TabId;
use crate::url::NEW_TAB;

/// Installed extensions by their id. A copy costs nothing, and stays as it was where these change.
#[derive(Debug, Clone, Default)]
pub(super) struct Extensions(Arc<BTreeMap<String, Arc<Extension>>>);

impl Extensions {
    pub(super) fn get(&self, id: &str) -> Option<&Extension> {
        self.0.get(id).map(|extension| &**extension)
    }

    fn get_mut(&mut self, id: &str) -> Option<&mut Extension> {
        Arc::make_mut(&mut self.0).get_mut(id).map(Arc::make_mut)
    }

    fn insert(&mut self, extension: Extension) {
        let id = extension.id.clone();
        Arc::make_mut(&mut self.0).insert(id, Arc::new(extension));
    }

    fn remove(&mut self, id: &str) -> Option<Arc<Extension>> {
        Arc::make_mut(&mut self.0).remove(id)
    }

    /// Ends what invocations granted on a tab that is gone, or that shows `url` now.
    pub(super) fn end_grants(&mut self, tab: TabId, url: Option<&str>) {
        let ends = |extension: &Extension| extension.loses_grant(tab.0, url);
        // Most pages end none, and the copies of before are to cost nothing.
        if self.0.values().any(|extension| ends(extension)) {
            for extension in Arc::make_mut(&mut self.0).values_mut() {
                if ends(extension) {
                    Arc::make_mut(extension).end_grant(tab.0);
                }
            }
        }
    }
}

impl Browser {
    /// Installs an extension. One of its id that is there ends first, as where it is removed. The scripts that its manifest declares run in the pages
    /// to come.
    pub fn install(&mut self, extension: Extension) {
        self.uninstall(&extension.id);
        for document in self.documents_mut() {
            document.latecomers.insert(extension.id.clone());
        }
        self.start_with(extension);
    }

    /// Adds an extension that is there as the browser starts, before the pages that come back.
    pub(crate) fn start_with(&mut self, extension: Extension) {
        self.extensions.insert(extension);
    }

    /// Removes an extension; its calls are refused from now on. Its pages close, and what it muted sounds again.
    pub fn uninstall(&mut self, id: &str) {
        let Some(extension) = self.extensions.remove(id) else { return };
        // Each window looks at its own tabs, from the last one on.
        let windows = self.strips.windows().map(|window| window.tabs.iter().rev().copied());
        let tabs: Vec<_> = windows.flatten().collect();
        for id in tabs {
            self.clear_of(id, &extension);
        }
        for document in self.documents_mut() {
            document.injected.retain(|(owner, _), _| *owner != extension.id);
        }
        self.drop_emptied_windows();
        self.assert_invariants();
    }

    /// The documents that tabs show, and those that they keep for going back.
    fn documents_mut(&mut self) -> impl Iterator<Item = &mut Document> {
        self.strips.tabs_mut().flat_map(|tab| {
            let kept = tab.history.iter_mut().filter_map(|entry| entry.kept.as_deref_mut());
            kept.chain(std::iter::once(&mut tab.document))
        })
    }

    /// Closes a tab that shows a page of an extension which is gone, or has the last one of its window go to the page of a new tab; lets any other
    /// sound if the extension muted it.
    fn clear_of(&mut self, id: TabId, extension: &Extension) {
        let Some(tab) = self.strips.tab(id) else { return };
        // A discarded tab has no page.
        if extension.owns(&tab.url) && !tab.discarded {
            let window = self.strips.window(tab.window);
            if window.is_some_and(|window| window.tabs.len() > 1) {
                // The tab was just found.
                drop(self.close_for_good(id));
            } else {
                self.navigate(id, NEW_TAB, NavigationKind::Push);
            }
            return;
        }
        let reason = tab.muted.reason.clone();
        if matches!(&reason, Some(MuteReason::Extension(name)) if **name == *extension.id)
            && let Some(reason) = reason
        {
            drop(self.set_muted(id, false, reason));
        }
    }

    /// An extension, if it is installed.
    #[must_use]
    pub fn extension(&self, id: &str) -> Option<&Extension> {
        self.extensions.get(id)
    }

    /// The access of an extension, if it is installed.
    #[must_use]
    pub fn access(&self, extension: &str) -> Option<Access<'_>> {
        self.extensions.get(extension).map(Access::Of)
    }

    /// Invokes an extension on a tab, as the user does by a click on its button.
    pub(super) fn invoke(&mut self, id: TabId, extension: &str) -> Result<(), Error> {
        let url = self.tab(id)?.url.clone();
        let installed = self.extensions.get_mut(extension);
        installed.ok_or(Error::NotInstalled)?.invoke(id.0, &url);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use triptych_core::time::Timestamp;

    use super::*;
    use crate::browser::Compat;
    use crate::extension::manifest::Manifest;

    const NOW: Timestamp = Timestamp::from_seconds(1_790_000_000);

    fn install(browser: &mut Browser, id: &str) {
        browser.install(Extension::new(id.into(), &Manifest::default(), false));
    }

    #[test]
    fn an_extension_that_is_removed_lets_those_tabs_sound_that_it_muted() {
        let mut browser = Browser::with_blank_window(NOW, Compat::Browser);
        let tab = browser.strips.tabs().next().unwrap().id;
        install(&mut browser, "mutes");
        install(&mut browser, "other");
        browser.set_muted(tab, true, MuteReason::Extension("mutes".into())).unwrap();
        browser.uninstall("other");
        assert!(browser.tab(tab).unwrap().muted.muted);
        browser.uninstall("mutes");
        assert!(!browser.tab(tab).unwrap().muted.muted);
    }

    #[test]
    fn an_extension_that_is_installed_anew_begins_without_its_pages_and_mutes() {
        let mut browser = Browser::with_blank_window(NOW, Compat::Browser);
        let muted = browser.strips.tabs().next().unwrap().id;
        let window = browser.tab(muted).unwrap().window;
        let page = browser.add_tab(window);
        browser.insert_into_strip(page, window, 1).unwrap();
        browser.strips.tab_mut(page).unwrap().url = "chrome-extension://own/page.html".into();
        install(&mut browser, "own");
        let reason = MuteReason::Extension("own".into());
        browser.set_muted(muted, true, reason.clone()).unwrap();
        install(&mut browser, "own");
        assert!(browser.tab(page).is_err());
        let now = &browser.tab(muted).unwrap().muted;
        assert_eq!((now.muted, now.reason.as_ref()), (false, Some(&reason)));
        assert!(browser.extension("own").is_some());
    }

    #[test]
    fn a_window_outlives_the_extension_whose_page_is_its_last_one() {
        let mut browser = Browser::with_blank_window(NOW, Compat::Browser);
        let tab = browser.strips.tabs().next().unwrap().id;
        browser.strips.tab_mut(tab).unwrap().url = "chrome-extension://own/page.html".into();
        install(&mut browser, "own");
        browser.uninstall("own");
        let pending = browser.tab(tab).unwrap().pending.as_ref();
        assert_eq!(pending.map(|pending| &*pending.url), Some(NEW_TAB));
    }
}
