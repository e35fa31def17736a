//! Arguments that nobody would write: values of every type in every place, bounds and what lies beyond them.

use proptest::prelude::*;
use tabs_api::js_value::JsValue;
use tabs_api::operation::OPERATIONS;

/// Names that objects of some operation have.
const NAMES: &[&str] = &[
    "active",
    "allFrames",
    "autoDiscardable",
    "bypassCache",
    "collapsed",
    "color",
    "createProperties",
    "currentWindow",
    "files",
    "focused",
    "format",
    "frameId",
    "groupId",
    "height",
    "highlighted",
    "incognito",
    "index",
    "left",
    "mode",
    "muted",
    "openerTabId",
    "pinned",
    "populate",
    "quality",
    "scope",
    "selected",
    "state",
    "status",
    "tabId",
    "tabIds",
    "tabs",
    "target",
    "title",
    "top",
    "type",
    "url",
    "width",
    "windowId",
    "windowType",
    "windowTypes",
    "__proto__",
    "",
];

/// Numbers at the bounds of what is taken.
const NUMBERS: &[f64] = &[
    0.0,
    -0.0,
    1.0,
    2.0,
    3.0,
    10.0,
    -1.0,
    -2.0,
    -3.0,
    0.5,
    1e-320,
    100.0,
    101.0,
    2_147_483_647.0,
    2_147_483_648.0,
    -2_147_483_648.0,
    -2_147_483_649.0,
    1e300,
    f64::NAN,
    f64::INFINITY,
    f64::NEG_INFINITY,
];

const TEXTS: &[&str] = &[
    "",
    "1",
    "normal",
    "popup",
    "panel",
    "minimized",
    "maximized",
    "per-tab",
    "per-origin",
    "manual",
    "disabled",
    "loading",
    "png",
    "blue",
    "about:blank",
    "http://a.test/",
    "http://[",
    "http://*/*",
    "<all_urls>",
    "javascript:0",
    "chrome://crash",
    "file:///a",
    "view-source:view-source:http://a.test/",
    "data:,x",
    "page.html",
    "//a",
    "\u{0}",
    "*\u{10ffff}?\\",
];

fn plain() -> impl Strategy<Value = JsValue> {
    prop_oneof![
        Just(JsValue::Undefined),
        Just(JsValue::Null),
        any::<bool>().prop_map(JsValue::Bool),
        prop::sample::select(NUMBERS).prop_map(JsValue::Number),
        // Ids of what is open are small numbers of seven digits.
        (0..40_u32).prop_map(|id| JsValue::Number(f64::from(1_000_000 + id))),
        prop::sample::select(TEXTS).prop_map(|text| JsValue::String(text.to_owned())),
        Just(JsValue::Function),
    ]
}

/// Any value of some depth.
fn value() -> impl Strategy<Value = JsValue> {
    plain().prop_recursive(3, 24, 6, |inner| {
        let name = prop::sample::select(NAMES).prop_map(str::to_owned);
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(JsValue::Array),
            prop::collection::vec((name, inner), 0..4).prop_map(JsValue::Object),
        ]
    })
}

/// The name of an operation, and arguments for it.
pub(crate) fn call() -> impl Strategy<Value = (&'static str, Vec<JsValue>)> {
    let names: Vec<_> = OPERATIONS.iter().map(|row| row.name).collect();
    (prop::sample::select(names), prop::collection::vec(value(), 0..5))
}
