//! A call while it is being answered: who calls, and with what.

use crate::browser::window::Window;
use crate::browser::{Answer, Browser};
use crate::error::Error;
use crate::extension::permission::{Access, Extension};
use crate::id::{TabId, WINDOW_ID_CURRENT, WindowId};
use crate::js_value::JsValue;
use crate::operation::argument::Arguments;
use crate::url::{is_file, resolve};

/// The part of an extension that a call comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Context {
    /// A background worker: no tab.
    Worker,
    /// The popup of the extension's button in this window: no tab.
    Popup(WindowId),
    /// An extension page in this tab.
    Page(TabId),
}

/// The sender of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Caller {
    /// The id of the extension.
    pub extension: String,
    /// The part of it that calls.
    pub context: Context,
}

/// The way in which the caller takes the answer (Spec tabs-api §1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Style {
    /// As a promise.
    #[default]
    Promise,
    /// As a promise where the manifest and the browser's version give one, else by a callback.
    AsGiven,
    /// By a callback.
    Callback,
}

impl Style {
    /// The style of this name, `callback` or `promise`; without one, that which the extension has. `None` for any other name.
    #[must_use]
    pub fn named(name: Option<&str>) -> Option<Self> {
        match name {
            Some("callback") => Some(Self::Callback),
            Some("promise") => Some(Self::Promise),
            Some(_) => None,
            None => Some(Self::AsGiven),
        }
    }
}

/// A call while it is being answered.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'c> {
    pub(crate) caller: &'c Caller,
    pub(crate) arguments: &'c Arguments,
    pub(crate) style: Style,
}

impl<'c> Call<'c> {
    /// A property of the object at this index that is there and not null.
    pub(crate) fn property(&self, index: usize, name: &str) -> Option<&'c JsValue> {
        self.arguments.at(index)?.property(name)
    }

    pub(crate) fn boolean(&self, index: usize, name: &str) -> Option<bool> {
        match self.property(index, name)? {
            JsValue::Bool(value) => Some(*value),
            _ => None,
        }
    }

    pub(crate) fn number(&self, index: usize, name: &str) -> Option<i64> {
        self.property(index, name)?.integer()
    }

    pub(crate) fn text(&self, index: usize, name: &str) -> Option<&'c str> {
        self.property(index, name)?.text()
    }

    /// One text or a list of them.
    pub(crate) fn texts(&self, index: usize, name: &str) -> Vec<&'c str> {
        match self.property(index, name) {
            Some(JsValue::Array(items)) => items.iter().filter_map(JsValue::text).collect(),
            Some(one) => one.text().into_iter().collect(),
            None => Vec::new(),
        }
    }

    /// One id or a list of them.
    pub(crate) fn ids(&self, value: Option<&JsValue>) -> Vec<i64> {
        match value {
            Some(JsValue::Array(items)) => items.iter().filter_map(JsValue::integer).collect(),
            Some(one) => one.integer().into_iter().collect(),
            None => Vec::new(),
        }
    }

    /// The URL that a text of the caller's leads to. Pages of the machine are for those alone whom the user lets read files.
    pub(crate) fn url(&self, browser: &Browser, text: &str) -> Result<String, Error> {
        let url = resolve(text, &self.caller.extension)?;
        let reads_files =
            browser.extension(&self.caller.extension).is_none_or(Extension::reads_files);
        if is_file(&url) && !reads_files { Err(Error::FileAccess) } else { Ok(url) }
    }

    /// The window of the page or popup that calls, while it is there.
    fn own_window(&self, browser: &Browser) -> Option<WindowId> {
        match self.caller.context {
            Context::Worker => None,
            Context::Popup(window) => {
                let window = browser.window(window).ok()?;
                self.sees(browser, window).then_some(window.id)
            }
            Context::Page(tab) => browser.tab(tab).ok().map(|tab| tab.window),
        }
    }

    /// The window that the call comes from; for a worker the one that had the focus last.
    pub(crate) fn current_window(&self, browser: &Browser) -> Result<WindowId, Error> {
        if let Some(window) = self.own_window(browser) {
            return Ok(window);
        }
        let seen = |id: &&WindowId| {
            let window = browser.window(**id);
            window.is_ok_and(|window| window.kind.lists_tabs() && self.sees(browser, window))
        };
        browser.focus().order().iter().find(seen).copied().ok_or(Error::NoCurrentWindow)
    }

    /// The window that the operations of windows take for the current one: that of the page that calls, whatever it is; else the one with the focus where
    /// it is among those meant, else of these the one made last.
    pub(crate) fn current_window_among(
        &self,
        browser: &Browser,
        is_meant: impl Fn(&Window) -> bool,
    ) -> Result<WindowId, Error> {
        if let Some(window) = self.own_window(browser) {
            return Ok(window);
        }
        let mut meant = Vec::new();
        let windows = browser.strips().windows();
        meant.extend(windows.filter(|window| is_meant(window) && self.sees(browser, window)));
        let focused = meant.iter().find(|window| browser.focus().has(window.id));
        focused.or(meant.last()).map(|window| window.id).ok_or(Error::NoCurrentWindow)
    }

    /// The window that an argument names: the current one if there is none or it says so.
    pub(crate) fn window_or_current(
        &self,
        browser: &Browser,
        id: Option<i64>,
    ) -> Result<WindowId, Error> {
        match id {
            None | Some(WINDOW_ID_CURRENT) => self.current_window(browser),
            Some(id) => self.window(browser, id).map(|window| window.id),
        }
    }

    /// The tab that an argument names, or the active one of the current window.
    pub(crate) fn tab_or_active(&self, browser: &Browser, index: usize) -> Result<TabId, Error> {
        match self.arguments.integer(index) {
            Some(id) => self.tab(browser, id).map(|tab| tab.id),
            None => {
                let window = browser.window(self.current_window(browser)?)?;
                window.active.ok_or(Error::NoSelectedTab)
            }
        }
    }

    /// The tab that an argument names, or the active one of the current window, which is refused while the user drags tabs.
    pub(crate) fn tab_or_active_at_rest(
        &self,
        browser: &Browser,
        index: usize,
    ) -> Result<TabId, Error> {
        if self.arguments.integer(index).is_none() {
            // A caller without a window hears that first.
            self.current_window(browser)?;
            browser.check_not_dragging()?;
        }
        self.tab_or_active(browser, index)
    }

    /// The access of the caller.
    pub(crate) fn access<'b>(&self, browser: &'b Browser) -> Access<'b> {
        // A call of an extension that is not installed is refused before it gets here.
        browser.access(&self.caller.extension).unwrap_or(Access::Full)
    }

    /// A tab as the caller sees it.
    pub(crate) fn tab_answer(&self, browser: &Browser, id: TabId) -> Result<Answer, Error> {
        let view = browser.view(id).ok_or(Error::NoTab(id.0))?;
        Ok(Answer::Tab(Box::new(view.seen_by(&self.access(browser)))))
    }
}
