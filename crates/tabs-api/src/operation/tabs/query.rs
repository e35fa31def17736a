//! Reading tabs: get, getCurrent, query.

use crate::browser::tab::Tab;
use crate::browser::window::{WINDOW_ID_CURRENT, WINDOW_ID_NONE, Window};
use crate::browser::{Answer, Browser, Compat, Context};
use crate::error::Error;
use crate::extension::match_pattern::{MatchPattern, glob};
use crate::extension::permission::Access;
use crate::js_value::Js;
use crate::operation::call::Call;

impl Browser {
    /// `tabs.get`.
    pub(crate) fn get(&self, call: &Call<'_>) -> Result<Answer, Error> {
        let id = self.named_tab(call, 0)?;
        self.shown(call, id)
    }

    /// `tabs.getCurrent`.
    pub(crate) fn get_current(&self, call: &Call<'_>) -> Result<Answer, Error> {
        match call.caller.context {
            Context::Page(tab) if self.tabs.contains_key(&tab) => self.shown(call, tab),
            _ => Ok(Answer::Undefined),
        }
    }

    /// `tabs.query`: windows in the order of their creation, tabs in that of their strip.
    pub(crate) fn query(&self, call: &Call<'_>) -> Result<Answer, Error> {
        let filter = Filter::read(self, call)?;
        let access = self.access_of(call);
        let mut found = Vec::new();
        for window in self.windows.values().filter(|window| filter.takes_window(window)) {
            for (index, id) in window.tabs.iter().enumerate() {
                if let Some(tab) = self.tabs.get(id)
                    && filter.takes_tab(tab, window, index, &access)
                {
                    found.push(self.view_at(tab, window, index).seen_by(&access));
                }
            }
        }
        Ok(Answer::Tabs(found))
    }
}

/// What a query asks for.
struct Filter<'c> {
    call: Call<'c>,
    window: Option<i64>,
    current: i64,
    last_focused: i64,
    patterns: Vec<MatchPattern>,
    title: Option<&'c str>,
    status: Option<&'c str>,
    index: Option<i64>,
    group: Option<i64>,
    ignores_hidden: bool,
}

impl<'c> Filter<'c> {
    fn read(browser: &Browser, call: &Call<'c>) -> Result<Self, Error> {
        let url = call.arguments.at(0).and_then(|info| info.property("url"));
        let texts = match url {
            Some(Js::Array(items)) => items.iter().filter_map(Js::text).collect(),
            Some(one) => one.text().into_iter().collect(),
            None => Vec::new(),
        };
        let read = |text: &str| {
            MatchPattern::parse(text).ok_or_else(|| Error::InvalidPattern(text.to_owned()))
        };
        let patterns = texts.into_iter().map(read).collect::<Result<_, _>>()?;
        let current = browser.current_window(call).map_or(WINDOW_ID_NONE, |window| window.0);
        let info = call.arguments.at(0);
        let text = |name| info.and_then(|info| info.property(name)).and_then(Js::text);
        Ok(Self {
            call: *call,
            window: call
                .number(0, "windowId")
                .filter(|id| *id != WINDOW_ID_NONE)
                .map(|id| if id == WINDOW_ID_CURRENT { current } else { id }),
            current,
            last_focused: browser.focus_order.first().map_or(WINDOW_ID_NONE, |window| window.0),
            patterns,
            title: text("title").filter(|title| !title.is_empty()),
            status: text("status"),
            index: call.number(0, "index"),
            group: call.number(0, "groupId"),
            ignores_hidden: browser.compat == Compat::Spec,
        })
    }

    fn takes_window(&self, window: &Window) -> bool {
        let is =
            |name, truth: bool| self.call.boolean(0, name).is_none_or(|wanted| wanted == truth);
        self.window.is_none_or(|id| id == window.id.0)
            && is("currentWindow", window.id.0 == self.current)
            && is("lastFocusedWindow", window.id.0 == self.last_focused)
            && self.call.text(0, "windowType").is_none_or(|wanted| wanted == window.kind.word())
    }

    fn takes_tab(&self, tab: &Tab, window: &Window, index: usize, access: &Access<'_>) -> bool {
        let is =
            |name, truth: bool| self.call.boolean(0, name).is_none_or(|wanted| wanted == truth);
        is("active", window.active == Some(tab.id))
            && is("pinned", tab.pinned)
            && is("audible", tab.audible)
            && is("muted", tab.muted.muted)
            && is("highlighted", window.highlighted.contains(&tab.id))
            && is("discarded", tab.discarded)
            && is("frozen", tab.frozen)
            && is("autoDiscardable", tab.auto_discardable)
            && self.status.is_none_or(|wanted| wanted == tab.status.word())
            && self.index.is_none_or(|wanted| usize::try_from(wanted) == Ok(index))
            && self.group.is_none_or(|wanted| {
                wanted == tab.group.map_or(crate::browser::group::GROUP_ID_NONE, |group| group.0)
            })
            && self.call.number(0, "splitViewId").is_none_or(|wanted| wanted == -1)
            && self.takes_content(tab, access)
    }

    /// Title and URL: what the caller may not see is ignored by the specification, and never matches in the browser.
    fn takes_content(&self, tab: &Tab, access: &Access<'_>) -> bool {
        if self.title.is_none() && self.patterns.is_empty() {
            return true;
        }
        if !access.sees(tab.id.0, &tab.url) {
            return self.ignores_hidden;
        }
        self.title.is_none_or(|pattern| glob(pattern, &tab.title, true))
            && (self.patterns.is_empty()
                || self.patterns.iter().any(|pattern| pattern.matches(&tab.url)))
    }
}
