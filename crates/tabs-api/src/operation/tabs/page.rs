//! The page of a tab, as the engine shows it: captureVisibleTab and detectLanguage.

use crate::browser::captures::{ImageFormat, Part, PictureRequest};
use crate::browser::{Answer, Browser};
use crate::error::Error;
use crate::js_value::JsValue;
use crate::operation::call::Call;
use crate::operation::row::Operation;
use crate::operation::schema::Parameter;
use crate::operation::schema::shared::{ID, IMAGE, WINDOW};

pub(in crate::operation) const CAPTURE_VISIBLE_TAB: Operation = Operation::new(
    "tabs.captureVisibleTab",
    &[Parameter::optional("windowId", WINDOW), Parameter::optional("options", IMAGE)],
    capture_visible_tab,
    "A picture of the visible area of a window's active tab, as a data URL.",
)
.question();

/// Takes a screenshot; a call that fails counts against the quota as well.
fn capture_visible_tab(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let extension = &call.caller.extension;
    browser.count_capture(extension)?;
    let window = call.window_or_current(browser, call.arguments.integer(0))?;
    browser.check_not_dragging()?;
    let quality = call.number(1, "quality").and_then(|quality| u8::try_from(quality).ok());
    let is_png = call.text(1, "format") == Some("png");
    let format = ImageFormat { is_png, quality: quality.unwrap_or(92) };
    Ok(Answer::Later(browser.capture(
        extension,
        window,
        PictureRequest { format, part: part(call) },
    )?))
}

/// The part of the page that is asked for, and the scale that it is drawn at; a scale alone says nothing.
fn part(call: &Call<'_>) -> Option<Part> {
    let rect = call.property(1, "rect")?;
    let side = |name: &str| rect.property(name).and_then(JsValue::integer);
    let scale = match call.property(1, "scale") {
        Some(JsValue::Number(scale)) => *scale,
        _ => 1.0,
    };
    let (width, height) = (side("width")?, side("height")?);
    Some(Part { x: side("x")?, y: side("y")?, width, height, scale })
}

pub(in crate::operation) const DETECT_LANGUAGE: Operation = Operation::new(
    "tabs.detectLanguage",
    &[Parameter::optional("tabId", ID)],
    detect_language,
    "The main language of a tab's page.",
)
.question();

fn detect_language(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let id = call.tab_or_active_at_rest(browser, 0)?;
    browser.detect_language(id)
}
