//! `tabs.update`: properties in a fixed order; what comes before the one that fails stays changed.

use crate::browser::tab::MuteReason;
use crate::browser::{Answer, Browser};
use crate::error::Error;
use crate::id::TabId;
use crate::operation::call::Call;
use crate::operation::row::Operation;
use crate::operation::schema::shared::ID;
use crate::operation::schema::{Parameter, Property, Schema};
use crate::url::leads_nowhere;

pub(in crate::operation) const UPDATE: Operation = Operation::new(
    "tabs.update",
    &[
        Parameter::optional("tabId", ID),
        Parameter::required(
            "updateProperties",
            Schema::Object(&[
                Property::optional("url", Schema::String),
                Property::optional("active", Schema::Boolean),
                Property::optional("highlighted", Schema::Boolean),
                Property::optional("selected", Schema::Boolean),
                Property::optional("pinned", Schema::Boolean),
                Property::optional("muted", Schema::Boolean),
                Property::optional("openerTabId", ID),
                Property::optional("autoDiscardable", Schema::Boolean),
            ]),
        ),
    ],
    update,
    "Changes a tab's properties.",
);

fn update(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let id = call.tab_or_active_at_rest(browser, 0)?;
    update_selection(browser, call, id)?;
    if let Some(muted) = call.boolean(1, "muted") {
        browser.check_not_captured(id)?;
        let reason = MuteReason::Extension(call.caller.extension.as_str().into());
        browser.set_muted(id, muted, reason)?;
    }
    if let Some(opener) = call.number(1, "openerTabId") {
        let opener = call.tab(browser, opener)?.id;
        browser.set_opener(id, opener)?;
    }
    if let Some(value) = call.boolean(1, "autoDiscardable") {
        browser.set_auto_discardable(id, value)?;
    }
    if let Some(pinned) = call.boolean(1, "pinned")
        && browser.tab(id)?.pinned != pinned
    {
        browser.check_not_dragging()?;
        browser.set_pinned(id, pinned)?;
    }
    if let Some(url) = call.text(1, "url") {
        browser.check_allowed_incognito(id, url)?;
        let url = call.url(browser, url)?;
        if leads_nowhere(&url) {
            return Err(Error::NavigationRejected);
        }
        browser.navigate_by_call(id, &url, &call.caller.extension)?;
    }
    call.tab_answer(browser, id)
}

fn update_selection(browser: &mut Browser, call: &Call<'_>, id: TabId) -> Result<(), Error> {
    let active = call.boolean(1, "active").or_else(|| call.boolean(1, "selected"));
    if active == Some(true) {
        browser.check_not_dragging()?;
        browser.activate_unless_active(id)?;
    }
    let state = browser.window(browser.tab(id)?.window)?;
    let is_other = |asked: &bool| *asked != state.highlighted.contains(&id);
    let Some(highlighted) = call.boolean(1, "highlighted").filter(is_other) else { return Ok(()) };
    browser.check_not_dragging()?;
    if highlighted { browser.highlight(id) } else { browser.unhighlight(id) }
}
