//! Reading tabs: get, getCurrent, query.

use crate::browser::tab::Tab;
use crate::browser::window::Window;
use crate::browser::{Answer, Browser, Compat};
use crate::error::Error;
use crate::extension::match_pattern::{MatchPattern, glob};
use crate::extension::permission::Access;
use crate::id::{GROUP_ID_NONE, TabId, WINDOW_ID_CURRENT, WINDOW_ID_NONE, WindowId};
use crate::js_value::JsValue;
use crate::operation::call::{Call, Context};
use crate::operation::row::Operation;
use crate::operation::schema::shared::{ID, STATUS, WINDOW, WINDOW_TYPE};
use crate::operation::schema::{Parameter, Property, Schema};

pub(in crate::operation) const GET: Operation =
    Operation::new("tabs.get", &[Parameter::required("tabId", ID)], get, "One tab.").question();

fn get(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let id = call.tab_or_active(browser, 0)?;
    call.tab_answer(browser, id)
}

pub(in crate::operation) const GET_CURRENT: Operation =
    Operation::new("tabs.getCurrent", &[], get_current, "The tab that the call comes from.")
        .question();

fn get_current(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    match call.caller.context {
        Context::Page(tab) if browser.tab(tab).is_ok() => call.tab_answer(browser, tab),
        _ => Ok(Answer::Undefined),
    }
}

pub(in crate::operation) const QUERY: Operation = Operation::new(
    "tabs.query",
    &[Parameter::required(
        "queryInfo",
        Schema::Object(&[
            Property::optional("active", Schema::Boolean),
            Property::optional("pinned", Schema::Boolean),
            Property::optional("audible", Schema::Boolean),
            Property::optional("muted", Schema::Boolean),
            Property::optional("highlighted", Schema::Boolean),
            Property::optional("discarded", Schema::Boolean),
            Property::optional("frozen", Schema::Boolean),
            Property::optional("autoDiscardable", Schema::Boolean),
            Property::optional("currentWindow", Schema::Boolean),
            Property::optional("lastFocusedWindow", Schema::Boolean),
            Property::optional("status", STATUS),
            Property::optional("title", Schema::String),
            Property::optional(
                "url",
                Schema::Choice(&[
                    Schema::String,
                    Schema::Array { of: &Schema::String, min_items: 0 },
                ]),
            ),
            Property::optional("groupId", Schema::at_least(-1)),
            Property::optional("splitViewId", Schema::at_least(-1)),
            Property::optional("windowId", WINDOW),
            Property::optional("windowType", WINDOW_TYPE),
            Property::optional("index", Schema::at_least(0)),
        ]),
    )],
    query,
    "The tabs that have all the properties asked for.",
)
.question();

/// Finds tabs: windows in the order of their creation, tabs in that of their strip.
fn query(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let filter = Filter::read(browser, call)?;
    let (strips, access) = (browser.strips(), call.access(browser));
    // Found first and viewed then: a view is large, and a list of them that grows moves each several times.
    let mut found = Vec::new();
    for window in strips.windows().filter(|window| filter.takes_window(browser, window)) {
        for (index, id) in window.tabs.iter().enumerate() {
            // The place needs no look at the tab, of which there may be thousands.
            if filter.takes_place(window, index, *id)
                && let Some(tab) = strips.tab(*id)
                && filter.takes_tab(tab, &access)
                && filter.takes_status(browser, tab)
            {
                found.push((tab, window, index));
            }
        }
    }
    let view = |(tab, window, index)| browser.view_at(tab, window, index).seen_by(&access);
    Ok(Answer::Tabs(found.into_iter().map(view).collect()))
}

/// A property of a tab that is true or false.
type Flag = fn(&Tab) -> bool;

/// The properties by their names in a query.
const FLAGS: &[(&str, Flag)] = &[
    ("pinned", |tab| tab.pinned),
    ("audible", |tab| tab.audible),
    ("muted", |tab| tab.muted.muted),
    ("discarded", |tab| tab.discarded),
    ("frozen", |tab| tab.frozen),
    ("autoDiscardable", |tab| tab.auto_discardable),
];

/// The window that had the focus last among those that the caller sees.
fn last_focused(browser: &Browser, call: &Call<'_>) -> Option<WindowId> {
    let sees = |id: &&WindowId| browser.window(**id).is_ok_and(|window| call.sees(browser, window));
    browser.focus().order().iter().find(sees).copied()
}

