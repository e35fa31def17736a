//! `tabs.discard`.

use crate::browser::{Answer, Browser, Compat};
use crate::error::Error;
use crate::operation::call::Call;
use crate::operation::row::Operation;
use crate::operation::schema::Parameter;
use crate::operation::schema::shared::ID;

pub(in crate::operation) const DISCARD: Operation = Operation::new(
    "tabs.discard",
    &[Parameter::optional("tabId", ID)],
    discard,
    "Takes a tab's page out of memory.",
);

/// Discards a tab, or the one that was active longest ago.
fn discard(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let id = match call.arguments.integer(0) {
        Some(id) => {
            let tab = call.tab(browser, id)?;
            if browser.compat() == Compat::Spec && (tab.discarded || browser.is_active(tab.id)) {
                // Spec tabs-api §3: what cannot be discarded gives nothing.
                return Ok(Answer::Undefined);
            }
            if tab.discarded {
                return Err(Error::CannotDiscard(id));
            }
            tab.id
        }
        None => browser.least_recent_tab().ok_or(Error::NothingToDiscard)?,
    };
    let new = browser.replace_with_discarded(id)?;
    call.tab_answer(browser, new)
}
