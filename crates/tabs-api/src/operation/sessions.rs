//! The operation of `sessions` that tabs need.

use serde_json::json;

use crate::browser::{Answer, Browser};
use crate::error::Error;
use crate::operation::call::Call;
use crate::operation::row::Operation;
use crate::operation::schema::{Parameter, Schema};

pub(super) const RESTORE: Operation = Operation::new(
    "sessions.restore",
    &[Parameter::optional("sessionId", Schema::String)],
    restore,
    "Opens the tab that was closed last.",
);

/// Opens the tab that was closed last, where it was. A session id is not looked at.
fn restore(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    browser.check_not_dragging()?;
    let fallback = call.current_window(browser)?;
    let (id, closed_at) = browser.restore_closed(fallback)?;
    let view = browser.view(id).ok_or(Error::NoTab(id.0))?;
    let tab = view.seen_by(&call.access(browser));
    Ok(Answer::Value(json!({ "lastModified": closed_at.seconds(), "tab": tab })))
}
