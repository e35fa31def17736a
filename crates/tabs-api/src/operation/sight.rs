//! The windows that a caller sees: what it names beyond them is not there for it.

use crate::browser::Browser;
use crate::browser::window::Window;
use crate::error::Error;
use crate::extension::permission::Part;
use crate::id::{GroupId, TabId, WindowId};
use crate::js_value::JsValue;
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
            Context::Worker => None,
        };
        match browser.part(&self.caller.extension, page) {
            Part::Main => !window.incognito || extension.sees_incognito(),
            Part::Incognito => window.incognito,
        }
    }

    /// Refuses ids of what the caller does not see, as ids of nothing.
    pub(super) fn check_sight(&self, browser: &Browser, operation: &str) -> Result<(), Error> {
        // A query finds nothing there, which is no error, and of a message only its receivers are missing.
        let asks = ["tabs.sendMessage", "tabs.connect"].contains(&operation);
        if !browser.had_incognito() || asks || operation.ends_with(".query") {
            return Ok(());
        }
        let parameters = crate::operation::Operation::find(operation).map(|row| row.parameters);
        for (at, parameter) in parameters.unwrap_or_default().iter().enumerate() {
            match self.arguments.at(at) {
                Some(JsValue::Object(members)) => {
                    for (name, value) in members {
                        self.check_named(browser, name, value)?;
                    }
                }
                Some(value) => self.check_named(browser, parameter.name, value)?,
                None => {}
            }
        }
        Ok(())
    }

    fn check_named(&self, browser: &Browser, name: &str, value: &JsValue) -> Result<(), Error> {
        let sees = |window: WindowId| {
            browser.window(window).is_ok_and(|window| self.sees(browser, window))
        };
        for id in self.ids(Some(value)) {
            match name {
                "tabId" | "tabIds" | "openerTabId" => {
                    let tab = browser.tab(TabId(id));
                    if tab.is_ok_and(|tab| !sees(tab.window)) {
                        return Err(Error::NoTab(id));
                    }
                }
                "windowId" if browser.window(WindowId(id)).is_ok() && !sees(WindowId(id)) => {
                    return Err(Error::NoWindow(id));
                }
                "groupId" => {
                    let group = browser.strips().group(GroupId(id));
                    if group.is_some_and(|group| !sees(group.window)) {
                        return Err(Error::NoGroup(id));
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }
}
