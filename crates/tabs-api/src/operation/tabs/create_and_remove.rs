//! The beginning and the end of tabs: create, duplicate, remove.

use crate::browser::strip::NewTab;
use crate::browser::window::WindowKind;
use crate::browser::{Answer, Browser};
use crate::error::Error;
use crate::id::TabId;
use crate::operation::call::Call;
use crate::operation::row::Operation;
use crate::operation::schema::shared::{ID, IDS, WINDOW};
use crate::operation::schema::{Parameter, Property, Schema};

pub(in crate::operation) const CREATE: Operation = Operation::new(
    "tabs.create",
    &[Parameter::required(
        "createProperties",
        Schema::Object(&[
            Property::optional("windowId", WINDOW),
            Property::optional("index", Schema::ClampedAtLeast(0)),
            Property::optional("url", Schema::String),
            Property::optional("active", Schema::Boolean),
            Property::optional("selected", Schema::Boolean),
            Property::optional("pinned", Schema::Boolean),
            Property::optional("openerTabId", ID),
        ]),
    )],
    create,
    "Creates a tab.",
);

/// Opens a tab. The URL is checked before the opener, the opener before the window.
fn create(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let url = call.text(0, "url").map(|text| call.url(browser, text)).transpose()?;
    let opener = call.number(0, "openerTabId");
    let opener = opener.map(|id| call.tab(browser, id).map(|tab| tab.id)).transpose()?;
    let window = call.window_or_current(browser, call.number(0, "windowId"))?;
    let window = browser.window_for_page(window, url.as_deref().unwrap_or_default());
    if opener.is_some_and(|opener| browser.tab(opener).is_ok_and(|tab| tab.window != window)) {
        return Err(Error::OpenerInOtherWindow);
    }
    browser.check_not_dragging()?;
    // Where the window holds no strip, neither place nor opener are those of the one that does.
    let normal = browser.normal_window(window)?;
    let (index, opener) = match call.number(0, "index") {
        index if normal == window => {
            (index.map(|index| usize::try_from(index).unwrap_or(0)), opener)
        }
        _ => (None, None),
    };
    let active = call.boolean(0, "active").or_else(|| call.boolean(0, "selected"));
    // A window that opens for the tab comes to the front, whatever is asked.
    let is_new = normal != window && browser.window(normal)?.tabs.is_empty();
    let id = browser.open_tab(&NewTab {
        window: normal,
        url: url.as_deref(),
        index,
        active: is_new || active.unwrap_or(true),
        pinned: call.boolean(0, "pinned").unwrap_or(false),
        opener,
    })?;
    call.tab_answer(browser, id)
}

pub(in crate::operation) const DUPLICATE: Operation = Operation::new(
    "tabs.duplicate",
    &[Parameter::required("tabId", ID)],
    duplicate,
    "Makes a second tab of the same page and history.",
);

fn duplicate(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let id = call.tab_or_active(browser, 0)?;
    browser.check_not_dragging()?;
    if browser.window(browser.tab(id)?.window)?.kind != WindowKind::Normal {
        return Err(Error::CannotDuplicate(id.0));
    }
    let copy = browser.duplicate_tab(id)?;
    call.tab_answer(browser, copy)
}

pub(in crate::operation) const REMOVE: Operation =
    Operation::new("tabs.remove", &[Parameter::required("tabIds", IDS)], remove, "Closes tabs.");

/// Closes one tab after the other: those before an unknown id are gone. A new tab's page that is on the screen is asked first, and closes
/// behind the others: it listens for being hidden, which a page that nobody sees is not asked about. The call is answered once all are gone, those too
/// that close when their pages have done what they do as they are left.
fn remove(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let (mut named, mut asked) = (Vec::new(), Vec::new());
    let mut closed = Ok(());
    for id in call.ids(call.arguments.at(0)) {
        let tab = call.tab(browser, id).map(|tab| tab.id);
        named.extend(tab.iter().copied());
        closed = tab.and_then(|tab| remove_or_ask(browser, tab, &mut asked));
        if closed.is_err() {
            break;
        }
    }
    if !asked.is_empty() {
        // Their answer comes when the windows of the others are gone.
        browser.drop_emptied_windows();
    }
    for id in asked {
        // One that was named twice is gone.
        if browser.tab(id).is_ok() {
            browser.close_tab(id)?;
        }
    }
    closed.map(|()| browser.answer_once_gone(named.into_iter()))
}

/// Closes a tab, or puts it among those that are asked whether they may be closed.
fn remove_or_ask(browser: &mut Browser, id: TabId, asked: &mut Vec<TabId>) -> Result<(), Error> {
    let is_asked = browser.tab(id)?.shows_new_tab() && browser.is_on_screen(id);
    browser.check_not_dragging()?;
    if is_asked {
        asked.push(id);
        return Ok(());
    }
    browser.leave_tab(id)
}
