//! The windows that a caller sees: an id of what lies beyond them is one of nothing, at the moment at which an operation looks it up.

use crate::browser::Browser;
use crate::browser::group::Group;
use crate::browser::tab::Tab;
use crate::browser::window::Window;
use crate::error::Error;
use crate::extension::permission::Part;
use crate::id::{TabId, WindowId};
use crate::operation::call::{Call, Context};

impl Call<'_> {
    /// True if the caller sees a window. From a page in an incognito tab, a split extension sees the incognito windows alone.
    pub(crate) fn sees(&self, browser: &Browser, window: &Window) -> bool {
        if !browser.had_incognito() {
            return true;
        }
        let Some(extension) = browser.extension(&self.caller.extension) else {
            return false;
        };
        let page = match self.caller.context {
            Context::Page(tab) => Some(tab),
            Context::Worker | Context::Popup(_) => None,
        };
        match browser.part(&self.caller.extension, page) {
            Part::Main => !window.incognito || extension.sees_incognito(),
            Part::Incognito => window.incognito,
        }
    }

    /// The tab of an id, if the caller sees its window.
    ///
    /// # Errors
    /// `NoTab`.
    pub(crate) fn tab<'b>(&self, browser: &'b Browser, id: i64) -> Result<&'b Tab, Error> {
        let tab = browser.tab(TabId(id))?;
        self.window(browser, tab.window.0).map(|_| tab).map_err(|_| Error::NoTab(id))
    }

    /// The window of an id, if the caller sees it.
    ///
    /// # Errors
    /// `NoWindow`.
    pub(crate) fn window<'b>(&self, browser: &'b Browser, id: i64) -> Result<&'b Window, Error> {
        let window = browser.window(WindowId(id))?;
        if self.sees(browser, window) { Ok(window) } else { Err(Error::NoWindow(id)) }
    }

    /// The group of an id, if the caller sees its window.
    ///
    /// # Errors
    /// `NoGroup`.
    pub(crate) fn group<'b>(&self, browser: &'b Browser, id: i64) -> Result<&'b Group, Error> {
        let group = browser.group(id)?;
        self.window(browser, group.window.0).map(|_| group).map_err(|_| Error::NoGroup(id))
    }
}
