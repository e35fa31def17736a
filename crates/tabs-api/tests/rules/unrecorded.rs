//! Events to which the recorded extensions did not listen, as the browser told them to others.

use std::time::Duration;

use serde_json::{Value, json};
use tabs_api::browser::{Browser, Compat};
use tabs_api::engine::simulated::SimEngine;
use tabs_api::extension::manifest::Manifest;
use tabs_api::extension::permission::{Access, Extension};
use tabs_api::js_value::JsValue;
use tabs_api::operation::{Caller, Command, Context, Style};
use tabs_api::session::{Output, Session};
use triptych_core::time::Timestamp;

use crate::bench::{START, pages};

/// An extension that hears everything.
struct Lab {
    session: Session,
    now: Timestamp,
}

impl Lab {
    fn new() -> Self {
        let manifest = Manifest::read(
            &json!({ "name": "e", "manifest_version": 3, "permissions": ["sessions"] }),
        )
        .unwrap();
        let mut browser = Browser::with_blank_window(START, Compat::Browser);
        browser.install(Extension::new("e".into(), &manifest, false));
        let session = Session::new(browser, Box::new(SimEngine::new(pages())));
        Self { session, now: START }
    }

    /// Calls, lets pages come, and gives the answer and what was told, but of pages and focus.
    fn call(&mut self, op: &str, arguments: Value) -> (Value, Vec<(&'static str, Value)>) {
        let arguments: Vec<JsValue> = serde_json::from_value(arguments).unwrap();
        let command = Command::read(op, &arguments, Style::Promise).unwrap();
        let caller = Caller { extension: "e".into(), context: Context::Worker };
        let answer = json!(self.session.apply(self.now, &caller, &command).unwrap());
        self.now = self.now.plus(Duration::from_secs(5));
        self.session.advance(self.now);
        let mut told = Vec::new();
        while let Some(output) = self.session.poll() {
            if let Output::Event(event) = output {
                told.push((event.name(), json!(event.shown(&Access::Full))));
            }
        }
        let is_other = ["tabs.onUpdated", "tabs.onZoomChange", "windows.onFocusChanged"];
        told.retain(|(name, _)| !is_other.contains(name));
        (answer, told)
    }
}

#[test]
fn a_window_that_is_to_be_seen_at_another_place_tells_so_once() {
    let mut lab = Lab::new();
    let (window, _) = lab.call("windows.getCurrent", json!([]));
    for (update, place) in [
        (json!({ "left": 50, "top": 60, "width": 700, "height": 500 }), Some((50, 60, 700, 500))),
        (json!({ "left": 50, "top": 60, "width": 700, "height": 500 }), None),
        (json!({ "left": 70 }), Some((70, 60, 700, 500))),
        (json!({ "state": "maximized" }), Some((70, 60, 700, 500))),
        (json!({ "state": "normal" }), Some((70, 60, 700, 500))),
        (json!({ "state": "minimized" }), None),
        (json!({ "state": "normal" }), None),
    ] {
        let (_, told) = lab.call("windows.update", json!([window["id"], update]));
        let places: Vec<_> = told.iter().map(|(name, args)| (*name, &args[0])).collect();
        let Some((left, top, width, height)) = place else {
            assert_eq!(places, [], "{update}");
            continue;
        };
        let [("windows.onBoundsChanged", told)] = places.as_slice() else {
            panic!("{update}: {places:?}")
        };
        let found = [&told["left"], &told["top"], &told["width"], &told["height"]];
        assert_eq!(found, [left, top, width, height], "{update}");
        assert_eq!(told.get("tabs"), None);
    }
}

#[test]
fn what_is_remembered_as_closed_is_told_before_it_closes_and_what_comes_back_behind_it_twice() {
    let mut lab = Lab::new();
    let (tab, _) = lab.call("tabs.create", json!([{ "url": "http://a.test/a.html" }]));
    let (other, _) = lab.call("tabs.create", json!([{ "url": "http://a.test/b.html" }]));
    let names = |told: Vec<(&'static str, Value)>| told.into_iter().map(|(name, _)| name);
    let (_, told) = lab.call("tabs.remove", json!([[tab["id"], other["id"]]]));
    let closes = names(told).filter(|name| !name.contains("onActiv") && !name.contains("onHigh"));
    let once = ["sessions.onChanged", "tabs.onRemoved"];
    assert_eq!(closes.collect::<Vec<_>>(), [once, once].concat());
    let (_, told) = lab.call("sessions.restore", json!([]));
    let returns = ["tabs.onCreated", "tabs.onActivated", "tabs.onHighlighted"];
    let twice = ["sessions.onChanged", "sessions.onChanged"];
    assert_eq!(names(told).collect::<Vec<_>>(), [&returns[..], &twice[..]].concat());
}
