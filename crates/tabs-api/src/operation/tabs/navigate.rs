//! Navigation: goBack, goForward and reload.

use crate::browser::{Answer, Browser, Compat};
use crate::error::Error;
use crate::operation::call::Call;
use crate::operation::row::Operation;
use crate::operation::schema::shared::ID;
use crate::operation::schema::{Parameter, Property, Schema};

pub(in crate::operation) const GO_BACK: Operation = Operation::new(
    "tabs.goBack",
    &[Parameter::optional("tabId", ID)],
    go_back,
    "Goes to the previous page of a tab's history.",
);

fn go_back(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    traverse(browser, call, false)
}

pub(in crate::operation) const GO_FORWARD: Operation = Operation::new(
    "tabs.goForward",
    &[Parameter::optional("tabId", ID)],
    go_forward,
    "Goes to the next page of a tab's history.",
);

fn go_forward(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    traverse(browser, call, true)
}

fn traverse(browser: &mut Browser, call: &Call<'_>, is_forward: bool) -> Result<Answer, Error> {
    let id = call.tab_or_active(browser, 0)?;
    match browser.history_target(browser.tab(id)?, is_forward) {
        Some(target) => browser.go_to_entry(id, target)?,
        None if browser.compat() == Compat::Browser => return Err(Error::NoHistory),
        // Spec tabs-api §4: it goes there "if one exists".
        None => {}
    }
    Ok(Answer::Undefined)
}

pub(in crate::operation) const RELOAD: Operation = Operation::new(
    "tabs.reload",
    &[
        Parameter::optional("tabId", ID),
        Parameter::optional(
            "reloadProperties",
            Schema::Object(&[Property::optional("bypassCache", Schema::Boolean)]),
        ),
    ],
    reload,
    "Loads a tab's page again.",
);

fn reload(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let id = call.tab_or_active(browser, 0)?;
    browser.reload_tab(id)?;
    Ok(Answer::Undefined)
}
