//! Extensions that are installed in the browser.

use std::collections::BTreeMap;

use crate::browser::Browser;
use crate::error::Error;
use crate::extension::permission::{Access, Extension};
use crate::id::TabId;

/// Installed extensions by their id.
#[derive(Debug, Default)]
pub(super) struct Extensions(BTreeMap<String, Extension>);

impl Extensions {
    pub(super) fn get(&self, id: &str) -> Option<&Extension> {
        self.0.get(id)
    }

    /// Ends what invocations granted on a tab that is gone, or that shows `url` now.
    pub(super) fn end_grants(&mut self, tab: TabId, url: Option<&str>) {
        for extension in self.0.values_mut() {
            extension.end_grant(tab.0, url);
        }
    }
}

impl Browser {
    /// Installs an extension, or replaces the one of its id.
    pub fn install(&mut self, extension: Extension) {
        self.extensions.0.insert(extension.id.clone(), extension);
    }

    /// Removes an extension; its calls are refused from now on.
    pub fn uninstall(&mut self, id: &str) {
        self.extensions.0.remove(id);
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
        let installed = self.extensions.0.get_mut(extension);
        installed
            .ok_or_else(|| Error::Unsupported("this extension is not installed".into()))?
            .invoke(id.0, &url);
        Ok(())
    }
}
