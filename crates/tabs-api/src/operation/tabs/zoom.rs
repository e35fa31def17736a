//! Zoom: getZoom, setZoom, getZoomSettings, setZoomSettings.

use serde_json::json;

use crate::browser::event::{number, zoom_settings};
use crate::browser::tab::{DEFAULT_FACTOR, ZoomMode};
use crate::browser::zoom::as_kept;
use crate::browser::{Answer, Browser, Compat};
use crate::error::Error;
use crate::id::TabId;
use crate::js_value::JsValue;
use crate::operation::call::Call;
use crate::operation::row::Operation;
use crate::operation::schema::shared::{ID, ZOOM_SETTINGS};
use crate::operation::schema::{Parameter, Schema};

pub(in crate::operation) const GET_ZOOM: Operation = Operation::new(
    "tabs.getZoom",
    &[Parameter::optional("tabId", ID)],
    get_zoom,
    "A tab's zoom factor.",
)
.question();

fn get_zoom(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let tab = browser.tab(call.tab_or_active(browser, 0)?)?;
    Ok(Answer::Value(number(browser.factor_of(tab))))
}

pub(in crate::operation) const GET_ZOOM_SETTINGS: Operation = Operation::new(
    "tabs.getZoomSettings",
    &[Parameter::optional("tabId", ID)],
    get_zoom_settings,
    "A tab's zoom settings.",
)
.question();

fn get_zoom_settings(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let tab = browser.tab(call.tab_or_active(browser, 0)?)?;
    let mut settings = zoom_settings(&tab.zoom);
    if let Some(members) = settings.as_object_mut() {
        members.insert("defaultZoomFactor".into(), json!(1));
    }
    Ok(Answer::Value(settings))
}

pub(in crate::operation) const SET_ZOOM: Operation = Operation::new(
    "tabs.setZoom",
    &[Parameter::optional("tabId", ID), Parameter::required("zoomFactor", Schema::NUMBER)],
    set_zoom,
    "Zooms a tab; 0 is the default.",
);

/// Zooms a tab: 0, and anything below, is the default.
fn set_zoom(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let id = call.tab_or_active(browser, 0)?;
    check_zoomable(browser, call, id)?;
    let factor = match call.arguments.at(1) {
        Some(JsValue::Number(factor)) if *factor > 0.0 => *factor,
        _ => DEFAULT_FACTOR,
    };
    let tab = browser.tab(id)?;
    if tab.zoom.mode == ZoomMode::Disabled || tab.is_fresh {
        // The specification lets it pass without effect; the browser says so.
        return match browser.compat() {
            Compat::Browser => Err(Error::ZoomDisabled),
            Compat::Spec => Ok(Answer::Undefined),
        };
    }
    browser.zoom_to(id, kept(browser.compat(), factor))?;
    Ok(Answer::Undefined)
}

/// The factor as it comes back: the browser keeps it as a level, the specification as it is.
fn kept(compat: Compat, factor: f64) -> f64 {
    match compat {
        Compat::Browser => as_kept(factor),
        Compat::Spec => factor,
    }
}

pub(in crate::operation) const SET_ZOOM_SETTINGS: Operation = Operation::new(
    "tabs.setZoomSettings",
    &[Parameter::optional("tabId", ID), Parameter::required("zoomSettings", ZOOM_SETTINGS)],
    set_zoom_settings,
    "Says how zoom works in a tab until it navigates.",
);

fn set_zoom_settings(browser: &mut Browser, call: &Call<'_>) -> Result<Answer, Error> {
    let id = call.tab_or_active(browser, 0)?;
    check_zoomable(browser, call, id)?;
    let mode = match call.text(1, "mode") {
        Some("manual") => ZoomMode::Manual,
        Some("disabled") => ZoomMode::Disabled,
        _ => ZoomMode::Automatic,
    };
    let is_automatic = mode == ZoomMode::Automatic;
    let scope = call.text(1, "scope");
    if scope == Some("per-origin") && !is_automatic && browser.compat() == Compat::Browser {
        return Err(Error::PerOriginScope);
    }
    browser.set_zoom_mode(id, mode, is_automatic && scope != Some("per-tab"))?;
    Ok(Answer::Undefined)
}

/// Refuses to zoom a page that extensions have nothing to do with.
fn check_zoomable(browser: &Browser, call: &Call<'_>, id: TabId) -> Result<(), Error> {
    let url = &browser.tab(id)?.url;
    browser.extension(&call.caller.extension).map_or(Ok(()), |extension| extension.check_open(url))
}