/// The properties that a query asks for.
struct Filter<'c> {
    call: Call<'c>,
    window: Option<i64>,
    current: i64,
    last_focused: i64,
    patterns: Vec<MatchPattern>,
    title: Option<&'c str>,
    status: Option<&'c str>,
    index: Option<i64>,
    active: Option<bool>,
    highlighted: Option<bool>,
    flags: Vec<(Flag, bool)>,
    group: Option<i64>,
    split_view: Option<i64>,
    ignores_hidden: bool,
}

impl<'c> Filter<'c> {
    fn read(browser: &Browser, call: &Call<'c>) -> Result<Self, Error> {
        let read = |text: &str| {
            MatchPattern::parse(text).ok_or_else(|| Error::InvalidPattern(text.to_owned()))
        };
        let patterns = call.texts(0, "url").into_iter().map(read).collect::<Result<_, _>>()?;
        let current = call.current_window(browser).map_or(WINDOW_ID_NONE, |window| window.0);
        let info = call.arguments.at(0);
        let text = |name| info.and_then(|info| info.property(name)).and_then(JsValue::text);
        let flags = FLAGS.iter();
        let asked = |(name, flag): &(&str, Flag)| Some((*flag, call.boolean(0, name)?));
        Ok(Self {
            call: *call,
            window: call
                .number(0, "windowId")
                .filter(|id| *id != WINDOW_ID_NONE)
                .map(|id| if id == WINDOW_ID_CURRENT { current } else { id }),
            current,
            last_focused: last_focused(browser, call).map_or(WINDOW_ID_NONE, |window| window.0),
            patterns,
            title: text("title").filter(|title| !title.is_empty()),
            status: text("status"),
            index: call.number(0, "index"),
            active: call.boolean(0, "active"),
            highlighted: call.boolean(0, "highlighted"),
            flags: flags.filter_map(asked).collect(),
            group: call.number(0, "groupId"),
            split_view: call.number(0, "splitViewId"),
            ignores_hidden: browser.compat() == Compat::Spec,
        })
    }

    fn takes_window(&self, browser: &Browser, window: &Window) -> bool {
        let is =
            |name, truth: bool| self.call.boolean(0, name).is_none_or(|wanted| wanted == truth);
        self.call.sees(browser, window)
            && self.window.is_none_or(|id| id == window.id.0)
            && is("currentWindow", window.id.0 == self.current)
            && is("lastFocusedWindow", window.id.0 == self.last_focused)
            && match self.call.text(0, "windowType") {
                Some(wanted) => wanted == window.kind.word(),
                // Applications and the developer tools are found by their type alone.
                None => window.kind.lists_tabs(),
            }
    }

    /// True if the strip alone says nothing against the tab at an index of it.
    fn takes_place(&self, window: &Window, index: usize, id: TabId) -> bool {
        let is_highlighted = || window.highlighted.contains(&id);
        self.active.is_none_or(|wanted| wanted == (window.active == Some(id)))
            && self.index.is_none_or(|wanted| usize::try_from(wanted) == Ok(index))
            && self.highlighted.is_none_or(|wanted| wanted == is_highlighted())
    }

    fn takes_status(&self, browser: &Browser, tab: &Tab) -> bool {
        self.status.is_none_or(|wanted| wanted == browser.shown_status(tab).word())
    }

    fn takes_tab(&self, tab: &Tab, access: &Access<'_>) -> bool {
        let group = tab.group.map_or(GROUP_ID_NONE, |group| group.0);
        self.flags.iter().all(|(flag, wanted)| flag(tab) == *wanted)
            && self.group.is_none_or(|wanted| wanted == group)
            && self.split_view.is_none_or(|wanted| wanted == -1)
            && self.takes_content(tab, access)
    }

    /// Title and URL: what the caller may not see is ignored by the specification, and never matches in the browser. The URL that a tab is on its
    /// way to counts as well.
    fn takes_content(&self, tab: &Tab, access: &Access<'_>) -> bool {
        if self.title.is_none() && self.patterns.is_empty() {
            return true;
        }
        let sees_page = access.sees(tab.id.0, &tab.url);
        let is_let = !sees_page && self.ignores_hidden;
        let matches = |url: &str| self.patterns.iter().any(|pattern| pattern.matches(url));
        let leads_there =
            || tab.shown_pending().is_some_and(|url| access.sees(tab.id.0, url) && matches(url));
        let has_title = |pattern| is_let || sees_page && glob(pattern, &tab.title, true);
        self.title.is_none_or(has_title)
            && (self.patterns.is_empty()
                || is_let
                || sees_page && matches(&tab.url)
                || leads_there())
    }
}
